/* allreduce_order.c: the specified orders of additions, by hand (allreduce_order.h). */
#include "test/integration/allreduce_order.h"

#include <stdio.h>
#include <xxhash.h>

const char *const order_topo_name[] = {"ring_1d", "torus_2d", "mesh_2d_no_wrap"};

float order_input(uint64_t seed, uint64_t g)
{
    uint64_t z = (seed * (1ull << 32) + g + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    return ((float)(z >> 48) - 32768.0f) / 32768.0f;
}

/* From both ends of a line to its root: lower indices first. */
static float reduce_line(const float *x, uint32_t n, uint32_t stride, uint32_t root)
{
    float low = 0, high = 0, acc = x[root * stride];
    for (uint32_t i = 0; i < root; i++)
        low = i == 0 ? x[0] : x[i * stride] + low;
    for (uint32_t i = n - 1; i > root; i--)
        high = i == n - 1 ? x[i * stride] : x[i * stride] + high;
    if (root > 0)
        acc += low;
    if (root < n - 1)
        acc += high;
    return acc;
}

float order_reduce_grid(const float *x, uint32_t w, uint32_t h, uint32_t root_x, uint32_t root_y)
{
    float row[CUBES_MAX];
    for (uint32_t y = 0; y < h; y++)
        row[y] = reduce_line(x + y * w, w, 1, root_x);
    return reduce_line(row, h, 1, root_y);
}

/* n places, `stride` apart: each adds what arrives from the one before it, then from the one before
 * that, ... */
static void reduce_ring(float *x, uint32_t n, uint32_t stride)
{
    float out[SIPS_MAX];
    for (uint32_t i = 0; i < n; i++) {
        out[i] = x[i * stride];
        for (uint32_t k = 1; k < n; k++)
            out[i] += x[(i + n - k) % n * stride];
    }
    for (uint32_t i = 0; i < n; i++)
        x[i * stride] = out[i];
}

/* To the last place, then back to all. */
static void reduce_chain(float *x, uint32_t n, uint32_t stride)
{
    float acc = x[0];
    for (uint32_t i = 1; i < n; i++)
        acc = x[i * stride] + acc;
    for (uint32_t i = 0; i < n; i++)
        x[i * stride] = acc;
}

void order_reduce_sips(const struct shape *s, float *sip)
{
    void (*const line)(float *, uint32_t, uint32_t) = s->topo == MESH ? reduce_chain : reduce_ring;
    if (s->rank_invariant) {
        float acc = sip[0];
        for (uint32_t i = 1; i < s->sip_w * s->sip_h; i++)
            acc += sip[i];
        for (uint32_t i = 0; i < s->sip_w * s->sip_h; i++)
            sip[i] = acc;
        return;
    }
    for (uint32_t y = 0; y < s->sip_h; y++)
        line(sip + y * s->sip_w, s->sip_w, 1);
    for (uint32_t x = 0; x < s->sip_w; x++)
        line(sip + x, s->sip_h, s->sip_w);
}

void order_hash(const float *x, uint64_t count, char hash[17])
{
    snprintf(hash, 17, "%016llx", (unsigned long long)XXH3_64bits(x, count * sizeof *x));
}
