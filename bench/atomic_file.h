/*
 * atomic_file.h: output files that appear whole or not at all: written aside, in the same folder,
 * flushed to the disk, then renamed. What is no regular file (a pipe, /dev/null) is written to as
 * it is. One thread; no state of its own.
 */
#ifndef BENCH_ATOMIC_FILE_H
#define BENCH_ATOMIC_FILE_H

#include <stdio.h>

#include "core/cw.h"

/* Zero-initialised: no file. */
struct atomic_file {
    FILE *stream; /* write here */
    char *path;   /* where the file will be */
    char *aside;  /* where it is until then; NULL: written directly */
};

/* CW_OK, or CW_NO_RESOURCE with *error filled and nothing left behind. */
int atomic_file_open(struct atomic_file *file, const char *path, struct cw_error *error);
/* Makes the file appear. As atomic_file_open(); either way *file is empty afterwards. */
int atomic_file_commit(struct atomic_file *file, struct cw_error *error);
/* Leaves nothing behind. Accepts an empty *file. */
void atomic_file_discard(struct atomic_file *file);

#endif
