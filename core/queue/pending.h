/*
 * pending.h: a worker's pending set: the events it has yet to handle, least first.
 *
 * Wide buckets, sorted late. Time is cut into fine buckets of 2^shift ps, each meant for some 500
 * events and kept as an unordered chain. When a bucket's turn comes it is sorted into one array
 * (sorted_bucket.h). Events that arrive for the current bucket's time or before go to a small heap
 * beside the array (overflow_heap.h). Beyond the fine buckets are coarse ones, of 256 fine widths
 * each, and beyond those one chain, `far`. The width tunes itself.
 *
 *   overflow + sorted | fine[first .. fine_end) | coarse[fine_end / 256 .. coarse_end) | far
 *
 * I-PEND-1: an entry whose time is in [first, fine_end) fine widths is in its fine bucket, below
 * in `overflow` or `sorted`, above in its coarse bucket if below coarse_end, else in `far`.
 * I-PEND-2: fine_end is a multiple of 256 fine widths, and fine_end - first <= FINE_BUCKETS, so
 * that no two buckets share a place in the ring. The same holds for the coarse buckets.
 * I-PEND-3: where memory runs out while entries move from bucket to bucket, some are lost. From
 * then on the set gives none, and says that it is out of memory, so that no event is handled in
 * place of one that was lost.
 *
 * One worker owns it; no other thread enters. The prior art is the calendar queue (Brown, 1988)
 * and the ladder queue (Tang, Goh, Thng, 2005), which sort a bucket by comparisons, or split it
 * again, where this one is scattered once.
 */
#ifndef CORE_PENDING_H
#define CORE_PENDING_H

#include "core/invariant.h"
#include "core/queue/entry_chain.h"
#include "core/queue/overflow_heap.h"
#include "core/queue/sorted_bucket.h"

enum {
    FINE_BUCKETS = 4096,
    COARSE_BUCKETS = 1024,
    FINE_PER_COARSE_SHIFT = 8,
    FINE_PER_COARSE = 1 << FINE_PER_COARSE_SHIFT,
    PENDING_EVENTS_PER_CHUNK = 8, /* fetch a chunk of the next bucket as often */
};

/* The counts that the width is tuned by, since the last look at them. */
struct pending_usage {
    uint64_t turns, sorted, distinct, overflow, overflow_count_max;
};

struct pending {
    struct sorted_bucket sorted;
    struct overflow_heap overflow;
    struct chunk_pool chunks;

    unsigned shift;      /* a fine bucket is 2^shift ps wide */
    unsigned shift_max;  /* wider proved to be too wide not long ago */
    uint64_t first;      /* the fine bucket after the current one */
    uint64_t fine_end;   /* fine buckets from here on are not open */
    uint64_t coarse_end; /* coarse buckets from here on are not open */
    uint64_t count;      /* of all entries but those in `sorted` and `overflow` */
    bool out_of_memory;  /* pending_peek() could not sort a bucket, or: */
    bool lost;           /* entries are lost for lack of memory: none is given out any more */
    struct pending_usage usage;
    unsigned looks;           /* at the usage, since shift_max changed */
    const struct chunk *soon; /* the next bucket's first chunk that was not fetched yet */

    struct entry_chain far;
    uint64_t far_first_ps; /* least time in `far` */
    uint64_t fine_used[FINE_BUCKETS / 64], coarse_used[COARSE_BUCKETS / 64]; /* bitmaps */
    struct entry_chain fine[FINE_BUCKETS];
    struct entry_chain coarse[COARSE_BUCKETS];
};

void pending_init(struct pending *pending, struct memory *memory);
void pending_free(struct pending *pending);

/*
 * Drops each entry for which `drop` returns true, and does not touch its event any more. Entries
 * whose turn is next (in `sorted` and `overflow`) stay without a call. Takes time for all pending
 * entries. False: out of memory, and entries are lost (I-PEND-3).
 */
typedef bool (*pending_drop_fn)(void *arg, const struct entry *entry);
bool pending_purge(struct pending *pending, pending_drop_fn drop, void *arg);

/* The same for all entries, including entries whose turn is next. */
bool pending_sift(struct pending *pending, pending_drop_fn drop, void *arg);

/* The width of the fine buckets, and the most that it may be. For a set whose events go, and come
 * back: several widths pass for good, and the first one decides which of them the set finds. With
 * few pending events that decides some per cent of an event's cost. */
struct pending_width {
    unsigned shift, shift_max;
};
static inline struct pending_width pending_width(const struct pending *pending)
{
    return (struct pending_width){.shift = pending->shift, .shift_max = pending->shift_max};
}
/* Cuts all that is pending into buckets again. `width`: of this set, earlier; NULL: as suits the
 * entries. False: out of memory, and entries are lost (I-PEND-3). */
bool pending_reopen(struct pending *pending, const struct pending_width *width);

/* The rarer ways of pending_push() and pending_peek(). */
bool pending_push_slow(struct pending *pending, int64_t time_ps, uint64_t key_high,
                       uint64_t key_low, struct cw_event *event);
const struct entry *pending_turn(struct pending *pending);

/* Pushes an entry where its fine bucket is open and has room. False: pending_push_slow() is
 * due. */
static inline bool pending_push_here(struct pending *pending, struct entry entry)
{
    const uint64_t bucket = (uint64_t)entry.time_ps >> pending->shift;
    struct entry_chain *const chain = &pending->fine[bucket % FINE_BUCKETS];
    if (__builtin_expect(bucket - pending->first >= pending->fine_end - pending->first ||
                             !entry_chain_has_room(chain),
                         0))
        return false;
    pending->count++;
    entry_chain_put(chain, entry);
    return true;
}

/* False: out of memory. The entry is not in the set; others may be lost (I-PEND-3). */
static inline bool pending_push(struct pending *pending, struct entry entry)
{
    return pending_push_here(pending, entry) ||
           pending_push_slow(pending, entry.time_ps, entry.key_high, entry.key_low, entry.event);
}

/* The least entry. NULL: there is none, or pending->out_of_memory. */
static inline const struct entry *pending_peek(struct pending *pending)
{
    const struct sorted_bucket *const sorted = &pending->sorted;
    if (__builtin_expect(pending->overflow.count > 0, 0)) {
        const struct entry *const least = pending->overflow.entries;
        return sorted->front == sorted->last || entry_before(least, sorted->front) ? least
                                                                                   : sorted->front;
    }
    return __builtin_expect(sorted->front != sorted->last, 1) ? sorted->front
                                                              : pending_turn(pending);
}

/* The least time of an entry; INT64_MAX: there is none. Looks at all entries, and leaves them as
 * they are. */
int64_t pending_least_ps(const struct pending *pending);
/* How many entries come before that time. Looks at all of them. */
uint64_t pending_count_before(const struct pending *pending, int64_t time_ps);

/* How many entries there are. */
static inline uint64_t pending_count(const struct pending *pending)
{
    return pending->count + pending->overflow.count +
           (uint64_t)(pending->sorted.last - pending->sorted.front);
}

/* Removes `least`, which pending_peek() gave. */
static inline void pending_pop(struct pending *pending, const struct entry *least)
{
    CW_INVARIANT("I-PEND-3", !pending->lost,
                 "an entry for %lld ps has its turn, and entries are lost",
                 (long long)least->time_ps);
    if (__builtin_expect(least == pending->sorted.front, 1))
        pending->sorted.front++;
    else
        overflow_heap_pop(&pending->overflow);
}

/*
 * Once per event: fetches a part of the bucket that comes next, and returns the entry that likely
 * comes SORTED_AHEAD events later, so that the worker can fetch the memory that it will need.
 */
static inline const struct entry *pending_look_ahead(struct pending *pending)
{
    const struct entry *const front = pending->sorted.front;
    const struct chunk *const soon = pending->soon;
    if ((uintptr_t)front / sizeof *front % PENDING_EVENTS_PER_CHUNK == 0 && soon != NULL) {
        pending->soon = soon->previous;
        __builtin_prefetch(soon->previous);
        for (size_t i = 0; i < CHUNK_BYTES; i += 64)
            __builtin_prefetch((const uint8_t *)soon + i);
    }
    return front + SORTED_AHEAD;
}

#endif
