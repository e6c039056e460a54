/*
 * sets.h: the cases to measure: models, the modes and threads they run on, the goals for them, and
 * the named sets from which a run of the harness picks. All of it is tables in sets.c; a new model
 * or set is a row there.
 *
 * A case is named model/mode/threads: phold-25/adaptive/2.
 */
#ifndef PERF_SETS_H
#define PERF_SETS_H

#include "perf/perf_run.h"

enum perf_program {
    PERF_CUBEWARP, /* the program that runs the harness */
    PERF_BARE,     /* perf/bare/baseline, beside it */
};

struct perf_case {
    char name[PERF_NAME_BYTES];
    char command[PERF_COMMAND_BYTES]; /* arguments, separated by single spaces */
    enum perf_program program;
    uint32_t threads;
};

/* A goal; figures that are 0 are not set. */
struct perf_goal {
    const char *name;    /* of the case */
    double events_per_s; /* on the machine of perf/README.md; elsewhere for comparison only */
    const char *to;      /* the case to compare with: the ratio's denominator */
    double ratio_near, ratio_far;
    uint64_t rss_bytes_max;
    double efficiency;
};

/* The i-th set's name and help; NULL after the last. The first is the default. */
const char *perf_set_name(size_t i);
const char *perf_set_help(size_t i);

/*
 * The cases of a set, in the order in which a round takes them; `cores` is the number of "all
 * threads". The caller frees *cases. CW_USAGE if there is no such set.
 */
int perf_set_cases(const char *set, uint32_t cores, struct perf_case **cases, size_t *count,
                   struct cw_error *error);

/* The i-th goal of a case; NULL after its last. */
const struct perf_goal *perf_goal_of(const char *name, size_t i);
/* Whether the case of this name runs bare loops, without the engine. */
bool perf_is_bare(const char *name);
/* The name of the sequential case of the same model. */
void perf_reference_of(const char *name, char reference[PERF_NAME_BYTES]);

#endif
