/*
 * plots.h: a survey's curves through gnuplot, for papers.
 */
#ifndef BENCH_PLOTS_H
#define BENCH_PLOTS_H

#include "bench/survey/survey.h"

/*
 * Writes into a folder, which is made if it is not there, for each of time, algbw, busbw and
 * efficiency that the survey has: NAME.dat (tab-separated, a block per series), NAME.gp (the
 * gnuplot script, for changes by hand: `gnuplot NAME.gp`), NAME.svg and NAME.png. Texts from files
 * stand in single quotes of gnuplot's, in which nothing is expanded. CW_OK; CW_USAGE if the survey
 * has no curves; CW_NO_RESOURCE if a file cannot be written, or gnuplot is not there or fails.
 */
int plots_write(const char *folder, const struct survey *survey, struct cw_error *error);

#endif
