/*
 * tile_pool.c: takes buffers from lists of free ones, or cuts them from slabs, and takes them
 * back, also from other workers (tile_pool.h).
 */
#include "collectives/memory/tile_pool.h"

#include <assert.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define CLASS_BYTES_MIN 64u
/* A new slab has as many buffers as fit, at least one. It is the larger the more slabs there are,
 * so that a pool that has become large asks the system for huge pages, and a small one stays small.
 */
#define SLAB_BYTES_MIN ((size_t)64 * 1024)
#define SLAB_BYTES_MAX ((size_t)STORAGE_LARGE_BYTES)
enum {
    SLABS_PER_SLAB = 4, /* a new slab has at most 1 / SLABS_PER_SLAB of the bytes before it */
    TAIL_SHARE = 8      /* at most 1 / TAIL_SHARE of a slab is lost after its tiles */
};

struct tile_slab {
    struct tile_slab *next;
    size_t bytes; /* with this head */
    _Alignas(64) uint8_t buffers[];
};

void tile_pool_init(struct tile_pool *pool, struct storage *storage)
{
    *pool = (struct tile_pool){.storage = storage};
}

void tile_pool_free(struct tile_pool *pool)
{
    while (pool->slabs != NULL) {
        struct tile_slab *const next = pool->slabs->next;
        storage_give(pool->storage, pool->slabs, pool->slabs->bytes);
        pool->slabs = next;
    }
    pool->slab_bytes = 0;
}

static uint32_t size_class(uint32_t bytes)
{
    if (bytes <= CLASS_BYTES_MIN)
        return 0;
    return 32 - (uint32_t)__builtin_clz(bytes - 1) - 6; /* 2^6 = CLASS_BYTES_MIN */
}

static void put_free(struct tile_pool *pool, struct tile_buffer *buffer)
{
    buffer->free.next = pool->free_buffers[buffer->size_class];
    pool->free_buffers[buffer->size_class] = &buffer->free;
}

static size_t next_slab_bytes(const struct tile_pool *pool)
{
    size_t bytes = SLAB_BYTES_MIN;
    while (bytes < SLAB_BYTES_MAX && 2 * bytes * SLABS_PER_SLAB <= pool->slab_bytes)
        bytes *= 2;
    return bytes;
}

/* The size of a slab of about this many bytes. A tail that holds no tile is lost: of many tiles it
 * is a small share of whole pages, of few the slab ends before it. */
static size_t slab_bytes_near(size_t bytes, size_t each)
{
    const size_t head = sizeof(struct tile_slab);
    if (each <= bytes / TAIL_SHARE)
        return bytes;
    return head + (bytes > head + each ? (bytes - head) / each : 1) * each;
}

static bool add_slab(struct tile_pool *pool, uint32_t class)
{
    const size_t each = sizeof(struct tile_buffer) + ((size_t)CLASS_BYTES_MIN << class);
    size_t wanted = next_slab_bytes(pool), bytes = slab_bytes_near(wanted, each);
    struct tile_slab *slab = storage_take(pool->storage, bytes);
    while (slab == NULL && bytes > sizeof *slab + each) { /* near the limit */
        wanted /= 2;
        bytes = slab_bytes_near(wanted, each);
        slab = storage_take(pool->storage, bytes);
    }
    if (slab == NULL)
        return false;
    const size_t count = (bytes - sizeof *slab) / each;
    slab->next = pool->slabs;
    slab->bytes = bytes;
    pool->slabs = slab;
    pool->slab_bytes += bytes;
    pool->made += count;
    for (size_t i = count; i-- > 0;) { /* the first ends on top */
        struct tile_buffer *const buffer = (struct tile_buffer *)(slab->buffers + i * each);
        buffer->pool = pool;
        buffer->size_class = class;
        sync_store_release(&buffer->holders, 0); /* not shared yet */
        put_free(pool, buffer);
    }
    return true;
}

/* Takes in the buffers that other workers have given back. */
static void empty_inbox(struct tile_pool *pool)
{
    struct sync_node *node = sync_take_all(&pool->inbox); /* pairs with tile_buffer_release() */
    while (node != NULL) {
        struct sync_node *const next = node->next;
        put_free(pool, (struct tile_buffer *)(void *)node);
        node = next;
    }
}

uint64_t tile_pool_lent(struct tile_pool *pool)
{
    uint64_t lent = pool->made;
    empty_inbox(pool);
    for (uint32_t class = 0; class < TILE_POOL_CLASSES; class ++)
        for (const struct sync_node *node = pool->free_buffers[class]; node; node = node->next)
            lent--;
    return lent;
}

struct tile_buffer *tile_pool_take(struct tile_pool *pool, uint32_t bytes)
{
    const uint32_t class = size_class(bytes);
    if (pool->free_buffers[class] == NULL)
        empty_inbox(pool);
    if (pool->free_buffers[class] == NULL && !add_slab(pool, class))
        return NULL;
    struct tile_buffer *const buffer = (struct tile_buffer *)(void *)pool->free_buffers[class];
    pool->free_buffers[class] = buffer->free.next;
    CW_INVARIANT("I-TILE-3", sync_load_acquire(&buffer->holders) == 0,
                 "a free buffer has %llu holders",
                 (unsigned long long)sync_load_acquire(&buffer->holders));
    buffer->crossed = false;
    sync_store_release(&buffer->holders, 1); /* only this worker knows the buffer */
#if CW_ASSERTING
    buffer->sent_bytes = 0;
#endif
    return buffer;
}

void tile_buffer_hold(struct tile_buffer *buffer)
{
    /* Neither order matters: the caller is a holder, so the count cannot reach 0 meanwhile. */
    if (buffer->crossed)
        (void)sync_add_relaxed(&buffer->holders, 1);
    else
        sync_store_release(&buffer->holders, sync_load_acquire(&buffer->holders) + 1);
}

/* Builds that look for bugs keep the hash of a buffer's bytes from its first send on. */
void tile_buffer_note_send(struct tile_buffer *buffer, uint32_t bytes)
{
#if CW_ASSERTING
    if (buffer->sent_bytes == 0 && !buffer->crossed) {
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

/* Returns whether the caller was the last holder. */
static bool is_last(struct tile_buffer *buffer)
{
    if (buffer->crossed)
        return sync_add_ordered(&buffer->holders, UINT64_MAX) == 1; /* step 4 of I-TILE-3 */
    const uint64_t left = sync_load_acquire(&buffer->holders) - 1;
    sync_store_release(&buffer->holders, left);
    return left == 0;
}

void tile_buffer_release(struct tile_buffer *buffer, struct tile_pool *pool)
{
    CW_INVARIANT("I-TILE-3", sync_load_acquire(&buffer->holders) > 0, "a buffer of class %u",
                 buffer->size_class);
    check_unchanged(buffer);
    if (!is_last(buffer))
        return;
    if (buffer->pool == pool)
        put_free(pool, buffer);
    else
        sync_push(&buffer->pool->inbox, &buffer->free);
}
