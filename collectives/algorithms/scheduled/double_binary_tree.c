/*
 * double_binary_tree.c: two trees over the ranks, each for half of the tensor (ALGORITHMS.md): a
 * rank that has two children in one is a leaf of the other, so that all send about as much. Sums go
 * up, results down. The chunks of a half follow each other up and down.
 *
 * Each step has a time: chunk i leaves a rank of height h upwards at 2 i + h, and the root of
 * height H downwards at 2 i + H, one time later for each level. A thread's steps are in the order
 * of their times, and a message is taken later than it is sent. So no thread waits forever.
 */
#include <stdlib.h>

#include "collectives/algorithms/scheduled/ring_order.h"
#include "collectives/algorithms/scheduled/scheduled.h"
#include "collectives/schedule/schedule_builder.h"

enum { TREES = 2, CHUNKS_MAX = 32 };

/* A place of a tree. */
struct node {
    uint32_t parent, child[2]; /* places; SCHEDULE_NO_RANK: none */
    uint32_t children;
    uint32_t height, depth; /* above the leaves; below the root */
};

/* Place 0 is the root. Another one is as high as its lowest bit says; where its parent would be
 * beyond the last place, it is one below. */
static uint32_t parent_of(uint32_t place, uint32_t ranks)
{
    const uint32_t bit = place & -place, up = (place ^ bit) | bit << 1;
    return up < ranks ? up : place ^ bit;
}

static uint32_t steps_to_root(uint32_t place, uint32_t ranks)
{
    uint32_t steps = 0;
    for (; place != 0; place = parent_of(place, ranks))
        steps++;
    return steps;
}

static void grow_tree(struct node *node, uint32_t ranks)
{
    for (uint32_t i = 0; i < ranks; i++)
        node[i] = (struct node){.parent = i == 0 ? SCHEDULE_NO_RANK : parent_of(i, ranks),
                                .child = {SCHEDULE_NO_RANK, SCHEDULE_NO_RANK},
                                .depth = steps_to_root(i, ranks)};
    for (uint32_t i = 1; i < ranks; i++) {
        struct node *const parent = &node[node[i].parent];
        parent->child[parent->children++] = i;
        uint32_t height = 1;
        for (uint32_t at = parent_of(i, ranks);; at = parent_of(at, ranks), height++) {
            node[at].height = node[at].height > height ? node[at].height : height;
            if (at == 0)
                break;
        }
    }
}

/* The making of one rank's thread in one tree. */
struct tree_thread {
    struct schedule_builder *b;
    const struct node *node; /* its own */
    uint32_t *order;         /* of the ranks (level_order()); NULL: their own */
    uint32_t rank, ranks, tree, thread, chunks;
};

/* The rank at a place: the second tree is the first one mirrored, or moved by one rank. */
static uint32_t rank_in_tree(const struct tree_thread *t, uint32_t place)
{
    if (place == SCHEDULE_NO_RANK)
        return place;
    if (t->tree > 0)
        place = t->ranks % 2 == 0 ? t->ranks - 1 - place : (place + 1) % t->ranks;
    return t->order != NULL ? t->order[place] : place;
}

static void add_in_tree(const struct tree_thread *t, enum schedule_op op, uint32_t chunk,
                        enum schedule_buffer src, uint32_t to, uint32_t from)
{
    const uint32_t at = t->tree * t->chunks + chunk;
    (void)schedule_add(t->b, t->rank, t->thread,
                       (struct schedule_step){.op = (uint8_t)op,
                                              .channel = (uint8_t)t->tree,
                                              .count = 1,
                                              .src = {.at = at, .buffer = (uint8_t)src},
                                              .dst = {.at = at, .buffer = SCHEDULE_OUTPUT},
                                              .send_to = rank_in_tree(t, to),
                                              .recv_from = rank_in_tree(t, from)});
}

/* The sums of the children, the first one's first; the last addition is sent on at once. The root
 * has one child. */
static void go_up(const struct tree_thread *t, uint32_t chunk)
{
    const struct node *const node = t->node;
    const bool root = node->parent == SCHEDULE_NO_RANK;
    if (node->children == 0) {
        add_in_tree(t, SCHEDULE_SEND, chunk, SCHEDULE_INPUT, node->parent, 0);
        return;
    }
    if (node->children == 2)
        add_in_tree(t, SCHEDULE_RECV_REDUCE_COPY, chunk, SCHEDULE_INPUT, 0, node->child[0]);
    add_in_tree(t, root ? SCHEDULE_RECV_REDUCE_COPY_SEND : SCHEDULE_RECV_REDUCE_SEND, chunk,
                node->children == 2 ? SCHEDULE_OUTPUT : SCHEDULE_INPUT,
                root ? node->child[0] : node->parent, node->child[node->children - 1]);
}

static void go_down(const struct tree_thread *t, uint32_t chunk)
{
    const struct node *const node = t->node;
    add_in_tree(t, node->children > 0 ? SCHEDULE_RECV_COPY_SEND : SCHEDULE_RECV, chunk,
                SCHEDULE_OUTPUT, node->child[0], node->parent);
    if (node->children == 2)
        add_in_tree(t, SCHEDULE_SEND, chunk, SCHEDULE_OUTPUT, node->child[1], 0);
}

static void make_tree_thread(const struct tree_thread *t, uint32_t root_height)
{
    const struct node *const node = t->node;
    const uint32_t end = 2 * t->chunks + 2 * root_height + 1;
    const uint32_t down = root_height + node->depth;
    for (uint32_t time = 0; time < end; time++) {
        if (time >= node->height && (time - node->height) % 2 == 0 &&
            (time - node->height) / 2 < t->chunks)
            go_up(t, (time - node->height) / 2);
        if (node->depth > 0 && time >= down && (time - down) % 2 == 0 &&
            (time - down) / 2 < t->chunks)
            go_down(t, (time - down) / 2);
    }
}

/* How many chunks each half has: a slot each, up to a limit. */
static uint32_t chunks_of(const struct ccl_call *call)
{
    const uint64_t half = call->n_elem * tl_itemsize(call->dtype) / TREES;
    const uint64_t slots = half / (call->ccl->queues.slot_bytes + 1) + 1;
    return slots < CHUNKS_MAX ? (uint32_t)slots : CHUNKS_MAX;
}

static struct schedule *double_binary_tree_schedule(const struct ccl_call *call,
                                                    struct cw_error *error)
{
    const uint32_t ranks = call->world_size;
    struct node *const node = calloc(ranks, sizeof *node);
    struct schedule_builder *const b =
        node == NULL ? NULL
                     : schedule_builder_create("double_binary_tree", CCL_ALL_REDUCE, ranks, TREES);
    if (b == NULL) {
        free(node);
        (void)cw_error_memory(error, "a schedule");
        return NULL;
    }
    struct tree_thread t = {
        .b = b, .order = level_order(call), .ranks = ranks, .chunks = chunks_of(call)};
    schedule_builder_head(b)->in_place = true;
    grow_tree(node, ranks);
    for (t.tree = 0; t.tree < TREES; t.tree++)
        for (uint32_t place = 0; place < ranks; place++) {
            t.rank = rank_in_tree(&t, place);
            t.node = &node[place];
            schedule_chunks_of(b, t.rank, TREES * t.chunks, TREES * t.chunks, 0);
            t.thread = schedule_thread(b, t.rank, t.tree);
            if (ranks > 1)
                make_tree_thread(&t, node[0].height);
        }
    free(node);
    free(t.order);
    return schedule_build(b, error);
}

const struct ccl_algorithm ccl_double_binary_tree = {.name = "double_binary_tree",
                                                     .collective = CCL_ALL_REDUCE,
                                                     .kernel = &schedule_kernel,
                                                     .machine = SCHEDULED_MACHINE,
                                                     .schedule = double_binary_tree_schedule};
