/*
 * compute.h: what one rank computes by itself, on some PEs of its SIP (ALGORITHMS.md, "Compute"): a
 * matrix product that is cut over them, or the time that work of some size takes each of them. It
 * needs no other rank, and no queues.
 */
#ifndef COLLECTIVES_COMPUTE_H
#define COLLECTIVES_COMPUTE_H

#include "collectives/compute/matmul.h"

enum compute_kind {
    COMPUTE_PRODUCT,  /* C = A . B */
    COMPUTE_ROOFLINE, /* bytes from HBM, while PE_GEMM or PE_MATH works */
    COMPUTE_TIME      /* the PE is busy */
};

/* What is asked for. */
struct compute_request {
    enum compute_kind kind;
    uint32_t first,
        count;        /* PEs of the SIP, in order of (cube, PE); count 0: all from `first` on */
    enum dtype dtype; /* of a product */
    uint32_t m, n, k; /* of a product: 1 to COMPUTE_SIDE_MAX */
    uint64_t flops, bytes; /* of a roofline: of all these PEs together */
    enum tl_block block;   /* of a roofline: TL_BLOCK_GEMM or TL_BLOCK_MATH */
    int64_t time_ps;       /* of a time: of each PE */
    uint32_t queue;        /* hardware queue of the PEs that its kernels run on */
};
#define COMPUTE_SIDE_MAX (1u << 24)

/*
 * A computation in progress: a launch's `more`, const until it is complete. A product is cut into
 * rows x columns blocks of C, of as even sides as can be: block i is PE first + i's, whose shard
 * has the rows of A and the columns of B that it needs. 0 x 0: each PE has a product of its own.
 */
struct compute_job {
    struct compute_request request;
    struct matmul_shape shape; /* of the whole product, with a PE's tiles */
    uint32_t rows, columns;    /* of blocks */
    uint32_t pes;              /* that run it, from request.first on */
    uint64_t pe_bytes;         /* of a roofline: of each PE, */
    int64_t pe_work_ps;        /* and the work of its block, without overheads */
    uint32_t tcm, hbm;         /* where its places are in TCM; a roofline's bytes in the slice */
    uint32_t chunk_bytes;      /* of a load of a roofline */
    int64_t at_once_ps;        /* a roofline is one work of this time; 0: it is not */
    const struct tl_kernel *kernel; /* of the collective that it runs beside; NULL: alone */
};

/*
 * The job for what is asked for, with `tcm_bytes` of each TCM from offset 0 on, and PE memory that
 * may be read from offset `hbm` of each slice on. A product's blocks and tiles are those with the
 * least estimated time. An enum cw_exit; CW_USAGE: the request cannot be fulfilled, and why.
 */
int compute_job_of(const struct hw_config *hw, const struct compute_request *request,
                   uint64_t tcm_bytes, uint32_t hbm, struct compute_job *job,
                   struct cw_error *error);

/* With coarse tiles: a roofline is one work, of the time that its kernel takes on an idle machine
 * (ALGORITHMS.md, "Compute"). Other jobs stay as they are. */
void compute_job_at_once(const struct hw_config *hw, struct compute_job *job);

/* The block of a product at PE first + index: its shape, and where it begins in C. */
struct compute_block {
    struct matmul_shape shape;
    uint32_t row, column;
};
struct compute_block compute_block_of(const struct compute_job *job, uint32_t index);
/* Of TCM, on each PE. */
uint64_t compute_tcm_bytes(const struct compute_job *job);
/* Of a shard of the operands: as many as the largest block needs. */
uint64_t compute_shard_elems(const struct compute_job *job);

/*
 * A block's operands in the layout of its shard: element (i, l) of A is element `first` + i * k + l
 * of the seed's stream, element (l, j) of B element `first` + m * k + l * n + j, whichever PE has
 * it. The rest of the shard is left as it is.
 */
void compute_fill(const struct compute_job *job, uint32_t index, uint64_t seed, uint64_t first,
                  void *shard);

/* No machine of this kind takes less, from the first kernel's start to the last one's end, however
 * a product's C is cut into blocks. `by` of a time: "time". */
struct hw_bound compute_bound(const struct hw_config *hw, const struct compute_job *job);
/* Floating-point operations: 2 of each multiplication; 0 of a time. */
double compute_flops(const struct compute_job *job);
/* The events of the simulator on all PEs, with their launches (choice/cost.h). Of the call: hw, ccl
 * and dtype. */
double compute_events(const struct ccl_call *call, const struct compute_job *job);

const char *compute_kernel_name(enum compute_kind kind); /* "product", "roofline", "time" */
extern const struct tl_kernel compute_roofline_kernel, compute_time_kernel;
const struct tl_kernel *compute_kernel(const struct compute_job *job);

#endif
