/*
 * options_unused.h: options and keys that a command line names and its run does not use. What a
 * bench, a mode or another option refuses is refused before (options_run.h); what remains would be
 * ignored in silence.
 */
#ifndef BENCH_OPTIONS_UNUSED_H
#define BENCH_OPTIONS_UNUSED_H

#include "bench/options/option.h"
#include "bench/programs/run_options.h"
#include "collectives/config/config_unused.h"

/* For the table: what would use an option (struct option_row). */
const char *unused_size(const void *values, const struct config_work *work);
const char *unused_type(const void *values, const struct config_work *work);
const char *unused_op(const void *values, const struct config_work *work);
const char *unused_seed(const void *values, const struct config_work *work);
const char *unused_input(const void *values, const struct config_work *work);
const char *unused_verify(const void *values, const struct config_work *work);
const char *unused_no_data(const void *values, const struct config_work *work);
const char *unused_gemm_tile(const void *values, const struct config_work *work);
const char *unused_ahead(const void *values, const struct config_work *work);
const char *unused_threads(const void *values, const struct config_work *work);
const char *unused_balance(const void *values, const struct config_work *work);
const char *unused_gather(const void *values, const struct config_work *work);
const char *unused_pin(const void *values, const struct config_work *work);
const char *unused_cancellation(const void *values, const struct config_work *work);
const char *unused_remote(const void *values, const struct config_work *work);
const char *unused_timeout(const void *values, const struct config_work *work);
const char *unused_list(const void *values, const struct config_work *work);
const char *unused_tag(const void *values, const struct config_work *work);

/* Calls `fn` for each option and key of the line (config_unused.h); `files`: also for keys of files
 * and presets. `config` is the line's. */
void options_unused_visit(const struct option_parse *parse, const struct config *config, bool files,
                          config_unused_fn fn, void *arg);
/* The same, each as a line: "cubewarp: note: PLACE: WHY". `config` NULL: the command has none. */
void options_unused_print(FILE *file, const struct option_parse *parse, const struct config *config,
                          bool files);

#endif
