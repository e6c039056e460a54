/*
 * first_mode.h: whether a run begins with parallel threads or a single one (pace.h). Trials
 * find the faster mode later, but they take a while: the more so, the more events are pending. So
 * the first mode should be the right one where that is easy to see.
 *
 * Thread 0, before the first drain. It decides speed, and no result.
 */
#ifndef CORE_FIRST_MODE_H
#define CORE_FIRST_MODE_H

#include "core/run/pace.h"

struct cw_sim;

/* The mode that the first drain is to begin with. */
enum threading_mode first_mode(const struct cw_sim *sim);

#endif
