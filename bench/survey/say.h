/*
 * say.h: numbers as people read them, and texts from files in a form that HTML and JSON can hold.
 * Functions with a parameter `text` return it.
 */
#ifndef BENCH_SAY_H
#define BENCH_SAY_H

#include <stdio.h>

#include "bench/survey/survey.h"

enum { SAY_BYTES = 48 };

/* Four significant digits and the whole part in full, thousands with commas: "1.586", "105.6",
 * "1,234,567"; "–": NAN. page.js has the browser format the numbers that it computes in the same
 * way, which a test compares. */
const char *say_number(double number, char text[SAY_BYTES]);
const char *say_time(double us, char text[SAY_BYTES]);    /* "105.6 µs", "1.73 ms" */
const char *say_size(double bytes, char text[SAY_BYTES]); /* "256 KiB", "1000 B" */
const char *say_figure(enum survey_figure figure, double number, char text[SAY_BYTES]);
/* A value of an axis: a size, or the text itself. */
const char *say_value(const struct survey_axis *axis, const struct survey_value *value,
                      char text[SAY_BYTES]);
/* "bytes per shard" for "bytes"; of a key the last two parts, "sips.count"; else the name. */
const char *say_axis(const struct survey_axis *axis);
/* The unit of its values by the end of its name: "GB/s" of "links.ucie.bw_gbs"; "": none. */
const char *say_axis_unit(const struct survey_axis *axis);

/* As text, or as an attribute's value in double quotes. Bytes that are not UTF-8, and control
 * characters, become U+FFFD. */
void say_html(FILE *out, const char *text);
/* As a string of JSON inside of a <script>: without <, >, & and line separators. */
void say_json(FILE *out, const char *text);
void say_json_number(FILE *out, double number); /* null: NAN */
/* A JSON value, with strings as say_json() writes them; reals with six digits. */
void say_json_value(FILE *out, const json_t *value);

#endif
