/*
 * allreduce_order.h: the result of a bf16 all-reduce, element by element in the order that
 * collectives/algorithms/ALGORITHMS.md specifies; written from that text, sharing nothing with the
 * program. (The stream's inputs have 16 bits: in f32, sums of up to 256 of them are exact in any
 * order.) Pure functions, and a check by them.
 */
#ifndef ALLREDUCE_ORDER_H
#define ALLREDUCE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum topo { RING, TORUS, MESH };
extern const char *const order_topo_name[]; /* as in topology.yaml */

struct shape {
    enum topo topo;
    uint32_t sip_w, sip_h; /* ring: its length, 1 */
    uint32_t cube_w, cube_h, root_x, root_y;
    bool rank_invariant;
};
enum { SIPS_MAX = 16, CUBES_MAX = 25 };

/* Element g of the seed's stream. */
float order_input(uint64_t seed, uint64_t g);
/* One addition. */
float order_plus(float a, float b);
/* Rows to the root's column, this column to the root: the sum that the root ends with. At most
 * CUBES_MAX rows. */
float order_reduce_grid(const float *x, uint32_t w, uint32_t h, uint32_t root_x, uint32_t root_y);
/* Phase 3, in place: each SIP's value before and after. */
void order_reduce_sips(const struct shape *s, float *sip);
/* data_hash of these elements. */
void order_hash(const float *x, uint64_t count, char hash[17]);
/* Runs an all-reduce of several tiles with one shard per cube on such a machine, with more options,
 * and fails the test if its hash is another. */
void order_check(const char *algorithm, const struct shape *s, uint64_t seed, const char *more);

#endif
