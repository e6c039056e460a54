/*
 * parallel.h: the groups of ranks that a parallel layout makes, as Megatron does
 * (megatron/core/parallel_state.py, class RankGenerator): ranks are numbered by `order`, the first
 * dimension fastest. Experts have a layout of their own over the same ranks: tensor parallelism,
 * ep, and edp = dp * cp / ep in the place of dp; pipelines are the same ranks in both.
 */
#ifndef WORKLOAD_FILE_PARALLEL_H
#define WORKLOAD_FILE_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum parallel_dim {
    PARALLEL_TP,
    PARALLEL_CP,
    PARALLEL_EP,
    PARALLEL_DP,
    PARALLEL_PP,
    PARALLEL_EDP, /* follows from the others */
    PARALLEL_DIMS
};

struct parallel {
    uint32_t size[PARALLEL_DIMS];
    uint32_t order_count;
    uint8_t order[PARALLEL_DIMS]; /* fastest first; without EDP, which has DP's place */
    uint32_t ranks;
};

enum { PARALLEL_RANKS_MAX = 1 << 20 };

const char *parallel_dim_name(enum parallel_dim dim); /* "tp" */
/* PARALLEL_DIMS: none of this name. */
enum parallel_dim parallel_dim_find(const char *name, size_t bytes);
/* Reads "tp-cp-ep-dp-pp". NULL, or what is wrong. */
const char *parallel_order_read(struct parallel *parallel, const char *text);
/* Sets `ranks` and edp. NULL, or what is wrong. */
const char *parallel_complete(struct parallel *parallel);
/* The number of a rank among those that differ from it in this dimension alone. */
uint32_t parallel_coordinate(const struct parallel *parallel, enum parallel_dim dim, uint32_t rank);

/* The dimensions of a set's name, "tp" or "dp-cp", as bits. 0: none of this name; *wrong says why
 * where it mixes dimensions of the two layouts. */
uint32_t parallel_set_read(const char *name, const char **wrong);
/* Groups of the ranks that differ in these dimensions alone. first: [ranks + 1], ranks: [ranks].
 * Returns how many groups. Ranks of a group ascend. */
uint32_t parallel_groups(const struct parallel *parallel, uint32_t dims, uint32_t *first,
                         uint32_t *ranks);

#endif
