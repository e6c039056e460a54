/*
 * plan.h: a model and how it is spread over ranks: what `cubewarp workload new` is asked for, and
 * the checks of several values together. model_write() (write.h) makes a workload file of one.
 */
#ifndef WORKLOAD_PLAN_H
#define WORKLOAD_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "collectives/data/dtype.h"
#include "core/cw.h"

enum model_kind {
    MODEL_GPT,       /* training of a transformer */
    MODEL_MOE,       /* the same, whose layers choose among experts */
    MODEL_INFERENCE, /* prefill and decode */
    MODEL_ATTENTION, /* one attention over a ring of ranks, in blocks of keys and values */
    MODEL_KINDS
};
extern const char *const model_kind_name[MODEL_KINDS];

enum model_recompute { RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL };
enum model_schedule { SCHEDULE_1F1B, SCHEDULE_GPIPE, SCHEDULE_INTERLEAVED };
enum model_kernels { KERNELS_BLOCKS, KERNELS_LAYERS };

/* Zero where a kind has no use for a member. */
struct model_plan {
    enum model_kind kind;
    uint32_t dtype, grad_dtype; /* enum dtype */

    /* the model */
    uint32_t layers, hidden, heads, kv_heads, ffn, vocab;
    bool gated;                  /* three matrices of hidden x ffn in a layer, not two */
    uint32_t sequence;           /* tokens: of a training's sequence, of a prompt, of the queries */
    uint32_t keys, head_dim;     /* MODEL_ATTENTION */
    uint32_t experts, top_k;     /* MODEL_MOE */
    const char *capacity, *skew; /* decimals */
    uint32_t tokens;             /* that an inference makes of each sequence */

    /* how it is spread */
    uint32_t tp, cp, pp, dp, ep;
    bool sequence_parallel;

    /* a step */
    uint32_t micro_batch, global_batch; /* sequences */
    uint32_t recompute, schedule;       /* enum model_recompute, model_schedule */
    uint32_t kernels;                   /* enum model_kernels */
    uint32_t chunks, zero, buckets;
    bool no_overlap;
};

/* Fills what 0 stands for (kv_heads, ffn, global_batch, ...), and checks values that depend on each
 * other. CW_USAGE: the first that is wrong, named as an option. */
int model_plan_finish(struct model_plan *plan, struct cw_error *error);

/* Microbatches of a pipeline in a step: 1 of an attention. */
uint32_t model_microbatches(const struct model_plan *plan);

#endif
