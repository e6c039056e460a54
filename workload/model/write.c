/*
 * write.c: the workload file of a plan, section by section (write.h). Sections that models share
 * have the same text in each; the numbers of the plan stand in `parallel` and at the top of
 * `values`, and all else is an expression of them.
 */
#include "workload/model/write.h"

#include <string.h>

static const char *schedule_name(const struct model_plan *plan)
{
    static const char *const names[] = {[SCHEDULE_1F1B] = "1f1b",
                                        [SCHEDULE_GPIPE] = "gpipe",
                                        [SCHEDULE_INTERLEAVED] = "interleaved"};
    return names[plan->schedule];
}

/* "    hidden: 2048            # elements of a token" */
static void value(FILE *file, const char *name, const char *text, const char *comment)
{
    char line[80];
    snprintf(line, sizeof line, "    %s: %s", name, text);
    fprintf(file, comment != NULL ? "%-28s# %s\n" : "%s\n", line, comment);
}

static void count(FILE *file, const char *name, uint64_t number, const char *comment)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    value(file, name, text, comment);
}

static void write_head(FILE *file, const struct model_plan *plan, const char *command)
{
    fprintf(file,
            "# %s\n"
            "# Amounts are those of a rank. workload/STEPS.md (\"Formulas\") has the sources: "
            "[S] Shoeybi 2019,\n"
            "# [N] Narayanan 2021, [K] Korthikanti 2022, [R] Rajbhandari 2020, [L] Liu 2023.\n"
            "workload:\n  name: %s\n  dtype: %s\n"
            "  parallel: {tp: %u, cp: %u, ep: %u, dp: %u, pp: %u, order: tp-cp-ep-dp-pp}\n"
            "  values:\n",
            command, model_kind_name[plan->kind], dtype_name((enum dtype)plan->dtype), plan->tp,
            plan->cp, plan->ep, plan->dp, plan->pp);
}

/* ---- what all transformers have -------------------------------------------------------------- */

static void write_model_values(FILE *file, const struct model_plan *plan)
{
    fputs("    # The model.\n", file);
    count(file, "layers", plan->layers, NULL);
    count(file, "hidden", plan->hidden, "elements of a token");
    count(file, "heads", plan->heads, "a multiple of tp");
    count(file, "kv_heads", plan->kv_heads, "of keys and values; a multiple of tp");
    count(file, "ffn", plan->ffn, "elements between the matrices of a feed-forward block");
    count(file, "ffn_matrices", plan->gated ? 3 : 2, "3: gated, as SwiGLU");
    count(file, "vocab", plan->vocab, NULL);
    if (plan->kind == MODEL_MOE) {
        count(file, "experts", plan->experts, "of a layer; a multiple of ep");
        count(file, "top_k", plan->top_k, "experts that a token goes to");
        value(file, "skew", plan->skew, "tokens of the first rank of ep, over the mean");
        value(file, "capacity", plan->capacity, "room for tokens, over the mean: what is sent");
    }
}

static void write_parameters(FILE *file, const struct model_plan *plan)
{
    fputs("    # Parameters [N, 5]. tp cuts matrices, and biases of its columns.\n"
          "    kv: kv_heads / heads\n"
          "    attention_parameters: ((2 + 2 * kv) * hidden^2 + (1 + 2 * kv) * hidden) / tp"
          " + 3 * hidden\n",
          file);
    if (plan->kind == MODEL_MOE)
        fputs("    expert_parameters: experts / ep * ((ffn_matrices * hidden * ffn"
              " + (ffn_matrices - 1) * ffn) / tp + hidden)\n"
              "    ffn_parameters: hidden * experts + 2 * hidden  # the router and the norm\n",
              file);
    else
        fputs("    ffn_parameters: (ffn_matrices * hidden * ffn + (ffn_matrices - 1) * ffn) / tp"
              " + 3 * hidden\n",
              file);
    fputs(
        "    layer_parameters: attention_parameters + ffn_parameters\n"
        "    embedding_parameters: vocab * hidden / tp  # first and last stage have a copy each\n",
        file);
}

/* Of the forward pass. `positions`: tokens of a learned embedding of positions. */
static void write_stage_parameters(FILE *file, const char *positions)
{
    fprintf(file,
            "    stage_parameters: layers / pp * layer_parameters\n"
            "      + if(stage == 0, embedding_parameters%s, 0)\n"
            "      + if(stage == pp - 1, 2 * hidden + if(pp > 1, embedding_parameters, 0), 0)\n",
            positions);
}

/* ---- training -------------------------------------------------------------------------------- */

static void write_step_values(FILE *file, const struct model_plan *plan)
{
    fputs("    # The step.\n", file);
    count(file, "sequence", plan->sequence, "tokens of a sequence");
    count(file, "micro_batch", plan->micro_batch, "sequences of a microbatch");
    count(file, "global_batch", plan->global_batch, "sequences of a step");
    value(file, "microbatches", "global_batch / (micro_batch * dp)", NULL);
    count(file, "recompute", plan->recompute, "backward: 0 nothing, 1 scores of attention, 2 all");
    count(file, "sequence_parallel", plan->sequence_parallel, "1: tp shares norms and dropouts");
    count(file, "zero", plan->zero,
          "shared by dp x cp: 1 optimizer, 2 and gradients, 3 and weights");
    count(file, "overlap", !plan->no_overlap, "gradients are reduced during the backward pass");
    count(file, "grad_bytes", dtype_bytes((enum dtype)plan->grad_dtype), "of a gradient");
    count(file, "optimizer_bytes", dtype_bytes((enum dtype)plan->dtype) < 4 ? 12 : 8,
          "of a parameter: Adam's moments, and a copy in f32 [R, 3.1]");
    fputs("    tokens: micro_batch * sequence / cp\n"
          "    share: if(sequence_parallel, tp, 1)\n"
          "    shards: dp * cp\n",
          file);
}

static void write_flops(FILE *file, const struct model_plan *plan)
{
    const bool moe = plan->kind == MODEL_MOE;
    fputs("    # Floating-point operations of the forward pass [N, appendix]; backward: twice.\n"
          "    scores_flops: 4 * tokens * sequence * hidden / tp\n"
          "    attention_flops: (4 + 4 * kv) * tokens * hidden^2 / tp + scores_flops\n",
          file);
    fputs(moe ? "    load: min(capacity, if(ep == 1, 1, if(ep_rank == 0, skew,"
                " (ep - skew) / max(ep - 1, 1))))\n"
                "    router_flops: 2 * tokens * hidden * experts / share\n"
                "    ffn_flops: load * top_k * 2 * ffn_matrices * tokens * hidden * ffn / tp\n"
              : "    ffn_flops: 2 * ffn_matrices * tokens * hidden * ffn / tp\n",
          file);
    fputs("    head_flops: 2 * tokens * hidden * vocab / tp\n", file);
}

static void write_kept(FILE *file, const struct model_plan *plan)
{
    fputs("    # Bytes kept for the backward pass [K, 4]: 1 of an element of a mask.\n"
          "    token_bytes: dtype_bytes * tokens * hidden\n"
          "    scores: heads * tokens * sequence / tp\n"
          "    scores_kept: if(recompute == 0, (2 * dtype_bytes + 1) * scores, 0)\n"
          "    attention_kept: (2 * token_bytes + tokens * hidden) / share"
          " + (2 + 2 * kv) * token_bytes / tp\n",
          file);
    if (plan->kind == MODEL_MOE)
        fputs("    routed_bytes: top_k * capacity * token_bytes / share\n"
              "    ffn_kept: (token_bytes + 4 * tokens * experts) / share + 2 * routed_bytes\n"
              "      + ffn_matrices * dtype_bytes * top_k * capacity * tokens * ffn / tp\n",
              file);
    else
        fputs("    ffn_kept: (2 * token_bytes + tokens * hidden) / share"
              " + ffn_matrices * dtype_bytes * tokens * ffn / tp\n",
              file);
    fputs("    layer_all: attention_kept + scores_kept + ffn_kept\n"
          "    layer_kept: if(recompute == 2, token_bytes / share, layer_all)\n"
          "    head_kept: 2 * token_bytes / share + 4 * tokens * vocab / tp\n",
          file);
}

static void write_moved(FILE *file, const struct model_plan *plan)
{
    const bool moe = plan->kind == MODEL_MOE;
    fprintf(
        file,
        "    # Bytes to and from HBM. Forward: weights are read, what is kept is written and "
        "read once.\n"
        "    # Backward: weights are read, gradients added to; what is kept is read, its "
        "gradient written and read.\n"
        "    # Scores: product, scale, mask, softmax, dropout and product are kernels of their own;"
        " with recompute 1 one kernel.\n"
        "    scores_forward: if(recompute == 1, 0, (10 * dtype_bytes + 1) * scores)\n"
        "    scores_backward: if(recompute == 1, 0, (13 * dtype_bytes + 1) * scores)\n"
        "    attention_forward: attention_parameters * dtype_bytes + 2 * attention_kept"
        " + scores_forward\n"
        "    attention_backward: attention_parameters * (dtype_bytes + 2 * grad_bytes)"
        " + 3 * attention_kept + scores_backward\n"
        "    ffn_forward: %s * dtype_bytes + 2 * ffn_kept\n"
        "    ffn_backward: %s * (dtype_bytes + 2 * grad_bytes) + 3 * ffn_kept\n"
        "    head_forward: embedding_parameters * dtype_bytes + 2 * head_kept\n"
        "    head_backward: embedding_parameters * (dtype_bytes + 2 * grad_bytes)"
        " + 3 * head_kept\n",
        moe ? "(ffn_parameters + expert_parameters)" : "ffn_parameters",
        moe ? "(ffn_parameters + expert_parameters)" : "ffn_parameters");
}

static void write_owned(FILE *file, const struct model_plan *plan)
{
    const bool moe = plan->kind == MODEL_MOE;
    write_stage_parameters(file, " + sequence * hidden");
    if (moe)
        fputs("    stage_experts: layers / pp * expert_parameters  # shared by edp\n", file);
    fprintf(file, "    updated: stage_parameters / if(zero >= 1, shards, 1)%s\n",
            moe ? " + stage_experts / if(zero >= 1, edp, 1)" : "");
}

/* ---- training: operations -------------------------------------------------------------------- */

/* A collective of tp at the end of a block's pass: without sequence parallelism an all-reduce [S,
 * 3], with it a reduce-scatter [K, 4.2.2]. */
static void write_join(FILE *file, const char *indent, const char *name, const char *bytes)
{
    fprintf(file,
            "%s- {name: %s, when: not sequence_parallel, collective: all_reduce, of: tp,"
            " bytes: %s}\n"
            "%s- {name: %s, when: sequence_parallel, collective: reduce_scatter, of: tp,"
            " bytes: %s}\n",
            indent, name, bytes, indent, name, bytes);
}

static void write_gather(FILE *file, const char *indent, const char *name, const char *bytes,
                         const char *more)
{
    fprintf(file,
            "%s- {name: %s, when: sequence_parallel, collective: all_gather, of: tp,"
            " bytes: %s%s}\n",
            indent, name, bytes, more);
}

static const char in_block[] = "    ", in_pass[] = "      ";

/* ZeRO 3 [R, 7]: while the block before computes. */
static void write_weights(FILE *file, const char *indent, const struct model_plan *plan,
                          const char *after)
{
    fprintf(file,
            "%s- {name: weights, when: zero == 3, collective: all_gather, of: dp-cp,"
            " bytes: layer_parameters * dtype_bytes, after: %s.start, overlap: true}\n",
            indent, after);
    if (plan->kind == MODEL_MOE)
        fprintf(file,
                "%s- {name: expert weights, when: zero == 3, collective: all_gather, of: edp,"
                " bytes: expert_parameters * dtype_bytes, after: %s.start, overlap: true}\n",
                indent, after);
    fprintf(file, "%s- {name: weights are there, when: zero == 3, after: [previous, weights%s]}\n",
            indent, plan->kind == MODEL_MOE ? ", expert weights" : "");
}

/* The messages of a hop around a ring, beside what it computes. */
static void write_hop(FILE *file, const char *indent, const char *bytes)
{
    fprintf(file,
            "%s- {name: block sent, when: %s > 0, send: %s, of: cp, to: (cp_rank + 1) %% cp,"
            " overlap: true}\n"
            "%s- {name: block received, when: %s > 0, recv: %s, of: cp,"
            " from: (cp_rank + cp - 1) %% cp, overlap: true}\n",
            indent, bytes, bytes, indent, bytes, bytes);
}

/* The ring of attention [L]: a block of keys and values is on its way while the one before is used;
 * backward its gradients follow, a hop later, and once more, home. */
enum ring { RING_FORWARD, RING_BACKWARD, RING_OF_PREFILL };
static void write_ring(FILE *file, const char *indent, enum ring kind)
{
    static const struct {
        const char *name, *flops, *bytes, *message;
    } of[] = {
        [RING_FORWARD] = {"scores forward", "scores_flops", "scores_forward + cp * kv_bytes",
                          "kv_bytes * (hop < cp - 1)"},
        [RING_BACKWARD] = {"scores backward", "2 * scores_flops",
                           "scores_backward + 2 * cp * kv_bytes",
                           "kv_bytes * ((hop < cp - 1) + (hop > 0))"},
        [RING_OF_PREFILL] = {"scores", "scores_flops", "cp * kv_bytes",
                             "kv_bytes * (hop < cp - 1)"},
    };
    char inner[32];
    snprintf(inner, sizeof inner, "%s  ", indent);
    fprintf(file, "%s- repeat: cp\n%s  index: hop\n%s  ops:\n", indent, indent, indent);
    write_hop(file, inner, of[kind].message);
    fprintf(file,
            "%s- {name: %s, flops: %s / cp, bytes: (%s) / cp}\n"
            "%s- {name: hop is over, after: [previous, block sent, block received]}\n",
            inner, of[kind].name, of[kind].flops, of[kind].bytes, inner);
    if (kind != RING_BACKWARD)
        return;
    write_hop(file, indent, "kv_bytes * (cp > 1)");
    fprintf(file, "%s- {name: ring is over, after: [previous, block sent, block received]}\n",
            indent);
}

static void write_experts(FILE *file, bool backward)
{
    const char *const pass = backward ? "backward" : "forward";
    const char *const times = backward ? "2 * " : "";
    fprintf(file, "    - {name: dispatch, collective: all_to_all, of: ep, bytes: routed_bytes}\n");
    write_gather(file, in_block, "gather tokens", "routed_bytes * share", "");
    fprintf(file, "    - {name: experts %s, kernels: %s, flops: %sffn_flops, bytes: ffn_%s}\n",
            pass, backward ? "10" : "5", times, pass);
    write_join(file, in_block, "join experts", "routed_bytes * share");
    fprintf(file, "    - {name: combine, collective: all_to_all, of: ep, bytes: routed_bytes}\n");
}

static void write_forward_block(FILE *file, const struct model_plan *plan)
{
    const bool moe = plan->kind == MODEL_MOE, ring = plan->cp > 1;
    fputs("  blocks:\n    layer forward:\n", file);
    write_gather(file, in_block, "gather tokens", "token_bytes", "");
    if (plan->kernels == KERNELS_LAYERS && !moe && !ring) {
        fputs("    - {name: layer forward, kernels: 18, flops: attention_flops + ffn_flops,"
              " bytes: attention_forward + ffn_forward}\n",
              file);
        write_join(file, in_block, "join attention", "token_bytes");
        write_gather(file, in_block, "gather tokens", "token_bytes", "");
        write_join(file, in_block, "join feed-forward", "token_bytes");
        return;
    }
    if (ring) {
        fputs("    - {name: attention forward, kernels: 13, flops: attention_flops - scores_flops,"
              " bytes: attention_forward - scores_forward}\n",
              file);
        write_ring(file, in_block, RING_FORWARD);
    } else {
        fputs("    - {name: attention forward, kernels: 13, flops: attention_flops, bytes: "
              "attention_forward}\n",
              file);
    }
    write_join(file, in_block, "join attention", "token_bytes");
    if (moe) {
        fputs("    - {name: router forward, kernels: 8, flops: router_flops,"
              " bytes: 2 * token_bytes / share}\n",
              file);
        write_experts(file, false);
        return;
    }
    write_gather(file, in_block, "gather tokens", "token_bytes", "");
    fputs("    - {name: feed-forward forward, kernels: 5, flops: ffn_flops, bytes: ffn_forward}\n",
          file);
    write_join(file, in_block, "join feed-forward", "token_bytes");
}

static void write_backward_block(FILE *file, const struct model_plan *plan)
{
    static const char again[] = ", overlap: true";
    const bool moe = plan->kind == MODEL_MOE, ring = plan->cp > 1;
    fputs("    layer backward:\n", file);
    if (plan->kernels == KERNELS_LAYERS && !moe && !ring) {
        write_gather(file, in_block, "gather gradients", "token_bytes", "");
        write_gather(file, in_block, "gather tokens again", "token_bytes", again);
        fputs("    - {name: scores again, purpose: recompute, when: recompute == 1,"
              " flops: scores_flops, bytes: 0}\n"
              "    - {name: layer backward, kernels: 34, flops: 2 * (attention_flops + ffn_flops),"
              " bytes: attention_backward + ffn_backward}\n",
              file);
        write_join(file, in_block, "join feed-forward", "token_bytes");
        write_gather(file, in_block, "gather gradients", "token_bytes", "");
        write_gather(file, in_block, "gather tokens again", "token_bytes", again);
        write_join(file, in_block, "join attention", "token_bytes");
        return;
    }
    if (moe) {
        write_experts(file, true);
        fputs("    - {name: router backward, kernels: 14, flops: 2 * router_flops,"
              " bytes: 3 * token_bytes / share}\n",
              file);
    } else {
        write_gather(file, in_block, "gather gradients", "token_bytes", "");
        write_gather(file, in_block, "gather tokens again", "token_bytes", again);
        fputs("    - {name: feed-forward backward, kernels: 10, flops: 2 * ffn_flops, bytes: "
              "ffn_backward}\n",
              file);
        write_join(file, in_block, "join feed-forward", "token_bytes");
    }
    write_gather(file, in_block, "gather gradients", "token_bytes", "");
    write_gather(file, in_block, "gather tokens again", "token_bytes", again);
    fputs("    - {name: scores again, purpose: recompute, when: recompute == 1,"
          " flops: scores_flops, bytes: 0}\n",
          file);
    if (ring) {
        write_ring(file, in_block, RING_BACKWARD);
        fputs("    - {name: attention backward, kernels: 24, flops: 2 * (attention_flops - "
              "scores_flops),"
              " bytes: attention_backward - scores_backward}\n",
              file);
    } else {
        fputs("    - {name: attention backward, kernels: 24, flops: 2 * attention_flops,"
              " bytes: attention_backward}\n",
              file);
    }
    write_join(file, in_block, "join attention", "token_bytes");
}

/* A reduction of gradients over dp and cp, during the backward pass or after it. */
static void write_reduction(FILE *file, const char *indent, const char *when, const char *set,
                            const char *parameters, const char *more)
{
    static const char *const kind[] = {"all_reduce", "reduce_scatter"};
    for (int shared = 0; shared < 2; shared++)
        fprintf(file,
                "%s- {name: gradients, when: %s and zero %s 0, collective: %s, of: %s,"
                " bytes: %s * grad_bytes%s}\n",
                indent, when, shared ? ">" : "==", kind[shared], set, parameters, more);
}

static void write_reductions(FILE *file, const struct model_plan *plan)
{
    static const char when[] = "overlap and (last_microbatch or zero >= 2)";
    char more[160] = ", overlap: true";
    if (plan->buckets > 0)
        snprintf(more, sizeof more,
                 ", overlap: true, bucket: layers / pp * layer_parameters * grad_bytes / %u",
                 plan->buckets);
    write_reduction(file, in_pass, when, "dp-cp", "layer_parameters", more);
    if (plan->kind == MODEL_MOE)
        write_reduction(file, in_pass, when, "edp", "expert_parameters", ", overlap: true");
}

static void write_pipeline(FILE *file, const struct model_plan *plan)
{
    const bool layers = plan->kernels == KERNELS_LAYERS && plan->kind != MODEL_MOE && plan->cp == 1;
    fprintf(file,
            "  ops:\n  - pipeline: %s\n    microbatches: microbatches\n    chunks: %u\n"
            "    layers: layers\n    message: token_bytes / share\n"
            "    forward:\n"
            "    - ops:\n"
            "      - {name: embedding forward, kernels: 7, vector: true, flops: tokens * hidden,"
            " bytes: 3 * token_bytes}\n",
            schedule_name(plan), plan->chunks);
    write_join(file, in_pass, "join embedding", "token_bytes");
    fputs("      when: first\n"
          "    - each_layer:\n",
          file);
    write_weights(file, in_pass, plan,
                  layers                    ? "layer forward"
                  : plan->kind == MODEL_MOE ? "experts forward"
                                            : "feed-forward forward");
    fputs("      - use: layer forward\n"
          "    - ops:\n",
          file);
    write_gather(file, in_pass, "gather tokens", "token_bytes", "");
    fputs(
        "      - {name: head forward, kernels: 12, flops: head_flops, bytes: head_forward}\n"
        "      - {name: loss, collective: all_reduce, of: tp, dtype: f32, bytes: 12 * tokens}\n"
        "      when: last\n"
        "    backward:\n"
        "    - ops:\n"
        "      - {name: head backward, kernels: 8, flops: 2 * head_flops, bytes: head_backward}\n",
        file);
    write_join(file, in_pass, "join head", "token_bytes");
    fputs("      when: last\n"
          "    - each_layer:\n",
          file);
    write_weights(file, in_pass, plan, layers ? "layer backward" : "attention backward");
    fputs("      - {use: layer forward, when: recompute == 2, purpose: recompute}\n"
          "      - use: layer backward\n",
          file);
    write_reductions(file, plan);
    fputs("    - ops:\n"
          "      - {name: embedding backward, kernels: 5, vector: true, flops: tokens * hidden,"
          " bytes: 2 * token_bytes + tokens * hidden * grad_bytes}\n"
          "      when: first\n",
          file);
}

/* After the last microbatch. */
static void write_update(FILE *file, const struct model_plan *plan)
{
    const bool moe = plan->kind == MODEL_MOE;
    static const char on_ends[] = "pp > 1 and (stage == 0 or stage == pp - 1)";
    write_reduction(file, "  ", "not overlap", "dp-cp", "stage_parameters", "");
    if (moe)
        write_reduction(file, "  ", "not overlap", "edp", "stage_experts", "");
    write_reduction(file, "  ", "overlap and (stage == 0 or stage == pp - 1)", "dp-cp",
                    "(stage_parameters - layers / pp * layer_parameters)", "");
    fprintf(file,
            "  # The two copies of the embedding add their gradients.\n"
            "  - {name: embedding sent, when: %s, send: embedding_parameters * grad_bytes, of: pp,"
            " to: pp - 1 - stage, tag: 2, overlap: true}\n"
            "  - {name: embedding received, when: %s, recv: embedding_parameters * grad_bytes,"
            " of: pp, from: pp - 1 - stage, tag: 2, overlap: true}\n"
            "  - {name: gradients are there, after: [previous, gradients, embedding sent,"
            " embedding received]}\n"
            "  # Adam (Kingma 2015, algorithm 1): 12 operations; reads and writes its state, reads "
            "the gradient, writes the weight.\n"
            "  - {name: update, kernels: 30, purpose: update, vector: true, flops: 12 * updated,"
            " bytes: updated * (2 * optimizer_bytes + grad_bytes + dtype_bytes)}\n"
            "  - {name: new weights, purpose: update, when: zero == 1 or zero == 2,"
            " collective: all_gather, of: dp-cp, bytes: stage_parameters * dtype_bytes}\n",
            on_ends, on_ends);
    if (moe)
        fputs("  - {name: new weights, purpose: update, when: zero == 1 or zero == 2,"
              " collective: all_gather, of: edp, bytes: stage_experts * dtype_bytes}\n",
              file);
}

static void write_training_memory(FILE *file, const struct model_plan *plan)
{
    const bool moe = plan->kind == MODEL_MOE;
    const struct {
        const char *name, *bytes;
        int zero;
    } state[] = {{"weights", "dtype_bytes", 3},
                 {"gradients", "grad_bytes", 2},
                 {"optimizer", "optimizer_bytes", 1}};
    fputs("  # [R, 3.1 and 5]; activations [K, 4 and 5], and what a layer computes again.\n"
          "  memory:\n",
          file);
    for (size_t i = 0; i < sizeof state / sizeof *state; i++) {
        fprintf(file, "    %s: %s * (stage_parameters / if(zero >= %d, shards, 1)", state[i].name,
                state[i].bytes, state[i].zero);
        if (moe)
            fprintf(file, " + stage_experts / if(zero >= %d, edp, 1)", state[i].zero);
        fputs(")\n", file);
    }
    fputs("    activations: layers_in_flight * layer_kept + if(recompute == 2, layer_all, 0)\n"
          "      + if(stage == 0, in_flight * tokens * hidden / share, 0)"
          " + if(stage == pp - 1, head_kept, 0)\n"
          "  # Model FLOPs: forward and backward, without recomputation [N, appendix].\n"
          "  quotes:\n"
          "    model_flops: 3 * global_batch * sequence * (layers * ((4 + 4 * kv) * hidden^2"
          " + 4 * sequence * hidden\n",
          file);
    fprintf(file,
            "      + 2 * ffn_matrices * hidden * ffn%s) + 2 * hidden * vocab)\n"
            "    tokens: global_batch * sequence\n",
            moe ? " * top_k + 2 * hidden * experts" : "");
}

static void write_training(FILE *file, const struct model_plan *plan)
{
    write_model_values(file, plan);
    write_step_values(file, plan);
    write_parameters(file, plan);
    write_owned(file, plan);
    write_flops(file, plan);
    write_kept(file, plan);
    if (plan->cp > 1)
        fputs("    kv_bytes: 2 * kv * token_bytes / tp\n", file);
    write_moved(file, plan);
    write_forward_block(file, plan);
    write_backward_block(file, plan);
    write_pipeline(file, plan);
    write_update(file, plan);
    write_training_memory(file, plan);
}

/* ---- inference ------------------------------------------------------------------------------- */

static void write_inference_values(FILE *file, const struct model_plan *plan)
{
    fputs("    # The inference.\n", file);
    count(file, "prompt", plan->sequence, "tokens of a prompt");
    count(file, "made", plan->tokens, "tokens that are made of each sequence");
    count(file, "batch", plan->global_batch, "sequences");
    count(file, "micro_batch", plan->micro_batch, "sequences that pass the pipeline together");
    value(file, "microbatches", "batch / (micro_batch * dp)", NULL);
    write_parameters(file, plan);
    write_stage_parameters(file, "");
    fputs("    # Prefill: floating-point operations [N, appendix]; bytes to and from HBM: weights "
          "are read,\n"
          "    # what a block makes is written and read once. Scores stay in the PE.\n"
          "    tokens: micro_batch * prompt / cp\n"
          "    token_bytes: dtype_bytes * tokens * hidden\n"
          "    scores_flops: 4 * tokens * prompt * hidden / tp\n"
          "    attention_flops: (4 + 4 * kv) * tokens * hidden^2 / tp + scores_flops\n"
          "    ffn_flops: 2 * ffn_matrices * tokens * hidden * ffn / tp\n"
          "    attention_bytes: attention_parameters * dtype_bytes + 2 * (2 + (2 + 2 * kv) / tp)"
          " * token_bytes\n"
          "    ffn_bytes: ffn_parameters * dtype_bytes + 4 * token_bytes"
          " + 2 * ffn_matrices * dtype_bytes * tokens * ffn / tp\n"
          "    kv_bytes: 2 * kv * token_bytes / tp  # keys and values of a layer\n"
          "    # Of the last token of each sequence.\n"
          "    head_flops: 2 * micro_batch * hidden * vocab / tp\n"
          "    head_bytes: dtype_bytes * (embedding_parameters + micro_batch * (hidden + vocab / "
          "tp))\n"
          "    # Decode: the same for one token, which attends to `context` tokens, kept in HBM.\n"
          "    context: prompt + token + 1\n"
          "    step_bytes: dtype_bytes * micro_batch * hidden\n"
          "    step_attention_flops: (4 + 4 * kv) * micro_batch * hidden^2 / tp"
          " + 4 * micro_batch * context * hidden / (tp * cp)\n"
          "    step_ffn_flops: 2 * ffn_matrices * micro_batch * hidden * ffn / tp\n"
          "    step_attention_bytes: attention_parameters * dtype_bytes"
          " + 2 * (2 + (2 + 2 * kv) / tp) * step_bytes\n"
          "      + 2 * kv * step_bytes * context / (tp * cp)\n"
          "    step_ffn_bytes: ffn_parameters * dtype_bytes + 4 * step_bytes"
          " + 2 * ffn_matrices * dtype_bytes * micro_batch * ffn / tp\n",
          file);
}

static void write_inference_blocks(FILE *file, const struct model_plan *plan)
{
    const bool ring = plan->cp > 1;
    fputs("  blocks:\n    prefill layer:\n", file);
    if (plan->kernels == KERNELS_LAYERS && !ring) {
        fputs(
            "    - {name: layer, flops: attention_flops + ffn_flops,"
            " bytes: attention_bytes + ffn_bytes}\n"
            "    - {name: join attention, collective: all_reduce, of: tp, bytes: token_bytes}\n"
            "    - {name: join feed-forward, collective: all_reduce, of: tp, bytes: token_bytes}\n"
            "    decode layer:\n"
            "    - {name: layer of a token, flops: step_attention_flops + step_ffn_flops,"
            " bytes: step_attention_bytes + step_ffn_bytes}\n"
            "    - {name: join attention, collective: all_reduce, of: tp, bytes: step_bytes}\n"
            "    - {name: join feed-forward, collective: all_reduce, of: tp, bytes: step_bytes}\n",
            file);
        return;
    }
    fprintf(file, "    - {name: attention, flops: attention_flops%s, bytes: attention_bytes}\n",
            ring ? " - scores_flops" : "");
    if (ring)
        write_ring(file, in_block, RING_OF_PREFILL);
    fputs("    - {name: join attention, collective: all_reduce, of: tp, bytes: token_bytes}\n"
          "    - {name: feed-forward, flops: ffn_flops, bytes: ffn_bytes}\n"
          "    - {name: join feed-forward, collective: all_reduce, of: tp, bytes: token_bytes}\n"
          "    decode layer:\n"
          "    - {name: attention of a token, flops: step_attention_flops,"
          " bytes: step_attention_bytes}\n"
          "    # Ranks of cp have a part of the context each: maximum, sum and result in f32.\n"
          "    - {name: merge, collective: all_reduce, of: cp, dtype: f32,"
          " bytes: 4 * micro_batch * (hidden + 2 * heads) / tp}\n"
          "    - {name: join attention, collective: all_reduce, of: tp, bytes: step_bytes}\n"
          "    - {name: feed-forward of a token, flops: step_ffn_flops, bytes: step_ffn_bytes}\n"
          "    - {name: join feed-forward, collective: all_reduce, of: tp, bytes: step_bytes}\n",
          file);
}

/* A pass of a pipeline: of the prompts, or of one token of each sequence. */
static void write_passes(FILE *file, const char *in, bool decode)
{
    const char *const bytes = decode ? "step_bytes" : "token_bytes";
    fprintf(file,
            "%s- pipeline: gpipe\n%s  purpose: %s\n%s  microbatches: microbatches\n"
            "%s  layers: layers\n%s  message: %s\n%s  forward:\n",
            in, in, decode ? "decode" : "prefill", in, in, in, bytes, in);
    if (decode)
        fprintf(file,
                "%s  - {name: token received, when: first and pp > 1, recv: 4 * micro_batch,"
                " of: pp, from: pp - 1, tag: 2}\n",
                in);
    fprintf(file,
            "%s  - {name: embedding, when: first, vector: true, flops: 0, bytes: 2 * %s}\n"
            "%s  - {name: join embedding, when: first, collective: all_reduce, of: tp, bytes: %s}\n"
            "%s  - each_layer: [{use: %s layer}]\n"
            "%s  - {name: head, when: last, flops: head_flops, bytes: head_bytes}\n"
            "%s  - {name: gather logits, when: last, collective: all_gather, of: tp,"
            " bytes: dtype_bytes * micro_batch * vocab}\n"
            "%s  - {name: token sent, when: last and pp > 1 and %s, send: 4 * micro_batch,"
            " of: pp, to: 0, tag: 2, overlap: true}\n",
            in, bytes, in, bytes, in, decode ? "decode" : "prefill", in, in, in,
            decode ? "token < made - 2" : "made > 1");
}

static void write_inference(FILE *file, const struct model_plan *plan)
{
    write_model_values(file, plan);
    write_inference_values(file, plan);
    write_inference_blocks(file, plan);
    fputs("  ops:\n", file);
    write_passes(file, "  ", false);
    fputs("  - repeat: made - 1\n    index: token\n    ops:\n", file);
    write_passes(file, in_block, true);
    fputs("  memory:\n"
          "    weights: dtype_bytes * stage_parameters\n"
          "    cache: layers / pp * batch / dp * (prompt + made) / cp * 2 * kv * dtype_bytes"
          " * hidden / tp\n"
          "    activations: 2 * token_bytes + max((2 + 2 * kv) * token_bytes,"
          " ffn_matrices * dtype_bytes * tokens * ffn) / tp\n"
          "  quotes:\n"
          "    model_flops: batch * (layers * ((prompt + made - 1) * ((4 + 4 * kv) * hidden^2"
          " + 2 * ffn_matrices * hidden * ffn)\n"
          "      + 4 * hidden * (prompt^2 + (made - 1) * (prompt + made / 2)))"
          " + 2 * hidden * vocab * made)\n"
          "    tokens: batch * made\n"
          "    first_tokens: batch\n"
          "    next_tokens: made - 1\n",
          file);
}

/* ---- attention alone ------------------------------------------------------------------------- */

static void write_attention(FILE *file, const struct model_plan *plan)
{
    count(file, "heads", plan->heads, NULL);
    count(file, "kv_heads", plan->kv_heads, "of keys and values");
    count(file, "head_dim", plan->head_dim, NULL);
    count(file, "batch", plan->global_batch, "sequences");
    count(file, "queries", plan->sequence, "tokens of a rank that attend; a decode: 1");
    count(file, "keys", plan->keys, "tokens that are attended to; each rank has keys / cp");
    fputs(
        "    # Two products for each block of keys and values; then the partial results (maximum, "
        "sum, result) are merged.\n"
        "    query_bytes: dtype_bytes * batch * queries * heads * head_dim\n"
        "    kv_bytes: 2 * dtype_bytes * batch * keys / cp * kv_heads * head_dim\n"
        "    scores_flops: 4 * batch * queries * keys * heads * head_dim  # of all blocks\n"
        "    merge_flops: batch * queries * heads * (3 * head_dim + 8)\n"
        "  ops:\n"
        "  - repeat: cp\n"
        "    index: hop\n"
        "    ops:\n",
        file);
    write_hop(file, in_block, "kv_bytes * (hop < cp - 1)");
    fputs("    - {name: scores, flops: scores_flops / cp, bytes: kv_bytes + 2 * query_bytes}\n"
          "    - {name: merge, when: hop > 0, vector: true, flops: merge_flops, bytes: 0}\n"
          "    - {name: hop is over, after: [previous, block sent, block received]}\n"
          "  memory:\n"
          "    cache: 2 * kv_bytes  # the block in use, and the one that arrives\n"
          "    activations: 2 * query_bytes + 8 * batch * queries * heads\n"
          "  quotes:\n"
          "    model_flops: cp * scores_flops\n"
          "    tokens: cp * batch * queries\n",
          file);
}

void model_write(FILE *file, const struct model_plan *plan, const char *command)
{
    write_head(file, plan, command);
    if (plan->kind == MODEL_INFERENCE)
        write_inference(file, plan);
    else if (plan->kind == MODEL_ATTENTION)
        write_attention(file, plan);
    else
        write_training(file, plan);
}
