/*
 * limits.h: the names of the parts and limits of a path, and how a limit becomes faster.
 * Pure functions.
 */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include "bench/explain/explain.h"
#include "hw/faults.h"

/* "sip_link serialisation" and the like. */
const char *explain_part_name(const struct explain_part *part, char *text, size_t bytes);

/* Slow parts beyond these are not told apart from others of their kind. */
enum { EXPLAIN_SLOWS = 64 };
/* Whether a path's part, by path_part.slow, is slow at some place, not everywhere. */
bool explain_slow_place(const struct hw_config *hw, uint32_t slow);

/* Fills in a limit's name. slow_ps, of a slow part: its time on the path, by kind. */
void explain_name_limit(const struct hw_config *hw, const int64_t slow_ps[HW_PART_KINDS],
                        struct explain_limit *limit);

/* Makes the thing of a limit faster. `faults`: where hw->faults may be kept from then on. */
void explain_double(struct hw_config *hw, struct hw_faults *faults,
                    const struct explain_limit *limit);
/* The same as values for --set, "KEY=VALUE" separated by spaces; "": links of a level, whose values
 * are set in the topology. */
void explain_double_settings(const struct hw_config *hw, struct explain_limit *limit);

#endif
