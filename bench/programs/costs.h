/*
 * costs.h: which defaults cost much of a run's time: the waits of receives for their credits
 * (`defaults.recv_blocks_on_credit`), and of messages for busy links (`fabric.contention`). A size
 * is run again without them, and the times are compared.
 */
#ifndef BENCH_COSTS_H
#define BENCH_COSTS_H

#include "bench/output/result.h"
#include "bench/programs/run_options.h"
#include "collectives/config/config.h"

/* Fills result->costs of a run that has ended, with those above a tenth. Sizes are tried in the
 * order in which the cost may be highest, up to COSTS_EVENTS_MAX events in all for each key, the
 * whole machine's if it is folded; longer ones are not. */
enum { COSTS_EVENTS_MAX = 1000000 };
void costs_find(const struct run_options *options, const struct config *config,
                struct result *result);

#endif
