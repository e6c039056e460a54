/*
 * test_lp_random.c: random kernels on random small machines, with the engine proving that handlers
 * change only what they asked for. Whatever the machine, each tile that was sent is received once
 * and in order, no earlier than its path allows, the pointers agree at the end, and every other
 * run, in any mode, on any number of workers and wherever the cubes are, is the same to the
 * picosecond.
 *
 * In each round every queue carries a tile or not, as a hash of seed, round, PE and direction says;
 * so receivers know what to expect. All sends of a round come before its receives, which cannot
 * deadlock even with one slot.
 */
#include "test_lp_support.h"

enum { PES_MAX = 64, TILES_MAX = 16 };

struct random_frame {
    uint16_t line, reserved;
    uint32_t round, i;
    struct lp_operand last;
};

enum scalar { SEED, ROUNDS };

/* The machine that kernels look their neighbours up in; const while they run. */
static struct hw_config plan_hw;

static uint64_t draw(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
    struct cw_rng rng = cw_rng_seeded(seed, a << 40 | b << 20 | c);
    return cw_rng_u64(&rng);
}

/* Bytes of the tile that PE `pe` sends by `dir` in this round; 0: none. */
static uint32_t planned(uint64_t seed, uint32_t round, uint32_t pe, uint32_t dir, uint32_t slot)
{
    const uint64_t z = draw(seed, round, pe, dir);
    if (z % 3 == 0)
        return 0;
    return 2 + (uint32_t)((z >> 8) % (slot / 2)) * 2;
}

static uint32_t my_index(const struct tl *tl) { return hw_pe_index(&plan_hw, tl_place(tl)); }

static uint64_t seed_of(const struct tl *tl) { return (uint64_t)tl_args(tl)->scalar[SEED]; }

static uint32_t to_send(const struct tl *tl, const struct random_frame *f, enum hw_dir dir)
{
    if (!tl_installed(tl, dir))
        return 0;
    return planned(seed_of(tl), f->round, my_index(tl), dir, tl_slot_bytes(tl));
}

static uint32_t to_receive(const struct tl *tl, const struct random_frame *f, enum hw_dir dir)
{
    struct hw_place peer;
    if (!tl_installed(tl, dir) || !hw_dir_neighbour(&plan_hw, tl_place(tl), dir, &peer))
        return 0;
    return planned(seed_of(tl), f->round, hw_pe_index(&plan_hw, peer), dir ^ 1, tl_slot_bytes(tl));
}

/* Directions in an order of this PE's own. */
static enum hw_dir turn(const struct tl *tl, const struct random_frame *f)
{
    return (enum hw_dir)((f->i + draw(seed_of(tl), f->round, my_index(tl), 100)) % HW_DIR_BUILT_IN);
}

static uint32_t something(const struct tl *tl, const struct random_frame *f)
{
    return (uint32_t)draw(seed_of(tl), f->round, my_index(tl), 101 + f->i) % 8;
}

static uint64_t own_shard(const struct tl *tl)
{
    return TENSOR_VA + tl_place(tl).cube * (uint64_t)SHARD_BYTES;
}

static enum tl_status run_random(struct tl *tl, void *state)
{
    struct random_frame *f = state;
    TL_BEGIN(&f->line);
    for (f->round = 0; f->round < tl_args(tl)->scalar[ROUNDS]; f->round++) {
        for (f->i = 0; f->i < HW_DIR_BUILT_IN; f->i++) {
            if (to_send(tl, f, turn(tl, f)) > 0)
                TL_CALL(&f->line,
                        tl_send(tl, turn(tl, f),
                                something(tl, f) & 1 && f->last.space != LP_SPACE_NONE ? f->last
                                                                                       : tl_tcm(0),
                                to_send(tl, f, turn(tl, f))));
            if (something(tl, f) == 2)
                TL_CALL(&f->line, tl_load(tl, 0, own_shard(tl), 2 + f->i * 700));
        }
        for (f->i = 0; f->i < HW_DIR_BUILT_IN; f->i++) {
            if (to_receive(tl, f, turn(tl, f)) == 0)
                continue;
            if (something(tl, f) == 3)
                TL_CALL(&f->line, tl_recv_async(tl, turn(tl, f), to_receive(tl, f, turn(tl, f))));
            if (something(tl, f) == 3)
                TL_CALL(&f->line, tl_wait(tl, turn(tl, f), to_receive(tl, f, turn(tl, f))));
            else
                TL_CALL(&f->line, tl_recv(tl, turn(tl, f), to_receive(tl, f, turn(tl, f))));
            f->last = tl_received(tl);
            if (something(tl, f) == 4)
                TL_CALL(&f->line, tl_math(tl, LP_MATH_SUM, 0, tl_tcm(0), f->last, 1 + f->i));
            if (something(tl, f) == 5)
                TL_CALL(&f->line, tl_store(tl, own_shard(tl), f->last, 2));
        }
    }
    TL_END(&f->line);
}

static const struct tl_kernel random_kernel = {
    .name = "random", .frame_bytes = sizeof(struct random_frame), .run = run_random};

/* ---- machines ---------------------------------------------------------------------------------
 */

static struct machine *random_machine(uint64_t seed)
{
    struct cw_rng rng = cw_rng_seeded(seed, 0);
    struct machine *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->hw = sips_of((enum hw_sip_topology)cw_rng_below(&rng, HW_SIP_TOPOLOGIES),
                    1 + cw_rng_below(&rng, 2), 1 + cw_rng_below(&rng, 2));
    m->hw.cube_w = 1 + cw_rng_below(&rng, 2);
    m->hw.cube_h = 1 + cw_rng_below(&rng, 2);
    m->hw.pe_per_corner = 1;
    m->hw.corner_count = 1 + cw_rng_below(&rng, 4);
    m->hw.noc_w = 1 + cw_rng_below(&rng, 3);
    m->hw.noc_h = 1 + cw_rng_below(&rng, 3);
    m->hw.contention = (enum hw_contention)cw_rng_below(&rng, 3);
    m->hw.dma_queue_depth = 1 + cw_rng_below(&rng, 3);
    m->hw.ipcq_poll_ps = 1 + cw_rng_below(&rng, 50000);
    m->hw.ipcq_wire_ps = cw_rng_below(&rng, 3) * 1000;
    if (cw_rng_below(&rng, 3) == 0) /* many events at one instant */
        memset(m->hw.overhead_ps, 0, sizeof m->hw.overhead_ps);
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
        m->hw.link[kind] = link_class(cw_rng_below(&rng, 4) * 1000, 1 + cw_rng_below(&rng, 200));
    m->config = default_queues();
    m->config.slots = (enum hw_memory)cw_rng_below(&rng, HW_MEMORY_NONE);
    m->config.poll = cw_rng_below(&rng, 2);
    m->config.credit_blocks = cw_rng_below(&rng, 2);
    m->config.n_slots = 1 + cw_rng_below(&rng, 3);
    m->config.slot_bytes = 64 << cw_rng_below(&rng, 5);
    m->config.vc_chunk_bytes = 1 + cw_rng_below(&rng, 300);
    m->config.vc_weight[HW_VC_COMPUTE] = 1 + cw_rng_below(&rng, 3);
    m->config.vc_weight[HW_VC_COMM] = 1 + cw_rng_below(&rng, 3);
    plan_hw = m->hw;
    return m;
}

static void run_random_kernels(struct machine *m, uint64_t seed)
{
    assert_int_equal(lp_system_begin_batch(m->system, &random_kernel, &m->error), CW_OK);
    for (uint32_t pe = 0; pe < hw_pe_count(&m->hw); pe++) {
        const struct tl_args args = {.tensor = TENSOR_VA,
                                     .tensor_pa = TENSOR_PA,
                                     .shard_bytes = SHARD_BYTES,
                                     .rank = hw_place_of(&m->hw, pe).sip,
                                     .dtype = LP_F16,
                                     .scalar = {[SEED] = (int64_t)seed, [ROUNDS] = 4}};
        assert_int_equal(lp_system_submit_launch(m->system, pe, &random_kernel, &args, &m->error),
                         CW_OK);
    }
    if (lp_system_drain(m->system, &m->error) != CW_OK)
        fail_msg("seed %llu: exit code %d: %s; replay: LP_SEED=%llu build/test/unit/test_lp_random",
                 (unsigned long long)seed, m->error.exit_code, m->error.text,
                 (unsigned long long)seed);
}

/* ---- what must hold ---------------------------------------------------------------------------
 */

static void fail_at(uint64_t seed, const struct lp_op *op, const char *what)
{
    fail_msg("seed %llu: PE %u, direction %s, tile %u: %s; replay: LP_SEED=%llu "
             "build/test/unit/test_lp_random",
             (unsigned long long)seed, op->pe, hw_dir_name((enum hw_dir)op->dir), op->seq, what,
             (unsigned long long)seed);
}

/* A tile cannot be received before the call, its path and the wire have taken their time. */
static int64_t earliest_ps(const struct machine *m, const struct lp_op *send)
{
    const struct hw_place from = hw_place_of(&m->hw, send->pe),
                          to = hw_place_of(&m->hw, send->peer);
    const bool global = send->dir >= HW_DIR_GLOBAL_N && send->dir <= HW_DIR_GLOBAL_W;
    const enum hw_port exit =
        global ? hw_route_global_exit(&m->hw, (enum hw_dir)send->dir) : HW_PORT_NONE;
    return send->t_start_ps + m->hw.overhead_ps[HW_NODE_PE_CPU] +
           m->hw.overhead_ps[HW_NODE_PE_IPCQ] +
           hw_path_ps(&m->hw, from, to, m->config.slots, exit, send->bytes) + m->hw.ipcq_wire_ps;
}

static void check_tiles(const struct machine *m, uint64_t seed)
{
    static struct lp_op tile[PES_MAX][HW_DIR_BUILT_IN][TILES_MAX];
    static uint32_t sent[PES_MAX][HW_DIR_BUILT_IN], received[PES_MAX][HW_DIR_BUILT_IN];
    memset(sent, 0, sizeof sent);
    memset(received, 0, sizeof received);
    for (uint32_t i = 0; i < m->op_count; i++) {
        const struct lp_op *op = &m->op[i];
        if (op->kind == LP_OP_SEND) {
            if (op->seq != sent[op->peer][op->peer_dir]++ || op->seq >= TILES_MAX)
                fail_at(seed, op, "sent out of order");
            tile[op->peer][op->peer_dir][op->seq] = *op;
        } else if (op->kind == LP_OP_RECV) {
            if (op->seq != received[op->pe][op->dir]++ || op->seq >= sent[op->pe][op->dir])
                fail_at(seed, op, "received out of order, or before it was sent");
            const struct lp_op *send = &tile[op->pe][op->dir][op->seq];
            if (op->bytes != send->bytes)
                fail_at(seed, op, "another size than was sent");
            if (op->t_end_ps < earliest_ps(m, send))
                fail_at(seed, op, "received earlier than its path allows");
        }
    }
    for (uint32_t pe = 0; pe < hw_pe_count(&m->hw); pe++)
        for (enum hw_dir dir = 0; dir < HW_DIR_BUILT_IN; dir++) {
            const struct lp_queue *q = queue_of(m, pe, dir);
            struct hw_place peer;
            assert_int_equal(q->my_tail, received[pe][dir]);
            assert_int_equal(q->my_tail, sent[pe][dir]);
            assert_int_equal(q->peer_head_cache, q->my_tail);
            assert_int_equal(q->peer_tail_cache, q->my_head);
            if (hw_dir_neighbour(&m->hw, hw_place_of(&m->hw, pe), dir, &peer))
                assert_int_equal(
                    queue_of(m, hw_pe_index(&m->hw, peer), (enum hw_dir)(dir ^ 1))->my_tail,
                    q->my_head);
        }
}

/* ---- the same in every mode --------------------------------------------------------------------
 */

static const char *const mode_name[] = {[CW_SEQUENTIAL] = "sequential",
                                        [CW_CONSERVATIVE] = "conservative",
                                        [CW_OPTIMISTIC] = "optimistic",
                                        [CW_ADAPTIVE] = "adaptive",
                                        [CW_STRESS] = "stress"};

/* The machine again, on 1 to 4 workers, its cubes anywhere. */
static struct machine *elsewhere(uint64_t seed, enum cw_sync sync, uint32_t *cube_worker)
{
    struct machine *m = random_machine(seed);
    struct cw_rng rng = cw_rng_seeded(seed, 1 + (uint64_t)sync);
    m->engine.sync = sync;
    m->engine.threads = 1 + cw_rng_below(&rng, 4);
    for (uint32_t cube = 0; cube < m->hw.sip_count * hw_cubes(&m->hw); cube++)
        cube_worker[cube] = cw_rng_below(&rng, m->engine.threads);
    m->engine.cube_worker = cube_worker;
    m->engine.window_ps = cw_rng_below(&rng, 2) ? 0 : 1 + cw_rng_below(&rng, 100000);
    if (sync == CW_STRESS) {
        m->engine.stress_seed = seed;
        m->engine.stress_rate_p32 = 1ull << (26 + cw_rng_below(&rng, 5)); /* 1/64 to 1/4 */
    }
    return m;
}

static void check_mode(const struct machine *first, uint64_t seed, enum cw_sync sync)
{
    uint32_t cube_worker[PES_MAX];
    struct machine *other = elsewhere(seed, sync, cube_worker);
    struct cw_stats a, b;
    if (!machine_try_start(other)) { /* without lookahead there is nothing to conserve */
        if (sync != CW_CONSERVATIVE || other->error.exit_code != CW_USAGE)
            fail_msg("seed %llu: %s", (unsigned long long)seed, other->error.text);
        machine_free(other);
        return;
    }
    run_random_kernels(other, seed);
    cw_sim_stats(lp_system_sim(first->system), &a);
    cw_sim_stats(lp_system_sim(other->system), &b);
    if (first->op_count != other->op_count || a.trace_hash != b.trace_hash ||
        a.events_committed != b.events_committed ||
        memcmp(first->op, other->op, first->op_count * sizeof *first->op) != 0)
        fail_msg("seed %llu: %s on %u workers: %u records, %llu events, trace %016llx; sequential: "
                 "%u, %llu, %016llx; replay: LP_SEED=%llu build/test/unit/test_lp_random",
                 (unsigned long long)seed, mode_name[sync], other->engine.threads, other->op_count,
                 (unsigned long long)b.events_committed, (unsigned long long)b.trace_hash,
                 first->op_count, (unsigned long long)a.events_committed,
                 (unsigned long long)a.trace_hash, (unsigned long long)seed);
    check_tiles(other, seed);
    machine_free(other);
}

static void check_seed(uint64_t seed)
{
    struct machine *first = random_machine(seed);
    machine_start(first);
    run_random_kernels(first, seed);
    check_tiles(first, seed);
    for (enum cw_sync sync = CW_SEQUENTIAL; sync <= CW_STRESS; sync++)
        check_mode(first, seed, sync);
    machine_free(first);
}

static void random_kernels_keep_the_protocol_in_every_mode(void **state)
{
    (void)state;
    const char *replay = getenv("LP_SEED");
    if (replay != NULL) {
        check_seed(strtoull(replay, NULL, 10));
        return;
    }
    for (uint64_t seed = 1; seed <= 60; seed++)
        check_seed(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_kernels_keep_the_protocol_in_every_mode)};
    return cmocka_run_group_tests_name("lp_random", tests, NULL, NULL);
}
