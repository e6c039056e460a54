/*
 * sets.c: sets of groups of ranks in the graph: those of the parallel layout, of all ranks, and of
 * the file's own lists (model.h).
 */
#include <stdlib.h>
#include <string.h>

#include "workload/file/model.h"

static void set_error(struct model *model, const struct config_node *node, const char *text)
{
    config_error(&model->loader, node->place, "%s", text);
}

/* A list of lists of ranks. *groups: how many lists. False: reported, or no memory. */
static bool own_groups(struct model *model, const struct item_set *set, uint32_t *first,
                       uint32_t *ranks, uint32_t *groups)
{
    const uint32_t rank_count = model->parallel.ranks;
    uint32_t used = 0;
    *groups = 0;
    for (const struct config_node *group = set->own->first; group != NULL; group = group->next) {
        if (group->kind != CONFIG_SEQUENCE || group->first == NULL || *groups == rank_count) {
            set_error(model, group,
                      "expected a list of ranks, such as [0, 1]; at most as many "
                      "lists as there are ranks");
            return false;
        }
        first[(*groups)++] = used;
        for (const struct config_node *at = group->first; at != NULL; at = at->next) {
            struct formula *const formula = formula_read(&model->symbols, at);
            uint64_t rank;
            if (formula == NULL)
                return false;
            formula_resolve(&model->symbols, formula);
            if (!formula_whole(&model->symbols, formula, 0, 0, rank_count - 1, &rank))
                return false;
            for (uint32_t i = 0; i < used; i++)
                if (ranks[i] == rank) {
                    set_error(model, at, "this rank is in the set twice; legal is once");
                    return false;
                }
            ranks[used++] = (uint32_t)rank;
        }
    }
    first[*groups] = used;
    if (*groups == 0)
        set_error(model, set->own, "expected a list of lists of ranks, such as [[0, 1], [2, 3]]");
    return *groups > 0;
}

/* Which group each rank is in, as workload_graph_check() fills it later. */
static bool index_set(struct workload_graph *graph, struct workload_set *set)
{
    set->group_of = malloc(graph->rank_count * sizeof *set->group_of);
    set->rank_in = malloc(graph->rank_count * sizeof *set->rank_in);
    if (set->group_of == NULL || set->rank_in == NULL)
        return false;
    memset(set->group_of, 255, graph->rank_count * sizeof *set->group_of);
    memset(set->rank_in, 255, graph->rank_count * sizeof *set->rank_in);
    for (uint32_t group = 0; group < set->groups; group++)
        for (uint32_t i = set->first[group]; i < set->first[group + 1]; i++) {
            set->group_of[set->ranks[i]] = group;
            set->rank_in[set->ranks[i]] = i - set->first[group];
        }
    return true;
}

static bool find_groups(struct model *model, const struct item_set *set, uint32_t *first,
                        uint32_t *ranks, uint32_t *groups)
{
    const uint32_t rank_count = model->parallel.ranks;
    if (set->own != NULL)
        return own_groups(model, set, first, ranks, groups);
    if (set->dims != 0) {
        *groups = parallel_groups(&model->parallel, set->dims, first, ranks);
        return true;
    }
    *groups = 1;
    first[0] = 0;
    first[1] = rank_count;
    for (uint32_t i = 0; i < rank_count; i++)
        ranks[i] = i;
    return true;
}

uint32_t model_set(struct model *model, struct workload_graph *graph, struct item_set *set)
{
    const uint32_t rank_count = model->parallel.ranks;
    if (set->index != WORKLOAD_NONE)
        return set->index;
    uint32_t *const first = malloc((rank_count + 1) * sizeof *first), *const ranks =
                                                                          malloc(rank_count *
                                                                                 sizeof *ranks);
    uint32_t groups = 0, index = WORKLOAD_NONE;
    if (first == NULL || ranks == NULL)
        model->arena.failed = true;
    else if (find_groups(model, set, first, ranks, &groups)) {
        index = workload_add_set(graph, set->name, groups, first, ranks);
        model->arena.failed |= index == WORKLOAD_NONE || !index_set(graph, &graph->sets[index]);
        if (index != WORKLOAD_NONE && set->algorithm != NULL) {
            graph->sets[index].algorithm = strdup(set->algorithm);
            model->arena.failed |= graph->sets[index].algorithm == NULL;
        }
    }
    free(first);
    free(ranks);
    set->index = model->arena.failed ? WORKLOAD_NONE : index;
    return set->index;
}

/* Names of sets that are neither of the layout nor of the file. */
void model_check_sets(struct model *model)
{
    static const char *const usual[] = {"all", "tp",  "cp",    "pp",    "dp",
                                        "ep",  "edp", "tp-cp", "dp-cp", "tp-ep"};
    for (struct item_set *set = model->sets; set != NULL; set = set->next) {
        struct text_nearest nearest = {0};
        char quoted[TEXT_QUOTE_BYTES];
        const char *wrong;
        if (set->own != NULL || strcmp(set->name, "all") == 0 ||
            parallel_set_read(set->name, &wrong) != 0)
            continue;
        for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
            text_nearest_try(&nearest, set->name, usual[i]);
        for (const struct item_set *other = model->sets; other != NULL; other = other->next)
            if (other->own != NULL)
                text_nearest_try(&nearest, set->name, other->name);
        config_error(&model->loader, set->first_place->place,
                     "no set of groups %s%s%s; %s%s%slegal are all, tp, cp, ep, dp, pp, edp, some "
                     "of them joined by '-', and the keys of `groups`",
                     text_quote(set->name, strlen(set->name), quoted), wrong != NULL ? ": " : "",
                     wrong != NULL ? wrong : "", nearest.best != NULL ? "did you mean '" : "",
                     nearest.best != NULL ? nearest.best : "", nearest.best != NULL ? "'? " : "");
    }
}
