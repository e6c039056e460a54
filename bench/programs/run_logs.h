/*
 * run_logs.h: the files that a run fills as it proceeds: --op-log, --trace and --ccl-trace. Each
 * receives committed records only, in their order, so that it is the same, byte for byte, for any
 * number of threads; each appears whole or not at all. The listener is called by one thread at a
 * time, beside the workers (struct cw_config, `record`); all else is on the host's thread.
 */
#ifndef BENCH_RUN_LOGS_H
#define BENCH_RUN_LOGS_H

#include "bench/output/atomic_file.h"
#include "bench/programs/run_options.h"
#include "bench/programs/run_use.h"
#include "bench/trace/timeline.h"
#include "bench/trace/trace_stream.h"
#include "collectives/runtime/distributed.h"
#include "collectives/data/op_log_write.h"

/* Zero-initialised: none. */
struct run_logs {
    struct lp_listener listener; /* of the run's machine; *logs stays where it is */
    const struct run_options *options;
    const struct config *config;
    struct atomic_file ccl_trace_file, op_log_file, timeline_file;
    uint32_t *launch_of_pe; /* of the kernel that runs there, for the CCL trace */
    FILE *ccl_trace;        /* the file's stream, standard output or error; NULL: none */
    struct lp_system *system;
    struct op_log *op_log;
    struct timeline *timeline;
    struct timeline_options timeline_options;
    struct trace_stream trace; /* into timeline_file */
    struct run_use *use;       /* that receives the records, too; NULL: none */
};

/* Opens the files that the options, or CUBEWARP_CCL_TRACE=1, ask for. */
int run_logs_open(struct run_logs *logs, const struct run_options *options,
                  const struct config *config, struct cw_error *error);
/* To be called once the world exists and nothing has happened in it; and when everything has
 * succeeded. */
int run_logs_begin(struct run_logs *logs, struct dist *dist, const char *algorithm,
                   struct cw_error *error);
int run_logs_end(struct run_logs *logs, struct dist *dist, struct cw_error *error);
/* The run has failed: the logs end with the kernels that had not ended. Or it was interrupted: they
 * end with a line, or an instant event, that says so. */
void run_logs_fail(struct run_logs *logs, struct dist *dist, bool interrupted);
/* Makes the files appear. */
int run_logs_commit(struct run_logs *logs, struct cw_error *error);
void run_logs_discard(struct run_logs *logs); /* after a commit, too */

/* Where lines for people go, apart from results: standard output, or standard error if JSON or CSV
 * has that. */
FILE *run_logs_listing(const struct run_options *options);

#endif
