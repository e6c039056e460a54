/*
 * cmd_list.h: `cubewarp list`: what there is to choose from.
 */
#ifndef BENCH_CMD_LIST_H
#define BENCH_CMD_LIST_H

int list_main(int argc, char **argv);

#endif
