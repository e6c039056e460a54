/*
 * cmd_phold.h: the command `cubewarp phold`.
 */
#ifndef BENCH_CMD_PHOLD_H
#define BENCH_CMD_PHOLD_H

#include "bench/options/options.h"
#include "bench/phold/phold.h"

/* argv[0] is "phold". Returns an exit code, having printed the reason of a failure. */
int phold_main(int argc, char **argv);
;

#endif
