/*
 * read.c: from the YAML of a workload file, with settings that replace keys, to a model whose keys
 * and names are known to be legal (model.h). Nothing is computed here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/file/model.h"
#include "workload/file/read_item.h"
#include "workload/file/read_keys.h"

enum { OPERATIONS_MAX = 4000000 };
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- settings -------------------------------------------------------------------------------- */

static struct config_node *new_node(struct model *model, const struct config_node *like)
{
    struct config_node *const node = config_arena_alloc(&model->arena, sizeof *node);
    if (node != NULL)
        *node = *like;
    return node;
}

/* The place of the value that a part of a path leads to: of a mapping the key's, which is added
 * where it is not there; of a list the item of this number. NULL: reported, or no memory. */
static struct config_node **step_into(struct model *model, struct config_node *node,
                                      const struct config_node *setting, const char *part,
                                      size_t bytes)
{
    char quoted[TEXT_QUOTE_BYTES];
    uint64_t index;
    text_quote(part, bytes, quoted);
    if (node->kind == CONFIG_SEQUENCE) {
        struct config_node **at = &node->first;
        if (bytes == 0 || text_whole(part, bytes, CONFIG_NODES_MAX, &index) != bytes) {
            config_error(&model->loader, setting->place,
                         "%s is no item of a list; legal are 0, 1, ...", quoted);
            return NULL;
        }
        for (; index > 0 && *at != NULL; index--)
            at = &(*at)->next;
        if (*at != NULL)
            return at;
        config_error(&model->loader, setting->place, "the list has no item %s", quoted);
        return NULL;
    }
    if (node->kind != CONFIG_MAPPING || bytes == 0) {
        config_error(&model->loader, setting->place, "there is nothing that could have a key %s",
                     quoted);
        return NULL;
    }
    struct config_node **at = &node->first;
    for (; *at != NULL; at = &(*at)->next)
        if ((*at)->bytes == bytes && memcmp((*at)->text, part, bytes) == 0)
            return &(*at)->value;
    struct config_node *const key = new_node(model, setting);
    struct config_node *const value = new_node(model, setting);
    const char *const text = config_arena_text(&model->arena, part, bytes);
    if (key == NULL || value == NULL || text == NULL)
        return NULL;
    key->kind = CONFIG_SCALAR;
    key->text = text;
    key->bytes = bytes;
    key->next = NULL;
    value->kind = CONFIG_MAPPING;
    value->first = value->next = NULL;
    key->value = value;
    *at = key;
    return &key->value;
}

/* "workload.parallel.tp=8" */
static void apply_setting(struct model *model, struct config_node *root, const char *setting)
{
    char name[200], quoted[TEXT_QUOTE_BYTES];
    snprintf(name, sizeof name, "--set %s", setting);
    const char *const copy = config_arena_text(&model->arena, name, strlen(name));
    const char *const equals = strchr(setting, '=');
    const uint32_t source =
        copy != NULL ? config_source_add(&model->loader, &(struct config_source){.name = copy}) : 0;
    if (source == 0)
        return;
    const struct config_place place = {.source = source, .line = 0, .column = 0};
    if (equals == NULL || equals == setting) {
        config_error(&model->loader, place, "expected KEY=VALUE, such as workload.parallel.tp=8");
        return;
    }
    struct config_node *const value =
        config_parse(&model->loader, source, equals + 1, strlen(equals + 1));
    if (value == NULL)
        return;
    value->place.line = value->place.column = 0;
    struct config_node **at = &root;
    for (const char *part = setting; part <= equals;) {
        const char *const dot = memchr(part, '.', (size_t)(equals - part));
        const size_t bytes = (size_t)((dot != NULL ? dot : equals) - part);
        if (part == setting &&
            (bytes != strlen("workload") || memcmp(part, "workload", bytes) != 0)) {
            config_error(&model->loader, place,
                         "%s is no key of a workload file; legal begin with "
                         "'workload.'",
                         text_quote(setting, (size_t)(equals - setting), quoted));
            return;
        }
        at = step_into(model, *at, value, part, bytes);
        if (at == NULL)
            return;
        part += bytes + 1;
    }
    value->next = (*at)->next; /* of an item of a list */
    *at = value;
}

/* ---- names that are always there ------------------------------------------------------------- */

static void add_symbols(struct model *model)
{
    static const char *const rank_name[PARALLEL_DIMS] = {"tp_rank", "cp_rank", "ep_rank",
                                                         "dp_rank", "pp_rank", "edp_rank"};
    struct symbols *const symbols = &model->symbols;
    struct model_symbols *const known = &model->known;
    for (uint32_t dim = 0; dim < PARALLEL_DIMS; dim++) {
        known->size[dim] = symbol_add(symbols, parallel_dim_name(dim), "a size of `parallel`");
        known->coordinate[dim] =
            symbol_add(symbols, rank_name[dim], "the number of the rank in its group");
    }
    const struct {
        struct symbol **symbol;
        const char *name, *meaning;
    } rest[] = {
        {&known->ranks, "ranks", "the number of ranks"},
        {&known->dtype_bytes, "dtype_bytes", "bytes of an element of `dtype`"},
        {&known->rank, "rank", "the number of the rank"},
        {&known->stage, "stage", "the pipeline stage of the rank"},
        {&known->microbatch, "microbatch", "in a pipeline, the number of the microbatch"},
        {&known->last_microbatch, "last_microbatch", "in a pipeline, 1 for the last microbatch"},
        {&known->chunk, "chunk", "in a pipeline, the chunk of the stage's layers"},
        {&known->first, "first", "in a pipeline, 1 where the model begins"},
        {&known->last, "last", "in a pipeline, 1 where the model ends"},
        {&known->layer, "layer", "in each_layer, the number of the layer"},
        {&known->stage_layers, "stage_layers", "with a pipeline, the layers here"},
        {&known->in_flight, "in_flight", "of `memory`: microbatches between forward and backward"},
        {&known->layers_in_flight, "layers_in_flight", "of `memory`: their layers in all"},
    };
    for (size_t i = 0; i < COUNT(rest); i++)
        *rest[i].symbol = symbol_add(symbols, rest[i].name, rest[i].meaning);
    for (struct symbol *symbol = symbols->first; symbol != NULL; symbol = symbol->next)
        symbol->varies = true;
    for (uint32_t dim = 0; dim < PARALLEL_DIMS && !model->arena.failed; dim++)
        known->size[dim]->varies = false;
    if (!model->arena.failed)
        known->ranks->varies = known->dtype_bytes->varies = false;
}

/* Names first, so that formulas may use each other in any order. */
static void read_value_names(struct model *model, const struct config_node *values)
{
    char quoted[TEXT_QUOTE_BYTES];
    for (const struct config_node *key = values->first; key != NULL; key = key->next) {
        const struct symbol *const known = symbol_find(&model->symbols, key->text, key->bytes);
        text_quote_key(key->text, key->bytes, quoted);
        if (!symbol_name_is_good(key->text, key->bytes))
            config_error(&model->loader, key->place,
                         "%s is no name; legal are letters, digits and _, not beginning with a "
                         "digit, that name no function",
                         quoted);
        else if (known != NULL)
            config_error(&model->loader, key->place, "%s already has a meaning: %s", quoted,
                         known->meaning != NULL ? known->meaning : "a value");
        else
            (void)symbol_add(&model->symbols, key->text, NULL);
    }
}

static void read_values(struct model *model, const struct config_node *values)
{
    for (const struct config_node *key = values->first; key != NULL; key = key->next) {
        struct symbol *const symbol = symbol_find(&model->symbols, key->text, key->bytes);
        if (symbol != NULL && symbol->meaning == NULL && symbol->formula == NULL)
            symbol->formula = formula_read(&model->symbols, key->value);
    }
}

/* ---- sections -------------------------------------------------------------------------------- */

static void read_formulas(struct model *model, const struct config_node *node, const char *of,
                          const char *const *keys, size_t count, struct formula **formula)
{
    if (!is_kind(&model->loader, node, CONFIG_MAPPING, "a mapping"))
        return;
    keys_check(&model->loader, node, of, keys, count);
    for (size_t i = 0; i < count; i++) {
        const struct config_node *const value = key_value(node, keys[i]);
        formula[i] = value != NULL ? formula_read(&model->symbols, value) : NULL;
    }
}

static void read_parallel(struct model *model, const struct config_node *node)
{
    static const char *const keys[] = {"tp", "cp", "ep", "dp", "pp", "order"};
    if (!is_kind(&model->loader, node, CONFIG_MAPPING, "a mapping, such as {tp: 4, pp: 2, dp: 2}"))
        return;
    model->parallel_node = node;
    keys_check(&model->loader, node, "of parallel", keys, COUNT(keys));
    for (uint32_t dim = 0; dim < PARALLEL_EDP; dim++) {
        const struct config_node *const size = key_value(node, keys[dim]);
        model->size[dim] = size != NULL ? formula_read(&model->symbols, size) : NULL;
    }
    const struct config_node *const order = key_value(node, "order");
    const char *const text =
        order != NULL ? text_value(&model->loader, order, "an order such as tp-cp-ep-dp-pp") : NULL;
    const char *const wrong = text != NULL ? parallel_order_read(&model->parallel, text) : NULL;
    if (wrong != NULL)
        config_error(&model->loader, order->place, "order: %s", wrong);
}

static void read_groups(struct model *model, const struct config_node *node)
{
    const char *wrong;
    char quoted[TEXT_QUOTE_BYTES];
    if (!is_kind(&model->loader, node, CONFIG_MAPPING,
                 "a mapping, such as {pairs: [[0, 1], [2, 3]]}"))
        return;
    for (const struct config_node *key = node->first; key != NULL; key = key->next) {
        if (strcmp(key->text, "all") == 0 || parallel_set_read(key->text, &wrong) != 0)
            config_error(&model->loader, key->place,
                         "%s already is a set of groups; legal is a name of your own",
                         text_quote_key(key->text, key->bytes, quoted));
        else if (text_value(&model->loader, key, "a name") != NULL &&
                 is_kind(&model->loader, key->value, CONFIG_SEQUENCE, "a list of lists of ranks")) {
            struct item_set *const set = item_set_named(model, key->text, key);
            if (set != NULL)
                set->own = key->value;
        }
    }
}

static void read_algorithms(struct model *model, const struct config_node *node)
{
    if (!is_kind(&model->loader, node, CONFIG_MAPPING, "a mapping, such as {tp: ring_allreduce}"))
        return;
    for (const struct config_node *key = node->first; key != NULL; key = key->next) {
        struct item_set *const set = item_set_named(model, key->text, key);
        const char *const algorithm =
            text_value(&model->loader, key->value, "the name of an algorithm");
        if (set != NULL)
            set->algorithm = algorithm;
    }
}

static void read_blocks(struct model *model, const struct config_node *node)
{
    if (!is_kind(&model->loader, node, CONFIG_MAPPING, "a mapping of names to lists"))
        return;
    for (const struct config_node *key = node->first; key != NULL; key = key->next) {
        struct item_block *const block = config_arena_alloc(&model->arena, sizeof *block);
        if (block == NULL)
            return;
        *block = (struct item_block){.name = key->text, .node = key->value, .next = model->blocks};
        model->blocks = block;
    }
    for (struct item_block *block = model->blocks; block != NULL; block = block->next)
        block->items = items_read(model, block->node);
}

static const char *word_of_dtype(uint32_t i) { return dtype_at(i); }

static void read_top(struct model *model, const struct config_node *node)
{
    static const char *const keys[] = {"name",  "about",  "dtype",  "ranks",  "parallel",
                                       "place", "groups", "values", "blocks", "algorithms",
                                       "ops",   "memory", "quotes", "data"};
    static const char *const memory[MEMORY_KEYS] = {"weights",     "gradients", "optimizer",
                                                    "activations", "cache",     "other"};
    static const char *const quotes[QUOTE_KEYS] = {"model_flops", "tokens", "first_tokens",
                                                   "next_tokens"};
    const struct config_node *section[COUNT(keys)];
    keys_check(&model->loader, node, "of workload", keys, COUNT(keys));
    for (size_t i = 0; i < COUNT(keys); i++)
        section[i] = key_value(node, keys[i]);
    const struct config_node *const name = section[0], *const dtype = section[2],
                                    *const ranks = section[3], *const parallel = section[4],
                                    *const groups = section[6], *const values = section[7],
                                    *const blocks = section[8], *const algorithms = section[9],
                                    *const ops = section[10], *const data = section[13];
    if (name != NULL)
        model->name = text_value(&model->loader, name, "a name");
    model->dtype = DTYPE_BF16;
    if (dtype != NULL &&
        (dtype->kind != CONFIG_SCALAR || !dtype_parse(dtype->text, (enum dtype *)&model->dtype)))
        (void)word_value(&model->loader, dtype, "type of elements", word_of_dtype);
    const bool has_values =
        values != NULL && is_kind(&model->loader, values, CONFIG_MAPPING, "a mapping");
    if (has_values)
        read_value_names(model, values);
    if (ranks != NULL)
        model->ranks = formula_read(&model->symbols, ranks);
    if (parallel != NULL)
        read_parallel(model, parallel);
    model->place = section[5];
    if (groups != NULL)
        read_groups(model, groups);
    if (blocks != NULL)
        read_blocks(model, blocks);
    if (ops != NULL)
        model->items = items_read(model, ops);
    else
        config_error(&model->loader, node->place,
                     "no ops: expected a list of operations, such as - {collective: all_reduce, "
                     "bytes: 1MiB}");
    if (algorithms != NULL)
        read_algorithms(model, algorithms);
    model->has_memory = section[11] != NULL;
    if (section[11] != NULL)
        read_formulas(model, section[11], "of memory", memory, COUNT(memory), model->memory);
    if (section[12] != NULL)
        read_formulas(model, section[12], "of quotes", quotes, COUNT(quotes), model->quote);
    if (data != NULL)
        (void)truth_value(&model->loader, data, &model->data);
    if (has_values)
        read_values(model, values);
}

static void resolve_items(struct model *model, const struct item *items)
{
    for (const struct item *item = items; item != NULL; item = item->next) {
        for (uint32_t i = 0; i < ITEM_FORMULAS; i++)
            formula_resolve(&model->symbols, item->formula[i]);
        for (uint32_t i = 0; i < item->split_count; i++)
            formula_resolve(&model->symbols, item->split[i]);
        resolve_items(model, item->items);
        resolve_items(model, item->backward);
    }
}

static void resolve_all(struct model *model)
{
    formula_resolve(&model->symbols, model->ranks);
    for (uint32_t dim = 0; dim < PARALLEL_EDP; dim++)
        formula_resolve(&model->symbols, model->size[dim]);
    for (struct symbol *symbol = model->symbols.first; symbol != NULL; symbol = symbol->next)
        formula_resolve(&model->symbols, symbol->formula);
    for (uint32_t i = 0; i < MEMORY_KEYS; i++)
        formula_resolve(&model->symbols, model->memory[i]);
    for (uint32_t i = 0; i < QUOTE_KEYS; i++)
        formula_resolve(&model->symbols, model->quote[i]);
    for (const struct item_block *block = model->blocks; block != NULL; block = block->next)
        resolve_items(model, block->items);
    resolve_items(model, model->items);
}

/* A setting that adds a value which no formula names would change nothing. */
static void check_settings(struct model *model, const struct config_node *workload)
{
    const struct config_node *const values = key_value(workload, "values");
    if (values == NULL || values->kind != CONFIG_MAPPING)
        return;
    for (const struct config_node *key = values->first; key != NULL; key = key->next) {
        struct text_nearest nearest = {0};
        char quoted[TEXT_QUOTE_BYTES];
        const struct symbol *const value = symbol_find(&model->symbols, key->text, key->bytes);
        if (key->place.line > 0 || value == NULL || value->used)
            continue;
        for (const struct config_node *other = values->first; other != NULL; other = other->next)
            if (other->place.line > 0)
                text_nearest_try(&nearest, key->text, other->text);
        config_error(&model->loader, key->place, "no formula names the value %s%s%s%s",
                     text_quote_key(key->text, key->bytes, quoted),
                     nearest.best != NULL ? "; did you mean '" : "",
                     nearest.best != NULL ? nearest.best : "", nearest.best != NULL ? "'?" : "");
    }
}

/* The text's tree; NULL: reported. */
static struct config_node *parse_file(struct model *model,
                                      const struct workload_file_request *request)
{
    const uint32_t source = config_source_add(
        &model->loader, &(struct config_source){.name = request->path, .is_file = true});
    size_t bytes = request->bytes;
    char *own = NULL;
    if (source == 0)
        return NULL;
    if (request->text == NULL) {
        own = config_file_read(&model->loader, source, request->path, &bytes);
        if (own == NULL)
            return NULL;
    }
    struct config_node *const root =
        config_parse(&model->loader, source, own != NULL ? own : request->text, bytes);
    const struct config_place place = {.source = source, .line = 1, .column = 1};
    if (root == NULL && model->errors.count == 0 && !model->arena.failed)
        config_error(&model->loader, place, "no workload: expected a key `workload`");
    free(own);
    return root;
}

bool model_read(struct model *model, const struct workload_file_request *request)
{
    static const char *const keys[] = {"workload"};
    model->path = request->path;
    model->operations_max = request->operations_max > 0 ? request->operations_max : OPERATIONS_MAX;
    model->loader = (struct config_loader){
        .arena = &model->arena, .scratch = &model->arena, .errors = &model->errors};
    model->symbols.loader = &model->loader;
    add_symbols(model);
    struct config_node *const root = parse_file(model, request);
    if (root == NULL ||
        !is_kind(&model->loader, root, CONFIG_MAPPING, "a mapping with a key `workload`"))
        return false;
    for (size_t i = 0; i < request->setting_count; i++)
        apply_setting(model, root, request->settings[i]);
    keys_check(&model->loader, root, "of a workload file", keys, COUNT(keys));
    const struct config_node *const workload = key_value(root, "workload");
    if (workload == NULL || !is_kind(&model->loader, workload, CONFIG_MAPPING, "a mapping")) {
        if (workload == NULL)
            config_error(&model->loader, root->place, "expected a key `workload`");
        return false;
    }
    if (model->arena.failed)
        return false;
    read_top(model, workload);
    resolve_all(model);
    check_settings(model, workload);
    return model->errors.count == 0 && !model->arena.failed;
}
