/*
 * cmd_sweep.h: the command `cubewarp sweep`.
 */
#ifndef BENCH_CMD_SWEEP_H
#define BENCH_CMD_SWEEP_H

/* argv[0] is "sweep". Returns an exit code, having printed the reason of a failure. */
int sweep_main(int argc, char **argv);

#endif
