/*
 * data_take.h: copies of what memory holds when a kernel begins: results of an earlier kernel that
 * this one is about to overwrite. The host asks for them between drains, before the kernel is under
 * way; the worker that owns the cube takes each in the order of the cube's records.
 */
#ifndef COLLECTIVES_DATA_TAKE_H
#define COLLECTIVES_DATA_TAKE_H

#include <stddef.h>

#include "core/cw.h"

struct data_cube;
struct data_pass;

/* When a kernel of the batch begins on the PE, a range of its HBM goes to `to`. */
struct data_take {
    struct data_take *next;
    uint32_t pe, batch; /* lp/host/batches.h */
    uint64_t offset;
    size_t bytes;
    uint8_t *to;
};

/* Asks for a copy; `next` is ignored. An enum cw_exit. */
int data_take_add(struct data_pass *pass, const struct data_take *take, struct cw_error *error);
/* The copy at this place, of the PE's memory, is made now, if it has not been made. */
void data_take_now(struct data_pass *pass, uint32_t pe, const uint8_t *to);
/* A kernel of the batch begins on the PE: the worker that owns the cube. */
void data_take_at_start(struct data_pass *pass, uint32_t pe, uint32_t batch);
/* Forgets the copies of a cube that have not been made. */
void data_takes_free(struct data_cube *cube);

#endif
