/*
 * auto_scatter.c: the choice among the reduce-scatters (50-collectives.md, "Choice"): mesh for
 * small messages; else birs, or birs_inter for more than 16 ranks, where its conditions hold and it
 * is enabled; else rhd. Host side and pure.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collectives/algorithms/reduce_scatter.h"

enum { BIRS_RANKS_MAX = 16 };

static bool can(const struct ccl_algorithm *algorithm, const struct ccl_call *call,
                struct cw_error *error)
{
    const char *key;
    return algorithm->check(call, &key, error) == CW_OK;
}

static const struct ccl_algorithm *choose(const struct ccl_call *call, char *why, size_t why_bytes)
{
    const uint64_t bytes = call->n_elem * tl_itemsize(call->dtype);
    const uint64_t mesh_max = call->ccl->mesh_max_bytes;
    const struct ccl_algorithm *const birs =
        call->world_size > BIRS_RANKS_MAX ? &ccl_birs_inter : &ccl_birs;
    char small[256] = "";
    struct cw_error error = {.exit_code = CW_OK};
    if (bytes < mesh_max) {
        if (can(&ccl_mesh, call, &error)) {
            snprintf(why, why_bytes,
                     "%" PRIu64 " bytes per rank are below mesh_max_bytes, %" PRIu64, bytes,
                     mesh_max);
            return &ccl_mesh;
        }
        /* what is wrong, without what would be legal: it is not asked for by name */
        snprintf(small, sizeof small, "%.*s; ", (int)strcspn(error.text, ";"), error.text);
    }
    if (!call->ccl->birs_enable) {
        snprintf(why, why_bytes,
                 "%s%" PRIu64 " bytes per rank, and birs is not enabled (birs_enable: true, or "
                 "CUBEWARP_BIRS_ENABLE=TRUE)",
                 small, bytes);
        return &ccl_rhd;
    }
    if (!can(birs, call, &error)) {
        snprintf(why, why_bytes, "%sfalls back from birs: %s", small, error.text);
        return &ccl_rhd;
    }
    snprintf(why, why_bytes,
             "%s%" PRIu64 " bytes per rank, mesh_max_bytes being %" PRIu64 "; birs is enabled and "
             "its conditions hold",
             small, bytes, mesh_max);
    return birs;
}

static uint32_t auto_scatter_peers(const struct ccl_call *call) { return call->world_size - 1; }

const struct ccl_algorithm ccl_auto_scatter = {.name = "auto",
                                               .collective = CCL_REDUCE_SCATTER,
                                               .kernel = &birs_inter_kernel,
                                               .peers = auto_scatter_peers,
                                               .choose = choose,
                                               .mappers = CCL_RS_MAPPERS};
