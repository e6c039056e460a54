/*
 * reduce_scatter.h: the host's side of the algorithms on paired dies (ALGORITHMS.md): their
 * conditions and their memory, as far as they share them; reduce_scatter_kernel.h has the kernels'
 * side. Each algorithm is a file of its own: birs.c, birs_inter.c, rhd.c, mesh.c,
 * birs_allreduce.c; auto.c chooses. Pure.
 *
 * Memory of a rank, all in the HBM of PE 0 of its SIP's only cube: the input (the tensor), n_elem
 * elements, slice p being its p-th part; the output (region 0), one slice; the scratch (region 1),
 * slots of one slice each, a stride apart. Every rank has them at the same offsets.
 *
 * Ranks are numbered as the host does; `mate` and `package` may give the SIP of a rank another
 * number. SIPs 2k and 2k + 1 are a package.
 */
#ifndef COLLECTIVES_REDUCE_SCATTER_H
#define COLLECTIVES_REDUCE_SCATTER_H

#include "collectives/algorithm.h"
#include "collectives/choice/cost_steps.h"

/* The most ranks that birs takes; birs_inter takes more. */
enum { CCL_BIRS_RANKS_MAX = 16 };

/* An algorithm's conditions beyond the common ones: n_elem is a multiple of the ranks, one cube per
 * SIP. */
struct ccl_rs_needs {
    bool pairs;                    /* pair_switch, an even number of ranks */
    uint32_t ranks_min, ranks_max; /* 0: any */
    bool aligned;                  /* slots are min_slice_align apart */
    bool in_place;                 /* no output beside the input */
    uint32_t slots;                /* of scratch */
    uint32_t tcm_tiles;            /* in TCM at once */
};

/* `check` of struct ccl_algorithm. */
int ccl_rs_check(const struct ccl_call *call, const struct ccl_rs_needs *needs, const char *name,
                 struct ccl_refusal *refusal);
uint64_t ccl_rs_slice_bytes(const struct ccl_call *call);
uint64_t ccl_rs_scratch_bytes(const struct ccl_call *call, const struct ccl_rs_needs *needs);
uint64_t ccl_rs_tcm_bytes(const struct ccl_call *call, uint32_t tiles);
void ccl_rs_kernel_args(const struct ccl_call *call, struct tl_args *args);
/* The built-in mappers that choose PE 0 of a SIP's only cube, and a takes_part() that does so, too.
 */
enum { CCL_RS_MAPPERS = CCL_MAPPER_LEADER_ONLY | CCL_MAPPER_PE0_ALL_CUBES };
bool ccl_rs_takes_part(const struct ccl_call *call, uint32_t cube, uint32_t pe);

#endif
