/*
 * one_sided.h: puts and notifications at their destination (lp/QUEUES.md, "One-sided operations").
 * Handlers only, on the destination's cube.
 */
#ifndef LP_ONE_SIDED_H
#define LP_ONE_SIDED_H

#include "lp/lp_run.h"

/* The place of a peer, which this PE may not have met yet; NULL: it has met as many as the
 * algorithm declares. */
const struct lp_peer *lp_peer_place(struct lp_run *run, uint32_t pe, uint32_t peer);
/* The same; fails the event where that is NULL. */
const struct lp_peer *lp_peer_of(struct lp_run *run, uint32_t pe, uint32_t peer);
/* LP_EVENT_LAND: a put's or a notification's last byte is at its destination. */
void lp_one_sided_land(struct lp_run *run, const struct lp_transfer *transfer);

#endif
