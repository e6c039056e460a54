/*
 * ccl_config.h: which collective algorithm runs and how the queues are set up: ccl.yaml, with the
 * chosen algorithm's entry (and the entries it extends) merged over `defaults`. Sources:
 * collectives/RUNTIME.md, "Configuration". Plain data; const once a run has started.
 */
#ifndef CCL_CONFIG_H
#define CCL_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "lp/lp_config.h"

#define CCL_NAME_BYTES     64
#define CCL_PARAMETERS_MAX 16u /* of an algorithm */

enum ccl_wiring { CCL_WIRING_ALL_PES, CCL_WIRING_PE0 };
enum ccl_host_copy { CCL_HOST_COPY_INSTANT, CCL_HOST_COPY_SIMULATED };
enum ccl_root { CCL_ROOT_CENTER, CCL_ROOT_CORNER, CCL_ROOT_XY };

/*
 * Where ranks are on paired dies (pair_switch), when an algorithm's `mate` or `package` says so:
 * rank r is on the SIP sip_of[r]. Not mapped: rank = SIP, whatever their number.
 */
#define CCL_RANKS_MAX 512u
struct ccl_ranks {
    bool mapped, by_mate; /* by_mate: `mate` is given, else `package` alone */
    /* With the mapper rank_per_pe a rank is a PE, in order of (SIP, cube, PE): the PEs of a SIP,
     * and so its ranks. 0: a rank is a SIP. */
    uint32_t per_sip;
    uint16_t sip_of[CCL_RANKS_MAX], rank_on[CCL_RANKS_MAX];
    /* Of a process group that is not the world: its ranks' SIPs, which say all that `mapped` does;
     * and its ranks in ascending order of their SIPs. NULL: of the world. */
    const uint32_t *list, *sorted;
    uint32_t count; /* of both */
    /* The group's own PEs of each SIP, by number: its lanes. pes 0: all. */
    uint32_t first_pe, pes;
};
static inline uint32_t ccl_sip_of(const struct ccl_ranks *ranks, uint32_t rank)
{
    return ranks->list != NULL ? ranks->list[rank]
           : ranks->mapped     ? ranks->sip_of[rank]
           : ranks->per_sip    ? rank / ranks->per_sip
                               : rank;
}
/* A SIP's place among those of all ranks, in ascending order; of the world, which has the first
 * SIPs, its number. UINT32_MAX: it has no rank of the group. */
static inline uint32_t ccl_place_of_sip(const struct ccl_ranks *ranks, uint32_t sip)
{
    uint32_t from = 0, to = ranks->count;
    if (ranks->list == NULL)
        return sip;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (ranks->list[ranks->sorted[middle]] < sip)
            from = middle + 1;
        else
            to = middle;
    }
    return from < ranks->count && ranks->list[ranks->sorted[from]] == sip ? from : UINT32_MAX;
}

/* The rank at a place. */
static inline uint32_t ccl_rank_at(const struct ccl_ranks *ranks, uint32_t place)
{
    return ranks->list != NULL ? ranks->sorted[place]
           : ranks->mapped     ? ranks->rank_on[place]
                               : place;
}

/* The rank on a SIP; a number that is no rank's: there is none. */
static inline uint32_t ccl_rank_on(const struct ccl_ranks *ranks, uint32_t sip)
{
    const uint32_t place = ccl_place_of_sip(ranks, sip);
    return place != UINT32_MAX ? ccl_rank_at(ranks, place) : UINT32_MAX;
}

/* The rank's PE within its SIP, where ranks are PEs; else its first. */
static inline uint32_t ccl_pe_of(const struct ccl_ranks *ranks, uint32_t rank)
{
    return ranks->per_sip ? rank % ranks->per_sip : ranks->first_pe;
}

#define CCL_RANK_PER_PE "rank_per_pe" /* a mapper's name */

enum ccl_accumulate { CCL_ACCUMULATE_OWN, CCL_ACCUMULATE_F32 };
enum ccl_fp8_overflow { CCL_FP8_SATURATE, CCL_FP8_INFINITY };

/* How PE_MATH and reducing writes compute (hw/HARDWARE.md, "Blocks of a PE"). Times do not depend
 * on it. */
struct ccl_arithmetic {
    enum ccl_accumulate accumulate;
    enum ccl_fp8_overflow fp8_overflow;
};

/* Settings with a protocol of lines, instead of those without; 0: as without. */
struct ccl_lines {
    uint32_t n_slots, slot_bytes, piece_bytes;
};

struct ccl_config {
    char algorithm[CCL_NAME_BYTES];   /* the key under `algorithms` */
    char module[256];                 /* built-in module, or ./file.so:symbol */
    char topology[CCL_NAME_BYTES];    /* logical topology, "none" for the SIPs' own wiring */
    char mapper[256], validator[256]; /* registry name or ./file.so:symbol; "" when not given */
    enum ccl_root root;
    uint32_t root_x, root_y; /* for CCL_ROOT_XY */
    bool rank_invariant;
    struct ccl_arithmetic arithmetic;
    bool overlap_exchange; /* of lrab_pipelined_allreduce */
    uint64_t n_elem;       /* default elements per shard */
    bool n_elem_is_most;   /* no call's shard has more bytes than this many elements of f16 */
    uint32_t world_size;   /* 0: not overridden, the SIP count */

    enum ccl_wiring wiring;
    struct lp_config queues; /* as configured */
    uint32_t coarse_bytes;   /* of a coarse tile (queues.coarse tiles); 0: none */
    struct ccl_lines ll, ll128;
    uint32_t piece_bytes;    /* of a schedule's pieces at most; 0: as many as never fill up rings */
    uint32_t tile_min_bytes; /* a chunk below a piece has as many tiles; 0: whole tiles */
    bool module_unread;      /* the module could not be loaded: nothing may run */
    uint32_t slots_asked;    /* n_slots as configured, where a schedule needs more; 0: as it is */
    enum ccl_host_copy host_copy;
    bool strict_validation;

    /* Of the configured algorithm's own parameters (collectives/parameter.h), in the order in which
     * it declares them. */
    int64_t parameter[CCL_PARAMETERS_MAX];

    /* of reduce-scatter on paired dies (collectives/algorithms/ALGORITHMS.md) */
    bool birs_enable;         /* `auto` may choose birs */
    uint64_t mesh_max_bytes;  /* `auto` takes mesh only below this */
    uint32_t min_slice_align; /* bytes; scratch slots' stride is a multiple of it */
    bool slice_rounding;      /* false: slices must be multiples of it themselves */
    struct ccl_ranks ranks;
};

#endif
