/*
 * bound_listed.h: lower bounds of machines whose links are listed one by one (hw/topology/graph.h):
 * cuts around SIPs, around what is left in one piece without the links of one class, without one
 * kind of switches or without links between switches, and around parts that METIS finds.
 */
#ifndef COLLECTIVES_BOUND_LISTED_H
#define COLLECTIVES_BOUND_LISTED_H

#include "collectives/verify/bound_cuts.h"

/* Takes the cuts between SIPs into the bound. At least two SIPs have leaves. */
void bound_listed(struct bounding *b);

/* An empty message from the root's SIP to the one of those with leaves that is the farthest, from
 * its IO port to the other's, by the fastest way there is; `through_ps`: from port to port of a SIP
 * on the way. */
int64_t bound_listed_ps(const struct bounding *b, int64_t through_ps);

#endif
