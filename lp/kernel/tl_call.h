/*
 * tl_call.h: a kernel's current call: its kinds, its steps, and what the files of the kernel
 * runtime need to carry it out. Handlers only, on the PE's cube.
 *
 * A call pays for loading its operands from slots, then its overheads. Then it has its effect at
 * its kernel's time; the effect may be to wait.
 */
#ifndef LP_TL_CALL_H
#define LP_TL_CALL_H

#include "lp/fabric/fabric.h"
#include "lp/lp_view.h"

/*
 * The kinds of calls, one row each: CALL(NAME, text, overheads, when, effect)
 *   text       its name in messages
 *   overheads  enum tl_issue: paid before the effect
 *   when       IN_STEP: the effect happens when the clock has reached the kernel's time. AHEAD: the
 *              call concerns only its own kernel, so its effect may happen before
 *   effect     the function that carries it out, in the file of its subject: tl_queue.c,
 * tl_memory.c, tl_one_sided.c, tl_compute.c, tl_context.c MOVE_TILE and COPY_TILE are the second
 * half of recv_into: to TCM, and to HBM or SRAM. END is the last act of a kernel or a stream.
 */
#define TL_CALLS(CALL)                                                                             \
    CALL(LOAD, "load", MEMORY, IN_STEP, tl_effect_load)                                            \
    CALL(STORE, "store", MEMORY, IN_STEP, tl_effect_store)                                         \
    CALL(COPY, "copy", MEMORY, IN_STEP, tl_effect_copy)                                            \
    CALL(STORE_TO, "store_to", MEMORY, IN_STEP, tl_effect_store_to)                                \
    CALL(LOAD_FROM, "load_from", MEMORY, IN_STEP, tl_effect_load_from)                             \
    CALL(WAIT_DMA, "wait_dma", CPU, IN_STEP, tl_effect_wait_dma)                                   \
    CALL(SEND, "send", IPCQ, IN_STEP, tl_effect_send)                                              \
    CALL(RECV, "recv", IPCQ, IN_STEP, tl_effect_recv)                                              \
    CALL(RECV_ANY, "recv_any", IPCQ, IN_STEP, tl_effect_recv)                                      \
    CALL(RECV_ALL, "recv_all", IPCQ, IN_STEP, tl_effect_recv_all)                                  \
    CALL(RECV_INTO, "recv_into", IPCQ, IN_STEP, tl_effect_recv)                                    \
    CALL(MOVE_TILE, "recv_into", FREE, AHEAD, tl_effect_move_tile)                                 \
    CALL(COPY_TILE, "recv_into", FREE, IN_STEP, tl_effect_copy_tile)                               \
    CALL(RECV_ASYNC, "recv_async", IPCQ, IN_STEP, tl_effect_recv_async)                            \
    CALL(WAIT, "wait", CPU, IN_STEP, tl_effect_wait)                                               \
    CALL(PUT, "put", IPCQ, IN_STEP, tl_effect_put)                                                 \
    CALL(NOTIFY, "notify", IPCQ, IN_STEP, tl_effect_notify)                                        \
    CALL(WAIT_NOTIFY, "wait_notify", CPU, IN_STEP, tl_effect_wait_notify)                          \
    CALL(MATH, "math", FREE, AHEAD, tl_effect_math)                                                \
    CALL(CAST, "cast", FREE, AHEAD, tl_effect_cast)                                                \
    CALL(DOT, "dot", FREE, AHEAD, tl_effect_dot)                                                   \
    CALL(WORK, "work", FREE, AHEAD, tl_effect_work)                                                \
    CALL(WAIT_WORK, "wait_work", CPU, AHEAD, tl_effect_wait_work)                                  \
    CALL(FORK, "fork", CPU, IN_STEP, tl_effect_fork)                                               \
    CALL(JOIN, "join", CPU, IN_STEP, tl_effect_join)                                               \
    CALL(BARRIER, "barrier", CPU, IN_STEP, tl_effect_barrier)                                      \
    CALL(END, "end", FREE, IN_STEP, tl_effect_end)

#define TL_CALL_KIND(NAME, ...) CALL_##NAME,
enum tl_call_kind { CALL_NONE, TL_CALLS(TL_CALL_KIND) CALL_KINDS };
extern const char *const tl_call_name[CALL_KINDS];

struct tl;
#define TL_CALL_EFFECT(NAME, text, overheads, when, effect) void effect(struct tl *tl);
TL_CALLS(TL_CALL_EFFECT)

enum tl_step {
    STEP_OPERANDS,    /* operands outside TCM, and those in slots there, are loaded first */
    STEP_OPERAND,     /* one of them: its load enters PE_DMA */
    STEP_OPERAND_DMA, /* and is in progress */
    STEP_ISSUE,       /* the call's overheads */
    STEP_EFFECT,      /* its effect, now */
    STEP_DMA,         /* PE_DMA works for it; entered again when PE_DMA is done */
    STEP_DONE
};

/* A send's tag: it is a part of a tile that switches put together. */
enum tl_gives { SENDS, GIVES, GIVES_AND_WANTS };

/* A kernel's view of its PE during one entry. */
struct tl {
    struct lp_view *view;
    uint32_t pe, context;
    const struct lp_pe *p;
    struct lp_kernel *kernel; /* mutable: of this context */
    const struct lp_launch *launch;
    int64_t local_ps; /* the kernel's own time, >= now */
    bool entered;     /* the kernel's function runs: tl_here is its own */
};

/* The PE's direction that the kernel's means; HW_DIRS_MAX: there is none. */
static inline enum hw_dir tl_dir_of_pe(const struct tl *tl, enum hw_dir dir)
{
    const struct lp_dirs *const dirs = tl->launch->dirs;
    if (__builtin_expect(dirs == NULL || (unsigned)dir >= HW_DIRS_MAX, 1))
        return dir;
    return (enum hw_dir)dirs->of_pe[dir];
}

/* The directions of the PE that are installed and the kernel's. */
static inline uint32_t tl_dirs(const struct tl *tl)
{
    const struct lp_dirs *const dirs = tl->launch->dirs;
    return tl->p->installed & (dirs != NULL ? dirs->mask : UINT16_MAX);
}

/* A direction of the PE is there. */
static inline bool tl_has_queue(const struct tl *tl, enum hw_dir dir)
{
    return (unsigned)dir < HW_DIRS_MAX && (tl->p->installed >> dir & 1);
}

/* Notes a call: the first step of all of them. */
struct tl_call *tl_start(struct tl *tl, enum tl_call_kind kind, uint32_t bytes);

/* True when the kernel's time is now; else sends an event for its time. */
bool tl_in_step(struct tl *tl);
/* Notes, if causes are traced, that the kernel spends this long on its own work. */
static inline void tl_note_part(const struct tl *tl, enum lp_cause_part part, int64_t ps)
{
    if (lp_traces_causes(tl->view->m))
        lp_cause_stretch_part(part, ps);
}
/* A call that waits again for the same keeps its place among the waiting calls. */
void tl_wait_for(struct tl *tl, enum lp_wait wait);
void tl_wait_for_channel(struct tl *tl, enum hw_vc vc); /* as lp_vc() has it */

/* Fails the event: "FAULTPE 0.1.2, kernel NAME", followed by the formatted text and the line of the
 * kernel. */
_Noreturn void tl_fail(const struct tl *tl, const char *fault, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Where a place is in its memory: in TCM, a kernel's places count from its queue's share. */
static inline uint32_t tl_offset_of(const struct tl *tl, struct lp_operand at)
{
    return at.space == LP_SPACE_TCM
               ? at.at + tl->launch->queue * (uint32_t)tl->view->m->tcm_queue_bytes
               : at.at;
}

/* Fills in PE, dtype and times, and emits. Its places are the kernel's. */
void tl_emit_op(struct tl *tl, struct lp_op *op);
/* Emits an operation with these members. It is not built if the host wants no operations. */
#define TL_EMIT_OP(tl, ...)                                                                        \
    do {                                                                                           \
        if ((tl)->view->m->emit.ops)                                                               \
            tl_emit_op((tl), &(struct lp_op){__VA_ARGS__});                                        \
    } while (0)
void tl_emit_mark(struct tl *tl, enum lp_mark mark, uint32_t phase);

/* Bytes of an element of a product's result. */
static inline uint32_t tl_dot_itemsize(const struct tl *tl, const struct tl_call *dot)
{
    return dot->dir & LP_SUMS_TO_F32 ? (uint32_t)sizeof(float)
                                     : lp_dtype_bytes((enum lp_dtype)tl->launch->args.dtype);
}
/* Bytes of a tile that fills its slot: whole elements. */
uint32_t tl_full_tile_bytes(const struct tl *tl);
/* The number of a context's next own event. */
static inline uint32_t tl_next_number(struct tl *tl)
{
    return (uint32_t)lp_next_sender(tl->view, tl->pe).number;
}
/* The memory of an operand; TCM for a received tile. */
static inline uint8_t tl_memory_of(struct lp_operand operand)
{
    return operand.space == LP_SPACE_SRAM  ? HW_MEMORY_SRAM
           : operand.space == LP_SPACE_HBM ? HW_MEMORY_HBM
                                           : HW_MEMORY_TCM;
}

#endif
