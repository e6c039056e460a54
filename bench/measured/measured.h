/*
 * measured.h: times that were measured on a real machine, by size, from a log or a table of any
 * tool that COMMANDS.md lists ("Measured times"), beside the rows of a result. Plain data; one
 * thread.
 */
#ifndef BENCH_MEASURED_H
#define BENCH_MEASURED_H

#include <stdio.h>

#include "bench/output/result.h"
#include "bench/programs/run_options.h"
#include "collectives/algorithm.h"
#include "core/cw.h"

struct measured;

/*
 * Reads the tables of the bench's collective. Refused (CW_USAGE): a file without a time, one whose
 * tables are all of other collectives, as far as it names the tests, and a table whose unit does
 * not agree with its own bandwidths. `does` CCL_COLLECTIVES: the bench has none, and any one test
 * will do. Returns an enum cw_exit; on CW_OK, *measured is the caller's, for measured_free(). It
 * borrows the path.
 */
int measured_read(const char *path, enum measured_place place, const char *bench,
                  enum ccl_collective does, struct measured **measured, struct cw_error *error);
void measured_free(struct measured *measured); /* NULL: nothing */

/* Says what was not read, converted or wrong in the file, a line each. NULL: nowhere. */
void measured_say(const struct measured *measured, FILE *file);

/* Puts the measured times into the result's rows of the same size. The result borrows the path and
 * the notes. */
void measured_attach(const struct measured *measured, struct result *result);

#endif
