/*
 * expand.c: from the model of a workload file to the graph of a step: ranks and their classes, and
 * for each class a program, by walking through its lists with the numbers of its ranks.
 *
 * A list is a chain: what an item waits for is the end of the item before, unless `after` says
 * otherwise. `struct deps last` is that end: operations that are over when all so far is over.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/file/model.h"

enum {
    DEPS_MAX = 64,
    VISITS_MAX = 20000000, /* of a loop */
    VISITS = 5, /* items that are passed, made or not, for each operation that there may be */
    STAGES_MAX = 4096,
    PROGRAMS_MAX = 65536,
    MICROBATCHES_MAX = 1 << 20,
    BUCKETS_MAX = 64
};
#define WHOLE_MAX ((uint64_t)INT64_MAX)

struct deps {
    uint32_t count, at[DEPS_MAX];
};

/* The latest operation of a name on one of the streams that it was made on. */
struct latest {
    uint32_t name, stream, op;
};

/* Bytes that were kept back for a bucket. */
struct bucket {
    struct item *item;
    struct workload_op op;
    struct deps deps;
};

struct expand {
    struct model *model;
    struct symbols *symbols;
    struct workload_graph *graph;
    uint32_t program;
    uint32_t rank; /* one of the class */
    struct deps last;
    int purpose;
    const struct stage *stage; /* the pipeline that it is in, and there */
    uint32_t part;             /* which part of the model, */
    bool backward;             /* in which direction */
    struct latest *latest;
    uint32_t latest_count, latest_capacity;
    struct bucket bucket[BUCKETS_MAX];
    uint32_t bucket_count;
    uint64_t ops, visits;
    bool stop; /* an error that makes all else pointless, or no memory */
    bool no_memory;
};

static void expand_list(struct expand *expand, struct item *items);

static void item_error(struct expand *expand, const struct item *item, const char *text)
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
    item_error(expand, item, text);
}

static void give_up(struct expand *expand) { expand->stop = expand->no_memory = true; }

/* ---- numbers --------------------------------------------------------------------------------- */

/* A formula's whole number from 0 to max; `absent` where there is no formula. */
static bool whole_of(struct symbols *symbols, struct formula *formula, uint64_t absent,
                     uint64_t least, uint64_t max, uint64_t *whole)
{
    struct number value;
    char text[160], found[NUMBER_TEXT_BYTES];
    *whole = absent;
    if (formula == NULL)
        return true;
    if (!formula_compute(symbols, formula, &value))
        return false;
    if (number_whole(value, max, whole) && *whole >= least)
        return true;
    snprintf(text, sizeof text, "%s; legal is a whole number from %" PRIu64 " to %" PRIu64,
             number_print(value, found), least, max);
    formula_error(symbols, formula, text);
    *whole = absent;
    return false;
}

/* Bytes, operations, picoseconds: rounded to a whole number. */
static bool amount_of(struct symbols *symbols, struct formula *formula, int64_t unit,
                      uint64_t *whole)
{
    struct number value;
    char text[160], found[NUMBER_TEXT_BYTES];
    *whole = 0;
    if (formula == NULL)
        return true;
    if (!formula_compute(symbols, formula, &value))
        return false;
    if (number_combine(NUMBER_MUL, value, number_of(unit), &value) == NULL &&
        number_whole(number_round(value), WHOLE_MAX, whole))
        return true;
    snprintf(text, sizeof text, "%s; legal is a number from 0 to 2^63", number_print(value, found));
    formula_error(symbols, formula, text);
    return false;
}

static void set_whole(struct expand *expand, struct symbol *symbol, uint64_t value)
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
        item_error(expand, item,
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
            give_up(expand);
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
        item_error(expand, item, text);
        return WORKLOAD_NONE;
    }
    op->layer =
        layer->is_set && number_whole(layer->now, INT32_MAX, &number) ? (int32_t)number : -1;
    op->microbatch = microbatch->is_set && number_whole(microbatch->now, INT32_MAX, &number)
                         ? (int32_t)number
                         : -1;
    const uint32_t index = workload_add_op(expand->graph, expand->program, op);
    if (index == WORKLOAD_NONE) {
        give_up(expand);
        return WORKLOAD_NONE;
    }
    for (uint32_t i = 0; i < deps->count; i++)
        if (!workload_add_dep(expand->graph, expand->program, deps->at[i])) {
            give_up(expand);
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
        give_up(expand);
    return (uint16_t)stream;
}

static uint32_t label_of(struct expand *expand, const char *name)
{
    const uint32_t label = workload_add_label(expand->graph, name);
    if (label == WORKLOAD_NONE)
        give_up(expand);
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
                               .id = item->node->place.line};
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
        item_error(expand, item,
                   "to_first and from_first are of an all_to_all; legal is one of "
                   "them");
        return false;
    }
    if (!amount_of(expand->symbols, to, 1000, &thousandths[0]) ||
        !amount_of(expand->symbols, from, 1000, &thousandths[1]))
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
        item_error(expand, item, text);
        return false;
    }
    if (size == 1)
        return false; /* with nobody to talk to, there is nothing to do */
    if (!amount_of(symbols, formula[FORMULA_BYTES], 1, &bytes) ||
        !whole_of(symbols, formula[FORMULA_PEER], 0, 0, size - 1, &peer) ||
        !whole_of(symbols, formula[FORMULA_TAG], 0, 0, UINT32_MAX, &tag)) {
        expand->stop = true;
        return false;
    }
    if (item->kind != ITEM_COLLECTIVE && peer == number) {
        item_error(expand, item,
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
        if (!whole_of(expand->symbols, item->formula[FORMULA_M + i], 1, 1, UINT32_MAX, &side))
            return false;
        op->side[i] = (uint32_t)side;
    }
    return true;
}

static bool fill(struct expand *expand, const struct item *item, struct workload_op *op)
{
    struct symbols *const symbols = expand->symbols;
    struct formula *const *const formula = item->formula;
    uint64_t kernels, rows, amount;
    bool good = true;
    switch (item->kind) {
    case ITEM_ROOFLINE:
        good = amount_of(symbols, formula[FORMULA_FLOPS], 1, &amount) &&
               amount_of(symbols, formula[FORMULA_BYTES], 1, &op->bytes) &&
               whole_of(symbols, formula[FORMULA_KERNELS], 1, 1, UINT32_MAX, &kernels) &&
               whole_of(symbols, formula[FORMULA_ROWS], 0, 0, UINT32_MAX, &rows);
        if (good) {
            op->flops = amount;
            op->kernels = (uint32_t)kernels;
            op->rows = (uint32_t)rows;
        }
        break;
    case ITEM_PRODUCT:
        good = compute_side(expand, item, op);
        break;
    case ITEM_TIME:
        good = amount_of(symbols, formula[FORMULA_TIME], 1000, &amount);
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
    if (!amount_of(expand->symbols, item->formula[FORMULA_BUCKET], 1, &size)) {
        expand->stop = true;
        return;
    }
    while (i < expand->bucket_count && expand->bucket[i].item != item)
        i++;
    if (i == BUCKETS_MAX) {
        item_error(expand, item, "more than 64 operations with buckets at once");
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
        item_error(expand, item, "a bucket of more than 2^64 bytes");
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
            set_whole(expand, index, from + (backwards ? count - 1 - i : i));
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
    if (whole_of(expand->symbols, item->formula[FORMULA_COUNT], 0, 0, VISITS_MAX, &count))
        expand_loop(expand, item, item->index, 0, count, item->backwards);
    else
        expand->stop = true;
}

/* ---- pipelines ------------------------------------------------------------------------------- */

/* A pipeline on the stage of this class of ranks. */
struct stage {
    struct item *item;
    struct pipeline_shape shape;
    uint32_t number;
    uint32_t *layers; /* [stages x chunks] of each part of the model, in its order */
    uint64_t *first_layer;
    uint32_t set; /* pp; WORKLOAD_NONE: one stage */
    uint64_t message;
    struct deps begin; /* what the pipeline waits for */
};

static void stage_free(struct stage *stage)
{
    free(stage->layers);
    free(stage->first_layer);
}

static uint32_t part_of(const struct stage *stage, uint32_t chunk)
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
        give_up(expand);
        return false;
    }
    if (item->split != NULL && item->split_count != parts) {
        snprintf(text, sizeof text,
                 "%u numbers of layers for %u stages of %u chunks; legal are %u, or one number",
                 item->split_count, stage->shape.stages, stage->shape.chunks, parts);
        item_error(expand, item, text);
        return false;
    }
    if (item->split == NULL &&
        !whole_of(expand->symbols, item->formula[FORMULA_LAYERS], 0, 0, INT32_MAX, &layers))
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
            !whole_of(expand->symbols, item->split[i], 0, 0, INT32_MAX / (int)parts, &layers))
            return false;
        stage->layers[i] = (uint32_t)(item->split != NULL ? layers : layers / parts);
        stage->first_layer[i] = sum;
        sum += stage->layers[i];
    }
    return true;
}

/* The numbers of a pipeline that the file says. */
static bool shape_of(struct expand *expand, struct item *item, struct stage *stage)
{
    const struct parallel *const parallel = &expand->model->parallel;
    struct symbols *const symbols = expand->symbols;
    uint64_t microbatches, chunks;
    *stage = (struct stage){.item = item, .set = WORKLOAD_NONE};
    stage->shape.schedule = item->schedule;
    stage->shape.stages = parallel->size[PARALLEL_PP];
    stage->shape.forward_only = !item->has_backward;
    stage->number = parallel_coordinate(parallel, PARALLEL_PP, expand->rank);
    if (!whole_of(symbols, item->formula[FORMULA_MICROBATCHES], 1, 1, MICROBATCHES_MAX,
                  &microbatches) ||
        !whole_of(symbols, item->formula[FORMULA_CHUNKS], 1, 1, 4096, &chunks))
        return false;
    stage->shape.microbatches = (uint32_t)microbatches;
    stage->shape.chunks = (uint32_t)chunks;
    if (stage->shape.stages > STAGES_MAX || microbatches * chunks > MICROBATCHES_MAX) {
        item_error(expand, item,
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
    const uint32_t part = part_of(stage, unit->chunk),
                   parts = stage->shape.stages * stage->shape.chunks;
    const bool first = part == 0, last = part == parts - 1;
    const bool receives = stage->set != WORKLOAD_NONE && !(unit->backward ? last : first),
               sends = stage->set != WORKLOAD_NONE && !(unit->backward ? first : last);
    const int purpose = expand->purpose;
    expand->part = part;
    expand->backward = unit->backward;
    set_whole(expand, known->microbatch, unit->microbatch);
    set_whole(expand, known->last_microbatch, unit->microbatch == stage->shape.microbatches - 1);
    set_whole(expand, known->chunk, unit->chunk);
    set_whole(expand, known->first, first);
    set_whole(expand, known->last, last);
    set_whole(expand, known->stage_layers, stage->layers[part]);
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

static void forget_unit(struct expand *expand)
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
        item_error(expand, item, "a pipeline within a pipeline; legal is one beside the other");
        return;
    }
    if (!shape_of(expand, item, &stage)) {
        stage_free(&stage);
        expand->stop = true;
        return;
    }
    if (stage.shape.stages > 1) {
        stage.set = model_set(expand->model, expand->graph, item->set);
        expand->stop |= stage.set == WORKLOAD_NONE;
        if (item->formula[FORMULA_MESSAGE] == NULL)
            item_error(expand, item,
                       "the pipeline does not say message: the bytes that a stage "
                       "sends to the next one, for each microbatch");
        else if (!amount_of(expand->symbols, item->formula[FORMULA_MESSAGE], 1, &stage.message))
            expand->stop = true;
    }
    const uint32_t units = pipeline_units(&stage.shape);
    struct pipeline_unit *const unit = malloc((units + 1) * sizeof *unit);
    if (unit == NULL)
        give_up(expand);
    else
        pipeline_order(&stage.shape, stage.number, unit);
    stage.begin = expand->last;
    expand->stage = &stage;
    for (uint32_t i = 0; i < units && !expand->stop; i++)
        expand_unit(expand, &stage, &unit[i]);
    expand->stage = NULL;
    free(unit);
    stage_free(&stage);
    forget_unit(expand);
}

static void expand_each_layer(struct expand *expand, struct item *item)
{
    const struct stage *const stage = expand->stage;
    if (stage == NULL)
        item_error(expand, item, "each_layer outside of a pipeline; legal there is repeat");
    else if (stage->item->formula[FORMULA_LAYERS] == NULL && stage->item->split == NULL)
        item_error(expand, stage->item, "the pipeline does not say layers: how many the model has");
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
        item_error(expand, item, "a block that uses itself");
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

static void expand_list(struct expand *expand, struct item *items)
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

/* ---- sets of groups -------------------------------------------------------------------------- */

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
            if (!whole_of(&model->symbols, formula, 0, 0, rank_count - 1, &rank))
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

/* ---- classes of ranks ------------------------------------------------------------------------ */

static void set_rank(struct expand *expand, uint32_t rank)
{
    const struct model_symbols *const known = &expand->model->known;
    expand->rank = rank;
    set_whole(expand, known->rank, rank);
    for (uint32_t dim = 0; dim < PARALLEL_DIMS; dim++)
        set_whole(expand, known->coordinate[dim],
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
        give_up(expand);
        return;
    }
    pipeline_order(&stage->shape, stage->number, unit);
    for (uint32_t i = 0; i < units && !stage->shape.forward_only; i++) {
        const uint64_t of_unit = stage->layers[part_of(stage, unit[i].chunk)];
        now = unit[i].backward ? now - of_unit : now + of_unit;
        most = now > most ? now : most;
    }
    for (uint32_t chunk = 0; chunk < stage->shape.chunks; chunk++)
        layers += stage->layers[part_of(stage, chunk)];
    const uint32_t in_flight = stage->shape.forward_only ? 1 : pipeline_in_flight(unit, units);
    free(unit);
    set_whole(expand, known->in_flight, in_flight);
    set_whole(expand, known->layers_in_flight, stage->shape.forward_only ? layers : most);
    set_whole(expand, known->stage_layers, layers);
    set_whole(expand, known->first, stage->number == 0);
    set_whole(expand, known->last, part_of(stage, stage->shape.chunks - 1) == parts - 1);
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
    if (pipeline != NULL && shape_of(expand, pipeline, &stage))
        set_in_flight(expand, &stage);
    stage_free(&stage);
    for (uint32_t i = 0; i < MEMORY_KEYS && !expand->no_memory; i++)
        (void)amount_of(expand->symbols, model->memory[i], 1, field[i]);
    memory->known = true;
    forget_unit(expand);
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
        if (!whole_of(symbols, model->ranks, 1, 1, PARALLEL_RANKS_MAX, &ranks))
            return false;
        if (node == NULL)
            symbol_set(symbols, model->known.ranks, number_of((int64_t)ranks));
    }
    for (uint32_t dim = 0; dim < PARALLEL_EDP; dim++) {
        good &= whole_of(symbols, model->size[dim], 1, 1, PARALLEL_RANKS_MAX, &size);
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

/* Names of sets that are neither of the layout nor of the file. */
static void check_sets(struct model *model)
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
        give_up(expand);
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
            item_error(expand, model->items, "more than 65536 classes of ranks");
            break;
        }
        name_class(model, keys[i].rank, name);
        expand->program = workload_add_program(graph, name);
        if (expand->program == WORKLOAD_NONE) {
            give_up(expand);
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
            give_up(expand);
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
    check_sets(model);
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
