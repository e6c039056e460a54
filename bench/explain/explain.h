/*
 * explain.h: where the time of a collective goes: the shares of a kernel's time, the use of the
 * blocks of PEs, and the critical path with the thing that limits it. The explainer listens to a
 * machine (struct lp_cause_sink) and explains each of its collectives. A collective's time counts
 * from the launch of its first kernel, which may have waited for its PE.
 *
 * Times are simulated, in ps. All figures count committed events, so they are the same for
 * any number of threads.
 */
#ifndef BENCH_EXPLAIN_H
#define BENCH_EXPLAIN_H

#include "core/cw.h"
#include "bench/explain/path.h"
#include "lp/host/system.h"

/* The uses of a kernel's time. A stream that it forks is not counted: the kernel waits. */
enum explain_share {
    EXPLAIN_LOAD,      /* waits for a load, operands outside TCM included */
    EXPLAIN_STORE,     /* waits for a store or a copy */
    EXPLAIN_MATH,      /* PE_MATH, PE_GEMM, PE_FETCH_STORE */
    EXPLAIN_CALLS,     /* overheads of its calls */
    EXPLAIN_DATA,      /* a receive waits for data */
    EXPLAIN_ROOM,      /* a send waits for a credit: the ring of the receiver is full */
    EXPLAIN_CREDIT,    /* a receive waits until its credit is out (recv_blocks_on_credit) */
    EXPLAIN_DMA,       /* waits for a place in PE_DMA's channel */
    EXPLAIN_DMA_ASYNC, /* waits for an operation that it has begun with a handle */
    EXPLAIN_NOTIFY,    /* waits for a notification */
    EXPLAIN_STREAMS,   /* waits for its streams */
    EXPLAIN_KERNEL, /* waits for its PE, which runs another group's kernel, or an earlier call's */
    EXPLAIN_OTHER,  /* the rest: polling, slot access, static costs */
    EXPLAIN_SHARES
};

struct explain_kernel {
    int64_t ps; /* from the kernel's launch to its end */
    int64_t share_ps[EXPLAIN_SHARES];
    int64_t data_ps[HW_DIRS_MAX]; /* EXPLAIN_DATA by direction */
};

/* Blocks of PEs; the rest of enum hw_node_kind is not used. The engine of PE_DMA counts as its
 * block. */
struct explain_block {
    enum hw_node_kind node;
    double busy_ps;      /* of all PEs that ran a kernel together, of any number */
    int64_t busy_ps_max; /* of the busiest */
};
enum { EXPLAIN_BLOCKS = 8 };

struct explain_part {
    enum path_class class;
    uint32_t which;
    int64_t ps;
    const char *kind; /* the name of the link's kind, or of the node's; "?": it has none */
};
struct explain_place {
    char name[96];
    int64_t ps;
};
enum { EXPLAIN_PLACES = 16 };

/*
 * A thing that could be faster: a link's rate or flight time, a node's overhead and work. Or what
 * one entry of `faults` makes slower at some place, which is one thing, whatever kinds of blocks
 * and links are slow there. Its time is not in that of the kinds. Faster means twice as fast, and
 * of a slow thing half of its slowness.
 */
enum explain_limit_kind { EXPLAIN_RATE, EXPLAIN_FLIGHT, EXPLAIN_NODE, EXPLAIN_SLOW };
struct explain_limit {
    enum explain_limit_kind kind;
    uint32_t which;      /* enum hw_link_kind, enum hw_node_kind; EXPLAIN_SLOW: of hw_faults */
    int64_t ps;          /* of the path */
    int64_t faster_ps;   /* the run's time with this thing faster, by the path */
    char name[64];       /* "the bandwidth of sip_link" */
    char slow[160];      /* "2.0 × slower in SIP 5"; "": it is not slow */
    char settings[2048]; /* values for --set that make it faster, separated by spaces */
};
enum { EXPLAIN_LIMITS = 4 };

/* Where the time of one collective went. */
struct explain {
    int64_t time_ps; /* from the first kernel's launch to the last one's end */
    uint32_t kernels, slowest_pe, slowest_rank;
    char slowest_place[32];
    char dir_name[HW_DIRS_MAX][24]; /* of the slowest kernel; "" where it has none */
    struct explain_kernel slowest, mean;
    struct explain_block block[EXPLAIN_BLOCKS];
    bool has_path; /* else its causes were not kept: `lost` says why */
    const char *lost;
    size_t leg_count;
    struct explain_part part[PATH_CLASSES * 64]; /* the longest first; their times sum to time_ps */
    size_t part_count;
    int64_t credit_ps;                          /* of the path, credits in flight */
    struct explain_place place[EXPLAIN_PLACES]; /* the longest first */
    size_t place_count;
    struct explain_limit limit[EXPLAIN_LIMITS]; /* the longest first */
    size_t limit_count;
};

struct explainer;

/* Outlets of a SIP, or of a switch: steps of causes number the links of an LP with 16 bits, and an
 * IO die has a few more. */
enum { EXPLAIN_OUTLETS_MAX = 65000 };

/* For a machine with these parameters, folded or not (NULL): the fold is of translations, no stop
 * has more than EXPLAIN_OUTLETS_MAX, and explanations are the whole machine's. `ordered`: one
 * worker handles all events, in their order. The memory of causes is limited to `bytes_max`. NULL:
 * out of memory. */
struct explainer *explainer_create(const struct hw_config *hw, const struct hw_fold *fold,
                                   uint32_t workers, bool ordered, uint64_t bytes_max);
void explainer_free(struct explainer *explainer); /* accepts NULL */
/* The options that the machine is built with. */
struct lp_cause_sink explainer_sink(struct explainer *explainer);

/* The collective to explain is the last of this many. The machine notes causes for this one alone,
 * and for those after it. Between drains. */
void explainer_expect(struct explainer *explainer, uint32_t calls);

/* Explains the collective of this batch, which has not ended; between drains. The caller frees it.
 * NULL: out of memory. */
struct explain *explain_collective(struct explainer *explainer, struct lp_system *system,
                                   uint32_t batch);

/* Of a machine whose SIPs run programs: no kernels are counted, only causes kept. */
void explainer_keep_causes(struct explainer *explainer);
/* Explains the programs that ran from begun_ps to end_ps: their critical path alone, so that
 * `kernels` is 0. Between drains. The caller frees it. NULL: out of memory. */
struct explain *explain_programs(struct explainer *explainer, struct lp_system *system,
                                 int64_t begun_ps, int64_t end_ps);

extern const char *const explain_share_name[EXPLAIN_SHARES];

#endif
