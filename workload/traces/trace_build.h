/*
 * trace_build.h: what the readers of all formats share: operations with labels that many nodes
 * have in common, streams that run as dependencies allow, and groups of ranks that become sets of
 * disjoint groups at the end.
 */
#ifndef WORKLOAD_TRACE_BUILD_H
#define WORKLOAD_TRACE_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workload/graph/graph.h"
#include "workload/traces/trace_options.h"

/* Bytes of a message or tensor, and ps of a time, that a trace may state. */
#define TRACE_BYTES_MAX (UINT64_C(1) << 50)
#define TRACE_PS_MAX    (UINT64_C(1) << 60)

enum {
    TRACE_RANKS_MAX = 1 << 17,
    TRACE_OPS_MAX = 1 << 22 /* that a layer table becomes */
};

/* Ranks of one communicator. */
struct trace_group {
    char *name;
    uint32_t *ranks;
    uint32_t count;
    uint32_t set; /* in the graph: known once trace_build_end() has run */
};

struct trace_build {
    struct workload_graph *graph;
    const struct workload_trace_options *options;
    struct cw_error *error;
    uint32_t *label_table; /* by hash: 1 + index in graph->labels; 0: free */
    uint32_t label_room;
    struct trace_group *groups; /* operations name them in `set` until trace_build_end() */
    uint32_t group_count, group_room;
    uint32_t world; /* world: 1 + the group of all ranks; 0: none yet */
};

/* The graph of `ranks` ranks, without programs. */
int trace_build_begin(struct trace_build *build, uint32_t ranks);
/* Gives groups their sets, and sets their operations; ranks that do the same share a program. */
int trace_build_end(struct trace_build *build);
void trace_build_free(struct trace_build *build);

/* WORKLOAD_NONE: out of memory, in these four. A label is the name with '*' for each number in it,
 * so that a report has one row for what is done again and again. */
uint32_t trace_label(struct trace_build *build, const char *name, size_t bytes);
uint32_t trace_stream(struct trace_build *build, const char *name,
                      enum workload_stream_order order);
/* A group of these ranks by this name. One that is there already is returned again. */
uint32_t trace_group(struct trace_build *build, const char *name, const uint32_t *ranks,
                     uint32_t count);
/* The same, where the caller knows that it is new. */
uint32_t trace_new_group(struct trace_build *build, const char *name, const uint32_t *ranks,
                         uint32_t count);
/* Of all ranks. */
uint32_t trace_world(struct trace_build *build);

/* The element type in which a tensor of so many bytes is moved. */
uint8_t trace_dtype(uint64_t bytes);

/* A line for the user, "FILE: ...". */
void trace_note(const struct trace_build *build, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline int trace_no_memory(const struct trace_build *build)
{
    return cw_error_memory(build->error, "a trace");
}

#endif
