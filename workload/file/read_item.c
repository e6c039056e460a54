/*
 * read_item.c: an item of a list of operations: what it is follows from the keys that it has, and
 * which other keys are legal from what it is (read_item.h).
 */
#include "workload/file/read_item.h"

#include <stdio.h>
#include <string.h>

#include "workload/file/read_keys.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define BIT(kind)    (UINT32_C(1) << (kind))

enum {
    LISTS = BIT(ITEM_OPS) | BIT(ITEM_REPEAT) | BIT(ITEM_EACH_LAYER) | BIT(ITEM_USE) |
            BIT(ITEM_PIPELINE),
    MESSAGES = BIT(ITEM_SEND) | BIT(ITEM_RECV),
    ANY = BIT(ITEM_KINDS) - 1,
    LEAVES = ANY & ~LISTS,
};

/* What an item with this key is; the first one that it has counts. */
static const struct {
    const char *key;
    enum item_kind kind;
} kind_key[] = {
    {"pipeline", ITEM_PIPELINE}, {"each_layer", ITEM_EACH_LAYER},
    {"repeat", ITEM_REPEAT},     {"use", ITEM_USE},
    {"ops", ITEM_OPS},           {"collective", ITEM_COLLECTIVE},
    {"send", ITEM_SEND},         {"recv", ITEM_RECV},
    {"product", ITEM_PRODUCT},   {"time", ITEM_TIME},
    {"flops", ITEM_ROOFLINE},    {"bytes", ITEM_ROOFLINE},
};

static const char *const kind_name[ITEM_KINDS] = {
    [ITEM_NOTHING] = "of an operation that joins others",
    [ITEM_ROOFLINE] = "of an operation that computes",
    [ITEM_PRODUCT] = "of a product",
    [ITEM_TIME] = "of an operation that takes a time",
    [ITEM_COLLECTIVE] = "of a collective",
    [ITEM_SEND] = "of a send",
    [ITEM_RECV] = "of a recv",
    [ITEM_OPS] = "of a list of operations",
    [ITEM_REPEAT] = "of a repeat",
    [ITEM_EACH_LAYER] = "of an each_layer",
    [ITEM_USE] = "of a use",
    [ITEM_PIPELINE] = "of a pipeline",
};

/* Keys and the kinds that they are legal for. `formula`: the formula that the key's value is;
 * ITEM_FORMULAS: it is read otherwise. */
static const struct {
    const char *key;
    uint32_t kinds;
    enum item_formula formula;
} item_key[] = {
    {"name", LEAVES, ITEM_FORMULAS},
    {"when", ANY, FORMULA_WHEN},
    {"after", ANY, ITEM_FORMULAS},
    {"overlap", ANY, ITEM_FORMULAS},
    {"purpose", ANY, ITEM_FORMULAS},
    {"stream", LEAVES, ITEM_FORMULAS},
    {"flops", BIT(ITEM_ROOFLINE), FORMULA_FLOPS},
    {"bytes", BIT(ITEM_ROOFLINE) | BIT(ITEM_COLLECTIVE), FORMULA_BYTES},
    {"kernels", BIT(ITEM_ROOFLINE), FORMULA_KERNELS},
    {"vector", BIT(ITEM_ROOFLINE), ITEM_FORMULAS},
    {"product", BIT(ITEM_PRODUCT), ITEM_FORMULAS},
    {"time", BIT(ITEM_TIME), FORMULA_TIME},
    {"collective", BIT(ITEM_COLLECTIVE), ITEM_FORMULAS},
    {"of", BIT(ITEM_COLLECTIVE) | MESSAGES, ITEM_FORMULAS},
    {"dtype", BIT(ITEM_COLLECTIVE) | MESSAGES | BIT(ITEM_PRODUCT), ITEM_FORMULAS},
    {"redop", BIT(ITEM_COLLECTIVE), ITEM_FORMULAS},
    {"root", BIT(ITEM_COLLECTIVE), FORMULA_PEER},
    {"bucket", BIT(ITEM_COLLECTIVE), FORMULA_BUCKET},
    {"to_first", BIT(ITEM_COLLECTIVE), FORMULA_TO_FIRST},
    {"from_first", BIT(ITEM_COLLECTIVE), FORMULA_FROM_FIRST},
    {"send", BIT(ITEM_SEND), FORMULA_BYTES},
    {"recv", BIT(ITEM_RECV), FORMULA_BYTES},
    {"to", BIT(ITEM_SEND), FORMULA_PEER},
    {"from", BIT(ITEM_RECV), FORMULA_PEER},
    {"tag", MESSAGES, FORMULA_TAG},
    {"ops", BIT(ITEM_OPS) | BIT(ITEM_REPEAT), ITEM_FORMULAS},
    {"repeat", BIT(ITEM_REPEAT), FORMULA_COUNT},
    {"index", BIT(ITEM_REPEAT), ITEM_FORMULAS},
    {"backwards", BIT(ITEM_REPEAT), ITEM_FORMULAS},
    {"each_layer", BIT(ITEM_EACH_LAYER), ITEM_FORMULAS},
    {"use", BIT(ITEM_USE), ITEM_FORMULAS},
    {"pipeline", BIT(ITEM_PIPELINE), ITEM_FORMULAS},
    {"microbatches", BIT(ITEM_PIPELINE), FORMULA_MICROBATCHES},
    {"chunks", BIT(ITEM_PIPELINE), FORMULA_CHUNKS},
    {"layers", BIT(ITEM_PIPELINE), ITEM_FORMULAS},
    {"message", BIT(ITEM_PIPELINE), FORMULA_MESSAGE},
    {"forward", BIT(ITEM_PIPELINE), ITEM_FORMULAS},
    {"backward", BIT(ITEM_PIPELINE), ITEM_FORMULAS},
};

/* ---- names ----------------------------------------------------------------------------------- */

static struct item_name *name_of(struct model *model, const char *text)
{
    for (struct item_name *name = model->names; name != NULL; name = name->next)
        if (strcmp(name->text, text) == 0)
            return name;
    struct item_name *const name = config_arena_alloc(&model->arena, sizeof *name);
    if (name == NULL)
        return NULL;
    *name = (struct item_name){.text = text, .index = model->name_count++, .next = model->names};
    return model->names = name;
}

struct item_set *item_set_named(struct model *model, const char *name,
                                const struct config_node *node)
{
    const char *wrong;
    for (struct item_set *set = model->sets; set != NULL; set = set->next)
        if (strcmp(set->name, name) == 0)
            return set;
    struct item_set *const set = config_arena_alloc(&model->arena, sizeof *set);
    if (set == NULL)
        return NULL;
    *set = (struct item_set){.name = name,
                             .index = WORKLOAD_NONE,
                             .dims = parallel_set_read(name, &wrong),
                             .first_place = node,
                             .next = model->sets};
    return model->sets = set;
}

/* ---- values of keys -------------------------------------------------------------------------- */

static const char *word_of_purpose(uint32_t i)
{
    static const char *const word[] = {"other",  "forward", "backward", "recompute",
                                       "update", "prefill", "decode",   NULL};
    return word[i];
}

static const char *word_of_collective(uint32_t i)
{
    return i <= CCL_ALL_TO_ALL ? ccl_collective_name(i) : i == CCL_ALL_TO_ALL + 1 ? "reduce" : NULL;
}

static const char *word_of_schedule(uint32_t i) { return pipeline_schedule_name(i); }

static const char *word_of_redop(uint32_t i) { return redop_at(i); }

static const char *word_of_dtype(uint32_t i) { return dtype_at(i); }

/* "previous", "gradients" or "gradients.start"; a list of them. */
static void read_after(struct model *model, struct item *item, const struct config_node *node)
{
    static const char start[] = ".start";
    const bool is_list = node->kind == CONFIG_SEQUENCE;
    struct item_after **tail = &item->after;
    item->has_after = true;
    for (const struct config_node *at = is_list ? node->first : node; at != NULL;
         at = is_list ? at->next : NULL) {
        const char *text = text_value(&model->loader, at,
                                      "the name of an operation, `previous`, or a list of them");
        if (text == NULL)
            continue;
        struct item_after *const after = config_arena_alloc(&model->arena, sizeof *after);
        if (after == NULL)
            return;
        const size_t bytes = at->bytes, suffix = sizeof start - 1;
        after->node = at;
        after->start = bytes > suffix && strcmp(text + bytes - suffix, start) == 0;
        if (after->start)
            text = config_arena_text(&model->arena, text, bytes - suffix);
        if (text != NULL && strcmp(text, "previous") != 0)
            after->name = name_of(model, text);
        else if (after->start)
            config_error(&model->loader, at->place,
                         "previous.start: legal is `previous`, or the name of an operation");
        after->next = NULL;
        *tail = after;
        tail = &after->next;
    }
}

/* "128x256x512", or a list of three formulas. */
static void read_product(struct model *model, struct item *item, const struct config_node *node)
{
    static const char expected[] = "MxNxK, or a list of three formulas [m, n, k]";
    uint32_t i = 0;
    if (node->kind == CONFIG_SEQUENCE) {
        const struct config_node *at = node->first;
        for (; at != NULL && i < 3; at = at->next)
            item->formula[FORMULA_M + i++] = formula_read(&model->symbols, at);
        if (i < 3 || at != NULL)
            config_error(&model->loader, node->place, "expected %s", expected);
        return;
    }
    if (!is_kind(&model->loader, node, CONFIG_SCALAR, expected))
        return;
    const char *text = node->text;
    for (; i < 3; i++) {
        struct config_node *const side = config_arena_alloc(&model->arena, sizeof *side);
        const size_t digits = strspn(text, "0123456789");
        if (side == NULL)
            return;
        if (digits == 0 || text[digits] != (i < 2 ? 'x' : '\0')) {
            char quoted[TEXT_QUOTE_BYTES];
            config_error(&model->loader, node->place, "expected %s; found %s", expected,
                         config_quote_node(node, quoted));
            return;
        }
        *side = *node;
        side->text = config_arena_text(&model->arena, text, digits);
        side->bytes = digits;
        if (side->text == NULL)
            return;
        item->formula[FORMULA_M + i] = formula_read(&model->symbols, side);
        text += digits + 1;
    }
}

/* Equal parts, or a list with the layers of each stage and chunk. */
static void read_layers(struct model *model, struct item *item, const struct config_node *node)
{
    if (node->kind != CONFIG_SEQUENCE) {
        item->formula[FORMULA_LAYERS] = formula_read(&model->symbols, node);
        return;
    }
    for (const struct config_node *at = node->first; at != NULL; at = at->next)
        item->split_count++;
    item->split = config_arena_alloc(&model->arena, (item->split_count + 1) * sizeof *item->split);
    uint32_t i = 0;
    for (const struct config_node *at = node->first; at != NULL && item->split != NULL;
         at = at->next)
        item->split[i++] = formula_read(&model->symbols, at);
    if (item->split == NULL)
        item->split_count = 0;
}

/* A loop's index is a name for the formulas in it, and for others that are used there. */
static void read_index(struct model *model, struct item *item, const struct config_node *node)
{
    const char *const name = text_value(&model->loader, node, "the name of the loop's index");
    char quoted[TEXT_QUOTE_BYTES];
    if (name == NULL)
        return;
    struct symbol *symbol = symbol_find(&model->symbols, name, node->bytes);
    const bool is_ours = symbol == model->known.layer || symbol == model->known.microbatch;
    if (!symbol_name_is_good(name, node->bytes) ||
        (symbol != NULL && !is_ours && (symbol->meaning != NULL || !symbol->varies))) {
        config_error(&model->loader, node->place,
                     "%s cannot be the index of a loop; legal is a "
                     "name that has no other meaning",
                     text_quote(name, node->bytes, quoted));
        return;
    }
    if (symbol == NULL)
        symbol = symbol_add(&model->symbols, name, NULL);
    if (symbol != NULL)
        symbol->varies = true;
    item->index = symbol;
}

static void read_block_name(struct model *model, struct item *item, const struct config_node *node)
{
    struct text_nearest nearest = {0};
    char quoted[TEXT_QUOTE_BYTES];
    const char *const name = text_value(&model->loader, node, "the name of a block");
    if (name == NULL)
        return;
    for (struct item_block *block = model->blocks; block != NULL; block = block->next) {
        if (strcmp(block->name, name) == 0) {
            item->block = block;
            return;
        }
        text_nearest_try(&nearest, name, block->name);
    }
    config_error(&model->loader, node->place, "no block %s%s%s%s; legal are the keys of `blocks`",
                 text_quote(name, node->bytes, quoted),
                 nearest.best != NULL ? "; did you mean '" : "",
                 nearest.best != NULL ? nearest.best : "", nearest.best != NULL ? "'?" : "");
}

static void read_value(struct model *model, struct item *item, const char *key,
                       const struct config_node *node)
{
    struct config_loader *const loader = &model->loader;
    const char *text;
    int word;
    if (strcmp(key, "name") == 0) {
        text = text_value(loader, node, "a name");
        if (text != NULL && (strcmp(text, "previous") == 0 || strstr(text, ".start") != NULL))
            config_error(loader, node->place,
                         "`previous` and `.start` are words of `after`; legal "
                         "is another name");
        item->name = text != NULL ? name_of(model, text) : NULL;
        if (item->name != NULL)
            item->name->is_made = true;
    } else if (strcmp(key, "after") == 0) {
        read_after(model, item, node);
    } else if (strcmp(key, "overlap") == 0) {
        (void)truth_value(loader, node, &item->overlaps);
    } else if (strcmp(key, "vector") == 0) {
        (void)truth_value(loader, node, &item->vector);
    } else if (strcmp(key, "backwards") == 0) {
        (void)truth_value(loader, node, &item->backwards);
    } else if (strcmp(key, "purpose") == 0) {
        item->purpose = word_value(loader, node, "purpose", word_of_purpose);
    } else if (strcmp(key, "stream") == 0) {
        item->stream = text_value(loader, node, "the name of a stream");
    } else if (strcmp(key, "collective") == 0) {
        word = word_value(loader, node, "collective", word_of_collective);
        item->collective = (uint8_t)(word > CCL_ALL_TO_ALL ? CCL_REDUCE : word < 0 ? 0 : word);
    } else if (strcmp(key, "redop") == 0) {
        enum redop redop;
        if (node->kind == CONFIG_SCALAR && redop_parse(node->text, &redop))
            item->redop = (uint8_t)redop;
        else
            (void)word_value(loader, node, "operation of a reduction", word_of_redop);
    } else if (strcmp(key, "dtype") == 0) {
        enum dtype dtype;
        if (node->kind == CONFIG_SCALAR && dtype_parse(node->text, &dtype))
            item->dtype = (int)dtype;
        else
            (void)word_value(loader, node, "type of elements", word_of_dtype);
    } else if (strcmp(key, "of") == 0) {
        text = text_value(loader, node, "a set of groups, such as tp");
        item->set = text != NULL ? item_set_named(model, text, node) : NULL;
    } else if (strcmp(key, "product") == 0) {
        read_product(model, item, node);
    } else if (strcmp(key, "layers") == 0) {
        read_layers(model, item, node);
    } else if (strcmp(key, "index") == 0) {
        read_index(model, item, node);
    } else if (strcmp(key, "use") == 0) {
        read_block_name(model, item, node);
    } else if (strcmp(key, "pipeline") == 0) {
        word = word_value(loader, node, "schedule", word_of_schedule);
        item->schedule = word < 0 ? PIPELINE_GPIPE : (enum pipeline_schedule)word;
    } else if (strcmp(key, "ops") == 0 || strcmp(key, "each_layer") == 0 ||
               strcmp(key, "forward") == 0) {
        item->items = items_read(model, node);
    } else if (strcmp(key, "backward") == 0) {
        item->has_backward = true;
        item->backward = items_read(model, node);
    }
}

/* ---- items ----------------------------------------------------------------------------------- */

static enum item_kind kind_of(const struct config_node *node)
{
    for (size_t i = 0; i < COUNT(kind_key); i++)
        if (key_value(node, kind_key[i].key) != NULL)
            return kind_key[i].kind;
    return ITEM_NOTHING;
}

/* Keys that an item cannot do without. */
static void check_whole(struct model *model, struct item *item)
{
    const struct config_node *const node = item->node;
    const char *missing = NULL;
    switch (item->kind) {
    case ITEM_NOTHING:
        if (key_value(node, "after") == NULL || key_value(node, "name") == NULL)
            missing = "what it does; legal is one of flops, bytes, product, time, collective, "
                      "send, recv, ops, repeat, use, pipeline, each_layer; or name and after alone";
        break;
    case ITEM_COLLECTIVE:
        if (key_value(node, "bytes") == NULL && item->collective != CCL_BARRIER)
            missing = "bytes: of a rank's whole tensor";
        break;
    case ITEM_SEND:
        if (key_value(node, "to") == NULL)
            missing = "to: the number of the receiver in its group";
        break;
    case ITEM_RECV:
        if (key_value(node, "from") == NULL)
            missing = "from: the number of the sender in its group";
        break;
    case ITEM_REPEAT:
        if (key_value(node, "ops") == NULL)
            missing = "ops: the list to repeat";
        break;
    case ITEM_PIPELINE:
        if (key_value(node, "microbatches") == NULL)
            missing = "microbatches: how many";
        else if (key_value(node, "forward") == NULL)
            missing = "forward: the list of a forward pass";
        break;
    default:
        break;
    }
    if (missing != NULL)
        config_error(&model->loader, node->place, "the operation does not say %s", missing);
}

static void check_item_keys(struct model *model, const struct item *item)
{
    const char *legal[COUNT(item_key)];
    size_t count = 0;
    for (size_t i = 0; i < COUNT(item_key); i++)
        if ((item_key[i].kinds & BIT(item->kind)) != 0)
            legal[count++] = item_key[i].key;
    /* What an item is not yet known to be may be meant by any key. */
    for (size_t i = 0; item->kind == ITEM_NOTHING && i < COUNT(kind_key); i++)
        legal[count++] = kind_key[i].key;
    keys_check(&model->loader, item->node, kind_name[item->kind], legal, count);
}

static struct item *item_read(struct model *model, const struct config_node *node)
{
    struct item *const item = config_arena_alloc(&model->arena, sizeof *item);
    if (item == NULL || !is_kind(&model->loader, node, CONFIG_MAPPING,
                                 "an operation, such as {collective: all_reduce, bytes: 1MiB}"))
        return NULL;
    *item = (struct item){.kind = kind_of(node),
                          .node = node,
                          .purpose = -1,
                          .redop = REDOP_SUM,
                          .dtype = model->dtype};
    const size_t before = model->errors.count;
    check_item_keys(model, item);
    const bool known = model->errors.count == before;
    if (item->kind == ITEM_REPEAT && key_value(node, "index") != NULL)
        read_value(model, item, "index", key_value(node, "index"));
    for (size_t i = 0; i < COUNT(item_key); i++) {
        const struct config_node *const value = key_value(node, item_key[i].key);
        if (value == NULL || (item_key[i].kinds & BIT(item->kind)) == 0)
            continue;
        if (item_key[i].formula != ITEM_FORMULAS)
            item->formula[item_key[i].formula] = formula_read(&model->symbols, value);
        else if (strcmp(item_key[i].key, "index") != 0)
            read_value(model, item, item_key[i].key, value);
    }
    if ((item->kind == ITEM_COLLECTIVE || item->kind == ITEM_SEND || item->kind == ITEM_RECV) &&
        item->set == NULL)
        item->set = item_set_named(model, "all", node);
    if (item->kind != ITEM_NOTHING || known)
        check_whole(model, item);
    if (item->kind == ITEM_PIPELINE) {
        model->has_pipeline = true;
        item->set = item_set_named(model, "pp", node);
    }
    return item;
}

struct item *items_read(struct model *model, const struct config_node *list)
{
    struct item *first = NULL, **tail = &first;
    if (!is_kind(&model->loader, list, CONFIG_SEQUENCE, "a list of operations"))
        return NULL;
    for (const struct config_node *at = list->first; at != NULL; at = at->next) {
        *tail = item_read(model, at);
        if (*tail != NULL)
            tail = &(*tail)->next;
    }
    return first;
}
