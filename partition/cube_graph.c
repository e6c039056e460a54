/*
 * cube_graph.c: estimates the traffic of a machine's links and the work of its cubes, makes a graph
 * of them, and judges partitions by it (cube_graph.h).
 *
 * The estimate counts one installation and one hierarchical all-reduce of TILES tiles:
 *   1. A control message and its answer for each PE (installation), and for one PE per cube
 *      (launch), enter by the W port of the target's row and pass every cube before it.
 *   2. Along each row, and along the middle column, each tile goes to the middle and back. Each
 * time a credit goes the other way.
 *   3. Between SIPs, the tiles leave from the middle cube.
 * Other collectives load other links more. But they too reduce along rows and columns, and a row
 * costs the same to cut anywhere. Weights from a trial run were rejected: the partition would no
 * longer follow from the command line alone.
 */
#include "partition/cube_graph.h"

#include <stdlib.h>

#include "core/cw.h"
#include "hw/route.h"

enum {
    TILES = 16,
    PER_TILE = 4,       /* events that a link carries for each: there and back, with credits */
    OWN_PER_TILE = 6,   /* at a cube: loads, additions, stores */
    OWN_PER_PE = 8,     /* at a cube: installation and launch */
    LATENCY_FACTOR = 64 /* an edge weighs at most this many times its traffic */
};

struct cube_place {
    uint32_t sip, x, y;
};

static uint32_t control_per_cube(const struct hw_config *hw) { return 2 * (hw_pes(hw) + 1); }

static int64_t hop_ps(const struct hw_config *hw, enum hw_link_kind link, enum hw_node_kind node)
{
    return hw->link[link].prop_ps + hw->overhead_ps[node];
}

static int64_t lesser_ps(int64_t a, int64_t b) { return a < b ? a : b; }

/* The link between columns x - 1 and x of a row, or, with x 0, between its W port and the IO die.
 */
static uint32_t row_traffic(const struct hw_config *hw, uint32_t x)
{
    return control_per_cube(hw) * (hw->cube_w - x) + (x > 0 ? PER_TILE * TILES : 0);
}

/* A cube's link to its IO die. Tiles leave the SIP from the middle cube. */
static uint32_t port_traffic(const struct hw_config *hw, struct cube_place at, enum hw_port port)
{
    const bool row = port == HW_PORT_E || port == HW_PORT_W;
    const bool middle = row ? at.y == hw->cube_h / 2 : at.x == hw->cube_w / 2;
    return 1 + (middle ? TILES : 0) + (port == HW_PORT_W ? row_traffic(hw, 0) : 0);
}

static void visit_links_of_cube(const struct hw_config *hw, struct cube_place at,
                                cube_link_fn visit, void *arg)
{
    const uint32_t first = at.sip * hw_cubes(hw), cube = at.y * hw->cube_w + at.x;
    const int64_t cube_ps = hop_ps(hw, HW_LINK_UCIE, HW_NODE_UCIE_PORT);
    const int64_t die_ps = lesser_ps(cube_ps, hop_ps(hw, HW_LINK_UCIE, HW_NODE_IO_PORT));
    for (enum hw_port port = 0; port < HW_PORTS; port++) {
        struct cube_link link = {.a = first + cube, .b = first, .delay_ps = die_ps};
        uint32_t to;
        if (!hw_cube_neighbour(hw, cube, port, &to)) {
            link.traffic = port_traffic(hw, at, port);
        } else if (port == HW_PORT_E || port == HW_PORT_S) { /* each once */
            link.b = first + to;
            link.delay_ps = cube_ps;
            link.traffic = port == HW_PORT_E        ? row_traffic(hw, at.x + 1)
                           : at.x == hw->cube_w / 2 ? PER_TILE * TILES
                                                    : 1;
        } else {
            continue;
        }
        if (link.a != link.b)
            visit(arg, &link);
    }
}

static void visit_outer(const struct hw_config *hw, uint32_t sip, uint32_t to,
                        enum hw_link_kind kind, cube_link_fn visit, void *arg)
{
    const struct cube_link link = {.a = sip * hw_cubes(hw),
                                   .b = to * hw_cubes(hw),
                                   .traffic = 2 * TILES,
                                   .delay_ps = hop_ps(hw, kind, HW_NODE_IO_PORT)};
    if (link.a != link.b)
        visit(arg, &link);
}

/* The links of a SIP to others, each once. */
static void visit_links_of_io_die(const struct hw_config *hw, uint32_t sip, cube_link_fn visit,
                                  void *arg)
{
    for (uint32_t outlet = 0; outlet < hw_outlets(hw); outlet++) {
        const struct hw_hop hop = hw_hop(hw, sip, outlet);
        if (hw_hop_counts(&hop, sip) && !hw_is_switch(hw, hop.to))
            visit_outer(hw, sip, hop.to, hop.link, visit, arg);
    }
}

/* The first SIP on a switch's way to SIP 0, as the place of the switch itself. */
enum { HOME_HOPS = 16 };
static uint32_t home_of(const struct hw_config *hw, uint32_t stop)
{
    for (uint32_t hops = 0; hw_is_switch(hw, stop) && hops < HOME_HOPS; hops++)
        stop = hw_hop(hw, stop, hw_route_exit(hw, stop, 0, HW_ROUTE_KEY_PASSED)).to;
    return hw_is_switch(hw, stop) ? 0 : stop;
}

/* What a switch joins, as a ring. */
static void visit_switch(const struct hw_config *hw, uint32_t stop, cube_link_fn visit, void *arg)
{
    uint32_t first = UINT32_MAX, last = UINT32_MAX;
    enum hw_link_kind kind = HW_LINK_KINDS;
    for (uint32_t outlet = 0; outlet < hw_switch_outlets(hw); outlet++) {
        const struct hw_hop hop = hw_hop(hw, stop, outlet);
        if (hop.link == HW_LINK_KINDS)
            continue;
        const uint32_t to = home_of(hw, hop.to);
        if (last != UINT32_MAX)
            visit_outer(hw, last, to, hop.link, visit, arg);
        first = first == UINT32_MAX ? to : first;
        kind = hop.link;
        last = to;
    }
    if (last != UINT32_MAX)
        visit_outer(hw, last, first, kind, visit, arg);
}

void cube_links_visit(const struct hw_config *hw, cube_link_fn visit, void *arg)
{
    for (uint32_t sip = 0; sip < hw->sip_count; sip++) {
        for (uint32_t y = 0; y < hw->cube_h; y++)
            for (uint32_t x = 0; x < hw->cube_w; x++)
                visit_links_of_cube(hw, (struct cube_place){sip, x, y}, visit, arg);
        visit_links_of_io_die(hw, sip, visit, arg);
    }
    for (uint32_t stop = hw->sip_count; stop < hw_stops(hw); stop++)
        visit_switch(hw, stop, visit, arg);
}

static void add_work(void *arg, const struct cube_link *link)
{
    uint64_t *const work = arg;
    work[link->a] += link->traffic;
    work[link->b] += link->traffic;
}

void cube_work(const struct hw_config *hw, uint64_t *work)
{
    for (uint32_t i = 0; i < hw->sip_count * hw_cubes(hw); i++)
        work[i] = OWN_PER_TILE * TILES + OWN_PER_PE * hw_pes(hw);
    cube_links_visit(hw, add_work, work);
}

/* ---- judging a partition --------------------------------------------------------------------- */

struct cut_sum {
    const uint32_t *cube_worker;
    struct cube_cut *cut;
};

static void add_cut(void *arg, const struct cube_link *link)
{
    const struct cut_sum *const sum = arg;
    if (sum->cube_worker[link->a] == sum->cube_worker[link->b])
        return;
    sum->cut->traffic += link->traffic;
    sum->cut->lookahead_ps = lesser_ps(sum->cut->lookahead_ps, link->delay_ps);
}

struct cube_cut cube_cut_of(const struct hw_config *hw, const uint64_t *work, uint32_t workers,
                            const uint32_t *cube_worker, uint64_t *load)
{
    struct cube_cut cut = {.lookahead_ps = CW_TIME_MAX};
    for (uint32_t i = 0; i < workers; i++)
        load[i] = 0;
    for (uint32_t i = 0; i < hw->sip_count * hw_cubes(hw); i++) {
        load[cube_worker[i]] += work[i];
        cut.work_sum += work[i];
        cut.work_of_cube_max = work[i] > cut.work_of_cube_max ? work[i] : cut.work_of_cube_max;
    }
    for (uint32_t i = 0; i < workers; i++) {
        cut.busy += load[i] > 0;
        cut.work_max = load[i] > cut.work_max ? load[i] : cut.work_max;
    }
    struct cut_sum sum = {cube_worker, &cut};
    cube_links_visit(hw, add_cut, &sum);
    return cut;
}

bool cube_cut_is_balanced(const struct cube_cut *cut, uint32_t workers)
{
    return 3 * cut->work_max * workers <= 4 * cut->work_sum ||
           cut->work_max <= cut->work_sum / workers + cut->work_of_cube_max;
}

uint64_t cube_cut_cost(const struct cube_cut *cut, uint32_t workers)
{
    return cut->work_max * workers + 2 * cut->traffic;
}

/* ---- the graph ------------------------------------------------------------------------------- */

struct build {
    struct cube_graph *graph;
    uint32_t group;
    int64_t delay_max_ps;
    uint64_t weight_sum, weight_unit; /* weights are divided by the unit */
    int32_t *used;                    /* [count] of a vertex's places, filled */
};

static uint64_t weigh(const struct build *build, const struct cube_link *link)
{
    const int64_t delay_ps = link->delay_ps > 0 ? link->delay_ps : 1;
    const int64_t factor = lesser_ps(build->delay_max_ps / delay_ps, LATENCY_FACTOR - 1);
    return (uint64_t)link->traffic * (1 + (uint64_t)factor);
}

static void find_delay_max(void *arg, const struct cube_link *link)
{
    struct build *const build = arg;
    if (link->delay_ps > build->delay_max_ps)
        build->delay_max_ps = link->delay_ps;
}

static void count_link(void *arg, const struct cube_link *link)
{
    struct build *const build = arg;
    const uint32_t a = link->a / build->group, b = link->b / build->group;
    if (a == b)
        return;
    build->graph->first[a + 1]++;
    build->graph->first[b + 1]++;
    build->weight_sum += 2 * weigh(build, link);
}

static void add_end(struct build *build, uint32_t from, uint32_t to, uint64_t weight)
{
    struct cube_graph *const graph = build->graph;
    const int32_t at = graph->first[from] + build->used[from]++;
    const uint64_t scaled = weight / build->weight_unit;
    graph->neighbour[at] = (int32_t)to;
    graph->weight[at] = (int32_t)(scaled > 0 ? scaled : 1);
}

static void add_link(void *arg, const struct cube_link *link)
{
    struct build *const build = arg;
    const uint32_t a = link->a / build->group, b = link->b / build->group;
    if (a == b)
        return;
    const uint64_t weight = weigh(build, link);
    add_end(build, a, b, weight);
    add_end(build, b, a, weight);
}

/* Links that join the same two vertices become one edge. `place`: [count], overwritten. */
static void merge_parallel_edges(struct cube_graph *graph, int32_t *place)
{
    int32_t out = 0;
    for (int32_t v = 0; v < graph->count; v++)
        place[v] = -1;
    for (int32_t v = 0, in = 0; v < graph->count; v++) {
        const int32_t begin = out, end = graph->first[v + 1];
        for (; in < end; in++) {
            const int32_t to = graph->neighbour[in];
            if (place[to] >= begin) {
                graph->weight[place[to]] += graph->weight[in];
                continue;
            }
            place[to] = out;
            graph->neighbour[out] = to;
            graph->weight[out++] = graph->weight[in];
        }
        graph->first[v] = begin;
    }
    graph->first[graph->count] = out;
}

/* The divisor of weights that keeps their sum below 2^31, given that none is rounded to 0. */
static uint64_t unit_of(uint64_t sum) { return (sum >> 30) + 1; }

static void fill_work(struct cube_graph *graph, const uint64_t *work, uint32_t group)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < (uint32_t)graph->count * group; i++)
        sum += work[i];
    for (int32_t v = 0; v < graph->count; v++) {
        uint64_t own = 0;
        for (uint32_t i = 0; i < group; i++)
            own += work[(uint32_t)v * group + i];
        graph->work[v] = (int32_t)(own / unit_of(sum));
        graph->work[v] += graph->work[v] == 0;
    }
}

bool cube_graph_build(struct cube_graph *graph, const struct hw_config *hw, const uint64_t *work,
                      uint32_t group)
{
    const size_t count = hw->sip_count * hw_cubes(hw) / group;
    struct build build = {.graph = graph, .group = group};
    *graph = (struct cube_graph){.count = (int32_t)count};
    graph->first = calloc(count + 1, sizeof *graph->first);
    graph->work = calloc(count, sizeof *graph->work);
    build.used = calloc(count, sizeof *build.used);
    if (graph->first == NULL || graph->work == NULL || build.used == NULL) {
        free(build.used);
        return false;
    }
    cube_links_visit(hw, find_delay_max, &build);
    cube_links_visit(hw, count_link, &build);
    build.weight_unit = unit_of(build.weight_sum);
    for (size_t v = 0; v < count; v++)
        graph->first[v + 1] += graph->first[v];
    const size_t ends = (size_t)graph->first[count] + 1; /* never 0 */
    graph->neighbour = calloc(ends, sizeof *graph->neighbour);
    graph->weight = calloc(ends, sizeof *graph->weight);
    const bool filled = graph->neighbour != NULL && graph->weight != NULL;
    if (filled) {
        cube_links_visit(hw, add_link, &build);
        merge_parallel_edges(graph, build.used);
        fill_work(graph, work, group);
    }
    free(build.used);
    return filled;
}

void cube_graph_free(struct cube_graph *graph)
{
    free(graph->first);
    free(graph->neighbour);
    free(graph->weight);
    free(graph->work);
    *graph = (struct cube_graph){.count = 0};
}
