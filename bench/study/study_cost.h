/*
 * study_cost.h: studies at equal cost (STUDY.md, "Equal cost"): each point's links are scaled so
 * that its machine costs the budget.
 */
#ifndef BENCH_STUDY_COST_H
#define BENCH_STUDY_COST_H

#include "bench/study/study.h"
#include "collectives/config/input/config_parse.h"

/* Gives each point the setting of the knob that `equal_cost` asks for, by the costs of the points'
 * machines. A point whose configuration does not load gets none: it will be refused. Errors are
 * reported. */
void study_equal_cost(struct config_loader *loader, struct study *study,
                      const struct config_node *equal_cost);

#endif
