/*
 * tl_coarse.c: the time of a kernel that moves coarse tiles (tl_coarse.h). A context has two times:
 * local_ps, when it is done with the last of the tiles that its current tile stands for, and
 * local_ps - spread_ps, when it was done with the first. What it pays for the tiles between them
 * comes out of its lead as far as that goes. Handlers only.
 */
#include "lp/kernel/tl_coarse.h"

#include "lp/fabric/pe_dma.h"
#include "lp/queues/queue_ends.h"

static struct lp_coarse *coarse_of(const struct tl *tl)
{
    return CW_MUT(tl->view->ctx, lp_coarse_of(tl->view->m, tl->p));
}

static struct lp_coarse_context *context_of(const struct tl *tl)
{
    return CW_MUT(tl->view->ctx, &lp_coarse_of(tl->view->m, tl->p)->context[tl->context]);
}

/* Tiles that the current call is for. */
static uint32_t tiles_of_call(const struct tl *tl)
{
    const struct tl_call *const call = &tl->kernel->call;
    const struct lp_coarse_context *const own =
        &lp_coarse_of(tl->view->m, tl->p)->context[tl->context];
    if (call->kind == CALL_WAIT_DMA)
        return own->move[call->move].tiles > 0 ? (uint32_t)own->move[call->move].tiles : 1;
    if (call->kind == CALL_DOT || call->kind == CALL_COPY || call->kind == CALL_PUT ||
        call->bytes == 0 || own->piece_tiles == TL_UNCUT)
        return 1;
    return lp_coarse_tiles(tl->view->m, call->bytes);
}

static uint32_t rounds_of(const struct tl *tl, uint32_t tiles)
{
    const struct lp_coarse_context *const own =
        &lp_coarse_of(tl->view->m, tl->p)->context[tl->context];
    return lp_coarse_rounds(tiles, (uint32_t)own->piece_tiles);
}

/* Takes up to `ps` of the kernel's lead, of which `most_ps` are left. */
static int64_t use_lead(struct lp_coarse_context *own, int64_t ps, int64_t most_ps)
{
    const int64_t used_ps = lp_least(ps, lp_least(own->lead_ps, most_ps));
    own->lead_ps -= used_ps;
    own->spread_ps += ps - used_ps;
    return used_ps;
}

void tl_coarse_begin(struct tl *tl)
{
    struct lp_coarse *const own = coarse_of(tl);
    for (uint32_t i = 0; i < tl->view->m->needs.contexts; i++)
        own->context[tl->context + i] = (struct lp_coarse_context){
            .begin_ps = tl->local_ps, .piece_tiles = tl_args(tl)->piece_tiles};
}

void tl_coarse_pay(struct tl *tl, int64_t each_ps)
{
    struct lp_coarse_context *const own = context_of(tl);
    const uint32_t tiles = tiles_of_call(tl);
    const int64_t between_ps = (tiles - rounds_of(tl, tiles)) * each_ps;
    tl->local_ps += tiles * each_ps - use_lead(own, between_ps, INT64_MAX);
}

void tl_coarse_waited(struct tl *tl, int64_t spread_ps)
{
    struct lp_coarse_context *const own = context_of(tl);
    const int64_t waited_ps =
        tl->kernel->call.waited != LP_WAIT_NONE ? tl->local_ps - tl->kernel->wait_ps : 0;
    own->lead_ps = lp_least(own->lead_ps + waited_ps, spread_ps);
    own->spread_ps = lp_least(own->spread_ps + waited_ps, spread_ps);
}

void tl_coarse_received(struct tl *tl, enum hw_dir dir)
{
    const struct lp_coarse *const coarse = lp_coarse_of(tl->view->m, tl->p);
    const struct tl_call *const call = &tl->kernel->call;
    const uint32_t tiles = tiles_of_call(tl);
    const int64_t since_ps = tl->local_ps - coarse->queue[dir].visible_ps;
    const bool waited = call->waited == LP_WAIT_DATA;
    context_of(tl)->begin_ps = waited ? tl->kernel->wait_ps : tl->local_ps;
    if (waited)
        tl_coarse_waited(tl, since_ps + lp_coarse_spread(coarse->queue[dir].sigma_ps, tiles,
                                                         rounds_of(tl, tiles)));
}

/* T of a move of one tile on an idle machine, with its request or its acknowledgement. */
static int64_t move_ps(const struct tl *tl, uint8_t kind, uint64_t bytes)
{
    const struct lp_model *const m = tl->view->m;
    const struct hw_config *const hw = &m->hw;
    const struct tl_call *const call = &tl->kernel->call;
    const bool loads = kind == LP_DMA_LOAD || kind == LP_DMA_LOAD_FROM;
    const enum hw_memory from = (enum hw_memory)(call->memory & 15),
                         to = (enum hw_memory)((call->memory & ~LP_DMA_DIRECT) >> 4);
    const enum hw_memory memory = loads ? from : to;
    const int64_t dma_ps = hw->overhead_ps[HW_NODE_PE_DMA],
                  tcm_ps = hw->link[HW_LINK_TCM].prop_ps + hw->overhead_ps[HW_NODE_PE_TCM];
    if (kind != LP_DMA_LOAD_FROM && kind != LP_DMA_STORE_TO) {
        const int64_t way_ps = dma_ps + lp_memory_way_ps(m, tl->pe, memory, call->slice),
                      link_ps = hw_ser_ps(&hw->link[lp_memory_link(memory)], bytes);
        return 2 * way_ps + hw->overhead_ps[lp_memory_node(memory)] +
               lp_most(link_ps, hw_rate_ps(m->dma.rate, bytes)) + (loads ? tcm_ps : 0);
    }
    const struct hw_place here = tl_place(tl), there = hw_place_of(hw, call->peer);
    const bool past = memory != HW_MEMORY_TCM && (loads || (call->memory & LP_DMA_DIRECT));
    const int64_t past_ps =
        past ? 2 * (dma_ps + 2 * hw->link[HW_LINK_PE_NOC].prop_ps + hw->overhead_ps[HW_NODE_ROUTER])
             : 0;
    const enum hw_node_kind node =
        memory == HW_MEMORY_TCM ? HW_NODE_PE_TCM : lp_memory_node(memory);
    return hw_path_ps(hw, here, there, memory, HW_OUTLET_NONE, HW_DIRS_MAX, bytes) +
           hw_path_ps(hw, here, there, memory, HW_OUTLET_NONE, HW_DIRS_MAX, 0) - past_ps -
           hw->overhead_ps[node] + (loads ? tcm_ps : 0);
}

/* How long before now the kernel did this for the first tile, if it did so no earlier than then. */
static int64_t spread_since(const struct tl *tl, const struct lp_coarse_context *own,
                            uint32_t tiles, int64_t then_ps)
{
    const int64_t since_ps = tl->local_ps - lp_most(own->begin_ps, then_ps);
    return lp_least(own->spread_ps, since_ps / tiles * (tiles - rounds_of(tl, tiles)));
}

/* A move that the kernel waits for at once belongs to its own work. Others begin as it comes to
 * them, tile by tile. */
static int64_t move_head_ps(const struct tl *tl, const struct lp_coarse_context *own,
                            uint32_t tiles)
{
    const struct tl_call *const call = &tl->kernel->call;
    return call->move == 0 ? tl->local_ps - own->lead_ps
                           : tl->local_ps - spread_since(tl, own, tiles, 0);
}

void tl_coarse_move(struct tl *tl, uint8_t kind)
{
    const struct tl_call *const call = &tl->kernel->call;
    struct lp_coarse_context *const own = context_of(tl);
    struct lp_coarse_move *const move = &own->move[call->move];
    const uint32_t tiles = tiles_of_call(tl), rounds = rounds_of(tl, tiles);
    const int64_t each_ps = tiles > 1 ? move_ps(tl, kind, tl_each_bytes(tl, call->bytes)) : 0;
    const int64_t head_ps = lp_most(move_head_ps(tl, own, tiles), move->free_ps);
    move->least_ps = lp_most(tl->local_ps + rounds * each_ps, head_ps + (int64_t)tiles * each_ps);
    move->spread_ps = move->least_ps - head_ps - rounds * each_ps;
    move->tiles = tiles;
    if (call->move == 0) { /* the kernel's own time, as in tl_coarse_pay() */
        const int64_t between_ps = (tiles - rounds) * each_ps;
        (void)use_lead(own, between_ps, tl->local_ps + (int64_t)tiles * each_ps - move->least_ps);
    }
}

void tl_coarse_moved(struct tl *tl)
{
    const struct tl_call *const call = &tl->kernel->call;
    if (call->move > 0 && call->waited == LP_WAIT_DMA)
        tl_coarse_waited(tl, context_of(tl)->move[call->move].spread_ps);
}

struct lp_coarse_op tl_coarse_move_op(const struct tl *tl)
{
    const uint32_t tiles = tiles_of_call(tl);
    return (struct lp_coarse_op){
        move_head_ps(tl, &lp_coarse_of(tl->view->m, tl->p)->context[tl->context], tiles), tiles,
        rounds_of(tl, tiles)};
}

struct lp_coarse_op tl_coarse_send_op(struct tl *tl)
{
    const struct tl_call *const call = &tl->kernel->call;
    struct lp_coarse *const coarse = coarse_of(tl);
    const struct lp_coarse_context *const own = &coarse->context[tl->context];
    const uint32_t tiles = tiles_of_call(tl), rounds = rounds_of(tl, tiles);
    int64_t *const sent_ps = &coarse->queue[call->dir].sent_ps;
    const int64_t spread_ps = spread_since(tl, own, tiles, *sent_ps);
    *sent_ps = tl->local_ps;
    return (struct lp_coarse_op){tl->local_ps - spread_ps, tiles, rounds};
}

void tl_coarse_pieces(struct tl *tl, uint32_t tiles)
{
    struct lp_coarse_context *const own = context_of(tl);
    own->piece_tiles = tiles;
    own->lead_ps = own->spread_ps = 0;
    own->begin_ps = tl->local_ps;
}
