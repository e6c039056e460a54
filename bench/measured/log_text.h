/*
 * log_text.h: the text of a log as a person would see it, in ASCII: from UTF-8, UTF-16, UTF-32 or
 * Latin-1, without byte order marks, colours, control characters and no-break spaces. Pure; any
 * thread.
 */
#ifndef BENCH_LOG_TEXT_H
#define BENCH_LOG_TEXT_H

#include <stddef.h>

/*
 * The text of `count` bytes: '\n' ends a line, '\t' may be in it, and all else is printable.
 * Characters that look like one of ASCII become that one (bars, dashes, the micro sign is u), any
 * other '?'; a space that groups digits becomes '_'. The caller frees it; NULL: no memory.
 */
char *log_text(const char *bytes, size_t count, size_t *length);

#endif
