/*
 * limits.h: the names of the parts and limits of a path, and how a limit becomes twice as fast.
 * Pure functions.
 */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include "bench/explain/explain.h"

/* "sip_link serialisation" and the like. */
const char *explain_part_name(const struct explain_part *part, char *text, size_t bytes);
const char *explain_limit_name(const struct explain_limit *limit, char *text, size_t bytes);

/* Makes the thing of a limit twice as fast. */
void explain_double(struct hw_config *hw, const struct explain_limit *limit);
/* The same as values for --set, "KEY=VALUE" separated by spaces; "": links of a level, whose values
 * are set in the topology. */
const char *explain_double_settings(const struct hw_config *hw, const struct explain_limit *limit,
                                    char *text, size_t bytes);

#endif
