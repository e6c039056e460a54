/*
 * study_compare.h: two databases of studies side by side, point by point: `cubewarp compare
 * A.sqlite B.sqlite`.
 *
 * Points are paired by their settings, that is, by their digests; those that are left over, by
 * their labels, so that two studies whose `base` differs, or a file that it names, are compared as
 * well. The sizes of a pair are compared as those of two results are (compare_documents.h). Beyond
 * that a point differs if B lacks it, or has not done it while A has, or if both have not done it,
 * for other reasons. A point that A lacks differs unless A's study has points that have not run
 * yet.
 */
#ifndef BENCH_STUDY_COMPARE_H
#define BENCH_STUDY_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/output/comparison_page.h"
#include "core/cw.h"

/* Compares and prints: sizes that differ and points without a partner; JSON and JUnit have all
 * sizes. CW_OK, CW_DATA_WRONG: they differ; CW_USAGE or CW_NO_RESOURCE with *error filled. */
int study_compare(FILE *file, enum comparison_format format, const char *path_a, const char *path_b,
                  double tolerance_percent, struct cw_error *error);

#endif
