/*
 * record.h: the committed data operations that leave the simulation (lp/QUEUES.md, "Op log and the
 * two passes"). Timing never depends on tensor values, so LPs move no data. Each operation of a
 * kernel emits one of these records. The data pass executes them in the order of commitment, on a
 * sparse memory.
 *
 * Causality:
 *   1. the records of one context of a PE come in program order;
 *   2. the record of a receive comes after the record of the send that made the tile, and so does
 *      every record that uses the tile;
 *   3. a LAND comes after its PUT, and every use of the landed value comes after the LAND;
 *   4. a STORED comes after its STORE_TO and before the acknowledgement;
 *   5. a LOAD_FROM comes after its LENT, and before everything that uses the loaded value.
 *
 * Values (lp/QUEUES.md, "Value semantics"): a send binds its source's value when its record comes.
 * A received tile is named by (receiving PE, direction, sequence number). It keeps its value when
 * its slot is written again. It loses it with the record that carries LP_LAST_USE, or with the end
 * of the kernel that has received it. A put's value is bound when its PUT comes, and written when
 * its LAND comes. The value of a load from another PE's memory is bound when its LENT comes, and
 * written when its LOAD_FROM comes.
 */
#ifndef LP_RECORD_H
#define LP_RECORD_H

#include <stdbool.h>
#include <stdint.h>

/* Kinds of commit records that lp/ emits (cw_emit's `kind`). */
enum lp_record_kind {
    LP_RECORD_OP = 1,    /* struct lp_op */
    LP_RECORD_KERNEL,    /* struct lp_kernel_record: a kernel's start, end, phase marks */
    LP_RECORD_ARRIVAL,   /* struct lp_arrival, if the host wants them */
    LP_RECORD_CROSSED,   /* struct lp_crossed, if the host wants them */
    LP_RECORD_WAIT_KEPT, /* struct lp_waited, which the log of causes has already; if wanted */
    LP_RECORD_ANSWER,    /* struct lp_answer */
    LP_RECORD_CAUSE,     /* struct lp_cause (causes.h), if the host wants them, and the two below */
    LP_RECORD_CAUSE_MORE,
    LP_RECORD_WAITED, /* struct lp_waited (causes.h) */
};

enum lp_op_kind {
    LP_OP_SEND = 1, /* a -> the tile (peer, peer_dir, seq). math: 0; or, of a part of a tile that
                       switches combine, enum lp_math, and LP_NOT_WANTED if this PE does not want
                       the tile. Then peer is the PE itself, and dst.dir the tree; the other parts
                       are those of the PEs at this place of all other SIPs */
    LP_OP_RECV,     /* (pe, dir, seq) was received. dst: LP_SPACE_NONE, the kernel has the slot's
                       address and nothing moves; or the place of the copy (copy_to_dst) */
    LP_OP_LOAD,     /* a (HBM, SRAM or a tile) -> dst (TCM) */
    LP_OP_STORE,    /* a -> dst (HBM or SRAM) */
    LP_OP_COPY,     /* a -> dst */
    LP_OP_MATH,     /* a (math) b -> dst, element by element, one rounding each */
    LP_OP_PUT,      /* a is bound as put number `seq` of this PE, for dst in memories of `peer` and
                       its cube. math: 0 = plain, else LAND reduces. The puts of one PE are numbered
                       from 0 without gaps, over all peers; they land in any order */
    LP_OP_LAND,     /* at the destination, when the put is visible: put number `seq` of `peer`.
                       Plain: dst <- value; else dst <- dst (math) value, one rounding per element.
                       dst, math, bytes and dtype are its PUT's (filled in by landing.c) */
    LP_OP_NOTIFY,   /* notification number `seq` of this PE goes to `peer`, tag in `dir`; moves
                       nothing */
    LP_OP_WAIT_NOTIFY, /* this PE consumed a notification of `peer`, tag in `dir`; moves nothing */
    LP_OP_CAST,        /* a (dtype) -> dst (dtype in `math`: enum lp_dtype); bytes are the source's.
                          Through f32, one rounding */
    LP_OP_GEMM,     /* dst[rows][cols] <- a[rows][inner] . b[inner][cols], row-major, rows in `seq`,
                       inner in `peer`, bytes of dst. math = LP_MATH_SUM: added to dst, else 0.
                       Products and sums in f32, a rounding each, in order of inner, from dst's value
                       or +0; one rounding to the dtype at the end. `dir`: enum lp_sums */
    LP_OP_STORE_TO, /* a is bound as the raw store `seq` of this PE, for dst in
                       memories of `peer` and its cube. The PE uses the number again when the store
                       is acknowledged */
    LP_OP_STORED,   /* at the destination, when the data are in the memory: the raw store `seq` of
                       `peer`. dst <- value. dst, bytes and dtype are its STORE_TO's (filled in by
                       landing.c) */
    LP_OP_LENT,     /* the request of `peer` is at this PE's memory: a is bound for its load `seq`.
                       `peer` uses the number again when the load is complete */
    LP_OP_LOAD_FROM, /* the data of load `seq` of this PE, from a memory of `peer`, are there: dst
                        (TCM) <- value. A load with a handle starts and ends then */
};
/* Of a product: its old value is in f32, and its result stays so, without a rounding to the dtype.
 */
enum lp_sums { LP_SUMS_FROM_F32 = 1, LP_SUMS_TO_F32 = 2 };
enum lp_math { LP_MATH_SUM = 1, LP_MATH_MAX, LP_MATH_MIN, LP_MATH_PROD, LP_MATHS };

/*
 * The element types: name, its text, bytes of an element, and two more names for the command line,
 * those of nccl-tests first. The one list of them; new ones come last, since files have the
 * numbers.
 */
#define LP_DTYPE_LIST(X)                                                                           \
    X(F16, "f16", 2, "half", "float16")                                                            \
    X(BF16, "bf16", 2, "bfloat16", "bfloat16")                                                     \
    X(F32, "f32", 4, "float", "float32")                                                           \
    X(F64, "f64", 8, "double", "float64")                                                          \
    X(FP8_E4M3, "fp8_e4m3", 1, "f8e4m3", "fp8e4m3")                                                \
    X(FP8_E5M2, "fp8_e5m2", 1, "f8e5m2", "fp8e5m2")                                                \
    X(INT8, "int8", 1, "char", "i8")                                                               \
    X(INT32, "int32", 4, "int", "i32")

enum lp_dtype {
    LP_NO_DTYPE,
#define LP_DTYPE(name, text, bytes, nccl, other) LP_##name,
    LP_DTYPE_LIST(LP_DTYPE)
#undef LP_DTYPE
        LP_DTYPES
};
static inline bool lp_dtype_is_known(unsigned dtype)
{
    return dtype > LP_NO_DTYPE && dtype < LP_DTYPES;
}
static inline uint32_t lp_dtype_bytes(enum lp_dtype dtype)
{
#define LP_DTYPE(name, text, bytes, nccl, other) [LP_##name] = (bytes),
    static const uint8_t size[LP_DTYPES] = {LP_DTYPE_LIST(LP_DTYPE)};
#undef LP_DTYPE
    return size[dtype];
}

enum { LP_NOT_WANTED = 16 }; /* beside enum lp_math */

enum lp_space {
    LP_SPACE_NONE,
    LP_SPACE_TCM,  /* at: byte offset in the PE's TCM */
    LP_SPACE_HBM,  /* at: byte offset in the PE's HBM slice */
    LP_SPACE_SRAM, /* at: byte offset in the cube's SRAM */
    LP_SPACE_TILE, /* at: sequence number of a tile received by this PE from direction `dir` */
};
enum { LP_LAST_USE = 1 }; /* flag of an operand: nothing uses this tile afterwards */

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded" /* states, payloads and records have none */

/* Where an operand is. `bytes` of the operation start there. */
struct lp_operand {
    uint8_t space; /* enum lp_space */
    uint8_t dir;   /* for LP_SPACE_TILE */
    uint8_t flags;
    uint8_t queue; /* in a record: the hardware queue of the kernel whose operand it is */
    uint32_t at;
};

/* One data operation. PEs are global indices: (sip * cubes + cube) * pes + pe. */
struct lp_op {
    int64_t t_start_ps, t_end_ps; /* a send's t_end is when the kernel continued */
    uint32_t pe;
    uint8_t kind;  /* enum lp_op_kind */
    uint8_t math;  /* enum lp_math; CAST: enum lp_dtype of dst */
    uint8_t dtype; /* enum lp_dtype */
    uint8_t dir;   /* send, recv: this PE's direction; notify, wait_notify: tag; gemm: lp_sums */
    uint32_t bytes;
    uint32_t seq;  /* send, recv: the tile's number in its queue, from 0; put, notify: see above;
                      gemm: rows */
    uint32_t peer; /* send, put, notify: the receiving PE; recv, land, wait_notify: the sending one
                      (of a recv filled in by system.c);
                      gemm: inner */
    uint8_t peer_dir;    /* send, recv: the direction there */
    uint8_t dims;        /* send, recv: dimensions of the tile, 1 to LP_DIMS_MAX */
    uint16_t source;     /* send, recv: the kernel's line (tl_source_number): for reports */
    struct lp_operand a; /* recv: the slot that the tile comes from (filled in by system.c) */
    union {
        struct lp_operand b; /* lp_op_reads_b() */
        uint32_t dim[2];     /* send, recv: the first dimensions (lp_shape_of()) */
    };
    struct lp_operand dst; /* send, put: at the peer */
};
enum { LP_DIMS_MAX = 4, LP_DIM_BITS = 21 };
/*
 * The shape of a tile in the two words `dim`: the first dimensions, since the last has the other
 * elements. Of four dimensions, the first three have 21 bits each. Unused words are 0.
 */
static inline void lp_shape_pack(uint32_t dims, const uint32_t size[LP_DIMS_MAX], uint32_t dim[2])
{
    const uint64_t packed =
        size[0] | (uint64_t)size[1] << LP_DIM_BITS | (uint64_t)size[2] << 2 * LP_DIM_BITS;
    dim[0] = dims == LP_DIMS_MAX ? (uint32_t)packed : size[0];
    dim[1] = dims == LP_DIMS_MAX ? (uint32_t)(packed >> 32) : dims > 1 ? size[1] : 0;
}
/* The sizes of a tile's dimensions; 0 from dimension `dims` on. */
static inline void lp_shape_of(uint32_t dims, const uint32_t dim[2], uint64_t elements,
                               uint32_t size[LP_DIMS_MAX])
{
    const uint64_t packed = dim[0] | (uint64_t)dim[1] << 32, mask = (1u << LP_DIM_BITS) - 1;
    uint64_t first = 1;
    for (uint32_t i = 0; i < LP_DIMS_MAX; i++) {
        size[i] = i >= dims             ? 0
                  : i + 1 == dims       ? (uint32_t)(first > 0 ? elements / first : 0)
                  : dims == LP_DIMS_MAX ? (uint32_t)(packed >> i * LP_DIM_BITS & mask)
                                        : dim[i];
        first *= size[i];
    }
}
static inline bool lp_op_is_tile(const struct lp_op *op)
{
    return op->kind == LP_OP_SEND || op->kind == LP_OP_RECV;
}
static inline bool lp_op_reads_b(const struct lp_op *op)
{
    return op->kind == LP_OP_MATH || op->kind == LP_OP_GEMM;
}
/* A tile has become visible in its slot: the slot's old contents are gone. */
struct lp_arrival {
    int64_t t_ps;
    uint32_t pe, seq; /* the receiver; the tile's number in its queue */
    uint8_t dir;
    uint8_t reserved[7];
};
_Static_assert(sizeof(struct lp_arrival) == 24, "without padding");
_Static_assert(sizeof(struct lp_op) == 64, "a record is at most 64 bytes, without padding");

/* A kernel's start, its end, and its phase marks. */
enum lp_mark { LP_MARK_START = 1, LP_MARK_END, LP_MARK_PHASE };
struct lp_kernel_record {
    int64_t t_ps;
    uint32_t pe, launch;
    uint32_t mark;  /* enum lp_mark */
    uint32_t phase; /* index in the kernel's phase names: the phase that begins */
};
/* A part of a collective's traffic has reserved a link: it is busy for `busy_ps` until `end_ps`,
 * which may be later than the event. */
struct lp_crossed {
    int64_t end_ps, busy_ps;
    uint32_t lp, index; /* its owner, its number in the owner's state */
    uint32_t bytes;
    uint32_t batch;
};
/* A kernel's completion is at the host. */
struct lp_answer {
    int64_t t_ps;
    uint32_t pe, launch;
};
#pragma GCC diagnostic pop

struct cw_event;
struct lp_waited; /* lp/causes.h */

/* ---- who receives them ----------------------------------------------------------------------- */

/*
 * Hears what the machine commits, in the total order of events, on one thread (cw_record_fn): each
 * data operation; each tile's arrival in its slot; each start, phase and end of a kernel; each link
 * that is crossed; each look of a kernel that has waited, now. NULL: not wanted. Without any of
 * them nothing is put into that order.
 */
struct lp_listener {
    void (*op)(void *arg, const struct cw_event *event, const struct lp_op *op);
    void (*arrival)(void *arg, const struct cw_event *event, const struct lp_arrival *arrival);
    void (*kernel)(void *arg, const struct lp_kernel_record *record);
    void (*crossed)(void *arg, const struct lp_crossed *crossed);
    void (*waited)(void *arg, int64_t now_ps, const struct lp_waited *waited);
    void *arg;
};

/*
 * Hears it on the workers, in the order of each LP (cw_worker_record_fn): each data operation; the
 * start of a PE's kernel, with its batch (lp/host/batches.h); the end of a PE's kernel, with which
 * its received tiles are dead. `look` is a cw_worker_look_fn. NULL: not wanted.
 */
struct lp_kernel_end {
    uint32_t pe, queue;         /* the hardware queue that it ran on, */
    uint32_t tcm_at, tcm_bytes; /* and that queue's share of TCM */
};
struct lp_worker_listener {
    void (*op)(void *arg, uint32_t worker, const struct cw_event *event, const struct lp_op *op);
    void (*kernel_started)(void *arg, uint32_t worker, const struct cw_event *event, uint32_t pe,
                           uint32_t batch);
    void (*kernel_ended)(void *arg, uint32_t worker, const struct cw_event *event,
                         const struct lp_kernel_end *end);
    bool (*look)(void *arg, uint32_t worker);
    void *arg;
};

#endif
