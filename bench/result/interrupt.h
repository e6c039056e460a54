/*
 * interrupt.h: SIGINT, SIGTERM and SIGHUP end a command with the results that it has so far. A
 * thread of its own waits for them, so that no code runs in a signal handler.
 *
 * 1. The signal is noted: interrupt_asked() says yes, and the engine ends its drain.
 * 2. The command ends on its own: it writes its files, and returns interrupt_exit_code().
 * 3. If nothing has asked (the command is in a long stretch without a drain) although the process
 *    has run for GRACE_RUN_S, or GRACE_S have passed; or if the command has not ended after LATE_S;
 *    or if a second signal comes: the thread calls `late`, which writes the files from results that
 *    are kept, and ends the process.
 *
 * One watch in a process, begun and ended on the main thread. The three signals are blocked in the
 * calling thread and in all threads that it makes meanwhile. A signal that is ignored (nohup) stays
 * ignored.
 */
#ifndef BENCH_INTERRUPT_H
#define BENCH_INTERRUPT_H

#include <stdbool.h>

/* Called on the watching thread. When it returns, the process ends with the signal's exit code.
 *   second  a second signal came: there is no time to wait for anything */
typedef void (*interrupt_late_fn)(void *arg, bool second);

/* late NULL: the process just ends. Without memory for a thread nothing is watched, and signals do
 * as they always do. */
void interrupt_watch(interrupt_late_fn late, void *arg);
void interrupt_end(void); /* also without a watch */

/* Whether a signal has come; for cw_config.stop. Any thread. */
bool interrupt_asked(void *unused);
/* "SIGINT"; NULL: no signal has come. */
const char *interrupt_name(void);
/* 130, 143 or 129; 0: no signal has come. */
int interrupt_exit_code(void);

#endif
