/*
 * graph_read.h: `system.sips.topology: {graph: FILE}`, or the graph itself in place of FILE: from
 * nodes to a list of SIPs, switches and links (graph_list.h). The keys: hw/HARDWARE.md, "Graphs".
 */
#ifndef COLLECTIVES_GRAPH_READ_H
#define COLLECTIVES_GRAPH_READ_H

#include "collectives/config/input/graph_list.h"

struct graph_source {
    struct graph_list list; /* its links are in the loader's arena */
    uint64_t contents;      /* hash of the file; 0: there is none */
    const char *text;       /* canonical: {graph: FILE}, or all of it; */
    const char *printed;    /* the same with absolute paths; */
    const char *digested;   /* and with the names of files alone */
};

#define GRAPH_EXAMPLE "{graph: machine.yaml}"

/* What such a mapping says, in the loader's arena; NULL, with an error reported. `path` is how
 * messages call the key. */
const struct graph_source *graph_read(struct config_loader *loader, const char *path,
                                      const struct config_node *node);

#endif
