/*
 * write.c: the workload file of a plan, section by section (write.h).
 */
#include "workload/model/write.h"

void model_write(FILE *file, const struct model_plan *plan, const char *command)
{
    fprintf(file, "# %s\n", command);
    fprintf(file, "workload:\n  name: %s\n", model_kind_name[plan->kind]);
}
