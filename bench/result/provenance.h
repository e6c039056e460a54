/*
 * provenance.h: where a result comes from: the object "provenance" of a result JSON, whose members
 * bench/FORMATS.md lists. All that differs between two runs of the same (date, host, command line)
 * is here and nowhere else in a result but in "engine".
 */
#ifndef BENCH_PROVENANCE_H
#define BENCH_PROVENANCE_H

#include <jansson.h>

#include "bench/programs/run_options.h"
#include "collectives/config/config.h"

/* Of a line of `run`, as run_document() has it, whose options and configuration are these. The
 * caller's. *shipped: the configuration of a line without options, which is loaded here if it is
 * NULL, and which the caller keeps for the next call and frees; NULL: it is not kept. NULL: no
 * memory. */
json_t *provenance_of_run(int argc, char *const *argv, const struct run_options *options,
                          const struct config *config, struct config **shipped);
/* Of any other command: the members that need no configuration. */
json_t *provenance_of_line(int argc, char *const *argv);

/* The columns that --set and --tag add to a CSV, for struct result; false: no memory. */
struct result;
bool provenance_columns(const struct run_options *options, struct result *result);

#endif
