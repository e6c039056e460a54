/*
 * test_explore.c: schedules of the parallel engine (explorer.h): small random models
 * (test/support/random_model.h) in every mode on 2 to 4 workers under thousands of interleavings,
 * against the sequential engine; and the mailbox alone, in rings so small that they are always
 * full.
 *
 * The engine's assertions are on (core/invariant.h), among them those of I-WAIT-1 and I-WAIT-2: a
 * sleep is one more step here, and workers come by it in every order.
 *
 * EXPLORE_SEED=7 EXPLORE_SEEDS=1 replays a schedule; EXPLORE_SEEDS=1000000 explores as many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/at_random.h"
#include "core/exchange/mailbox.h"
#include "core/os/threads.h"
#include "test/support/random_model.h"
#include "test/stress/explorer.h"

enum { SEEDS_DEFAULT = 1500, LPS_MAX = 12, SCHEDULES_PER_MODEL = 12 };

#if defined(__SANITIZE_ADDRESS__)
#define PROGRAM "build/explore-asan/test/stress/test_explore"
#else
#define PROGRAM "build/explore/test/stress/test_explore"
#endif

/* One schedule, as it follows from its seed. */
struct schedule {
    uint64_t seed;
    enum explorer_policy policy;
    struct random_model model;
    struct random_run run;
};

static struct schedule draw(uint64_t seed)
{
    static const uint32_t ttls[] = {0, 3, 10, 30};
    struct cw_rng rng = cw_rng_seeded(seed, 5),
                  of_model = cw_rng_seeded(seed / SCHEDULES_PER_MODEL, 6);
    const uint32_t ttl = ttls[cw_rng_below(&of_model, 4)];
    struct schedule schedule = {
        .seed = seed,
        .policy = cw_rng_below(&rng, EXPLORE_POLICIES),
        .model = random_model_draw(seed / SCHEDULES_PER_MODEL, LPS_MAX, ttl),
        .run = {.workers = 2 + cw_rng_below(&rng, 3), .seed = seed, .memory_bytes_max = 1 << 30},
    };
    if (cw_rng_below(&of_model, 4) == 0)
        schedule.model.fail_ps = 1 + cw_rng_below(&of_model, 4000);
    schedule.model.listens = seed / SCHEDULES_PER_MODEL % 4 == 0;
    do
        schedule.run.sync = CW_CONSERVATIVE + cw_rng_below(&rng, CW_SYNCS - CW_CONSERVATIVE);
    while (!random_model_runs(&schedule.model, schedule.run.sync, schedule.run.workers));
    if (cw_rng_below(&rng, 4) == 0)
        schedule.run.window_ps = 1 + cw_rng_below(&rng, 1000);
    static const unsigned percents[] = {1, 10, 25, 50, 100};
    schedule.run.stress_rate_p32 = percents[cw_rng_below(&rng, 5)] * (UINT64_C(1) << 32) / 100;
    schedule.run.lazy = seed % 2 == 0;
    schedule.run.gather = seed % 3 == 0 ? CW_GATHER_OFTEN : CW_GATHER_NEVER;
    return schedule;
}

static void describe(const struct schedule *s, const char *test)
{
    explorer_note(
        "schedule %llu: %s on %u workers, %s cancellation, policy %s\nreplay: EXPLORE_SEED=%llu "
        "EXPLORE_SEEDS=1 EXPLORE_TEST=%s " PROGRAM,
        (unsigned long long)s->seed, cw_sync_name[s->run.sync], s->run.workers,
        s->run.lazy ? "lazy" : "aggressive", explorer_policy_name[s->policy],
        (unsigned long long)s->seed, test);
}

/* Sums over the schedules of one test. */
static struct {
    uint64_t schedules, steps, rolled_back, injected, held_back, reused;
} seen;

static struct random_outcome run_schedule(const struct schedule *s)
{
    describe(s, "models");
    explorer_begin(s->policy, s->seed);
    const struct random_outcome outcome = random_model_run(&s->model, &s->run);
    seen.steps += explorer_end();
    seen.schedules++;
    seen.rolled_back += outcome.rolled_back;
    seen.injected += outcome.injected;
    seen.held_back += outcome.held_back;
    seen.reused += outcome.reused;
    return outcome;
}

static void every_schedule_commits_what_the_sequential_engine_does(void **state)
{
    (void)state;
    const uint64_t first = random_from_environment("EXPLORE_SEED", 1);
    const uint64_t seeds = random_from_environment("EXPLORE_SEEDS", SEEDS_DEFAULT);
    struct random_outcome expected = {0};
    uint64_t expected_model = UINT64_MAX;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        const struct schedule s = draw(seed);
        if (expected_model != seed / SCHEDULES_PER_MODEL)
            expected = random_model_run(
                &s.model, &(struct random_run){.sync = CW_SEQUENTIAL, .workers = 1, .seed = seed});
        expected_model = seed / SCHEDULES_PER_MODEL;
        const struct random_outcome got = run_schedule(&s);
        if (s.run.sync == CW_STRESS && got.exit_code == CW_OK)
            assert_true(got.injected > 0);
        char text[2500];
        if (random_outcome_differs(&got, &expected, text, sizeof text))
            fail_msg("%s\nschedule %llu: %s on %u workers, policy %s\n"
                     "replay: EXPLORE_SEED=%llu EXPLORE_SEEDS=1 EXPLORE_TEST=models " PROGRAM,
                     text, (unsigned long long)seed, cw_sync_name[s.run.sync], s.run.workers,
                     explorer_policy_name[s.policy], (unsigned long long)seed);
    }
    print_message("%llu schedules, %llu steps, %llu events rolled back, %llu rollbacks injected\n",
                  (unsigned long long)seen.schedules, (unsigned long long)seen.steps,
                  (unsigned long long)seen.rolled_back, (unsigned long long)seen.injected);
    const bool enough = seeds >= SCHEDULES_PER_MODEL;
    assert_true(!enough || (seen.rolled_back > 0 && seen.injected > 0 && seen.held_back > 0 &&
                            seen.reused > 0));
}

/* The same seed shows the same again, or a failure could not be replayed. */
static void a_schedule_follows_from_its_seed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        const struct schedule s = draw(seed);
        const uint64_t before = seen.steps;
        const struct random_outcome first = run_schedule(&s);
        const uint64_t between = seen.steps;
        const struct random_outcome second = run_schedule(&s);
        assert_true(between - before == seen.steps - between);
        assert_true(first.rolled_back == second.rolled_back);
        assert_true(first.records == second.records);
    }
}

/* ---- the mailbox alone ---------------------------------------------------------------------- */

enum { MESSAGES = 60, BODY_MAX = 96 };

struct mail {
    struct memory memory;
    struct mailbox_in in[2];   /* to worker 0, to worker 1 */
    struct mailbox_out out[2]; /* their senders' ends */
    uint64_t seed;
    uint64_t received[2]; /* right ones, in order */
};

static size_t body_bytes(uint64_t seed, uint32_t to, uint64_t number)
{
    struct cw_rng rng = cw_rng_seeded(seed, to * 1000 + number);
    return cw_rng_below(&rng, BODY_MAX + 1);
}

static bool take(struct mail *mail, uint32_t self)
{
    const struct message *message = NULL;
    bool any = false;
    while ((message = mailbox_read(&mail->in[self])) != NULL) {
        const uint64_t number = mail->received[self];
        const size_t bytes = body_bytes(mail->seed, self, number);
        bool right = message->word == number;
        for (size_t i = 0; i < bytes; i++)
            right &= message->body[i] == (uint8_t)(number + i);
        if (!right)
            abort(); /* the note says which schedule it was */
        mail->received[self]++;
        any = true;
    }
    if (any)
        mailbox_release(&mail->in[self]);
    return any;
}

/* Sends all messages to the other worker, in batches, and takes the messages that come. */
static void correspond(void *shared, uint32_t self)
{
    struct mail *const mail = shared;
    struct mailbox_out *const out = &mail->out[1 - self];
    struct cw_rng rng = cw_rng_seeded(mail->seed, self);
    unsigned turns = 0;
    for (uint64_t sent = 0; sent < MESSAGES || mail->received[self] < MESSAGES;) {
        for (uint32_t batch = cw_rng_below(&rng, 8); batch > 0 && sent < MESSAGES; batch--) {
            const size_t bytes = body_bytes(mail->seed, 1 - self, sent);
            struct message *const message = mailbox_write(out, bytes);
            if (message == NULL)
                abort();
            message->kind = MESSAGE_EVENT;
            message->word = sent;
            for (size_t i = 0; i < bytes; i++)
                message->body[i] = (uint8_t)(sent + i);
            sent++;
        }
        mailbox_publish(out);
        if (!take(mail, self))
            (++turns < 64 ? sync_pause() : sync_yield());
    }
}

static void messages_arrive_whole_once_and_in_order_through_rings_that_are_full(void **state)
{
    (void)state;
    const uint64_t first = random_from_environment("EXPLORE_SEED", 1);
    const uint64_t seeds = random_from_environment("EXPLORE_SEEDS", SEEDS_DEFAULT);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        const struct schedule s = {
            .seed = seed, .policy = seed % EXPLORE_POLICIES, .run.workers = 2};
        struct mail mail = {.seed = seed};
        memory_init(&mail.memory, 1 << 20);
        for (int i = 0; i < 2; i++)
            mailbox_join(&mail.out[i], &mail.in[i], &mail.memory, 128);
        describe(&s, "mailbox");
        uint32_t started;
        struct threads *const threads = threads_start(&mail.memory, 2, true, &started);
        assert_non_null(threads);
        explorer_begin(s.policy, seed);
        threads_run(threads, correspond, &mail);
        (void)explorer_end();
        threads_end(threads);
        for (int i = 0; i < 2; i++) {
            assert_true(mail.received[i] == MESSAGES);
            mailbox_free(&mail.in[i]);
        }
        assert_int_equal(mail.memory.taken.word, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_schedule_commits_what_the_sequential_engine_does),
        cmocka_unit_test(a_schedule_follows_from_its_seed),
        cmocka_unit_test(messages_arrive_whole_once_and_in_order_through_rings_that_are_full),
    };
    const char *const only = getenv("EXPLORE_TEST");
    if (only != NULL)
        cmocka_set_test_filter(strcmp(only, "models") == 0 ? "every_schedule*" : "messages*");
    return cmocka_run_group_tests_name("explore", tests, NULL, NULL);
}
