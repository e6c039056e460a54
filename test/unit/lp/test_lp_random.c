/*
 * test_lp_random.c: random kernels on random small machines, with the engine proving that handlers
 * change only the parts that they asked for. On each machine:
 *   1. each tile that was sent is received once and in order, no earlier than its path allows;
 *   2. puts land in order, and before the notifications behind them;
 *   3. the data pass can carry out all records, and the pointers agree at the end;
 *   4. every other run, in any mode, on any number of workers and with any placement of the cubes,
 *      is the same to the picosecond, and leaves the same values in all memories, although each
 *      worker executes the records of its own cubes alone;
 *   5. the same kernels again and again: after a state that has been there before, relative to its
 *      time, comes what came then (lp/host/idle_state.h).
 *
 * In each round a hash of seed, round and place decides which queues carry a tile, and which PEs
 * put to another PE and notify it. So receivers can compute the tiles that they get. All sends of a
 * round come before its receives, which cannot deadlock even with one slot. The receives are shared
 * out among the kernel and its streams.
 */
#include "test/support/random_graph.h"
#include "test/support/random_model.h"
#include "test/support/test_lp_support.h"

#include "collectives/data/data_pass.h"

enum { PES_MAX = 64, TILES_MAX = 16, ROUNDS = 4, PUTS_MAX = 4 };

struct random_frame {
    uint16_t line, part, reserved[2];
    uint32_t round, i, peer;
    uint8_t share, shares; /* of the round's receives: which is this context's, of how many */
    uint8_t handles;       /* asynchronous operations under way, one bit each */
    uint8_t reserved_too;
    uint32_t last_bytes; /* of the tile received last */
    struct lp_operand last;
};
_Static_assert(offsetof(struct random_frame, round) == TL_LINES_BYTES, "its lines come first");

enum scalar { SEED, CONTEXTS };

/* The machine that kernels look their neighbours up in; const while they run. */
static struct hw_config plan_hw;

static uint64_t draw(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
    struct cw_rng rng = cw_rng_seeded(seed, a << 40 | b << 20 | c);
    return cw_rng_u64(&rng);
}

/* ---- the plan -------------------------------------------------------------------------------- */

enum draw { SIZE = 1000, TURN, STEP, PUT_TO, PUT_WHAT, STREAMS };

/* All tiles of such a round have one size: any receive may take any of them. */
static bool is_uniform(uint64_t seed, uint32_t round)
{
    return round == ROUNDS - 1 || draw(seed, round, 0, SIZE) % 2;
}

/* Bytes of the tile that PE `pe` sends by `dir` in this round; 0: none. */
static uint32_t planned(uint64_t seed, uint32_t round, uint32_t pe, uint32_t dir, uint32_t slot)
{
    const uint64_t z = draw(seed, round, pe, dir);
    const uint64_t size = is_uniform(seed, round) ? draw(seed, round, 1, SIZE) : z >> 8;
    return z % 3 == 0 ? 0 : 2 + (uint32_t)(size % (slot / 2)) * 2;
}

/* The PE that `pe` puts to, and notifies, in this round; UINT32_MAX: none. */
static uint32_t put_peer(uint64_t seed, uint32_t round, uint32_t pe)
{
    const uint64_t z = draw(seed, round, pe, PUT_TO);
    const uint32_t peer = (uint32_t)(z >> 8) % hw_pe_count(&plan_hw);
    return z % 4 == 0 || peer == pe ? UINT32_MAX : peer;
}
static uint32_t put_tag(uint64_t seed, uint32_t round, uint32_t pe)
{
    return (uint32_t)draw(seed, round, pe, PUT_WHAT) % TL_TAGS;
}

static uint32_t my_index(const struct tl *tl) { return tl_pe_index(tl, tl_place(tl)); }
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
    return (enum hw_dir)((f->i + draw(seed_of(tl), f->round, my_index(tl), TURN)) %
                         HW_DIR_BUILT_IN);
}

/* A draw for this context at this point, beside the plan: 0 to 31. */
static uint32_t something(const struct tl *tl, const struct random_frame *f)
{
    return (uint32_t)draw(seed_of(tl), f->round << 8 | f->share, my_index(tl), STEP + f->i) % 32;
}

static uint64_t own_shard(const struct tl *tl)
{
    return TENSOR_VA + tl_place(tl).cube * (uint64_t)SHARD_BYTES;
}

/* ---- kernels --------------------------------------------------------------------------------- */

enum { SRAM_AT = 1 << 20 }; /* behind all receive rings */
static const struct lp_operand memories[] = {{.space = LP_SPACE_TCM, .at = 64},
                                             {.space = LP_SPACE_HBM, .at = TENSOR_PA},
                                             {.space = LP_SPACE_SRAM, .at = SRAM_AT}};

/* One put of the round, from anywhere to anywhere. */
static void random_put(struct tl *tl, const struct random_frame *f)
{
    const uint64_t z = draw(seed_of(tl), f->round, my_index(tl) << 4 | f->i, PUT_WHAT);
    const struct lp_operand src = z % 5 == 0 && f->last.space == LP_SPACE_TILE
                                      ? f->last
                                      : memories[(z >> 8) % COUNT_OF(memories)];
    const struct lp_operand dst = memories[(z >> 16) % COUNT_OF(memories)];
    const uint32_t bytes = src.space == LP_SPACE_TILE ? 2 : 2 + (uint32_t)(z >> 24) % 700 * 2;
    if (z & 1ull << 40)
        tl_put_reduce(tl, f->peer, LP_MATH_MAX, dst, src, bytes);
    else
        tl_put(tl, f->peer, dst, src, bytes);
}

/* A move, blocking or with a free handle, which *f then notes. */
static void random_move(struct tl *tl, struct random_frame *f)
{
    const uint64_t z = draw(seed_of(tl), f->round << 8 | f->share, my_index(tl), STEP + 100 + f->i);
    const uint32_t bytes = 2 + (uint32_t)(z >> 8) % 1500 * 2;
    const uint64_t hbm = own_shard(tl), sram = tl_sram_va(SRAM_AT + 4096);
    const uint32_t handle = f->handles & 1;
    const bool beside = (z & 8) && f->handles != 3;
    if (beside)
        f->handles |= (uint8_t)(1u << handle);
    switch (z % 3) {
    case 0:
        if (beside)
            tl_load_async(tl, 0, z & 16 ? hbm : sram, bytes, handle);
        else
            tl_load(tl, 0, z & 16 ? hbm : sram, bytes);
        break;
    case 1:
        if (beside)
            tl_store_async(tl, z & 16 ? hbm : sram, tl_tcm(0), bytes, handle);
        else
            tl_store(tl, z & 16 ? hbm : sram, tl_tcm(0), bytes);
        break;
    default:
        if (beside)
            tl_copy_async(tl, z & 16 ? hbm + 8192 : sram, z & 32 ? hbm : sram + 8192, bytes,
                          handle);
        else
            tl_copy(tl, z & 16 ? hbm + 8192 : sram, z & 32 ? hbm : sram + 8192, bytes);
    }
}

/* A raw store or a load to or from any PE, likewise. */
static void random_remote_move(struct tl *tl, struct random_frame *f)
{
    const uint64_t z = draw(seed_of(tl), f->round << 8 | f->share, my_index(tl), STEP + 200 + f->i);
    const uint32_t bytes = 2 + (uint32_t)(z >> 8) % 700 * 2;
    const uint32_t peer = (uint32_t)(z >> 20) % hw_pe_count(&plan_hw);
    const struct lp_operand there = memories[(z >> 40) % COUNT_OF(memories)];
    const uint32_t handle = f->handles & 1;
    const bool beside = (z & 8) && f->handles != 3;
    if (beside)
        f->handles |= (uint8_t)(1u << handle);
    if (z % 8 < 2 && beside)
        tl_store_to_async(tl, peer, there, memories[(z >> 44) % COUNT_OF(memories)], bytes, handle);
    else if (z % 8 < 2)
        tl_store_to(tl, peer, there, tl_tcm(0), bytes);
    else if (beside)
        tl_load_from_async(tl, 512, peer, there, bytes, handle);
    else
        tl_load_from(tl, 512, peer, there, bytes);
}

/* The source of a send: a memory, or the tile received last if it is large enough. */
static struct lp_operand random_tile(const struct tl *tl, const struct random_frame *f)
{
    const uint32_t z = something(tl, f);
    return z & 1 && f->last_bytes >= to_send(tl, f, turn(tl, f))
               ? f->last
               : memories[z / 2 % COUNT_OF(memories)];
}

/* Where a received tile is copied to. */
static struct lp_operand random_place(const struct tl *tl, const struct random_frame *f)
{
    const struct lp_operand places[] = {tl_tcm(32768), tl_hbm(TENSOR_PA + 16384),
                                        tl_sram(SRAM_AT + 65536 + tl_pe_id(tl) * 8192)};
    return places[something(tl, f) % COUNT_OF(places)];
}

/* All that this PE sends in this round. */
static enum tl_status send_part(struct tl *tl, struct random_frame *f)
{
    TL_BEGIN(&f->part);
    for (f->i = 0; f->i < HW_DIR_BUILT_IN; f->i++) {
        if (to_send(tl, f, turn(tl, f)) > 0)
            TL_CALL(&f->part,
                    tl_send(tl, turn(tl, f), random_tile(tl, f), to_send(tl, f, turn(tl, f))));
        if (something(tl, f) < 6)
            TL_CALL(&f->part, random_move(tl, f));
        if (something(tl, f) == 6)
            TL_CALL(&f->part, tl_store_to(tl,
                                          (uint32_t)draw(seed_of(tl), f->round, f->i, PUT_TO) %
                                              hw_pe_count(&plan_hw),
                                          memories[f->i % 2], tl_tcm(0), 2 + f->i * 100));
        if (something(tl, f) > 26)
            TL_CALL(&f->part, random_remote_move(tl, f));
    }
    f->peer = put_peer(seed_of(tl), f->round, my_index(tl));
    for (f->i = 0; f->peer != UINT32_MAX && f->i < PUTS_MAX; f->i++)
        if (something(tl, f) & 1)
            TL_CALL(&f->part, random_put(tl, f));
    if (f->peer != UINT32_MAX)
        TL_CALL(&f->part, tl_notify(tl, f->peer, put_tag(seed_of(tl), f->round, my_index(tl))));
    TL_END(&f->part);
}

/* This context's directions that a tile comes from, one bit each. */
static uint32_t my_directions(const struct tl *tl, const struct random_frame *f)
{
    uint32_t dirs = 0;
    for (uint32_t dir = 0; dir < HW_DIR_BUILT_IN; dir++)
        if (dir % f->shares == f->share && to_receive(tl, f, (enum hw_dir)dir) > 0)
            dirs |= 1u << dir;
    return dirs;
}

static bool is_mine(const struct tl *tl, const struct random_frame *f)
{
    return my_directions(tl, f) >> turn(tl, f) & 1;
}

static uint32_t uniform_bytes(const struct tl *tl, const struct random_frame *f)
{
    return to_receive(tl, f, (enum hw_dir)__builtin_ctz(my_directions(tl, f)));
}

/* How this context receives in this round: 0: one by one, 1: recv_all, 2: recv_any (only where no
 * tile of a later round can come in between, and no other context takes one). */
static uint32_t how(const struct tl *tl, const struct random_frame *f)
{
    const uint64_t z = draw(seed_of(tl), f->round << 8 | f->share, my_index(tl), STREAMS + 1);
    if (!is_uniform(seed_of(tl), f->round) || my_directions(tl, f) == 0 || z % 3 == 0)
        return 0;
    return f->round == ROUNDS - 1 && f->shares == 1 ? 1 + z % 2 : 1;
}

static uint32_t count_of_bits(uint32_t bits) { return (uint32_t)__builtin_popcount(bits); }

static bool notifies_me(const struct tl *tl, const struct random_frame *f)
{
    return f->i % f->shares == f->share && put_peer(seed_of(tl), f->round, f->i) == my_index(tl);
}

/* This context's part of the tiles that come in this round. */
static enum tl_status receive_part(struct tl *tl, struct random_frame *f)
{
    TL_BEGIN(&f->part);
    if (how(tl, f) == 1)
        TL_CALL(&f->part, tl_recv_all(tl, my_directions(tl, f), uniform_bytes(tl, f)));
    for (f->i = 0; how(tl, f) == 2 && f->i < count_of_bits(my_directions(tl, f)); f->i++)
        TL_CALL(&f->part, tl_recv_any(tl, uniform_bytes(tl, f)));
    for (f->i = 0; how(tl, f) == 0 && f->i < HW_DIR_BUILT_IN; f->i++) {
        if (!is_mine(tl, f))
            continue;
        if (something(tl, f) < 8)
            TL_CALL(&f->part, tl_recv_async(tl, turn(tl, f), to_receive(tl, f, turn(tl, f))));
        if (something(tl, f) < 8)
            TL_CALL(&f->part, tl_wait(tl, tl_future(tl)));
        else if (something(tl, f) < 16)
            TL_CALL(&f->part, tl_recv_into(tl, turn(tl, f), random_place(tl, f),
                                           to_receive(tl, f, turn(tl, f))));
        else
            TL_CALL(&f->part, tl_recv(tl, turn(tl, f), to_receive(tl, f, turn(tl, f))));
        f->last = tl_received(tl);
        f->last_bytes = to_receive(tl, f, turn(tl, f));
        if (something(tl, f) % 8 == 4)
            TL_CALL(&f->part, tl_math(tl, LP_MATH_SUM, 0, tl_tcm(0), f->last, 1));
        if (something(tl, f) % 8 == 5)
            TL_CALL(&f->part, tl_store(tl, own_shard(tl), f->last, 2));
        if (something(tl, f) % 8 == 6)
            TL_CALL(&f->part, tl_cast(tl, 1024, f->last, LP_F16, LP_F32, 1));
        if (something(tl, f) % 8 == 7)
            TL_CALL(&f->part, tl_dot(tl, 2048, f->last, tl_tcm(0), 1, 1 + f->i, 1,
                                     (uint8_t[]){0, 1, 4, 6, 2}[f->i % 5]));
        if (something(tl, f) % 8 == 3)
            TL_CALL(&f->part, tl_work(tl, (enum tl_block)(f->i % 3), 1000 * (int64_t)f->i));
        if (something(tl, f) % 4 == 3)
            TL_CALL(&f->part, random_move(tl, f));
        if (something(tl, f) % 4 == 2)
            TL_CALL(&f->part, random_remote_move(tl, f));
    }
    for (f->i = 0; f->i < hw_pe_count(&plan_hw); f->i++)
        if (notifies_me(tl, f))
            TL_CALL(&f->part, tl_wait_notify(tl, f->i, put_tag(seed_of(tl), f->round, f->i)));
    for (f->i = 0; f->i < TL_HANDLES; f->i++)
        if (f->handles >> f->i & 1)
            TL_CALL(&f->part, tl_wait_dma(tl, f->i));
    f->handles = 0;
    TL_END(&f->part);
}

static uint32_t streams_of(const struct tl *tl, const struct random_frame *f)
{
    return (uint32_t)draw(seed_of(tl), f->round, my_index(tl), STREAMS) %
           (uint32_t)tl_args(tl)->scalar[CONTEXTS];
}
/* Kernel and streams meet in such a round: at once, or when the stream has received its part. */
static bool they_meet(const struct tl *tl, const struct random_frame *f)
{
    return f->shares > 1 && draw(seed_of(tl), f->round, my_index(tl), STREAMS + 2) % 2;
}

static enum tl_status run_stream(struct tl *tl, struct random_frame *f, uint8_t share)
{
    TL_BEGIN(&f->line);
    f->share = share;
    f->handles = 0;
    TL_RUN(&f->line, receive_part(tl, f));
    if (they_meet(tl, f) && something(tl, f) & 1)
        TL_CALL(&f->line, tl_barrier(tl));
    TL_END(&f->line);
}
static enum tl_status run_stream_1_of_random(struct tl *tl, void *f)
{
    return run_stream(tl, f, 1);
}
static enum tl_status run_stream_2_of_random(struct tl *tl, void *f)
{
    return run_stream(tl, f, 2);
}
static enum tl_status run_stream_3_of_random(struct tl *tl, void *f)
{
    return run_stream(tl, f, 3);
}

static enum tl_status run_random(struct tl *tl, void *state)
{
    struct random_frame *f = state;
    TL_BEGIN(&f->line);
    for (f->round = 0; f->round < ROUNDS; f->round++) {
        TL_RUN(&f->line, send_part(tl, f));
        f->shares = (uint8_t)(1 + streams_of(tl, f));
        if (f->shares > 1)
            TL_CALL(&f->line, tl_fork(tl, (1u << (f->shares - 1)) - 1));
        if (they_meet(tl, f))
            TL_CALL(&f->line, tl_barrier(tl));
        TL_RUN(&f->line, receive_part(tl, f));
        if (f->shares > 1)
            TL_CALL(&f->line, tl_join(tl));
    }
    TL_END(&f->line);
}

static enum tl_status (*const random_stream[])(struct tl *, void *) = {
    run_stream_1_of_random, run_stream_2_of_random, run_stream_3_of_random};
static const struct tl_kernel random_kernel = {.name = "random",
                                               .frame_bytes = sizeof(struct random_frame),
                                               .run = run_random,
                                               .stream_count = COUNT_OF(random_stream),
                                               .stream = random_stream};

/* ---- machines -------------------------------------------------------------------------------- */

/* A graph of up to 12 SIPs, of one cube each, so that many routes cross. */
static void join_by_graph(struct machine *m, uint64_t seed)
{
    static struct random_graph r;
    uint64_t rng = seed;
    char why[HW_GRAPH_WHY_BYTES];
    m->hw.cube_w = m->hw.cube_h = 1;
    m->hw.corner_count = 1 + below(&rng, 2);
    while (m->graph == NULL) {
        if (below(&rng, 3) > 0)
            random_graph_with_directions(&r, &rng, 2 + below(&rng, 11));
        else
            random_graph_draw(&r, &rng, 12, 6);
        if (random_graph_is_connected(&r))
            m->graph = hw_graph_create(&r.given, why);
    }
    m->hw = graph_of(&m->hw, m->graph, &r.given);
    m->config.credit_fabric = below(&rng, 2) == 0;
}

static struct machine *random_machine(uint64_t seed)
{
    static const struct hw_topology_ops *const any[] = {
        &hw_ring_1d,     &hw_torus_2d, &hw_mesh_2d_no_wrap, &hw_switch,
        &hw_pair_switch, &hw_torus_3d, &hw_fully_connected, &hw_levels};
    struct cw_rng rng = cw_rng_seeded(seed, 0);
    struct machine *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->hw = sips_of(any[cw_rng_below(&rng, COUNT_OF(any))], 1 + cw_rng_below(&rng, 2),
                    1 + cw_rng_below(&rng, 2));
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
    m->needs.contexts = 1 + cw_rng_below(&rng, TL_CONTEXTS_MAX);
    m->needs.peers = PES_MAX;
    m->config.single_vc = cw_rng_below(&rng, 4) == 0;
    m->config.credit_fabric = cw_rng_below(&rng, 4) == 0;
    m->config.fairness_strict = cw_rng_below(&rng, 2);
    m->hw.dma_reduce = per_ns(1 + cw_rng_below(&rng, 200), 1);
    for (enum hw_memory memory = 0; memory < HW_MEMORY_NONE && cw_rng_below(&rng, 2); memory++)
        m->hw.slot_access[memory] =
            (struct hw_slot_access){.overhead_ps = cw_rng_below(&rng, 3) * 1000,
                                    .rate = per_ns(1 + cw_rng_below(&rng, 500), 1),
                                    .write_only = cw_rng_below(&rng, 3) == 0};
    m->hw.math_free_operands = cw_rng_below(&rng, 3) == 0;
    m->hw.launch_together = cw_rng_below(&rng, 3) == 0;
    if (seed % 4 == 3)
        join_by_graph(m, seed);
    plan_hw = m->hw;
    return m;
}

static void run_random_kernels(struct machine *m, uint64_t seed)
{
    assert_int_equal(lp_system_begin_batch(m->system,
                                           &(struct lp_batch_options){.kernel = &random_kernel},
                                           &m->error),
                     CW_OK);
    for (uint32_t pe = 0; pe < hw_pe_count(&m->hw); pe++) {
        const struct tl_args args = {
            .tensor = TENSOR_VA,
            .tensor_pa = TENSOR_PA,
            .shard_bytes = SHARD_BYTES,
            .rank = hw_place_of(&m->hw, pe).sip,
            .dtype = LP_F16,
            .scalar = {[SEED] = (int64_t)seed, [CONTEXTS] = m->needs.contexts}};
        assert_int_equal(lp_system_submit_launch(m->system, pe, &random_kernel, &args, &m->error),
                         CW_OK);
    }
    if (lp_system_drain(m->system, &m->error) != CW_OK)
        fail_msg(
            "seed %llu: exit code %d: %s; replay: LP_SEED=%llu build/test/unit/lp/test_lp_random",
            (unsigned long long)seed, m->error.exit_code, m->error.text, (unsigned long long)seed);
}

/* ---- properties of every run ----------------------------------------------------------------- */

static void fail_at(uint64_t seed, const struct lp_op *op, const char *fault)
{
    fail_msg("seed %llu: PE %u, direction %s, tile %u: %s; replay: LP_SEED=%llu "
             "build/check/test/unit/lp/test_lp_random",
             (unsigned long long)seed, op->pe, hw_dir_name((enum hw_dir)op->dir), op->seq, fault,
             (unsigned long long)seed);
}

/* A tile cannot be received before the call, its path and the wire have taken their time. */
static int64_t earliest_ps(const struct machine *m, const struct lp_op *send)
{
    const struct hw_place from = hw_place_of(&m->hw, send->pe),
                          to = hw_place_of(&m->hw, send->peer);
    const bool global = send->dir >= HW_DIR_GLOBAL_N && send->dir <= HW_DIR_GLOBAL_W;
    const uint32_t exit =
        global ? hw_route_global_exit(&m->hw, from.sip, (enum hw_dir)send->dir) : HW_OUTLET_NONE;
    return send->t_start_ps + m->hw.overhead_ps[HW_NODE_PE_CPU] +
           m->hw.overhead_ps[HW_NODE_PE_IPCQ] +
           hw_tile_ps(&m->hw, from, to, m->config.slots, exit, send->dir ^ 1, send->bytes) +
           m->hw.ipcq_wire_ps;
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

/* A put is there no earlier than its path allows, the puts of one PE to another are there in their
 * order, and a notification is there after the puts before it. */
static void check_one_sided(const struct machine *m, uint64_t seed)
{
    static struct {
        uint32_t made, landed, notified[TL_TAGS], waited[TL_TAGS];
        struct lp_op put[ROUNDS * PUTS_MAX];
        uint32_t before[TL_TAGS][ROUNDS]; /* each notification: how many puts */
    } pair[PES_MAX][PES_MAX];
    memset(pair, 0, sizeof pair);
    for (uint32_t i = 0; i < m->op_count; i++) {
        const struct lp_op *op = &m->op[i];
        const bool there = op->kind == LP_OP_LAND || op->kind == LP_OP_WAIT_NOTIFY;
        if (!there && op->kind != LP_OP_PUT && op->kind != LP_OP_NOTIFY)
            continue;
        const uint32_t from = there ? op->peer : op->pe, to = there ? op->pe : op->peer;
        const uint32_t made = pair[from][to].made, landed = pair[from][to].landed;
        if (op->kind == LP_OP_PUT) {
            pair[from][to].put[pair[from][to].made++] = *op;
        } else if (op->kind == LP_OP_NOTIFY) {
            pair[from][to].before[op->dir][pair[from][to].notified[op->dir]++] = made;
        } else if (op->kind == LP_OP_LAND) {
            const struct lp_op *put = &pair[from][to].put[landed];
            pair[from][to].landed++;
            if (landed >= made || put->seq != op->seq)
                fail_at(seed, op, "a put landed out of order");
            const enum hw_memory memory = put->dst.space == LP_SPACE_TCM   ? HW_MEMORY_TCM
                                          : put->dst.space == LP_SPACE_HBM ? HW_MEMORY_HBM
                                                                           : HW_MEMORY_SRAM;
            if (op->t_end_ps < put->t_end_ps + hw_path_ps(&m->hw, hw_place_of(&m->hw, from),
                                                          hw_place_of(&m->hw, to), memory,
                                                          HW_OUTLET_NONE, HW_DIRS_MAX, put->bytes))
                fail_at(seed, op, "a put landed earlier than its path allows");
        } else {
            const uint32_t n = pair[from][to].waited[op->dir]++;
            if (n >= pair[from][to].notified[op->dir] || pair[from][to].before[op->dir][n] > landed)
                fail_at(seed, op, "notified before the puts before it have landed");
        }
    }
}

/* Something to compute with: otherwise all values would be zeros. */
static void fill_memories(struct data_pass *pass, const struct hw_config *hw)
{
    struct cw_error error;
    for (uint32_t pe = 0; pe < hw_pe_count(hw); pe++)
        assert_int_equal(data_pass_fill_input(pass, pe, TENSOR_PA, DTYPE_F16, 1,
                                              (uint64_t)pe * SHARD_BYTES, SHARD_BYTES / 2, &error),
                         CW_OK);
}

/* Nothing is used before it is there. Returns the digest of the memories. */
static uint64_t check_data(const struct machine *m, uint64_t seed)
{
    struct cw_error error;
    struct data_pass *pass = data_pass_create(&m->hw, 0, 1);
    assert_non_null(pass);
    fill_memories(pass, &m->hw);
    for (uint32_t i = 0; i < m->op_count; i++)
        if (data_pass_apply(pass, &m->op[i], &error) != CW_OK)
            fail_at(seed, &m->op[i], error.text);
    const uint64_t digest = data_pass_digest(pass);
    data_pass_free(pass);
    return digest;
}

/* ---- the same in every mode ------------------------------------------------------------------ */

static const char *const mode_name[] = {[CW_SEQUENTIAL] = "sequential",
                                        [CW_CONSERVATIVE] = "conservative",
                                        [CW_OPTIMISTIC] = "optimistic",
                                        [CW_ADAPTIVE] = "adaptive",
                                        [CW_STRESS] = "stress"};

/* The machine again, on 1 to 8 workers, its cubes anywhere. */
static struct machine *elsewhere(uint64_t seed, enum cw_sync sync, uint32_t *cube_worker)
{
    struct machine *m = random_machine(seed);
    struct cw_rng rng = cw_rng_seeded(seed, 1 + (uint64_t)sync);
    m->engine.sync = sync;
    m->engine.worker_count = 1 + cw_rng_below(&rng, 8);
    m->engine.tuning.lazy_cancellation = cw_rng_below(&rng, 2);
    for (uint32_t cube = 0; cube < m->hw.sip_count * hw_cubes(&m->hw); cube++)
        cube_worker[cube] = cw_rng_below(&rng, m->engine.worker_count);
    m->cube_worker = cube_worker;
    m->engine.tuning.window_ps = cw_rng_below(&rng, 2) ? 0 : 1 + cw_rng_below(&rng, 100000);
    if (sync == CW_STRESS) {
        m->engine.tuning.stress_seed = seed;
        m->engine.tuning.stress_rate_p32 = 1ull << (26 + cw_rng_below(&rng, 5)); /* 1/64 to 1/4 */
    }
    return m;
}

static void check_mode(const struct machine *first, uint64_t digest, uint64_t seed,
                       enum cw_sync sync)
{
    uint32_t cube_worker[PES_MAX];
    struct machine *other = elsewhere(seed, sync, cube_worker);
    struct cw_stats a, b;
    other->with_data = true;
    if (!machine_try_start(other)) { /* without lookahead there is nothing to conserve */
        if (sync != CW_CONSERVATIVE || other->error.exit_code != CW_USAGE)
            fail_msg("seed %llu: %s", (unsigned long long)seed, other->error.text);
        machine_free(other);
        return;
    }
    fill_memories(other->data, &other->hw);
    run_random_kernels(other, seed);
    machine_settle_data(other);
    cw_sim_stats(lp_system_sim(first->system), &a);
    cw_sim_stats(lp_system_sim(other->system), &b);
    if (first->op_count != other->op_count || a.trace_hash != b.trace_hash ||
        a.events_committed != b.events_committed ||
        memcmp(first->op, other->op, first->op_count * sizeof *first->op) != 0)
        fail_msg("seed %llu: %s on %u workers: %u records, %llu events, trace %016llx; sequential: "
                 "%u, %llu, %016llx; replay: LP_SEED=%llu build/test/unit/lp/test_lp_random",
                 (unsigned long long)seed, mode_name[sync], other->engine.worker_count,
                 other->op_count, (unsigned long long)b.events_committed,
                 (unsigned long long)b.trace_hash, first->op_count,
                 (unsigned long long)a.events_committed, (unsigned long long)a.trace_hash,
                 (unsigned long long)seed);
    if (data_pass_digest(other->data) != digest || data_pass_tiles(other->data) > 0)
        fail_msg("seed %llu: %s on %u workers: other values, or %llu tiles left; replay: "
                 "LP_SEED=%llu build/check/test/unit/lp/test_lp_random",
                 (unsigned long long)seed, mode_name[sync], other->engine.worker_count,
                 (unsigned long long)data_pass_tiles(other->data), (unsigned long long)seed);
    check_tiles(other, seed);
    machine_free(other);
}

/* ---- the same again -------------------------------------------------------------------------- */

enum { REPEATS = 12, KINDS = 3 };

/* An iteration: its operations, in op[] of the machine, and its times since its begin. */
struct iteration {
    struct lp_idle_state after;
    uint64_t kind; /* of its kernels: their seed */
    uint32_t first, count;
    int64_t begun_ps, kernels_ps, host_ps;
};

/* Of all LPs. Not of the launches before: what comes now may follow whatever has been. */
static void take_state(const struct machine *m, struct lp_idle_state *state)
{
    const struct lp_idle_machine machine = lp_system_idle_machine(m->system);
    assert_true(lp_system_is_idle(m->system));
    lp_idle_state_begin(state, machine.now_ps);
    for (uint32_t lp = 0; lp < machine.m->lps.count; lp++)
        assert_true(lp_idle_state_add(state, &machine, lp));
    assert_true(lp_idle_state_end(state));
}

static void run_iteration(struct machine *m, struct iteration *iteration)
{
    iteration->begun_ps = cw_sim_now(lp_system_sim(m->system));
    iteration->first = m->op_count;
    run_random_kernels(m, iteration->kind);
    const struct lp_times *const times = lp_system_times(m->system);
    iteration->count = m->op_count - iteration->first;
    iteration->kernels_ps = times->last_end_ps - iteration->begun_ps;
    iteration->host_ps = times->host_ps - iteration->begun_ps;
    take_state(m, &iteration->after);
}

/* But for the numbers of tiles, and the slots that follow from them. */
static bool is_same_op(const struct lp_op *a, int64_t a_begun_ps, const struct lp_op *b,
                       int64_t b_begun_ps)
{
    return a->t_start_ps - a_begun_ps == b->t_start_ps - b_begun_ps &&
           a->t_end_ps - a_begun_ps == b->t_end_ps - b_begun_ps && a->pe == b->pe &&
           a->kind == b->kind && a->dir == b->dir && a->bytes == b->bytes && a->peer == b->peer;
}

/* An iteration's operations, each SIP's in their order. Between those of one instant on different
 * SIPs the counts of two senders may decide, which go on; on one SIP they are one sender's. */
static const struct lp_op **ops_by_sip(const struct machine *m, const struct iteration *iteration)
{
    const uint32_t sip_pes = hw_pe_count(&m->hw) / m->hw.sip_count;
    const struct lp_op **const ops = calloc(iteration->count + 1, sizeof *ops);
    uint32_t count = 0;
    assert_non_null(ops);
    for (uint32_t sip = 0; sip < m->hw.sip_count; sip++)
        for (uint32_t i = 0; i < iteration->count; i++) {
            const struct lp_op *const op = &m->op[iteration->first + i];
            if (op->pe / sip_pes == sip)
                ops[count++] = op;
        }
    assert_int_equal(count, iteration->count);
    return ops;
}

static bool is_same_iteration(const struct machine *m, const struct iteration *a,
                              const struct iteration *b)
{
    if (a->count != b->count || a->kernels_ps != b->kernels_ps || a->host_ps != b->host_ps)
        return false;
    const struct lp_op **const of_a = ops_by_sip(m, a), **const of_b = ops_by_sip(m, b);
    bool same = true;
    for (uint32_t i = 0; i < a->count && same; i++)
        same = is_same_op(of_a[i], a->begun_ps, of_b[i], b->begun_ps);
    free(of_a);
    free(of_b);
    return same;
}

/* Iterations of a few kinds, in any order. Returns how many pairs began in the same state. */
static uint32_t check_repetition(struct machine *m, uint64_t seed)
{
    struct iteration iteration[REPEATS];
    struct cw_rng rng = cw_rng_seeded(seed, 99);
    uint32_t found = 0, i = 0;
    memset(iteration, 0, sizeof iteration);
    machine_start(m);
    m->op_count = 0;
    for (; i < REPEATS && m->op_count < OPS_MAX * 3 / 4; i++) {
        iteration[i].kind = seed + cw_rng_below(&rng, KINDS);
        run_iteration(m, &iteration[i]);
        for (uint32_t k = 1; k < i; k++) {
            if (iteration[k].kind != iteration[i].kind ||
                !lp_idle_state_equal(&iteration[k - 1].after, &iteration[i - 1].after))
                continue;
            found++;
            if (!is_same_iteration(m, &iteration[k], &iteration[i]))
                fail_msg("seed %llu: iterations %u and %u begin in the same state and differ; "
                         "replay: LP_SEED=%llu build/check/test/unit/lp/test_lp_random",
                         (unsigned long long)seed, k, i, (unsigned long long)seed);
        }
    }
    while (i > 0)
        lp_idle_state_free(&iteration[--i].after);
    machine_free(m);
    return found;
}

static void equal_states_have_the_same_future(void **state)
{
    (void)state;
    const char *replay = getenv("LP_SEED");
    const uint64_t seeds = random_from_environment("LP_SEEDS", 60),
                   first = replay != NULL ? strtoull(replay, NULL, 10) : 1;
    uint32_t found = 0;
    for (uint64_t seed = first; seed < first + (replay != NULL ? 1 : seeds); seed++) {
        struct machine *const m = random_machine(seed);
        if (seed % 3 == 0)
            m->config.coarse = 2 + (uint32_t)(seed / 3 % 3);
        found += check_repetition(m, seed);
    }
    assert_true(replay != NULL || found > seeds);
}

static void check_seed(uint64_t seed)
{
    struct machine *first = random_machine(seed);
    machine_start(first);
    run_random_kernels(first, seed);
    check_tiles(first, seed);
    check_one_sided(first, seed);
    const uint64_t digest = check_data(first, seed);
    for (enum cw_sync sync = CW_SEQUENTIAL; sync <= CW_STRESS; sync++)
        check_mode(first, digest, seed, sync);
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
    const uint64_t seeds = random_from_environment("LP_SEEDS", 60);
    for (uint64_t seed = 1; seed <= seeds; seed++)
        check_seed(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_kernels_keep_the_protocol_in_every_mode),
        cmocka_unit_test(equal_states_have_the_same_future)};
    return cmocka_run_group_tests_name("lp_random", tests, NULL, NULL);
}
