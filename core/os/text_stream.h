/*
 * text_stream.h: a stream into memory that knows when it ran out. open_memstream() of the C library
 * leaves out bytes that it has no room for, and says nothing when it is closed. No threads.
 */
#ifndef CORE_TEXT_STREAM_H
#define CORE_TEXT_STREAM_H

#include <stddef.h>
#include <stdio.h>

/* A stream whose fclose() sets *text, on the heap and ended by a zero, and *bytes, its length
 * without the zero. If there was not memory for all of it, fclose() fails and *text is NULL. NULL:
 * no memory for the stream. Until fclose() *text is NULL, too. */
FILE *text_stream_open(char **text, size_t *bytes);

#endif
