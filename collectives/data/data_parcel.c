/*
 * data_parcel.c: carries values between cubes (data_parcel.h). Puts, raw stores and lent values
 * that have come wait in a JudyL array for the record of their landing. Several raw stores of one
 * name may be there, since a PE uses the name again when the store before it is in its memory: they
 * land in their order.
 */
#include "collectives/data/data_parcel.h"

#include <stdlib.h>
#include <string.h>

#include <Judy.h>

#include "collectives/data/data_check.h"
#include "core/invariant.h"

void data_note_failure(struct data_worker *worker, const struct cw_event *event,
                       const struct cw_error *error)
{
    struct data_failure *const failure = &worker->failure;
    if (failure->error.exit_code != CW_OK && !cw_event_before(event, &failure->event))
        return;
    failure->error = *error;
    memcpy(&failure->event, event, offsetof(struct cw_event, payload) + event->payload_bytes);
}

/*
 * A name that is unique in the receiving cube. PE indices have 30 bits. A put and a raw store are
 * named by the sender and its number. A lent value is named by lender, loading PE, and that PE's
 * number, which may be in use for the next lender's value by the time this one has come. `to` has
 * 24 of its bits there: enough to distinguish the PEs of one cube.
 */
static Word_t parcel_key(uint8_t kind, uint32_t from, uint32_t to, uint32_t seq)
{
    const Word_t sender = (Word_t)from << 32;
    if (kind == LP_OP_PUT || kind == LP_OP_LAND)
        return sender | seq;
    if (kind == LP_OP_STORE_TO || kind == LP_OP_STORED)
        return (Word_t)1 << 63 | sender | seq;
    return (Word_t)1 << 62 | sender | (uint32_t)(to << 8) | (seq & 255);
}

static Word_t landing_key(const struct lp_op *op)
{
    return parcel_key(op->kind, op->peer, op->pe, op->seq);
}

/* ---- delivery -------------------------------------------------------------------------------- */

/* Gives a sent value its name. */
static int name_tile(const struct data_site *site, struct data_cube *to, const struct lp_op *op,
                     struct tile_buffer *buffer, struct cw_error *error)
{
    uint32_t expected;
    if (tiles_send(&to->tiles, &site->pass->storage,
                   (struct tile_name){op->peer, op->seq, op->peer_dir}, buffer, op->bytes,
                   op->source, &expected))
        return CW_OK;
    if (expected == op->seq)
        return data_out_of_storage(site->pass, error);
    return data_impossible(site->pass, op, error,
                           "tile %u of direction %u (%s) of PE index %u is sent, but %u is next",
                           op->seq, op->peer_dir, data_dir_name(site->pass, op->peer, op->peer_dir),
                           op->peer, expected);
}

/* The parcel's hold becomes the tile's. */
static int deliver_tile(const struct data_site *site, struct data_parcel *parcel,
                        struct cw_error *error)
{
    const int code = name_tile(site, site->cube, &parcel->op, parcel->buffer, error);
    tile_buffer_release(parcel->buffer, &site->worker->pool);
    free(parcel);
    return code;
}

/* It waits for the record of its landing. */
static int deliver_put(const struct data_site *site, struct data_parcel *parcel,
                       struct cw_error *error)
{
    const struct lp_op *const op = &parcel->op;
    const Word_t key = parcel_key(op->kind, op->pe, op->peer, op->seq);
    void **value = JudyLIns(&site->cube->puts, key, PJE0);
    if (!value || value == PPJERR) {
        tile_buffer_release(parcel->buffer, &site->worker->pool);
        free(parcel);
        return data_out_of_storage(site->pass, error);
    }
    struct data_parcel *last = *value;
    while (last != NULL && last->later != NULL)
        last = last->later;
    if (last != NULL)
        last->later = parcel;
    else
        *value = parcel;
    return CW_OK;
}

/* To the site's cube. */
static int deliver_parcel(const struct data_site *site, struct data_parcel *parcel,
                          struct cw_error *error)
{
    return parcel->op.kind == LP_OP_SEND ? deliver_tile(site, parcel, error)
                                         : deliver_put(site, parcel, error);
}

bool data_parcels_take(const struct data_site *site)
{
    struct sync_node *latest = sync_take_all(&site->cube->inbox), *oldest = NULL;
    const bool any = latest != NULL;
    while (latest != NULL) {
        struct sync_node *const earlier = latest->next;
        latest->next = oldest;
        oldest = latest;
        latest = earlier;
    }
    while (oldest != NULL) {
        struct data_parcel *const parcel = (struct data_parcel *)(void *)oldest;
        const struct cw_event event = parcel->event;
        struct cw_error error;
        oldest = oldest->next;
        CW_INVARIANT("I-PARCEL-1",
                     &site->pass->cubes[parcel->op.peer / site->pass->pes] == site->cube,
                     "a parcel for PE index %u", parcel->op.peer);
        if (deliver_parcel(site, parcel, &error) != CW_OK)
            data_note_failure(site->worker, &event, &error);
    }
    return any;
}

/* Whether the cube belongs to the site's worker. */
static bool is_own(const struct data_site *site, uint32_t cube)
{
    const struct data_pass *const pass = site->pass;
    return pass->owner == NULL ||
           &pass->workers[pass->owner(pass->owner_arg, cube)] == site->worker;
}

static struct data_parcel *make_parcel(const struct data_site *site, const struct lp_op *op,
                                       struct tile_buffer *buffer)
{
    struct data_parcel *const parcel = malloc(sizeof *parcel);
    if (parcel == NULL)
        return NULL;
    parcel->buffer = buffer;
    parcel->later = NULL;
    parcel->op = *op;
    parcel->event.payload_bytes = 0;
    if (site->event != NULL)
        memcpy(&parcel->event, site->event,
               offsetof(struct cw_event, payload) + site->event->payload_bytes);
    tile_buffer_hold(buffer);
    return parcel;
}

int data_parcel_send(const struct data_site *site, const struct lp_op *op,
                     struct tile_buffer *buffer, struct cw_error *error)
{
    struct data_pass *const pass = site->pass;
    const uint32_t cube = op->peer / pass->pes;
    const struct data_site there = {pass, site->worker, &pass->cubes[cube], site->event};
    const bool own = is_own(site, cube);
    if (own && pass->owner != NULL)
        (void)data_parcels_take(&there); /* step 3 of I-PARCEL-1 */
    if (own && op->kind == LP_OP_SEND)
        return name_tile(site, there.cube, op, buffer, error);
    struct data_parcel *const parcel = make_parcel(site, op, buffer);
    if (parcel == NULL)
        return data_out_of_storage(pass, error);
    if (own)
        return deliver_put(&there, parcel, error);
    tile_buffer_cross(buffer);
    sync_push(&there.cube->inbox, &parcel->node); /* pairs with data_parcels_take() */
    return CW_OK;
}

/* ---- landing --------------------------------------------------------------------------------- */

const struct data_parcel *data_parcel_find(const struct data_site *site, const struct lp_op *op)
{
    void *const *const value = JudyLGet(site->cube->puts, landing_key(op), PJE0);
    return value != NULL ? *value : NULL;
}

void data_parcel_drop(const struct data_site *site, const struct lp_op *op)
{
    const Word_t key = landing_key(op);
    void **const value = JudyLGet(site->cube->puts, key, PJE0);
    struct data_parcel *const parcel = *value;
    *value = parcel->later;
    if (parcel->later == NULL)
        (void)JudyLDel(&site->cube->puts, key, PJE0);
    tile_buffer_release(parcel->buffer, &site->worker->pool);
    free(parcel);
}

void data_parcels_free(struct data_cube *cube)
{
    struct sync_node *node = sync_take_all(&cube->inbox);
    while (node != NULL) {
        struct sync_node *const next = node->next;
        free((struct data_parcel *)(void *)node);
        node = next;
    }
    Word_t key = 0;
    for (void **value = JudyLFirst(cube->puts, &key, PJE0); value;
         value = JudyLNext(cube->puts, &key, PJE0))
        for (struct data_parcel *parcel = *value, *later; parcel != NULL; parcel = later) {
            later = parcel->later;
            free(parcel);
        }
    JudyLFreeArray(&cube->puts, PJE0);
}
