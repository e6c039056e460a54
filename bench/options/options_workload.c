/*
 * options_workload.c: reads the model of `workload new`, refuses options that another model has,
 * and gives those that are left out their values; and the file of `workload check`
 * (options_workload.h).
 */
#include "bench/options/options_workload.h"

#include <stdio.h>
#include <string.h>

#include "bench/options/options_value.h"
#include "collectives/config/input/text.h"

enum {
    GPT = 1 << MODEL_GPT,
    MOE = 1 << MODEL_MOE,
    INFERENCE = 1 << MODEL_INFERENCE,
    ATTENTION = 1 << MODEL_ATTENTION,
    TRAINING = GPT | MOE,
    MODELS = TRAINING | INFERENCE
};

/* The options that not every model has, and of which models they are. */
static const struct {
    const char *name;
    unsigned models;
} of_some_models[] = {
    {"layers", MODELS},
    {"hidden", MODELS},
    {"ffn", MODELS},
    {"gated", MODELS},
    {"vocab", MODELS},
    {"sequence", TRAINING},
    {"prompt", INFERENCE},
    {"queries", ATTENTION},
    {"keys", ATTENTION},
    {"head-dim", ATTENTION},
    {"experts", MOE},
    {"top-k", MOE},
    {"capacity", MOE},
    {"skew", MOE},
    {"tp", MODELS},
    {"pp", MODELS},
    {"dp", MODELS},
    {"ep", MOE},
    {"sequence-parallel", TRAINING},
    {"micro-batch", MODELS},
    {"global-batch", TRAINING},
    {"batch", INFERENCE | ATTENTION},
    {"tokens", INFERENCE},
    {"recompute", TRAINING},
    {"zero", TRAINING},
    {"grad-dtype", TRAINING},
    {"schedule", TRAINING},
    {"chunks", TRAINING},
    {"buckets", TRAINING},
    {"no-overlap", TRAINING},
    {"kernels", MODELS},
};

int workload_new_argument(struct option_parse *parse, int count, char **rest,
                          struct cw_error *error)
{
    struct workload_new_options *const options = parse->values;
    char quoted[TEXT_QUOTE_BYTES];
    uint32_t kind = 0;
    (void)count;
    if (options->model != NULL) {
        cw_error_set(error, CW_USAGE, "unexpected argument %s; one model at a time",
                     text_quote(rest[0], strlen(rest[0]), quoted));
        return 0;
    }
    while (kind < MODEL_KINDS && strcmp(model_kind_name[kind], rest[0]) != 0)
        kind++;
    if (kind == MODEL_KINDS) {
        cw_error_set(error, CW_USAGE, "no model %s; there are gpt, moe, inference and attention",
                     text_quote(rest[0], strlen(rest[0]), quoted));
        return 0;
    }
    options->model = model_kind_name[kind];
    options->plan.kind = kind;
    return 1;
}

int workload_new_read_dtype(struct option_parse *parse, const struct option_row *row,
                            const char *text, struct cw_error *error)
{
    enum dtype dtype;
    if (!dtype_parse(text, &dtype))
        return options_refuse(error, row->name, text,
                              "expected f16, bf16, f32, f64, fp8_e4m3, fp8_e5m2, int8 or int32");
    memcpy(options_field(parse, row), &(uint32_t){dtype}, sizeof(uint32_t));
    return CW_OK;
}

/* "moe", or "gpt and moe", of a set of models. */
static const char *name_models(unsigned models, char text[64])
{
    int used = 0;
    text[0] = '\0';
    for (int i = 0; i < MODEL_KINDS; i++)
        if ((models >> i & 1) != 0)
            used += snprintf(text + used, 64 - (size_t)used, "%s%s",
                             used == 0                ? ""
                             : models >> (i + 1) != 0 ? ", "
                                                      : " and ",
                             model_kind_name[i]);
    return text;
}

static int check_models(const struct option_parse *parse, struct cw_error *error)
{
    const struct workload_new_options *const options = parse->values;
    char text[64];
    for (size_t i = 0; i < sizeof of_some_models / sizeof *of_some_models; i++)
        if (options_given(parse, of_some_models[i].name) &&
            (of_some_models[i].models >> options->plan.kind & 1) == 0)
            return cw_error_set(error, CW_USAGE, "--%s is for %s; %s has no use for it",
                                of_some_models[i].name, name_models(of_some_models[i].models, text),
                                options->model);
    return CW_OK;
}

static void set_default(uint32_t *value, uint32_t usual)
{
    if (*value == 0)
        *value = usual;
}

static void set_defaults(const struct option_parse *parse, struct model_plan *plan)
{
    const bool training = plan->kind == MODEL_GPT || plan->kind == MODEL_MOE;
    set_default(&plan->heads, plan->kind == MODEL_ATTENTION ? 1 : 16);
    set_default(&plan->sequence, plan->kind == MODEL_ATTENTION   ? 16
                                 : plan->kind == MODEL_INFERENCE ? 1024
                                                                 : 2048);
    set_default(&plan->keys, 16 * plan->cp);
    set_default(&plan->head_dim, 64);
    set_default(&plan->layers, 24);
    set_default(&plan->hidden, 2048);
    set_default(&plan->vocab, 51200);
    set_default(&plan->experts, 8);
    set_default(&plan->top_k, 2);
    set_default(&plan->tokens, 16);
    if (training)
        set_default(&plan->micro_batch, 1);
    else
        set_default(&plan->global_batch, plan->dp);
    if (!options_given(parse, "grad-dtype"))
        plan->grad_dtype = plan->dtype;
}

int workload_new_finish(struct option_parse *parse, struct cw_error *error)
{
    struct workload_new_options *const options = parse->values;
    if (options->model == NULL)
        return cw_error_set(error, CW_USAGE,
                            "name the model: cubewarp workload new gpt, moe, "
                            "inference or attention");
    const int code = check_models(parse, error);
    if (code != CW_OK)
        return code;
    set_defaults(parse, &options->plan);
    return model_plan_finish(&options->plan, error);
}

/* ---- check ----------------------------------------------------------------------------------- */

int workload_check_argument(struct option_parse *parse, int count, char **rest,
                            struct cw_error *error)
{
    struct workload_check_options *const options = parse->values;
    char quoted[TEXT_QUOTE_BYTES];
    (void)count;
    if (options->path != NULL) {
        cw_error_set(error, CW_USAGE, "unexpected argument %s; one workload file at a time",
                     text_quote(rest[0], strlen(rest[0]), quoted));
        return 0;
    }
    options->path = rest[0];
    return 1;
}

int workload_check_finish(struct option_parse *parse, struct cw_error *error)
{
    const struct workload_check_options *const options = parse->values;
    if (options->path == NULL)
        return cw_error_set(error, CW_USAGE,
                            "name a workload file, such as workload new writes one, or a trace");
    if ((options->preset != NULL || options->machine_count > 0) && options->json != NULL &&
        strcmp(options->json, "-") == 0)
        return cw_error_set(error, CW_USAGE,
                            "a machine is for the table, which --json - replaces: name a file");
    return CW_OK;
}

int workload_check_read_set(struct option_parse *parse, const struct option_row *row,
                            const char *text, struct cw_error *error)
{
    struct workload_check_options *const options = parse->values;
    (void)row;
    const bool of_file = strncmp(text, "workload.", strlen("workload.")) == 0;
    size_t *const count = of_file ? &options->setting_count : &options->machine_count;
    if (*count == WORKLOAD_SETTINGS_MAX)
        return cw_error_set(error, CW_USAGE, "more than %d times --set", WORKLOAD_SETTINGS_MAX);
    (of_file ? options->settings : options->machine)[(*count)++] = text;
    return CW_OK;
}
