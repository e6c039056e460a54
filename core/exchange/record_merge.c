/*
 * record_merge.c: sorts each worker's records and merges them (record_merge.h).
 *
 * A worker's events come nearly in order: events handled ahead of the safe bound commit later
 * than safe ones. So each lane is sorted by merging runs, which costs one comparison per
 * event where nothing is out of order. The lanes' heads are in a heap.
 */
#include "core/exchange/record_merge.h"

#include <string.h>

#include "core/exchange/commit_records.h"
#include "core/invariant.h"

enum { DUE_MIN = 1024 };

bool record_merger_init(struct record_merger *merger, struct memory *memory, uint32_t worker_count,
                        cw_record_fn sink, void *sink_arg)
{
    *merger = (struct record_merger){
        .memory = memory, .worker_count = worker_count, .sink = sink, .sink_arg = sink_arg};
    merger->shared = memory_take(memory, worker_count * sizeof *merger->shared);
    merger->lanes = memory_take(memory, worker_count * sizeof *merger->lanes);
    merger->heap = memory_take(memory, worker_count * sizeof(struct merge_lane *));
    if (merger->shared == NULL || merger->lanes == NULL || merger->heap == NULL)
        return false;
    for (uint32_t i = 0; i < worker_count; i++)
        merger->lanes[i].shared = &merger->shared[i];
    return true;
}

void record_merger_begin(struct record_merger *merger)
{
    merger->bound = merger->delivered = (struct key){.time_ps = INT64_MIN};
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* Sees to it that the worker gets back its empty chunks: now, or when it has taken the last ones.
 */
static void give_back(struct merge_lane *lane)
{
    if (lane->spent == NULL || sync_load_pointer_acquire(&lane->shared->spent) != NULL)
        return;
    /* release: we have read the chunks; pairs with the acquire in record_outbox_take_back() */
    sync_store_pointer_release(&lane->shared->spent, lane->spent);
    lane->spent = NULL;
}

static void spend(struct merge_lane *lane, struct record_chunk *chunk)
{
    CW_INVARIANT("I-REC-1", chunk->ended && chunk->left == 0 && chunk != lane->reading,
                 "a chunk of worker %llu is given back with %zu events",
                 (unsigned long long)chunk->owner, chunk->left);
    chunk->older = lane->spent;
    lane->spent = chunk;
    give_back(lane);
}

/* The chunk with which the lane continues. NULL: the one that is being read is open. */
static struct record_chunk *next_chunk(const struct merge_lane *lane)
{
    /* acquire: pairs with the release in go_on() of record_outbox.c */
    return sync_load_pointer_acquire(lane->reading == NULL ? &lane->shared->first
                                                           : &lane->reading->next);
}

static void free_lane(struct record_merger *merger, struct merge_lane *lane)
{
    struct record_chunk *list = lane->spent;
    for (size_t i = lane->first; i < lane->end; i++) {
        struct record_chunk *const chunk = lane->due[i].chunk;
        if (--chunk->left == 0 && chunk->ended) {
            chunk->older = list;
            list = chunk;
        }
    }
    if (lane->reading == NULL)
        lane->reading = sync_load_pointer_acquire(&lane->shared->first);
    while (lane->reading != NULL) {
        struct record_chunk *const next = sync_load_pointer_acquire(&lane->reading->next);
        lane->reading->older = list;
        list = lane->reading;
        lane->reading = next;
    }
    record_chunks_free(list, merger->memory);
    memory_give(merger->memory, lane->due, lane->capacity * sizeof *lane->due);
    memory_give(merger->memory, lane->scratch, lane->scratch_capacity * sizeof *lane->scratch);
}

void record_merger_free(struct record_merger *merger)
{
    const uint32_t n = merger->worker_count;
    for (uint32_t i = 0; i < n && merger->lanes != NULL; i++)
        if (merger->lanes[i].shared != NULL)
            free_lane(merger, &merger->lanes[i]);
    memory_give(merger->memory, merger->shared, n * sizeof *merger->shared);
    memory_give(merger->memory, merger->lanes, n * sizeof *merger->lanes);
    memory_give(merger->memory, merger->heap, n * sizeof(struct merge_lane *));
}

/* ---- taking ---------------------------------------------------------------------------------- */

/* Merges [from .. middle) and [middle .. end), each in order, into one order. Of equal events the
 * one from the first part comes first: it was taken first. */
static void merge_runs(struct due *due, struct due *scratch, size_t from, size_t middle, size_t end)
{
    size_t a = from, b = middle, to = 0;
    if (a == middle || b == end || !entry_before(&due[b].entry, &due[middle - 1].entry))
        return;
    while (!entry_before(&due[b].entry, &due[a].entry))
        a++; /* stays where it is */
    const size_t start = a;
    while (a < middle && b < end)
        scratch[to++] = entry_before(&due[b].entry, &due[a].entry) ? due[b++] : due[a++];
    memmove(due + start + to, due + a, (middle - a) * sizeof *due);
    memcpy(due + start, scratch, to * sizeof *due);
}

/* Sorts [from .. end); equal events stay as they were taken. */
static void sort_due(struct due *due, struct due *scratch, size_t from, size_t end)
{
    size_t run = from + 1;
    while (run < end && !entry_before(&due[run].entry, &due[run - 1].entry))
        run++;
    if (run >= end)
        return;
    const size_t middle = run - from > (end - from) / 2 ? run : from + (end - from) / 2;
    sort_due(due, scratch, from, middle);
    sort_due(due, scratch, middle, end);
    merge_runs(due, scratch, from, middle, end);
}

static bool reserve_due(const struct record_merger *merger, struct merge_lane *lane, size_t needed)
{
    return memory_grow(merger->memory, &lane->due, &lane->capacity, lane->end, needed,
                       sizeof *lane->due, DUE_MIN);
}

/* Takes the events up to byte `used` of the chunk that is being read. False: out of memory. */
static bool take_events(const struct record_merger *merger, struct merge_lane *lane, size_t used)
{
    struct record_chunk *const chunk = lane->reading;
    CW_INVARIANT("I-REC-1", !chunk->ended && lane->read <= used && used <= chunk->bytes,
                 "bytes %zu to %zu are read of a chunk of %zu of worker %llu", lane->read, used,
                 chunk->bytes, (unsigned long long)chunk->owner);
    while (lane->read < used) {
        struct record_chunk_event head;
        if (!reserve_due(merger, lane, lane->end + 1))
            return false;
        uint8_t *const event = chunk->data + lane->read + sizeof head;
        memcpy(&head, chunk->data + lane->read, sizeof head);
        lane->due[lane->end++] = (struct due){
            .entry = entry_of_event((struct cw_event *)(void *)event),
            .chunk = chunk,
            .records = event + head.event_bytes,
            .records_bytes = head.records_bytes,
        };
        const struct key key = key_of(&lane->due[lane->end - 1].entry);
        CW_INVARIANT("I-GVT-3", !key_before(key, merger->bound),
                     "a record for %lld ps comes after all before %lld ps were published",
                     (long long)key.time_ps, (long long)merger->bound.time_ps);
        (void)key;
        chunk->left++;
        lane->read += sizeof head + head.event_bytes + record_round_up(head.records_bytes);
    }
    return true;
}

static bool take_lane(const struct record_merger *merger, struct merge_lane *lane)
{
    const size_t waiting = lane->end - lane->first;
    if (lane->first > 0 && waiting > 0)
        memmove(lane->due, lane->due + lane->first, waiting * sizeof *lane->due);
    lane->first = 0;
    lane->end = waiting;
    for (;;) {
        struct record_chunk *const chunk = lane->reading;
        /* Read before `used`: if it is there, `used` is the last one (I-REC-1). */
        struct record_chunk *const next = next_chunk(lane);
        /* acquire: the records; pairs with the release in record_outbox_publish() */
        if (chunk != NULL && !take_events(merger, lane, sync_load_acquire(&chunk->used)))
            return false;
        if (next == NULL)
            break;
        lane->reading = next;
        lane->read = 0;
        if (chunk == NULL)
            continue;
        chunk->ended = true;
        if (chunk->left == 0)
            spend(lane, chunk);
    }
    if (lane->end == waiting)
        return true;
    if (!memory_grow(merger->memory, &lane->scratch, &lane->scratch_capacity, 0, lane->capacity,
                     sizeof *lane->scratch, DUE_MIN))
        return false;
    sort_due(lane->due, lane->scratch, waiting, lane->end);
    merge_runs(lane->due, lane->scratch, 0, waiting, lane->end);
    return true;
}

bool record_merge_take(struct record_merger *merger)
{
    for (uint32_t i = 0; i < merger->worker_count; i++)
        if (!take_lane(merger, &merger->lanes[i]))
            return false;
    return true;
}

/* ---- delivering ------------------------------------------------------------------------------ */

static const struct entry *head_of(const struct merge_lane *lane)
{
    return &lane->due[lane->first].entry;
}

static uint64_t placement_of(const struct entry *entry)
{
    struct record_chunk_event head;
    memcpy(&head, (const uint8_t *)entry->event - sizeof head, sizeof head);
    return head.placement;
}

/* Whether the head of lane `a` is delivered before the head of `b`. Of equal events the one that
 * was handled first comes first: I-REC-4. */
static inline bool lane_before(const struct merge_lane *a, const struct merge_lane *b)
{
    const struct entry *const one = head_of(a), *const other = head_of(b);
    if (one->time_ps != other->time_ps || one->key_high != other->key_high ||
        one->key_low != other->key_low)
        return entry_before(one, other);
    if (entry_before(one, other) || entry_before(other, one))
        return entry_before(one, other);
    CW_INVARIANT("I-REC-4", placement_of(one) != placement_of(other),
                 "two workers have committed equal events of LP %u at %lld ps in one placement",
                 (unsigned)entry_lp(one), (long long)one->time_ps);
    return placement_of(one) < placement_of(other);
}

/* Moves the lane at a place of the heap down to where it belongs. */
static void sift_down(struct record_merger *merger, uint32_t place)
{
    struct merge_lane **const heap = merger->heap, *const lane = heap[place];
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= merger->heap_count)
            break;
        if (child + 1 < merger->heap_count && lane_before(heap[child + 1], heap[child]))
            child++;
        if (!lane_before(heap[child], lane))
            break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = lane;
}

static void build_heap(struct record_merger *merger)
{
    merger->heap_count = 0;
    for (uint32_t i = 0; i < merger->worker_count; i++)
        if (merger->lanes[i].first < merger->lanes[i].end)
            merger->heap[merger->heap_count++] = &merger->lanes[i];
    for (uint32_t place = merger->heap_count / 2; place-- > 0;)
        sift_down(merger, place);
}

static void deliver(struct record_merger *merger, struct merge_lane *lane)
{
    const struct due *const due = &lane->due[lane->first++];
    struct record_chunk *const chunk = due->chunk;
    const struct key key = key_of(&due->entry);
    CW_INVARIANT("I-MERGE-1", !key_before(key, merger->delivered),
                 "records of LP %u for %lld ps after those for %lld ps",
                 (unsigned)due->entry.event->lp, (long long)key.time_ps,
                 (long long)merger->delivered.time_ps);
    CW_INVARIANT("I-MERGE-1", chunk->left > 0, "a chunk of worker %llu has no event left",
                 (unsigned long long)chunk->owner);
    if (CW_ASSERTING)
        merger->delivered = key;
    commit_records_deliver_bytes(due->records, due->records_bytes, due->entry.event, merger->sink,
                                 merger->sink_arg);
    if (--chunk->left == 0 && chunk->ended)
        spend(lane, chunk);
}

void record_merge_deliver(struct record_merger *merger, struct key bound,
                          const struct cw_event *failed)
{
    merger->bound = bound;
    build_heap(merger);
    while (merger->heap_count > 0) {
        struct merge_lane *const lane = merger->heap[0];
        const struct entry *const least = head_of(lane);
        if (failed != NULL ? !cw_event_before(least->event, failed)
                           : !key_before(key_of(least), bound))
            break;
        deliver(merger, lane);
        if (lane->first == lane->end)
            merger->heap[0] = merger->heap[--merger->heap_count];
        if (merger->heap_count > 1)
            sift_down(merger, 0);
    }
    for (uint32_t i = 0; i < merger->worker_count; i++)
        give_back(&merger->lanes[i]);
}

struct key record_merge_least(const struct record_merger *merger)
{
    return merger->heap_count == 0 ? KEY_NEVER : key_of(head_of(merger->heap[0]));
}
