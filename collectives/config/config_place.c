/*
 * config_place.c: finds the place of a value (config_place.h). A path without a value has the place
 * of a value beside it, or of the mapping that would hold it.
 */
#include "collectives/config/config_place.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "collectives/config/config_tree.h"

/* The place of any value whose path begins with `path` and a dot. */
static struct config_place place_below(const struct config_tree *tree, const char *path)
{
    const size_t bytes = strlen(path);
    for (uint32_t i = 0; i < config_machine_key_count; i++)
        if (strncmp(config_machine_keys[i].path, path, bytes) == 0 &&
            config_machine_keys[i].path[bytes] == '.' && config_given(&tree->machine[i]))
            return tree->machine[i].place;
    return (struct config_place){0};
}

/* algorithms.NAME.KEY, or the entry itself. */
static struct config_place algorithm_place(const struct config_tree *tree, const char *rest)
{
    char name[CCL_NAME_BYTES];
    const size_t bytes = strcspn(rest, ".");
    snprintf(name, sizeof name, "%.*s", (int)(bytes < sizeof name ? bytes : 0), rest);
    const struct config_algorithm *const entry = config_algorithm_find(tree, name);
    if (entry == NULL)
        return (struct config_place){0};
    const int key = rest[bytes] == '.' ? config_ccl_find(rest + bytes + 1) : -1;
    const struct config_value *const value = key < 0 ? NULL : config_ccl_value(tree, entry, key);
    return value != NULL && config_given(value) ? value->place : entry->place;
}

/* SECTION.NAME.KEY, or what has that name itself. */
static struct config_place named_place(const struct config_tree *tree, enum config_section section,
                                       const char *rest)
{
    char name[CCL_NAME_BYTES];
    const size_t bytes = strcspn(rest, ".");
    snprintf(name, sizeof name, "%.*s", (int)(bytes < sizeof name ? bytes : 0), rest);
    const struct config_named *const named = config_named_at(tree, section, name);
    const int key =
        named != NULL && rest[bytes] == '.' ? config_named_find(section, rest + bytes + 1) : -1;
    if (named == NULL)
        return (struct config_place){0};
    return key >= 0 && config_given(&named->value[key]) ? named->value[key].place : named->place;
}

static struct config_place place_of_value(const struct config_tree *tree, const char *path)
{
    if (strncmp(path, "algorithms.", 11) == 0)
        return algorithm_place(tree, path + 11);
    const char *rest;
    const enum config_section section = config_section_of(path, &rest);
    if (section < CONFIG_SECTIONS)
        return named_place(tree, section, rest);
    if (strncmp(path, "defaults.", 9) == 0) {
        const int key = config_ccl_find(path + 9);
        if (key < 0)
            return (struct config_place){0};
        const struct config_value *const value = config_ccl_value(tree, tree->chosen, key);
        return config_given(value)    ? value->place
               : tree->chosen != NULL ? tree->chosen->place
                                      : (struct config_place){0};
    }
    const int key = config_machine_find(path);
    if (key >= 0 && config_given(&tree->machine[key]))
        return tree->machine[key].place;
    char above[128];
    snprintf(above, sizeof above, "%s", path);
    if (key >= 0 && strrchr(above, '.') != NULL)
        *strrchr(above, '.') = '\0';
    return place_below(tree, above);
}

const char *config_where(const struct config *config, const char *path, char *buf, size_t size)
{
    return config_place_text(config->tree->sources, place_of_value(config->tree, path), buf, size);
}

bool config_is_from_option(const struct config *config, const char *path)
{
    const struct config_place place = place_of_value(config->tree, path);
    return place.source != 0 && !config->tree->sources[place.source - 1].is_file;
}

static bool is_of_user(const struct config_tree *tree, const struct config_value *value)
{
    return config_given(value) && value->place.source != 0 &&
           !tree->sources[value->place.source - 1].is_shipped;
}

bool config_names_work(const struct config *config)
{
    static const char *const of_work[] = {"algorithm",      "n_elem",           "root",
                                          "rank_invariant", "overlap_exchange", "world_size"};
    const struct config_tree *const tree = config->tree;
    for (size_t i = 0; i < sizeof of_work / sizeof *of_work; i++)
        if (is_of_user(tree, &tree->defaults[config_ccl_find(of_work[i])]))
            return true;
    for (const struct config_algorithm *entry = tree->chosen; entry != NULL; entry = entry->extends)
        for (uint32_t i = 0; i < config_ccl_key_count; i++)
            if (is_of_user(tree, &entry->value[i]))
                return true;
    return strcmp(config->ccl.algorithm, "lrab_hierarchical_allreduce") != 0;
}

void config_print_unread(FILE *file, const struct config *config)
{
    const struct config_tree *const tree = config->tree;
    const struct config_value *const cube =
        config_ccl_value(tree, tree->chosen, config_ccl_find("root_cube"));
    const struct config_value *const root =
        config_ccl_value(tree, tree->chosen, config_ccl_find("root"));
    char where[512];
    const struct ccl_config *const ccl = &config->ccl;
    if (ccl->slots_asked > 0)
        fprintf(file,
                "cubewarp: note: steps of %.300s send more chunks than %u slots hold before they "
                "receive; each ring has %u slots of %u bytes instead\n",
                ccl->module, ccl->slots_asked, ccl->queues.n_slots, ccl->queues.slot_bytes);
    if (!config_given(cube))
        return;
    const uint32_t number = (uint32_t)cube->number.mantissa, w = config->hw.cube_w;
    fprintf(file,
            "cubewarp: note: %s: root_cube is a placeholder that is not read, and the root is "
            "`root: %s`; `root: %u,%u` makes cube %u the root\n",
            config_place_text(tree->sources, cube->place, where, sizeof where), root->text,
            number % w, number / w, number);
}

void config_error_at(struct config_errors *errors, const struct config *config, const char *path,
                     const char *format, ...)
{
    char what[800];
    char text[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(text, sizeof text, "%.180s: %s", path, what);
    config_error_text(errors, config->tree->sources, place_of_value(config->tree, path), text);
    config_errors_sort(errors);
}
