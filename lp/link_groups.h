/*
 * link_groups.h: the links in the states of cubes, IO dies and switches, in groups of one kind and
 * use: one row each. Their numbers in a state (layout.c) and their names in reports
 * (host/link_use.c) follow from the rows; handlers name a group by its member of enum lp_links.
 *
 *   GROUP(NAME, owner, kind, per, with, text)
 *     owner  CUBE, IO_DIE or SWITCH: the links are in the state of its LP
 *     kind   of hw/blocks.h. OUTER's is the topology's, by outlet; REDUCE has none
 *     per    the number of links, and the rest of their names after `text`:
 *            ONE     one
 *            PORT    one for each port: text, port
 *            OUTLET  one for each outlet of a SIP (hw/topology/topology.h): text, outlet
 *            ROUTER  one for each port of each router: text, router, port
 *            PE      one for each PE: text, PE. The links of one PE in all these groups are side
 *                    by side
 *            PUT_PE  one for each PE, apart from those, and only where kernels put
 *            LANE    one for each cube at each edge of the SIP: port, text, lane
 *            SIP     one for each SIP of a switch: text, SIP
 *     with   reports list a group ALONE, or WITH the rows before it port by port or PE by PE
 *
 * The rows of one owner are in the order of the links' numbers, but lanes come last. Draws of
 * jitter depend on these numbers: a new group comes after the others of its owner.
 */
#ifndef LP_LINK_GROUPS_H
#define LP_LINK_GROUPS_H

#include "hw/hw_config.h"

#define LP_LINK_ROWS(GROUP)                                                                        \
    GROUP(NOC, CUBE, NOC, ROUTER, ALONE, "router ")                                                \
    GROUP(IN, CUBE, NOC_UCIE, PORT, ALONE, "in ")                                                  \
    GROUP(OUT, CUBE, NOC_UCIE, PORT, ALONE, "out ")                                                \
    GROUP(UCIE, CUBE, UCIE, PORT, ALONE, "")                                                       \
    GROUP(TO_M_CPU, CUBE, M_CPU, ONE, ALONE, "to m_cpu")                                           \
    GROUP(FROM_M_CPU, CUBE, M_CPU, ONE, ALONE, "from m_cpu")                                       \
    GROUP(SRAM_WRITE, CUBE, SRAM, ONE, ALONE, "write")                                             \
    GROUP(SRAM_READ, CUBE, SRAM, ONE, ALONE, "read")                                               \
    GROUP(FROM_PE, CUBE, PE_NOC, PE, ALONE, "from PE ")                                            \
    GROUP(TO_PE, CUBE, PE_NOC, PE, WITH, "to PE ")                                                 \
    GROUP(TCM_WRITE, CUBE, TCM, PE, WITH, "write PE ")                                             \
    GROUP(HBM_WRITE, CUBE, HBM, PE, WITH, "write PE ")                                             \
    GROUP(HBM_READ, CUBE, HBM, PE, WITH, "read PE ")                                               \
    GROUP(REDUCE, CUBE, KINDS, PUT_PE, WITH, "PE ")                                                \
    GROUP(HUB_IN, IO_DIE, HUB, PORT, ALONE, "in ")                                                 \
    GROUP(HUB_OUT, IO_DIE, HUB, PORT, ALONE, "out ")                                               \
    GROUP(OUTER, IO_DIE, KINDS, OUTLET, ALONE, "")                                                 \
    GROUP(EDGE, IO_DIE, UCIE, LANE, WITH, " lane ")                                                \
    GROUP(TO_IO_CPU, IO_DIE, HUB, ONE, ALONE, "to io_cpu")                                         \
    GROUP(FROM_IO_CPU, IO_DIE, HUB, ONE, ALONE, "from io_cpu")                                     \
    GROUP(TO_HOST, IO_DIE, PCIE, ONE, ALONE, "to host")                                            \
    GROUP(TO_SIP, SWITCH, KINDS, SIP, ALONE, "to sip ")

#define LP_LINKS_MEMBER(NAME, ...) LP_LINKS_##NAME,
/* LP_LINKS_NOC, LP_LINKS_IN, ... */
enum lp_links { LP_LINK_ROWS(LP_LINKS_MEMBER) LP_LINK_GROUPS };

enum lp_link_owner { LP_OF_CUBE, LP_OF_IO_DIE, LP_OF_SWITCH, LP_LINK_OWNERS };
enum lp_link_per {
    LP_PER_ONE,
    LP_PER_PORT,
    LP_PER_OUTLET,
    LP_PER_ROUTER,
    LP_PER_PE,
    LP_PER_PUT_PE,
    LP_PER_LANE,
    LP_PER_SIP
};

/* Links of one PE that are side by side: groups of `per` PE. */
#define LP_LINKS_OF_PE(NAME, owner, kind, per, with, text) +(LP_PER_##per == LP_PER_PE)
enum { LP_PE_LINKS = 0 LP_LINK_ROWS(LP_LINKS_OF_PE) };

struct lp_link_row {
    uint8_t owner, per; /* enum lp_link_owner, enum lp_link_per */
    uint8_t kind;       /* enum hw_link_kind; HW_LINK_KINDS: see the row */
    bool with_previous; /* reports list it together with the rows before it */
    const char *text;
};
extern const struct lp_link_row lp_link_row[LP_LINK_GROUPS];

/* Where the links are: numbers in the states of their owners. */
struct lp_link_layout {
    uint32_t first[LP_LINK_GROUPS]; /* of a PE's links: of PE 0, and LP_PE_LINKS further each */
    uint32_t edge[HW_PORTS];        /* first lane of each port, of LP_LINKS_EDGE */
    uint32_t count[LP_LINK_OWNERS];
};

/* Cubes at the edge of a SIP on the side of this port. */
uint32_t lp_lanes(const struct hw_config *hw, enum hw_port port);

/* `puts`: kernels put, so that there are reduce units. `switch_links`: in a switch's state. */
void lp_link_layout_init(struct lp_link_layout *layout, const struct hw_config *hw, bool puts,
                         uint32_t switch_links);

#endif
