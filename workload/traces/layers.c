/*
 * layers.c: reads the layer tables of ASTRA-sim 1.0 and SimAI (layers.h). SimAI's differ in the
 * header's keys and the suffixes of types, and state the whole result of an all-gather.
 */
#include "workload/traces/layers.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/input/decimal.h"
#include "collectives/config/input/text.h"

enum { LAYERS_MAX = 1 << 20, COLUMNS = 12, NUMBER_MAX = 1 << 20 };

static const char *const policies[LAYERS_POLICIES] = {
    [LAYERS_MICRO] = "MICRO",
    [LAYERS_DATA] = "DATA",
    [LAYERS_MODEL] = "MODEL",
    [LAYERS_DATA_MODEL] = "HYBRID_DATA_MODEL",
    [LAYERS_MODEL_DATA] = "HYBRID_MODEL_DATA",
    [LAYERS_TRANSFORMER] = "HYBRID_TRANSFORMER",
    [LAYERS_TRANSFORMER_AGAIN] = "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
    [LAYERS_DLRM] = "HYBRID_DLRM",
    [LAYERS_DLRM_ENHANCED] = "HYBRID_DLRM_ENHANCED",
    [LAYERS_CUSTOMIZED] = "HYBRID_CUSTOMIZED",
    [LAYERS_INFERENCE] = "DISTRIBUTED_INFERENCE"};
static const char legal_policies[] =
    "MICRO, DATA, MODEL, HYBRID_DATA_MODEL, HYBRID_MODEL_DATA, HYBRID_TRANSFORMER, "
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD, HYBRID_DLRM, HYBRID_DLRM_ENHANCED, HYBRID_CUSTOMIZED, "
    "DISTRIBUTED_INFERENCE";

struct word {
    const char *at;
    size_t bytes;
};

struct reader {
    struct trace_build *build;
    struct layers_table *table;
    const char *at, *end, *line_begin;
    uint32_t line;
};

/* ---- words ----------------------------------------------------------------------------------- */

/* The next word of the line; 0 bytes: its end. */
static struct word next_word(struct reader *r)
{
    while (r->at < r->end && *r->at != '\n' && isspace((unsigned char)*r->at))
        r->at++;
    struct word word = {r->at, 0};
    while (r->at < r->end && !isspace((unsigned char)*r->at))
        r->at++;
    word.bytes = (size_t)(r->at - word.at);
    return word;
}

/* To the next line that has a word. False: there is none. */
static bool next_line(struct reader *r)
{
    for (;;) {
        while (r->at < r->end && *r->at != '\n')
            r->at++;
        if (r->at == r->end)
            return false;
        r->at++;
        r->line++;
        r->line_begin = r->at;
        const char *at = r->at;
        while (at < r->end && *at != '\n' && isspace((unsigned char)*at))
            at++;
        if (at < r->end && *at != '\n')
            return true;
    }
}

static bool is_word(struct word word, const char *text)
{
    return word.bytes == strlen(text) && memcmp(word.at, text, word.bytes) == 0;
}

static int wrong(const struct reader *r, struct word word, const char *what, const char *legal)
{
    char quoted[TEXT_QUOTE_BYTES];
    return cw_error_set(r->build->error, CW_USAGE, "%s:%u:%zu: %s: %s; legal: %s", r->table->path,
                        r->line, (size_t)(word.at - r->line_begin) + 1, what,
                        word.bytes > 0 ? text_quote(word.at, word.bytes, quoted) : "nothing",
                        legal);
}

static enum layers_policy policy_of(struct word word)
{
    enum layers_policy p = 0;
    while (p < LAYERS_POLICIES && !is_word(word, policies[p]))
        p++;
    return p;
}

bool layers_begin(const char *text, size_t count)
{
    size_t bytes = 0;
    while (bytes < count && !isspace((unsigned char)text[bytes]))
        bytes++;
    return policy_of((struct word){text, bytes}) < LAYERS_POLICIES;
}

/* A number times `unit`, which must be whole then. */
static int number_of(const struct reader *r, struct word word, const char *what, int64_t unit,
                     uint64_t most, uint64_t *number)
{
    struct decimal decimal;
    int64_t product;
    char legal[80];
    if (word.bytes > 0 && decimal_parse(word.at, word.bytes, &decimal) && decimal.mantissa >= 0 &&
        decimal_times(decimal, unit, &product) && (uint64_t)product <= most) {
        *number = (uint64_t)product;
        return CW_OK;
    }
    snprintf(legal, sizeof legal, "%s from 0 to %" PRIu64,
             unit == 1 ? "a whole number" : "a number of ns", most / (uint64_t)unit);
    return wrong(r, word, what, legal);
}

static int small_of(const struct reader *r, struct word word, const char *what, uint32_t *number)
{
    uint64_t value = 0;
    const int code = number_of(r, word, what, 1, NUMBER_MAX, &value);
    *number = (uint32_t)value;
    return code;
}

/* ---- layers ---------------------------------------------------------------------------------- */

static int type_of(struct reader *r, struct word word, struct layers_part *part)
{
    static const struct {
        const char *name;
        int collective;
    } types[] = {{"ALLREDUCE", CCL_ALL_REDUCE},
                 {"ALLTOALL", CCL_ALL_TO_ALL},
                 {"ALLGATHER", CCL_ALL_GATHER},
                 {"REDUCESCATTER", CCL_REDUCE_SCATTER},
                 {"NONE", -1}};
    static const char *const suffixes[] = {
        [LAYERS_PLAIN] = "", [LAYERS_EP] = "_EP", [LAYERS_DP_EP] = "_DP_EP"};
    char name[32];
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int g = LAYERS_PLAIN; g <= LAYERS_DP_EP; g++) {
            snprintf(name, sizeof name, "%s%s", types[t].name, suffixes[g]);
            if (is_word(word, name)) {
                part->collective = types[t].collective;
                part->group = (enum layers_group)g;
                r->table->is_simai |= g != LAYERS_PLAIN;
                return CW_OK;
            }
        }
    return wrong(r, word, "unknown collective",
                 "NONE, ALLREDUCE, ALLTOALL, ALLGATHER, REDUCESCATTER, and these with _EP or "
                 "_DP_EP");
}

static int read_part(struct reader *r, struct layers_part *part)
{
    const int64_t ps_per_ns = 1000;
    int code = number_of(r, next_word(r), "time", ps_per_ns, TRACE_PS_MAX, &part->time_ps);
    if (code == CW_OK)
        code = type_of(r, next_word(r), part);
    return code == CW_OK ? number_of(r, next_word(r), "bytes", 1, TRACE_BYTES_MAX, &part->bytes)
                         : code;
}

static int read_layer(struct reader *r, struct layers_layer *layer)
{
    const int64_t ps_per_ns = 1000;
    const struct word name = next_word(r), dependency = next_word(r);
    *layer = (struct layers_layer){
        .name = name.at, .name_bytes = name.bytes, .policy = r->table->policy, .line = r->line};
    if (!is_word(dependency, "-1"))
        return wrong(r, dependency, "dependency", "-1: after the layer before");
    int code = CW_OK;
    for (int phase = 0; code == CW_OK && phase < LAYERS_PHASES; phase++)
        code = read_part(r, &layer->part[phase]);
    if (code == CW_OK)
        code =
            number_of(r, next_word(r), "update time", ps_per_ns, TRACE_PS_MAX, &layer->update_ps);
    struct word last = code == CW_OK ? next_word(r) : (struct word){r->at, 0};
    if (code == CW_OK && r->table->policy == LAYERS_CUSTOMIZED) {
        layer->policy = policy_of(last);
        if (layer->policy > LAYERS_MODEL_DATA || layer->policy == LAYERS_MICRO)
            return wrong(r, last, "policy of the layer",
                         "DATA, MODEL, HYBRID_DATA_MODEL, HYBRID_MODEL_DATA");
        last = next_word(r);
    }
    if (code == CW_OK && last.bytes > 0)
        code = wrong(r, last, "a column too many", "the end of the line");
    return code;
}

static int read_layers(struct reader *r)
{
    struct layers_table *const table = r->table;
    uint32_t count = 0;
    if (!next_line(r))
        return cw_error_set(r->build->error, CW_USAGE, "%s:%u: the number of layers is missing",
                            table->path, r->line);
    const struct word word = next_word(r);
    int code = small_of(r, word, "layers", &count);
    if (code == CW_OK && count == 0)
        code = wrong(r, word, "layers", "1 or more");
    const struct word rest = next_word(r);
    if (code == CW_OK && rest.bytes > 0)
        code = wrong(r, rest, "after the number of layers", "the end of the line");
    if (code == CW_OK && count > (size_t)(r->end - r->at))
        code = wrong(r, word, "more layers than there are lines", "a line for each");
    if (code != CW_OK)
        return code;
    table->layers = calloc(count, sizeof *table->layers);
    if (table->layers == NULL)
        return trace_no_memory(r->build);
    while (code == CW_OK && table->count < count) {
        if (!next_line(r))
            return cw_error_set(r->build->error, CW_USAGE,
                                "%s:%u: %u layers, and line 2 says %u; legal: a line for each",
                                table->path, r->line, table->count, count);
        code = read_layer(r, &table->layers[table->count++]);
    }
    if (code == CW_OK && next_line(r))
        code =
            wrong(r, next_word(r), "a line after the last layer", "as many layers as line 2 says");
    return code;
}

/* ---- the header ------------------------------------------------------------------------------ */

/* "checkpoints: 2 2 11": how many, and their numbers, which are kept until there are layers. */
struct marks {
    uint32_t *at;
    uint32_t count;
};

static int read_marks(struct reader *r, struct marks *marks)
{
    uint32_t count = 0;
    int code = small_of(r, next_word(r), "number of layers to come", &count);
    marks->at = calloc((size_t)count + 1, sizeof *marks->at);
    if (code == CW_OK && marks->at == NULL)
        code = trace_no_memory(r->build);
    for (uint32_t i = 0; code == CW_OK && i < count; i++, marks->count++)
        code = small_of(r, next_word(r), "layer", &marks->at[i]);
    return code;
}

static bool is_key(struct word word, const char *key)
{
    return is_word(word, key) || (word.bytes == strlen(key) + 1 && word.at[word.bytes - 1] == ':' &&
                                  memcmp(word.at, key, word.bytes - 1) == 0);
}

static int read_key(struct reader *r, struct word key, struct marks marks[2])
{
    struct layers_table *const table = r->table;
    static const char legal[] = "model_parallel_NPU_group, ep, pp, vpp, ga, all_gpus, pp_comm, "
                                "checkpoints, checkpoint_initiates, DLRM_LAST_BOTTOM_LAYER";
    uint32_t chunks;
    const struct {
        const char *name;
        uint32_t *value;
        bool of_simai;
    } keys[] = {{"model_parallel_NPU_group", &table->model, false},
                {"ep", &table->ep, true},
                {"pp", &table->pp, true},
                {"vpp", &chunks, true}, /* the number of layers, whatever its name says */
                {"ga", &table->ga, true},
                {"all_gpus", &table->ranks, true},
                {"DLRM_LAST_BOTTOM_LAYER", &table->last_bottom, false}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (is_key(key, keys[i].name)) {
            table->is_simai |= keys[i].of_simai;
            return small_of(r, next_word(r), keys[i].name, keys[i].value);
        }
    if (is_key(key, "pp_comm")) {
        table->is_simai = true;
        return number_of(r, next_word(r), "pp_comm", 1, TRACE_BYTES_MAX, &table->pp_bytes);
    }
    if (is_key(key, "checkpoints") && marks[0].at == NULL)
        return read_marks(r, &marks[0]);
    if (is_key(key, "checkpoint_initiates") && marks[1].at == NULL)
        return read_marks(r, &marks[1]);
    return wrong(r, key, "unknown key", legal);
}

static int read_header(struct reader *r, struct marks marks[2])
{
    const struct word policy = next_word(r);
    struct word word;
    int code = CW_OK;
    r->table->policy = policy_of(policy);
    if (r->table->policy == LAYERS_POLICIES)
        return wrong(r, policy, "unknown policy", legal_policies);
    const bool dlrm = r->table->policy == LAYERS_DLRM || r->table->policy == LAYERS_DLRM_ENHANCED;
    for (bool first = true; code == CW_OK && (word = next_word(r)).bytes > 0; first = false) {
        if (dlrm && first && isdigit((unsigned char)*word.at))
            code = small_of(r, word, "last bottom layer", &r->table->last_bottom);
        else
            code = read_key(r, word, marks);
    }
    return code;
}

static int mark_layers(const struct reader *r, const struct marks marks[2])
{
    struct layers_table *const table = r->table;
    for (int which = 0; which < 2; which++)
        for (uint32_t i = 0; i < marks[which].count; i++) {
            const uint32_t layer = marks[which].at[i];
            if (layer >= table->count)
                return cw_error_set(
                    r->build->error, CW_USAGE, "%s:1: %s: layer %u; legal: 0 to %u", table->path,
                    which == 0 ? "checkpoints" : "checkpoint_initiates", layer, table->count - 1);
            *(which == 0 ? &table->layers[layer].is_checkpoint : &table->layers[layer].runs_again) =
                true;
        }
    for (uint32_t i = 0, from = UINT32_MAX; i < table->count; i++) {
        if (table->layers[i].is_checkpoint)
            from = i;
        if (table->layers[i].runs_again && from == UINT32_MAX)
            return cw_error_set(r->build->error, CW_USAGE,
                                "%s:1: checkpoint_initiates: layer %u has no checkpoint before it; "
                                "legal: a layer after a checkpoint",
                                table->path, i);
    }
    return CW_OK;
}

int layers_read(struct trace_build *build, const struct trace_file *file)
{
    struct layers_table table = {.path = file->path};
    struct marks marks[2] = {{0}, {0}};
    const char *const text = (const char *)file->bytes;
    struct reader r = {.build = build,
                       .table = &table,
                       .at = text,
                       .end = text + file->count,
                       .line_begin = text,
                       .line = 1};
    while (r.at < r.end && isspace((unsigned char)*r.at))
        if (*r.at++ == '\n') {
            r.line++;
            r.line_begin = r.at;
        }
    int code = read_header(&r, marks);
    if (code == CW_OK)
        code = read_layers(&r);
    if (code == CW_OK)
        code = mark_layers(&r, marks);
    if (code == CW_OK)
        code = layers_build(build, &table);
    free(marks[0].at);
    free(marks[1].at);
    free(table.layers);
    return code;
}
