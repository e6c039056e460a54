/*
 * fit.c: adds up what a rank holds, and compares it with the HBM of a SIP (fit.h).
 */
#include "workload/model/fit.h"

static uint64_t pes_of_sip(const struct hw_config *hw)
{
    return (uint64_t)hw->cube_w * hw->cube_h * hw->pe_per_corner * hw->corner_count;
}

uint64_t workload_memory_bytes(const struct workload_memory *memory)
{
    const uint64_t classes[] = {memory->weights,     memory->gradients, memory->optimizer,
                                memory->activations, memory->cache,     memory->other};
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (__builtin_add_overflow(sum, classes[i], &sum))
            return UINT64_MAX;
    return sum;
}

struct workload_fit workload_fit_of(const struct workload_graph *graph, const struct hw_config *hw)
{
    struct workload_fit fit = {.hbm = hw->hbm_bytes * pes_of_sip(hw)};
    for (uint32_t i = 0; graph->memory != NULL && i < graph->program_count; i++) {
        if (!graph->memory[i].known)
            continue;
        const uint64_t bytes = workload_memory_bytes(&graph->memory[i]);
        if (!fit.known || bytes > fit.bytes) {
            fit.program = i;
            fit.bytes = bytes;
        }
        fit.known = true;
    }
    fit.fits = fit.bytes <= fit.hbm;
    return fit;
}

double workload_peak_flops(const struct hw_config *hw)
{
    /* A cycle takes num / den ps. */
    const double cycles_per_s = 1e12 * (double)hw->gemm_cycle.den / (double)hw->gemm_cycle.num;
    return 2.0 * hw->gemm_m * hw->gemm_n * hw->gemm_k * cycles_per_s * (double)pes_of_sip(hw);
}
