/*
 * sip_parts.c: asks METIS for parts of a machine's stops (sip_parts.h). METIS draws from the C
 * library's rand() after it has set the seed, so one thread at a time does so.
 */
#include "partition/sip_parts.h"

#include <pthread.h>
#include <stdlib.h>

#include "hw/topology/topology.h"
#include "partition/metis_library.h"

/* The links of a machine, as METIS takes a graph. A link both ways is in the list of each end. */
struct stop_graph {
    idx_t count, *first, *neighbour, *weight, *work;
};

enum { WEIGHT_MAX = 10000 };

/* Bandwidth of a class, in ten-thousandths of that of the fastest: at least 1. */
static idx_t weight_of(const struct hw_config *hw, enum hw_link_kind link, double fastest)
{
    const double rate = (double)hw->link[link].rate.den / (double)hw->link[link].rate.num;
    const double share = rate / fastest * WEIGHT_MAX;
    return share < 1 ? 1 : (idx_t)share;
}

static double fastest_of(const struct hw_config *hw)
{
    double fastest = 0;
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++)
        for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++) {
            const struct hw_hop hop = hw_hop(hw, stop, outlet);
            if (hop.link == HW_LINK_KINDS)
                continue;
            const double rate =
                (double)hw->link[hop.link].rate.den / (double)hw->link[hop.link].rate.num;
            fastest = rate > fastest ? rate : fastest;
        }
    return fastest;
}

static void stop_graph_free(struct stop_graph *graph)
{
    free(graph->first);
    free(graph->neighbour);
    free(graph->weight);
    free(graph->work);
}

/* Parallel links as one edge, as METIS wants them. */
static bool join_parallel(struct stop_graph *graph)
{
    idx_t *const edge = malloc((size_t)graph->count * sizeof *edge), used = 0, begin = 0;
    for (idx_t stop = 0; edge != NULL && stop < graph->count; stop++)
        edge[stop] = -1;
    for (idx_t stop = 0; edge != NULL && stop < graph->count; stop++) {
        const idx_t first = used, end = graph->first[stop + 1];
        for (idx_t i = begin; i < end; i++) {
            const idx_t to = graph->neighbour[i];
            if (edge[to] >= first) {
                graph->weight[edge[to]] += graph->weight[i];
                continue;
            }
            edge[to] = used;
            graph->neighbour[used] = to;
            graph->weight[used++] = graph->weight[i];
        }
        begin = end;
        graph->first[stop + 1] = used;
    }
    free(edge);
    return edge != NULL;
}

/* Counts the links at each stop, or lists them. One-way links count both ways: METIS wants each
 * edge in both lists. */
static void visit_links(const struct hw_config *hw, struct stop_graph *graph, double fastest)
{
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++)
        for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++) {
            const struct hw_hop hop = hw_hop(hw, stop, outlet);
            if (!hw_hop_counts(&hop, stop))
                continue;
            const uint32_t end[2] = {stop, hop.to};
            for (uint32_t i = 0; i < 2; i++) {
                if (graph->neighbour == NULL) {
                    graph->first[end[i] + 2]++;
                    continue;
                }
                const idx_t at = graph->first[end[i] + 1]++;
                graph->neighbour[at] = (idx_t)end[1 - i];
                graph->weight[at] = weight_of(hw, hop.link, fastest);
            }
        }
}

static bool stop_graph_build(const struct hw_config *hw, struct stop_graph *graph)
{
    const uint32_t stops = hw_stops(hw);
    const double fastest = fastest_of(hw);
    *graph = (struct stop_graph){.count = (idx_t)stops};
    graph->first = calloc((size_t)stops + 2, sizeof *graph->first);
    graph->work = calloc((size_t)stops + 1, sizeof *graph->work);
    if (graph->first == NULL || graph->work == NULL || fastest <= 0)
        return false;
    visit_links(hw, graph, fastest);
    for (uint32_t stop = 0; stop < stops; stop++)
        graph->first[stop + 2] += graph->first[stop + 1];
    const size_t edges = (size_t)graph->first[stops + 1] + 1;
    graph->weight = calloc(edges, sizeof *graph->weight);
    graph->neighbour = calloc(edges, sizeof *graph->neighbour);
    if (graph->neighbour == NULL || graph->weight == NULL)
        return false;
    visit_links(hw, graph, fastest);
    for (uint32_t sip = 0; sip < hw->sip_count; sip++)
        graph->work[sip] = 1;
    return join_parallel(graph);
}

static bool ask_metis(struct stop_graph *graph, uint32_t parts, uint32_t *part)
{
    static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
    struct metis_library metis;
    struct cw_error error;
    idx_t options[METIS_NOPTIONS], constraints = 1, count = (idx_t)parts, cut = 0;
    _Static_assert(sizeof(idx_t) == sizeof *part, "METIS fills the caller's memory");
    if (metis_library_open(&metis, &error) != CW_OK)
        return false;
    (void)metis.set_defaults(options);
    options[METIS_OPTION_SEED] = 1;
    (void)pthread_mutex_lock(&alone);
    const int status =
        metis.recursive(&graph->count, &constraints, graph->first, graph->neighbour, graph->work,
                        NULL, graph->weight, &count, NULL, NULL, options, &cut, (idx_t *)part);
    (void)pthread_mutex_unlock(&alone);
    metis_library_close(&metis);
    return status == METIS_OK;
}

bool sip_parts_can(void)
{
    struct metis_library metis;
    struct cw_error error;
    const bool can = metis_library_open(&metis, &error) == CW_OK;
    if (can)
        metis_library_close(&metis);
    return can;
}

bool sip_parts(const struct hw_config *hw, uint32_t parts, uint32_t *part)
{
    struct stop_graph graph = {0};
    const bool found =
        parts <= hw->sip_count && stop_graph_build(hw, &graph) && ask_metis(&graph, parts, part);
    stop_graph_free(&graph);
    return found;
}
