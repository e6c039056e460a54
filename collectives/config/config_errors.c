/*
 * config_errors.c: the list of errors, how a place and a foreign text look in them, and which known
 * name a misspelled one may have meant. Errors are dropped, and counted, beyond a bound.
 */
#include "collectives/config/config_source.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_BYTES      1024u
#define NEAREST_BYTES_MAX  64u
#define SOURCE_SHOWN_BYTES 200

const char *config_place_text(const struct config_source *sources, struct config_place place,
                              char *buf, size_t size)
{
    if (place.source == 0)
        snprintf(buf, size, "configuration");
    else if (sources[place.source - 1].is_file)
        snprintf(buf, size, "%s:%u:%u", sources[place.source - 1].name, place.line, place.column);
    else
        snprintf(buf, size, "%.*s", SOURCE_SHOWN_BYTES, sources[place.source - 1].name);
    return buf;
}

/* Room for one more, or counts it as dropped. */
static struct config_error *errors_slot(struct config_errors *errors)
{
    if (errors->count >= CONFIG_ERRORS_MAX) {
        errors->dropped++;
        return NULL;
    }
    if (errors->count == errors->capacity) {
        const size_t capacity = errors->capacity == 0 ? 16 : 2 * errors->capacity;
        struct config_error *const list = realloc(errors->list, capacity * sizeof *list);
        if (list == NULL) {
            errors->dropped++;
            return NULL;
        }
        errors->list = list;
        errors->capacity = capacity;
    }
    return &errors->list[errors->count];
}

void config_error_text(struct config_errors *errors, const struct config_source *sources,
                       struct config_place place, const char *text)
{
    struct config_error *const error = errors_slot(errors);
    if (error == NULL)
        return;
    char where[MESSAGE_BYTES];
    config_place_text(sources, place, where, sizeof where);
    const size_t bytes = strlen(where) + strlen(text) + 3;
    char *const line = malloc(bytes);
    if (line == NULL) {
        errors->dropped++;
        return;
    }
    snprintf(line, bytes, "%s: %s", where, text);
    *error = (struct config_error){
        .source = place.source, .line = place.line, .column = place.column, .text = line};
    errors->count++;
}

void config_error(struct config_loader *loader, struct config_place place, const char *format, ...)
{
    char text[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    config_error_text(loader->errors, loader->sources, place, text);
}

static int compare_numbers(uint32_t a, uint32_t b) { return (a > b) - (a < b); }

static int compare_errors(const void *left, const void *right)
{
    const struct config_error *const a = left;
    const struct config_error *const b = right;
    int order = compare_numbers(a->source, b->source);
    order = order != 0 ? order : compare_numbers(a->line, b->line);
    order = order != 0 ? order : compare_numbers(a->column, b->column);
    return order != 0 ? order : strcmp(a->text, b->text);
}

void config_errors_sort(struct config_errors *errors)
{
    if (errors->count > 1)
        qsort(errors->list, errors->count, sizeof *errors->list, compare_errors);
}

void config_errors_print(FILE *file, const struct config_errors *errors)
{
    for (size_t i = 0; i < errors->count; i++)
        fprintf(file, "%s\n", errors->list[i].text);
    if (errors->dropped > 0)
        fprintf(file, "and %zu more errors\n", errors->dropped);
}

void config_errors_free(struct config_errors *errors)
{
    for (size_t i = 0; i < errors->count; i++)
        free(errors->list[i].text);
    free(errors->list);
    *errors = (struct config_errors){0};
}

size_t config_utf8_prefix(const char *text, size_t bytes)
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

const char *config_quote(const char *text, size_t bytes, char buf[CONFIG_QUOTE_BYTES])
{
    const size_t room = CONFIG_QUOTE_BYTES - 8; /* quotes, an ellipsis, NUL */
    const size_t shown = config_utf8_prefix(text, bytes < room ? bytes : room);
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

const char *config_quote_node(const struct config_node *node, char buf[CONFIG_QUOTE_BYTES])
{
    if (node->kind == CONFIG_SEQUENCE)
        snprintf(buf, CONFIG_QUOTE_BYTES, "a list");
    else if (node->kind == CONFIG_MAPPING)
        snprintf(buf, CONFIG_QUOTE_BYTES, "a mapping");
    else if (node->bytes == 0 && node->plain)
        snprintf(buf, CONFIG_QUOTE_BYTES, "nothing");
    else
        config_quote(node->text, node->bytes, buf);
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

void config_nearest_try(struct config_nearest *nearest, const char *text, const char *candidate)
{
    const size_t text_bytes = strlen(text);
    const size_t candidate_bytes = strlen(candidate);
    if (text_bytes > NEAREST_BYTES_MAX || candidate_bytes > NEAREST_BYTES_MAX)
        return;
    const unsigned distance = edit_distance(text, text_bytes, candidate, candidate_bytes);
    /* A third of the letters may differ; more is another word. */
    const size_t longer = text_bytes > candidate_bytes ? text_bytes : candidate_bytes;
    if (distance * 3 > longer + 2)
        return;
    if (nearest->best == NULL || distance < nearest->distance)
        *nearest = (struct config_nearest){.best = candidate, .distance = distance};
}
