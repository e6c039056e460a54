/*
 * link_groups.c: the rows of link_groups.h as a table, and the links' numbers.
 */
#include "lp/link_groups.h"

#include "hw/structure.h"
#include "hw/topology/topology.h"

#define LISTED_ALONE false
#define LISTED_WITH  true
#define ROW(NAME, owner_, kind_, per_, with, text_)                                                \
    [LP_LINKS_##NAME] = {.owner = LP_OF_##owner_,                                                  \
                         .per = LP_PER_##per_,                                                     \
                         .kind = HW_LINK_##kind_,                                                  \
                         .with_previous = LISTED_##with,                                           \
                         .text = (text_)},
const struct lp_link_row lp_link_row[LP_LINK_GROUPS] = {LP_LINK_ROWS(ROW)};

uint32_t lp_lanes(const struct hw_config *hw, enum hw_port port)
{
    return port == HW_PORT_E || port == HW_PORT_W ? hw->cube_h : hw->cube_w;
}

/* Links of a group in one owner's state. */
static uint32_t links_in(const struct hw_config *hw, enum lp_link_per per, bool puts,
                         uint32_t switch_links)
{
    switch (per) {
    case LP_PER_PORT:
        return HW_PORTS;
    case LP_PER_OUTLET:
        return hw_outlets(hw);
    case LP_PER_ROUTER:
        return hw->noc_w * hw->noc_h * HW_PORTS;
    case LP_PER_PE:
        return hw_pes(hw);
    case LP_PER_PUT_PE:
        return puts ? hw_pes(hw) : 0;
    case LP_PER_SIP:
        return switch_links;
    default:
        return 1;
    }
}

void lp_link_layout_init(struct lp_link_layout *layout, const struct hw_config *hw, bool puts,
                         uint32_t switch_links)
{
    uint32_t of_pe = 0, first_of_pe = 0;
    *layout = (struct lp_link_layout){0};
    for (enum lp_links group = 0; group < LP_LINK_GROUPS; group++) {
        const struct lp_link_row *const row = &lp_link_row[group];
        uint32_t *const next = &layout->count[row->owner];
        if (row->per == LP_PER_LANE)
            continue;
        if (row->per == LP_PER_PE && of_pe == 0)
            first_of_pe = *next;
        layout->first[group] = row->per == LP_PER_PE ? first_of_pe + of_pe++ : *next;
        *next += links_in(hw, (enum lp_link_per)row->per, puts, switch_links);
    }
    uint32_t *const lane = &layout->count[LP_OF_IO_DIE];
    layout->first[LP_LINKS_EDGE] = *lane;
    for (enum hw_port port = 0; port < HW_PORTS; port++) {
        layout->edge[port] = *lane;
        *lane += lp_lanes(hw, port);
    }
}
