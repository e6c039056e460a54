/*
 * step_plan.h: how a graph is laid on a machine before one is built: which SIP each rank is, which
 * process groups carry out which collectives and messages, and the program of each SIP's io_cpu.
 */
#ifndef WORKLOAD_STEP_PLAN_H
#define WORKLOAD_STEP_PLAN_H

#include "hw/topology/fold.h"
#include "lp/program.h"
#include "workload/graph/meetings.h"
#include "workload/run/step.h"

/* Groups that one entry of ccl.yaml serves: those of a set, for one collective; or the pairs of
 * ranks that exchange messages. */
struct step_source {
    uint32_t set; /* of the graph; WORKLOAD_NONE: the pairs */
    uint8_t collective;
    struct config config;
    struct dp_policy policy;
    uint32_t shards;        /* of a rank's tensor */
    uint32_t first, groups; /* among the groups of all sources */
    uint32_t queue;         /* of the PEs: of collectives' kernels; of the pairs the sends' */
};

struct step_plan {
    const struct step_options *options;
    uint32_t rings_from;
    struct step_folded folded;
    struct hw_fold fold; /* SIPs that are simulated: the representatives */
    uint32_t *live_of;   /* [rank_count] the rank that is simulated for it; its own: it is itself */
    uint32_t *rank_of_sip;       /* [sip_count] WORKLOAD_NONE: the SIP has none */
    struct step_source *sources; /* [source_count] */
    uint32_t source_count;
    uint32_t group_count;
    uint32_t *spec_of; /* [group_count] the process group of a source's group; WORKLOAD_NONE: none
                          of its ranks is simulated */
    struct dist_group_spec *specs; /* [spec_count] */
    uint32_t spec_count;
    uint32_t *members;      /* SIPs of all groups of all sources, one group after the other, */
    uint32_t *first_member; /* [group_count + 1] each from here on */
    char (*names)[64];      /* [spec_count] */
    struct workload_meetings meetings;
    uint32_t *pair_of; /* [meetings.count] of a message, its pair among the groups of all sources */
    uint32_t queues;   /* of a PE: 0 of computations, the last of receives */
    uint32_t launches; /* most kernels that wait for a queue */
    struct lp_program program; /* its SIPs are those that are simulated */
};

static inline uint32_t step_sip_of(const struct workload_graph *graph, uint32_t rank)
{
    return graph->sip_of != NULL ? graph->sip_of[rank] : rank;
}
static inline const struct workload_program *step_program_of(const struct workload_graph *graph,
                                                             uint32_t rank)
{
    return &graph->programs[graph->program_of[rank]];
}

/* The SIPs of a group of a source, in the order of its ranks. */
struct step_group {
    const uint32_t *sips;
    uint32_t count;
};
static inline struct step_group step_group_of(const struct step_plan *plan, uint32_t group)
{
    const uint32_t first = plan->first_member[group];
    return (struct step_group){plan->members + first, plan->first_member[group + 1] - first};
}
/* Whether the rank is simulated. */
static inline bool step_is_live(const struct step_plan *plan, uint32_t rank)
{
    return plan->live_of[rank] == rank;
}
/* The program of a SIP that is simulated. */
static inline struct lp_program_of_sip *step_lp_program(const struct step_plan *plan, uint32_t sip)
{
    return &plan->program.sip[hw_fold_index(&plan->fold, sip)];
}

/* CW_USAGE: the graph does not fit the machine; CW_NO_RESOURCE. `rings_from`: the automatic choice
 * of groups with as many ranks or more is a ring, which needs two directions of a PE. */
int step_plan_make(const struct step_options *options, uint32_t rings_from, struct step_plan *plan,
                   struct cw_error *error);
/* The most ranks of a group, below `below`, whose collectives have an automatic choice; 0: none. */
uint32_t step_largest_group(const struct step_plan *plan, uint32_t below);
void step_plan_free(struct step_plan *plan);

/* A meeting that is a message: its send and its receive. */
struct step_message {
    struct workload_part send, receive;
};
bool step_message_of(const struct step_plan *plan, uint32_t meeting, struct step_message *message);
/* The source of a collective or a message of the graph. */
const struct step_source *step_source_of(const struct step_plan *plan,
                                         const struct workload_op *op);
/* Elements of each shard of a rank's tensor of so many bytes, rounded up to what the collective
 * can divide among `ranks`. */
uint64_t step_elements(const struct step_source *source, const struct workload_op *op,
                       uint32_t ranks);
/* Kernels run for it, so it is a call. */
bool step_is_call(const struct step_plan *plan, const struct workload_op *op);

#endif
