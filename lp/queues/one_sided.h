/*
 * one_sided.h: puts and notifications at their destination (lp/QUEUES.md, "One-sided operations").
 * Handlers only, on the destination's cube.
 */
#ifndef LP_ONE_SIDED_H
#define LP_ONE_SIDED_H

#include "lp/lp_view.h"

/* The place of a peer (lp_peer_key()), which this PE may not have met yet; NULL: it has met as many
 * as the algorithm declares. */
const struct lp_peer *lp_peer_place(struct lp_view *view, uint32_t pe, uint32_t key);
/* The same; fails the event where that is NULL. */
const struct lp_peer *lp_peer_of(struct lp_view *view, uint32_t pe, uint32_t key);
/* LP_EVENT_LAND: a put's or a notification's last byte is at its destination. True: it has become
 * visible, as *landed; false: it waits for an earlier one. */
bool lp_one_sided_land(struct lp_view *view, const struct lp_transfer *transfer,
                       struct lp_early *landed);
/* After one has become visible: the next ones of the PE whose turn it now is. False: there are none
 * any more. */
bool lp_one_sided_next(struct lp_view *view, uint32_t pe, struct lp_early *landed);

#endif
