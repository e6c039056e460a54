/*
 * options_phold.h: the values of `cubewarp phold`, and the checks of several options together.
 */
#ifndef BENCH_OPTIONS_PHOLD_H
#define BENCH_OPTIONS_PHOLD_H

#include "bench/options/option.h"
#include "bench/phold/phold.h"

/* The command's values. */
struct phold_command {
    struct phold_options options;
    const char *json;                      /* NULL: none; "-": standard output */
    const char *engine_log, *engine_trace; /* NULL: none */
    bool verify, quiet;
};

/* The values before any option is read. */
struct phold_command phold_command_defaults(void);

/* For the table of options. */
int phold_options_finish(struct option_parse *parse, struct cw_error *error);

#endif
