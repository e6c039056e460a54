/*
 * options_size.c: sizes and ranges of sizes on the command line. Every product is checked before it
 * is made, so that no range overflows.
 */
#include "bench/options/options_size.h"

#include <stdio.h>
#include <string.h>

#include "collectives/config/input/text.h"

#define SIZE_VALUE_MAX ((uint64_t)1 << 62)

bool size_parse(const char *text, size_t bytes, uint64_t *size)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } units[] = {{"", 1},           {"B", 1},        {"KiB", 1u << 10}, {"MiB", 1u << 20},
                 {"GiB", 1u << 30}, {"K", 1u << 10}, {"M", 1u << 20},   {"G", 1u << 30},
                 {"k", 1u << 10},   {"m", 1u << 20}, {"g", 1u << 30},   {"KB", 1000},
                 {"kB", 1000},      {"MB", 1000000}, {"GB", 1000000000}};
    uint64_t value;
    const size_t digits = text_whole(text, bytes, SIZE_VALUE_MAX, &value);
    if (digits == 0)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) != bytes - digits ||
            memcmp(units[i].name, text + digits, bytes - digits) != 0)
            continue;
        if (value > SIZE_VALUE_MAX / units[i].bytes)
            return false;
        *size = value * units[i].bytes;
        return true;
    }
    return false;
}

/* How a range continues: times factor, or plus step. */
struct step {
    uint64_t factor, plus;
};

static const char *step_parse(const char *text, struct step *step)
{
    *step = (struct step){.factor = 2};
    if (text[0] == 'x') {
        const size_t digits = text_whole(text + 1, strlen(text + 1), SIZE_VALUE_MAX, &step->factor);
        if (digits == 0 || text[1 + digits] != '\0' || step->factor < 2)
            return "a factor is x and a whole number from 2";
        return NULL;
    }
    if (text[0] != '+')
        return "a range ends in :xFACTOR or :+STEP";
    if (!size_parse(text + 1, strlen(text + 1), &step->plus) || step->plus == 0)
        return "a step is + and a size from 1 on";
    step->factor = 1;
    return NULL;
}

/* What is wrong with an item that is neither a size nor a range. */
static const char *wrong_item(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    const char *const unit = text + digits;
    if (text[0] == '\0')
        return "a size is missing; several are written 1K,1M";
    if (strchr(text, ' ') != NULL)
        return "a size is written without a blank: 64KB, and several as 1K,1M";
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return "a size has decimal digits: 4096, 4KiB";
    if (strstr(text, "..") != NULL || (digits > 0 && strchr(unit, '-') != NULL))
        return "a range is written 1KiB:1GiB:x2 or 1KiB:64KiB:+1KiB";
    if (digits > 0 && (unit[0] == '.' || ((unit[0] | 32) == 'e' && unit[1] != '\0')))
        return "a size is a whole number and a unit: 4096, 4KiB, 16MB";
    if (digits > 0 && (unit[0] | 32) >= 'a' && strchr(text, ':') == NULL)
        return "no such unit; there are B, KiB, MiB, GiB (or K, M, G: the same) and KB, MB, GB of "
               "1000";
    return "expected a size such as 4096, 4KiB or 16MB, a range such as 1KiB:1GiB:x2 or "
           "1KiB:64KiB:+1KiB, or several: 1K,1M";
}

/* One size or one range, added to those that there are. */
static const char *parse_item(const char *text, uint64_t *sizes, size_t room, size_t *count)
{
    const char *const wrong = wrong_item(text);
    const char *const colon = strchr(text, ':');
    uint64_t least, most;
    if (!size_parse(text, colon == NULL ? strlen(text) : (size_t)(colon - text), &least))
        return wrong;
    if (colon == NULL && *count == room)
        return "a range of more than 256 sizes";
    if (colon == NULL) {
        sizes[(*count)++] = least;
        return NULL;
    }
    const char *const second = strchr(colon + 1, ':');
    struct step step = {.factor = 2};
    const size_t most_bytes = second == NULL ? strlen(colon + 1) : (size_t)(second - colon - 1);
    if (!size_parse(colon + 1, most_bytes, &most))
        return wrong;
    const char *const problem = second == NULL ? NULL : step_parse(second + 1, &step);
    if (problem != NULL)
        return problem;
    if (least > most)
        return "a range goes from the smaller to the larger size";
    if (least == 0 && step.plus == 0)
        return "a range that multiplies cannot begin at 0";
    for (uint64_t size = least;;) {
        if (*count == room)
            return "a range of more than 256 sizes";
        sizes[(*count)++] = size;
        if (size > (most - step.plus) / step.factor || step.plus > most)
            return NULL;
        size = size * step.factor + step.plus;
    }
}

const char *sizes_parse(const char *text, uint64_t *sizes, size_t room, size_t *count)
{
    char item[80];
    *count = 0;
    for (;;) {
        const size_t bytes = strcspn(text, ",");
        /* One that is too long is wrong anyway. */
        snprintf(item, sizeof item, "%.*s", (int)(bytes < sizeof item ? bytes : 0), text);
        const char *const wrong = parse_item(item, sizes, room, count);
        if (wrong != NULL || text[bytes] == '\0')
            return wrong;
        text += bytes + 1;
    }
}
