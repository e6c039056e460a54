/*
 * slot_map.h: two bits for each slot of a PE's receive rings, after the rest of the PE's state:
 * whether its tile has come before its turn, and whether its tile was taken before its turn. They
 * are read only while struct lp_queue counts such tiles. Handlers only, on the PE's cube.
 */
#ifndef LP_SLOT_MAP_H
#define LP_SLOT_MAP_H

#include "lp/lp_view.h"

enum lp_slot_map {
    LP_SLOT_EARLY, /* the tile is there, and an earlier one is not (I-IPCQ-3) */
    LP_SLOT_TAKEN, /* the tile was received, and an earlier one is promised (I-IPCQ-4) */
    LP_SLOT_MAPS
};

/* Bytes of one map of one ring. */
static inline size_t lp_slot_map_bytes(const struct lp_config *config)
{
    return (config->n_slots + 7) / 8;
}

/* The byte that has the bit of tile `seq`'s slot. */
static inline const uint8_t *lp_slot_byte(const struct lp_model *m, const struct lp_pe *pe,
                                          enum hw_dir dir, enum lp_slot_map map, uint32_t seq)
{
    const size_t bytes = lp_slot_map_bytes(&m->config);
    return (const uint8_t *)pe + m->cube.slot_offset +
           ((size_t)dir * LP_SLOT_MAPS + (size_t)map) * bytes + seq % m->config.n_slots / 8;
}

static inline bool lp_slot_bit(const struct lp_model *m, const struct lp_pe *pe, enum hw_dir dir,
                               enum lp_slot_map map, uint32_t seq)
{
    return *lp_slot_byte(m, pe, dir, map, seq) >> seq % m->config.n_slots % 8 & 1;
}

static inline void lp_slot_flip(struct lp_view *view, const struct lp_pe *pe, enum hw_dir dir,
                                enum lp_slot_map map, uint32_t seq)
{
    *CW_MUT(view->ctx, lp_slot_byte(view->m, pe, dir, map, seq)) ^=
        (uint8_t)(1u << seq % view->m->config.n_slots % 8);
}

#endif
