/*
 * config_value.h: one value against one key: its kind, spelling, range and unit.
 */
#ifndef COLLECTIVES_CONFIG_VALUE_H
#define COLLECTIVES_CONFIG_VALUE_H

#include "collectives/config/input/config_parse.h"
#include "collectives/config/config_schema.h"

/* Begins the design records' names of modules, mappers and validators. */
#define CONFIG_RECORDS_ROOT "kernbench."

/*
 * Checks a node against a key and fills *value; false, with an error reported that names the legal
 * values, if it does not fit. `path` is how messages call the key.
 */
bool config_value_read(struct config_loader *loader, const struct config_key *key, const char *path,
                       const struct config_node *node, struct config_value *value);
/* "a whole number from 1 to 16384", "one of none, message, chunk". Returns buf. */
const char *config_legal(const struct config_key *key, char *buf, size_t size);

#endif
