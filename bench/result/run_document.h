/*
 * run_document.h: one run of `cubewarp run` inside this process, and its result as the JSON object
 * that `run --json` writes (schema cubewarp.run/1, bench/FORMATS.md).
 *
 * For programs that run much in one process: run_document() prints no result, ends no
 * process, installs no signal handler and leaves nothing behind, but for files that stay loaded by
 * design, each once: shared objects and MSCCL files. Notes of the layers below (which schedule was
 * chosen, a hazard) go to standard error. One call at a time in a process: a run has threads of its
 * own, and they have ended when it returns. A process may fork between two calls.
 */
#ifndef BENCH_RUN_DOCUMENT_H
#define BENCH_RUN_DOCUMENT_H

#include <jansson.h>
#include <stdint.h>

#include "bench/programs/run_options.h"

/* Values that a call keeps for the next ones: the shipped configuration, the run's, and
 * machines whose queues are installed (lp/host/wired.h). Results are the same as without them. */
struct run_kept;

struct run_outcome {
    /* The result. Of a run that failed on the machine (exit codes 3 to 5) it has the rows before
     * the failure, and "error". NULL: the line was refused, or memory ran out before it ran. The
     * receiver may keep it by json_incref(). */
    json_t *document;
    int exit_code;  /* that `cubewarp run` with the same options ends with */
    char *message;  /* why it is not 0, as `run` prints it after "cubewarp run: "; NULL: it is 0 */
    char *warnings; /* other lines that `run` prints on standard error; NULL: none */
    int digits;     /* of numbers with decimals in the document, for JSON_REAL_PRECISION() */
    double wall_s;  /* of the call */
};

/* machine_bytes_max: memory of the machines that are kept; 0: none is. NULL: no memory. */
struct run_kept *run_kept_create(uint64_t machine_bytes_max);
void run_kept_free(struct run_kept *kept); /* accepts NULL */

/*
 * Runs.
 *   options     of `run`, checked together (options_finish()). Completed here: the bench, the
 *               algorithm, what run_document() itself sets. Options that write to standard output
 * or to a file of the result's own (--json, --csv, --dump-pointers, --ccl-trace -) and
 *               --again are refused; other files (--trace) are written.
 *   argc, argv  the line of these options, argv[0] "run", which the provenance repeats
 *   kept        of the calls before, or NULL
 *   outcome     filled; released by run_outcome_free()
 * Returns outcome->exit_code.
 */
int run_document(struct run_options *options, int argc, char *const *argv, struct run_kept *kept,
                 struct run_outcome *outcome);
void run_outcome_free(struct run_outcome *outcome); /* frees its members */

#endif
