/*
 * graph.h: SIPs and switches joined by links that are listed one by one (hw/HARDWARE.md, "Graphs").
 * A graph is built once, on the host side, from what a file says; then it is const, and its
 * operations are those of any topology (topology.h).
 */
#ifndef HW_GRAPH_H
#define HW_GRAPH_H

#include "hw/topology/topology.h"

/* How routes are chosen (HARDWARE.md, "Routes of graphs"). */
#define HW_ROUTE_POLICIES(ROW)                                                                     \
    ROW(LISTED, listed)                                                                            \
    ROW(DIMENSION_ORDER, dimension_order)                                                          \
    ROW(DESTINATION_DIGITS, destination_digits)                                                    \
    ROW(MINIMAL, minimal)                                                                          \
    ROW(VALIANT, valiant)
#define HW_ROUTE_POLICY_MEMBER(NAME, name) HW_ROUTES_##NAME,
enum hw_route_policy { HW_ROUTE_POLICIES(HW_ROUTE_POLICY_MEMBER) HW_ROUTES_KINDS };
extern const char *const hw_route_policy_name[HW_ROUTES_KINDS];

/* One end of a link. */
struct hw_graph_end {
    uint32_t stop;
    enum hw_port port;               /* of a SIP's IO die; HW_PORT_NONE: dealt out */
    char name[HW_OUTLET_NAME_BYTES]; /* of the SIP's outlet; "": its port, and a number */
};
struct hw_graph_link {
    struct hw_graph_end from, to;
    enum hw_link_kind link, back; /* its class, and that of its way back */
    bool one_way;
};
enum { HW_GRAPH_LINKS_MAX = 2000000 };

/* What a file says. Stops are SIPs, then switches. */
struct hw_graph_given {
    uint32_t sips, switches;
    const struct hw_graph_link *links;
    uint32_t link_count;
    const uint8_t *switch_kind; /* [switches] number of its kind; NULL: all are of the first */
    const bool *ends; /* [sips] nothing goes through this SIP to another; NULL: through all */
    enum hw_route_policy policy;
    uint64_t seed;           /* of HW_ROUTES_VALIANT */
    enum hw_sip_lines lines; /* of the global directions, which go along the dimensions */
    uint32_t dims, dim[HW_SIP_DIMS_MAX]; /* sizes of the dimensions, the inner first; 0: none */
    /* A stop's name, written into `text` or not; for messages. NULL: "SIP 3", "switch 0". */
    const char *(*stop_name)(const void *names, uint32_t stop, char *text, size_t bytes);
    const void *names;
};

/* The graph as a topology, to be freed with hw_graph_free(). NULL: `why` says what is wrong, in
 * words that follow the name of the graph; "" where memory is short. */
enum { HW_GRAPH_WHY_BYTES = 300 };
struct hw_topology_ops *hw_graph_create(const struct hw_graph_given *given,
                                        char why[HW_GRAPH_WHY_BYTES]);
void hw_graph_free(struct hw_topology_ops *graph);

/* How a machine's graph was listed. False: it is no graph; nothing is written. */
bool hw_graph_policy(const struct hw_config *hw, enum hw_route_policy *policy, uint64_t *seed);
/* The place in the list of an outlet's link, and whether it is listed from that end. */
bool hw_graph_place(const struct hw_config *hw, uint32_t stop, uint32_t outlet, uint32_t *place,
                    bool *is_from);

#endif
