/*
 * cmd_config.h: the command `cubewarp config`.
 */
#ifndef BENCH_CMD_CONFIG_H
#define BENCH_CMD_CONFIG_H

/* argv[0] is "config". Returns an exit code, having printed the reason of a failure. */
int config_main(int argc, char **argv);

#endif
