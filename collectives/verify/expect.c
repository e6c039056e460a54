/*
 * expect.c: the formulas that an algorithm's order of additions demands (order.h), in three levels,
 * each optional: the PEs of a cube, the cubes of a SIP, the ranks. A level is a grid that is
 * reduced to its root (rows, then the root's column); the ranks exchange by the rules of their
 * topology. Broadcasts add nothing: every shard of a rank ends with its SIP's value. Reductions on
 * paired dies have one shard per rank and one order for all ranks.
 */
#include "collectives/verify/expect.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/hook.h"
#include "collectives/verify/expect_order.h"
#include "collectives/verify/expect_plan.h"
#include "collectives/verify/sum_tree.h"
#include "hw/topology/topology.h"

/* Fewer elements than these are not worth waking a thread for. */
#define SHARED_ELEMS_MIN 32768u

struct expect {
    struct expect_plan plan;
    struct sums sums;
    struct schedule_values values;
};

/* The formulas while they are made. */
struct making {
    const struct expect_plan *plan;
    struct expect_sums sums;
    uint32_t *value, *result; /* [sips] of each rank */
    uint32_t *cubes, *pes;    /* of one SIP, of one cube */
};

/* ---- inside a SIP ---------------------------------------------------------------------------- */

/* Phases 1 and 2: every row to the root's column, then that column to the root. */
static uint32_t reduce_grid(struct expect_sums *sums, uint32_t *value, struct expect_grid grid)
{
    for (uint32_t y = 0; y < grid.h; y++)
        expect_converge(sums, value, (struct expect_line){y * grid.w, 1, grid.w}, grid.root_x);
    expect_converge(sums, value, (struct expect_line){grid.root_x, grid.w, grid.h}, grid.root_y);
    return value[grid.root_y * grid.w + grid.root_x];
}

/* Where PE `pe` is in the cube's grid: NW and NE above, SW and SE below. */
static uint32_t pe_place(const struct hw_config *hw, uint32_t pe)
{
    const enum hw_corner corner = hw->corner[pe / hw->pe_per_corner];
    const bool east = corner == HW_NE || corner == HW_SE;
    const bool south = corner == HW_SW || corner == HW_SE;
    const uint32_t x = pe % hw->pe_per_corner + (east ? hw->pe_per_corner : 0);
    return (south ? 2 * hw->pe_per_corner : 0) + x;
}

/* A rank's own value: its shards' inputs, reduced. */
static uint32_t value_of_rank(struct making *m, uint32_t rank)
{
    const struct expect_plan *const plan = m->plan;
    const uint32_t cubes = plan->cube_mesh.w * plan->cube_mesh.h;
    const uint32_t pes = plan->pe_grid.w * plan->pe_grid.h;
    for (uint32_t cube = 0; cube < cubes; cube++) {
        const uint32_t leaf = (rank * cubes + cube) * pes;
        m->cubes[cube] = leaf;
        if (!plan->order.pe_grid)
            continue;
        for (uint32_t pe = 0; pe < pes; pe++)
            m->pes[pe_place(plan->request.hw, pe)] = leaf + pe;
        m->cubes[cube] = reduce_grid(&m->sums, m->pes, plan->pe_grid);
    }
    return reduce_grid(&m->sums, m->cubes, plan->cube_mesh);
}

/* ---- between the ranks: from m->value to m->result ------------------------------------------- */

static void copy_results(struct making *m)
{
    memcpy(m->result, m->value, m->plan->sips * sizeof *m->result);
}

/* Rings in the rows, whose results are the values of rings in the columns. */
static void exchange_torus(struct making *m)
{
    const uint32_t w = m->plan->request.hw->sip_w, h = m->plan->request.hw->sip_h;
    for (uint32_t y = 0; y < h; y++)
        expect_ring(&m->sums, m->result, m->value, (struct expect_line){y * w, 1, w});
    memcpy(m->value, m->result, m->plan->sips * sizeof *m->value);
    for (uint32_t x = 0; x < w; x++)
        expect_ring(&m->sums, m->result, m->value, (struct expect_line){x, w, h});
}

static void reduce_line(struct making *m, struct expect_line line)
{
    const uint32_t last = line.length - 1;
    expect_converge(&m->sums, m->value, line, last);
    expect_spread(m->value, line, m->value[line.base + last * line.stride]);
}

/* Chains to the last column, back along the rows; then to the last row, back up the columns. */
static void exchange_mesh(struct making *m)
{
    const uint32_t w = m->plan->request.hw->sip_w, h = m->plan->request.hw->sip_h;
    for (uint32_t y = 0; y < h; y++)
        reduce_line(m, (struct expect_line){y * w, 1, w});
    for (uint32_t x = 0; x < w; x++) {
        const uint32_t kept_from = m->sums.kept_from;
        if (x < w - 1) /* its row's sum has come back to it */
            m->sums.kept_from = UINT32_MAX;
        reduce_line(m, (struct expect_line){x, w, h});
        m->sums.kept_from = kept_from;
    }
    copy_results(m);
}

/* Rank r: its own, plus its left child's (2r + 1), plus its right child's; rank 0's is all's. */
static void exchange_tree(struct making *m)
{
    const uint32_t sips = m->plan->sips;
    for (uint32_t rank = sips; rank-- > 0;)
        for (uint64_t child = 2ull * rank + 1; child <= 2ull * rank + 2; child++)
            if (child < sips)
                m->value[rank] = expect_sum(&m->sums, m->value[rank], m->value[child]);
    expect_spread(m->result, (struct expect_line){0, 1, sips}, m->value[0]);
}

/* The operands that order.operand() names for each rank, from left to right. The first is added to
 * where it stands, if it is the rank's own. */
static void exchange_listed(struct making *m)
{
    const struct expect_plan *const plan = m->plan;
    const uint32_t kept_from = m->sums.kept_from;
    const bool is_one = plan->one_order && !expect_in_f32(&plan->request);
    for (uint32_t rank = 0; rank < plan->sips; rank++) {
        if (rank > 0 && is_one) {
            m->result[rank] = m->result[0];
            continue;
        }
        const uint32_t first =
            CCL_HOOK("order.operand()", plan->order.operand, (rank, plan->sips, 0));
        uint32_t sum = m->value[first];
        if (kept_from != UINT32_MAX && first != rank)
            m->sums.kept_from = m->sums.values->nodes;
        for (uint32_t k = 1; k < plan->sips; k++)
            sum = expect_sum(
                &m->sums, sum,
                m->value[CCL_HOOK("order.operand()", plan->order.operand, (rank, plan->sips, k))]);
        m->result[rank] = sum;
        m->sums.kept_from = kept_from;
    }
}

/* By place: value i belongs to the rank on the i-th SIP of theirs. */
static void take_places(const struct making *m, uint32_t *place)
{
    const struct expect_plan *const plan = m->plan;
    for (uint32_t i = 0; i < plan->sips; i++)
        place[i] = m->value[plan->order.by_place ? ccl_rank_at(&plan->request.ccl->ranks, i) : i];
}

static void exchange_by_elements(struct making *m)
{
    const struct expect_plan *const plan = m->plan;
    uint32_t *const place = m->result; /* until the results are there */
    take_places(m, place);
    const uint32_t all =
        plan->order.between == CCL_BETWEEN_HALVES
            ? expect_halving(&m->sums, place, plan->sips)
            : expect_tree(&m->sums, place, plan->sips, plan->order.kept >= CCL_KEPT_AFTER_PAIRS);
    expect_spread(m->result, (struct expect_line){0, 1, plan->sips}, all);
}

/* The same values, and each rank's own way to round them. */
static void exchange_merged(struct making *m)
{
    const struct expect_plan *const plan = m->plan;
    uint32_t *const place = malloc(plan->sips * sizeof *place);
    m->sums.failed |= place == NULL;
    for (uint32_t sip = 0; sip < plan->sips && place != NULL; sip++) {
        take_places(m, place);
        m->result[ccl_rank_at(&plan->request.ccl->ranks, sip)] =
            expect_merged(&m->sums, place, plan->sips, sip);
    }
    free(place);
}

/* Only the root's tensor changes. */
static void exchange_relay(struct making *m)
{
    const struct relay *const relay = m->plan->request.relay;
    copy_results(m);
    m->result[relay->root] = expect_relay(&m->sums, m->value, relay);
}

static void exchange(struct making *m)
{
    const struct expect_plan *const plan = m->plan;
    const struct expect_line all = {0, 1, plan->sips};
    const struct hw_topology_ops *const topology = plan->request.hw->sip_topology;
    const enum ccl_between between = plan->order.between;
    if (plan->order.operand)
        exchange_listed(m);
    else if (plan->order.kept == CCL_KEPT_MERGED && expect_in_f32(&plan->request))
        exchange_merged(m);
    else if (between == CCL_BETWEEN_NEIGHBOURS || between == CCL_BETWEEN_HALVES)
        exchange_by_elements(m);
    else if (between == CCL_BETWEEN_RELAY)
        exchange_relay(m);
    else if (between == CCL_BETWEEN_TREE)
        exchange_tree(m);
    else if (plan->request.ccl->rank_invariant) {
        m->sums.kept_from = m->sums.values->nodes; /* all values are copied or received */
        expect_spread(m->result, all, expect_in_order(&m->sums, m->value, plan->sips));
    } else if (between == CCL_BETWEEN_SIPS && plan->sips > 1 &&
               topology->lines == HW_SIP_LINES_RINGS && topology->is_grid)
        exchange_torus(m);
    else if (between == CCL_BETWEEN_SIPS && plan->sips > 1 && topology->lines == HW_SIP_LINES_OPEN)
        exchange_mesh(m);
    else
        expect_ring(&m->sums, m->result, m->value, all);
}

/* ---- all formulas ---------------------------------------------------------------------------- */

/* Every shard of a rank ends with the rank's value. */
static void put_results(struct making *m, uint32_t part)
{
    struct schedule_values *const v = m->sums.values;
    const uint32_t shards = expect_plan_shards(m->plan);
    for (uint32_t i = 0; i < v->ranks; i++)
        v->output[(size_t)i * v->outputs + part] = m->result[i / shards];
}

/* Part by part, the tree of each rank. */
static bool exchange_trees(struct making *m)
{
    const struct expect_plan *const plan = m->plan;
    uint32_t *const stack = malloc((plan->depth + 1) * sizeof *stack);
    for (uint32_t part = 0; part < m->sums.values->outputs && stack != NULL; part++) {
        for (uint32_t rank = 0; rank < plan->sips; rank++) {
            const struct sum_tree tree = {&plan->order, rank, part, plan->sips};
            m->result[rank] = rank == 0 || plan->order.tree_by_rank
                                  ? sum_tree_add(&tree, &m->sums, m->value, stack)
                                  : m->result[0];
        }
        put_results(m, part);
    }
    free(stack);
    return stack != NULL;
}

static bool make_formulas(const struct expect_plan *plan, struct schedule_values *values)
{
    struct making m = {.plan = plan, .sums = {.values = values}};
    const uint32_t shards = expect_plan_shards(plan);
    values->ranks = values->leaves = values->nodes = plan->sips * shards;
    values->inputs = 1;
    values->outputs = plan->order.tree ? sum_tree_parts(&plan->order, plan->sips) : 1;
    values->output = malloc((size_t)values->ranks * values->outputs * sizeof *values->output);
    values->node = malloc((size_t)values->leaves * sizeof *values->node);
    m.sums.room = m.sums.kept_from = values->leaves;
    m.value = malloc(plan->sips * sizeof *m.value);
    m.result = malloc(plan->sips * sizeof *m.result);
    m.cubes = malloc((size_t)plan->cube_mesh.w * plan->cube_mesh.h * sizeof *m.cubes);
    m.pes = malloc((size_t)plan->pe_grid.w * plan->pe_grid.h * sizeof *m.pes);
    bool made = values->output != NULL && values->node != NULL && m.value != NULL &&
                m.result != NULL && m.cubes != NULL && m.pes != NULL;
    for (uint32_t rank = 0; made && rank < plan->sips; rank++)
        m.value[rank] = value_of_rank(&m, rank);
    if (plan->order.kept == CCL_KEPT_NONE)
        m.sums.kept_from = UINT32_MAX;
    if (made && plan->order.tree) {
        if (m.sums.kept_from != UINT32_MAX) /* which rank adds to its own value, trees do not say */
            m.sums.kept_from = values->nodes;
        made = exchange_trees(&m);
    } else if (made) {
        exchange(&m);
        put_results(&m, 0);
    }
    free(m.value);
    free(m.result);
    free(m.cubes);
    free(m.pes);
    return made && !m.sums.failed;
}

struct expect *expect_create(const struct expect_request *request, struct cw_error *error)
{
    assert(dtype_is_known(request->dtype) && redop_is_known(request->op) && request->n_elem);
    struct expect *const expect = calloc(1, sizeof *expect);
    if (!expect) {
        (void)cw_error_memory(error, "verification");
        return NULL;
    }
    if (!expect_plan_make(&expect->plan, request, error)) {
        expect_free(expect);
        return NULL;
    }
    if (!make_formulas(&expect->plan, &expect->values)) {
        (void)cw_error_memory(error, "verification");
        expect_free(expect);
        return NULL;
    }
    const struct expect_plan *const plan = &expect->plan;
    const uint32_t shards = expect_plan_shards(plan);
    const uint64_t elems = plan->sips * plan->result_elems * shards;
    expect->sums = (struct sums){.values = &expect->values,
                                 .members = shards,
                                 .shards = shards,
                                 .parts = 1,
                                 .scatters = plan->scatters,
                                 .of_input = plan->scatters,
                                 .dtype = request->dtype,
                                 .op = request->op,
                                 .in_f32 = expect_in_f32(request),
                                 .n_elem = request->n_elem,
                                 .seed = request->seed,
                                 .scaling = request->scaling,
                                 .given = request->values,
                                 .sim = elems >= SHARED_ELEMS_MIN ? request->sim : NULL};
    return expect;
}

void expect_free(struct expect *expect)
{
    if (!expect)
        return;
    free(expect->values.node);
    free(expect->values.wide);
    free(expect->values.output);
    free(expect);
}

uint32_t expect_ranks(const struct expect *expect) { return expect->plan.sips; }

uint64_t expect_result_elems(const struct expect *expect) { return expect->plan.result_elems; }

uint32_t expect_shards(const struct expect *expect) { return expect_plan_shards(&expect->plan); }

int expect_each(const struct expect *expect, sums_fn visit, void *arg, struct cw_error *error)
{
    return sums_each(&expect->sums, visit, arg, error);
}

int expect_verify(const struct expect *expect, uint32_t shards, expect_read_fn read, void *arg,
                  uint64_t *wrong, struct cw_error *error)
{
    struct sums sums = expect->sums;
    if (sums.members == 1)
        sums.shards = shards;
    return sums_compare(&sums, read, arg, wrong, error);
}
