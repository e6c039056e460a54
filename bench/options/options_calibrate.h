/*
 * options_calibrate.h: the values of `cubewarp calibrate`, and its arguments.
 */
#ifndef BENCH_OPTIONS_CALIBRATE_H
#define BENCH_OPTIONS_CALIBRATE_H

#include "bench/options/option.h"

enum { CALIBRATE_TABLES_MAX = 256, CALIBRATE_SETS_MAX = 64, CALIBRATE_STARTS_MAX = 100 };

/* The command's values. */
struct calibrate_options {
    const char *study;                        /* a study file; NULL: tables */
    const char *tables[CALIBRATE_TABLES_MAX]; /* of measured times */
    uint32_t table_count;
    const char *preset, *algorithm, *dtype, *place, *fit; /* NULL: not given */
    const char *sets[CALIBRATE_SETS_MAX];                 /* KEY=VALUE */
    uint32_t set_count;
    const char *output; /* the preset that is written; NULL: none */
    uint64_t seed;
    uint32_t starts, jobs; /* jobs 0: as many as cores */
    double limit_s;
    bool quiet;
};

void calibrate_options_defaults(struct calibrate_options *calibrate);

/* For the table of options. */
int calibrate_options_argument(struct option_parse *parse, int count, char **rest,
                               struct cw_error *error);
int calibrate_options_read_set(struct option_parse *parse, const struct option_row *row,
                               const char *text, struct cw_error *error);
int calibrate_options_finish(struct option_parse *parse, struct cw_error *error);

#endif
