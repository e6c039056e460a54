/*
 * cost_machine.h: the threads of an estimate (cost_walk.h) with their places, the queues between
 * them, and the loads that may begin early.
 *
 * Like ranks. Where all ranks have the same steps, but for their peers, and the ways to these take
 * equally long, only rank 0 is carried out. Members of a rank may differ: then rank 0's are
 * carried out, each for all members with its number.
 * A message that one of them receives from another SIP comes when the message that corresponds to
 * it, sent by one of them, would arrive at its peer. A link between SIPs then stands for that
 * outlet of every SIP; a message keeps it busy as often as the messages of all ranks together cross
 * the busiest link of that outlet.
 *
 * Lanes. Where each PE has a shard, the PEs that go by the same part take the same steps on links
 * that they share. They are a few groups, carried out one by one: a thread stands for its group and
 * is its last PE; its messages take a link as often as the group has PEs, and the first of them
 * sets out as much earlier as the first PE is launched.
 */
#ifndef COLLECTIVES_COST_MACHINE_H
#define COLLECTIVES_COST_MACHINE_H

#include "collectives/choice/cost_walk.h"

/* Whether the ranks have the same steps, but for their peers, and chunks of one size. */
bool cost_are_alike(const struct cost *c);

/* Makes threads and queues; false: out of memory. Sets c->mixed where like ranks' messages take
 * different times on their ways. Either way cost_machine_free() frees them. */
bool cost_machine_make(struct cost *c);
void cost_machine_free(struct cost *c);

#endif
