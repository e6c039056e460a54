/*
 * study_range.h: the range of an axis: FIRST:LAST, FIRST:LAST:xFACTOR, FIRST:LAST:+STEP, of exact
 * decimals, or of sizes with units.
 */
#ifndef BENCH_STUDY_RANGE_H
#define BENCH_STUDY_RANGE_H

#include <stddef.h>

#include "collectives/config/input/config_arena.h"

enum { STUDY_RANGE_MAX = 10000 };

/*
 * The values of a range as texts, in the arena: decimals without exponent, sizes in bytes. Returns
 * NULL, or the reason why the text is refused. *texts is an array in the arena; no memory: the
 * arena has failed, and *count is 0.
 */
const char *study_range(struct config_arena *arena, const char *text, const char *const **texts,
                        size_t *count);

#endif
