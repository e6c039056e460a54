/*
 * concurrent_plan.h: the calls of the bench `concurrent` and the groups that make them. Calls of
 * the same set of groups that the same entry carries out share the groups, and so their queues;
 * they are in order. Const once made.
 */
#ifndef BENCH_CONCURRENT_PLAN_H
#define BENCH_CONCURRENT_PLAN_H

#include "bench/programs/bench_program.h"
#include "collectives/config/ccl_groups.h"

/* Groups of one set that one entry serves. */
struct concurrent_source {
    struct ccl_group_set set;   /* of a send, and of the world, one of their own */
    struct ccl_range ranges[2]; /* that such a set is of */
    uint32_t only;              /* the only group of the set; UINT32_MAX: all */
    char entry[CCL_NAME_BYTES];
    struct config config;
    struct dp_policy policy;
    uint32_t first, groups; /* among the groups of the program */
    uint32_t *ranks;        /* [groups][set.size] */
    char (*names)[CCL_NAME_BYTES + 16];
};

struct concurrent_call {
    const struct run_call *asked;
    char name[96];   /* "all_reduce:tp" */
    uint32_t source; /* which */
    uint32_t groups, size;
    uint32_t shards;                /* of a rank's tensor */
    bool together;                  /* they are added together */
    uint64_t n_elem;                /* of a shard: of an all-gather's result, of other inputs */
    struct compute_request compute; /* of CCL_COMPUTE, */
    struct compute_job job;         /* and by estimate of the free TCM */
    struct hw_bound bound;
};

struct concurrent_plan {
    struct concurrent_source *sources; /* [source_count] */
    uint32_t source_count;
    struct concurrent_call *calls; /* [call_count] as asked for */
    uint32_t call_count;
    uint32_t *order;               /* [call_count] of their starts */
    struct dist_group_spec *specs; /* [spec_count] of all sources */
    uint32_t spec_count;
};

/* CW_USAGE with the call at fault; CW_NO_RESOURCE. */
int concurrent_plan_make(const struct bench_session *session, struct concurrent_plan *plan,
                         struct cw_error *error);
void concurrent_plan_free(struct concurrent_plan *plan);

/* A rank's group of the call, counted among the call's, and its rank there. False: none. */
bool concurrent_member(const struct concurrent_plan *plan, const struct concurrent_call *call,
                       uint32_t rank, uint32_t *group, uint32_t *i);
/* The number of a call's group among the program's. */
uint32_t concurrent_group(const struct concurrent_plan *plan, const struct concurrent_call *call,
                          uint32_t group);
/* The call that a group of the program makes as its `number`-th. */
uint32_t concurrent_call_of(const struct concurrent_plan *plan, uint32_t group, uint64_t number);
/* All calls, and each alone, by estimate. */
struct bench_own concurrent_work(const struct run_options *options, const struct config *config);
/* Events of a call of one group, by estimate. n_elem: of a shard, of an all-gather its result. */
double concurrent_events(const struct config *config, enum ccl_collective asked, uint32_t ranks,
                         uint64_t n_elem, uint32_t shards, enum dtype dtype);
/* Two calls do the same. */
bool concurrent_alike(const struct concurrent_plan *plan, uint32_t a, uint32_t b);
/* The schedule that carries out the group's calls. */
const char *concurrent_schedule_name(const struct dist_group *group);

#endif
