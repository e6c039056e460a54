/*
 * host_copy.h: with `host_copy: simulated`, maps and fills of tensors take simulated time before
 * the next collective begins. Between drains, one thread.
 */
#ifndef COLLECTIVES_HOST_COPY_H
#define COLLECTIVES_HOST_COPY_H

#include "collectives/runtime/tensor.h"

struct dist;

/* host_copy: simulated: a tensor has been made (map) or filled; else nothing. */
int dist_note_copy(struct dist *dist, const struct tensor *tensor, bool map,
                   struct cw_error *error);
/* Carries out the copies that have been noted. */
int dist_drain_copies(struct dist *dist, struct cw_error *error);

#endif
