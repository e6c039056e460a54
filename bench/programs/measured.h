/*
 * measured.h: times that were measured on a real machine, by size, from the output of nccl-tests,
 * rccl-tests, hccl_test or nccl-tests' JSON (bench/COMMANDS.md, "Measured times"), and beside the
 * rows of a result. Plain data; one thread.
 */
#ifndef BENCH_MEASURED_H
#define BENCH_MEASURED_H

#include "bench/output/result.h"
#include "collectives/algorithm.h"
#include "core/cw.h"

/* Which times, where a table has both. */
enum measured_place { MEASURED_IN_PLACE, MEASURED_OUT_OF_PLACE };

struct measured;

/* Returns an enum cw_exit; on CW_OK, *measured is the caller's, for measured_free(). A message
 * names the file, and line and column where the fault has them. */
int measured_read(const char *path, enum measured_place place, struct measured **measured,
                  struct cw_error *error);
void measured_free(struct measured *measured); /* NULL: nothing */

/* Refuses (CW_USAGE) times of another collective than the bench's, as far as the file names one:
 * the test of nccl-tests, rccl-tests or hccl_test. CCL_COLLECTIVES: the bench has none. */
int measured_check(const struct measured *measured, const char *bench, enum ccl_collective does,
                   struct cw_error *error);

/* Puts the measured times into the result's rows of the same size. The result borrows the path. */
void measured_attach(const struct measured *measured, struct result *result);

#endif
