/*
 * host_copy.h: maps and fills of tensors. With `host_copy: simulated` they take simulated time
 * before the next collective begins. Between drains, one thread.
 */
#ifndef COLLECTIVES_HOST_COPY_H
#define COLLECTIVES_HOST_COPY_H

#include "collectives/runtime/tensor.h"

struct dist;

/* A tensor has been made: the PEs that hold a shard of it reach it, at once or when their messages
 * have taken effect. */
int dist_map_tensor(struct dist *dist, const struct tensor *tensor, struct cw_error *error);
/* It is about to be freed: no PE reaches it from here on. NULL: nothing. */
void dist_unmap_tensor(struct dist *dist, const struct tensor *tensor);
/* host_copy: simulated: a tensor has been filled; else nothing. */
int dist_note_fill(struct dist *dist, const struct tensor *tensor, struct cw_error *error);
/* Carries out the copies that have been noted. */
int dist_drain_copies(struct dist *dist, struct cw_error *error);

#endif
