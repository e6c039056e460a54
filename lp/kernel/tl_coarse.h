/*
 * tl_coarse.h: what a kernel's call on a coarse tile costs (lp/QUEUES.md, "Coarse tiles"). A call
 * pays for each of the tiles that its bytes stand for. What it pays for all but one of them it may
 * have done already, while it waited for the last one: that time is its lead. Handlers only.
 */
#ifndef LP_TL_COARSE_H
#define LP_TL_COARSE_H

#include "lp/coarse.h"
#include "lp/kernel/tl_call.h"

/* Bytes of one of the tiles that a call's bytes stand for. */
static inline uint64_t tl_each_bytes(const struct tl *tl, uint64_t bytes)
{
    if (!lp_is_coarse(&tl->view->m->config))
        return bytes;
    const uint32_t tiles = lp_coarse_tiles(tl->view->m, bytes);
    return (bytes + tiles - 1) / tiles;
}

/* Bytes that the tiles take on their way (lp_bytes_on_way()). */
static inline uint32_t tl_bytes_on_way(const struct tl *tl, uint32_t bytes)
{
    const struct lp_config *const config = &tl->view->m->config;
    if (!lp_is_coarse(config))
        return lp_bytes_on_way(config, bytes);
    const uint32_t tiles = lp_coarse_tiles(tl->view->m, bytes);
    const uint32_t full = lp_tile_bytes(config) * (tiles - 1);
    return lp_bytes_on_way(config, lp_tile_bytes(config)) * (tiles - 1) +
           lp_bytes_on_way(config, bytes - full);
}

void tl_coarse_pay(struct tl *tl, int64_t each_ps);

/* The current call takes this long for each tile. */
static inline void tl_pay(struct tl *tl, int64_t each_ps)
{
    if (lp_is_coarse(&tl->view->m->config))
        tl_coarse_pay(tl, each_ps);
    else
        tl->local_ps += each_ps;
}

/* With coarse tiles alone. */

/* A kernel begins. */
void tl_coarse_begin(struct tl *tl);
/* The kernel has waited since wait_ps, and what it waited for has come since `spread_ps` ago. */
void tl_coarse_waited(struct tl *tl, int64_t spread_ps);
/* A receive finds its tile. */
void tl_coarse_received(struct tl *tl, enum hw_dir dir);
/* A load, store or copy enters PE_DMA. */
void tl_coarse_move(struct tl *tl, uint8_t kind);
/* A move that the kernel waits for has ended. */
void tl_coarse_moved(struct tl *tl);
/* When the first tile of a move came to PE_DMA; and of a send, which happens. */
struct lp_coarse_op tl_coarse_move_op(const struct tl *tl);
struct lp_coarse_op tl_coarse_send_op(struct tl *tl);
/* Of what is no coarse tile. */
static inline struct lp_coarse_op tl_exact_op(const struct tl *tl)
{
    return (struct lp_coarse_op){tl->local_ps, 1, 1};
}

/* The kernel exchanges so many tiles before it begins the next (tl_pieces()). */
void tl_coarse_pieces(struct tl *tl, uint32_t tiles);

#endif
