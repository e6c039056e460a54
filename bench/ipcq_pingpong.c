/*
 * ipcq_pingpong.c: one tile there and back between two PEs: what a queue costs when nothing else
 * happens. The first PE sends from its TCM; the second sends back the tile it received.
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
    TL_BEGIN(&f->line);
    if (tl_args(tl)->scalar[0] == 0) {
        TL_CALL(&f->line, tl_send(tl, HW_DIR_PEER, tl_tcm(0), bytes));
        TL_CALL(&f->line, tl_recv(tl, HW_DIR_PEER, bytes));
    } else {
        TL_CALL(&f->line, tl_recv(tl, HW_DIR_PEER, bytes));
        TL_CALL(&f->line, tl_send(tl, HW_DIR_PEER, tl_last(tl_received(tl)), bytes));
    }
    TL_END(&f->line);
}

static const struct tl_kernel kernel = {
    .name = "ipcq_pingpong", .frame_bytes = sizeof(struct frame), .run = ping};

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
    dist->pair[0] = hw_pe_index(hw, options->from);
    dist->pair[1] = hw_pe_index(hw, options->to);
    if (dist->pair[0] != dist->pair[1])
        return CW_OK;
    snprintf(error->text, sizeof error->text, "--from and --to name the same PE; name two");
    return CW_USAGE;
}

/* Both ends' kernels, launched at one moment, in order of (sip, cube, pe). */
static int once(struct bench_session *session, uint64_t n_elem, const struct hw_place ends[2],
                struct cw_error *error)
{
    const struct hw_config *hw = &session->config->hw;
    const bool swap = hw_pe_index(hw, ends[0]) > hw_pe_index(hw, ends[1]);
    int code = dist_begin_launch(session->dist, &kernel, error);
    for (int i = 0; i < 2 && code == CW_OK; i++) {
        const int end = swap ? 1 - i : i;
        struct tl_args args = {.n_elem = n_elem, .dtype = (uint8_t)session->options->dtype};
        args.scalar[0] = end;
        code = dist_launch(session->dist, ends[end], &kernel, args, error);
    }
    return code == CW_OK ? dist_drain(session->dist, error) : code;
}

static int run_pingpong(struct bench_session *session, struct cw_error *error)
{
    const struct hw_config *hw = &session->config->hw;
    const struct hw_place ends[2] = {session->options->from, session->options->to};
    const enum hw_memory slots = dist_slot_memory(&session->config->ccl);
    const int installed = dist_install(session->dist, error);
    if (installed != CW_OK)
        return installed;
    for (size_t i = 0; i < bench_size_count(session); i++) {
        const uint64_t n_elem = bench_size(session, i);
        const uint64_t bytes = n_elem * dtype_bytes(session->options->dtype);
        if (bytes > session->config->ccl.slot_bytes) {
            error->exit_code = CW_USAGE;
            snprintf(error->text, sizeof error->text,
                     "ipcq_pingpong sends one tile: %llu bytes do not fit in a slot of %u "
                     "(defaults.slot_size)",
                     (unsigned long long)bytes, session->config->ccl.slot_bytes);
            return CW_USAGE;
        }
        struct result_row *row = bench_add_row(session, "ipcq_pingpong", n_elem, 1.0, error);
        if (row == NULL)
            return error->exit_code;
        const uint32_t warmup = session->options->warmup;
        for (uint32_t k = 0; k < warmup + session->options->iterations; k++) {
            const int code = once(session, n_elem, ends, error);
            if (code != CW_OK)
                return code;
            if (k >= warmup)
                bench_row_sample(row, dist_times(session->dist));
        }
        row->bound_ps = hw_path_ps(hw, ends[0], ends[1], slots, HW_PORT_NONE, bytes) +
                        hw_path_ps(hw, ends[1], ends[0], slots, HW_PORT_NONE, bytes);
        const int code = bench_row_finish(session, row, session->options->iterations, error);
        if (code != CW_OK)
            return code;
    }
    return CW_OK;
}

const struct bench_program bench_ipcq_pingpong = {
    .name = "ipcq_pingpong", .prepare = prepare, .run = run_pingpong};
