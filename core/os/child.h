/*
 * child.h: runs another program and waits for it: found by PATH, without a shell, in the C locale.
 * It reads a text, and what it writes is collected. A program that hangs is ended, by its number,
 * when its time is over. No state; any thread.
 */
#ifndef CORE_CHILD_H
#define CORE_CHILD_H

#include <stdbool.h>
#include <stddef.h>

enum child_end {
    CHILD_DONE,   /* exit code 0 */
    CHILD_ABSENT, /* there is no such program */
    CHILD_LATE,   /* its time was over, and it was ended */
    CHILD_FAILED, /* another exit code, a signal, or more output than CHILD_OUT_MAX */
    CHILD_REFUSED /* it could not be run, or memory ran out: `number` says why */
};
enum { CHILD_OUT_MAX = 1 << 27 };

struct child {
    char *const *argv;  /* argv[0] is the program's name; ends with NULL */
    const char *folder; /* where it runs; NULL: here */
    const char *in;     /* its standard input; NULL: empty */
    size_t in_bytes;
    int limit_ms; /* 0: as long as it takes */
    bool quiet;   /* its standard error is discarded, and is this process's otherwise */
    /* Filled by child_run(): */
    char *out; /* its standard output, ended by a zero, to be freed; NULL unless CHILD_DONE */
    size_t out_bytes;
    int number; /* errno */
};

enum child_end child_run(struct child *child);

#endif
