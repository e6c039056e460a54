/*
 * perf_run.h: one run of the harness: on which machine, of which build, and for each case the
 * measurements of each round. Written as JSON (perf_json.h) and to the history (perf_history.h),
 * read back from either, and compared. Plain data; perf_run_free() releases its arrays.
 */
#ifndef PERF_PERF_RUN_H
#define PERF_PERF_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "perf/calibration.h"
#include "perf/statistics.h"

enum {
    PERF_NAME_BYTES = 64,
    PERF_COMMAND_BYTES = 512,
    PERF_TEXT_BYTES = 96,
    PERF_RESULTS_BYTES = 17,
};

/* One case in one round. */
struct perf_sample {
    uint32_t round;   /* from 0 */
    uint32_t repeats; /* how often it was thrown away and measured again before this */
    bool disturbed;   /* and the last attempt was so, too */
    double events_per_s, run_s, setup_s, cpu_s, efficiency;
    uint64_t events, rss_bytes;
    /* Of the simulated results: XXH3 of trace hash, simulated times and data, in hexadecimal
     * digits. The same for any number of threads. Empty: not known, or the case simulates nothing.
     */
    char results[PERF_RESULTS_BYTES];
    struct perf_calibration before, after;
};

struct perf_case_run {
    char name[PERF_NAME_BYTES]; /* "phold-25/adaptive/2": model, mode, threads */
    char command[PERF_COMMAND_BYTES];
    uint32_t threads;
    struct perf_sample *samples;
    size_t sample_count;
};

struct perf_machine {
    char host[PERF_TEXT_BYTES], cpu[PERF_TEXT_BYTES], kernel[PERF_TEXT_BYTES];
    uint32_t cores;
};

struct perf_run {
    struct perf_machine machine;
    char commit[PERF_TEXT_BYTES], version[PERF_TEXT_BYTES], set[PERF_TEXT_BYTES];
    char started[PERF_TEXT_BYTES]; /* UTC, ISO 8601 */
    struct perf_case_run *cases;
    size_t case_count;
};

/*
 * The summary of a case over its rounds in one state of the machine, or in any (PERF_MIXED): over
 * the undisturbed rounds, if they are more than half; else over all.
 */
struct perf_summary {
    struct perf_spread events_per_s;
    size_t rounds;           /* in that state, disturbed ones too */
    double efficiency, gain; /* medians */
    uint64_t rss_bytes;      /* the most */
    enum perf_state state;   /* PERF_MIXED: it was not the same in all of them */
    uint32_t disturbed;      /* rounds that were so to the end */
    uint32_t repeats;
};

void perf_run_free(struct perf_run *run); /* leaves it empty */
/* Puts '_' for what no case is called, and CSV, XML, Markdown or a terminal may take for its own: a
 * file of somebody else may name its cases as it likes. */
void perf_name_clean(char *name);
/* Likewise for what a file says of a run: its time and commit, which are printed beside names, as
 * names; set, version and machine, by which runs are found, only without control characters. */
void perf_run_clean(struct perf_run *run);
/* Adds an empty case; NULL: out of memory. */
struct perf_case_run *perf_run_add(struct perf_run *run, const char *name, const char *command,
                                   uint32_t threads);
/* Drops all but the first `count` cases. */
void perf_run_keep(struct perf_run *run, size_t count);
/* NULL: there is none of that name. */
const struct perf_case_run *perf_run_find(const struct perf_run *run, const char *name);
/* Whether all figures are ones that a measurement can have: from 0 to 10^15. Files of anybody's are
 * asked this before their samples are added. */
bool perf_sample_is_sound(const struct perf_sample *sample);
/* False: out of memory. */
bool perf_case_add(struct perf_case_run *measured, const struct perf_sample *sample);

struct perf_summary perf_summary_of(const struct perf_case_run *measured, enum perf_state state);
/*
 * The ratio of a case to another, round by round, since a shared machine changes its speed within
 * minutes; over the rounds in which the case found that state. `scaled`: for cases on several
 * threads, the ratio if two bare loops gained 2 over one; as measured where there is one
 * core. Rounds count as in perf_summary_of(). `count` 0: no round had both.
 */
struct perf_spread perf_ratio_of(const struct perf_case_run *measured,
                                 const struct perf_case_run *to, bool scaled,
                                 enum perf_state state);

/* This machine, the build's commit, the time. */
void perf_run_begin(struct perf_run *run, const char *set);

#endif
