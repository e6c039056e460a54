/*
 * links.c: what every link of the machine carried in the last batch, by name. Host side, between
 * drains.
 */
#include "lp/host/links.h"

#include <stdio.h>

struct visit {
    const struct lp_model *m;
    uint32_t epoch;
    void (*fn)(void *arg, const struct lp_link_use *use);
    void *arg;
    char place[40]; /* "sip 3 cube 5" */
};

void lp_link_name(const struct lp_link_use *use, char *text, size_t bytes)
{
    const struct lp_link_row *const row = &lp_link_row[use->group];
    const char port[2] = {use->port < HW_PORTS ? hw_port_letter[use->port] : '\0', '\0'};
    char number[16] = "";
    if (use->number != UINT32_MAX)
        snprintf(number, sizeof number, "%u", use->number);
    if (row->per == LP_PER_ROUTER)
        snprintf(text, bytes, "%s %s %s%s %s", use->place, use->kind, row->text, number, port);
    else if (row->per == LP_PER_LANE)
        snprintf(text, bytes, "%s %s %s%s%s", use->place, use->kind, port, row->text, number);
    else
        snprintf(text, bytes, "%s %s %s%s%s", use->place, use->kind, row->text, port, number);
}

/* The link of a group that is named by number and port; they are the parts of its name, too. */
static void visit_link(const struct visit *v, const struct hw_link *link, enum lp_links group,
                       uint32_t number, enum hw_port port)
{
    const struct hw_config *const hw = &v->m->hw;
    if (link->epoch != v->epoch || link->bytes == 0)
        return;
    const uint32_t kind = group == LP_LINKS_OUTER    ? hw_route_outer_link(hw, port)
                          : group == LP_LINKS_TO_SIP ? hw_switch_link(hw)
                                                     : lp_link_row[group].kind;
    const bool unit = group == LP_LINKS_REDUCE;
    const struct lp_link_use use = {
        .place = v->place,
        .kind = unit ? "reduce" : hw_link_name[kind],
        .group = group,
        .number = number,
        .port = port,
        .bytes = link->bytes,
        .busy_ps = hw_rate_ps(unit ? hw->dma_reduce : hw->link[kind].rate, link->bytes),
        .queue_ps_max = link->queue_ps_max};
    v->fn(v->arg, &use);
}

/* Number `unit` of the ports, routers, PEs or SIPs that a group has links for. False: there are not
 * so many. */
static bool visit_unit(const struct visit *v, const struct hw_link *links, enum lp_links group,
                       uint32_t unit)
{
    const struct lp_model *const m = v->m;
    const uint32_t first = m->links.first[group];
    const enum hw_port port = unit < HW_PORTS ? (enum hw_port)unit : HW_PORT_NONE;
    switch ((enum lp_link_per)lp_link_row[group].per) {
    case LP_PER_ONE:
        if (unit == 0)
            visit_link(v, &links[first], group, UINT32_MAX, HW_PORT_NONE);
        return unit == 0;
    case LP_PER_PORT:
        if (port != HW_PORT_NONE)
            visit_link(v, &links[first + unit], group, UINT32_MAX, port);
        return port != HW_PORT_NONE;
    case LP_PER_ROUTER:
        for (enum hw_port to = 0; to < HW_PORTS && unit < m->hw.noc_w * m->hw.noc_h; to++)
            visit_link(v, &links[first + unit * HW_PORTS + to], group, unit, to);
        return unit < m->hw.noc_w * m->hw.noc_h;
    case LP_PER_PE:
        if (unit < m->pes)
            visit_link(v, &links[first + unit * LP_PE_LINKS], group, unit, HW_PORT_NONE);
        return unit < m->pes;
    case LP_PER_PUT_PE:
        if (unit < m->pes && m->config.peers > 0)
            visit_link(v, &links[first + unit], group, unit, HW_PORT_NONE);
        return unit < m->pes;
    case LP_PER_LANE:
        for (uint32_t lane = 0; port != HW_PORT_NONE && lane < lp_lanes(&m->hw, port); lane++)
            visit_link(v, &links[m->links.edge[port] + lane], group, lane, port);
        return port != HW_PORT_NONE;
    case LP_PER_SIP:
        if (unit < m->hw.sip_count)
            visit_link(v, &links[first + unit], group, unit, HW_PORT_NONE);
        return unit < m->hw.sip_count;
    }
    return false;
}

/* All links in the state of a cube, an IO die or a switch. */
static void visit_owner(const struct visit *v, enum lp_link_owner owner,
                        const struct hw_link *links)
{
    uint32_t end;
    for (uint32_t begin = 0; begin < LP_LINK_GROUPS; begin = end) {
        for (end = begin + 1; end < LP_LINK_GROUPS && lp_link_row[end].with_previous;)
            end++;
        bool more = lp_link_row[begin].owner == owner;
        for (uint32_t unit = 0; more; unit++) {
            more = false;
            for (uint32_t group = begin; group < end; group++)
                more |= visit_unit(v, links, (enum lp_links)group, unit);
        }
    }
}

void lp_links_visit(const struct lp_model *m, const struct cw_sim *sim, uint32_t epoch,
                    void (*fn)(void *arg, const struct lp_link_use *use), void *arg)
{
    struct visit v = {m, epoch, fn, arg, ""};
    for (uint32_t sip = 0; sip < m->hw.sip_count; sip++) {
        for (uint32_t cube = 0; cube < m->cubes; cube++) {
            snprintf(v.place, sizeof v.place, "sip %u cube %u", sip, cube);
            const struct lp_cube *const state = cw_state(sim, lp_of_cube(m, sip, cube));
            visit_owner(&v, LP_OF_CUBE, state->link);
        }
        snprintf(v.place, sizeof v.place, "sip %u io_die", sip);
        const struct lp_io_die *const state = cw_state(sim, lp_of_io_die(m, sip));
        visit_owner(&v, LP_OF_IO_DIE, state->link);
    }
    for (uint32_t i = 0; i < m->switch_count; i++) {
        const struct lp_switch *s = cw_state(sim, m->first_switch + i);
        snprintf(v.place, sizeof v.place, "switch %u", i);
        visit_owner(&v, LP_OF_SWITCH, s->link);
    }
}
