/*
 * blocks.c: tables of the kinds of nodes and links, from the rows in blocks.h.
 */
#include "hw/blocks.h"

#define NODE_ROW(KIND, name_, salt_, keys, jitter_)                                                \
    [HW_NODE_##KIND] = {.name = #name_, .salt = (salt_), .jitter = HW_##jitter_},
#define LINK_ROW(KIND, name_, salt_, per_, ...)                                                    \
    [HW_LINK_##KIND] = {.name = #name_, .salt = (salt_), .per = HW_PER_##per_},
const struct hw_node_row hw_node_row[HW_NODE_KEYED] = {HW_NODES(NODE_ROW)};
const struct hw_link_row hw_link_row[HW_LINK_KEYED] = {HW_LINKS(LINK_ROW)};

#define NODE_NAME(KIND, name, ...) [HW_NODE_##KIND] = #name,
#define LINK_NAME(KIND, name, ...) [HW_LINK_##KIND] = #name,
const char *const hw_node_name[HW_NODE_KEYED] = {HW_NODES(NODE_NAME)};
const char *const hw_link_name[HW_LINK_KEYED] = {HW_LINKS(LINK_NAME)};

uint32_t hw_node_way(enum hw_node_kind from, enum hw_node_kind to,
                     enum hw_node_kind way[HW_NODE_KINDS])
{
    /* Breadth first, from `to`, so that `next` leads forward from any kind that was reached. */
    enum hw_node_kind next[HW_NODE_KINDS] = {0}, queue[HW_NODE_KINDS];
    bool seen[HW_NODE_KINDS] = {false};
    uint32_t reached = 0, ways = 0;
    seen[to] = true;
    queue[reached++] = to;
    for (uint32_t i = 0; i < reached && !seen[from]; i++)
        for (enum hw_node_kind kind = 0; kind < HW_NODE_KINDS; kind++)
            if (!seen[kind] && hw_link_between(kind, queue[i]) != HW_LINK_KINDS) {
                seen[kind] = true;
                next[kind] = queue[i];
                queue[reached++] = kind;
            }
    for (enum hw_node_kind at = from; seen[from] && at != to; at = next[at])
        way[ways++] = next[at];
    return ways;
}
