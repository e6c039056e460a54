/*
 * ipcq_shift.c: every PE sends tiles in one direction and receives as many from the opposite one,
 * tile by tile: send, then receive the tile of `ahead` sends before. A PE without the neighbour
 * skips that half. Shows contention; with `ahead` the rate of links, and else their latency.
 */
#include <stdio.h>

#include "bench/programs/bench_program.h"

struct frame {
    uint16_t line;
    uint16_t reserved;
    uint32_t tile;
};

enum scalar { DIRECTION, TILES, AHEAD };

static enum tl_status shift(struct tl *tl, void *state)
{
    struct frame *f = state;
    const uint32_t bytes = tl_tile_bytes(tl, 0);
    const uint32_t tiles = (uint32_t)tl_args(tl)->scalar[TILES];
    const uint32_t ahead = (uint32_t)tl_args(tl)->scalar[AHEAD];
    const enum hw_dir to = (enum hw_dir)tl_args(tl)->scalar[DIRECTION];
    const enum hw_dir from = (enum hw_dir)(to ^ 1);
    TL_BEGIN(&f->line);
    for (f->tile = 0; f->tile < tiles + ahead; f->tile++) {
        if (f->tile < tiles && tl_installed(tl, to))
            TL_CALL(&f->line, tl_send(tl, to, tl_tcm(0), bytes));
        if (f->tile >= ahead && tl_installed(tl, from))
            TL_CALL(&f->line, tl_recv(tl, from, bytes));
    }
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {
    .name = "ipcq_shift", .frame_bytes = sizeof(struct frame), .run = shift};

/* One tile over the direction's shortest path, and all tiles through a PE's engine. */
static int64_t bound_ps(const struct bench_session *session, uint64_t bytes)
{
    const struct hw_config *hw = &session->config->hw;
    const enum hw_dir dir = session->options->dir;
    const enum hw_memory slots = session->config->ccl.queues.slots;
    const uint32_t pe_count = hw_pe_count(hw), step = hw_pes(hw) * hw_cubes(hw);
    const bool global = dir >= HW_DIR_GLOBAL_N && dir <= HW_DIR_GLOBAL_W;
    if (session->config->ccl.wiring == CCL_WIRING_PE0 && dir >= HW_DIR_INTRA_N)
        return 0; /* installed nowhere */
    int64_t least_ps = INT64_MAX;
    for (uint32_t pe = 0; pe < (global ? pe_count : step); pe++) {
        const struct hw_place from = hw_place_of(hw, pe);
        struct hw_place to;
        if (!hw_dir_neighbour(hw, from, dir, &to))
            continue;
        const int64_t ps = hw_tile_ps(
            hw, from, to, slots, global ? hw_route_global_exit(hw, dir) : HW_OUTLET_NONE, bytes);
        least_ps = ps < least_ps ? ps : least_ps;
        if (global && pe >= step) /* other SIPs' paths cost the same */
            break;
    }
    const int64_t engine_ps =
        hw_ser_ps(&hw->link[HW_LINK_PE_NOC], bytes * (session->options->tiles - 1ull));
    return least_ps == INT64_MAX ? 0 : least_ps + engine_ps;
}

/* The kernel on every wired PE, launched at one moment, in order of (sip, cube, pe). */
static int ipcq_shift_once(struct bench_session *session, uint64_t n_elem, struct cw_error *error)
{
    const struct hw_config *hw = &session->config->hw;
    const uint32_t pe_count = hw_pe_count(hw);
    const bool pe0 = session->config->ccl.wiring == CCL_WIRING_PE0;
    int code = lp_system_begin_batch(dist_system(session->dist), &kernel, error);
    for (uint32_t pe = 0; pe < pe_count && code == CW_OK; pe++) {
        const struct hw_place place = hw_place_of(hw, pe);
        struct tl_args args = {
            .n_elem = n_elem, .rank = place.sip, .dtype = (uint8_t)session->options->dtype};
        args.scalar[DIRECTION] = session->options->dir;
        args.scalar[TILES] = session->options->tiles;
        args.scalar[AHEAD] = session->options->ahead;
        if (!pe0 || place.pe == 0)
            code = lp_system_submit_launch(dist_system(session->dist),
                                           hw_pe_index(&session->config->hw, place), &kernel, &args,
                                           error);
    }
    return code == CW_OK ? dist_drain(session->dist, error) : code;
}

static int run_shift(struct bench_session *session, struct cw_error *error)
{
    if (session->options->ahead >= session->config->ccl.queues.n_slots)
        return cw_error_set(error, CW_USAGE,
                            "--ahead %u: all PEs would wait for a slot; a ring has %u "
                            "(defaults.n_slots), so at most %u",
                            session->options->ahead, session->config->ccl.queues.n_slots,
                            session->config->ccl.queues.n_slots - 1);
    return bench_run_tiles(session, ipcq_shift_once, bound_ps, error);
}

const struct bench_program bench_ipcq_shift = {
    .name = "ipcq_shift",
    .about = "every PE sends tiles in one direction (--dir, --tiles)",
    .takes = {"dir", "tiles", "ahead"},
    .run = run_shift};
