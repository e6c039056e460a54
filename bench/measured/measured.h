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

/* What a run looks for in a file. */
struct measured_wish {
    enum measured_place place;
    const char *bench;
    enum ccl_collective does; /* CCL_COLLECTIVES: the bench has none, and any one test will do */
    const char *type, *redop; /* "f16", "sum"; NULL: any */
};

struct measured_wish measured_wish(const struct run_options *options, enum ccl_collective does);

/*
 * Reads the tables of the bench's collective. Of rows of several types or operations those of the
 * run's count; where it has none of these, those of the first. Refused (CW_USAGE): a file without a
 * time, one whose tables are all of other collectives, as far as it names the tests, and a table
 * whose unit does not agree with its own bandwidths. Returns an enum cw_exit; on CW_OK, *measured
 * is the caller's, for measured_free(). It borrows the path.
 */
int measured_read(const char *path, const struct measured_wish *wish, struct measured **measured,
                  struct cw_error *error);
void measured_free(struct measured *measured); /* NULL: nothing */

/* Says what was not read, converted or wrong in the file, a line each. NULL: nowhere. */
void measured_say(const struct measured *measured, FILE *file);

/* The sizes with a time above 0 bytes, by the bytes that bandwidths count, of a run with so many
 * ranks: ascending, at most `room`. Returns how many. */
size_t measured_sizes(const struct measured *measured, uint32_t ranks, uint64_t *sizes,
                      size_t room);
/* The time at such a size; 0: there is none. */
int64_t measured_time_ps(const struct measured *measured, uint64_t bytes, uint32_t ranks);

/* Puts the measured times into the result's rows of the same size. The result borrows the path and
 * the notes. */
void measured_attach(const struct measured *measured, struct result *result);

#endif
