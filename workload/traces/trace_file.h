/*
 * trace_file.h: the bytes of a trace's file, unpacked if it is gzip, and where a set of files is
 * that has one for each rank.
 */
#ifndef WORKLOAD_TRACE_FILE_H
#define WORKLOAD_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cw.h"

struct trace_file {
    char *path;
    uint8_t *bytes; /* followed by a 0 */
    size_t count;
};

/* Reads at most `most` bytes, SIZE_MAX: all; unpacks them. On CW_OK for
 * trace_file_free(). */
int trace_file_read(const char *path, size_t most, struct trace_file *file, struct cw_error *error);
void trace_file_free(struct trace_file *file);

/*
 * The files of a trace. `prefix` and `suffix` NULL: the one file `path`. Else rank r's is
 * "<prefix>.<r><suffix>".
 */
struct trace_set {
    char *prefix, *suffix;
    uint32_t ranks;
};
/* path: of a file, of a folder with one set, or a set's prefix. A set without all of its files is
 * refused. */
int trace_set_find(const char *path, struct trace_set *set, struct cw_error *error);
void trace_set_free(struct trace_set *set);
/* The path of rank's file, for free(). NULL: out of memory. */
char *trace_set_path(const struct trace_set *set, uint32_t rank);

#endif
