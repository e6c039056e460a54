/*
 * options_sweep.h: the values of `cubewarp sweep`, and its arguments.
 */
#ifndef BENCH_OPTIONS_SWEEP_H
#define BENCH_OPTIONS_SWEEP_H

#include "bench/options/option.h"

enum { SWEEP_INPUTS_MAX = 1024, SWEEP_JOBS_MAX = 1024 };

/* The engines that a script is for. */
enum sweep_engine { SWEEP_HERE, SWEEP_SLURM, SWEEP_LSF, SWEEP_SGE, SWEEP_PARALLEL };

/* The command's values. */
struct sweep_options {
    const char *study; /* the file; NULL for `sweep merge` */
    bool merge;
    const char *inputs[SWEEP_INPUTS_MAX]; /* of `sweep merge` */
    size_t input_count;
    uint32_t emit;          /* enum sweep_engine: print its script instead */
    uint32_t tasks;         /* of that script; 0: by estimate */
    const char *shard;      /* NULL: the whole study */
    const char *db;         /* NULL: named after the study */
    uint32_t jobs, threads; /* 0: as the sweep chooses */
    double timeout_s;       /* of a point; 0: none */
    uint64_t memory_bytes;  /* of all points in flight; 0: 80 % of the machine's */
    bool resume, extend, retry, dry_run, quiet;
};

/* For the table of options. */
int sweep_options_argument(struct option_parse *parse, int count, char **rest,
                           struct cw_error *error);
int sweep_options_finish(struct option_parse *parse, struct cw_error *error);

#endif
