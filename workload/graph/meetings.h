/*
 * meetings.h: which operations of a graph meet: a call that all ranks of a group make, or both ends
 * of a message.
 */
#ifndef WORKLOAD_MEETINGS_H
#define WORKLOAD_MEETINGS_H

#include "workload/graph/graph.h"

/* One rank's part in a meeting. */
struct workload_part {
    uint32_t rank, op;
};

struct workload_meetings {
    uint64_t *first;             /* [rank_count + 1] rank r's operations are at first[r] ... */
    uint32_t *of;                /* [first[rank_count]] of each, its meeting; WORKLOAD_NONE */
    uint32_t count;              /* of meetings */
    uint64_t *first_part;        /* [count + 1] */
    struct workload_part *parts; /* of a call its ranks in their order; of a message both ends */
};

/* Of a graph that workload_graph_check() has accepted. CW_OK or CW_NO_RESOURCE; *meetings is freed
 * with workload_meetings_free() either way. */
int workload_meetings_of(const struct workload_graph *graph, struct workload_meetings *meetings,
                         struct cw_error *error);
void workload_meetings_free(struct workload_meetings *meetings);

/* The part that the meeting is named after: of a message its send, of a call the first rank's. */
struct workload_part workload_meeting_name(const struct workload_graph *graph,
                                           const struct workload_meetings *meetings,
                                           uint32_t meeting);

static inline bool workload_meets(const struct workload_op *op)
{
    return op->kind == WORKLOAD_COLLECTIVE || op->kind == WORKLOAD_SEND ||
           op->kind == WORKLOAD_RECV;
}

#endif
