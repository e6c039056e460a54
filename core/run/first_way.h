/*
 * first_way.h: whether the threads of a run begin apart, or together (pace.h). Trials
 * find the faster way later, but they take a while: the more so, the more events are pending. So
 * the first way should be the right one where that is easy to see.
 *
 * Thread 0, before the first drain. It decides speed, and no result.
 */
#ifndef CORE_FIRST_WAY_H
#define CORE_FIRST_WAY_H

#include "core/run/pace.h"

struct cw_sim;

/* The way that the first drain is to begin with. */
enum way first_way(const struct cw_sim *sim);

#endif
