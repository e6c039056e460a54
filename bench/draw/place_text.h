/*
 * place_text.h: many places of a machine as a short text: parts joined by dots, each with runs of
 * numbers: "0-3.10.0,2" are PEs 0 and 2 of cube 10 of SIPs 0 to 3. Places that do not form one such
 * product are several, separated by spaces.
 */
#ifndef BENCH_DRAW_PLACE_TEXT_H
#define BENCH_DRAW_PLACE_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum { PLACE_PARTS = 3 };
struct place_of {
    uint32_t part[PLACE_PARTS]; /* SIP, cube, PE; parts that are not used are 0 */
};

/* By PE, then cube, then SIP: the order that place_text() asks for. */
int place_compare(const struct place_of *a, const struct place_of *b);

/* The text of places in order, each once, of the first `parts` parts; `prefix` precedes each
 * product. Each place stands for `run` SIPs, its own and those after it. The caller frees it. NULL:
 * out of memory. */
char *place_text(const struct place_of *places, size_t count, uint32_t parts, const char *prefix,
                 uint32_t run);

#endif
