/*
 * cmd_replay.h: the command `cubewarp replay`.
 */
#ifndef BENCH_CMD_REPLAY_H
#define BENCH_CMD_REPLAY_H

/* argv[0] is "replay". Returns an exit code, having printed the reason of a failure. */
int replay_main(int argc, char **argv);

#endif
