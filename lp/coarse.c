/*
 * coarse.c: a coarse tile crosses a link (coarse.h). Handlers only.
 */
#include "lp/coarse.h"

int64_t lp_coarse_cross(struct cw_ctx *ctx, const struct lp_model *m, enum lp_link_owner kind,
                        uint32_t index, struct hw_flight *flight,
                        const struct hw_link_class *link_class, struct hw_link *link,
                        int64_t next_overhead_ps, int64_t late_ps)
{
    const int64_t ser_ps = hw_flight_serialise(flight, link_class);
    int64_t wait_ps = 0;
    if (link != NULL) {
        int64_t *const idle_ps = CW_MUT(ctx, lp_link_idle(m, kind, link, index));
        const int64_t late_by_ps = link->free_ps + ser_ps - flight->tau_ps;
        if (late_by_ps <= 0) {
            *idle_ps = lp_least(*idle_ps - late_by_ps, flight->sigma_ps - ser_ps);
        } else {
            const int64_t window_ps = link->free_ps - (flight->tau_ps - flight->sigma_ps);
            const int64_t used_ps = lp_least(*idle_ps, lp_least(window_ps, late_by_ps));
            *idle_ps -= used_ps;
            wait_ps = late_by_ps - used_ps;
            flight->tau_ps += wait_ps;
            flight->sigma_ps += wait_ps / 2; /* tiles of several take turns: the first waits less */
        }
        link->free_ps = lp_most(link->free_ps, flight->tau_ps + late_ps);
        if (flight->epoch > 0)
            hw_link_count(link, flight, m->first_batch, wait_ps);
    }
    flight->tau_ps += late_ps + link_class->prop_ps + next_overhead_ps;
    return wait_ps;
}
