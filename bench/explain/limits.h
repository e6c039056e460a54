/*
 * limits.h: the names of the parts and limits of a path, and how a limit becomes faster.
 * Pure functions.
 */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include "bench/explain/explain.h"

/* "sip_link serialisation" and the like. */
const char *explain_part_name(const struct explain_part *part, char *text, size_t bytes);

/* The parts that may be slow: kinds of nodes, then kinds of links. */
enum { EXPLAIN_SLOW_PARTS = HW_NODE_KINDS + HW_LINK_KINDS };
/* The first part that is slow at the same place as this one; EXPLAIN_SLOW_PARTS: this one is not
 * slow, or slow everywhere. */
uint32_t explain_slow_group(const struct hw_config *hw, uint32_t part);

/* Fills in a limit's name. slow_ps: time of the path in each part where it is slow. */
void explain_name_limit(const struct hw_config *hw, const int64_t slow_ps[EXPLAIN_SLOW_PARTS],
                        struct explain_limit *limit);

/* Makes the thing of a limit faster. */
void explain_double(struct hw_config *hw, const struct explain_limit *limit);
/* The same as values for --set, "KEY=VALUE" separated by spaces; "": links of a level, whose values
 * are set in the topology. */
void explain_double_settings(const struct hw_config *hw, struct explain_limit *limit);

#endif
