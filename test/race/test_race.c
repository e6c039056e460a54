/*
 * test_race.c: ThreadSanitizer's view of core/os/sync.h and core/exchange/mailbox.h. Two
 * threads hand over bytes that are not atomic through each of their primitives: properly, which
 * must be clean, and in ways that order nothing, which must be reported. So a build in which the
 * tool has become blind, because ordering hides from it, is noticed.
 *
 * Each case runs in a process of its own: this program, with the case's name. The second thread
 * waits for the first by words that order nothing, so each race happens, in the same way, always.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/exchange/mailbox.h"
#include "core/os/threads.h"

#if !defined(SYNC_BUILTINS)
#error "build with VARIANT=tsan, under which sync.h uses the compiler's atomics"
#endif

enum { REPORTED = 66 }; /* ThreadSanitizer's exit code */

struct shared {
    struct memory memory;
    struct mailbox_out out; /* from worker 0 */
    struct mailbox_in in;   /* to worker 1 */
    struct sync_u64 word, stage;
    struct sync_pointer pointer;
    struct sync_node node; /* in the stack that `pointer` is */
    int bytes;             /* not atomic: they are handed over */
};

/* Stages order the accesses, as a clock on the wall would, and tell ThreadSanitizer nothing. */
static void reach_next(struct shared *s) { (void)sync_add_relaxed(&s->stage, 1); }

static void await(struct shared *s, uint64_t stage)
{
    unsigned turns = 0;
    while (sync_add_relaxed(&s->stage, 0) < stage)
        (++turns < 64 ? sync_pause() : sync_yield());
}

static void expect(int got, int expected)
{
    if (got != expected)
        abort();
}

static void await_word(struct shared *s)
{
    unsigned turns = 0;
    while (sync_load_acquire(&s->word) == 0)
        (++turns < 64 ? sync_pause() : sync_yield());
}

/* ---- proper ways ---------------------------------------------------------------------------- */

static void by_word(struct shared *s, bool first)
{
    if (first) {
        s->bytes = 7;
        sync_store_release(&s->word, 1);
    } else {
        await_word(s);
        expect(s->bytes, 7);
    }
}

static void by_pointer(struct shared *s, bool first)
{
    if (first) {
        s->bytes = 7;
        sync_store_pointer_release(&s->pointer, &s->bytes);
        return;
    }
    const int *bytes;
    unsigned turns = 0;
    while ((bytes = sync_load_pointer_acquire(&s->pointer)) == NULL)
        (++turns < 64 ? sync_pause() : sync_yield());
    expect(*bytes, 7);
}

/* The thread that claims the word publishes; the thread that fails sees the bytes. */
static void by_claim(struct shared *s, bool first)
{
    if (first) {
        s->bytes = 7;
        expect(sync_claim(&s->word, 1), true);
        reach_next(s);
    } else {
        await(s, 1);
        expect(sync_claim(&s->word, 2), false);
        expect(s->bytes, 7);
    }
}

static void await_another_value(struct shared *s, uint64_t value)
{
    for (unsigned turns = 0; sync_add_relaxed(&s->word, 0) == value;)
        (++turns < 64 ? sync_pause() : sync_yield());
}

/* The thread that counts last has acquired the bytes that the other wrote before it counted. */
static void by_a_count(struct shared *s, bool first)
{
    if (first) {
        s->bytes = 7;
        expect(sync_add_ordered(&s->word, 1) == 0, true);
    } else {
        await_another_value(s, 0);
        expect(sync_add_ordered(&s->word, 1) == 1, true);
        expect(s->bytes, 7);
    }
}

static void await_stack(struct shared *s)
{
    unsigned turns = 0;
    while (sync_take_all(&s->pointer) == NULL)
        (++turns < 64 ? sync_pause() : sync_yield());
}

static void by_a_stack(struct shared *s, bool first)
{
    if (first) {
        s->bytes = 7;
        sync_push(&s->pointer, &s->node);
    } else {
        await_stack(s);
        expect(s->bytes, 7);
    }
}

static void by_a_stack_too_early(struct shared *s, bool first)
{
    if (first) {
        sync_push(&s->pointer, &s->node);
        s->bytes = 7;
        reach_next(s);
    } else {
        await(s, 1);
        await_stack(s);
        expect(s->bytes, 7);
    }
}

/* Lowering orders nothing. */
static void by_a_lowered_word(struct shared *s, bool first)
{
    if (first) {
        s->bytes = 7;
        sync_lower(&s->word, -1);
    } else {
        await_another_value(s, 0);
        expect(s->bytes, 7);
    }
}

enum { MAILS = 2000 };

/* Through a ring of 128 bytes, which both use again and again, and which is replaced when full. */
static void by_mailbox(struct shared *s, bool first)
{
    unsigned turns = 0;
    for (int i = 0; i < MAILS; i++)
        if (first) {
            mailbox_write(&s->out, 16)->body[0] = (uint8_t)i;
            mailbox_publish(&s->out);
        } else {
            const struct message *message;
            while ((message = mailbox_read(&s->in)) == NULL)
                (++turns < 64 ? sync_pause() : sync_yield());
            expect(message->body[0], (uint8_t)i);
            mailbox_release(&s->in);
        }
}

static void by_threads(struct shared *s, bool first)
{
    if (!first)
        s->bytes++; /* the host writes it before and reads it after */
}

static void by_nothing_but_the_account(struct shared *s, bool first)
{
    (void)first;
    for (size_t bytes = 1; bytes < 1000; bytes++)
        memory_give(&s->memory, memory_take(&s->memory, bytes), bytes);
}

/* ---- ways that order nothing ---------------------------------------------------------------- */

static void by_an_account(struct shared *s, bool first)
{
    if (first) {
        s->bytes = 7;
        (void)sync_add_relaxed(&s->word, 1);
    } else {
        await_word(s);
        expect(s->bytes, 7);
    }
}

static void by_a_word_released_too_early(struct shared *s, bool first)
{
    if (first) {
        sync_store_release(&s->word, 1);
        s->bytes = 7;
        reach_next(s);
    } else {
        await(s, 1);
        await_word(s);
        expect(s->bytes, 7);
    }
}

static void by_a_word_that_is_not_acquired(struct shared *s, bool first)
{
    if (first) {
        s->bytes = 7;
        sync_store_release(&s->word, 1);
        reach_next(s);
    } else {
        await(s, 1);
        expect(s->bytes, 7);
    }
}

static void by_a_message_published_too_early(struct shared *s, bool first)
{
    if (first) {
        struct message *const message = mailbox_write(&s->out, 16);
        mailbox_publish(&s->out);
        message->body[0] = 7;
        reach_next(s);
    } else {
        await(s, 1);
        expect(mailbox_read(&s->in)->body[0], 7);
    }
}

/* The ring has room for one such message: the second takes the place of the first. */
static void by_a_message_given_back_too_early(struct shared *s, bool first)
{
    if (first) {
        mailbox_write(&s->out, 96)->body[0] = 7;
        mailbox_publish(&s->out);
        reach_next(s);
        await(s, 2);
        mailbox_write(&s->out, 96)->body[0] = 8;
        reach_next(s);
    } else {
        await(s, 1);
        const struct message *const message = mailbox_read(&s->in);
        mailbox_release(&s->in);
        reach_next(s);
        await(s, 3);
        expect(message->body[0], 8);
    }
}

/* ---- cases ---------------------------------------------------------------------------------- */

static const struct hand_over {
    const char *name;
    void (*run)(struct shared *shared, bool first);
    bool races;
} cases[] = {
    {"a word", by_word, false},
    {"a pointer", by_pointer, false},
    {"a claim", by_claim, false},
    {"a count", by_a_count, false},
    {"a stack", by_a_stack, false},
    {"a mailbox", by_mailbox, false},
    {"threads that start and end", by_threads, false},
    {"nothing but the memory account", by_nothing_but_the_account, false},
    {"an account", by_an_account, true},
    {"a lowered word", by_a_lowered_word, true},
    {"a word released too early", by_a_word_released_too_early, true},
    {"an item changed after its push", by_a_stack_too_early, true},
    {"a word that is not acquired", by_a_word_that_is_not_acquired, true},
    {"a message published too early", by_a_message_published_too_early, true},
    {"a message given back too early", by_a_message_given_back_too_early, true},
};
enum { CASES = sizeof cases / sizeof *cases };

struct pair {
    struct shared shared;
    const struct hand_over *of;
};

static void enter(void *argument, uint32_t index)
{
    struct pair *const pair = argument;
    pair->of->run(&pair->shared, index == 0);
}

/* In the child. */
static int run_case(const char *name)
{
    for (size_t i = 0; i < CASES; i++) {
        if (strcmp(cases[i].name, name) != 0)
            continue;
        static struct pair pair;
        pair.of = &cases[i];
        memory_init(&pair.shared.memory, 16 << 20);
        mailbox_join(&pair.shared.out, &pair.shared.in, &pair.shared.memory, 128);
        pair.shared.bytes = 6;
        uint32_t started;
        struct threads *const threads = threads_start(&pair.shared.memory, 2, true, &started);
        if (threads == NULL)
            return EXIT_FAILURE;
        threads_run(threads, enter, &pair);
        threads_end(threads);
        mailbox_free(&pair.shared.in);
        return pair.shared.bytes == 6 || pair.shared.bytes == 7 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    return EXIT_FAILURE;
}

struct ended {
    int exit_code; /* -1: by a signal */
    char errors[4096];
};

static struct ended run_in_child(const char *name)
{
    struct ended ended = {.exit_code = -1};
    int channel[2];
    assert_int_equal(pipe(channel), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, channel[1], STDERR_FILENO);
    posix_spawn_file_actions_addclose(&actions, channel[0]);
    char program[] = "/proc/self/exe", argument[64], options[] = "TSAN_OPTIONS=exitcode=66";
    snprintf(argument, sizeof argument, "%s", name);
    char *const arguments[] = {program, argument, NULL}, *const environment[] = {options, NULL};
    pid_t child;
    assert_int_equal(posix_spawn(&child, program, &actions, NULL, arguments, environment), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(channel[1]);
    size_t used = 0;
    char rest[4096];
    for (;;) { /* to the end, or the child might wait for room */
        const bool room = used < sizeof ended.errors - 1;
        const ssize_t got =
            room ? read(channel[0], ended.errors + used, sizeof ended.errors - 1 - used)
                 : read(channel[0], rest, sizeof rest);
        if (got <= 0)
            break;
        used += room ? (size_t)got : 0;
    }
    close(channel[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status))
        ended.exit_code = WEXITSTATUS(status);
    return ended;
}

static void each_primitive_hands_bytes_over_without_a_race(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        if (cases[i].races)
            continue;
        const struct ended ended = run_in_child(cases[i].name);
        if (ended.exit_code != EXIT_SUCCESS)
            fail_msg("by %s: exit code %d: %s", cases[i].name, ended.exit_code, ended.errors);
    }
}

static void what_is_not_ordered_is_reported(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        if (!cases[i].races)
            continue;
        const struct ended ended = run_in_child(cases[i].name);
        if (ended.exit_code != REPORTED ||
            strstr(ended.errors, "WARNING: ThreadSanitizer: data race") == NULL)
            fail_msg("by %s: not reported; exit code %d: %s", cases[i].name, ended.exit_code,
                     ended.errors);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return run_case(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_primitive_hands_bytes_over_without_a_race),
        cmocka_unit_test(what_is_not_ordered_is_reported),
    };
    return cmocka_run_group_tests_name("race", tests, NULL, NULL);
}
