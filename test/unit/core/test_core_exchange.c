/*
 * test_core_exchange.c: a worker's turn costs as much as its neighbours, and a round of GVT as much
 * as the workers, whatever the number of pairs. The test counts each access to a shared word, with
 * the hook that the schedule explorer uses, while it takes hundreds of workers through turns and
 * rounds one after the other. A word beside a counted word on its cache line costs no further
 * line; the report to a round is one line, with one counted word in it.
 *
 * The sources under test are compiled in here, with the hook.
 */
#define SYNC_EXPLORE

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/exchange/arrivals.c"
#include "core/exchange/peers.c"
#include "core/exchange/mailbox.c"
#include "core/speculation/gvt.c"
#include "core/speculation/promise.c"
#include "core/speculation/receive.c"
#include "core/speculation/send.c"
#include "core/speculation/wait.c"

static uint64_t steps; /* two for each access: before it and behind it */

void sync_step(bool waits)
{
    (void)waits;
    steps++;
}

/* No worker of this test sleeps. */
void sync_step_asleep(const struct sync_u64 *shared, uint64_t value)
{
    (void)shared, (void)value;
    abort();
}

static struct memory plenty(void)
{
    struct memory memory;
    memory_init(&memory, UINT64_C(1) << 30);
    return memory;
}

enum { DELAY_PS = 100 };

/* Workers in a ring; each sends to the `reach` ones after it and before it. */
static int64_t *delays_of_a_ring(uint32_t workers, uint32_t reach)
{
    int64_t *const delays_ps = malloc(sizeof *delays_ps * workers * workers);
    assert_non_null(delays_ps);
    for (uint32_t from = 0; from < workers; from++)
        for (uint32_t to = 0; to < workers; to++) {
            const uint32_t ahead = (to + workers - from) % workers;
            const uint32_t steps_apart = ahead < workers - ahead ? ahead : workers - ahead;
            delays_ps[(size_t)from * workers + to] =
                steps_apart <= reach ? DELAY_PS * (int64_t)steps_apart : CW_TIME_MAX;
        }
    return delays_ps;
}

/* ---- peers ----------------------------------------------------------------------------------- */

static void a_worker_has_its_neighbours_as_peers_only(void **state)
{
    (void)state;
    struct memory memory = plenty();
    int64_t *const delays_ps = delays_of_a_ring(8, 1);
    delays_ps[3 * 8 + 4] = CW_TIME_MAX; /* one way only */
    delays_ps[7 * 8 + 0] = 55;
    struct peers peers[8];
    for (uint32_t w = 0; w < 8; w++)
        assert_true(peers_create(&peers[w], &memory, delays_ps, 8, w));
    assert_int_equal(peers[0].in_count, 2);
    assert_int_equal(peers[0].in[0].from, 1); /* the next one first */
    assert_int_equal(peers[0].in[1].from, 7);
    assert_int_equal(peers[0].in[1].least_delay_ps, 55);
    assert_int_equal(peers_to(&peers[0], 7)->least_delay_ps, DELAY_PS);
    assert_int_equal(peers[0].out_of[0], NO_PEER);
    assert_int_equal(peers[0].out_of[2], NO_PEER);
    assert_int_equal(peers_to(&peers[0], 7)->to, 7);
    assert_int_equal(peers[3].out_count, 1);
    assert_int_equal(peers[3].out_of[4], NO_PEER);
    assert_int_equal(peers[4].in_count, 1);
    assert_int_equal(peers[4].out_count, 2);
    for (uint32_t w = 0; w < 8; w++)
        peers_free(&peers[w]);
    assert_true(memory.taken.word == 0);
    free(delays_ps);
}

/* I-MAIL-2: `first` leads to the first ring. */
static void a_mailbox_takes_memory_with_its_first_message(void **state)
{
    (void)state;
    struct memory memory = plenty();
    struct peers peers[3];
    for (uint32_t w = 0; w < 3; w++)
        assert_true(peers_create(&peers[w], &memory, NULL, 3, w));
    for (uint32_t w = 0; w < 3; w++)
        for (uint32_t i = 0; i < peers[w].in_count; i++)
            peers_join(&peers[w], &peers[w].in[i], w, &peers[peers[w].in[i].from]);
    const uint64_t taken = memory.taken.word;
    assert_null(mailbox_read(&peers[1].in[0].mailbox));
    assert_false(peers_publish(&peers[0]));
    for (int i = 0; i < 2; i++)
        peers_write(&peers[0], peers_to(&peers[0], 2), 16)->kind = MESSAGE_EVENT;
    assert_int_equal(memory.taken.word - taken, sizeof(struct mailbox_ring) + (32 << 10));
    assert_int_equal(peers[0].written_count, 1);
    assert_null(mailbox_read(&peers[2].in[0].mailbox)); /* the first is not published */
    assert_true(peers_publish(&peers[0]));
    assert_false(peers_publish(&peers[0]));
    assert_int_equal(peers[2].in[0].from, 0);
    for (int i = 0; i < 2; i++)
        assert_non_null(mailbox_read(&peers[2].in[0].mailbox));
    assert_null(mailbox_read(&peers[2].in[0].mailbox));
    for (uint32_t w = 0; w < 3; w++)
        peers_free(&peers[w]);
    assert_true(memory.taken.word == 0);
}

static void a_thousand_workers_in_a_ring_take_few_bytes(void **state)
{
    (void)state;
    enum { WORKERS = 1024, REACH = 4, NEIGHBOURS = 2 * REACH };
    struct memory memory = plenty();
    int64_t *const delays_ps = delays_of_a_ring(WORKERS, REACH);
    struct peers *const peers = calloc(WORKERS, sizeof *peers);
    assert_non_null(peers);
    for (uint32_t w = 0; w < WORKERS; w++)
        assert_true(peers_create(&peers[w], &memory, delays_ps, WORKERS, w));
    for (uint32_t w = 0; w < WORKERS; w++)
        for (uint32_t i = 0; i < peers[w].in_count; i++)
            peers_join(&peers[w], &peers[w].in[i], w, &peers[peers[w].in[i].from]);
    /* Without a message: the ends, and a table of indexes. */
    const uint64_t ends = sizeof(struct peer_in) + sizeof(struct peer_out) + 2 * sizeof(uint32_t);
    assert_true(ends == 208); /* as ENGINE.md says, "Cost of many workers" */
    assert_true(memory.taken.word == WORKERS * (NEIGHBOURS * ends + WORKERS * sizeof(uint16_t)));
    for (uint32_t w = 0; w < WORKERS; w++)
        for (uint32_t i = 0; i < NEIGHBOURS; i++)
            peers_write(&peers[w], &peers[w].out[i], 16)->kind = MESSAGE_EVENT;
    assert_true(memory.taken.word <= UINT64_C(24) << 20);
    for (uint32_t w = 0; w < WORKERS; w++)
        peers_free(&peers[w]);
    assert_true(memory.taken.word == 0);
    free(peers);
    free(delays_ps);
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* D of I-SAFE-1, against relaxation until nothing changes. */
static void path_delays_are_the_least_over_all_paths(void **state)
{
    (void)state;
    enum { MOST = 12 };
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct cw_rng rng = cw_rng_seeded(seed, 1);
        const uint32_t n = 1 + cw_rng_below(&rng, MOST), share = 1 + cw_rng_below(&rng, 10);
        int64_t least_ps[MOST * MOST], found_ps[MOST * MOST], right_ps[MOST * MOST];
        for (uint32_t i = 0; i < n * n; i++) {
            least_ps[i] = cw_rng_below(&rng, 10) < share ? cw_rng_below(&rng, 50) : CW_TIME_MAX;
            right_ps[i] = i / n == i % n ? CW_TIME_MAX : least_ps[i];
        }
        for (bool changed = true; changed;) {
            changed = false;
            for (uint32_t i = 0; i < n * n * n; i++) {
                const uint32_t from = i / n / n, via = i / n % n, to = i % n;
                if (right_ps[from * n + via] == CW_TIME_MAX ||
                    right_ps[via * n + to] == CW_TIME_MAX)
                    continue;
                const int64_t sum_ps = right_ps[from * n + via] + right_ps[via * n + to];
                changed |= sum_ps < right_ps[from * n + to];
                if (sum_ps < right_ps[from * n + to])
                    right_ps[from * n + to] = sum_ps;
            }
        }
        gvt_path_delays(found_ps, least_ps, n);
        for (uint32_t i = 0; i < n * n; i++)
            assert_true(found_ps[i % n * n + i / n] == right_ps[i]);
        gvt_path_delays(found_ps, NULL, n);
        for (uint32_t i = 0; i < n * n; i++)
            assert_true(found_ps[i] == (n == 1 ? CW_TIME_MAX : 0));
    }
}

/* ---- counts ---------------------------------------------------------------------------------- */

static size_t no_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return 0;
}

static void no_state(const void *data, uint32_t lp, void *lp_state)
{
    (void)data, (void)lp, (void)lp_state;
}

static void no_effect(struct cw_ctx *ctx, const void *lp_state, const struct cw_event *event)
{
    (void)ctx, (void)lp_state, (void)event;
}

/* One LP and one pending event for each worker; nothing runs but the calls of the test. */
static struct cw_sim *create_ring(uint32_t workers, uint32_t reach)
{
    const struct cw_model model = {.name = "ring",
                                   .lp_count = workers,
                                   .state_bytes = no_bytes,
                                   .init = no_state,
                                   .handle = no_effect};
    struct cw_error error;
    int64_t *const delays_ps = delays_of_a_ring(workers, reach);
    const struct cw_config config = {.sync = CW_ADAPTIVE,
                                     .worker_count = workers,
                                     .least_delay_ps = delays_ps,
                                     .end_ps = CW_TIME_MAX};
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    free(delays_ps);
    for (uint32_t lp = 0; lp < workers; lp++)
        assert_int_equal(cw_inject(sim, lp, 1000 + lp, 0, 0, lp, NULL, 0, &error), CW_OK);
    return sim;
}

/* The most accesses of one worker. */
struct most {
    uint64_t look, quiet_look, renew, round;
};

static void raise_to(uint64_t *most, uint64_t from)
{
    const uint64_t accesses = (steps - from) / 2;
    *most = accesses > *most ? accesses : *most;
}

static void send_to(struct timewarp *tw, uint32_t to, int64_t time_ps)
{
    const struct event_header header = {.time_ps = time_ps, .lp = to};
    const struct event_words words = words_of(&header);
    send_event(tw->worker, words.word[0], words.word[1], words.word[2], words.word[3], NULL);
}

static void send_to_all_neighbours(struct timewarp *tw)
{
    for (uint32_t i = 0; i < tw->peers.out_count; i++)
        send_to(tw, tw->peers.out[i].to, 1000000);
}

/* I-GVT-4: the words of transit are lowered for the receivers of such messages only. Takes all
 * workers through turns, and a round of GVT in which each sends to all its neighbours
 * between its cuts. */
static struct most count_accesses(struct cw_sim *sim)
{
    const uint32_t n = sim->worker_count;
    struct most most = {0};
    for (int turn = 0; turn < 3; turn++) /* with messages, with the rest of them, without */
        for (uint32_t w = 0; w < n; w++) {
            struct timewarp *const tw = sim->workers[w].timewarp;
            if (turn == 0)
                send_to_all_neighbours(tw);
            uint64_t from = steps;
            promise_renew(tw);
            raise_to(&most.renew, from);
            from = steps;
            (void)refresh_safe_bound(tw);
            raise_to(turn < 2 ? &most.look : &most.quiet_look, from);
        }
    uint64_t *const spent = calloc(n, sizeof *spent);
    assert_non_null(spent);
    sim->workers[n / 2].timewarp->wait.idle_turns = GVT_LOOKS_BEFORE_ROUND;
    for (uint32_t ended = 0, times = 0; ended < n; times++) {
        assert_true(times < 3); /* first cuts, second cuts, results */
        for (uint32_t i = 0; i < n; i++) {
            struct timewarp *const tw = sim->workers[(n / 2 + i) % n].timewarp;
            if (tw->gvt.rounds == 1)
                continue;
            const uint64_t from = steps;
            ended += gvt_step(tw);
            spent[tw->index] += (steps - from) / 2;
            if (tw->gvt.stage == GVT_FIRST_CUT)
                send_to_all_neighbours(tw);
        }
    }
    for (uint32_t w = 0; w < n; w++)
        most.round = spent[w] > most.round ? spent[w] : most.round;
    free(spent);
    return most;
}

static void a_turn_costs_the_neighbours_and_a_round_the_workers(void **state)
{
    (void)state;
    static const struct {
        uint32_t workers, reach;
    } rings[] = {{8, 2}, {64, 2}, {64, 8}, {256, 2}, {256, 8}, {256, 127}, {1024, 2}};
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) {
        const uint32_t n = rings[i].workers, degree = 2 * rings[i].reach;
        struct cw_sim *const sim = create_ring(n, rings[i].reach);
        sim->sleepers.word = 1;
        const struct most most = count_accesses(sim);
        print_message("%u workers, %u neighbours: look %u, or %u, promise %u, round %u accesses\n",
                      (unsigned)n, (unsigned)degree, (unsigned)most.look, (unsigned)most.quiet_look,
                      (unsigned)most.renew, (unsigned)most.round);
        /* Each neighbour's promise, and two words of its mailbox, which share a line. */
        assert_true(most.quiet_look == 3 * degree);
        /* The first ring of the mailbox, its words again behind the last message, and its head. */
        assert_true(most.look <= 8 * degree);
        /* Publishing, the promise, and whether a worker sleeps: one does, so each neighbour
         * is looked at. */
        assert_true(most.renew <= 2 * degree + 3);
        /* One report of each worker; workers that tell all look at each worker for sleepers. The
         * rest is for neighbours: three looks at mailboxes, publishing, and the messages sent
         * between the cuts. */
        assert_true(most.round <= 3 * n + 10 * degree + 20);
        cw_sim_free(sim);
    }
}

/* Takes all workers through a round. Worker 0 begins it; between its cuts it sends to worker 1 for
 * the times given, up to the first that is 0. */
static void make_round(struct cw_sim *sim, const int64_t *times_ps)
{
    sim->workers[0].timewarp->wait.idle_turns = GVT_LOOKS_BEFORE_ROUND;
    const uint64_t round = sim->workers[0].timewarp->gvt.rounds + 1;
    for (int part = 0; part < 3; part++)
        for (uint32_t i = 0; i < sim->worker_count; i++) {
            /* Worker 1 reports before worker 0 publishes. */
            const uint32_t w = part == 0 ? i : sim->worker_count - 1 - i;
            struct timewarp *const tw = sim->workers[w].timewarp;
            if (tw->gvt.rounds < round)
                (void)gvt_step(tw);
            for (; part == 0 && w == 0 && *times_ps > 0; times_ps++)
                send_to(tw, 1, *times_ps);
        }
    for (uint32_t w = 0; w < sim->worker_count; w++)
        assert_true(sim->workers[w].timewarp->gvt.rounds == round);
    sim->workers[0].timewarp->wait.idle_turns = 0;
}

static void take_least(struct worker *worker)
{
    const struct entry *const least = pending_peek(&worker->pending);
    assert_non_null(least);
    struct cw_event *const event = least->event;
    pending_pop(&worker->pending, least);
    event_pool_put(&worker->pool, event);
}

/* I-GVT-4: a message between the cuts counts in its round, for its receiver, and in no other. */
static void a_message_between_the_cuts_counts_once(void **state)
{
    (void)state;
    enum { WORKERS = 4 };
    struct cw_sim *const sim = create_ring(WORKERS, 1);
    struct gvt *const gvts[] = {&sim->workers[0].timewarp->gvt, &sim->workers[1].timewarp->gvt,
                                &sim->workers[2].timewarp->gvt, &sim->workers[3].timewarp->gvt};
    make_round(sim, (const int64_t[]){0});
    for (uint32_t w = 0; w < WORKERS; w++) /* the events are at 1,000 ps and after */
        assert_true(gvts[w]->now.time_ps == 1000);
    assert_true(gvts[0]->safe_ps == 1001 + DELAY_PS); /* there and back is farther */
    assert_true(gvts[1]->safe_ps == 1000 + DELAY_PS);
    assert_true(gvts[2]->safe_ps == 1001 + DELAY_PS);
    for (uint32_t w = 0; w < WORKERS; w++)
        take_least(&sim->workers[w]);
    make_round(sim, (const int64_t[]){7000, 5000, 6000, 0});
    for (uint32_t w = 0; w < WORKERS; w++)
        assert_true(gvts[w]->now.time_ps == 5000);
    assert_true(gvts[0]->safe_ps == 5000 + DELAY_PS);
    assert_true(gvts[1]->safe_ps == 5000 + 2 * DELAY_PS);
    assert_true(gvts[2]->safe_ps == 5000 + DELAY_PS);
    assert_true(gvts[3]->safe_ps == 5000 + 2 * DELAY_PS);
    for (int i = 0; i < 3; i++)
        take_least(&sim->workers[1]);
    for (int round = 0; round < 3; round++) {
        make_round(sim, (const int64_t[]){9000 + 1000 * round, 0});
        for (uint32_t w = 0; w < WORKERS; w++)
            assert_true(gvts[w]->now.time_ps == 9000 + 1000 * round);
        assert_true(gvts[2]->safe_ps == 9000 + 1000 * round + DELAY_PS);
        take_least(&sim->workers[1]);
    }
    make_round(sim, (const int64_t[]){0});
    for (uint32_t w = 0; w < WORKERS; w++)
        assert_true(gvts[w]->now.time_ps == CW_TIME_MAX && gvts[w]->over);
    cw_sim_free(sim);
}

/* ---- messages that must not come ------------------------------------------------------------- */

/* Worker 0 takes the messages of worker 1. NULL: nothing is wrong with them. */
static const char *complaint(struct cw_sim *sim)
{
    struct worker *const worker = &sim->workers[0];
    (void)peers_publish(&sim->workers[1].timewarp->peers);
    if (setjmp(worker->failed) != 0)
        return cw_error_text(&worker->failure);
    receive_all(worker->timewarp);
    return NULL;
}

static void a_message_below_the_safe_bound_is_a_bug(void **state)
{
    (void)state;
    struct cw_sim *const sim = create_ring(2, 1);
    sim->workers[0].timewarp->gvt.safe_ps = 1000;
    send_to(sim->workers[1].timewarp, 0, 1000);
    assert_null(complaint(sim));
    send_to(sim->workers[1].timewarp, 0, 999);
    assert_string_equal(complaint(sim),
                        "I-SAFE-1: a message from worker 1 for 999 ps arrived below "
                        "the safe bound, 1000 ps");
    cw_sim_free(sim);
}

/* Sends an event that may be cancelled, as the handler of a speculative event does. */
static void send_cancellable(struct timewarp *tw, uint64_t seq, int64_t time_ps)
{
    struct message *const message =
        peers_write(&tw->peers, peers_to(&tw->peers, 0), offsetof(struct cw_event, payload));
    const struct event_header header = {.time_ps = time_ps};
    message->kind = MESSAGE_EVENT;
    message->cancellable = message_mark(seq);
    message->word = (uint64_t)time_ps - 1; /* its cause's time */
    event_write((struct cw_event *)(void *)message->body, &header);
}

static void send_cancel_of(struct timewarp *tw, uint64_t seq, int64_t time_ps)
{
    const struct remote_send sent = {.seq = seq, .time_ps = time_ps};
    send_cancel(tw, 0, &sent);
}

/* Of an event that was never sent; of one that is forgotten, since its cause is final; of one that
 * GVT has passed and that is not forgotten yet. */
static void a_cancellation_of_an_event_that_is_committed_is_a_bug(void **state)
{
    enum { UNKNOWN, FORGOTTEN, PASSED, CASES };
    (void)state;
    for (int wrong = UNKNOWN; wrong < CASES; wrong++) {
        struct cw_sim *const sim = create_ring(2, 1);
        struct timewarp *const to = sim->workers[0].timewarp, *const from =
                                                                  sim->workers[1].timewarp;
        for (uint64_t seq = 0; seq < 3; seq++)
            send_cancellable(from, seq, 2000 + (int64_t)seq);
        send_cancel_of(from, 1, 2001);
        assert_null(complaint(sim));
        assert_int_equal(to->rollback.cancelled, 1);
        if (wrong == FORGOTTEN) {
            to->peers.in[0].arrivals.final_ps = 2000;
            send_cancellable(from, 3, 2003); /* the first, for 2000 ps, goes */
            assert_null(complaint(sim));
        }
        if (wrong == PASSED)
            to->gvt.now.time_ps = 2003;
        send_cancel_of(from, wrong == UNKNOWN ? 3 : wrong == FORGOTTEN ? 0 : 2, 2002);
        const char *const text = complaint(sim);
        assert_non_null(text);
        assert_string_equal(
            text, wrong == UNKNOWN     ? "worker 1 cancelled message 3, which is committed"
                  : wrong == FORGOTTEN ? "worker 1 cancelled message 0, which is committed"
                                       : "worker 1 cancelled message 2, which is committed");
        cw_sim_free(sim);
    }
}

static void a_message_out_of_order_is_a_bug(void **state)
{
    (void)state;
    struct cw_sim *const sim = create_ring(2, 1);
    send_cancellable(sim->workers[1].timewarp, 1, 2000);
    assert_string_equal(complaint(sim), "message 0 from worker 1 did not come in its turn");
    cw_sim_free(sim);
}

/* ---- failures -------------------------------------------------------------------------------- */

/* Worker 0's event has failed for good, and worker 1 is sent another of the same key between the
 * cuts: the other event may come first, by its LP, type or payload. */
static void a_failure_waits_for_what_is_on_its_way_at_its_key(void **state)
{
    (void)state;
    struct cw_event failed = {.time_ps = 3000};
    struct cw_sim *const sim = create_ring(2, 1);
    struct timewarp *const tw = sim->workers[0].timewarp;
    for (uint32_t w = 0; w < 2; w++)
        take_least(&sim->workers[w]);
    tw->failures.failed = true;
    tw->failures.event = &failed;
    make_round(sim, (const int64_t[]){3000, 0});
    assert_true(tw->gvt.now.time_ps == 3000);
    assert_null(tw->gvt.failed);
    make_round(sim, (const int64_t[]){0}); /* worker 1 has it now */
    assert_null(tw->gvt.failed);
    take_least(&sim->workers[1]);
    make_round(sim, (const int64_t[]){0});
    for (uint32_t w = 0; w < 2; w++)
        assert_ptr_equal(sim->workers[w].timewarp->gvt.failed, &failed);
    cw_sim_free(sim);
}

static void a_worker_wakes_the_neighbours_that_sleep_for_it_or_all(void **state)
{
    (void)state;
    struct cw_sim *const sim = create_ring(8, 2);
    sim->sleepers.word = 4;
    sim->slots[4].waits_for.word = 1 + 3;
    sim->slots[2].waits_for.word = 1 + 3;
    sim->slots[5].waits_for.word = 1 + 4;
    sim->slots[7].waits_for.word = 1 + 6;
    wait_wake(sim, 3, false);
    assert_true(sim->slots[4].waits_for.word == 0);
    assert_true(sim->slots[2].waits_for.word == 0);
    assert_true(sim->slots[5].waits_for.word == 1 + 4);
    wait_wake(sim, 3, true);
    assert_true(sim->slots[5].waits_for.word == 0);
    assert_true(sim->slots[7].waits_for.word == 0);
    cw_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_has_its_neighbours_as_peers_only),
        cmocka_unit_test(a_mailbox_takes_memory_with_its_first_message),
        cmocka_unit_test(a_thousand_workers_in_a_ring_take_few_bytes),
        cmocka_unit_test(path_delays_are_the_least_over_all_paths),
        cmocka_unit_test(a_message_between_the_cuts_counts_once),
        cmocka_unit_test(a_message_below_the_safe_bound_is_a_bug),
        cmocka_unit_test(a_cancellation_of_an_event_that_is_committed_is_a_bug),
        cmocka_unit_test(a_message_out_of_order_is_a_bug),
        cmocka_unit_test(a_failure_waits_for_what_is_on_its_way_at_its_key),
        cmocka_unit_test(a_worker_wakes_the_neighbours_that_sleep_for_it_or_all),
        cmocka_unit_test(a_turn_costs_the_neighbours_and_a_round_the_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
