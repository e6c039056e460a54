/*
 * overrun.c: lists the kernels that run when a limit stops the run. Reads the LPs' states between
 * drains.
 */
#include "lp/host/overrun.h"

#include <stdio.h>

enum { SHOWN_MAX = 4 };

static const struct lp_kernel *kernel_on(const struct lp_model *m, const struct cw_sim *sim,
                                         uint32_t pe, uint32_t queue)
{
    const struct hw_place place = hw_place_of(&m->hw, pe);
    const struct lp_cube *const cube = cw_state(sim, lp_of_cube(m, place.sip, place.cube));
    return lp_kernel_on(m, lp_pe(m, cube, place.pe), queue);
}

int lp_overrun_report(const struct lp_model *m, const struct cw_sim *sim, const char *fault,
                      struct cw_error *error)
{
    char list[SHOWN_MAX * (TL_SOURCE_TEXT_BYTES + 120)] = "", more[40] = "";
    size_t used = 0;
    uint32_t running = 0;
    for (uint32_t i = 0; i < lp_pe_count(m) * m->needs.queues; i++) {
        const uint32_t pe = lp_pe_at(m, i / m->needs.queues);
        const struct lp_kernel *const kernel = kernel_on(m, sim, pe, i % m->needs.queues);
        const struct hw_place place = hw_place_of(&m->hw, pe);
        char at[TL_SOURCE_TEXT_BYTES];
        if (kernel->launch == 0 || running++ >= SHOWN_MAX)
            continue;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s PE %u.%u.%u, kernel %.64s%s",
                                 used > 0 ? ";" : ":", place.sip, place.cube, place.pe,
                                 lp_launch_of(m, kernel->launch)->kernel->name,
                                 tl_source_text(kernel->source, at, sizeof at));
    }
    if (running > SHOWN_MAX)
        (void)snprintf(more, sizeof more, "; and %u more", running - SHOWN_MAX);
    return cw_error_set(error, CW_PROGRAM_FAILED, "%s while %u kernel%s%s%s", fault, running,
                        running == 1 ? " runs" : "s run", list, more);
}
