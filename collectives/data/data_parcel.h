/*
 * data_parcel.h: values on their way to another cube: a sent tile, a put, a raw store, a lent
 * value. A parcel holds the immutable buffer and the record that bound the value. If the receiving
 * cube belongs to the sending worker, the parcel is delivered at once. Otherwise it goes into the
 * cube's inbox, and the worker that owns the cube takes it when a record there needs it.
 *
 * I-PARCEL-1: the parcels of one sending cube to one receiving cube are delivered in the order of
 * the sender's records, each once. Proof:
 *   1. A cube's records are executed by one worker at a time, in their order, and so are its
 *      pushes. A push is a release, and comes before all later ones of the same cube.
 *   2. The taker takes the whole inbox in one exchange, the latest first, and reverses it. It takes
 *      again only after it has delivered all of it.
 *   3. A parcel for a cube of the sending worker is delivered at once, after that inbox was
 * emptied. So a cube that changes its owner keeps the order.
 */
#ifndef COLLECTIVES_DATA_PARCEL_H
#define COLLECTIVES_DATA_PARCEL_H

#include "collectives/data/data_operand.h"

struct data_parcel {
    struct sync_node node; /* in an inbox */
    struct tile_buffer *buffer;
    struct data_parcel
        *later;      /* of the same name, later; of a put, a store or a loan that was delivered */
    struct lp_op op; /* SEND, PUT, STORE_TO or LENT */
    struct cw_event event; /* that emitted it, if the site names one */
};

/* Sends the buffer on to the cube of op->peer. The parcel is one more holder of it. An enum
 * cw_exit. */
int data_parcel_send(const struct data_site *site, const struct lp_op *op,
                     struct tile_buffer *buffer, struct cw_error *error);
/* Takes the inbox of the site's cube. Returns whether there was anything. */
bool data_parcels_take(const struct data_site *site);

/* The value that a LAND, STORED or LOAD_FROM record names; NULL: it has not come. */
const struct data_parcel *data_parcel_find(const struct data_site *site, const struct lp_op *op);
/* It has landed. */
void data_parcel_drop(const struct data_site *site, const struct lp_op *op);
/* Frees the parcels of a cube that were never landed or taken. */
void data_parcels_free(struct data_cube *cube);

/* Notes a failure at the event, if it is the worker's least one so far. */
void data_note_failure(struct data_worker *worker, const struct cw_event *event,
                       const struct cw_error *error);

#endif
