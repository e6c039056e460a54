/*
 * sums.c: all-reduces from a shared object, as a reduce-scatter and an all-gather along a ring, in
 * several shapes: with the order of additions declared as trees, without, with a tree that is none,
 * and with a kernel that loses one of the additions.
 */
#include "collectives/plugin.h"

CCL_PLUGIN;

enum { RANKS, LOSES };

struct frame {
    uint16_t line;
    uint32_t step, tile;
};

/* Some elements of a tensor; none behind its end. */
struct stretch {
    uint32_t at, bytes; /* in TCM */
    uint32_t elems;
};

static uint32_t ranks_of(const struct tl *tl) { return (uint32_t)tl_args(tl)->scalar[RANKS]; }

static uint32_t chunk_elems(const struct tl *tl)
{
    return ((uint32_t)tl_args(tl)->n_elem + ranks_of(tl) - 1) / ranks_of(tl);
}

/* Tile `f->tile` of the chunk that leaves in a step. */
static struct stretch leaves(const struct tl *tl, const struct frame *f, uint32_t step)
{
    const uint32_t n = (uint32_t)tl_args(tl)->n_elem, most = tl_tile_elems(tl);
    const uint32_t size = tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
    const uint32_t chunk = (tl_args(tl)->rank + 2 * ranks_of(tl) - step) % ranks_of(tl);
    const uint32_t end = (chunk + 1) * chunk_elems(tl),
                   first = chunk * chunk_elems(tl) + f->tile * most;
    const uint32_t last = end < n ? end : n;
    const uint32_t left = first < last ? last - first : 0, elems = left < most ? left : most;
    return (struct stretch){first * size, elems * size, elems};
}

static struct stretch out(const struct tl *tl, const struct frame *f)
{
    return leaves(tl, f, f->step);
}
/* The stretch that comes in leaves in the next step. */
static struct stretch in(const struct tl *tl, const struct frame *f)
{
    return leaves(tl, f, f->step + 1);
}

static bool is_lost(const struct tl *tl, const struct frame *f)
{
    return tl_args(tl)->scalar[LOSES] != 0 && tl_args(tl)->rank == 1 && f->step == 1;
}

static enum tl_status run(struct tl *tl, void *state)
{
    struct frame *const f = state;
    TL_BEGIN(&f->line);
    TL_CALL(&f->line, tl_load(tl, 0, tl_shard(tl), (uint32_t)tl_args(tl)->shard_bytes));
    for (f->step = 0; f->step < 2 * (ranks_of(tl) - 1); f->step++)
        for (f->tile = 0; f->tile * tl_tile_elems(tl) < chunk_elems(tl); f->tile++) {
            if (out(tl, f).bytes > 0)
                TL_CALL(&f->line, tl_send(tl, HW_DIR_E, tl_tcm(out(tl, f).at), out(tl, f).bytes));
            if (in(tl, f).bytes == 0)
                continue;
            if (f->step >= ranks_of(tl) - 1) {
                TL_CALL(&f->line,
                        tl_recv_into(tl, HW_DIR_W, tl_tcm(in(tl, f).at), in(tl, f).bytes));
                continue;
            }
            TL_CALL(&f->line, tl_recv(tl, HW_DIR_W, in(tl, f).bytes));
            if (!is_lost(tl, f))
                TL_CALL(&f->line,
                        tl_math(tl, (enum lp_math)tl_args(tl)->math, in(tl, f).at,
                                tl_tcm(in(tl, f).at), tl_last(tl_received(tl)), in(tl, f).elems));
        }
    TL_CALL(&f->line, tl_store(tl, tl_shard(tl), tl_tcm(0), (uint32_t)tl_args(tl)->shard_bytes));
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {
    .name = "sums", .frame_bytes = sizeof(struct frame), .run = run};

static void whole(const struct ccl_call *call, struct tl_args *args)
{
    args->scalar[RANKS] = call->world_size;
}

static void lossy(const struct ccl_call *call, struct tl_args *args)
{
    whole(call, args);
    args->scalar[LOSES] = 1;
}

/* Chunk c leaves rank c; each rank east of it adds its own, on the left: 2 (1 (0 x +) +) +. */
static uint32_t along(uint32_t rank, uint32_t part, uint32_t n, uint32_t k)
{
    (void)rank;
    return k < n ? (part + 2 * n - 1 - k) % n : CCL_ADD;
}
/* Another order: from the other side. */
static uint32_t against(uint32_t rank, uint32_t part, uint32_t n, uint32_t k)
{
    (void)rank;
    return k < n ? (part + k) % n : CCL_ADD;
}
static uint32_t none(uint32_t rank, uint32_t part, uint32_t n, uint32_t k)
{
    (void)rank, (void)part;
    return k < n ? 0 : CCL_ADD;
}
static uint32_t chunks(uint32_t n) { return n; }

static const struct ccl_order order = {.tree = along, .parts = chunks, .kept = CCL_KEPT_NONE};
static const struct ccl_order wrong_order = {
    .tree = against, .parts = chunks, .kept = CCL_KEPT_NONE};
static const struct ccl_order no_order = {.tree = none, .parts = chunks};

#define SUMS(symbol, its_order, its_args)                                                          \
    extern const struct ccl_algorithm symbol;                                                      \
    const struct ccl_algorithm symbol = {.name = #symbol,                                          \
                                         .collective = CCL_ALL_REDUCE,                             \
                                         .kernel = &kernel,                                        \
                                         .order = its_order,                                       \
                                         .kernel_args = its_args}

SUMS(by_trees, &order, whole);
SUMS(by_other_trees, &wrong_order, whole);
SUMS(by_no_trees, &no_order, whole);
SUMS(in_silence, NULL, whole);
SUMS(with_a_loss, NULL, lossy);
SUMS(with_an_order_and_a_loss, &order, lossy);
