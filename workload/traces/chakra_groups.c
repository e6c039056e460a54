/*
 * chakra_groups.c: reads the communicators of Chakra traces (chakra_groups.h). A METADATA node has
 * them as JSON within the text of a Python list: ['[{"pg_name": "1", "ranks": [0, 1]}]'].
 */
#define _GNU_SOURCE /* memmem */
#include "workload/traces/chakra_groups.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/input/json_file.h"
#include "collectives/config/input/text.h"

enum { NAME_BYTES = 64 };

void chakra_groups_free(struct chakra_groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        free(groups->list[i].name);
        free(groups->list[i].ranks);
    }
    free(groups->list);
    *groups = (struct chakra_groups){0};
}

/* NULL: no list of ranks, each at most once. */
static uint32_t *ranks_of(const json_t *list, uint32_t *above)
{
    const size_t count = json_array_size(list);
    uint32_t *const ranks = malloc((count > 0 ? count : 1) * sizeof *ranks);
    bool *const taken = calloc(TRACE_RANKS_MAX, sizeof *taken);
    bool good = ranks != NULL && taken != NULL && json_is_array(list);
    for (size_t i = 0; good && i < count; i++) {
        const json_t *const item = json_array_get(list, i);
        const json_int_t rank = json_integer_value(item);
        good = json_is_integer(item) && rank >= 0 && rank < TRACE_RANKS_MAX && !taken[rank];
        if (!good)
            break;
        taken[rank] = true;
        ranks[i] = (uint32_t)rank;
        if (ranks[i] >= *above)
            *above = ranks[i] + 1;
    }
    free(taken);
    if (!good)
        free(ranks);
    return good ? ranks : NULL;
}

void chakra_groups_forget(struct chakra_groups *groups)
{
    while (groups->count > 0 && groups->list[groups->count - 1].rank != CHAKRA_ANY_RANK) {
        groups->count--;
        free(groups->list[groups->count].name);
        free(groups->list[groups->count].ranks);
    }
}

/* Takes `ranks` over. */
static bool add(struct chakra_groups *groups, const char *name, uint32_t rank, uint32_t *ranks,
                uint32_t count)
{
    struct chakra_group *const more =
        realloc(groups->list, (groups->count + 1) * sizeof *groups->list);
    char *const copy = strdup(name);
    if (more != NULL)
        groups->list = more;
    if (more == NULL || copy == NULL) {
        free(copy);
        free(ranks);
        return false;
    }
    struct chakra_group *const group = &groups->list[groups->count++];
    *group = (struct chakra_group){.rank = rank, .count = count};
    group->name = copy;
    group->ranks = ranks;
    group->group = WORKLOAD_NONE;
    return true;
}

int chakra_groups_read(const struct trace_build *build, struct chakra_groups *groups)
{
    const char *const path = build->options->groups;
    json_error_t wrong;
    int number, code = CW_OK;
    const char *name;
    json_t *list;
    if (path == NULL)
        return CW_OK;
    json_t *const root = json_file_read(path, JSON_REJECT_DUPLICATES, &wrong, &number);
    if (root == NULL && number != 0)
        return cw_error_set(build->error, CW_USAGE, "%s: cannot be read: %s", path,
                            strerror(number));
    if (root == NULL)
        return cw_error_set(build->error, CW_USAGE, "%s:%d:%d: %s", path, wrong.line, wrong.column,
                            wrong.text);
    if (!json_is_object(root))
        code = cw_error_set(build->error, CW_USAGE,
                            "%s: expected groups of ranks: {\"1\": [0, 1, 2, 3], ...}", path);
    json_object_foreach(root, name, list)
    {
        uint32_t *const ranks = code == CW_OK ? ranks_of(list, &groups->ranks) : NULL;
        char quoted[TEXT_QUOTE_BYTES];
        if (code == CW_OK && (ranks == NULL || json_array_size(list) == 0)) {
            free(ranks);
            code = cw_error_set(build->error, CW_USAGE,
                                "%s: group %s: expected a list of ranks, each once", path,
                                text_quote(name, strlen(name), quoted));
        } else if (code == CW_OK &&
                   !add(groups, name, CHAKRA_ANY_RANK, ranks, (uint32_t)json_array_size(list))) {
            code = trace_no_memory(build);
        }
    }
    json_decref(root);
    return code;
}

/* The JSON within a METADATA node's text; NULL: there is none. */
static json_t *inner_json(const struct chakra_text *text)
{
    if (text->bytes == 0)
        return NULL;
    const char *const begin = memmem(text->at, text->bytes, "[{", 2);
    const char *end = NULL;
    for (size_t i = text->bytes; begin != NULL && i >= 2 && end == NULL; i--)
        if (text->at[i - 2] == '}' && text->at[i - 1] == ']')
            end = text->at + i;
    return end > begin ? json_loadb(begin, (size_t)(end - begin), 0, NULL) : NULL;
}

static int add_defined(const struct trace_build *build, const struct chakra_trace *trace,
                       const struct chakra_node *node, uint32_t rank, const json_t *item,
                       struct chakra_groups *groups)
{
    const json_t *const name = json_object_get(item, "pg_name"),
                        *list = json_object_get(item, "ranks");
    if (!json_is_string(name))
        return CW_OK;
    uint32_t *const ranks = ranks_of(list, &groups->ranks);
    if (ranks == NULL)
        return chakra_refuse(build, trace->path, node->id, "inputs",
                             "the group's ranks are no list of ranks, each once");
    return add(groups, json_string_value(name), rank, ranks, (uint32_t)json_array_size(list))
               ? CW_OK
               : trace_no_memory(build);
}

int chakra_groups_add(const struct trace_build *build, const struct chakra_trace *trace,
                      uint32_t rank, struct chakra_groups *groups)
{
    int code = CW_OK;
    for (uint32_t i = 0; code == CW_OK && i < trace->node_count; i++) {
        const struct chakra_node *const node = &trace->nodes[i];
        if (node->type != CHAKRA_METADATA)
            continue;
        json_t *const root = inner_json(&node->inputs);
        for (size_t k = 0; code == CW_OK && k < json_array_size(root); k++)
            code = add_defined(build, trace, node, rank, json_array_get(root, k), groups);
        json_decref(root);
    }
    return code;
}

static bool is_world(const char *name) { return name[0] == '\0' || strcmp(name, "0") == 0; }

/* The one that the rank has defined itself, else the one of the file. */
static struct chakra_group *lookup(const struct chakra_groups *groups, const char *name,
                                   uint32_t rank)
{
    struct chakra_group *found = NULL;
    for (uint32_t i = groups->count; i-- > 0;) {
        struct chakra_group *const group = &groups->list[i];
        if (strcmp(group->name, name) != 0)
            continue;
        if (group->rank == rank)
            return group;
        if (group->rank == CHAKRA_ANY_RANK && found == NULL)
            found = group;
    }
    return found;
}

int chakra_groups_find(struct trace_build *build, struct chakra_groups *groups,
                       const struct chakra_trace *trace, const struct chakra_node *node,
                       uint32_t rank, uint32_t *group)
{
    char name[NAME_BYTES], quoted[TEXT_QUOTE_BYTES], label[NAME_BYTES + 8];
    if (node->group.bytes >= NAME_BYTES)
        return chakra_refuse(build, trace->path, node->id, "pg_name", "longer than %d bytes",
                             NAME_BYTES - 1);
    if (node->group.bytes > 0)
        snprintf(name, sizeof name, "%.*s", (int)node->group.bytes, node->group.at);
    else
        snprintf(name, sizeof name, "%" PRIu64, node->group_number);
    struct chakra_group *const found = lookup(groups, name, rank);
    if (found == NULL && !is_world(name))
        return chakra_refuse(build, trace->path, node->id, "pg_name",
                             "there is no group %s; legal: one that a METADATA node of the file or "
                             "the file of groups defines, \"0\" or none for all ranks",
                             text_quote(name, strlen(name), quoted));
    if (found == NULL || found->count == 0) { /* an empty list is all ranks */
        *group = trace_world(build);
        return *group != WORKLOAD_NONE ? CW_OK : trace_no_memory(build);
    }
    bool member = false;
    for (uint32_t i = 0; i < found->count; i++) {
        member |= found->ranks[i] == rank;
        if (found->ranks[i] >= build->graph->rank_count)
            return chakra_refuse(build, trace->path, node->id, "pg_name",
                                 "group %s has rank %u; legal: 0 to %u",
                                 text_quote(name, strlen(name), quoted), found->ranks[i],
                                 build->graph->rank_count - 1);
    }
    if (!member)
        return chakra_refuse(build, trace->path, node->id, "pg_name",
                             "group %s is without rank %u, which calls its collective",
                             text_quote(name, strlen(name), quoted), rank);
    if (found->group == WORKLOAD_NONE) {
        snprintf(label, sizeof label, "group %s", name);
        found->group = trace_group(build, label, found->ranks, found->count);
    }
    *group = found->group;
    return *group != WORKLOAD_NONE ? CW_OK : trace_no_memory(build);
}
