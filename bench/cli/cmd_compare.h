/*
 * cmd_compare.h: the command `cubewarp compare`.
 */
#ifndef BENCH_CMD_COMPARE_H
#define BENCH_CMD_COMPARE_H

/* argv[0] is "compare". Returns an exit code, having printed the reason of a failure. */
int compare_main(int argc, char **argv);

#endif
