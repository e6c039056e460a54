/*
 * tile_pool.h: buffers for the values of tiles, counted and immutable. Each worker has a pool. A
 * list of free buffers for each power of two is used last in, first out, so that a hot buffer is
 * used again while it is.
 *
 * A buffer belongs to the pool that it was taken from. It may be handed over to another worker
 * (tile_buffer_cross()); from then on its holders are counted atomically, and the last holder gives
 * it back to the pool's inbox.
 *
 * I-TILE-2: a buffer is written between tile_pool_take() and its first send only.
 * I-TILE-3: a buffer is free only when no worker holds it. Proof:
 *   1. Before it crosses, its worker alone holds it, and counts without atomic operations.
 *   2. tile_buffer_cross() comes before the release by which the other worker gets it. So both see
 *      it as crossed, and each change of the count from there on is atomic.
 *   3. A buffer that is forwarded crosses, too, since each cube that holds it may move to another
 *      worker. So one that has not crossed has one holder that lasts, and moves with it.
 *   4. The holder whose decrement ends at 0 is the last: each decrement releases its holder's reads
 *      and acquires the others' reads. It alone puts the buffer on the list or into the inbox.
 */
#ifndef COLLECTIVES_TILE_POOL_H
#define COLLECTIVES_TILE_POOL_H

#include "collectives/memory/storage.h"
#include "core/invariant.h"

struct tile_pool;

struct tile_buffer {
    struct sync_node free;  /* in the pool, or in its inbox */
    struct tile_pool *pool; /* that it was taken from */
    struct sync_u64 holders;
    uint32_t size_class;
    bool crossed; /* other workers may hold it */
#if CW_ASSERTING
    uint32_t sent_bytes; /* of the first send; 0: not sent yet */
    uint64_t sent_hash;  /* of these bytes, then (I-TILE-2) */
#endif
    _Alignas(64) uint8_t bytes[];
};

enum { TILE_POOL_CLASSES = 27 }; /* 64 bytes to 4 GiB */

struct tile_slab;

struct tile_pool {
    struct storage *storage;
    struct sync_node *free_buffers[TILE_POOL_CLASSES];
    struct tile_slab *slabs;
    size_t slab_bytes; /* of all slabs */
    uint64_t made;     /* buffers, in all slabs */
    /* written by other workers */
    _Alignas(128) struct sync_pointer inbox; /* buffers that came back: a stack */
    uint8_t unused[128 - sizeof(struct sync_pointer)];
};

void tile_pool_init(struct tile_pool *pool, struct storage *storage);
void tile_pool_free(struct tile_pool *pool);

/* Buffers of this pool that anybody holds. While no worker runs. */
uint64_t tile_pool_lent(struct tile_pool *pool);

/* A buffer with one holder, the caller; NULL: out of storage. */
struct tile_buffer *tile_pool_take(struct tile_pool *pool, uint32_t bytes);

/* One more holder. */
void tile_buffer_hold(struct tile_buffer *buffer);
/* One holder less; `pool`: the calling worker's. */
void tile_buffer_release(struct tile_buffer *buffer, struct tile_pool *pool);
/* Before the buffer, whose holders are all the caller's, or which has crossed, is handed over. */
static inline void tile_buffer_cross(struct tile_buffer *buffer)
{
    if (!buffer->crossed) /* others may read it: no write */
        buffer->crossed = true;
}
/* Before each send of the buffer's first `bytes` bytes. */
void tile_buffer_note_send(struct tile_buffer *buffer, uint32_t bytes);

#endif
