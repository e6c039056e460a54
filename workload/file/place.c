/*
 * place.c: which SIP each rank takes (workload/STEPS.md, "Workload files"): a list, or the shape
 * that the groups of one set take in the grid of SIPs, one after the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/file/model.h"
#include "workload/file/read_item.h"
#include "workload/file/read_keys.h"

static void refuse(struct model *model, const struct config_node *node, const char *text)
{
    config_error(&model->loader, node->place, "%s", text);
}

/* [3, 2, 1, 0]: rank r takes the r-th. */
static bool place_by_list(struct model *model, struct workload_graph *graph)
{
    uint32_t rank = 0;
    char text[120];
    for (const struct config_node *at = model->place->first; at != NULL; at = at->next, rank++) {
        uint64_t sip;
        if (rank >= graph->rank_count)
            continue;
        if (at->kind != CONFIG_SCALAR || at->bytes == 0 ||
            text_whole(at->text, at->bytes, PARALLEL_RANKS_MAX - 1, &sip) != at->bytes) {
            refuse(model, at, "expected the number of a SIP, from 0 to 1048575");
            return true;
        }
        graph->sip_of[rank] = (uint32_t)sip;
    }
    if (rank != graph->rank_count) {
        snprintf(text, sizeof text, "expected a SIP for each of %u ranks", graph->rank_count);
        refuse(model, model->place, text);
    }
    return true;
}

/* "row", "column", "block 2x4" for groups of `size`. */
static bool read_shape(struct model *model, const struct config_node *node, uint32_t size,
                       uint32_t *w, uint32_t *h)
{
    char text[160], rest;
    *w = *h = 0;
    if (node->kind == CONFIG_SCALAR && strcmp(node->text, "row") == 0) {
        *w = size;
        *h = 1;
    } else if (node->kind == CONFIG_SCALAR && strcmp(node->text, "column") == 0) {
        *w = 1;
        *h = size;
    } else if (node->kind != CONFIG_SCALAR ||
               sscanf(node->text, "block %5ux%5u%c", w, h, &rest) != 2) {
        refuse(model, node, "expected row, column, or a block such as block 2x4");
        return false;
    }
    if ((uint64_t)*w * *h == size)
        return true;
    snprintf(text, sizeof text, "a block of %u x %u for groups of %u; legal is one of %u SIPs", *w,
             *h, size, size);
    refuse(model, node, text);
    return false;
}

/* Blocks follow each other in rows of the grid; ranks of a group in rows of its block. */
static void place_blocks(struct workload_graph *graph, const struct workload_set *set, uint32_t w,
                         uint32_t h, uint32_t grid_w)
{
    const uint32_t in_row = grid_w / w;
    for (uint32_t group = 0; group < set->groups; group++)
        for (uint32_t i = set->first[group]; i < set->first[group + 1]; i++) {
            const uint32_t member = i - set->first[group];
            const uint32_t x = group % in_row * w + member % w, y = group / in_row * h + member / w;
            graph->sip_of[set->ranks[i]] = y * grid_w + x;
        }
}

static bool place_by_shape(struct model *model, const struct workload_file_request *request,
                           struct workload_graph *graph)
{
    const struct config_node *const key = model->place->first;
    char text[200];
    const char *wrong;
    uint32_t w, h;
    if (key == NULL || key->next != NULL) {
        refuse(model, model->place, "expected one set of groups and its shape, such as {tp: row}");
        return true;
    }
    struct item_set *const named = item_set_named(model, key->text, key);
    if (named == NULL)
        return false;
    if (named->own == NULL && strcmp(key->text, "all") != 0 &&
        parallel_set_read(key->text, &wrong) == 0) {
        refuse(model, key,
               "no set of groups; legal are all, tp, cp, ep, dp, pp, edp, some of them "
               "joined by '-', and the keys of `groups`");
        return true;
    }
    const uint32_t index = model_set(model, graph, named);
    if (index == WORKLOAD_NONE)
        return !model->arena.failed;
    const struct workload_set *const set = &graph->sets[index];
    const uint32_t size = set->first[1];
    bool whole = set->first[set->groups] == graph->rank_count;
    for (uint32_t group = 0; group < set->groups; group++)
        whole &= set->first[group + 1] - set->first[group] == size;
    if (!whole) {
        refuse(model, key, "legal is a set of groups of one size that has every rank");
        return true;
    }
    if (!read_shape(model, key->value, size, &w, &h))
        return true;
    if (request->any_machine) {
        free(graph->sip_of);
        graph->sip_of = NULL;
        return true;
    }
    if (request->sip_w == 0) {
        refuse(model, key->value, "the SIPs of this machine are no grid; legal is a list of SIPs");
        return true;
    }
    if (request->sip_w % w != 0 || request->sip_h % h != 0 ||
        set->groups > (request->sip_w / w) * (request->sip_h / h)) {
        snprintf(text, sizeof text,
                 "%u blocks of %u x %u do not fill a grid of %u x %u SIPs; legal are blocks whose "
                 "sides divide those of the grid",
                 set->groups, w, h, request->sip_w, request->sip_h);
        refuse(model, key->value, text);
        return true;
    }
    place_blocks(graph, set, w, h, request->sip_w);
    return true;
}

/* No two ranks share a SIP. */
static bool check_places(struct model *model, const struct workload_graph *graph)
{
    char text[120];
    uint8_t *const taken = calloc(PARALLEL_RANKS_MAX, 1);
    if (taken == NULL)
        return false;
    for (uint32_t rank = 0; rank < graph->rank_count; rank++) {
        const uint32_t sip = graph->sip_of[rank];
        if (sip >= PARALLEL_RANKS_MAX || taken[sip]++ == 0)
            continue;
        snprintf(text, sizeof text, "SIP %u is taken twice; legal is one rank for a SIP", sip);
        refuse(model, model->place, text);
        break;
    }
    free(taken);
    return true;
}

bool model_place(struct model *model, const struct workload_file_request *request,
                 struct workload_graph *graph)
{
    char quoted[TEXT_QUOTE_BYTES];
    bool good = true;
    if (model->place == NULL)
        return true;
    graph->sip_of = calloc(graph->rank_count, sizeof *graph->sip_of);
    if (graph->sip_of == NULL)
        return false;
    if (model->place->kind == CONFIG_SEQUENCE)
        good = place_by_list(model, graph);
    else if (model->place->kind == CONFIG_MAPPING)
        good = place_by_shape(model, request, graph);
    else
        config_error(&model->loader, model->place->place,
                     "expected a shape such as {tp: block 2x2}, or a list of SIPs; found %s",
                     config_quote_node(model->place, quoted));
    return good && (model->errors.count > 0 || graph->sip_of == NULL || check_places(model, graph));
}
