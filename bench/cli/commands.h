/*
 * commands.h: from the program's arguments to a command.
 */
#ifndef BENCH_COMMANDS_H
#define BENCH_COMMANDS_H

/* The whole program. Returns an exit code (enum cw_exit), having printed the reason of a failure.
 */
int commands_main(int argc, char **argv);

#endif
