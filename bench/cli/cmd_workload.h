/*
 * cmd_workload.h: the command `cubewarp workload`: writes and checks workload files.
 */
#ifndef BENCH_CMD_WORKLOAD_H
#define BENCH_CMD_WORKLOAD_H

/* The `cubewarp workload` command; argv[0] is "workload". Returns an exit code. */
int workload_main(int argc, char **argv);

#endif
