/*
 * model_events.h: the events of a modelled worker's turn: safe ones, speculative ones, events that
 * a straggler undoes, and the turn's end, where others learn of its messages.
 */
#ifndef PERF_MODEL_EVENTS_H
#define PERF_MODEL_EVENTS_H

#include "perf/model/model_data.h"

/* Handles at most `most` safe events. Returns how many; events that had been handled ahead do
 * not count. Adds to *took_s. */
unsigned model_safe_run(struct model *model, uint32_t index, unsigned most, double *took_s);

/* Handles events beyond the safe bound, as far as they have come, at most `most`. Returns how many.
 * Adds to *took_s. */
unsigned model_ahead_run(struct model *model, uint32_t index, unsigned most, double *took_s);

/* Commits events that were handled ahead and have become safe. */
void model_collect(struct model *model, struct model_worker *worker, size_t begin);

/* The turn ends: others can learn of its messages and of its promise. */
void model_publish(struct model *model, uint32_t index);

#endif
