/*
 * chakra_node.c: decodes Chakra execution traces of all versions (chakra_node.h).
 *
 * Files state wrong versions, and a node of 0.0.3 is also one of 0.0.4 that means something else:
 * field 4 was `parent`. So two questions are asked of all nodes before any is read. Which fields do
 * they have: attributes lie in field 10 since 0.0.4, in field 11 from 0.0.2 on, and in fields of
 * their own before. And, of files before 0.0.4, does the numbering of types have METADATA: whatever
 * has a destination, say, is a SEND, and that is 4 or 5.
 */
#include "workload/traces/chakra_node.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/input/text.h"
#include "workload/traces/chakra_wire.h"
#include "workload/traces/layers.h"

static const char *const attribute_names[CHAKRA_WHOLE_ATTRIBUTES] = {
    [CHAKRA_IS_CPU_OP] = "is_cpu_op",     [CHAKRA_NUM_OPS] = "num_ops",
    [CHAKRA_TENSOR_SIZE] = "tensor_size", [CHAKRA_COMM_TYPE] = "comm_type",
    [CHAKRA_COMM_SIZE] = "comm_size",     [CHAKRA_COMM_SRC] = "comm_src",
    [CHAKRA_COMM_DST] = "comm_dst",       [CHAKRA_COMM_TAG] = "comm_tag",
    [CHAKRA_RUNTIME] = "runtime",         [CHAKRA_STREAM] = "stream"};

const char *chakra_attribute_name(enum chakra_attribute attribute)
{
    return attribute_names[attribute];
}

static bool is_text(const char *at, size_t bytes, const char *word)
{
    return bytes == strlen(word) && memcmp(at, word, bytes) == 0;
}

enum chakra_attribute chakra_attribute_of(const char *name, size_t bytes)
{
    enum chakra_attribute a = 0;
    while (a < CHAKRA_WHOLE_ATTRIBUTES && !is_text(name, bytes, attribute_names[a]))
        a++;
    return a;
}

int chakra_refuse(const struct trace_build *build, const char *path, uint64_t id,
                  const char *attribute, const char *format, ...)
{
    char why[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return cw_error_set(build->error, CW_USAGE, "%s: node %" PRIu64 ": %s: %s", path, id, attribute,
                        why);
}

bool chakra_add_node(struct chakra_trace *trace, const struct chakra_node *node)
{
    if (trace->node_count == trace->node_room) {
        const uint32_t room = trace->node_room > 0 ? 2 * trace->node_room : 256;
        struct chakra_node *const more = realloc(trace->nodes, room * sizeof *more);
        if (more == NULL)
            return false;
        trace->nodes = more;
        trace->node_room = room;
    }
    trace->nodes[trace->node_count++] = *node;
    return true;
}

bool chakra_add_dep(struct chakra_trace *trace, uint64_t id)
{
    if (trace->dep_count == trace->dep_room) {
        const uint32_t room = trace->dep_room > 0 ? 2 * trace->dep_room : 1024;
        uint64_t *const more = realloc(trace->deps, room * sizeof *more);
        if (more == NULL)
            return false;
        trace->deps = more;
        trace->dep_room = room;
    }
    trace->deps[trace->dep_count++] = id;
    return true;
}

void chakra_trace_free(struct chakra_trace *trace)
{
    free(trace->nodes);
    free(trace->deps);
    json_decref(trace->json);
    *trace = (struct chakra_trace){0};
}

/* ---- attributes ------------------------------------------------------------------------------ */

struct attribute {
    struct chakra_text name;
    bool is_old; /* has a type in field 2, as until 0.0.3 */
    bool has_value, partly;
    struct wire_field value; /* the first, if it is a list */
};

/* Lists of booleans: partly, if one is false. */
static void look_at_list(struct attribute *attribute, struct wire bytes)
{
    struct wire_field field;
    uint64_t value;
    while (wire_next(&bytes, &field) == WIRE_OK)
        while (field.number == 1 && wire_repeated(&field, &value) == WIRE_OK)
            attribute->partly |= value == 0;
}

static bool read_attribute(struct wire wire, struct attribute *attribute)
{
    enum { NEW_BOOL_LIST = 28 };
    struct wire_field field;
    enum wire_result got;
    uint64_t value;
    *attribute = (struct attribute){0};
    while ((got = wire_next(&wire, &field)) == WIRE_OK) {
        if (field.number == 1 && field.type == WIRE_BYTES) {
            attribute->name =
                (struct chakra_text){(const char *)field.bytes.at, wire_left(&field.bytes)};
        } else if (field.number == 2) {
            attribute->is_old = field.type == WIRE_VARINT;
        } else if (field.number > 3 || (field.number == 3 && !attribute->is_old)) {
            if (!attribute->has_value)
                attribute->value = field;
            attribute->has_value = true;
            struct wire_field again = field;
            if (attribute->is_old && field.type == WIRE_VARINT)
                attribute->partly |= field.value == 0;
            else if (attribute->is_old && field.type == WIRE_BYTES)
                while (wire_repeated(&again, &value) == WIRE_OK)
                    attribute->partly |= value == 0;
            else if (field.number == NEW_BOOL_LIST && field.type == WIRE_BYTES)
                look_at_list(attribute, field.bytes);
        }
    }
    return got == WIRE_END && attribute->name.bytes > 0;
}

static bool whole_of_double(double number, int64_t *value)
{
    if (!(fabs(number) < 9e18) || number != floor(number))
        return false;
    *value = (int64_t)number;
    return true;
}

static bool whole_of_fixed(const struct attribute *attribute, int64_t *value)
{
    const bool is_float = !attribute->is_old && attribute->value.number == 5,
               is_double = !attribute->is_old && attribute->value.number == 3;
    if (attribute->value.type == WIRE_FIXED32) {
        const uint32_t bits = (uint32_t)attribute->value.value;
        float number;
        memcpy(&number, &bits, sizeof number);
        if (is_float || attribute->is_old)
            return whole_of_double(number, value);
        *value = attribute->value.number == 23 ? (int32_t)bits : (int64_t)bits;
        return true;
    }
    double number;
    memcpy(&number, &attribute->value.value, sizeof number);
    if (is_double)
        return whole_of_double(number, value);
    *value = (int64_t)attribute->value.value;
    return true;
}

/* The value as a whole number; false: it is none. */
static bool whole_of(const struct attribute *attribute, int64_t *value)
{
    const struct wire_field *const field = &attribute->value;
    if (field->type == WIRE_BYTES)
        return false;
    if (field->type != WIRE_VARINT)
        return whole_of_fixed(attribute, value);
    *value = (int64_t)field->value;
    if (!attribute->is_old && (field->number == 15 || field->number == 17)) /* zigzag */
        *value = (int64_t)(field->value >> 1 ^ (0 - (field->value & 1)));
    return true;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

struct decoder {
    const struct trace_build *build;
    const struct trace_file *file;
    struct chakra_trace *trace;
    struct wire *messages;
    uint32_t count, room;
};

static int broken(const struct decoder *d, const uint8_t *at, uint32_t message)
{
    return cw_error_set(d->build->error, CW_USAGE,
                        "%s: message %u, byte %zu: cut off or damaged; expected protobuf messages "
                        "of Chakra, each after its length",
                        d->file->path, message, (size_t)(at - d->file->bytes));
}

static int set_whole(const struct decoder *d, struct chakra_node *node, enum chakra_attribute which,
                     const struct attribute *attribute)
{
    int64_t value;
    if (!attribute->has_value) /* the name alone: as if it were not there */
        return CW_OK;
    if (!whole_of(attribute, &value))
        return chakra_refuse(d->build, d->file->path, node->id, attribute_names[which],
                             "expected a whole number");
    if (value < 0 && which != CHAKRA_STREAM)
        return chakra_refuse(d->build, d->file->path, node->id, attribute_names[which],
                             "%" PRId64 " is out of range; legal: 0 and above", value);
    node->value[which] = (uint64_t)value;
    node->has |= 1u << which;
    return CW_OK;
}

static void set_group(struct chakra_node *node, const struct attribute *attribute)
{
    int64_t number;
    if (!attribute->has_value)
        return;
    if (attribute->value.type == WIRE_BYTES)
        node->group = (struct chakra_text){(const char *)attribute->value.bytes.at,
                                           wire_left(&attribute->value.bytes)};
    else if (whole_of(attribute, &number) && number >= 0)
        node->group_number = (uint64_t)number;
}

static int add_attribute(const struct decoder *d, struct chakra_node *node, struct wire wire)
{
    static const char *const of_pytorch[] = {"op_schema", "rf_id", "fw_parent", "fw_tid"};
    struct attribute attribute;
    const uint8_t *const at = wire.at;
    if (!read_attribute(wire, &attribute))
        return cw_error_set(d->build->error, CW_USAGE,
                            "%s: node %" PRIu64 ", byte %zu: an attribute without a name, or "
                            "damaged",
                            d->file->path, node->id, (size_t)(at - d->file->bytes));
    const enum chakra_attribute which =
        chakra_attribute_of(attribute.name.at, attribute.name.bytes);
    if (which < CHAKRA_WHOLE_ATTRIBUTES)
        return set_whole(d, node, which, &attribute);
    if (is_text(attribute.name.at, attribute.name.bytes, "pg_name") ||
        (is_text(attribute.name.at, attribute.name.bytes, "comm_group") && node->group.bytes == 0))
        set_group(node, &attribute);
    else if (is_text(attribute.name.at, attribute.name.bytes, "involved_dim"))
        node->partly = attribute.partly;
    for (size_t i = 0; i < sizeof of_pytorch / sizeof *of_pytorch; i++)
        d->trace->is_pytorch |= is_text(attribute.name.at, attribute.name.bytes, of_pytorch[i]);
    return CW_OK;
}

/* A field of a node of 0.0.1 that an attribute became later. */
static void add_flat(struct chakra_node *node, const struct wire_field *field)
{
    static const struct {
        uint8_t number, attribute;
    } fields[] = {{6, CHAKRA_TENSOR_SIZE}, {7, CHAKRA_RUNTIME},   {12, CHAKRA_NUM_OPS},
                  {13, CHAKRA_COMM_TYPE},  {16, CHAKRA_COMM_SRC}, {17, CHAKRA_COMM_DST},
                  {18, CHAKRA_COMM_SIZE},  {19, CHAKRA_COMM_TAG}};
    struct wire_field again = *field;
    uint64_t value;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (field->number == fields[i].number && field->type == WIRE_VARINT) {
            node->value[fields[i].attribute] = field->value;
            node->has |= 1u << fields[i].attribute;
        }
    if (field->number == 14)
        while (wire_repeated(&again, &value) == WIRE_OK)
            node->partly |= value == 0;
    if (field->number == 15 && field->type == WIRE_VARINT)
        node->group_number = field->value;
}

/* `values` of a node's inputs. */
static struct chakra_text values_of(const struct wire_field *inputs)
{
    struct wire wire = inputs->bytes;
    struct wire_field field;
    while (wire_next(&wire, &field) == WIRE_OK)
        if (field.number == 1 && field.type == WIRE_BYTES)
            return (struct chakra_text){(const char *)field.bytes.at, wire_left(&field.bytes)};
    return (struct chakra_text){0};
}

static int add_deps(const struct decoder *d, struct chakra_node *node, struct wire_field *field,
                    bool is_data)
{
    uint64_t id;
    enum wire_result got;
    while ((got = wire_repeated(field, &id)) == WIRE_OK) {
        if (!chakra_add_dep(d->trace, id))
            return trace_no_memory(d->build);
        ++*(is_data ? &node->data_count : &node->ctrl_count);
    }
    return got == WIRE_END ? CW_OK
                           : chakra_refuse(d->build, d->file->path, node->id,
                                           is_data ? "data_deps" : "ctrl_deps", "damaged");
}

/* The dependencies of one kind, which then lie together. */
static int read_deps(const struct decoder *d, struct chakra_node *node, struct wire wire,
                     bool is_data)
{
    struct wire_field field;
    const uint32_t number = is_data && d->trace->version == CHAKRA_DEPS ? 5 : 4;
    int code = CW_OK;
    *(is_data ? &node->first_data : &node->first_ctrl) = d->trace->dep_count;
    if (!is_data && d->trace->version != CHAKRA_DEPS)
        return CW_OK;
    while (code == CW_OK && wire_next(&wire, &field) == WIRE_OK)
        if (field.number == number)
            code = add_deps(d, node, &field, is_data);
    return code;
}

static int read_field(const struct decoder *d, struct chakra_node *node,
                      const struct wire_field *field, uint64_t *type)
{
    const enum chakra_version version = d->trace->version;
    const bool is_bytes = field->type == WIRE_BYTES;
    if (field->number == 2 && is_bytes)
        node->name = (struct chakra_text){(const char *)field->bytes.at, wire_left(&field->bytes)};
    else if (field->number == 3 && !is_bytes)
        *type = field->value;
    else if (version == CHAKRA_FLAT)
        add_flat(node, field);
    else if (version == CHAKRA_DEPS && field->number == 7 && !is_bytes)
        node->duration = field->value;
    else if (version == CHAKRA_DEPS && field->number == 8 && is_bytes)
        node->inputs = values_of(field);
    else if (version == CHAKRA_PARENTS && field->number == 5 && is_bytes)
        node->inputs =
            (struct chakra_text){(const char *)field->bytes.at, wire_left(&field->bytes)};
    else if (is_bytes && field->number == (version == CHAKRA_DEPS ? 10 : 11))
        return add_attribute(d, node, field->bytes);
    return CW_OK;
}

/* *type: as the file numbers it. */
static int read_node(const struct decoder *d, uint32_t message, struct chakra_node *node,
                     uint64_t *type)
{
    struct wire wire = d->messages[message];
    struct wire_field field;
    enum wire_result got;
    int code = CW_OK;
    *node = (struct chakra_node){0};
    *type = CHAKRA_INVALID;
    while ((got = wire_next(&wire, &field)) == WIRE_OK)
        if (field.number == 1 && field.type != WIRE_BYTES)
            node->id = field.value;
    if (got == WIRE_BROKEN)
        return broken(d, wire.at, message);
    wire = d->messages[message];
    while (code == CW_OK && wire_next(&wire, &field) == WIRE_OK)
        code = read_field(d, node, &field, type);
    if (code == CW_OK)
        code = read_deps(d, node, d->messages[message], false);
    if (code == CW_OK)
        code = read_deps(d, node, d->messages[message], true);
    if (code == CW_OK && chakra_has(node, CHAKRA_RUNTIME))
        node->duration = node->value[CHAKRA_RUNTIME];
    return code;
}

/* ---- versions -------------------------------------------------------------------------------- */

/* What the fields of a node say of the version, as bits. */
enum hint {
    HINT_FLAT = 1 << CHAKRA_FLAT,
    HINT_PARENTS = 1 << CHAKRA_PARENTS,
    HINT_DEPS = 1 << CHAKRA_DEPS,
    HINT_PACKED = 8,    /* field 4 as proto3 writes it */
    HINT_UNPACKED = 16, /* and as proto2 does */
    HINT_TIME = 32      /* fields 6 and 7 are numbers: no strings, as in between */
};

static unsigned hints_of(struct wire wire)
{
    struct wire_field field;
    unsigned hints = 0;
    while (wire_next(&wire, &field) == WIRE_OK) {
        const bool is_bytes = field.type == WIRE_BYTES;
        if (field.number >= 12 || (field.number >= 8 && !is_bytes))
            hints |= HINT_FLAT;
        else if (field.number == 11)
            hints |= HINT_PARENTS;
        else if (field.number == 10 && wire_left(&field.bytes) > 0 && field.bytes.at[0] == 10)
            hints |= HINT_DEPS; /* an attribute, which begins with its name */
        else if (field.number == 6 || field.number == 7)
            hints |= is_bytes ? HINT_PARENTS : HINT_TIME;
        else if (field.number == 4)
            hints |= is_bytes ? HINT_PACKED : HINT_UNPACKED;
    }
    return (hints & HINT_PARENTS) != 0 ? hints & ~(unsigned)HINT_DEPS : hints;
}

/* The first message describes the file, and is no node: it has neither id nor type. */
static bool is_metadata(struct wire wire)
{
    struct wire_field field;
    while (wire_next(&wire, &field) == WIRE_OK)
        if (field.type != WIRE_BYTES || field.number > 2)
            return false;
    return true;
}

static int find_version(struct decoder *d, uint32_t first)
{
    enum { VERSIONS = HINT_FLAT | HINT_PARENTS | HINT_DEPS };
    unsigned all = 0;
    for (uint32_t i = first; i < d->count; i++) {
        const unsigned hints = hints_of(d->messages[i]), both = (all | hints) & VERSIONS;
        if ((both & (both - 1)) != 0)
            return cw_error_set(d->build->error, CW_USAGE,
                                "%s: message %u has the fields of another version of Chakra than "
                                "those before it",
                                d->file->path, i);
        all |= hints;
    }
    if ((all & HINT_FLAT) != 0)
        d->trace->version = CHAKRA_FLAT;
    else if ((all & HINT_PARENTS) != 0)
        d->trace->version = CHAKRA_PARENTS;
    else if ((all & HINT_DEPS) != 0)
        d->trace->version = CHAKRA_DEPS;
    else if ((all & HINT_TIME) != 0) /* only 0.0.1 has nothing in front of its nodes */
        d->trace->version = first > 0 ? CHAKRA_DEPS : CHAKRA_FLAT;
    else
        d->trace->version = first == 0 || (all & HINT_UNPACKED) != 0 ? CHAKRA_PARENTS : CHAKRA_DEPS;
    return CW_OK;
}

/* By how much METADATA moves the types, as far as this node tells: 1 if its type is one less than
 * today's, 0 if it is today's; -1: it does not tell. */
static int shift_of(const struct chakra_node *node, uint64_t type)
{
    static const struct {
        const char *word;
        enum chakra_type type;
    } names[] = {{"COMP_NODE", CHAKRA_COMP},        {"COMM_COLL", CHAKRA_COLL},
                 {"COMM_SEND", CHAKRA_SEND},        {"COMM_RECV", CHAKRA_RECV},
                 {"MEM_LOAD_NODE", CHAKRA_LOAD},    {"MEM_STORE_NODE", CHAKRA_STORE},
                 {"METADATA_NODE", CHAKRA_METADATA}};
    const bool from = chakra_has(node, CHAKRA_COMM_SRC), to = chakra_has(node, CHAKRA_COMM_DST);
    uint64_t meant = CHAKRA_INVALID;
    if (type == CHAKRA_COLL)
        return 0;
    if (from != to)
        meant = from ? CHAKRA_RECV : CHAKRA_SEND;
    else if (from)
        return type == 4 ? 1 : type == 6 ? 0 : -1;
    else if (chakra_has(node, CHAKRA_COMM_TYPE))
        meant = CHAKRA_COLL;
    else if (chakra_has(node, CHAKRA_NUM_OPS) && (type == 3 || type == 4))
        meant = CHAKRA_COMP;
    for (size_t i = 0; meant == CHAKRA_INVALID && i < sizeof names / sizeof *names; i++)
        if (node->name.bytes >= strlen(names[i].word) &&
            memcmp(node->name.at, names[i].word, strlen(names[i].word)) == 0)
            meant = names[i].type;
    return meant == CHAKRA_INVALID || meant < type || meant - type > 1 ? -1 : (int)(meant - type);
}

/* ---- a file ---------------------------------------------------------------------------------- */

static int find_messages(struct decoder *d)
{
    struct wire wire = {d->file->bytes, d->file->bytes + d->file->count}, message;
    enum wire_result got;
    while ((got = wire_message(&wire, &message)) == WIRE_OK) {
        if (d->count == d->room) {
            d->room = d->room > 0 ? 2 * d->room : 1024;
            struct wire *const more = realloc(d->messages, d->room * sizeof *more);
            if (more == NULL)
                return trace_no_memory(d->build);
            d->messages = more;
        }
        d->messages[d->count++] = message;
    }
    if (got == WIRE_BROKEN)
        return broken(d, wire.at, d->count);
    return d->count > 0 ? CW_OK
                        : cw_error_set(d->build->error, CW_USAGE,
                                       "%s: empty; expected messages of Chakra", d->file->path);
}

/* The metadata's attributes, one of which may be the table that the file was made of. */
static void read_metadata(struct decoder *d)
{
    struct wire wire = d->messages[0];
    struct wire_field field;
    struct attribute attribute;
    while (wire_next(&wire, &field) == WIRE_OK)
        if (field.type == WIRE_BYTES && wire_left(&field.bytes) > 0 && field.bytes.at[0] == 10 &&
            read_attribute(field.bytes, &attribute) && attribute.value.type == WIRE_BYTES &&
            is_text(attribute.name.at, attribute.name.bytes, "input_file") &&
            layers_begin((const char *)attribute.value.bytes.at, wire_left(&attribute.value.bytes)))
            d->trace->is_table = true;
}

/* COMP_NODE_<layer>_FWD and so on are names that the converter of tables gives. */
static bool is_of_table(const struct chakra_node *node)
{
    static const char begin[] = "COMP_NODE_";
    static const char *const ends[] = {"_FWD", "_BWD_IG", "_BWD_WG"};
    if (node->type != CHAKRA_COMP || node->name.bytes < sizeof begin ||
        memcmp(node->name.at, begin, sizeof begin - 1) != 0)
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t length = strlen(ends[i]);
        if (memcmp(node->name.at + node->name.bytes - length, ends[i], length) == 0)
            return true;
    }
    return false;
}

/* Types and collectives get today's numbers. */
static int renumber(struct decoder *d, const uint64_t *types, int shift)
{
    static const uint8_t before[] = {CHAKRA_ALL_REDUCE, CHAKRA_ALL_TO_ALL, CHAKRA_ALL_GATHER,
                                     CHAKRA_REDUCE_SCATTER, CHAKRA_BROADCAST};
    struct chakra_trace *const trace = d->trace;
    const bool flat = trace->version == CHAKRA_FLAT;
    for (uint32_t i = 0; i < trace->node_count; i++) {
        struct chakra_node *const node = &trace->nodes[i];
        const uint64_t type = types[i] > 0 ? types[i] + (uint64_t)shift : 0;
        uint64_t *const does = &node->value[CHAKRA_COMM_TYPE];
        if (types[i] >= CHAKRA_TYPES || type >= CHAKRA_TYPES)
            return chakra_refuse(d->build, trace->path, node->id, "type",
                                 "%" PRIu64 " is unknown; legal: 0 to %d", types[i],
                                 CHAKRA_TYPES - 1 - shift);
        node->type = (uint8_t)type;
        trace->is_table |= is_of_table(node);
        if (trace->version == CHAKRA_DEPS || !chakra_has(node, CHAKRA_COMM_TYPE))
            continue;
        if (flat && *does == 0) { /* INVALID_COMM */
            node->has &= ~(1u << CHAKRA_COMM_TYPE);
        } else if (*does - flat < sizeof before) {
            *does = before[*does - flat];
        } else if (node->type == CHAKRA_COLL) {
            return chakra_refuse(d->build, trace->path, node->id, "comm_type",
                                 "%" PRIu64 " is unknown; legal: %d to %zu", *does, flat,
                                 sizeof before - 1 + flat);
        }
    }
    return CW_OK;
}

static uint64_t unit_of(const struct decoder *d)
{
    const uint64_t ns = 1000, us = 1000000;
    const struct chakra_trace *const trace = d->trace;
    if (d->build->options->unit != TRACE_UNIT_AUTO)
        return d->build->options->unit == TRACE_UNIT_US ? us : ns;
    return trace->is_table || (trace->version != CHAKRA_DEPS && !trace->is_pytorch) ? ns : us;
}

static int read_nodes(struct decoder *d, uint32_t first, uint64_t *types)
{
    struct chakra_trace *const trace = d->trace;
    uint32_t told = 0;
    int shift = -1, code = CW_OK;
    for (uint32_t i = first; code == CW_OK && i < d->count; i++) {
        struct chakra_node node;
        code = read_node(d, i, &node, &types[trace->node_count]);
        const int told_here = code == CW_OK ? shift_of(&node, types[trace->node_count]) : -1;
        if (trace->version != CHAKRA_DEPS && told_here >= 0 && shift >= 0 && shift != told_here)
            code = chakra_refuse(d->build, trace->path, node.id, "type",
                                 "its number and that of node %" PRIu64
                                 " are of different versions of Chakra",
                                 trace->nodes[told].id);
        if (told_here >= 0 && shift < 0) {
            shift = told_here;
            told = trace->node_count;
        }
        /* An empty message is a node without anything, and ends nothing. */
        if (code == CW_OK && wire_left(&d->messages[i]) > 0 && !chakra_add_node(trace, &node))
            code = trace_no_memory(d->build);
    }
    if (trace->version == CHAKRA_DEPS)
        shift = 0;
    else if (shift < 0)
        shift = trace->version == CHAKRA_FLAT;
    return code == CW_OK ? renumber(d, types, shift) : code;
}

int chakra_decode(const struct trace_build *build, const struct trace_file *file,
                  struct chakra_trace *trace)
{
    struct decoder d = {.build = build, .file = file, .trace = trace};
    trace->path = file->path;
    int code = find_messages(&d);
    const uint32_t first = code == CW_OK && is_metadata(d.messages[0]) ? 1 : 0;
    if (code == CW_OK)
        code = find_version(&d, first);
    uint64_t *const types = calloc((size_t)d.count + 1, sizeof *types);
    if (code == CW_OK && types == NULL)
        code = trace_no_memory(build);
    if (code == CW_OK && first > 0)
        read_metadata(&d);
    if (code == CW_OK)
        code = read_nodes(&d, first, types);
    trace->ps = unit_of(&d);
    free(types);
    free(d.messages);
    return code;
}
