/*
 * test_core_interval_log.c: the log of a worker's time (core/worker/interval_log.h), with moments
 * that the test makes up: which of them become intervals, and that the whole run is told however
 * small the memory (I-LOG-1).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/worker/interval_log.h"

enum { READ_COST = 1, GRAIN = READ_COST * GRAIN_READS };

struct fixture {
    struct memory memory;
    struct interval_log *log;
};

static struct interval_log *begin_log(struct fixture *fixture, size_t bytes)
{
    memory_init(&fixture->memory, 64 << 20);
    fixture->log = interval_log_create(&fixture->memory, bytes, READ_COST);
    assert_non_null(fixture->log);
    return fixture->log;
}

static void end_log(struct fixture *fixture)
{
    interval_log_free(fixture->log);
    assert_int_equal(fixture->memory.taken.word, 0);
}

static struct interval_counts counts_of(uint64_t committed)
{
    return (struct interval_counts){.committed = committed, .undone = committed / 4};
}

static void expect_record(const struct interval_log *log, size_t i, enum cw_interval_kind kind,
                          uint64_t begin, uint64_t end, uint64_t committed)
{
    assert_true(i < log->count);
    assert_int_equal(log->records[i].kind, kind);
    assert_int_equal(log->records[i].begin, begin);
    assert_int_equal(log->records[i].end, end);
    assert_int_equal(log->records[i].value[0], committed);
}

/* ---- intervals by their length --------------------------------------------------------------- */

static void a_long_wait_parts_the_work_and_names_the_other_worker(void **state)
{
    (void)state;
    struct fixture fixture;
    struct interval_log *const log = begin_log(&fixture, 0);
    interval_log_open(log, 1000, counts_of(0));
    interval_log_wait(log, 2000, 3, counts_of(10));
    interval_log_look(log, 2000 + GRAIN);
    interval_log_work(log);
    interval_log_close(log, 5000, counts_of(30));
    assert_int_equal(log->count, 3);
    expect_record(log, 0, CW_INTERVAL_WORK, 1000, 2000, 10);
    expect_record(log, 1, CW_INTERVAL_WAIT, 2000, 2000 + GRAIN, 0);
    assert_int_equal(log->records[1].other, 3);
    expect_record(log, 2, CW_INTERVAL_WORK, 2000 + GRAIN, 5000, 20);
    end_log(&fixture);
}

static void a_short_wait_is_a_part_of_the_work(void **state)
{
    (void)state;
    struct fixture fixture;
    struct interval_log *const log = begin_log(&fixture, 0);
    interval_log_open(log, 1000, counts_of(0));
    interval_log_wait(log, 2000, 3, counts_of(10));
    interval_log_look(log, 2000 + GRAIN - 1);
    interval_log_work(log);
    interval_log_close(log, 5000, counts_of(30));
    assert_int_equal(log->count, 1);
    expect_record(log, 0, CW_INTERVAL_WORK, 1000, 5000, 30);
    assert_int_equal(log->records[0].waited, GRAIN - 1);
    end_log(&fixture);
}

/* The wait for worker 4 is short, and yet told: it is the rest of a long wait. */
static void a_wait_is_parted_where_another_worker_holds_it_up(void **state)
{
    (void)state;
    struct fixture fixture;
    struct interval_log *const log = begin_log(&fixture, 0);
    interval_log_open(log, 1000, counts_of(0));
    interval_log_wait(log, 2000, 3, counts_of(10));
    interval_log_wait(log, 2500, 3, counts_of(10));
    interval_log_wait(log, 3000, 4, counts_of(10));
    interval_log_look(log, 3010);
    interval_log_work(log);
    interval_log_close(log, 5000, counts_of(30));
    assert_int_equal(log->count, 4);
    expect_record(log, 1, CW_INTERVAL_WAIT, 2000, 3000, 0);
    assert_int_equal(log->records[1].other, 3);
    expect_record(log, 2, CW_INTERVAL_WAIT, 3000, 3010, 0);
    assert_int_equal(log->records[2].other, 4);
    end_log(&fixture);
}

static void a_sampled_turn_tells_its_parts(void **state)
{
    (void)state;
    struct fixture fixture;
    struct interval_log *const log = begin_log(&fixture, 0);
    interval_log_open(log, 1000, counts_of(0));
    interval_log_turn(log, 2000, counts_of(10));
    interval_log_part(log, 2000, 2010, CW_GVT);
    interval_log_part(log, 2010, 2020, CW_QUEUE); /* these three are one part */
    interval_log_part(log, 2020, 2040, CW_HANDLING);
    interval_log_part(log, 2040, 2300, CW_ACTIVITIES);
    interval_log_part(log, 2300, 2400, CW_GVT);
    interval_log_turn_end(log, 2400, counts_of(20));
    interval_log_close(log, 5000, counts_of(30));
    assert_int_equal(log->count, 6);
    expect_record(log, 0, CW_INTERVAL_PART, 2000, 2010, 0);
    expect_record(log, 1, CW_INTERVAL_PART, 2010, 2300, 0);
    assert_int_equal(log->records[1].activity, CW_HANDLING);
    expect_record(log, 2, CW_INTERVAL_PART, 2300, 2400, 0);
    expect_record(log, 3, CW_INTERVAL_WORK, 1000, 2000, 10);
    expect_record(log, 4, CW_INTERVAL_TURN, 2000, 2400, 10);
    expect_record(log, 5, CW_INTERVAL_WORK, 2400, 5000, 10);
    end_log(&fixture);
}

/* It found nothing to do: there is nothing to see of it but the wait. */
static void an_idle_turn_tells_no_parts(void **state)
{
    (void)state;
    struct fixture fixture;
    struct interval_log *const log = begin_log(&fixture, 0);
    interval_log_open(log, 1000, counts_of(0));
    interval_log_turn(log, 2000, counts_of(10));
    interval_log_part(log, 2000, 2010, CW_GVT);
    interval_log_round(log, 1500, 2010, 7, 8);
    interval_log_wait(log, 2020, 1, counts_of(10));
    interval_log_turn_end(log, 2030, counts_of(10));
    interval_log_close(log, 3000, counts_of(10));
    assert_int_equal(log->count, 3);
    expect_record(log, 0, CW_INTERVAL_ROUND, 1500, 2010, 7);
    expect_record(log, 1, CW_INTERVAL_WORK, 1000, 2020, 10);
    expect_record(log, 2, CW_INTERVAL_WAIT, 2020, 3000, 0);
    end_log(&fixture);
}

/* The turn's first look still belongs to the wait. */
static void a_sampled_turn_that_ends_a_wait_begins_behind_it(void **state)
{
    (void)state;
    struct fixture fixture;
    struct interval_log *const log = begin_log(&fixture, 0);
    interval_log_open(log, 1000, counts_of(0));
    interval_log_wait(log, 2000, 1, counts_of(10));
    interval_log_turn(log, 3000, counts_of(10));
    interval_log_part(log, 3000, 3010, CW_GVT);
    interval_log_look(log, 3005);
    interval_log_part(log, 3010, 3100, CW_HANDLING);
    interval_log_work(log);
    interval_log_turn_end(log, 3100, counts_of(20));
    interval_log_close(log, 3100, counts_of(20));
    assert_int_equal(log->count, 5);
    expect_record(log, 0, CW_INTERVAL_PART, 3005, 3010, 0);
    expect_record(log, 1, CW_INTERVAL_PART, 3010, 3100, 0);
    expect_record(log, 2, CW_INTERVAL_WORK, 1000, 2000, 10);
    expect_record(log, 3, CW_INTERVAL_WAIT, 2000, 3005, 0);
    expect_record(log, 4, CW_INTERVAL_TURN, 3005, 3100, 10);
    end_log(&fixture);
}

/* While they are short, one in 16 is timed; while they are long, each. */
static void operations_on_data_are_timed_by_their_length(void **state)
{
    (void)state;
    struct fixture fixture;
    struct interval_log *const log = begin_log(&fixture, 0);
    uint64_t now = 1000, timed = 0;
    interval_log_open(log, now, counts_of(0));
    for (int i = 0; i < 160; i++, now += 10)
        if (interval_log_wants_data(log)) {
            interval_log_data(log, now, now + 10);
            timed++;
        }
    assert_in_range(timed, 5, 20); /* 10 on average, at irregular distances */
    assert_int_equal(log->count, 0);
    interval_log_turn(log, now, counts_of(0));
    for (int i = 0; i < 3; i++, now += GRAIN) {
        assert_true(interval_log_wants_data(log));
        interval_log_data(log, now, now + GRAIN);
    }
    interval_log_turn_end(log, now, counts_of(1));
    assert_int_equal(log->count, 5);
    expect_record(log, 0, CW_INTERVAL_DATA, now - (uint64_t)3 * GRAIN, now - (uint64_t)2 * GRAIN,
                  1);
    while (!interval_log_wants_data(log))
        now += 10;
    for (int i = 0; i < 3; i++, now += (uint64_t)17 * GRAIN)
        interval_log_data(log, now, now + (uint64_t)17 * GRAIN);
    assert_true(interval_log_wants_data(log));
    assert_int_equal(log->count, 8);
    end_log(&fixture);
}

static void the_hosts_work_lies_between_drains(void **state)
{
    (void)state;
    struct fixture fixture;
    struct interval_log *const log = begin_log(&fixture, 0);
    interval_log_host(log, 100, 900);
    interval_log_open(log, 1000, counts_of(0));
    interval_log_close(log, 2000, counts_of(7));
    interval_log_host(log, 2500, 2600);
    assert_int_equal(log->count, 3);
    expect_record(log, 0, CW_INTERVAL_HOST, 100, 900, 0);
    expect_record(log, 1, CW_INTERVAL_WORK, 1000, 2000, 7);
    expect_record(log, 2, CW_INTERVAL_HOST, 2500, 2600, 0);
    end_log(&fixture);
}

static void other_work_is_told_if_it_is_long(void **state)
{
    (void)state;
    struct fixture fixture;
    struct interval_log *const log = begin_log(&fixture, 0);
    interval_log_open(log, 1000, counts_of(0));
    interval_log_long(log, CW_INTERVAL_DATA, 1100, 1100 + GRAIN - 1, 0, 5);
    interval_log_long(log, CW_INTERVAL_MOVE, 2000, 2000 + GRAIN, 2, 6);
    interval_log_rollback(log, 3000, 4);
    interval_log_rollback_end(log, 3000 + GRAIN, 11);
    interval_log_parked(log, 4000, 9000, counts_of(10));
    interval_log_close(log, 9000, counts_of(10));
    assert_int_equal(log->count, 4);
    expect_record(log, 0, CW_INTERVAL_MOVE, 2000, 2000 + GRAIN, 6);
    assert_int_equal(log->records[0].other, 2);
    expect_record(log, 1, CW_INTERVAL_ROLLBACK, 3000, 3000 + GRAIN, 7);
    expect_record(log, 2, CW_INTERVAL_WORK, 1000, 4000, 10);
    expect_record(log, 3, CW_INTERVAL_PARKED, 4000, 9000, 0);
    end_log(&fixture);
}

/* ---- little memory --------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* One turn of a made-up worker. */
static void random_turn(struct interval_log *log, uint64_t *random, uint64_t *now,
                        uint64_t *committed)
{
    const bool sampled = next_random(random) % 8 == 0;
    const bool idle = next_random(random) % 3 == 0;
    const uint64_t begin = *now;
    if (sampled)
        interval_log_turn(log, begin, counts_of(*committed));
    *now += next_random(random) % 20;
    if (sampled)
        interval_log_part(log, begin, *now, CW_GVT);
    if (next_random(random) % 16 == 0)
        interval_log_round(log, begin - begin % 100, *now, 1, 1);
    if (log->waiting)
        interval_log_look(log, *now);
    if (!idle) {
        const uint64_t part = *now;
        *now += next_random(random) % 500;
        *committed += next_random(random) % 64;
        interval_log_long(log, CW_INTERVAL_DATA, part, *now, 0, 1);
        if (sampled)
            interval_log_part(log, part, *now, CW_HANDLING);
        if (log->waiting)
            interval_log_work(log);
    } else {
        interval_log_wait(log, *now, (uint32_t)(next_random(random) % 4), counts_of(*committed));
        *now += next_random(random) % 300;
    }
    if (sampled && next_random(random) % 64 == 0)
        interval_log_turn_cut(log);
    else if (sampled)
        interval_log_turn_end(log, *now, counts_of(*committed));
}

static bool is_level_one(const struct interval_record *record)
{
    return record->kind < CW_INTERVAL_PART;
}

/* I-LOG-1, and that nothing is lost: the first level fills the time from `begin` to `end`. */
static void expect_whole(const struct interval_log *log, uint64_t begin, uint64_t end,
                         uint64_t committed)
{
    uint64_t at = begin, sum = 0, undone = 0;
    for (size_t i = 0; i < log->count; i++) {
        const struct interval_record *const record = &log->records[i];
        assert_true(record->end >= record->begin);
        assert_true(record->waited <= record->end - record->begin);
        if (!is_level_one(record))
            continue;
        assert_int_equal(record->begin, at);
        at = record->end;
        sum += record->value[0];
        undone += record->value[1];
    }
    assert_int_equal(at, end);
    assert_int_equal(sum, committed);
    assert_int_equal(undone, committed / 4);
}

static void expect_nested(const struct interval_log *log)
{
    for (size_t i = 0; i < log->count; i++) {
        const struct interval_record *const record = &log->records[i];
        bool inside = record->kind == CW_INTERVAL_ROUND || is_level_one(record);
        for (size_t k = 0; k < log->count && !inside; k++) {
            const struct interval_record *const outer = &log->records[k];
            inside = is_level_one(outer) && record->begin >= outer->begin &&
                     record->end <= outer->end &&
                     (record->kind != CW_INTERVAL_PART || outer->kind == CW_INTERVAL_TURN);
        }
        if (!inside)
            fail_msg("record %zu of kind %u lies in none", i, (unsigned)record->kind);
    }
}

static void a_full_log_tells_the_whole_run_in_less_detail(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct fixture fixture;
        struct interval_log *const log = begin_log(&fixture, seed * 4096);
        uint64_t random = seed, now = 1000, committed = 0;
        interval_log_open(log, now, counts_of(0));
        for (int i = 0; i < 20000; i++)
            random_turn(log, &random, &now, &committed);
        interval_log_close(log, now, counts_of(committed));
        assert_true(log->halvings > 0);
        assert_true(log->count <= log->capacity && log->count > log->capacity / 16);
        expect_whole(log, 1000, log->latest, committed);
        expect_nested(log);
        end_log(&fixture);
    }
}

/* A host that drains often leaves gaps; they do not keep the log from thinning out. */
static void many_drains_fit_into_a_small_log(void **state)
{
    (void)state;
    struct fixture fixture;
    struct interval_log *const log = begin_log(&fixture, 0);
    for (uint64_t i = 0; i < 10000; i++) {
        interval_log_open(log, i * 1000, counts_of(i));
        interval_log_close(log, i * 1000 + 500, counts_of(i + 1));
    }
    uint64_t sum = 0, at = 0;
    for (size_t i = 0; i < log->count; i++) {
        assert_true(log->records[i].begin >= at);
        at = log->records[i].end;
        sum += log->records[i].value[0];
    }
    assert_int_equal(sum, 10000);
    assert_int_equal(at, 9999500);
    end_log(&fixture);
}

static void without_memory_there_is_no_log(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory, 1000);
    assert_null(interval_log_create(&memory, 0, READ_COST));
    assert_int_equal(memory.taken.word, 0);
    interval_log_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_wait_parts_the_work_and_names_the_other_worker),
        cmocka_unit_test(a_short_wait_is_a_part_of_the_work),
        cmocka_unit_test(a_wait_is_parted_where_another_worker_holds_it_up),
        cmocka_unit_test(a_sampled_turn_tells_its_parts),
        cmocka_unit_test(an_idle_turn_tells_no_parts),
        cmocka_unit_test(a_sampled_turn_that_ends_a_wait_begins_behind_it),
        cmocka_unit_test(operations_on_data_are_timed_by_their_length),
        cmocka_unit_test(the_hosts_work_lies_between_drains),
        cmocka_unit_test(other_work_is_told_if_it_is_long),
        cmocka_unit_test(a_full_log_tells_the_whole_run_in_less_detail),
        cmocka_unit_test(many_drains_fit_into_a_small_log),
        cmocka_unit_test(without_memory_there_is_no_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
