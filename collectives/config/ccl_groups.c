/*
 * ccl_groups.c: which ranks are in which group of a set. The ranks of a set, in their order, are
 * blocks of size x stride places; a block has `stride` groups, and the first of group g in it is
 * the block's place g.
 */
#include "collectives/config/ccl_groups.h"

#include <stdio.h>
#include <string.h>

static uint32_t range_length(const struct ccl_range *range)
{
    return (range->last - range->first) / range->step + 1;
}

uint32_t ccl_group_rank(const struct ccl_group_set *set, uint32_t group, uint32_t i)
{
    const uint32_t block = group / set->stride, first = group % set->stride;
    uint32_t place = block * set->size * set->stride + first + i * set->stride;
    const struct ccl_range *range = set->ranks;
    for (; place >= range_length(range); range++)
        place -= range_length(range);
    return range->first + place * range->step;
}

bool ccl_group_of(const struct ccl_group_set *set, uint32_t rank, uint32_t *group, uint32_t *i)
{
    uint32_t before = 0;
    for (uint32_t k = 0; k < set->range_count; k++) {
        const struct ccl_range *const range = &set->ranks[k];
        if (rank < range->first || rank > range->last || (rank - range->first) % range->step > 0) {
            before += range_length(range);
            continue;
        }
        const uint32_t place = before + (rank - range->first) / range->step;
        const uint32_t block = place / (set->size * set->stride);
        const uint32_t within = place % (set->size * set->stride);
        *group = block * set->stride + within % set->stride;
        *i = within / set->stride;
        return true;
    }
    return false;
}

const char *ccl_group_name(const struct ccl_group_set *set, uint32_t group, char *buf, size_t size)
{
    if (set->numbered)
        snprintf(buf, size, "%s.%u", set->name, group);
    else
        snprintf(buf, size, "%s", set->name);
    return buf;
}

const struct ccl_group_set *ccl_groups_find(const struct ccl_groups *groups, const char *name)
{
    for (uint32_t i = 0; i < groups->count; i++)
        if (strcmp(groups->sets[i].name, name) == 0)
            return &groups->sets[i];
    return NULL;
}
