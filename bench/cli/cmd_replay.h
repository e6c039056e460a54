/*
 * cmd_replay.h: the command `cubewarp replay`.
 */
#ifndef BENCH_CMD_REPLAY_H
#define BENCH_CMD_REPLAY_H

#include "bench/cli/options.h"

/* The command's values. */
struct replay_options {
    const char *path;
    uint64_t bytes_max;
    bool list;
};

/* argv[0] is "replay". Returns an exit code, having printed the reason of a failure. */
int replay_main(int argc, char **argv);

/* For the table of options. */
int replay_options_argument(struct options *options, int count, char **rest,
                            struct cw_error *error);
int replay_options_finish(struct options *options, struct cw_error *error);

#endif
