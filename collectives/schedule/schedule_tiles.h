/*
 * schedule_tiles.h: how many tiles of a chunk a step may move before the next step, so that rings
 * of so many slots never fill up for ever. Pure.
 */
#ifndef COLLECTIVES_SCHEDULE_TILES_H
#define COLLECTIVES_SCHEDULE_TILES_H

#include "collectives/schedule/schedule.h"

/*
 * The largest such number, at most n_slots. 0: one tile is too many already, or memory has run out.
 *
 * It is found by carrying out one piece abstractly, tile by tile, from empty rings. That is enough
 * for any number of pieces, one after the other. Suppose that threads wait for ever, and let p be
 * the least piece that one of them is in. Then all of piece p - 1 is done, so a ring holds tiles of
 * piece p or later only. A ring whose sender is in p holds tiles of p alone. A thread that is in p
 * and waits finds its ring full, or empty, just as it would where piece p is carried out alone.
 * There it goes on, since the outcome does not depend on the order in which threads are carried
 * out. So it goes on here, too.
 */
uint32_t schedule_tiles_per_step(const struct schedule *schedule, uint32_t n_slots);

#endif
