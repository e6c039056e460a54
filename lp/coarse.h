/*
 * coarse.h: coarse tiles (lp/QUEUES.md, "Coarse tiles"): one tile that stands for up to
 * lp_config.coarse tiles, in one event each step. All events are at the time of the last of these
 * tiles; the time of the first is known beside it. So each part of the machine can tell how much of
 * the work for the tiles between it has done in time in which it was idle. Handlers only.
 */
#ifndef LP_COARSE_H
#define LP_COARSE_H

#include "lp/lp_view.h"

/* Tiles that `bytes` stand for. What is larger than a coarse tile was never cut into tiles. */
static inline uint32_t lp_coarse_tiles(const struct lp_model *m, uint64_t bytes)
{
    const uint32_t tile = lp_tile_bytes(&m->config);
    return bytes <= tile || bytes > lp_move_bytes(&m->config)
               ? 1
               : (uint32_t)((bytes + tile - 1) / tile);
}

/* Of these tiles, those that come one after the other with all of their way between them. */
static inline uint32_t lp_coarse_rounds(uint32_t tiles, uint32_t piece_tiles)
{
    return piece_tiles == 0 ? 1 : (tiles + piece_tiles - 1) / piece_tiles;
}

/* How much earlier than the last tile the first one was, of a serialisation that goes from the
 * first byte of the first tile to the last byte of the last. */
static inline int64_t lp_coarse_spread(int64_t sigma_ps, uint32_t tiles, uint32_t rounds)
{
    return sigma_ps / tiles * (tiles - rounds);
}

static inline int64_t lp_least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t lp_most(int64_t a, int64_t b) { return a > b ? a : b; }

/* The idle time of a link, before its free_ps, that nothing has used. */
static inline const int64_t *lp_link_idle(const struct lp_model *m, enum lp_link_owner kind,
                                          const struct hw_link *link, uint32_t index)
{
    const uint8_t *const state = (const uint8_t *)(link - index) - offsetof(struct lp_cube, link);
    return (const int64_t *)(state + m->accounts.offset[kind]) +
           m->links.count[kind] * m->accounts.row_words + index;
}

/* As hw_flight_cross_late(), for a flight whose bytes have come since tau - sigma. */
int64_t lp_coarse_cross(struct cw_ctx *ctx, const struct lp_model *m, enum lp_link_owner kind,
                        uint32_t index, struct hw_flight *flight,
                        const struct hw_link_class *link_class, struct hw_link *link,
                        int64_t next_overhead_ps, int64_t late_ps);

#endif
