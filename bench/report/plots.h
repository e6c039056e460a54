/*
 * plots.h: a survey's curves through gnuplot, for papers.
 */
#ifndef BENCH_PLOTS_H
#define BENCH_PLOTS_H

#include "bench/survey/survey.h"

/*
 * Writes into a folder, which is created if missing, for each of time, algbw, busbw and efficiency
 * in the survey: NAME.dat (tab-separated, a block per series), NAME.gp (the gnuplot script, for
 * changes by hand: `gnuplot NAME.gp`), NAME.svg and NAME.png. Texts from files are in gnuplot's
 * single quotes, where nothing is expanded. CW_OK; CW_USAGE if the survey has no curves;
 * CW_NO_RESOURCE if a file cannot be written, or gnuplot is missing or fails.
 */
int plots_check(struct cw_error *error); /* CW_NO_RESOURCE: there is no gnuplot */
int plots_write(const char *folder, const struct survey *survey, struct cw_error *error);

#endif
