/*
 * options_replay.h: the values of `cubewarp replay`, and its arguments.
 */
#ifndef BENCH_OPTIONS_REPLAY_H
#define BENCH_OPTIONS_REPLAY_H

#include "bench/options/option.h"

/* The command's values. */
struct replay_options {
    const char *path;
    uint64_t bytes_max;
    bool list;
};

/* For the table of options. */
int replay_options_argument(struct option_parse *parse, int count, char **rest,
                            struct cw_error *error);
int replay_options_finish(struct option_parse *parse, struct cw_error *error);

#endif
