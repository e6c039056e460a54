/*
 * quotes.h: what people quote of a step: tokens per second, model FLOP utilisation, and of an
 * inference the time to the first token and per token (workload/STEPS.md, "Quotes").
 */
#ifndef WORKLOAD_QUOTES_H
#define WORKLOAD_QUOTES_H

#include "hw/hw_config.h"
#include "workload/run/step.h"

/* 0: not known, since the workload does not say what it is of. */
struct step_quotes {
    double tokens_per_s;     /* of all ranks: training's, or those that an inference makes */
    double flops_per_s;      /* of a rank: the model's, without recomputation */
    double utilisation;      /* flops_per_s over a SIP's peak (workload/model/fit.h) */
    double first_token_ps;   /* until the last operation of the prefill is over on all ranks */
    double token_ps;         /* the rest of the step, over the tokens per sequence in it */
    double peak_flops_per_s; /* of a SIP; always known */
};

/* The result is a run of the graph. */
struct step_quotes step_quotes_of(const struct workload_graph *graph,
                                  const struct step_result *result, const struct hw_config *hw);

#endif
