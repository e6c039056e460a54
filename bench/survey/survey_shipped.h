/*
 * survey_shipped.h: values that a result omits because they equal the shipped configuration's.
 * A result lists the values that it has changed, each beside the shipped one ("changed" and
 * "shipped" in its provenance). Another result of the same program that has not changed such a
 * value has the shipped one.
 */
#ifndef BENCH_SURVEY_SHIPPED_H
#define BENCH_SURVEY_SHIPPED_H

#include "bench/survey/survey.h"

/*
 * Gives all points and rows the shipped values that are known, before axes are sorted. Uncertain
 * values are left out: results of another commit than the one that names the shipped value, keys
 * for which two results name different shipped values, and parameters of another algorithm than the
 * point's.
 */
void survey_shipped_fill(struct survey *survey);

#endif
