/*
 * atomic_file.h: output files that appear whole or not at all: written to a temporary file in the
 * same folder, flushed to the disk, then renamed. Where the system can, the temporary file has no
 * name until it is complete, so that a run that is interrupted or killed leaves nothing. Anything
 * but a regular file (a pipe, /dev/null) is written to directly. A file that is replaced keeps its
 * permissions; a read-only file, and a link that leads nowhere, are refused
 * (core/os/output_path.h). Temporary files that have a name are removed by exit(); those that a
 * killed run has left are reported (left_aside.h). Each file is one thread's; files may be open in
 * several.
 */
#ifndef BENCH_ATOMIC_FILE_H
#define BENCH_ATOMIC_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "core/cw.h"

/* Zero-initialised: no file. While it is open it stays where it is: the stream points into it. */
struct atomic_file {
    FILE *stream;                   /* write here; not seekable */
    char *path;                     /* where the file will be */
    char *aside;                    /* a name of its own until then; NULL: it has none */
    int descriptor;                 /* the stream's */
    int number;                     /* errno of the first write that failed; 0: none did */
    bool is_regular;                /* else written directly */
    pid_t owner;                    /* the process that gave it its temporary name, ... */
    struct atomic_file *next_named; /* ... and the next file of a process with such a name */
};

/* CW_OK, or CW_NO_RESOURCE with *error filled and nothing left. */
int atomic_file_open(struct atomic_file *file, const char *path, struct cw_error *error);
/* Makes the file appear. As atomic_file_open(); either way *file is empty afterwards. */
int atomic_file_commit(struct atomic_file *file, struct cw_error *error);
/* Discards what was written. Accepts an empty *file. */
void atomic_file_discard(struct atomic_file *file);

/* Before _exit(): removes all temporary files of this process, from any thread. exit() does it
 * itself.
 */
void atomic_file_abandon_all(void);

/* Whether two paths lead to one file, whether or not it exists. */
bool atomic_file_same(const char *a, const char *b);

#endif
