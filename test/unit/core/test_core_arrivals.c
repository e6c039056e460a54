/*
 * test_core_arrivals.c: the events that a sender may still cancel (arrivals.h) are found by their
 * numbers, wherever they lie, and only events that can be cancelled take memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/exchange/peers.h"

enum { LIMIT_BYTES = 1 << 20, EVENTS = 1 << 20, FAR = 16 };

/* An event that is told from others by its time, which is its cause's here. */
static struct cw_event *event_at(struct cw_event *event, int64_t time_ps)
{
    event->time_ps = time_ps;
    return event;
}

static bool add(struct arrivals *arrivals, struct cw_event *event, int64_t final_ps)
{
    arrivals->final_ps = arrivals->aside->final_ps = final_ps;
    return arrivals_add(arrivals, event, event->time_ps);
}

struct kit {
    struct memory memory;
    struct arrivals_aside aside;
    struct arrivals arrivals, other; /* of two senders */
};

static struct kit *begin(uint64_t bytes_max)
{
    struct kit *const kit = calloc(1, sizeof *kit);
    assert_non_null(kit);
    memory_init(&kit->memory, bytes_max);
    arrivals_aside_init(&kit->aside, &kit->memory, 2);
    arrivals_init(&kit->arrivals, &kit->aside, 0);
    arrivals_init(&kit->other, &kit->aside, 1);
    return kit;
}

static void end(struct kit *kit)
{
    arrivals_free(&kit->arrivals);
    arrivals_free(&kit->other);
    arrivals_aside_free(&kit->aside);
    assert_int_equal(kit->memory.taken.word, 0);
    free(kit);
}

/* The head of the ring is an event far away. All others are final soon after they came. */
static void one_event_far_ahead_holds_no_memory_for_those_behind_it(void **state)
{
    (void)state;
    struct kit *const kit = begin(LIMIT_BYTES);
    struct cw_event far[FAR], near;
    for (int64_t i = 0; i < EVENTS; i++) {
        const bool is_far = i % (EVENTS / FAR) == 0;
        struct cw_event *const event =
            is_far ? event_at(&far[i / (EVENTS / FAR)], INT64_MAX - i) : event_at(&near, i);
        assert_true(add(&kit->arrivals, event, i - 8));
    }
    assert_true(kit->arrivals.capacity <= 32 * 32);
    assert_true(kit->memory.taken.word < 64 << 10);
    for (size_t i = 0; i < FAR; i++) {
        const uint64_t number = i * (EVENTS / FAR);
        assert_ptr_equal(arrivals_take(&kit->arrivals, number), &far[i]);
        assert_null(arrivals_take(&kit->arrivals, number)); /* once */
    }
    assert_ptr_equal(arrivals_take(&kit->arrivals, EVENTS - 1), &near);
    assert_null(arrivals_take(&kit->arrivals, EVENTS)); /* not yet */
    assert_null(arrivals_take(&kit->arrivals, EVENTS / FAR + 1));
    end(kit);
}

/* Each is cancelled soon, and none is ever final. */
static void what_was_cancelled_is_forgotten(void **state)
{
    (void)state;
    struct kit *const kit = begin(LIMIT_BYTES);
    struct cw_event far;
    for (uint64_t i = 0; i < 10000; i++) {
        assert_true(add(&kit->arrivals, event_at(&far, INT64_MAX), 0));
        if (i < 3)
            continue;
        assert_ptr_equal(arrivals_take(&kit->arrivals, i - 3), &far);
        assert_null(arrivals_take(&kit->arrivals, i - 3)); /* in the ring, too */
    }
    assert_true(kit->arrivals.capacity <= 32 * 4);
    assert_int_equal(kit->aside.table.count, 0);
    end(kit);
}

/* Times at random, final after a while: against a list of all. */
static void whatever_can_be_cancelled_is_found_by_its_number(void **state)
{
    (void)state;
    enum { COUNT = 20000, SPAN = 3000 };
    struct kit *const kit = begin(LIMIT_BYTES);
    struct cw_event *const events = calloc(COUNT, sizeof *events);
    bool *const taken = calloc(COUNT, sizeof *taken);
    struct cw_rng rng = cw_rng_seeded(18, 1);
    size_t live_most = 0;
    assert_true(events != NULL && taken != NULL);
    for (int64_t i = 0; i < COUNT; i++) {
        const int64_t far_ps = cw_rng_below(&rng, 50) == 0 ? SPAN : 20;
        assert_true(
            add(&kit->arrivals, event_at(&events[i], i + cw_rng_below(&rng, (uint32_t)far_ps)), i));
        const uint64_t back = cw_rng_below(&rng, SPAN), number = (uint64_t)i - back;
        if (back > (uint64_t)i || taken[number] || events[number].time_ps < i)
            continue;
        assert_ptr_equal(arrivals_take(&kit->arrivals, number), &events[number]);
        taken[number] = true;
    }
    for (int64_t now = 0; now < COUNT; now++) {
        size_t live = 0;
        for (int64_t i = now > SPAN ? now - SPAN : 0; i <= now; i++)
            live += events[i].time_ps >= now;
        live_most = live > live_most ? live : live_most;
    }
    assert_true(kit->arrivals.capacity <= 32 * live_most); /* I-ARRIVE-2 */
    for (int64_t i = 0; i < COUNT; i++)
        if (!taken[i] && events[i].time_ps >= COUNT)
            assert_ptr_equal(arrivals_take(&kit->arrivals, (uint64_t)i), &events[i]);
    free(taken);
    free(events);
    end(kit);
}

static void all_are_forgotten_and_numbers_go_on(void **state)
{
    (void)state;
    struct kit *const kit = begin(LIMIT_BYTES);
    struct cw_event far;
    (void)event_at(&far, 1000000);
    for (int64_t i = 0; i < 1000; i++) {
        struct cw_event near;
        assert_true(add(&kit->arrivals, i % 100 == 0 ? &far : event_at(&near, i), i));
    }
    assert_true(kit->aside.table.count > 0);
    arrivals_forget(&kit->arrivals);
    arrivals_aside_forget(&kit->aside);
    assert_int_equal(kit->aside.table.count, 0);
    assert_null(arrivals_take(&kit->arrivals, 0));
    assert_null(arrivals_take(&kit->arrivals, 900));
    /* all owners may have changed: no cause is final, however early */
    struct cw_event early[40];
    for (size_t i = 0; i < 40; i++)
        assert_true(arrivals_add(&kit->arrivals, &early[i], 5));
    for (size_t i = 0; i < 40; i++)
        assert_ptr_equal(arrivals_take(&kit->arrivals, 1000 + i), &early[i]);
    end(kit);
}

static void without_memory_nothing_is_lost(void **state)
{
    (void)state;
    enum { COUNT = 4096 };
    struct kit *const kit = begin(20000);
    struct cw_event *const events = calloc(COUNT, sizeof *events);
    uint64_t added = 0;
    assert_non_null(events);
    while (added < COUNT && add(&kit->arrivals, event_at(&events[added], 5), 0))
        added++;
    assert_in_range(added, ARRIVALS_MIN, COUNT - 1);
    assert_false(add(&kit->arrivals, event_at(&events[added], 5), 0));
    for (uint64_t i = 0; i < added; i++)
        assert_ptr_equal(arrivals_take(&kit->arrivals, i), &events[i]);
    free(events);
    end(kit);
}

static void senders_do_not_see_each_other(void **state)
{
    (void)state;
    struct kit *const kit = begin(LIMIT_BYTES);
    struct cw_event far[2], near;
    (void)event_at(&near, 0);
    for (int64_t i = 0; i < 1000; i++) {
        assert_true(add(&kit->arrivals, i == 3 ? event_at(&far[0], 5000) : &near, i));
        assert_true(add(&kit->other, i == 3 ? event_at(&far[1], 5000) : &near, i));
    }
    assert_true(kit->aside.table.count >= 2);
    assert_null(arrivals_take(&kit->other, 2));
    assert_ptr_equal(arrivals_take(&kit->other, 3), &far[1]);
    assert_ptr_equal(arrivals_take(&kit->arrivals, 3), &far[0]);
    end(kit);
}

/* At a time that is final for one sender, another one may cancel events: I-ARRIVE-3. */
static void a_table_is_searched_for_what_is_final_for_all(void **state)
{
    (void)state;
    enum { COUNT = 20000, APART = 100 };
    struct kit *const kit = begin(LIMIT_BYTES);
    struct cw_event event;
    kit->aside.final_ps = kit->other.final_ps = 10;
    kit->arrivals.final_ps = 1000;
    for (uint64_t i = 0; i < COUNT; i++) { /* of each few that stay, in the table */
        assert_true(arrivals_add(&kit->other, &event, i % APART == 0 ? 500 : 5));
        assert_true(arrivals_add(&kit->arrivals, &event, i % APART == 0 ? 2000 : 5));
    }
    assert_true(kit->aside.table.count > ARRIVALS_ASIDE_MIN);
    for (uint64_t i = 0; i < COUNT; i += APART) {
        assert_ptr_equal(arrivals_take(&kit->other, i), &event);
        assert_ptr_equal(arrivals_take(&kit->arrivals, i), &event);
    }
    end(kit);
}

/* Each sender's promise, or GVT, is for its own events. The table has those of all senders. */
static void events_are_final_by_their_own_senders_promise(void **state)
{
    (void)state;
    enum { WORKERS = 4, GVT_PS = 30 };
    static const int64_t promised_ps[] = {100, 20, 50}, final_ps[] = {100, GVT_PS, 50};
    struct memory memory;
    struct peers peers;
    memory_init(&memory, LIMIT_BYTES);
    assert_true(peers_create(&peers, &memory, NULL, WORKERS, 0));
    for (uint32_t i = 0; i < peers.in_count; i++)
        peers.in[i].promised_ps = promised_ps[i];
    peers_settle(&peers, GVT_PS);
    for (uint32_t i = 0; i < peers.in_count; i++)
        assert_int_equal(peers.in[i].arrivals.final_ps, final_ps[i]);
    assert_int_equal(peers.aside.final_ps, GVT_PS);
    peers_settle(&peers, 0); /* final times stay final */
    assert_int_equal(peers.in[1].arrivals.final_ps, GVT_PS);
    peers_free(&peers);
    assert_int_equal(memory.taken.word, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_final_by_their_own_senders_promise),
        cmocka_unit_test(one_event_far_ahead_holds_no_memory_for_those_behind_it),
        cmocka_unit_test(what_was_cancelled_is_forgotten),
        cmocka_unit_test(whatever_can_be_cancelled_is_found_by_its_number),
        cmocka_unit_test(senders_do_not_see_each_other),
        cmocka_unit_test(a_table_is_searched_for_what_is_final_for_all),
        cmocka_unit_test(all_are_forgotten_and_numbers_go_on),
        cmocka_unit_test(without_memory_nothing_is_lost),
    };
    return cmocka_run_group_tests_name("core_arrivals", tests, NULL, NULL);
}
