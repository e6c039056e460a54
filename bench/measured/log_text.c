/*
 * log_text.c: decodes a log character by character, and writes what a terminal would leave of it
 * (log_text.h). The text is never longer than its bytes.
 */
#include "bench/measured/log_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/input/text.h"

enum { END = UINT32_MAX, ESCAPE = 0x1b, SYMBOL_FOR_ESCAPE = 0x241b, BELL = 7 };

/* ---- characters ------------------------------------------------------------------------------ */

/* Bytes of an encoding; width 1: UTF-8, and Latin-1 where it is none. */
struct decoder {
    const unsigned char *at, *end;
    uint32_t width;
    bool is_big_endian;
};

/* Zero bytes among the first, at places that are `phase` modulo 2. */
static size_t zeros(const unsigned char *bytes, size_t count, size_t phase)
{
    size_t found = 0;
    for (size_t i = phase; i < count; i += 2)
        found += bytes[i] == 0;
    return found;
}

static struct decoder decoder_of(const char *text, size_t count)
{
    const unsigned char *const bytes = (const unsigned char *)text;
    struct decoder decoder = {bytes, bytes + count, 1, false};
    const size_t look = count < 512 ? count : 512;
    const size_t even = zeros(bytes, look, 0), odd = zeros(bytes, look, 1);
    if (count >= 4 && memcmp(bytes, "\xff\xfe\0\0", 4) == 0)
        decoder.width = 4;
    else if (count >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || (even == 0 && odd > look / 3)))
        decoder.width = 2;
    else if (count >= 2 && (memcmp(bytes, "\xfe\xff", 2) == 0 || (odd == 0 && even > look / 3)))
        decoder = (struct decoder){bytes, bytes + count, 2, true};
    return decoder;
}

static uint32_t next_wide(struct decoder *decoder)
{
    uint32_t unit = 0;
    for (uint32_t i = 0; i < decoder->width; i++)
        unit |= (uint32_t)decoder->at[i]
                << 8 * (decoder->is_big_endian ? decoder->width - 1 - i : i);
    decoder->at += decoder->width;
    return unit;
}

static uint32_t next_utf8(struct decoder *decoder)
{
    static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const unsigned char first = *decoder->at;
    const size_t left = (size_t)(decoder->end - decoder->at);
    const size_t length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (length > left || text_utf8_prefix((const char *)decoder->at, length) != length) {
        decoder->at++;
        return first;
    }
    uint32_t character = first & first_bits[length];
    for (size_t i = 1; i < length; i++)
        character = character << 6 | (decoder->at[i] & 0x3f);
    decoder->at += length;
    return character;
}

static uint32_t next_character(struct decoder *decoder)
{
    if ((size_t)(decoder->end - decoder->at) < decoder->width)
        return END;
    return decoder->width > 1 ? next_wide(decoder) : next_utf8(decoder);
}

static uint32_t peek_character(const struct decoder *decoder)
{
    struct decoder copy = *decoder;
    return next_character(&copy);
}

/* ---- what they look like --------------------------------------------------------------------- */

static bool is_invisible(uint32_t c)
{
    return (c >= 0x200b && c <= 0x200f) || (c >= 0x2060 && c <= 0x2064) || c == 0xfeff ||
           c == 0xad || c == 0x7f || (c >= 0x80 && c < 0xa0) ||
           (c < 0x20 && c != '\n' && c != '\t' && c != '\r');
}

static bool is_space(uint32_t c)
{
    return c == 0xa0 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f || c == 0x205f || c == 0x3000;
}

/* The spaces that style guides put between groups of digits. */
static bool is_group_space(uint32_t c) { return c == 0x2007 || c == 0x2009 || c == 0x202f; }

static char looks_like(uint32_t c)
{
    if (c < 0x80)
        return (char)c;
    if (is_space(c))
        return ' ';
    if (c == 0x2502 || c == 0x2503 || c == 0x2551 || c == 0xff5c)
        return '|';
    if ((c >= 0x2010 && c <= 0x2015) || c == 0x2212)
        return '-';
    return c == 0xb5 || c == 0x3bc ? 'u' : '?';
}

static bool is_digit(uint32_t c) { return c >= '0' && c <= '9'; }

/* ---- what a terminal obeys ------------------------------------------------------------------- */

/* Passes over an escape sequence whose first character has been read. */
static void skip_escape(struct decoder *decoder)
{
    const uint32_t kind = peek_character(decoder);
    if (kind == END || kind == '\n')
        return;
    (void)next_character(decoder);
    if (kind == '[') {
        uint32_t c = peek_character(decoder);
        for (; c >= 0x20 && c < 0x40; c = peek_character(decoder))
            (void)next_character(decoder);
        if (c >= 0x40 && c < 0x7f)
            (void)next_character(decoder);
    } else if (kind == ']') {
        for (uint32_t c = peek_character(decoder);
             c != END && c != '\n' && c != BELL && c != ESCAPE; c = peek_character(decoder))
            (void)next_character(decoder);
        if (peek_character(decoder) == BELL)
            (void)next_character(decoder);
    } else if (kind == '(' || kind == ')') {
        if (peek_character(decoder) != '\n')
            (void)next_character(decoder);
    }
}

/* A colour whose escape character was lost, or stands there in letters, "\x1b[0;32m", ends at
 * *length: takes it away. */
static void drop_lettered_colour(const char *text, size_t *length)
{
    static const char *const letters[] = {"^[",  "\\x1b",   "\\x1B", "\\033",
                                          "\\e", "\\u001b", "#033"};
    size_t at = *length - 1;
    while (at > 0 && (is_digit((unsigned char)text[at - 1]) || text[at - 1] == ';'))
        at--;
    if (at == 0 || text[at - 1] != '[')
        return;
    at--;
    *length = at;
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        const size_t bytes = strlen(letters[i]);
        if (at >= bytes && memcmp(text + at - bytes, letters[i], bytes) == 0)
            *length = at - bytes;
    }
}

/* A carriage return: at a line's end it belongs to it, else what follows is written over the line.
 */
static void carriage_return(struct decoder *decoder, char *text, size_t *length)
{
    const uint32_t next = peek_character(decoder);
    if (next == '\n' || next == '\r' || next == END)
        return;
    while (*length > 0 && text[*length - 1] != '\n')
        (*length)--;
}

static bool has_line_feed(struct decoder decoder)
{
    for (uint32_t c = next_character(&decoder); c != END; c = next_character(&decoder))
        if (c == '\n')
            return true;
    return false;
}

char *log_text(const char *bytes, size_t count, size_t *length)
{
    struct decoder decoder = decoder_of(bytes, count);
    char *const text = malloc(count + 1);
    *length = 0;
    if (text == NULL)
        return NULL;
    const bool has_feeds = has_line_feed(decoder);
    for (uint32_t c = next_character(&decoder); c != END; c = next_character(&decoder)) {
        if (c == ESCAPE || c == SYMBOL_FOR_ESCAPE) {
            skip_escape(&decoder);
        } else if (c == '\r' && has_feeds) {
            carriage_return(&decoder, text, length);
        } else if (is_group_space(c) && *length > 0 && is_digit((unsigned char)text[*length - 1]) &&
                   is_digit(peek_character(&decoder))) {
            text[(*length)++] = '_';
        } else if (!is_invisible(c)) {
            text[(*length)++] = c == '\r' ? '\n' : looks_like(c);
            if (c == 'm')
                drop_lettered_colour(text, length);
        }
    }
    text[*length] = '\0';
    return text;
}
