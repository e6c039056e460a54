/*
 * one_sided.c: where puts and notifications arrive (30-ipcq.md, "Kernel API"): in the order in
 * which their sender issued them, per sender. Runs in handlers only, on the destination's cube.
 *
 * I-PUT-1: what a PE sends to one peer becomes visible there in order of issue. Each carries its
 * number among them (lp_peer.sent at the sender); one that comes before its turn (a short one, or
 * one from TCM, may overtake one whose source is HBM) is kept in `early` and becomes visible
 * together with the one that it waited for.
 */
#include "lp/model.h"

const struct lp_peer *lp_peer_of(struct lp_run *run, uint32_t pe, uint32_t peer)
{
    const uint32_t places = run->m->config.peers;
    const struct lp_one_sided *own = lp_one_sided(run->m, lp_pe(run->m, run->cube, pe));
    for (uint32_t i = 0; i < places; i++) {
        const struct lp_peer *at = &own->peer[(peer + i) % places];
        if (at->pe == peer + 1)
            return at;
        if (at->pe == 0) {
            CW_MUT(run->ctx, at)->pe = peer + 1;
            return at;
        }
    }
    cw_fail(run->ctx, CW_PROGRAM_FAILED,
            "PE %u.%u.%u exchanges puts or notifications with more than the %u PEs that the "
            "algorithm declares",
            run->sip, run->cube_in_sip, pe, places);
}

/* It is its turn. */
static void land(struct lp_run *run, uint32_t pe, const struct lp_early *what)
{
    const struct lp_model *m = run->m;
    const struct lp_peer *from = lp_peer_of(run, pe, what->src);
    struct lp_peer *peer = CW_MUT(run->ctx, from);
    peer->seen++;
    if (what->kind == LP_TRANSFER_PUT) {
        if (!m->emit_ops)
            return;
        const struct lp_op op = {.t_start_ps = cw_now(run->ctx),
                                 .t_end_ps = cw_now(run->ctx),
                                 .pe = lp_pe_index(run, pe),
                                 .kind = LP_OP_LAND,
                                 .bytes = what->bytes,
                                 .seq = what->seq,
                                 .peer = what->src};
        cw_emit(run->ctx, LP_RECORD_OP, &op, sizeof op);
        return;
    }
    cw_check(run->ctx, what->tag < TL_TAGS && peer->pending[what->tag] < UINT8_MAX);
    peer->pending[what->tag]++;
    const struct lp_pe *p = lp_pe(m, run->cube, pe);
    for (uint32_t i = 0; i < m->config.contexts; i++) {
        const struct lp_kernel *kernel = &lp_context(m, p, i)->kernel;
        if (kernel->wait == LP_WAIT_NOTIFY && kernel->call.peer == what->src &&
            kernel->call.tag == what->tag) {
            tl_pointer_arrived(run, pe, i);
            return;
        }
    }
}

static void keep(struct lp_run *run, const struct lp_one_sided *own, const struct lp_early *what)
{
    uint32_t *count = CW_MUT(run->ctx, &own->early_count);
    cw_check(run->ctx, *count < LP_EARLY_MAX);
    *CW_MUT(run->ctx, &own->early[(*count)++]) = *what;
}

/* Takes the one that is next of its sender's out of those kept. False: none is. */
static bool take_next(struct lp_run *run, uint32_t pe, const struct lp_one_sided *own,
                      struct lp_early *next)
{
    for (uint32_t i = 0; i < own->early_count; i++) {
        const struct lp_early *early = &own->early[i];
        if (early->order != lp_peer_of(run, pe, early->src)->seen)
            continue;
        *next = *early;
        uint32_t *count = CW_MUT(run->ctx, &own->early_count);
        *CW_MUT(run->ctx, early) = own->early[--*count];
        return true;
    }
    return false;
}

void lp_one_sided_land(struct lp_run *run, const struct lp_transfer *transfer)
{
    const struct lp_model *m = run->m;
    const uint32_t pe = transfer->dst % m->pes;
    cw_check(run->ctx, m->config.peers > 0);
    const struct lp_one_sided *own = lp_one_sided(m, lp_pe(m, run->cube, pe));
    struct lp_early what = {.src = transfer->src,
                            .order = transfer->order,
                            .seq = transfer->seq,
                            .bytes = transfer->bytes,
                            .kind = transfer->kind,
                            .tag = transfer->dir};
    if (what.order != lp_peer_of(run, pe, what.src)->seen) {
        keep(run, own, &what);
        return;
    }
    do
        land(run, pe, &what);
    while (own->early_count > 0 && take_next(run, pe, own, &what));
}
