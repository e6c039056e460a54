/*
 * blocks.h: the kinds of nodes and links that the machine is made of. A kind is one row here; the
 * enumerations, the names in components.yaml, its keys there (collectives/config/config_schema.c),
 * the jitter it may have, and the links of a walked path (hw/route.h) follow from the rows. Rows in
 * another order mean the same machine: only the order of printed keys changes.
 *
 *   NODE(KIND, name, salt, keys, jitter)
 *     keys    PLAIN: components.yaml has overhead_ns alone; OWN_KEYS: the schema lists more
 *     jitter  STEADY: none; LATE: `jitter.nodes.<name>` is a key; LATE_ON_WAY: and transfers
 *             meet the node on their way, where others may overtake them
 *   LINK(KIND, name, salt, per, place)
 *     per     PE, CUBE or SIP: each has links of this kind of its own
 *     place   OUTER: between SIPs, or to a switch; INNER: inside SIPs, or to the host. Links of
 *             both have `pj_per_bit`, those outside also a cost, watts and a scale
 *
 * Kinds without a row have no keys in components.yaml: the classes of links outside SIPs that a
 * list of levels or a graph describes (hw/topology/), and the kinds of a graph's switches.
 *
 *   JOIN(NODE, NODE, LINK): a link of this kind joins nodes of these kinds, inside a SIP or with
 *             the host. Links between SIPs are the topology's (hw/topology/topology.h).
 *
 * The salt keeps the draws of different kinds apart. It never changes: a new kind takes the next
 * number, so that the draws of all others stay the same.
 */
#ifndef HW_BLOCKS_H
#define HW_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#define HW_NODES(NODE)                                                                             \
    NODE(HOST, host, 0, PLAIN, STEADY)                                                             \
    NODE(IO_CPU, io_cpu, 1, PLAIN, STEADY)                                                         \
    NODE(IO_HUB, io_hub, 2, PLAIN, STEADY)                                                         \
    NODE(IO_PORT, io_port, 3, PLAIN, STEADY)                                                       \
    NODE(SWITCH, switch, 4, OWN_KEYS, STEADY)                                                      \
    NODE(M_CPU, m_cpu, 5, PLAIN, STEADY)                                                           \
    NODE(ROUTER, router, 6, PLAIN, STEADY)                                                         \
    NODE(UCIE_PORT, ucie_port, 7, PLAIN, STEADY)                                                   \
    NODE(SRAM, sram, 8, PLAIN, STEADY)                                                             \
    NODE(HBM, hbm, 9, PLAIN, STEADY)                                                               \
    NODE(PE_CPU, pe_cpu, 10, PLAIN, LATE)                                                          \
    NODE(PE_SCHEDULER, pe_scheduler, 11, PLAIN, LATE)                                              \
    NODE(PE_DMA, pe_dma, 12, OWN_KEYS, LATE_ON_WAY)                                                \
    NODE(PE_IPCQ, pe_ipcq, 13, OWN_KEYS, LATE)                                                     \
    NODE(PE_FETCH_STORE, pe_fetch_store, 14, OWN_KEYS, LATE)                                       \
    NODE(PE_MATH, pe_math, 15, OWN_KEYS, LATE)                                                     \
    NODE(PE_GEMM, pe_gemm, 16, OWN_KEYS, LATE)                                                     \
    NODE(PE_TCM, pe_tcm, 17, PLAIN, LATE_ON_WAY)                                                   \
    NODE(PE_MMU, pe_mmu, 18, OWN_KEYS, LATE)

#define HW_LINKS(LINK)                                                                             \
    LINK(PE_NOC, pe_noc, 19, PE, INNER)                                                            \
    LINK(TCM, tcm, 20, PE, INNER)                                                                  \
    LINK(NOC, noc, 21, CUBE, INNER)                                                                \
    LINK(HBM, hbm, 22, PE, INNER)                                                                  \
    LINK(SRAM, sram, 23, CUBE, INNER)                                                              \
    LINK(M_CPU, m_cpu, 24, CUBE, INNER)                                                            \
    LINK(NOC_UCIE, noc_ucie, 25, CUBE, INNER)                                                      \
    LINK(UCIE, ucie, 26, CUBE, INNER)                                                              \
    LINK(HUB, hub, 27, SIP, INNER)                                                                 \
    LINK(SIP_LINK, sip_link, 28, SIP, OUTER)                                                       \
    LINK(PCIE, pcie, 29, SIP, INNER)                                                               \
    LINK(SIO, sio, 30, SIP, OUTER)                                                                 \
    LINK(HCCS, hccs, 31, SIP, OUTER)

#define HW_JOINS(JOIN)                                                                             \
    JOIN(PE_DMA, ROUTER, PE_NOC)                                                                   \
    JOIN(PE_CPU, ROUTER, PE_NOC)                                                                   \
    JOIN(PE_DMA, PE_TCM, TCM)                                                                      \
    JOIN(ROUTER, ROUTER, NOC)                                                                      \
    JOIN(ROUTER, HBM, HBM)                                                                         \
    JOIN(ROUTER, SRAM, SRAM)                                                                       \
    JOIN(ROUTER, M_CPU, M_CPU)                                                                     \
    JOIN(ROUTER, UCIE_PORT, NOC_UCIE)                                                              \
    JOIN(UCIE_PORT, UCIE_PORT, UCIE)                                                               \
    JOIN(UCIE_PORT, IO_PORT, UCIE)                                                                 \
    JOIN(IO_PORT, IO_HUB, HUB)                                                                     \
    JOIN(IO_HUB, IO_CPU, HUB)                                                                      \
    JOIN(IO_CPU, HOST, PCIE)

#define HW_NODE_MEMBER(KIND, ...) HW_NODE_##KIND,
#define HW_LINK_MEMBER(KIND, ...) HW_LINK_##KIND,
/* HW_NODE_HOST, HW_NODE_IO_CPU, ... and HW_LINK_PE_NOC, HW_LINK_TCM, ... */
enum { HW_LEVELS_MAX = 4, HW_CLASSES_MAX = 48, HW_SWITCH_KINDS = 8 };
enum hw_node_kind {
    HW_NODES(HW_NODE_MEMBER) HW_NODE_SWITCH_2, /* the second kind of a graph's switches */
    HW_NODE_KINDS = HW_NODE_SWITCH_2 + HW_SWITCH_KINDS - 1,
    HW_NODE_KEYED = HW_NODE_SWITCH_2 /* kinds below have keys in components.yaml */
};
enum hw_link_kind {
    HW_LINKS(HW_LINK_MEMBER) HW_LINK_CLASS_1, /* the first class of links outside SIPs */
    HW_LINK_KINDS = HW_LINK_CLASS_1 + HW_CLASSES_MAX,
    HW_LINK_KEYED = HW_LINK_CLASS_1 /* kinds below have keys in components.yaml */
};

/* The unit with links of a kind of its own; the number of parts of its place (s, s.c, s.c.p). */
enum hw_per { HW_PER_SIP = 1, HW_PER_CUBE, HW_PER_PE };
enum hw_node_jitter { HW_STEADY, HW_LATE, HW_LATE_ON_WAY };

struct hw_node_row {
    const char *name;
    uint8_t salt, jitter; /* enum hw_node_jitter */
};
struct hw_link_row {
    const char *name;
    uint8_t salt, per; /* enum hw_per */
};
extern const struct hw_node_row hw_node_row[HW_NODE_KEYED];
extern const struct hw_link_row hw_link_row[HW_LINK_KEYED];
extern const char *const hw_node_name[HW_NODE_KEYED]; /* "host", "io_cpu", ... */
extern const char *const hw_link_name[HW_LINK_KEYED]; /* "pe_noc", "tcm", ... */

static inline bool hw_node_is_switch(enum hw_node_kind kind)
{
    return kind == HW_NODE_SWITCH || kind >= HW_NODE_SWITCH_2;
}
/* The kind of a machine's switches of this number, below HW_SWITCH_KINDS. */
static inline enum hw_node_kind hw_switch_node(uint32_t number)
{
    return number == 0 ? HW_NODE_SWITCH : (enum hw_node_kind)(HW_NODE_SWITCH_2 + number - 1);
}
static inline uint32_t hw_switch_number(enum hw_node_kind kind)
{
    return kind == HW_NODE_SWITCH ? 0 : 1 + (uint32_t)(kind - HW_NODE_SWITCH_2);
}
static inline enum hw_per hw_link_per(enum hw_link_kind kind)
{
    return kind < HW_LINK_KEYED ? (enum hw_per)hw_link_row[kind].per : HW_PER_SIP;
}
static inline uint8_t hw_link_salt(enum hw_link_kind kind)
{
    return kind < HW_LINK_KEYED ? hw_link_row[kind].salt : (uint8_t)(32 + kind - HW_LINK_CLASS_1);
}

/* Links of this kind are outside SIPs, between two of them or to a switch. */
static inline bool hw_link_is_outer(enum hw_link_kind kind)
{
    return kind == HW_LINK_SIP_LINK || kind == HW_LINK_SIO || kind == HW_LINK_HCCS ||
           (kind >= HW_LINK_CLASS_1 && kind < HW_LINK_KINDS);
}

/* Kind of the links between nodes of these kinds, in either order; HW_LINK_KINDS: none. */
static inline enum hw_link_kind hw_link_between(enum hw_node_kind a, enum hw_node_kind b)
{
#define HW_JOINED(A, B, LINK)                                                                      \
    if ((a == HW_NODE_##A && b == HW_NODE_##B) || (a == HW_NODE_##B && b == HW_NODE_##A))          \
        return HW_LINK_##LINK;
    HW_JOINS(HW_JOINED)
#undef HW_JOINED
    return HW_LINK_KINDS;
}

/* The kinds of the nodes on the shortest way by joined kinds from one kind to another, `to` last,
 * without `from`. Returns their number; 0: none are joined. */
uint32_t hw_node_way(enum hw_node_kind from, enum hw_node_kind to,
                     enum hw_node_kind way[HW_NODE_KINDS]);

#endif
