/*
 * engine_log.h: --engine-log FILE: how a run went, as CSV: a row per round of GVT, in sequential
 * mode per step of 65,536 events, and one more for the end of each drain (the engine's runs between
 * the work that the host submits). Figures are of all threads and since the start; gvt_ps never
 * falls. An empty safe_ps: nothing can be disturbed any more. Appears whole or not at all.
 */
#ifndef BENCH_ENGINE_LOG_H
#define BENCH_ENGINE_LOG_H

#include "bench/output/atomic_file.h"

/* Opens the file and writes the header. As atomic_file_open(). */
int engine_log_open(struct atomic_file *file, const char *path, struct cw_error *error);
/* Adds a row, unless no file is open. */
void engine_log_row(struct atomic_file *file, const struct cw_progress *progress);

#endif
