/*
 * engine_model.h: how long the engine would take on N workers, each with a core of its own: a
 * simulation of the engine's loop (core/drain/worker_loop.c), driven by the trace of a
 * sequential run (projection.h). Each worker takes turns: it looks at the promises of the workers
 * that may send to it, handles a batch of safe events, publishes and promises. A worker without a
 * safe event goes on looking, speculates when its patience has gone, and begins a round of GVT
 * after 64 looks, as in the engine. The events of a listener (core/ENGINE.md) come behind each
 * drain. Time passes by the costs below, each of which is a measured figure or a stated constant.
 *
 * Not modelled: the memory limit, sleeping workers, the messages of a wrong speculation. A
 * speculative event that a straggler undoes is handled again; its effects stay.
 *
 * No clock, no random number: the same trace gives the same figures.
 */
#ifndef PERF_ENGINE_MODEL_H
#define PERF_ENGINE_MODEL_H

#include "perf/model/model_figures.h"

/* CW_NO_RESOURCE, with *error filled, if there is no memory for it. */
int perf_engine_model(const struct perf_engine_run *run, struct perf_engine_figures *figures,
                      struct cw_error *error);

#endif
