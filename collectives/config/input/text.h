/*
 * text.h: texts from outside: how a message shows one, which known name it may have meant, whether
 * it is UTF-8, and the whole number that it begins with. Used by the loader and the command line.
 */
#ifndef COLLECTIVES_TEXT_H
#define COLLECTIVES_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum { TEXT_QUOTE_BYTES = 96 };

/*
 * A text from outside as messages show it: in single quotes, cut short, with '?' for each character
 * that a terminal would obey instead of showing. Returns buf.
 */
const char *text_quote(const char *text, size_t bytes, char buf[TEXT_QUOTE_BYTES]);
/* The same for a key of a file, which may be a file of another kind (of passwords, say): cut off at
 * the first ':', '$', '=' or '@', which no key has. */
const char *text_quote_key(const char *text, size_t bytes, char buf[TEXT_QUOTE_BYTES]);

/*
 * The candidate nearest to a text by edit distance (Levenshtein, with transpositions of
 * neighbours; case, '-' and '_' make no difference), or of which the text is the first or last
 * words. Zero-initialise it, then try each candidate; `best` stays NULL if none is near enough to
 * be meant.
 */
struct text_nearest {
    const char *best;
    unsigned distance;
};
void text_nearest_try(struct text_nearest *nearest, const char *text, const char *candidate);

/* Length of the well-formed UTF-8 start of text; `bytes` if all of it is. */
size_t text_utf8_prefix(const char *text, size_t bytes);

/*
 * The whole number in decimal digits that text begins with. Returns how many digits it has; 0 if
 * there are none, or if the number is above max.
 */
size_t text_whole(const char *text, size_t bytes, uint64_t max, uint64_t *value);

#endif
