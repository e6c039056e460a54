/*
 * workload_file.h: reads a workload file (workload/STEPS.md, "Workload files"), checks it and
 * expands it into the graph of a step.
 */
#ifndef WORKLOAD_FILE_H
#define WORKLOAD_FILE_H

#include "collectives/config/input/config_errors.h"
#include "workload/graph/graph.h"

struct workload_file_request {
    const char *path;
    const char *text; /* NULL: the file's; else the text to read, and `path` is its name */
    size_t bytes;
    /* "workload.parallel.tp=8": keys that replace those of the file, or are added to them. */
    const char *const *settings;
    size_t setting_count;
    uint32_t sip_w, sip_h;   /* grid of the machine's SIPs, for `place`; 0: they are no grid */
    bool any_machine;        /* no machine is known: shapes of `place` place nothing */
    uint32_t operations_max; /* in all classes; 0: 4 million */
};

/*
 * CW_OK: *graph is filled and checked (workload_graph_check()), and freed by
 * workload_graph_free(). CW_USAGE: *error has all mistakes, one a line, "file:line:column: what is
 * wrong, what would be legal"; CW_NO_RESOURCE. *graph is then zero.
 */
int workload_file_read(const struct workload_file_request *request, struct workload_graph *graph,
                       struct cw_error *error);

#endif
