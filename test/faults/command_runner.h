/*
 * command_runner.h: runs a command of cubewarp in a folder of its own, under fault_shim.c, and says
 * how it ended and in which state each of its files is. The tests of this folder share it. One
 * thread.
 */
#ifndef TEST_FAULTS_COMMAND_RUNNER_H
#define TEST_FAULTS_COMMAND_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "test/faults/fault_shim.h"

/* How a whole file of a command is known. */
enum file_kind {
    FILE_SAME,    /* its bytes are those of the undisturbed run */
    FILE_ROWS,    /* a failing run has some of these lines, and one with the reason */
    FILE_JSON,    /* a JSON value with all members that the undisturbed run's has */
    FILE_VALUE,   /* any JSON value */
    FILE_HTML,    /* it ends as a page does */
    FILE_TEXT,    /* it ends with the end of a line */
    FILE_PACKED,  /* it can be unpacked to its end */
    FILE_STUDY,   /* an SQLite database without a fault, with whole points */
    FILE_HISTORY, /* an SQLite database without a fault, with whole runs */
};

struct command_file {
    const char *name;
    enum file_kind kind;
    bool exact; /* with exit code 0 its bytes are those of the undisturbed run */
};

enum { COMMAND_FILES_MAX = 12 };

struct command {
    const char *name;
    const char *setup; /* lines of cubewarp that make its inputs, separated by ';'; NULL: none */
    const char
        *start;       /* the input that each run finds in the place of its first file; NULL: none */
    const char *line; /* without the program's name */
    struct command_file files[COMMAND_FILES_MAX];
    unsigned codes; /* bits of exit codes that a fault may cause, besides 0, 2 and 4 */
    bool is_slow;   /* has more processes than one */
    bool tells;     /* says the same each time */
};

extern const struct command commands_that_write[];
extern const size_t commands_that_write_count;

struct ending {
    int exit_code; /* 128 + signal; -1: it hung and was killed */
    bool left_processes;
    char out[1 << 14], err[1 << 14]; /* the beginnings */
    uint64_t calls[FAULT_KINDS], injected;
};

/* A new folder for a command, below /tmp, with the inputs of its setup, and the whole files of an
 * undisturbed run. Fails the test if that run fails. */
void runner_prepare(const struct command *command);
/* Removes it. */
void runner_end(void);

/* Empties the folder of outputs; `old`: puts a file with the text "old\n" in the place of each. */
void runner_clear(bool old);
/* Runs the command. faults: the value of FAULT_AT, NULL: none; sites: of FAULT_SITES, NULL: none.
 * kill_after_s: SIGKILL for all its processes then; 0: never. */
void runner_run(const char *faults, const char *sites, double kill_after_s, struct ending *ending);
/* The same command, whose undisturbed run took so long. */
double runner_seconds(void);

/* NULL: each file is whole, or absent, or old, and no other file is there. Else the reason why not.
 * must_be_whole: none is absent or old. may_leave: files aside may be there. */
const char *runner_judge(bool must_be_whole, bool may_leave);
/* Of a run with exit code 0. NULL: its standard output is that of the undisturbed run, or is
 * another each time. */
const char *runner_judge_said(const struct ending *ending);
/* The path of a scratch file beside the folder, until the next call. */
const char *runner_scratch(const char *name);

#endif
