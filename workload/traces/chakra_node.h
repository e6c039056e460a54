/*
 * chakra_node.h: the nodes of one Chakra execution trace, whichever version of the format it has:
 * types and collectives as 0.0.4 numbers them, attributes by their names. The version is
 * recognised by the messages' fields, never by the number that a file states.
 */
#ifndef WORKLOAD_CHAKRA_NODE_H
#define WORKLOAD_CHAKRA_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workload/traces/trace_build.h"
#include "workload/traces/trace_file.h"

enum chakra_version {
    CHAKRA_FLAT,    /* 0.0.1: attributes are fields of the node */
    CHAKRA_PARENTS, /* 0.0.2, 0.0.3 and those without a number: field 4 is `parent` */
    CHAKRA_DEPS     /* 0.0.4: ctrl_deps and data_deps */
};

enum chakra_type {
    CHAKRA_INVALID,
    CHAKRA_METADATA,
    CHAKRA_LOAD,
    CHAKRA_STORE,
    CHAKRA_COMP,
    CHAKRA_SEND,
    CHAKRA_RECV,
    CHAKRA_COLL,
    CHAKRA_TYPES
};

enum chakra_collective {
    CHAKRA_ALL_REDUCE,
    CHAKRA_REDUCE,
    CHAKRA_ALL_GATHER,
    CHAKRA_GATHER,
    CHAKRA_SCATTER,
    CHAKRA_BROADCAST,
    CHAKRA_ALL_TO_ALL,
    CHAKRA_REDUCE_SCATTER,
    CHAKRA_REDUCE_SCATTER_BLOCK,
    CHAKRA_BARRIER,
    CHAKRA_COLLECTIVES
};

/* Attributes that mean something here. */
enum chakra_attribute {
    CHAKRA_IS_CPU_OP,
    CHAKRA_NUM_OPS,
    CHAKRA_TENSOR_SIZE,
    CHAKRA_COMM_TYPE,
    CHAKRA_COMM_SIZE,
    CHAKRA_COMM_SRC,
    CHAKRA_COMM_DST,
    CHAKRA_COMM_TAG,
    CHAKRA_RUNTIME,
    CHAKRA_STREAM,
    CHAKRA_WHOLE_ATTRIBUTES /* those before it are whole numbers */
};
const char *chakra_attribute_name(enum chakra_attribute attribute);
/* CHAKRA_WHOLE_ATTRIBUTES: none of them. */
enum chakra_attribute chakra_attribute_of(const char *name, size_t bytes);

/* A text in the file's bytes, or in trace->json. */
struct chakra_text {
    const char *at;
    size_t bytes;
};

struct chakra_node {
    uint64_t id;
    struct chakra_text name, group, inputs; /* group: pg_name; inputs: `values` of METADATA */
    uint64_t group_number;                  /* where `group` is empty; 0: all ranks */
    uint64_t duration;                      /* in the trace's unit */
    uint64_t value[CHAKRA_WHOLE_ATTRIBUTES];
    uint32_t has;                                            /* bits by enum chakra_attribute */
    uint8_t type;                                            /* enum chakra_type */
    bool partly;                                             /* involved_dim is not all true */
    uint32_t first_ctrl, ctrl_count, first_data, data_count; /* in trace->deps */
};

struct chakra_trace {
    const char *path;
    struct chakra_node *nodes;
    uint32_t node_count, node_room;
    uint64_t *deps; /* ids */
    uint32_t dep_count, dep_room;
    enum chakra_version version;
    bool is_pytorch; /* nodes have operators' schemas */
    bool is_table;   /* converted from a layer table: recorded times are its cycles */
    uint64_t ps;     /* of one unit of `duration` */
    void *json;      /* that texts lie in, of a file of that form */
};

static inline bool chakra_has(const struct chakra_node *node, enum chakra_attribute attribute)
{
    return (node->has >> attribute & 1) != 0;
}

/* Appends. false: out of memory. */
bool chakra_add_node(struct chakra_trace *trace, const struct chakra_node *node);
bool chakra_add_dep(struct chakra_trace *trace, uint64_t id);

/* *trace is zero before. It points into the file's bytes. chakra_decode_json() is for what the
 * jsonizer writes, one object after the other, and for {"workload_graph": [...]}. */
int chakra_decode(const struct trace_build *build, const struct trace_file *file,
                  struct chakra_trace *trace);
bool chakra_is_json(const struct trace_file *file);
int chakra_decode_json(const struct trace_build *build, const struct trace_file *file,
                       struct chakra_trace *trace);
void chakra_trace_free(struct chakra_trace *trace);

/* Refuses an attribute of a node. Returns CW_USAGE. */
int chakra_refuse(const struct trace_build *build, const char *path, uint64_t id,
                  const char *attribute, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
