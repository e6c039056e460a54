/*
 * cmd_phold.h: the command `cubewarp phold`.
 */
#ifndef BENCH_CMD_PHOLD_H
#define BENCH_CMD_PHOLD_H

#include "bench/cli/options.h"
#include "bench/phold/phold.h"

/* The command's values. */
struct phold_command {
    struct phold_options options;
    const char *json;       /* NULL: none; "-": standard output */
    const char *engine_log; /* NULL: none */
    bool verify, quiet;
};

/* argv[0] is "phold". Returns an exit code, having printed the reason of a failure. */
int phold_main(int argc, char **argv);
/*
 * Reads a line of `phold` for `perf project`, which uses the options of the model only and refuses
 * those that have no meaning there. CW_OK, or CW_USAGE with *error filled.
 */
int phold_options_project(struct phold_options *options, int argc, char **argv,
                          struct cw_error *error);

/* For the table of options. */
int phold_options_argument(struct options *options, int count, char **rest, struct cw_error *error);
int phold_options_finish(struct options *options, struct cw_error *error);

#endif
