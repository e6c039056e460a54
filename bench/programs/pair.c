/*
 * pair.c: two PEs, --from and --to (pair.h).
 */
#include "bench/programs/pair.h"

#include <stdio.h>

#include "collectives/choice/cost_times.h"

enum hw_dir pair_direction(const struct config *config, struct hw_place from, struct hw_place to)
{
    static const enum hw_port order[HW_PORTS] = {HW_PORT_E, HW_PORT_S, HW_PORT_W, HW_PORT_N};
    const uint32_t wanted = hw_pe_index(&config->hw, to);
    const bool intra = config->ccl.wiring == CCL_WIRING_ALL_PES;
    for (uint32_t i = 0; i < (intra ? 3 : 2) * HW_PORTS; i++) {
        const enum hw_dir dir = (enum hw_dir)(i / HW_PORTS * HW_PORTS + order[i % HW_PORTS]);
        struct hw_place neighbour;
        if (hw_dir_neighbour(&config->hw, from, dir, &neighbour) &&
            hw_pe_index(&config->hw, neighbour) == wanted)
            return dir;
    }
    return HW_DIR_PEER;
}

int pair_prepare(struct bench_session *session, struct dist_options *dist, struct cw_error *error)
{
    const struct run_options *options = session->options;
    const struct config *config = session->config;
    const struct hw_config *hw = &config->hw;
    if (config->ccl.wiring == CCL_WIRING_PE0 && (options->from.pe != 0 || options->to.pe != 0))
        return cw_error_set(
            error, CW_USAGE,
            "--from and --to: wiring pe0 installs queues on PE 0 of each cube only; name PE 0 "
            "at both ends, or set defaults.wiring=all_pes");
    const uint32_t from = hw_pe_index(hw, options->from), to = hw_pe_index(hw, options->to);
    if (from != to) {
        const bool own = pair_direction(config, options->from, options->to) == HW_DIR_PEER;
        dist->pair[0] = own ? from : 0;
        dist->pair[1] = own ? to : 0;
        return CW_OK;
    }
    return cw_error_set(error, CW_USAGE, "--from and --to name the same PE; name two");
}

static int64_t path_ps(const struct bench_session *session, struct hw_place from,
                       struct hw_place to, uint64_t bytes, bool back)
{
    const struct hw_config *hw = &session->config->hw;
    const enum hw_dir dir = back ? (enum hw_dir)(pair_direction(session->config, to, from) ^ 1)
                                 : pair_direction(session->config, from, to);
    const bool global = dir >= HW_DIR_GLOBAL_N && dir <= HW_DIR_GLOBAL_W;
    return hw_tile_ps(hw, from, to, session->config->ccl.queues.slots,
                      global ? hw_route_global_exit(hw, from.sip, dir) : HW_OUTLET_NONE,
                      dir == HW_DIR_PEER ? dir : (uint32_t)dir ^ 1, bytes);
}

struct hw_bound pair_bound(const struct bench_session *session, uint64_t bytes)
{
    const struct hw_place from = session->options->from, to = session->options->to;
    return (struct hw_bound){.ps = path_ps(session, from, to, bytes, false) +
                                   path_ps(session, to, from, bytes, true),
                             .by = "path"};
}

double pair_events(const struct run_options *options, const struct config *config)
{
    const struct ccl_call call = {.hw = &config->hw, .ccl = &config->ccl};
    const uint64_t bytes = config->ccl.queues.slot_bytes;
    return 2 + cost_send_events(&call, cost_hops(&config->hw, options->from, options->to), bytes) +
           cost_send_events(&call, cost_hops(&config->hw, options->to, options->from), bytes);
}

double pair_launch_events(const struct config *config)
{
    return 2 * cost_launch_events(&config->hw, false);
}
