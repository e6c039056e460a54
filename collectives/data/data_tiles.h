/*
 * data_tiles.h: the values of tiles under way between PEs, for the data pass. A tile is named by
 * (receiving PE, direction, sequence number) and is an immutable buffer: forwarding it gives the
 * same buffer another name, dropping the last name gives the buffer back to its pool.
 *
 * I-TILE-1: a queue's tiles are sent in the order of their sequence numbers, without gaps.
 * I-TILE-2: a buffer is written between tiles_take() and its first tiles_send() only.
 * One thread at a time; two sets of tiles share nothing.
 */
#ifndef COLLECTIVES_DATA_TILES_H
#define COLLECTIVES_DATA_TILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/invariant.h"

/* A buffer of the pool: holders count it. */
struct tile_buffer {
    struct tile_buffer *next_free; /* in the pool */
    uint32_t holders;
    uint32_t size_class;
#if CW_ASSERTING
    uint32_t sent_bytes; /* of the first send; 0: not sent yet */
    uint64_t sent_hash;  /* of these bytes, then (I-TILE-2) */
#endif
    _Alignas(64) uint8_t bytes[];
};

struct tile {
    struct tile_buffer *buffer; /* NULL: dropped */
    uint32_t bytes;
    bool received;
};

struct tile_name {
    uint32_t pe, seq;
    uint8_t dir;
};

/* Why there is no such tile. */
enum tile_state { TILE_THERE, TILE_NOT_SENT, TILE_DROPPED };

struct tiles;

struct tiles *tiles_create(void);                /* NULL: out of memory */
void tiles_free(struct tiles *tiles);            /* accepts NULL */
uint64_t tiles_bytes(const struct tiles *tiles); /* of storage, taken so far */
uint64_t tiles_alive(const struct tiles *tiles); /* names that have a value */

/* A buffer with one holder, the caller; NULL if storage would pass bytes_max, or is out. */
struct tile_buffer *tiles_take(struct tiles *tiles, uint32_t bytes, uint64_t bytes_max);
void tiles_release(struct tiles *tiles, struct tile_buffer *buffer);

/*
 * Names the buffer's first `bytes` bytes; the tile is one more holder. False, with *expected, if
 * another sequence number is the queue's next; false with *expected == name.seq: storage would pass
 * bytes_max, or is out.
 */
bool tiles_send(struct tiles *tiles, struct tile_name name, struct tile_buffer *buffer,
                uint32_t bytes, uint64_t bytes_max, uint32_t *expected);
/* *tile is valid until the next tiles_send(). */
enum tile_state tiles_find(struct tiles *tiles, struct tile_name name, struct tile **tile);
void tiles_drop(struct tiles *tiles, struct tile_name name); /* a tile that is there */
/* Drops every tile that the PE has received. Those it has not are its next kernel's. */
void tiles_end_kernel(struct tiles *tiles, uint32_t pe);

#endif
