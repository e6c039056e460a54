/*
 * direct_all_to_all.c: every rank sends each other rank its block (ALGORITHMS.md): in round k = 1,
 * 2, ... N - 1 rank r sends to r + k and receives from r - k, so that no two ranks send to one in
 * the same round.
 */
#include "collectives/algorithms/scheduled/scheduled.h"
#include "collectives/schedule/schedule_builder.h"

/* A step of a rank's thread that moves one chunk. */
static struct schedule_step all_to_all_step(enum schedule_op op, uint32_t from, uint32_t to,
                                            uint32_t peer)
{
    return (struct schedule_step){.op = (uint8_t)op,
                                  .count = 1,
                                  .src = {from, SCHEDULE_INPUT, {0}},
                                  .dst = {to, SCHEDULE_OUTPUT, {0}},
                                  .send_to = peer,
                                  .recv_from = peer};
}

static struct schedule *direct_all_to_all_schedule(const struct ccl_call *call,
                                                   struct cw_error *error)
{
    const uint32_t n = call->world_size;
    struct schedule_builder *const b =
        schedule_builder_create("direct_all_to_all", CCL_ALL_TO_ALL, n, 1);
    for (uint32_t r = 0; b != NULL && r < n; r++) {
        schedule_chunks_of(b, r, n, n, 0);
        const uint32_t thread = schedule_thread(b, r, 0);
        for (uint32_t k = 1; k < n; k++) {
            const uint32_t to = (r + k) % n, from = (r + n - k) % n;
            (void)schedule_add(b, r, thread, all_to_all_step(SCHEDULE_SEND, to, 0, to));
            (void)schedule_add(b, r, thread, all_to_all_step(SCHEDULE_RECV, 0, from, from));
        }
        (void)schedule_add(b, r, thread, all_to_all_step(SCHEDULE_COPY, r, r, 0));
    }
    return schedule_build(b, error);
}

const struct ccl_algorithm ccl_direct_all_to_all = {.name = "direct_all_to_all",
                                                    .collective = CCL_ALL_TO_ALL,
                                                    .kernel = &schedule_kernel,
                                                    .machine = SCHEDULED_MACHINE,
                                                    .schedule = direct_all_to_all_schedule};
