/*
 * topologies.c: the built-in logical topologies (topologies.h). A rank alone in a dimension has no
 * neighbour there, like a SIP in a ring of one.
 */
#include "collectives/topologies.h"

#include "collectives/hook.h"
#include "hw/topology/topology.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    enum logical_kind kind;
    bool wraps, one_way;
    enum grid_size { ROW, GRID_OF_SIPS, SQUARE, CUBE_OF_SIPS } size;
} known[] = {
    {"ring_1d", LOGICAL_LINE, true, false, ROW},
    {"ring_1d_unidir", LOGICAL_LINE, true, true, ROW},
    {"mesh_2d", LOGICAL_GRID, true, false, SQUARE},
    {"torus_2d", LOGICAL_GRID, true, false, GRID_OF_SIPS},
    {"torus_3d", LOGICAL_GRID, true, false, CUBE_OF_SIPS},
    {"mesh_2d_no_wrap", LOGICAL_GRID, false, false, GRID_OF_SIPS},
    {"tree_binary", LOGICAL_TREE, false, false, ROW},
    {"none", LOGICAL_NONE, false, false, ROW},
    {LOGICAL_CUSTOM, LOGICAL_NONE, false, false, ROW},
};
#define KNOWN (sizeof known / sizeof *known)

const char *logical_name_at(uint32_t number) { return number < KNOWN ? known[number].name : NULL; }

static int unknown(const char *name, struct cw_error *error)
{
    size_t n = (size_t)snprintf(error->text, sizeof error->text,
                                "topology: no logical topology '%.64s'; there are", name);
    for (size_t i = 0; i < KNOWN && n < sizeof error->text; i++)
        n += (size_t)snprintf(error->text + n, sizeof error->text - n, "%s %s", i ? "," : "",
                              known[i].name);
    return error->exit_code = CW_USAGE;
}

/* The largest whole number whose square, or cube, is at most n. */
static uint32_t root_of(uint32_t n, uint32_t power)
{
    uint64_t side = 1, product = 1;
    while (product <= n) {
        side++;
        product = power == 2 ? side * side : side * side * side;
    }
    return (uint32_t)side - 1;
}

static int find_cube_size(struct logical *logical, const struct hw_config *hw,
                          struct cw_error *error)
{
    const struct hw_sip_dims *const dims = &hw->sip_dims;
    if (dims->count == 3 && logical->ranks == hw->sip_count) {
        logical->w = dims->at[0].size;
        logical->h = dims->at[1].size;
        logical->d = dims->at[2].size;
        return CW_OK;
    }
    const uint32_t side = root_of(logical->ranks, 3);
    logical->w = logical->h = logical->d = side;
    if (side * side * side == logical->ranks)
        return CW_OK;
    return cw_error_set(
        error, CW_USAGE,
        "topology: %s needs a perfect cube of ranks where they are not all SIPs of three "
        "dimensions, and there are %u; legal below: %u, above: %u",
        logical->name, logical->ranks, side * side * side, (side + 1) * (side + 1) * (side + 1));
}

static int find_grid_size(struct logical *logical, bool square, const struct hw_config *hw,
                          struct cw_error *error)
{
    if (!square && hw->sip_topology->is_grid && logical->ranks == hw->sip_count) {
        logical->w = hw->sip_w;
        logical->h = hw->sip_h;
        return CW_OK;
    }
    const uint32_t side = root_of(logical->ranks, 2);
    logical->w = logical->h = side;
    if (side * side == logical->ranks)
        return CW_OK;
    return cw_error_set(
        error, CW_USAGE,
        "topology: %s needs a perfect square of ranks%s, and there are %u; legal below: %u, "
        "above: %u",
        logical->name, square ? "" : " where they are not all SIPs of a w x h grid", logical->ranks,
        side * side, (side + 1) * (side + 1));
}

int logical_find(const char *name, uint32_t ranks, const struct hw_config *hw, struct logical *out,
                 struct cw_error *error)
{
    for (size_t i = 0; i < KNOWN; i++) {
        if (strcmp(name, known[i].name) != 0)
            continue;
        *out = (struct logical){.name = known[i].name,
                                .kind = known[i].kind,
                                .ranks = ranks,
                                .w = ranks,
                                .h = 1,
                                .d = 1,
                                .wraps = known[i].wraps,
                                .one_way = known[i].one_way};
        if (out->kind != LOGICAL_GRID)
            return CW_OK;
        return known[i].size == CUBE_OF_SIPS
                   ? find_cube_size(out, hw, error)
                   : find_grid_size(out, known[i].size == SQUARE, hw, error);
    }
    return unknown(name, error);
}

static void add_neighbour(struct lp_neighbours *out, const char *dir, const char *opposite,
                          uint32_t rank, enum lp_way way)
{
    struct lp_neighbour *const entry = &out->at[out->count++];
    snprintf(entry->dir, sizeof entry->dir, "%s", dir);
    snprintf(entry->opposite, sizeof entry->opposite, "%s", opposite);
    entry->rank = rank;
    entry->way = (uint8_t)way;
}

/* The place before or after `at` among n; false where there is none. */
static bool step_along(uint32_t at, uint32_t n, bool wraps, bool forward, uint32_t *to)
{
    if (n < 2 || (!wraps && at == (forward ? n - 1 : 0)))
        return false;
    *to = (at + (forward ? 1 : n - 1)) % n;
    return true;
}

static void add_grid(const struct logical *logical, uint32_t rank, struct lp_neighbours *out)
{
    const uint32_t w = logical->w, h = logical->h, x = rank % w, y = rank / w % h;
    const uint32_t z = rank / (w * h), layer = rank - rank % (w * h);
    const enum lp_way east = logical->one_way ? LP_WAY_OUT : LP_WAY_BOTH;
    const enum lp_way west = logical->one_way ? LP_WAY_IN : LP_WAY_BOTH;
    uint32_t to;
    if (step_along(y, h, logical->wraps, false, &to))
        add_neighbour(out, "N", "S", layer + to * w + x, LP_WAY_BOTH);
    if (step_along(y, h, logical->wraps, true, &to))
        add_neighbour(out, "S", "N", layer + to * w + x, LP_WAY_BOTH);
    if (step_along(x, w, logical->wraps, true, &to))
        add_neighbour(out, "E", "W", layer + y * w + to, east);
    if (step_along(x, w, logical->wraps, false, &to))
        add_neighbour(out, "W", "E", layer + y * w + to, west);
    if (step_along(z, logical->d, logical->wraps, false, &to))
        add_neighbour(out, "U", "D", to * w * h + rank % (w * h), LP_WAY_BOTH);
    if (step_along(z, logical->d, logical->wraps, true, &to))
        add_neighbour(out, "D", "U", to * w * h + rank % (w * h), LP_WAY_BOTH);
}

static void add_tree(const struct logical *logical, uint32_t rank, struct lp_neighbours *out)
{
    if (rank > 0)
        add_neighbour(out, "parent", rank % 2 == 1 ? "child_left" : "child_right", (rank - 1) / 2,
                      LP_WAY_BOTH);
    if (2 * rank + 1 < logical->ranks)
        add_neighbour(out, "child_left", "parent", 2 * rank + 1, LP_WAY_BOTH);
    if (2 * rank + 2 < logical->ranks)
        add_neighbour(out, "child_right", "parent", 2 * rank + 2, LP_WAY_BOTH);
}

void logical_neighbours(const struct logical *logical, uint32_t rank, struct lp_neighbours *out)
{
    out->count = 0;
    if (logical->kind == LOGICAL_LINE || logical->kind == LOGICAL_GRID)
        add_grid(logical, rank, out);
    else if (logical->kind == LOGICAL_TREE)
        add_tree(logical, rank, out);
}

void logical_neighbours_of(const struct ccl_algorithm *algorithm, const struct logical *logical,
                           const int64_t *parameter, uint32_t rank, struct lp_neighbours *out)
{
    logical_neighbours(logical, rank, out);
    struct lp_neighbours map = *out;
    if (algorithm->neighbors != NULL &&
        CCL_HOOK("neighbors()", algorithm->neighbors, (rank, logical->ranks, parameter, &map)) ==
            CCL_NEIGHBORS_CHANGED)
        *out = map;
}

/* Of a rank. */
static uint32_t rings_of(const struct logical *logical, uint32_t rank)
{
    struct lp_neighbours map;
    uint32_t rings = 0;
    logical_neighbours(logical, rank, &map);
    for (uint32_t i = 0; i < map.count; i++)
        rings += map.at[i].way != LP_WAY_OUT;
    return rings;
}

/* No rank has more than one that is first, second or last in each dimension: those between are like
 * the second. In a tree the second rank is the first one with a parent and children. */
uint32_t logical_rings_max(const struct logical *logical)
{
    const uint32_t size[] = {logical->w, logical->h, logical->d};
    uint32_t most = 0;
    for (uint32_t i = 0; i < 27; i++) {
        const uint32_t place[] = {i % 3, i / 3 % 3, i / 9};
        uint32_t rank = 0;
        for (int k = 2; k >= 0; k--) {
            const uint32_t at = place[k] < 2 ? place[k] : size[k] - 1;
            rank = rank * size[k] + (at < size[k] ? at : 0);
        }
        const uint32_t rings = rank < logical->ranks ? rings_of(logical, rank) : 0;
        most = rings > most ? rings : most;
    }
    return most;
}
