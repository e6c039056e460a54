/*
 * cmd_verify.h: the commands that run the same several times and compare: `cubewarp verify`,
 * `batch`.
 */
#ifndef BENCH_CMD_VERIFY_H
#define BENCH_CMD_VERIFY_H

/* argv[0] is "verify". Returns an exit code, having printed the reason of a failure. */
int verify_main(int argc, char **argv);

/* The same; argv[0] is "batch". */
int batch_main(int argc, char **argv);

#endif
