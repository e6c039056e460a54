/*
 * graph_shapes.c: lists the SIPs, switches and links of fat trees, dragonflies, rails, slim flies,
 * and of products of dimensions and of other lists (graph_shapes.h).
 */
#include "collectives/config/input/graph_shapes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hw/topology/sip_dims.h"
#include "hw/topology/topology.h"

/* A link from a SIP, at this port and of this name, to a switch. */
static void join_sip(struct graph_list *list, uint32_t sip, enum hw_port port, const char *name,
                     uint32_t to, uint32_t class)
{
    const enum hw_link_kind kind = graph_list_link_kind(class);
    struct hw_graph_link link = {.from = {.stop = sip, .port = port},
                                 .to = {.stop = to, .port = HW_PORT_NONE},
                                 .link = kind,
                                 .back = kind};
    snprintf(link.from.name, sizeof link.from.name, "%s", name);
    graph_list_add(list, &link, 1);
}

/* ---- dimensions ------------------------------------------------------------------------------ */

struct graph_counts graph_dims_counts(const struct hw_sip_dims *dims)
{
    struct graph_counts counts = {.sips = 1};
    for (uint32_t k = 0; k < dims->count; k++)
        counts.sips = graph_times(counts.sips, dims->at[k].size);
    for (uint32_t k = 0; k < dims->count && counts.sips < UINT64_MAX; k++) {
        const uint64_t size = dims->at[k].size, lines = counts.sips / size;
        uint64_t links = 0;
        switch (dims->at[k].joint) {
        case HW_SIP_RING:
            links = size > 1 ? size : 0;
            break;
        case HW_SIP_LINE:
            links = size - 1;
            break;
        case HW_SIP_FULL:
            links = size * (size - 1) / 2;
            break;
        case HW_SIP_SWITCH:
            links = size > 1 ? size : 0;
            counts.switches += size > 1 ? lines : 0;
            break;
        case HW_SIP_OTHER: /* no rule has it */
            break;
        }
        counts.links = graph_plus(counts.links, graph_times(links, lines));
    }
    return counts;
}

/* A link is listed from the end at E or S; half-way round from the lesser SIP. */
static bool leads_on(const struct hw_config *hw, uint32_t sip, uint32_t outlet,
                     const struct hw_hop *hop)
{
    const enum hw_port side = hw_side(hw, outlet);
    if (hw_is_switch(hw, hop->to))
        return true;
    return side == hop->in ? sip < hop->to : side == HW_PORT_E || side == HW_PORT_S;
}

static void dims_end(const struct hw_config *hw, uint32_t stop, uint32_t outlet,
                     struct hw_graph_end *end)
{
    *end = (struct hw_graph_end){.stop = stop, .port = HW_PORT_NONE};
    if (hw_is_switch(hw, stop))
        return;
    end->port = hw_side(hw, outlet);
    hw_outlet_name(hw, stop, outlet, end->name);
}

/* The switches of each dimension as a kind of their own, if it has any. */
static void dims_switches(struct graph_list *list, const struct hw_sip_dims *dims, uint32_t first)
{
    for (uint32_t k = 0; k < dims->count; k++) {
        char name[GRAPH_NAME_BYTES];
        if (dims->at[k].joint != HW_SIP_SWITCH || dims->at[k].size < 2)
            continue;
        snprintf(name, sizeof name, first + k == 0 ? "switch" : "switch_%" PRIu32, first + k + 1);
        graph_list_kind(list, name, list->sips / dims->at[k].size);
    }
}

/* These are the levels of the built-in topology, after `first` levels of one SIP. */
void graph_dims(struct graph_list *list, const struct hw_sip_dims *dims, uint32_t first,
                const uint32_t class[HW_SIP_DIMS_MAX])
{
    struct hw_config hw = {.sip_count = hw_sip_dims_product(dims)};
    struct hw_sip_size size = {0};
    list->sips = hw.sip_count;
    for (uint32_t k = 0; k < first; k++)
        hw_sip_dims_add(&size.dims, HW_SIP_LINE, 1, HW_LINK_SIP_LINK);
    for (uint32_t k = 0; k < dims->count; k++) {
        hw_sip_dims_add(&size.dims, dims->at[k].joint, dims->at[k].size,
                        graph_list_link_kind(class[k]));
        list->dim[list->dims++] = dims->at[k].size;
    }
    list->routes = HW_ROUTES_DIMENSION_ORDER;
    hw_join_sips(&hw, &hw_levels, &size);
    dims_switches(list, dims, first);
    for (uint32_t sip = 0; sip < hw.sip_count; sip++)
        for (uint32_t outlet = 0; outlet < hw_outlets(&hw); outlet++) {
            const struct hw_hop hop = hw_hop(&hw, sip, outlet);
            if (hop.link == HW_LINK_KINDS || !leads_on(&hw, sip, outlet, &hop))
                continue;
            struct hw_graph_link link = {.link = hop.link, .back = hop.link};
            dims_end(&hw, sip, outlet, &link.from);
            dims_end(&hw, hop.to, hop.back, &link.to);
            graph_list_add(list, &link, 1);
        }
}

/* ---- fat trees ------------------------------------------------------------------------------- */

/* Subtrees below a switch of level `level`, from 1 on; SIPs below one of level 1. */
static uint32_t fat_tree_down(const struct fat_tree *tree, uint32_t level)
{
    return level == tree->levels ? tree->pods : tree->k / 2;
}

/* Switches of a level that are alike: those above the same SIPs. */
static uint64_t fat_tree_alike(const struct fat_tree *tree, uint32_t level)
{
    uint64_t alike = 1;
    for (uint32_t i = 1; i < level; i++)
        alike = graph_times(alike, tree->up[i - 1]);
    return alike;
}

static uint64_t fat_tree_below(const struct fat_tree *tree, uint32_t level)
{
    uint64_t sips = 1;
    for (uint32_t i = 1; i <= level; i++)
        sips = graph_times(sips, fat_tree_down(tree, i));
    return sips;
}

struct graph_counts fat_tree_counts(const struct fat_tree *tree)
{
    struct graph_counts counts = {.sips = fat_tree_below(tree, tree->levels)};
    counts.links = counts.sips;
    for (uint32_t level = 1; level <= tree->levels && counts.sips < UINT64_MAX; level++) {
        const uint64_t subtrees = counts.sips / fat_tree_below(tree, level);
        const uint64_t switches = graph_times(subtrees, fat_tree_alike(tree, level));
        counts.switches = graph_plus(counts.switches, switches);
        if (level < tree->levels)
            counts.links = graph_plus(counts.links, graph_times(switches, tree->up[level - 1]));
    }
    return counts;
}

static void fat_tree_kind(const struct fat_tree *tree, uint32_t level, char name[GRAPH_NAME_BYTES])
{
    if (level == 1)
        snprintf(name, GRAPH_NAME_BYTES, "edge");
    else if (level == tree->levels)
        snprintf(name, GRAPH_NAME_BYTES, "core");
    else if (tree->levels == 3)
        snprintf(name, GRAPH_NAME_BYTES, "aggregation");
    else
        snprintf(name, GRAPH_NAME_BYTES, "aggregation_%" PRIu32, level - 1);
}

/* The links up from all switches of a level. Switch number j of those that are alike is joined with
 * number j * up + u of the level above. */
static void fat_tree_up(struct graph_list *list, const struct fat_tree *tree, uint32_t level,
                        uint32_t kind, uint32_t class)
{
    const uint32_t alike = (uint32_t)fat_tree_alike(tree, level), up = tree->up[level - 1];
    const uint32_t subtrees = list->sips / (uint32_t)fat_tree_below(tree, level);
    const uint32_t above = fat_tree_down(tree, level + 1);
    for (uint32_t i = 0; i < subtrees * alike; i++)
        for (uint32_t u = 0; u < up; u++) {
            const uint32_t to = i / alike / above * alike * up + i % alike * up + u;
            graph_list_join(list, graph_list_switch(list, kind, i),
                            graph_list_switch(list, kind + 1, to), class, 1);
        }
}

void fat_tree(struct graph_list *list, const struct fat_tree *tree)
{
    char name[GRAPH_NAME_BYTES];
    list->sips = (uint32_t)fat_tree_below(tree, tree->levels);
    list->routes = HW_ROUTES_DESTINATION_DIGITS;
    for (uint32_t level = 1; level <= tree->levels; level++) {
        fat_tree_kind(tree, level, name);
        graph_list_kind(list, name,
                        list->sips / (uint32_t)fat_tree_below(tree, level) *
                            (uint32_t)fat_tree_alike(tree, level));
    }
    const uint32_t first = graph_list_class(list, "up_1", NULL);
    for (uint32_t sip = 0; sip < list->sips; sip++)
        join_sip(list, sip, HW_PORT_E, "up",
                 graph_list_switch(list, 0, sip / fat_tree_down(tree, 1)), first);
    for (uint32_t level = 1; level < tree->levels; level++) {
        snprintf(name, sizeof name, "up_%" PRIu32, level + 1);
        fat_tree_up(list, tree, level, level - 1, graph_list_class(list, name, NULL));
    }
}

/* ---- routers with SIPs ----------------------------------------------------------------------- */

/* `routers` routers, and p SIPs at each. */
static void put_routers(struct graph_list *list, uint32_t routers, uint32_t p)
{
    list->sips = routers * p;
    list->routes = HW_ROUTES_MINIMAL;
    graph_list_kind(list, "router", routers);
    const uint32_t class = graph_list_class(list, "terminal", NULL);
    for (uint32_t sip = 0; sip < list->sips; sip++)
        join_sip(list, sip, HW_PORT_E, "router", graph_list_switch(list, 0, sip / p), class);
}

static void join_routers(struct graph_list *list, uint32_t from, uint32_t to, uint32_t class)
{
    graph_list_join(list, graph_list_switch(list, 0, from), graph_list_switch(list, 0, to), class,
                    1);
}

/* ---- dragonflies ----------------------------------------------------------------------------- */

/* Links of a group to other groups: one to each of them as often as a * h allows; the others lead
 * to the groups nearest in number, on both sides, and one across where their number is odd. Without
 * a group just across, one link is left out. */
static uint32_t dragonfly_whole(const struct dragonfly *fly)
{
    return fly->a * fly->h / (fly->g - 1) * (fly->g - 1);
}
static uint32_t dragonfly_used(const struct dragonfly *fly)
{
    const uint32_t rest = fly->a * fly->h - dragonfly_whole(fly);
    return dragonfly_whole(fly) + rest - (rest % 2 != 0 && fly->g % 2 != 0);
}

/* How many groups further a group's link number i leads. The link back has number
 * dragonfly_back(). */
static uint32_t dragonfly_further(const struct dragonfly *fly, uint32_t i)
{
    const uint32_t whole = dragonfly_whole(fly), side = (dragonfly_used(fly) - whole) / 2;
    if (i < whole)
        return i % (fly->g - 1) + 1;
    if (i - whole < side)
        return i - whole + 1;
    if (i - whole < 2 * side)
        return fly->g - 2 * side + (i - whole);
    return fly->g / 2;
}
static uint32_t dragonfly_back(const struct dragonfly *fly, uint32_t i)
{
    const uint32_t whole = dragonfly_whole(fly), side = (dragonfly_used(fly) - whole) / 2;
    const uint32_t round = fly->g - 1;
    if (i < whole)
        return i / round * round + (round - 1 - i % round);
    return i - whole < 2 * side ? whole + (2 * side - 1 - (i - whole)) : i;
}

struct graph_counts dragonfly_counts(const struct dragonfly *fly)
{
    const uint64_t routers = (uint64_t)fly->a * fly->g;
    const uint64_t local = (uint64_t)fly->a * (fly->a - 1) / 2;
    const uint64_t sips = graph_times(routers, fly->p);
    return (struct graph_counts){
        .sips = sips,
        .switches = routers,
        .links = graph_plus(sips, graph_plus(graph_times(local, fly->g),
                                             graph_times(fly->g, dragonfly_used(fly)) / 2)),
    };
}

void dragonfly(struct graph_list *list, const struct dragonfly *fly)
{
    put_routers(list, fly->a * fly->g, fly->p);
    const uint32_t local = graph_list_class(list, "local", NULL);
    for (uint32_t group = 0; group < fly->g; group++)
        for (uint32_t i = 0; i < fly->a; i++)
            for (uint32_t j = i + 1; j < fly->a; j++)
                join_routers(list, group * fly->a + i, group * fly->a + j, local);
    const uint32_t global = graph_list_class(list, "global", NULL);
    for (uint32_t group = 0; group < fly->g; group++)
        for (uint32_t i = 0; i < dragonfly_used(fly); i++) {
            const uint32_t to = (group + dragonfly_further(fly, i)) % fly->g;
            if (group < to)
                join_routers(list, group * fly->a + i / fly->h,
                             to * fly->a + dragonfly_back(fly, i) / fly->h, global);
        }
}

/* ---- rails ----------------------------------------------------------------------------------- */

struct graph_counts rail_counts(const struct rail *rail)
{
    const uint64_t sips = (uint64_t)rail->nodes * rail->sips;
    const uint64_t rails = (uint64_t)(rail->nodes / rail->group) * rail->sips;
    const uint64_t spines = rail->nodes > rail->group ? rail->spines : 0;
    return (struct graph_counts){
        .sips = sips,
        .switches = graph_plus(rail->nodes, graph_plus(rails, spines)),
        .links = graph_plus(graph_times(2, sips), graph_times(rails, spines)),
    };
}

void rail(struct graph_list *list, const struct rail *rail)
{
    const uint32_t groups = rail->nodes / rail->group, rails = groups * rail->sips;
    list->sips = rail->nodes * rail->sips;
    list->routes = HW_ROUTES_MINIMAL;
    const uint32_t node = graph_list_kind(list, "node", rail->nodes);
    const uint32_t leaf = graph_list_kind(list, "rail", rails);
    const uint32_t inside = graph_list_class(list, "node", NULL);
    const uint32_t across = graph_list_class(list, "rail", NULL);
    for (uint32_t sip = 0; sip < list->sips; sip++)
        join_sip(list, sip, HW_PORT_E, "node", graph_list_switch(list, node, sip / rail->sips),
                 inside);
    for (uint32_t sip = 0; sip < list->sips; sip++) {
        const uint32_t group = sip / rail->sips / rail->group;
        join_sip(list, sip, HW_PORT_S, "rail",
                 graph_list_switch(list, leaf, group * rail->sips + sip % rail->sips), across);
    }
    if (groups == 1)
        return;
    const uint32_t spine = graph_list_kind(list, "spine", rail->spines);
    const uint32_t up = graph_list_class(list, "spine", NULL);
    for (uint32_t i = 0; i < rails; i++)
        for (uint32_t j = 0; j < rail->spines; j++)
            graph_list_join(list, graph_list_switch(list, leaf, i),
                            graph_list_switch(list, spine, j), up, 1);
    for (uint32_t sip = 0; sip < list->sips; sip++)
        graph_list_end(list, sip);
}

/* ---- slim flies ------------------------------------------------------------------------------
 *
 * The graphs of McKay, Miller and Siran. The field of q = r^n elements, r a prime: an element is
 * the number whose digits to base r are the coefficients of a polynomial. `power` has the powers of
 * a primitive element, which is found by trying all polynomials of degree n for the product's
 * remainder, or for n = 1 all elements.
 */
struct field {
    uint32_t q, prime, degree;
    uint32_t power[SLIM_FLY_Q_MAX], number[SLIM_FLY_Q_MAX + 1]; /* and their logarithms */
};

/* q as a power of a prime; false: it is none. */
static bool field_of(uint32_t q, struct field *field)
{
    *field = (struct field){.q = q, .prime = 2};
    while (field->prime < q && q % field->prime != 0)
        field->prime++;
    for (uint32_t rest = q; rest > 1 && rest % field->prime == 0; rest /= field->prime)
        field->degree++;
    uint32_t power = 1;
    for (uint32_t i = 0; i < field->degree; i++)
        power *= field->prime;
    return q > 1 && power == q;
}

/* a + factor * b, digit by digit. */
static uint32_t field_add(const struct field *field, uint32_t a, uint32_t b, uint32_t factor)
{
    uint32_t sum = 0, place = 1;
    for (uint32_t i = 0; i < field->degree; i++, place *= field->prime)
        sum += (a / place + factor * (b / place)) % field->prime * place;
    return sum;
}

/* The element times x, where x^n is `top`; for n = 1 x is `top` itself. */
static uint32_t field_step(const struct field *field, uint32_t element, uint32_t top)
{
    const uint32_t highest = field->q / field->prime;
    return field_add(field, element % highest * field->prime, top, element / highest);
}

static void field_fill(struct field *field)
{
    for (uint32_t top = 1; top < field->q; top++) {
        uint32_t element = 1, order = 0;
        do {
            field->power[order] = element;
            field->number[element] = order++;
            element = field_step(field, element, top);
        } while (element > 1 && order < field->q - 1);
        if (order == field->q - 1 && element == 1)
            return;
    }
}

static uint32_t field_product(const struct field *field, uint32_t a, uint32_t b)
{
    if (a == 0 || b == 0)
        return 0;
    return field->power[(field->number[a] + field->number[b]) % (field->q - 1)];
}

static bool slim_fly_fits(uint32_t q) { return q >= 3 && q % 4 != 2; }

bool slim_fly_is(uint32_t q)
{
    struct field field;
    return q <= SLIM_FLY_Q_MAX && slim_fly_fits(q) && field_of(q, &field);
}

uint32_t slim_fly_degree(uint32_t q)
{
    return q % 4 == 1 ? (3 * q - 1) / 2 : q % 4 == 3 ? (3 * q + 1) / 2 : 3 * q / 2;
}

struct graph_counts slim_fly_counts(const struct slim_fly *fly)
{
    const uint64_t routers = 2 * (uint64_t)fly->q * fly->q;
    const uint64_t sips = graph_times(routers, fly->p);
    return (struct graph_counts){.sips = sips,
                                 .switches = routers,
                                 .links = graph_plus(sips, routers * slim_fly_degree(fly->q) / 2)};
}

/* Whether routers of one line are joined whose places differ by this: by a power of the primitive
 * element that the line's side has (Hafner, Geometric realisation of the graphs of
 * McKay-Miller-Siran, 2004). */
static bool slim_fly_joins(const struct field *field, uint32_t side, uint32_t difference)
{
    const uint32_t w = (field->q + 1) / 4;
    uint32_t number = field->number[difference];
    if (side == 1 && number == 0)
        number = field->q - 1;
    if (field->q % 4 == 3 && number >= side + 2 * w - 1)
        return number % 2 != side;
    return number % 2 == side;
}

/* A side's q lines of q routers. */
static void slim_fly_lines(struct graph_list *list, const struct field *field, uint32_t side,
                           uint32_t class)
{
    const uint32_t q = field->q;
    for (uint32_t line = 0; line < q; line++)
        for (uint32_t i = 0; i < q; i++)
            for (uint32_t j = i + 1; j < q; j++)
                if (slim_fly_joins(field, side, field_add(field, i, j, field->prime - 1)))
                    join_routers(list, (side * q + line) * q + i, (side * q + line) * q + j, class);
}

void slim_fly(struct graph_list *list, const struct slim_fly *fly)
{
    struct field field;
    const uint32_t q = fly->q;
    if (!field_of(q, &field))
        return;
    field_fill(&field);
    put_routers(list, 2 * q * q, fly->p);
    const uint32_t local = graph_list_class(list, "local", NULL);
    slim_fly_lines(list, &field, 0, local);
    slim_fly_lines(list, &field, 1, local);
    const uint32_t global = graph_list_class(list, "global", NULL);
    for (uint32_t x = 0; x < q; x++)
        for (uint32_t m = 0; m < q; m++)
            for (uint32_t c = 0; c < q; c++) {
                const uint32_t y = field_add(&field, field_product(&field, m, x), c, 1);
                join_routers(list, x * q + y, (q + m) * q + c, global);
            }
}

/* ---- products -------------------------------------------------------------------------------- */

struct graph_counts graph_product_counts(const struct graph_list *factor, uint32_t count)
{
    struct graph_counts counts = {.sips = 1};
    for (uint32_t i = 0; i < count; i++)
        counts.sips = graph_times(counts.sips, factor[i].sips);
    for (uint32_t i = 0; i < count && counts.sips < UINT64_MAX; i++) {
        const uint64_t copies = counts.sips / factor[i].sips;
        counts.switches = graph_plus(counts.switches, graph_times(copies, factor[i].switches));
        counts.links = graph_plus(counts.links, graph_times(copies, factor[i].links));
    }
    return counts;
}

/* One list in a product. */
struct copying {
    struct graph_list *list;
    const struct graph_list *factor;
    uint32_t stride; /* SIPs of all lists before it */
    uint32_t kind[HW_SWITCH_KINDS], class[HW_CLASSES_MAX];
};

/* A name that the product does not have yet: with the list's number, if it must be. There are at
 * most HW_SIP_DIMS_MAX lists. */
_Static_assert(HW_SIP_DIMS_MAX < 100, "a list's number has two digits");
static void product_name(const char *name, bool taken, uint32_t number, char out[GRAPH_NAME_BYTES])
{
    if (taken)
        snprintf(out, GRAPH_NAME_BYTES, "%.20s_%" PRIu32, name, number % 100);
    else
        snprintf(out, GRAPH_NAME_BYTES, "%s", name);
}

static void copy_kinds(struct copying *copy, uint32_t copies, uint32_t number)
{
    char name[GRAPH_NAME_BYTES];
    for (uint32_t k = 0; k < copy->factor->kinds; k++) {
        const struct graph_kind *const kind = &copy->factor->kind[k];
        bool taken = false;
        for (uint32_t i = 0; i < copy->list->kinds; i++)
            taken |= strcmp(copy->list->kind[i].name, kind->name) == 0;
        product_name(kind->name, taken, number, name);
        copy->kind[k] = graph_list_kind(copy->list, name, kind->count * copies);
    }
}

/* The classes before `before` are of earlier lists. */
static void copy_classes(struct copying *copy, uint32_t before, uint32_t number)
{
    char name[GRAPH_NAME_BYTES];
    for (uint32_t c = 0; c < copy->factor->classes; c++) {
        const struct graph_class *const class = &copy->factor->class[c];
        bool taken = false;
        for (uint32_t i = 0; i < before; i++)
            taken |= strcmp(copy->list->class[i].name, class->name) == 0;
        product_name(class->name, taken, number, name);
        copy->class[c] = graph_list_class(copy->list, name, &class->figures);
    }
}

/* A stop of the list as a stop of the product, in copy number `place`. */
static uint32_t copy_stop(const struct copying *copy, uint32_t stop, uint32_t place)
{
    const struct graph_list *const factor = copy->factor;
    if (stop < factor->sips)
        return place % copy->stride + stop * copy->stride +
               place / copy->stride * copy->stride * factor->sips;
    uint32_t kind = factor->kinds - 1;
    while (factor->kind[kind].first > stop - factor->sips)
        kind--;
    return graph_list_switch(copy->list, copy->kind[kind],
                             place * factor->kind[kind].count + stop - factor->sips -
                                 factor->kind[kind].first);
}

static enum hw_link_kind copy_class(const struct copying *copy, enum hw_link_kind kind)
{
    return kind < HW_LINK_CLASS_1 ? kind
                                  : graph_list_link_kind(copy->class[kind - HW_LINK_CLASS_1]);
}

static void copy_list(struct copying *copy, uint32_t copies)
{
    const struct graph_list *const factor = copy->factor;
    for (uint32_t place = 0; place < copies; place++) {
        for (uint32_t i = 0; i < factor->links; i++) {
            struct hw_graph_link link = factor->link[i];
            link.from.stop = copy_stop(copy, link.from.stop, place);
            link.to.stop = copy_stop(copy, link.to.stop, place);
            link.link = copy_class(copy, link.link);
            link.back = copy_class(copy, link.back);
            graph_list_add(copy->list, &link, 1);
        }
        for (uint32_t sip = 0; factor->ends != NULL && sip < factor->sips; sip++)
            if (factor->ends[sip])
                graph_list_end(copy->list, copy_stop(copy, sip, place));
    }
}

void graph_product(struct graph_list *list, const struct graph_list *factor, uint32_t count)
{
    uint32_t stride = 1;
    bool has_dims = true;
    list->sips = (uint32_t)graph_product_counts(factor, count).sips;
    list->routes = HW_ROUTES_DIMENSION_ORDER;
    for (uint32_t i = 0; i < count; i++) {
        struct copying copy = {.list = list, .factor = &factor[i], .stride = stride};
        const uint32_t copies = list->sips / factor[i].sips;
        copy_kinds(&copy, copies, i + 1);
        copy_classes(&copy, list->classes, i + 1);
        list->failed |= factor[i].failed;
        list->why = list->why != NULL ? list->why : factor[i].why;
        if (list->failed || list->why != NULL)
            return;
        copy_list(&copy, copies);
        has_dims &= factor[i].dims > 0 && list->dims + factor[i].dims <= HW_SIP_DIMS_MAX;
        for (uint32_t k = 0; has_dims && k < factor[i].dims; k++)
            list->dim[list->dims++] = factor[i].dim[k];
        stride *= factor[i].sips;
    }
    if (!has_dims) {
        list->dims = 0;
        list->routes = HW_ROUTES_MINIMAL;
    }
}
