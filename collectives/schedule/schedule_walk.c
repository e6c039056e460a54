/*
 * schedule_walk.c: finds formulas backwards (schedule_walk.h). A step's value is that of its
 * operands: a chunk of its own rank, which an earlier step has written or which is the input, and
 * what it receives, which is the value of the step that sends it. The steps under way are on a
 * stack of its own, since a chain has as many as a ring has ranks. The values of steps that write
 * are kept: several ranks may want them.
 */
#include "collectives/schedule/schedule_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/arithmetic.h"

/* An operand of a step: a known node, or the value of another step. */
struct operand {
    uint32_t node; /* VALUE_NONE: the value of this step */
    uint32_t rank, step;
};

/* A step under way. */
struct frame {
    uint32_t rank, step;
    uint32_t operands, known; /* of these, how many have nodes */
    struct operand operand[2];
    bool keeps; /* its value is kept */
};

/* The value of a step that writes. */
struct kept {
    uint64_t step; /* rank, step; NO_STEP: the place is free */
    uint32_t node;
};
#define NO_STEP UINT64_MAX

struct walk {
    const struct schedule_walk_maker *maker;
    uint32_t value;
    struct schedule_faults *faults;
    struct schedule_values *values;
    uint32_t node_room;
    struct schedule_walk_steps own, other;
    uint32_t other_rank; /* whose steps `other` has; VALUE_NONE: nobody's */
    struct frame *stack;
    uint32_t depth, stack_room;
    uint64_t visits; /* of steps, in all */
    struct kept *kept;
    uint32_t kept_count, kept_size; /* a power of two, at least twice the count */
};

void schedule_walk_add(struct schedule_walk_steps *steps, struct schedule_step step)
{
    if (steps->count == steps->room) {
        const uint32_t room = 2 * steps->room + 16;
        struct schedule_step *const more = realloc(steps->step, room * sizeof *more);
        if (more == NULL) {
            steps->no_memory = true;
            return;
        }
        steps->step = more;
        steps->room = room;
    }
    steps->step[steps->count++] = step;
}

static bool no_memory(struct walk *w)
{
    w->faults->no_memory = true;
    return false;
}

/* ---- kept values ----------------------------------------------------------------------------- */

static uint64_t key_of(uint32_t rank, uint32_t step) { return (uint64_t)rank << 32 | step; }

static struct kept *kept_at(const struct walk *w, uint64_t step)
{
    uint32_t at = (uint32_t)hw_mix(step + UINT64_C(0x9e3779b97f4a7c15)) & (w->kept_size - 1);
    while (w->kept[at].step != NO_STEP && w->kept[at].step != step)
        at = (at + 1) & (w->kept_size - 1);
    return &w->kept[at];
}

static bool larger_kept(struct walk *w)
{
    struct kept *const before = w->kept;
    const uint32_t size = w->kept_size;
    w->kept_size = size == 0 ? 1024 : 2 * size;
    w->kept = w->kept_size > size ? malloc(w->kept_size * sizeof *w->kept) : NULL;
    if (w->kept == NULL) {
        w->kept = before;
        return no_memory(w);
    }
    for (uint32_t i = 0; i < w->kept_size; i++)
        w->kept[i].step = NO_STEP;
    for (uint32_t i = 0; i < size; i++)
        if (before[i].step != NO_STEP)
            *kept_at(w, before[i].step) = before[i];
    free(before);
    return true;
}

static bool keep(struct walk *w, const struct frame *frame, uint32_t node)
{
    if (2 * w->kept_count >= w->kept_size && !larger_kept(w))
        return false;
    *kept_at(w, key_of(frame->rank, frame->step)) =
        (struct kept){key_of(frame->rank, frame->step), node};
    w->kept_count++;
    return true;
}

/* The node of a step whose value is kept; else VALUE_NONE. */
static uint32_t kept_node(const struct walk *w, uint32_t rank, uint32_t step)
{
    const struct kept *const at = w->kept_size > 0 ? kept_at(w, key_of(rank, step)) : NULL;
    return at != NULL && at->step != NO_STEP ? at->node : VALUE_NONE;
}

/* ---- operands -------------------------------------------------------------------------------- */

static bool fault(struct walk *w, uint32_t rank, uint32_t step, const char *what)
{
    char place[SCHEDULE_PLACE_BYTES];
    snprintf(place, sizeof place, "%s: rank %u, step %u on chunk %u", w->maker->name, rank, step,
             w->value);
    schedule_fault(w->faults, place, "%s", what);
    return false;
}

static bool make_steps(struct walk *w, uint32_t rank, struct schedule_walk_steps *steps)
{
    steps->count = 0;
    w->maker->make(w->maker->arg, rank, w->value, steps);
    return !steps->no_memory || no_memory(w);
}

/* The steps of a rank, in w->own: mostly it is the sender that was asked for last. */
static bool make_own(struct walk *w, uint32_t rank)
{
    const struct schedule_walk_steps before = w->own;
    if (rank != w->other_rank)
        return make_steps(w, rank, &w->own);
    w->own = w->other;
    w->other = before;
    w->other_rank = VALUE_NONE;
    return true;
}

/* Of an all-reduce input and output are one buffer. */
static bool is_same(const struct walk *w, struct schedule_chunks a, struct schedule_chunks b)
{
    const bool one = w->maker->collective == CCL_ALL_REDUCE;
    return a.at == b.at && (a.buffer == b.buffer ||
                            (one && a.buffer != SCHEDULE_SCRATCH && b.buffer != SCHEDULE_SCRATCH));
}

/* The step before `end` that has written this chunk last; `end`: none has. */
static uint32_t written_by(const struct walk *w, const struct schedule_walk_steps *steps,
                           uint32_t end, struct schedule_chunks chunks)
{
    for (uint32_t i = end; i-- > 0;)
        if (schedule_op_writes((enum schedule_op)steps->step[i].op) &&
            is_same(w, steps->step[i].dst, chunks))
            return i;
    return end;
}

/* The chunk of the input that has the value. */
static uint32_t input_chunk(const struct walk *w)
{
    return w->maker->collective == CCL_ALL_GATHER ? w->value % w->maker->parts : w->value;
}

/* The chunk of the output that must have it. */
static uint32_t output_chunk(const struct walk *w)
{
    const bool scatters = w->maker->collective == CCL_REDUCE_SCATTER;
    return scatters ? w->value % w->maker->parts : w->value;
}

/* A chunk of the rank of w->own, as it is before step `end`. */
static bool read_chunk(struct walk *w, uint32_t rank, uint32_t end, struct schedule_chunks chunks,
                       struct operand *operand)
{
    const uint32_t by = written_by(w, &w->own, end, chunks);
    const struct schedule_chunks input = {.at = input_chunk(w), .buffer = SCHEDULE_INPUT};
    *operand = (struct operand){.node = VALUE_NONE, .rank = rank, .step = by};
    if (by < end)
        return true;
    if (!is_same(w, chunks, input))
        return fault(w, rank, end, "reads a chunk that nothing has been written to");
    operand->node = rank;
    return true;
}

/* The step that sends what step `step` of the rank of w->own receives. */
static bool find_sender(struct walk *w, uint32_t rank, uint32_t step, struct operand *operand)
{
    const struct schedule_step own = w->own.step[step];
    uint32_t before = 0; /* messages of the same queue */
    for (uint32_t i = 0; i < step; i++) {
        const struct schedule_step *const s = &w->own.step[i];
        before += schedule_op_receives((enum schedule_op)s->op) && s->recv_from == own.recv_from &&
                  s->channel == own.channel;
    }
    if (own.recv_from >= w->maker->ranks)
        return fault(w, rank, step, "receives from a rank that there is not");
    if (!make_steps(w, own.recv_from, &w->other))
        return false;
    w->other_rank = own.recv_from;
    for (uint32_t i = 0; i < w->other.count; i++) {
        const struct schedule_step *const s = &w->other.step[i];
        if (!schedule_op_sends((enum schedule_op)s->op) || s->send_to != rank ||
            s->channel != own.channel || before-- > 0)
            continue;
        *operand = (struct operand){.node = VALUE_NONE, .rank = own.recv_from, .step = i};
        return true;
    }
    return fault(w, rank, step, "receives a message that nobody sends");
}

/* ---- steps ----------------------------------------------------------------------------------- */

static bool push(struct walk *w, uint32_t rank, uint32_t step)
{
    if (w->depth == w->stack_room) {
        const uint32_t room = 2 * w->stack_room + 256;
        struct frame *const more = realloc(w->stack, room * sizeof *more);
        if (more == NULL)
            return no_memory(w);
        w->stack = more;
        w->stack_room = room;
    }
    struct frame *const frame = &w->stack[w->depth++];
    *frame = (struct frame){.rank = rank, .step = step};
    if (w->visits++ > 64 * ((uint64_t)w->maker->ranks + 64))
        return fault(w, rank, step, "waits for itself");
    if (!make_own(w, rank))
        return false;
    const struct schedule_step own = w->own.step[step];
    const enum schedule_op op = (enum schedule_op)own.op;
    frame->keeps = schedule_op_writes(op);
    return (!schedule_op_reads(op) ||
            read_chunk(w, rank, step, own.src, &frame->operand[frame->operands++])) &&
           (op != SCHEDULE_REDUCE ||
            read_chunk(w, rank, step, own.dst, &frame->operand[frame->operands++])) &&
           (!schedule_op_receives(op) ||
            find_sender(w, rank, step, &frame->operand[frame->operands++]));
}

/* The node of a sum; VALUE_NONE: out of memory. */
static uint32_t add_sum(struct walk *w, uint32_t a, uint32_t b)
{
    struct schedule_values *const v = w->values;
    if (v->nodes == w->node_room) {
        const uint32_t room = w->node_room + w->node_room / 2 + 64;
        struct value_node *const more =
            room > w->node_room && room < VALUE_NONE ? realloc(v->node, room * sizeof *more) : NULL;
        if (more == NULL) {
            (void)no_memory(w);
            return VALUE_NONE;
        }
        v->node = more;
        w->node_room = room;
    }
    v->node[v->nodes] = (struct value_node){a, b};
    return v->nodes++;
}

/* The value of a step; VALUE_NONE: a fault. */
static uint32_t value_of(struct walk *w, uint32_t rank, uint32_t step)
{
    uint32_t node = kept_node(w, rank, step);
    w->depth = 0;
    if (node != VALUE_NONE)
        return node;
    if (!push(w, rank, step))
        return VALUE_NONE;
    while (w->depth > 0) {
        struct frame *const top = &w->stack[w->depth - 1];
        struct operand *const next = &top->operand[top->known];
        if (top->known < top->operands && next->node == VALUE_NONE)
            next->node = kept_node(w, next->rank, next->step);
        if (top->known < top->operands && next->node == VALUE_NONE) {
            if (!push(w, next->rank, next->step))
                return VALUE_NONE;
            continue;
        }
        if (top->known < top->operands) {
            top->known++;
            continue;
        }
        node = top->operands == 2 ? add_sum(w, top->operand[0].node, top->operand[1].node)
                                  : top->operand[0].node;
        if (node == VALUE_NONE || (top->keeps && !keep(w, top, node)))
            return VALUE_NONE;
        if (--w->depth > 0)
            w->stack[w->depth - 1].operand[w->stack[w->depth - 1].known].node = node;
    }
    return node;
}

/* ---- outputs --------------------------------------------------------------------------------- */

static bool find_output(struct walk *w, uint32_t rank)
{
    const struct schedule_walk_maker *const maker = w->maker;
    const struct schedule_chunks output = {.at = output_chunk(w), .buffer = SCHEDULE_OUTPUT};
    if (!make_own(w, rank))
        return false;
    const uint32_t by = written_by(w, &w->own, w->own.count, output);
    if (by < w->own.count)
        w->values->output[rank] = value_of(w, rank, by);
    else if (maker->collective == CCL_ALL_REDUCE) /* it stays as it was */
        w->values->output[rank] = rank;
    return by == w->own.count || w->values->output[rank] != VALUE_NONE;
}

/* What the collective demands, as a schedule of this value alone: of one chunk, which is sent to
 * all ranks, or added up at all of them. Messages name the collective (struct schedule_values). */
static struct schedule demand_of_value(const struct walk *w)
{
    const struct schedule_walk_maker *const maker = w->maker;
    const bool gathers = maker->collective == CCL_ALL_GATHER;
    struct schedule demand = {.collective = gathers ? CCL_BROADCAST : CCL_ALL_REDUCE,
                              .root = gathers ? w->value / maker->parts : 0,
                              .members = 1};
    snprintf(demand.name, sizeof demand.name, "%s", maker->name);
    return demand;
}

static struct schedule_values *take_values(const struct walk *w)
{
    struct schedule_values *const v = calloc(1, sizeof *v);
    const uint32_t ranks = w->maker->ranks;
    const enum ccl_collective collective = w->maker->collective;
    if (v == NULL)
        return NULL;
    *v = (struct schedule_values){.ranks = ranks,
                                  .inputs = 1,
                                  .outputs = 1,
                                  .nodes = ranks,
                                  .leaves = ranks,
                                  .collective = collective,
                                  .input_number = input_chunk(w),
                                  .output_number = output_chunk(w),
                                  .node = calloc((size_t)ranks + 1, sizeof *v->node),
                                  .output = malloc(((size_t)ranks + 1) * sizeof *v->output)};
    if (v->output != NULL)
        memset(v->output, 0xff, ranks * sizeof *v->output);
    if (v->node != NULL && v->output != NULL)
        return v;
    schedule_values_free(v);
    return NULL;
}

struct schedule_values *schedule_walk_value(const struct schedule_walk_maker *maker, uint32_t value,
                                            const uint32_t *rank, uint32_t count, bool *wrong,
                                            struct schedule_faults *faults)
{
    struct walk w = {.maker = maker,
                     .value = value,
                     .faults = faults,
                     .node_room = maker->ranks,
                     .other_rank = VALUE_NONE};
    w.values = take_values(&w);
    bool known = w.values != NULL || no_memory(&w);
    for (uint32_t i = 0; i < count && known; i++)
        known = find_output(&w, rank[i]);
    if (known) {
        const struct schedule demand = demand_of_value(&w);
        schedule_values_check_some(w.values, &demand, rank, count, wrong, faults);
    }
    free(w.own.step);
    free(w.other.step);
    free(w.stack);
    free(w.kept);
    if (known && !faults->no_memory)
        return w.values;
    schedule_values_free(w.values);
    return NULL;
}
