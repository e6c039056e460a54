/*
 * perf_history.h: all runs of the harness, in one SQLite file: when, at which commit, on which
 * machine, with which command line each case ran, and every round's figures. Written in one
 * transaction, so that a run is there whole or not at all; several processes may write.
 */
#ifndef PERF_PERF_HISTORY_H
#define PERF_PERF_HISTORY_H

#include <stdio.h>

#include "perf/perf_run.h"

/* The default file: $XDG_DATA_HOME/cubewarp/perf.sqlite, or in ~/.local/share. CW_USAGE if there is
 * no home. */
int perf_history_path(char *path, size_t bytes, struct cw_error *error);
/* Creates the folders above that file; `path` is whole again on success. */
int perf_history_make_folder(char *path, struct cw_error *error);

/* Whether a run could be appended now: before one spends the time to measure it. */
int perf_history_try(const char *path, struct cw_error *error);
/* Appends a run; creates the file. `id`: its number from now on. */
int perf_history_add(const char *path, const struct perf_run *run, int64_t *id,
                     struct cw_error *error);
/* Reads a run. CW_USAGE if there is none of that number, or no file; so do those below. The caller
 * frees *run either way. */
int perf_history_read(const char *path, int64_t id, struct perf_run *run, struct cw_error *error);
/*
 * The newest run older than `before` (0: the newest of all) on this machine, and of that set; of
 * any, where one of them is NULL. *id is 0 if there is none.
 */
int perf_history_last(const char *path, const struct perf_machine *machine, const char *set,
                      int64_t before, int64_t *id, struct cw_error *error);
/* Prints one line per run, newest last. */
int perf_history_list(const char *path, FILE *file, struct cw_error *error);

#endif
