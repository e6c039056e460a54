/*
 * lane_steps.h: steps of kernels that move tensors between ranks without changing them: a lane is
 * the PEs at one (cube, pe) of all SIPs, and each lane does the same independently. Received tiles
 * are stored while the next ones come: at most two stores are in flight.
 */
#ifndef COLLECTIVES_LANE_STEPS_H
#define COLLECTIVES_LANE_STEPS_H

#include "collectives/algorithm.h"

enum { LANE_STORES = 2 };

struct lane_stores {
    uint16_t line;
    uint16_t under_way; /* at most LANE_STORES */
    uint32_t issued;
};

static inline uint64_t lane_tile_offset(const struct tl *tl, uint32_t tile)
{
    return (uint64_t)tile * tl_tile_elems(tl) * tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
}

/* memory at `va` <- tile, once an earlier store has made room. One TL_RUN. */
static inline enum tl_status lane_keep(struct tl *tl, struct lane_stores *s, uint64_t va,
                                       struct lp_operand tile, uint32_t bytes)
{
    TL_BEGIN(&s->line);
    if (s->under_way == LANE_STORES) {
        TL_CALL(&s->line, tl_wait_dma(tl, s->issued % LANE_STORES));
        s->under_way--;
    }
    TL_CALL(&s->line, tl_store_async(tl, va, tile, bytes, s->issued % LANE_STORES));
    s->issued++;
    s->under_way++;
    TL_END(&s->line);
}

/* Until all stores are acknowledged. One TL_RUN. */
static inline enum tl_status lane_finish(struct tl *tl, struct lane_stores *s)
{
    TL_BEGIN(&s->line);
    while (s->under_way > 0) {
        TL_CALL(&s->line, tl_wait_dma(tl, (s->issued - s->under_way) % LANE_STORES));
        s->under_way--;
    }
    TL_END(&s->line);
}

#endif
