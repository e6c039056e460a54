/*
 * relay.c: spanning trees by breadth-first search (relay.h).
 */
#include "collectives/relay.h"

#include <stdio.h>
#include <stdlib.h>

#include "lp/queues/queue_ends.h"

struct search {
    const struct relay_request *request;
    const struct hw_config *hw;
    struct relay *out;
    uint32_t reached;
    bool *seen;
};

/* The PE that a rank's queues are on. */
static uint32_t leader(const struct search *s, uint32_t rank)
{
    const struct relay_request *const r = s->request;
    return ccl_sip_of(r->ranks, rank) * hw_cubes(s->hw) * hw_pes(s->hw) + r->leader(r->arg, rank);
}

/* The rank whose leader that PE is; UINT32_MAX: none. */
static uint32_t rank_at(const struct search *s, uint32_t pe_index)
{
    const struct ccl_ranks *const ranks = s->request->ranks;
    if (ranks->per_sip > 0)
        return pe_index; /* ranks are PEs, in the same order */
    const uint32_t sip = pe_index / (hw_cubes(s->hw) * hw_pes(s->hw));
    const uint32_t rank = sip < s->hw->sip_count ? ccl_rank_on(ranks, sip) : UINT32_MAX;
    return rank < s->out->ranks && leader(s, rank) == pe_index ? rank : UINT32_MAX;
}

/* Takes in the ranks next to `rank` that have not been reached yet. */
static void visit(struct search *s, uint32_t rank)
{
    const struct lp_plan *const plan = s->request->plan;
    const uint32_t self = leader(s, rank);
    const uint16_t installed = lp_directions(plan, self);
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++) {
        uint32_t peer;
        enum hw_dir back;
        if ((installed >> dir & 1) == 0 || !lp_queue_peer(plan, self, dir, &peer, &back))
            continue;
        const uint32_t next = peer != self ? rank_at(s, peer) : UINT32_MAX;
        if (next >= s->out->ranks || s->seen[next] || !lp_queue_goes(plan, self, dir, true) ||
            (s->request->both_ways && !lp_queue_goes(plan, peer, back, true)))
            continue;
        s->seen[next] = true;
        s->out->order[s->reached++] = next;
        s->out->parent[next] = (uint8_t)back;
        s->out->children[rank] |= (uint16_t)(1u << dir);
    }
}

int relay_make(const struct relay_request *request, struct relay *out, struct cw_error *error)
{
    const uint32_t world_size = request->world_size, root = request->root;
    *out = (struct relay){.ranks = world_size,
                          .root = root,
                          .parent = malloc(world_size),
                          .children = calloc(world_size, sizeof *out->children),
                          .order = malloc(world_size * sizeof *out->order)};
    struct search s = {.request = request,
                       .hw = lp_plan_hw(request->plan),
                       .out = out,
                       .seen = calloc(world_size, sizeof *s.seen)};
    int code = CW_OK;
    if (out->parent == NULL || out->children == NULL || out->order == NULL || s.seen == NULL) {
        code = cw_error_memory(error, "a spanning tree of the ranks");
    } else {
        out->parent[root] = HW_DIRS_MAX;
        s.seen[root] = true;
        out->order[s.reached++] = root;
        for (uint32_t i = 0; i < s.reached; i++)
            visit(&s, out->order[i]);
    }
    for (uint32_t rank = 0; code == CW_OK && rank < world_size; rank++)
        if (!s.seen[rank])
            code = cw_error_set(error, CW_USAGE,
                                "no queues lead from rank %u to rank %u%s; a logical topology that "
                                "joins all ranks (ring_1d, tree_binary) is legal",
                                root, rank, request->both_ways ? " and back" : "");
    free(s.seen);
    if (code != CW_OK)
        relay_free(out);
    return code;
}

int relay_check(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    if (hw_topology_is_directed(call->hw->sip_topology) || call->world_size == 1 ||
        !ccl_goes_by_machine(call->ccl))
        return CW_OK;
    char undirected[200];
    (void)ccl_refuse(refusal, "defaults.topology",
                     "topology: a %s goes along queues that join all ranks, and %s has none of its "
                     "own",
                     ccl_collective_name(call->collective), call->hw->sip_topology->name);
    return ccl_legal(
        refusal,
        "legal are the logical topologies ring_1d, mesh_2d, torus_2d, torus_3d, "
        "mesh_2d_no_wrap, tree_binary, and `none` on any machine but %s",
        hw_topology_list(hw_topology_is_undirected, "and", undirected, sizeof undirected));
}

void relay_free(struct relay *relay)
{
    free(relay->parent);
    free(relay->children);
    free(relay->order);
    *relay = (struct relay){0};
}

bool relay_folds(const struct ccl_call *call, const struct hw_fold *fold,
                 char why[CCL_FOLD_WHY_BYTES])
{
    (void)fold;
    snprintf(why, CCL_FOLD_WHY_BYTES, "rank %u is the root of a spanning tree, and others are not",
             call->root);
    return false;
}
