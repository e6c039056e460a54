/*
 * cmd_verify.h: the command `cubewarp verify`.
 */
#ifndef BENCH_CMD_VERIFY_H
#define BENCH_CMD_VERIFY_H

/* argv[0] is "verify". Returns an exit code, having printed the reason of a failure. */
int verify_main(int argc, char **argv);

#endif
