/*
 * tl_call.h: what the files of the kernel runtime share: a call under way and how each kind of call
 * is carried out. A call pays for loading its operands from slots, then its overheads, then has its
 * effect at its kernel's time, which may be to wait; tl.c takes it through these steps.
 *
 * Included by lp/kernel/tl*.c only.
 */
#ifndef LP_TL_CALL_H
#define LP_TL_CALL_H

#include "lp/fabric/fabric.h"
#include "lp/fabric/pe_dma.h"
#include "lp/lp_run.h"

enum tl_call_kind {
    CALL_NONE,
    CALL_LOAD,
    CALL_STORE,
    CALL_COPY,
    CALL_STORE_TO,
    CALL_WAIT_DMA,
    CALL_SEND,
    CALL_RECV,
    CALL_RECV_ANY,
    CALL_RECV_ALL,
    CALL_RECV_INTO,
    CALL_MOVE_TILE, /* the second half of recv_into */
    CALL_RECV_ASYNC,
    CALL_WAIT,
    CALL_PUT,
    CALL_NOTIFY,
    CALL_WAIT_NOTIFY,
    CALL_MATH,
    CALL_CAST,
    CALL_DOT,
    CALL_FORK,
    CALL_JOIN,
    CALL_BARRIER,
    CALL_END, /* the last act of a kernel or a stream */
    CALL_KINDS
};

enum tl_step {
    STEP_OPERANDS,    /* operands in slots that are not in TCM are loaded first */
    STEP_OPERAND,     /* one of them: its load enters PE_DMA */
    STEP_OPERAND_DMA, /* and is under way */
    STEP_ISSUE,       /* the call's overheads */
    STEP_EFFECT,      /* what it does, now */
    STEP_DMA,         /* PE_DMA works for it; entered again when it is done */
    STEP_DONE
};

/* A kernel's view of its PE during one entry. */
struct tl {
    struct lp_run *run;
    uint32_t pe, context;
    const struct lp_pe *p;
    struct lp_kernel *kernel; /* mutable: of this context */
    const struct lp_launch *launch;
    int64_t local_ps; /* the kernel's own time, >= now */
};

/*
 * How a kind of call is carried out. The effect happens at the kernel's time, unless the call
 * concerns nobody else (`alone`): then it may happen ahead of the clock. It sets step = STEP_DONE
 * or STEP_DMA, or a new kind and step, or else waits (tl_wait_for) and is called again.
 */
struct tl_call_ops {
    const char *name; /* for messages */
    enum tl_issue issue;
    bool alone;
    void (*effect)(struct tl *tl);
};

/* ---- tl.c -------------------------------------------------------------------------------------
 */

extern const struct tl_call_ops tl_call_ops[CALL_KINDS];

struct lp_call *tl_start(struct tl *tl, enum tl_call_kind kind, uint32_t bytes);
void tl_wait_for(struct tl *tl, enum lp_wait wait);
void tl_wait_for_channel(struct tl *tl, enum hw_vc vc); /* as lp_vc() has it */
/* Fills in PE, dtype and times, and emits. */
void tl_emit_op(struct tl *tl, struct lp_op *op);
/* Emits an operation with these members; does not build it if nobody looks at any. */
#define TL_EMIT_OP(tl, ...)                                                                        \
    do {                                                                                           \
        if ((tl)->run->m->emit.ops)                                                                \
            tl_emit_op((tl), &(struct lp_op){__VA_ARGS__});                                        \
    } while (0)
void tl_emit_mark(struct tl *tl, enum lp_mark mark, uint32_t phase);
uint32_t tl_full_tile_bytes(const struct tl *tl); /* whole elements */
/* The number of a context's next own event. */
static inline uint32_t tl_next_number(struct tl *tl)
{
    return (uint32_t)lp_next_sender(tl->run, tl->pe).number;
}

/* ---- tl_cost.c ---------------------------------------------------------------------------------
 */

/* What a block of this PE takes for a part of the current call that costs `cost_ps`. */
int64_t tl_block_ps(const struct tl *tl, enum hw_node_kind block, uint32_t part, int64_t cost_ps);
int64_t tl_issue_ps(const struct tl *tl, enum tl_issue issue, uint32_t part);
/* PE_FETCH_STORE: all source operands together, then the result. */
int64_t tl_fetch_ps(const struct tl *tl, uint64_t operand_bytes, uint64_t result_bytes);

/* A physical range that a call names must lie within its memory; anything else passes. */
void tl_check_range(struct tl *tl, enum tl_call_kind kind, struct lp_operand at, uint64_t bytes);
/* What a call does with elements must be in enum lp_math. */
void tl_check_math(struct tl *tl, enum tl_call_kind kind, uint32_t math);

/* ---- the effects ------------------------------------------------------------------------------
 */

void tl_effect_load(struct tl *tl);
void tl_effect_store(struct tl *tl);
void tl_effect_copy(struct tl *tl);
void tl_effect_store_to(struct tl *tl);
void tl_effect_wait_dma(struct tl *tl);
void tl_moved(struct tl *tl); /* a blocking load, store or copy is complete: its records */
void tl_effect_send(struct tl *tl);
void tl_effect_recv(struct tl *tl);
void tl_effect_recv_all(struct tl *tl);
void tl_effect_recv_async(struct tl *tl);
void tl_effect_move_tile(struct tl *tl);
void tl_effect_put(struct tl *tl);
void tl_effect_notify(struct tl *tl);
void tl_effect_wait_notify(struct tl *tl);
void tl_effect_math(struct tl *tl);
void tl_effect_cast(struct tl *tl);
void tl_effect_dot(struct tl *tl);
void tl_effect_fork(struct tl *tl);
void tl_effect_join(struct tl *tl);
void tl_effect_barrier(struct tl *tl);
void tl_effect_end(struct tl *tl);

#endif
