/*
 * dma.h: PE_DMA's engine and its two virtual channels (lp/QUEUES.md, "PE_DMA"): which channel gets
 * the engine, chunk by chunk, and when an operation's last byte has passed. Pure functions over
 * plain state; the caller (lp/fabric/pe_dma.c) turns their answers into events.
 *
 * The engine passes bytes at the pe_noc link's rate. Each channel is a FIFO of operations. While
 * both channels have work, they take turns by weighted round robin, chunk by chunk; a channel
 * alone gets every chunk. A run is the sequence of chunks that is granted at one time:
 * - With both channels at work, it ends with the first of the two operations. Operations further
 *   back in the channels cannot change it.
 * - With one channel at work, it is the rest of its operation. A newcomer on the other channel cuts
 *   it short at the end of the chunk in progress.
 *
 * Exact: every time is the same as in a simulation chunk by chunk, where each choice is a
 * zero-delay event after the chunk's end, the first of its depth. Hence a grant to a channel alone
 * at time t stays open to a request of the other channel at the same t, if that request is handled
 * before the choice would be: its depth is at most the depth of the event that granted.
 */
#ifndef HW_DMA_H
#define HW_DMA_H

#include "hw/timing.h"

enum hw_vc { HW_VC_COMPUTE, HW_VC_COMM, HW_VCS };

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded" /* states, payloads and records have none */

/* An operation in a channel. All fields but `bytes` are the caller's. 16 bytes. */
struct hw_dma_op {
    uint32_t bytes;
    uint32_t number; /* the transfer's number among its PE's events */
    uint32_t seq;
    uint8_t kind : 4, queue : 3; /* queue: of the PE that runs its kernel */
    uint8_t later : 1;           /* it began when links had failed (hw_config.later) */
    uint8_t dir, memory, slice;
};
_Static_assert(sizeof(struct hw_dma_op) == 16, "two channels of 16 make 512 bytes per PE");

/* Further values of `running`: both channels have the engine by turns, or neither. */
enum { HW_VC_BOTH = HW_VCS, HW_VC_IDLE };

struct hw_dma {
    int64_t run_start_ps;        /* of the run in progress */
    uint32_t passed[HW_VCS];     /* bytes of each channel's first operation before the run */
    uint32_t run_passed[HW_VCS]; /* and after it */
    uint32_t generation; /* of the run, not 0; its end event carries it, an older one is void */
    uint16_t head[HW_VCS], count[HW_VCS]; /* the FIFOs: ring positions in the op arrays */
    uint16_t run_depth;                   /* zero-delay depth of the event that granted the run */
    uint8_t running;                      /* enum hw_vc, HW_VC_BOTH or HW_VC_IDLE */
    uint8_t last; /* the channel of the run's last chunk; HW_VC_IDLE: none yet */
    uint8_t last_before;
    bool whole_chunks; /* the caller's: each chunk is a run, since it goes its way by itself */
    uint16_t quota;    /* chunks left to `last` of its turn after the run */
    uint16_t quota_before;
    uint16_t reserved2;
};
_Static_assert(sizeof(struct hw_dma) == 48, "without padding");
#pragma GCC diagnostic pop

struct hw_dma_params {
    struct hw_rate rate;
    uint32_t chunk_bytes;
    uint32_t weight[HW_VCS];
};

/* Initial state. */
void hw_dma_init(struct hw_dma *dma);

/*
 * Grants the idle engine at `now_ps`; first_bytes gives each channel's first operation's bytes (any
 * value where the channel is empty). Returns the time the run ends, with a chunk of channel
 * dma->last; -1 when nothing waits. grant_ps: when each channel gets its first chunk of this run,
 * -1: not in it.
 */
int64_t hw_dma_grant(struct hw_dma *dma, const struct hw_dma_params *params,
                     const uint32_t first_bytes[HW_VCS], int64_t now_ps, uint16_t depth,
                     int64_t grant_ps[HW_VCS]);

/*
 * An operation has become the first of the idle channel `vc` while a run of the other one is in
 * progress. If the run must end earlier, returns that time (the end event sent before is void),
 * else -1. If the run has only just been granted and the newcomer still takes part in that choice,
 * *regrant is set: the caller grants again (nothing of the run has passed). A newcomer of greater
 * depth joins after the chunk in progress.
 */
int64_t hw_dma_newcomer(struct hw_dma *dma, const struct hw_dma_params *params, enum hw_vc vc,
                        int64_t now_ps, uint16_t depth, bool *regrant);

/* The run has ended: accounts for its bytes, leaves the engine idle, and returns the channel of
 * its last chunk; *before: the bytes of that channel's operation that had passed before the run. */
enum hw_vc hw_dma_run_end(struct hw_dma *dma, uint32_t *before);

#endif
