/*
 * places.h: numbers of PEs, cubes and routers taken apart, and steps between neighbouring cubes: as
 * hw/structure.h and hw/route.h have them, but without divisions, for handlers. Pure functions of
 * the model.
 */
#ifndef LP_PLACES_H
#define LP_PLACES_H

#include "lp/model.h"

/* Of a PE's global index: its number in its cube, its SIP, or all of its place. */
static inline uint32_t lp_pe_in_cube(const struct lp_model *m, uint32_t pe_index)
{
    return hw_remainder(pe_index, &m->by.pes);
}
static inline uint32_t lp_sip_of(const struct lp_model *m, uint32_t pe_index)
{
    return hw_divide(pe_index, &m->by.sip_pes);
}
static inline struct hw_place lp_place_of(const struct lp_model *m, uint32_t pe_index)
{
    const uint32_t cube = hw_divide(pe_index, &m->by.pes), sip = hw_divide(cube, &m->by.cubes);
    return (struct hw_place){sip, cube - sip * m->cubes, pe_index - cube * m->pes};
}

/*
 * What leaves a SIP for SIP `to` arrives at the representative of `to`. There the numbers of PEs
 * that it carries are those of the relabelling that takes `to` to its representative.
 */
static inline uint32_t lp_moved_pe(const struct lp_model *m, uint32_t to, uint32_t pe_index)
{
    const uint32_t sip = lp_sip_of(m, pe_index);
    return pe_index + (hw_fold_moved(m->fold, to, sip) - sip) * m->by.sip_pes.value;
}
/* A PE as the representative of another PE's SIP knows it. */
static inline uint32_t lp_moved_pe_of(const struct lp_model *m, uint32_t other, uint32_t pe_index)
{
    return m->fold == NULL ? pe_index : lp_moved_pe(m, lp_sip_of(m, other), pe_index);
}
static inline void lp_move_transfer(const struct lp_model *m, uint32_t to,
                                    struct lp_transfer *transfer)
{
    if (__builtin_expect(m->fold == NULL, 1))
        return;
    transfer->src = lp_moved_pe(m, to, transfer->src);
    transfer->dst = lp_moved_pe(m, to, transfer->dst);
}

static inline struct hw_spot lp_spot_of(uint32_t at, const struct hw_divisor *by_w)
{
    const uint32_t y = hw_divide(at, by_w);
    return (struct hw_spot){at - y * by_w->value, y};
}
static inline struct hw_spot lp_cube_spot(const struct lp_model *m, uint32_t cube)
{
    return lp_spot_of(cube, &m->by.cube_w);
}
static inline struct hw_spot lp_router_spot(const struct lp_model *m, uint32_t router)
{
    return lp_spot_of(router, &m->by.noc_w);
}

static inline struct hw_grid lp_cube_grid(const struct lp_model *m)
{
    return (struct hw_grid){m->hw.cube_w, m->hw.cube_h, false};
}

/* hw_cube_neighbour() and hw_route_cube(), of cubes of a SIP. */
static inline bool lp_cube_neighbour(const struct lp_model *m, uint32_t cube, enum hw_port port,
                                     uint32_t *to)
{
    return hw_grid_step_from(lp_cube_grid(m), lp_cube_spot(m, cube), port, to);
}
static inline enum hw_port lp_route_cube(const struct lp_model *m, uint32_t at, uint32_t to)
{
    return hw_grid_route_between(lp_cube_grid(m), lp_cube_spot(m, at), lp_cube_spot(m, to));
}

#endif
