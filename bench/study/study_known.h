/*
 * study_known.h: whether the presets, algorithms and files that a study names exist. Missing ones
 * are errors of the study, not refusals of its points.
 */
#ifndef BENCH_STUDY_KNOWN_H
#define BENCH_STUDY_KNOWN_H

#include "bench/study/study.h"

/* Reports each unknown name at its place. Loads the configuration of one point for each value
 * that names any. */
void study_check_known(struct config_loader *loader, const struct study *study);

#endif
