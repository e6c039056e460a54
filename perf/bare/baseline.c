/*
 * baseline.c: PHOLD without an engine, for the engine to be measured against.
 *
 * The same two traffics as bench/phold/phold.c, with the same random numbers and the same initial
 * events, in a bare loop: take the least event, draw, put one back. No model interface, no total
 * order (ties fall as they come), no hash, no checks. Two queues, each as good as it is without
 * looking ahead:
 *
 *   heap      a 4-ary heap of 24-byte entries, whose root is replaced in one pass
 *   calendar  Brown's calendar queue (1988): sorted lists of 32-byte nodes, as many buckets as
 *             events. It is given the best width of a bucket instead of finding it
 *
 *   baseline heap|calendar random|mesh LPS POPULATION END_US [SHIFT]
 *
 * The LPs of a mesh are a square. SHIFT: a calendar bucket is 2^SHIFT ps wide, 0 to 40. Prints
 * committed events, seconds, millions of them per second.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/cw.h"

enum { MESH_HOPS = 16 };
static const int64_t mean_ps = 1000000, lookahead_ps = 100000, round_ps = 1000000;
static const uint64_t remote_p32 = 1ull << 30, seed = 1;

struct bare_lp {
    struct cw_rng rng;
    uint64_t number;
};

struct bare_event {
    int64_t time_ps;
    uint32_t lp, entity;
    uint64_t number : 48, hops : 16;
};

struct bare {
    bool mesh;
    uint32_t lp_count, population, side;
    int64_t end_ps;
    unsigned shift;
    struct bare_lp *lps;
    uint64_t committed;
};

static uint32_t baseline_neighbour(uint32_t lp, uint32_t side, uint64_t direction)
{
    const uint32_t x = lp % side, y = lp / side;
    switch (direction) {
    case 0:
        return y * side + (x + 1 == side ? 0 : x + 1);
    case 1:
        return y * side + (x == 0 ? side - 1 : x - 1);
    case 2:
        return (y + 1 == side ? 0 : y + 1) * side + x;
    default:
        return (y == 0 ? side - 1 : y - 1) * side + x;
    }
}

/* The event that this one sends. */
static inline struct bare_event handle_random(struct bare *bare, struct bare_event event)
{
    struct bare_lp *const lp = &bare->lps[event.lp];
    event.entity = event.lp;
    event.number = lp->number++;
    if (cw_rng_chance(&lp->rng, remote_p32))
        event.lp = cw_rng_below(&lp->rng, bare->lp_count);
    event.time_ps += lookahead_ps + cw_rng_exp_ps(&lp->rng, mean_ps);
    return event;
}

static inline struct bare_event handle_mesh(struct bare *bare, struct bare_event event)
{
    static const int64_t delays_ps[4] = {1000, 5000, 50000, 300000};
    struct bare_lp *const lp = &bare->lps[event.lp];
    event.entity = event.lp;
    event.number = lp->number++;
    if (event.hops == MESH_HOPS) {
        event.time_ps += round_ps - event.time_ps % round_ps;
        event.hops = 0;
        return event;
    }
    const uint64_t random = cw_rng_u64(&lp->rng), of_32 = random >> 59;
    event.time_ps += delays_ps[(of_32 >= 16) + (of_32 >= 26) + (of_32 >= 31)];
    event.lp = baseline_neighbour(event.lp, bare->side, random & 3);
    event.hops++;
    return event;
}

static inline struct bare_event baseline_handle(struct bare *bare, struct bare_event event)
{
    bare->committed++;
    return bare->mesh ? handle_mesh(bare, event) : handle_random(bare, event);
}

/* Calls `put` for each event that PHOLD starts with. */
static void baseline_start(struct bare *bare, void (*put)(void *queue, struct bare_event event),
                           void *queue)
{
    for (uint32_t lp = 0; lp < bare->lp_count; lp++) {
        bare->lps[lp] = (struct bare_lp){cw_rng_seeded(seed, lp), bare->population};
        struct cw_rng rng = cw_rng_seeded(seed, (uint64_t)bare->lp_count + lp);
        for (uint32_t i = 0; i < bare->population; i++) {
            const int64_t time_ps = bare->mesh ? 0 : lookahead_ps + cw_rng_exp_ps(&rng, mean_ps);
            put(queue,
                (struct bare_event){.time_ps = time_ps, .lp = lp, .entity = lp, .number = i});
        }
    }
}

/* ---- 4-ary heap ----------------------------------------------------------------------------- */

/* The engine's order as far as PHOLD needs it. */
static inline bool before(const struct bare_event *a, const struct bare_event *b)
{
    if (a->time_ps != b->time_ps)
        return a->time_ps < b->time_ps;
    return a->entity != b->entity ? a->entity < b->entity : a->number < b->number;
}

struct heap {
    struct bare_event *events;
    size_t count;
};

static void heap_put(void *queue, struct bare_event event)
{
    struct heap *const heap = queue;
    size_t at = heap->count++;
    for (; at > 0 && before(&event, &heap->events[(at - 1) / 4]); at = (at - 1) / 4)
        heap->events[at] = heap->events[(at - 1) / 4];
    heap->events[at] = event;
}

static inline void heap_replace_least(struct heap *heap, struct bare_event event)
{
    struct bare_event *const events = heap->events;
    size_t at = 0;
    for (size_t child = 1; child < heap->count; child = 4 * at + 1) {
        const size_t end = child + 4 < heap->count ? child + 4 : heap->count;
        for (size_t other = child + 1; other < end; other++)
            if (before(&events[other], &events[child]))
                child = other;
        if (!before(&events[child], &event))
            break;
        events[at] = events[child];
        at = child;
    }
    events[at] = event;
}

static void run_heap(struct bare *bare, struct heap *heap)
{
    while (heap->events[0].time_ps < bare->end_ps)
        heap_replace_least(heap, baseline_handle(bare, heap->events[0]));
}

/* ---- calendar queue ------------------------------------------------------------------------- */

struct node {
    struct node *next;
    struct bare_event event;
};

struct calendar {
    struct node **buckets, *nodes;
    size_t mask, used;
    unsigned shift;
};

static inline void calendar_link(struct calendar *calendar, struct node *node)
{
    struct node **link =
        &calendar->buckets[(size_t)(node->event.time_ps >> calendar->shift) & calendar->mask];
    while (*link != NULL && (*link)->event.time_ps < node->event.time_ps)
        link = &(*link)->next;
    node->next = *link;
    *link = node;
}

static void calendar_put(void *queue, struct bare_event event)
{
    struct calendar *const calendar = queue;
    struct node *const node = &calendar->nodes[calendar->used++];
    node->event = event;
    calendar_link(calendar, node);
}

static void run_calendar(struct bare *bare, struct calendar *calendar)
{
    for (uint64_t day = 0;; day++) {
        struct node **const head = &calendar->buckets[day & calendar->mask];
        const int64_t end_ps = (int64_t)((day + 1) << calendar->shift);
        while (*head != NULL && (*head)->event.time_ps < end_ps) {
            struct node *const node = *head;
            if (node->event.time_ps >= bare->end_ps)
                return;
            *head = node->next;
            node->event = baseline_handle(bare, node->event);
            calendar_link(calendar, node);
        }
    }
}

/* ---- the program ---------------------------------------------------------------------------- */

static double baseline_clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Zeroed and touched, in huge pages where there are any: as the engine's memory is. */
static void *baseline_take(size_t bytes)
{
    void *block = NULL;
    if (posix_memalign(&block, 2 << 20, bytes) != 0)
        exit(4);
    return memset(block, 0, bytes);
}

static unsigned best_shift(const struct bare *bare, size_t pending)
{
    if (bare->mesh)
        return 9; /* below the shortest hop: one time to a bucket */
    unsigned shift = 0;
    while ((2ull << shift) <= 3 * (uint64_t)(mean_ps + lookahead_ps) / pending)
        shift++;
    return shift;
}

/* A whole number from `least` to `most`; any other ends the program. */
static int64_t baseline_number(const char *text, int64_t least, int64_t most)
{
    char *end;
    const long long value = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && value >= least && value <= most)
        return value;
    fprintf(stderr, "baseline: %s: expected a number from %" PRId64 " to %" PRId64 "\n", text,
            least, most);
    exit(2);
}

/* Whether the text is the first of two words; any other than the two ends the program. */
static bool is_first(const char *text, const char *first, const char *second)
{
    if (strcmp(text, first) == 0 || strcmp(text, second) == 0)
        return strcmp(text, first) == 0;
    fprintf(stderr, "baseline: %s: expected %s or %s\n", text, first, second);
    exit(2);
}

int main(int argc, char **argv)
{
    enum { LPS_MAX = 1 << 24, POPULATION_MAX = 1 << 20, SHIFT_MAX = 40 };
    static const int64_t end_us_max = 1000000000;
    if (argc < 6 || argc > 7) {
        fprintf(stderr,
                "usage: baseline heap|calendar random|mesh LPS POPULATION END_US [SHIFT]\n");
        return 2;
    }
    const bool is_heap = is_first(argv[1], "heap", "calendar");
    struct bare bare = {
        .mesh = is_first(argv[2], "mesh", "random"),
        .lp_count = (uint32_t)baseline_number(argv[3], 1, LPS_MAX),
        .population = (uint32_t)baseline_number(argv[4], 1, POPULATION_MAX),
        .end_ps = baseline_number(argv[5], 1, end_us_max) * 1000000,
    };
    while ((bare.side + 1) * (bare.side + 1) <= bare.lp_count)
        bare.side++;
    if (bare.mesh && bare.side * bare.side != bare.lp_count) {
        fprintf(stderr, "baseline: a mesh is a square: %" PRIu32 " LPs are none\n", bare.lp_count);
        return 2;
    }
    const size_t pending = (size_t)bare.lp_count * bare.population;
    bare.lps = baseline_take(bare.lp_count * sizeof *bare.lps);
    double start_s, run_s;
    if (is_heap) {
        struct heap heap = {.events = baseline_take(pending * sizeof *heap.events)};
        baseline_start(&bare, heap_put, &heap);
        start_s = baseline_clock_s();
        run_heap(&bare, &heap);
        run_s = baseline_clock_s() - start_s;
    } else {
        struct calendar calendar = {.shift = argc > 6
                                                 ? (unsigned)baseline_number(argv[6], 0, SHIFT_MAX)
                                                 : best_shift(&bare, pending)};
        size_t buckets = 4096;
        while (buckets < pending)
            buckets *= 2;
        calendar.mask = buckets - 1;
        calendar.buckets = baseline_take(buckets * sizeof *calendar.buckets);
        calendar.nodes = baseline_take(pending * sizeof *calendar.nodes);
        baseline_start(&bare, calendar_put, &calendar);
        start_s = baseline_clock_s();
        run_calendar(&bare, &calendar);
        run_s = baseline_clock_s() - start_s;
    }
    printf("%" PRIu64 " %.6f %.3f\n", bare.committed, run_s, (double)bare.committed / run_s * 1e-6);
    return 0;
}
