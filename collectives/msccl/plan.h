/*
 * plan.h: an MSCCL++ execution plan, as it was read: thread blocks of gpus with their operations,
 * whose buffers and channels are found. plan_read.c fills it from JSON of either schema;
 * plan_build.c makes a schedule that reaches of it (schedule.h). Used by msccl_file.c alone.
 *
 * A channel joins two gpus: the k-th one that a gpu has to another, of a type, is the other end of
 * the k-th one that the other has to it. Signals on it are counted, and the k-th wait takes the
 * k-th. A packet has data and a flag: who reads it waits until it has been written.
 */
#ifndef COLLECTIVES_MSCCL_PLAN_H
#define COLLECTIVES_MSCCL_PLAN_H

#include "collectives/config/input/config_arena.h"
#include "collectives/msccl/msccl_lists.h"

enum plan_kind {
    PLAN_NOP,      /* the block's threads meet */
    PLAN_BARRIER,  /* so do thread blocks */
    PLAN_PAIRS,    /* each destination becomes its source */
    PLAN_VALUE,    /* all destinations become the sum of all sources */
    PLAN_SIGNAL,   /* on channels */
    PLAN_WAIT,     /* for signals */
    PLAN_FLUSH,    /* the puts of a channel have ended */
    PLAN_ACQUIRE,  /* one of each semaphore */
    PLAN_RELEASE,  /* one more of each */
    PLAN_PIPELINE, /* the operations inside, unit after unit */
    PLAN_SWITCH    /* a switch reduces, or sends to all: refused */
};

enum plan_flag {
    PLAN_SIGNALS = 1,  /* then signals its channels */
    PLAN_PACKETS = 2,  /* what is in scratch is packets */
    PLAN_OWN_LAST = 4, /* the first source is added last */
    PLAN_READS = 8     /* a source may be another gpu's */
};

/* A row of the table of operations. */
struct plan_name {
    const char *name;
    enum plan_kind kind;
    unsigned flags; /* enum plan_flag */
};

struct plan_operand {
    struct msccl_place place;
    uint32_t rank, at, count; /* chunks of a gpu's buffer */
    uint8_t buffer;           /* enum schedule_buffer */
};

enum plan_channel_type { PLAN_MEMORY, PLAN_PORT, PLAN_NVLS, PLAN_CHANNEL_TYPES };
struct plan_channel {
    uint32_t peer, number; /* number: among the gpu's channels of its type to the peer */
    uint8_t type;          /* enum plan_channel_type */
    uint8_t src, dst;      /* enum schedule_buffer, of the older schema */
};

struct plan_op {
    struct msccl_place place;
    const struct plan_name *name;
    uint32_t number; /* in the thread block, as the file counts; of an inner one, its pipeline's */
    struct plan_operand *src, *dst;
    uint32_t src_count, dst_count;
    struct plan_channel *channel;
    uint32_t channel_count;
    bool by_port;               /* PLAN_PAIRS: over port channels */
    uint32_t part, parts;       /* of several thread blocks that share the operation; parts >= 1 */
    uint32_t id, count;         /* PLAN_BARRIER: which, and thread blocks */
    uint32_t *semaphore;        /* PLAN_ACQUIRE, PLAN_RELEASE */
    struct schedule_wait *wait; /* PLAN_NOP: operations of other thread blocks, by their numbers */
    uint32_t list_count;        /* of either */
    uint64_t unit_bytes;        /* PLAN_PIPELINE */
    uint32_t unit_chunks, inside; /* chunks that it goes through; operations that follow it in the
                                     thread block, and are inside */
};

struct plan_tb {
    struct msccl_place place;
    struct plan_op *op;
    uint32_t op_count, op_room;
};

struct plan_gpu {
    struct msccl_place place;
    uint32_t chunks[SCHEDULE_BUFFERS];
    struct plan_tb *tb;
    uint32_t tb_count;
    int64_t *semaphore; /* initial values */
    uint32_t semaphore_count;
};

struct plan {
    const char *path;
    char name[64];
    enum ccl_collective collective; /* CCL_CUSTOM: none that is known here */
    bool packets;                   /* protocol LL */
    bool in_place;
    uint32_t scratch_times; /* scratch is so many times as large as its chunks */
    uint64_t min_bytes, max_bytes;
    struct plan_gpu *gpu;
    uint32_t gpu_count;
    bool pipelines;
    struct config_arena arena;
    struct schedule_faults *faults, *notes;
};

/* Reads the text; faults are reported. */
void plan_read(struct plan *plan, const char *text, size_t bytes);
/* Makes a schedule of a plan without faults, for calls of which the larger of input and output has
 * so many bytes (0: not known), which decides the units of pipelines. NULL: faults, or *error. */
struct schedule *plan_build(const struct plan *plan, uint64_t tensor_bytes, struct cw_error *error);
/* What MSCCL++ itself would stumble over. */
void plan_note(const struct plan *plan);

void plan_fault(const struct plan *plan, struct msccl_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
