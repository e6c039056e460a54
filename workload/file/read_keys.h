/*
 * read_keys.h: keys of mappings of a workload file: which are legal, and their values of simple
 * kinds. Each reports what it refuses.
 */
#ifndef WORKLOAD_FILE_READ_KEYS_H
#define WORKLOAD_FILE_READ_KEYS_H

#include "collectives/config/input/config_parse.h"

/* A mapping's value; NULL: it has no such key. */
const struct config_node *key_value(const struct config_node *mapping, const char *key);
/* Reports keys that are none of the legal ones. `of`: "of an operation". */
void keys_check(struct config_loader *loader, const struct config_node *mapping, const char *of,
                const char *const *legal, size_t count);
/* NULL: no text, reported. */
const char *text_value(struct config_loader *loader, const struct config_node *node,
                       const char *expected);
bool truth_value(struct config_loader *loader, const struct config_node *node, bool *value);
/* One of the words; -1: reported. word(i) is NULL after the last. */
int word_value(struct config_loader *loader, const struct config_node *node, const char *of,
               const char *(*word)(uint32_t i));
bool is_kind(struct config_loader *loader, const struct config_node *node,
             enum config_node_kind kind, const char *expected);

#endif
