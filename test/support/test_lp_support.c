/*
 * test_lp_support.c: see test_lp_support.h. The lists of calls are run by one kernel,
 * script_kernel, whose first scalar is the list's address. One thread.
 */
#include "test/support/test_lp_support.h"

#include "hw/topology/graph.h"

#include "collectives/data/data_commit.h"
#include "collectives/data/data_pass.h"

/* The lines of this file tell nothing of a script: its failures name none. */
#undef TL_HERE
#define TL_HERE() ((void)0)

/* ---- the kernel ------------------------------------------------------------------------------ */

struct script_frame {
    uint16_t line, reserved;
    uint32_t i;
    struct lp_operand last, before;
    union {
        struct lp_operand first;
        int64_t work_end_ps; /* of a script that works */
    };
    const struct line *stream[TL_CONTEXTS_MAX - 1]; /* the lists that the streams of the fork run */
    struct {
        uint8_t dir, tile;
    } future[FUTURES_MAX];
};
_Static_assert(sizeof(struct script_frame) <= TL_FRAME_BYTES, "it is a frame");

static void start_memory_call(struct tl *tl, struct script_frame *f, const struct line *line)
{
    switch (line->call) {
    case DO_LOAD:
        tl_load(tl, 64, line->at, line->n);
        break;
    case DO_STORE:
        tl_store(tl, line->at, tl_tcm(128), line->n);
        break;
    case DO_STORE_FROM:
        tl_store(tl, line->at, line->src, line->n);
        break;
    case DO_STORE_TILES:
        tl_store(tl, line->at, tl_last(f->first), line->n);
        break;
    case DO_STORE_TILE_ASYNC:
        tl_store_async(tl, line->at, tl_last(f->last), line->n, line->index);
        break;
    case DO_COPY:
        tl_copy(tl, line->to, line->at, line->n);
        break;
    case DO_LOAD_ASYNC:
        tl_load_async(tl, 64, line->at, line->n, line->index);
        break;
    case DO_STORE_ASYNC:
        tl_store_async(tl, line->at, tl_tcm(128), line->n, line->index);
        break;
    case DO_COPY_ASYNC:
        tl_copy_async(tl, line->to, line->at, line->n, line->index);
        break;
    case DO_WAIT_DMA:
        tl_wait_dma(tl, line->index);
        break;
    case DO_STORE_TO:
        tl_store_to(tl, line->peer, line->dst, line->src, line->n);
        break;
    case DO_STORE_TO_ASYNC:
        tl_store_to_async(tl, line->peer, line->dst, line->src, line->n, line->index);
        break;
    case DO_STORE_DIRECT_ASYNC:
        tl_store_direct_async(tl, line->peer, line->dst, line->src, line->n, line->index);
        break;
    case DO_LOAD_FROM:
        tl_load_from(tl, (uint32_t)line->at, line->peer, line->src, line->n);
        break;
    case DO_LOAD_FROM_ASYNC:
        tl_load_from_async(tl, (uint32_t)line->at, line->peer, line->src, line->n, line->index);
        break;
    case DO_PUT:
        tl_put(tl, line->peer, line->dst, line->src, line->n);
        break;
    case DO_PUT_TILE:
        tl_put(tl, line->peer, line->dst, tl_last(f->last), line->n);
        break;
    case DO_PUT_REDUCE:
        tl_put_reduce(tl, line->peer, LP_MATH_SUM, line->dst, line->src, line->n);
        break;
    default:
        fail_msg("call %d is not in the language", line->call);
    }
}

static void start_fork(struct tl *tl, struct script_frame *f, const struct line *line)
{
    uint32_t streams = (uint32_t)line->at;
    for (uint32_t i = 0; line->call == DO_FORK && i < COUNT_OF(line->stream); i++) {
        f->stream[i] = line->stream[i];
        streams |= (uint32_t)(line->stream[i] != NULL) << i;
    }
    tl_fork(tl, streams);
}

#define TILE_OF(line)                                                                              \
    (line)->n, .dtype = (line)->dtype,                                                             \
               .dim = {(line)->dim[0], (line)->dim[1], (line)->dim[2], (line)->dim[3]}
static void start_call(struct tl *tl, struct script_frame *f, const struct line *line)
{
    switch (line->call) {
    case DO_SEND:
        tl_send(tl, line->dir, tl_tcm(0), TILE_OF(line));
        break;
    case DO_GIVE:
        tl_give(tl, line->dir, tl_tcm(0), line->n, line->index != 0);
        break;
    case DO_SEND_FROM:
        tl_send(tl, line->dir, line->src, line->n);
        break;
    case DO_FORWARD:
        tl_send(tl, line->dir, tl_last(f->last), line->n);
        break;
    case DO_RECV:
        tl_recv(tl, line->dir, TILE_OF(line));
        break;
    case DO_RECV_ANY:
        tl_recv_any(tl, TILE_OF(line));
        break;
    case DO_RECV_ASYNC:
        tl_recv_async(tl, line->dir, TILE_OF(line));
        break;
    case DO_WAIT:
        tl_wait(tl, (struct tl_future){.tile = f->future[line->index].tile,
                                       .dir = f->future[line->index].dir,
                                       .named = {TILE_OF(line)}});
        break;
    case DO_RECV_INTO:
        tl_recv_into(tl, line->dir, line->dst, TILE_OF(line));
        break;
    case DO_RECV_ANY_INTO:
        tl_recv_any_into(tl, line->dst, TILE_OF(line));
        break;
    case DO_RECV_ALL:
        tl_recv_all(tl, (uint32_t)line->at, TILE_OF(line));
        break;
    case DO_NOTIFY:
        tl_notify(tl, line->peer, line->index);
        break;
    case DO_WAIT_NOTIFY:
        tl_wait_notify(tl, line->peer, line->index);
        break;
    case DO_FORK:
    case DO_FORK_BITS:
        start_fork(tl, f, line);
        break;
    case DO_JOIN:
        tl_join(tl);
        break;
    case DO_BARRIER:
        tl_barrier(tl);
        break;
    case DO_DOT:
        tl_dot(tl, 0, tl_tcm(4096), tl_tcm(65536), line->n, (uint32_t)line->to, (uint32_t)line->at,
               (uint8_t)line->index);
        break;
    case DO_WORK:
        tl_work(tl, (enum tl_block)line->index, (int64_t)line->at);
        break;
    case DO_WORK_ASYNC:
        tl_work_async(tl, (enum tl_block)line->index, (int64_t)line->at);
        break;
    case DO_WAIT_WORK:
        tl_wait_work(tl, (struct tl_begun){f->work_end_ps, TL_BLOCK_GEMM});
        break;
    case DO_DOT_TILES:
        tl_dot(tl, 0, f->before, f->last, line->n, (uint32_t)line->to, (uint32_t)line->at, false);
        break;
    case DO_CAST:
        tl_cast(tl, line->index, tl_tcm(65536), (enum lp_dtype)line->at, (enum lp_dtype)line->to,
                line->n);
        break;
    case DO_ADD:
        tl_math(tl, LP_MATH_SUM, 0, tl_tcm(0), tl_tcm(4096), line->n);
        break;
    case DO_ADD_FROM:
        tl_math(tl, LP_MATH_SUM, 0, line->src, line->dst, line->n);
        break;
    case DO_ADD_TILE_AND:
        tl_math(tl, LP_MATH_SUM, 0, tl_last(f->last), line->src, line->n);
        break;
    case DO_ADD_TILE:
        tl_math(tl, LP_MATH_SUM, 0, tl_tcm(0), tl_last(f->last), line->n);
        break;
    case DO_ADD_TILES:
        tl_math(tl, LP_MATH_MAX, 256, f->before, tl_last(f->last), line->n);
        break;
    default:
        start_memory_call(tl, f, line);
    }
}

static enum tl_status run_lines(struct tl *tl, struct script_frame *f, const struct line *script)
{
    TL_BEGIN(&f->line);
    for (f->i = 0; script[f->i].call != END; f->i++) {
        TL_CALL(&f->line, start_call(tl, f, &script[f->i]));
        if (script[f->i].call == DO_RECV_ASYNC) {
            f->future[script[f->i].index].dir = (uint8_t)tl_future(tl).dir;
            f->future[script[f->i].index].tile = (uint8_t)tl_future(tl).tile;
        }
        if (script[f->i].call == DO_WORK_ASYNC)
            f->work_end_ps = tl_begun(tl).end_ps;
        if (script[f->i].call == DO_RECV || script[f->i].call == DO_RECV_ANY ||
            script[f->i].call == DO_WAIT) {
            f->before = f->last;
            f->last = tl_received(tl);
            if (f->first.space == LP_SPACE_NONE)
                f->first = f->last;
        }
    }
    TL_END(&f->line);
}

static enum tl_status run_script(struct tl *tl, void *frame)
{
    return run_lines(tl, frame, (const struct line *)(uintptr_t)tl_args(tl)->scalar[0]);
}

static enum tl_status run_stream_0(struct tl *tl, void *frame)
{
    return run_lines(tl, frame, ((struct script_frame *)frame)->stream[0]);
}

static enum tl_status run_stream_1(struct tl *tl, void *frame)
{
    return run_lines(tl, frame, ((struct script_frame *)frame)->stream[1]);
}

static enum tl_status run_stream_2(struct tl *tl, void *frame)
{
    return run_lines(tl, frame, ((struct script_frame *)frame)->stream[2]);
}

static enum tl_status (*const script_stream[])(struct tl *, void *) = {run_stream_0, run_stream_1,
                                                                       run_stream_2};
static const struct tl_kernel script_kernel = {.name = "script",
                                               .frame_bytes = sizeof(struct script_frame),
                                               .run = run_script,
                                               .stream_count = COUNT_OF(script_stream),
                                               .stream = script_stream};

/* ---- machines -------------------------------------------------------------------------------- */

static void log_op(void *arg, const struct cw_event *event, const struct lp_op *op)
{
    struct machine *m = arg;
    (void)event;
    assert_true(m->op_count < OPS_MAX);
    m->op[m->op_count++] = *op;
}

static uint32_t worker_of_cube(void *arg, uint32_t cube) { return cw_lp_worker(arg, 1 + cube); }

void machine_settle_data(struct machine *m)
{
    struct cw_event event;
    if (data_commit_settle(m->data, &(struct data_drain){0}, &event, &m->error) != CW_OK)
        fail_msg("%s", m->error.text);
}

struct lp_config default_queues(void)
{
    return (struct lp_config){.slots = HW_MEMORY_TCM,
                              .credit_blocks = true,
                              .n_slots = 8,
                              .slot_bytes = 4096,
                              .credit_bytes = 16,
                              .vc_chunk_bytes = 256,
                              .vc_weight = {1, 1}};
}

struct machine *small_machine(uint32_t sips, uint32_t cube_w, uint32_t cube_h)
{
    struct machine *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->hw = sips_of(&hw_ring_1d, sips, 1);
    m->hw.cube_w = cube_w;
    m->hw.cube_h = cube_h;
    m->hw.control_msg_bytes = 0;
    m->hw.overhead_ps[HW_NODE_IO_CPU] = m->hw.overhead_ps[HW_NODE_M_CPU] = 0;
    m->hw.math_lanes = 1;
    m->hw.fetch_store = (struct hw_rate){0, 1};
    m->config = default_queues();
    return m;
}

struct lp_plan *machine_plan(const struct machine *m)
{
    struct lp_plan *const plan = lp_plan_create(&(struct lp_plan_request){.hw = &m->hw,
                                                                          .queues = &m->config,
                                                                          .pe0_alone = m->pe0_alone,
                                                                          .wiring = m->wiring,
                                                                          .fold = m->fold});
    assert_non_null(plan);
    return plan;
}

/* Each PE reaches the shard of its cube, and the regions. */
static void map_tensor(struct machine *m)
{
    for (uint32_t sip = 0; sip < m->hw.sip_count; sip++) {
        struct lp_map map = {.va = TENSOR_VA,
                             .pa = TENSOR_PA,
                             .bytes = SHARD_BYTES,
                             .sip = sip,
                             .cubes = hw_cubes(&m->hw),
                             .pes = hw_pes(&m->hw),
                             .parts = LP_MAP_BY_CUBE};
        assert_int_equal(lp_system_map(m->system, &map, &m->error), CW_OK);
        map.parts = LP_MAP_ALIKE;
        for (uint32_t i = 0; i < TL_REGIONS; i++) {
            map.va = m->region[i].va;
            map.pa = m->region[i].pa;
            map.bytes = m->region[i].bytes;
            if (map.bytes > 0)
                assert_int_equal(lp_system_map(m->system, &map, &m->error), CW_OK);
        }
    }
}

bool machine_build(struct machine *m)
{
    if (m->plan == NULL)
        m->plan = machine_plan(m);
    struct lp_system_options options = {.hw = &m->hw,
                                        .queues = &m->config,
                                        .needs = m->needs,
                                        .plan = {m->plan, m->other_plan},
                                        .engine = m->engine,
                                        .cube_worker = m->cube_worker,
                                        .fold = m->fold,
                                        .causes = m->causes,
                                        .answered = m->answered,
                                        .answered_arg = m->answered_arg,
                                        .listener = {{.op = log_op, .arg = m}, m->listener}};
    options.engine.worker_count = m->engine.worker_count > 0 ? m->engine.worker_count : 1;
    options.engine.check_changes = true;
    if (m->with_data) {
        m->data = data_pass_create(&m->hw, 0, options.engine.worker_count);
        assert_non_null(m->data);
        data_pass_set_plan(m->data, m->plan);
        options.on_workers = data_commit_listener(m->data);
    }
    m->system = lp_system_create(&options, &m->error);
    if (m->system != NULL && m->with_data && m->engine.sync != CW_SEQUENTIAL)
        data_pass_set_owner(m->data, worker_of_cube, lp_system_sim(m->system));
    if (m->system != NULL && !m->unmapped)
        map_tensor(m);
    return m->system != NULL;
}

bool machine_try_start(struct machine *m)
{
    return machine_build(m) && lp_system_submit_install(m->system, 0, &m->error) == CW_OK &&
           lp_system_drain(m->system, &m->error) == CW_OK;
}

void machine_start(struct machine *m)
{
    if (!machine_try_start(m))
        fail_msg("%s", m->error.text);
}

struct machine *started_with_puts(enum hw_contention contention)
{
    struct machine *const m = machine_with_puts(1, 1);
    m->hw.contention = contention;
    machine_start(m);
    return m;
}

struct machine *machine_with_puts(uint32_t sips, uint32_t cube_w)
{
    struct machine *const m = small_machine(sips, cube_w, 1);
    m->needs.peers = 8;
    return m;
}

void machine_free(struct machine *m)
{
    lp_system_free(m->system);
    data_pass_free(m->data);
    lp_plan_free(m->plan);
    lp_plan_free(m->other_plan);
    hw_graph_free(m->graph);
    free(m);
}

const char *first_line_of_error(const struct machine *m)
{
    static char line[sizeof m->error.text];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(m->error.text, "\n"), m->error.text);
    return line;
}

void begin_scripts_with(struct machine *m, struct lp_batch_options options)
{
    options.kernel = &script_kernel;
    assert_int_equal(lp_system_begin_batch(m->system, &options, &m->error), CW_OK);
}

void begin_scripts(struct machine *m)
{
    m->op_count = 0;
    begin_scripts_with(m, (struct lp_batch_options){0});
}

void submit_scripts(struct machine *m, const struct part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct tl_args args = {.tensor = TENSOR_VA,
                                     .tensor_pa = TENSOR_PA,
                                     .shard_bytes = SHARD_BYTES,
                                     .n_elem = 2048,
                                     .rank = hw_place_of(&m->hw, parts[i].pe).sip,
                                     .dtype = LP_F16,
                                     .region = {m->region[0], m->region[1]},
                                     .scalar = {(int64_t)(uintptr_t)parts[i].script}};
        assert_int_equal(
            lp_system_submit_launch(m->system, parts[i].pe, &script_kernel, &args, &m->error),
            CW_OK);
    }
}

int try_scripts(struct machine *m, const struct part *parts, size_t count)
{
    begin_scripts(m);
    submit_scripts(m, parts, count);
    return lp_system_drain(m->system, &m->error);
}

void run_scripts(struct machine *m, const struct part *parts, size_t count)
{
    if (try_scripts(m, parts, count) != CW_OK)
        fail_msg("exit code %d: %s", m->error.exit_code, m->error.text);
}

const struct lp_op *nth(const struct machine *m, uint32_t pe, enum lp_op_kind kind, uint32_t n)
{
    for (uint32_t i = 0; i < m->op_count; i++)
        if (m->op[i].pe == pe && m->op[i].kind == kind && n-- == 0)
            return &m->op[i];
    fail_msg("PE %u has made fewer operations of kind %d", pe, kind);
    return NULL;
}

int64_t start_of(const struct machine *m, const struct lp_op *op)
{
    return op->t_start_ps - lp_system_times(m->system)->first_start_ps;
}

int64_t end_of(const struct machine *m, const struct lp_op *op)
{
    return op->t_end_ps - lp_system_times(m->system)->first_start_ps;
}

int64_t took(const struct lp_op *op) { return op->t_end_ps - op->t_start_ps; }

const struct lp_queue *queue_of(const struct machine *m, uint32_t pe, enum hw_dir dir)
{
    const struct hw_place place = hw_place_of(&m->hw, pe);
    const struct lp_cube *cube = lp_system_cube(m->system, place.sip, place.cube);
    return &lp_pe(lp_system_model(m->system), cube, place.pe)->queue[dir];
}
