/*
 * graph_list.h: a machine of SIPs and switches as a list that grows: what a graph file says, what
 * its rules make, and what files of other programs describe (hw/HARDWARE.md, "Graphs"). The list
 * holds structure and exact figures; hw/topology/graph.h makes a topology of it.
 *
 * Functions that add something return its number, and GRAPH_LIST_FULL without memory or room; then
 * `failed`, or `why`, says so at the end, and a reader need not ask after each call.
 */
#ifndef COLLECTIVES_GRAPH_LIST_H
#define COLLECTIVES_GRAPH_LIST_H

#include "collectives/config/input/levels.h"
#include "hw/topology/graph.h"

enum { GRAPH_NAME_BYTES = 24 };
#define GRAPH_LIST_FULL UINT32_MAX

/* A class of links; what it does not give is as in `links.sip_link`. */
struct graph_class {
    char name[GRAPH_NAME_BYTES];
    struct level figures;
};

/* A kind of switches. */
struct graph_kind {
    char name[GRAPH_NAME_BYTES];
    struct level figures; /* latency_ns, cost, watts, pj_per_bit alone; else as nodes.switch */
    struct graph_reduce {
        bool has_mode, has_rate, has_latency, has_trees; /* else as nodes.switch */
        enum hw_reduce_mode mode;
        struct decimal rate, latency;
        uint32_t trees;
    } reduce;
    uint32_t ports; /* the most cables of one switch; 0: not given */
    uint32_t first; /* number of its first switch, */
    uint32_t count; /* and how many there are: the switches of a kind follow each other */
};

struct graph_list {
    uint32_t sips, switches;
    struct graph_class class[HW_CLASSES_MAX];
    struct graph_kind kind[HW_SWITCH_KINDS];
    uint32_t classes, kinds;
    struct hw_graph_link *link; /* [links] */
    uint32_t links, room;
    bool *ends; /* [sips] SIPs through which nothing goes to another; NULL: through all */
    enum hw_route_policy routes;
    uint32_t seed; /* of routes by way of others */
    enum hw_sip_lines lines;
    uint32_t dims, dim[HW_SIP_DIMS_MAX]; /* inner first */
    bool failed;                         /* out of memory */
    const char *why;            /* which room does not suffice, as a sentence; NULL: it does */
    const char *read, *assumed; /* of another program's file, for `topo`; NULL: of none */
};

void graph_list_free(struct graph_list *list); /* what it points to */

/* A class of links by its name, added if it is new. `figures` may be NULL: none are given yet. */
uint32_t graph_list_class(struct graph_list *list, const char *name, const struct level *figures);
/* Links of a class by its number; GRAPH_LIST_FULL: of `links.sip_link`. */
static inline enum hw_link_kind graph_list_link_kind(uint32_t class)
{
    return class == GRAPH_LIST_FULL ? HW_LINK_SIP_LINK
                                    : (enum hw_link_kind)(HW_LINK_CLASS_1 + class);
}
/* A kind of `count` switches more. Its switches get the next numbers. */
uint32_t graph_list_kind(struct graph_list *list, const char *name, uint32_t count);
/* The stop of switch `index` of a kind. `sips` is known by now. */
uint32_t graph_list_switch(const struct graph_list *list, uint32_t kind, uint32_t index);
/* Cables from one stop to another, both ways unless `one_way`, of class number `class`, or of
 * `links.sip_link` (GRAPH_LIST_FULL). Ports are dealt out. Returns the first one's number. */
uint32_t graph_list_join(struct graph_list *list, uint32_t from, uint32_t to, uint32_t class,
                         uint32_t cables);
/* The same with all that a link may say. */
uint32_t graph_list_add(struct graph_list *list, const struct hw_graph_link *link, uint32_t cables);
/* Nothing goes through this SIP to another. */
void graph_list_end(struct graph_list *list, uint32_t sip);

/* "sip 3", "leaf.1", or "leaf" if it is the only one. Returns text. */
const char *graph_list_stop_name(const struct graph_list *list, uint32_t stop, char *text,
                                 size_t bytes);

#endif
