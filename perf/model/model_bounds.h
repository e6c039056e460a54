/*
 * model_bounds.h: how a modelled worker learns that events are safe: it looks at the others'
 * promises and takes part in rounds of GVT, with the cache lines that it waits for.
 */
#ifndef PERF_MODEL_BOUNDS_H
#define PERF_MODEL_BOUNDS_H

#include "perf/model/model_data.h"

/* Looks at the promises and mailboxes of the others. Adds to *took_s. Returns whether the safe
 * bound rose. */
bool model_look(struct model *model, uint32_t index, double *took_s);

/* As gvt_step() in the engine. Adds to *took_s. Returns whether a round has ended. */
bool model_round_step(struct model *model, uint32_t index, double *took_s);

#endif
