/*
 * data_tiles.h: the values of tiles in flight to the PEs of one cube, for the data pass. A tile is
 * named by (receiving PE, direction, sequence number) and is an immutable buffer (tile_pool.h):
 * forwarding it gives the same buffer another name, and with the last name the buffer is free.
 *
 * I-TILE-1: a queue's tiles are sent in the order of their sequence numbers, without gaps.
 * Used by the worker that owns the cube; `pool` is that worker's.
 */
#ifndef COLLECTIVES_DATA_TILES_H
#define COLLECTIVES_DATA_TILES_H

#include "collectives/memory/tile_pool.h"

struct tile {
    struct tile_buffer *buffer; /* NULL: dropped */
    uint32_t bytes;
    uint8_t received; /* 1 + the hardware queue whose kernel has; 0: not yet */
    uint16_t source;  /* of its send: tl_source_number() */
};

struct tile_name {
    uint32_t pe, seq;
    uint8_t dir;
};

/* Why there is no such tile. */
enum tile_state { TILE_THERE, TILE_NOT_SENT, TILE_DROPPED };

enum { TILE_CACHE_WAYS = 4 };
struct tile_queue;

/* Zero-initialised by its owner; only the functions below touch it. */
struct tile_queues {
    void *queues; /* JudyL: PE << 8 | direction -> struct tile_queue * */
    uint64_t alive;
    struct { /* queues found last, by direction: an operation looks the same ones up again */
        uint64_t key;
        struct tile_queue *queue; /* NULL: none */
    } cache[TILE_CACHE_WAYS];
};

/* Frees the queues; the buffers are their pools'. */
void tiles_free(struct tile_queues *tiles, struct storage *storage);

/*
 * Names the buffer's first `bytes` bytes; the tile is one more holder. False, with *expected, if
 * another sequence number is the queue's next; false with *expected == name.seq: out of storage.
 */
bool tiles_send(struct tile_queues *tiles, struct storage *storage, struct tile_name name,
                struct tile_buffer *buffer, uint32_t bytes, uint16_t source, uint32_t *expected);
/* Numbers of a queue without tiles: the same without a buffer. */
bool tiles_number(struct tile_queues *tiles, struct storage *storage, struct tile_name name,
                  uint32_t *expected);
/* *tile is valid until the next tiles_send(). */
enum tile_state tiles_find(struct tile_queues *tiles, struct tile_name name, struct tile **tile);
/* Whether that number was given to tiles_number(). */
bool tiles_was_numbered(struct tile_queues *tiles, struct tile_name name);
/* A tile, which must exist. */
void tiles_drop(struct tile_queues *tiles, struct tile_pool *pool, struct tile_name name);
/* Drops every tile that a kernel on this hardware queue of the PE has received. Those that none has
 * are later kernels'. */
void tiles_end_kernel(struct tile_queues *tiles, struct tile_pool *pool, uint32_t pe,
                      uint32_t queue);

#endif
