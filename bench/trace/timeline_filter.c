/*
 * timeline_filter.c: reads which places and times a timeline shows (timeline_filter.h).
 */
#include "bench/trace/timeline_filter.h"

#include <stdlib.h>

/* A number or a range up to `most` at *text, which moves on. */
static bool read_range(const char **text, uint32_t most, uint32_t *first, uint32_t *last)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    const unsigned long low = strtoul(*text, &end, 10);
    unsigned long high = low;
    if (*end == '-') {
        if (end[1] < '0' || end[1] > '9')
            return false;
        high = strtoul(end + 1, &end, 10);
    }
    *text = end;
    *first = (uint32_t)low;
    *last = (uint32_t)high;
    return low <= high && high <= most;
}

static bool read_filter_place(const char **text, const struct hw_config *hw,
                              struct filter_place *place)
{
    const uint32_t most[3] = {hw->sip_count - 1, hw_cubes(hw) - 1, hw_pes(hw) - 1};
    *place = (struct filter_place){.last = {most[0], most[1], most[2]}};
    for (int i = 0; i < 3; i++) {
        if (!read_range(text, most[i], &place->first[i], &place->last[i]))
            return false;
        if (**text != '.')
            break;
        if (i < 2)
            ++*text;
    }
    return **text == ',' || **text == '\0';
}

int timeline_filter_read(struct timeline_filter *filter, const char *places, int64_t from_ps,
                         int64_t to_ps, const struct hw_config *hw, struct cw_error *error)
{
    *filter = (struct timeline_filter){.from_ps = from_ps, .to_ps = to_ps > 0 ? to_ps : INT64_MAX};
    if (filter->from_ps >= filter->to_ps)
        return cw_error_set(error, CW_USAGE,
                            "--trace-from and --trace-to: the first must be before the second");
    for (const char *at = places; at != NULL && *at != '\0'; at += *at == ',') {
        if (filter->places == FILTER_PLACES_MAX)
            return cw_error_set(error, CW_USAGE, "--trace-only: more than %d places",
                                FILTER_PLACES_MAX);
        if (!read_filter_place(&at, hw, &filter->place[filter->places++]))
            return cw_error_set(error, CW_USAGE,
                                "--trace-only '%s': expected places such as 0, 1.10 or 2-3.0.0, up "
                                "to %u.%u.%u, with commas between them",
                                places, hw->sip_count - 1, hw_cubes(hw) - 1, hw_pes(hw) - 1);
    }
    if (places != NULL && filter->places == 0)
        return cw_error_set(error, CW_USAGE, "--trace-only: expected a place such as 0 or 1.10");
    return CW_OK;
}

bool timeline_filter_has(const struct timeline_filter *filter, struct hw_place place)
{
    const uint32_t at[3] = {place.sip, place.cube, place.pe};
    for (size_t i = 0; i < filter->places; i++) {
        const struct filter_place *const one = &filter->place[i];
        bool is_in = true;
        for (int k = 0; k < 3; k++)
            is_in = is_in && one->first[k] <= at[k] && at[k] <= one->last[k];
        if (is_in)
            return true;
    }
    return filter->places == 0;
}
