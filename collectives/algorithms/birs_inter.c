/*
 * birs_inter.c: birs for more than 16 ranks (ALGORITHMS.md): same rounds and bits as
 * birs.c, but a partial joins the tree over the packages as soon as its neighbour is there, so that
 * scratch grows with the logarithm of the packages, not with their number.
 *
 * A node of the tree is (level, index): the sum of the partials of packages index * 2^level and up,
 * 2^level of them or as many as there are. So the tree over Y packages is that over the next power
 * of two, without the packages that are missing: a node without a right half is its left half, and
 * nothing is added. Y and nothing else gives the tree.
 *
 * The partials of package m come from packages m - 1, m - 2 ... 0, Y - 1 ... m + 1, its own being
 * the last. Since packages come in descending order, a node's right half is complete before its
 * left half, unless one of the two contains m: its sibling then stays until the end. So each level
 * has at most two nodes that wait: one that waits for its left neighbour, and the sibling of the
 * node that contains m. While the streams of a round run the kernel merges the partial of
 * the round before: two partials, and every node that becomes complete with them, in one pass.
 *
 * The last package of an odd number of packages, the lone one, has no neighbour: its partial is a
 * node of several levels as it stands. It has a slot of its own: it may arrive while the kernel
 * merges package 0, which reads the waiting nodes.
 *
 * Scratch: slots 0 .. 3: intermediates, by round; 4 .. 7: partials that have arrived, by round;
 * then the siblings of m by level 0 .. L - 1; the waiting nodes by level 1 .. L - 1; the lone
 * partial. 2^L is the least power of two that is not below Y.
 */
#include "collectives/algorithms/birs_inter.h"

#include "collectives/algorithms/birs.h"
#include "collectives/fold/fold_rule.h"

/* ---- the tree over the packages, as one package sees it -------------------------------------- */

struct birs_tree {
    uint32_t packages, own; /* the package that sees it */
};

/* 2^levels is the least power of two that is not below the number of packages. */
static uint32_t birs_tree_levels(struct birs_tree tree)
{
    uint32_t levels = 0;
    while (1u << levels < tree.packages)
        levels++;
    return levels;
}

/* The last package, where it has no neighbour. */
static bool birs_tree_is_lone(struct birs_tree tree, uint32_t package)
{
    return package % 2 == 0 && package + 1 == tree.packages;
}

/* A node has packages at all. */
static bool birs_tree_has(struct birs_tree tree, uint32_t level, uint32_t index)
{
    return index << level < tree.packages;
}

/* The package whose partial comes in a round. */
static uint32_t birs_tree_from(struct birs_tree tree, uint32_t round)
{
    return (tree.own + tree.packages - round) % tree.packages;
}

/* The partial that comes in a round completes a node. Otherwise its neighbour is still to come, or
 * it waits as it is. */
static bool birs_tree_completes(struct birs_tree tree, uint32_t round)
{
    const uint32_t from = birs_tree_from(tree, round);
    return round > 0 && from % 2 == 0 && !birs_tree_is_lone(tree, from) && (from ^ 1) != tree.own;
}

/* The level of that node, which then waits. A node and its right neighbour, if there is one, make
 * their parent, unless that is the own package's. */
static uint32_t birs_tree_level(struct birs_tree tree, uint32_t from)
{
    uint32_t level = 1;
    while ((from >> level) % 2 == 0 && tree.own >> level != (from >> level) + 1)
        level++;
    return level;
}

/* The i-th part of that node is there, i from 0 to its level: the partial itself, its right
 * neighbour, and then the right neighbour of each level. */
static bool birs_tree_has_part(struct birs_tree tree, uint32_t from, uint32_t i)
{
    return i < 2 || birs_tree_has(tree, i - 1, (from >> (i - 1)) + 1);
}

/* The own package's sibling on a level is there. */
static bool birs_tree_has_sibling(struct birs_tree tree, uint32_t level)
{
    return birs_tree_has(tree, level, tree.own >> level ^ 1);
}

/* ---- memory ---------------------------------------------------------------------------------- */

enum { STREAM_MAIN = 1, STREAM_HCCS = 2, STREAM_COPY = 4, RING = 4 };

static uint32_t own_package(const struct tl *tl) { return rs_die(tl) / 2; }
static struct birs_tree own_tree(const struct tl *tl)
{
    return (struct birs_tree){.packages = birs_packages(tl), .own = own_package(tl)};
}
static uint32_t sibling_slot(uint32_t level) { return 2 * RING + level; }
static uint32_t waiting_slot(const struct tl *tl, uint32_t level)
{
    return 2 * RING + birs_tree_levels(own_tree(tl)) + level - 1;
}
static uint32_t lone_slot(const struct tl *tl)
{
    return waiting_slot(tl, birs_tree_levels(own_tree(tl)));
}

/* Where a node waits: for its left neighbour, or for the end. Not for level 0. */
static uint32_t node_slot(const struct tl *tl, uint32_t level, uint32_t index)
{
    if (birs_tree_is_lone(own_tree(tl), index << level))
        return lone_slot(tl);
    return own_package(tl) >> level == (index ^ 1) ? sibling_slot(level) : waiting_slot(tl, level);
}

/* Where the partial of `from` arrives at package `to`, in round `round`. */
static uint32_t arrival_slot(const struct tl *tl, uint32_t round, uint32_t from, uint32_t to)
{
    if (birs_tree_is_lone(own_tree(tl), from))
        return lone_slot(tl);
    return (from ^ 1) == to ? sibling_slot(0) : RING + round % RING;
}

/* ---- the streams of a round ------------------------------------------------------------------ */

static enum tl_status birs_inter_main_stream(struct tl *tl, void *frame)
{
    struct rs_frame *f = frame;
    const struct rs_put put = birs_sio_put(tl, f->round, f->round % RING);
    return rs_exchange(tl, f, &put);
}

static enum tl_status birs_inter_hccs_stream(struct tl *tl, void *frame)
{
    struct rs_frame *f = frame;
    const uint32_t to = birs_ahead(tl, f->round);
    const struct rs_put put = {
        .to = to,
        .from = birs_ahead(tl, birs_packages(tl) - f->round),
        .src = rs_slot(tl, (f->round - 1) % RING),
        .dst = rs_slot(tl, arrival_slot(tl, f->round, own_package(tl), to / 2))};
    return rs_exchange(tl, f, &put);
}

static enum tl_status birs_inter_copy_stream(struct tl *tl, void *frame)
{
    struct rs_frame *f = frame;
    TL_BEGIN(&f->line);
    TL_CALL(&f->line, birs_copy(tl, f->round + 1, (f->round + 1) % RING));
    TL_END(&f->line);
}

static enum tl_status (*const streams[])(struct tl *tl, void *frame) = {
    birs_inter_main_stream, birs_inter_hccs_stream, birs_inter_copy_stream};

/* ---- merging --------------------------------------------------------------------------------- */

static uint64_t merged_va(const struct tl *tl, uint32_t from)
{
    const uint32_t level = birs_tree_level(own_tree(tl), from);
    return rs_slot_va(tl, node_slot(tl, level, from >> level));
}

/* The i-th part of that node, of `from`, whose partial came in round `round`: the partial itself,
 * its right neighbour, which came the round before, and then the right neighbour of each level. */
static uint64_t part_va(const struct tl *tl, uint32_t round, uint32_t from, uint32_t i)
{
    return rs_slot_va(tl, i < 2 ? RING + (round - i) % RING
                                : node_slot(tl, i - 1, (from >> (i - 1)) + 1));
}

/* One piece: its parts added in order, into TCM piece `sum`; the next one is used, too. */
static enum tl_status merge_piece(struct tl *tl, struct rs_frame *f, uint32_t round, uint32_t sum)
{
    const uint32_t from = birs_tree_from(own_tree(tl), round);
    TL_BEGIN(&f->leaf);
    TL_CALL(&f->leaf, rs_load_piece(tl, f, sum, part_va(tl, round, from, 0)));
    for (f->i = 1; f->i <= birs_tree_level(own_tree(tl), from); f->i++)
        if (birs_tree_has_part(own_tree(tl), from, f->i)) {
            TL_CALL(&f->leaf, rs_load_piece(tl, f, sum + 1, part_va(tl, round, from, f->i)));
            TL_CALL(&f->leaf, rs_add_pieces(tl, f, sum, sum, sum + 1));
        }
    TL_END(&f->leaf);
}

/* Takes the partial that came in round `round` into the tree. */
static enum tl_status merge_arrived(struct tl *tl, struct rs_frame *f, uint32_t round)
{
    if (!birs_tree_completes(own_tree(tl), round))
        return TL_ENDED;
    TL_BEGIN(&f->part);
    for (f->done = 0; f->done < rs_slice_bytes(tl); f->done += rs_full_piece_bytes(tl)) {
        TL_RUN(&f->part, merge_piece(tl, f, round, 0));
        TL_CALL(&f->part,
                rs_store_piece(tl, f, merged_va(tl, birs_tree_from(own_tree(tl), round))));
    }
    TL_END(&f->part);
}

/* ---- the end --------------------------------------------------------------------------------- */

enum { OWN, LAST_NODE, LOADED, TCM_PIECES }; /* in TCM */

static uint64_t sibling_va(const struct tl *tl, uint32_t level)
{
    const uint32_t index = own_package(tl) >> level ^ 1;
    return rs_slot_va(tl, birs_tree_is_lone(own_tree(tl), index << level) ? lone_slot(tl)
                                                                          : sibling_slot(level));
}

/* That sibling is the node which the last partial has completed: it is in TCM already. */
static bool is_last_node(const struct tl *tl, uint32_t level)
{
    const uint32_t round = birs_packages(tl) - 1;
    return birs_tree_completes(own_tree(tl), round) &&
           birs_tree_level(own_tree(tl), birs_tree_from(own_tree(tl), round)) == level;
}

/* own <- own + sibling, or sibling + own: the left one first. */
static void add_sibling(struct tl *tl, const struct rs_frame *f, uint32_t level)
{
    const uint32_t sibling = is_last_node(tl, level) ? LAST_NODE : LOADED;
    const bool own_is_right = own_package(tl) >> level & 1;
    rs_add_pieces(tl, f, OWN, own_is_right ? sibling : OWN, own_is_right ? OWN : sibling);
}

/* One piece of the result: the own partial, and its siblings from below. */
static enum tl_status final_piece(struct tl *tl, struct rs_frame *f)
{
    const uint32_t y = birs_packages(tl);
    TL_BEGIN(&f->leaf);
    TL_CALL(&f->leaf, rs_load_piece(tl, f, OWN, rs_slot_va(tl, (y - 1) % RING)));
    for (f->i = 0; f->i < birs_tree_levels(own_tree(tl)); f->i++)
        if (birs_tree_has_sibling(own_tree(tl), f->i)) {
            if (!is_last_node(tl, f->i))
                TL_CALL(&f->leaf, rs_load_piece(tl, f, LOADED, sibling_va(tl, f->i)));
            TL_CALL(&f->leaf, add_sibling(tl, f, f->i));
        }
    TL_END(&f->leaf);
}

/* The partial of the last round completes a sibling of the own package, which goes into the result
 * without a way to HBM and back. */
static enum tl_status final(struct tl *tl, struct rs_frame *f)
{
    const uint32_t last = birs_packages(tl) - 1;
    TL_BEGIN(&f->part);
    for (f->done = 0; f->done < rs_slice_bytes(tl); f->done += rs_full_piece_bytes(tl)) {
        if (birs_tree_completes(own_tree(tl), last))
            TL_RUN(&f->part, merge_piece(tl, f, last, LAST_NODE));
        TL_RUN(&f->part, final_piece(tl, f));
        TL_CALL(&f->part, rs_store_piece(tl, f, rs_output_va(tl)));
    }
    TL_END(&f->part);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static enum tl_status birs_inter_run(struct tl *tl, void *frame)
{
    struct rs_frame *f = frame;
    const uint32_t y = birs_packages(tl);
    TL_BEGIN(&f->line);
    tl_phase(tl, BIRS_COPYING);
    TL_CALL(&f->line, birs_copy(tl, 0, 0));
    tl_phase(tl, BIRS_FIRST_ROUND);
    for (f->round = 0; f->round < y; f->round++) {
        if (f->round == 1)
            tl_phase(tl, BIRS_ROUNDS);
        TL_CALL(&f->line, tl_fork(tl, STREAM_MAIN | (f->round > 0 ? STREAM_HCCS : 0u) |
                                          (f->round + 1 < y ? STREAM_COPY : 0u)));
        if (f->round > 0)
            TL_RUN(&f->line, merge_arrived(tl, f, f->round - 1));
        TL_CALL(&f->line, tl_join(tl));
    }
    tl_phase(tl, BIRS_FINAL);
    TL_RUN(&f->line, final(tl, f));
    TL_END(&f->line);
}

const struct tl_kernel birs_inter_kernel = {.name = "birs_inter",
                                            .frame_bytes = sizeof(struct rs_frame),
                                            .run = birs_inter_run,
                                            .stream = streams,
                                            .stream_count = BIRS_STREAMS,
                                            .phase = birs_phase,
                                            .phase_count = BIRS_FINAL + 1};

/* ---- host side ------------------------------------------------------------------------------- */

static struct ccl_rs_needs birs_inter_needs(const struct ccl_call *call)
{
    return (struct ccl_rs_needs){.pairs = true,
                                 .ranks_min = CCL_BIRS_RANKS_MAX + 2,
                                 .aligned = true,
                                 .slots = 2 * RING + 2 * birs_tree_levels((struct birs_tree){
                                                             .packages = call->world_size / 2}),
                                 .tcm_tiles = TCM_PIECES};
}

static int birs_inter_check(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    const struct ccl_rs_needs needs = birs_inter_needs(call);
    return ccl_rs_check(call, &needs, "birs_inter", refusal);
}

static uint64_t birs_inter_tcm_bytes(const struct ccl_call *call)
{
    return ccl_rs_tcm_bytes(call, TCM_PIECES);
}

static uint64_t birs_inter_scratch_bytes(const struct ccl_call *call)
{
    const struct ccl_rs_needs needs = birs_inter_needs(call);
    return ccl_rs_scratch_bytes(call, &needs);
}

/* Slices that the merge of the partial of a round loads; 0: it completes no node. */
static uint32_t merge_parts(struct birs_tree tree, uint32_t round)
{
    if (!birs_tree_completes(tree, round))
        return 0;
    const uint32_t from = birs_tree_from(tree, round);
    uint32_t parts = 0;
    for (uint32_t i = 0; i <= birs_tree_level(tree, from); i++)
        parts += birs_tree_has_part(tree, from, i);
    return parts;
}

/* Slices that the end loads: the own partial, its siblings, and the parts of the one of them that
 * the last partial completes. */
static uint32_t loads_at_end(struct birs_tree tree)
{
    const uint32_t last = merge_parts(tree, tree.packages - 1);
    uint32_t loads = 1 + last - (last > 0);
    for (uint32_t level = 0; level < birs_tree_levels(tree); level++)
        loads += birs_tree_has_sibling(tree, level);
    return loads;
}

/* The steps of package 0. Where a message holds HBM's link as one block, a merge delays the round,
 * and in each round some package merges about this many slices, for which others wait. */
enum { OTHERS_MERGE = 4 };
static void birs_inter_steps(const struct ccl_call *call, struct cost_steps *steps)
{
    const bool by_message = call->hw->contention == HW_CONTENTION_MESSAGE;
    const uint32_t y = call->world_size / 2;
    const struct birs_tree tree = {.packages = y, .own = 0};
    const uint64_t slice = ccl_rs_slice_bytes(call);
    cost_copy(steps, slice);
    for (uint32_t round = 0; round < y; round++) {
        uint32_t parts = round > 0 ? merge_parts(tree, round - 1) : 0;
        if (round > 1 && by_message)
            parts = parts > OTHERS_MERGE ? parts : OTHERS_MERGE;
        birs_describe_round(call, round, steps);
        if (parts > 0)
            cost_reduce(steps, (struct cost_reduction){parts, parts - 1, slice});
        cost_join(steps);
    }
    const uint32_t loads = loads_at_end(tree);
    cost_reduce(steps, (struct cost_reduction){loads, loads - 1, slice});
}

static const struct ccl_order order = {
    .between = CCL_BETWEEN_NEIGHBOURS, .by_place = true, .kept = CCL_KEPT_MERGED};

/*
 * As birs, but what is merged when depends on the own package: on which of its neighbours in the
 * tree have come. Both dies of a package do the same.
 */
static bool birs_inter_folds(const struct ccl_call *call, const struct hw_fold *fold,
                             char why[CCL_FOLD_WHY_BYTES])
{
    (void)call;
    return fold_turns_below(fold, 2) ||
           fold_refuse(why, "what is merged when depends on the own package's place in the tree");
}

const struct ccl_algorithm ccl_birs_inter = {.name = "birs_inter",
                                             .collective = CCL_REDUCE_SCATTER,
                                             .kernel = &birs_inter_kernel,
                                             .order = &order,
                                             .machine = {.mappers = CCL_RS_MAPPERS,
                                                         .reads = CCL_READS_SLICE_ALIGN,
                                                         .tcm_bytes = birs_inter_tcm_bytes,
                                                         .scratch_bytes = birs_inter_scratch_bytes,
                                                         .peers = birs_peers},
                                             .kernel_args = ccl_rs_kernel_args,
                                             .check = birs_inter_check,
                                             .takes_part = ccl_rs_takes_part,
                                             .steps = birs_inter_steps,
                                             .folds = birs_inter_folds};
