/*
 * exchange.c: the least that two threads must exchange to run a sparse model conservatively.
 *
 * No engine, no queue, no states: each thread takes one event after the other from a Poisson
 * process and works on it for a given number of nanoseconds of arithmetic. A share of the events
 * sends a message to the other thread: one cache line, which the other thread reads. An event may
 * be handled only before the other thread's promise + the lookahead. The promise and the count of
 * messages share one line. So a look moves one line, and each message one more. The time is the
 * slower thread's.
 *
 *   exchange EVENTS_PER_LOOKAHEAD WORK_NS REMOTE_PERCENT [EVENTS]
 *
 * EVENTS_PER_LOOKAHEAD counts the events of one thread. Prints, for several numbers of events
 * between two looks, millions of events per second of both threads together, the ratio to one
 * thread without any exchange, and the time that a line takes from one core to the other.
 *
 * Threads: `tail` and `promise_ps` are written by their own thread alone, with release, after the
 * messages. The other thread acquires `promise_ps` and then `tail`, so it has each message that was
 * sent before the promise. A slot is written again only after the other thread has given it back
 * (`taken`), at which the sender looks when half of the ring is full.
 */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/cw.h"
#include "core/os/affinity.h"
#include "core/os/clock.h"
#include "core/os/sync.h"

enum { SLOTS = 1024, LINE = 64, WORDS = 8, TRIPS = 20000, BATCHES = 7, REPEATS = 3 };
/* The promise of a thread that has ended. */
static const uint64_t AT_END = 1ull << 60;
static const double lookahead_ps = 100000;
static const unsigned batches[BATCHES] = {1, 2, 4, 6, 8, 12, 16};

struct slot {
    _Alignas(LINE) uint64_t words[WORDS];
};

/* One thread's side. */
struct bare_side {
    _Alignas(2 * LINE) struct sync_u64 promise_ps;
    struct sync_u64 tail;
    _Alignas(2 * LINE) struct sync_u64 taken; /* of the other side's messages */
    _Alignas(2 * LINE) struct slot slots[SLOTS];
};

struct exchange {
    struct bare_side sides[2];
    pthread_barrier_t start;
    double mean_ps;      /* between two events of one thread */
    uint64_t remote_p32; /* share of the events that send a message */
    uint64_t steps;      /* of arithmetic for an event */
    uint64_t events;     /* of each thread */
    unsigned batch;
    bool alone;
    double took_s[2];
    uint64_t sum[2]; /* so that no work is left out */
};

struct bare_thread {
    struct exchange *exchange;
    unsigned index;
};

static uint64_t bare_work(uint64_t x, uint64_t steps)
{
    for (uint64_t i = 0; i < steps; i++) {
        x ^= x << 13;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

/* Reads the messages that have come; returns their sum. */
static uint64_t take_messages(const struct bare_side *theirs, struct bare_side *own, uint64_t *read)
{
    const uint64_t tail = sync_load_acquire(&theirs->tail);
    uint64_t sum = 0;
    for (; *read < tail; ++*read) {
        const struct slot *const slot = &theirs->slots[*read % SLOTS];
        for (int i = 0; i < WORDS; i++)
            sum += slot->words[i];
    }
    if (*read - sync_load_acquire(&own->taken) >= SLOTS / 8)
        sync_store_release(&own->taken, *read);
    return sum;
}

static void send_message(struct bare_side *own, const struct bare_side *theirs, uint64_t written,
                         uint64_t word, uint64_t *taken)
{
    while (written - *taken >= SLOTS / 2)
        *taken = sync_load_acquire(&theirs->taken);
    struct slot *const slot = &own->slots[written % SLOTS];
    for (uint64_t i = 0; i < WORDS; i++)
        slot->words[i] = word + i;
    __builtin_prefetch(&own->slots[(written + 8) % SLOTS], 1);
}

static void *run_side(void *arg)
{
    const struct bare_thread *const thread = arg;
    struct exchange *const ex = thread->exchange;
    struct bare_side *const own = &ex->sides[thread->index];
    struct bare_side *const theirs = &ex->sides[1 - thread->index];
    struct cw_rng rng = cw_rng_seeded(1, thread->index);
    uint64_t written = 0, read = 0, taken = 0, sum = 1;
    double time_ps = 0;
    affinity_bind((int)thread->index);
    if (!ex->alone)
        pthread_barrier_wait(&ex->start);
    const double begin_s = clock_s();
    for (uint64_t done = 0; done < ex->events;) {
        double bound_ps = INFINITY;
        if (!ex->alone) {
            bound_ps = (double)sync_load_acquire(&theirs->promise_ps) + lookahead_ps;
            sum += take_messages(theirs, own, &read);
        }
        unsigned handled = 0;
        for (; handled < ex->batch && time_ps < bound_ps && done < ex->events; handled++, done++) {
            sum = bare_work(sum + handled, ex->steps);
            time_ps += (double)cw_rng_exp_ps(&rng, (int64_t)ex->mean_ps);
            if (!ex->alone && cw_rng_u64(&rng) >> 32 < ex->remote_p32)
                send_message(own, theirs, written++, sum, &taken);
        }
        if (handled == 0) {
            sync_pause();
            continue;
        }
        if (ex->alone)
            continue;
        sync_store_release(&own->tail, written);
        sync_store_release(&own->promise_ps,
                           done == ex->events ? AT_END : (uint64_t)fmin(time_ps, bound_ps));
    }
    ex->took_s[thread->index] = clock_s() - begin_s;
    ex->sum[thread->index] = sum;
    while (!ex->alone && sync_load_acquire(&theirs->promise_ps) < AT_END)
        (void)take_messages(theirs, own, &read); /* or the other thread would wait for room */
    return NULL;
}

/* Millions of events per second. */
static double rate_of(struct exchange *ex, bool alone, unsigned batch)
{
    double best = 0;
    for (int i = 0; i < REPEATS; i++) {
        struct bare_thread threads[2] = {{ex, 0}, {ex, 1}};
        pthread_t other;
        ex->alone = alone;
        ex->batch = batch;
        for (int k = 0; k < 2; k++) {
            sync_store_release(&ex->sides[k].promise_ps, 0);
            sync_store_release(&ex->sides[k].tail, 0);
            sync_store_release(&ex->sides[k].taken, 0);
        }
        if (!alone && pthread_create(&other, NULL, run_side, &threads[1]) != 0)
            return 0;
        (void)run_side(&threads[0]);
        if (!alone)
            pthread_join(other, NULL);
        const double took_s = alone ? ex->took_s[0] : fmax(ex->took_s[0], ex->took_s[1]);
        best = fmax(best, (double)ex->events * (alone ? 1 : 2) / took_s / 1e6);
    }
    return best;
}

/* A line to and fro. */
struct trips {
    _Alignas(2 * LINE) struct sync_u64 turn;
};

static void *return_line(void *arg)
{
    struct trips *const trips = arg;
    affinity_bind(1);
    for (uint64_t i = 0; i < TRIPS; i++) {
        while (sync_load_acquire(&trips->turn) != 2 * i + 1)
            sync_pause();
        sync_store_release(&trips->turn, 2 * i + 2);
    }
    return NULL;
}

static double line_ns(void)
{
    static struct trips trips;
    pthread_t other;
    sync_store_release(&trips.turn, 0);
    affinity_bind(0);
    if (pthread_create(&other, NULL, return_line, &trips) != 0)
        return 0;
    double begin_s = 0;
    for (uint64_t i = 0; i < TRIPS; i++) {
        if (i == 1) /* the other thread has started */
            begin_s = clock_s();
        sync_store_release(&trips.turn, 2 * i + 1);
        while (sync_load_acquire(&trips.turn) != 2 * i + 2)
            sync_pause();
    }
    const double took_s = clock_s() - begin_s;
    pthread_join(other, NULL);
    return took_s / (TRIPS - 1) / 2 * 1e9;
}

int main(int argc, char **argv)
{
    static struct exchange ex;
    if (argc < 4) {
        fprintf(stderr, "usage: exchange EVENTS_PER_LOOKAHEAD WORK_NS REMOTE_PERCENT [EVENTS]\n");
        return 2;
    }
    const double work_ns = atof(argv[2]);
    pthread_barrier_init(&ex.start, NULL, 2);
    ex.mean_ps = lookahead_ps / atof(argv[1]);
    ex.remote_p32 = (uint64_t)(atof(argv[3]) / 100 * 4294967296.0);
    ex.events = argc > 4 ? strtoull(argv[4], NULL, 10) : 1000000;
    double one = 0; /* arithmetic until an event takes as long as wanted */
    for (ex.steps = 1; ex.steps < 10000; ex.steps += 1 + ex.steps / 16) {
        one = rate_of(&ex, true, 1024);
        if (1e3 / one >= work_ns)
            break;
    }
    printf("one thread: %.1f M/s (%.1f ns)\n", one, 1e3 / one);
    for (int i = 0; i < BATCHES; i++) {
        const double ns = line_ns(), two = rate_of(&ex, false, batches[i]);
        printf("two threads, a look every %2u events: %5.1f M/s, ratio %.2f; a line: %.0f ns\n",
               batches[i], two, two / one, ns);
    }
    return 0;
}
