/*
 * cmd_plugin.h: the command `cubewarp plugin new NAME`.
 */
#ifndef BENCH_CMD_PLUGIN_H
#define BENCH_CMD_PLUGIN_H

#include "bench/cli/options.h"

/* The command's values. */
struct plugin_options {
    bool create;      /* the verb `new` was there */
    const char *name; /* of the algorithm; NULL: not given */
};

/* argv[0] is "plugin". Returns an exit code, having printed what went wrong. */
int plugin_main(int argc, char **argv);

/* For the table of options. */
int plugin_options_argument(struct options *options, int count, char **rest,
                            struct cw_error *error);
int plugin_options_finish(struct options *options, struct cw_error *error);

#endif
