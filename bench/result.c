/*
 * result.c: releasing a result (result.h).
 */
#include "bench/result.h"

#include <stdlib.h>

void result_free(struct result *result)
{
    for (size_t i = 0; i < result->row_count; i++)
        free(result->rows[i].phases);
    free(result->rows);
    result->rows = NULL;
    result->row_count = 0;
}
