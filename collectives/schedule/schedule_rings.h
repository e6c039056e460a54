/*
 * schedule_rings.h: rings that fill up forever: whether they do (schedule_check.h), and how many
 * tiles of a chunk a step may move before the next step so that they do not (schedule_program.h).
 * Pure.
 */
#ifndef COLLECTIVES_SCHEDULE_RINGS_H
#define COLLECTIVES_SCHEDULE_RINGS_H

#include "collectives/schedule/schedule_graph.h"

/* Faults: each thread that waits forever where each queue has a ring of this many slots, and a
 * chunk is one tile. All the graph's steps are ordered. */
void schedule_rings_check(const struct schedule_graph *graph, uint32_t slots,
                          struct schedule_faults *faults);

/* Chunks that are no larger than a tile in any call: the chunks of some steps travel together, and
 * share tiles. */
struct small_chunks {
    const bool *together; /* [steps of the graph] */
    uint64_t chunk_bytes, tile_bytes;
};

/*
 * The largest number of tiles of each chunk, at most the slots, that steps may move one after the
 * other, found by halving. 0: one is too many already, or memory has run out.
 *
 * It is found by carrying out one piece abstractly, tile by tile, from empty rings. That is enough
 * for any number of pieces, one after the other:
 * 1. Suppose that threads wait forever, and let p be the least piece that one of them is in. All
 *    of piece p - 1 is done, so a ring holds tiles of piece p or later only.
 * 2. A ring whose sender is in p holds tiles of p alone.
 * 3. So a thread that is in p and waits finds its ring full, or empty, just as it would where piece
 *    p is carried out alone. There some thread in p continues, whatever the order in which threads
 *    are carried out. So it continues here, too.
 * `small`: NULL, if calls may be of any size.
 */
uint32_t schedule_rings_tiles(const struct schedule_graph *graph, uint32_t slots,
                              const struct small_chunks *small);

#endif
