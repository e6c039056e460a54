/*
 * study_read.h: a study file as a study. STUDY.md specifies the file.
 */
#ifndef BENCH_STUDY_READ_H
#define BENCH_STUDY_READ_H

#include "bench/study/study.h"

/*
 * Reads and checks a study with all its points. CW_OK: the caller frees *out with study_free().
 * Else *out is NULL, and errors say why: CW_USAGE (sorted by place), CW_NO_RESOURCE (out of
 * memory).
 */
int study_read(const char *path, struct study **out, struct config_errors *errors);

#endif
