/*
 * options.h: the one reader of command lines. A command's options are rows of one table
 * (options_table.h): name, letter, help, type of the value, legal range or choices, the field that
 * takes the value, and the options that it needs or excludes. The reader accepts options and
 * arguments in any order, `--name value`, `--name=value`, `-n value`, `-nvalue`, and a name that is
 * cut short as long as one option only begins with it. An option that is given twice is refused,
 * unless its row says that it repeats. All state is in struct option_parse.
 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "bench/options/option.h"

/*
 * Reads argv[1..] into *parse->values; argv[0] is the command's name. CW_OK, or CW_USAGE with
 * *error filled with one sentence that names the legal values. Texts in the values point into argv.
 */
int options_read(struct option_parse *parse, int argc, char **argv, struct cw_error *error);
/*
 * The same without a line: gives options by their rows, each with the text of its value, NULL if it
 * takes none, and then checks them together. Both return what options_read() does.
 */
int options_give(struct option_parse *parse, const struct option_row *row, const char *text,
                 struct cw_error *error);
int options_finish(struct option_parse *parse, struct cw_error *error);
/*
 * Goes over a line without reading its values: calls `visit` for each option with its row, and for
 * each argument with NULL, with the words that it takes. Stops at an unknown option: its exit code,
 * with *error filled.
 */
typedef void (*options_visit_fn)(void *arg, const struct option_row *row, char **words, int count);
int options_walk(enum command command, int argc, char **argv, options_visit_fn visit, void *arg,
                 struct cw_error *error);
/* The text of --help, on standard output. */
void options_print_help(enum command command);

#endif
