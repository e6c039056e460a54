/*
 * layers_graph.c: one iteration of a layer table (layers.h), in the order in which ASTRA-sim's
 * policies walk through the layers: forward from the first to the last; then, from the last to the
 * first, the gradients of the inputs and of the weights; updates when their gradients are there.
 *
 * Ranks are numbered through the model, then the data, then the stages. With stages (SimAI's pp),
 * each has all layers of the table, which are one stage's, and passes each microbatch on.
 */
#include <stdlib.h>
#include <string.h>

#include "workload/traces/layers.h"

enum kind { KIND_WORLD, KIND_MODEL, KIND_DATA, KIND_EP, KIND_DP_EP, KIND_STAGES, KINDS };
enum { NONE = -1 };

/* What the next operation waits for. */
struct chain {
    uint32_t op[3], count;
};

struct walk {
    struct trace_build *build;
    const struct layers_table *table;
    uint32_t ranks, model, data, ep, stages;
    uint32_t group[KINDS], size[KINDS]; /* the first group of a kind, in build->groups */
    uint32_t *block;                    /* [layers] microbatch of a layer; UINT32_MAX: none */
    uint32_t program, stage;
    struct chain chain;
    uint32_t ops; /* of all programs */
    int code;
    bool has_unused; /* collectives that the policy does not carry out */
};

/* ---- groups ---------------------------------------------------------------------------------- */

/* All ranks in groups of `size`, `stride` apart. */
static int add_kind(struct walk *w, enum kind kind, const char *name, uint32_t size,
                    uint32_t stride)
{
    uint32_t *const ranks = malloc(size * sizeof *ranks);
    if (ranks == NULL)
        return trace_no_memory(w->build);
    w->size[kind] = size;
    w->group[kind] = WORKLOAD_NONE;
    if (size == 1) { /* nobody to exchange anything with */
        free(ranks);
        return CW_OK;
    }
    bool done = true;
    for (uint32_t block = 0; done && block < w->ranks; block += size * stride)
        for (uint32_t base = block; done && base < block + stride; base++) {
            for (uint32_t i = 0; i < size; i++)
                ranks[i] = base + i * stride;
            const uint32_t group = trace_new_group(w->build, name, ranks, size);
            done = group != WORKLOAD_NONE;
            if (w->group[kind] == WORKLOAD_NONE)
                w->group[kind] = group;
        }
    free(ranks);
    return done ? CW_OK : trace_no_memory(w->build);
}

static int refuse(const struct walk *w, const char *why)
{
    return cw_error_set(w->build->error, CW_USAGE, "%s:1: %s", w->table->path, why);
}

/* A divisor of what is left of the ranks. */
static int divide(const struct walk *w, uint32_t *left, uint32_t by, const char *name)
{
    char why[160];
    if (by > 0 && *left % by == 0) {
        *left /= by;
        return CW_OK;
    }
    snprintf(why, sizeof why, "%s: %u; legal: a divisor of %u, of %u ranks", name, by, *left,
             w->ranks);
    return refuse(w, why);
}

static bool uses(const struct layers_table *table, enum layers_group group)
{
    for (uint32_t i = 0; i < table->count; i++)
        for (int phase = 0; phase < LAYERS_PHASES; phase++)
            if (table->layers[i].part[phase].collective != NONE &&
                table->layers[i].part[phase].bytes > 0 &&
                table->layers[i].part[phase].group == group)
                return true;
    return false;
}

static int find_sizes(struct walk *w)
{
    const struct layers_table *const table = w->table;
    const struct workload_trace_options *const options = w->build->options;
    w->ranks = table->ranks > 0 ? table->ranks : options->ranks;
    if (w->ranks > TRACE_RANKS_MAX)
        return refuse(w, "more ranks than 131072");
    if (w->ranks == 0)
        return refuse(w, "it does not say how many ranks there are: give --trace-ranks");
    w->stages = table->pp > 0 ? table->pp : 1;
    w->ep = table->ep > 0 ? table->ep : 1;
    uint32_t left = w->ranks;
    int code = divide(w, &left, w->stages, "pp");
    w->model = table->model > 0               ? table->model
               : options->first_dimension > 0 ? options->first_dimension
                                              : left;
    if (code == CW_OK)
        code = divide(w, &left, w->model, "model_parallel_NPU_group, or --first-dimension");
    if (code == CW_OK && table->model == 0 && options->first_dimension == 0 &&
        table->policy >= LAYERS_DATA_MODEL && table->policy <= LAYERS_TRANSFORMER_AGAIN)
        trace_note(
            w->build, table->path,
            "dimension 0 of the network has all ranks: collectives of the others are of one rank");
    w->data = left;
    if (code == CW_OK)
        code = divide(w, &left, w->ep, "ep");
    if (code == CW_OK && table->ep == 0 && (uses(table, LAYERS_EP) || uses(table, LAYERS_DP_EP)))
        code = refuse(w, "collectives of experts (_EP, _DP_EP), and no ep; legal: with \"ep: N\"");
    if (code == CW_OK && w->stages > 1 && table->pp_bytes == 0)
        code = refuse(w, "pp is more than 1, and pp_comm is missing; legal: bytes of a message "
                         "between stages");
    return code;
}

static int add_kinds(struct walk *w)
{
    const bool turned = w->table->policy == LAYERS_MODEL_DATA;
    const uint32_t one = w->model, rest = w->data;
    int code = trace_build_begin(w->build, w->ranks);
    if (code == CW_OK)
        code = add_kind(w, KIND_WORLD, "world", w->ranks, 1);
    /* HYBRID_MODEL_DATA has the data in dimension 0. */
    if (code == CW_OK)
        code = add_kind(w, turned ? KIND_DATA : KIND_MODEL, turned ? "dp" : "tp", one, 1);
    if (code == CW_OK)
        code = add_kind(w, turned ? KIND_MODEL : KIND_DATA, turned ? "tp" : "dp", rest, one);
    if (code == CW_OK)
        code = add_kind(w, KIND_EP, "ep", w->ep, one);
    if (code == CW_OK)
        code = add_kind(w, KIND_DP_EP, "dp_ep", rest / w->ep, one * w->ep);
    if (code == CW_OK)
        code = add_kind(w, KIND_STAGES, "pp", w->stages, one * rest);
    return code;
}

/* Of which ranks a collective is; NONE: the policy does not carry it out. */
static int kind_of(const struct walk *w, const struct layers_layer *layer, enum layers_phase phase)
{
    const struct layers_part *const part = &layer->part[phase];
    const bool weight = phase == LAYERS_WEIGHT;
    if (part->group != LAYERS_PLAIN)
        return part->group == LAYERS_EP ? KIND_EP : KIND_DP_EP;
    switch (layer->policy) {
    case LAYERS_MICRO:
    case LAYERS_DATA:
        return weight ? KIND_WORLD : NONE;
    case LAYERS_DLRM:
    case LAYERS_DLRM_ENHANCED:
        return weight || part->collective == CCL_ALL_TO_ALL ? KIND_WORLD : NONE;
    case LAYERS_MODEL:
    case LAYERS_INFERENCE:
        return weight ? NONE : KIND_WORLD;
    case LAYERS_MODEL_DATA:
        /* A layer of a customised table: the kinds are those of HYBRID_DATA_MODEL. */
        if (w->table->policy == LAYERS_CUSTOMIZED)
            return weight ? KIND_MODEL : KIND_DATA;
        return weight ? KIND_DATA : KIND_MODEL;
    default:
        return weight ? KIND_DATA : KIND_MODEL;
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

static void wait_for(struct chain *chain, uint32_t op)
{
    if (op != WORKLOAD_NONE && chain->count < sizeof chain->op / sizeof *chain->op)
        chain->op[chain->count++] = op;
}

static struct chain after(uint32_t op) { return (struct chain){{op}, op != WORKLOAD_NONE}; }

static uint32_t add(struct walk *w, const struct layers_layer *layer, const char *what,
                    enum workload_purpose purpose, const struct chain *chain,
                    struct workload_op *op)
{
    char name[160];
    const bool computes = op->kind == WORKLOAD_TIME || op->kind == WORKLOAD_NOTHING;
    const uint32_t stream = trace_stream(w->build, computes ? "compute" : "communication",
                                         computes ? WORKLOAD_AS_READY : WORKLOAD_AT_ONCE);
    const int length =
        snprintf(name, sizeof name, "%.*s %s",
                 (int)(layer->name_bytes < 100 ? layer->name_bytes : 100), layer->name, what);
    const uint32_t index = (uint32_t)(layer - w->table->layers);
    op->purpose = (uint8_t)purpose;
    op->layer = (int32_t)index;
    op->microbatch = w->block[index] != UINT32_MAX ? (int32_t)w->block[index] : -1;
    op->id = layer->line;
    op->label = trace_label(w->build, name, (size_t)length);
    op->stream = (uint16_t)stream;
    if (w->code == CW_OK && w->ops++ == TRACE_OPS_MAX)
        w->code = cw_error_set(w->build->error, CW_USAGE, "%s: more than %d operations",
                               w->table->path, TRACE_OPS_MAX);
    if (w->code != CW_OK)
        return WORKLOAD_NONE;
    const uint32_t added = op->label != WORKLOAD_NONE && stream != WORKLOAD_NONE
                               ? workload_add_op(w->build->graph, w->program, op)
                               : WORKLOAD_NONE;
    bool done = added != WORKLOAD_NONE;
    for (uint32_t i = 0; done && i < chain->count; i++)
        done = workload_add_dep(w->build->graph, w->program, chain->op[i]);
    if (!done)
        w->code = trace_no_memory(w->build);
    return done ? added : WORKLOAD_NONE;
}

static const char *const phase_names[LAYERS_PHASES] = {"forward", "input gradient",
                                                       "weight gradient"};

/* Computes for so long. */
static uint32_t add_time(struct walk *w, const struct layers_layer *layer, uint64_t time_ps,
                         const char *what, enum workload_purpose purpose, const struct chain *chain)
{
    struct workload_op op = {.kind = time_ps > 0 ? WORKLOAD_TIME : WORKLOAD_NOTHING,
                             .dtype = DTYPE_BF16,
                             .time_ps = time_ps};
    return add(w, layer, what, purpose, chain, &op);
}

static uint32_t add_compute(struct walk *w, const struct layers_layer *layer,
                            enum layers_phase phase, enum workload_purpose purpose,
                            const struct chain *chain)
{
    return add_time(w, layer, layer->part[phase].time_ps, phase_names[phase], purpose, chain);
}

/* WORKLOAD_NONE: there is no such collective. */
static uint32_t add_collective(struct walk *w, const struct layers_layer *layer,
                               enum layers_phase phase, enum workload_purpose purpose,
                               const struct chain *chain)
{
    const struct layers_part *const part = &layer->part[phase];
    const int kind = kind_of(w, layer, phase);
    char what[64];
    if (part->collective == NONE || part->bytes == 0)
        return WORKLOAD_NONE;
    if (kind == NONE) {
        w->has_unused = true;
        return WORKLOAD_NONE;
    }
    if (w->size[kind] == 1)
        return WORKLOAD_NONE;
    struct workload_op op = {.kind = WORKLOAD_COLLECTIVE,
                             .collective = (uint8_t)part->collective,
                             .redop = REDOP_SUM,
                             .set = w->group[kind],
                             .bytes = part->bytes};
    if (part->collective == CCL_ALL_GATHER && !w->table->is_simai)
        op.bytes *= w->size[kind];
    op.dtype = trace_dtype(op.bytes);
    snprintf(what, sizeof what, "%s %s", phase_names[phase],
             ccl_collective_name((enum ccl_collective)part->collective));
    return add(w, layer, what, purpose, chain, &op);
}

/* A message to or from the stage before (-1) or after (+1). */
static uint32_t add_message(struct walk *w, const struct layers_layer *layer, bool sends, int side,
                            bool forward, const struct chain *chain)
{
    struct workload_op op = {.kind = sends ? WORKLOAD_SEND : WORKLOAD_RECV,
                             .set = w->group[KIND_STAGES],
                             .peer = (uint32_t)((int)w->stage + side),
                             .tag = forward ? 0 : 1,
                             .bytes = w->table->pp_bytes,
                             .dtype = trace_dtype(w->table->pp_bytes)};
    return add(w, layer, sends ? "send" : "recv", forward ? WORKLOAD_FORWARD : WORKLOAD_BACKWARD,
               chain, &op);
}

/* ---- passes ---------------------------------------------------------------------------------- */

static bool begins_block(const struct walk *w, uint32_t i)
{
    return w->block[i] != UINT32_MAX && (i == 0 || w->block[i - 1] != w->block[i]);
}

static bool ends_block(const struct walk *w, uint32_t i)
{
    return w->block[i] != UINT32_MAX &&
           (i + 1 == w->table->count || w->block[i + 1] != w->block[i]);
}

/* Compute, then a collective that the next layer waits for. */
static void forward(struct walk *w, uint32_t i, enum workload_purpose purpose)
{
    const struct layers_layer *const layer = &w->table->layers[i];
    const bool passes = w->stages > 1 && purpose == WORKLOAD_FORWARD;
    const struct chain nothing = {{0}, 0};
    if (passes && w->stage > 0 && begins_block(w, i))
        wait_for(&w->chain, add_message(w, layer, false, -1, true, &nothing));
    const uint32_t computes = add_compute(w, layer, LAYERS_FORWARD, purpose, &w->chain);
    w->chain = after(computes);
    const uint32_t moves = add_collective(w, layer, LAYERS_FORWARD, purpose, &w->chain);
    if (moves != WORKLOAD_NONE)
        w->chain = after(moves);
    if (passes && w->stage + 1 < w->stages && ends_block(w, i))
        (void)add_message(w, layer, true, 1, true, &w->chain);
}

/* The weights' gradients, their collective beside what follows, and the update after it. */
static uint32_t weights(struct walk *w, const struct layers_layer *layer, const struct chain *chain)
{
    const uint32_t computes = add_compute(w, layer, LAYERS_WEIGHT, WORKLOAD_BACKWARD, chain);
    const struct chain done = after(computes);
    const uint32_t moves = add_collective(w, layer, LAYERS_WEIGHT, WORKLOAD_BACKWARD, &done);
    const struct chain reduced = moves != WORKLOAD_NONE ? after(moves) : done;
    if (layer->update_ps > 0)
        (void)add_time(w, layer, layer->update_ps, "update", WORKLOAD_UPDATE, &reduced);
    return computes;
}

/* Of policies that divide the model: the inputs' gradients first, since the layer before needs
 * them; a collective of them that blocks, or runs beside the weights' gradients. */
static void backward(struct walk *w, uint32_t i, bool blocks)
{
    const struct layers_layer *const layer = &w->table->layers[i];
    const struct chain nothing = {{0}, 0};
    if (w->stages > 1 && w->stage + 1 < w->stages && ends_block(w, i))
        wait_for(&w->chain, add_message(w, layer, false, 1, false, &nothing));
    w->chain = after(add_compute(w, layer, LAYERS_INPUT, WORKLOAD_BACKWARD, &w->chain));
    const uint32_t moves =
        blocks || i > 0 ? add_collective(w, layer, LAYERS_INPUT, WORKLOAD_BACKWARD, &w->chain)
                        : WORKLOAD_NONE;
    if (blocks && moves != WORKLOAD_NONE)
        w->chain = after(moves);
    const uint32_t computes = weights(w, layer, &w->chain);
    w->chain = after(computes);
    if (!blocks)
        wait_for(&w->chain, moves);
    if (w->stages > 1 && w->stage > 0 && begins_block(w, i))
        (void)add_message(w, layer, true, -1, false, &w->chain);
}

/* From the last checkpoint up to the layer. */
static void forward_again(struct walk *w, uint32_t layer)
{
    uint32_t from = layer;
    while (!w->table->layers[from].is_checkpoint)
        from--;
    for (uint32_t i = from; w->code == CW_OK && i < layer; i++)
        forward(w, i, WORKLOAD_RECOMPUTE);
}

/* Of data parallelism: the weights' gradients first, whose collectives take longest. */
static void backward_of_data(struct walk *w, uint32_t i)
{
    const struct layers_layer *const layer = &w->table->layers[i];
    w->chain = after(weights(w, layer, &w->chain));
    if (i > 0)
        w->chain = after(add_compute(w, layer, LAYERS_INPUT, WORKLOAD_BACKWARD, &w->chain));
}

/* As of data parallelism; the embeddings of layer 0 are exchanged before the first layer above the
 * bottom ones, and their gradients when that layer's are there. */
static void walk_dlrm(struct walk *w)
{
    const struct layers_table *const table = w->table;
    uint32_t gathers = WORKLOAD_NONE, returns = WORKLOAD_NONE;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct layers_layer *const layer = &table->layers[i];
        if (i == table->last_bottom + 1)
            wait_for(&w->chain, gathers);
        w->chain = after(add_compute(w, layer, LAYERS_FORWARD, WORKLOAD_FORWARD, &w->chain));
        const uint32_t moves =
            add_collective(w, layer, LAYERS_FORWARD, WORKLOAD_FORWARD, &w->chain);
        if (i == 0)
            gathers = moves;
    }
    if (table->count <= table->last_bottom + 1)
        wait_for(&w->chain, gathers);
    for (uint32_t i = table->count; i-- > 0;) {
        if (i == 0)
            wait_for(&w->chain, returns);
        backward_of_data(w, i);
        if (i == table->last_bottom + 1)
            returns =
                add_collective(w, &table->layers[0], LAYERS_INPUT, WORKLOAD_BACKWARD, &w->chain);
    }
}

/* Each layer's weight gradient and its collective, one after the other. */
static void walk_micro(struct walk *w)
{
    for (uint32_t i = 0; i < w->table->count; i++) {
        const struct layers_layer *const layer = &w->table->layers[i];
        w->chain = after(add_compute(w, layer, LAYERS_WEIGHT, WORKLOAD_OTHER, &w->chain));
        const uint32_t moves = add_collective(w, layer, LAYERS_WEIGHT, WORKLOAD_OTHER, &w->chain);
        if (moves != WORKLOAD_NONE)
            w->chain = after(moves);
    }
}

static void walk(struct walk *w)
{
    const struct layers_table *const table = w->table;
    const bool transformer =
        table->policy == LAYERS_TRANSFORMER || table->policy == LAYERS_TRANSFORMER_AGAIN;
    w->chain = (struct chain){{0}, 0};
    if (table->policy == LAYERS_MICRO) {
        walk_micro(w);
        return;
    }
    if (table->policy == LAYERS_DLRM || table->policy == LAYERS_DLRM_ENHANCED) {
        walk_dlrm(w);
        return;
    }
    for (uint32_t i = 0; i < table->count; i++)
        forward(w, i, table->policy == LAYERS_INFERENCE ? WORKLOAD_OTHER : WORKLOAD_FORWARD);
    if (table->policy == LAYERS_INFERENCE)
        return;
    for (uint32_t i = table->count; i-- > 0;) {
        if (table->layers[i].runs_again)
            forward_again(w, i);
        if (table->policy == LAYERS_DATA)
            backward_of_data(w, i);
        else
            backward(w, i, transformer);
    }
}

/* ---- microbatches ---------------------------------------------------------------------------- */

static bool same_name(const struct layers_layer *a, const struct layers_layer *b)
{
    return a->name_bytes == b->name_bytes && memcmp(a->name, b->name, a->name_bytes) == 0;
}

enum { LOOKED_AT = 64 }; /* layers, for the first one of a microbatch */

/* A table of SimAI has the layers of all microbatches, `ga` of them: each begins with the first
 * layer that there is as often. */
static void find_blocks(struct walk *w)
{
    const struct layers_table *const table = w->table;
    const uint32_t blocks = table->ga > 0 ? table->ga : 1,
                   looked_at = table->count < LOOKED_AT ? table->count : LOOKED_AT;
    uint32_t first = 0;
    for (; first < looked_at; first++) {
        uint32_t times = 0;
        for (uint32_t i = 0; i < table->count && times <= blocks; i++)
            times += same_name(&table->layers[i], &table->layers[first]);
        if (times == blocks && blocks > 1)
            break;
    }
    const bool found = first < looked_at;
    for (uint32_t i = 0, block = UINT32_MAX; i < table->count; i++) {
        if (found && same_name(&table->layers[i], &table->layers[first]))
            block++;
        w->block[i] = found ? block : w->stages > 1 ? 0 : UINT32_MAX;
    }
    if (!found && w->stages > 1 && blocks > 1)
        trace_note(w->build, table->path,
                   "no layer is there %u times (ga): stages pass all on in one message", blocks);
}

static int add_programs(struct walk *w)
{
    for (w->stage = 0; w->code == CW_OK && w->stage < w->stages; w->stage++) {
        char name[32] = "all ranks";
        if (w->stages > 1)
            snprintf(name, sizeof name, "stage %u", w->stage);
        w->program = workload_add_program(w->build->graph, name);
        if (w->program == WORKLOAD_NONE)
            return trace_no_memory(w->build);
        walk(w);
        const uint32_t ranks = w->ranks / w->stages;
        for (uint32_t r = 0; r < ranks; r++)
            w->build->graph->program_of[w->stage * ranks + r] = w->program;
    }
    return w->code;
}

int layers_build(struct trace_build *build, const struct layers_table *table)
{
    struct walk w = {
        .build = build, .table = table, .block = malloc(table->count * sizeof *w.block)};
    int code = w.block != NULL ? find_sizes(&w) : trace_no_memory(build);
    if (code == CW_OK)
        code = add_kinds(&w);
    if (code == CW_OK) {
        find_blocks(&w);
        code = add_programs(&w);
    }
    if (code == CW_OK && w.has_unused)
        trace_note(build, table->path,
                   "collectives that the policy does not carry out are left out, as in ASTRA-sim");
    free(w.block);
    return code;
}
