/*
 * tensor.h: tensors of a rank and where their parts are (RUNTIME.md, "Tensors and placement").
 * A tensor lives on one SIP; its policy says how it is cut over cubes and PEs. Here are places and
 * addresses only: contents are the data pass's.
 *
 * Layout. Each SIP has a symmetric heap: a tensor takes the same byte range in the HBM slice of
 * every PE of its SIP, as long as one shard, from a multiple of the MMU's page. Its shards are
 * there at one hbm_offset, whatever the PE. Kernels see virtual addresses: shard i is at va_base +
 * i * shard_bytes, i being the cube (each PE of it mapping its own copy), or, where PEs have
 * columns of their own, cube * (PEs of a cube) + pe. Where a tensor has other shards than shard 0,
 * each PE that holds one sees it at window_va, too: a launch names it by this address as a region,
 * which is alike on all PEs. Virtual addresses are never used twice.
 *
 * One thread at a time; two spaces share nothing.
 */
#ifndef COLLECTIVES_TENSOR_H
#define COLLECTIVES_TENSOR_H

#include "collectives/data/dtype.h"
#include "core/cw.h"
#include "hw/hw_config.h"
#include "hw/topology/fold.h"

enum dp_placement {
    DP_REPLICATE,  /* each has all of it */
    DP_ROW_WISE,   /* each has its part of the rows: cubes only */
    DP_COLUMN_WISE /* each has its part of the columns: PEs only */
};

struct dp_policy {
    enum dp_placement cube, pe;
    uint32_t num_cubes, num_pes; /* this many, the first of the SIP or of each cube; 0: all */
    uint32_t first_pe; /* the first shard's PE, by its number in the SIP: they are counted from its
                          cube, and in each cube from its PE */
};

struct tensor_shape {
    uint64_t rows, columns;
};

struct tensor_shard {
    uint32_t sip, cube, pe;
    uint32_t pe_index;     /* global: (sip * cubes + cube) * pes + pe */
    uint32_t part;         /* which part of the tensor it is; copies have the same */
    uint64_t offset_bytes; /* of its first element, in the whole tensor */
    uint64_t va;
    uint64_t hbm_offset; /* in the PE's slice */
};

struct tensor_space;

struct tensor {
    struct tensor_space *space; /* NULL: its range has been given back */
    enum dtype dtype;           /* of a tensor of bytes: none */
    uint32_t item_bytes;        /* of an element */
    struct tensor_shape shape;
    struct dp_policy policy; /* with both numbers filled in */
    uint32_t sip;
    uint64_t shard_elems, shard_bytes;       /* of each shard */
    uint64_t va_base, window_va, hbm_offset; /* window_va == va_base: there is shard 0 alone */
    uint64_t va_end;                         /* of the addresses that it takes */
    uint64_t reserved_bytes;                 /* taken in each PE's slice */
    const void *made_for;                    /* whose layout it has: compute_call.h; NULL: none */
    uint32_t shard_count;
    struct tensor_shard shard[]; /* sorted by cube, then PE */
};

/*
 * The heaps of all SIPs, or of a fold's representatives (NULL: there is none). The first
 * reserved_bytes of every slice belong to others (receive rings). hw and fold must outlive the
 * space. NULL: out of memory.
 */
struct tensor_space *tensor_space_create(const struct hw_config *hw, const struct hw_fold *fold,
                                         uint64_t reserved_bytes);
void tensor_space_free(struct tensor_space *space); /* after its tensors; accepts NULL */
/* Where the heaps begin in each slice. */
uint64_t tensor_space_begin(const struct tensor_space *space);
/* The longest range that a tensor could still take in each slice of a SIP. */
uint64_t tensor_space_left(const struct tensor_space *space, uint32_t sip);
/* The first place for this many bytes in each slice of a SIP, from a place on; UINT64_MAX: none. */
uint64_t tensor_space_place(const struct tensor_space *space, uint32_t sip, uint64_t bytes,
                            uint64_t from);

/*
 * Places a tensor. NULL: CW_USAGE, the shape does not divide by the policy, or the policy has more
 * cubes or PEs than there are; CW_NO_RESOURCE, the slices (or this machine) have no room.
 */
struct tensor *tensor_create(struct tensor_space *space, uint32_t sip, struct tensor_shape shape,
                             enum dtype dtype, const struct dp_policy *policy,
                             struct cw_error *error);
/* Memory without a type: a tensor of this many bytes in each shard, one on each PE of the policy,
 * at the first place from byte `from` of the slices on. */
struct tensor *tensor_create_bytes(struct tensor_space *space, uint32_t sip, uint64_t bytes,
                                   uint64_t from, const struct dp_policy *policy,
                                   struct cw_error *error);
void tensor_give_range(struct tensor *tensor); /* its memory is free, `space` is NULL; once */
void tensor_free(struct tensor *tensor);       /* the same, and the tensor itself; accepts NULL */

/* Parts that are not copies of each other. */
uint32_t tensor_parts(const struct tensor *tensor);

/* The tensors that all ranks have submitted to one call: the tensor as the whole group sees it. */
struct tensor_group {
    struct tensor *const *tensor; /* [ranks] */
    uint32_t ranks;
};

/*
 * The shards of a group's tensor that are on one SIP, in ascending order of (cube, pe,
 * offset_bytes): launches may rely on it.
 */
struct tensor_view {
    const struct tensor_shard *shard;
    uint32_t count;
    uint64_t va_base; /* of the first part on this SIP */
};

/* CW_PROGRAM_FAILED: no shard is there. */
int tensor_view_of(const struct tensor_group *group, uint32_t sip, struct tensor_view *view,
                   struct cw_error *error);
/* Those of one PE among them; count 0: none. */
struct tensor_view tensor_view_of_pe(const struct tensor_view *view, uint32_t cube, uint32_t pe);

#endif
