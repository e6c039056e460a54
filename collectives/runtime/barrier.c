/*
 * barrier.c: the epoch barrier (barrier.h). The open epoch is a counter and, for each rank, the
 * last epoch that it joined, so that opening the next one is one addition. A rank counts when its
 * part is in, not when it joins: submitting may yield.
 */
#include "collectives/runtime/barrier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/runtime/spawn.h"
#include "core/invariant.h"

struct barrier {
    barrier_fn drain;
    void *arg;
    uint64_t epoch;                 /* the open one; those before it are complete */
    uint32_t world_size, submitted; /* submitted: ranks whose part is in, of the open epoch */
    bool failed_in_drain;           /* the last call that failed */
    uint64_t joined[];              /* [rank]: the last epoch it joined, + 1; 0: none */
};

/* A rank's wait for the end of an epoch. */
struct waiting {
    struct barrier *barrier;
    uint64_t epoch;
};

struct barrier *barrier_create(uint32_t world_size, barrier_fn drain, void *arg)
{
    struct barrier *barrier =
        calloc(1, sizeof *barrier + (size_t)world_size * sizeof barrier->joined[0]);
    if (!barrier)
        return NULL;
    barrier->drain = drain;
    barrier->arg = arg;
    barrier->world_size = world_size;
    return barrier;
}

void barrier_free(struct barrier *barrier) { free(barrier); }

uint64_t barrier_epochs(const struct barrier *barrier) { return barrier->epoch; }

void barrier_reset(struct barrier *barrier)
{
    barrier->submitted = 0;
    memset(barrier->joined, 0, barrier->world_size * sizeof barrier->joined[0]);
}

bool barrier_failed_in_drain(const struct barrier *barrier) { return barrier->failed_in_drain; }

static bool has_joined(const struct barrier *barrier, uint32_t rank)
{
    return barrier->joined[rank] == barrier->epoch + 1;
}

static bool all_have_joined(const struct barrier *barrier)
{
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < barrier->world_size; rank++)
        count += has_joined(barrier, rank);
    return count == barrier->world_size;
}

static bool is_complete(const void *arg)
{
    const struct waiting *waiting = arg;
    return waiting->barrier->epoch != waiting->epoch;
}

static void abandon(void *arg)
{
    const struct waiting *waiting = arg;
    barrier_reset(waiting->barrier);
}

static bool lacks_rank(const void *arg, uint32_t rank) { return !has_joined(arg, rank); }

/* "epoch 2 of the barrier lacks rank 1, 4-7 of 8, which will not join it any more" */
static void barrier_describe(const void *arg, char *text, size_t size)
{
    const struct barrier *barrier = ((const struct waiting *)arg)->barrier;
    size_t used = (size_t)snprintf(text, size, "epoch %llu of the barrier lacks rank",
                                   (unsigned long long)barrier->epoch);
    used = mp_list_ranks(lacks_rank, barrier, barrier->world_size, text, size, used);
    snprintf(text + used, size - used, " of %u, which will not join it any more",
             barrier->world_size);
}

/* The engine is deeper than a worker's stack may be. */
struct draining {
    const struct barrier *barrier;
    struct cw_error *error;
    int code;
};

static void drain(void *arg)
{
    struct draining *draining = arg;
    draining->code = draining->barrier->drain(draining->barrier->arg, draining->error);
}

int barrier_submit_and_drain(struct barrier *barrier, uint32_t rank, barrier_fn submit,
                             void *submit_arg, struct cw_error *error)
{
    struct waiting waiting = {barrier, barrier->epoch};
    barrier->failed_in_drain = false;
    if (rank >= barrier->world_size)
        return cw_error_set(error, CW_PROGRAM_FAILED, "rank %u joins the barrier of a group of %u",
                            rank, barrier->world_size);
    if (has_joined(barrier, rank))
        return cw_error_set(error, CW_PROGRAM_FAILED,
                            "rank %u joins epoch %llu of the barrier a second time", rank,
                            (unsigned long long)barrier->epoch);
    if (barrier->submitted + 1 < barrier->world_size && !mp_in_worker())
        return cw_error_set(error, CW_PROGRAM_FAILED,
                            "rank %u would wait for %u others outside of a worker: use mp_spawn()",
                            rank, barrier->world_size - barrier->submitted - 1);
    CW_INVARIANT("I-BARRIER-1", barrier->joined[rank] <= barrier->epoch,
                 "rank %u, joined %llu of %llu", rank, (unsigned long long)barrier->joined[rank],
                 (unsigned long long)barrier->epoch);
    barrier->joined[rank] = barrier->epoch + 1;
    int code = submit ? submit(submit_arg, error) : CW_OK;
    const bool last = !code && ++barrier->submitted == barrier->world_size;
    if (last) {
        CW_INVARIANT("I-BARRIER-1", all_have_joined(barrier), "epoch %llu of %u ranks",
                     (unsigned long long)barrier->epoch, barrier->world_size);
        struct draining draining = {barrier, error, CW_OK};
        mp_run_outside(drain, &draining);
        code = draining.code;
        barrier->failed_in_drain = code != CW_OK;
    }
    if (code) {
        barrier_reset(barrier);
        return code;
    }
    if (!last) {
        mp_wait_until(&(struct mp_wait){is_complete, barrier_describe, abandon, &waiting});
        return CW_OK;
    }
    barrier->epoch++;
    barrier->submitted = 0;
    return CW_OK;
}
