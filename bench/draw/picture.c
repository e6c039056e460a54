/*
 * picture.c: makes the picture of a machine: its links, in order.
 */
#include "bench/draw/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/timing.h"
#include "hw/topology/broken.h"
#include "hw/topology/topology.h"

/* ---- making one ------------------------------------------------------------------------------ */

int picture_link_compare(const struct picture_link *a, const struct picture_link *b)
{
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return a->side < b->side ? -1 : a->side > b->side;
}

static int by_ends(const void *left, const void *right)
{
    const struct picture_link *const a = left, *const b = right;
    const int order = picture_link_compare(a, b);
    return order != 0 ? order : a->outlet < b->outlet ? -1 : a->outlet > b->outlet;
}

/* The links so far, and how many fit. */
struct gathering {
    struct picture *picture;
    const struct hw_config *hw;
    size_t room;
    bool failed;
};

static uint8_t kind_number(struct gathering *g, enum hw_link_kind kind)
{
    struct picture *const p = g->picture;
    uint32_t at = 0;
    while (at < p->kind_count && strcmp(p->kind[at].name, hw_link_name_of(g->hw, kind)) != 0)
        at++;
    if (at < p->kind_count || at == PICTURE_KINDS)
        return (uint8_t)(at < PICTURE_KINDS ? at : PICTURE_KINDS - 1);
    const int64_t ps = hw_ser_ps(&g->hw->link[kind], 1000000);
    snprintf(p->kind[at].name, sizeof p->kind[at].name, "%s", hw_link_name_of(g->hw, kind));
    p->kind[at].latency_ps = g->hw->link[kind].prop_ps;
    p->kind[at].gbs = 1e9 / (double)(ps > 0 ? ps : 1);
    p->kind_count++;
    return (uint8_t)at;
}

static void gather_link(struct gathering *g, enum hw_link_kind kind, struct picture_link link)
{
    struct picture *const p = g->picture;
    if (p->link_count == g->room) {
        const size_t room = g->room == 0 ? 256 : 2 * g->room;
        struct picture_link *const more = realloc(p->links, room * sizeof *more);
        if (more == NULL) {
            g->failed = true;
            return;
        }
        p->links = more;
        g->room = room;
    }
    link.count = 1;
    link.kind = kind_number(g, kind);
    p->links[p->link_count++] = link;
}

static uint32_t box_of_stop(const struct hw_config *hw, uint32_t stop)
{
    return hw_is_switch(hw, stop) ? picture_switch(stop - hw->sip_count) : picture_sip(stop);
}

static void gather_hop(struct gathering *g, uint32_t stop, uint32_t outlet, enum hw_link_kind kind,
                       uint32_t to)
{
    const bool failed = hw_hop(g->hw, stop, outlet).link == HW_LINK_KINDS;
    gather_link(g, kind,
                (struct picture_link){.from = box_of_stop(g->hw, stop),
                                      .to = box_of_stop(g->hw, to),
                                      .side = HW_PORT_NONE,
                                      .outlet = (uint16_t)outlet,
                                      .failed = failed});
}

/* Links outside SIPs, those too that have failed; both ways of each together. */
static void gather_hops(struct gathering *g)
{
    const struct hw_config *const hw = hw_whole(g->hw);
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++)
        for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop) && !g->failed; outlet++) {
            const struct hw_hop hop = hw_hop(hw, stop, outlet);
            if (!hw_hop_counts(&hop, stop))
                continue;
            gather_hop(g, stop, outlet, hop.link, hop.to);
            if (hop.back != HW_ONE_WAY)
                gather_hop(g, hop.to, hop.back, hop.link, stop);
        }
}

/* Between cubes, and between cubes at the edge and the IO die. */
static void gather_inside(struct gathering *g, uint32_t sip)
{
    struct picture *const p = g->picture;
    for (uint32_t cube = 0; cube < hw_cubes(g->hw); cube++)
        for (enum hw_port side = 0; side < HW_PORTS && !g->failed; side++) {
            uint32_t next;
            const bool inside = hw_cube_neighbour(g->hw, cube, side, &next);
            const uint32_t from = picture_cube(p, sip, cube);
            const uint32_t to = inside ? picture_cube(p, sip, next) : picture_sip(sip);
            gather_link(g, HW_LINK_UCIE,
                        (struct picture_link){.from = from, .to = to, .side = (uint8_t)side});
            if (!inside)
                gather_link(g, HW_LINK_UCIE,
                            (struct picture_link){.from = to, .to = from, .side = (uint8_t)side});
        }
}

static const char *directions_of(const struct hw_config *hw)
{
    const struct hw_topology_ops *const topology = hw->sip_topology;
    if (topology->lines == HW_SIP_LINES_NONE && !topology->paired)
        return "No global directions.";
    if (topology->lines == HW_SIP_LINES_NONE && !topology->paired)
        return "No global directions.";
    if (topology->lines == HW_SIP_LINES_NONE)
        return "No global directions: sio joins the dies of a package, hccs those of one parity.";
    if (hw->sip_dims.count > 1)
        return "global_E and global_W go along the first dimension, global_S and global_N along "
               "all others.";
    if (topology->is_grid && hw->sip_dims.count == 0)
        return "global_E leads right, global_W left, global_S down, global_N up.";
    return hw_switches(hw) > 0 ? "global_E leads to the next number, global_W to the one "
                                 "before, through the switch."
                               : "global_E leads to the next number, global_W to the one before.";
}

static void describe_machine(struct picture *p, const struct hw_config *hw, uint32_t root)
{
    const struct hw_sip_dims dims = hw_sip_dims_of(hw);
    snprintf(p->topology, sizeof p->topology, "%s", hw->sip_topology->name);
    snprintf(p->directions, sizeof p->directions, "%s", directions_of(hw));
    p->sip_count = p->unfolded = hw->sip_count;
    p->switch_count = p->all_switches = hw_switches(hw);
    p->dim_count = dims.count;
    for (uint32_t k = 0; k < dims.count; k++)
        p->dim[k] = (struct picture_dim){dims.at[k].joint, dims.at[k].size};

    for (uint32_t kind = 0; hw->switches != NULL && kind < HW_SWITCH_KINDS; kind++)
        if (hw->switches[kind].count > 0) {
            struct picture_switches *const of = &p->switch_kind[p->switch_kind_count++];
            snprintf(of->name, sizeof of->name, "%s", hw->switches[kind].name);
            of->count = hw->switches[kind].count;
        }
    p->paired = hw->sip_topology->paired;
    p->cube_w = hw->cube_w;
    p->cube_h = hw->cube_h;
    p->root = root;
    p->pes = hw_pes(hw);
}

/* The dimension in which two SIPs differ. dim_count: none, or several. */
static uint32_t only_dim_between(const struct picture *p, uint32_t a, uint32_t b, uint32_t *steps)
{
    uint32_t found = p->dim_count;
    for (uint32_t k = 0; k < p->dim_count; k++) {
        const uint32_t size = p->dim[k].size, x = a % size, y = b % size;
        if (x != y && found != p->dim_count)
            return p->dim_count;
        if (x != y) {
            found = k;
            *steps = x < y ? y - x : x - y;
        }
        a /= size;
        b /= size;
    }
    return found;
}

/* Whether the dimensions tell all of a link; `base` is the first SIP of the switch that it leaves,
 * and *dim the dimension of that switch, once it is known. */
static bool fits_dims(const struct picture *p, const struct picture_link *link, uint32_t base,
                      uint32_t *dim)
{
    uint32_t steps = 0;
    if (!picture_is_sip(link->from)) {
        const uint32_t k =
            picture_is_sip(link->to) ? only_dim_between(p, base, link->to, &steps) : p->dim_count;
        if (link->to == base)
            return true;
        *dim = *dim == p->dim_count ? k : *dim;
        return k < p->dim_count && k == *dim && p->dim[k].joint == HW_SIP_SWITCH;
    }
    if (!picture_is_sip(link->to))
        return true; /* its way back tells */
    const uint32_t k = only_dim_between(p, link->from, link->to, &steps);
    if (k == p->dim_count)
        return false;
    return p->dim[k].joint == HW_SIP_FULL || (p->dim[k].joint == HW_SIP_LINE && steps == 1) ||
           (p->dim[k].joint == HW_SIP_RING && (steps == 1 || steps == p->dim[k].size - 1));
}

/* A graph may state dimensions and have other links, too: then it is no product. Links are in
 * order. */
static void check_dims(struct picture *p)
{
    uint32_t dim = p->dim_count, base = 0;
    for (size_t i = 0; i < p->link_count; i++) {
        const struct picture_link *const link = &p->links[i];
        if (link->side != HW_PORT_NONE)
            continue;
        if (i == 0 || link->from != link[-1].from) {
            base = link->to;
            dim = p->dim_count;
        }
        if (fits_dims(p, link, base, &dim))
            continue;
        p->dim_count = 1;
        p->dim[0] = (struct picture_dim){HW_SIP_OTHER, p->sip_count};
        return;
    }
}

int picture_check(const struct hw_config *hw, struct cw_error *error)
{
    if (hw->sip_count <= PICTURE_SIPS_MAX && hw_cubes(hw) <= PICTURE_CUBES_MAX)
        return CW_OK;
    return cw_error_set(error, CW_USAGE,
                        "a drawing has room for %d SIPs of %d cubes; the machine has %u of %u",
                        PICTURE_SIPS_MAX, PICTURE_CUBES_MAX, hw->sip_count, hw_cubes(hw));
}

struct picture *picture_create(const struct hw_config *hw, uint32_t root, struct cw_error *error)
{
    if (picture_check(hw, error) != CW_OK)
        return NULL;
    struct picture *const picture = calloc(1, sizeof *picture);
    struct gathering g = {.picture = picture, .hw = hw};
    if (picture == NULL) {
        (void)cw_error_memory(error, "the drawing");
        return NULL;
    }
    describe_machine(picture, hw, root);
    gather_hops(&g);
    for (uint32_t sip = 0; hw->sip_count <= PICTURE_INSIDE_MAX && sip < hw->sip_count; sip++)
        gather_inside(&g, sip);
    if (g.failed) {
        (void)cw_error_memory(error, "the drawing");
        picture_free(picture);
        return NULL;
    }
    if (picture->link_count > 0)
        qsort(picture->links, picture->link_count, sizeof *picture->links, by_ends);
    check_dims(picture);
    return picture;
}

void picture_free(struct picture *picture)
{
    if (picture == NULL)
        return;
    free(picture->links);
    free(picture->cubes);
    free(picture->first_sip);
    free(picture);
}

/* ---- use ------------------------------------------------------------------------------------- */

int picture_use(struct picture *picture, int64_t time_ps, bool cubes, struct cw_error *error)
{
    const size_t count = (size_t)picture->sip_count * picture->cube_w * picture->cube_h;
    picture->cubes = cubes ? calloc(count, sizeof *picture->cubes) : NULL;
    if (cubes && picture->cubes == NULL)
        return cw_error_memory(error, "the drawing");
    picture->time_ps = time_ps;
    return CW_OK;
}

/* The first link from this node. */
static size_t first_from(const struct picture *picture, uint32_t from)
{
    size_t begin = 0, end = picture->link_count;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (picture->links[middle].from < from)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

struct picture_link *picture_outlet(struct picture *picture, uint32_t node, uint32_t outlet)
{
    for (size_t i = first_from(picture, node);
         i < picture->link_count && picture->links[i].from == node; i++)
        if (picture->links[i].outlet == outlet && picture->links[i].side == HW_PORT_NONE)
            return &picture->links[i];
    return NULL;
}

struct picture_link *picture_out_of_cube(struct picture *picture, uint32_t sip, uint32_t cube,
                                         enum hw_port side)
{
    const uint32_t from = picture_cube(picture, sip, cube);
    for (size_t i = first_from(picture, from);
         i < picture->link_count && picture->links[i].from == from; i++)
        if (picture->links[i].side == side)
            return &picture->links[i];
    return NULL;
}

struct picture_link *picture_into_cube(struct picture *picture, uint32_t sip, uint32_t cube,
                                       enum hw_port side)
{
    const uint32_t from = picture_sip(sip), to = picture_cube(picture, sip, cube);
    for (size_t i = first_from(picture, from);
         i < picture->link_count && picture->links[i].from == from; i++)
        if (picture->links[i].to == to && picture->links[i].side == side)
            return &picture->links[i];
    return NULL;
}

double picture_busy(const struct picture *picture, const struct picture_link *link)
{
    return picture->time_ps > 0 ? (double)link->busy_ps / (double)picture->time_ps : 0;
}

const char *picture_node_name(const struct picture *picture, uint32_t node,
                              char text[PICTURE_NODE_BYTES])
{
    const uint32_t cubes = picture->cube_w * picture->cube_h;
    if ((node & PICTURE_CUBE_BIT) != 0)
        snprintf(text, PICTURE_NODE_BYTES, "%u.%u", (node & ~(uint32_t)PICTURE_CUBE_BIT) / cubes,
                 (node & ~(uint32_t)PICTURE_CUBE_BIT) % cubes);
    else
        snprintf(text, PICTURE_NODE_BYTES, "%s%u", picture_is_sip(node) ? "" : "x",
                 picture_number(node));
    return text;
}
