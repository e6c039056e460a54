/*
 * timing.c: durations of a PE's compute blocks (timing.h).
 */
#include "hw/timing.h"

#include "hw/arithmetic.h"

int64_t hw_math_ps(const struct hw_config *hw, uint64_t elements)
{
    return hw->overhead_ps[HW_NODE_PE_MATH] +
           hw_rate_ps(hw->math_cycle, hw_ceil_div(elements, hw->math_lanes));
}

int64_t hw_gemm_ps(const struct hw_config *hw, uint32_t m, uint32_t n, uint32_t k)
{
    const uint64_t cycles =
        hw_ceil_div(m, hw->gemm_m) * hw_ceil_div(n, hw->gemm_n) * hw_ceil_div(k, hw->gemm_k);
    const struct hw_rate rate = hw->gemm_cycle; /* a large product's cycles have 46 bits */
    return hw->overhead_ps[HW_NODE_PE_GEMM] +
           (int64_t)(((__uint128_t)cycles * rate.num + rate.den - 1) / rate.den);
}

int64_t hw_fetch_ps(const struct hw_config *hw, uint64_t bytes)
{
    return hw->overhead_ps[HW_NODE_PE_FETCH_STORE] + hw_rate_ps(hw->fetch_store, bytes);
}
