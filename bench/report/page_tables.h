/*
 * page_tables.h: the sections of a page that are tables, each complete without scripts. For each,
 * whether it has something to show, and its writer (page.h, struct page_section).
 */
#ifndef BENCH_PAGE_TABLES_H
#define BENCH_PAGE_TABLES_H

#include <stdio.h>

#include "bench/survey/survey.h"

enum {
    PAGE_ROWS = 1000, /* of the table of results; the script has all */
    PAGE_MATRIX = 60, /* series of the static table */
    PAGE_SLOWEST = 10,
    PAGE_PROVENANCE = 200, /* points whose provenance is listed */
    PAGE_POINTS_OPEN = 12, /* more points are folded */
};

/* At the top: the fastest at each size, how far it is from its bound, and what limits it. */
void page_write_winners(FILE *out, struct survey *survey);

bool page_has_matrix(const struct survey *survey);
void page_write_matrix(FILE *out, struct survey *survey);
/* Phases of calls, and where explained calls spend their time. */
bool page_has_phases(const struct survey *survey);
void page_write_phases(FILE *out, struct survey *survey);
bool page_has_slowest(const struct survey *survey);
void page_write_slowest(FILE *out, struct survey *survey);
bool page_has_failures(const struct survey *survey);
void page_write_failures(FILE *out, struct survey *survey);
bool page_has_rows(const struct survey *survey);
void page_write_rows(FILE *out, struct survey *survey);
bool page_has_engine(const struct survey *survey);
void page_write_engine(FILE *out, struct survey *survey);
/* The newest run of a history: what is slower, which goals are missed, what was disturbed. */
bool page_has_verdicts(const struct survey *survey);
void page_write_verdicts(FILE *out, struct survey *survey);
bool page_has_history(const struct survey *survey);
void page_write_history(FILE *out, struct survey *survey);
bool page_has_provenance(const struct survey *survey);
void page_write_provenance(FILE *out, struct survey *survey);

#endif
