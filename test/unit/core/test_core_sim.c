/*
 * test_core_sim.c: a simulation as the host and a model see it: order, clock, drains, records,
 * trace hash. Errors are in test_core_errors.c and test_core_host_errors.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <xxhash.h>

#include "core/cw.h"
#include "core/worker/trace_hash.h"

/* ---- a model that follows orders ------------------------------------------------------------- */

/*
 * An event's payload has orders for its handler: up to two sends, one of them on with the rest.
 * LPs keep a count; every event emits a record of its type.
 */
struct order {
    int64_t delay_ps;
    uint32_t lp, entity;
    uint16_t type, sends, number, unused;
};
_Static_assert(sizeof(struct order) == 24, "no padding");

struct counter {
    uint64_t events;
};

static size_t counter_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return sizeof(struct counter);
}

static void counter_init(const void *data, uint32_t lp, void *state)
{
    (void)data, (void)lp;
    assert_int_equal(((struct counter *)state)->events, 0);
}

static void obey(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct counter *const counter = state;
    CW_MUT(ctx, counter)->events++;
    cw_emit(ctx, event->type, &event->time_ps, sizeof event->time_ps);
    const size_t orders = event->payload_bytes / sizeof(struct order);
    for (size_t i = 0; i < orders; i++) {
        struct order order;
        memcpy(&order, event->payload + i * sizeof order, sizeof order);
        for (uint16_t sent = 0; sent < order.sends; sent++)
            cw_send(ctx, order.lp, order.delay_ps, order.type, order.entity,
                    (uint64_t)order.number + sent, NULL, 0);
    }
}

static const struct cw_model obedient = {
    .name = "obedient",
    .lp_count = 8,
    .state_bytes = counter_bytes,
    .init = counter_init,
    .handle = obey,
};

/* The records that the sink saw. */
struct seen {
    size_t count;
    uint16_t kinds[100];
    struct cw_event events[100];
};

static void see(void *arg, const struct cw_event *event, uint16_t kind, const void *record,
                uint16_t bytes)
{
    struct seen *const seen = arg;
    assert_true(seen->count < 100);
    assert_int_equal(bytes, 8);
    assert_memory_equal(record, &event->time_ps, 8);
    seen->kinds[seen->count] = kind;
    memcpy(&seen->events[seen->count++], event,
           offsetof(struct cw_event, payload) + event->payload_bytes);
}

static struct cw_sim *create_until(const struct cw_model *model, struct seen *seen, int64_t end_ps)
{
    const struct cw_config config = {
        .sync = CW_SEQUENTIAL,
        .worker_count = 1,
        .end_ps = end_ps,
        .record = seen == NULL ? NULL : see,
        .record_arg = seen,
    };
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, model, &error);
    if (sim == NULL)
        fail_msg("%s", error.text);
    return sim;
}

static struct cw_sim *create(struct seen *seen)
{
    return create_until(&obedient, seen, CW_TIME_MAX);
}

static struct cw_sim *
create_with_tie(struct seen *seen, uint64_t (*tie)(const void *data, const struct cw_event *event))
{
    struct cw_model model = obedient;
    model.tie = tie;
    return create_until(&model, seen, CW_TIME_MAX);
}

static void inject(struct cw_sim *sim, uint32_t lp, int64_t time_ps, uint16_t type, uint32_t entity,
                   uint64_t number)
{
    struct cw_error error;
    if (cw_inject(sim, lp, time_ps, type, entity, number, NULL, 0, &error) != CW_OK)
        fail_msg("%s", error.text);
}

static void inject_order(struct cw_sim *sim, uint32_t lp, int64_t time_ps,
                         const struct order *order)
{
    struct cw_error error;
    if (cw_inject(sim, lp, time_ps, 1, 0, 0, order, sizeof *order, &error) != CW_OK)
        fail_msg("%s", error.text);
}

static void drain(struct cw_sim *sim)
{
    struct cw_error error;
    if (cw_drain(sim, &error) != CW_OK)
        fail_msg("%s", error.text);
}

static uint64_t trace_hash(const struct cw_sim *sim)
{
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    return stats.trace_hash;
}

/* ---- order ---------------------------------------------------------------------------------- */

static void time_entity_number_lp_and_type_decide_in_turn(void **state)
{
    (void)state;
    static const struct {
        int64_t time_ps;
        uint32_t entity;
        uint64_t number;
        uint16_t type;
        uint32_t lp;
    } ordered[] = {
        {5, 9, 9, 9, 7},          {6, 1, 9, 9, 7},          {6, 2, 3, 9, 7},
        {6, 2, 1ull << 33, 9, 7}, {6, 2, 1ull << 40, 9, 3}, {6, 2, 1ull << 40, 1, 4},
        {6, 2, 1ull << 40, 2, 4},
    };
    const size_t count = sizeof ordered / sizeof ordered[0];
    for (size_t start = 0; start < count; start++) { /* pushed in every rotation */
        struct seen seen = {0};
        struct cw_sim *const sim = create(&seen);
        for (size_t i = 0; i < count; i++) {
            const size_t at = (start + 3 * i) % count;
            inject(sim, ordered[at].lp, ordered[at].time_ps, ordered[at].type, ordered[at].entity,
                   ordered[at].number);
        }
        drain(sim);
        assert_int_equal(seen.count, count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(seen.events[i].time_ps, ordered[i].time_ps);
            assert_int_equal(seen.events[i].entity, ordered[i].entity);
            assert_int_equal(seen.events[i].number, ordered[i].number);
            assert_int_equal(seen.events[i].type, ordered[i].type);
            assert_int_equal(seen.events[i].lp, ordered[i].lp);
        }
        cw_sim_free(sim);
    }
}

static void payload_decides_after_lp_and_type(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct cw_sim *const sim = create(&seen);
    struct cw_error error;
    assert_int_equal(cw_inject(sim, 3, 1, 1, 1, 1, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_inject(sim, 2, 1, 2, 1, 1, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_inject(sim, 2, 1, 1, 1, 1, "b", 1, &error), CW_OK);
    assert_int_equal(cw_inject(sim, 2, 1, 1, 1, 1, "ab", 2, &error), CW_OK);
    assert_int_equal(cw_inject(sim, 2, 1, 1, 1, 1, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_inject(sim, 2, 1, 1, 1, 1, "a", 1, &error), CW_OK);
    drain(sim);
    static const uint32_t lps[] = {2, 2, 2, 2, 2, 3}, types[] = {1, 1, 1, 1, 2, 1},
                          bytes[] = {0, 1, 2, 1, 0, 0}; /* "", "a", "ab", "b" */
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(seen.events[i].lp, lps[i]);
        assert_int_equal(seen.events[i].type, types[i]);
        assert_int_equal(seen.events[i].payload_bytes, bytes[i]);
    }
    assert_memory_equal(seen.events[1].payload, "a", 1);
    assert_memory_equal(seen.events[3].payload, "b", 1);
    cw_sim_free(sim);
}

/* The payload's last byte. */
static uint64_t last_byte(const void *data, const struct cw_event *event)
{
    (void)data;
    return event->payload[event->payload_bytes - 1];
}

static void a_tie_number_decides_in_place_of_the_payload(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct cw_sim *const sim = create_with_tie(&seen, last_byte);
    struct cw_error error;
    assert_int_equal(cw_inject(sim, 2, 1, 2, 1, 1, "a", 1, &error), CW_OK);
    assert_int_equal(cw_inject(sim, 2, 1, 1, 1, 1, "ac", 2, &error), CW_OK);
    assert_int_equal(cw_inject(sim, 2, 1, 1, 1, 1, "b", 1, &error), CW_OK);
    assert_int_equal(cw_inject(sim, 2, 1, 1, 1, 1, "bza", 3, &error), CW_OK);
    drain(sim);
    static const uint32_t bytes[] = {3, 1, 2, 1}; /* "bza", "b", "ac"; "a" is of type 2 */
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(seen.events[i].payload_bytes, bytes[i]);
    assert_int_equal(seen.events[3].type, 2);
    cw_sim_free(sim);
}

static void many_tie_numbers_decide(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct cw_sim *const sim = create_with_tie(&seen, last_byte);
    struct cw_error error;
    for (uint32_t i = 0; i < 100; i++) {
        const uint8_t payload[] = {(uint8_t)(100 - i), (uint8_t)(i * 37 % 100)};
        assert_int_equal(cw_inject(sim, 2, 1, (uint16_t)(1 + payload[1] % 2), 1, 1, payload,
                                   sizeof payload, &error),
                         CW_OK);
    }
    drain(sim);
    assert_int_equal(seen.count, 100);
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(seen.events[i].type, 1 + i / 50);
        assert_int_equal(seen.events[i].payload[1], i % 50 * 2 + i / 50);
        assert_int_equal(seen.events[i].time_ps, 1);
    }
    cw_sim_free(sim);
}

static void an_event_without_delay_comes_after_all_that_were_sent_with_one(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct cw_sim *const sim = create(&seen);
    const struct order order = {.delay_ps = 0, .lp = 1, .entity = 0, .type = 7, .sends = 1};
    inject_order(sim, 0, 10, &order);
    inject(sim, 2, 10, 8, 5, 0); /* a greater entity, but depth 0 */
    drain(sim);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.kinds[0], 1);
    assert_int_equal(seen.kinds[1], 8);
    assert_int_equal(seen.kinds[2], 7);
    assert_int_equal(seen.events[1].depth, 0);
    assert_int_equal(seen.events[2].depth, 1);
    assert_int_equal(seen.events[2].time_ps, 10);
    cw_sim_free(sim);
}

static void a_delay_starts_again_at_depth_0(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct cw_sim *const sim = create(&seen);
    const struct order order = {.delay_ps = 3, .lp = 1, .entity = 0, .type = 7, .sends = 2};
    inject_order(sim, 0, 10, &order);
    drain(sim);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.events[1].time_ps, 13);
    assert_int_equal(seen.events[1].depth, 0);
    assert_int_equal(seen.events[1].number, 0);
    assert_int_equal(seen.events[2].number, 1);
    cw_sim_free(sim);
}

/* ---- clock and drains ------------------------------------------------------------------------ */

static void the_end_is_exclusive(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct cw_sim *const sim = create_until(&obedient, &seen, 100);
    inject(sim, 0, 99, 1, 0, 0);
    inject(sim, 0, 100, 2, 0, 0);
    drain(sim);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.kinds[0], 1);
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    assert_int_equal(stats.events_committed, 1);
    assert_int_equal(stats.events_alive, 1);
    cw_sim_free(sim);
}

static void the_clock_is_the_last_committed_event(void **state)
{
    (void)state;
    struct cw_sim *const sim = create_until(&obedient, NULL, 1000);
    assert_int_equal(cw_sim_now(sim), 0);
    inject(sim, 0, 400, 1, 0, 0);
    inject(sim, 0, 2000, 1, 0, 0);
    drain(sim);
    assert_int_equal(cw_sim_now(sim), 400);
    drain(sim); /* nothing to do */
    assert_int_equal(cw_sim_now(sim), 400);
    cw_sim_free(sim);
}

static void a_simulation_can_be_drained_again_and_again(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct cw_sim *const sim = create(&seen);
    for (uint16_t i = 0; i < 20; i++) {
        inject(sim, i % 8, i / 2 * 1000, i, 0, i); /* twice at the time of the last one */
        drain(sim);
        assert_int_equal(seen.count, i + 1u);
        assert_int_equal(seen.kinds[i], i);
    }
    const struct counter *const counter = cw_state(sim, 3);
    assert_int_equal(counter->events, 3);
    assert_null(cw_state(sim, 8));
    cw_sim_free(sim);
}

static void injections_before_what_is_pending_come_first(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct cw_sim *const sim = create_until(&obedient, &seen, 1000000);
    inject(sim, 0, 2000000, 9, 0, 0); /* beyond the end: looked at, not run */
    drain(sim);
    for (uint16_t i = 0; i < 10; i++)
        inject(sim, 0, 900 - i, i, 0, 0);
    drain(sim);
    assert_int_equal(seen.count, 10);
    for (uint16_t i = 0; i < 10; i++)
        assert_int_equal(seen.kinds[i], 9 - i);
    cw_sim_free(sim);
}

static void nothing_is_injected_before_the_end_of_the_last_drain(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct cw_error error = {.exit_code = CW_OK};
    struct cw_sim *const sim = create(&seen);
    inject(sim, 0, 400, 0, 0, 0);
    drain(sim);
    assert_int_equal(cw_inject(sim, 1, 399, 0, 0, 0, NULL, 0, &error), CW_BUG);
    assert_non_null(strstr(error.text, "399 ps, before now, 400 ps"));
    inject(sim, 1, 400, 1, 0, 0);
    drain(sim);
    assert_int_equal(seen.count, 2);
    assert_int_equal(cw_sim_now(sim), 400);
    cw_sim_free(sim);
}

static void two_simulations_do_not_meet(void **state)
{
    (void)state;
    struct seen seen[2] = {{0}, {0}};
    struct cw_sim *const a = create(&seen[0]), *const b = create(&seen[1]);
    inject(a, 0, 10, 1, 0, 0);
    inject(b, 0, 20, 2, 0, 0);
    drain(a);
    inject(a, 0, 15, 3, 0, 0);
    drain(b);
    drain(a);
    assert_int_equal(seen[0].count, 2);
    assert_int_equal(seen[1].count, 1);
    assert_int_equal(cw_sim_now(a), 15);
    assert_int_equal(cw_sim_now(b), 20);
    cw_sim_free(a);
    cw_sim_free(b);
    cw_sim_free(NULL);
}

/* ---- statistics and hash --------------------------------------------------------------------- */

static void committed_and_living_events_are_counted(void **state)
{
    (void)state;
    struct cw_sim *const sim = create(NULL);
    const struct order order = {.delay_ps = 3, .lp = 1, .entity = 0, .type = 7, .sends = 5};
    inject_order(sim, 0, 10, &order);
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    assert_int_equal(stats.events_alive, 1);
    drain(sim);
    cw_sim_stats(sim, &stats);
    assert_int_equal(stats.events_committed, 6);
    assert_int_equal(stats.events_processed, 6);
    assert_int_equal(stats.safe_events, 6);
    assert_int_equal(stats.events_rolled_back, 0);
    assert_int_equal(stats.events_alive, 0);
    assert_int_equal(stats.events_alive_max, 6);
    assert_true(stats.run_s > 0);
    cw_sim_free(sim);
}

/* Some lengths have code of their own. */
static void events_of_each_length_are_hashed_alike(void **state)
{
    (void)state;
    struct cw_event event = {.time_ps = 1000, .number = 7, .entity = 77, .lp = 3, .type = 500};
    for (unsigned i = 0; i < sizeof event.payload; i++)
        event.payload[i] = (uint8_t)(i * 37 + 1);
    for (uint16_t bytes = 0; bytes <= CW_PAYLOAD_BYTES_MAX; bytes++) {
        event.payload_bytes = bytes;
        assert_true(trace_hash_event(99 + bytes, &event) ==
                    XXH3_64bits_withSeed(&event, 32u + bytes, 99u + bytes));
    }
}

/* As trace_hash.h defines it, by the library's own functions. */
static void the_trace_hash_is_what_its_definition_says(void **state)
{
    (void)state;
    struct cw_sim *const sim = create(NULL);
    struct cw_error error;
    static const uint8_t payload[64] = {1, 2, 3, 60};
    uint64_t hashes[8] = {0};
    for (uint16_t bytes = 0; bytes < 24; bytes++) { /* shorter than an order: no sends */
        struct cw_event event = {
            .time_ps = 1000 + bytes,
            .number = 0xabcdef012345,
            .entity = 77,
            .lp = bytes % 3,
            .type = 500,
            .payload_bytes = bytes,
        };
        memcpy(event.payload, payload, bytes);
        assert_int_equal(cw_inject(sim, event.lp, event.time_ps, event.type, event.entity,
                                   event.number, payload, bytes, &error),
                         CW_OK);
        hashes[event.lp] = XXH3_64bits_withSeed(&event, 32u + bytes, hashes[event.lp]);
    }
    drain(sim);
    uint64_t expected = 0;
    for (uint32_t lp = 0; lp < 8; lp++) {
        uint8_t packed[12];
        memcpy(packed, &lp, 4);
        memcpy(packed + 4, &hashes[lp], 8);
        expected += XXH3_64bits(packed, sizeof packed);
    }
    assert_true(trace_hash(sim) == expected);
    cw_sim_free(sim);
}

static void the_trace_hash_does_not_depend_on_the_order_of_pushes(void **state)
{
    (void)state;
    uint64_t hashes[5];
    for (unsigned run = 0; run < 5; run++) {
        struct cw_sim *const sim = create(NULL);
        for (unsigned i = 0; i < 5000; i++) {
            const unsigned at = (i * 7 + run * 1234) % 5000;
            inject(sim, at % 8, at / 50, (uint16_t)(at % 3), at / 25 % 3, at / 10 % 2);
        }
        drain(sim);
        hashes[run] = trace_hash(sim);
        assert_true(hashes[run] == hashes[0]);
        cw_sim_free(sim);
    }
}

static void the_trace_hash_sees_every_field(void **state)
{
    (void)state;
    uint64_t hashes[8];
    for (unsigned change = 0; change < 8; change++) {
        struct cw_sim *const sim = create(NULL);
        struct cw_error error;
        uint8_t payload[2] = {1, (uint8_t)(change == 6)};
        assert_int_equal(cw_inject(sim, change == 1, 5 + (change == 2), (uint16_t)(change == 3),
                                   change == 4, change == 5, payload, (uint16_t)(2 - (change == 7)),
                                   &error),
                         CW_OK);
        drain(sim);
        hashes[change] = trace_hash(sim);
        for (unsigned other = 0; other < change; other++)
            assert_true(hashes[change] != hashes[other]);
        cw_sim_free(sim);
    }
}

static void the_trace_hash_can_be_left_out(void **state)
{
    (void)state;
    const struct cw_config config = {
        .sync = CW_SEQUENTIAL, .worker_count = 1, .end_ps = CW_TIME_MAX, .tuning.hash_off = true};
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &obedient, &error);
    assert_non_null(sim);
    inject(sim, 0, 1, 1, 0, 0);
    drain(sim);
    assert_true(trace_hash(sim) == 0);
    cw_sim_free(sim);
}

/* ---- states ---------------------------------------------------------------------------------- */

static size_t odd_bytes(const void *data, uint32_t lp)
{
    (void)data;
    return lp * 37 % 200;
}

static void odd_init(const void *data, uint32_t lp, void *state)
{
    assert_int_equal((uintptr_t)state % 16, 0);
    for (size_t i = 0; i < odd_bytes(data, lp); i++)
        assert_int_equal(((uint8_t *)state)[i], 0);
    memset(state, (int)lp, odd_bytes(data, lp));
}

static void odd_handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const uint8_t *const bytes = state;
    assert_ptr_equal(cw_model_data(ctx), &odd_handle);
    assert_int_equal(cw_now(ctx), event->time_ps);
    for (size_t i = 0; i < odd_bytes(NULL, event->lp); i++)
        *CW_MUT(ctx, &bytes[i]) ^= 0xff;
}

static void states_of_any_size_lie_apart(void **state)
{
    (void)state;
    const struct cw_model model = {
        .name = "odd",
        .data = (const void *)&odd_handle,
        .lp_count = 300,
        .state_bytes = odd_bytes,
        .init = odd_init,
        .handle = odd_handle,
    };
    struct cw_sim *const sim = create_until(&model, NULL, CW_TIME_MAX);
    for (uint32_t lp = 0; lp < 300; lp += 2)
        inject(sim, lp, lp, 0, 0, 0);
    drain(sim);
    for (uint32_t lp = 0; lp < 300; lp++) {
        const uint8_t *const bytes = cw_state(sim, lp);
        for (size_t i = 0; i < odd_bytes(NULL, lp); i++)
            assert_int_equal(bytes[i], (uint8_t)(lp % 2 == 0 ? ~lp : lp));
    }
    cw_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_entity_number_lp_and_type_decide_in_turn),
        cmocka_unit_test(payload_decides_after_lp_and_type),
        cmocka_unit_test(a_tie_number_decides_in_place_of_the_payload),
        cmocka_unit_test(many_tie_numbers_decide),
        cmocka_unit_test(an_event_without_delay_comes_after_all_that_were_sent_with_one),
        cmocka_unit_test(a_delay_starts_again_at_depth_0),
        cmocka_unit_test(the_end_is_exclusive),
        cmocka_unit_test(the_clock_is_the_last_committed_event),
        cmocka_unit_test(a_simulation_can_be_drained_again_and_again),
        cmocka_unit_test(injections_before_what_is_pending_come_first),
        cmocka_unit_test(nothing_is_injected_before_the_end_of_the_last_drain),
        cmocka_unit_test(two_simulations_do_not_meet),
        cmocka_unit_test(committed_and_living_events_are_counted),
        cmocka_unit_test(the_trace_hash_is_what_its_definition_says),
        cmocka_unit_test(events_of_each_length_are_hashed_alike),
        cmocka_unit_test(the_trace_hash_does_not_depend_on_the_order_of_pushes),
        cmocka_unit_test(the_trace_hash_sees_every_field),
        cmocka_unit_test(the_trace_hash_can_be_left_out),
        cmocka_unit_test(states_of_any_size_lie_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
