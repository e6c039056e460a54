/*
 * wide_sums.h: with `defaults.accumulate: f32`, the sums in TCM whose f32 values PE_MATH still has
 * (hw/HARDWARE.md, "Blocks of a PE"): what an addition has left there, for the next one that adds
 * to it, until anything else writes there or the kernel ends. Of one cube; used by the worker that
 * owns it.
 */
#ifndef COLLECTIVES_WIDE_SUMS_H
#define COLLECTIVES_WIDE_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wide_range {
    uint32_t pe, at, bytes; /* in its TCM */
    float *value;           /* one for each element */
};

/* All zero: empty. */
struct wide_sums {
    struct wide_range *range;
    size_t count, room;
};

void wide_sums_free(struct wide_sums *sums);
/* Takes `value` over, for the elements of `itemsize` bytes in a range. False: out of memory. */
bool wide_sums_put(struct wide_sums *sums, struct wide_range range, size_t itemsize);
/* Another value is written there. False: out of memory. */
bool wide_sums_forget(struct wide_sums *sums, uint32_t pe, uint64_t at, uint64_t bytes,
                      size_t itemsize);
/* Puts the f32 values that there are over those of an operand from `at` on. */
void wide_sums_take(const struct wide_sums *sums, uint32_t pe, uint32_t at, uint32_t bytes,
                    size_t itemsize, float *value);

#endif
