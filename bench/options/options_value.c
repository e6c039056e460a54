/*
 * options_value.c: reads the value of one option by its type (options_value.h). Decimal fractions
 * are read exactly, in whole numbers, so that every machine and compiler reads the same.
 */
#include "bench/options/options_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/options/options_size.h"
#include "collectives/config/input/decimal.h"
#include "collectives/config/input/text.h"

bool options_given(const struct option_parse *parse, const char *name)
{
    for (size_t i = 0; i < parse->row_count; i++)
        if (parse->given[i] && strcmp(parse->rows[i].name, name) == 0)
            return true;
    return false;
}

void options_note_given(struct option_parse *parse, const char *name)
{
    for (size_t i = 0; i < parse->row_count; i++)
        parse->given[i] |= strcmp(parse->rows[i].name, name) == 0;
}

int options_refuse(struct cw_error *error, const char *name, const char *text, const char *expected)
{
    char quoted[TEXT_QUOTE_BYTES];
    return cw_error_set(error, CW_USAGE, "--%s %s: %s", name,
                        text_quote(text, strlen(text), quoted), expected);
}

void *options_field(const struct option_parse *parse, const struct option_row *row)
{
    return (char *)parse->values + row->offset;
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* Stores a number in a field of the row's size: a bool, 32 bits or 64 bits. */
static void store_number(struct option_parse *parse, const struct option_row *row, uint64_t number)
{
    const bool flag = number != 0;
    const uint32_t narrow = (uint32_t)number;
    const void *const from = row->bytes == sizeof flag     ? (const void *)&flag
                             : row->bytes == sizeof narrow ? (const void *)&narrow
                                                           : &number;
    memcpy(options_field(parse, row), from, row->bytes);
}

int options_read_count(struct cw_error *error, const char *name, const char *text, uint64_t min,
                       uint64_t max, uint64_t *value)
{
    const size_t digits = text_whole(text, strlen(text), max, value);
    if (digits > 0 && text[digits] == '\0' && *value >= min)
        return CW_OK;
    char expected[96];
    snprintf(expected, sizeof expected, "expected a whole number from %" PRIu64 " to %" PRIu64, min,
             max);
    return options_refuse(error, name, text, expected);
}

static int store_count(struct option_parse *parse, const struct option_row *row, const char *text,
                       struct cw_error *error)
{
    uint64_t number = 0;
    if (options_read_count(error, row->name, text, row->min, row->max, &number) != CW_OK)
        return CW_USAGE;
    store_number(parse, row, number * (row->scale != 0 ? row->scale : 1));
    return CW_OK;
}

static int store_bytes(struct option_parse *parse, const struct option_row *row, const char *text,
                       struct cw_error *error)
{
    uint64_t size;
    if (!size_parse(text, strlen(text), &size) || (size == 0 && !row->may_be_zero))
        return options_refuse(error, row->name, text, "expected a size such as 4096, 4KiB or 16MB");
    store_number(parse, row, size);
    return CW_OK;
}

/* The decimal number at the start of `text`, times `unit`. Returns how many bytes it has; 0: there
 * is none, or the product is not a whole number below 2^63. */
static size_t decimal_units(const char *text, int64_t unit, int64_t *product)
{
    struct decimal number;
    uint64_t whole;
    size_t bytes = text_whole(text, strlen(text), INT64_MAX, &whole);
    if (bytes > 0 && text[bytes] != '.')
        return __builtin_mul_overflow((int64_t)whole, unit, product) ? 0 : bytes;
    bytes = decimal_prefix(text, strlen(text), &number);
    return bytes > 0 && text[0] != '.' && decimal_times(number, unit, product) ? bytes : 0;
}

static int store_time(struct option_parse *parse, const struct option_row *row, const char *text,
                      struct cw_error *error)
{
    static const struct {
        const char *suffix;
        int64_t ps;
    } units[] = {{"", 1000000},   {"ps", 1},          {"ns", 1000},
                 {"us", 1000000}, {"ms", 1000000000}, {"s", 1000000000000}};
    const size_t digits = strspn(text, "0123456789.");
    int64_t time_ps;
    for (size_t i = 0; i < sizeof units / sizeof *units && digits > 0; i++)
        if (strcmp(text + digits, units[i].suffix) == 0 &&
            decimal_units(text, units[i].ps, &time_ps) == digits) {
            if ((uint64_t)time_ps < row->min)
                return options_refuse(error, row->name, text, "expected a time above 0");
            store_number(parse, row, (uint64_t)time_ps);
            return CW_OK;
        }
    return cw_error_set(error, CW_USAGE,
                        "--%s %s: a time is needed: a number of whole ps below 2^63, with a suffix "
                        "ps, ns, us, ms, s, or none for units of 1 us",
                        row->name, text);
}

/* 0.25 or 25%, times 2^32. */
static bool read_probability(const char *text, uint64_t *p32)
{
    const size_t length = strlen(text);
    const int64_t billion = 1000000000;
    const bool percent = length > 0 && text[length - 1] == '%';
    const int64_t whole = percent ? 100 * billion : billion;
    int64_t billionths = 0; /* of a per cent, or of 1 */
    const size_t bytes = decimal_units(text, billion, &billionths);
    if (bytes == 0 || bytes != length - percent || billionths > whole)
        return false;
    *p32 = (uint64_t)(((unsigned __int128)billionths << 32) / (unsigned __int128)whole);
    return true;
}

static int store_probability(struct option_parse *parse, const struct option_row *row,
                             const char *text, struct cw_error *error)
{
    const bool is_share = row->type == OPTION_SHARE;
    uint64_t p32 = 0;
    const bool legal = read_probability(text, &p32);
    if (is_share && (!legal || p32 == 0))
        return options_refuse(error, row->name, text,
                              "expected a share above 0, up to 1 or 100%; a stress run that undoes "
                              "nothing proves nothing");
    if (!legal)
        return cw_error_set(error, CW_USAGE,
                            "--%s %s: a probability is needed: 0 to 1, or 0%% to 100%%", row->name,
                            text);
    store_number(parse, row, p32);
    return CW_OK;
}

/* ---- names ---------------------------------------------------------------------------------- */

static int store_text(struct option_parse *parse, const struct option_row *row, const char *text,
                      struct cw_error *error)
{
    const bool is_named = row->type != OPTION_TEXT;
    if (is_named && row->type != OPTION_OUTPUT_FILE && text[0] == '\0')
        return options_refuse(error, row->name, text,
                              "expected a file's name, or - for standard output");
    if (row->type == OPTION_OUTPUT_FILE && (text[0] == '\0' || strcmp(text, "-") == 0))
        return options_refuse(error, row->name, text,
                              "expected a file's name: standard output has the result");
    memcpy(options_field(parse, row), &text, sizeof text);
    return CW_OK;
}

/* "a, b or c", with `last` before the last. */
static void list_choices(const struct option_row *row, const char *last, char *list, size_t bytes)
{
    const char *name;
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0; (name = row->choice(i)) != NULL && used < bytes; i++)
        used += (size_t)snprintf(list + used, bytes - used, "%s%s",
                                 i == 0                       ? ""
                                 : row->choice(i + 1) == NULL ? last
                                                              : ", ",
                                 name);
}

static int refuse_choice(const struct option_row *row, const char *text, struct cw_error *error)
{
    char list[OPTION_LEGAL_BYTES - 64], expected[OPTION_LEGAL_BYTES];
    struct text_nearest nearest = {0};
    list_choices(row, row->style == OPTION_EXPECTED ? " or " : ", ", list, sizeof list);
    for (size_t i = 0; row->choice(i) != NULL; i++)
        text_nearest_try(&nearest, text, row->choice(i));
    if (row->expected != NULL)
        snprintf(expected, sizeof expected, "expected %s", row->expected);
    else if (row->style == OPTION_SUGGESTED)
        snprintf(expected, sizeof expected, "no such %s; %s%s%sknown: %s", row->name,
                 nearest.best == NULL ? "" : "did you mean ",
                 nearest.best == NULL ? "" : nearest.best, nearest.best == NULL ? "" : "? ", list);
    else
        snprintf(expected, sizeof expected, "expected %s%s",
                 row->style == OPTION_ONE_OF ? "one of " : "", list);
    return options_refuse(error, row->name, text, expected);
}

static int store_choice(struct option_parse *parse, const struct option_row *row, const char *text,
                        struct cw_error *error)
{
    const char *name;
    size_t i = 0;
    while ((name = row->choice(i)) != NULL && strcmp(name, text) != 0)
        i++;
    if (name == NULL)
        return refuse_choice(row, text, error);
    if (row->type == OPTION_CHOICE)
        store_number(parse, row, row->min + i);
    else
        memcpy(options_field(parse, row), &name, sizeof name);
    return CW_OK;
}

int options_store(struct option_parse *parse, const struct option_row *row, const char *text,
                  struct cw_error *error)
{
    switch ((enum option_type)row->type) {
    case OPTION_HELP:
        parse->help = true;
        return CW_OK;
    case OPTION_SET:
    case OPTION_CLEAR:
        store_number(parse, row, row->type == OPTION_SET);
        return CW_OK;
    case OPTION_TEXT:
    case OPTION_FILE:
    case OPTION_OUTPUT:
    case OPTION_OUTPUT_FILE:
        return store_text(parse, row, text, error);
    case OPTION_COUNT:
        return store_count(parse, row, text, error);
    case OPTION_BYTES:
        return store_bytes(parse, row, text, error);
    case OPTION_TIME:
        return store_time(parse, row, text, error);
    case OPTION_PROBABILITY:
    case OPTION_SHARE:
        return store_probability(parse, row, text, error);
    case OPTION_CHOICE:
    case OPTION_CHOSEN_NAME:
        return store_choice(parse, row, text, error);
    case OPTION_OTHER:
        return row->read(parse, row, text, error);
    }
    return cw_error_set(error, CW_BUG, "--%s has no type", row->name);
}

int options_read_duration(struct option_parse *parse, const struct option_row *row,
                          const char *text, struct cw_error *error)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"min", 60000}, {"h", 3600000}};
    struct decimal number;
    int64_t ms = 0;
    const size_t bytes = decimal_prefix(text, strlen(text), &number);
    for (size_t i = 0; i < sizeof units / sizeof *units && bytes > 0; i++)
        if (strcmp(text + bytes, units[i].name) == 0 && !decimal_times(number, units[i].ms, &ms))
            ms = 0;
    if (ms <= 0)
        return options_refuse(error, row->name, text,
                              "expected a time above 0, such as 90, 90s, 15m or 2h");
    *(double *)options_field(parse, row) = (double)ms / 1000;
    return CW_OK;
}
