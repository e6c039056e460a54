/*
 * graph_rules.h: the rules of a graph file: one key, such as `fat_tree: {k: 16}`, that stands for
 * SIPs, switches and links (hw/HARDWARE.md, "Rules of graphs").
 */
#ifndef COLLECTIVES_GRAPH_RULES_H
#define COLLECTIVES_GRAPH_RULES_H

#include "collectives/config/input/config_parse.h"
#include "collectives/config/input/graph_list.h"

#define GRAPH_RULE_NAMES "grid", "product", "fat_tree", "dragonfly", "rail", "slim_fly", "hypercube"
extern const char graph_rule_names[]; /* for messages */

/* Whether a key of a graph is a rule. */
bool graph_rule_is(const char *key);
/* Puts what the rule `key` describes into an empty list, to which classes may have been added.
 * False: an error is reported. `path` is how messages call the graph. */
bool graph_rule_read(struct config_loader *loader, const char *path, const struct config_node *key,
                     struct graph_list *list);

/* Machines may have this many. */
enum { GRAPH_SIPS_MAX = HW_UNFOLDED_SIPS_MAX, GRAPH_SWITCHES_MAX = HW_UNFOLDED_SIPS_MAX };

#endif
