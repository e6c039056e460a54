/*
 * value_file.h: files of raw numbers that a host program brings: little-endian elements of one
 * dtype, one after the other, without a header. On the host, before a run.
 */
#ifndef BENCH_VALUE_FILE_H
#define BENCH_VALUE_FILE_H

#include <stdbool.h>

#include "collectives/data/dtype.h"
#include "core/cw.h"

/* Reads a whole file, or standard input for "-", of at most bytes_max bytes; the caller frees
 * *values. CW_USAGE: it cannot be opened or read, or is a device, which may have no end, and
 * `option` named it; CW_NO_RESOURCE: it is longer, or memory has run out. */
int value_file_read(const char *option, const char *path, uint64_t bytes_max, uint8_t **values,
                    uint64_t *bytes, struct cw_error *error);
/* No element is infinite or no number; else *at is the first that is. */
bool value_file_is_finite(enum dtype dtype, const void *values, uint64_t count, uint64_t *at);

#endif
