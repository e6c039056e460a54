/*
 * pending_race.c: the pending set against a 4-ary heap and a calendar queue, through one interface.
 *
 * The classic hold model: a fixed number of pending entries; take the least, put it back later by
 * a random delay. Entries and their order are the engine's (event.h); there are no events, LPs or
 * handlers, so this shows the queue alone, without the gain that looking ahead brings elsewhere.
 *
 *   pending_race [HOLDS]     prints a table: millions of holds per second, best of three
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/queue/overflow_heap.h"
#include "core/queue/pending.h"

/* ---- delays --------------------------------------------------------------------------------- */

static int64_t delay_exp(struct cw_rng *rng) { return cw_rng_exp_ps(rng, 1000000); }
static int64_t delay_lookahead(struct cw_rng *rng) { return 100000 + cw_rng_exp_ps(rng, 1000000); }

/* The hops of lock-step mesh traffic. */
static int64_t delay_hops(struct cw_rng *rng)
{
    static const int64_t delays_ps[4] = {1000, 5000, 50000, 300000};
    const uint32_t of_32 = cw_rng_below(rng, 32);
    return delays_ps[(of_32 >= 16) + (of_32 >= 26) + (of_32 >= 31)];
}

/* Mostly short, one in sixteen a thousand times as far: timers. */
static int64_t delay_timers(struct cw_rng *rng)
{
    const bool far = cw_rng_below(rng, 16) == 0;
    return cw_rng_exp_ps(rng, far ? 1000000000 : 1000000);
}

/* All scales from ns to s alike. */
static int64_t delay_scales(struct cw_rng *rng)
{
    int64_t mean_ps = 1000;
    for (uint32_t i = cw_rng_below(rng, 10); i > 0; i--)
        mean_ps *= 10;
    return cw_rng_exp_ps(rng, mean_ps);
}

static const struct {
    const char *name;
    int64_t (*draw)(struct cw_rng *rng);
} delays[] = {{"exp", delay_exp},
              {"0.1+exp", delay_lookahead},
              {"hops", delay_hops},
              {"timers", delay_timers},
              {"scales", delay_scales}};

/* ---- a calendar queue of entries ------------------------------------------------------------- */

struct node {
    struct node *next;
    struct entry entry;
};

/* Brown, 1988, with its resizing left out: the number of entries is fixed, the width is given. */
struct calendar {
    struct node **buckets, *free;
    uint64_t mask, day;
    unsigned shift;
};

static void calendar_push(struct calendar *calendar, struct entry entry)
{
    struct node *const node = calendar->free;
    calendar->free = node->next;
    node->entry = entry;
    struct node **link =
        &calendar->buckets[(uint64_t)entry.time_ps >> calendar->shift & calendar->mask];
    while (*link != NULL && entry_before(&(*link)->entry, &entry))
        link = &(*link)->next;
    node->next = *link;
    *link = node;
}

static struct entry calendar_take(struct calendar *calendar)
{
    for (uint64_t empty = 0;; calendar->day++, empty++) {
        struct node **const head = &calendar->buckets[calendar->day & calendar->mask];
        struct node *const node = *head;
        if (node == NULL || (uint64_t)node->entry.time_ps >> calendar->shift != calendar->day) {
            if (empty <= calendar->mask)
                continue;
            /* A whole year without an entry: on to the first one. */
            uint64_t day = UINT64_MAX;
            for (uint64_t i = 0; i <= calendar->mask; i++) {
                const struct node *const first = calendar->buckets[i];
                if (first != NULL && (uint64_t)first->entry.time_ps >> calendar->shift < day)
                    day = (uint64_t)first->entry.time_ps >> calendar->shift;
            }
            calendar->day = day - 1;
            empty = 0;
            continue;
        }
        const struct entry entry = node->entry;
        *head = node->next;
        node->next = calendar->free;
        calendar->free = node;
        return entry;
    }
}

/* ---- the race ------------------------------------------------------------------------------- */

enum queue { QUEUE_PENDING, QUEUE_HEAP, QUEUE_CALENDAR };

struct race {
    struct memory memory;
    struct pending pending;
    struct overflow_heap heap;
    struct calendar calendar;
};

static void must(bool well)
{
    if (well)
        return;
    fprintf(stderr, "pending_race: out of memory\n");
    exit(4);
}

static inline void pending_race_push(struct race *race, enum queue queue, struct entry entry)
{
    if (queue == QUEUE_PENDING)
        must(pending_push(&race->pending, entry));
    else if (queue == QUEUE_HEAP)
        must(overflow_heap_push(&race->heap, &entry));
    else
        calendar_push(&race->calendar, entry);
}

static inline struct entry pending_race_take(struct race *race, enum queue queue)
{
    struct entry entry;
    if (queue == QUEUE_PENDING) {
        const struct entry *const least = pending_peek(&race->pending);
        must(least != NULL);
        entry = *least;
        pending_pop(&race->pending, least);
        (void)pending_look_ahead(&race->pending);
    } else if (queue == QUEUE_HEAP) {
        entry = race->heap.entries[0];
        overflow_heap_pop(&race->heap);
    } else {
        entry = calendar_take(&race->calendar);
    }
    return entry;
}

static double pending_race_clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void hold(struct race *race, enum queue queue, int64_t (*draw)(struct cw_rng *),
                 struct cw_rng *rng, uint64_t holds)
{
    for (uint64_t i = 0; i < holds; i++) {
        struct entry entry = pending_race_take(race, queue);
        entry.time_ps += draw(rng);
        pending_race_push(race, queue, entry);
    }
}

/* A width that puts three entries of the first day in a bucket. */
static unsigned calendar_shift(int64_t (*draw)(struct cw_rng *), size_t count)
{
    struct cw_rng rng = cw_rng_seeded(2, 0);
    double mean_ps = 0;
    for (int i = 0; i < 10000; i++)
        mean_ps += (double)draw(&rng) / 10000;
    unsigned shift = 0;
    while (shift < 50 && (double)(2ull << shift) <= 3 * mean_ps / (double)count)
        shift++;
    return shift;
}

/* Millions of holds per second. */
static double pending_race_run(enum queue queue, int64_t (*draw)(struct cw_rng *), size_t count,
                               uint64_t holds)
{
    struct race *const race = calloc(1, sizeof *race);
    must(race != NULL);
    memory_init(&race->memory, 0);
    pending_init(&race->pending, &race->memory);
    overflow_heap_init(&race->heap, &race->memory);
    size_t buckets = 64;
    while (buckets < count)
        buckets *= 2;
    struct node *const nodes = calloc(count, sizeof *nodes);
    race->calendar.buckets = calloc(buckets, sizeof *race->calendar.buckets);
    must(nodes != NULL && race->calendar.buckets != NULL);
    race->calendar.mask = buckets - 1;
    race->calendar.shift = calendar_shift(draw, count);
    for (size_t i = 0; i < count; i++) {
        nodes[i].next = race->calendar.free;
        race->calendar.free = &nodes[i];
    }
    static struct cw_event unused;
    struct cw_rng rng = cw_rng_seeded(1, 0);
    for (uint32_t i = 0; i < count; i++) {
        const struct event_header header = {.time_ps = draw(&rng), .number = i, .entity = i};
        pending_race_push(race, queue, entry_of(&header, &unused));
    }
    hold(race, queue, draw, &rng, holds / 4);
    const double start_s = pending_race_clock_s();
    hold(race, queue, draw, &rng, holds);
    const double took_s = pending_race_clock_s() - start_s;
    pending_free(&race->pending);
    overflow_heap_free(&race->heap);
    free(race->calendar.buckets);
    free(nodes);
    free(race);
    return (double)holds / took_s * 1e-6;
}

int main(int argc, char **argv)
{
    static const size_t counts[] = {10, 100, 1000, 10000, 65536, 1048576};
    const uint64_t holds = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000000;
    printf("%-8s %8s %8s %8s %8s\n", "delays", "pending", "buckets", "heap", "calendar");
    for (size_t d = 0; d < sizeof delays / sizeof delays[0]; d++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            double best[3] = {0};
            for (int trial = 0; trial < 3; trial++)
                for (unsigned queue = 0; queue < 3; queue++) {
                    const bool hopeless =
                        queue == QUEUE_CALENDAR &&
                        (delays[d].draw == delay_hops || delays[d].draw == delay_scales);
                    const double rate =
                        hopeless ? 0 : pending_race_run(queue, delays[d].draw, counts[c], holds);
                    best[queue] = rate > best[queue] ? rate : best[queue];
                }
            printf("%-8s %8zu %8.1f %8.1f", delays[d].name, counts[c], best[0], best[1]);
            if (best[2] > 0)
                printf(" %8.1f\n", best[2]);
            else
                printf(" %8s\n", "-");
            fflush(stdout);
        }
    return 0;
}
