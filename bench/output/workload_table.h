/*
 * workload_table.h: the graph of a step for people and for programs: what its classes of ranks do,
 * and its groups.
 */
#ifndef BENCH_WORKLOAD_TABLE_H
#define BENCH_WORKLOAD_TABLE_H

#include <stdio.h>

#include "workload/graph/graph.h"
#include "workload/model/fit.h"

/* Classes with their operations by name, groups, bytes held. Of a checked graph. */
void workload_table_print(FILE *file, const struct workload_graph *graph);
/* A line: what the fullest rank holds, and whether it fits; nothing where that is not known. */
void workload_fit_print(FILE *file, const char *prefix, const struct workload_graph *graph,
                        const struct workload_fit *fit);
/* All programs, operation by operation, and all groups. CW_OK, or CW_NO_RESOURCE. */
int workload_json_write(FILE *file, const struct workload_graph *graph, struct cw_error *error);

#endif
