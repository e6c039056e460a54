/*
 * ipcq_pingpong.c: one tile there and back between two PEs: what a queue costs when nothing else
 * happens. The first PE sends from its TCM; the second sends back the tile it received. Neighbours
 * use the installed queue between them (of several, the one a route would take: E, S, W, N);
 * other pairs get a queue of their own over ordinary routes.
 */
#include <stdio.h>

#include "bench/program.h"

struct frame {
    uint16_t line;
};

static enum tl_status ping(struct tl *tl, void *state)
{
    struct frame *f = state;
    const uint32_t bytes = tl_tile_bytes(tl, 0);
    const enum hw_dir dir = (enum hw_dir)tl_args(tl)->scalar[1];
    TL_BEGIN(&f->line);
    if (tl_args(tl)->scalar[0] == 0) {
        TL_CALL(&f->line, tl_send(tl, dir, tl_tcm(0), bytes));
        TL_CALL(&f->line, tl_recv(tl, dir, bytes));
    } else {
        TL_CALL(&f->line, tl_recv(tl, dir, bytes));
        TL_CALL(&f->line, tl_send(tl, dir, tl_last(tl_received(tl)), bytes));
    }
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {
    .name = "ipcq_pingpong", .frame_bytes = sizeof(struct frame), .run = ping};

/* The installed direction that leads from one end to the other, or `peer`. */
static enum hw_dir direction(const struct config *config, struct hw_place from, struct hw_place to)
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

static int prepare(struct bench_session *session, struct dist_options *dist, struct cw_error *error)
{
    const struct run_options *options = session->options;
    const struct config *config = session->config;
    const struct hw_config *hw = &config->hw;
    error->exit_code = CW_USAGE;
    if (config->ccl.wiring == CCL_WIRING_PE0 && (options->from.pe != 0 || options->to.pe != 0)) {
        snprintf(error->text, sizeof error->text,
                 "--from and --to: wiring pe0 installs queues on PE 0 of each cube only; name PE 0 "
                 "at both ends, or set defaults.wiring=all_pes");
        return CW_USAGE;
    }
    const uint32_t from = hw_pe_index(hw, options->from), to = hw_pe_index(hw, options->to);
    if (from != to) {
        const bool own = direction(config, options->from, options->to) == HW_DIR_PEER;
        dist->pair[0] = own ? from : 0;
        dist->pair[1] = own ? to : 0;
        return CW_OK;
    }
    snprintf(error->text, sizeof error->text, "--from and --to name the same PE; name two");
    return CW_USAGE;
}

/* Both ends' kernels, launched at one moment, in order of (sip, cube, pe). */
static int once(struct bench_session *session, uint64_t n_elem, struct cw_error *error)
{
    const struct hw_place ends[2] = {session->options->from, session->options->to};
    const struct hw_config *hw = &session->config->hw;
    const enum hw_dir dir = direction(session->config, ends[0], ends[1]);
    const enum hw_dir back = dir == HW_DIR_PEER ? dir : (enum hw_dir)(dir ^ 1);
    const bool swap = hw_pe_index(hw, ends[0]) > hw_pe_index(hw, ends[1]);
    int code = dist_begin_launch(session->dist, &kernel, error);
    for (int i = 0; i < 2 && code == CW_OK; i++) {
        const int end = swap ? 1 - i : i;
        struct tl_args args = {.n_elem = n_elem, .dtype = (uint8_t)session->options->dtype};
        args.scalar[0] = end;
        args.scalar[1] = end == 0 ? dir : back;
        code = dist_launch(session->dist, ends[end], &kernel, args, error);
    }
    return code == CW_OK ? dist_drain(session->dist, error) : code;
}

/* An empty fabric's time for the tile, by the route that the queue takes. */
static int64_t path_ps(const struct bench_session *session, struct hw_place from,
                       struct hw_place to, uint64_t bytes, bool back)
{
    const struct hw_config *hw = &session->config->hw;
    const enum hw_dir dir = back ? (enum hw_dir)(direction(session->config, to, from) ^ 1)
                                 : direction(session->config, from, to);
    const bool global = dir >= HW_DIR_GLOBAL_N && dir <= HW_DIR_GLOBAL_W;
    return hw_path_ps(hw, from, to, dist_slot_memory(&session->config->ccl),
                      global ? hw_route_global_exit(hw, dir) : HW_PORT_NONE, bytes);
}

static int64_t bound_ps(const struct bench_session *session, uint64_t bytes)
{
    const struct hw_place from = session->options->from, to = session->options->to;
    return path_ps(session, from, to, bytes, false) + path_ps(session, to, from, bytes, true);
}

static int run_pingpong(struct bench_session *session, struct cw_error *error)
{
    return bench_run_tiles(session, once, bound_ps, error);
}

const struct bench_program bench_ipcq_pingpong = {
    .name = "ipcq_pingpong", .prepare = prepare, .run = run_pingpong};
