/*
 * estimate_text.h: estimates as short texts, with the unit that fits: "12.4 M", "1.5 GiB", "3 min".
 * Each returns `text`.
 */
#ifndef BENCH_ESTIMATE_TEXT_H
#define BENCH_ESTIMATE_TEXT_H

enum { ESTIMATE_TEXT_BYTES = 32 };

const char *estimate_number_text(double number, char text[ESTIMATE_TEXT_BYTES]);
const char *estimate_bytes_text(double bytes, char text[ESTIMATE_TEXT_BYTES]);
const char *estimate_seconds_text(double seconds, char text[ESTIMATE_TEXT_BYTES]);

#endif
