/*
 * config_tree.c: looks values up, and copies a tree (config_tree.h).
 */
#include "collectives/config/config_tree.h"

#include <stdio.h>
#include <string.h>

const struct config_value *config_machine_value(const struct config_tree *tree, const char *path)
{
    return &tree->machine[config_machine_find(path)];
}

const struct config_value *config_ccl_value(const struct config_tree *tree,
                                            const struct config_algorithm *algorithm, int key)
{
    for (; algorithm != NULL; algorithm = algorithm->extends)
        if (config_given(&algorithm->value[key]))
            return &algorithm->value[key];
    return &tree->defaults[key];
}

struct config_algorithm *config_algorithm_find(const struct config_tree *tree, const char *name)
{
    for (struct config_algorithm *entry = tree->algorithms; entry != NULL; entry = entry->next)
        if (strcmp(entry->name, name) == 0)
            return entry;
    return NULL;
}

struct config_named *config_named_at(const struct config_tree *tree, enum config_section section,
                                     const char *name)
{
    for (struct config_named *named = tree->named[section]; named != NULL; named = named->next)
        if (strcmp(named->name, name) == 0)
            return named;
    return NULL;
}

const struct ccl_algorithm *config_running(const struct config_tree *tree)
{
    return tree->chosen != NULL ? tree->chosen->algorithm : NULL;
}

const struct config_value *config_parameter_value(const struct config_algorithm *entry,
                                                  const char *name)
{
    for (; entry != NULL; entry = entry->extends)
        for (const struct config_parameter *own = entry->parameters; own != NULL; own = own->next)
            if (strcmp(own->name, name) == 0)
                return &own->value;
    return NULL;
}

/* 1 where the key is not given. */
static struct decimal scale_of(const struct config_tree *tree, const char *path)
{
    const struct config_value *const value = config_machine_value(tree, path);
    return config_given(value) ? value->number : (struct decimal){1, 0};
}

struct decimal config_link_scale(const struct config_tree *tree, enum hw_link_kind kind)
{
    char path[64];
    snprintf(path, sizeof path, "links.%s.scale", hw_link_name[kind]);
    return decimal_scaled(scale_of(tree, path), scale_of(tree, "links.scale"), 6);
}

const struct hw_topology_ops *config_topology(const struct config_tree *tree)
{
    const struct config_value *const value = config_machine_value(tree, "system.sips.topology");
    if (value->graph != NULL)
        return tree->graph;
    return config_given(value) ? hw_topology_at((uint32_t)value->number.mantissa) : NULL;
}

static bool copy_parameters(struct config_arena *arena, struct config_algorithm *entry)
{
    for (struct config_parameter **at = &entry->parameters; *at != NULL; at = &(*at)->next) {
        struct config_parameter *const copy = config_arena_alloc(arena, sizeof *copy);
        if (copy == NULL)
            return false;
        *copy = **at;
        *at = copy;
    }
    return true;
}

struct config_tree *config_tree_copy(struct config_arena *arena, const struct config_tree *tree)
{
    struct config_tree *const copy = config_arena_alloc(arena, sizeof *copy);
    if (copy == NULL)
        return NULL;
    *copy = *tree;
    copy->arena = (struct config_arena){0};
    for (struct config_algorithm **at = &copy->algorithms; *at != NULL; at = &(*at)->next) {
        struct config_algorithm *const entry = config_arena_alloc(arena, sizeof *entry);
        if (entry == NULL)
            return NULL;
        *entry = **at;
        *at = entry;
        if (!copy_parameters(arena, entry))
            return NULL;
    }
    for (uint32_t section = 0; section < CONFIG_SECTIONS; section++)
        for (struct config_named **at = &copy->named[section]; *at != NULL; at = &(*at)->next) {
            struct config_named *const named = config_arena_alloc(arena, sizeof *named);
            if (named == NULL)
                return NULL;
            *named = **at;
            *at = named;
        }
    return copy;
}
