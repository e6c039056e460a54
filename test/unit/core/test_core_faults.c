/*
 * test_core_faults.c: handlers that fault or do not return. The model is right: sequentially its
 * second LP is prepared before it is asked. Speculatively it is asked first, and then its handler
 * misbehaves. The run must end as a sequential one does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cw.h"
#include "core/os/clock.h"

enum { PREPARE = 1, ASK = 2, HEARD = 3 };

enum threading_mode {
    NO_WAY,
    FAIL,
    DIVIDE,
    WILD_READ,
    WILD_PAYLOAD,
    WILD_RECORD,
    RECURSE,
    RECURSE_AND_SEND,
    ABORT,
    EXIT,
    LOOP,
    LOOP_CHANGING,
    THREADING_MODES
};

static const char *const way_text[THREADING_MODES] = {
    [FAIL] = "as cw_fail() says",
    [DIVIDE] = "arithmetic fault in the handler",
    [WILD_READ] = "segmentation fault at address 0x10 in the handler",
    [WILD_PAYLOAD] = "segmentation fault at address 0x10 in the handler",
    [WILD_RECORD] = "segmentation fault at address 0x10 in the handler",
    [RECURSE] = "segmentation fault at address 0x",
    [RECURSE_AND_SEND] = "",
    [ABORT] = "abort() in the handler",
    [EXIT] = "exit() in the handler",
};

struct asked {
    uint64_t prepared; /* never 0 when LP 1 is asked, in a sequential run */
    uint64_t answers[4];
};

struct plan {
    enum threading_mode way;
    bool prepare;
};

static size_t asked_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(struct asked);
}

static void asked_init(const void *data, uint32_t lp, void *state)
{
    (void)data, (void)lp, (void)state;
}

static volatile uint64_t never_1 = 2;

__attribute__((noinline)) static uint64_t recurse(struct cw_ctx *ctx, uint64_t levels, bool sends)
{
    volatile uint8_t frame[512];
    frame[0] = (uint8_t)levels;
    if (levels == 0)
        return 0;
    if (sends && levels % 8 == 0)
        cw_send(ctx, 1, 1000, HEARD, 1, levels % 1024, NULL, 0);
    return recurse(ctx, levels - 1, sends) + frame[0];
}

/* As a wrong state has it done. `prepared` is 0 then. */
static void misbehave(struct cw_ctx *ctx, enum threading_mode way, const struct asked *asked)
{
    volatile uint64_t zero = asked->prepared;
    switch (way) {
    case FAIL:
        cw_fail(ctx, CW_BUG, "LP 1, event type 2 at 20 ps: as cw_fail() says");
    case DIVIDE:
        *CW_MUT(ctx, &asked->answers[0]) = 100 / zero;
        break;
    case WILD_READ:
        *CW_MUT(ctx, &asked->answers[0]) = *(const volatile uint64_t *)(uintptr_t)(16 + zero);
        break;
    case WILD_PAYLOAD:
        cw_send(ctx, 0, 10, HEARD, 1, 7, (const void *)(uintptr_t)(16 + zero), 24);
        break;
    case WILD_RECORD:
        cw_emit(ctx, 1, (const void *)(uintptr_t)(16 + zero), 24);
        break;
    case RECURSE:
    case RECURSE_AND_SEND:
        *CW_MUT(ctx, &asked->answers[0]) = recurse(ctx, UINT64_MAX - zero, way != RECURSE);
        break;
    case ABORT:
        abort();
    case EXIT:
        exit(0);
    case LOOP:
        while (never_1 != 1 + zero) {
        }
        break;
    case LOOP_CHANGING:
        for (uint64_t i = 0; never_1 != 1 + zero; i++)
            *CW_MUT(ctx, &asked->answers[i % 4]) += i;
        break;
    default:
        break;
    }
}

static void handle_ask(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct plan *const plan = cw_model_data(ctx);
    const struct asked *const asked = state;
    if (event->lp == 0) {
        if (event->type == HEARD)
            return;
        const double since_s = clock_s(); /* the other worker is at its own event by now */
        while (clock_s() - since_s < 0.05) {
        }
        if (plan->prepare)
            cw_send(ctx, 1, 5, PREPARE, 0, 0, NULL, 0);
        return;
    }
    if (event->type == PREPARE)
        *CW_MUT(ctx, &asked->prepared) = 1;
    if (event->type != ASK)
        return;
    *CW_MUT(ctx, &asked->answers[1]) += 3; /* undone with the rest */
    cw_send(ctx, 0, 10, HEARD, 1, 1, &asked->answers[1], sizeof asked->answers[1]);
    cw_emit(ctx, 1, &asked->answers[1], sizeof asked->answers[1]);
    if (asked->prepared == 0)
        misbehave(ctx, plan->way, asked);
    cw_send(ctx, 1, 10, HEARD, 1, 2, NULL, 0);
}

static void count_record(void *arg, const struct cw_event *event, uint16_t kind, const void *record,
                         uint16_t bytes)
{
    (void)event, (void)kind, (void)record, (void)bytes;
    ++*(unsigned *)arg;
}

struct outcome {
    int exit_code;
    struct cw_error error;
    uint64_t trace_hash, committed, answer;
    unsigned records;
};

static struct outcome run_plan(const struct plan *plan, enum cw_sync sync)
{
    const struct cw_model model = {.name = "asked",
                                   .data = plan,
                                   .lp_count = 2,
                                   .state_bytes = asked_bytes,
                                   .init = asked_init,
                                   .handle = handle_ask};
    struct outcome outcome = {0};
    const struct cw_config config = {.sync = sync,
                                     .worker_count = sync == CW_SEQUENTIAL ? 1 : 2,
                                     .tuning.thread_count = sync == CW_SEQUENTIAL ? 1 : 2,
                                     .end_ps = CW_TIME_MAX,
                                     .memory_bytes_max = 64 << 20,
                                     .record = count_record,
                                     .record_arg = &outcome.records};
    struct cw_sim *const sim = cw_sim_create(&config, &model, &outcome.error);
    assert_non_null(sim);
    assert_int_equal(cw_inject(sim, 0, 0, 0, 0, 0, NULL, 0, &outcome.error), CW_OK);
    assert_int_equal(cw_inject(sim, 1, 20, ASK, 0, 1, NULL, 0, &outcome.error), CW_OK);
    outcome.exit_code = cw_drain(sim, &outcome.error);
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    outcome.trace_hash = stats.trace_hash;
    outcome.committed = stats.events_committed;
    outcome.answer = ((const struct asked *)cw_state(sim, 1))->answers[1];
    cw_sim_free(sim);
    return outcome;
}

/* The sanitizers take some faults for themselves, before the engine can contain them. */
static bool is_contained_here(enum threading_mode way)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    return way == NO_WAY;
#else
    (void)way;
    return true;
#endif
}

static void a_speculative_fault_is_no_fault_of_the_run(void **state)
{
    (void)state;
    const struct outcome expected =
        run_plan(&(struct plan){.way = NO_WAY, .prepare = true}, CW_SEQUENTIAL);
    assert_int_equal(expected.exit_code, CW_OK);
    assert_int_equal(expected.committed, 5);
    for (enum threading_mode way = NO_WAY; way < THREADING_MODES; way++) {
        const struct plan plan = {.way = way, .prepare = true};
        static const enum cw_sync modes[] = {CW_OPTIMISTIC, CW_ADAPTIVE, CW_STRESS};
        for (size_t i = 0; i < 3 && is_contained_here(way); i++) {
            const struct outcome outcome = run_plan(&plan, modes[i]);
            assert_int_equal(outcome.exit_code, CW_OK);
            assert_int_equal(outcome.committed, 5);
            assert_int_equal(outcome.trace_hash, expected.trace_hash);
            assert_int_equal(outcome.answer, 3);
            assert_int_equal(outcome.records, 1);
        }
    }
}

static void a_safe_fault_ends_the_run_and_names_the_event(void **state)
{
    (void)state;
    for (enum threading_mode way = FAIL; way < LOOP; way++) {
        const struct plan plan = {.way = way};
        static const enum cw_sync modes[] = {CW_SEQUENTIAL, CW_OPTIMISTIC, CW_ADAPTIVE};
        for (size_t i = 0; i < 3 && is_contained_here(way); i++) {
            const struct outcome outcome = run_plan(&plan, modes[i]);
            assert_int_equal(outcome.exit_code, CW_BUG);
            assert_non_null(strstr(outcome.error.text, "LP 1, event type 2 at 20 ps: "));
            assert_non_null(strstr(outcome.error.text, way_text[way]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_speculative_fault_is_no_fault_of_the_run),
        cmocka_unit_test(a_safe_fault_ends_the_run_and_names_the_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
