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

/* Makes one word of a number and the unit after it, "1.0 MB". Returns how many words are left. */
size_t log_join_units(struct log_word *word, size_t words);

/* Splits at blanks (separator ' ') or at a character outside of quotes; cells come without the
 * blanks and the quotes around them. Returns their number; LOG_WORDS_MAX + 1: there are more. */
size_t log_split(const char *line, size_t bytes, char separator,
                 struct log_word word[LOG_WORDS_MAX]);

bool log_word_is(struct log_word word, const char *text);
bool log_is_blank(char c);

/* "N/A", "-", "nan", "": a value that is not there. */
bool log_is_absent(struct log_word word);

/* A decimal number with nothing after it but a unit, or "_", "," and "'" between groups of digits.
 */
struct log_number {
    double value;
    double step;          /* 1 in its last digit */
    struct log_word rest; /* after it: "us" of "6.37us" and of "6.37 us" */
};
bool log_number_read(struct log_word word, struct log_number *number);
/* A size in bytes: "1024", "1_024", "1,024", "1K", "1.5 MiB". Of KB, MB, GB a power of two means
 * 1024, any other number 1000, as those who print them mean it. */
bool log_size_read(struct log_word word, uint64_t *bytes);
/* A number of KB is one of KiB where it is a power of two. `unit`: of log_size_unit(). */
double log_size_of(double value, double unit);

/* Counts numbers that can only be read with a decimal comma, or with a decimal point: "10,25" and
 * "1.024,5", or "10.25"; "10,250" and "10.250" may be either. */
void log_count_decimals(const char *line, size_t bytes, size_t *commas, size_t *points);
/* Rewrites the numbers of a line: "1.024,5" becomes "1_024.5". */
void log_point_decimals(char *line, size_t bytes);

/* The factor of a unit to us, or 0. */
double log_time_unit(const char *unit, size_t bytes);
/* ... of a unit to bytes, or 0. */
double log_size_unit(const char *unit, size_t bytes);
/* ... of a unit to GB/s, or 0: "GB/s", "MiB/s", "Gbps". */
double log_rate_unit(const char *unit, size_t bytes);

#endif
