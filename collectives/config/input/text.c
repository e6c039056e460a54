/*
 * text.c: shows, compares and checks texts from outside (text.h). Nothing here allocates or keeps
 * state.
 */
#include "collectives/config/input/text.h"

#include <stdbool.h>
#include <string.h>

enum { NEAREST_BYTES_MAX = 64 };

size_t text_whole(const char *text, size_t bytes, uint64_t max, uint64_t *value)
{
    uint64_t sum = 0;
    size_t digits = 0;
    for (; digits < bytes && text[digits] >= '0' && text[digits] <= '9'; digits++)
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)(text[digits] - '0'), &sum) || sum > max)
            return 0;
    *value = sum;
    return digits;
}

size_t text_utf8_prefix(const char *text, size_t bytes)
{
    size_t i = 0;
    while (i < bytes) {
        const unsigned char c = (unsigned char)text[i];
        const size_t length = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
        if ((c >= 0x80 && c < 0xc2) || c > 0xf4 || bytes - i < length)
            return i;
        for (size_t k = 1; k < length; k++)
            if (((unsigned char)text[i + k] & 0xc0) != 0x80)
                return i;
        const unsigned char second = length > 1 ? (unsigned char)text[i + 1] : 0;
        if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) ||
            (c == 0xf0 && second < 0x90) || (c == 0xf4 && second > 0x8f))
            return i;
        i += length;
    }
    return bytes;
}

/*
 * Bytes of the character at text[0] if it is one that a terminal obeys instead of showing: controls
 * (C0, DEL, C1), and the invisible and direction-changing ones of Unicode. Else 0.
 */
static size_t unprintable(const char *text, size_t bytes)
{
    unsigned char c[3] = {0};
    memcpy(c, text, bytes < sizeof c ? bytes : sizeof c);
    if (c[0] < 0x20 || c[0] == 0x7f)
        return 1;
    if (c[0] == 0xc2 && c[1] < 0xa0)
        return 2;
    const bool invisible = (c[0] == 0xe2 && c[1] == 0x80 &&
                            (c[2] >= 0xaa ? c[2] <= 0xae : c[2] >= 0x8b && c[2] <= 0x8f)) ||
                           (c[0] == 0xe2 && c[1] == 0x81 && c[2] >= 0xa0) ||
                           (c[0] == 0xef && c[1] == 0xbb && c[2] == 0xbf);
    return invisible ? 3 : 0;
}

const char *text_quote(const char *text, size_t bytes, char buf[TEXT_QUOTE_BYTES])
{
    const size_t room = TEXT_QUOTE_BYTES - 8; /* quotes, an ellipsis, NUL */
    const size_t shown = text_utf8_prefix(text, bytes < room ? bytes : room);
    size_t at = 0;
    buf[at++] = '\'';
    for (size_t i = 0; i < shown;) {
        const size_t skip = unprintable(text + i, shown - i);
        buf[at++] = skip > 0 ? '?' : text[i];
        i += skip > 0 ? skip : 1;
    }
    if (shown < bytes) {
        memcpy(buf + at, "...", 3);
        at += 3;
    }
    buf[at++] = '\'';
    buf[at] = '\0';
    return buf;
}

const char *text_quote_key(const char *text, size_t bytes, char buf[TEXT_QUOTE_BYTES])
{
    size_t shown = 0;
    while (shown < bytes && strchr(":$=@", text[shown]) == NULL)
        shown++;
    text_quote(text, shown, buf);
    const size_t end = strlen(buf) - 1; /* the closing quote; text_quote() leaves room for "..." */
    if (shown < bytes && (end < 3 || buf[end - 1] != '.'))
        memcpy(buf + end, "...'", sizeof "...'");
    return buf;
}

/* Levenshtein distance with transpositions of neighbours (optimal string alignment). */
static unsigned edit_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    unsigned row[3][NEAREST_BYTES_MAX + 1];
    for (size_t j = 0; j <= b_bytes; j++)
        row[0][j] = (unsigned)j;
    unsigned *before = row[2];
    unsigned *last = row[0];
    unsigned *now = row[1];
    for (size_t i = 1; i <= a_bytes; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= b_bytes; j++) {
            unsigned best = last[j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        unsigned *const spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[b_bytes];
}

/* In lower case, with '_' for '-'; `squeezed`: without either. */
static size_t plain_letters(const char *text, bool squeezed, char plain[NEAREST_BYTES_MAX + 1])
{
    size_t n = 0;
    for (; *text != '\0'; text++) {
        const bool joins = *text == '_' || *text == '-';
        if (joins && squeezed)
            continue;
        plain[n++] = joins ? '_' : *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;
    }
    plain[n] = '\0';
    return n;
}

static bool is_tail(const char *text, size_t text_bytes, const char *whole, size_t whole_bytes)
{
    return text_bytes < whole_bytes &&
           memcmp(whole + whole_bytes - text_bytes, text, text_bytes) == 0;
}

/* The text is some of the candidate's words: its first, or its last ones; or its last letters, as
 * `alltoall` of `ccl_all_to_all`. 0: no. */
static unsigned distance_of_part(const char *text, size_t text_bytes, const char *candidate,
                                 size_t candidate_bytes)
{
    enum { PART_BYTES_MIN = 3 };
    char a[NEAREST_BYTES_MAX + 1], b[NEAREST_BYTES_MAX + 1];
    if (text_bytes < PART_BYTES_MIN)
        return 0;
    if (text_bytes < candidate_bytes && strchr("_.", candidate[text_bytes]) != NULL &&
        memcmp(text, candidate, text_bytes) == 0)
        return 1;
    if (is_tail(text, text_bytes, candidate, candidate_bytes) &&
        strchr("_.", candidate[candidate_bytes - text_bytes - 1]) != NULL)
        return 1;
    const size_t a_bytes = plain_letters(text, true, a),
                 b_bytes = plain_letters(candidate, true, b);
    return a_bytes > PART_BYTES_MIN && is_tail(a, a_bytes, b, b_bytes) ? 2 : 0;
}

void text_nearest_try(struct text_nearest *nearest, const char *text, const char *candidate)
{
    char a[NEAREST_BYTES_MAX + 1], b[NEAREST_BYTES_MAX + 1];
    if (strlen(text) > NEAREST_BYTES_MAX || strlen(candidate) > NEAREST_BYTES_MAX)
        return;
    const size_t a_bytes = plain_letters(text, false, a),
                 b_bytes = plain_letters(candidate, false, b);
    const unsigned part = distance_of_part(a, a_bytes, b, b_bytes);
    unsigned distance = edit_distance(a, a_bytes, b, b_bytes);
    /* A third of the letters may differ; more is another word. */
    const size_t longer = a_bytes > b_bytes ? a_bytes : b_bytes;
    if (distance * 3 > longer + 2 && part == 0)
        return;
    if (part > 0 && part < distance)
        distance = part;
    if (nearest->best == NULL || distance < nearest->distance)
        *nearest = (struct text_nearest){.best = candidate, .distance = distance};
}
