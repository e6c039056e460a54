/*
 * words.h: a survey in sentences, for the head of a page or of a Markdown file.
 */
#ifndef BENCH_WORDS_H
#define BENCH_WORDS_H

#include "bench/survey/survey.h"

enum { WORDS_MAX = 24 };

/* Plain text, each one a sentence or two; they live as long as the survey. Returns how many. */
size_t words_of_survey(struct survey *survey, const char *sentences[WORDS_MAX]);
/* What a study is about, which is its first sentence; NULL: there is no one study. */
const char *words_about(const struct survey *survey);
/* A short title: the study's name, the run's, or a count. */
const char *words_title(struct survey *survey);
/* "limited by ..." of a row whose result was explained; NULL: it was not, or has
 * no critical path. */
const char *words_limit(const struct survey_row *row);
/* What is wrong with a row's data, the worst first: "wrong data", "ranks differ", "not finite";
 * NULL: nothing, or they were not verified. */
const char *words_flaw(const struct survey_row *row);
/* All of it: "5 wrong elements; 2 elements differ between ranks"; "" for nothing. */
const char *words_flaws(struct survey *survey, const struct survey_row *row);
/* Writes the rows that ran to `rows`, slowest first: by efficiency if it is known, else by time.
 * Returns how many. */
size_t words_slowest(const struct survey *survey, size_t *rows, size_t most);

#endif
