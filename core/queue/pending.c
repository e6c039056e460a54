/*
 * pending.c: how the pending set's buckets open, take their turns and find their width (pending.h).
 * Everything here is off the path of most events.
 */
#include "core/queue/pending.h"

#include "core/invariant.h"
#include "core/os/clock.h"

#include <string.h>

enum {
    SHIFT_MAX = 44,               /* the coarse buckets then reach 2^62 ps */
    SHIFT_DEFAULT = 10,           /* until there are events to tune by */
    SAMPLES = 64,                 /* times that choose the first width */
    TUNE_TURNS = 64,              /* look at the width after as many turns, */
    TUNE_OVERFLOW = 1024,         /* or after as many events that went to `overflow` */
    TUNE_SHIFT_MAX = 64,          /* relax shift_max after as many looks */
    BUCKET_EVENTS = 512,          /* aim for as many events in a bucket: */
    BUCKET_EVENTS_MIN = 8,        /* with few pending for fewer, */
    BUCKET_EVENTS_MAX = 4096,     /* with millions pending for more */
    PURGED_AHEAD = 4,             /* a purge may look at an event: fetch as many ahead */
    OVERFLOW_COUNT_MAX = 32,      /* up to here the heap beside the array is cheap */
    OVERFLOW_COUNT_REOPEN = 4096, /* from here on `overflow` may be too much of everything */
};

static unsigned log2_of(uint64_t x) { return 63 - (unsigned)__builtin_clzll(x | 1); }

void pending_init(struct pending *pending, struct memory *memory)
{
    memset(pending, 0, sizeof *pending);
    sorted_bucket_init(&pending->sorted, memory);
    overflow_heap_init(&pending->overflow, memory);
    chunk_pool_init(&pending->chunks, memory);
    pending->shift = SHIFT_DEFAULT;
    pending->shift_max = SHIFT_MAX;
    pending->far_first_ps = UINT64_MAX;
}

void pending_free(struct pending *pending)
{
    sorted_bucket_free(&pending->sorted);
    overflow_heap_free(&pending->overflow);
    chunk_pool_free(&pending->chunks);
}

/* Memory has run out while entries were moved: I-PEND-3. Returns false. */
static bool lose(struct pending *pending)
{
    pending->lost = pending->out_of_memory = true;
    pending->sorted.front = pending->sorted.last;
    pending->overflow.count = 0;
    pending->soon = NULL;
    return false;
}

static bool push_far(struct pending *pending, struct entry entry)
{
    const uint64_t time_ps = (uint64_t)entry.time_ps;
    if (time_ps < pending->far_first_ps)
        pending->far_first_ps = time_ps;
    return entry_chain_append(&pending->chunks, &pending->far, entry);
}

/* The first bucket in [from, end) whose bit is set in a ring of `places`; `end` if none is. */
static uint64_t next_used(const uint64_t *used, uint64_t places, uint64_t from, uint64_t end)
{
    while (from < end) {
        const uint64_t place = from % places;
        const uint64_t rest = used[place / 64] >> place % 64;
        if (rest != 0) {
            const uint64_t found = from + (uint64_t)__builtin_ctzll(rest);
            return found < end ? found : end;
        }
        from += 64 - place % 64;
    }
    return end;
}

/* Pushes a chain's entries again, and recycles its chunks. */
static bool push_again(struct pending *pending, struct entry_chain *chain)
{
    if (chain->next == NULL)
        return true;
    const struct entry_chain old = *chain;
    struct chunk *chunk = entry_chain_newest(&old);
    size_t count = entry_chain_newest_count(&old);
    chain->next = NULL;
    do {
        struct chunk *const previous = chunk->previous;
        pending->count -= count;
        for (size_t i = 0; i < count; i++)
            if (!pending_push(pending, chunk->entries[i]))
                return lose(pending);
        chunk_put(&pending->chunks, chunk);
        count = CHUNK_ENTRIES;
        chunk = previous;
    } while (chunk != NULL);
    return true;
}

/* I-PEND-2. */
static void check_bounds(const struct pending *pending)
{
    const uint64_t coarse_first = pending->fine_end >> FINE_PER_COARSE_SHIFT;
    CW_INVARIANT("I-PEND-2",
                 pending->fine_end % FINE_PER_COARSE == 0 &&
                     (int64_t)(pending->fine_end - pending->first) <= FINE_BUCKETS,
                 "fine buckets [%llu, %llu)", (unsigned long long)pending->first,
                 (unsigned long long)pending->fine_end);
    CW_INVARIANT("I-PEND-2", (int64_t)(pending->coarse_end - coarse_first) <= COARSE_BUCKETS,
                 "coarse buckets [%llu, %llu)", (unsigned long long)coarse_first,
                 (unsigned long long)pending->coarse_end);
}

/* Opens fine buckets as far as I-PEND-2 allows, filling them from their coarse buckets. */
static bool open_fine(struct pending *pending)
{
    while (pending->fine_end + FINE_PER_COARSE - pending->first <= FINE_BUCKETS) {
        const uint64_t coarse = pending->fine_end >> FINE_PER_COARSE_SHIFT;
        if (coarse == pending->coarse_end)
            break;
        CW_INVARIANT("I-PEND-1", pending->fine[pending->fine_end % FINE_BUCKETS].next == NULL,
                     "fine bucket %llu is opened, and its place is not empty",
                     (unsigned long long)pending->fine_end);
        pending->fine_end += FINE_PER_COARSE;
        const uint64_t place = coarse % COARSE_BUCKETS;
        pending->coarse_used[place / 64] &= ~(1ull << place % 64);
        if (!push_again(pending, &pending->coarse[place]))
            return false;
    }
    return true;
}

/* Opens coarse buckets as far as I-PEND-2 allows, filling them from `far`. */
static bool open_coarse(struct pending *pending)
{
    pending->coarse_end = (pending->fine_end >> FINE_PER_COARSE_SHIFT) + COARSE_BUCKETS;
    check_bounds(pending);
    const uint64_t far_first = pending->far_first_ps >> pending->shift >> FINE_PER_COARSE_SHIFT;
    if (pending->far.next == NULL || far_first >= pending->coarse_end)
        return true;
    pending->far_first_ps = UINT64_MAX;
    return push_again(pending, &pending->far);
}

/* Opens everything anew, from the bucket of `first_ps` on; all entries are in `far`. */
static bool open_at(struct pending *pending, uint64_t first_ps, unsigned shift)
{
    pending->shift = shift;
    pending->first = first_ps >> shift;
    /* At most 255 below `first`, which open_fine() makes up for at once. */
    pending->fine_end = pending->first / FINE_PER_COARSE * FINE_PER_COARSE;
    pending->coarse_end = (pending->fine_end >> FINE_PER_COARSE_SHIFT) + COARSE_BUCKETS;
    return open_fine(pending) && open_coarse(pending);
}

/* Which entries are to go for good; NULL: none. */
struct purge {
    pending_drop_fn drop;
    void *arg;
};

static bool move_far(struct pending *pending, struct entry_chain *chain, const struct purge *purge)
{
    const struct entry_chain old = *chain;
    struct chunk *chunk = entry_chain_newest(&old);
    size_t count = entry_chain_newest_count(&old);
    chain->next = NULL;
    do {
        struct chunk *const previous = chunk->previous;
        for (size_t i = 0; i < count; i++) {
            if (purge != NULL && i + PURGED_AHEAD < count)
                __builtin_prefetch(chunk->entries[i + PURGED_AHEAD].event);
            if (purge != NULL && purge->drop(purge->arg, &chunk->entries[i]))
                pending->count--;
            else if (!push_far(pending, chunk->entries[i]))
                return lose(pending);
        }
        chunk_put(&pending->chunks, chunk);
        count = CHUNK_ENTRIES;
        chunk = previous;
    } while (chunk != NULL);
    return true;
}

/* All buckets' entries go to `far`. */
static bool move_all_far(struct pending *pending, const struct purge *purge)
{
    for (size_t i = 0; i < FINE_BUCKETS; i++)
        if (pending->fine[i].next != NULL && !move_far(pending, &pending->fine[i], purge))
            return false;
    for (size_t i = 0; i < COARSE_BUCKETS; i++)
        if (pending->coarse[i].next != NULL && !move_far(pending, &pending->coarse[i], purge))
            return false;
    memset(pending->fine_used, 0, sizeof pending->fine_used);
    memset(pending->coarse_used, 0, sizeof pending->coarse_used);
    return true;
}

/* Changes the width. `sorted` and `overflow` are empty, so that no entry is before `first`. */
static bool set_shift(struct pending *pending, unsigned shift)
{
    return move_all_far(pending, NULL) && open_at(pending, pending->first << pending->shift, shift);
}

static uint64_t pending_clamp(uint64_t least, uint64_t x, uint64_t most)
{
    return x < least ? least : x > most ? most : x;
}

/*
 * How many events to aim for in a bucket. With few events pending, a share of them, so that their
 * sends rarely fall into their own bucket. With a million or more, enough for the fine buckets to
 * hold most of them: sorting then costs cache misses, but passing through a coarse bucket first
 * costs more.
 */
static uint64_t bucket_events_wanted(const struct pending *pending)
{
    const uint64_t count = pending->count;
    const uint64_t most = pending_clamp(BUCKET_EVENTS, count / 1024, BUCKET_EVENTS_MAX);
    return pending_clamp(BUCKET_EVENTS_MIN, count / 8, most);
}

/* Picks times from `far`, one from each stretch of it, and sorts them. Returns how many. LPs may
 * send in a regular order, so the place in a stretch is drawn. */
static size_t sample_far(const struct pending *pending, uint64_t times[SAMPLES])
{
    const size_t stride = pending->count / SAMPLES + 1;
    const struct chunk *chunk = entry_chain_newest(&pending->far);
    size_t samples = 0, count = entry_chain_newest_count(&pending->far);
    size_t stretch = 0, i = sample_draw(0) % stride; /* from the newest entry of this chunk on */
    for (; chunk != NULL; chunk = chunk->previous, count = CHUNK_ENTRIES) {
        while (i < count && samples < SAMPLES) {
            const uint64_t time_ps = (uint64_t)chunk->entries[i].time_ps;
            size_t at = samples++;
            for (; at > 0 && times[at - 1] > time_ps; at--)
                times[at] = times[at - 1];
            times[at] = time_ps;
            const size_t before = sample_draw(stretch++) % stride;
            i += stride - before + sample_draw(stretch) % stride;
        }
        i -= count;
    }
    return samples;
}

/* The width that would fill a bucket as wanted, by the earlier half of `far`, which has all. */
static unsigned shift_for_far(const struct pending *pending)
{
    uint64_t times[SAMPLES];
    const size_t samples = sample_far(pending, times);
    const uint64_t half_ps = samples > 0 ? times[samples / 2] - pending->far_first_ps : 0;
    if (half_ps == 0)
        return pending->shift;
    /* as a product first: there may be many events to a ps */
    const unsigned __int128 width_ps =
        (unsigned __int128)half_ps * bucket_events_wanted(pending) / (pending->count / 2 + 1);
    const unsigned shift = log2_of(width_ps > INT64_MAX ? INT64_MAX : (uint64_t)width_ps);
    return shift > SHIFT_MAX ? SHIFT_MAX : shift;
}

/* All entries go to `far`, `sorted` and `overflow` included. */
static bool move_everything_far(struct pending *pending)
{
    bool ok = !pending->lost;
    for (struct entry *rest = pending->sorted.front; ok && rest != pending->sorted.last; rest++)
        ok = push_far(pending, *rest);
    pending->count += (uint64_t)(pending->sorted.last - pending->sorted.front);
    pending->sorted.front = pending->sorted.last;
    for (size_t i = 0; ok && i < pending->overflow.count; i++)
        ok = push_far(pending, pending->overflow.entries[i]);
    pending->count += pending->overflow.count;
    pending->overflow.count = 0;
    pending->soon = NULL;
    return ok ? move_all_far(pending, NULL) : lose(pending);
}

/* Starts again with an entry and all others in buckets: none in `overflow` or `sorted`. */
static bool reopen_with(struct pending *pending, struct entry entry)
{
    if (!push_far(pending, entry))
        return false;
    pending->count++;
    return move_everything_far(pending) &&
           open_at(pending, pending->far_first_ps, shift_for_far(pending));
}

bool pending_reopen(struct pending *pending, const struct pending_width *width)
{
    const uint64_t first_ps = pending->first << pending->shift;
    pending->shift_max = width == NULL ? SHIFT_MAX : width->shift_max;
    pending->looks = 0;
    pending->usage = (struct pending_usage){0};
    if (!move_everything_far(pending))
        return false;
    const bool empty = pending->far.next == NULL;
    return open_at(pending, empty ? first_ps : pending->far_first_ps,
                   width != NULL ? width->shift
                   : empty       ? pending->shift
                                 : shift_for_far(pending));
}

static bool push_overflow(struct pending *pending, const struct entry *entry)
{
    CW_INVARIANT("I-PEND-1", (uint64_t)entry->time_ps >> pending->shift < pending->first,
                 "%lld ps goes to the overflow heap, but its bucket comes after %llu, shift %u",
                 (long long)entry->time_ps, (unsigned long long)pending->first, pending->shift);
    const uint64_t count = pending->overflow.count;
    const uint64_t others =
        pending->count + (uint64_t)(pending->sorted.last - pending->sorted.front);
    if (count >= OVERFLOW_COUNT_REOPEN && count > others / 4)
        return reopen_with(pending, *entry);
    pending->usage.overflow++;
    if (count > pending->usage.overflow_count_max)
        pending->usage.overflow_count_max = count;
    return overflow_heap_push(&pending->overflow, entry);
}

bool pending_push_slow(struct pending *pending, int64_t time_ps, uint64_t key_high,
                       uint64_t key_low, struct cw_event *event)
{
    const struct entry entry = {time_ps, key_high, key_low, event};
    if (pending->lost)
        return false;
    const uint64_t bucket = (uint64_t)entry.time_ps >> pending->shift;
    if (bucket < pending->first)
        return push_overflow(pending, &entry);
    const uint64_t coarse = bucket >> FINE_PER_COARSE_SHIFT;
    const uint64_t fine_place = bucket % FINE_BUCKETS, coarse_place = coarse % COARSE_BUCKETS;
    bool ok;
    if (bucket < pending->fine_end) {
        ok = entry_chain_append(&pending->chunks, &pending->fine[fine_place], entry);
        if (ok)
            pending->fine_used[fine_place / 64] |= 1ull << fine_place % 64;
    } else if (coarse < pending->coarse_end) {
        ok = entry_chain_append(&pending->chunks, &pending->coarse[coarse_place], entry);
        if (ok)
            pending->coarse_used[coarse_place / 64] |= 1ull << coarse_place % 64;
    } else {
        ok = push_far(pending, entry);
    }
    pending->count += ok;
    return ok;
}

bool pending_purge(struct pending *pending, pending_drop_fn drop, void *arg)
{
    const struct purge purge = {drop, arg};
    pending->soon = NULL;
    return !pending->lost &&
           (pending->far.next == NULL || move_far(pending, &pending->far, &purge)) &&
           move_all_far(pending, &purge) &&
           open_at(pending, pending->first << pending->shift, pending->shift);
}

bool pending_sift(struct pending *pending, pending_drop_fn drop, void *arg)
{
    const struct purge purge = {drop, arg};
    pending->soon = NULL;
    pending->far_first_ps = UINT64_MAX;
    bool ok = !pending->lost &&
              (pending->far.next == NULL || move_far(pending, &pending->far, &purge)) &&
              move_all_far(pending, &purge);
    for (; ok && pending->sorted.front != pending->sorted.last; pending->sorted.front++)
        if (!drop(arg, pending->sorted.front)) {
            ok = push_far(pending, *pending->sorted.front);
            pending->count++;
        }
    for (size_t i = 0; ok && i < pending->overflow.count; i++)
        if (!drop(arg, &pending->overflow.entries[i])) {
            ok = push_far(pending, pending->overflow.entries[i]);
            pending->count++;
        }
    if (!ok)
        return lose(pending);
    pending->overflow.count = 0;
    if (pending->far.next == NULL)
        return open_at(pending, pending->first << pending->shift, pending->shift);
    return open_at(pending, pending->far_first_ps, shift_for_far(pending));
}

static int64_t least_of(const struct entry *entries, size_t count, int64_t least_ps)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i].time_ps < least_ps)
            least_ps = entries[i].time_ps;
    return least_ps;
}

static int64_t chain_least(const struct entry_chain *chain, int64_t least_ps)
{
    if (chain->next == NULL)
        return least_ps;
    const struct chunk *chunk = entry_chain_newest(chain);
    size_t count = entry_chain_newest_count(chain);
    for (; chunk != NULL; chunk = chunk->previous, count = CHUNK_ENTRIES)
        least_ps = least_of(chunk->entries, count, least_ps);
    return least_ps;
}

int64_t pending_least_ps(const struct pending *pending)
{
    const struct sorted_bucket *const sorted = &pending->sorted;
    int64_t least_ps = INT64_MAX;
    least_ps = least_of(sorted->front, (size_t)(sorted->last - sorted->front), least_ps);
    least_ps = least_of(pending->overflow.entries, pending->overflow.count, least_ps);
    least_ps = chain_least(&pending->far, least_ps);
    for (size_t i = 0; i < FINE_BUCKETS; i++)
        least_ps = chain_least(&pending->fine[i], least_ps);
    for (size_t i = 0; i < COARSE_BUCKETS; i++)
        least_ps = chain_least(&pending->coarse[i], least_ps);
    return least_ps;
}

static uint64_t count_before(const struct entry *entries, size_t count, int64_t time_ps)
{
    uint64_t before = 0;
    for (size_t i = 0; i < count; i++)
        before += entries[i].time_ps < time_ps;
    return before;
}

static uint64_t chain_count_before(const struct entry_chain *chain, int64_t time_ps)
{
    uint64_t before = 0;
    if (chain->next == NULL)
        return 0;
    const struct chunk *chunk = entry_chain_newest(chain);
    size_t count = entry_chain_newest_count(chain);
    for (; chunk != NULL; chunk = chunk->previous, count = CHUNK_ENTRIES)
        before += count_before(chunk->entries, count, time_ps);
    return before;
}

uint64_t pending_count_before(const struct pending *pending, int64_t time_ps)
{
    const struct sorted_bucket *const sorted = &pending->sorted;
    uint64_t before = count_before(sorted->front, (size_t)(sorted->last - sorted->front), time_ps) +
                      count_before(pending->overflow.entries, pending->overflow.count, time_ps) +
                      chain_count_before(&pending->far, time_ps);
    for (size_t i = 0; i < FINE_BUCKETS; i++)
        before += chain_count_before(&pending->fine[i], time_ps);
    for (size_t i = 0; i < COARSE_BUCKETS; i++)
        before += chain_count_before(&pending->coarse[i], time_ps);
    return before;
}

/* Brings the first entry into a fine bucket. Returns that bucket; fine_end: out of memory. */
static uint64_t next_bucket(struct pending *pending)
{
    for (;;) {
        const uint64_t bucket =
            next_used(pending->fine_used, FINE_BUCKETS, pending->first, pending->fine_end);
        if (bucket != pending->fine_end)
            return bucket;
        const uint64_t coarse =
            next_used(pending->coarse_used, COARSE_BUCKETS,
                      pending->fine_end >> FINE_PER_COARSE_SHIFT, pending->coarse_end);
        bool opened;
        if (coarse != pending->coarse_end) {
            pending->first = pending->fine_end = coarse << FINE_PER_COARSE_SHIFT;
            opened = open_fine(pending);
        } else {
            opened = open_at(pending, pending->far_first_ps, shift_for_far(pending));
        }
        if (!opened)
            return pending->fine_end;
    }
}

/*
 * The width that the last turns suggest. Too many distinct times in a bucket, or a deep `overflow`
 * heap that takes much of the traffic: narrower. Too few events for a turn to pay: wider, but
 * models whose density swings should not fall into the same trap at each swing, hence shift_max.
 * Many events at few times are no reason for either: no width can separate them. Nor is a deep heap
 * where few events pass for each bucket: those come from rollbacks, and no width keeps them out.
 */
static unsigned shift_suggested(struct pending *pending)
{
    const struct pending_usage *const usage = &pending->usage;
    const uint64_t wanted = bucket_events_wanted(pending);
    const uint64_t turns = usage->turns > 0 ? usage->turns : 1;
    const uint64_t sorted = usage->sorted / turns + 1, distinct = usage->distinct / turns + 1;
    const uint64_t passed = (usage->sorted + usage->overflow) / turns;
    const unsigned shift = pending->shift;
    if (++pending->looks == TUNE_SHIFT_MAX) {
        pending->looks = 0;
        pending->shift_max += pending->shift_max < SHIFT_MAX;
    }
    if (distinct > 2 * wanted) {
        const unsigned by = log2_of(distinct / wanted);
        return shift > by ? shift - by : 0;
    }
    if (usage->overflow > usage->sorted / 4 && usage->overflow_count_max > OVERFLOW_COUNT_MAX &&
        passed > wanted && shift > 0) {
        pending->shift_max = shift - 1;
        pending->looks = 0;
        return shift - 1;
    }
    if (sorted >= wanted / 2)
        return shift;
    unsigned wider = shift + log2_of(wanted / sorted);
    if (usage->overflow > usage->sorted / 16) { /* step by step, while `overflow` stays shallow */
        if (usage->overflow_count_max > OVERFLOW_COUNT_MAX / 4)
            return shift;
        wider = shift + 1;
    }
    return wider < pending->shift_max   ? wider
           : shift > pending->shift_max ? shift
                                        : pending->shift_max;
}

static bool tune(struct pending *pending)
{
    const struct pending_usage *const usage = &pending->usage;
    if (usage->turns < TUNE_TURNS && usage->overflow < TUNE_OVERFLOW)
        return true;
    if (usage->sorted + usage->overflow < pending->count / 4)
        return true; /* too early to pay for moving all of them */
    const unsigned shift = shift_suggested(pending);
    pending->usage = (struct pending_usage){0};
    return shift == pending->shift || set_shift(pending, shift);
}

const struct entry *pending_turn(struct pending *pending)
{
    pending->out_of_memory = pending->count > 0 || pending->lost; /* until all has gone well */
    if (pending->count == 0 || pending->lost)
        return NULL;
    if (!tune(pending))
        return NULL;
    const uint64_t bucket = next_bucket(pending);
    if (bucket == pending->fine_end)
        return NULL;
    const uint64_t place = bucket % FINE_BUCKETS;
    const size_t sorted =
        sorted_bucket_fill(&pending->sorted, &pending->chunks, &pending->fine[place]);
    if (sorted == 0)
        return NULL;
    pending->fine_used[place / 64] &= ~(1ull << place % 64);
    pending->count -= sorted;
    pending->first = bucket + 1;
    pending->usage.turns++;
    pending->usage.sorted += sorted;
    pending->usage.distinct += pending->sorted.distinct;
    if (!open_fine(pending))
        return NULL;
    if (pending->coarse_end - (pending->fine_end >> FINE_PER_COARSE_SHIFT) < COARSE_BUCKETS / 2 &&
        !open_coarse(pending))
        return NULL;
    const uint64_t next =
        next_used(pending->fine_used, FINE_BUCKETS, pending->first, pending->fine_end);
    pending->soon =
        next == pending->fine_end ? NULL : entry_chain_newest(&pending->fine[next % FINE_BUCKETS]);
    pending->out_of_memory = false;
    check_bounds(pending);
    CW_INVARIANT("I-PEND-1",
                 (uint64_t)pending->sorted.front->time_ps >> pending->shift == bucket &&
                     (uint64_t)pending->sorted.last[-1].time_ps >> pending->shift == bucket,
                 "bucket %llu of shift %u has times from %lld to %lld ps",
                 (unsigned long long)bucket, pending->shift,
                 (long long)pending->sorted.front->time_ps,
                 (long long)pending->sorted.last[-1].time_ps);
    return pending->sorted.front;
}
