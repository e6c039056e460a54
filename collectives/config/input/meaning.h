/*
 * meaning.h: names by meaning: what the word of another tool, or of everyday speech, is called
 * here. For messages about unknown options, keys and values, before a guess by spelling.
 */
#ifndef COLLECTIVES_MEANING_H
#define COLLECTIVES_MEANING_H

#include <stddef.h>

/* What to type for a word such as "ranks": "--set system.sips.count=N". NULL: nothing is known. In
 * text, or static. */
enum { MEANING_BYTES = 120 };
const char *meaning_of(const char *word, size_t bytes, char text[MEANING_BYTES]);

#endif
