/*
 * cmd_check.h: the command `cubewarp check`.
 */
#ifndef BENCH_CMD_CHECK_H
#define BENCH_CMD_CHECK_H

/* argv[0] is "check". Returns an exit code, having printed the reason of a failure. */
int check_main(int argc, char **argv);

#endif
