/*
 * trace_stream.h: a stream that compresses its text, by the name of the file: gzip for
 * .gz, Zstandard for .zst, nothing for others. The bytes depend on the text alone. One
 * thread at a time.
 */
#ifndef BENCH_TRACE_STREAM_H
#define BENCH_TRACE_STREAM_H

#include <stdio.h>

#include "core/cw.h"

/* Zero-initialised: none. It stays where it is while it is open. */
struct trace_stream {
    FILE *text; /* write here */
    FILE *file; /* of the caller */
    void *packer;
};

/* `file` outlives the stream. CW_OK, or out of memory. */
int trace_stream_open(struct trace_stream *stream, FILE *file, const char *name,
                      struct cw_error *error);
/* Writes the rest, and closes `text` alone. The caller checks `file` for failed writes;
 * CW_NO_RESOURCE: the packer failed. Accepts one that is not open. */
int trace_stream_close(struct trace_stream *stream, struct cw_error *error);

#endif
