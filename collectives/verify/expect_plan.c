/*
 * expect_plan.c: checks a request against the machine and the algorithm's order (expect_plan.h). A
 * request is refused here if no order is specified for it, or if the machine cannot have it.
 */
#include "collectives/verify/expect_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/algorithm.h"
#include "collectives/hook.h"
#include "collectives/verify/sum_tree.h"
#include "hw/topology/topology.h"

/* The algorithm whose order is asked for; NULL: there is none, or it has no order. */
static const struct ccl_algorithm *expect_find(const struct expect_request *request,
                                               struct cw_error *error)
{
    const char *const module = request->module ? request->module : request->ccl->module;
    const struct ccl_algorithm *const algorithm = ccl_algorithm_load(module, error), *other;
    if (!algorithm || algorithm->order)
        return algorithm;
    (void)cw_error_set(error, CW_USAGE,
                       "verification: module %s has no specified order of additions; one of",
                       module);
    const char *comma = "";
    for (uint32_t i = 0; (other = ccl_algorithm_at(i)); i++)
        if (other->order) {
            const size_t n = strlen(error->text);
            snprintf(error->text + n, sizeof error->text - n, "%s %s", comma, other->name);
            comma = ",";
        }
    const size_t n = strlen(error->text);
    snprintf(error->text + n, sizeof error->text - n, " has");
    return NULL;
}

static uint32_t ranks_of(const struct expect_request *request)
{
    return request->ccl->world_size ? request->ccl->world_size : request->hw->sip_count;
}

/* The order between the ranks is the algorithm's own, whatever `between` says. */
static bool says_itself(const struct ccl_order *order)
{
    return order->operand != NULL || order->tree != NULL;
}

bool expect_plan_by_elements(const struct expect_plan *plan)
{
    return plan->scatters ||
           (!says_itself(&plan->order) && plan->order.between >= CCL_BETWEEN_NEIGHBOURS);
}

static bool check_machine(const struct expect_plan *plan, struct cw_error *error)
{
    const struct expect_request *const request = &plan->request;
    const struct hw_config *hw = request->hw;
    const struct hw_grid grid = hw_sip_grid(hw);
    char ringed[200];
    if (expect_plan_by_elements(plan)) {
        if (request->n_elem % ranks_of(request) == 0)
            return true;
        (void)cw_error_set(error, CW_USAGE, "%llu elements are no multiple of %u ranks",
                           (unsigned long long)request->n_elem, ranks_of(request));
        return false;
    }
    if (says_itself(&plan->order) || plan->order.between != CCL_BETWEEN_SIPS)
        return true;
    if (request->ccl->world_size && request->ccl->world_size != hw->sip_count) {
        (void)cw_error_set(error, CW_USAGE,
                           "verification: world_size %u is not the number of SIPs, %u",
                           request->ccl->world_size, hw->sip_count);
        return false;
    }
    if (hw->sip_count == 1)
        return true;
    if (!hw_topology_is_directed(hw->sip_topology)) {
        (void)cw_error_set(error, CW_USAGE, "%s: %s has no global_* directions; use ring_allreduce",
                           plan->name, hw->sip_topology->name);
        return false;
    }
    if (request->ccl->rank_invariant && !hw_topology_is_ringed(hw->sip_topology)) {
        (void)cw_error_set(error, CW_USAGE, "rank_invariant: not offered on %s; legal on %s",
                           hw->sip_topology->name,
                           hw_topology_list(hw_topology_is_ringed, "and", ringed, sizeof ringed));
        return false;
    }
    if ((uint64_t)grid.w * grid.h != hw->sip_count) {
        (void)cw_error_set(error, CW_USAGE, "%u x %u SIPs are not %u", hw->sip_w, hw->sip_h,
                           hw->sip_count);
        return false;
    }
    return true;
}

/* The operands that order.operand() names for a rank are the ranks, each once. */
static bool check_operands(struct expect_plan *plan, uint32_t rank, bool *seen,
                           struct cw_error *error)
{
    const uint32_t n = plan->sips;
    memset(seen, 0, n * sizeof *seen);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t operand = CCL_HOOK("order.operand()", plan->order.operand, (rank, n, k));
        if (operand >= n || seen[operand]) {
            (void)cw_error_set(
                error, CW_USAGE,
                "verification: operand %u of rank %u, in the order of %s, is rank %u%s; legal is "
                "each of 0 to %u once",
                k, rank, plan->name, operand, operand < n ? " again" : "", n - 1);
            return false;
        }
        seen[operand] = true;
        plan->one_order &= operand == CCL_HOOK("order.operand()", plan->order.operand, (0, n, k));
    }
    return true;
}

static bool check_order(struct expect_plan *plan, struct cw_error *error)
{
    const struct ccl_order *const order = &plan->order;
    bool good = true;
    if (expect_plan_by_elements(plan) &&
        ((!says_itself(order) && order->between < CCL_BETWEEN_NEIGHBOURS) || order->pe_grid ||
         order->cube_mesh)) {
        (void)cw_error_set(
            error, CW_USAGE,
            "verification: the order of %s is none of a reduce-scatter; legal: one shard per "
            "rank, and between ranks neighbours, halves, operands or trees by name",
            plan->name);
        return false;
    }
    if (order->tree)
        return sum_tree_check(order, plan->sips, plan->name, &plan->depth, error);
    if (!order->operand)
        return true;
    bool *const seen = calloc(plan->sips, sizeof *seen);
    if (!seen) {
        (void)cw_error_set(error, CW_NO_RESOURCE, "out of memory: %zu bytes",
                           plan->sips * sizeof *seen);
        return false;
    }
    plan->one_order = true;
    for (uint32_t rank = 0; rank < plan->sips && good; rank++)
        good = check_operands(plan, rank, seen, error);
    free(seen);
    return good;
}

static bool make_grids(struct expect_plan *plan, struct cw_error *error)
{
    const struct hw_config *hw = plan->request.hw;
    const struct ccl_config *ccl = plan->request.ccl;
    const bool corner = ccl->root == CCL_ROOT_CORNER;
    plan->pe_grid = plan->cube_mesh = (struct expect_grid){.w = 1, .h = 1};
    if (plan->order.cube_mesh) {
        struct expect_grid mesh = {hw->cube_w, hw->cube_h, hw->cube_w / 2, hw->cube_h / 2};
        if (corner)
            mesh.root_x = mesh.w - 1, mesh.root_y = mesh.h - 1;
        else if (ccl->root == CCL_ROOT_XY)
            mesh.root_x = ccl->root_x, mesh.root_y = ccl->root_y;
        if (mesh.root_x >= mesh.w || mesh.root_y >= mesh.h) {
            (void)cw_error_set(error, CW_USAGE, "root %u,%u is outside of the %u x %u cubes",
                               mesh.root_x, mesh.root_y, mesh.w, mesh.h);
            return false;
        }
        plan->cube_mesh = mesh;
    }
    if (plan->order.pe_grid) {
        struct expect_grid grid = {2 * hw->pe_per_corner, 2, hw->pe_per_corner, 1};
        if (corner)
            grid.root_x = grid.w - 1;
        if (hw->corner_count != HW_CORNERS) {
            (void)cw_error_set(error, CW_USAGE, "%s needs PEs in all four corners, there are %u",
                               plan->name, hw->corner_count);
            return false;
        }
        plan->pe_grid = grid;
    }
    return true;
}

bool expect_plan_make(struct expect_plan *plan, const struct expect_request *request,
                      struct cw_error *error)
{
    const struct ccl_algorithm *const algorithm = expect_find(request, error);
    if (!algorithm)
        return false;
    *plan = (struct expect_plan){.request = *request,
                                 .name = algorithm->name,
                                 .order = *algorithm->order,
                                 .scatters = algorithm->collective == CCL_REDUCE_SCATTER,
                                 .sips = ranks_of(request)};
    plan->result_elems = plan->scatters ? request->n_elem / plan->sips : request->n_elem;
    return check_machine(plan, error) && check_order(plan, error) && make_grids(plan, error);
}

uint32_t expect_plan_shards(const struct expect_plan *plan)
{
    return plan->cube_mesh.w * plan->cube_mesh.h * plan->pe_grid.w * plan->pe_grid.h;
}
