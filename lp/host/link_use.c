/*
 * link_use.c: reads the links in the LPs' states, and names them by their place (link_use.h).
 */
#include "lp/host/link_use.h"

#include <stdio.h>

/* Where the links of one group are in the state of their owner. There are `units` units (ports,
 * outlets, routers, PEs or SIPs), each with `each` links. The links of a unit begin at number
 * first + unit * stride. `each` = 0 marks lanes: a port has lp_lanes() of them, and they begin at
 * links.edge[port]. */
struct span {
    uint32_t units, each, first, stride;
};

struct visit {
    const struct lp_model *m;
    uint32_t first_batch, account, groups;
    const void *state; /* of the owner */
    void (*fn)(void *arg, const struct lp_link_use *use);
    void *arg;
    char place[HW_SWITCH_TEXT_BYTES]; /* "sip 3 cube 5" */
    uint32_t lp, sip, cube;
    uint32_t the_switch; /* of a switch: its number */
    struct span span[LP_LINK_GROUPS];
};

void lp_link_own_name(const struct lp_link_use *use, char *text, size_t bytes)
{
    const struct lp_link_row *const row = &lp_link_row[use->group];
    const char port[2] = {use->port < HW_PORTS ? hw_port_letter[use->port] : '\0', '\0'};
    char number[16] = "";
    if (use->number != UINT32_MAX)
        snprintf(number, sizeof number, "%u", use->number);
    if (row->per == LP_PER_ROUTER)
        snprintf(text, bytes, "%s %s%s %s", use->kind, row->text, number, port);
    else if (row->per == LP_PER_LANE)
        snprintf(text, bytes, "%s %s%s%s", use->kind, port, row->text, number);
    else if (use->to_switch[0] != '\0')
        snprintf(text, bytes, "%s to %s", use->kind, use->to_switch);
    else
        snprintf(text, bytes, "%s %s%s%s%s", use->kind, row->text, port, use->outlet, number);
}

void lp_link_name(const struct lp_link_use *use, char *text, size_t bytes)
{
    const int n = snprintf(text, bytes, "%s ", use->place);
    if (n > 0 && (size_t)n < bytes)
        lp_link_own_name(use, text + n, bytes - (size_t)n);
}

struct hw_jitter_place lp_link_place(const struct lp_model *m, uint32_t lp, uint32_t index)
{
    struct hw_jitter_place place = {HW_JITTER_ANY, HW_JITTER_ANY, HW_JITTER_ANY, index, 0};
    if (lp > 0 && lp < m->lps.first_io_die) {
        const uint32_t of_pe = index - m->links.first[LP_LINKS_FROM_PE]; /* wraps: of no PE */
        place.sip = lp_sip_at(m, (lp - 1) / m->cubes);                   /* LP 0 is the host */
        place.cube = (lp - 1) % m->cubes;
        place.pe = of_pe / LP_PE_LINKS < m->pes ? of_pe / LP_PE_LINKS : HW_JITTER_ANY;
    } else if (lp >= m->lps.first_io_die && lp < m->lps.first_switch) {
        place = lp_die_link_place(m, lp_sip_at(m, lp - m->lps.first_io_die), index);
    } else if (lp >= m->lps.first_switch && m->fold == NULL) {
        place.outer = hw_outer_link(m->hw.sip_count + lp_switch_at(m, lp), index);
    }
    return place;
}

/* The time by which a link that was slow from the start has passed these bytes later. */
static int64_t slower_ps(const struct lp_model *m, uint32_t lp, uint32_t kind, uint32_t index,
                         uint64_t bytes)
{
    const struct hw_jitter_place place = lp_link_place(m, lp, index);
    return hw_slow_link_ps(&m->hw, (enum hw_link_kind)kind, &place, bytes, 0);
}

static struct span span_of(const struct lp_model *m, enum lp_links group)
{
    const uint32_t first = m->links.first[group];
    switch ((enum lp_link_per)lp_link_row[group].per) {
    case LP_PER_PORT:
        return (struct span){HW_PORTS, 1, first, 1};
    case LP_PER_OUTLET:
        return (struct span){hw_outlets(&m->hw), 1, first, 1};
    case LP_PER_ROUTER:
        return (struct span){m->hw.noc_w * m->hw.noc_h, HW_PORTS, first, HW_PORTS};
    case LP_PER_PE:
        return (struct span){m->pes, 1, first, LP_PE_LINKS};
    case LP_PER_PUT_PE:
        return (struct span){m->needs.peers > 0 ? m->pes : 0, 1, first, 1};
    case LP_PER_LANE:
        return (struct span){HW_PORTS, 0, first, 0};
    case LP_PER_SIP:
        return (struct span){m->links.count[LP_OF_SWITCH], 1, first, 1};
    default:
        return (struct span){1, 1, first, 1};
    }
}

static uint32_t kind_of_down(const struct lp_model *m, uint32_t number, uint32_t unit)
{
    const uint32_t stop = m->hw.sip_count + number;
    return hw_hop(&m->hw, stop,
                  m->fold == NULL ? unit
                                  : hw_route_exit(&m->hw, stop, lp_switch_next(m, number, unit), 0))
        .link;
}

/* Reports a link that carried something: number `i` of its unit's links in its group, and number
 * `index` in its owner's state. */
static void report_link(const struct visit *v, const struct hw_link *link, enum lp_links group,
                        uint32_t unit, uint32_t i, uint32_t index)
{
    const struct hw_config *const hw = &v->m->hw;
    const enum lp_link_per per = (enum lp_link_per)lp_link_row[group].per;
    const enum hw_port port = per == LP_PER_PORT || per == LP_PER_LANE ? (enum hw_port)unit
                              : per == LP_PER_ROUTER                   ? (enum hw_port)i
                                                                       : HW_PORT_NONE;
    const uint32_t next =
        per == LP_PER_SIP ? lp_switch_next(v->m, v->the_switch, unit) : UINT32_MAX;
    const bool to_switch = per == LP_PER_SIP && hw_is_switch(hw, next);
    const uint32_t number = to_switch ? UINT32_MAX : next;
    const uint32_t kind = group == LP_LINKS_OUTER    ? hw_hop(hw, v->sip, unit).link
                          : group == LP_LINKS_TO_SIP ? kind_of_down(v->m, v->the_switch, unit)
                                                     : lp_link_row[group].kind;
    const bool unnamed = group == LP_LINKS_REDUCE; /* a unit of PE_DMA, which has no kind of link */
    struct lp_link_use use = {
        .place = v->place,
        .kind = unnamed ? "reduce" : hw_link_name_of(&v->m->hw, kind),
        .group = group,
        .lp = v->lp,
        .index = index,
        .sip = v->sip,
        .cube = v->cube,
        .unit = unit,
        .number = per == LP_PER_LANE                                                 ? i
                  : per == LP_PER_SIP                                                ? number
                  : per == LP_PER_PE || per == LP_PER_PUT_PE || per == LP_PER_ROUTER ? unit
                                                                                     : UINT32_MAX,
        .port = port,
        .bytes = link->bytes,
        .busy_ps = hw_rate_ps(unnamed ? hw->dma_reduce : hw->link[kind].rate, link->bytes),
        .queue_ps_max = link->queue_ps_max,
        .alike = v->m->fold != NULL ? hw_fold_alike(v->m->fold) : 1};
    if (!unnamed && hw->faults != NULL)
        use.busy_ps += slower_ps(v->m, v->lp, kind, index, link->bytes);
    if (to_switch)
        (void)hw_switch_text(hw, next - hw->sip_count, use.to_switch);
    if (per == LP_PER_OUTLET)
        hw_outlet_name(hw, v->sip, unit, use.outlet);
    v->fn(v->arg, &use);
}

/* The bytes of a link that are asked for. */
static uint64_t bytes_of(const struct visit *v, const struct hw_link *link, enum lp_links group,
                         uint32_t index)
{
    if (v->account == 0)
        return link->epoch >= v->first_batch ? link->bytes : 0;
    const uint64_t *const row =
        (const uint64_t *)((const uint8_t *)v->state +
                           v->m->accounts.offset[lp_link_row[group].owner]) +
        index * v->m->accounts.row_words;
    return row[0] >= v->first_batch ? row[v->account] : 0;
}

/* Reports a link, as report_link(), if it carried something. */
static void visit_link(const struct visit *v, const struct hw_link *link, enum lp_links group,
                       uint32_t unit, uint32_t i, uint32_t index)
{
    struct hw_link asked = *link;
    asked.bytes = bytes_of(v, link, group, index);
    if (asked.bytes > 0)
        report_link(v, &asked, group, unit, i, index);
}

/* Unit by unit, the links of the groups from `begin` to `end` - 1, which are listed together. */
static void visit_groups(const struct visit *v, const struct hw_link *links, uint32_t begin,
                         uint32_t end)
{
    const uint32_t units = v->span[begin].units;
    for (uint32_t unit = 0; unit < units; unit++)
        for (uint32_t group = begin; group < end; group++) {
            const struct span *const span = &v->span[group];
            if (unit >= span->units || (v->groups >> group & 1) == 0)
                continue;
            const bool lanes = span->each == 0;
            const struct hw_link *const link =
                &links[lanes ? v->m->links.edge[unit] : span->first + unit * span->stride];
            const uint32_t each = lanes ? lp_lanes(&v->m->hw, (enum hw_port)unit) : span->each;
            for (uint32_t i = 0; i < each; i++)
                visit_link(v, &link[i], (enum lp_links)group, unit, i,
                           (uint32_t)(&link[i] - links));
        }
}

/* All links in the state of a cube, an IO die or a switch. */
static void visit_owner(const struct visit *v, enum lp_link_owner owner,
                        const struct hw_link *links)
{
    uint32_t end;
    for (uint32_t begin = 0; begin < LP_LINK_GROUPS; begin = end) {
        for (end = begin + 1; end < LP_LINK_GROUPS && lp_link_row[end].with_previous;)
            end++;
        const uint32_t asked = v->groups >> begin & ((1u << (end - begin)) - 1);
        if (lp_link_row[begin].owner == owner && asked != 0)
            visit_groups(v, links, begin, end);
    }
}

void lp_links_visit(const struct lp_model *m, const struct cw_sim *sim, struct lp_links_asked asked,
                    void (*fn)(void *arg, const struct lp_link_use *use), void *arg)
{
    struct visit v = {.m = m,
                      .first_batch = asked.first_batch,
                      .account = asked.account,
                      .groups = asked.groups > 0 ? asked.groups : UINT32_MAX,
                      .fn = fn,
                      .arg = arg};
    const uint64_t sips = m->sips;
    const uint32_t first = (uint32_t)(sips * asked.part / asked.parts),
                   end = (uint32_t)(sips * (asked.part + 1) / asked.parts);
    for (enum lp_links group = 0; group < LP_LINK_GROUPS; group++)
        v.span[group] = span_of(m, group);
    for (uint32_t index = first; index < end; index++) {
        const uint32_t sip = lp_sip_at(m, index);
        v.sip = sip;
        for (uint32_t cube = 0; cube < m->cubes; cube++) {
            snprintf(v.place, sizeof v.place, "sip %u cube %u", sip, cube);
            v.lp = lp_of_cube(m, sip, cube);
            v.cube = cube;
            const struct lp_cube *const state = cw_state(sim, v.lp);
            v.state = state;
            visit_owner(&v, LP_OF_CUBE, state->link);
        }
        snprintf(v.place, sizeof v.place, "sip %u io_die", sip);
        v.lp = lp_of_io_die(m, sip);
        v.cube = UINT32_MAX;
        const struct lp_io_die *const state = cw_state(sim, v.lp);
        v.state = state;
        visit_owner(&v, LP_OF_IO_DIE, state->link);
    }
    for (uint32_t i = 0; asked.part + 1 == asked.parts && i < m->lps.switch_count; i++) {
        v.lp = m->lps.first_switch + i;
        v.sip = v.the_switch = lp_switch_at(m, v.lp);
        v.cube = UINT32_MAX;
        const struct lp_switch *s = cw_state(sim, v.lp);
        (void)hw_switch_text(&m->hw, v.the_switch, v.place);
        v.state = s;
        visit_owner(&v, LP_OF_SWITCH, s->link);
    }
}

struct lp_link_use lp_link_member(const struct lp_model *m, const struct lp_link_use *use,
                                  uint32_t k, char place[LP_LINK_PLACE_BYTES])
{
    struct lp_link_use member = *use;
    const bool of_switch = lp_link_row[use->group].owner == LP_OF_SWITCH;
    member.alike = 1;
    member.place = place;
    if (m->fold != NULL && of_switch) {
        member.number = hw_fold_member(m->fold, use->number, k);
        member.sip = hw_fold_switch_with(m->fold, use->sip, member.number);
        member.unit = hw_route_exit(&m->hw, m->hw.sip_count + member.sip, member.number, 0);
    } else if (m->fold != NULL) {
        member.sip = hw_fold_member(m->fold, use->sip, k);
    }
    if (of_switch)
        (void)hw_switch_text(&m->hw, member.sip, place);
    else if (use->cube == UINT32_MAX)
        snprintf(place, LP_LINK_PLACE_BYTES, "sip %u io_die", member.sip);
    else
        snprintf(place, LP_LINK_PLACE_BYTES, "sip %u cube %u", member.sip, member.cube);
    return member;
}

/* ---- one link -------------------------------------------------------------------------------- */

struct naming {
    char *text;
    size_t bytes;
};

static void name_link(void *arg, const struct lp_link_use *use)
{
    const struct naming *const naming = arg;
    lp_link_name(use, naming->text, naming->bytes);
}

/* The number of a link in its state: number `i` of the unit's links in its group. */
static uint32_t link_number(const struct visit *v, const struct span *span, uint32_t unit,
                            uint32_t i)
{
    return (span->each == 0 ? v->m->links.edge[unit] : span->first + unit * span->stride) + i;
}

/* Names the link with that number, if it is in this group. */
static bool name_in_group(const struct visit *v, enum lp_links group, uint32_t number)
{
    static const struct hw_link unused;
    const struct span span = span_of(v->m, group);
    for (uint32_t unit = 0; unit < span.units; unit++) {
        const uint32_t each = span.each == 0 ? lp_lanes(&v->m->hw, (enum hw_port)unit) : span.each;
        for (uint32_t i = 0; i < each; i++)
            if (link_number(v, &span, unit, i) == number) {
                report_link(v, &unused, group, unit, i, number);
                return true;
            }
    }
    return false;
}

void lp_link_name_of(const struct lp_model *m, uint32_t lp, uint32_t number, char *text,
                     size_t bytes)
{
    struct naming naming = {text, bytes};
    struct visit v = {.m = m, .fn = name_link, .arg = &naming, .lp = lp};
    enum lp_link_owner owner = LP_OF_CUBE;
    if (lp >= m->lps.first_switch) {
        owner = LP_OF_SWITCH;
        v.the_switch = lp_switch_at(m, lp);
        (void)hw_switch_text(&m->hw, v.the_switch, v.place);
    } else if (lp >= m->lps.first_io_die) {
        owner = LP_OF_IO_DIE;
        v.sip = lp_sip_at(m, lp - m->lps.first_io_die);
        snprintf(v.place, sizeof v.place, "sip %u io_die", v.sip);
    } else {
        v.sip = lp_sip_at(m, (lp - 1) / m->cubes);
        snprintf(v.place, sizeof v.place, "sip %u cube %u", v.sip, (lp - 1) % m->cubes);
    }
    snprintf(text, bytes, "%s link %u", v.place, number);
    for (enum lp_links group = 0; group < LP_LINK_GROUPS; group++)
        if (lp_link_row[group].owner == owner && name_in_group(&v, group, number))
            return;
}
