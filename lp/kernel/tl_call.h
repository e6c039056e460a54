/*
 * tl_call.h: a kernel's call under way: its kinds, its steps, and the means by which the files of
 * the kernel runtime carry it out. Handlers only, on the PE's cube.
 *
 * A call pays for loading its operands from slots, then its overheads. Then it has its effect at
 * its kernel's time; the effect may be to wait.
 */
#ifndef LP_TL_CALL_H
#define LP_TL_CALL_H

#include "lp/fabric/fabric.h"
#include "lp/lp_run.h"

enum tl_call_kind {
    CALL_NONE,
    CALL_LOAD,
    CALL_STORE,
    CALL_COPY,
    CALL_STORE_TO,
    CALL_LOAD_FROM,
    CALL_WAIT_DMA,
    CALL_SEND,
    CALL_RECV,
    CALL_RECV_ANY,
    CALL_RECV_ALL,
    CALL_RECV_INTO,
    CALL_MOVE_TILE, /* the second half of recv_into, to TCM */
    CALL_COPY_TILE, /* the same to HBM or SRAM */
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
    STEP_OPERANDS,    /* operands outside TCM, and those in slots there, are loaded first */
    STEP_OPERAND,     /* one of them: its load enters PE_DMA */
    STEP_OPERAND_DMA, /* and is under way */
    STEP_ISSUE,       /* the call's overheads */
    STEP_EFFECT,      /* its effect, now */
    STEP_DMA,         /* PE_DMA works for it; entered again when PE_DMA is done */
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
    bool entered;     /* the kernel's function runs: tl_here is its own */
};

/*
 * The way to carry out a kind of call. The effect happens at the kernel's time. A call that
 * concerns only its own kernel (`alone`) may have it ahead of the clock. The effect sets step =
 * STEP_DONE or STEP_DMA, or a new kind and step; or it waits (tl_wait_for) and is called again.
 */
struct tl_call_ops {
    const char *name; /* for messages */
    enum tl_issue issue;
    bool alone;
    void (*effect)(struct tl *tl);
};
extern const struct tl_call_ops tl_call_ops[CALL_KINDS];

/* Notes a call: the first step of all of them. */
struct lp_call *tl_start(struct tl *tl, enum tl_call_kind kind, uint32_t bytes);
/* Takes the current call as far as it gets now. True: it is done. */
bool tl_advance(struct tl *tl);

/* True when the kernel's time is now; else an event at its time is on its way. */
bool tl_in_step(struct tl *tl);
/* The causes are traced, if the host asks: the kernel has waited so long for itself. */
static inline void tl_note_part(const struct tl *tl, enum lp_cause_part part, int64_t ps)
{
    if (lp_traces_causes(tl->run->m))
        lp_cause_stretch_part(part, ps);
}
/* A call that waits again for the same keeps its place among the waiting calls. */
void tl_wait_for(struct tl *tl, enum lp_wait wait);
void tl_wait_for_channel(struct tl *tl, enum hw_vc vc); /* as lp_vc() has it */

/* Fails the event: "FAULTPE 0.1.2, kernel NAME", followed by the formatted text and the line of the
 * kernel. */
_Noreturn void tl_fail(const struct tl *tl, const char *fault, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Fills in PE, dtype and times, and emits. */
void tl_emit_op(struct tl *tl, struct lp_op *op);
/* Emits an operation with these members. It is not built if the host wants no operations. */
#define TL_EMIT_OP(tl, ...)                                                                        \
    do {                                                                                           \
        if ((tl)->run->m->emit.ops)                                                                \
            tl_emit_op((tl), &(struct lp_op){__VA_ARGS__});                                        \
    } while (0)
void tl_emit_mark(struct tl *tl, enum lp_mark mark, uint32_t phase);

/* Bytes of a tile that fills its slot: whole elements. */
uint32_t tl_full_tile_bytes(const struct tl *tl);
/* The number of a context's next own event. */
static inline uint32_t tl_next_number(struct tl *tl)
{
    return (uint32_t)lp_next_sender(tl->run, tl->pe).number;
}
/* The memory of an operand; TCM for a received tile. */
static inline uint8_t tl_memory_of(struct lp_operand operand)
{
    return operand.space == LP_SPACE_SRAM  ? HW_MEMORY_SRAM
           : operand.space == LP_SPACE_HBM ? HW_MEMORY_HBM
                                           : HW_MEMORY_TCM;
}

#endif
