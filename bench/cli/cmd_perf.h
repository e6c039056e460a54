/*
 * cmd_perf.h: what the parts of `cubewarp perf` share: their command line.
 */
#ifndef BENCH_CMD_PERF_H
#define BENCH_CMD_PERF_H

#include <stdbool.h>
#include <stdint.h>

#include "core/cw.h"
#include "perf/perf_run.h"

/* The parts; bits, for the table of options. */
enum perf_part { PERF_PART_RUN = 1, PERF_PART_COMPARE = 2, PERF_PART_PROJECT = 4 };

enum { PERF_WORKERS_MAX = 16, PERF_OPERANDS_MAX = 2 };

struct perf_options {
    const char *set;
    uint32_t rounds, repeats;
    const char *json;    /* NULL: none; "-": standard output */
    const char *history; /* NULL: the default one */
    bool no_history;
    uint32_t workers[PERF_WORKERS_MAX];
    size_t worker_count;
    uint64_t events;
    const char *operands[PERF_OPERANDS_MAX];
    size_t operand_count;
    char **command; /* what stands behind --; NULL-terminated */
    int command_count;
    bool no_measure, force, list, quiet, help;
};

/* argv[0] is the part's name. CW_OK, or CW_USAGE with *error filled. */
int perf_options_parse(struct perf_options *options, enum perf_part part, int argc, char **argv,
                       struct cw_error *error);

int perf_run_main(const struct perf_options *options, struct cw_error *error);
int perf_compare_main(const struct perf_options *options, struct cw_error *error);
int perf_project_main(const struct perf_options *options, struct cw_error *error);

/* The `cubewarp perf` command; argv[0] is "perf". Returns an exit code. */
int perf_main(int argc, char **argv);

#endif
