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
const char *unused_size(const struct run_options *run, const struct config_work *work);
const char *unused_type(const struct run_options *run, const struct config_work *work);
const char *unused_op(const struct run_options *run, const struct config_work *work);
const char *unused_seed(const struct run_options *run, const struct config_work *work);
const char *unused_input(const struct run_options *run, const struct config_work *work);
const char *unused_verify(const struct run_options *run, const struct config_work *work);
const char *unused_no_data(const struct run_options *run, const struct config_work *work);
const char *unused_threads(const struct run_options *run, const struct config_work *work);
const char *unused_gather(const struct run_options *run, const struct config_work *work);
const char *unused_tag(const struct run_options *run, const struct config_work *work);

/* Calls `fn` for each option and key of the line (config_unused.h); `files`: also for keys of files
 * and presets. `config` is the line's. */
void options_unused_visit(const struct option_parse *parse, const struct config *config, bool files,
                          config_unused_fn fn, void *arg);
/* The same, each as a line: "cubewarp: note: PLACE: WHY". */
void options_unused_print(FILE *file, const struct option_parse *parse, const struct config *config,
                          bool files);

#endif
