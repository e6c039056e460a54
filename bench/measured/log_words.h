/*
 * log_words.h: the words of a line of a log, or its cells, and the numbers in them. Lines are those
 * of log_text(). Pure; any thread.
 */
#ifndef BENCH_LOG_WORDS_H
#define BENCH_LOG_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOG_WORDS_MAX = 80 };

/* A part of a line. */
struct log_word {
    const char *at;
    size_t bytes;
    size_t left, right; /* columns on the screen, right exclusive */
};

/* Splits at blanks (separator ' ') or at a character outside of quotes; cells come without the
 * blanks and the quotes around them. Returns their number; LOG_WORDS_MAX + 1: there are more. */
size_t log_split(const char *line, size_t bytes, char separator,
                 struct log_word word[LOG_WORDS_MAX]);

bool log_word_is(struct log_word word, const char *text);
bool log_is_blank(char c);

/* "N/A", "-", "nan", "": a value that is not there. */
bool log_is_absent(struct log_word word);

/* A decimal number with nothing after it but a unit, or "_" and "," between groups of digits. */
struct log_number {
    double value;
    double step;          /* 1 in its last digit */
    struct log_word rest; /* after it: "us" of "6.37us" */
};
bool log_number_read(struct log_word word, struct log_number *number);
/* A size in bytes: "1024", "1_024", "1,024", "1K", "1KiB". */
bool log_size_read(struct log_word word, uint64_t *bytes);

/* The factor of a unit to us, or 0. */
double log_time_unit(const char *unit, size_t bytes);
/* ... of a unit to bytes, or 0. */
double log_size_unit(const char *unit, size_t bytes);
/* ... of a unit to GB/s, or 0: "GB/s", "MiB/s", "Gbps". */
double log_rate_unit(const char *unit, size_t bytes);

#endif
