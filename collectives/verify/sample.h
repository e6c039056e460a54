/*
 * sample.h: verifies the results of some ranks of a schedule without a machine (--verify-data
 * sample): the steps are carried out with formulas (schedule_values.h), and each chunk of these
 * ranks' outputs must hold what the collective demands, each contribution once. Then two elements
 * of each of these chunks are computed by the formulas (sample_values.h), and compared with what
 * the inputs demand.
 *
 * Of schedules that are small, or whose algorithm makes no parts of them alone, all steps of all
 * ranks are carried out, and all chunks of the sampled ranks are looked at. Of others the steps of
 * single chunks are followed back to the inputs (schedule_walk.h), of as many chunks as
 * SAMPLE_VISITS allow: all at some thousand ranks, at a million a few. Either way the steps are
 * those that the algorithm makes for each rank, not those of a fold's representatives.
 *
 * Host side; one thread.
 */
#ifndef COLLECTIVES_SAMPLE_H
#define COLLECTIVES_SAMPLE_H

#include "collectives/schedule/schedule.h"
#include "collectives/verify/verifier.h"

enum {
    SAMPLE_VISITS = 1 << 21,     /* of ranks, by all chunks together, about */
    SAMPLE_STEPS_WHOLE = 1 << 18 /* of a schedule that is carried out whole */
};

/* The i-th of `count` sampled ranks: the first, the last, and evenly spread between them. */
static inline uint32_t sample_rank(uint32_t i, uint32_t count, uint32_t of)
{
    return count > 1 ? (uint32_t)((uint64_t)i * (of - 1) / (count - 1)) : 0;
}

/* An element of a result, as the steps give it. */
struct sample_value {
    uint32_t rank, shard;
    uint64_t at; /* in the shard */
    const void *bits;
};

struct sample_request {
    const struct ccl_algorithm *algorithm; /* which is a schedule */
    struct ccl_call call;                  /* that the schedule is made for */
    const struct schedule *schedule; /* of all ranks; NULL: it is made, as far as it is needed */
    uint64_t steps;                  /* of all ranks */
    uint32_t members;                /* of each rank (schedule.h), >= 1 */
    uint64_t n_elem;                 /* per shard of the input, of the call that is verified */
    uint32_t shards;                 /* of each rank */
    uint32_t ranks;                  /* to be sampled; of fewer ranks all are */
    /* Inputs and arithmetic of that call: dtype, op, seed, scaling and ccl. */
    struct expect_request expect;
    enum proof proof; /* of the elements: PROOF_MOVED, or proof_without_order() */
    /* Sees each element that is computed; NULL: nobody does. */
    void (*see)(void *arg, const struct sample_value *value);
    void *arg;
};

struct sample_found {
    uint32_t ranks, of;         /* sampled; all */
    uint64_t chunks, of_chunks; /* of each sampled rank's output, looked at; all */
    uint64_t elements;          /* computed and compared, of all sampled ranks */
    uint64_t wrong;             /* elements: of these, and all of the chunks that are wrong */
    char fault[400];            /* the first; "": none is wrong */
};

/* CW_USAGE: the schedule has faults of structure, or is none; CW_NO_RESOURCE. */
int sample_verify(const struct sample_request *request, struct sample_found *found,
                  struct cw_error *error);

#endif
