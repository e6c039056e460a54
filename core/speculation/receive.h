/*
 * receive.h: taking messages out of a worker's mailboxes. Events become pending; a cancellation
 * undoes its event if that was handled. An event that comes too late (a straggler) is found when
 * its turn comes, not on arrival.
 *
 * Entered by the worker that owns the timewarp.
 */
#ifndef CORE_RECEIVE_H
#define CORE_RECEIVE_H

#include <stdbool.h>

struct timewarp;

/* Takes all messages that are published. */
void receive_all(struct timewarp *tw);

/* The same, but in the stress mode it may leave some; it then returns false (I-STRESS-2). */
bool receive_some(struct timewarp *tw);

#endif
