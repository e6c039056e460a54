/*
 * goal_binary.c: reads the binary form of GOAL (goal.h), little-endian: 4223 in 64 bits; the number
 * of ranks; the greatest CPU and NIC; where each rank begins and ends, counted from byte 8. A rank
 * has nodes of 39 bytes, each with the places of those that depend on it in a list at the end.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "workload/traces/goal.h"

enum { MAGIC = 4223, MAGIC_BYTES = 8, HEAD_BYTES = 14, NODE_BYTES = 39 };

/* A rank's bytes. */
struct part {
    const uint8_t *at;
    uint64_t bytes;
};

static uint64_t number_at(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

bool goal_is_binary(const uint8_t *bytes, size_t count)
{
    return count >= MAGIC_BYTES && number_at(bytes, MAGIC_BYTES) == MAGIC;
}

static int damaged(const struct trace_build *build, const struct trace_file *file, uint32_t rank,
                   const char *what)
{
    return cw_error_set(build->error, CW_USAGE, "%s: rank %u: %s", file->path, rank, what);
}

static uint64_t any_of(uint64_t number) { return number == UINT32_MAX ? GOAL_ANY : number; }

/* The nodes that depend on one; *waits counts what each waits for. */
static int read_dependents(const struct trace_build *build, const struct trace_file *file,
                           uint32_t rank, const struct part *list, uint32_t node,
                           const uint8_t *counts, bool at_start, struct goal_program *program,
                           uint32_t *waits)
{
    const uint64_t count = number_at(counts, 4), first = number_at(counts + 4, 4);
    if (count > 0 && (first + count) * 4 > list->bytes)
        return damaged(build, file, rank, "a node's dependents lie outside of the rank's list");
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t other = number_at(list->at + (first + i) * 4, 4);
        if (other >= program->count)
            return damaged(build, file, rank, "a dependent that is no node of the rank");
        waits[other]++;
        if (!goal_add_edge(program, (uint32_t)other, node | (at_start ? WORKLOAD_AFTER_START : 0)))
            return trace_no_memory(build);
    }
    return CW_OK;
}

static int read_node(const struct trace_build *build, const struct trace_file *file, uint32_t rank,
                     const uint8_t *at, uint32_t index, struct goal_program *program)
{
    struct goal_op op = {.kind = at[4],
                         .peer = number_at(at + 5, 4),
                         .size = number_at(at + 9, 8),
                         .tag = number_at(at + 17, 4),
                         .cpu = at[21],
                         .id = index};
    if (op.kind < GOAL_SEND || op.kind > GOAL_CALC) {
        char why[100];
        snprintf(why, sizeof why, "node %u: type %u; legal: 1 (send), 2 (recv), 3 (calc)", index,
                 op.kind);
        return damaged(build, file, rank, why);
    }
    if (op.kind == GOAL_RECV) {
        op.peer = any_of(op.peer);
        op.tag = any_of(op.tag);
    }
    return goal_add_op(program, &op) ? CW_OK : trace_no_memory(build);
}

static int read_edges(const struct trace_build *build, const struct trace_file *file, uint32_t rank,
                      const uint8_t *nodes, const struct part *list, struct goal_program *program)
{
    uint32_t *const waits = calloc((size_t)program->count + 1, sizeof *waits);
    int code = waits != NULL ? CW_OK : trace_no_memory(build);
    for (uint32_t i = 0; code == CW_OK && i < program->count; i++) {
        const uint8_t *const node = nodes + (size_t)i * NODE_BYTES;
        code = read_dependents(build, file, rank, list, i, node + 23, false, program, waits);
        if (code == CW_OK)
            code = read_dependents(build, file, rank, list, i, node + 31, true, program, waits);
    }
    for (uint32_t i = 0; code == CW_OK && i < program->count; i++)
        if (waits[i] != number_at(nodes + (size_t)i * NODE_BYTES, 4)) {
            char why[120];
            snprintf(why, sizeof why, "node %u says that it waits for %" PRIu64 " nodes, and %u %s",
                     i, number_at(nodes + (size_t)i * NODE_BYTES, 4), waits[i],
                     "name it as dependent");
            code = damaged(build, file, rank, why);
        }
    free(waits);
    return code;
}

static int read_rank(const struct trace_build *build, const struct trace_file *file, uint32_t rank,
                     const struct part *part, struct goal_program *program)
{
    if (part->bytes < 8)
        return damaged(build, file, rank, "cut off");
    const uint64_t nodes = number_at(part->at, 4), roots = number_at(part->at + 4, 4),
                   list_at = 8 + 4 * roots + nodes * NODE_BYTES;
    if (list_at > part->bytes || nodes >= WORKLOAD_AFTER_START)
        return damaged(build, file, rank, "cut off: its nodes have no room between begin and end");
    const uint8_t *const first = part->at + 8 + 4 * roots;
    const struct part list = {part->at + list_at, part->bytes - list_at};
    int code = CW_OK;
    for (uint32_t i = 0; code == CW_OK && i < nodes; i++)
        code = read_node(build, file, rank, first + (size_t)i * NODE_BYTES, i, program);
    return code == CW_OK ? read_edges(build, file, rank, first, &list, program) : code;
}

int goal_read_binary(struct trace_build *build, const struct trace_file *file)
{
    const uint64_t room = file->count - MAGIC_BYTES;
    const uint8_t *const from = file->bytes + MAGIC_BYTES;
    const uint64_t ranks = file->count >= HEAD_BYTES ? number_at(from, 4) : 0;
    if (ranks == 0 || ranks > TRACE_RANKS_MAX || 6 + 16 * ranks > room)
        return cw_error_set(build->error, CW_USAGE,
                            "%s: cut off, or without ranks: binary GOAL has a table of its ranks "
                            "after 14 bytes",
                            file->path);
    struct goal_program *const programs = calloc(ranks, sizeof *programs);
    int code = programs != NULL ? CW_OK : trace_no_memory(build);
    for (uint32_t rank = 0; code == CW_OK && rank < ranks; rank++) {
        const uint64_t begin = number_at(from + 6 + 16 * (uint64_t)rank, 8),
                       end = number_at(from + 14 + 16 * (uint64_t)rank, 8);
        if (begin > end || end > room || begin < 6 + 16 * ranks)
            code = damaged(build, file, rank,
                           "begins or ends outside of the file; both count from byte 8");
        else
            code = read_rank(build, file, rank, &(struct part){from + begin, end - begin},
                             &programs[rank]);
    }
    if (code == CW_OK)
        code = goal_build(build, file->path, programs, (uint32_t)ranks);
    goal_free(programs, (uint32_t)ranks);
    return code;
}
