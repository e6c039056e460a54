/*
 * study_points.h: the points of a study: the combinations of its axes' values, without the excluded
 * ones, each with its options checked.
 */
#ifndef BENCH_STUDY_POINTS_H
#define BENCH_STUDY_POINTS_H

#include "bench/study/study.h"
#include "collectives/config/input/config_parse.h"

/* Fills the points and digests of a study whose settings and axes are valid. `exclude`,
 * `equal_cost`: of the file; NULL: none. Errors are reported. */
void study_points_make(struct config_loader *loader, struct study *study,
                       const struct config_node *exclude, const struct config_node *equal_cost);

/* The axis that a node names; -1, with an error reported, if there is none. */
int study_axis_find(struct config_loader *loader, const struct study *study,
                    const struct config_node *name);
/* The value of an axis that a node names; -1, with an error reported, if there is none. */
int study_value_find(struct config_loader *loader, const struct study_axis *axis,
                     const struct config_node *node);

#endif
