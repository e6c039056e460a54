/*
 * test_lp_fold.c: a folded machine against the same machine unfolded. Random kernels whose doings
 * depend on their SIP by its class alone exchange tiles with all neighbours, put to SIPs some turns
 * away and notify them, store into their memories and load from there. Each PE of the whole machine
 * has the same start and end, to the picosecond, as the PE of its representative.
 */
#include "test/support/random_model.h"
#include "test/support/test_lp_support.h"

#include "hw/topology/fold.h"

enum { SEEDS = 12, ROUNDS = 3, PES_MAX = 512, SRAM_AT = 1 << 20 };

/* What kernels of both machines look up; const while they run. */
static struct {
    struct hw_config hw;
    struct hw_fold fold, digits; /* digits: the candidate that `fold` is a part of */
    uint64_t seed;
    bool one_sided, by_class;
    bool in_step; /* all tiles are alike: many events meet */
} plan;

static uint64_t draw(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    struct cw_rng rng = cw_rng_seeded(plan.seed, a << 48 | b << 32 | c << 16 | d);
    return cw_rng_u64(&rng);
}

/* The place of a PE as the plan sees it: alike in all SIPs of a class. */
static uint64_t key_of(struct hw_place place)
{
    const uint32_t in_sip = place.cube * hw_pes(&plan.hw) + place.pe;
    return in_sip << 8 | (plan.by_class ? hw_fold_index(&plan.fold, place.sip) : 0);
}

enum { SIZE, TURN, STEP, PEER, WHAT };

/* Bytes of the tile that a PE sends in a direction; 0: none. */
static uint32_t planned(uint32_t round, struct hw_place place, uint32_t dir, uint32_t slot)
{
    const uint64_t z = draw(round, dir, key_of(place), SIZE);
    if (plan.in_step)
        return slot / 2;
    return z % 3 == 0 ? 0 : 2 + (uint32_t)((z >> 8) % (slot / 2)) * 2;
}

/* The SIP some turns away, the same number for all SIPs; `back`: whose turns lead here. */
static uint32_t turned(uint32_t sip, uint32_t round, bool back)
{
    for (uint32_t d = 0; d < plan.digits.count; d++) {
        const struct hw_fold_digit *const digit = &plan.digits.digit[d];
        const uint32_t at = hw_fold_digit_of(digit, sip);
        const uint32_t by = (uint32_t)draw(round, d, 0, PEER) % digit->size;
        if (digit->step < digit->size)
            sip = sip - at * digit->stride +
                  (at + (back ? digit->size - by : by)) % digit->size * digit->stride;
    }
    return sip;
}

static struct hw_place peer_of(struct hw_place place, uint32_t round, bool back)
{
    const uint32_t cubes = hw_cubes(&plan.hw), by = (uint32_t)draw(round, 1, 0, PEER) % cubes;
    place.sip = turned(place.sip, round, back);
    place.cube = (place.cube + (back ? cubes - by : by)) % cubes;
    return place;
}

struct fold_frame {
    uint16_t line, reserved[3];
    uint32_t round, i;
};

static uint32_t peer_index(const struct tl *tl, const struct fold_frame *f, bool back)
{
    return tl_pe_index(tl, peer_of(tl_place(tl), f->round, back));
}

static bool has_peer(const struct tl *tl, const struct fold_frame *f)
{
    return plan.one_sided && peer_index(tl, f, false) != tl_pe_index(tl, tl_place(tl));
}

static struct lp_operand memory(const struct tl *tl, const struct fold_frame *f, uint32_t which)
{
    static const struct lp_operand memories[] = {{.space = LP_SPACE_TCM, .at = 64},
                                                 {.space = LP_SPACE_HBM, .at = TENSOR_PA},
                                                 {.space = LP_SPACE_SRAM, .at = SRAM_AT}};
    return memories[draw(f->round, which, key_of(tl_place(tl)), WHAT) % 3];
}

static enum hw_dir turn(const struct tl *tl, const struct fold_frame *f)
{
    return (enum hw_dir)((f->i + draw(f->round, 0, key_of(tl_place(tl)), TURN)) % HW_DIR_BUILT_IN);
}

/* Exchanges in a direction that the fold does not keep are none of classes of SIPs. */
static bool is_used(const struct tl *tl, enum hw_dir dir)
{
    const bool global = dir >= HW_DIR_GLOBAL_N && dir <= HW_DIR_GLOBAL_W;
    return tl_installed(tl, dir) &&
           (!global || hw_fold_keeps_direction(&plan.hw, &plan.fold, (enum hw_port)(dir & 3)));
}

static uint32_t to_send(const struct tl *tl, const struct fold_frame *f, enum hw_dir dir)
{
    return is_used(tl, dir) ? planned(f->round, tl_place(tl), dir, tl_slot_bytes(tl)) : 0;
}

static uint32_t to_receive(const struct tl *tl, const struct fold_frame *f, enum hw_dir dir)
{
    struct hw_place peer;
    if (!is_used(tl, dir) || !hw_dir_neighbour(&plan.hw, tl_place(tl), dir, &peer))
        return 0;
    return planned(f->round, peer, dir ^ 1, tl_slot_bytes(tl));
}

static uint32_t work_of(const struct tl *tl, const struct fold_frame *f)
{
    return plan.in_step ? 8 : 1 + (uint32_t)draw(f->round, 0, key_of(tl_place(tl)), STEP) % 64;
}

static enum tl_status fold_run(struct tl *tl, void *frame)
{
    struct fold_frame *const f = frame;
    TL_BEGIN(&f->line);
    for (; f->round < ROUNDS; f->round++) {
        TL_CALL(&f->line, tl_math(tl, LP_MATH_SUM, 0, tl_tcm(0), tl_tcm(128), work_of(tl, f)));
        for (f->i = 0; f->i < HW_DIR_BUILT_IN; f->i++)
            if (to_send(tl, f, turn(tl, f)) > 0)
                TL_CALL(&f->line,
                        tl_send(tl, turn(tl, f), memory(tl, f, 0), to_send(tl, f, turn(tl, f))));
        if (has_peer(tl, f)) {
            TL_CALL(&f->line,
                    tl_put(tl, peer_index(tl, f, false), memory(tl, f, 1), memory(tl, f, 2), 640));
            TL_CALL(&f->line, tl_notify(tl, peer_index(tl, f, false), f->round % TL_TAGS));
            TL_CALL(&f->line, tl_store_to(tl, peer_index(tl, f, false), memory(tl, f, 3),
                                          memory(tl, f, 4), 300));
            TL_CALL(&f->line, tl_load_from(tl, 64, peer_index(tl, f, true), memory(tl, f, 5), 420));
        }
        for (f->i = 0; f->i < HW_DIR_BUILT_IN; f->i++)
            if (to_receive(tl, f, turn(tl, f)) > 0)
                TL_CALL(&f->line, tl_recv(tl, turn(tl, f), to_receive(tl, f, turn(tl, f))));
        if (has_peer(tl, f))
            TL_CALL(&f->line, tl_wait_notify(tl, peer_index(tl, f, true), f->round % TL_TAGS));
    }
    TL_END(&f->line);
}

static const struct tl_kernel fold_kernel = {
    .name = "fold", .frame_bytes = sizeof(struct fold_frame), .run = fold_run};

/* ---- a run ----------------------------------------------------------------------------------- */

struct outcome {
    int64_t ps[PES_MAX][2]; /* of each PE that was simulated: its kernel's start and end */
    bool is_exact;
};

static void note(void *arg, const struct lp_kernel_record *record)
{
    struct outcome *const outcome = arg;
    assert_true(record->pe < PES_MAX);
    if (record->mark == LP_MARK_START || record->mark == LP_MARK_END)
        outcome->ps[record->pe][record->mark == LP_MARK_END] = record->t_ps;
}

static void run_machine(struct machine *m, const struct hw_fold *fold, struct outcome *outcome)
{
    memset(outcome, 0, sizeof *outcome);
    m->listener = (struct lp_listener){.kernel = note, .arg = outcome};
    m->fold = fold;
    uint32_t cube_worker[PES_MAX];
    if (fold != NULL && plan.seed % 3 == 1) {
        struct cw_rng rng = cw_rng_seeded(plan.seed, 1);
        m->engine = (struct cw_config){.sync = CW_STRESS, .worker_count = 3};
        m->engine.tuning.stress_seed = plan.seed;
        m->engine.tuning.stress_rate_p32 = 1ull << 28;
        for (uint32_t cube = 0; cube < fold->sips * hw_cubes(&m->hw); cube++)
            cube_worker[cube] = cw_rng_below(&rng, 3);
        m->cube_worker = cube_worker;
    }
    m->unmapped = true;
    machine_start(m);
    const uint32_t sip_pes = hw_cubes(&m->hw) * hw_pes(&m->hw);
    const uint32_t sips = fold != NULL ? fold->sips : m->hw.sip_count;
    assert_int_equal(lp_system_begin_batch(
                         m->system, &(struct lp_batch_options){.kernel = &fold_kernel}, &m->error),
                     CW_OK);
    for (uint32_t i = 0; i < sips * sip_pes; i++) {
        const uint32_t index = i / sip_pes, sip = fold != NULL ? hw_fold_sip(fold, index) : index;
        const struct tl_args args = {.rank = sip, .dtype = LP_F16};
        assert_int_equal(lp_system_submit_launch(m->system, sip * sip_pes + i % sip_pes,
                                                 &fold_kernel, &args, &m->error),
                         CW_OK);
    }
    if (lp_system_drain(m->system, &m->error) != CW_OK)
        fail_msg("%s, seed %u: %s", fold != NULL ? "folded" : "unfolded", (unsigned)plan.seed,
                 m->error.text);
    outcome->is_exact = lp_system_fold_is_exact(m->system);
    machine_free(m);
}

typedef struct machine *make_fn(const struct hw_config *hw);

/* PEs whose times differ. */
static uint32_t differing(make_fn *make, const struct hw_config *hw, bool *is_exact)
{
    static struct outcome whole, folded;
    struct machine *const a = make(hw), *const b = make(hw);
    plan.hw = a->hw;
    const uint32_t sip_pes = hw_cubes(&a->hw) * hw_pes(&a->hw), pes = hw_pe_count(&a->hw);
    assert_true(pes <= PES_MAX);
    run_machine(a, NULL, &whole);
    run_machine(b, &plan.fold, &folded);
    uint32_t differ = 0;
    *is_exact = folded.is_exact;
    for (uint32_t pe = 0; pe < pes; pe++) {
        const uint32_t sip = pe / sip_pes, r = hw_fold_representative(&plan.fold, sip);
        const uint32_t like = pe - (sip - r) * sip_pes;
        differ += memcmp(whole.ps[pe], folded.ps[like], sizeof whole.ps[pe]) != 0;
        assert_true(folded.ps[like][1] > 0);
    }
    return differ;
}

/* ---- machines -------------------------------------------------------------------------------- */

static struct hw_config joined(const struct hw_topology_ops *topology, uint32_t sips,
                               struct hw_sip_size given)
{
    struct hw_config hw = default_machine();
    struct hw_sip_size size;
    struct hw_misfit misfit;
    hw.sip_count = sips;
    hw.cube_w = 2, hw.cube_h = 1;
    hw.corner_count = 2;
    for (uint32_t kind = HW_LINK_CLASS_1; kind < HW_LINK_KINDS; kind++)
        hw.link[kind] = hw.link[HW_LINK_SIP_LINK];
    if (!topology->fit(sips, given, &size, &misfit))
        fail_msg("%s", misfit.text);
    hw_join_sips(&hw, topology, &size);
    return hw;
}

static struct machine *make_plain(const struct hw_config *hw)
{
    struct machine *const m = small_machine(1, 1, 1);
    m->hw = *hw;
    m->hw.contention = (enum hw_contention)(plan.seed % 3);
    m->config.slots = (enum hw_memory)(plan.seed / 2 % 3);
    m->config.credit_fabric = plan.seed % 4 == 1;
    m->config.single_vc = plan.seed % 8 == 2;
    m->config.poll = plan.seed % 5 == 2;
    m->config.n_slots = 2 + (uint32_t)plan.seed % 3;
    m->config.fairness_strict = plan.seed % 2;
    m->needs.peers = plan.one_sided ? 16 : 0;
    return m;
}

static bool narrow_at_random(void *arg, const struct hw_fold *one_digit)
{
    (void)one_digit;
    return cw_rng_u64(arg) % 2 == 0;
}

static uint32_t others_exact; /* folds that do not translate, and are exact */

/* Each candidate, and some of the folds that have some of its turns, with kernels and machines of
 * many kinds. */
static void check_machine(struct hw_config hw)
{
    uint32_t folds = 0;
    bool is_exact;
    for (uint32_t c = 0; hw_fold_candidate(&hw, c, &plan.digits); c++)
        for (plan.seed = 0; plan.seed < SEEDS; plan.seed++) {
            struct cw_rng rng = cw_rng_seeded(plan.seed, c);
            plan.fold = plan.digits;
            plan.by_class = plan.seed % 3 == 2;
            plan.one_sided = plan.seed % 2;
            plan.in_step = plan.seed % 5 == 0;
            if (plan.seed % 3 > 0)
                hw_fold_narrow(&plan.fold, narrow_at_random, &rng);
            if (plan.fold.sips == plan.fold.of)
                continue;
            const uint32_t differ = differing(make_plain, &hw, &is_exact);
            folds++;
            assert_true(is_exact || !plan.fold.translates);
            others_exact += is_exact && !plan.fold.translates;
            if (differ > 0 && is_exact)
                fail_msg("%s, candidate %u, seed %u: %u of %u SIPs: %u PEs differ",
                         hw.sip_topology->name, c, (unsigned)plan.seed, plan.fold.sips,
                         plan.fold.of, differ);
        }
    assert_true(folds >= 5);
}

static void rings_and_toruses_fold(void **state)
{
    (void)state;
    const struct hw_sip_size none = {0};
    check_machine(joined(&hw_ring_1d, 2, none));
    check_machine(joined(&hw_ring_1d, 6, none));
    check_machine(joined(&hw_torus_2d, 12, (struct hw_sip_size){.w = 3, .h = 4}));
    check_machine(joined(&hw_torus_3d, 12, (struct hw_sip_size){.w = 3, .h = 2, .d = 2}));
}

static void full_meshes_switches_and_levels_fold(void **state)
{
    (void)state;
    const struct hw_sip_size none = {0};
    struct hw_sip_size levels = {0};
    check_machine(joined(&hw_fully_connected, 6, none));
    check_machine(joined(&hw_switch, 6, none));
    check_machine(joined(&hw_pair_switch, 8, none));
    hw_sip_dims_add(&levels.dims, HW_SIP_RING, 3, HW_LINK_CLASS_1);
    hw_sip_dims_add(&levels.dims, HW_SIP_SWITCH, 4, HW_LINK_CLASS_1 + 1);
    check_machine(joined(&hw_levels, 12, levels));
    assert_true(others_exact > 0);
}

/* PE i notifies PE i of the SIP whose number differs in bit i. All arrive at one instant. */
static enum tl_status notify_run(struct tl *tl, void *frame)
{
    struct fold_frame *const f = frame;
    const uint32_t self = tl_pe_index(tl, tl_place(tl));
    const uint32_t sip_pes = hw_cubes(&plan.hw) * hw_pes(&plan.hw);
    const uint32_t peer_sip = tl_place(tl).sip ^ 1u << tl_pe_id(tl);
    const uint32_t peer = self % sip_pes + peer_sip * sip_pes;
    TL_BEGIN(&f->line);
    TL_CALL(&f->line, tl_notify(tl, peer, 0));
    TL_CALL(&f->line, tl_wait_notify(tl, peer, 0));
    TL_END(&f->line);
}
static const struct tl_kernel notify_kernel = {
    .name = "notify", .frame_bytes = sizeof(struct fold_frame), .run = notify_run};

/* Four SIPs behind one switch, folded by exclusive ors; the first PEs of each run the kernel. */
static bool is_exact_with(uint32_t pes)
{
    plan.hw = joined(&hw_switch, 4, (struct hw_sip_size){0});
    plan.hw.launch_together = true;
    plan.one_sided = true;
    plan.seed = 0; /* without contention: nothing holds them apart */
    assert_true(hw_fold_candidate(&plan.hw, 1, &plan.fold));
    struct machine *const m = make_plain(&plan.hw);
    m->fold = &plan.fold;
    m->unmapped = true;
    machine_start(m);
    const struct lp_batch_options options = {.kernel = &notify_kernel};
    assert_int_equal(lp_system_begin_batch(m->system, &options, &m->error), CW_OK);
    for (uint32_t pe = 0; pe < pes; pe++)
        assert_int_equal(lp_system_submit_launch(m->system, pe, &notify_kernel,
                                                 &(struct tl_args){.dtype = LP_F16}, &m->error),
                         CW_OK);
    if (lp_system_drain(m->system, &m->error) != CW_OK)
        fail_msg("%s", m->error.text);
    const bool is_exact = lp_system_fold_is_exact(m->system);
    char tie[LP_TIE_BYTES];
    const char *const where = lp_system_fold_tie(m->system, tie);
    assert_true(is_exact ? where[0] == '\0' : strstr(where, "switch 0, at ") == where);
    machine_free(m);
    return is_exact;
}

static void events_of_two_other_sips_that_meet_are_noticed(void **state)
{
    (void)state;
    assert_true(is_exact_with(1));
    assert_false(is_exact_with(2));
}

/* A representative alone has LPs. */
static void a_message_to_another_sip_is_a_bug(void **state)
{
    (void)state;
    const struct hw_config hw = joined(&hw_ring_1d, 4, (struct hw_sip_size){0});
    assert_true(hw_fold_candidate(&hw, 0, &plan.fold));
    struct machine *const m = make_plain(&hw);
    m->fold = &plan.fold;
    m->unmapped = true;
    machine_start(m);
    assert_int_equal(lp_system_begin_copy(m->system, &m->error), CW_OK);
    const uint32_t pe = hw_cubes(&hw) * hw_pes(&hw); /* of SIP 1 */
    assert_int_equal(lp_system_submit_write(m->system, pe, 64, &m->error), CW_BUG);
    assert_string_equal(m->error.text, "a message to SIP 1, which its representative 0 stands for");
    machine_free(m);
}

/* Time and memory depend on the SIPs that have LPs alone. */
static void a_machine_of_a_million_sips_folds_onto_one(void **state)
{
    (void)state;
    const struct hw_config hw =
        joined(&hw_torus_2d, 1 << 20, (struct hw_sip_size){.w = 1024, .h = 1024});
    static struct outcome folded;
    assert_true(hw_fold_candidate(&hw, 0, &plan.digits));
    plan.fold = plan.digits;
    plan.hw = hw;
    plan.seed = 1;
    plan.one_sided = true;
    struct machine *const m = make_plain(&hw);
    run_machine(m, &plan.fold, &folded);
    assert_true(folded.ps[hw_cubes(&hw) * hw_pes(&hw) - 1][1] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_and_toruses_fold),
        cmocka_unit_test(full_meshes_switches_and_levels_fold),
        cmocka_unit_test(events_of_two_other_sips_that_meet_are_noticed),
        cmocka_unit_test(a_message_to_another_sip_is_a_bug),
        cmocka_unit_test(a_machine_of_a_million_sips_folds_onto_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
