/*
 * changed_values.c: visits the values in which two configurations differ (changed_values.h).
 * Values are compared as texts in canonical spelling, so that no two spellings of one value
 * differ.
 */
#include "bench/result/changed_values.h"

#include <stdio.h>
#include <string.h>

#include "collectives/config/config_tree.h"

struct visit {
    const struct config_tree *tree, *shipped;
    changed_value_fn changed;
    void *arg;
};

static const char *text_of(const struct config_value *value)
{
    return value != NULL && config_given(value) ? value->text : NULL;
}

static void compare_value(const struct visit *visit, const char *before, const char *name,
                          const struct config_value *value, const struct config_value *shipped)
{
    const char *const now = text_of(value), *const then = text_of(shipped);
    char path[256];
    if (now == then || (now != NULL && then != NULL && strcmp(now, then) == 0))
        return;
    snprintf(path, sizeof path, "%s%s", before, name);
    visit->changed(visit->arg, path, now, then);
}

/* The parameters of the entry that runs: each name once, by the first entry that has it. */
static void visit_parameters(const struct visit *visit, const char *before,
                             const struct config_algorithm *shipped)
{
    for (const struct config_algorithm *entry = visit->tree->chosen; entry != NULL;
         entry = entry->extends)
        for (const struct config_parameter *own = entry->parameters; own != NULL; own = own->next)
            if (config_parameter_value(visit->tree->chosen, own->name) == &own->value)
                compare_value(visit, before, own->name, &own->value,
                              config_parameter_value(shipped, own->name));
}

static void visit_named(const struct visit *visit, enum config_section section,
                        const struct config_named *named)
{
    const struct config_section_row *const row = &config_sections[section];
    const struct config_named *const shipped =
        config_named_at(visit->shipped, section, named->name);
    char before[CCL_NAME_BYTES + 16];
    snprintf(before, sizeof before, "%s.%s.", row->name, named->name);
    for (uint32_t i = 0; i < row->key_count; i++)
        compare_value(visit, before, row->keys[i].path, &named->value[i],
                      shipped != NULL ? &shipped->value[i] : NULL);
}

/* The entry's value, its own or inherited; NULL: the default counts. */
static const struct config_value *entry_value(const struct config_algorithm *entry, uint32_t key)
{
    for (; entry != NULL; entry = entry->extends)
        if (config_given(&entry->value[key]))
            return &entry->value[key];
    return NULL;
}

bool changed_values_are_known(const struct config *config) { return config->tree->shipped != NULL; }

void changed_values_visit(const struct config *config, const struct config *shipped,
                          changed_value_fn changed, void *arg)
{
    const struct config_tree *const then = shipped != NULL ? shipped->tree : config->tree->shipped;
    const struct visit visit = {config->tree, then, changed, arg};
    const struct config_algorithm *const chosen = config->tree->chosen;
    for (uint32_t i = 0; i < config_machine_key_count; i++)
        compare_value(&visit, "", config_machine_keys[i].path, &config->tree->machine[i],
                      &then->machine[i]);
    for (uint32_t i = 0; i < config_ccl_key_count; i++)
        compare_value(&visit, "defaults.", config_ccl_keys[i].path, &config->tree->defaults[i],
                      &then->defaults[i]);
    for (uint32_t section = 0; section < CONFIG_SECTIONS; section++)
        for (const struct config_named *named = config->tree->named[section]; named != NULL;
             named = named->next)
            visit_named(&visit, (enum config_section)section, named);
    if (chosen == NULL)
        return;
    const struct config_algorithm *const same = config_algorithm_find(then, chosen->name);
    char before[CCL_NAME_BYTES + 16];
    snprintf(before, sizeof before, "algorithms.%s.", chosen->name);
    for (uint32_t i = 0; i < config_ccl_key_count; i++)
        compare_value(&visit, before, config_ccl_keys[i].path, entry_value(chosen, i),
                      entry_value(same, i));
    visit_parameters(&visit, before, same);
}
