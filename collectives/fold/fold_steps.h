/*
 * fold_steps.h: whether the relabellings of a fold map a schedule onto itself: every rank's part is
 * compared with its representative's.
 *
 * Two parts are the same if they have the same threads, and each step of one has in the other the
 * same operation, channel, count, waits and buffers, peers that the relabelling maps onto each
 * other, and values of the same lengths. Numbers of chunks may differ, if one map between the
 * places of both ranks explains all differences. Then both are the same program on two machines
 * that are the same (proof in fold_steps.c), but for addresses, on which no time depends.
 *
 * Linear in the steps and the chunks that they move. The parts of a partial schedule are made, some
 * ranks' at a time, compared, and forgotten: no memory is taken for each rank's. Host side.
 */
#ifndef COLLECTIVES_FOLD_STEPS_H
#define COLLECTIVES_FOLD_STEPS_H

#include "collectives/schedule/schedule.h"
#include "hw/topology/fold.h"

struct fold_steps;

/* The parts of some ranks (wanted[count]), or of all (NULL). NULL: *error says why. */
typedef struct schedule *fold_steps_make_fn(void *arg, const uint32_t *wanted, uint32_t count,
                                            struct cw_error *error);

struct fold_steps_request {
    struct schedule *schedule; /* without faults; no sketch; if it is partial, of rank 0 */
    fold_steps_make_fn *make;  /* of a partial schedule the others; else NULL */
    void *arg;
    const struct hw_config *hw;
    const struct ccl_config *ccl;
    /* [count] elements per shard of the input, of the calls that go by it */
    const uint64_t *n_elem;
    uint32_t count;
};

/* CW_NO_RESOURCE: out of memory. What the request points to outlives the result. */
int fold_steps_create(const struct fold_steps_request *request, struct fold_steps **out,
                      struct cw_error *error);
void fold_steps_free(struct fold_steps *steps); /* accepts NULL */

/* SIPs without ranks are alike, too: of a class all have ranks, or none. False: `why` names the
 * first step that differs, or *error is filled. */
bool fold_steps_keep(struct fold_steps *steps, const struct hw_fold *fold,
                     char why[CCL_FOLD_WHY_BYTES], struct cw_error *error);

#endif
