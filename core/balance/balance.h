/*
 * balance.h: which parts move, and when. Parts move at random in the stress mode, or if the host
 * asks for it.
 *
 * Entered by worker 0.
 */
#ifndef CORE_BALANCE_H
#define CORE_BALANCE_H

struct timewarp;

/* Right after a round has ended: plans a move (migrate.h), or none. */
void balance_look(struct timewarp *tw);

#endif
