/*
 * one_sided.c: puts and notifications at their destination (lp/QUEUES.md, "One-sided operations").
 * Runs in handlers only, on the destination's cube.
 *
 * I-PUT-1: the puts and notifications from one PE to one peer become visible there in order of
 * issue. Each carries its number among them (lp_peer.sent at the sender). A short put, or a put
 * from TCM, may overtake a put whose source is HBM. It is then kept in `early`, and becomes visible
 * together with the put that it waited for.
 */
#include "lp/queues/one_sided.h"

const struct lp_peer *lp_peer_place(struct lp_view *view, uint32_t pe, uint32_t key)
{
    const uint32_t places = view->m->needs.peers;
    const struct lp_one_sided *own = lp_one_sided(view->m, lp_pe(view->m, view->cube, pe));
    for (uint32_t i = 0; i < places; i++) {
        const struct lp_peer *at = &own->peer[(key + i) % places];
        if (at->key == key + 1)
            return at;
        if (at->key == 0) {
            CW_MUT(view->ctx, at)->key = key + 1;
            return at;
        }
    }
    return NULL;
}

const struct lp_peer *lp_peer_of(struct lp_view *view, uint32_t pe, uint32_t key)
{
    const struct hw_config *const hw = &view->m->hw;
    const struct lp_peer *const place = lp_peer_place(view, pe, key);
    const struct hw_place from = hw_place_of(hw, key % hw_pe_count(hw));
    if (place == NULL)
        lp_fail_at_pe(view, pe, key / hw_pe_count(hw),
                      ": a put or a notification comes from PE %u.%u.%u, which is one more than "
                      "the PEs that it may exchange them with; legal: %u PEs, as the algorithm "
                      "declares (peers)",
                      from.sip, from.cube, from.pe, view->m->needs.peers);
    return place;
}

/* It is the turn of these equal puts or notifications: they become visible. */
static void land_in_turn(struct lp_view *view, uint32_t pe, const struct lp_early *arrived)
{
    struct lp_peer *peer = CW_MUT(view->ctx, lp_peer_of(view, pe, arrived->src));
    LP_INVARIANT("I-PUT-1", view->ctx, arrived->order == peer->seen,
                 "PE %u: number %u from PE %u, seen %u", pe, arrived->order, arrived->src,
                 peer->seen);
    peer->seen += arrived->count;
    if (arrived->kind == LP_TRANSFER_NOTIFY) {
        cw_check(view->ctx, arrived->tag < TL_TAGS);
        peer->pending[arrived->tag] += arrived->count;
        return;
    }
    for (uint32_t i = 0; view->m->emit.ops && i < arrived->count; i++) {
        const struct lp_op op = {.t_start_ps = cw_now(view->ctx),
                                 .t_end_ps = cw_now(view->ctx),
                                 .pe = lp_pe_index(view, pe),
                                 .kind = LP_OP_LAND,
                                 .seq = arrived->seq + i,
                                 .peer = arrived->src % hw_pe_count(&view->m->hw)};
        cw_emit(view->ctx, LP_RECORD_OP, &op, sizeof op);
    }
}

/* Whether `next` comes right after the kept ones, and is like them. */
static bool continues_kept(const struct lp_early *kept, const struct lp_early *next)
{
    return kept->src == next->src && kept->kind == next->kind &&
           kept->order + kept->count == next->order &&
           (kept->kind == LP_TRANSFER_PUT ? kept->seq + kept->count == next->seq
                                          : kept->tag == next->tag);
}

static void keep_early(struct lp_view *view, uint32_t pe, const struct lp_one_sided *own,
                       const struct lp_early *arrived)
{
    const struct lp_early *early = lp_early(view->m, own);
    const uint32_t places = view->m->needs.peers * LP_EARLY_PER_PEER;
    for (uint32_t i = 0; i < own->early_count; i++)
        if (continues_kept(&early[i], arrived)) {
            CW_MUT(view->ctx, &early[i])->count++;
            return;
        }
    if (own->early_count == places)
        lp_fail_at_pe(view, pe, arrived->src / hw_pe_count(&view->m->hw),
                      ": puts and notifications of its peers wait for earlier puts in more than "
                      "the %u places there are (%u for each PE that the algorithm declares); let "
                      "a put from HBM or SRAM become visible before many others follow it, or "
                      "declare more peers",
                      places, LP_EARLY_PER_PEER);
    *CW_MUT(view->ctx, &early[own->early_count]) = *arrived;
    (*CW_MUT(view->ctx, &own->early_count))++;
}

bool lp_one_sided_land(struct lp_view *view, const struct lp_transfer *transfer,
                       struct lp_early *landed)
{
    const struct lp_model *m = view->m;
    const uint32_t pe = transfer->dst % m->pes;
    cw_check(view->ctx, m->needs.peers > 0 && lp_queue_of(transfer) < m->needs.queues);
    *landed = (struct lp_early){.src = lp_peer_key(m, lp_queue_of(transfer), transfer->src),
                                .order = transfer->order,
                                .seq = transfer->seq,
                                .count = 1,
                                .kind = transfer->kind,
                                .tag = transfer->dir};
    if (landed->order != lp_peer_of(view, pe, landed->src)->seen) {
        keep_early(view, pe, lp_one_sided(m, lp_pe(m, view->cube, pe)), landed);
        return false;
    }
    land_in_turn(view, pe, landed);
    return true;
}

bool lp_one_sided_next(struct lp_view *view, uint32_t pe, struct lp_early *landed)
{
    const struct lp_one_sided *own = lp_one_sided(view->m, lp_pe(view->m, view->cube, pe));
    const struct lp_early *early = lp_early(view->m, own);
    for (uint32_t i = 0; i < own->early_count; i++) {
        if (early[i].order != lp_peer_of(view, pe, early[i].src)->seen)
            continue;
        *landed = early[i];
        uint32_t *count = CW_MUT(view->ctx, &own->early_count);
        *CW_MUT(view->ctx, &early[i]) = early[--*count];
        land_in_turn(view, pe, landed);
        return true;
    }
    return false;
}
