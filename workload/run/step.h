/*
 * step.h: runs the graph of a step on a simulated machine (workload/STEPS.md). The operations of a
 * rank are started by its SIP's io_cpu, inside the machine; the host only loads the programs.
 */
#ifndef WORKLOAD_STEP_H
#define WORKLOAD_STEP_H

#include "collectives/config/config.h"
#include "collectives/runtime/distributed.h"
#include "collectives/verify/verifier.h"
#include "workload/graph/graph.h"

/* What a run is to leave out or to force, to compare it with formulas and other simulators. */
struct step_modes {
    bool free_launches;      /* a launch and its completion take no time */
    bool free_communication; /* a collective ends when its last rank begins, a message when both
                                ends are there */
    bool one_at_a_time;      /* a rank has one collective or send in flight */
    bool in_program_order; /* launch_order: implicit. Collectives of a rank that share a queue begin
                              in program order; else those of one set do, and dependencies
                              alone order the others */
};

/* When an operation ran on a rank. Times count from the step's begin. */
struct step_span {
    int64_t ready_ps; /* all that it depends on is over */
    int64_t start_ps; /* its first kernel began; of one without kernels: it began */
    int64_t met_ps;   /* of a collective or message: the last of its ranks began. Else start_ps */
    int64_t end_ps;   /* it is over on the rank: what depends on it may begin */
};

/* Which SIPs were simulated (workload/STEPS.md, "Folded steps"). */
struct step_folded {
    uint32_t sips, of; /* so many of the machine's. All: nothing folds */
    char why[400];     /* why not fewer, in one sentence; "": as few as the topology allows */
};

struct step_result {
    int64_t step_ps;         /* until the last operation is over on all ranks */
    uint64_t *first_span;    /* [rank_count + 1] rank r's spans are spans[first_span[r]] ... */
    struct step_span *spans; /* one for each operation of the rank's program, in program order */
    uint64_t wrong;          /* elements of verified results that are wrong */
    bool verified;
    enum proof proof; /* of the reductions among them; without any, values were moved */
    struct step_folded folded;
    struct lp_replay_counts replay; /* what dist.machine.replay did */
    uint64_t hash; /* of their values, of each call when it ends; verified ones alone */
};

/* Whether ranks that do the same are simulated once. */
enum step_fold {
    STEP_FOLD_OFF,
    STEP_FOLD_AUTO, /* where that is exact */
    STEP_FOLD_ON    /* where that is not exact, the step is refused, with the reason */
};

struct step_options {
    const struct config *config;
    const struct workload_graph *graph; /* checked */
    struct step_modes modes;
    enum step_fold fold;
    bool translations; /* no other folds, which are watched for ties and may turn out not exact */
    bool must_replay;  /* where operations cannot be replayed, the step is refused */
    struct dist_options dist; /* machine, threads, listeners; the runner sets groups and needs */
    /* With dist.arg. The machine is there and nothing has run on it yet. NULL: none. A step that
     * fails on a folded machine runs again on the whole one; one that is not exact there, on one
     * that is folded less. */
    int (*begins)(void *arg, struct dist *machine, struct cw_error *error);
    /* The step is over, or has failed with this code and *error, and the machine is still there.
     * Returns the code, or that of its own failure. Called if begins() was. NULL: none. */
    int (*ends)(void *arg, struct dist *machine, int code, struct cw_error *error);
};

/* CW_OK: *result is filled, and freed with step_result_free(). Else an exit code, and *error: of an
 * operation that cannot be simulated with its file and id. */
int step_run(const struct step_options *options, struct step_result *result,
             struct cw_error *error);
void step_result_free(struct step_result *result);

/* Of when all operations began and ended (workload/STEPS.md, "How a step runs"). */
uint64_t step_times_hash(const struct step_result *result, uint32_t rank_count);

/* The set that stands for those whose collectives are in order together with this one's. */
uint32_t step_order_of(const struct workload_graph *graph, const struct step_modes *modes,
                       uint32_t set);

static inline const struct step_span *step_spans_of(const struct step_result *result, uint32_t rank)
{
    return &result->spans[result->first_span[rank]];
}

#endif
