/*
 * batch.h: `cubewarp batch`: do the bits of a row depend on the batch that it is reduced in? One
 * thread.
 */
#ifndef BENCH_BATCH_H
#define BENCH_BATCH_H

#include "bench/programs/run_options.h"
#include "collectives/config/config.h"

/* Runs all batches and prints their table. CW_DATA_WRONG: the bits depend on the batch. */
int batch_run_all(const struct run_options *options, const struct config *config,
                  struct cw_error *error);

#endif
