/*
 * plan.c: fills in what a plan leaves open, and checks that its values fit together (plan.h).
 */
#include "workload/model/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collectives/config/input/decimal.h"
#include "collectives/config/input/text.h"

const char *const model_kind_name[MODEL_KINDS] = {
    [MODEL_GPT] = "gpt",
    [MODEL_MOE] = "moe",
    [MODEL_INFERENCE] = "inference",
    [MODEL_ATTENTION] = "attention",
};

/* A value that must be a multiple of others: "--heads 15 is no multiple of --tp 4". */
struct multiple {
    const char *name;
    uint64_t value;
    const char *of_name;
    uint64_t of;
};

static int check_multiple(struct multiple m, struct cw_error *error)
{
    if (m.value % m.of == 0)
        return CW_OK;
    const uint64_t below = m.value / m.of * m.of;
    char legal[64] = "";
    if (below > 0)
        snprintf(legal, sizeof legal, "%" PRIu64 " or ", below);
    return cw_error_set(error, CW_USAGE,
                        "%s %" PRIu64 " is no multiple of %s %" PRIu64 "; legal: %s%" PRIu64,
                        m.name, m.value, m.of_name, m.of, legal, below + m.of);
}

static int check_multiples(const struct multiple *list, size_t count, struct cw_error *error)
{
    int code = CW_OK;
    for (size_t i = 0; code == CW_OK && i < count; i++)
        code = check_multiple(list[i], error);
    return code;
}
#define CHECK_MULTIPLES(list, error) check_multiples(list, sizeof(list) / sizeof *(list), error)

static uint32_t or_else(uint32_t value, uint32_t other) { return value != 0 ? value : other; }

static void fill(struct model_plan *plan)
{
    plan->kv_heads = or_else(plan->kv_heads, plan->heads);
    plan->ffn = or_else(plan->ffn, 4 * plan->hidden);
    if (plan->capacity == NULL)
        plan->capacity = plan->skew;
    plan->chunks = or_else(plan->chunks, plan->schedule == SCHEDULE_INTERLEAVED ? 2 : 1);
    if (plan->kind == MODEL_INFERENCE)
        plan->micro_batch = or_else(plan->micro_batch, plan->global_batch / plan->dp);
    if (plan->global_batch == 0 && (uint64_t)plan->micro_batch * plan->dp * plan->pp <= UINT32_MAX)
        plan->global_batch = plan->micro_batch * plan->dp * plan->pp;
}

uint32_t model_microbatches(const struct model_plan *plan)
{
    return plan->kind == MODEL_ATTENTION ? 1 : plan->global_batch / plan->micro_batch / plan->dp;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static int check_model(const struct model_plan *plan, struct cw_error *error)
{
    const struct multiple list[] = {
        {"--hidden", plan->hidden, "--heads", plan->heads},
        {"--heads", plan->heads, "--kv-heads", plan->kv_heads},
        {"--heads", plan->heads, "--tp", plan->tp},
        {"--kv-heads", plan->kv_heads, "--tp", plan->tp},
        {"--ffn", plan->ffn, "--tp", plan->tp},
        {"--vocab", plan->vocab, "--tp", plan->tp},
        {"--layers", plan->layers, "--pp x --chunks", (uint64_t)plan->pp * plan->chunks},
    };
    return CHECK_MULTIPLES(list, error);
}

static int check_sequence(const struct model_plan *plan, struct cw_error *error)
{
    const char *const name = plan->kind == MODEL_INFERENCE   ? "--prompt"
                             : plan->kind == MODEL_ATTENTION ? "--queries"
                                                             : "--sequence";
    const struct multiple list[] = {
        {name, plan->sequence, "--cp", plan->cp},
        {name, plan->sequence, "--cp x --tp, with --sequence-parallel,",
         (uint64_t)plan->cp * (plan->sequence_parallel ? plan->tp : 1)},
    };
    return CHECK_MULTIPLES(list, error);
}

static int check_batch(const struct model_plan *plan, struct cw_error *error)
{
    const bool training = plan->kind != MODEL_INFERENCE;
    if (training)
        return check_multiple((struct multiple){"--global-batch", plan->global_batch,
                                                "--micro-batch x --dp",
                                                (uint64_t)plan->micro_batch * plan->dp},
                              error);
    const struct multiple list[] = {
        {"--batch", plan->global_batch, "--dp", plan->dp},
        {"--batch", plan->global_batch, "--micro-batch x --dp",
         (uint64_t)plan->micro_batch * plan->dp},
    };
    return CHECK_MULTIPLES(list, error);
}

static int check_zero(const struct model_plan *plan, struct cw_error *error)
{
    if (plan->zero < 2 || !plan->no_overlap)
        return CW_OK;
    return cw_error_set(error, CW_USAGE,
                        "--no-overlap is for --zero 0 and 1; with %u each microbatch's gradients "
                        "are shared out at once",
                        plan->zero);
}

static int check_pipeline(const struct model_plan *plan, struct cw_error *error)
{
    const uint32_t m = model_microbatches(plan);
    if (plan->schedule != SCHEDULE_INTERLEAVED && plan->chunks > 1)
        return cw_error_set(error, CW_USAGE,
                            "--chunks %u needs --schedule interleaved; the others have 1",
                            plan->chunks);
    if (plan->schedule != SCHEDULE_INTERLEAVED)
        return CW_OK;
    if (plan->pp < 2 || plan->chunks < 2)
        return cw_error_set(error, CW_USAGE,
                            "--schedule interleaved needs --pp and --chunks of at least 2, not %u "
                            "and %u",
                            plan->pp, plan->chunks);
    return check_multiple((struct multiple){"the number of microbatches", m, "--pp", plan->pp},
                          error);
}

/* A factor over a mean of `most` parts. */
static int check_factor(const char *name, const char *text, uint32_t most, const char *of,
                        struct cw_error *error)
{
    struct decimal value;
    char quoted[TEXT_QUOTE_BYTES];
    if (decimal_parse(text, strlen(text), &value) &&
        decimal_compare(value, decimal_literal("1")) >= 0 &&
        decimal_compare(value, (struct decimal){.mantissa = most}) <= 0)
        return CW_OK;
    return cw_error_set(error, CW_USAGE, "--%s %s: expected a decimal number from 1 to the %s, %u",
                        name, text_quote(text, strlen(text), quoted), of, most);
}

static int check_experts(const struct model_plan *plan, struct cw_error *error)
{
    const struct multiple list[] = {
        {"--dp", plan->dp, "--ep", plan->ep},
        {"--experts", plan->experts, "--ep", plan->ep},
    };
    int code = CHECK_MULTIPLES(list, error);
    if (code == CW_OK && plan->top_k > plan->experts)
        code = cw_error_set(error, CW_USAGE, "--top-k %u is more than the --experts %u",
                            plan->top_k, plan->experts);
    if (code == CW_OK)
        code = check_factor("skew", plan->skew, plan->ep, "--ep", error);
    if (code == CW_OK)
        code = check_factor("capacity", plan->capacity, plan->experts, "--experts", error);
    return code;
}

static int check_ranks(const struct model_plan *plan, struct cw_error *error)
{
    const uint64_t most = UINT64_C(1) << 20;
    uint64_t ranks = 1;
    const uint32_t sizes[] = {plan->tp, plan->cp, plan->pp, plan->dp};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if ((ranks *= sizes[i]) > most)
            return cw_error_set(error, CW_USAGE,
                                "--tp x --cp x --pp x --dp is more than %" PRIu64 " ranks", most);
    return CW_OK;
}

int model_plan_finish(struct model_plan *plan, struct cw_error *error)
{
    int code = check_ranks(plan, error);
    if (code != CW_OK)
        return code;
    fill(plan);
    if (plan->kind == MODEL_ATTENTION) {
        const struct multiple list[] = {{"--keys", plan->keys, "--cp", plan->cp},
                                        {"--heads", plan->heads, "--kv-heads", plan->kv_heads}};
        code = CHECK_MULTIPLES(list, error);
        return code;
    }
    if (plan->global_batch == 0)
        return cw_error_set(error, CW_USAGE, "--micro-batch x --dp x --pp is too much");
    if (code == CW_OK)
        code = check_model(plan, error);
    if (code == CW_OK)
        code = check_sequence(plan, error);
    if (code == CW_OK)
        code = check_batch(plan, error);
    if (code == CW_OK)
        code = check_pipeline(plan, error);
    if (code == CW_OK)
        code = check_zero(plan, error);
    if (code == CW_OK && plan->kind == MODEL_MOE)
        code = check_experts(plan, error);
    return code;
}
