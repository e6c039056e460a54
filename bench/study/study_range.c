/*
 * study_range.c: expands the range of an axis into its values. Decimals stay exact; no double is
 * involved.
 */
#include "bench/study/study_range.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/options/options_size.h"
#include "collectives/config/input/decimal.h"

static const char forms[] = "expected FIRST:LAST, FIRST:LAST:xFACTOR or FIRST:LAST:+STEP; a value "
                            "that has a colon stands in a list: [value]";

static const char too_many[] = "more than 10000 values; a larger step is needed";

enum { DIGITS_MAX = 17 };

static int64_t power_of_ten(uint32_t exponent)
{
    int64_t power = 1;
    for (uint32_t i = 0; i < exponent; i++)
        power *= 10;
    return power;
}

/* A number with the fewest places; false: it has more digits than a decimal holds. */
static bool normal(__int128 mantissa, uint32_t places, struct decimal *out)
{
    for (; places > 0 && mantissa % 10 == 0; places--)
        mantissa /= 10;
    const __int128 most = power_of_ten(DIGITS_MAX);
    if (mantissa >= most || mantissa <= -most || places > DIGITS_MAX)
        return false;
    *out = (struct decimal){.mantissa = (int64_t)mantissa, .places = places};
    return true;
}

static bool times(struct decimal a, struct decimal b, struct decimal *out)
{
    return normal((__int128)a.mantissa * b.mantissa, a.places + b.places, out);
}

static bool plus(struct decimal a, struct decimal b, struct decimal *out)
{
    const uint32_t places = a.places > b.places ? a.places : b.places;
    return places <= DIGITS_MAX &&
           normal((__int128)a.mantissa * power_of_ten(places - a.places) +
                      (__int128)b.mantissa * power_of_ten(places - b.places),
                  places, out);
}

/* The third part of a range, "x2" or "+8"; NULL: there is none, and the range doubles. */
static bool read_step(const char *text, struct decimal *step, bool *is_factor)
{
    *is_factor = text == NULL || text[0] == 'x';
    if (text == NULL) {
        *step = (struct decimal){.mantissa = 2};
        return true;
    }
    if ((text[0] != 'x' && text[0] != '+') || !decimal_parse(text + 1, strlen(text + 1), step))
        return false;
    return decimal_compare(*step, (struct decimal){.mantissa = *is_factor ? 1 : 0}) > 0;
}

struct range {
    struct decimal first, last, step;
    bool is_factor;
};

/* 1: done; 0: not a range of decimals; -1: a wrong range of decimals. */
static int read_decimals(const char *text, struct range *range)
{
    const char *const colon = strchr(text, ':');
    const char *const second = colon != NULL ? strchr(colon + 1, ':') : NULL;
    if (colon == NULL || !decimal_parse(text, (size_t)(colon - text), &range->first))
        return 0;
    const size_t last = second != NULL ? (size_t)(second - colon - 1) : strlen(colon + 1);
    if (!decimal_parse(colon + 1, last, &range->last))
        return 0;
    return read_step(second != NULL ? second + 1 : NULL, &range->step, &range->is_factor) ? 1 : -1;
}

static size_t count_values(const struct range *range)
{
    struct decimal at = range->first;
    size_t count = 0;
    while (decimal_compare(at, range->last) <= 0 && count <= STUDY_RANGE_MAX) {
        count++;
        if (!(range->is_factor ? times : plus)(at, range->step, &at))
            break;
    }
    return count;
}

static const char *list_decimals(struct config_arena *arena, const struct range *range,
                                 const char *const **texts, size_t *count)
{
    if (decimal_compare(range->first, range->last) > 0)
        return "a range goes from the smaller value to the larger one";
    if (range->is_factor && range->first.mantissa <= 0)
        return "a range with a factor begins above 0";
    const size_t values = count_values(range);
    if (values > STUDY_RANGE_MAX)
        return too_many;
    const char **const list = config_arena_alloc(arena, values * sizeof *list);
    struct decimal at = range->first;
    for (size_t i = 0; list != NULL && i < values; i++) {
        char text[DECIMAL_TEXT_BYTES];
        decimal_print(at, text);
        list[i] = config_arena_text(arena, text, strlen(text));
        if (i + 1 < values)
            (void)(range->is_factor ? times : plus)(at, range->step, &at);
    }
    *texts = list;
    *count = list != NULL && !arena->failed ? values : 0;
    return NULL;
}

static const char *list_sizes(struct config_arena *arena, const char *text,
                              const char *const **texts, size_t *count)
{
    size_t values = 0;
    uint64_t *const sizes = config_arena_alloc(arena, STUDY_RANGE_MAX * sizeof *sizes);
    const char *const wrong =
        sizes != NULL ? sizes_parse(text, sizes, STUDY_RANGE_MAX, &values) : NULL;
    if (wrong != NULL && values == STUDY_RANGE_MAX)
        return too_many;
    if (wrong != NULL)
        return strchr(text, ':') != NULL && text[0] >= '0' && text[0] <= '9' ? wrong : forms;
    const char **const list = config_arena_alloc(arena, values * sizeof *list);
    for (size_t i = 0; list != NULL && i < values; i++) {
        char size[24];
        const int bytes = snprintf(size, sizeof size, "%" PRIu64, sizes[i]);
        list[i] = config_arena_text(arena, size, (size_t)bytes);
    }
    *texts = list;
    *count = list != NULL && !arena->failed ? values : 0;
    return NULL;
}

const char *study_range(struct config_arena *arena, const char *text, const char *const **texts,
                        size_t *count)
{
    struct range range;
    *count = 0;
    const int kind = read_decimals(text, &range);
    if (kind < 0)
        return "the third part is xFACTOR, above 1, or +STEP, above 0";
    return kind > 0 ? list_decimals(arena, &range, texts, count)
                    : list_sizes(arena, text, texts, count);
}
