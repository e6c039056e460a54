/*
 * cmd_calibrate.h: the command `cubewarp calibrate`.
 */
#ifndef BENCH_CMD_CALIBRATE_H
#define BENCH_CMD_CALIBRATE_H

/* argv[0] is "calibrate". Returns an exit code, having printed the reason of a failure. */
int calibrate_main(int argc, char **argv);

#endif
