/*
 * chakra.h: Chakra execution traces as the graph of a step: a file for each rank, or one file that
 * all ranks carry out.
 */
#ifndef WORKLOAD_CHAKRA_H
#define WORKLOAD_CHAKRA_H

#include "workload/traces/trace_build.h"
#include "workload/traces/trace_file.h"

/* set: with files for ranks; or without, and then `file` is the one. */
int chakra_read(struct trace_build *build, const struct trace_set *set,
                const struct trace_file *file);

#endif
