/*
 * raw_store.c: the cost of a queue beyond moving its bytes: a tile there and back between two PEs,
 * by IPCQ (send, receive), and by raw stores into the other's memory, each acknowledged over the
 * same path. Both send from TCM; neither reads the tile that has arrived. The IPCQ figure is the
 * second of three round trips, so that neither launches nor completions are in it; stores are one
 * after the other, from either end.
 */
#include "bench/programs/pair.h"

enum { ROUNDS = 3, TIMED = 1 };

struct frame {
    uint16_t line;
    uint16_t reserved[3];
    uint32_t round;
};

enum scalar { SECOND, DIRECTION, PEER, SPACE, PLACE };

static const char *const round_name[ROUNDS] = {"first round trip", "second round trip",
                                               "third round trip"};

static enum tl_status raw_store_ping(struct tl *tl, void *state)
{
    struct frame *f = state;
    const uint32_t bytes = tl_tile_bytes(tl, 0);
    const enum hw_dir dir = (enum hw_dir)tl_args(tl)->scalar[DIRECTION];
    const bool second = tl_args(tl)->scalar[SECOND] != 0;
    TL_BEGIN(&f->line);
    for (f->round = 0; f->round < ROUNDS; f->round++) {
        if (!second) {
            tl_phase(tl, f->round);
            TL_CALL(&f->line, tl_send(tl, dir, tl_tcm(0), bytes));
        }
        TL_CALL(&f->line, tl_recv(tl, dir, bytes));
        if (second)
            TL_CALL(&f->line, tl_send(tl, dir, tl_tcm(0), bytes));
    }
    TL_END(&f->line);
}

static const struct tl_kernel ping_kernel = {.name = "ipcq_round_trips",
                                             .frame_bytes = sizeof(struct frame),
                                             .run = raw_store_ping,
                                             .phase = round_name,
                                             .phase_count = ROUNDS};

static enum tl_status raw_store_store(struct tl *tl, void *state)
{
    struct frame *f = state;
    const int64_t *scalar = tl_args(tl)->scalar;
    const struct lp_operand dst = {.space = (uint8_t)scalar[SPACE], .at = (uint32_t)scalar[PLACE]};
    TL_BEGIN(&f->line);
    TL_CALL(&f->line,
            tl_store_to(tl, (uint32_t)scalar[PEER], dst, tl_tcm(0), tl_tile_bytes(tl, 0)));
    TL_END(&f->line);
}

static const struct tl_kernel store_kernel = {
    .name = "raw_store", .frame_bytes = sizeof(struct frame), .run = raw_store_store};

/* From ends[0] to ends[1]. */
static int launch(struct bench_session *session, const struct tl_kernel *kernel,
                  const struct hw_place ends[2], bool second, uint64_t n_elem,
                  struct cw_error *error)
{
    static const enum lp_space space[] = {[HW_MEMORY_TCM] = LP_SPACE_TCM,
                                          [HW_MEMORY_HBM] = LP_SPACE_HBM,
                                          [HW_MEMORY_SRAM] = LP_SPACE_SRAM};
    const struct config *config = session->config;
    const enum hw_memory memory = config->ccl.queues.slots;
    const uint64_t behind_rings = lp_system_model(dist_system(session->dist))->rings.end;
    enum hw_dir dir = pair_direction(config, ends[second], ends[!second]);
    if (second && dir != HW_DIR_PEER) /* the queue's other direction, also where there are two */
        dir = (enum hw_dir)(dir ^ 1);
    struct tl_args args = {
        .n_elem = n_elem,
        .rank = ends[0].sip,
        .dtype = (uint8_t)session->options->dtype,
        .scalar = {[SECOND] = second,
                   [DIRECTION] = dir,
                   [PEER] = hw_pe_index(&config->hw, ends[1]),
                   [SPACE] = space[memory],
                   [PLACE] = memory == HW_MEMORY_TCM ? 0 : (int64_t)behind_rings}};
    return lp_system_submit_launch(dist_system(session->dist),
                                   hw_pe_index(&session->config->hw, ends[0]), kernel, &args,
                                   error);
}

/* Both kernels, in order of (sip, cube, pe); the second round trip's time is added to the row. */
static int round_trip(struct bench_session *session, uint64_t n_elem, struct result_row *row,
                      struct cw_error *error)
{
    const struct hw_place from = session->options->from, to = session->options->to;
    const struct hw_config *hw = &session->config->hw;
    const bool swap = hw_pe_index(hw, from) > hw_pe_index(hw, to);
    int code = lp_system_begin_batch(dist_system(session->dist),
                                     &(struct lp_batch_options){.kernel = &ping_kernel}, error);
    for (int i = 0; i < 2 && code == CW_OK; i++) {
        const bool second = swap ? i == 0 : i == 1;
        const struct hw_place ends[2] = {second ? to : from, second ? from : to};
        code = launch(session, &ping_kernel, ends, second, n_elem, error);
    }
    if (code == CW_OK)
        code = dist_drain(session->dist, error);
    if (code != CW_OK)
        return code;
    struct lp_system *const system = dist_system(session->dist);
    const struct lp_phases *phases = lp_system_phases_of(system, lp_system_current_batch(system));
    const int64_t *exit_ps = &phases->exit_ps[(size_t)from.sip * phases->count];
    const struct lp_times *const times = lp_system_times(system);
    const int64_t round_ps = exit_ps[TIMED] - exit_ps[TIMED - 1];
    bench_row_sample(row, times, repeat_weight(&session->repeat));
    row->time_ps +=
        repeat_weight(&session->repeat) * (round_ps - (times->last_end_ps - times->first_start_ps));
    return code;
}

/* A store from either end, one after the other. */
static int stores(struct bench_session *session, uint64_t n_elem, struct result_row *row,
                  struct cw_error *error)
{
    const struct hw_place there[2] = {session->options->from, session->options->to};
    const struct hw_place back[2] = {there[1], there[0]};
    for (int i = 0; i < 2; i++) {
        int code = lp_system_begin_batch(
            dist_system(session->dist), &(struct lp_batch_options){.kernel = &store_kernel}, error);
        if (code == CW_OK)
            code = launch(session, &store_kernel, i == 0 ? there : back, false, n_elem, error);
        if (code == CW_OK)
            code = dist_drain(session->dist, error);
        if (code != CW_OK)
            return code;
        bench_row_sample(row, lp_system_times(dist_system(session->dist)),
                         repeat_weight(&session->repeat));
    }
    return CW_OK;
}

/* One row: warm-up, then timed iterations. */
static int raw_store_measure(struct bench_session *session, const char *name, uint64_t n_elem,
                             int (*once)(struct bench_session *, uint64_t, struct result_row *,
                                         struct cw_error *),
                             struct cw_error *error)
{
    struct result_row *row = bench_add_row(session, name, n_elem, error);
    if (row == NULL)
        return error->exit_code;
    bench_calls_begin(session);
    for (uint32_t i = 0; repeat_goes_on(&session->repeat, i); i++) {
        const int code = once(session, n_elem, row, error);
        if (code != CW_OK)
            return code;
        bench_called(session);
    }
    bench_set_bound(row, pair_bound(session, row->bytes));
    return bench_row_finish(session, row, lp_system_current_batch(dist_system(session->dist)),
                            session->options->iterations, error);
}

static int raw_store_run(struct bench_session *session, struct cw_error *error)
{
    int code = dist_install(session->dist, error);
    for (size_t i = 0; i < bench_size_count(session) && code == CW_OK; i++) {
        const uint64_t n_elem = bench_size(session, i);
        bench_size_begin(session, i);
        code = bench_check_tile(session, n_elem, error);
        if (code == CW_OK)
            code = raw_store_measure(session, "ipcq", n_elem, round_trip, error);
        if (code == CW_OK)
            code = raw_store_measure(session, "raw_store", n_elem, stores, error);
        if (code == CW_OK)
            bench_size_end(session);
    }
    return code;
}

/* Round trips by a queue, and a store there and back; each with the launches of two kernels. */
static struct bench_own raw_store_work(const struct run_options *options,
                                       const struct config *config)
{
    return (struct bench_own){.events = 2 * pair_launch_events(config) +
                                        (ROUNDS + 1) * pair_events(options, config)};
}

const struct bench_program bench_raw_store = {
    .name = "raw_store",
    .about = "a tile there and back by a queue, and by raw stores (--from, --to)",
    .rows_named = true,
    .stores = true,
    .takes = {"from", "to"},
    .own = raw_store_work,
    .prepare = pair_prepare,
    .run = raw_store_run};
