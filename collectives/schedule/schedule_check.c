/*
 * schedule_check.c: structure and deadlock, and the order of the parts (schedule_check.h).
 */
#include "collectives/schedule/schedule_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/schedule/schedule_graph.h"
#include "collectives/schedule/schedule_hazards.h"
#include "collectives/schedule/schedule_rings.h"
#include "collectives/schedule/schedule_values.h"

/* A step under check. */
struct checked {
    const struct schedule *schedule;
    struct schedule_faults *faults;
    uint32_t rank, thread, number;
    const struct schedule_step *step;
};

static const char *checked_place(const struct checked *c, char buf[SCHEDULE_PLACE_BYTES])
{
    return schedule_place(c->schedule, c->rank, c->thread, c->number, buf);
}

/* ---- structure ------------------------------------------------------------------------------- */

static void check_peer(const struct checked *c, const char *what, uint32_t peer)
{
    char place[SCHEDULE_PLACE_BYTES];
    const char *const name = schedule_op_name((enum schedule_op)c->step->op);
    const uint32_t last = c->schedule->rank_count - 1;
    if (peer == SCHEDULE_NO_RANK)
        schedule_fault(c->faults, checked_place(c, place),
                       "%s %s no peer; legal is a peer of 0 to %u, but not %u", name, what, last,
                       c->rank);
    else if (peer == c->rank && c->schedule->sums != NULL &&
             c->step->channel < c->schedule->trees &&
             (c->step->op == SCHEDULE_SEND || c->step->op == SCHEDULE_RECV))
        return;
    else if (peer > last || peer == c->rank)
        schedule_fault(c->faults, checked_place(c, place), "%s %s %u; legal is 0 to %u, but not %u",
                       name, what, peer, last, c->rank);
}

/* `owner`: the rank that has the chunks. */
static void check_chunks(const struct checked *c, struct schedule_chunks chunks, uint32_t owner)
{
    const struct schedule_rank *const rank = &c->schedule->rank[owner];
    const char *const name = schedule_step_name(c->schedule, c->step);
    const uint32_t split = c->schedule->split > 0 ? c->schedule->split : 1;
    char place[SCHEDULE_PLACE_BYTES];
    const uint32_t all = chunks.buffer < SCHEDULE_BUFFERS ? rank->chunks[chunks.buffer] : 0;
    const char letter = schedule_buffer_letter(chunks.buffer);
    if (chunks.at >= all || c->step->count > all - chunks.at) {
        schedule_fault(c->faults, checked_place(c, place),
                       "%s has chunks %c[%u] to %c[%llu]; legal is up to %c[%lld]", name, letter,
                       chunks.at / split, letter,
                       ((unsigned long long)chunks.at + c->step->count - 1) / split, letter,
                       (long long)all / split - 1);
        return;
    }
    const uint32_t parts = c->schedule->parts,
                   each = all / schedule_blocks(c->schedule, chunks.buffer) / parts;
    const uint32_t part = c->schedule->rank[c->rank].thread[c->thread].part;
    for (uint32_t i = 0; i < c->step->count && parts > 1; i++)
        if ((chunks.at + i) / each % parts != part) {
            schedule_fault(c->faults, checked_place(c, place),
                           "%s has chunk %c[%u], which is of part %u; legal is part %u, its "
                           "thread's",
                           name, letter, chunks.at + i, (chunks.at + i) / each % parts, part);
            return;
        }
}

/* A copy onto some of its own chunks has no meaning. */
static void check_overlap(const struct checked *c)
{
    const struct schedule_step *const step = c->step;
    const enum schedule_op op = (enum schedule_op)step->op;
    char place[SCHEDULE_PLACE_BYTES];
    if (!schedule_op_reads(op) || !schedule_op_writes(op) || c->faults->count > 0)
        return;
    const uint32_t from = schedule_location(c->schedule, c->rank, step->src.buffer, step->src.at);
    const uint32_t to = schedule_location(c->schedule, c->rank, step->dst.buffer, step->dst.at);
    if (from != to && from < to + step->count && to < from + step->count)
        schedule_fault(c->faults, checked_place(c, place),
                       "%s has sources %c[%u] on and destinations %c[%u] on, %u chunks, which "
                       "overlap; legal are the same chunks, or others",
                       schedule_op_name(op), schedule_buffer_letter(step->src.buffer), step->src.at,
                       schedule_buffer_letter(step->dst.buffer), step->dst.at, step->count);
}

static void check_waits(const struct checked *c)
{
    char place[SCHEDULE_PLACE_BYTES];
    for (uint32_t i = 0; i < c->step->wait_count; i++) {
        const struct schedule_wait *const wait =
            &c->schedule->rank[c->rank].wait[c->step->wait_first + i];
        const uint32_t there = schedule_wait_rank(wait, c->rank);
        if (there != c->rank && (!c->schedule->reaches || there >= c->schedule->rank_count)) {
            schedule_fault(c->faults, checked_place(c, place),
                           "waits for a thread of %u; legal is its own rank", there);
            continue;
        }
        const struct schedule_rank *const rank = &c->schedule->rank[there];
        if (wait->thread >= rank->thread_count || (there == c->rank && wait->thread == c->thread))
            schedule_fault(c->faults, checked_place(c, place),
                           "waits for thread %u; legal is 0 to %u, but not %u", wait->thread,
                           rank->thread_count - 1, c->thread);
        else if (wait->step >= rank->thread[wait->thread].step_count)
            schedule_fault(c->faults, checked_place(c, place),
                           "waits for step %u of thread %u, which has %u steps; legal is less",
                           wait->step, wait->thread, rank->thread[wait->thread].step_count);
        else if (rank->thread[wait->thread].part !=
                 c->schedule->rank[c->rank].thread[c->thread].part)
            schedule_fault(c->faults, checked_place(c, place),
                           "is of part %u, and waits for thread %u, of part %u; legal is one part",
                           c->schedule->rank[c->rank].thread[c->thread].part, wait->thread,
                           rank->thread[wait->thread].part);
    }
}

/* The rank whose chunks a step of a schedule that reaches names; SCHEDULE_NO_RANK: there is none,
 * which is reported. */
static uint32_t reached_rank(const struct checked *c, uint32_t named)
{
    char place[SCHEDULE_PLACE_BYTES];
    if (named == SCHEDULE_NO_RANK)
        return c->rank;
    if (named < c->schedule->rank_count)
        return named;
    schedule_fault(c->faults, checked_place(c, place), "%s has chunks of %u; legal is 0 to %u",
                   schedule_op_name((enum schedule_op)c->step->op), named,
                   c->schedule->rank_count - 1);
    return SCHEDULE_NO_RANK;
}

/* What is stored does not overlap what the joined steps before it load, unless it is the same. */
static void check_stored(const struct checked *c, uint32_t to_rank)
{
    const struct schedule_step *const stored = c->step, *step = stored;
    char place[SCHEDULE_PLACE_BYTES];
    const uint32_t to = schedule_location(c->schedule, to_rank, stored->dst.buffer, stored->dst.at);
    while (step->op != SCHEDULE_LOAD) {
        step--;
        const uint32_t rank = step->recv_from == SCHEDULE_NO_RANK ? c->rank : step->recv_from;
        if (step->op == SCHEDULE_STORE || rank != to_rank)
            continue;
        const uint32_t from = schedule_location(c->schedule, rank, step->src.buffer, step->src.at);
        if (from != to && from < to + stored->count && to < from + stored->count)
            schedule_fault(c->faults, checked_place(c, place),
                           "stores %c[%u] on, and loads %c[%u] on, %u chunks, which overlap; legal "
                           "are the same chunks, or others",
                           schedule_buffer_letter(stored->dst.buffer), stored->dst.at,
                           schedule_buffer_letter(step->src.buffer), step->src.at, stored->count);
    }
}

/* A step that loads, adds or stores. */
static void check_reach(const struct checked *c)
{
    const struct schedule_step *const step = c->step;
    const enum schedule_op op = (enum schedule_op)step->op;
    const bool joined = c->number > 0 && step->joined == SCHEDULE_JOINED;
    char place[SCHEDULE_PLACE_BYTES];
    const uint32_t owner = reached_rank(c, op == SCHEDULE_STORE ? step->send_to : step->recv_from);
    if (owner == SCHEDULE_NO_RANK)
        return;
    check_chunks(c, op == SCHEDULE_STORE ? step->dst : step->src, owner);
    if (!c->schedule->reaches || joined != (op != SCHEDULE_LOAD))
        schedule_fault(c->faults, checked_place(c, place),
                       "%s %s the step before it; legal is load, then add and store, joined",
                       schedule_op_name(op), joined ? "is joined with" : "has no value of");
    else if (op == SCHEDULE_STORE && c->faults->count == 0)
        check_stored(c, owner);
}

static void check_step(const struct checked *c)
{
    const struct schedule_step *const step = c->step;
    const enum schedule_op op = (enum schedule_op)step->op;
    char place[SCHEDULE_PLACE_BYTES];
    if (step->op >= SCHEDULE_OPS) {
        schedule_fault(c->faults, checked_place(c, place), "has operation %u; legal is 0 to %d",
                       step->op, SCHEDULE_OPS - 1);
        return;
    }
    check_waits(c);
    if (op == SCHEDULE_NOP)
        return;
    if (step->count == 0)
        schedule_fault(c->faults, checked_place(c, place), "%s has no chunks; legal is 1 on",
                       schedule_op_name(op));
    if (schedule_op_reaches(op)) {
        check_reach(c);
        return;
    }
    if (schedule_op_sends(op))
        check_peer(c, "sends to", step->send_to);
    if (schedule_op_receives(op))
        check_peer(c, "receives from", step->recv_from);
    if (schedule_op_reads(op))
        check_chunks(c, step->src, c->rank);
    if (schedule_op_writes(op))
        check_chunks(c, step->dst, c->rank);
    check_overlap(c);
}

/* A rank has the buffers that the collective and the parts demand. */
static void check_buffers(const struct schedule *s, uint32_t rank, struct schedule_faults *faults)
{
    const uint32_t *const chunks = s->rank[rank].chunks;
    const uint32_t n = s->rank_count;
    char place[SCHEDULE_PLACE_BYTES];
    const uint64_t input = chunks[SCHEDULE_INPUT], output = chunks[SCHEDULE_OUTPUT];
    const bool fits = s->collective == CCL_ALL_GATHER       ? output == n * input
                      : s->collective == CCL_REDUCE_SCATTER ? input == n * output
                                                            : input == output;
    (void)schedule_place(s, rank, UINT32_MAX, UINT32_MAX, place);
    if (!fits || input == 0)
        schedule_fault(faults, place,
                       "%s over %u has %llu chunks of input and %llu of output; legal is %s",
                       ccl_collective_name(s->collective), n, (unsigned long long)input,
                       (unsigned long long)output,
                       s->collective == CCL_ALL_GATHER       ? "as many times the output as ranks"
                       : s->collective == CCL_REDUCE_SCATTER ? "as many times the input as ranks"
                                                             : "as many of each");
    for (unsigned b = 0; b < SCHEDULE_BUFFERS; b++)
        if (chunks[b] % (schedule_blocks(s, b) * s->parts) != 0)
            schedule_fault(faults, place,
                           "buffer %c has %u chunks, of %u blocks and %u parts; legal is a "
                           "multiple of both",
                           schedule_buffer_letter(b), chunks[b], schedule_blocks(s, b), s->parts);
    if (input != s->rank[0].chunks[SCHEDULE_INPUT])
        schedule_fault(faults, place, "has %llu chunks of input, and 0 has %u; legal is as many",
                       (unsigned long long)input, s->rank[0].chunks[SCHEDULE_INPUT]);
}

static void check_structure(const struct schedule *s, struct schedule_faults *faults)
{
    struct checked c = {.schedule = s, .faults = faults};
    for (uint32_t r = 0; r < s->rank_count; r++)
        check_buffers(s, r, faults);
    if (faults->count > 0)
        return;
    for (c.rank = 0; c.rank < s->rank_count; c.rank++) {
        const struct schedule_rank *const rank = &s->rank[c.rank];
        for (c.thread = 0; c.thread < rank->thread_count; c.thread++) {
            const struct schedule_thread *const thread = &rank->thread[c.thread];
            for (c.number = 0; c.number < thread->step_count; c.number++) {
                c.step = &rank->step[thread->step_first + c.number];
                check_step(&c);
            }
        }
    }
}

/* ---- deadlock -------------------------------------------------------------------------------- */

/* A circle of steps that wait for each other. */
struct circle {
    const struct schedule_graph *graph;
    bool *done;     /* [steps]: in the order */
    uint32_t *seen; /* [steps]: when the walk was there, from 1; 0: never */
};

/* A step that is not done, and that step i comes after; and how. */
static uint32_t cause_of(const struct circle *circle, uint32_t i, const char **how)
{
    const struct schedule_graph *const graph = circle->graph;
    const struct schedule_step *const step = schedule_graph_step(graph, i);
    if (schedule_graph_number(graph, i) > 0 && !circle->done[i - 1]) {
        *how = "comes after";
        return i - 1;
    }
    for (uint32_t k = 0; k < step->wait_count; k++) {
        const uint32_t on = schedule_graph_awaited(graph, i, k);
        *how = "waits for";
        if (!circle->done[on])
            return on;
    }
    *how = "receives from";
    return graph->sender[i];
}

/* Walks from cause to cause until the walk meets itself, and reports the circle. */
static void tell_circle(const struct circle *circle, uint32_t from, struct schedule_faults *faults)
{
    enum { STEPS_LISTED = 12 };
    uint32_t at = from, when = 0, listed = 0;
    char place[SCHEDULE_PLACE_BYTES], name[SCHEDULE_PLACE_BYTES], text[600] = "";
    const char *how = "", *before = "";
    size_t n = 0;
    while (circle->seen[at] == 0) {
        circle->seen[at] = ++when;
        at = cause_of(circle, at, &how);
    }
    const uint32_t first = at;
    do {
        at = cause_of(circle, at, &how);
        /* Steps of one thread follow each other: the last of them says it. */
        const bool same = strcmp(how, "comes after") == 0 && strcmp(before, how) == 0;
        if (!same && listed++ < STEPS_LISTED && n < sizeof text)
            n +=
                (size_t)snprintf(text + n, sizeof text - n, "%s %s %s", listed > 1 ? ", which" : "",
                                 how, schedule_graph_name(circle->graph, at, name));
        before = how;
    } while (at != first);
    schedule_fault(faults, schedule_graph_place(circle->graph, first, place),
                   "deadlock:%s%s; legal are waits and messages without a circle", text,
                   listed > STEPS_LISTED ? ", and so on" : "");
}

static void check_circle(const struct schedule_graph *graph, struct schedule_faults *faults)
{
    if (graph->ordered == graph->steps)
        return;
    struct circle circle = {graph, calloc(graph->steps, sizeof *circle.done),
                            calloc(graph->steps, sizeof *circle.seen)};
    if (circle.done == NULL || circle.seen == NULL) {
        faults->no_memory = true;
    } else {
        uint32_t first = 0;
        for (uint32_t at = 0; at < graph->ordered; at++)
            circle.done[graph->order[at]] = true;
        while (circle.done[first])
            first++;
        tell_circle(&circle, first, faults);
    }
    free(circle.done);
    free(circle.seen);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void check_graph(const struct schedule_graph *graph, uint32_t slots,
                        struct schedule_values **values, struct schedule_faults *hazards,
                        struct schedule_faults *faults)
{
    check_circle(graph, faults);
    if (faults->count == 0 && !faults->no_memory && slots > 0)
        schedule_rings_check(graph, slots, faults);
    if (faults->count == 0 && !faults->no_memory)
        schedule_hazards_check(graph, hazards != NULL ? hazards : faults);
    if (faults->count == 0 && !faults->no_memory)
        *values = schedule_values_create(graph, faults);
    if (*values != NULL)
        schedule_values_check(*values, graph->schedule, faults);
}

int schedule_check(const struct schedule *schedule, uint32_t slots, struct schedule_values **values,
                   struct schedule_faults *hazards, struct cw_error *error)
{
    struct schedule_faults faults = {0};
    struct schedule_values *own = NULL;
    check_structure(schedule, &faults);
    struct schedule_graph *const graph =
        faults.count == 0 ? schedule_graph_create(schedule, &faults) : NULL;
    if (graph != NULL)
        check_graph(graph, slots, &own, hazards, &faults);
    const int code = schedule_faults_report(&faults, error);
    schedule_graph_free(graph);
    schedule_faults_free(&faults);
    if (values != NULL)
        *values = code == CW_OK ? own : NULL;
    if (values == NULL || code != CW_OK)
        schedule_values_free(own);
    return code;
}

/* NULL: faults, or out of memory. */
static struct schedule_values *values_of(const struct schedule *schedule,
                                         struct schedule_faults *faults)
{
    struct schedule_values *values = NULL;
    check_structure(schedule, faults);
    struct schedule_graph *const graph =
        faults->count == 0 ? schedule_graph_create(schedule, faults) : NULL;
    if (graph != NULL)
        check_circle(graph, faults);
    if (graph != NULL && faults->count == 0 && !faults->no_memory)
        values = schedule_values_create(graph, faults);
    schedule_graph_free(graph);
    return values;
}

uint32_t schedule_root_by_steps(const struct schedule *schedule)
{
    struct schedule_faults faults = {0};
    struct schedule_values *const values = values_of(schedule, &faults);
    const uint32_t root = values != NULL ? schedule_values_root(values, schedule) : UINT32_MAX;
    schedule_values_free(values);
    schedule_faults_free(&faults);
    return root;
}

static struct schedule_values *formulas(const struct schedule *schedule, bool checks,
                                        struct cw_error *error)
{
    struct schedule_faults faults = {0};
    struct schedule_values *const values = values_of(schedule, &faults);
    if (values != NULL && checks)
        schedule_values_check(values, schedule, &faults);
    const int code = schedule_faults_report(&faults, error);
    schedule_faults_free(&faults);
    if (code == CW_OK)
        return values;
    schedule_values_free(values);
    return NULL;
}

struct schedule_values *schedule_formulas(const struct schedule *schedule, struct cw_error *error)
{
    return formulas(schedule, true, error);
}

struct schedule_values *schedule_formulas_of_steps(const struct schedule *schedule,
                                                   struct cw_error *error)
{
    return formulas(schedule, false, error);
}
