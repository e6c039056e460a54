/*
 * options_plugin.h: the values of `cubewarp plugin`, and its arguments.
 */
#ifndef BENCH_OPTIONS_PLUGIN_H
#define BENCH_OPTIONS_PLUGIN_H

#include "bench/options/option.h"

/* The command's values. */
struct plugin_options {
    bool create;      /* the verb `new` was there */
    const char *name; /* of the algorithm; NULL: not given */
};

/* For the table of options. */
int plugin_options_argument(struct option_parse *parse, int count, char **rest,
                            struct cw_error *error);
int plugin_options_finish(struct option_parse *parse, struct cw_error *error);

#endif
