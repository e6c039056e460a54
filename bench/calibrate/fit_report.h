/*
 * fit_report.h: a fit as a table for people (COMMANDS.md, "calibrate").
 */
#ifndef BENCH_FIT_REPORT_H
#define BENCH_FIT_REPORT_H

#include <stdio.h>

#include "bench/calibrate/fit.h"

void fit_report(FILE *file, const struct fit *fit);

#endif
