/*
 * cmd_run.h: the command `cubewarp run`.
 */
#ifndef BENCH_CMD_RUN_H
#define BENCH_CMD_RUN_H

/* argv[0] is "run". Returns an exit code, having printed the reason of a failure. */
int run_main(int argc, char **argv);
int step_main(int argc, char **argv);

#endif
