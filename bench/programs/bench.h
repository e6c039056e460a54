/*
 * bench.h: runs a bench program on a simulated machine. `cubewarp run` and `cubewarp
 * verify` call it between reading a configuration and printing a result.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>

#include "bench/programs/run_options.h"
#include "bench/output/result.h"
#include "collectives/config/config.h"
#include "collectives/config/config_unused.h"
#include "core/cw.h"

/*
 * Runs options->bench on the machine that `config` describes. *result comes zeroed, but for the
 * members that its caller fills, and whatever the exit code the caller releases it with
 * result_free(): run_outputs_late() may read it until then. On CW_OK it is filled (one row per
 * size); wrong data and times below the bound are in it and no failure here. Otherwise returns an
 * exit code, and fills *error; of a run that failed on the machine *result holds the sizes that
 * were done and the failure. --trace, --ccl-trace and --op-log are written up to the failure.
 * Options that have been parsed are legal by themselves; options that do not fit the configuration
 * (a tile size, an algorithm of another collective) are refused here, in a message that begins with
 * config_where(). Writes nothing to standard output except for --ccl-trace - and
 * --dump-pointers, which use standard error if JSON or CSV has standard output; progress
 * goes to standard error.
 */
int bench_run(const struct run_options *options, const struct config *config, struct result *result,
              struct cw_error *error);

/* Refuses, in the same words, what a run would refuse before it builds a machine. */
int bench_check(const struct run_options *options, const struct config *config,
                struct cw_error *error);

/* Of each iteration, by estimate: calls of the bench's algorithm; and the work of all else. */
uint32_t bench_calls(const char *bench);
struct bench_own bench_own_work(const struct run_options *options, const struct config *config);

/* Why a run of the options does not fold its machine (--fold), whatever machine and calls allow, in
 * words; NULL: it may. */
const char *bench_why_no_fold(const struct run_options *options, const struct config *config);
/* CW_USAGE: the machine is too large for a run without a fold; `why` it has none. */
int bench_refuse_unfolded(const struct config *config, const char *why, struct cw_error *error);

/* What a run of the options does. */
struct config_work bench_work(const struct run_options *options, const struct config *config);

/* For options and messages: the name of the i-th bench, NULL after the last. */
const char *bench_name(size_t i);
/* What it does, in one line. */
const char *bench_about(size_t i);
/* Whether a bench takes an option that only some of them take; both by name, without dashes. */
bool bench_takes(const char *bench, const char *option);

/* The collective of a bench with an algorithm; CCL_COLLECTIVES: it has none. */
enum ccl_collective bench_collective(const char *bench);
/* The bench of the collective that the configuration's algorithm does, unless an option names the
 * algorithm: then, and where no bench does that collective, `otherwise`. */
const char *bench_of_config(const struct config *config, const char *otherwise);
/* The entry that `--algorithm auto` stands for: the automatic choice of the bench's collective, on
 * this machine. NULL: the entry `auto` itself, whose kernels reduce-scatter on paired dies. */
const char *bench_automatic(const struct config *config, const char *bench);
/* The algorithm that a bench must be configured with, since it goes by queues of its own, and the
 * configuration's does another collective; of a reduce-scatter that no kernel of `auto` can do
 * here, the automatic choice. NULL: none, or an option names the algorithm. */
const char *bench_algorithm_of(const struct config *config, const char *bench);

#endif
