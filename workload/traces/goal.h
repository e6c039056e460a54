/*
 * goal.h: GOAL schedules, as text and in the binary form of LogGOPSim, as the graph of a step:
 * each rank computes for so many ns, sends and receives.
 */
#ifndef WORKLOAD_GOAL_H
#define WORKLOAD_GOAL_H

#include "workload/traces/trace_build.h"
#include "workload/traces/trace_file.h"

bool goal_is_binary(const uint8_t *bytes, size_t count);
int goal_read_text(struct trace_build *build, const struct trace_file *file);
int goal_read_binary(struct trace_build *build, const struct trace_file *file);

/* ---- what both forms share ------------------------------------------------------------------- */

#define GOAL_ANY UINT64_MAX /* of a receive: any sender, any tag */

enum goal_kind { GOAL_SEND = 1, GOAL_RECV, GOAL_CALC };

struct goal_op {
    uint8_t kind; /* enum goal_kind */
    uint32_t cpu;
    uint64_t size; /* bytes, or ns */
    uint64_t peer, tag;
    uint64_t id; /* its line, or its number in its rank */
};

struct goal_program {
    struct goal_op *ops;
    uint32_t count, room;
    struct goal_edge {
        uint32_t op, needs; /* `needs` has WORKLOAD_AFTER_START, or not */
    } * edges;
    uint32_t edge_count, edge_room;
};

/* Appends. false: out of memory. */
bool goal_add_op(struct goal_program *program, const struct goal_op *op);
bool goal_add_edge(struct goal_program *program, uint32_t op, uint32_t needs);
/* One for each rank; then gives each receive of any sender its sender. */
int goal_build(struct trace_build *build, const char *path, struct goal_program *programs,
               uint32_t ranks);
void goal_free(struct goal_program *programs, uint32_t ranks);

#endif
