/*
 * data_tiles.c: tiles by name (data_tiles.h). A queue is a ring of tiles, from the oldest that is
 * left to the next to be sent; queues are found in a JudyL array by (PE, direction), whose order
 * keeps a PE's queues together.
 */
#include "collectives/data/data_tiles.h"

#include <stdlib.h>

#include <Judy.h>

#include "core/invariant.h"

enum { RING_MIN = 4 };

struct tile_queue {
    uint32_t first, next; /* sequence numbers: tiles before `first` are dropped */
    uint32_t capacity;    /* of the ring, a power of two; 0: none yet */
    struct tile *ring;    /* [seq % capacity] */
};

void tiles_free(struct tile_queues *tiles, struct storage *storage)
{
    Word_t key = 0;
    for (void **value = JudyLFirst(tiles->queues, &key, PJE0); value;
         value = JudyLNext(tiles->queues, &key, PJE0)) {
        struct tile_queue *const queue = *value;
        storage_discharge(storage, sizeof *queue + queue->capacity * sizeof *queue->ring);
        free(queue->ring);
        free(queue);
    }
    JudyLFreeArray(&tiles->queues, PJE0);
    *tiles = (struct tile_queues){0};
}

static Word_t queue_key(uint32_t pe, uint8_t dir) { return (Word_t)pe << 8 | dir; }

static struct tile_queue *find_queue(struct tile_queues *tiles, uint32_t pe, uint8_t dir)
{
    const Word_t key = queue_key(pe, dir);
    const size_t way = dir % TILE_CACHE_WAYS;
    if (tiles->cache[way].queue && tiles->cache[way].key == key)
        return tiles->cache[way].queue;
    void **value = JudyLGet(tiles->queues, key, PJE0);
    if (!value)
        return NULL;
    tiles->cache[way].key = key;
    tiles->cache[way].queue = *value;
    return *value;
}

static struct tile_queue *make_queue(struct tile_queues *tiles, struct storage *storage,
                                     uint32_t pe, uint8_t dir)
{
    if (!storage_charge(storage, sizeof(struct tile_queue)))
        return NULL;
    struct tile_queue *const queue = calloc(1, sizeof *queue);
    void **value = queue ? JudyLIns(&tiles->queues, queue_key(pe, dir), PJE0) : NULL;
    if (!value || value == PPJERR) {
        free(queue);
        storage_discharge(storage, sizeof *queue);
        return NULL;
    }
    *value = queue;
    return queue;
}

static struct tile *slot(struct tile_queue *queue, uint32_t seq)
{
    return &queue->ring[seq & (queue->capacity - 1)];
}

static bool grow_tile_queue(struct tile_queue *queue, struct storage *storage)
{
    const uint32_t capacity = queue->capacity ? queue->capacity * 2 : RING_MIN;
    const uint64_t more = (uint64_t)(capacity - queue->capacity) * sizeof(struct tile);
    if (capacity < queue->capacity || !storage_charge(storage, more))
        return false;
    struct tile *const ring = calloc(capacity, sizeof *ring);
    if (!ring) {
        storage_discharge(storage, more);
        return false;
    }
    for (uint32_t seq = queue->first; seq != queue->next; seq++)
        ring[seq & (capacity - 1)] = *slot(queue, seq);
    free(queue->ring);
    queue->ring = ring;
    queue->capacity = capacity;
    return true;
}

/* The queue whose next number this is; NULL as in tiles_send(). */
static struct tile_queue *next_in_queue(struct tile_queues *tiles, struct storage *storage,
                                        struct tile_name name, uint32_t *expected)
{
    struct tile_queue *const queue = find_queue(tiles, name.pe, name.dir);
    *expected = queue ? queue->next : 0;
    if (name.seq != *expected)
        return NULL;
    return queue ? queue : make_queue(tiles, storage, name.pe, name.dir);
}

bool tiles_send(struct tile_queues *tiles, struct storage *storage, struct tile_name name,
                struct tile_buffer *buffer, uint32_t bytes, uint16_t source, uint32_t *expected)
{
    struct tile_queue *const queue = next_in_queue(tiles, storage, name, expected);
    if (!queue ||
        (queue->next - queue->first == queue->capacity && !grow_tile_queue(queue, storage)))
        return false;
    CW_INVARIANT("I-TILE-1",
                 name.seq == queue->next && queue->next - queue->first < queue->capacity,
                 "tile %u, next %u, first %u, room for %u", name.seq, queue->next, queue->first,
                 queue->capacity);
    *slot(queue, name.seq) = (struct tile){.buffer = buffer, .bytes = bytes, .source = source};
    queue->next++;
    tile_buffer_hold(buffer);
    tiles->alive++;
    return true;
}

bool tiles_number(struct tile_queues *tiles, struct storage *storage, struct tile_name name,
                  uint32_t *expected)
{
    struct tile_queue *const queue = next_in_queue(tiles, storage, name, expected);
    if (queue)
        queue->first = ++queue->next;
    return queue != NULL;
}

/* Sequence numbers wrap around after 2^32: a tile at most 2^31 behind `next` has been sent. */
static bool was_sent(const struct tile_queue *queue, uint32_t seq)
{
    return queue && queue->next - seq - 1 < UINT32_C(1) << 31;
}

bool tiles_was_numbered(struct tile_queues *tiles, struct tile_name name)
{
    return was_sent(find_queue(tiles, name.pe, name.dir), name.seq);
}

enum tile_state tiles_find(struct tile_queues *tiles, struct tile_name name, struct tile **tile)
{
    struct tile_queue *const queue = find_queue(tiles, name.pe, name.dir);
    if (!was_sent(queue, name.seq))
        return TILE_NOT_SENT;
    if (queue->next - name.seq > queue->next - queue->first || !slot(queue, name.seq)->buffer)
        return TILE_DROPPED;
    *tile = slot(queue, name.seq);
    return TILE_THERE;
}

static void drop(struct tile_queues *tiles, struct tile_pool *pool, struct tile_queue *queue,
                 uint32_t seq)
{
    struct tile *const tile = slot(queue, seq);
    CW_INVARIANT(
        "I-TILE-1", seq - queue->first < queue->next - queue->first && tile->buffer != NULL,
        "tile %u is dropped, of those from %u to below %u", seq, queue->first, queue->next);
    tile_buffer_release(tile->buffer, pool);
    tile->buffer = NULL;
    tiles->alive--;
    while (queue->first != queue->next && !slot(queue, queue->first)->buffer)
        queue->first++;
}

void tiles_drop(struct tile_queues *tiles, struct tile_pool *pool, struct tile_name name)
{
    drop(tiles, pool, find_queue(tiles, name.pe, name.dir), name.seq);
}

void tiles_end_kernel(struct tile_queues *tiles, struct tile_pool *pool, uint32_t pe,
                      uint32_t queue_of_pe)
{
    Word_t key = queue_key(pe, 0);
    for (void **value = JudyLFirst(tiles->queues, &key, PJE0); value && key >> 8 == pe;
         value = JudyLNext(tiles->queues, &key, PJE0)) {
        struct tile_queue *const queue = *value;
        for (uint32_t seq = queue->first; seq != queue->next; seq++)
            if (slot(queue, seq)->buffer && slot(queue, seq)->received == 1 + queue_of_pe)
                drop(tiles, pool, queue, seq);
    }
}
