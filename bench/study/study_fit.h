/*
 * study_fit.h: the part `fit` of a study: the keys that `calibrate` moves, each between two bounds
 * or over a list (STUDY.md, "Fits").
 */
#ifndef BENCH_STUDY_FIT_H
#define BENCH_STUDY_FIT_H

#include "bench/study/study.h"
#include "collectives/config/input/config_parse.h"

enum { STUDY_FITS_MAX = 32 };

/* Reads the mapping into study->fits. Errors are reported. */
void study_fits_read(struct config_loader *loader, struct study *study,
                     const struct config_node *node);

#endif
