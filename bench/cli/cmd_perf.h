/*
 * cmd_perf.h: the command `cubewarp perf`, and the values of its parts' options.
 */
#ifndef BENCH_CMD_PERF_H
#define BENCH_CMD_PERF_H

/* The `cubewarp perf` command; argv[0] is "perf". Returns an exit code. */
int perf_main(int argc, char **argv);

#endif
