/*
 * chakra_groups.h: the communicators of Chakra traces by the names that `pg_name` selects them by:
 * from a file {"id": [ranks]}, and from METADATA nodes, whose names count on their own rank only.
 */
#ifndef WORKLOAD_CHAKRA_GROUPS_H
#define WORKLOAD_CHAKRA_GROUPS_H

#include "workload/traces/chakra_node.h"

#define CHAKRA_ANY_RANK UINT32_MAX

struct chakra_group {
    char *name;
    uint32_t rank; /* on which it has this name; CHAKRA_ANY_RANK */
    uint32_t *ranks, count;
    uint32_t group; /* in build->groups; WORKLOAD_NONE: not used yet */
};

struct chakra_groups {
    struct chakra_group *list;
    uint32_t count;
    uint32_t ranks; /* above all that are named */
};

int chakra_groups_read(const struct trace_build *build, struct chakra_groups *groups);
/* Those that the METADATA nodes of a rank's trace define. */
int chakra_groups_add(const struct trace_build *build, const struct chakra_trace *trace,
                      uint32_t rank, struct chakra_groups *groups);
/* The group of a node, in build->groups, with the rank in it. */
int chakra_groups_find(struct trace_build *build, struct chakra_groups *groups,
                       const struct chakra_trace *trace, const struct chakra_node *node,
                       uint32_t rank, uint32_t *group);
/* Those of METADATA nodes, when the rank has been read. */
void chakra_groups_forget(struct chakra_groups *groups);
void chakra_groups_free(struct chakra_groups *groups);

#endif
