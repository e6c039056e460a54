/*
 * expand.c: from the lists of a workload file to the program of a class of ranks, by walking
 * through them with the numbers of its ranks.
 *
 * A list is a chain: what an item waits for is the end of the item before, unless `after` says
 * otherwise. `struct deps last` is that end: operations that are over when all so far is over.
 */
#include "workload/file/expand.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VISITS_MAX = 20000000, /* of a loop */
    VISITS = 5, /* items that are passed, made or not, for each operation that there may be */
    STAGES_MAX = 4096,
    MICROBATCHES_MAX = 1 << 20,
};

void expand_error(struct expand *expand, const struct item *item, const char *text)
{
    config_error(&expand->model->loader, item->node->place, "%s", text);
    expand->stop = true;
}

/* Lists that make nothing end, too. */
static void visit(struct expand *expand, const struct item *item)
{
    const uint64_t most = VISITS * expand->model->operations_max;
    char text[100];
    if (expand->visits++ < most)
        return;
    snprintf(text, sizeof text, "more than %" PRIu64 " steps of lists and loops", most);
    expand_error(expand, item, text);
}

void expand_no_memory(struct expand *expand) { expand->stop = expand->no_memory = true; }

void expand_set(struct expand *expand, struct symbol *symbol, uint64_t value)
{
    symbol_set(expand->symbols, symbol, number_of((int64_t)value));
}

/* ---- what comes after what ------------------------------------------------------------------- */

static void deps_add(struct expand *expand, const struct item *item, struct deps *deps, uint32_t op)
{
    for (uint32_t i = 0; i < deps->count; i++)
        if (deps->at[i] == op)
            return;
    if (deps->count == DEPS_MAX)
        expand_error(expand, item,
                     "it waits for more than 64 operations; legal is an operation "
                     "{name: joined, after: [...]} that joins some");
    else
        deps->at[deps->count++] = op;
}

static void deps_join(struct expand *expand, const struct item *item, struct deps *deps,
                      const struct deps *more)
{
    for (uint32_t i = 0; i < more->count && !expand->stop; i++)
        deps_add(expand, item, deps, more->at[i]);
}

/* What an item waits for. */
static struct deps deps_of(struct expand *expand, const struct item *item)
{
    struct deps deps = {0};
    if (!item->has_after)
        return expand->last;
    for (const struct item_after *after = item->after; after != NULL; after = after->next) {
        if (after->name == NULL) {
            deps_join(expand, item, &deps, &expand->last);
            continue;
        }
        for (uint32_t i = 0; i < expand->latest_count && !expand->stop; i++)
            if (expand->latest[i].name == after->name->index)
                deps_add(expand, item, &deps,
                         expand->latest[i].op | (after->start ? WORKLOAD_AFTER_START : 0));
    }
    return deps;
}

static void remember(struct expand *expand, uint32_t name, uint32_t stream, uint32_t op)
{
    for (uint32_t i = 0; i < expand->latest_count; i++)
        if (expand->latest[i].name == name && expand->latest[i].stream == stream) {
            expand->latest[i].op = op;
            return;
        }
    if (expand->latest_count == expand->latest_capacity) {
        const uint32_t capacity = 2 * expand->latest_capacity + 16;
        struct latest *const more = realloc(expand->latest, capacity * sizeof *more);
        if (more == NULL) {
            expand_no_memory(expand);
            return;
        }
        expand->latest = more;
        expand->latest_capacity = capacity;
    }
    expand->latest[expand->latest_count++] = (struct latest){name, stream, op};
}

/* ---- operations ------------------------------------------------------------------------------ */

/* Appends the operation; it is what follows waits for, unless it overlaps. */
static uint32_t emit(struct expand *expand, const struct item *item, struct workload_op *op,
                     const struct deps *deps, bool overlaps)
{
    const struct symbol *const layer = expand->model->known.layer, *const microbatch =
                                                                       expand->model->known
                                                                           .microbatch;
    uint64_t number;
    if (expand->ops++ == expand->model->operations_max) {
        char text[100];
        snprintf(text, sizeof text, "more than %" PRIu64 " operations in all classes of ranks",
                 expand->model->operations_max);
        expand_error(expand, item, text);
        return WORKLOAD_NONE;
    }
    op->layer =
        layer->is_set && number_whole(layer->now, INT32_MAX, &number) ? (int32_t)number : -1;
    op->microbatch = microbatch->is_set && number_whole(microbatch->now, INT32_MAX, &number)
                         ? (int32_t)number
                         : -1;
    const uint32_t index = workload_add_op(expand->graph, expand->program, op);
    if (index == WORKLOAD_NONE) {
        expand_no_memory(expand);
        return WORKLOAD_NONE;
    }
    for (uint32_t i = 0; i < deps->count; i++)
        if (!workload_add_dep(expand->graph, expand->program, deps->at[i])) {
            expand_no_memory(expand);
            return WORKLOAD_NONE;
        }
    if (!overlaps)
        expand->last = (struct deps){.count = 1, .at = {index}};
    return index;
}

static uint16_t stream_of(struct expand *expand, const char *name)
{
    const uint32_t stream = workload_add_stream(expand->graph, name);
    if (stream == WORKLOAD_NONE)
        expand_no_memory(expand);
    return (uint16_t)stream;
}

static uint32_t label_of(struct expand *expand, const char *name)
{
    const uint32_t label = workload_add_label(expand->graph, name);
    if (label == WORKLOAD_NONE)
        expand_no_memory(expand);
    return label;
}

/* Ranks in the group of this rank; 0: it is in none. *number: which of them it is. */
static uint32_t group_of(const struct expand *expand, uint32_t set_index, uint32_t *number)
{
    const struct workload_set *const set = &expand->graph->sets[set_index];
    if (set->group_of[expand->rank] == WORKLOAD_NONE)
        return 0;
    *number = set->rank_in[expand->rank];
    const uint32_t group = set->group_of[expand->rank];
    return set->first[group + 1] - set->first[group];
}

/* What the file says of an operation, all but its times and bytes. */
static void describe(struct expand *expand, const struct item *item, struct workload_op *op)
{
    static const uint8_t kind[] = {[ITEM_NOTHING] = WORKLOAD_NOTHING,
                                   [ITEM_ROOFLINE] = WORKLOAD_ROOFLINE,
                                   [ITEM_PRODUCT] = WORKLOAD_PRODUCT,
                                   [ITEM_TIME] = WORKLOAD_TIME,
                                   [ITEM_COLLECTIVE] = WORKLOAD_COLLECTIVE,
                                   [ITEM_SEND] = WORKLOAD_SEND,
                                   [ITEM_RECV] = WORKLOAD_RECV};
    static const char *const label[] = {
        [ITEM_NOTHING] = "join", [ITEM_ROOFLINE] = "compute", [ITEM_PRODUCT] = "product",
        [ITEM_TIME] = "time",    [ITEM_SEND] = "send",        [ITEM_RECV] = "recv"};
    const bool is_collective = item->kind == ITEM_COLLECTIVE;
    const char *stream = is_collective                                        ? item->set->name
                         : item->kind == ITEM_SEND || item->kind == ITEM_RECV ? label[item->kind]
                                                                              : "compute";
    if (item->kind == ITEM_NOTHING)
        stream = "join";
    *op = (struct workload_op){.kind = kind[item->kind],
                               .purpose =
                                   (uint8_t)(item->purpose >= 0 ? item->purpose : expand->purpose),
                               .collective = item->collective,
                               .redop = item->redop,
                               .dtype = (uint8_t)item->dtype,
                               .matrix = item->kind == ITEM_ROOFLINE && !item->vector,
                               .set = WORKLOAD_NONE,
                               .kernels = item->kind == ITEM_ROOFLINE,
                               .id = item->node->place.line,
                               .column = item->node->place.column};
    op->stream = stream_of(expand, item->stream != NULL ? item->stream : stream);
    op->label = label_of(expand, item->name != NULL ? item->name->text
                                 : is_collective    ? ccl_collective_name(item->collective)
                                                    : label[item->kind]);
}

/* How many times the mean block goes to the group's first rank, or comes from it. */
static bool uneven_blocks(struct expand *expand, const struct item *item, uint32_t ranks,
                          struct workload_op *op)
{
    struct formula *const to = item->formula[FORMULA_TO_FIRST],
                          *const from = item->formula[FORMULA_FROM_FIRST];
    uint64_t thousandths[2];
    char text[120];
    if (to == NULL && from == NULL)
        return true;
    if (item->collective != CCL_ALL_TO_ALL || (to != NULL && from != NULL)) {
        expand_error(expand, item,
                     "to_first and from_first are of an all_to_all; legal is one of "
                     "them");
        return false;
    }
    if (!formula_amount(expand->symbols, to, 1000, &thousandths[0]) ||
        !formula_amount(expand->symbols, from, 1000, &thousandths[1]))
        return false;
    const uint64_t given = thousandths[to != NULL ? 0 : 1];
    if (given == 0 || given > UINT64_C(1000) * ranks) {
        snprintf(text, sizeof text, "legal is a factor from 0.001 to %u, the ranks of the group",
                 ranks);
        formula_error(expand->symbols, to != NULL ? to : from, text);
        return false;
    }
    op->to_first = thousandths[0] == 1000 ? 0 : (uint32_t)thousandths[0];
    op->from_first = thousandths[1] == 1000 ? 0 : (uint32_t)thousandths[1];
    return true;
}

/* Collectives and messages. False: nothing is to be done, or there was an error. */
static bool communicate(struct expand *expand, const struct item *item, struct workload_op *op)
{
    struct symbols *const symbols = expand->symbols;
    struct formula *const *const formula = item->formula;
    uint32_t number = 0;
    uint64_t peer, tag, bytes;
    op->set = model_set(expand->model, expand->graph, item->set);
    if (op->set == WORKLOAD_NONE) {
        expand->stop = true;
        return false;
    }
    const uint32_t size = group_of(expand, op->set, &number);
    if (size == 0) {
        char text[160];
        snprintf(text, sizeof text,
                 "rank %u is in no group of %.64s; legal is `when` that leaves "
                 "it out",
                 expand->rank, item->set->name);
        expand_error(expand, item, text);
        return false;
    }
    if (size == 1)
        return false; /* with nobody to talk to, there is nothing to do */
    if (!formula_amount(symbols, formula[FORMULA_BYTES], 1, &bytes) ||
        !formula_whole(symbols, formula[FORMULA_PEER], 0, 0, size - 1, &peer) ||
        !formula_whole(symbols, formula[FORMULA_TAG], 0, 0, UINT32_MAX, &tag)) {
        expand->stop = true;
        return false;
    }
    if (item->kind != ITEM_COLLECTIVE && peer == number) {
        expand_error(expand, item,
                     "a message of a rank to itself; legal is another rank of its group");
        return false;
    }
    if (!uneven_blocks(expand, item, size, op)) {
        expand->stop = true;
        return false;
    }
    op->bytes = bytes;
    op->peer = (uint32_t)peer;
    op->tag = (uint32_t)tag;
    return true;
}

static bool compute_side(struct expand *expand, const struct item *item, struct workload_op *op)
{
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t side;
        if (!formula_whole(expand->symbols, item->formula[FORMULA_M + i], 1, 1, UINT32_MAX, &side))
            return false;
        op->side[i] = (uint32_t)side;
    }
    return true;
}

static bool fill(struct expand *expand, const struct item *item, struct workload_op *op)
{
    struct symbols *const symbols = expand->symbols;
    struct formula *const *const formula = item->formula;
    uint64_t kernels, amount;
    bool good = true;
    switch (item->kind) {
    case ITEM_ROOFLINE:
        good = formula_amount(symbols, formula[FORMULA_FLOPS], 1, &amount) &&
               formula_amount(symbols, formula[FORMULA_BYTES], 1, &op->bytes) &&
               formula_whole(symbols, formula[FORMULA_KERNELS], 1, 1, UINT32_MAX, &kernels);
        if (good) {
            op->flops = amount;
            op->kernels = (uint32_t)kernels;
        }
        break;
    case ITEM_PRODUCT:
        good = compute_side(expand, item, op);
        break;
    case ITEM_TIME:
        good = formula_amount(symbols, formula[FORMULA_TIME], 1000, &amount);
        op->time_ps = amount;
        break;
    case ITEM_COLLECTIVE:
    case ITEM_SEND:
    case ITEM_RECV:
        return communicate(expand, item, op);
    default:
        break;
    }
    expand->stop |= !good;
    return good;
}

/* ---- buckets --------------------------------------------------------------------------------- */

static void send_bucket(struct expand *expand, struct bucket *bucket)
{
    struct item *const item = bucket->item;
    bucket->op.bytes = item->pending_bytes;
    item->pending_bytes = 0;
    const uint32_t index = emit(expand, item, &bucket->op, &bucket->deps, item->overlaps);
    if (index != WORKLOAD_NONE && item->name != NULL)
        remember(expand, item->name->index, bucket->op.stream, index);
}

/* Keeps the bytes back until there are `bucket` of them. */
static void fill_bucket(struct expand *expand, struct item *item, const struct workload_op *op,
                        const struct deps *deps)
{
    uint64_t size;
    uint32_t i = 0;
    if (!formula_amount(expand->symbols, item->formula[FORMULA_BUCKET], 1, &size)) {
        expand->stop = true;
        return;
    }
    while (i < expand->bucket_count && expand->bucket[i].item != item)
        i++;
    if (i == BUCKETS_MAX) {
        expand_error(expand, item, "more than 64 operations with buckets at once");
        return;
    }
    if (i == expand->bucket_count) {
        expand->bucket[expand->bucket_count++] = (struct bucket){.item = item};
        item->pending_bytes = 0;
    }
    struct bucket *const bucket = &expand->bucket[i];
    bucket->op = *op;
    bucket->deps = *deps;
    if (__builtin_add_overflow(item->pending_bytes, op->bytes, &item->pending_bytes)) {
        expand_error(expand, item, "a bucket of more than 2^64 bytes");
        return;
    }
    if (item->pending_bytes >= size)
        send_bucket(expand, bucket);
}

/* At the end of a loop: what is left of the buckets that were begun in it. */
static void empty_buckets(struct expand *expand, uint32_t from)
{
    for (uint32_t i = from; i < expand->bucket_count && !expand->stop; i++)
        if (expand->bucket[i].item->pending_bytes > 0)
            send_bucket(expand, &expand->bucket[i]);
    expand->bucket_count = from;
}

static void expand_leaf(struct expand *expand, struct item *item)
{
    struct workload_op op;
    describe(expand, item, &op);
    if (expand->stop || !fill(expand, item, &op))
        return;
    const struct deps deps = deps_of(expand, item);
    if (expand->stop)
        return;
    if (item->formula[FORMULA_BUCKET] != NULL) {
        fill_bucket(expand, item, &op, &deps);
        return;
    }
    const uint32_t index = emit(expand, item, &op, &deps, item->overlaps);
    if (index != WORKLOAD_NONE && item->name != NULL)
        remember(expand, item->name->index, op.stream, index);
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* Expands the item's list `count` times; the index, unless it is NULL, counts from `from` on. */
static void expand_loop(struct expand *expand, struct item *of, struct symbol *index, uint64_t from,
                        uint64_t count, bool backwards)
{
    const struct symbol before = index != NULL ? *index : (struct symbol){0};
    const uint32_t buckets = expand->bucket_count;
    for (uint64_t i = 0; i < count && !expand->stop; i++) {
        if (index != NULL)
            expand_set(expand, index, from + (backwards ? count - 1 - i : i));
        visit(expand, of); /* an empty list takes time, too */
        expand_list(expand, of->items);
    }
    empty_buckets(expand, buckets);
    if (index == NULL)
        return;
    if (before.is_set)
        symbol_set(expand->symbols, index, before.now);
    else
        symbol_unset(expand->symbols, index);
}

static void expand_repeat(struct expand *expand, struct item *item)
{
    uint64_t count;
    if (formula_whole(expand->symbols, item->formula[FORMULA_COUNT], 0, 0, VISITS_MAX, &count))
        expand_loop(expand, item, item->index, 0, count, item->backwards);
    else
        expand->stop = true;
}

/* ---- pipelines ------------------------------------------------------------------------------- */

void stage_free(struct stage *stage)
{
    free(stage->layers);
    free(stage->first_layer);
}

uint32_t stage_part(const struct stage *stage, uint32_t chunk)
{
    return chunk * stage->shape.stages + stage->number;
}

/* How many layers each part of the model has. */
static bool split_layers(struct expand *expand, struct stage *stage)
{
    struct item *const item = stage->item;
    const uint32_t parts = stage->shape.stages * stage->shape.chunks;
    uint64_t layers, sum = 0;
    char text[200];
    stage->layers = calloc(parts, sizeof *stage->layers);
    stage->first_layer = calloc(parts, sizeof *stage->first_layer);
    if (stage->layers == NULL || stage->first_layer == NULL) {
        expand_no_memory(expand);
        return false;
    }
    if (item->split != NULL && item->split_count != parts) {
        snprintf(text, sizeof text,
                 "%u numbers of layers for %u stages of %u chunks; legal are %u, or one number",
                 item->split_count, stage->shape.stages, stage->shape.chunks, parts);
        expand_error(expand, item, text);
        return false;
    }
    if (item->split == NULL &&
        !formula_whole(expand->symbols, item->formula[FORMULA_LAYERS], 0, 0, INT32_MAX, &layers))
        return false;
    if (item->split == NULL && layers % parts != 0) {
        snprintf(text, sizeof text,
                 "%" PRIu64 " layers are not the same number for %u stages of %u chunks; legal is "
                 "a multiple of %u, or a list of %u numbers, which may differ",
                 layers, stage->shape.stages, stage->shape.chunks, parts, parts);
        formula_error(expand->symbols, item->formula[FORMULA_LAYERS], text);
        return false;
    }
    for (uint32_t i = 0; i < parts; i++) {
        if (item->split != NULL &&
            !formula_whole(expand->symbols, item->split[i], 0, 0, INT32_MAX / (int)parts, &layers))
            return false;
        stage->layers[i] = (uint32_t)(item->split != NULL ? layers : layers / parts);
        stage->first_layer[i] = sum;
        sum += stage->layers[i];
    }
    return true;
}

/* The numbers of a pipeline that the file says. */
bool stage_shape(struct expand *expand, struct item *item, struct stage *stage)
{
    const struct parallel *const parallel = &expand->model->parallel;
    struct symbols *const symbols = expand->symbols;
    uint64_t microbatches, chunks;
    *stage = (struct stage){.item = item, .set = WORKLOAD_NONE};
    stage->shape.schedule = item->schedule;
    stage->shape.stages = parallel->size[PARALLEL_PP];
    stage->shape.forward_only = !item->has_backward;
    stage->number = parallel_coordinate(parallel, PARALLEL_PP, expand->rank);
    if (!formula_whole(symbols, item->formula[FORMULA_MICROBATCHES], 1, 1, MICROBATCHES_MAX,
                       &microbatches) ||
        !formula_whole(symbols, item->formula[FORMULA_CHUNKS], 1, 1, 4096, &chunks))
        return false;
    stage->shape.microbatches = (uint32_t)microbatches;
    stage->shape.chunks = (uint32_t)chunks;
    if (stage->shape.stages > STAGES_MAX || microbatches * chunks > MICROBATCHES_MAX) {
        expand_error(expand, item,
                     "a pipeline of more than 4096 stages, or of more than 1048576 "
                     "microbatches times chunks");
        return false;
    }
    if (chunks > 1 && item->schedule != PIPELINE_INTERLEAVED) {
        formula_error(symbols, item->formula[FORMULA_CHUNKS],
                      "chunks are of the schedule interleaved; legal here is 1");
        return false;
    }
    if (chunks > 1 && microbatches % stage->shape.stages != 0) {
        formula_error(symbols, item->formula[FORMULA_MICROBATCHES],
                      "with chunks, legal is a multiple of the number of stages");
        return false;
    }
    return split_layers(expand, stage);
}

/* One end of a message between stages. Returns its operation. */
static uint32_t message_end(struct expand *expand, const struct stage *stage, bool sends,
                            bool backward, const struct deps *deps)
{
    static const char *const name[2][2] = {{"recv forward", "recv backward"},
                                           {"send forward", "send backward"}};
    const uint32_t stages = stage->shape.stages;
    const bool to_next = sends != backward;
    struct workload_op op = {
        .kind = sends ? WORKLOAD_SEND : WORKLOAD_RECV,
        .purpose = backward ? WORKLOAD_BACKWARD : (uint8_t)expand->purpose,
        .dtype = (uint8_t)expand->model->dtype,
        .set = stage->set,
        .peer = (stage->number + (to_next ? 1 : stages - 1)) % stages,
        .tag = backward,
        .bytes = stage->message,
        .id = stage->item->node->place.line,
        .column = stage->item->node->place.column,
    };
    op.stream = stream_of(expand, name[sends][backward]);
    op.label = label_of(expand, name[sends][backward]);
    return expand->stop ? WORKLOAD_NONE : emit(expand, stage->item, &op, deps, true);
}

/* A pass of one microbatch through one chunk, between its messages. */
static void expand_unit(struct expand *expand, const struct stage *stage,
                        const struct pipeline_unit *unit)
{
    const struct model_symbols *const known = &expand->model->known;
    const uint32_t part = stage_part(stage, unit->chunk),
                   parts = stage->shape.stages * stage->shape.chunks;
    const bool first = part == 0, last = part == parts - 1;
    const bool receives = stage->set != WORKLOAD_NONE && !(unit->backward ? last : first),
               sends = stage->set != WORKLOAD_NONE && !(unit->backward ? first : last);
    const int purpose = expand->purpose;
    expand->part = part;
    expand->backward = unit->backward;
    expand_set(expand, known->microbatch, unit->microbatch);
    expand_set(expand, known->last_microbatch, unit->microbatch == stage->shape.microbatches - 1);
    expand_set(expand, known->chunk, unit->chunk);
    expand_set(expand, known->first, first);
    expand_set(expand, known->last, last);
    expand_set(expand, known->stage_layers, stage->layers[part]);
    if (purpose == WORKLOAD_OTHER)
        expand->purpose = unit->backward ? WORKLOAD_BACKWARD : WORKLOAD_FORWARD;
    if (receives) {
        const uint32_t op = message_end(expand, stage, false, unit->backward, &stage->begin);
        if (op != WORKLOAD_NONE)
            deps_add(expand, stage->item, &expand->last, op);
    }
    expand_list(expand, unit->backward ? stage->item->backward : stage->item->items);
    if (sends && !expand->stop)
        (void)message_end(expand, stage, true, unit->backward, &expand->last);
    expand->purpose = purpose;
}

void stage_forget(struct expand *expand)
{
    const struct model_symbols *const known = &expand->model->known;
    struct symbol *const symbol[] = {known->microbatch, known->last_microbatch,
                                     known->chunk,      known->first,
                                     known->last,       known->stage_layers};
    for (size_t i = 0; i < sizeof symbol / sizeof *symbol; i++)
        symbol_unset(expand->symbols, symbol[i]);
}

static void expand_pipeline(struct expand *expand, struct item *item)
{
    struct stage stage;
    if (expand->stage != NULL) {
        expand_error(expand, item, "a pipeline within a pipeline; legal is one beside the other");
        return;
    }
    if (!stage_shape(expand, item, &stage)) {
        stage_free(&stage);
        expand->stop = true;
        return;
    }
    if (stage.shape.stages > 1) {
        stage.set = model_set(expand->model, expand->graph, item->set);
        expand->stop |= stage.set == WORKLOAD_NONE;
        if (item->formula[FORMULA_MESSAGE] == NULL)
            expand_error(expand, item,
                         "the pipeline does not say message: the bytes that a stage "
                         "sends to the next one, for each microbatch");
        else if (!formula_amount(expand->symbols, item->formula[FORMULA_MESSAGE], 1,
                                 &stage.message))
            expand->stop = true;
    }
    const uint32_t units = pipeline_units(&stage.shape);
    struct pipeline_unit *const unit = malloc((units + 1) * sizeof *unit);
    if (unit == NULL)
        expand_no_memory(expand);
    else
        pipeline_order(&stage.shape, stage.number, unit);
    stage.begin = expand->last;
    expand->stage = &stage;
    for (uint32_t i = 0; i < units && !expand->stop; i++)
        expand_unit(expand, &stage, &unit[i]);
    expand->stage = NULL;
    free(unit);
    stage_free(&stage);
    stage_forget(expand);
}

static void expand_each_layer(struct expand *expand, struct item *item)
{
    const struct stage *const stage = expand->stage;
    if (stage == NULL)
        expand_error(expand, item, "each_layer outside of a pipeline; legal there is repeat");
    else if (stage->item->formula[FORMULA_LAYERS] == NULL && stage->item->split == NULL)
        expand_error(expand, stage->item,
                     "the pipeline does not say layers: how many the model has");
    else
        expand_loop(expand, item, expand->model->known.layer, stage->first_layer[expand->part],
                    stage->layers[expand->part], expand->backward);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void expand_block(struct expand *expand, struct item *item)
{
    struct item_block *const block = item->block;
    if (block == NULL)
        return;
    if (block->busy) {
        expand_error(expand, item, "a block that uses itself");
        return;
    }
    block->busy = true;
    expand_list(expand, block->items);
    block->busy = false;
}

/* A list in a list: its items wait for what it waits for. */
static void expand_inner(struct expand *expand, struct item *item)
{
    const struct deps before = expand->last, begin = deps_of(expand, item);
    const int purpose = expand->purpose;
    const uint64_t ops = expand->ops;
    expand->last = begin;
    if (item->purpose >= 0)
        expand->purpose = item->purpose;
    switch (item->kind) {
    case ITEM_REPEAT:
        expand_repeat(expand, item);
        break;
    case ITEM_EACH_LAYER:
        expand_each_layer(expand, item);
        break;
    case ITEM_USE:
        expand_block(expand, item);
        break;
    case ITEM_PIPELINE:
        expand_pipeline(expand, item);
        break;
    default:
        expand_list(expand, item->items);
    }
    expand->purpose = purpose;
    if (item->overlaps || expand->ops == ops)
        expand->last = before;
}

void expand_list(struct expand *expand, struct item *items)
{
    for (struct item *item = items; item != NULL && !expand->stop; item = item->next) {
        struct number when;
        visit(expand, item);
        if (expand->stop)
            return;
        if (item->formula[FORMULA_WHEN] != NULL) {
            if (!formula_compute(expand->symbols, item->formula[FORMULA_WHEN], &when)) {
                expand->stop = true;
                return;
            }
            if (number_is_zero(when))
                continue;
        }
        if (item->kind <= ITEM_RECV)
            expand_leaf(expand, item);
        else
            expand_inner(expand, item);
    }
}
