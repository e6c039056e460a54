/*
 * chakra_json.c: Chakra execution traces as JSON (chakra_node.h): {"workload_graph": [...]}, and
 * the objects that chakra_jsonizer writes one after the other, in which 64-bit numbers are strings
 * and enumerations are names.
 */
#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "collectives/config/input/text.h"
#include "workload/traces/chakra_node.h"

struct reader {
    const struct trace_build *build;
    const struct trace_file *file;
    struct chakra_trace *trace;
};

/* The member by one of two spellings. */
static const json_t *member(const json_t *object, const char *name, const char *other)
{
    const json_t *const value = json_object_get(object, name);
    return value != NULL ? value : json_object_get(object, other);
}

/* A whole number of at least 0, also as a string, a boolean or a real. */
static bool whole(const json_t *value, uint64_t *number)
{
    if (json_is_string(value))
        return json_string_length(value) > 0 &&
               text_whole(json_string_value(value), json_string_length(value), UINT64_MAX,
                          number) == json_string_length(value);
    if (json_is_boolean(value)) {
        *number = json_is_true(value);
        return true;
    }
    if (json_is_real(value)) {
        const double real = json_real_value(value);
        *number = real >= 0 && real < 9e18 ? (uint64_t)real : 1;
        return real == (double)*number;
    }
    *number = json_is_integer(value) ? (uint64_t)json_integer_value(value) : 0;
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

static struct chakra_text text_of(const json_t *value)
{
    return json_is_string(value)
               ? (struct chakra_text){json_string_value(value), json_string_length(value)}
               : (struct chakra_text){0};
}

/* One of `count` names, or a number. */
static bool named(const json_t *value, const char *const *names, size_t count, uint64_t *number)
{
    if (!json_is_string(value))
        return whole(value, number);
    for (size_t i = 0; i < count; i++)
        if (strcmp(json_string_value(value), names[i]) == 0) {
            *number = i;
            return true;
        }
    return whole(value, number);
}

static bool type_of(const json_t *value, uint64_t *type)
{
    static const char *const names[CHAKRA_TYPES] = {
        "INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
        "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"};
    return named(value, names, CHAKRA_TYPES, type) && *type < CHAKRA_TYPES;
}

static int set_whole(const struct reader *r, struct chakra_node *node, enum chakra_attribute which,
                     const json_t *value)
{
    static const char *const collectives[CHAKRA_COLLECTIVES] = {
        "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
        "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};
    uint64_t number;
    if (value == NULL || json_is_null(value))
        return CW_OK;
    if (!(which == CHAKRA_COMM_TYPE ? named(value, collectives, CHAKRA_COLLECTIVES, &number)
                                    : whole(value, &number)))
        return chakra_refuse(r->build, r->file->path, node->id, chakra_attribute_name(which),
                             "expected a whole number from 0 on");
    node->value[which] = number;
    node->has |= 1u << which;
    return CW_OK;
}

static void set_group(struct chakra_node *node, const json_t *value)
{
    node->group = text_of(value);
    if (!json_is_string(value) && !whole(value, &node->group_number))
        node->group_number = 0;
}

static bool all_true(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_is_false(json_array_get(list, i)))
            return false;
    return true;
}

static int add_deps(const struct reader *r, const struct chakra_node *node, const json_t *list,
                    const char *name, uint32_t *first, uint32_t *count)
{
    uint64_t id;
    *first = r->trace->dep_count;
    if (list != NULL && !json_is_array(list))
        return chakra_refuse(r->build, r->file->path, node->id, name, "expected a list of ids");
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!whole(json_array_get(list, i), &id))
            return chakra_refuse(r->build, r->file->path, node->id, name,
                                 "item %zu is no id of a node", i);
        if (!chakra_add_dep(r->trace, id))
            return trace_no_memory(r->build);
        ++*count;
    }
    return CW_OK;
}

/* An attribute {"name": ..., "int64Val": ...}. */
static int add_attribute(const struct reader *r, struct chakra_node *node, const json_t *attribute)
{
    const char *const name = json_string_value(json_object_get(attribute, "name"));
    const json_t *value = NULL, *list = NULL, *item;
    const char *key;
    if (name == NULL)
        return chakra_refuse(r->build, r->file->path, node->id, "attr",
                             "expected attributes with names");
    json_object_foreach((json_t *)(uintptr_t)attribute, key, item)
    {
        if (strstr(key, "Val") != NULL || strstr(key, "_val") != NULL)
            value = item;
        else if (strstr(key, "List") != NULL || strstr(key, "_list") != NULL)
            list = json_object_get(item, "values");
    }
    const enum chakra_attribute which = chakra_attribute_of(name, strlen(name));
    if (which < CHAKRA_WHOLE_ATTRIBUTES)
        return set_whole(r, node, which, value);
    if (strcmp(name, "pg_name") == 0 || (strcmp(name, "comm_group") == 0 && node->group.bytes == 0))
        set_group(node, value);
    else if (strcmp(name, "involved_dim") == 0)
        node->partly = !all_true(list);
    else if (strcmp(name, "op_schema") == 0 || strcmp(name, "rf_id") == 0)
        r->trace->is_pytorch = true;
    return CW_OK;
}

/* Attributes that are members of the node themselves. */
static int add_members(const struct reader *r, struct chakra_node *node, const json_t *object)
{
    int code = CW_OK;
    for (int a = 0; code == CW_OK && a < CHAKRA_WHOLE_ATTRIBUTES; a++)
        code = set_whole(r, node, (enum chakra_attribute)a,
                         json_object_get(object, chakra_attribute_name((enum chakra_attribute)a)));
    const json_t *const group = member(object, "pg_name", "comm_group");
    if (group != NULL)
        set_group(node, group);
    node->partly |= !all_true(json_object_get(object, "involved_dim"));
    return code;
}

static int add_node(const struct reader *r, const json_t *object, size_t index)
{
    struct chakra_node node = {0};
    const json_t *const id = member(object, "id", "Id"), *type = member(object, "type", "NodeType"),
                        *time = member(object, "durationMicros", "duration_micros"),
                        *attributes = json_object_get(object, "attr");
    uint64_t number = CHAKRA_INVALID;
    if (id != NULL && !whole(id, &node.id))
        return cw_error_set(r->build->error, CW_USAGE, "%s: object %zu: id: expected a number",
                            r->file->path, index);
    if (type != NULL && !type_of(type, &number))
        return chakra_refuse(r->build, r->file->path, node.id, "type",
                             "unknown; legal: 0 to %d, or their names", CHAKRA_TYPES - 1);
    node.type = (uint8_t)number;
    node.name = text_of(member(object, "name", "Name"));
    node.inputs = text_of(json_object_get(json_object_get(object, "inputs"), "values"));
    int code = add_deps(r, &node, member(object, "ctrlDeps", "ctrl_deps"), "ctrl_deps",
                        &node.first_ctrl, &node.ctrl_count);
    if (code == CW_OK)
        code = add_deps(r, &node, member(object, "dataDeps", "data_deps"), "data_deps",
                        &node.first_data, &node.data_count);
    if (code == CW_OK)
        code = add_members(r, &node, object);
    for (size_t i = 0; code == CW_OK && i < json_array_size(attributes); i++)
        code = add_attribute(r, &node, json_array_get(attributes, i));
    if (code == CW_OK && time != NULL && !whole(time, &node.duration))
        code = chakra_refuse(r->build, r->file->path, node.id, "duration_micros",
                             "expected a whole number from 0 on");
    else if (code == CW_OK && time == NULL)
        node.duration = node.value[CHAKRA_RUNTIME];
    if (code == CW_OK && !chakra_add_node(r->trace, &node))
        code = trace_no_memory(r->build);
    return code;
}

/* The objects of the file, in a list that the trace owns. */
static int load(const struct reader *r, json_t *objects)
{
    const char *at = (const char *)r->file->bytes, *const end = at + r->file->count;
    for (;;) {
        json_error_t wrong;
        while (at < end && strchr(" \t\r\n", *at) != NULL && *at != '\0')
            at++;
        if (at == end)
            return CW_OK;
        json_t *const object = json_loadb(at, (size_t)(end - at), JSON_DISABLE_EOF_CHECK, &wrong);
        if (object == NULL || json_array_append_new(objects, object) != 0) {
            uint32_t line = 1;
            for (const char *c = (const char *)r->file->bytes; c < at + wrong.position && c < end;
                 c++)
                line += *c == '\n';
            return cw_error_set(r->build->error, CW_USAGE, "%s:%u: not JSON: %s", r->file->path,
                                line, wrong.text);
        }
        at += wrong.position;
    }
}

/* Framed messages may begin with the same bytes, but no key follows. */
bool chakra_is_json(const struct trace_file *file)
{
    const char *at = (const char *)file->bytes;
    at += strspn(at, " \t\r\n");
    if (*at != '{')
        return false;
    at += 1 + strspn(at + 1, " \t\r\n");
    return *at == '}' || (*at == '"' && isalpha((unsigned char)at[1]));
}

/* The member of metadata that they do not have: it is another file. NULL: they are metadata. */
static const char *foreign_member(const json_t *object)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        if (strcmp(name, "version") != 0 && strcmp(name, "attr") != 0)
            return name;
    }
    return NULL;
}

int chakra_decode_json(const struct trace_build *build, const struct trace_file *file,
                       struct chakra_trace *trace)
{
    const struct reader r = {build, file, trace};
    json_t *const objects = json_array();
    trace->path = file->path;
    trace->json = objects;
    trace->version = CHAKRA_DEPS;
    if (objects == NULL)
        return trace_no_memory(build);
    int code = load(&r, objects);
    const json_t *const first = json_array_get(objects, 0);
    const json_t *list = json_object_get(first, "workload_graph");
    if (code == CW_OK && list == NULL && json_object_get(first, "nodes") != NULL)
        code = cw_error_set(build->error, CW_USAGE,
                            "%s: nodes: a host trace of PyTorch, which lacks the device's times; "
                            "legal: what chakra_converter makes of it",
                            file->path);
    if (code == CW_OK && list != NULL && (!json_is_array(list) || json_array_size(objects) > 1))
        code = cw_error_set(build->error, CW_USAGE, "%s: workload_graph: expected a list of nodes",
                            file->path);
    if (list == NULL)
        list = objects;
    for (size_t i = 0; code == CW_OK && i < json_array_size(list); i++) {
        const json_t *const object = json_array_get(list, i);
        const bool is_node = list != objects || i > 0 || json_object_get(object, "type") != NULL;
        if (!json_is_object(object))
            code = cw_error_set(build->error, CW_USAGE, "%s: item %zu: expected an object",
                                file->path, i);
        else if (is_node)
            code = add_node(&r, object, i);
        else if (foreign_member(object) != NULL)
            code =
                cw_error_set(build->error, CW_USAGE,
                             "%s: %.80s: no Chakra trace; legal: {\"workload_graph\": [...]}, or "
                             "metadata (version, attr) and nodes as chakra_jsonizer writes them",
                             file->path, foreign_member(object));
    }
    trace->ps = build->options->unit == TRACE_UNIT_NS ? 1000 : 1000000;
    return code;
}
