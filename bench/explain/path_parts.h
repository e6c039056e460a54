/*
 * path_parts.h: the parts of a path's legs: serialisations, flight times, overheads, the work of
 * blocks. They are computed from the steps that the handlers have noted and from the machine's
 * parameters. The parts on another machine, with one thing faster, are computed in the same way:
 * that is the prediction.
 */
#ifndef BENCH_PATH_PARTS_H
#define BENCH_PATH_PARTS_H

#include "bench/explain/path.h"

/* The time that the steps of a leg give on the model's machine. */
int64_t path_steps_ps(const struct lp_model *m, struct cause_log *log, const struct path_leg *leg);

typedef void (*path_part_fn)(void *arg, const struct path_part *part);
/* Visits the parts of all legs. They sum to the path's time. */
void path_visit(const struct lp_model *m, struct path *path, path_part_fn visit, void *arg);

/* The time that the same legs, or their rivals, take on a machine with other parameters: `hw`
 * differs from the model's in rates, flight times, overheads and blocks alone. After path_visit().
 */
int64_t path_retime_ps(const struct lp_model *m, struct path *path, const struct hw_config *hw);

#endif
