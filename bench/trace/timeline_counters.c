/*
 * timeline_counters.c: sums up counters over a collective in bins of equal width
 * (timeline_counters.h). Bins hold ps times units. When a time is beyond the last bin, bins are
 * added up in pairs.
 */
#include "bench/trace/timeline_counters.h"

#include <string.h>

enum { FIRST_COUNTER_BIN_PS = 1000 };

void timeline_counters_begin(struct timeline_counters *c, int64_t begin_ps)
{
    *c = (struct timeline_counters){
        .begin_ps = begin_ps, .bin_ps = FIRST_COUNTER_BIN_PS, .tiles_ps = begin_ps};
}

static void widen_counters(struct timeline_counters *c)
{
    c->bin_ps *= 2;
    for (int k = 0; k < COUNTERS; k++) {
        for (int i = 0; i < COUNTER_BINS / 2; i++)
            c->bin[k][i] = c->bin[k][2 * i] + c->bin[k][2 * i + 1];
        memset(&c->bin[k][COUNTER_BINS / 2], 0, COUNTER_BINS / 2 * sizeof c->bin[k][0]);
    }
}

/* `units` from begin to end. */
static void count_stretch(struct timeline_counters *c, enum timeline_counter counter,
                          int64_t begin_ps, int64_t end_ps, int64_t units)
{
    begin_ps = begin_ps > c->begin_ps ? begin_ps - c->begin_ps : 0;
    end_ps -= c->begin_ps;
    while (end_ps > c->bin_ps * COUNTER_BINS)
        widen_counters(c);
    while (begin_ps < end_ps) {
        const int64_t bin = begin_ps / c->bin_ps, edge_ps = (bin + 1) * c->bin_ps;
        const int64_t until_ps = edge_ps < end_ps ? edge_ps : end_ps;
        c->bin[counter][bin] += units * (until_ps - begin_ps);
        begin_ps = until_ps;
    }
}

void timeline_counters_tile(struct timeline_counters *c, int64_t t_ps, int change)
{
    if (t_ps > c->tiles_ps) {
        count_stretch(c, COUNTER_TILES, c->tiles_ps, t_ps, c->tiles);
        c->tiles_ps = t_ps;
    }
    c->tiles += change;
}

static enum timeline_counter counter_of(const struct lp_model *m, const struct lp_crossed *crossed)
{
    const struct lp_link_layout *const links = &m->links;
    if (crossed->lp >= m->lps.first_switch)
        return COUNTER_SIPS;
    if (crossed->lp >= m->lps.first_io_die) {
        const uint32_t outer = links->first[LP_LINKS_OUTER];
        return crossed->index >= outer && crossed->index < outer + hw_outlets(&m->hw)
                   ? COUNTER_SIPS
                   : COUNTER_CUBES;
    }
    const uint32_t ucie = links->first[LP_LINKS_UCIE];
    return crossed->index >= ucie && crossed->index < ucie + HW_PORTS ? COUNTER_CUBES
                                                                      : COUNTER_INSIDE;
}

void timeline_counters_crossed(struct timeline_counters *c, const struct lp_model *m,
                               const struct lp_crossed *crossed)
{
    count_stretch(c, counter_of(m, crossed), crossed->end_ps - crossed->busy_ps, crossed->end_ps,
                  1);
}
