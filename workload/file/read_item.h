/*
 * read_item.h: lists of operations of a workload file.
 */
#ifndef WORKLOAD_FILE_READ_ITEM_H
#define WORKLOAD_FILE_READ_ITEM_H

#include "workload/file/model.h"

/* The items of a list, with their formulas read and not resolved. NULL: none, or reported. */
struct item *items_read(struct model *model, const struct config_node *list);
/* The set of groups of this name, whether it exists or not. NULL: no memory. */
struct item_set *item_set_named(struct model *model, const char *name,
                                const struct config_node *node);

#endif
