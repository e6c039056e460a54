/*
 * log_row.h: rows below a header. A row has all columns of its header, or leaves some blank: then
 * kinds of values and places on the screen say which. Lines are those of log_text(). Pure; any
 * thread.
 */
#ifndef BENCH_LOG_ROW_H
#define BENCH_LOG_ROW_H

#include "bench/measured/log_header.h"
#include "bench/measured/log_test.h"

/* One half of a row; all that is not there is 0. */
struct log_half {
    bool has_time;
    double time, time_scale;  /* to us, of a unit behind the number; 0: the column's */
    double algbw, algbw_step; /* in the column's unit; the step between two printed values */
    bool has_wrong;           /* the row says whether its result was right */
    double wrong;             /* elements; of "failed" 1 */
};

/* What rows of one table may differ in, beside their size. */
enum log_trait { LOG_TRAIT_TYPE, LOG_TRAIT_REDOP, LOG_TRAIT_ROOT, LOG_TRAITS };
enum { LOG_TRAIT_BYTES = 16 };

struct log_row {
    uint64_t bytes;
    bool is_full;      /* no column is blank: the rest of the row cannot be on a later line */
    int last_decimals; /* digits after the point of a time that ends the line; -1: another value
                          does */
    struct log_half half[2];
    char trait[LOG_TRAITS][LOG_TRAIT_BYTES]; /* as printed; "": not said */
    struct log_test test;                    /* of a column that names it; name "": there is none */
    uint32_t ranks;                          /* of a column; 0: there is none */
};

/* Keeps what a trait's cell says. */
void log_row_keep(struct log_row *row, enum log_trait trait, const char *text, size_t bytes);

enum log_answer { LOG_NO_ROW, LOG_ROW, LOG_DAMAGED };

/* Why a row is damaged. */
struct log_fault {
    const char *why; /* static */
    struct log_word word;
    bool is_misfit; /* the word cannot stand in its column: something may be glued to it */
};

/*
 * Reads a line without its prefix. LOG_NO_ROW: nothing that looks like a row. LOG_DAMAGED: it
 * begins as a row, or is most of one; *fault says what is wrong. `decimals`: digits after the point
 * of a time that may have been cut off at the line's end must be so many; -1: any.
 */
enum log_answer log_row_read(const struct log_header *header, const char *line, size_t bytes,
                             int decimals, struct log_row *row, struct log_fault *fault);

/* By which power of 1000 a half's time, if it were in us, is less than its own algbw says. False:
 * that does not say it. */
bool log_half_power(const struct log_half *half, uint64_t bytes, double algbw_scale, int *power);

#endif
