/*
 * classes.c: from the model of a workload file to the graph of a step: the parallel layout, classes
 * of ranks with a program each, what they hold, and what people quote (model.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/file/expand.h"

enum { PROGRAMS_MAX = 65536 };

/* ---- classes of ranks ------------------------------------------------------------------------ */

static void set_rank(struct expand *expand, uint32_t rank)
{
    const struct model_symbols *const known = &expand->model->known;
    expand->rank = rank;
    expand_set(expand, known->rank, rank);
    for (uint32_t dim = 0; dim < PARALLEL_DIMS; dim++)
        expand_set(expand, known->coordinate[dim],
                   parallel_coordinate(&expand->model->parallel, dim, rank));
    symbol_set(expand->symbols, known->stage, known->coordinate[PARALLEL_PP]->now);
}

/* Ranks whose numbers that the file uses are equal do the same: a number for them. */
static uint64_t class_of(const struct model *model, uint32_t rank)
{
    const struct model_symbols *const known = &model->known;
    uint64_t key = 0;
    if (known->rank->used)
        return rank;
    for (uint32_t dim = 0; dim < PARALLEL_DIMS; dim++) {
        const bool stage = dim == PARALLEL_PP && (known->stage->used || model->has_pipeline);
        if (known->coordinate[dim]->used || stage)
            key =
                key * model->parallel.size[dim] + parallel_coordinate(&model->parallel, dim, rank);
    }
    return key;
}

/* "stage 1", "stage 1, tp_rank 0", "rank 5", "every rank" */
static void name_class(const struct model *model, uint32_t rank, char text[160])
{
    const struct model_symbols *const known = &model->known;
    int used = 0;
    text[0] = '\0';
    if (known->rank->used) {
        snprintf(text, 160, "rank %u", rank);
        return;
    }
    for (uint32_t i = 0; i < PARALLEL_DIMS; i++) {
        const uint32_t dim = (PARALLEL_PP + i) % PARALLEL_DIMS; /* the stage first */
        const bool stage = dim == PARALLEL_PP && (known->stage->used || model->has_pipeline);
        if ((!known->coordinate[dim]->used && !stage) || model->parallel.size[dim] == 1)
            continue;
        used += snprintf(text + used, 160 - (size_t)used, "%s%s %u", used > 0 ? ", " : "",
                         dim == PARALLEL_PP ? "stage" : known->coordinate[dim]->name,
                         parallel_coordinate(&model->parallel, dim, rank));
    }
    if (used == 0)
        snprintf(text, 160, "every rank");
}

struct rank_key {
    uint64_t key;
    uint32_t rank;
};

static int by_key(const void *a, const void *b)
{
    const struct rank_key *const x = a, *const y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1)
                            : (x->rank > y->rank) - (x->rank < y->rank);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The pipeline that trains, else the first one. */
static struct item *find_pipeline(struct item *items, struct item *found)
{
    for (struct item *item = items; item != NULL; item = item->next) {
        if (item->kind == ITEM_PIPELINE && (found == NULL || !found->has_backward))
            found = item;
        found = find_pipeline(item->items, found);
    }
    return found;
}

/* Sets what `memory` may use of the schedule. */
static void set_in_flight(struct expand *expand, const struct stage *stage)
{
    const struct model_symbols *const known = &expand->model->known;
    const uint32_t units = pipeline_units(&stage->shape),
                   parts = stage->shape.stages * stage->shape.chunks;
    struct pipeline_unit *const unit = malloc((units + 1) * sizeof *unit);
    uint64_t now = 0, most = 0, layers = 0;
    if (unit == NULL) {
        expand_no_memory(expand);
        return;
    }
    pipeline_order(&stage->shape, stage->number, unit);
    for (uint32_t i = 0; i < units && !stage->shape.forward_only; i++) {
        const uint64_t of_unit = stage->layers[stage_part(stage, unit[i].chunk)];
        now = unit[i].backward ? now - of_unit : now + of_unit;
        most = now > most ? now : most;
    }
    for (uint32_t chunk = 0; chunk < stage->shape.chunks; chunk++)
        layers += stage->layers[stage_part(stage, chunk)];
    const uint32_t in_flight = stage->shape.forward_only ? 1 : pipeline_in_flight(unit, units);
    free(unit);
    expand_set(expand, known->in_flight, in_flight);
    expand_set(expand, known->layers_in_flight, stage->shape.forward_only ? layers : most);
    expand_set(expand, known->stage_layers, layers);
    expand_set(expand, known->first, stage->number == 0);
    expand_set(expand, known->last, stage_part(stage, stage->shape.chunks - 1) == parts - 1);
}

static void fill_memory(struct expand *expand, struct workload_memory *memory)
{
    struct model *const model = expand->model;
    uint64_t *const field[MEMORY_KEYS] = {&memory->weights,   &memory->gradients,
                                          &memory->optimizer, &memory->activations,
                                          &memory->cache,     &memory->other};
    struct item *pipeline = find_pipeline(model->items, NULL);
    struct stage stage = {0};
    for (struct item_block *block = model->blocks; block != NULL; block = block->next)
        pipeline = find_pipeline(block->items, pipeline);
    if (pipeline != NULL && stage_shape(expand, pipeline, &stage))
        set_in_flight(expand, &stage);
    stage_free(&stage);
    for (uint32_t i = 0; i < MEMORY_KEYS && !expand->no_memory; i++)
        (void)formula_amount(expand->symbols, model->memory[i], 1, field[i]);
    memory->known = true;
    stage_forget(expand);
    symbol_unset(expand->symbols, model->known.in_flight);
    symbol_unset(expand->symbols, model->known.layers_in_flight);
}

static void fill_quotes(struct expand *expand)
{
    struct workload_quotes *const quotes = &expand->graph->quotes;
    double *const field[QUOTE_KEYS] = {&quotes->model_flops, &quotes->tokens, &quotes->first_tokens,
                                       &quotes->next_tokens};
    const struct model_symbols *const known = &expand->model->known;
    /* Of all ranks: no coordinate has a value. */
    for (uint32_t dim = 0; dim < PARALLEL_DIMS; dim++)
        symbol_unset(expand->symbols, known->coordinate[dim]);
    symbol_unset(expand->symbols, known->rank);
    symbol_unset(expand->symbols, known->stage);
    for (uint32_t i = 0; i < QUOTE_KEYS; i++) {
        struct formula *const formula = expand->model->quote[i];
        struct number value;
        if (formula == NULL || !formula_compute(expand->symbols, formula, &value))
            continue;
        if (number_real(value) < 0)
            formula_error(expand->symbols, formula, "legal is a number from 0 on");
        *field[i] = number_real(value);
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Sizes of the layout, and the number of ranks. */
static bool fill_parallel(struct model *model)
{
    struct parallel *const parallel = &model->parallel;
    struct symbols *const symbols = &model->symbols;
    const struct config_node *const node = model->parallel_node;
    uint64_t size, ranks = 0;
    bool good = true;
    symbol_set(symbols, model->known.dtype_bytes,
               number_of((int64_t)dtype_bytes((enum dtype)model->dtype)));
    if (model->ranks != NULL) {
        if (!formula_whole(symbols, model->ranks, 1, 1, PARALLEL_RANKS_MAX, &ranks))
            return false;
        if (node == NULL)
            symbol_set(symbols, model->known.ranks, number_of((int64_t)ranks));
    }
    for (uint32_t dim = 0; dim < PARALLEL_EDP; dim++) {
        good &= formula_whole(symbols, model->size[dim], 1, 1, PARALLEL_RANKS_MAX, &size);
        if (node == NULL && dim == PARALLEL_DP && ranks > 0)
            size = ranks;
        parallel->size[dim] = (uint32_t)size;
        if (good)
            symbol_set(symbols, model->known.size[dim], number_of((int64_t)size));
    }
    if (parallel->order_count == 0)
        (void)parallel_order_read(parallel, "tp-cp-ep-dp-pp");
    if (!good)
        return false;
    const char *const wrong = parallel_complete(parallel);
    if (wrong != NULL) {
        config_error(&model->loader, node != NULL ? node->place : model->ranks->node->place, "%s",
                     wrong);
        return false;
    }
    if (ranks > 0 && ranks != parallel->ranks) {
        config_error(&model->loader, model->ranks->node->place,
                     "%" PRIu64 " ranks, but tp * cp * dp * pp is %u; legal is one of the two keys",
                     ranks, parallel->ranks);
        return false;
    }
    symbol_set(symbols, model->known.ranks, number_of(parallel->ranks));
    symbol_set(symbols, model->known.size[PARALLEL_EDP], number_of(parallel->size[PARALLEL_EDP]));
    return true;
}

static void check_after(struct model *model, const struct item *items)
{
    for (const struct item *item = items; item != NULL; item = item->next) {
        for (const struct item_after *after = item->after; after != NULL; after = after->next) {
            struct text_nearest nearest = {0};
            char quoted[TEXT_QUOTE_BYTES];
            if (after->name == NULL || after->name->is_made)
                continue;
            for (const struct item_name *name = model->names; name != NULL; name = name->next)
                if (name->is_made)
                    text_nearest_try(&nearest, after->name->text, name->text);
            config_error(&model->loader, after->node->place,
                         "no operation has the name %s%s%s%s; legal are names of operations and "
                         "`previous`",
                         text_quote(after->name->text, strlen(after->name->text), quoted),
                         nearest.best != NULL ? "; did you mean '" : "",
                         nearest.best != NULL ? nearest.best : "",
                         nearest.best != NULL ? "'?" : "");
        }
        check_after(model, item->items);
        check_after(model, item->backward);
    }
}

/* The programs of all classes, in the order of their least ranks. */
static void expand_classes(struct expand *expand)
{
    struct model *const model = expand->model;
    struct workload_graph *const graph = expand->graph;
    const uint32_t ranks = model->parallel.ranks;
    struct rank_key *const keys = malloc(ranks * sizeof *keys);
    graph->program_of = malloc(ranks * sizeof *graph->program_of);
    if (keys == NULL || graph->program_of == NULL) {
        free(keys);
        expand_no_memory(expand);
        return;
    }
    for (uint32_t rank = 0; rank < ranks; rank++)
        keys[rank] = (struct rank_key){class_of(model, rank), rank};
    qsort(keys, ranks, sizeof *keys, by_key);
    for (uint32_t i = 0; i < ranks && !expand->stop; i++) {
        char name[160];
        if (i > 0 && keys[i].key == keys[i - 1].key) {
            graph->program_of[keys[i].rank] = graph->program_of[keys[i - 1].rank];
            continue;
        }
        if (graph->program_count == PROGRAMS_MAX) {
            expand_error(expand, model->items, "more than 65536 classes of ranks");
            break;
        }
        name_class(model, keys[i].rank, name);
        expand->program = workload_add_program(graph, name);
        if (expand->program == WORKLOAD_NONE) {
            expand_no_memory(expand);
            break;
        }
        graph->program_of[keys[i].rank] = expand->program;
        set_rank(expand, keys[i].rank);
        expand->last.count = expand->latest_count = 0;
        expand_list(expand, model->items);
    }
    for (uint32_t i = 0; i < ranks && !expand->stop && model->has_memory; i++) {
        if (i > 0 && keys[i].key == keys[i - 1].key)
            continue;
        if (graph->memory == NULL)
            graph->memory = calloc(graph->program_count, sizeof *graph->memory);
        if (graph->memory == NULL)
            expand_no_memory(expand);
        set_rank(expand, keys[i].rank);
        if (!expand->stop)
            fill_memory(expand, &graph->memory[graph->program_of[keys[i].rank]]);
    }
    free(keys);
}

bool model_expand(struct model *model, struct workload_graph *graph)
{
    struct expand expand = {
        .model = model, .symbols = &model->symbols, .graph = graph, .purpose = WORKLOAD_OTHER};
    model_check_sets(model);
    check_after(model, model->items);
    for (const struct item_block *block = model->blocks; block != NULL; block = block->next)
        check_after(model, block->items);
    if (!fill_parallel(model) || model->errors.count > 0)
        return true;
    graph->rank_count = model->parallel.ranks;
    graph->verifies = model->data;
    graph->name = strdup(model->name != NULL ? model->name : "workload");
    graph->file = strdup(model->path);
    if (graph->name == NULL || graph->file == NULL)
        return false;
    expand_classes(&expand);
    if (!expand.stop)
        fill_quotes(&expand);
    free(expand.latest);
    return !expand.no_memory && !model->arena.failed;
}
