/*
 * config_parts.h: the values of a fault's keys (config_faults.c): rules that choose some of many
 * parts, links by their names, how much slower, when something fails. Each reader writes the value
 * in one canonical spelling.
 */
#ifndef COLLECTIVES_CONFIG_PARTS_H
#define COLLECTIVES_CONFIG_PARTS_H

#include "collectives/config/config_schema.h"

/* What a reader found. */
enum config_found {
    CONFIG_FOUND,
    CONFIG_NOT_ONE, /* the node is nothing of this kind: try another */
    CONFIG_WRONG,   /* *wrong and *hint say what is wrong; *wrong NULL: out of memory */
};

struct config_wrong {
    const struct config_node *node;
    const char *hint; /* follows what was found there */
};

/* "every 7th", or {random: {share: 5%, seed: 3}}. */
enum config_found config_rule_read(struct config_arena *arena, const struct config_node *node,
                                   struct config_value *value, struct config_wrong *wrong);
/* One text or a list of texts: the value's words. */
enum config_found config_words_read(struct config_arena *arena, const struct config_node *node,
                                    struct config_value *value, struct config_wrong *wrong);
/* 60, 60%, 1.6x: the value's number is the percentage, to be rounded up. */
enum config_found config_slower_read(struct config_arena *arena, const struct config_node *node,
                                     struct config_value *value, struct config_wrong *wrong);
/* true, false: the number is 1 or 0; {at_ns: T}: the number is T, and list_count is 1. */
enum config_found config_failed_read(struct config_arena *arena, const struct config_node *node,
                                     struct config_value *value, struct config_wrong *wrong);

/* Whether a rule takes number `i` of the things that it chooses from. */
bool config_rule_takes(const struct config_rule *rule, uint32_t i);

#endif
