/*
 * config_ranges.c: reads numbers and ranges of them, and writes them as they are printed: a range
 * of one number as that number, a list of one range as that range, and no step where it is 1.
 */
#include "collectives/config/config_ranges.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { RANGE_TEXT_BYTES = 40 };

/* A whole number at text + *at. */
static bool read_part(const struct config_node *node, size_t *at, uint32_t max, uint32_t *part)
{
    uint64_t value = 0;
    const size_t digits = text_whole(node->text + *at, node->bytes - *at, max, &value);
    if (digits == 0 || (digits > 1 && node->text[*at] == '0'))
        return false;
    *at += digits;
    *part = (uint32_t)value;
    return true;
}

/* "A", "A-B" or "A-B/STEP"; NULL: it is one, else why not. */
static const char *read_range(const struct config_node *node, uint32_t max, bool alone,
                              struct ccl_range *range)
{
    size_t at = 0;
    if (node->kind != CONFIG_SCALAR || !read_part(node, &at, max, &range->first))
        return "";
    range->last = range->first;
    range->step = 1;
    if (at < node->bytes && node->text[at] == '-') {
        at++;
        if (!read_part(node, &at, max, &range->last))
            return "";
        if (range->last < range->first)
            return "; the lower number comes first";
        if (at < node->bytes && node->text[at] == '/') {
            at++;
            if (alone)
                return "; it has no step";
            if (!read_part(node, &at, UINT32_MAX, &range->step) || range->step == 0)
                return "; a step is a whole number of at least 1";
        }
    }
    if (at != node->bytes)
        return "";
    range->last -= (range->last - range->first) % range->step;
    if (range->last == range->first)
        range->step = 1;
    return NULL;
}

static size_t put_range(char *text, size_t room, const struct ccl_range *range)
{
    if (range->first == range->last)
        return (size_t)snprintf(text, room, "%" PRIu32, range->first);
    if (range->step == 1)
        return (size_t)snprintf(text, room, "%" PRIu32 "-%" PRIu32, range->first, range->last);
    return (size_t)snprintf(text, room, "%" PRIu32 "-%" PRIu32 "/%" PRIu32, range->first,
                            range->last, range->step);
}

static const char *canonical(struct config_arena *arena, const struct ccl_range *at, uint32_t count)
{
    const size_t room = (size_t)count * RANGE_TEXT_BYTES + 3;
    char *const text = config_arena_alloc(arena, room);
    size_t n = 0;
    if (text == NULL)
        return NULL;
    if (count > 1)
        text[n++] = '[';
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            n += (size_t)snprintf(text + n, room - n, ", ");
        n += put_range(text + n, room - n, &at[i]);
    }
    if (count > 1)
        text[n++] = ']';
    return text;
}

const struct config_ranges *config_ranges_read(struct config_arena *arena,
                                               const struct config_node *node, uint32_t max,
                                               bool alone, const struct config_node **wrong,
                                               const char **hint)
{
    const bool is_list = node->kind == CONFIG_SEQUENCE;
    uint32_t count = is_list ? 0 : 1;
    for (const struct config_node *item = is_list ? node->first : NULL; item != NULL;
         item = item->next)
        count++;
    *wrong = node;
    *hint = "";
    if (count == 0)
        *hint = ", which is empty";
    if (count == 0 || (is_list && alone))
        return NULL;
    struct ccl_range *const at = config_arena_alloc(arena, count * sizeof *at);
    struct config_place *const places = config_arena_alloc(arena, count * sizeof *places);
    struct config_ranges *const ranges = config_arena_alloc(arena, sizeof *ranges);
    *wrong = NULL;
    if (at == NULL || places == NULL || ranges == NULL)
        return NULL;
    const struct config_node *item = is_list ? node->first : node;
    for (uint32_t i = 0; i < count; i++, item = item->next) {
        *hint = read_range(item, max, alone, &at[i]);
        places[i] = item->place;
        if (*hint != NULL) {
            *wrong = item;
            return NULL;
        }
    }
    *ranges = (struct config_ranges){
        .count = count, .at = at, .places = places, .text = canonical(arena, at, count)};
    return ranges->text != NULL ? ranges : NULL;
}
