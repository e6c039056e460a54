/*
 * log_words.c: splits lines of logs into words, and reads numbers and units (log_words.h). Numbers
 * are read digit by digit, so that they do not depend on a locale.
 */
#include "bench/measured/log_words.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "bench/options/options_size.h"

enum { TAB = 8 };

bool log_is_blank(char c) { return c == ' ' || c == '\t'; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_quote(char c) { return c == '"' || c == '\'' || c == '`' || c == '*'; }

bool log_word_is(struct log_word word, const char *text)
{
    return word.bytes == strlen(text) && memcmp(word.at, text, word.bytes) == 0;
}

static size_t next_column(size_t column, char c)
{
    return c == '\t' ? (column / TAB + 1) * TAB : column + 1;
}

/* The cell from `from` to `to`, without blanks and quotes around it. */
static struct log_word cell(const char *from, const char *to, size_t left)
{
    size_t column = left;
    while (from < to && log_is_blank(*from))
        column = next_column(column, *from++);
    while (to > from && (log_is_blank(to[-1]) || to[-1] == '\\')) /* which ends a row of LaTeX */
        to--;
    while (to - from >= 2 && is_quote(*from) && to[-1] == *from) {
        from++, to--;
        column++;
    }
    return (struct log_word){from, (size_t)(to - from), column, column + (size_t)(to - from)};
}

size_t log_split(const char *line, size_t bytes, char separator,
                 struct log_word word[LOG_WORDS_MAX])
{
    const char *const end = line + bytes;
    size_t count = 0, column = 0;
    for (const char *at = line; at < end;) {
        if (separator == ' ' && log_is_blank(*at)) {
            column = next_column(column, *at++);
            continue;
        }
        const char *const from = at;
        const size_t left = column;
        bool is_quoted = false;
        for (;
             at < end && (is_quoted || (separator == ' ' ? !log_is_blank(*at) : *at != separator));
             at++) {
            is_quoted ^= separator != ' ' && *at == '"';
            column = next_column(column, *at);
        }
        if (count == LOG_WORDS_MAX)
            return LOG_WORDS_MAX + 1;
        word[count++] = cell(from, at, left);
        if (separator != ' ' && at < end)
            at++, column++;
    }
    return count;
}

static bool is_unit(struct log_word word)
{
    return (word.bytes > 1 || (word.bytes == 1 && isupper((unsigned char)*word.at) != 0)) &&
           (log_size_unit(word.at, word.bytes) > 0 || log_time_unit(word.at, word.bytes) > 0 ||
            log_rate_unit(word.at, word.bytes) > 0);
}

size_t log_join_units(struct log_word *word, size_t words)
{
    size_t kept = 0;
    for (size_t i = 0; i < words; i++) {
        struct log_number number;
        if (kept > 0 && word[i].left == word[kept - 1].right + 1 && is_unit(word[i]) &&
            log_number_read(word[kept - 1], &number) && number.rest.bytes == 0) {
            word[kept - 1].bytes = (size_t)(word[i].at + word[i].bytes - word[kept - 1].at);
            word[kept - 1].right = word[i].right;
        } else {
            word[kept++] = word[i];
        }
    }
    return kept;
}

/* ---- numbers --------------------------------------------------------------------------------- */

bool log_is_absent(struct log_word word)
{
    static const char *const names[] = {"N/A", "NA", "-", "--", "nan", "-nan", "null", "none", "?"};
    if (word.bytes == 0)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (word.bytes == strlen(names[i]) && strncasecmp(word.at, names[i], word.bytes) == 0)
            return true;
    return false;
}

/* Whether a sign between groups of three digits stands at `at`; `in_group`: digits before it. */
static bool is_group_sign(const char *at, const char *end, size_t in_group)
{
    if (end - at < 2 || in_group == 0 || !is_digit(at[1]))
        return false;
    if (*at == '_')
        return true;
    return (*at == ',' || *at == '\'') && in_group <= 3 && end - at >= 4 && is_digit(at[2]) &&
           is_digit(at[3]) && (end - at == 4 || !is_digit(at[4]));
}

/* The digits at *at, with signs between groups, added to value. Returns how many. */
static int digits_of(const char **at, const char *end, double *value)
{
    int digits = 0;
    size_t in_group = 0;
    for (; *at < end; (*at)++) {
        if (is_digit(**at)) {
            *value = *value * 10 + (**at - '0');
            digits++, in_group++;
        } else if (is_group_sign(*at, end, in_group)) {
            in_group = 0;
        } else {
            break;
        }
    }
    return digits;
}

/* "e-05" at *at. */
static int exponent_of(const char **at, const char *end)
{
    const char *next = *at + 1;
    double value = 0;
    if (*at >= end || (**at | 0x20) != 'e')
        return 0;
    const bool is_less = next < end && *next == '-';
    next += is_less || (next < end && *next == '+');
    if (digits_of(&next, end, &value) == 0)
        return 0;
    *at = next;
    value = value > 9999 ? 9999 : value;
    return (int)(is_less ? -value : value);
}

bool log_number_read(struct log_word word, struct log_number *number)
{
    const char *at = word.at, *const end = at + word.bytes;
    double value = 0;
    int decimals = 0;
    const bool is_negative = at < end && *at == '-';
    at += is_negative || (at < end && *at == '+');
    int digits = digits_of(&at, end, &value);
    if (at < end && *at == '.') {
        at++;
        decimals = digits_of(&at, end, &value);
        digits += decimals;
    }
    if (digits == 0)
        return false;
    const int power = exponent_of(&at, end) - decimals;
    /* Dividing by a power of ten that a double holds rounds once, as reading all of it would. */
    value = power < 0 && power >= -22 ? value / pow(10, -power) : value * pow(10, power);
    *number = (struct log_number){.value = is_negative ? -value : value, .step = pow(10, power)};
    while (at < end && log_is_blank(*at))
        at++;
    number->rest =
        (struct log_word){at, (size_t)(end - at), word.right - (size_t)(end - at), word.right};
    return true;
}

double log_size_of(double value, double unit)
{
    int exponent;
    const bool is_power = value > 0 && frexp(value, &exponent) == 0.5;
    const double binary = unit == 1e3   ? 1024
                          : unit == 1e6 ? 1048576
                          : unit == 1e9 ? 1073741824
                                        : unit;
    return value * (is_power ? binary : unit);
}

/* "64 KB", "1.5 MiB": a number with a unit, of whole bytes. */
static bool size_with_unit(struct log_word word, uint64_t *bytes)
{
    struct log_number number;
    if (!log_number_read(word, &number) || number.rest.bytes == 0 || number.value < 0)
        return false;
    const double unit = log_size_unit(number.rest.at, number.rest.bytes);
    const double size = log_size_of(number.value, unit);
    if (unit == 0 || size != floor(size) || size > 9e18)
        return false;
    *bytes = (uint64_t)size;
    return true;
}

bool log_size_read(struct log_word word, uint64_t *bytes)
{
    char text[40];
    size_t length = 0, in_group = 0;
    for (const char *at = word.at, *const end = at + word.bytes; at < end; at++) {
        if (is_group_sign(at, end, in_group)) {
            in_group = 0;
            continue;
        }
        if (length == sizeof text)
            return false;
        if (*at == 'B' && length > 0 && !is_digit(text[length - 1]) && text[length - 1] != 'i')
            return size_with_unit(word, bytes);
        in_group = is_digit(*at) ? in_group + 1 : 0;
        text[length++] = *at;
    }
    if (length > 0 && size_parse(text, length, bytes))
        return *bytes <= INT64_MAX;
    return size_with_unit(word, bytes);
}

/* ---- decimal commas -------------------------------------------------------------------------- */

static bool is_number_sign(char c) { return is_digit(c) || c == '.' || c == ',' || c == '_'; }

/* The run of digits and signs that begins at `from`, from its first digit to its last. */
static size_t run_of_signs(const char *line, size_t from, size_t bytes)
{
    size_t end = from;
    while (end < bytes && is_number_sign(line[end]))
        end++;
    while (end > from && !is_digit(line[end - 1]))
        end--;
    return end - from;
}

/* Whether the last sign of a run is `sign`, stands there once, and has no three digits after it, or
 * another sign before it. */
static bool is_decimal(const char *run, size_t bytes, char sign)
{
    size_t signs = 0, others = 0, at = 0;
    for (size_t i = 0; i < bytes; i++) {
        others += !is_digit(run[i]) && run[i] != sign && signs == 0;
        if (run[i] == sign)
            signs++, at = i;
        else if (!is_digit(run[i]) && signs > 0)
            return false;
    }
    return signs == 1 && (bytes - at != 4 || others > 0);
}

/* The next run that a word begins with; its bytes, 0: there is none. */
static size_t next_run(const char *line, size_t bytes, size_t *from)
{
    for (; *from < bytes; (*from)++) {
        const char before = *from > 0 ? line[*from - 1] : ' ';
        if (is_digit(line[*from]) && !is_number_sign(before) && before != ':' &&
            isalpha((unsigned char)before) == 0)
            return run_of_signs(line, *from, bytes);
    }
    return 0;
}

void log_count_decimals(const char *line, size_t bytes, size_t *commas, size_t *points)
{
    size_t run;
    for (size_t from = 0; (run = next_run(line, bytes, &from)) > 0; from += run) {
        *commas += is_decimal(line + from, run, ',');
        *points += is_decimal(line + from, run, '.');
    }
}

void log_point_decimals(char *line, size_t bytes)
{
    size_t run;
    for (size_t from = 0; (run = next_run(line, bytes, &from)) > 0; from += run)
        for (size_t i = from; i < from + run; i++)
            line[i] = (char)(line[i] == '.' ? '_' : line[i] == ',' ? '.' : line[i]);
}

/* ---- units ----------------------------------------------------------------------------------- */

struct unit {
    const char *name;
    double factor;
};

static double factor_of(const struct unit *units, size_t count, const char *unit, size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(units[i].name) == bytes && strncasecmp(units[i].name, unit, bytes) == 0)
            return units[i].factor;
    return 0;
}

double log_time_unit(const char *unit, size_t bytes)
{
    static const struct unit units[] = {
        {"us", 1},           {"usec", 1},          {"usecs", 1},
        {"microseconds", 1}, {"microsec", 1},      {"ms", 1e3},
        {"msec", 1e3},       {"msecs", 1e3},       {"milliseconds", 1e3},
        {"s", 1e6},          {"sec", 1e6},         {"secs", 1e6},
        {"seconds", 1e6},    {"ns", 1e-3},         {"nsec", 1e-3},
        {"nsecs", 1e-3},     {"nanoseconds", 1e-3}};
    return factor_of(units, sizeof units / sizeof *units, unit, bytes);
}

double log_size_unit(const char *unit, size_t bytes)
{
    static const struct unit units[] = {{"b", 1},         {"byte", 1},       {"bytes", 1},
                                        {"k", 1024},      {"kib", 1024},     {"m", 1048576},
                                        {"mib", 1048576}, {"g", 1073741824}, {"gib", 1073741824},
                                        {"kb", 1e3},      {"mb", 1e6},       {"gb", 1e9}};
    return factor_of(units, sizeof units / sizeof *units, unit, bytes);
}

double log_rate_unit(const char *unit, size_t bytes)
{
    static const struct unit prefixes[] = {
        {"k", 1e-6},        {"m", 1e-3},          {"g", 1}, {"t", 1e3}, {"ki", 1024e-9},
        {"mi", 1048576e-9}, {"gi", 1073741824e-9}};
    size_t length = bytes;
    if (length > 2 && unit[length - 1] == 's' &&
        (unit[length - 2] == '/' || unit[length - 2] == 'p'))
        length -= 2;
    else if (length > 4 && strncasecmp(unit + length - 4, "/sec", 4) == 0)
        length -= 4;
    else
        return 0;
    if (length > 5 && strncasecmp(unit + length - 5, "bytes", 5) == 0)
        return factor_of(prefixes, 7, unit, length - 5);
    if (length > 3 && strncasecmp(unit + length - 3, "bit", 3) == 0)
        return factor_of(prefixes, 7, unit, length - 3) / 8;
    if (unit[length - 1] == 'B')
        return factor_of(prefixes, 7, unit, length - 1);
    return unit[length - 1] == 'b' ? factor_of(prefixes, 7, unit, length - 1) / 8 : 0;
}
