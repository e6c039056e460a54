/*
 * engine_trace.h: --engine-trace FILE: how the engine's workers spent a run, as Chrome trace-event
 * JSON, for ui.perfetto.dev. Each worker has a track for its time (work, sampled turns with their
 * parts, waits, and whatever took long) and one for the rounds of GVT, which stop no worker.
 * Counters show committed events per second, the windows and the engine's memory. Times are wall
 * time, in us since the machine was built. Written after the run, whole or not at all.
 */
#ifndef BENCH_ENGINE_TRACE_H
#define BENCH_ENGINE_TRACE_H

#include "bench/output/atomic_file.h"

/* For cw_tuning.interval_bytes. */
size_t engine_trace_bytes(uint32_t workers);

/* Writes the trace into an open file, and makes it appear. Between drains, after a failed one, too.
 * CW_OK, or *error is filled. */
int engine_trace_write(struct atomic_file *file, const struct cw_sim *sim, struct cw_error *error);

#endif
