/*
 * options_size.h: sizes and ranges of sizes on the command line.
 */
#ifndef BENCH_OPTIONS_SIZE_H
#define BENCH_OPTIONS_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * SIZE: a whole number with an optional unit. KiB, MiB, GiB (and K, M, G, as in nccl-tests) are
 * powers of 1024; KB, MB, GB are powers of 1000. False if the text is not a size, or the size
 * exceeds 2^62.
 */
bool size_parse(const char *text, size_t bytes, uint64_t *size);
/*
 * SIZE, or a range: MIN:MAX:xF (each size F times the one before), MIN:MAX:+STEP, or MIN:MAX, which
 * doubles. Fills up to `room` sizes. Returns NULL, or the reason why the text is refused.
 */
const char *sizes_parse(const char *text, uint64_t *sizes, size_t room, size_t *count);

#endif
