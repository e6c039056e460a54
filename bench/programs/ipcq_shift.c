/*
 * ipcq_shift.c: every PE sends tiles in one direction and receives as many from the opposite one,
 * tile by tile: send, then receive the tile of `ahead` sends before. A PE without the neighbour
 * skips that half. Shows contention; with `ahead` the rate of links, and else their latency. Its
 * bound counts the tiles on each link.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "bench/programs/bench_program.h"
#include "collectives/choice/cost_times.h"

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

/* ---- the bound ------------------------------------------------------------------------------- */

/* A link, by the nodes at its ends, in the tiles' direction; and how many senders' tiles take it.
 */
struct end {
    uint32_t kind, sip, cube, index, port;
};
struct load {
    struct end from, to;
    uint32_t kind, senders; /* 0 senders: an empty place */
};

/* The links of all paths: a hash table, of a power of two places. */
struct loads {
    struct load *place;
    size_t places, used;
    struct end node; /* on the path that is walked: the last one, */
    uint32_t link;   /* the kind of the link after it, */
    uint32_t nodes;  /* and their number */
};

static struct load *find_load(const struct loads *loads, const struct load *wanted)
{
    const size_t key = offsetof(struct load, senders);
    size_t i = XXH3_64bits(wanted, key);
    while (loads->place[i &= loads->places - 1].senders > 0 &&
           memcmp(&loads->place[i], wanted, key) != 0)
        i++;
    return &loads->place[i];
}

static bool make_room(struct loads *loads)
{
    if (loads->used * 2 < loads->places)
        return true;
    struct loads more = {.places = loads->places > 0 ? 2 * loads->places : 1024,
                         .used = loads->used};
    more.place = calloc(more.places, sizeof *more.place);
    for (size_t i = 0; i < loads->places && more.place != NULL; i++)
        if (loads->place[i].senders > 0)
            *find_load(&more, &loads->place[i]) = loads->place[i];
    if (more.place == NULL)
        return false;
    free(loads->place);
    loads->place = more.place;
    loads->places = more.places;
    return true;
}

/* The first link of a path is left out: the engine stands for it. */
static void count_link(void *arg, const struct hw_path_step *step)
{
    struct loads *const loads = arg;
    const bool is_switch =
        !step->is_link && hw_node_is_switch((enum hw_node_kind)step->kind); /* one for all SIPs */
    if (step->is_link) {
        loads->link = step->kind;
        return;
    }
    const struct end node = {step->kind, is_switch ? UINT32_MAX : step->sip,
                             is_switch ? UINT32_MAX : step->cube, step->index, step->port};
    const struct load load = {.from = loads->node, .to = node, .kind = loads->link};
    loads->node = node;
    if (loads->nodes++ < 2 || !make_room(loads))
        return;
    struct load *const counted = find_load(loads, &load);
    if (counted->senders == 0) {
        *counted = load;
        loads->used++;
    }
    counted->senders++;
}

/* The longest path of a tile, once its PE's engine has sent all others; and the link that the most
 * tiles take, of as many as there is memory for. */
static struct hw_bound shift_bound(const struct bench_session *session, uint64_t bytes)
{
    const struct hw_config *hw = &session->config->hw;
    const enum hw_dir dir = session->options->dir;
    const enum hw_memory slots = session->config->ccl.queues.slots;
    const uint32_t tiles = session->options->tiles, of_sip = hw_pes(hw) * hw_cubes(hw);
    const bool global = dir >= HW_DIR_GLOBAL_N && dir <= HW_DIR_GLOBAL_W;
    const uint32_t queue = (uint32_t)dir ^ 1;
    const bool pe0 = session->config->ccl.wiring == CCL_WIRING_PE0;
    struct hw_bound bound = {.by = "path"};
    struct loads loads = {0};
    if (pe0 && dir >= HW_DIR_INTRA_N)
        return bound; /* installed nowhere */
    for (uint32_t pe = 0; pe < (global ? hw_pe_count(hw) : of_sip); pe++) {
        const struct hw_place from = hw_place_of(hw, pe);
        struct hw_place to;
        if ((pe0 && from.pe != 0) || !hw_dir_neighbour(hw, from, dir, &to))
            continue;
        const uint32_t outlet = global ? hw_route_global_exit(hw, from.sip, dir) : HW_OUTLET_NONE;
        const int64_t ps = hw_tile_ps(hw, from, to, slots, outlet, queue, bytes) +
                           hw_ser_ps(&hw->link[HW_LINK_PE_NOC], bytes * (tiles - 1ull));
        bound.ps = ps > bound.ps ? ps : bound.ps;
        loads.nodes = 0;
        hw_path_walk(hw, from, to, hw_has_slot_access(hw, slots) ? HW_MEMORY_NONE : slots, outlet,
                     queue, count_link, &loads);
    }
    for (size_t i = 0; i < loads.places; i++) {
        const struct load *const load = &loads.place[i];
        struct hw_bound of_link = {.by = hw_link_name_of(hw, load->kind)};
        of_link.ps = hw_ser_ps(&hw->link[load->kind], bytes * tiles * load->senders);
        of_link.class_ps[load->kind] = of_link.ps;
        hw_bound_join(&bound, &of_link);
    }
    free(loads.place);
    return bound;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* The kernel on every wired PE, launched at one moment, in order of (sip, cube, pe). */
static int ipcq_shift_once(struct bench_session *session, uint64_t n_elem, struct cw_error *error)
{
    const struct hw_config *hw = &session->config->hw;
    const uint32_t pe_count = hw_pe_count(hw);
    const bool pe0 = session->config->ccl.wiring == CCL_WIRING_PE0;
    int code = lp_system_begin_batch(dist_system(session->dist),
                                     &(struct lp_batch_options){.kernel = &kernel}, error);
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
    return bench_run_tiles(session, ipcq_shift_once, shift_bound, error);
}

/* All SIPs are taken for alike. */
static struct bench_own shift_work(const struct run_options *options, const struct config *config)
{
    const struct hw_config *const hw = &config->hw;
    const struct ccl_call call = {.hw = hw, .ccl = &config->ccl};
    const uint32_t pes = hw_cubes(hw) * hw_pes(hw);
    double events = 0;
    for (uint32_t pe = 0; pe < pes; pe++) {
        const struct hw_place from = hw_place_of(hw, pe);
        struct hw_place to;
        if (config->ccl.wiring == CCL_WIRING_PE0 && from.pe != 0)
            continue;
        events += cost_launch_events(hw, false);
        if (hw_dir_neighbour(hw, from, options->dir, &to))
            events += options->tiles * (1 + cost_send_events(&call, cost_hops(hw, from, to),
                                                             config->ccl.queues.slot_bytes));
    }
    return (struct bench_own){.events = events * hw->sip_count};
}

const struct bench_program bench_ipcq_shift = {
    .name = "ipcq_shift",
    .about = "every PE sends tiles in one direction (--dir, --tiles)",
    .takes = {"dir", "tiles", "ahead"},
    .own = shift_work,
    .run = run_shift};
