/*
 * neighbour_hooks.c: all-reduces (of max: one tile) over rings that a neighbors() hook makes or
 * changes, in each of the ways of decision D11 (DECISIONS.md); a shared object that
 * test_neighbour_hooks.c builds and has loaded by ccl.yaml.
 */
#include <stdio.h>
#include <string.h>

#include "collectives/plugin.h"

CCL_PLUGIN;

struct frame {
    uint16_t line, reserved;
    uint32_t r;
};
_Static_assert(sizeof(struct frame) <= TL_FRAME_BYTES, "the frame fits in a kernel's state");

/* n - 1 rounds: send the result so far, take the arriving tile into it. */
static enum tl_status ring(struct tl *tl, struct frame *f, enum hw_dir to, enum hw_dir from)
{
    const uint32_t bytes = tl_tile_bytes(tl, 0), rounds = (uint32_t)tl_args(tl)->scalar[0] - 1;
    TL_BEGIN(&f->line);
    TL_CALL(&f->line, tl_load(tl, 0, tl_shard(tl), bytes));
    for (f->r = 0; f->r < rounds; f->r++) {
        TL_CALL(&f->line, tl_send(tl, to, tl_tcm(0), bytes));
        TL_CALL(&f->line, tl_recv(tl, from, bytes));
        TL_CALL(&f->line, tl_math(tl, (enum lp_math)tl_args(tl)->math, 0, tl_tcm(0),
                                  tl_last(tl_received(tl)), (uint32_t)tl_args(tl)->n_elem));
    }
    TL_CALL(&f->line, tl_store(tl, tl_shard(tl), tl_tcm(0), bytes));
    TL_END(&f->line);
}

static enum tl_status run_next(struct tl *tl, void *frame)
{
    return ring(tl, frame, tl_dir(tl, "next"), tl_dir(tl, "prev"));
}
static enum tl_status run_east(struct tl *tl, void *frame)
{
    return ring(tl, frame, HW_DIR_E, HW_DIR_W);
}

static void kernel_args(const struct ccl_call *call, struct tl_args *args)
{
    args->scalar[0] = call->world_size;
}

static void set(struct lp_neighbours *map, uint32_t i, const char *dir, const char *opposite,
                uint32_t rank)
{
    struct lp_neighbour *entry = &map->at[i];
    memset(entry, 0, sizeof *entry);
    snprintf(entry->dir, sizeof entry->dir, "%s", dir);
    snprintf(entry->opposite, sizeof entry->opposite, "%s", opposite);
    entry->rank = rank;
    map->count = i + 1;
}

/* Replaces whatever there is by a ring of its own names, backwards. */
static enum ccl_neighbors replace(uint32_t rank, uint32_t world_size, const int64_t *parameter,
                                  struct lp_neighbours *map)
{
    (void)parameter;
    set(map, 0, "next", "prev", (rank + world_size - 1) % world_size);
    set(map, 1, "prev", "next", (rank + 1) % world_size);
    return CCL_NEIGHBORS_CHANGED;
}

static void drop(struct lp_neighbours *map, const char *dir)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < map->count; i++)
        if (strcmp(map->at[i].dir, dir) != 0)
            map->at[kept++] = map->at[i];
    map->count = kept;
}

/* Cuts the ring between the last rank and rank 0: at both ends, or at one. */
static enum ccl_neighbors cut(uint32_t rank, uint32_t world_size, const int64_t *parameter,
                              struct lp_neighbours *map)
{
    (void)parameter;
    if (rank == 0)
        drop(map, "W");
    if (rank == world_size - 1)
        drop(map, "E");
    return CCL_NEIGHBORS_CHANGED;
}
static enum ccl_neighbors cut_one_end(uint32_t rank, uint32_t world_size, const int64_t *parameter,
                                      struct lp_neighbours *map)
{
    (void)world_size, (void)parameter;
    if (rank == 0)
        drop(map, "W");
    return CCL_NEIGHBORS_CHANGED;
}

/* The map that it writes does not count. */
static enum ccl_neighbors keep(uint32_t rank, uint32_t world_size, const int64_t *parameter,
                               struct lp_neighbours *map)
{
    (void)rank, (void)world_size, (void)parameter;
    map->count = 0;
    return CCL_NEIGHBORS_KEPT;
}

#define ALGORITHM(name_, run_, hook)                                                               \
    static const struct tl_kernel name_##_kernel = {                                               \
        .name = #name_, .frame_bytes = sizeof(struct frame), .run = run_};                         \
    extern const struct ccl_algorithm name_;                                                       \
    const struct ccl_algorithm name_ = {.name = #name_,                                            \
                                        .collective = CCL_ALL_REDUCE,                              \
                                        .kernel = &name_##_kernel,                                 \
                                        .kernel_args = kernel_args,                                \
                                        .neighbors = hook}
ALGORITHM(replaced, run_next, replace);
ALGORITHM(kept, run_east, keep);
ALGORITHM(without_a_hook, run_east, NULL);
ALGORITHM(cut_ring, run_east, cut);
ALGORITHM(half_cut_ring, run_east, cut_one_end);

/* Hooks that leave out what they are asked for, without a reason. */
static struct schedule *make_none(const struct ccl_call *call, struct cw_error *error)
{
    (void)call, (void)error;
    return NULL;
}
static void choose_none(const struct ccl_call *call, struct ccl_choice *choice)
{
    (void)call;
    choice->algorithm = NULL;
}
extern const struct ccl_algorithm no_schedule, no_choice;
const struct ccl_algorithm no_schedule = {.name = "no_schedule",
                                          .collective = CCL_ALL_REDUCE,
                                          .kernel = &kept_kernel,
                                          .schedule = make_none};
const struct ccl_algorithm no_choice = {.name = "no_choice",
                                        .collective = CCL_ALL_REDUCE,
                                        .kernel = &kept_kernel,
                                        .choose = choose_none};
