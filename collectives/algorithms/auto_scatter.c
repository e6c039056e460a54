/*
 * auto_scatter.c: the choice among the reduce-scatters (ALGORITHMS.md, "The choice"): of those
 * whose conditions hold, the one with the least estimate (scatter_cost.h). Host side and pure.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "collectives/algorithms/birs_inter.h"
#include "collectives/algorithms/reduce_scatter.h"
#include "collectives/algorithms/scatter_cost.h"

#define ALGORITHM(name) extern const struct ccl_algorithm ccl_##name;
#include "collectives/algorithms/registry.h"
#undef ALGORITHM

/* Adds to the reason. */
__attribute__((format(printf, 2, 3))) static void add_reason(struct ccl_choice *choice,
                                                             const char *format, ...)
{
    const size_t used = strlen(choice->why);
    va_list args;
    va_start(args, format);
    vsnprintf(choice->why + used, sizeof choice->why - used, format, args);
    va_end(args);
}

/* An algorithm that may be chosen, and its cost. */
struct candidate {
    const struct ccl_algorithm *algorithm;
    int64_t (*cost_ps)(const struct ccl_call *call);
};

/* Takes the candidate if it is faster than the choice so far, and says its estimate; a refusal is
 * returned. The first candidate's estimate begins the reason. Without memory for an estimate there
 * is no choice: it would be another one. */
static int consider(const struct ccl_call *call, struct candidate candidate, int64_t *least_ps,
                    struct ccl_choice *choice, struct ccl_refusal *refusal)
{
    if (candidate.algorithm->check(call, refusal) != CW_OK)
        return CW_USAGE;
    const int64_t ps = candidate.cost_ps(call);
    if (ps == INT64_MAX) {
        *least_ps = INT64_MIN;
        choice->algorithm = NULL;
        return CW_OK;
    }
    add_reason(choice, "%s%s %.3f us", *least_ps == INT64_MAX ? "; estimates: " : ", ",
               candidate.algorithm->name, (double)ps * 1e-6);
    if (ps < *least_ps) {
        *least_ps = ps;
        choice->algorithm = candidate.algorithm;
    }
    return CW_OK;
}

static void auto_scatter_choose(const struct ccl_call *call, struct ccl_choice *choice)
{
    const struct ccl_config *const ccl = call->ccl;
    const uint64_t bytes = call->n_elem * tl_itemsize(call->dtype);
    const struct candidate mesh = {&ccl_mesh, scatter_cost_mesh_ps};
    const struct candidate rhd = {&ccl_rhd, scatter_cost_rhd_ps};
    const struct candidate birs =
        call->world_size > CCL_BIRS_RANKS_MAX
            ? (struct candidate){&ccl_birs_inter, scatter_cost_birs_inter_ps}
            : (struct candidate){&ccl_birs, scatter_cost_birs_ps};
    struct ccl_refusal no_mesh, no_rhd, no_birs;
    int64_t least_ps = INT64_MAX;
    choice->algorithm = &ccl_rhd; /* if nothing runs, its refusal says why */
    add_reason(choice, "%" PRIu64 " bytes per rank", bytes);
    const bool small = bytes < ccl->mesh_max_bytes;
    const int of_mesh = small ? consider(call, mesh, &least_ps, choice, &no_mesh) : CW_OK;
    (void)consider(call, rhd, &least_ps, choice, &no_rhd);
    const int of_birs =
        ccl->birs_enable ? consider(call, birs, &least_ps, choice, &no_birs) : CW_OK;
    if (!small)
        add_reason(choice, "; no mesh from mesh_max_bytes, %" PRIu64 ", on", ccl->mesh_max_bytes);
    else if (of_mesh != CW_OK)
        add_reason(choice, "; no mesh: %s", no_mesh.wrong);
    if (!ccl->birs_enable)
        add_reason(choice, "; birs is not enabled (birs_enable: true, or "
                           "CUBEWARP_BIRS_ENABLE=TRUE)");
    if (of_birs == CW_OK)
        return;
    add_reason(choice, "; no birs: %s%s%s", no_birs.wrong, no_birs.legal[0] != '\0' ? "; " : "",
               no_birs.legal);
    snprintf(choice->advice, sizeof choice->advice, "%s", no_birs.advice);
}

static uint32_t auto_scatter_peers(const struct ccl_call *call) { return call->world_size - 1; }

const struct ccl_algorithm ccl_auto_scatter = {
    .name = "auto",
    .collective = CCL_REDUCE_SCATTER,
    .kernel = &birs_inter_kernel,
    .machine = {.mappers = CCL_RS_MAPPERS, .peers = auto_scatter_peers},
    .choose = auto_scatter_choose};
