/* wide_sums.c: the f32 values of sums in TCM, as a short list of ranges (wide_sums.h). */
#include "collectives/data/wide_sums.h"

#include <stdlib.h>
#include <string.h>

void wide_sums_free(struct wide_sums *sums)
{
    for (size_t i = 0; i < sums->count; i++)
        free(sums->range[i].value);
    free(sums->range);
    *sums = (struct wide_sums){.count = 0};
}

static bool append(struct wide_sums *sums, struct wide_range range)
{
    if (sums->count == sums->room) {
        const size_t room = 2 * sums->room + 8;
        struct wide_range *const more = realloc(sums->range, room * sizeof *more);
        if (more == NULL) {
            free(range.value);
            return false;
        }
        sums->range = more;
        sums->room = room;
    }
    sums->range[sums->count++] = range;
    return true;
}

/* The part of a range from a byte of TCM on. */
static bool append_rest(struct wide_sums *sums, const struct wide_range *range, uint64_t from,
                        size_t itemsize)
{
    const size_t first = (from - range->at + itemsize - 1) / itemsize;
    const size_t count = range->bytes / itemsize - first;
    float *const value = malloc((count + 1) * sizeof *value);
    if (value == NULL)
        return false;
    memcpy(value, range->value + first, count * sizeof *value);
    return append(sums, (struct wide_range){range->pe, (uint32_t)(range->at + first * itemsize),
                                            (uint32_t)(count * itemsize), value});
}

bool wide_sums_forget(struct wide_sums *sums, uint32_t pe, uint64_t at, uint64_t bytes,
                      size_t itemsize)
{
    const uint64_t end = at + bytes;
    bool done = true;
    for (size_t i = 0; i < sums->count;) {
        struct wide_range range = sums->range[i];
        if (range.pe != pe || range.at >= end || range.at + (uint64_t)range.bytes <= at) {
            i++;
            continue;
        }
        if (range.at + (uint64_t)range.bytes > end)
            done &= append_rest(sums, &range, end, itemsize);
        if (range.at < at) {
            sums->range[i].bytes = (uint32_t)((at - range.at) / itemsize * itemsize);
            i++;
            continue;
        }
        free(range.value);
        sums->range[i] = sums->range[--sums->count];
    }
    return done;
}

bool wide_sums_put(struct wide_sums *sums, struct wide_range range, size_t itemsize)
{
    if (wide_sums_forget(sums, range.pe, range.at, range.bytes, itemsize))
        return append(sums, range);
    free(range.value);
    return false;
}

void wide_sums_take(const struct wide_sums *sums, uint32_t pe, uint32_t at, uint32_t bytes,
                    size_t itemsize, float *value)
{
    for (size_t i = 0; i < sums->count; i++) {
        const struct wide_range *const range = &sums->range[i];
        const uint64_t first = range->at > at ? range->at : at;
        const uint64_t range_end = (uint64_t)range->at + range->bytes,
                       own_end = (uint64_t)at + bytes;
        const uint64_t end = range_end < own_end ? range_end : own_end;
        if (range->pe != pe || first >= end || (first - at) % itemsize != 0 ||
            (first - range->at) % itemsize != 0)
            continue;
        memcpy(value + (first - at) / itemsize, range->value + (first - range->at) / itemsize,
               (end - first) / itemsize * sizeof *value);
    }
}
