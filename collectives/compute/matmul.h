/*
 * matmul.h: a matrix product on a PE, C = A . B: tiles of A and B are loaded from HBM over
 * vc_compute while PE_GEMM works on those before them, and tiles of C are written back
 * (ALGORITHMS.md, "Compute"). Operands may be in TCM as wholes instead: then they are loaded first,
 * in a phase of their own, each once, and no tile of theirs again. Alone, or as a stream beside an
 * all-reduce on the same PE. Each PE computes a product of its own, or a block of one (compute.h).
 *
 * The three matrices follow each other in a shard of a tensor, A, B, C, each tile by tile, row of
 * tiles by row of tiles; a tile is row-major, and the tiles at the far edges may be smaller. The
 * order of additions: a tile of C is the product of the first tiles of its row and column, in f32
 * in order of the inner dimension; each further pair is added to it, in f32. The sum is rounded to
 * the dtype after each pair, or at the end alone.
 */
#ifndef COLLECTIVES_MATMUL_H
#define COLLECTIVES_MATMUL_H

#include "collectives/verify/bound.h"
#include "collectives/algorithm.h"
#include "collectives/data/dtype.h"

/* Where the operands are while PE_GEMM works. */
enum matmul_operands {
    MATMUL_STREAMED, /* in HBM: each tile is loaded for each step that needs it */
    MATMUL_PINNED,   /* A is in TCM, B is streamed */
    MATMUL_LOADED,   /* both are in TCM */
    MATMUL_CUT,      /* as streamed, of a product that is cut over PEs: for choices alone */
    MATMUL_OPERANDS
};
/* "streamed", ...; NULL from MATMUL_OPERANDS on. */
const char *matmul_operands_name(size_t operands);

/* When the sum of several pairs of tiles is rounded to the dtype. */
enum matmul_sums {
    MATMUL_SUMS_OWN, /* after each pair */
    MATMUL_SUMS_F32 /* at the end: until then it is f32 in TCM. The types are f16, bf16, f32, fp8 */
};

/* A is m x k, B k x n, C m x n. All from 1. */
struct matmul_shape {
    uint32_t m, n, k;
    uint32_t tile;     /* side of a whole tile of C */
    uint32_t operands; /* enum matmul_operands */
    uint32_t depth;    /* of a tile of A or B along k; 0: as `tile` */
    uint32_t sums;     /* enum matmul_sums */
    uint32_t places;   /* of tiles of C in TCM that are stored while the next one begins; 0: one,
                          and its store is waited for before all else */
};
#define MATMUL_SIDE_MAX 65536u

/* A job's kernel beside a collective's; the collective's marks its phases, then there is one more
 * for the rest of the product. */
struct matmul_beside {
    struct tl_kernel kernel;
    const char *phase[16];
    enum tl_status (*stream[1])(struct tl *tl, void *frame);
};

uint64_t matmul_elems(const struct matmul_shape *shape); /* of A, B and C together */
uint64_t matmul_tcm_bytes(const struct matmul_shape *shape, size_t itemsize);
/* Where C begins, in elements. */
static inline uint64_t matmul_result(const struct matmul_shape *shape)
{
    return (uint64_t)shape->m * shape->k + (uint64_t)shape->k * shape->n;
}

/* Pairs of tiles. */
uint64_t matmul_steps(const struct matmul_shape *shape);
/* About how long it takes, in ps, on an idle machine; for comparing tiles. */
int64_t matmul_estimate_ps(const struct hw_config *hw, const struct matmul_shape *shape,
                           size_t itemsize);

/* The events of the simulator that it takes, after its launch (choice/cost.h). */
double matmul_events(const struct matmul_shape *shape, const struct ccl_call *call);

/* The bytes that one link of this class carries. */
void matmul_bound_bytes(struct hw_bound *bound, const struct hw_config *hw, enum hw_link_kind kind,
                        uint64_t bytes);
/* No machine of this kind takes less: PE_GEMM's cycles; the operands' way out of HBM, or the
 * result's into it; both through the engine of PE_DMA; the operands' way into TCM. */
struct hw_bound matmul_bound(const struct hw_config *hw, const struct matmul_shape *shape,
                             size_t itemsize);

/* The job alone; a launch's `more` is a struct compute_job, its region 0 the matrices. The second
 * marks the load of whole operands as a phase, and is for those alone. */
extern const struct tl_kernel matmul_kernel, matmul_staged_kernel;
enum { MATMUL_REGION = 0 };
/* False: the collective's kernel leaves no context or no room in the frame. */
bool matmul_beside(struct matmul_beside *beside, const struct tl_kernel *collective);

#endif
