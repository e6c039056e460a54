/*
 * chakra.c: nodes of Chakra traces become operations (chakra.h). Sizes and times mean what
 * ASTRA-sim takes them for: `comm_size` of an all-gather is one rank's part.
 *
 * A program has its operations in an order that respects all dependencies, of those that may come
 * next the least id: so ranks with like traces call their collectives in like order, and operations
 * refer only to earlier ones.
 */
#define _GNU_SOURCE /* qsort_r */
#include "workload/traces/chakra.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "workload/traces/chakra_groups.h"
#include "workload/traces/chakra_node.h"

struct reader {
    struct trace_build *build;
    struct chakra_groups groups;
    struct chakra_trace trace; /* of the rank that is being read */
    uint32_t rank, program;
};

/* ---- one node -------------------------------------------------------------------------------- */

static int refuse(const struct reader *r, const struct chakra_node *node,
                  enum chakra_attribute attribute, const char *why)
{
    return chakra_refuse(r->build, r->trace.path, node->id, chakra_attribute_name(attribute), "%s",
                         why);
}

static bool is_on_cpu(const struct chakra_node *node)
{
    return chakra_has(node, CHAKRA_IS_CPU_OP) && node->value[CHAKRA_IS_CPU_OP] != 0;
}

static int set_stream(const struct reader *r, struct workload_op *op, const char *name,
                      enum workload_stream_order order)
{
    const uint32_t stream = trace_stream(r->build, name, order);
    if (stream == WORKLOAD_NONE)
        return trace_no_memory(r->build);
    if (stream > UINT16_MAX)
        return cw_error_set(r->build->error, CW_USAGE, "%s: more than %d streams", r->trace.path,
                            UINT16_MAX);
    op->stream = (uint16_t)stream;
    return CW_OK;
}

/* Its recorded time. ASTRA-sim takes 1 ns for 0. */
static int replay(const struct reader *r, const struct chakra_node *node, struct workload_op *op)
{
    const uint64_t least = r->trace.version == CHAKRA_DEPS ? 1000 : 0;
    if (node->duration > TRACE_PS_MAX / r->trace.ps)
        return chakra_refuse(r->build, r->trace.path, node->id, "duration_micros",
                             "%" PRIu64 " is too long", node->duration);
    op->time_ps = node->duration > 0 ? node->duration * r->trace.ps : least;
    op->kind = op->time_ps > 0 ? WORKLOAD_TIME : WORKLOAD_NOTHING;
    return set_stream(r, op, is_on_cpu(node) ? "cpu" : "compute", WORKLOAD_AS_READY);
}

static int set_roofline(const struct reader *r, const struct chakra_node *node,
                        struct workload_op *op)
{
    op->flops = chakra_has(node, CHAKRA_NUM_OPS) ? node->value[CHAKRA_NUM_OPS] : 0;
    op->bytes = node->value[CHAKRA_TENSOR_SIZE];
    if (!chakra_has(node, CHAKRA_TENSOR_SIZE))
        return refuse(r, node, CHAKRA_TENSOR_SIZE,
                      "missing; legal: the bytes that the node moves to and from memory");
    if (op->bytes > TRACE_BYTES_MAX)
        return refuse(r, node, CHAKRA_TENSOR_SIZE, "more than 1 PiB");
    op->kind = op->bytes > 0 ? WORKLOAD_ROOFLINE : WORKLOAD_NOTHING;
    op->matrix = 1;
    op->kernels = 1;
    return CW_OK;
}

static int compute(const struct reader *r, const struct chakra_node *node, struct workload_op *op)
{
    const enum workload_trace_compute how = r->build->options->compute;
    const bool computes = !is_on_cpu(node) && chakra_has(node, CHAKRA_NUM_OPS) &&
                          (how == TRACE_ROOFLINE || (how == TRACE_AS_RECORDED && !node->duration));
    char name[32] = "compute";
    int code = computes ? set_roofline(r, node, op) : replay(r, node, op);
    if (code == CW_OK && !is_on_cpu(node)) {
        if (chakra_has(node, CHAKRA_STREAM))
            snprintf(name, sizeof name, "stream %" PRId64, (int64_t)node->value[CHAKRA_STREAM]);
        code = set_stream(r, op, name, WORKLOAD_AS_READY);
    }
    return code;
}

static int move_memory(const struct reader *r, const struct chakra_node *node,
                       struct workload_op *op)
{
    const bool recorded = node->duration > 0 && r->build->options->compute != TRACE_ROOFLINE;
    const int code = recorded ? replay(r, node, op) : set_roofline(r, node, op);
    op->matrix = 0;
    op->flops = op->kind == WORKLOAD_ROOFLINE ? 0 : op->flops;
    return code == CW_OK ? set_stream(r, op, "memory", WORKLOAD_AS_READY) : code;
}

static int set_collective(const struct reader *r, const struct chakra_node *node,
                          struct workload_op *op)
{
    static const int8_t does[CHAKRA_COLLECTIVES] = {[CHAKRA_ALL_REDUCE] = CCL_ALL_REDUCE,
                                                    [CHAKRA_REDUCE] = CCL_REDUCE,
                                                    [CHAKRA_ALL_GATHER] = CCL_ALL_GATHER,
                                                    [CHAKRA_GATHER] = -1,
                                                    [CHAKRA_SCATTER] = -1,
                                                    [CHAKRA_BROADCAST] = CCL_BROADCAST,
                                                    [CHAKRA_ALL_TO_ALL] = CCL_ALL_TO_ALL,
                                                    [CHAKRA_REDUCE_SCATTER] = CCL_REDUCE_SCATTER,
                                                    [CHAKRA_REDUCE_SCATTER_BLOCK] =
                                                        CCL_REDUCE_SCATTER,
                                                    [CHAKRA_BARRIER] = CCL_BARRIER};
    const uint64_t type = node->value[CHAKRA_COMM_TYPE];
    static const char legal[] = "0 (all-reduce), 1 (reduce), 2 (all-gather), 5 (broadcast), 6 "
                                "(all-to-all), 7, 8 (reduce-scatter), 9 (barrier)";
    if (!chakra_has(node, CHAKRA_COMM_TYPE))
        return chakra_refuse(r->build, r->trace.path, node->id, "comm_type",
                             "missing on a collective of the device; legal: %s", legal);
    if (type >= CHAKRA_COLLECTIVES || does[type] < 0)
        return chakra_refuse(r->build, r->trace.path, node->id, "comm_type",
                             "%" PRIu64 "%s cannot be simulated; legal: %s", type,
                             type == CHAKRA_GATHER    ? " (gather)"
                             : type == CHAKRA_SCATTER ? " (scatter)"
                                                      : "",
                             legal);
    op->collective = (uint8_t)does[type];
    if (type != CHAKRA_BARRIER && !chakra_has(node, CHAKRA_COMM_SIZE))
        return refuse(r, node, CHAKRA_COMM_SIZE, "missing; legal: bytes");
    op->bytes = type != CHAKRA_BARRIER ? node->value[CHAKRA_COMM_SIZE] : 0;
    if (op->bytes > TRACE_BYTES_MAX)
        return refuse(r, node, CHAKRA_COMM_SIZE, "more than 1 PiB");
    return CW_OK;
}

static int collective(struct reader *r, const struct chakra_node *node, struct workload_op *op)
{
    uint32_t group;
    if (!chakra_has(node, CHAKRA_COMM_TYPE) && is_on_cpu(node))
        return replay(r, node, op); /* the host's side of a collective that is a node of its own */
    int code = set_collective(r, node, op);
    if (code == CW_OK)
        code = chakra_groups_find(r->build, &r->groups, &r->trace, node, r->rank, &group);
    if (code != CW_OK)
        return code;
    if (node->partly && node->group.bytes == 0 && node->group_number == 0)
        return chakra_refuse(r->build, r->trace.path, node->id, "involved_dim",
                             "some of the network's dimensions, which a trace does not say; legal: "
                             "all true, or a group (pg_name)");
    const uint32_t ranks = r->build->groups[group].count;
    /* The converter of tables writes an all-reduce of nothing where there is no collective. */
    const bool is_none = (op->bytes == 0 && op->collective != CCL_BARRIER) || ranks == 1;
    op->kind = is_none ? WORKLOAD_NOTHING : WORKLOAD_COLLECTIVE;
    op->set = group;
    op->redop = REDOP_SUM;
    if (op->collective == CCL_ALL_GATHER)
        op->bytes *= ranks;
    op->dtype = trace_dtype(op->bytes);
    return set_stream(r, op, "communication", WORKLOAD_AT_ONCE);
}

static int message(struct reader *r, const struct chakra_node *node, struct workload_op *op)
{
    const bool sends = node->type == CHAKRA_SEND;
    const enum chakra_attribute other = sends ? CHAKRA_COMM_DST : CHAKRA_COMM_SRC,
                                own = sends ? CHAKRA_COMM_SRC : CHAKRA_COMM_DST;
    const uint32_t ranks = r->build->graph->rank_count;
    if (!chakra_has(node, other) && is_on_cpu(node))
        return replay(r, node, op);
    if (!chakra_has(node, other) || node->value[other] >= ranks || node->value[other] == r->rank)
        return chakra_refuse(r->build, r->trace.path, node->id, chakra_attribute_name(other),
                             "%s; legal: another rank than %u, from 0 to %u",
                             chakra_has(node, other) ? "no such rank to exchange a message with"
                                                     : "missing",
                             r->rank, ranks - 1);
    if (chakra_has(node, own) && node->value[own] != r->rank)
        return chakra_refuse(r->build, r->trace.path, node->id, chakra_attribute_name(own),
                             "%" PRIu64 "; legal: %u, the rank of the file", node->value[own],
                             r->rank);
    if (!chakra_has(node, CHAKRA_COMM_SIZE))
        return refuse(r, node, CHAKRA_COMM_SIZE, "missing; legal: bytes");
    if (node->value[CHAKRA_COMM_SIZE] > TRACE_BYTES_MAX)
        return refuse(r, node, CHAKRA_COMM_SIZE, "more than 1 PiB");
    if (chakra_has(node, CHAKRA_COMM_TAG) && node->value[CHAKRA_COMM_TAG] > UINT32_MAX)
        return refuse(r, node, CHAKRA_COMM_TAG, "legal: 0 to 4294967295");
    op->kind = sends ? WORKLOAD_SEND : WORKLOAD_RECV;
    op->set = trace_world(r->build);
    op->peer = (uint32_t)node->value[other];
    op->tag = (uint32_t)node->value[CHAKRA_COMM_TAG];
    op->bytes = node->value[CHAKRA_COMM_SIZE];
    op->dtype = trace_dtype(op->bytes);
    if (op->set == WORKLOAD_NONE)
        return trace_no_memory(r->build);
    return set_stream(r, op, "communication", WORKLOAD_AT_ONCE);
}

/* Tables that were converted say what an operation is for. */
static enum workload_purpose purpose_of(const struct chakra_node *node)
{
    const struct chakra_text *const name = &node->name;
    if (name->bytes > 4 && memcmp(name->at + name->bytes - 4, "_FWD", 4) == 0)
        return WORKLOAD_FORWARD;
    if (name->bytes > 7 && memcmp(name->at + name->bytes - 7, "_BWD_", 5) == 0)
        return WORKLOAD_BACKWARD;
    return WORKLOAD_OTHER;
}

static int add_op(struct reader *r, const struct chakra_node *node, uint32_t *index)
{
    struct workload_op op = {.kind = WORKLOAD_NOTHING,
                             .purpose = (uint8_t)purpose_of(node),
                             .dtype = DTYPE_BF16,
                             .layer = -1,
                             .microbatch = -1,
                             .id = node->id};
    int code = CW_OK;
    switch (node->type) {
    case CHAKRA_LOAD:
    case CHAKRA_STORE:
        code = move_memory(r, node, &op);
        break;
    case CHAKRA_COMP:
        code = compute(r, node, &op);
        break;
    case CHAKRA_SEND:
    case CHAKRA_RECV:
        code = message(r, node, &op);
        break;
    case CHAKRA_COLL:
        code = collective(r, node, &op);
        break;
    default:
        code = set_stream(r, &op, "communication", WORKLOAD_AT_ONCE);
    }
    if (code != CW_OK)
        return code;
    op.label = trace_label(r->build, node->name.at, node->name.bytes);
    *index = op.label != WORKLOAD_NONE ? workload_add_op(r->build->graph, r->program, &op)
                                       : WORKLOAD_NONE;
    return *index != WORKLOAD_NONE ? CW_OK : trace_no_memory(r->build);
}

/* ---- dependencies ---------------------------------------------------------------------------- */

/* The nodes of a trace by their ids: place[k] is the node with the k-th least. */
struct order {
    uint32_t *place, *rank_of; /* rank_of[node]: its k */
    uint32_t *left;            /* [node] dependencies to come */
    uint32_t *first, *next;    /* [node] whom it lets go: next[first[node]] ... */
    uint32_t *heap, held;      /* of k */
    uint32_t *op;              /* [node] its operation, WORKLOAD_NONE: none yet */
};

static int by_id(const void *a, const void *b, void *argument)
{
    const struct chakra_trace *const trace = argument;
    const uint64_t x = trace->nodes[*(const uint32_t *)a].id,
                   y = trace->nodes[*(const uint32_t *)b].id;
    return x < y ? -1 : x > y;
}

/* The node of an id; WORKLOAD_NONE: there is none. */
static uint32_t find_node(const struct chakra_trace *trace, const struct order *order, uint64_t id)
{
    uint32_t low = 0, high = trace->node_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (trace->nodes[order->place[middle]].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < trace->node_count && trace->nodes[order->place[low]].id == id ? order->place[low]
                                                                               : WORKLOAD_NONE;
}

static void push(struct order *order, uint32_t k)
{
    uint32_t at = order->held++;
    for (; at > 0 && order->heap[(at - 1) / 2] > k; at = (at - 1) / 2)
        order->heap[at] = order->heap[(at - 1) / 2];
    order->heap[at] = k;
}

static uint32_t pop(struct order *order)
{
    const uint32_t least = order->heap[0], last = order->heap[--order->held];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < order->held; at = child) {
        if (child + 1 < order->held && order->heap[child + 1] < order->heap[child])
            child++;
        if (order->heap[child] >= last)
            break;
        order->heap[at] = order->heap[child];
    }
    order->heap[at] = last;
    return least;
}

/* Calls `visit` for each dependency of a node that counts. */
struct edges {
    const struct chakra_trace *trace;
    const struct order *order;
    bool with_control;
};

static uint32_t edge_count(const struct edges *e, uint32_t node)
{
    const struct chakra_node *const n = &e->trace->nodes[node];
    return n->data_count + (e->with_control ? n->ctrl_count : 0);
}

static uint32_t edge(const struct edges *e, uint32_t node, uint32_t i)
{
    const struct chakra_node *const n = &e->trace->nodes[node];
    const uint64_t id = i < n->data_count ? e->trace->deps[n->first_data + i]
                                          : e->trace->deps[n->first_ctrl + i - n->data_count];
    return find_node(e->trace, e->order, id);
}

/* Counts what each node waits for, and lists whom each lets go. */
static void count_edges(const struct edges *e, struct order *order)
{
    const uint32_t nodes = e->trace->node_count;
    memset(order->first, 0, (nodes + 2) * sizeof *order->first);
    for (uint32_t n = 0; n < nodes; n++) {
        order->left[n] = edge_count(e, n);
        for (uint32_t i = 0; i < order->left[n]; i++)
            order->first[edge(e, n, i) + 2]++;
    }
    for (uint32_t n = 2; n < nodes + 2; n++)
        order->first[n] += order->first[n - 1];
    for (uint32_t n = 0; n < nodes; n++)
        for (uint32_t i = 0; i < order->left[n]; i++)
            order->next[order->first[edge(e, n, i) + 1]++] = n;
}

/* The next node that may come; lets go whom it lets go. */
static uint32_t take(struct order *order)
{
    const uint32_t node = order->place[pop(order)];
    for (uint32_t i = order->first[node]; i < order->first[node + 1]; i++)
        if (--order->left[order->next[i]] == 0)
            push(order, order->rank_of[order->next[i]]);
    return node;
}

static void begin_order(const struct edges *e, struct order *order)
{
    count_edges(e, order);
    order->held = 0;
    for (uint32_t n = 0; n < e->trace->node_count; n++)
        if (order->left[n] == 0)
            push(order, order->rank_of[n]);
}

static bool has_circle(const struct edges *e, struct order *order)
{
    uint32_t taken = 0;
    begin_order(e, order);
    for (; order->held > 0; taken++)
        (void)take(order);
    return taken < e->trace->node_count;
}

/* Whether control dependences can be waited for: PyTorch's are calls, not dependences, and lead in
 * circles and to nodes that the trace does not have. */
static bool control_counts(const struct reader *r, struct edges *e, struct order *order)
{
    const char *why = NULL;
    bool any = false;
    for (uint32_t n = 0; n < e->trace->node_count; n++)
        for (uint32_t i = 0; i < e->trace->nodes[n].ctrl_count; i++) {
            any = true;
            if (find_node(e->trace, order, e->trace->deps[e->trace->nodes[n].first_ctrl + i]) ==
                WORKLOAD_NONE)
                why = "name nodes that are not there";
        }
    if (!any)
        return false;
    e->with_control = true;
    if (e->trace->is_pytorch)
        why = "of PyTorch are calls";
    else if (why == NULL && has_circle(e, order))
        why = "lead in a circle";
    if (why != NULL)
        trace_note(r->build, r->trace.path,
                   "control dependences %s; data dependences alone are taken", why);
    return why == NULL;
}

static int check_nodes(const struct reader *r, const struct order *order)
{
    const struct chakra_trace *const trace = &r->trace;
    for (uint32_t k = 1; k < trace->node_count; k++)
        if (trace->nodes[order->place[k]].id == trace->nodes[order->place[k - 1]].id)
            return chakra_refuse(r->build, trace->path, trace->nodes[order->place[k]].id, "id",
                                 "two nodes have it");
    for (uint32_t n = 0; n < trace->node_count; n++)
        for (uint32_t i = 0; i < trace->nodes[n].data_count; i++) {
            const uint64_t id = trace->deps[trace->nodes[n].first_data + i];
            if (find_node(trace, order, id) == WORKLOAD_NONE)
                return chakra_refuse(r->build, trace->path, trace->nodes[n].id,
                                     trace->version == CHAKRA_DEPS ? "data_deps" : "parent",
                                     "there is no node %" PRIu64, id);
        }
    return CW_OK;
}

static int add_nodes(struct reader *r, const struct edges *e, struct order *order)
{
    uint32_t added = 0;
    int code = CW_OK;
    begin_order(e, order);
    for (; code == CW_OK && order->held > 0; added++) {
        const uint32_t node = take(order);
        code = add_op(r, &e->trace->nodes[node], &order->op[node]);
        for (uint32_t i = 0; code == CW_OK && i < edge_count(e, node); i++)
            if (!workload_add_dep(r->build->graph, r->program, order->op[edge(e, node, i)]))
                code = trace_no_memory(r->build);
    }
    for (uint32_t n = 0; code == CW_OK && added < e->trace->node_count && n < e->trace->node_count;
         n++)
        if (order->left[n] > 0)
            code = chakra_refuse(r->build, r->trace.path, e->trace->nodes[n].id,
                                 e->trace->version == CHAKRA_DEPS ? "data_deps" : "parent",
                                 "the node depends on itself, by way of others");
    return code;
}

static int add_program(struct reader *r)
{
    const struct chakra_trace *const trace = &r->trace;
    const size_t nodes = trace->node_count;
    uint32_t *const room = calloc(7 * (nodes + 2) + trace->dep_count, sizeof *room);
    if (room == NULL)
        return trace_no_memory(r->build);
    struct order order = {.place = room,
                          .rank_of = room + (nodes + 2),
                          .left = room + 2 * (nodes + 2),
                          .first = room + 3 * (nodes + 2),
                          .heap = room + 4 * (nodes + 2),
                          .op = room + 5 * (nodes + 2),
                          .next = room + 6 * (nodes + 2)};
    struct edges e = {trace, &order, false};
    for (uint32_t n = 0; n < nodes; n++)
        order.place[n] = n;
    qsort_r(order.place, nodes, sizeof *order.place, by_id, (void *)(uintptr_t)trace);
    for (uint32_t k = 0; k < nodes; k++)
        order.rank_of[order.place[k]] = k;
    int code = check_nodes(r, &order);
    if (code == CW_OK) {
        e.with_control = control_counts(r, &e, &order);
        code = add_nodes(r, &e, &order);
    }
    free(room);
    return code;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int decode(struct reader *r, const struct trace_file *file)
{
    const int code = chakra_is_json(file) ? chakra_decode_json(r->build, file, &r->trace)
                                          : chakra_decode(r->build, file, &r->trace);
    if (code != CW_OK)
        return code;
    if (r->trace.is_table && r->build->options->unit == TRACE_UNIT_AUTO && r->rank == 0)
        trace_note(r->build, file->path,
                   "times are cycles of a layer table, taken as ns (ASTRA-sim takes them as us)");
    return chakra_groups_add(r->build, &r->trace, r->rank, &r->groups);
}

static int begin_program(struct reader *r, const char *name)
{
    r->program = workload_add_program(r->build->graph, name);
    return r->program != WORKLOAD_NONE ? CW_OK : trace_no_memory(r->build);
}

static int read_rank(struct reader *r, const struct trace_set *set)
{
    struct trace_file file = {0};
    char name[32];
    snprintf(name, sizeof name, "rank %u", r->rank);
    char *const path = trace_set_path(set, r->rank);
    int code = path != NULL ? trace_file_read(path, SIZE_MAX, &file, r->build->error)
                            : trace_no_memory(r->build);
    if (code == CW_OK)
        code = decode(r, &file);
    if (code == CW_OK)
        code = begin_program(r, name);
    if (code == CW_OK) {
        r->build->graph->program_of[r->rank] = r->program;
        code = add_program(r);
    }
    chakra_groups_forget(&r->groups);
    chakra_trace_free(&r->trace);
    trace_file_free(&file);
    free(path);
    return code;
}

/* How many ranks carry out the only file. */
static uint32_t ranks_of_one(const struct reader *r)
{
    if (r->groups.ranks > 0)
        return r->groups.ranks;
    for (uint32_t i = 0; i < r->trace.node_count; i++)
        if (r->trace.nodes[i].type == CHAKRA_COLL &&
            chakra_has(&r->trace.nodes[i], CHAKRA_COMM_TYPE))
            return r->build->options->ranks;
    return 1;
}

static int read_one(struct reader *r, const struct trace_file *file)
{
    int code = decode(r, file);
    const uint32_t ranks = code == CW_OK ? ranks_of_one(r) : 0;
    if (code == CW_OK && ranks == 0)
        code =
            cw_error_set(r->build->error, CW_USAGE,
                         "%s: it does not say how many ranks there are: give --trace-ranks, or a "
                         "file for each rank",
                         file->path);
    if (code == CW_OK)
        code = trace_build_begin(r->build, ranks);
    if (code == CW_OK)
        code = begin_program(r, ranks > 1 ? "all ranks" : "rank 0");
    if (code == CW_OK) {
        if (ranks > 1)
            trace_note(r->build, file->path, "the only file: all %u ranks carry it out", ranks);
        code = add_program(r);
    }
    chakra_trace_free(&r->trace);
    return code;
}

int chakra_read(struct trace_build *build, const struct trace_set *set,
                const struct trace_file *file)
{
    struct reader r = {.build = build};
    int code = chakra_groups_read(build, &r.groups);
    if (code == CW_OK && set->prefix == NULL)
        code = read_one(&r, file);
    else if (code == CW_OK)
        code = trace_build_begin(build, set->ranks);
    for (; code == CW_OK && set->prefix != NULL && r.rank < set->ranks; r.rank++)
        code = read_rank(&r, set);
    chakra_groups_free(&r.groups);
    return code;
}
