/*
 * option.h: an option and a command as rows of tables, and one command line while it is read. The
 * reader is options.h, the tables are in options_table.c.
 */
#ifndef BENCH_OPTION_H
#define BENCH_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cw.h"

/* The commands; bits, for the table's columns. */
enum command {
    COMMAND_RUN = 1,
    COMMAND_PHOLD = 2,
    COMMAND_CHECK = 4,
    COMMAND_CONFIG = 8,
    COMMAND_TOPO = 16,
    COMMAND_VERIFY = 32,
    COMMAND_REPLAY = 64,
    COMMAND_PERF_RUN = 128,
    COMMAND_PERF_COMPARE = 256,
    COMMAND_PLUGIN = 2048,
    COMMAND_BATCH = 4096,
    COMMAND_SWEEP = 8192,
    COMMAND_REPORT = 16384,
    COMMAND_COMPARE = 32768,
    COMMAND_PERF_TREND = 65536,
    COMMAND_LIST = 131072,
    COMMAND_WORKLOAD_NEW = 262144,
    COMMAND_STEP = 4194304,
    COMMAND_WORKLOAD_CHECK = 524288,
    COMMAND_CALIBRATE = 1048576,
    /* Which have parts instead of options. */
    COMMAND_PERF = 1024,
    COMMAND_WORKLOAD = 512,
    COMMANDS_WITH_PARTS = COMMAND_PERF | COMMAND_WORKLOAD,
};

enum { OPTION_ROWS_MAX = 256, OPTION_LEGAL_BYTES = 400 };

struct option_row;
struct config_work; /* collectives/config/config_unused.h */

/* One command line while it is read. */
struct option_parse {
    enum command command;
    void *values; /* the command's own struct, with the defaults in it */
    /* Filled by options_read(). */
    bool help;                   /* --help is among them: nothing else counts */
    bool given[OPTION_ROWS_MAX]; /* by row of the table */
    const struct option_row *rows;
    size_t row_count;
};

enum option_type {
    OPTION_HELP,        /* stores nothing but struct option_parse.help */
    OPTION_SET,         /* takes no value; stores true */
    OPTION_CLEAR,       /* takes no value; stores false */
    OPTION_TEXT,        /* any text; stores the pointer */
    OPTION_FILE,        /* a file's name, or -; stores the pointer */
    OPTION_OUTPUT,      /* an OPTION_FILE that is written: no other output has its name */
    OPTION_OUTPUT_FILE, /* an OPTION_OUTPUT that is not - */
    OPTION_COUNT,       /* a whole number from min to max; stores it times scale */
    OPTION_BYTES,       /* a size with a unit, not 0; stores a uint64_t */
    OPTION_TIME,        /* a decimal number with a unit of time; stores an int64_t of ps */
    OPTION_PROBABILITY, /* 0.25 or 25%; stores a uint64_t, times 2^32 */
    OPTION_SHARE,       /* an OPTION_PROBABILITY that is not 0 */
    OPTION_CHOICE,      /* one of the choices; stores min plus its index */
    OPTION_CHOSEN_NAME, /* one of the choices; stores a pointer to its name */
    OPTION_OTHER,       /* the row's own function reads and stores it */
};

/* How a refusal lists the choices. */
enum option_style {
    OPTION_EXPECTED,  /* 'x': expected a, b or c */
    OPTION_ONE_OF,    /* 'x': expected one of a, b, c */
    OPTION_SUGGESTED, /* 'x': no such NAME; did you mean a? known: a, b, c */
};

struct option_row {
    const char *name;
    char letter;            /* 0: none */
    uint8_t type;           /* enum option_type */
    uint32_t commands;      /* enum command */
    const char *argument;   /* the value's name in help; NULL: the option takes none */
    const char *help;       /* '\n' where a line of help breaks; a list of choices may follow */
    uint16_t offset, bytes; /* of the field in the command's struct */
    const char *optional;   /* the value may be left out, and begins with this word; NULL: no */
    const char *group;      /* the heading of help that it begins; NULL: it is in the one before */
    bool repeats;           /* each occurrence adds to those before */
    bool listed;            /* help lists the choices */
    bool may_be_zero;       /* OPTION_BYTES: 0 is a size */
    bool of_some_benches;   /* a bench that does not take the option refuses it */
    uint8_t style;          /* enum option_style */
    uint64_t min, max;      /* of OPTION_COUNT, both legal */
    uint64_t scale;         /* of OPTION_COUNT; 0: 1 */
    const char *(*choice)(size_t i);      /* the i-th legal name, NULL after the last */
    const char *(*choice_help)(size_t i); /* its meaning; NULL: the names are enough */
    const char *expected;                 /* the words of a refusal, instead of the choices */
    int (*read)(struct option_parse *parse, const struct option_row *row, const char *text,
                struct cw_error *error);
    const char *needs, *needs_text;       /* another option, and the refusal without it */
    const char *excludes, *excludes_text; /* another option, and the refusal beside it */
    /* What would use it where this command does not, by the command's values and, where it runs a
     * configuration, that run's work; NULL: the command does. The function NULL: every one. */
    const char *(*unused)(const void *values, const struct config_work *work);
};

/* How a command's help shows the letters of options. */
enum command_letters { LETTERS_IN_COLUMN, LETTERS_IN_FRONT, LETTERS_HIDDEN };

struct command_row {
    enum command command;
    const char *name;        /* "perf run" */
    const char *summary;     /* one line */
    const char *arguments;   /* the rest of the usage; "[OPTION]..." */
    const char *intro;       /* the lines of help after the usage */
    const char *after;       /* the lines of help after the options; NULL: none */
    const char *examples[3]; /* lines that can be typed */
    uint8_t name_width;      /* of the column of names in help */
    uint8_t letters;         /* enum command_letters */
    bool brief;              /* "--x needs a value", without its name */
    /* Takes arguments from rest[0] on. Returns how many of `count`; 0: refused, *error is filled.
     * NULL: the command takes none. */
    int (*argument)(struct option_parse *parse, int count, char **rest, struct cw_error *error);
    /* Checks values that depend on each other. NULL: there are none. */
    int (*finish)(struct option_parse *parse, struct cw_error *error);
};

#endif
