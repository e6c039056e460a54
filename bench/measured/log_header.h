/*
 * log_header.h: the header of a table in a log. All that is known of a table comes from it: its
 * separator, the prefix of its lines ("[1,0]<stdout>:"), and its columns with their units, their
 * order and where they stand. Lines are those of log_text(). Pure; any thread.
 */
#ifndef BENCH_LOG_HEADER_H
#define BENCH_LOG_HEADER_H

#include "bench/measured/log_words.h"

enum { LOG_COLUMNS_MAX = 64, LOG_PREFIX_BYTES = 128 };

enum log_kind {
    LOG_OTHER, /* a name that is not known */
    LOG_STAT,  /* known, and not read: repetitions, minima */
    LOG_SIZE,
    LOG_COUNT,
    LOG_TYPE,
    LOG_REDOP,
    LOG_ROOT,
    LOG_TIME,
    LOG_ALGBW,
    LOG_BUSBW,
    LOG_WRONG, /* elements, or hccl_test's "success" */
    LOG_ERROR, /* the largest error, with an asterisk where it is too large */
    LOG_TEST,  /* the collective */
    LOG_RANKS, /* how many */
    LOG_STAMP  /* date and time, of one word or two */
};

enum log_place { LOG_ANY_PLACE, LOG_OUT_OF_PLACE, LOG_IN_PLACE };

enum log_tool { LOG_NCCL_TESTS, LOG_HCCL_TEST, LOG_OSU, LOG_IMB, LOG_CELLS };

struct log_column {
    enum log_kind kind;
    enum log_place place; /* as its name says */
    enum log_tool tool;   /* whose tables have this name */
    int rank;             /* of a time: a mean counts more than any other */
    double scale;         /* to bytes, us, GB/s; 0: not said */
    uint32_t half;        /* that it belongs to */
    size_t left, right;   /* on the screen, after the prefix */
};

/* A table with times out of place and in place has two halves, any other one. */
struct log_header {
    struct log_column column[LOG_COLUMNS_MAX];
    size_t columns;
    uint32_t halves;
    enum log_place place[2]; /* of each half; LOG_ANY_PLACE: not said */
    enum log_tool tool;
    char separator;                /* of cells; ' ': words */
    char prefix[LOG_PREFIX_BYTES]; /* before each line */
    bool has_decimal_commas;       /* in the rows below, as the reader has seen */
};

/* Whether the line is a header: it names a size, a time, and little that is not known. */
bool log_header_read(const char *line, size_t bytes, struct log_header *header);

/* Bytes of the header's prefix at the beginning of a line, or of one of its shape, with other
 * digits and letters. 0: the line has none. */
size_t log_prefix(const struct log_header *header, const char *line, size_t bytes);

/* Whether it is the line above a header that titles both halves, "out-of-place  in-place". */
bool log_title_read(const char *line, size_t bytes, enum log_place place[2]);

/* Whether it is a line of units below the header, "(B) (elements) (us)"; they go into it. */
bool log_units_read(struct log_header *header, const char *line, size_t bytes);

#endif
