/*
 * test_core_invariants.c: the engine's assertions can fire (core/invariant.h). Each test breaks one
 * invariant from outside, in a process of its own, and expects that it aborts and prints the
 * invariant's name, the place and the state. Assertions that need a whole run are tried by the
 * planted bugs in test/mutants.
 *
 * The sources under test are compiled in here, with their assertions switched on in every build.
 */
#define CW_ASSERT

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/exchange/mailbox.c"
#include "core/exchange/record_merge.c"
#include "core/exchange/record_outbox.c"
#include "core/exchange/recorder.c"
#include "core/queue/event_pool.h"
#include "core/os/memory.c"
#include "core/os/table.c"
#include "core/queue/event.c"
#include "core/queue/overflow_heap.c"
#include "core/queue/pending.c"

/* Runs the function in a child, and expects that it aborts with a line that names the invariant and
 * holds the given part of the state. */
static void expect_failure(void (*breaks)(void), const char *name, const char *state)
{
    int ends[2], status;
    char text[2000] = "";
    size_t used = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], 2);
        breaks();
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], text + used, sizeof text - 1 - used)) > 0;)
        used += (size_t)got;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    if (strstr(text, name) == NULL || strstr(text, " does not hold: ") == NULL ||
        strstr(text, state) == NULL)
        fail_msg("expected %s and '%s' in: %s", name, state, text);
}

static struct memory plenty(void)
{
    struct memory memory;
    memory_init(&memory, 64 << 20);
    return memory;
}

static struct entry entry_at(struct cw_event *event, int64_t time_ps)
{
    *event = (struct cw_event){.time_ps = time_ps};
    return entry_of_event(event);
}

/* ---- the invariants ---------------------------------------------------------------------------*/

static void give_what_was_not_taken(void)
{
    struct memory memory = plenty();
    void *const block = memory_take(&memory, 100);
    memory.taken.word = 99;
    memory_give(&memory, block, 100);
}

static void add_a_key_twice(void)
{
    struct memory memory = plenty();
    struct table table;
    table_init(&table, &memory, 8);
    (void)table_reserve(&table);
    (void)table_add(&table, 77);
    (void)table_add(&table, 77);
}

static void free_an_event_too_many(void)
{
    struct memory memory = plenty();
    struct event_pool pool;
    event_pool_init(&pool, &memory);
    struct cw_event *const event = event_pool_get(&pool, 8);
    event->payload_bytes = 8;
    event_pool_count_out(&pool);
    event_pool_put(&pool, event);
}

static void damage_a_message(void)
{
    struct memory memory = plenty();
    struct mailbox_out out;
    struct mailbox_in in;
    mailbox_join(&out, &in, &memory, 1024);
    struct message *const message = mailbox_write(&out, 16);
    message->kind = MESSAGE_EVENT;
    message->bytes = 40;
    (void)mailbox_publish(&out);
    (void)mailbox_read(&in);
}

static void give_a_ring_two_successors(void)
{
    struct memory memory = plenty();
    struct mailbox_out out;
    struct mailbox_in in;
    mailbox_join(&out, &in, &memory, 1024);
    mailbox_write(&out, 16)->kind = MESSAGE_EVENT;
    out.writing->next.word = &memory;
    for (int i = 0; i < 100; i++)
        mailbox_write(&out, 16)->kind = MESSAGE_EVENT;
}

static void disorder_a_heap(void)
{
    struct memory memory = plenty();
    struct overflow_heap heap;
    struct cw_event events[7];
    overflow_heap_init(&heap, &memory);
    for (int i = 0; i < 7; i++) {
        const struct entry entry = entry_at(&events[i], 10 + i);
        (void)overflow_heap_push(&heap, &entry);
    }
    heap.entries[5].time_ps = 3;
    overflow_heap_pop(&heap);
}

static void put_a_later_event_into_the_heap(void)
{
    struct memory memory = plenty();
    struct pending *const pending = malloc(sizeof *pending);
    struct cw_event event;
    pending_init(pending, &memory);
    const struct entry entry = entry_at(&event, 5000);
    (void)push_overflow(pending, &entry);
}

static void open_too_many_buckets(void)
{
    struct memory memory = plenty();
    struct pending *const pending = malloc(sizeof *pending);
    struct cw_event event;
    pending_init(pending, &memory);
    (void)pending_push(pending, entry_at(&event, 5000));
    (void)pending_peek(pending);
    pending->fine_end = pending->first + FINE_BUCKETS + FINE_PER_COARSE;
    check_bounds(pending);
}

/* A recorder with a chunk of the second worker's, in which there is one event, at 1,000 ps. */
struct one_chunk {
    struct memory memory;
    struct recorder recorder;
    struct record_outbox outbox;
    struct gvt_slot slots[2];
};

static void ignore(void *arg, const struct cw_event *event, uint16_t kind, const void *record,
                   uint16_t bytes)
{
    (void)arg, (void)event, (void)kind, (void)record, (void)bytes;
}

static void add_event(struct one_chunk *it, int64_t time_ps)
{
    struct cw_event event;
    (void)entry_at(&event, time_ps);
    (void)record_outbox_add(&it->outbox, &event, 0);
}

static struct one_chunk *add_one(void)
{
    struct one_chunk *const it = aligned_alloc(_Alignof(struct one_chunk), sizeof *it);
    memset(it, 0, sizeof *it);
    it->memory = plenty();
    (void)recorder_init(&it->recorder, &it->memory, 2, true, ignore, NULL);
    recorder_begin(&it->recorder);
    record_outbox_init(&it->outbox, &it->memory, recorder_lane(&it->recorder, 1), 1, 2);
    add_event(it, 1000);
    return it;
}

static void deliver_an_earlier_event(void)
{
    struct one_chunk *const it = add_one();
    (void)record_outbox_publish(&it->outbox);
    it->recorder.merger.delivered.time_ps = 2000;
    (void)recorder_finish(&it->recorder, KEY_NEVER, NULL);
}

static void commit_equal_events_in_one_placement(void)
{
    struct one_chunk *const it = add_one();
    (void)record_outbox_publish(&it->outbox);
    record_outbox_init(&it->outbox, &it->memory, recorder_lane(&it->recorder, 0), 0, 2);
    add_event(it, 1000);
    (void)record_outbox_publish(&it->outbox);
    (void)recorder_finish(&it->recorder, KEY_NEVER, NULL);
}

static void publish_after_the_bound(void)
{
    struct one_chunk *const it = add_one();
    (void)recorder_finish(&it->recorder, (struct key){.time_ps = 2000}, NULL);
    (void)record_outbox_publish(&it->outbox);
    (void)recorder_finish(&it->recorder, KEY_NEVER, NULL);
}

static void publish_more_than_a_chunk_holds(void)
{
    struct one_chunk *const it = add_one();
    it->outbox.written = it->outbox.open->bytes + 16;
    (void)record_outbox_publish(&it->outbox);
}

static void give_a_chunk_back_too_early(void)
{
    struct one_chunk *const it = add_one();
    struct record_chunk *const chunk = it->outbox.open;
    chunk->left = 1;
    sync_store_pointer_release(&it->outbox.lane->spent, chunk);
    record_outbox_take_back(&it->outbox);
}

static void finish_while_the_recorder_delivers(void)
{
    struct one_chunk *const it = add_one();
    it->slots[1].published = record_outbox_publish(&it->outbox);
    (void)recorder_ask(&it->recorder, it->slots, KEY_NEVER);
    (void)recorder_finish(&it->recorder, KEY_NEVER, NULL);
}

static uint64_t tie_of_type(const void *data, const struct cw_event *event)
{
    (void)data;
    return event->type / 2;
}

static void commit_events_with_one_tie_number(void)
{
    const struct cw_model model = {.tie = tie_of_type};
    const struct cw_event event = {.time_ps = 11, .lp = 3, .type = 7};
    struct cw_event other = event;
    struct latest_event latest = {0};
    other.type = 6; /* these differ */
    latest_event_note(&latest, &model, &other);
    latest_event_note(&latest, &model, &event);
    latest_event_note(&latest, &model, &other);
    other.payload_bytes = 8; /* this one does not */
    latest_event_note(&latest, &model, &other);
}

static void a_broken_invariant_aborts_with_its_name_and_state(void **state)
{
    (void)state;
    expect_failure(give_what_was_not_taken, "I-MEM-1", "100 bytes come back, but only 99");
    expect_failure(add_a_key_twice, "I-TABLE-1", "key 4d, 1 of 256 places taken");
    expect_failure(free_an_event_too_many, "I-TW-2", "8 payload bytes is freed, 0 are alive");
    expect_failure(damage_a_message, "I-MAIL-1", "a message of 40 bytes");
    expect_failure(give_a_ring_two_successors, "I-MAIL-2", "a ring of 2048 bytes");
    expect_failure(disorder_a_heap, "I-ORDER-1", "at 3 ps is below one at 11 ps");
    expect_failure(commit_events_with_one_tie_number, "I-ORDER-2",
                   "two events of type 6 for LP 3 at 11 ps have the tie number 3");
    expect_failure(put_a_later_event_into_the_heap, "I-PEND-1",
                   "5000 ps goes to the overflow heap");
    expect_failure(open_too_many_buckets, "I-PEND-2", "fine buckets");
    expect_failure(publish_after_the_bound, "I-GVT-3", "for 1000 ps comes after all before 2000");
    expect_failure(publish_more_than_a_chunk_holds, "I-REC-1", "of a chunk of 16384");
    expect_failure(give_a_chunk_back_too_early, "I-REC-1", "of worker 1 with 1 events");
    expect_failure(finish_while_the_recorder_delivers, "I-REC-2", "has a bound at ");
    expect_failure(commit_equal_events_in_one_placement, "I-REC-4", "in one placement");
    expect_failure(deliver_an_earlier_event, "I-MERGE-1", "for 1000 ps after those for 2000 ps");
}

/* ---- the table and the array ------------------------------------------*/

/* I-TABLE-1: whatever was removed, every other key is found. */
static void a_table_finds_each_key_until_it_is_removed(void **state)
{
    (void)state;
    for (int counted = 0; counted < 2; counted++) {
        struct memory memory = plenty();
        struct table table;
        bool there[3000] = {false};
        struct cw_rng rng = cw_rng_seeded(7, (uint64_t)counted);
        size_t count = 0, seen = 0;
        table_init(&table, counted ? &memory : NULL, 3 * sizeof(uint32_t));
        for (int step = 0; step < 60000; step++) {
            const uint32_t at = cw_rng_below(&rng, 3000);
            const uint64_t key = 1 + (uint64_t)at * 512; /* as addresses of one size class are */
            uint32_t *const value = table_find(&table, key);
            assert_int_equal(value != NULL, there[at]);
            if (value != NULL) {
                assert_true(value[0] == at && value[2] == ~at);
                table_remove(&table, value);
            } else {
                assert_true(table_reserve(&table));
                uint32_t *const added = table_add(&table, key);
                added[0] = at;
                added[2] = ~at;
            }
            there[at] = !there[at];
            count = there[at] ? count + 1 : count - 1;
            assert_int_equal(table.count, count);
        }
        for (size_t place = 0; table_next(&table, &place) != 0; place++)
            seen++;
        assert_int_equal(seen, count);
        table_free(&table);
        assert_int_equal(memory.taken.word, 0);
    }
}

static void an_array_grows_and_stays_as_it_was_when_memory_is_short(void **state)
{
    (void)state;
    struct memory memory;
    uint32_t *items = NULL;
    size_t capacity = 0, used = 0;
    memory_init(&memory, 10000);
    while (memory_grow(&memory, &items, &capacity, used, used + 1, sizeof *items, 16)) {
        items[used] = (uint32_t)used;
        used++;
    }
    assert_int_equal(capacity, used);
    assert_int_equal(capacity, 1024); /* 8,192 more bytes would pass the limit */
    for (size_t i = 0; i < used; i++)
        assert_int_equal(items[i], i);
    memory_give(&memory, items, capacity * sizeof *items);
    assert_int_equal(memory.taken.word, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_broken_invariant_aborts_with_its_name_and_state),
        cmocka_unit_test(a_table_finds_each_key_until_it_is_removed),
        cmocka_unit_test(an_array_grows_and_stays_as_it_was_when_memory_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
