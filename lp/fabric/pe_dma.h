/*
 * pe_dma.h: a PE's DMA block as handlers use it: put an operation into a channel, and handle the
 * events of its engine (lp/QUEUES.md, "PE_DMA"). Handlers only, on the PE's cube.
 */
#ifndef LP_PE_DMA_H
#define LP_PE_DMA_H

#include "lp/lp_view.h"

/*
 * Kinds of operations in a channel, and the meaning of the other fields of struct hw_dma_op:
 *   queue     the PE's hardware queue that runs the kernel; of all kinds
 *   TILE      dir: the queue's; seq: the tile's number; memory: the source; of a part of a tile
 *             also 1 << 4, if the PE wants the tile
 *   LOAD      memory, slice: the source; dir: owner (LP_OWNER). To the PE's TCM
 *   STORE     memory: destination << 4; slice: of it; dir: owner. From the PE's TCM
 *   COPY      memory: source | destination << 4; slice: of both; dir: owner
 *   PUT       seq: the peer; memory: source | destination << 4; dir: enum lp_math, 0: plain
 *   NOTIFY    seq: the peer; dir: the tag
 *   CREDIT    dir: the queue's; seq: the new tail
 *   STORE_TO  seq: the peer; memory: source | destination << 4, LP_DMA_DIRECT; dir: owner
 *   LOAD_FROM seq: the peer; memory: the source; slice: the peer's; dir: owner. The places are in
 *             its struct lp_move
 * slice: the HBM slice of a source or a destination in this cube's HBM. The low half of `memory` is
 * the source's, HW_MEMORY_TCM where it is not named.
 */
enum { LP_DMA_DIRECT = 128 }; /* of `memory`: not through the destination's PE_DMA */

enum lp_dma_kind {
    LP_DMA_TILE = 1,
    LP_DMA_LOAD,
    LP_DMA_STORE,
    LP_DMA_COPY,
    LP_DMA_PUT,
    LP_DMA_NOTIFY,
    LP_DMA_CREDIT,
    LP_DMA_STORE_TO,
    LP_DMA_LOAD_FROM
};
enum { LP_NOTIFY_BYTES = 16 }; /* lp/QUEUES.md, "One-sided operations" */

/* The channel that a kind of work uses; with vc: single there is only one. */
static inline enum hw_vc lp_vc(const struct lp_model *m, enum hw_vc vc)
{
    return m->config.single_vc ? HW_VC_COMPUTE : vc;
}
bool lp_dma_has_room_of_tiles(const struct lp_view *view, uint32_t pe, enum hw_vc vc);
static inline bool lp_dma_has_room(const struct lp_view *view, uint32_t pe, enum hw_vc vc)
{
    const struct lp_model *m = view->m;
    if (lp_is_coarse(&m->config))
        return lp_dma_has_room_of_tiles(view, pe, vc);
    return lp_pe(m, view->cube, pe)->dma.count[vc] < m->hw.dma_queue_depth;
}

/* Puts an operation into a channel that has room. */
void lp_dma_push(struct lp_view *view, uint32_t pe, enum hw_vc vc, struct hw_dma_op op,
                 struct lp_coarse_op coarse);
/* LP_EVENT_ENGINE: a run of the engine ends. *freed: the channel in which a place has become free,
 * or HW_VCS. False: the event is stale. Otherwise the caller lets waiting calls take the place,
 * and then calls lp_dma_continue(). */
bool lp_dma_engine(struct lp_view *view, uint32_t pe, uint32_t generation, enum hw_vc *freed);
/* Gives the engine to the next operation, if it is idle. */
void lp_dma_continue(struct lp_view *view, uint32_t pe);
/* LP_EVENT_MEMORY: a request is at its memory. */
void lp_dma_memory(struct lp_view *view, const struct cw_event *event, struct lp_load load);

#endif
