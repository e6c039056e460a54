/*
 * ipcq_pingpong.c: one tile there and back between two PEs: the time that a queue takes when
 * nothing else happens. The first PE sends from its TCM; the second sends back the tile it
 * received. Neighbours use the installed queue between them (of several, the one a route would
 * take: E, S, W, N); other pairs get a queue of their own over ordinary routes.
 */
#include "bench/programs/pair.h"

struct frame {
    uint16_t line;
};

static enum tl_status ipcq_pingpong_ping(struct tl *tl, void *state)
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
    .name = "ipcq_pingpong", .frame_bytes = sizeof(struct frame), .run = ipcq_pingpong_ping};

/* Both ends' kernels, launched at one moment, in order of (sip, cube, pe). */
static int once(struct bench_session *session, uint64_t n_elem, struct cw_error *error)
{
    const struct hw_place ends[2] = {session->options->from, session->options->to};
    const struct hw_config *hw = &session->config->hw;
    const enum hw_dir dir = pair_direction(session->config, ends[0], ends[1]);
    const enum hw_dir back = dir == HW_DIR_PEER ? dir : (enum hw_dir)(dir ^ 1);
    const bool swap = hw_pe_index(hw, ends[0]) > hw_pe_index(hw, ends[1]);
    int code = lp_system_begin_batch(dist_system(session->dist),
                                     &(struct lp_batch_options){.kernel = &kernel}, error);
    for (int i = 0; i < 2 && code == CW_OK; i++) {
        const int end = swap ? 1 - i : i;
        struct tl_args args = {.n_elem = n_elem, .dtype = (uint8_t)session->options->dtype};
        args.scalar[0] = end;
        args.scalar[1] = end == 0 ? dir : back;
        code = lp_system_submit_launch(dist_system(session->dist),
                                       hw_pe_index(&session->config->hw, ends[end]), &kernel, &args,
                                       error);
    }
    return code == CW_OK ? dist_drain(session->dist, error) : code;
}

static int run_pingpong(struct bench_session *session, struct cw_error *error)
{
    return bench_run_tiles(session, once, pair_bound, error);
}

static struct bench_own own_work(const struct run_options *options, const struct config *config)
{
    return (struct bench_own){.events = pair_launch_events(config) + pair_events(options, config)};
}

const struct bench_program bench_ipcq_pingpong = {
    .name = "ipcq_pingpong",
    .about = "one tile there and back between two PEs (--from, --to)",
    .takes = {"from", "to"},
    .own = own_work,
    .prepare = pair_prepare,
    .run = run_pingpong};
