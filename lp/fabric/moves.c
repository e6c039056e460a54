/*
 * moves.c: the loads, stores and copies of a PE's contexts in progress (struct lp_move), from the
 * request until they are complete. Runs in handlers only, on the PE's cube.
 */
#include "lp/fabric/moves.h"

#include "lp/coarse.h"

const struct lp_move *lp_move_of(const struct lp_view *view, uint32_t pe, uint8_t owner)
{
    const struct lp_context *const context =
        lp_context(view->m, lp_pe(view->m, view->cube, pe), owner >> 4);
    return &context->move[owner & 15];
}

static const struct lp_coarse_move *coarse_move_of(const struct lp_view *view, uint32_t pe,
                                                   uint8_t owner)
{
    const struct lp_pe *const p = lp_pe(view->m, view->cube, pe);
    return &lp_coarse_of(view->m, p)->context[owner >> 4].move[owner & 15];
}

int64_t lp_move_end_ps(const struct lp_view *view, uint32_t pe, uint8_t owner, int64_t at_ps)
{
    return lp_is_coarse(&view->m->config)
               ? lp_most(at_ps, coarse_move_of(view, pe, owner)->least_ps)
               : at_ps;
}

void lp_move_done(struct lp_view *view, struct lp_sender sender, int64_t at_ps, uint32_t pe,
                  uint8_t owner)
{
    if (lp_is_coarse(&view->m->config))
        CW_MUT(view->ctx, coarse_move_of(view, pe, owner))->free_ps = at_ps;
    const struct lp_signal s = {.pe = pe, .arg = owner & 15, .context = owner >> 4};
    lp_send_signal(view->ctx, view->lp, at_ps - cw_now(view->ctx), LP_EVENT_DMA_DONE, sender, &s);
}

void lp_move_part_done(struct lp_view *view, uint32_t pe, struct lp_sender sender, uint8_t owner,
                       uint8_t part, int64_t at_ps)
{
    at_ps = lp_move_end_ps(view, pe, owner, at_ps);
    if (lp_traces_causes(view->m) && part == 1)
        lp_cause_flight_sent(view->ctx, view->lp, LP_EVENT_DMA_DONE, sender, at_ps);
    else if (lp_traces_causes(view->m))
        lp_cause_sent(view->ctx, LP_EVENT_DMA_DONE, sender, at_ps);
    struct lp_move *const move = CW_MUT(view->ctx, lp_move_of(view, pe, owner));
    if (move->parts == 0 || at_ps > move->done_ps)
        move->done_ps = at_ps;
    move->parts |= part;
    if (move->parts == 3)
        lp_move_done(view, sender, move->done_ps, pe, owner);
}

/* The record of a load_from, whose data will be in its PE's TCM at `there_ps`. */
static void emit_loaded(struct lp_view *view, int64_t there_ps, const struct lp_transfer *data)
{
    const struct lp_model *m = view->m;
    const struct lp_pe *p = lp_pe(m, view->cube, lp_pe_in_cube(m, data->dst));
    const uint32_t context = data->dir >> 4, move = data->dir & 15;
    cw_check(view->ctx, context < m->contexts && move < LP_MOVES);
    const struct lp_context *c = lp_context(m, p, context);
    cw_check(view->ctx, lp_has_launch(m, c->kernel.launch));
    const struct lp_op op = {.t_start_ps = move > 0 ? there_ps : c->kernel.call.start_ps,
                             .t_end_ps = there_ps,
                             .pe = data->dst,
                             .kind = LP_OP_LOAD_FROM,
                             .dtype = lp_launch_of(m, c->kernel.launch)->args.dtype,
                             .bytes = data->order,
                             .seq = data->dir,
                             .peer = data->src,
                             .dst = {.space = LP_SPACE_TCM, .at = c->move[move].to_at}};
    if (m->emit.ops)
        cw_emit(view->ctx, LP_RECORD_OP, &op, sizeof op);
}

void lp_move_loaded(struct lp_view *view, struct lp_sender sender, const struct hw_flight *flight,
                    const struct lp_transfer *data)
{
    emit_loaded(view, flight->tau_ps, data);
    lp_move_part_done(view, lp_pe_in_cube(view->m, data->dst), sender, data->dir, 1,
                      flight->tau_ps);
}
