/*
 * write.h: writes the workload file of a plan, with its formulas as expressions: whoever changes a
 * value there changes all that depends on it. The formulas and their sources are in
 * workload/STEPS.md ("Formulas").
 */
#ifndef WORKLOAD_WRITE_H
#define WORKLOAD_WRITE_H

#include <stdio.h>

#include "workload/model/plan.h"

/* The plan is finished (model_plan_finish()). `command`: the line that makes the file again. */
void model_write(FILE *file, const struct model_plan *plan, const char *command);

#endif
