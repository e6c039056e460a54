/*
 * data_join.h: the values of tiles that switches combine (hw/HARDWARE.md, "Switches that reduce").
 * The parts of a tile wait here until the last one comes. The worker that brings it computes the
 * tile, and hands it over to all PEs, as parcels of their own parts' sends.
 *
 * A PE gets the tiles of a queue in their order: its parts are executed in order, so the last part
 * of a tile comes before the last one of the next, and tiles are handed over under the lock under
 * which parts are taken. The lock orders the pushes of several workers, too (I-PARCEL-1).
 */
#ifndef COLLECTIVES_DATA_JOIN_H
#define COLLECTIVES_DATA_JOIN_H

#include "collectives/data/data_operand.h"

/* Made with the pass; one for all workers. NULL: out of memory. */
struct data_joins *data_joins_create(void);
/* Accepts NULL. */
void data_joins_free(struct data_joins *joins);

/* A part, whose value is in the buffer. An enum cw_exit. */
int data_join_part(const struct data_site *site, const struct lp_op *op, struct tile_buffer *buffer,
                   struct cw_error *error);

#endif
