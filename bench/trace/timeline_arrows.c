/*
 * timeline_arrows.c: pairs sends with their receives, and writes the arrows (timeline_arrows.h).
 * A tile of a queue is known by the receiving end of its queue and its number there, a put by
 * its sender and its number.
 */
#include "bench/trace/timeline_arrows.h"

#define JUDYERROR_NOTEST 1 /* else Judy ends the program when it has no memory */
#include <Judy.h>
#include <inttypes.h>

static Word_t queue_key(uint32_t pe, uint32_t dir, uint32_t seq)
{
    return ((Word_t)pe * HW_DIRS_MAX + dir) << 32 | seq;
}
static Word_t put_key(uint32_t pe, uint32_t seq)
{
    return (Word_t)1 << 63 | (Word_t)pe << 32 | seq;
}

/* Of an operation in whose slice an arrow begins, or ends. */
static Word_t arrow_key(const struct lp_op *op)
{
    switch (op->kind) {
    case LP_OP_SEND:
        return queue_key(op->peer, op->peer_dir, op->seq);
    case LP_OP_RECV:
        return queue_key(op->pe, op->dir, op->seq);
    default:
        return put_key(op->kind == LP_OP_PUT ? op->pe : op->peer, op->seq);
    }
}

uint64_t timeline_arrow_of(struct timeline_arrows *arrows, const struct timeline_events *events,
                           const struct lp_op *op)
{
    PWord_t number;
    int was_there = 0;
    const Word_t key = arrow_key(op);
    if (op->kind == LP_OP_RECV || op->kind == LP_OP_LAND) {
        JLG(number, arrows->flows, key);
        const Word_t found = number == NULL ? 0 : *number;
        if (found > 0)
            JLD(was_there, arrows->flows, key);
        arrows->out_of_memory = arrows->out_of_memory || was_there == JERR;
        return found;
    }
    if ((op->kind != LP_OP_SEND && op->kind != LP_OP_PUT) ||
        !timeline_filter_has(&events->filter, hw_place_of(&events->model->hw, op->peer)))
        return 0;
    JLI(number, arrows->flows, key);
    arrows->out_of_memory = arrows->out_of_memory || number == PJERR;
    if (number == PJERR)
        return 0;
    return *number = ++arrows->last;
}

void timeline_arrow_write(struct timeline_events *events, uint32_t pe, uint32_t track, int64_t ps,
                          uint64_t number, bool begins)
{
    trace_begin(events, begins ? "s" : "f");
    fprintf(events->out, "%s,\"cat\":\"tile\",\"name\":\"tile\"", begins ? "" : ",\"bp\":\"e\"");
    trace_time(events, trace_tid(events->model, pe, track), ps);
    fprintf(events->out, ",\"id\":%" PRIu64 ",\"pid\":%" PRIu32 "}", number,
            hw_place_of(&events->model->hw, pe).sip);
}

void timeline_arrows_free(struct timeline_arrows *arrows)
{
    (void)JudyLFreeArray(&arrows->flows, PJE0); /* the macro compares signs, which clang refuses */
}
