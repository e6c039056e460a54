/*
 * input.c: the seeds' streams (input.h). x = (z >> 48) / 2^15 - 1 has 16 digits and is exact in
 * f32; the one rounding is the one to the dtype.
 */
#include "collectives/data/input.h"

#include "hw/arithmetic.h"

#define PIECE 512u

void input_fill(enum dtype dtype, uint64_t seed, uint64_t first, void *dst, size_t count)
{
    const uint64_t stream = (seed << 32) + first + 1;
    float piece[PIECE];
    for (size_t done = 0; done < count; done += PIECE) {
        const size_t n = count - done < PIECE ? count - done : PIECE;
        for (size_t i = 0; i < n; i++) { /* compiles to vectors of four */
            const uint64_t z = hw_mix((stream + done + i) * 0x9e3779b97f4a7c15u);
            piece[i] = (float)((int32_t)(z >> 48) - 32768) * (1.0f / 32768);
        }
        dtype_from_f32(dtype, (uint8_t *)dst + done * dtype_bytes(dtype), piece, n);
    }
}
