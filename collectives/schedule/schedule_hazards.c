/*
 * schedule_hazards.c: chunks that two steps of a rank touch in no order (schedule_hazards.h).
 *
 * The steps of a rank are looked at in an order in which each one is after all that it comes
 * after. For each chunk, the last step that has written it is kept, and each thread's last step
 * that has read it since. A step that reads must come after the last writer; a step that writes
 * must also come after the readers. That is enough for all pairs: earlier steps have been compared
 * with these, and to come after is transitive.
 *
 * Whether a step comes after another is read from clocks: of each step, for each thread of the
 * rank, how many of its steps it comes after. First the clocks of threads and waits of the rank
 * alone; they cost little. Only for ranks of which a pair is in no order by them, the clocks of
 * these ranks' threads in the steps of all ranks, through messages: of several ranks at once, as
 * many as memory is spent on, since a walk through all steps costs more than their clocks.
 *
 * In a schedule that reaches, threads of all ranks touch a rank's chunks, so the clocks are theirs:
 * of one rank after the other, and of as many threads at a time as memory is spent on. A pair is
 * looked at when the clocks have the thread of its earlier step.
 */
#include "collectives/schedule/schedule_hazards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/schedule/schedule_values.h"

/* A thread's last step that has read a chunk. */
struct reader {
    uint32_t thread, step; /* thread: of all ranks' */
    uint32_t next;         /* of the chunk; GRAPH_NONE: the last */
};

struct chunk_use {
    uint32_t written_by; /* GRAPH_NONE: no step */
    uint32_t readers;    /* the first */
};

/* A rank under check, or several. */
struct hazards {
    const struct schedule_graph *graph;
    struct schedule_faults *faults;
    uint32_t rank;
    uint32_t *clock;  /* [steps of the rank, or all][width] */
    uint32_t width;   /* threads of all ranks that have clocks */
    uint32_t *first;  /* [ranks + 1]: a rank's threads, of all ranks' */
    uint32_t *column; /* [threads of all ranks]: its clock; GRAPH_NONE: it has none */
    bool all;         /* clock is of all ranks' steps */
    struct chunk_use *use;
    struct reader *reader;
    uint32_t reader_count, reader_room;
    uint32_t *order; /* of the rank's steps, or of all steps, where others touch its chunks */
    uint32_t count;  /* of these */
    uint32_t told_a, told_b;
    uint32_t unordered; /* pairs */
};

/* The thread of a step, of all ranks' threads. */
static uint32_t thread_of(const struct hazards *h, uint32_t step)
{
    return h->first[h->graph->rank_of[step]] + h->graph->thread_of[step];
}

static uint32_t *clocks_of(const struct hazards *h, uint32_t step)
{
    const uint32_t at = h->all ? step : step - h->graph->first[h->rank];
    return h->clock + (size_t)at * h->width;
}

static void take_later(const struct hazards *h, uint32_t *clock, uint32_t before)
{
    const uint32_t *const other = clocks_of(h, before);
    for (uint32_t t = 0; t < h->width; t++)
        clock[t] = other[t] > clock[t] ? other[t] : clock[t];
}

/* The clocks of a step, from the clocks of the steps that it comes after. */
static void make_clock(const struct hazards *h, uint32_t i)
{
    const struct schedule_graph *const graph = h->graph;
    const struct schedule_step *const step = schedule_graph_step(graph, i);
    const uint32_t column = h->column[thread_of(h, i)];
    uint32_t *const clock = clocks_of(h, i);
    memset(clock, 0, h->width * sizeof *clock);
    if (schedule_graph_number(graph, i) > 0)
        take_later(h, clock, i - 1);
    for (uint32_t k = 0; k < step->wait_count; k++)
        take_later(h, clock, schedule_graph_awaited(graph, i, k));
    if (h->all && graph->sender[i] != GRAPH_NONE)
        take_later(h, clock, graph->sender[i]);
    if (column != GRAPH_NONE)
        clock[column] = schedule_graph_number(graph, i) + 1;
}

/* Or it is not known by these clocks. */
static bool comes_after(const struct hazards *h, uint32_t later, uint32_t earlier)
{
    const uint32_t column = h->column[thread_of(h, earlier)];
    return column == GRAPH_NONE ||
           clocks_of(h, later)[column] > schedule_graph_number(h->graph, earlier);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void fault_pair(struct hazards *h, uint32_t earlier, uint32_t later, const char *did,
                       const char *does, struct schedule_chunks chunks, uint32_t k)
{
    char place[SCHEDULE_PLACE_BYTES], name[SCHEDULE_PLACE_BYTES], chunk[SCHEDULE_CHUNK_BYTES];
    const struct schedule *const s = h->graph->schedule;
    h->unordered++;
    if (!h->all && h->graph->schedule->rank_count > 1)
        return; /* messages may order them */
    if (h->told_a == earlier && h->told_b == later)
        return;
    h->told_a = earlier;
    h->told_b = later;
    char owner[32] = "";
    if (s->reaches)
        snprintf(owner, sizeof owner, " of %s %u", s->file != NULL ? "gpu" : "rank", h->rank);
    schedule_fault(h->faults, schedule_graph_place(h->graph, later, place),
                   "hazard: %s %s %s%s, which %s (%s) %s, and nothing orders the two; legal is "
                   "that one waits for the other, or for %s that comes of it",
                   schedule_step_name(s, schedule_graph_step(h->graph, later)), does,
                   schedule_chunk_name(s, chunks.buffer, chunks.at + k, chunk), owner,
                   schedule_graph_name(h->graph, earlier, name),
                   schedule_step_name(s, schedule_graph_step(h->graph, earlier)), did,
                   s->reaches ? "a signal" : "a message");
}

static void add_reader(struct hazards *h, struct chunk_use *use, uint32_t i)
{
    const uint32_t thread = thread_of(h, i);
    for (uint32_t at = use->readers; at != GRAPH_NONE; at = h->reader[at].next)
        if (h->reader[at].thread == thread) {
            h->reader[at].step = i;
            return;
        }
    if (h->reader_count == h->reader_room) {
        const uint32_t room = h->reader_room * 2 + 256;
        struct reader *const bigger = realloc(h->reader, room * sizeof *bigger);
        if (bigger == NULL) {
            h->faults->no_memory = true;
            return;
        }
        h->reader = bigger;
        h->reader_room = room;
    }
    h->reader[h->reader_count] = (struct reader){thread, i, use->readers};
    use->readers = h->reader_count++;
}

static void touch(struct hazards *h, uint32_t i, struct schedule_chunks chunks, uint32_t k,
                  bool writes)
{
    struct chunk_use *const use =
        &h->use[schedule_location(h->graph->schedule, h->rank, chunks.buffer, chunks.at + k)];
    const char *const does = writes ? "writes" : "reads";
    if (use->written_by != GRAPH_NONE && !comes_after(h, i, use->written_by))
        fault_pair(h, use->written_by, i, "writes", does, chunks, k);
    if (!writes) {
        add_reader(h, use, i);
        return;
    }
    for (uint32_t at = use->readers; at != GRAPH_NONE; at = h->reader[at].next)
        if (h->reader[at].step != i && !comes_after(h, i, h->reader[at].step))
            fault_pair(h, h->reader[at].step, i, "reads", does, chunks, k);
    use->readers = GRAPH_NONE;
    use->written_by = i;
}

static void touch_all(struct hazards *h)
{
    const struct schedule_graph *const graph = h->graph;
    const uint32_t locations = schedule_locations(graph->schedule, h->rank);
    h->reader_count = 0;
    h->told_a = h->told_b = GRAPH_NONE;
    for (uint32_t i = 0; i < locations; i++)
        h->use[i] = (struct chunk_use){GRAPH_NONE, GRAPH_NONE};
    for (uint32_t at = 0; at < h->count; at++) {
        const uint32_t i = h->order[at];
        const struct schedule_step *const step = schedule_graph_step(graph, i);
        const enum schedule_op op = (enum schedule_op)step->op;
        const bool reads = schedule_op_reads(op) && schedule_graph_reads(graph, i) == h->rank,
                   writes = schedule_op_writes(op) && schedule_graph_writes(graph, i) == h->rank;
        for (uint32_t k = 0; k < step->count && reads; k++)
            touch(h, i, step->src, k, false);
        for (uint32_t k = 0; k < step->count && writes; k++)
            touch(h, i, step->dst, k, true);
    }
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* Room for the clocks of this many steps. */
static bool hazards_clocks(struct hazards *h, uint32_t steps)
{
    free(h->clock);
    h->clock = malloc(((size_t)steps * h->width + 1) * sizeof *h->clock);
    return h->clock != NULL;
}

static uint32_t threads_of_rank(const struct hazards *h, uint32_t rank)
{
    return h->graph->schedule->rank[rank].thread_count;
}

/* Looks at a rank's steps, whose clocks are there. False: out of memory. */
static bool look_at_rank(struct hazards *h, uint32_t rank, uint32_t *order)
{
    const bool all = h->graph->schedule->reaches;
    h->rank = rank;
    h->order = all ? h->graph->order : order + h->graph->first[rank];
    h->count = all ? h->graph->ordered : h->graph->first[rank + 1] - h->graph->first[rank];
    free(h->use);
    h->use = malloc(((size_t)schedule_locations(h->graph->schedule, rank) + 1) * sizeof *h->use);
    if (h->use != NULL)
        touch_all(h);
    return h->use != NULL;
}

/* The clocks of a rank's threads are there from `first` on; GRAPH_NONE: it has none. */
static void set_columns(struct hazards *h, uint32_t rank, uint32_t first)
{
    for (uint32_t t = 0; t < threads_of_rank(h, rank); t++)
        h->column[h->first[rank] + t] = first != GRAPH_NONE ? first + t : GRAPH_NONE;
}

/* By the order within the rank alone. *open: a pair is in no order by that, but there are messages.
 */
static bool check_rank_alone(struct hazards *h, uint32_t rank, uint32_t *order, bool *open)
{
    const uint32_t first = h->graph->first[rank], end = h->graph->first[rank + 1];
    h->rank = rank;
    h->width = threads_of_rank(h, rank);
    h->unordered = 0;
    *open = false;
    if (h->width < 2)
        return true; /* a thread's steps follow each other */
    if (!hazards_clocks(h, end - first))
        return false;
    set_columns(h, rank, 0);
    for (uint32_t at = first; at < end; at++)
        make_clock(h, order[at]);
    const bool good = look_at_rank(h, rank, order);
    set_columns(h, rank, GRAPH_NONE);
    *open = h->unordered > 0 && h->graph->schedule->rank_count > 1;
    return good;
}

enum { CLOCKS_BYTES = 64 << 20 };

/* Open ranks from `first` on, so many as have room, by the order of all steps. Returns the rank
 * after them; GRAPH_NONE: out of memory. */
static uint32_t check_some(struct hazards *h, uint32_t first, const bool *open, uint32_t *order)
{
    const uint32_t ranks = h->graph->schedule->rank_count;
    uint32_t end = first;
    h->width = 0;
    for (; end < ranks; end++) {
        const uint64_t width = open[end] ? h->width + threads_of_rank(h, end) : h->width;
        if (h->width > 0 && width * h->graph->steps * sizeof *h->clock > CLOCKS_BYTES)
            break;
        set_columns(h, end, open[end] ? h->width : GRAPH_NONE);
        h->width = (uint32_t)width;
    }
    bool good = h->width == 0 || hazards_clocks(h, h->graph->steps);
    for (uint32_t at = 0; good && h->width > 0 && at < h->graph->ordered; at++)
        make_clock(h, h->graph->order[at]);
    for (uint32_t rank = first; good && rank < end; rank++)
        good = !open[rank] || look_at_rank(h, rank, order);
    for (uint32_t rank = first; rank < end; rank++)
        set_columns(h, rank, GRAPH_NONE);
    return good ? end : GRAPH_NONE;
}

/* Threads that touch a rank's chunks, for h->column: 0 each, else GRAPH_NONE. */
static void find_touching(struct hazards *h, uint32_t rank, bool *touches)
{
    const struct schedule_graph *const graph = h->graph;
    memset(touches, 0, h->first[graph->schedule->rank_count] * sizeof *touches);
    for (uint32_t i = 0; i < graph->steps; i++) {
        const enum schedule_op op = (enum schedule_op)schedule_graph_step(graph, i)->op;
        touches[thread_of(h, i)] |=
            (schedule_op_reads(op) && schedule_graph_reads(graph, i) == rank) ||
            (schedule_op_writes(op) && schedule_graph_writes(graph, i) == rank);
    }
}

/* Chunks of a rank that threads of all ranks touch. False: out of memory. */
static bool check_reached(struct hazards *h, uint32_t rank, bool *touches)
{
    const struct schedule_graph *const graph = h->graph;
    const uint32_t threads = h->first[graph->schedule->rank_count];
    const uint64_t fit = CLOCKS_BYTES / sizeof *h->clock / ((uint64_t)graph->steps + 1);
    const uint32_t most = fit > 1 ? (uint32_t)fit : 1;
    bool good = true;
    find_touching(h, rank, touches);
    for (uint32_t next = 0; good && next < threads;) {
        memset(h->column, 0xff, threads * sizeof *h->column);
        for (h->width = 0; next < threads && h->width < most; next++)
            if (touches[next])
                h->column[next] = h->width++;
        good = hazards_clocks(h, graph->steps);
        for (uint32_t at = 0; good && at < graph->ordered; at++)
            make_clock(h, graph->order[at]);
        good = good && look_at_rank(h, rank, NULL);
    }
    return good;
}

/* The same of all ranks. */
static bool check_all_reached(struct hazards *h)
{
    const uint32_t ranks = h->graph->schedule->rank_count;
    bool *const touches = malloc(h->first[ranks] + 1);
    bool good = touches != NULL;
    h->all = true;
    for (uint32_t rank = 0; good && rank < ranks; rank++)
        good = check_reached(h, rank, touches);
    free(touches);
    return good;
}

/* False: out of memory. */
static bool check_ranks(struct hazards *h, bool *open, uint32_t *order)
{
    const uint32_t ranks = h->graph->schedule->rank_count;
    if (h->graph->schedule->reaches)
        return check_all_reached(h);
    h->all = false;
    for (uint32_t rank = 0; rank < ranks; rank++)
        if (!check_rank_alone(h, rank, order, &open[rank]))
            return false;
    h->all = true;
    for (uint32_t rank = 0; rank < ranks;)
        if ((rank = check_some(h, rank, open, order)) == GRAPH_NONE)
            return false;
    return true;
}

/* The order of each rank's steps, one rank after the other. NULL: out of memory. */
static uint32_t *order_by_rank(const struct schedule_graph *graph)
{
    uint32_t *const order = malloc(((size_t)graph->steps + 1) * sizeof *order);
    uint32_t *const at = malloc(((size_t)graph->schedule->rank_count + 1) * sizeof *at);
    if (order != NULL && at != NULL) {
        memcpy(at, graph->first, graph->schedule->rank_count * sizeof *at);
        for (uint32_t i = 0; i < graph->ordered; i++)
            order[at[graph->rank_of[graph->order[i]]]++] = graph->order[i];
        free(at);
        return order;
    }
    free(order);
    free(at);
    return NULL;
}

/* Numbers the threads of all ranks; none has a clock. False: out of memory. */
static bool number_threads(struct hazards *h)
{
    const uint32_t ranks = h->graph->schedule->rank_count;
    uint32_t threads = 0;
    h->first = malloc(((size_t)ranks + 1) * sizeof *h->first);
    for (uint32_t rank = 0; h->first != NULL && rank <= ranks; rank++) {
        h->first[rank] = threads;
        threads += rank < ranks ? threads_of_rank(h, rank) : 0;
    }
    h->column = malloc(((size_t)threads + 1) * sizeof *h->column);
    if (h->column != NULL)
        memset(h->column, 0xff, threads * sizeof *h->column);
    return h->first != NULL && h->column != NULL;
}

void schedule_hazards_check(const struct schedule_graph *graph, struct schedule_faults *faults)
{
    const size_t ranks = graph->schedule->rank_count;
    struct hazards h = {.graph = graph, .faults = faults};
    bool *const open = calloc(ranks + 1, sizeof *open);
    uint32_t *const order = order_by_rank(graph);
    faults->no_memory |= !number_threads(&h) || order == NULL || open == NULL;
    if (!faults->no_memory)
        faults->no_memory = !check_ranks(&h, open, order);
    free(order);
    free(open);
    free(h.first);
    free(h.column);
    free(h.clock);
    free(h.use);
    free(h.reader);
}
