/*
 * explain_text.h: an explanation as lines that begin with '#', for people, and as JSON.
 */
#ifndef BENCH_EXPLAIN_TEXT_H
#define BENCH_EXPLAIN_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "bench/explain/explain.h"

/* Shares, blocks, path, and the sentence that names the limit. */
void explain_print(FILE *file, const struct explain *explain);
/* The sentence alone, without an end of line. */
enum { EXPLAIN_SENTENCE_BYTES = 512 };
const char *explain_sentence(const struct explain *explain, char *text, size_t bytes);

/* A row's member "explain" (bench/COMMANDS.md). NULL: out of memory. */
json_t *explain_json(const struct explain *explain);

#endif
