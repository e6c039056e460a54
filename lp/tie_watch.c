/*
 * tie_watch.c: the latest event from another SIP at each LP, or at each link of a switch. Events
 * come in the total order, where those that meet are sorted by their SIPs. So the latest one tells
 * whether there are two SIPs.
 */
#include "lp/tie_watch.h"

#include <stdlib.h>

#include "lp/places.h"

struct latest {
    int64_t time_ps;
    uint32_t depth, offset; /* of its originator's SIP; 0: there was none */
};

struct lp_tie_watch {
    struct lp_tie first;
    struct latest latest[]; /* [LPs that are no switches], then [switches * links] */
};

struct lp_tie_watch *lp_tie_watch_create(const struct lp_model *m)
{
    const size_t places =
        m->lps.first_switch + (size_t)m->lps.switch_count * m->links.count[LP_OF_SWITCH];
    return calloc(1, sizeof(struct lp_tie_watch) + places * sizeof(struct latest));
}

void lp_tie_watch_free(struct lp_tie_watch *watch) { free(watch); }

struct lp_tie lp_tie_watch_first(const struct lp_tie_watch *watch) { return watch->first; }

static size_t place_of(const struct lp_model *m, const struct cw_event *event)
{
    if (event->lp < m->lps.first_switch)
        return event->lp;
    const struct lp_transfer *const transfer =
        (const struct lp_transfer *)(const void *)event->payload;
    const uint32_t number = lp_switch_at(m, event->lp);
    const uint32_t stop = m->hw.sip_count + number;
    const uint32_t outlet =
        hw_route_exit(&m->hw, stop, lp_sip_of(m, transfer->dst), lp_route_key(m, transfer));
    return m->lps.first_switch +
           (size_t)(event->lp - m->lps.first_switch) * m->links.count[LP_OF_SWITCH] +
           lp_switch_link(m, number, outlet, hw_hop(&m->hw, stop, outlet).to);
}

void lp_tie_watch_event(struct lp_tie_watch *watch, const struct lp_model *m,
                        const struct cw_event *event)
{
    const uint32_t offset = event->entity > 0 ? hw_divide(event->entity - 1, &m->by.sip_places) : 0;
    if (event->lp == 0 || offset == 0)
        return;
    struct latest *const latest = &watch->latest[place_of(m, event)];
    const bool meets = latest->time_ps == event->time_ps && latest->depth == event->depth &&
                       latest->offset != 0 && latest->offset != offset;
    if (meets && watch->first.lp == 0)
        watch->first = (struct lp_tie){event->time_ps, event->lp};
    *latest = (struct latest){event->time_ps, event->depth, offset};
}
