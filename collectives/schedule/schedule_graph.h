/*
 * schedule_graph.h: the order between the steps of a schedule: a step comes after the step before
 * it in its thread, after the steps that it waits for, and after the step whose message it
 * receives. Steps of all ranks are numbered through: rank by rank, thread by thread.
 *
 * Const once made. Used on the host by the check and the values.
 */
#ifndef COLLECTIVES_SCHEDULE_GRAPH_H
#define COLLECTIVES_SCHEDULE_GRAPH_H

#include "collectives/schedule/schedule_faults.h"

#define GRAPH_NONE UINT32_MAX

struct schedule_graph {
    const struct schedule *schedule;
    uint32_t steps;
    uint32_t *first;     /* [rank_count + 1]: a rank's first step */
    uint32_t *rank_of;   /* [steps] */
    uint32_t *thread_of; /* [steps]: in the rank */
    uint32_t *sender;    /* [steps]: of the message that it receives; GRAPH_NONE: receives none */
    uint32_t *receiver;  /* [steps]: of the message that it sends */
    uint32_t *send_queue, *receive_queue; /* [steps]: numbers of queues; GRAPH_NONE: none */
    uint32_t queues;
    uint32_t *joint;  /* [steps]: of a message through switches, its number; GRAPH_NONE: of none */
    uint32_t joints;  /* messages through switches */
    uint32_t *part;   /* [joints][rank_count]: the steps that send their parts */
    uint32_t *order;  /* [ordered]: each step after the steps that it waits for */
    uint32_t ordered; /* fewer than steps: the others wait for each other in a circle, or after
                         one */
};

/*
 * Faults: a queue with several threads at one end, an end with more messages than the other,
 * messages of other counts, queues between parts. NULL: there are faults, or memory has run out
 * (faults->no_memory). The steps name ranks and waits that exist (schedule_check.c).
 */
struct schedule_graph *schedule_graph_create(const struct schedule *schedule,
                                             struct schedule_faults *faults);
void schedule_graph_free(struct schedule_graph *graph); /* accepts NULL */

static inline const struct schedule_step *schedule_graph_step(const struct schedule_graph *graph,
                                                              uint32_t step)
{
    const uint32_t rank = graph->rank_of[step];
    return &graph->schedule->rank[rank].step[step - graph->first[rank]];
}
/* The step's number in its thread. */
static inline uint32_t schedule_graph_number(const struct schedule_graph *graph, uint32_t step)
{
    const uint32_t rank = graph->rank_of[step];
    return step - graph->first[rank] -
           graph->schedule->rank[rank].thread[graph->thread_of[step]].step_first;
}
/* The step's number of a rank's thread and step. */
static inline uint32_t schedule_graph_at(const struct schedule_graph *graph, uint32_t rank,
                                         uint32_t thread, uint32_t step)
{
    return graph->first[rank] + graph->schedule->rank[rank].thread[thread].step_first + step;
}
/* The k-th step that a step waits for. */
static inline uint32_t schedule_graph_awaited(const struct schedule_graph *graph, uint32_t step,
                                              uint32_t k)
{
    const uint32_t own = graph->rank_of[step];
    const struct schedule_wait *const wait =
        &graph->schedule->rank[own].wait[schedule_graph_step(graph, step)->wait_first + k];
    return schedule_graph_at(graph, schedule_wait_rank(wait, own), wait->thread, wait->step);
}
/* The rank whose chunks a step reads; and writes. */
static inline uint32_t schedule_graph_reads(const struct schedule_graph *graph, uint32_t step)
{
    const struct schedule_step *const s = schedule_graph_step(graph, step);
    return schedule_op_reaches((enum schedule_op)s->op) && s->recv_from != SCHEDULE_NO_RANK
               ? s->recv_from
               : graph->rank_of[step];
}
static inline uint32_t schedule_graph_writes(const struct schedule_graph *graph, uint32_t step)
{
    const struct schedule_step *const s = schedule_graph_step(graph, step);
    return schedule_op_reaches((enum schedule_op)s->op) && s->send_to != SCHEDULE_NO_RANK
               ? s->send_to
               : graph->rank_of[step];
}
/* As schedule_place() and schedule_place_step(). */
const char *schedule_graph_place(const struct schedule_graph *graph, uint32_t step,
                                 char buf[SCHEDULE_PLACE_BYTES]);
const char *schedule_graph_name(const struct schedule_graph *graph, uint32_t step,
                                char buf[SCHEDULE_PLACE_BYTES]);

#endif
