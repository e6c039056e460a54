/* allreduce_order.c: the specified orders of additions, by hand (allreduce_order.h). */
#include "test/support/allreduce_order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <xxhash.h>

#include "test/support/run_cubewarp.h"

const char *const order_topo_name[] = {"ring_1d", "torus_2d", "mesh_2d_no_wrap"};

/* The nearest bf16, ties to even, of a finite number. */
static float to_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits += 0x7fff + (bits >> 16 & 1);
    bits &= 0xffff0000;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

float order_input(uint64_t seed, uint64_t g)
{
    uint64_t z = (seed * (1ull << 32) + g + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    return to_bf16(((float)(z >> 48) - 32768.0f) / 32768.0f);
}

/* One rounding: an f32 has more than twice the bits, so that rounding to it first changes nothing.
 */
static float plus(float a, float b) { return to_bf16(a + b); }
float order_plus(float a, float b) { return plus(a, b); }

/* From both ends of a line to its root: lower indices first. */
static float reduce_line(const float *x, uint32_t n, uint32_t stride, uint32_t root)
{
    float low = 0, high = 0, acc = x[root * stride];
    for (uint32_t i = 0; i < root; i++)
        low = i == 0 ? x[0] : plus(x[i * stride], low);
    for (uint32_t i = n - 1; i > root; i--)
        high = i == n - 1 ? x[i * stride] : plus(x[i * stride], high);
    if (root > 0)
        acc = plus(acc, low);
    if (root < n - 1)
        acc = plus(acc, high);
    return acc;
}

float order_reduce_grid(const float *x, uint32_t w, uint32_t h, uint32_t root_x, uint32_t root_y)
{
    float row[CUBES_MAX] = {0};
    for (uint32_t y = 0; y < h; y++)
        row[y] = reduce_line(x + y * w, w, 1, root_x);
    return reduce_line(row, h, 1, root_y);
}

/* n places, `stride` apart: each adds the value that arrives from the place before it, then from
 * the place before this, ... */
static void reduce_ring(float *x, uint32_t n, uint32_t stride)
{
    float out[SIPS_MAX];
    for (uint32_t i = 0; i < n; i++) {
        out[i] = x[i * stride];
        for (uint32_t k = 1; k < n; k++)
            out[i] = plus(out[i], x[(i + n - k) % n * stride]);
    }
    for (uint32_t i = 0; i < n; i++)
        x[i * stride] = out[i];
}

/* To the last place, then back to all. */
static void reduce_chain(float *x, uint32_t n, uint32_t stride)
{
    float acc = x[0];
    for (uint32_t i = 1; i < n; i++)
        acc = plus(x[i * stride], acc);
    for (uint32_t i = 0; i < n; i++)
        x[i * stride] = acc;
}

void order_reduce_sips(const struct shape *s, float *sip)
{
    void (*const line)(float *, uint32_t, uint32_t) = s->topo == MESH ? reduce_chain : reduce_ring;
    if (s->rank_invariant) {
        float acc = sip[0];
        for (uint32_t i = 1; i < s->sip_w * s->sip_h; i++)
            acc = plus(acc, sip[i]);
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
    uint16_t *bits = malloc(count * sizeof *bits);
    assert_non_null(bits);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t wide;
        memcpy(&wide, &x[i], sizeof wide);
        bits[i] = (uint16_t)(wide >> 16);
    }
    snprintf(hash, 17, "%016llx", (unsigned long long)XXH3_64bits(bits, count * sizeof *bits));
    free(bits);
}

enum { ELEMENTS = 37 };

/* Of all ranks' tensors in rank, shard order. */
static void expected_hash(const struct shape *s, uint64_t seed, char hash[17])
{
    static float out[SIPS_MAX * CUBES_MAX * ELEMENTS];
    const uint32_t sips = s->sip_w * s->sip_h, cubes = s->cube_w * s->cube_h;
    assert_in_range(sips, 1, SIPS_MAX);
    assert_in_range(cubes, 1, CUBES_MAX);
    assert_true(s->root_x < s->cube_w && s->root_y < s->cube_h);
    for (uint32_t e = 0; e < ELEMENTS; e++) {
        float sip[SIPS_MAX] = {0}, cube[CUBES_MAX] = {0};
        for (uint32_t i = 0; i < sips; i++) {
            for (uint32_t c = 0; c < cubes; c++)
                cube[c] = order_input(seed, (i * cubes + c) * ELEMENTS + e);
            sip[i] = order_reduce_grid(cube, s->cube_w, s->cube_h, s->root_x, s->root_y);
        }
        order_reduce_sips(s, sip);
        for (uint32_t i = 0; i < sips * cubes; i++)
            out[i * ELEMENTS + e] = sip[i / cubes];
    }
    order_hash(out, sips * cubes * ELEMENTS, hash);
}

void order_check(const char *algorithm, const struct shape *s, uint64_t seed, const char *more)
{
    char hash[17];
    expected_hash(s, seed, hash);
    json_t *root = run_json(
        "run --algorithm %s --n-elem %d --dtype bf16 --seed %llu --set system.sips.topology=%s "
        "--set system.sips.count=%u --set system.sips.w=%u --set system.sips.h=%u "
        "--set sip.cube_mesh.w=%u --set sip.cube_mesh.h=%u "
        "--set algorithms.%s.root=%u,%u --set defaults.rank_invariant=%s "
        "--set defaults.slot_size=32 %s",
        algorithm, ELEMENTS, (unsigned long long)seed, order_topo_name[s->topo],
        s->sip_w * s->sip_h, s->sip_w, s->sip_h, s->cube_w, s->cube_h, algorithm, s->root_x,
        s->root_y, s->rank_invariant ? "true" : "false", more);
    const json_t *result = json_array_get(json_object_get(root, "results"), 0);
    const char *got = json_string_value(json_object_get(result, "data_hash"));
    if (got == NULL || strcmp(got, hash) != 0)
        fail_msg("%s: %s of %u x %u SIPs, %u x %u cubes, root %u,%u, rank_invariant %d: hash %s, "
                 "expected %s",
                 algorithm, order_topo_name[s->topo], s->sip_w, s->sip_h, s->cube_w, s->cube_h,
                 s->root_x, s->root_y, s->rank_invariant, got ? got : "null", hash);
    json_decref(root);
}
