/*
 * contents.h: values that the host fills into tensors, put off until they are needed: before the
 * next drain, or before the host reads. Then each worker fills the tensors of its own SIPs, so that
 * a collective's inputs cost no serial time, and memory is near the worker that uses it. While an
 * op log is kept, a fill is made at once, because the log records it in the order of the program.
 *
 * Between drains, on one thread; contents_settle() runs on all workers.
 */
#ifndef COLLECTIVES_CONTENTS_H
#define COLLECTIVES_CONTENTS_H

#include "collectives/data/data_pass.h"
#include "collectives/runtime/tensor.h"

struct content;

struct contents {
    struct data_pass *data; /* NULL: nothing is filled */
    struct content *list;   /* [count] of [capacity] */
    size_t count, capacity;
    bool at_once; /* nothing is put off */
};

void contents_free(struct contents *contents);

/* The tensor reads as zeros; or, of a rank's part of the input, as the seed's stream (input.h). It
 * stays allocated until contents_settle(). An enum cw_exit. */
int contents_zero(struct contents *contents, const struct tensor *tensor, struct cw_error *error);
int contents_fill_input(struct contents *contents, const struct tensor *tensor, uint64_t seed,
                        uint32_t rank, struct cw_error *error);

/* Carries out all that was put off. An enum cw_exit. */
int contents_settle(struct contents *contents, struct cw_sim *sim, struct cw_error *error);
/* Forgets it: nothing will read these tensors again. */
void contents_drop(struct contents *contents);

#endif
