/*
 * options_table.h: all options of all commands, as data. The reader, --help, the man pages and the
 * completions are made from these tables, so that none of them can lag.
 */
#ifndef BENCH_OPTIONS_TABLE_H
#define BENCH_OPTIONS_TABLE_H

#include "bench/options/option.h"

extern const struct option_row option_rows[];
extern const size_t option_row_count; /* at most OPTION_ROWS_MAX */

/* The i-th command, NULL after the last. The parts of `perf` are commands of their own. */
const struct command_row *command_row_at(size_t i);
const struct command_row *command_row_of(enum command command);

#endif
