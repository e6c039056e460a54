/*
 * tl_source.h: the place in a kernel's source that it has reached, for reports. The macros of tl.h
 * note it on the kernel's thread while the kernel runs. The runtime (tl_runtime.c) keeps it in the
 * kernel's state from one entry to the next.
 */
#ifndef LP_TL_SOURCE_H
#define LP_TL_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A line of a kernel. A constant of the object that has the kernel. */
struct tl_source {
    const char *file;
    uint64_t line;
};

/* The line that the kernel on this thread has passed last; NULL: it has passed none. Volatile,
 * since the kernel may fault or loop forever right after it. */
extern __thread const struct tl_source *volatile tl_here;

#define TL_HERE()                                                                                  \
    do {                                                                                           \
        static const struct tl_source here_ = {__FILE__, __LINE__};                                \
        tl_here = &here_;                                                                          \
    } while (0)

/* " (at chain.c:31)"; "" for NULL. Returns text. */
const char *tl_source_text(const struct tl_source *source, char *text, size_t size);
enum { TL_SOURCE_TEXT_BYTES = 160 };

/* A line's number, for states and records that have no room for a pointer: any thread gets the same
 * one in the same process. 0: no line, or no number is left. */
uint16_t tl_source_number(const struct tl_source *source);
const struct tl_source *tl_source_numbered(uint16_t number); /* NULL for 0 */

#ifdef __cplusplus
}
#endif

#endif
