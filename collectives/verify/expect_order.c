/*
 * expect_order.c: makes the formulas of reductions along lines, rings and trees (expect_order.h).
 */
#include "collectives/verify/expect_order.h"

#include <stdlib.h>

uint32_t expect_sum_kept(struct expect_sums *sums, uint32_t a, uint32_t b, uint8_t wide)
{
    struct schedule_values *const v = sums->values;
    if (sums->failed || v->nodes == UINT32_MAX - 1) {
        sums->failed = true;
        return 0;
    }
    if (v->nodes == sums->room) {
        const uint64_t room = (uint64_t)sums->room + sums->room / 2 + 1024;
        struct value_node *const more =
            room <= UINT32_MAX ? realloc(v->node, room * sizeof *more) : NULL;
        if (more == NULL) {
            sums->failed = true;
            return 0;
        }
        v->node = more;
        uint8_t *const flags = realloc(v->wide, room);
        if (flags == NULL) {
            sums->failed = true;
            return 0;
        }
        v->wide = flags;
        sums->room = (uint32_t)room;
    }
    v->node[v->nodes] = (struct value_node){a, b};
    v->wide[v->nodes] = wide;
    return v->nodes++;
}

uint32_t expect_sum(struct expect_sums *sums, uint32_t a, uint32_t b)
{
    return expect_sum_kept(sums, a, b, a >= sums->kept_from ? VALUE_WIDE_A : 0);
}

static uint32_t *at(uint32_t *value, struct expect_line line, uint32_t i)
{
    return &value[line.base + i * line.stride];
}

void expect_converge(struct expect_sums *sums, uint32_t *value, struct expect_line line,
                     uint32_t root)
{
    for (uint32_t i = 1; i <= root; i++)
        *at(value, line, i) = expect_sum(sums, *at(value, line, i), *at(value, line, i - 1));
    for (uint32_t i = line.length - 1; i > root; i--)
        *at(value, line, i - 1) = expect_sum(sums, *at(value, line, i - 1), *at(value, line, i));
}

void expect_spread(uint32_t *value, struct expect_line line, uint32_t of)
{
    for (uint32_t i = 0; i < line.length; i++)
        *at(value, line, i) = of;
}

void expect_ring(struct expect_sums *sums, uint32_t *result, const uint32_t *value,
                 struct expect_line line)
{
    const uint32_t n = line.length;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t sum = value[line.base + i * line.stride];
        for (uint32_t k = 1; k < n; k++)
            sum = expect_sum(sums, sum, value[line.base + (i + n - k) % n * line.stride]);
        *at(result, line, i) = sum;
    }
}

/* The children of relay->order[i] come after those of all before it, so from the last rank back
 * every rank's children are complete. */
uint32_t expect_relay(struct expect_sums *sums, uint32_t *value, const struct relay *relay)
{
    uint32_t after = relay->ranks; /* the children of the rank at hand end here */
    for (uint32_t i = relay->ranks; i-- > 0;) {
        const uint32_t rank = relay->order[i];
        const uint32_t children = (uint32_t)__builtin_popcount(relay->children[rank]);
        for (uint32_t k = after - children; k < after; k++)
            value[rank] = expect_sum(sums, value[rank], value[relay->order[k]]);
        after -= children;
    }
    return value[relay->root];
}

uint32_t expect_in_order(struct expect_sums *sums, const uint32_t *value, uint32_t n)
{
    uint32_t sum = value[0];
    for (uint32_t i = 1; i < n; i++)
        sum = expect_sum(sums, sum, value[i]);
    return sum;
}

uint32_t expect_tree(struct expect_sums *sums, uint32_t *value, uint32_t n, bool puts_pairs)
{
    for (uint32_t s = 1; s < n; s *= 2) {
        if (puts_pairs && s == 2)
            sums->kept_from = sums->values->nodes;
        for (uint32_t i = s; i < n; i += 2 * s)
            value[i - s] = expect_sum(sums, value[i - s], value[i]);
    }
    return value[0];
}

uint32_t expect_merged(struct expect_sums *sums, uint32_t *place, uint32_t n, uint32_t own)
{
    uint32_t nodes = n / 2;
    for (uint32_t i = 0; i < nodes; i++)
        place[i] = expect_sum_kept(sums, place[2 * i], place[2 * i + 1], 0);
    const uint32_t merged = sums->values->nodes; /* sums from here on are made in TCM */
    for (own /= 2; nodes > 1; nodes = (nodes + 1) / 2, own /= 2)
        for (uint32_t i = 0; 2 * i < nodes; i++) {
            const uint32_t left = place[2 * i];
            const uint32_t right = 2 * i + 1 < nodes ? place[2 * i + 1] : left;
            const bool goes_right = own == 2 * i + 1;
            place[i] = 2 * i + 1 == nodes ? left
                                          : expect_sum_kept(sums, left, right,
                                                            (goes_right ? right : left) < merged ? 0
                                                            : goes_right ? VALUE_WIDE_B
                                                                         : VALUE_WIDE_A);
        }
    return place[0];
}

uint32_t expect_halving(struct expect_sums *sums, uint32_t *value, uint32_t n)
{
    uint32_t p = 1;
    while (2 * p <= n)
        p *= 2;
    const uint32_t folded = n - p;
    for (uint32_t i = 0; i < p; i++)
        value[i] =
            i < folded ? expect_sum(sums, value[2 * i], value[2 * i + 1]) : value[i + folded];
    for (uint32_t d = p / 2; d > 0; d /= 2)
        for (uint32_t i = 0; i < d; i++)
            value[i] = expect_sum(sums, value[i], value[i + d]);
    return value[0];
}
