/*
 * maps.c: the table of maps (maps.h): a sorted list for each SIP, with a binary search, since hosts
 * keep a handful of tensors and make them at rising addresses.
 */
#include "lp/maps.h"

#include <stdlib.h>
#include <string.h>

struct map_list {
    struct lp_map *at; /* sorted by va */
    uint32_t count, capacity;
};

struct lp_maps {
    uint32_t sips, pes;
    struct map_list of_sip[];
};

struct lp_maps *lp_maps_create(uint32_t sips, uint32_t pes_per_cube)
{
    struct lp_maps *const maps = calloc(1, sizeof *maps + sips * sizeof maps->of_sip[0]);
    if (maps == NULL)
        return NULL;
    maps->sips = sips;
    maps->pes = pes_per_cube;
    return maps;
}

void lp_maps_free(struct lp_maps *maps)
{
    if (maps == NULL)
        return;
    for (uint32_t sip = 0; sip < maps->sips; sip++)
        free(maps->of_sip[sip].at);
    free(maps);
}

/* How many maps of the list begin at or before the address. */
static inline uint32_t maps_up_to(const struct map_list *list, uint64_t va)
{
    uint32_t low = 0, high = list->count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (list->at[middle].va <= va)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool lp_maps_add(struct lp_maps *maps, const struct lp_map *map)
{
    struct map_list *const list = &maps->of_sip[map->sip];
    if (list->count == list->capacity) {
        const uint32_t capacity = list->capacity > 0 ? 2 * list->capacity : 4;
        struct lp_map *const at = realloc(list->at, capacity * sizeof *at);
        if (at == NULL)
            return false;
        list->at = at;
        list->capacity = capacity;
    }
    const uint32_t i = maps_up_to(list, map->va);
    memmove(&list->at[i + 1], &list->at[i], (list->count - i) * sizeof list->at[0]);
    list->at[i] = *map;
    list->count++;
    return true;
}

void lp_maps_drop(struct lp_maps *maps, uint32_t sip, uint64_t va)
{
    struct map_list *const list = &maps->of_sip[sip];
    const uint32_t after = maps_up_to(list, va);
    if (after == 0 || list->at[after - 1].va != va)
        return;
    memmove(&list->at[after - 1], &list->at[after], (list->count - after) * sizeof list->at[0]);
    list->count--;
}

const struct lp_map *lp_maps_find(const struct lp_maps *maps, uint32_t sip, uint64_t va)
{
    const struct map_list *const list = &maps->of_sip[sip];
    const uint32_t after = maps_up_to(list, va);
    return after > 0 ? &list->at[after - 1] : NULL;
}

const struct lp_map *lp_maps_at(const struct lp_maps *maps, uint32_t sip, uint32_t i)
{
    const struct map_list *const list = &maps->of_sip[sip];
    return i < list->count ? &list->at[i] : NULL;
}

bool lp_map_is_held(const struct lp_map *map, uint32_t cube, uint32_t pe)
{
    return cube - map->first_cube < map->cubes && pe - map->first_pe < map->pes;
}

uint64_t lp_map_va(const struct lp_maps *maps, const struct lp_map *map, uint32_t cube, uint32_t pe)
{
    const uint64_t part = map->parts == LP_MAP_ALIKE     ? 0
                          : map->parts == LP_MAP_BY_CUBE ? cube
                                                         : (uint64_t)cube * maps->pes + pe;
    return map->va + part * map->bytes;
}
