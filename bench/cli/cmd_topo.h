/*
 * cmd_topo.h: the command `cubewarp topo`.
 */
#ifndef BENCH_CMD_TOPO_H
#define BENCH_CMD_TOPO_H

/* argv[0] is "topo". Returns an exit code, having printed the reason of a failure. */
int topo_main(int argc, char **argv);

#endif
