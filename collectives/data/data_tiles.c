/*
 * data_tiles.c: tiles by name, and the pool of their buffers (data_tiles.h). A queue is a ring of
 * tiles, from the oldest that is left to the next to be sent; queues are found in a JudyL array by
 * (PE, direction), whose order keeps a PE's queues together. The pool keeps a list of free buffers
 * for each power of two, last in, first out, so that a hot buffer is used again while it is.
 */
#include "collectives/data/data_tiles.h"

#include <assert.h>
#include <stdlib.h>

#include <Judy.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/invariant.h"

#define CLASS_BYTES_MIN 64u
#define CLASSES         27u                 /* 64 bytes to 4 GiB */
#define SLAB_BYTES      ((size_t)64 * 1024) /* a new slab has as many buffers as fit, at least one */
#define RING_MIN        4u
#define CACHE_WAYS      8u

struct queue {
    uint32_t first, next; /* sequence numbers: tiles before `first` are dropped */
    uint32_t capacity;    /* of the ring, a power of two */
    struct tile *ring;    /* [seq % capacity] */
};

struct slab {
    struct slab *next;
    _Alignas(64) uint8_t bytes[];
};

struct tiles {
    void *queues; /* JudyL: PE << 8 | direction -> struct queue * */
    struct tile_buffer *free_buffers[CLASSES];
    struct slab *slabs;
    uint64_t bytes, alive;
    struct { /* queues found last, by direction: an operation looks the same ones up again */
        Word_t key;
        struct queue *queue; /* NULL: none */
    } cache[CACHE_WAYS];
};

struct tiles *tiles_create(void) { return calloc(1, sizeof(struct tiles)); }

void tiles_free(struct tiles *tiles)
{
    if (!tiles)
        return;
    Word_t key = 0;
    for (void **value = JudyLFirst(tiles->queues, &key, PJE0); value;
         value = JudyLNext(tiles->queues, &key, PJE0)) {
        struct queue *queue = *value;
        free(queue->ring);
        free(queue);
    }
    JudyLFreeArray(&tiles->queues, PJE0);
    while (tiles->slabs) {
        struct slab *next = tiles->slabs->next;
        free(tiles->slabs);
        tiles->slabs = next;
    }
    free(tiles);
}

uint64_t tiles_bytes(const struct tiles *tiles) { return tiles->bytes; }
uint64_t tiles_alive(const struct tiles *tiles) { return tiles->alive; }

/* ---- the pool -------------------------------------------------------------------------------- */

static uint32_t size_class(uint32_t bytes)
{
    if (bytes <= CLASS_BYTES_MIN)
        return 0;
    return 32 - (uint32_t)__builtin_clz(bytes - 1) - 6; /* 2^6 = CLASS_BYTES_MIN */
}

static bool add_slab(struct tiles *tiles, uint32_t class, uint64_t bytes_max)
{
    const size_t each = sizeof(struct tile_buffer) + ((size_t)CLASS_BYTES_MIN << class);
    const size_t count = each < SLAB_BYTES ? SLAB_BYTES / each : 1;
    const size_t bytes = sizeof(struct slab) + count * each;
    if (tiles->bytes + bytes > bytes_max)
        return false;
    struct slab *slab = aligned_alloc(_Alignof(struct slab), bytes);
    if (!slab)
        return false;
    slab->next = tiles->slabs;
    tiles->slabs = slab;
    tiles->bytes += bytes;
    for (size_t i = count; i-- > 0;) { /* the first ends on top */
        struct tile_buffer *buffer = (struct tile_buffer *)(slab->bytes + i * each);
        buffer->size_class = class;
        buffer->holders = 0;
        buffer->next_free = tiles->free_buffers[class];
        tiles->free_buffers[class] = buffer;
    }
    return true;
}

struct tile_buffer *tiles_take(struct tiles *tiles, uint32_t bytes, uint64_t bytes_max)
{
    const uint32_t class = size_class(bytes);
    if (!tiles->free_buffers[class] && !add_slab(tiles, class, bytes_max))
        return NULL;
    struct tile_buffer *buffer = tiles->free_buffers[class];
    tiles->free_buffers[class] = buffer->next_free;
    CW_INVARIANT("I-TILE-2", buffer->holders == 0, "a free buffer has %u holders", buffer->holders);
    buffer->holders = 1;
#if CW_ASSERTING
    buffer->sent_bytes = 0;
#endif
    return buffer;
}

/* Builds that look for bugs keep the hash of a buffer's bytes from its first send on. */
static void note_first_send(struct tile_buffer *buffer, uint32_t bytes)
{
#if CW_ASSERTING
    if (buffer->sent_bytes == 0) {
        buffer->sent_bytes = bytes;
        buffer->sent_hash = XXH3_64bits(buffer->bytes, bytes);
    }
#else
    (void)buffer;
    (void)bytes;
#endif
}

static void check_unchanged(const struct tile_buffer *buffer)
{
#if CW_ASSERTING
    CW_INVARIANT("I-TILE-2",
                 buffer->sent_bytes == 0 ||
                     XXH3_64bits(buffer->bytes, buffer->sent_bytes) == buffer->sent_hash,
                 "%u bytes changed after their first send", buffer->sent_bytes);
#else
    (void)buffer;
#endif
}

void tiles_release(struct tiles *tiles, struct tile_buffer *buffer)
{
    assert(buffer->holders > 0);
    check_unchanged(buffer);
    if (--buffer->holders)
        return;
    buffer->next_free = tiles->free_buffers[buffer->size_class];
    tiles->free_buffers[buffer->size_class] = buffer;
}

/* ---- queues ---------------------------------------------------------------------------------- */

static Word_t queue_key(uint32_t pe, uint8_t dir) { return (Word_t)pe << 8 | dir; }

static struct queue *find_queue(struct tiles *tiles, uint32_t pe, uint8_t dir)
{
    const Word_t key = queue_key(pe, dir);
    const size_t way = dir % CACHE_WAYS;
    if (tiles->cache[way].queue && tiles->cache[way].key == key)
        return tiles->cache[way].queue;
    void **value = JudyLGet(tiles->queues, key, PJE0);
    if (!value)
        return NULL;
    tiles->cache[way].key = key;
    tiles->cache[way].queue = *value;
    return *value;
}

static struct queue *make_queue(struct tiles *tiles, uint32_t pe, uint8_t dir, uint64_t bytes_max)
{
    const size_t bytes = sizeof(struct queue) + RING_MIN * sizeof(struct tile);
    if (tiles->bytes + bytes > bytes_max)
        return NULL;
    struct queue *queue = calloc(1, sizeof *queue);
    struct tile *ring = calloc(RING_MIN, sizeof *ring);
    void **value = queue && ring ? JudyLIns(&tiles->queues, queue_key(pe, dir), PJE0) : NULL;
    if (!value || value == PPJERR) {
        free(queue);
        free(ring);
        return NULL;
    }
    tiles->bytes += bytes;
    queue->capacity = RING_MIN;
    queue->ring = ring;
    *value = queue;
    return queue;
}

static struct tile *slot(struct queue *queue, uint32_t seq)
{
    return &queue->ring[seq & (queue->capacity - 1)];
}

static bool grow_tile_queue(struct tiles *tiles, struct queue *queue, uint64_t bytes_max)
{
    const uint32_t capacity = queue->capacity * 2;
    const uint64_t more = (uint64_t)queue->capacity * sizeof(struct tile);
    if (capacity == 0 || tiles->bytes + more > bytes_max)
        return false;
    struct tile *ring = calloc(capacity, sizeof *ring);
    if (!ring)
        return false;
    for (uint32_t seq = queue->first; seq != queue->next; seq++)
        ring[seq & (capacity - 1)] = *slot(queue, seq);
    free(queue->ring);
    queue->ring = ring;
    queue->capacity = capacity;
    tiles->bytes += more;
    return true;
}

bool tiles_send(struct tiles *tiles, struct tile_name name, struct tile_buffer *buffer,
                uint32_t bytes, uint64_t bytes_max, uint32_t *expected)
{
    struct queue *queue = find_queue(tiles, name.pe, name.dir);
    *expected = queue ? queue->next : 0;
    if (name.seq != *expected)
        return false;
    if (!queue)
        queue = make_queue(tiles, name.pe, name.dir, bytes_max);
    if (!queue || (queue->next - queue->first == queue->capacity &&
                   !grow_tile_queue(tiles, queue, bytes_max)))
        return false;
    note_first_send(buffer, bytes);
    CW_INVARIANT("I-TILE-1",
                 name.seq == queue->next && queue->next - queue->first < queue->capacity,
                 "tile %u, next %u, first %u, room for %u", name.seq, queue->next, queue->first,
                 queue->capacity);
    *slot(queue, name.seq) = (struct tile){.buffer = buffer, .bytes = bytes};
    queue->next++;
    buffer->holders++;
    tiles->alive++;
    return true;
}

enum tile_state tiles_find(struct tiles *tiles, struct tile_name name, struct tile **tile)
{
    struct queue *queue = find_queue(tiles, name.pe, name.dir);
    /* Sequence numbers go round after 2^32: a tile at most 2^31 behind `next` has been sent. */
    if (!queue || queue->next - name.seq - 1 >= UINT32_C(1) << 31)
        return TILE_NOT_SENT;
    if (queue->next - name.seq > queue->next - queue->first || !slot(queue, name.seq)->buffer)
        return TILE_DROPPED;
    *tile = slot(queue, name.seq);
    return TILE_THERE;
}

static void drop(struct tiles *tiles, struct queue *queue, uint32_t seq)
{
    struct tile *tile = slot(queue, seq);
    CW_INVARIANT(
        "I-TILE-1", seq - queue->first < queue->next - queue->first && tile->buffer != NULL,
        "tile %u is dropped, of those from %u to below %u", seq, queue->first, queue->next);
    tiles_release(tiles, tile->buffer);
    tile->buffer = NULL;
    tiles->alive--;
    while (queue->first != queue->next && !slot(queue, queue->first)->buffer)
        queue->first++;
}

void tiles_drop(struct tiles *tiles, struct tile_name name)
{
    drop(tiles, find_queue(tiles, name.pe, name.dir), name.seq);
}

void tiles_end_kernel(struct tiles *tiles, uint32_t pe)
{
    Word_t key = queue_key(pe, 0);
    for (void **value = JudyLFirst(tiles->queues, &key, PJE0); value && key >> 8 == pe;
         value = JudyLNext(tiles->queues, &key, PJE0)) {
        struct queue *queue = *value;
        for (uint32_t seq = queue->first; seq != queue->next; seq++)
            if (slot(queue, seq)->buffer && slot(queue, seq)->received)
                drop(tiles, queue, seq);
    }
}
