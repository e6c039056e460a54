/*
 * wrong_schedule.c: all-gathers around a ring, as schedules: right; with one rank that passes on
 * its own block again instead of the one that has come; and with all ranks that do so.
 */
#include "collectives/plugin.h"
#include "collectives/schedule/schedule_builder.h"
#include "collectives/schedule/schedule_kernel.h"

CCL_PLUGIN;

enum { NOBODY = -1, EVERYBODY = -2 };

static struct schedule *make(const struct ccl_call *call, const char *name, int64_t wrong,
                             struct cw_error *error)
{
    const uint32_t n = call->world_size;
    struct schedule_builder *const b = schedule_builder_create(name, CCL_ALL_GATHER, n, 1);
    if (b == NULL)
        return NULL;
    for (uint32_t rank = 0; rank < n; rank++) {
        const uint32_t next = (rank + 1) % n, before = (rank + n - 1) % n;
        schedule_chunks_of(b, rank, 1, n, 0);
        const uint32_t thread = schedule_thread(b, rank, 0);
        (void)schedule_add(b, rank, thread,
                           (struct schedule_step){.op = SCHEDULE_COPY,
                                                  .count = 1,
                                                  .src = {.buffer = SCHEDULE_INPUT},
                                                  .dst = {rank, SCHEDULE_OUTPUT, false, {0}}});
        for (uint32_t i = 0; i + 1 < n; i++) {
            const bool is_wrong = i == 1 && (wrong == EVERYBODY || wrong == rank);
            const uint32_t sent = is_wrong ? rank : (rank + n - i) % n;
            (void)schedule_add(b, rank, thread,
                               (struct schedule_step){.op = SCHEDULE_SEND,
                                                      .count = 1,
                                                      .src = {sent, SCHEDULE_OUTPUT, false, {0}},
                                                      .send_to = next});
            (void)schedule_add(
                b, rank, thread,
                (struct schedule_step){.op = SCHEDULE_RECV,
                                       .count = 1,
                                       .dst = {(rank + n - i - 1) % n, SCHEDULE_OUTPUT, false, {0}},
                                       .recv_from = before});
        }
    }
    return schedule_build(b, error);
}

#define ALL_GATHER(symbol, wrong)                                                                  \
    static struct schedule *make_##symbol(const struct ccl_call *call, struct cw_error *error)     \
    {                                                                                              \
        return make(call, #symbol, (wrong), error);                                                \
    }                                                                                              \
    extern const struct ccl_algorithm symbol;                                                      \
    const struct ccl_algorithm symbol = {.name = #symbol,                                          \
                                         .collective = CCL_ALL_GATHER,                             \
                                         .kernel = &schedule_kernel,                               \
                                         .machine = {.tcm_bytes = schedule_tcm_bytes},             \
                                         .schedule = make_##symbol}

ALL_GATHER(right, NOBODY);
ALL_GATHER(rank_5_is_wrong, 5);
ALL_GATHER(all_are_wrong, EVERYBODY);
