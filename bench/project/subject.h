/*
 * subject.h: the command whose speed is predicted, a line of `phold` or of `run`: reading it,
 * running it in this process in any way, and the placement of its LPs.
 *
 * One thread.
 */
#ifndef BENCH_PROJECT_SUBJECT_H
#define BENCH_PROJECT_SUBJECT_H

#include "bench/options/options.h"
#include "bench/options/options_phold.h"
#include "bench/options/options_run.h"
#include "lp/layout.h"
#include "perf/perf_run.h"
#include "perf/projection.h"

struct subject {
    int argc;
    char **argv;
    char line[PERF_COMMAND_BYTES - 64]; /* the same, in one line */
    bool is_phold;
    struct phold_options phold;
    struct run_options run;
    struct config *config; /* of run */
    struct lp_model model; /* of run: how LPs are numbered */
    bool has_model;
    struct lp_plan *plan; /* of run: its credits bound the lookahead */
    uint32_t lp_count;
    uint64_t memory_bytes; /* the peak of this process after the first run: perf_warm_memory() */
};

/* Reads a command; without one, a small PHOLD. */
int subject_load(struct subject *subject, int argc, char **argv, struct cw_error *error);
void subject_unload(struct subject *subject);

/* How to run it. */
struct subject_way {
    enum cw_sync sync;
    uint32_t workers, threads;
    struct perf_trace *trace;      /* NULL: none; CW_SEQUENTIAL only */
    struct process_phases *phases; /* to be filled; NULL: not wanted */
};

int subject_run(struct subject *subject, const struct subject_way *way, struct cw_stats *stats,
                struct cw_error *error);

/* Where so many workers have their LPs. */
struct subject_place {
    uint32_t *lp_worker;  /* [lp_count] */
    int64_t *least_ps;    /* [from * workers + to] */
    int64_t lookahead_ps; /* the least of them; CW_TIME_MAX: none sends to another */
};

/* To be freed by subject_place_free(), after a failure too. */
int subject_place(const struct subject *subject, uint32_t workers, struct subject_place *place,
                  struct cw_error *error);
void subject_place_free(struct subject_place *place);
/* Whether its workers may cut turns short (core/ENGINE.md, "Turns"). */
bool subject_takes_short_turns(const struct subject *subject);
/* The name of a type of events; NULL: it has none. */
const char *subject_event_name(const struct subject *subject, uint16_t type);
/* The partitioner's name. */
const char *subject_partition(const struct subject *subject);

#endif
