/*
 * tie_watch.h: of a machine that is folded otherwise than by translations: whether events of
 * different SIPs have met. The total order knows SIPs by their offsets (entity.h), and such a fold
 * keeps no offset but 0. So it keeps the order of events, unless two of them meet at one LP, at one
 * time and depth, that come from two SIPs other than the LP's own; at a switch, on one link.
 *
 * Such a machine runs on one thread, in the total order. The watch is no part of the LPs' states.
 */
#ifndef LP_TIE_WATCH_H
#define LP_TIE_WATCH_H

#include "lp/model.h"

struct lp_tie_watch;

/* NULL: out of memory. */
struct lp_tie_watch *lp_tie_watch_create(const struct lp_model *m);
void lp_tie_watch_free(struct lp_tie_watch *watch); /* accepts NULL */

/* The next event in the total order. Handlers only. */
void lp_tie_watch_event(struct lp_tie_watch *watch, const struct lp_model *m,
                        const struct cw_event *event);
/* The first events that have met: when, and at which LP. */
struct lp_tie {
    int64_t time_ps;
    uint32_t lp; /* 0: none have */
};
struct lp_tie lp_tie_watch_first(const struct lp_tie_watch *watch);

#endif
