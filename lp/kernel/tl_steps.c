/*
 * tl_steps.c: takes a call through its steps: operands, overheads, effect, PE_DMA. The effects are
 * in tl_memory.c, tl_queue.c, tl_one_sided.c, tl_compute.c and tl_context.c. Runs in handlers only.
 */
#include "lp/kernel/tl_steps.h"

#include "lp/fabric/pe_dma.h"
#include "lp/kernel/tl_coarse.h"
#include "lp/kernel/tl_cost.h"
#include "lp/kernel/tl_memory.h"

/* A kind of call. The effect sets step = STEP_DONE or STEP_DMA, or a new kind and step; or it waits
 * (tl_wait_for) and is called again. */
struct call_row {
    enum tl_issue overheads;
    bool ahead;
    void (*effect)(struct tl *tl);
};
enum { IN_STEP, AHEAD };
#define CALL_ROW(NAME, text, overheads, when, effect)                                              \
    [CALL_##NAME] = {ISSUE_##overheads, (when) == AHEAD, effect},
static const struct call_row call_row[CALL_KINDS] = {TL_CALLS(CALL_ROW)};

/* Whether a call reads its operands through PE_FETCH_STORE, which reaches TCM only. */
static bool fetches(const struct tl_call *call)
{
    return call->kind >= CALL_MATH && call->kind <= CALL_DOT;
}

/* Bytes of the current operand: of the call, or of a factor of a product. */
static uint64_t operand_bytes(const struct tl *tl)
{
    const struct tl_call *call = &tl->kernel->call;
    if (call->kind != CALL_DOT)
        return call->bytes;
    const uint32_t itemsize = tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
    const uint64_t inner = call->peer;
    if (call->operand == 0)
        return call->rows * inner * itemsize;
    return call->rows > 0 ? call->bytes / tl_dot_itemsize(tl, call) / call->rows * inner * itemsize
                          : 0;
}

/* The memory that an operand is loaded from before the operation; TCM: it is not loaded. PE_DMA
 * reads the source of a send, a put, a store or a copy itself, if it is in HBM or SRAM. */
static enum hw_memory loaded_from(const struct tl *tl, const struct lp_operand *operand)
{
    if (operand->space == LP_SPACE_TILE)
        return tl->view->m->tile_memory;
    return fetches(&tl->kernel->call) ? (enum hw_memory)tl_memory_of(*operand) : HW_MEMORY_TCM;
}

static const struct lp_operand *current_operand(const struct tl_call *call)
{
    return call->operand == 0 ? &call->a : &call->b;
}

/* Bytes of the operand's next load: of received tiles one tile, else the operand as a whole. */
static uint64_t next_load_bytes(const struct tl *tl)
{
    const struct tl_call *call = &tl->kernel->call;
    const uint64_t bytes = operand_bytes(tl);
    if (current_operand(call)->space != LP_SPACE_TILE)
        return call->tile == 0 ? bytes : 0;
    const uint32_t full = tl_full_tile_bytes(tl);
    const uint64_t done = (uint64_t)call->tile * full;
    return done >= bytes ? 0 : bytes - done < full ? bytes - done : full;
}

/* Operands in HBM or SRAM, and those in slots there, are loaded, the first operand first. True:
 * none is left. */
static bool load_operands(struct tl *tl)
{
    struct tl_call *call = &tl->kernel->call;
    const uint32_t operands = fetches(call) ? 2 : 1; /* a tile's dimensions are in b's place */
    while (call->operand < operands) {
        if (loaded_from(tl, current_operand(call)) != HW_MEMORY_TCM && next_load_bytes(tl) > 0) {
            tl_pay(tl, tl_issue_ps(tl, ISSUE_MEMORY, 1 + 2 * call->tile + call->operand));
            call->step = STEP_OPERAND;
            return false;
        }
        call->operand++;
        call->tile = 0;
    }
    return true;
}

static void load_operand(struct tl *tl)
{
    struct tl_call *call = &tl->kernel->call;
    const struct lp_model *m = tl->view->m;
    const enum hw_vc vc = lp_vc(m, HW_VC_COMPUTE);
    if (!lp_dma_has_room(tl->view, tl->pe, vc)) {
        tl_wait_for_channel(tl, vc);
        return;
    }
    const struct hw_dma_op op = {.bytes = (uint32_t)next_load_bytes(tl),
                                 .number = tl_next_number(tl),
                                 .kind = LP_DMA_LOAD,
                                 .queue = tl->launch->queue & 7,
                                 .dir = LP_OWNER(tl->context, 0),
                                 .memory = (uint8_t)loaded_from(tl, current_operand(call)),
                                 .slice = (uint8_t)tl->pe};
    lp_dma_push(tl->view, tl->pe, vc, op, tl_exact_op(tl));
    call->step = STEP_OPERAND_DMA;
    tl_wait_for(tl, LP_WAIT_DMA);
}

/* The kernel itself writes the tile that it sends (hw/HARDWARE.md, "Slot access"). */
static __attribute__((noinline, cold)) void write_slot(struct tl *tl)
{
    const struct lp_model *const m = tl->view->m;
    const int64_t slot_ps =
        hw_slot_ps(&m->hw, tl->pe, m->config.slots, tl_each_bytes(tl, tl->kernel->call.bytes));
    tl_pay(tl, slot_ps);
    tl_note_part(tl, LP_PART_SLOT, slot_ps);
}

bool tl_advance(struct tl *tl)
{
    struct tl_call *call = &tl->kernel->call;
    for (;;) {
        const struct call_row *row = &call_row[call->kind];
        switch (call->step) {
        case STEP_OPERANDS:
            if (load_operands(tl))
                call->step = STEP_ISSUE;
            break;
        case STEP_OPERAND:
            if (!tl_in_step(tl))
                return false;
            load_operand(tl);
            return false;
        case STEP_OPERAND_DMA:
            call->tile++;
            call->step = STEP_OPERANDS;
            break;
        case STEP_ISSUE:
            tl_pay(tl, tl_issue_ps(tl, row->overheads, 0));
            if (__builtin_expect(tl->view->m->slot_send, 0) && call->kind == CALL_SEND)
                write_slot(tl);
            call->step = STEP_EFFECT;
            break;
        case STEP_EFFECT:
            if (!row->ahead && !tl_in_step(tl))
                return false;
            row->effect(tl);
            if (tl->kernel->wait != LP_WAIT_NONE || call->kind == CALL_NONE)
                return false;
            break;
        case STEP_DMA:
            tl_moved(tl);
            call->step = STEP_DONE;
            break;
        default:
            return true;
        }
    }
}
