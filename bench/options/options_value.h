/*
 * options_value.h: reads the value of one option by the type in its row, and stores it where the
 * row says.
 */
#ifndef BENCH_OPTIONS_VALUE_H
#define BENCH_OPTIONS_VALUE_H

#include "bench/options/option.h"

/* `text` is NULL for an option without a value. CW_OK, or CW_USAGE with *error filled. */
int options_store(struct option_parse *parse, const struct option_row *row, const char *text,
                  struct cw_error *error);
/* A whole number from min to max; a refusal names the option `name`. */
int options_read_count(struct cw_error *error, const char *name, const char *text, uint64_t min,
                       uint64_t max, uint64_t *value);
/* Where the row's value goes. */
void *options_field(const struct option_parse *parse, const struct option_row *row);

/* Whether options_read() has read this option of the command. */
bool options_given(const struct option_parse *parse, const char *name);
/* For an argument that an option of another command gives. */
void options_note_given(struct option_parse *parse, const char *name);

/* "--NAME 'text': expected ..."; always CW_USAGE. */
int options_refuse(struct cw_error *error, const char *name, const char *text,
                   const char *expected);

/* For the table of options: a number of seconds, or one with a unit; stores a double, in seconds.
 */
int options_read_duration(struct option_parse *parse, const struct option_row *row,
                          const char *text, struct cw_error *error);

#endif
