/*
 * auto_scatter.c: the choice among the reduce-scatters (ALGORITHMS.md, "Other reduce-scatters and
 * the choice"): mesh for small messages; else birs, or birs_inter for more than 16 ranks, where its
 * conditions hold and it is enabled; else rhd. Host side and pure.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "collectives/algorithms/birs_inter.h"
#include "collectives/algorithms/reduce_scatter.h"

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

static void auto_scatter_choose(const struct ccl_call *call, struct ccl_choice *choice)
{
    const uint64_t bytes = call->n_elem * tl_itemsize(call->dtype);
    const uint64_t mesh_max = call->ccl->mesh_max_bytes;
    const struct ccl_algorithm *const birs =
        call->world_size > CCL_BIRS_RANKS_MAX ? &ccl_birs_inter : &ccl_birs;
    struct ccl_refusal refusal;
    if (bytes < mesh_max) {
        choice->algorithm = &ccl_mesh;
        if (ccl_mesh.check(call, &refusal) == CW_OK) {
            add_reason(choice, "%" PRIu64 " bytes per rank are below mesh_max_bytes, %" PRIu64,
                       bytes, mesh_max);
            return;
        }
        add_reason(choice, "%s; ", refusal.wrong);
    }
    choice->algorithm = &ccl_rhd;
    if (!call->ccl->birs_enable) {
        add_reason(choice,
                   "%" PRIu64 " bytes per rank, and birs is not enabled (birs_enable: true, "
                   "or CUBEWARP_BIRS_ENABLE=TRUE)",
                   bytes);
        return;
    }
    if (birs->check(call, &refusal) != CW_OK) {
        add_reason(choice, "falls back from birs: %s%s%s", refusal.wrong,
                   refusal.legal[0] != '\0' ? "; " : "", refusal.legal);
        snprintf(choice->advice, sizeof choice->advice, "%s", refusal.advice);
        return;
    }
    choice->algorithm = birs;
    add_reason(choice,
               "%" PRIu64 " bytes per rank, mesh_max_bytes being %" PRIu64 "; birs is "
               "enabled and its conditions hold",
               bytes, mesh_max);
}

static uint32_t auto_scatter_peers(const struct ccl_call *call) { return call->world_size - 1; }

const struct ccl_algorithm ccl_auto_scatter = {
    .name = "auto",
    .collective = CCL_REDUCE_SCATTER,
    .kernel = &birs_inter_kernel,
    .machine = {.mappers = CCL_RS_MAPPERS, .peers = auto_scatter_peers},
    .choose = auto_scatter_choose};
