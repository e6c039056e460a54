/*
 * dist_tensor.h: the tensors of a process group's ranks: created on the current device, filled and
 * read through the data pass, hashed. Between drains, one thread.
 */
#ifndef COLLECTIVES_DIST_TENSOR_H
#define COLLECTIVES_DIST_TENSOR_H

#include "collectives/runtime/tensor.h"

struct dist;

/* A zeroed tensor of n_elem elements per shard on the current device (ahbm_set_device). It belongs
 * to the world. */
struct tensor *dist_tensor_zeros(uint64_t n_elem, enum dtype dtype, const struct dp_policy *policy);
/* Gives its memory back before the world ends: other tensors may be there from here on. */
void dist_tensor_free(struct tensor *tensor);
/* Fills the rank's tensor from the seed's stream (COMMANDS.md, "Inputs"): at once, or with
 * host_copy: simulated before the next collective begins. */
void dist_fill_input(struct tensor *tensor, uint64_t seed);
/* The same with the values of another rank: the calling rank's number in a group, say. */
void dist_fill_input_as(struct tensor *tensor, uint64_t seed, uint32_t rank);

/*
 * Copies the program's own values into the rank's tensor (tensor.copy_), and a tensor's values into
 * the program's. All of it: n_elem elements, the parts of the tensor one after the other; parts
 * that are copies of each other get the same values, and are read once. The worker is ended if the
 * number or the dtype differs. A write takes the time of a fill; a read takes none, and needs a
 * world with data.
 */
void dist_tensor_copy_from(struct tensor *tensor, enum dtype dtype, const void *src,
                           uint64_t n_elem);
void dist_tensor_copy_to(const struct tensor *tensor, enum dtype dtype, void *dst, uint64_t n_elem);

/* ---- for the program around the workers ------------------------------------------------------ */

/* Elements first .. first + count - 1 of a shard. */
int dist_read(struct dist *dist, const struct tensor *tensor, uint32_t shard, uint64_t first,
              uint64_t count, void *dst, struct cw_error *error);
/* XXH3 over all ranks' tensors, in rank, shard order. */
int dist_hash(struct dist *dist, struct tensor *const *tensors, uint64_t *hash,
              struct cw_error *error);
/* The same over the tensors of so many ranks: a group's. */
int dist_hash_of(struct dist *dist, struct tensor *const *tensors, uint32_t ranks, uint64_t *hash,
                 struct cw_error *error);

#endif
