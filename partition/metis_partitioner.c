/*
 * metis_partitioner.c: the partitioner `metis` (metis_partitioner.h).
 *
 * A candidate counts if each worker gets a cube (where there are as many) and the load is balanced
 * (cube_cut_is_balanced). The choice among candidates that count:
 *   1. the largest lookahead;
 *   2. among equals, the least cost (cube_cut_cost);
 *   3. among equals, the first candidate.
 * Any cut through a SIP has the lookahead of a UCIe link. So candidates that cut SIPs are tried
 * only if no distribution of whole SIPs counts. If no candidate counts the result is `block`, which
 * gives a cube to each worker.
 *
 * METIS is deterministic for a given seed, but draws from the C library's rand(). So one process
 * must not partition two machines at the same time, if the results are to be the same each time.
 */
#include "partition/metis_partitioner.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hw/structure.h"
#include "partition/cube_graph.h"
#include "partition/in_order.h"
#include "partition/metis_library.h"

_Static_assert(sizeof(idx_t) == sizeof(int32_t), "METIS takes the graph as it is");

struct search {
    const struct hw_config *hw;
    struct metis_library metis;
    uint32_t workers, cube_count;
    uint64_t *work, *load; /* [cube_count], [workers] */
    uint32_t *tried;       /* [cube_count] the candidate */
    idx_t *part;           /* [cube_count] the answer of METIS */
    uint32_t *best;        /* [cube_count] the caller's */
    struct cube_cut best_cut;
    bool found;
};

static int partition_out_of_memory(const struct search *search, struct cw_error *error)
{
    return cw_error_set(error, CW_NO_RESOURCE,
                        "out of memory while partitioning %" PRIu32 " cubes for %" PRIu32
                        " threads; --partition sip needs none",
                        search->cube_count, search->workers);
}

static int report_metis(const struct search *search, int status, struct cw_error *error)
{
    if (status == METIS_ERROR_MEMORY)
        return partition_out_of_memory(search, error);
    return cw_error_set(error, CW_BUG,
                        "METIS refuses the graph of %" PRIu32 " cubes for %" PRIu32
                        " threads with status %d; --partition sip does without it",
                        search->cube_count, search->workers, status);
}

/* Takes the candidate if it is better than the best so far. */
static void consider_tried(struct search *search)
{
    const struct cube_cut cut =
        cube_cut_of(search->hw, search->work, search->workers, search->tried, search->load);
    const struct cube_cut *const best = &search->best_cut;
    if (cut.busy < search->workers || !cube_cut_is_balanced(&cut, search->workers))
        return;
    if (search->found &&
        (cut.lookahead_ps < best->lookahead_ps ||
         (cut.lookahead_ps == best->lookahead_ps &&
          cube_cut_cost(&cut, search->workers) >= cube_cut_cost(best, search->workers))))
        return;
    memcpy(search->best, search->tried, search->cube_count * sizeof *search->best);
    search->best_cut = cut;
    search->found = true;
}

static int try_metis(struct search *search, struct cube_graph *graph, uint32_t group, metis_fn run,
                     struct cw_error *error)
{
    idx_t options[METIS_NOPTIONS], constraints = 1, parts = (idx_t)search->workers, cut = 0;
    (void)search->metis.set_defaults(options);
    options[METIS_OPTION_SEED] = 1;
    const int status = run(&graph->count, &constraints, graph->first, graph->neighbour, graph->work,
                           NULL, graph->weight, &parts, NULL, NULL, options, &cut, search->part);
    if (status != METIS_OK)
        return report_metis(search, status, error);
    for (uint32_t i = 0; i < search->cube_count; i++)
        search->tried[i] = (uint32_t)search->part[i / group];
    consider_tried(search);
    return CW_OK;
}

/* Tries both algorithms of METIS on the graph with `group` cubes to a vertex: neither is always
 * better. */
static int try_graph(struct search *search, uint32_t group, struct cw_error *error)
{
    struct cube_graph graph;
    int code = cube_graph_build(&graph, search->hw, search->work, group)
                   ? CW_OK
                   : partition_out_of_memory(search, error);
    if (code == CW_OK)
        code = try_metis(search, &graph, group, search->metis.recursive, error);
    if (code == CW_OK)
        code = try_metis(search, &graph, group, search->metis.kway, error);
    cube_graph_free(&graph);
    return code;
}

static int find_best(struct search *search, struct cw_error *error)
{
    int code = CW_OK;
    cube_work(search->hw, search->work);
    if (search->workers <= search->hw->sip_count) {
        (void)partition_sips(search->hw, search->workers, search->tried, error);
        consider_tried(search);
        code = try_graph(search, hw_cubes(search->hw), error);
    }
    if (code != CW_OK || search->found)
        return code;
    (void)partition_blocks(search->hw, search->workers, search->tried, error);
    consider_tried(search);
    code = try_graph(search, 1, error);
    if (code == CW_OK && !search->found)
        code = partition_blocks(search->hw, search->workers, search->best, error);
    return code;
}

int partition_metis(const struct hw_config *hw, uint32_t workers, uint32_t *cube_worker,
                    struct cw_error *error)
{
    struct search search = {.hw = hw,
                            .workers = workers,
                            .cube_count = hw->sip_count * hw_cubes(hw),
                            .best = cube_worker};
    if (workers == 1 || search.cube_count <= workers) /* there is nothing to choose */
        return partition_blocks(hw, workers, cube_worker, error);
    search.work = calloc(search.cube_count, sizeof *search.work);
    search.load = calloc(workers, sizeof *search.load);
    search.tried = calloc(search.cube_count, sizeof *search.tried);
    search.part = calloc(search.cube_count, sizeof *search.part);
    const bool allocated = search.work && search.load && search.tried && search.part;
    int code = allocated ? metis_library_open(&search.metis, error)
                         : partition_out_of_memory(&search, error);
    if (code == CW_OK) {
        code = find_best(&search, error);
        metis_library_close(&search.metis);
    }
    free(search.work);
    free(search.load);
    free(search.tried);
    free(search.part);
    return code;
}
