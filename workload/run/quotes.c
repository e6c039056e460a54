/*
 * quotes.c: divides what a step does by the time that it took (quotes.h).
 */
#include "workload/run/quotes.h"

#include "workload/model/fit.h"

/* When the last operation of the prefill is over; 0: there is none. */
static int64_t prefill_end(const struct workload_graph *graph, const struct step_result *result)
{
    int64_t end = 0;
    for (uint32_t rank = 0; rank < graph->rank_count; rank++) {
        const struct workload_program *const program = &graph->programs[graph->program_of[rank]];
        const struct step_span *const spans = step_spans_of(result, rank);
        for (uint32_t i = 0; i < program->op_count; i++)
            if (program->ops[i].purpose == WORKLOAD_PREFILL && spans[i].end_ps > end)
                end = spans[i].end_ps;
    }
    return end;
}

struct step_quotes step_quotes_of(const struct workload_graph *graph,
                                  const struct step_result *result, const struct hw_config *hw)
{
    const struct workload_quotes *const of = &graph->quotes;
    struct step_quotes quotes = {.peak_flops_per_s = workload_peak_flops(hw)};
    if (result->step_ps <= 0)
        return quotes;
    const double seconds = (double)result->step_ps * 1e-12;
    const int64_t first_ps = prefill_end(graph, result);
    quotes.tokens_per_s = of->tokens / seconds;
    quotes.flops_per_s = of->model_flops / seconds / graph->rank_count;
    quotes.utilisation = quotes.flops_per_s / quotes.peak_flops_per_s;
    if (of->first_tokens > 0)
        quotes.first_token_ps = (double)first_ps;
    if (of->next_tokens > 0)
        quotes.token_ps = (double)(result->step_ps - first_ps) / of->next_tokens;
    return quotes;
}
