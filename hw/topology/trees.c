/*
 * trees.c: finds reduction trees (trees.h). Roots are tried from the switches that are farthest
 * from any SIP on, in the order of their numbers: of a fat tree the core. From a root, every stop
 * is reached by the fewest links, outlet by outlet. A tree that does not reach all SIPs is none.
 */
#include "hw/topology/trees.h"

#include <stdlib.h>
#include <string.h>

/* While trees are made. All arrays are by stop. */
struct growing {
    const struct hw_config *hw;
    struct hw_trees *trees;
    uint32_t stops;
    uint32_t *height;          /* links to the nearest SIP; HW_TREE_NONE: none is reached */
    uint32_t *parent, *outlet; /* in the tree that grows: the stop above, and its outlet to here */
    uint32_t *up;              /* the outlet by which a stop leads back to it */
    uint32_t *least;           /* the least SIP at a stop or below it */
    uint32_t *queue, queued;   /* stops in the order in which they are reached */
    bool *used;                /* [switches][outlets]: by the trees so far */
    uint32_t outlets;          /* of a switch */
};

void hw_trees_free(struct hw_trees *trees)
{
    free(trees->of);
    free(trees->child);
    free(trees->sip_up);
    free(trees->sip_place);
    *trees = (struct hw_trees){0};
}

static bool reduces(const struct growing *g, uint32_t stop)
{
    const uint32_t number = stop - g->hw->sip_count;
    return hw_is_switch(g->hw, stop) && hw_reduce_of(g->hw, number)->mode != HW_REDUCE_NONE;
}

/* Links both ways from a stop. False: the outlet has none. */
static bool leads_to(const struct growing *g, uint32_t stop, uint32_t outlet, struct hw_hop *hop)
{
    *hop = hw_hop(g->hw, stop, outlet);
    return hop->link < HW_LINK_KINDS && hop->back != HW_ONE_WAY;
}

static bool *use_of(const struct growing *g, uint32_t stop, uint32_t outlet)
{
    return &g->used[(size_t)(stop - g->hw->sip_count) * g->outlets + outlet];
}

static void find_heights(struct growing *g)
{
    memset(g->height, 0xff, g->stops * sizeof *g->height); /* HW_TREE_NONE */
    g->queued = 0;
    for (uint32_t sip = 0; sip < g->hw->sip_count; sip++) {
        g->height[sip] = 0;
        g->queue[g->queued++] = sip;
    }
    for (uint32_t i = 0; i < g->queued; i++)
        for (uint32_t o = 0; o < hw_outlets_of(g->hw, g->queue[i]); o++) {
            struct hw_hop hop;
            if (!leads_to(g, g->queue[i], o, &hop) || !hw_is_switch(g->hw, hop.to) ||
                g->height[hop.to] != HW_TREE_NONE)
                continue;
            g->height[hop.to] = g->height[g->queue[i]] + 1;
            g->queue[g->queued++] = hop.to;
        }
}

/* Reaches what it can from a root. Returns how many SIPs. */
static uint32_t reach(struct growing *g, uint32_t root)
{
    uint32_t sips = 0;
    memset(g->parent, 0xff, g->stops * sizeof *g->parent);
    g->queued = 0;
    g->queue[g->queued++] = root;
    g->parent[root] = root;
    for (uint32_t i = 0; i < g->queued; i++) {
        const uint32_t stop = g->queue[i];
        for (uint32_t o = 0; hw_is_switch(g->hw, stop) && o < hw_outlets_of(g->hw, stop); o++) {
            struct hw_hop hop;
            if (!leads_to(g, stop, o, &hop) || *use_of(g, stop, o) ||
                g->parent[hop.to] != HW_TREE_NONE ||
                (hw_is_switch(g->hw, hop.to) && !reduces(g, hop.to)))
                continue;
            g->parent[hop.to] = stop;
            g->outlet[hop.to] = o;
            g->up[hop.to] = hop.back;
            g->queue[g->queued++] = hop.to;
            sips += !hw_is_switch(g->hw, hop.to);
        }
    }
    return sips;
}

/* The least SIP below each stop; HW_TREE_NONE: there is none, and the stop is cut off. */
static void find_least(struct growing *g)
{
    for (uint32_t i = 0; i < g->queued; i++)
        g->least[g->queue[i]] = hw_is_switch(g->hw, g->queue[i]) ? HW_TREE_NONE : g->queue[i];
    for (uint32_t i = g->queued; i-- > 1;) {
        const uint32_t stop = g->queue[i];
        if (g->least[stop] < g->least[g->parent[stop]])
            g->least[g->parent[stop]] = g->least[stop];
    }
}

static int by_first_sip(const void *a, const void *b)
{
    const struct hw_tree_child *const x = a, *const y = b;
    return (x->first_sip > y->first_sip) - (x->first_sip < y->first_sip);
}

/* Room for one more tree. False: out of memory. */
static bool add_room(struct hw_trees *trees, uint32_t stops)
{
    const size_t count = trees->count + 1;
    struct hw_tree_switch *const of =
        realloc(trees->of, (count * trees->switches + 1) * sizeof *of);
    if (of == NULL)
        return false;
    trees->of = of;
    struct hw_tree_child *const child =
        realloc(trees->child, (trees->children + stops + 1) * sizeof *child);
    if (child == NULL)
        return false;
    trees->child = child;
    uint32_t *const up = realloc(trees->sip_up, count * trees->sips * sizeof *up);
    if (up == NULL)
        return false;
    trees->sip_up = up;
    uint32_t *const place = realloc(trees->sip_place, count * trees->sips * sizeof *place);
    if (place == NULL)
        return false;
    trees->sip_place = place;
    return true;
}

/* Children of a switch in the tree that has grown, in their order. */
static void take_children(struct growing *g, uint32_t tree, uint32_t stop)
{
    struct hw_trees *const trees = g->trees;
    struct hw_tree_switch *const own =
        &trees->of[(size_t)tree * trees->switches + stop - trees->sips];
    const bool is_root = stop == trees->root[tree];
    own->parent = is_root ? HW_TREE_NONE : g->parent[stop];
    own->up = is_root ? HW_TREE_NONE : g->up[stop];
    own->first = trees->children;
    if (!is_root)
        *use_of(g, stop, own->up) = true;
    for (uint32_t o = 0; o < hw_outlets_of(g->hw, stop); o++) {
        struct hw_hop hop;
        if (!leads_to(g, stop, o, &hop) || hop.to == stop || g->parent[hop.to] != stop ||
            g->outlet[hop.to] != o || g->least[hop.to] == HW_TREE_NONE)
            continue;
        trees->child[trees->children++] = (struct hw_tree_child){hop.to, o, g->least[hop.to]};
        *use_of(g, stop, o) = true;
    }
    own->child_count = trees->children - own->first;
    qsort(&trees->child[own->first], own->child_count, sizeof *trees->child, by_first_sip);
}

static void take_places(struct growing *g, uint32_t tree, uint32_t stop)
{
    struct hw_trees *const trees = g->trees;
    const struct hw_tree_switch *const own = hw_tree_at(trees, tree, stop - trees->sips);
    for (uint32_t i = 0; i < own->child_count; i++) {
        const uint32_t child = trees->child[own->first + i].stop;
        if (hw_is_switch(g->hw, child)) {
            trees->of[(size_t)tree * trees->switches + child - trees->sips].place = i;
            continue;
        }
        trees->sip_place[tree * trees->sips + child] = i;
        trees->sip_up[tree * trees->sips + child] = g->up[child];
    }
}

/* False: out of memory. */
static bool take_tree(struct growing *g, uint32_t root)
{
    struct hw_trees *const trees = g->trees;
    if (!add_room(trees, g->stops))
        return false;
    const uint32_t tree = trees->count++;
    memset(&trees->of[(size_t)tree * trees->switches], 0, trees->switches * sizeof *trees->of);
    trees->root[tree] = root;
    find_least(g);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < g->queued; i++)
            if (hw_is_switch(g->hw, g->queue[i]) && g->least[g->queue[i]] != HW_TREE_NONE)
                (pass == 0 ? take_children : take_places)(g, tree, g->queue[i]);
    return true;
}

/* Each root in turn, until none has another tree. False: out of memory. */
static bool grow_trees(struct growing *g)
{
    const uint32_t sips = g->hw->sip_count;
    uint32_t highest = 0;
    find_heights(g);
    for (uint32_t stop = sips; stop < g->stops; stop++)
        if (g->height[stop] != HW_TREE_NONE && g->height[stop] > highest)
            highest = g->height[stop];
    for (uint32_t height = highest; height > 0; height--)
        for (uint32_t before = HW_TREE_NONE; before != g->trees->count;) {
            before = g->trees->count;
            for (uint32_t stop = sips; stop < g->stops && g->trees->count < HW_TREES_MAX; stop++)
                if (g->height[stop] == height && reduces(g, stop) && reach(g, stop) == sips &&
                    !take_tree(g, stop))
                    return false;
        }
    return true;
}

static bool any_reduces(const struct hw_config *hw)
{
    bool any = false;
    for (uint32_t i = 0; i < HW_SWITCH_KINDS; i++)
        any |= hw->reduce[i].mode != HW_REDUCE_NONE;
    return any && hw_switches(hw) > 0 && hw->sip_count > 1;
}

bool hw_trees_make(const struct hw_config *hw, struct hw_trees *trees)
{
    *trees = (struct hw_trees){.sips = hw->sip_count};
    if (!any_reduces(hw))
        return true;
    trees->switches = hw_switches(hw);
    struct growing g = {
        .hw = hw, .trees = trees, .stops = hw_stops(hw), .outlets = hw_switch_outlets(hw)};
    uint32_t **const words[] = {&g.height, &g.parent, &g.outlet, &g.up, &g.least, &g.queue};
    bool made = true;
    g.used = calloc((size_t)trees->switches * g.outlets + 1, sizeof *g.used);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        made &= (*words[i] = malloc((g.stops + 1) * sizeof **words[i])) != NULL;
    made = made && g.used != NULL && grow_trees(&g);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        free(*words[i]);
    free(g.used);
    return made;
}

uint32_t hw_tree_count(const struct hw_config *hw)
{
    struct hw_trees trees;
    const uint32_t count = hw_trees_make(hw, &trees) ? trees.count : 0;
    hw_trees_free(&trees);
    return count;
}

enum hw_reduce_mode hw_tree_mode(const struct hw_config *hw)
{
    struct hw_trees trees;
    enum hw_reduce_mode mode = HW_REDUCE_NONE;
    if (hw_trees_make(hw, &trees) && trees.count > 0)
        mode = hw_reduce_of(hw, trees.root[0] - hw->sip_count)->mode;
    hw_trees_free(&trees);
    return mode;
}

/* The words of a switch's sum; returns the place after them. */
static uint32_t *put_sums(const struct hw_trees *trees, uint32_t tree, uint32_t number,
                          uint32_t *order)
{
    const struct hw_tree_switch *const own = hw_tree_at(trees, tree, number);
    for (uint32_t i = 0; i < own->child_count; i++) {
        const uint32_t stop = trees->child[own->first + i].stop;
        if (stop >= trees->sips)
            order = put_sums(trees, tree, stop - trees->sips, order);
        else
            *order++ = stop;
        if (i > 0)
            *order++ = i == 1 ? HW_TREE_ADD : HW_TREE_MORE;
    }
    return order;
}

void hw_tree_sums(const struct hw_trees *trees, uint32_t tree, uint32_t *order)
{
    (void)put_sums(trees, tree, trees->root[tree] - trees->sips, order);
}
