/*
 * test_core_pending.c: the pending set gives events in the total order, whatever comes in.
 *
 * The reference is test/support/reference_heap.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/queue/pending.h"
#include "core/queue/event_pool.h"
#include "test/support/reference_heap.h"

struct fixture {
    struct memory memory;
    struct event_pool pool;
    struct pending pending;
    struct reference reference;
    struct cw_rng rng;
    uint64_t pushed;
};

static struct fixture *fixture_create(uint64_t seed)
{
    struct fixture *const fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    memory_init(&fixture->memory, 0);
    event_pool_init(&fixture->pool, &fixture->memory);
    pending_init(&fixture->pending, &fixture->memory);
    fixture->rng = cw_rng_seeded(seed, 0);
    return fixture;
}

static void fixture_free(struct fixture *fixture)
{
    pending_free(&fixture->pending);
    event_pool_free(&fixture->pool);
    assert_int_equal(fixture->memory.taken.word, 0);
    free(fixture->reference.events);
    free(fixture);
}

static void push(struct fixture *fixture, const struct event_header *header, const void *payload)
{
    struct cw_event *const event = event_pool_get(&fixture->pool, header->payload_bytes);
    assert_non_null(event);
    event_write(event, header);
    if (header->payload_bytes > 0)
        memcpy(event->payload, payload, header->payload_bytes);
    assert_true(pending_push(&fixture->pending, entry_of(header, event)));
    struct cw_event whole = {0};
    memcpy(&whole, event, offsetof(struct cw_event, payload) + header->payload_bytes);
    reference_push(&fixture->reference, &whole);
    fixture->pushed++;
}

/* Pops one from both; they must be the same. Returns its time. */
static int64_t pop(struct fixture *fixture)
{
    const struct entry *const least = pending_peek(&fixture->pending);
    assert_non_null(least);
    struct cw_event *const event = least->event;
    const struct cw_event expected = reference_pop(&fixture->reference);
    if (compare_events(event, &expected) != 0)
        fail_msg("popped time %lld entity %u number %llu, expected %lld %u %llu",
                 (long long)event->time_ps, event->entity, (unsigned long long)event->number,
                 (long long)expected.time_ps, expected.entity, (unsigned long long)expected.number);
    pending_pop(&fixture->pending, least);
    const struct entry *const ahead = pending_look_ahead(&fixture->pending);
    assert_non_null(ahead->event); /* readable, whatever it is */
    event_pool_put(&fixture->pool, event);
    return expected.time_ps;
}

static void pop_all(struct fixture *fixture)
{
    while (fixture->reference.count > 0)
        pop(fixture);
    assert_null(pending_peek(&fixture->pending));
    assert_false(fixture->pending.out_of_memory);
}

static void push_at(struct fixture *fixture, int64_t time_ps)
{
    const struct event_header header = {
        .time_ps = time_ps,
        .number = fixture->pushed,
        .entity = cw_rng_below(&fixture->rng, 1000),
        .lp = cw_rng_below(&fixture->rng, 100),
    };
    push(fixture, &header, NULL);
}

/* Pops and pushes `holds` times, keeping about `count` pending; delays are drawn by `draw`. */
static void hold(struct fixture *fixture, size_t count, size_t holds,
                 int64_t (*draw)(struct cw_rng *rng))
{
    int64_t now_ps = 0;
    for (size_t i = 0; i < count; i++)
        push_at(fixture, draw(&fixture->rng));
    for (size_t i = 0; i < holds; i++) {
        now_ps = pop(fixture);
        const uint32_t children = cw_rng_below(&fixture->rng, 3); /* 0, 1, 2: 1 on average */
        for (uint32_t child = 0; child < children; child++)
            push_at(fixture, now_ps + draw(&fixture->rng));
        if (fixture->reference.count == 0)
            push_at(fixture, now_ps + draw(&fixture->rng));
    }
    pop_all(fixture);
}

static int64_t draw_exp(struct cw_rng *rng) { return cw_rng_exp_ps(rng, 1000000); }

static int64_t draw_equal(struct cw_rng *rng) { return 1000 * (cw_rng_below(rng, 4) / 2); }

static int64_t draw_scales(struct cw_rng *rng)
{
    return (int64_t)(cw_rng_u64(rng) >> (4 + cw_rng_below(rng, 60)));
}

static int64_t draw_timers(struct cw_rng *rng)
{
    return cw_rng_below(rng, 8) == 0 ? 1000000000000 : cw_rng_below(rng, 5000);
}

static void hold_with(int64_t (*draw)(struct cw_rng *rng), uint64_t seed)
{
    static const size_t counts[] = {1, 7, 300, 5000, 40000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct fixture *const fixture = fixture_create(seed + i);
        hold(fixture, counts[i], 60000, draw);
        fixture_free(fixture);
    }
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void exponential_delays_come_in_order(void **state)
{
    (void)state;
    hold_with(draw_exp, 1);
}

static void bursts_at_equal_times_come_in_order(void **state)
{
    (void)state;
    hold_with(draw_equal, 2);
}

static void far_future_events_come_in_order(void **state)
{
    (void)state;
    hold_with(draw_timers, 3);
}

static int64_t draw_scales_bounded(struct cw_rng *rng)
{
    return draw_scales(rng) >> 17; /* 60,000 of them do not reach the end of time */
}

static void delays_of_all_scales_come_in_order(void **state)
{
    (void)state;
    hold_with(draw_scales_bounded, 4);
}

static void times_up_to_the_last_ps_come_in_order(void **state)
{
    (void)state;
    struct fixture *const fixture = fixture_create(5);
    for (int i = 0; i < 20000; i++) {
        push_at(fixture, CW_TIME_MAX - 1 - (int64_t)(cw_rng_u64(&fixture->rng) >> 40));
        push_at(fixture, draw_scales(&fixture->rng));
        push_at(fixture, CW_TIME_MAX - 1);
    }
    pop_all(fixture);
    fixture_free(fixture);
}

static void events_behind_the_front_come_next(void **state)
{
    (void)state;
    struct fixture *const fixture = fixture_create(6);
    for (int i = 0; i < 10000; i++)
        push_at(fixture, 1000000000 + draw_exp(&fixture->rng));
    for (int i = 0; i < 3000; i++)
        pop(fixture);
    for (int i = 0; i < 20000; i++) { /* enough to be too much for a heap beside the array */
        push_at(fixture, (int64_t)cw_rng_below(&fixture->rng, 1000000000));
        if (i % 5 == 0)
            pop(fixture);
    }
    pop_all(fixture);
    fixture_free(fixture);
}

static void the_slack_behind_a_full_array_can_be_read(void **state)
{
    (void)state;
    struct fixture *const fixture = fixture_create(11);
    for (int i = 0; i < 256; i++) /* as many as the smallest array holds */
        push_at(fixture, 5000);
    for (int i = 0; i < 256; i++)
        pop(fixture);
    assert_int_equal(fixture->pending.sorted.capacity, 256);
    push_at(fixture, 5000); /* beside the array, which stands at its end */
    pop(fixture);
    fixture_free(fixture);
}

static void a_set_that_ran_empty_starts_again(void **state)
{
    (void)state;
    struct fixture *const fixture = fixture_create(7);
    int64_t now_ps = 0;
    for (int round = 0; round < 200; round++) {
        for (uint32_t i = cw_rng_below(&fixture->rng, 50); i > 0; i--)
            push_at(fixture, now_ps + draw_scales_bounded(&fixture->rng));
        while (fixture->reference.count > 0)
            now_ps = pop(fixture);
        assert_null(pending_peek(&fixture->pending));
    }
    fixture_free(fixture);
}

/* Keys from small ranges, so that each later part of the key decides often. */
static struct event_header near_equal_header(struct cw_rng *rng)
{
    return (struct event_header){
        .time_ps = cw_rng_below(rng, 2),
        .number = (uint64_t)cw_rng_below(rng, 2) << (cw_rng_below(rng, 2) * 47),
        .entity = cw_rng_below(rng, 2) << 31,
        .lp = cw_rng_below(rng, 3),
        .depth = (uint16_t)(cw_rng_below(rng, 2) * CW_DEPTH_MAX),
        .type = (uint16_t)(cw_rng_below(rng, 2) * 65535),
        .payload_bytes = (uint16_t)cw_rng_below(rng, 4),
    };
}

static void every_part_of_the_key_decides_in_its_turn(void **state)
{
    (void)state;
    static const int counts[] = {10, 100, 20000};
    for (size_t c = 0; c < 3; c++) {
        struct fixture *const fixture = fixture_create(8 + c);
        for (int i = 0; i < counts[c]; i++) {
            const struct event_header header = near_equal_header(&fixture->rng);
            uint8_t payload[4];
            for (size_t b = 0; b < sizeof payload; b++)
                payload[b] = (uint8_t)(cw_rng_below(&fixture->rng, 2) * 255);
            push(fixture, &header, payload);
            if (i % 7 == 6)
                (void)pop(fixture);
        }
        pop_all(fixture);
        fixture_free(fixture);
    }
}

static void the_width_follows_a_model_that_slows_down(void **state)
{
    (void)state;
    struct fixture *const fixture = fixture_create(9);
    int64_t now_ps = 0, mean_ps = 100;
    for (int i = 0; i < 5000; i++)
        push_at(fixture, cw_rng_exp_ps(&fixture->rng, mean_ps));
    for (int step = 0; step < 8; step++) {
        for (int i = 0; i < 30000; i++) {
            now_ps = pop(fixture);
            push_at(fixture, now_ps + cw_rng_exp_ps(&fixture->rng, mean_ps));
        }
        mean_ps = step < 4 ? mean_ps * 100 : mean_ps / 100;
    }
    pop_all(fixture);
    fixture_free(fixture);
}

/* As for others, so that a chunk of memory does not hold one event. */
static void the_first_width_is_found_for_many_events_to_a_ps(void **state)
{
    (void)state;
    enum { PENDING = 4096, SPAN_PS = 2000 };
    struct fixture *const fixture = fixture_create(13);
    for (int i = 0; i < PENDING; i++)
        push_at(fixture, cw_rng_below(&fixture->rng, SPAN_PS));
    assert_non_null(pending_peek(&fixture->pending));
    /* 512 of them in 250 ps */
    assert_in_range(fixture->pending.shift, 7, 8);
    pop_all(fixture);
    fixture_free(fixture);
}

/* Rollbacks put many events back at once. They are no reason for narrow buckets. */
static void the_width_does_not_follow_events_that_are_put_back(void **state)
{
    (void)state;
    enum { PENDING = 128, STEPS = 200000, BETWEEN = 100, BACK = 48 };
    struct fixture *const fixture = fixture_create(12);
    int64_t back_ps[BACK], now_ps = 0;
    for (int i = 0; i < PENDING; i++)
        push_at(fixture, draw_exp(&fixture->rng));
    for (int i = 0; i < STEPS; i++) {
        back_ps[i % BACK] = now_ps = pop(fixture);
        for (int k = 0; i % BETWEEN == BETWEEN - 1 && k < BACK; k++)
            push_at(fixture, back_ps[k]);
        for (int k = 0; i % BETWEEN == BETWEEN - 1 && k < BACK; k++)
            (void)pop(fixture); /* the same again, or events that come before */
        push_at(fixture, now_ps + draw_exp(&fixture->rng));
    }
    /* 128 events in some 10^6 ps: 16 of them in 2^17 ps */
    assert_in_range(fixture->pending.shift, 14, 19);
    pop_all(fixture);
    fixture_free(fixture);
}

/* ---- entries that go ------------------------------------------------------------------------- */

enum { DROPPED_MOST = 4000, ONE_IN = 3 };

struct dropping {
    struct fixture *fixture;
    bool gone[DROPPED_MOST]; /* by the event's number */
};

static bool drop_some(void *arg, const struct entry *entry)
{
    struct dropping *const dropping = arg;
    struct cw_event *const event = entry->event;
    if (event->number % ONE_IN != 0)
        return false;
    assert_false(dropping->gone[event->number]); /* each is asked for once */
    dropping->gone[event->number] = true;
    event_pool_put(&dropping->fixture->pool, event);
    return true;
}

/* Takes the events that are gone out of the reference. Returns how many that should go have stayed.
 */
static size_t forget_what_is_gone(struct fixture *fixture, const struct dropping *dropping)
{
    size_t stayed = 0;
    struct reference old = fixture->reference;
    fixture->reference = (struct reference){0};
    while (old.count > 0) {
        const struct cw_event event = reference_pop(&old);
        stayed += event.number % ONE_IN == 0 && !dropping->gone[event.number];
        if (!dropping->gone[event.number])
            reference_push(&fixture->reference, &event);
    }
    free(old.events);
    return stayed;
}

/* Events on all scales, some of them popped, so that entries lie in each part of the set. A purge
 * spares those whose turn is next, a sift none. */
static void drop_and_pop(uint64_t seed, bool purge)
{
    struct fixture *const fixture = fixture_create(seed);
    struct dropping dropping = {.fixture = fixture};
    int64_t now_ps = 0;
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < 300; i++)
            push_at(fixture, now_ps + draw_scales_bounded(&fixture->rng));
        for (unsigned i = 0; i < 100; i++)
            now_ps = pop(fixture);
        for (unsigned i = 0; i < 20; i++) /* beside the open bucket */
            push_at(fixture, now_ps + cw_rng_below(&fixture->rng, 10));
        const size_t next = fixture->pending.overflow.count +
                            (size_t)(fixture->pending.sorted.last - fixture->pending.sorted.front);
        assert_true(
            (purge ? pending_purge : pending_sift)(&fixture->pending, drop_some, &dropping));
        const size_t stayed = forget_what_is_gone(fixture, &dropping);
        assert_true(purge ? stayed <= next : stayed == 0);
        assert_int_equal(pending_count(&fixture->pending), fixture->reference.count);
    }
    pop_all(fixture);
    fixture_free(fixture);
}

static void entries_that_are_dropped_are_gone_and_all_others_stay(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        drop_and_pop(seed, true);
        drop_and_pop(seed, false);
    }
}

/* Entries in each part of the set, which is opened anew, with a width of its own or a given one. */
static void entries_stay_when_the_set_is_opened_anew(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct fixture *const fixture = fixture_create(seed);
        int64_t now_ps = 0;
        for (unsigned round = 0; round < 6; round++) {
            const struct pending_width width = {.shift = round * 8, .shift_max = round * 8 + 3};
            for (unsigned i = 0; i < 300 * (round % 3); i++)
                push_at(fixture, now_ps + draw_scales_bounded(&fixture->rng));
            for (unsigned i = 0; i < 50 && fixture->reference.count > 0; i++)
                now_ps = pop(fixture);
            assert_true(pending_reopen(&fixture->pending, round % 2 == 0 ? &width : NULL));
            assert_int_equal(pending_count(&fixture->pending), fixture->reference.count);
            if (round % 2 == 0) {
                assert_int_equal(pending_width(&fixture->pending).shift, width.shift);
                assert_int_equal(pending_width(&fixture->pending).shift_max, width.shift_max);
            }
            uint64_t before = 0;
            for (size_t i = 0; i < fixture->reference.count; i++)
                before += fixture->reference.events[i].time_ps < now_ps + 1000000;
            assert_int_equal(pending_count_before(&fixture->pending, now_ps + 1000000), before);
            push_at(fixture, now_ps); /* before all others */
        }
        pop_all(fixture);
        fixture_free(fixture);
    }
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    struct memory memory;
    struct pending *const pending = calloc(1, sizeof *pending);
    assert_non_null(pending);
    memory_init(&memory, 200000);
    pending_init(pending, &memory);
    struct cw_event event = {.time_ps = 1};
    const struct event_header header = {.time_ps = 1};
    size_t pushed = 0;
    while (pending_push(pending, entry_of(&header, &event)))
        assert_true(++pushed < 200000 / sizeof(struct entry));
    assert_true(pushed > 1000);
    assert_true(memory.needed.word > memory.bytes_max);
    assert_null(pending_peek(pending)); /* no room for the array */
    assert_true(pending->out_of_memory);
    pending_free(pending);
    assert_int_equal(memory.taken.word, 0);
    free(pending);
}

/* ---- memory that runs out, and comes back ---------------------------------------------------- */

enum { SHORT_LIMIT = 1 << 20, SHORT_STEPS = 4000, SHORT_NEVER = 40 };

/* Pushes an event, if there is memory for its entry. */
static void push_if_room(struct fixture *fixture)
{
    const struct event_header header = {
        .time_ps = draw_scales_bounded(&fixture->rng), .number = fixture->pushed++, .entity = 3};
    struct cw_event *const event = event_pool_get(&fixture->pool, 0);
    assert_non_null(event);
    event_write(event, &header);
    struct cw_event whole = {0};
    memcpy(&whole, event, offsetof(struct cw_event, payload));
    if (pending_push(&fixture->pending, entry_of(&header, event)))
        reference_push(&fixture->reference, &whole);
    else
        event_pool_put(&fixture->pool, event);
}

/* Pops the least event, or finds that memory is out. Returns whether entries are lost. */
static bool pop_if_whole(struct fixture *fixture)
{
    if (fixture->reference.count == 0)
        return false;
    if (pending_peek(&fixture->pending) != NULL) {
        (void)pop(fixture);
        return false;
    }
    assert_true(fixture->pending.out_of_memory);
    return fixture->pending.lost;
}

/* A pending_drop_fn. */
static bool keep(void *arg, const struct entry *entry)
{
    (void)arg;
    (void)entry;
    return false;
}

/* Pushes and pops, for most of the time with all the memory that it takes. Returns whether entries
 * were lost; each that was given out was the least all the same. */
static bool entries_are_lost(uint64_t seed)
{
    struct fixture *const fixture = fixture_create(seed);
    struct memory memory;
    bool lost = false;
    memory_init(&memory, SHORT_LIMIT);
    pending_init(&fixture->pending, &memory);
    for (unsigned step = 0; step < SHORT_STEPS && !lost; step++) {
        const bool is_short = cw_rng_below(&fixture->rng, SHORT_NEVER) == 0;
        memory.bytes_max = is_short ? memory.taken.word : SHORT_LIMIT;
        if (cw_rng_below(&fixture->rng, 300) == 0)
            (void)pending_reopen(&fixture->pending, NULL);
        if (cw_rng_below(&fixture->rng, 300) == 0)
            (void)pending_sift(&fixture->pending, keep, NULL);
        if (cw_rng_below(&fixture->rng, 5) < 3)
            push_if_room(fixture);
        else
            lost = pop_if_whole(fixture);
        if (fixture->pending.lost)
            assert_null(pending_peek(&fixture->pending));
    }
    memory.bytes_max = SHORT_LIMIT;
    for (unsigned i = 0; i < 3 && lost; i++) {
        push_if_room(fixture);
        assert_true(pop_if_whole(fixture)); /* for good */
    }
    while (!lost && fixture->reference.count > 0)
        lost = pop_if_whole(fixture);
    pending_free(&fixture->pending);
    assert_int_equal(memory.taken.word, 0);
    pending_init(&fixture->pending, &fixture->memory);
    fixture_free(fixture);
    return lost;
}

static void no_entry_takes_the_place_of_one_that_was_lost(void **state)
{
    (void)state;
    enum { SEEDS = 200 };
    unsigned lost = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        lost += entries_are_lost(seed);
    assert_in_range(lost, SEEDS / 20, SEEDS * 19 / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential_delays_come_in_order),
        cmocka_unit_test(bursts_at_equal_times_come_in_order),
        cmocka_unit_test(far_future_events_come_in_order),
        cmocka_unit_test(delays_of_all_scales_come_in_order),
        cmocka_unit_test(times_up_to_the_last_ps_come_in_order),
        cmocka_unit_test(events_behind_the_front_come_next),
        cmocka_unit_test(the_slack_behind_a_full_array_can_be_read),
        cmocka_unit_test(a_set_that_ran_empty_starts_again),
        cmocka_unit_test(every_part_of_the_key_decides_in_its_turn),
        cmocka_unit_test(the_width_follows_a_model_that_slows_down),
        cmocka_unit_test(entries_that_are_dropped_are_gone_and_all_others_stay),
        cmocka_unit_test(the_first_width_is_found_for_many_events_to_a_ps),
        cmocka_unit_test(entries_stay_when_the_set_is_opened_anew),
        cmocka_unit_test(the_width_does_not_follow_events_that_are_put_back),
        cmocka_unit_test(running_out_of_memory_is_reported),
        cmocka_unit_test(no_entry_takes_the_place_of_one_that_was_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
