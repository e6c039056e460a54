/*
 * schedule_values.c: carries out a schedule with formulas (schedule_values.h). Nodes are found
 * again by a hash table with open addressing.
 *
 * Whether a node is the sum of the right leaves, each once, is decided by a fingerprint of the
 * leaves below it, which is a sum of 64-bit numbers: of each leaf one that looks like chance. The
 * message then counts the leaves themselves.
 */
#include "collectives/schedule/schedule_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/arithmetic.h"
#include "hw/topology/trees.h"

struct interpreter {
    const struct schedule_graph *graph;
    struct schedule_faults *faults;
    struct schedule_values *values;
    uint32_t node_room;
    uint32_t *place;      /* [node_room]: the chunk of the input that its leaves are */
    uint32_t *table;      /* [table_size]: sums; VALUE_NONE: free */
    uint32_t table_size;  /* a power of two, at least twice the sums */
    uint32_t **state;     /* [ranks][locations] */
    uint32_t *stack;      /* [ranks] of a message through switches; NULL: there are none */
    uint32_t *message;    /* nodes of all messages, and of values between joined steps */
    uint64_t *message_at; /* [steps]: of a step that sends, or of which a value is left */
};

/* ---- places ---------------------------------------------------------------------------------- */

uint32_t schedule_locations(const struct schedule *schedule, uint32_t place)
{
    const uint32_t *const chunks = schedule->rank[place].chunks;
    const uint32_t input = chunks[SCHEDULE_INPUT], output = chunks[SCHEDULE_OUTPUT];
    const uint32_t shared = input > output ? input : output;
    return (schedule->in_place ? shared : input + output) + chunks[SCHEDULE_SCRATCH];
}

uint32_t schedule_location(const struct schedule *schedule, uint32_t place, unsigned buffer,
                           uint32_t chunk)
{
    const uint32_t *const chunks = schedule->rank[place].chunks;
    const uint32_t input = chunks[SCHEDULE_INPUT], output = chunks[SCHEDULE_OUTPUT];
    if (buffer == SCHEDULE_SCRATCH)
        return schedule_locations(schedule, place) - chunks[SCHEDULE_SCRATCH] + chunk;
    if (!schedule->in_place)
        return buffer == SCHEDULE_INPUT ? chunk : input + chunk;
    if (buffer == SCHEDULE_INPUT)
        return input < output ? schedule_rank_at(schedule, place) * input + chunk : chunk;
    return output < input ? schedule_rank_at(schedule, place) * output + chunk : chunk;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

void schedule_values_free(struct schedule_values *values)
{
    if (values == NULL)
        return;
    free(values->node);
    free(values->wide);
    free(values->output);
    free(values);
}

static uint32_t table_place(const struct interpreter *in, struct value_node node, uint8_t wide)
{
    const uint64_t hash = hw_mix(((uint64_t)node.a << 32 | node.b) + UINT64_C(0x9e3779b97f4a7c15));
    uint32_t at = (uint32_t)hash & (in->table_size - 1);
    for (; in->table[at] != VALUE_NONE; at = (at + 1) & (in->table_size - 1)) {
        const struct value_node *const other = &in->values->node[in->table[at]];
        if (other->a == node.a && other->b == node.b && in->values->wide[in->table[at]] == wide)
            break;
    }
    return at;
}

static bool larger_table(struct interpreter *in)
{
    struct schedule_values *const v = in->values;
    const uint32_t size = in->table_size == 0 ? 1024 : in->table_size * 2;
    uint32_t *const table = size > in->table_size ? malloc(size * sizeof *table) : NULL;
    if (table == NULL)
        return false;
    memset(table, 0xff, size * sizeof *table);
    free(in->table);
    in->table = table;
    in->table_size = size;
    for (uint32_t i = v->leaves; i < v->nodes; i++)
        table[table_place(in, v->node[i], v->wide[i])] = i;
    return true;
}

static bool larger_nodes(struct interpreter *in)
{
    const uint32_t room = in->node_room + in->node_room / 2 + 1024;
    if (room < in->node_room || room >= VALUE_NONE - 1)
        return false;
    struct value_node *const node = realloc(in->values->node, room * sizeof *node);
    if (node != NULL)
        in->values->node = node;
    uint8_t *const wide = realloc(in->values->wide, room);
    if (wide != NULL)
        in->values->wide = wide;
    uint32_t *const place = realloc(in->place, room * sizeof *place);
    if (place != NULL)
        in->place = place;
    in->node_room = room;
    return node != NULL && wide != NULL && place != NULL;
}

/* The sum's node; VALUE_NONE: out of memory. */
static uint32_t sum_of(struct interpreter *in, uint32_t x, uint32_t y, bool x_is_wide)
{
    struct schedule_values *const v = in->values;
    const struct value_node node = {x < y ? x : y, x < y ? y : x};
    const uint8_t wide = !x_is_wide ? 0 : x < y ? VALUE_WIDE_A : VALUE_WIDE_B;
    if ((v->nodes - v->leaves) * 2 >= in->table_size && !larger_table(in))
        return VALUE_NONE;
    const uint32_t at = table_place(in, node, wide);
    if (in->table[at] != VALUE_NONE)
        return in->table[at];
    if (v->nodes == in->node_room && !larger_nodes(in))
        return VALUE_NONE;
    v->node[v->nodes] = node;
    v->wide[v->nodes] = wide;
    in->place[v->nodes] = in->place[x];
    in->table[at] = v->nodes;
    return v->nodes++;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static uint32_t *place_in_state(const struct interpreter *in, uint32_t rank,
                                struct schedule_chunks chunks, uint32_t i)
{
    return &in->state[rank]
                     [schedule_location(in->graph->schedule, rank, chunks.buffer, chunks.at + i)];
}

/* A chunk of a step's source; VALUE_NONE: it is not there, which is reported. */
static uint32_t read_chunk(const struct interpreter *in, uint32_t step, uint32_t rank,
                           struct schedule_chunks chunks, uint32_t i)
{
    const uint32_t value = *place_in_state(in, rank, chunks, i);
    char place[SCHEDULE_PLACE_BYTES], chunk[SCHEDULE_CHUNK_BYTES];
    const struct schedule *const s = in->graph->schedule;
    if (value == VALUE_NONE)
        schedule_fault(
            in->faults, schedule_graph_place(in->graph, step, place),
            "%s reads %s, which nothing has been written to; legal is a chunk of the input, or "
            "one that a step before it writes",
            schedule_step_name(s, schedule_graph_step(in->graph, step)),
            schedule_chunk_name(s, chunks.buffer, chunks.at + i, chunk));
    return value;
}

/* The sum of two chunks that a step adds; VALUE_NONE: a fault. */
static uint32_t add_chunks(struct interpreter *in, uint32_t step, uint32_t x, uint32_t y,
                           bool x_is_wide)
{
    char place[SCHEDULE_PLACE_BYTES];
    if (in->place[x] != in->place[y] && in->graph->schedule->collective != CCL_CUSTOM) {
        schedule_fault(
            in->faults, schedule_graph_place(in->graph, step, place),
            "%s adds chunk %u of a rank's input to chunk %u of another's; legal are "
            "chunks of one number",
            schedule_step_name(in->graph->schedule, schedule_graph_step(in->graph, step)),
            in->place[x], in->place[y]);
        return VALUE_NONE;
    }
    const uint32_t sum = sum_of(in, x, y, x_is_wide);
    in->faults->no_memory |= sum == VALUE_NONE;
    return sum;
}

/* Chunk k of a message through switches: the sum of the parts that are not empty, as the tree adds.
 * VALUE_NONE: all are empty, or a fault. */
static uint32_t joined_value(struct interpreter *in, uint32_t i, uint32_t k)
{
    const struct schedule_graph *const graph = in->graph;
    const struct schedule *const s = graph->schedule;
    const uint32_t ranks = s->rank_count, *const part =
                                              graph->part + (size_t)graph->joint[i] * ranks;
    const uint32_t *const order =
        s->sums + (size_t)schedule_graph_step(graph, i)->channel * (2 * ranks - 1);
    uint32_t *const stack = in->stack, top = 0;
    for (uint32_t at = 0; at < 2 * ranks - 1; at++) {
        if (order[at] < ranks) {
            stack[top++] = schedule_graph_step(graph, part[order[at]])->src.none
                               ? VALUE_NONE
                               : in->message[in->message_at[part[order[at]]] + k];
            continue;
        }
        const uint32_t right = stack[--top], left = stack[top - 1];
        if (left == VALUE_NONE || right == VALUE_NONE)
            stack[top - 1] = left == VALUE_NONE ? right : left;
        else if ((stack[top - 1] = add_chunks(in, i, left, right, order[at] == HW_TREE_MORE)) ==
                 VALUE_NONE)
            return VALUE_NONE;
    }
    return stack[0];
}

/* One chunk of a step; false: a fault. */
static bool carry_out_chunk(struct interpreter *in, uint32_t i, uint32_t k)
{
    const struct schedule_step *const step = schedule_graph_step(in->graph, i);
    const enum schedule_op op = (enum schedule_op)step->op;
    const uint32_t rank = in->graph->rank_of[i];
    uint32_t value = VALUE_NONE;
    if (op == SCHEDULE_RECV ? step->dst.none : step->src.none) /* it moves nothing */
        return true;
    if (schedule_op_receives(op) && in->graph->joint != NULL && in->graph->joint[i] != GRAPH_NONE)
        value = joined_value(in, i, k);
    else if (schedule_op_receives(op))
        value = in->message[in->message_at[in->graph->sender[i]] + k];
    if (op == SCHEDULE_ADD || op == SCHEDULE_STORE)
        value = in->message[in->message_at[i - 1] + k];
    if (schedule_op_reads(op)) {
        const uint32_t source = read_chunk(in, i, schedule_graph_reads(in->graph, i), step->src, k);
        if (source == VALUE_NONE)
            return false;
        value = value == VALUE_NONE ? source
                : op == SCHEDULE_ADD
                    ? add_chunks(in, i, value, source, (step - 1)->op == SCHEDULE_ADD)
                    : add_chunks(in, i, source, value, step->joined == SCHEDULE_JOINED);
    }
    if (op == SCHEDULE_REDUCE) {
        const uint32_t own = read_chunk(in, i, rank, step->dst, k);
        value = own != VALUE_NONE ? add_chunks(in, i, own, value, step->joined == SCHEDULE_ADDS_ON)
                                  : VALUE_NONE;
    }
    if (value == VALUE_NONE)
        return false;
    if (schedule_op_sends(op) || schedule_op_reaches(op))
        in->message[in->message_at[i] + k] = value;
    if (schedule_op_writes(op))
        *place_in_state(in, schedule_graph_writes(in->graph, i), step->dst, k) = value;
    return true;
}

static bool carry_out(struct interpreter *in)
{
    for (uint32_t at = 0; at < in->graph->ordered; at++) {
        const uint32_t i = in->graph->order[at];
        const uint32_t count = schedule_graph_step(in->graph, i)->count;
        for (uint32_t k = 0; k < count; k++)
            if (!carry_out_chunk(in, i, k))
                return false; /* one fault: those after it follow from it */
    }
    return true;
}

/* ---- creation -------------------------------------------------------------------------------- */

static bool take_messages(struct interpreter *in)
{
    uint64_t all = 0;
    in->message_at = malloc(((size_t)in->graph->steps + 1) * sizeof *in->message_at);
    if (in->message_at == NULL)
        return false;
    for (uint32_t i = 0; i < in->graph->steps; i++) {
        const struct schedule_step *const step = schedule_graph_step(in->graph, i);
        in->message_at[i] = all;
        const enum schedule_op op = (enum schedule_op)step->op;
        all += schedule_op_sends(op) || schedule_op_reaches(op) ? step->count : 0;
    }
    in->message = malloc((all + 1) * sizeof *in->message);
    in->stack = malloc((in->graph->schedule->rank_count + 1) * sizeof *in->stack);
    return in->message != NULL && in->stack != NULL;
}

static bool take_state(struct interpreter *in)
{
    const struct schedule *const s = in->graph->schedule;
    in->state = calloc(s->rank_count, sizeof *in->state);
    for (uint32_t r = 0; in->state != NULL && r < s->rank_count; r++) {
        const size_t bytes = schedule_locations(s, r) * sizeof **in->state;
        in->state[r] = malloc(bytes + 1);
        if (in->state[r] == NULL)
            return false;
        memset(in->state[r], 0xff, bytes);
        for (uint32_t c = 0; c < in->values->inputs; c++)
            in->state[r][schedule_location(s, r, SCHEDULE_INPUT, c)] = r * in->values->inputs + c;
    }
    return in->state != NULL;
}

static bool take_leaves(struct interpreter *in)
{
    struct schedule_values *const v = in->values;
    const struct schedule *const s = in->graph->schedule;
    const uint64_t leaves = (uint64_t)s->rank_count * s->rank[0].chunks[SCHEDULE_INPUT];
    if (leaves >= VALUE_NONE / 4)
        return false;
    v->ranks = s->rank_count;
    v->inputs = s->rank[0].chunks[SCHEDULE_INPUT];
    v->outputs = s->rank[0].chunks[SCHEDULE_OUTPUT];
    v->collective = s->collective;
    v->leaves = v->nodes = in->node_room = (uint32_t)leaves;
    v->node = calloc(leaves + 1, sizeof *v->node);
    v->wide = calloc(leaves + 1, 1);
    in->place = malloc((leaves + 1) * sizeof *in->place);
    v->output = malloc(((size_t)v->ranks * v->outputs + 1) * sizeof *v->output);
    for (uint32_t i = 0; in->place != NULL && i < v->leaves; i++)
        in->place[i] = i % v->inputs;
    return v->node != NULL && v->wide != NULL && in->place != NULL && v->output != NULL;
}

static void take_outputs(struct interpreter *in)
{
    struct schedule_values *const v = in->values;
    for (uint32_t r = 0; r < v->ranks; r++)
        for (uint32_t c = 0; c < v->outputs; c++)
            v->output[(size_t)r * v->outputs + c] =
                in->state[r][schedule_location(in->graph->schedule, r, SCHEDULE_OUTPUT, c)];
}

struct schedule_values *schedule_values_create(const struct schedule_graph *graph,
                                               struct schedule_faults *faults)
{
    struct interpreter in = {
        .graph = graph, .faults = faults, .values = calloc(1, sizeof(struct schedule_values))};
    const uint32_t before = faults->count;
    bool good = false;
    if (in.values == NULL || !take_leaves(&in) || !take_state(&in) || !take_messages(&in))
        faults->no_memory = true;
    else
        good = carry_out(&in) && faults->count == before && !faults->no_memory;
    if (good)
        take_outputs(&in);
    for (uint32_t r = 0; in.state != NULL && r < graph->schedule->rank_count; r++)
        free(in.state[r]);
    free(in.state);
    free(in.place);
    free(in.table);
    free(in.message);
    free(in.message_at);
    free(in.stack);
    if (good)
        return in.values;
    schedule_values_free(in.values);
    return NULL;
}

/* ---- the demand ------------------------------------------------------------------------------ */

/* The leaves that an output chunk must be the sum of: of ranks first .. first + count - 1, chunk
 * `chunk`. count 0: it may be anything. */
struct demand {
    uint32_t first, count, chunk;
};

static struct demand demand_of(const struct schedule_values *v, const struct schedule *schedule,
                               uint32_t rank, uint32_t chunk)
{
    const enum ccl_collective collective = schedule->collective;
    if (collective == CCL_CUSTOM || (collective == CCL_REDUCE && rank != schedule->root))
        return (struct demand){0, 0, 0};
    if (collective == CCL_BROADCAST)
        return (struct demand){schedule->root, 1, chunk};
    if (collective == CCL_ALL_GATHER)
        return (struct demand){chunk / v->inputs, 1, chunk % v->inputs};
    if (collective == CCL_ALL_TO_ALL) {
        const uint32_t block = v->outputs / v->ranks;
        return (struct demand){chunk / block, 1, rank * block + chunk % block};
    }
    if (collective == CCL_REDUCE_SCATTER)
        return (struct demand){0, v->ranks, rank * v->outputs + chunk};
    return (struct demand){0, v->ranks, chunk};
}

static uint64_t leaf_print(const struct schedule_values *v, uint32_t rank, uint32_t chunk)
{
    return hw_mix(((uint64_t)rank * v->inputs + chunk + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* Of each chunk of the input: the sum over all ranks. NULL: out of memory. */
static uint64_t *sum_prints(const struct schedule_values *v)
{
    uint64_t *const print = calloc((size_t)v->inputs + 1, sizeof *print);
    for (uint32_t i = 0; print != NULL && i < v->leaves; i++)
        print[i % v->inputs] += leaf_print(v, i / v->inputs, i % v->inputs);
    return print;
}

/* How often each leaf is in a node: nodes come after the nodes that they are sums of. NULL: out of
 * memory. */
static uint32_t *count_leaves(const struct schedule_values *v, uint32_t node)
{
    uint32_t *const times = calloc((size_t)v->nodes + 1, sizeof *times);
    if (times == NULL)
        return NULL;
    times[node] = 1;
    for (uint32_t i = node; i >= v->leaves && i != UINT32_MAX; i--) {
        const uint32_t own = times[i], half = UINT32_MAX / 2;
        uint32_t *const a = &times[v->node[i].a], *const b = &times[v->node[i].b];
        *a = *a > half || own > half ? UINT32_MAX : *a + own;
        *b = *b > half || own > half ? UINT32_MAX : *b + own;
    }
    return times;
}

/* "chunk 1 of gpu 0 2 times, chunk 1 of gpu 3 not at all": at most three that are wrong. */
static void tell_difference(const struct schedule_values *v, const uint32_t *times,
                            struct demand demand, const char *rank_word, char *buf, size_t size)
{
    size_t n = 0;
    uint32_t listed = 0;
    for (uint32_t i = 0; i < v->leaves && n < size; i++) {
        const uint32_t rank = i / v->inputs, chunk = i % v->inputs;
        const bool wanted =
            chunk == demand.chunk && rank >= demand.first && rank < demand.first + demand.count;
        if (times[i] == (wanted ? 1u : 0u))
            continue;
        if (listed++ == 3) {
            (void)snprintf(buf + n, size - n, ", and so on");
            return;
        }
        n += (size_t)snprintf(buf + n, size - n, "%schunk %u of %s %u ", listed > 1 ? ", " : "",
                              v->input_number + chunk, rank_word, rank);
        if (n < size)
            n += times[i] == 0   ? (size_t)snprintf(buf + n, size - n, "not at all")
                 : times[i] == 1 ? (size_t)snprintf(buf + n, size - n, "once")
                                 : (size_t)snprintf(buf + n, size - n, "%u times", times[i]);
    }
}

static void fault_output(const struct schedule_values *v, const struct schedule *schedule,
                         uint32_t rank, uint32_t chunk, struct schedule_faults *faults)
{
    const uint32_t node = v->output[(size_t)rank * v->outputs + chunk];
    const struct demand demand = demand_of(v, schedule, rank, chunk);
    const char *const word = schedule->file != NULL ? "gpu" : "rank";
    char place[SCHEDULE_PLACE_BYTES], text[300] = "", wanted[100];
    uint32_t *const times = node != VALUE_NONE ? count_leaves(v, node) : NULL;
    if (times != NULL)
        tell_difference(v, times, demand, word, text, sizeof text);
    free(times);
    if (demand.count == 1)
        snprintf(wanted, sizeof wanted, "chunk %u of %s %u", v->input_number + demand.chunk, word,
                 demand.first);
    else
        snprintf(wanted, sizeof wanted, "chunk %u of each %s, once", v->input_number + demand.chunk,
                 word);
    (void)schedule_place(schedule, rank, UINT32_MAX, UINT32_MAX, place);
    if (node == VALUE_NONE)
        schedule_fault(faults, place, "nothing writes to o[%u]; %s demands %s",
                       v->output_number + chunk, ccl_collective_name(v->collective), wanted);
    else
        schedule_fault(faults, place, "o[%u] has %s; %s demands %s", v->output_number + chunk, text,
                       ccl_collective_name(v->collective), wanted);
}

/* Its fingerprint is of the leaves below it (above). */
static uint64_t *node_prints(const struct schedule_values *v)
{
    uint64_t *const print = malloc(((size_t)v->nodes + 1) * sizeof *print);
    for (uint32_t i = 0; print != NULL && i < v->nodes; i++)
        print[i] = i < v->leaves ? leaf_print(v, i / v->inputs, i % v->inputs)
                                 : print[v->node[i].a] + print[v->node[i].b];
    return print;
}

/* The rank that has the whole sum of each chunk. */
static uint32_t root_of_sums(const struct schedule_values *v)
{
    uint64_t *const print = node_prints(v), *const sum = sum_prints(v);
    uint32_t root = UINT32_MAX;
    for (uint32_t r = 0; print != NULL && sum != NULL && r < v->ranks && root == UINT32_MAX; r++) {
        uint32_t right = 0;
        for (uint32_t c = 0; c < v->outputs; c++) {
            const uint32_t node = v->output[(size_t)r * v->outputs + c];
            right += node != VALUE_NONE && print[node] == sum[c];
        }
        root = right == v->outputs ? r : UINT32_MAX;
    }
    free(print);
    free(sum);
    return root;
}

uint32_t schedule_values_root(const struct schedule_values *v, const struct schedule *schedule)
{
    if (schedule->collective == CCL_REDUCE)
        return root_of_sums(v);
    for (uint32_t i = 0; i < v->ranks * v->outputs; i++)
        if (v->output[i] < v->leaves && v->output[i] / v->inputs != i / v->outputs)
            return v->output[i] / v->inputs;
    return v->ranks == 1 ? 0 : UINT32_MAX;
}

/* The chunk of an output holds the collective's result. `sum`: of each chunk of the input, the
 * print of what all ranks contribute. */
static bool is_right(const struct schedule_values *v, const struct schedule *schedule,
                     uint32_t rank, uint32_t chunk, const uint64_t *print, const uint64_t *sum)
{
    const uint32_t node = v->output[(size_t)rank * v->outputs + chunk];
    const struct demand demand = demand_of(v, schedule, rank, chunk);
    return demand.count == 0    ? true
           : node == VALUE_NONE ? false
           : demand.count == 1  ? node == demand.first * v->inputs + demand.chunk
                                : print[node] == sum[demand.chunk];
}

/* rank NULL: all of them. */
static void check_ranks(const struct schedule_values *v, const struct schedule *schedule,
                        const uint32_t *rank, uint32_t count, bool *wrong,
                        struct schedule_faults *faults)
{
    uint64_t *const print = node_prints(v), *const sum = sum_prints(v);
    faults->no_memory |= print == NULL || sum == NULL;
    for (uint32_t i = 0; i < count && !faults->no_memory; i++)
        for (uint32_t c = 0; c < v->outputs; c++) {
            const uint32_t r = rank != NULL ? rank[i] : i;
            const bool right = is_right(v, schedule, r, c, print, sum);
            if (wrong != NULL)
                wrong[(size_t)i * v->outputs + c] = !right;
            if (!right && faults->count < SCHEDULE_FAULTS_MAX)
                fault_output(v, schedule, r, c, faults);
            else if (!right)
                faults->count++;
        }
    free(sum);
    free(print);
}

void schedule_values_check(const struct schedule_values *values, const struct schedule *schedule,
                           struct schedule_faults *faults)
{
    check_ranks(values, schedule, NULL, values->ranks, NULL, faults);
}

void schedule_values_check_some(const struct schedule_values *values,
                                const struct schedule *schedule, const uint32_t *rank,
                                uint32_t count, bool *wrong, struct schedule_faults *faults)
{
    check_ranks(values, schedule, rank, count, wrong, faults);
}
