/*
 * ways.c: finds the links of ways through cubes (ways.h). Runs between drains, on one thread.
 */
#include "bench/explain/ways.h"

#include <stdlib.h>

#include "hw/route.h"
#include "lp/places.h"

enum {
    CHUNK_WORDS = 1 << 14,
    WAY_LINKS_MAX = LP_WAY_HOPS_MAX + 2 /* out of the cube */
};

/* The latest chunk leads to the full ones before it. */
struct way_steps {
    struct way_steps *before;
    size_t used, room;
    uint32_t step[];
};

void ways_free(struct ways *ways)
{
    while (ways->latest != NULL) {
        struct way_steps *const chunk = ways->latest;
        ways->latest = chunk->before;
        free(chunk);
    }
}

/* Room for this many words; NULL: out of memory. */
static uint32_t *need_words(struct ways *ways, size_t words)
{
    struct way_steps *chunk = ways->latest;
    if (chunk == NULL || chunk->room - chunk->used < words) {
        const size_t room = words > CHUNK_WORDS ? words : CHUNK_WORDS;
        chunk = malloc(sizeof *chunk + room * sizeof *chunk->step);
        if (chunk == NULL)
            return NULL;
        chunk->before = ways->latest;
        chunk->used = 0;
        chunk->room = room;
        ways->latest = chunk;
    }
    return &chunk->step[chunk->used];
}

static uint32_t link_step(enum hw_link_kind kind, uint32_t index, enum hw_node_kind node,
                          uint32_t flags)
{
    return (index & 0xffff) | (uint32_t)node << LP_STEP_NODE_SHIFT |
           (uint32_t)kind << LP_STEP_KIND_SHIFT | flags;
}

/* The links of one way, as lp/fabric/fabric.c crosses them. Returns the end. */
static uint32_t *unfold_way(const struct lp_model *m, uint32_t lp, uint32_t way, uint32_t *to)
{
    const struct lp_link_layout *const links = &m->links;
    const uint32_t free_flag = way & LP_WAY_FREE ? LP_STEP_FREE : 0;
    const bool leaves = (way & LP_WAY_LEAVES) != 0;
    const enum hw_port out = (enum hw_port)(way >> LP_WAY_TO_SHIFT & (HW_PORTS - 1));
    const uint32_t end = leaves ? m->router.of_port[out] : way >> LP_WAY_TO_SHIFT & 255;
    uint32_t at = way >> LP_WAY_FROM_SHIFT & 255;
    for (uint32_t hop = 0; at != end && hop < LP_WAY_HOPS_MAX; hop++) {
        const uint32_t from = at;
        const enum hw_port port = hw_route_noc(&m->hw, from, end, &at);
        *to++ = link_step(HW_LINK_NOC, links->first[LP_LINKS_NOC] + from * HW_PORTS + port,
                          HW_NODE_ROUTER, free_flag | (way >> hop & 1) * LP_STEP_WAITED);
    }
    if (!leaves)
        return to;
    uint32_t neighbour;
    const bool to_cube = lp_cube_neighbour(m, (lp - 1) % m->cubes, out, &neighbour);
    *to++ = link_step(HW_LINK_NOC_UCIE, links->first[LP_LINKS_OUT] + out, HW_NODE_UCIE_PORT,
                      free_flag | (way & LP_WAY_OUT_WAITED ? LP_STEP_WAITED : 0));
    *to++ = link_step(HW_LINK_UCIE, links->first[LP_LINKS_UCIE] + out,
                      to_cube ? HW_NODE_UCIE_PORT : HW_NODE_IO_PORT,
                      free_flag | (way & LP_WAY_UCIE_WAITED ? LP_STEP_WAITED : 0));
    return to;
}

bool ways_unfold(struct ways *ways, const struct lp_model *m, uint32_t lp,
                 struct lp_cause_entry *entry)
{
    size_t count = 0;
    for (uint32_t i = 0; i < entry->steps; i += lp_step_words(entry->step[i]))
        count += lp_step_is_way(entry->step[i]);
    if (count == 0 && !entry->is_turned)
        return true;
    uint32_t *const first = need_words(ways, entry->steps + count * WAY_LINKS_MAX);
    if (first == NULL)
        return false;
    uint32_t *to = first;
    for (uint32_t i = 0; i < entry->steps;) {
        const uint32_t words = lp_step_words(entry->step[i]);
        if (lp_step_is_way(entry->step[i]))
            to = unfold_way(m, lp, entry->step[i], to);
        else if (entry->is_turned && !lp_step_is_part(entry->step[i]))
            *to++ = (entry->step[i] & ~UINT32_C(0xffff)) | entry->to_link;
        else
            for (uint32_t k = 0; k < words; k++)
                *to++ = entry->step[i + k];
        i += words;
    }
    entry->step = first;
    entry->steps = (uint16_t)(to - first);
    ways->latest->used += entry->steps;
    return true;
}

void ways_drop(struct ways *ways, const struct lp_cause_entry *entry)
{
    struct way_steps *const chunk = ways->latest;
    if (chunk != NULL && entry->step + entry->steps == &chunk->step[chunk->used] &&
        chunk->used >= entry->steps)
        chunk->used -= entry->steps;
}
