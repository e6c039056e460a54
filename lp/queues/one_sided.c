/*
 * one_sided.c: where puts and notifications arrive (30-ipcq.md, "Kernel API"): in the order in
 * which their sender issued them, per sender. Runs in handlers only, on the destination's cube.
 *
 * I-PUT-1: what a PE sends to one peer becomes visible there in order of issue. Each carries its
 * number among them (lp_peer.sent at the sender); one that comes before its turn (a short one, or
 * one from TCM, may overtake one whose source is HBM) is kept in `early` and becomes visible
 * together with the one that it waited for.
 */
#include "lp/queues/one_sided.h"

#include "lp/kernel/tl_runtime.h"

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

/* It is the turn of those kept here, or of this one. */
static void land(struct lp_run *run, uint32_t pe, const struct lp_early *what)
{
    struct lp_peer *peer = CW_MUT(run->ctx, lp_peer_of(run, pe, what->src));
    peer->seen += what->count;
    if (what->kind == LP_TRANSFER_NOTIFY) {
        cw_check(run->ctx, what->tag < TL_TAGS);
        peer->pending[what->tag] += what->count;
        tl_arrived(run, pe, LP_WAIT_NOTIFY, what->tag, what->src);
        return;
    }
    for (uint32_t i = 0; run->m->emit.ops && i < what->count; i++) {
        const struct lp_op op = {.t_start_ps = cw_now(run->ctx),
                                 .t_end_ps = cw_now(run->ctx),
                                 .pe = lp_pe_index(run, pe),
                                 .kind = LP_OP_LAND,
                                 .seq = what->seq + i,
                                 .peer = what->src};
        cw_emit(run->ctx, LP_RECORD_OP, &op, sizeof op);
    }
}

/* Whether `next` comes right behind those kept here, and is like them. */
static bool continues(const struct lp_early *kept, const struct lp_early *next)
{
    return kept->src == next->src && kept->kind == next->kind &&
           kept->order + kept->count == next->order &&
           (kept->kind == LP_TRANSFER_PUT ? kept->seq + kept->count == next->seq
                                          : kept->tag == next->tag);
}

static void one_sided_keep(struct lp_run *run, uint32_t pe, const struct lp_one_sided *own,
                           const struct lp_early *what)
{
    const struct lp_early *early = lp_early(run->m, own);
    const uint32_t places = run->m->config.peers * LP_EARLY_PER_PEER;
    for (uint32_t i = 0; i < own->early_count; i++)
        if (continues(&early[i], what)) {
            CW_MUT(run->ctx, &early[i])->count++;
            return;
        }
    if (own->early_count == places)
        cw_fail(run->ctx, CW_PROGRAM_FAILED,
                "PE %u.%u.%u: puts and notifications of its peers wait for earlier puts in more "
                "than the %u places there are (%u for each PE that the algorithm declares); let a "
                "put from HBM or SRAM become visible before many others follow it, or declare "
                "more peers",
                run->sip, run->cube_in_sip, pe, places, LP_EARLY_PER_PEER);
    *CW_MUT(run->ctx, &early[own->early_count]) = *what;
    (*CW_MUT(run->ctx, &own->early_count))++;
}

/* Takes those that are next of their sender's out of those kept. False: none are. */
static bool take_next(struct lp_run *run, uint32_t pe, const struct lp_one_sided *own,
                      struct lp_early *next)
{
    const struct lp_early *early = lp_early(run->m, own);
    for (uint32_t i = 0; i < own->early_count; i++) {
        if (early[i].order != lp_peer_of(run, pe, early[i].src)->seen)
            continue;
        *next = early[i];
        uint32_t *count = CW_MUT(run->ctx, &own->early_count);
        *CW_MUT(run->ctx, &early[i]) = early[--*count];
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
                            .count = 1,
                            .kind = transfer->kind,
                            .tag = transfer->dir};
    if (what.order != lp_peer_of(run, pe, what.src)->seen) {
        one_sided_keep(run, pe, own, &what);
        return;
    }
    do
        land(run, pe, &what);
    while (own->early_count > 0 && take_next(run, pe, own, &what));
}
