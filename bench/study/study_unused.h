/*
 * study_unused.h: settings of a study that points do not use, found before the first one runs.
 */
#ifndef BENCH_STUDY_UNUSED_H
#define BENCH_STUDY_UNUSED_H

#include "bench/study/study.h"

/* Writes a line for each setting that none of the points uses, with what would use it, and one for
 * each that some of them do not use, with their number. False: no memory. */
bool study_unused_print(FILE *file, const struct study *study, const uint32_t *points,
                        uint32_t count);

#endif
