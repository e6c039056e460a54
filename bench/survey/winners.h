/*
 * winners.h: which row is the fastest in each case of a survey: at each size (or each value of
 * another x), and on each machine or setting that was given rather than chosen. Algorithms and
 * mappers are chosen; if neither varies, all series are rivals.
 */
#ifndef BENCH_WINNERS_H
#define BENCH_WINNERS_H

#include "bench/survey/survey.h"

enum { WINNERS_MAX = 48 }; /* cases; with more, all settings at one x are one case */

struct winner {
    const struct survey_row *row;  /* the fastest; NULL: all rows have wrong data */
    const struct survey_row *next; /* the second; NULL: none */
    const struct survey_row *any;  /* a row of the case, for its values on the axes */
    size_t rivals;                 /* rows that ran, the fastest among them */
};

struct winners {
    struct winner cases[WINNERS_MAX]; /* in the order of the given axes, then of x */
    size_t count;                     /* 0: there is no x, or no time, or x has more values */
    bool is_given[SURVEY_AXES_MAX];   /* axes whose values distinguish cases, beside x */
    bool has_rivals;                  /* in any case */
};

/* Without memory, no_memory is set and there are no cases. */
void winners_of(struct survey *survey, struct winners *winners);

/* Where cases are more than WINNERS_MAX: in how many of them each choice is the fastest, as a
 * sentence. NULL: they are not, or there is no memory, and no_memory is set. */
const char *winners_tally(struct survey *survey);

/* The same as a table of texts, which live as long as the survey. */
struct winner_table {
    size_t columns, rows;
    const char *heads[SURVEY_AXES_MAX + 12];
    bool is_number[SURVEY_AXES_MAX + 12];
    const char **cells; /* row by row */
    const char *caption;
};
/* False: there is nothing to show, or no memory, and no_memory is set. */
bool winners_table(struct survey *survey, struct winner_table *table);

#endif
