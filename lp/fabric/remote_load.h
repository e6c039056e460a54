/*
 * remote_load.h: a load from a memory of another PE: its request on the way to the memory, and the
 * memory's response (hw/HARDWARE.md, "Loads and stores"). Handlers only.
 */
#ifndef LP_REMOTE_LOAD_H
#define LP_REMOTE_LOAD_H

#include "lp/lp_view.h"

/* The request passes routers that a load's does not: the memory is in another cube, or is a TCM. */
static inline bool lp_load_is_far(const struct lp_view *view, uint32_t peer, enum hw_memory memory)
{
    return memory == HW_MEMORY_TCM ||
           hw_divide(peer, &view->m->by.pes) != view->sip * view->m->cubes + view->cube_in_sip;
}

/* LP_EVENT_MEMORY of a load_from: its request is at the memory, or (far) at its PE's router. */
void lp_load_request(struct lp_view *view, const struct cw_event *event,
                     const struct lp_load *load);
/* LP_EVENT_LEND: a request is at the memory, or its next piece is offered. */
void lp_load_lend(struct lp_view *view, const struct cw_event *event, struct lp_transfer request);

#endif
