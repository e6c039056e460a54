/*
 * test_fold_find.c: how far machines fold for calls (fold_find.h): which algorithm on which
 * topology folds by how much, and which single difference between two ranks is found. The table of
 * all algorithms and topologies is perf/results/folds.md; FOLDS_TABLE=FILE writes it anew.
 */
#include "test/support/test_config_support.h"

#include <inttypes.h>

#include "collectives/fold/fold_find.h"
#include "collectives/schedule/schedule_builder.h"

enum { ELEMS = 3840 }; /* divides among 16, 12 and 15 ranks, in four parts */

struct machine {
    const char *name;
    const char *set[5];
};
static const struct machine machines[] = {
    {"ring of 16", {"system.sips.count=16", "system.sips.topology=ring_1d"}},
    {"torus 4 x 4",
     {"system.sips.count=16", "system.sips.topology=torus_2d", "system.sips.w=4",
      "system.sips.h=4"}},
    {"torus 5 x 3",
     {"system.sips.count=15", "system.sips.topology=torus_2d", "system.sips.w=5",
      "system.sips.h=3"}},
    {"torus 2 x 2 x 4",
     {"system.sips.count=16", "system.sips.topology=torus_3d", "system.sips.w=2", "system.sips.h=2",
      "system.sips.d=4"}},
    {"mesh 4 x 4", {"system.sips.count=16", "system.sips.topology=mesh_2d_no_wrap"}},
    {"all joined, 16", {"system.sips.count=16", "system.sips.topology=fully_connected"}},
    {"switch of 16", {"system.sips.count=16", "system.sips.topology=switch"}},
    {"switch of 12", {"system.sips.count=12", "system.sips.topology=switch"}},
    {"8 paired dies",
     {"system.sips.count=16", "system.sips.topology=pair_switch", "sip.cube_mesh.w=1",
      "sip.cube_mesh.h=1"}},
    {"4 all joined x ring of 4",
     {"system.sips.count=16",
      "system.sips.topology=[{fully_connected: 4}, {ring_1d: 4, bw_gbs: 50}]"}},
};

static struct config *load(const struct machine *machine, const char *algorithm, const char *more)
{
    char named[80];
    const char *sets[8];
    size_t count = 0;
    while (count < COUNT_OF(machine->set) && machine->set[count] != NULL) {
        sets[count] = machine->set[count];
        count++;
    }
    snprintf(named, sizeof named, "defaults.algorithm=%s", algorithm);
    sets[count++] = named;
    if (more != NULL)
        sets[count++] = more;
    return load_with("tiny", sets, count);
}

static struct ccl_call call_of(enum ccl_collective collective, uint64_t n_elem)
{
    return (struct ccl_call){
        .collective = collective, .n_elem = n_elem, .dtype = LP_F16, .math = LP_MATH_SUM};
}

/* Nothing is found where the code is not CW_OK: *why is the error. */
static struct fold_found find(const struct config *config, const struct ccl_call *call, int *code)
{
    struct cw_error error = {.exit_code = CW_OK};
    struct fold_found found;
    const struct fold_request request = {.config = config, .calls = call, .count = 1};
    *code = fold_find(&request, &found, &error);
    if (*code != CW_OK)
        snprintf(found.why, sizeof found.why, "%.390s", error.text);
    schedule_free(found.schedule);
    return found;
}

static const struct ccl_algorithm *algorithm_of(const struct config *config)
{
    struct cw_error error;
    const struct ccl_algorithm *const algorithm = ccl_algorithm_load(config->ccl.module, &error);
    assert_non_null(algorithm);
    return algorithm;
}

/* Folds as wide as `sips` says, known in this way; the reason begins so, or ends so. */
struct expected {
    size_t machine; /* machines[] */
    const char *algorithm;
    uint32_t sips;
    enum fold_known known;
    const char *why; /* NULL: there is none */
};

static void check_fold(const struct expected *e)
{
    struct config *const config = load(&machines[e->machine], e->algorithm, NULL);
    const struct ccl_call call = call_of(algorithm_of(config)->collective, ELEMS);
    int code;
    const struct fold_found found = find(config, &call, &code);
    print_message("%s, %s: %u of %u, '%s'\n", machines[e->machine].name, e->algorithm,
                  found.fold.sips, found.fold.of, found.why);
    assert_int_equal(code, CW_OK);
    assert_int_equal(found.fold.sips, e->sips);
    assert_int_equal(found.known, e->known);
    if (e->why == NULL)
        assert_string_equal(found.why, "");
    else
        assert_non_null(strstr(found.why, e->why));
    config_free(config);
}

/* ---- rules of schedules ---------------------------------------------------------------------- */

static void expect_same_part(const struct schedule_rank *x, const struct schedule_rank *y)
{
    assert_memory_equal(x->chunks, y->chunks, sizeof x->chunks);
    assert_int_equal(x->thread_count, y->thread_count);
    assert_int_equal(x->step_count, y->step_count);
    assert_int_equal(x->wait_count, y->wait_count);
    for (uint32_t t = 0; t < x->thread_count; t++) {
        assert_int_equal(x->thread[t].step_first, y->thread[t].step_first);
        assert_int_equal(x->thread[t].step_count, y->thread[t].step_count);
        assert_int_equal(x->thread[t].part, y->thread[t].part);
        assert_int_equal(x->thread[t].other_way, y->thread[t].other_way);
    }
    assert_memory_equal(x->step, y->step, x->step_count * sizeof *x->step);
    if (x->wait_count > 0)
        assert_memory_equal(x->wait, y->wait, x->wait_count * sizeof *x->wait);
}

static void expect_same_schedule(const struct schedule *a, const struct schedule *b)
{
    assert_int_equal(a->rank_count, b->rank_count);
    assert_int_equal(a->steps, b->steps);
    assert_int_equal(a->loop_chunks, b->loop_chunks);
    assert_int_equal(a->channels, b->channels);
    assert_int_equal(a->parts, b->parts);
    assert_true(a->in_place == b->in_place && a->keeps_numbers == b->keeps_numbers);
    for (uint32_t r = 0; r < a->rank_count; r++)
        expect_same_part(&a->rank[r], &b->rank[r]);
}

/* The part of a rank that is made alone is its part of the whole. */
static void expect_part_alone(const struct ccl_algorithm *algorithm, const struct ccl_call *call,
                              const struct schedule *whole)
{
    struct ccl_call own = *call;
    struct cw_error error;
    for (uint32_t rank = 0; rank < call->world_size; rank++) {
        const uint32_t wanted[] = {rank, (rank + 1) % call->world_size};
        own.wanted = wanted;
        own.wanted_count = COUNT_OF(wanted);
        struct schedule *const alone = algorithm->schedule(&own, &error);
        assert_non_null(alone);
        assert_true(alone->partial && !whole->partial);
        assert_int_equal(alone->rank_count, COUNT_OF(wanted));
        assert_int_equal(alone->all_ranks, whole->rank_count);
        for (uint32_t i = 0; i < COUNT_OF(wanted); i++)
            expect_same_part(&alone->rank[i], &whole->rank[wanted[i]]);
        schedule_free(alone);
    }
}

/* Where the rule allows all turns, so does the comparison of all ranks, and the representatives'
 * schedule alone is their part of the whole. Returns whether it allows them. */
static bool check_rule(const struct machine *machine, const char *name, uint64_t n_elem)
{
    struct config *const config = load(machine, name, NULL);
    const struct ccl_algorithm *const algorithm = algorithm_of(config);
    struct ccl_call call = call_of(algorithm->collective, n_elem);
    struct hw_fold fold;
    char why[CCL_FOLD_WHY_BYTES] = "";
    call.hw = &config->hw;
    call.ccl = &config->ccl;
    call.world_size = config->hw.sip_count;
    assert_true(hw_fold_candidate(&config->hw, 0, &fold));
    const bool folds = fold.sips < fold.of && algorithm->folds(&call, &fold, why);
    print_message("%s, %s, %" PRIu64 ": %s\n", machine->name, name, n_elem, folds ? "all" : why);
    if (folds) {
        struct cw_error error;
        int code;
        const struct fold_found found = find(config, &call, &code);
        assert_int_equal(code, CW_OK);
        assert_int_equal(found.fold.sips, fold.sips);
        struct schedule *const whole = algorithm->schedule(&call, &error);
        assert_non_null(whole);
        expect_part_alone(algorithm, &call, whole);
        struct schedule *const own = schedule_ask_folded(algorithm, &call, &fold, &error);
        struct schedule *const part = schedule_folded(whole, &fold);
        assert_true(own != NULL && part != NULL);
        expect_same_schedule(own, part);
        schedule_free(own);
        schedule_free(part);
        schedule_free(whole);
    }
    config_free(config);
    return folds;
}

/* ring_rs_ag keeps turns of one dimension; torus_rs_ag all, but of rings of two (a comparison's).
 */
static void rules_of_schedules_say_what_comparisons_say(void **state)
{
    static const char *const torus[] = {"torus_rs_ag", "torus_reduce_scatter", "torus_all_gather"};
    static const char *const ring[] = {"ring_rs_ag", "rings_reduce_scatter", "rings_all_gather"};
    static const struct {
        struct machine machine;
        bool torus, ring;
    } cases[] = {
        {{"ring of 16", {"system.sips.count=16", "system.sips.topology=ring_1d"}}, true, true},
        {{"ring of 60", {"system.sips.count=60", "system.sips.topology=ring_1d"}}, true, true},
        {{"switch of 12", {"system.sips.count=12", "system.sips.topology=switch"}}, true, true},
        {{"switch of 64", {"system.sips.count=64", "system.sips.topology=switch"}}, true, true},
        {{"all joined, 5", {"system.sips.count=5", "system.sips.topology=fully_connected"}},
         true,
         true},
        {{"all joined, 32", {"system.sips.count=32", "system.sips.topology=fully_connected"}},
         true,
         true},
        {{"torus 5 x 3",
          {"system.sips.count=15", "system.sips.topology=torus_2d", "system.sips.w=5",
           "system.sips.h=3"}},
         true,
         false},
        {{"torus 16 x 8",
          {"system.sips.count=128", "system.sips.topology=torus_2d", "system.sips.w=16",
           "system.sips.h=8"}},
         true,
         false},
        {{"torus 3 x 4 x 5",
          {"system.sips.count=60", "system.sips.topology=torus_3d", "system.sips.w=3",
           "system.sips.h=4", "system.sips.d=5"}},
         true,
         false},
        {{"torus 4 x 2",
          {"system.sips.count=8", "system.sips.topology=torus_2d", "system.sips.w=4",
           "system.sips.h=2"}},
         false,
         false},
        {{"torus 4 x 4 x switch of 6",
          {"system.sips.count=96",
           "system.sips.topology=[{torus_2d: [4, 4]}, {switch: 6, bw_gbs: 50}]"}},
         true,
         false},
        {{"mesh 4 x 4", {"system.sips.count=16", "system.sips.topology=mesh_2d_no_wrap"}},
         false,
         false}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (size_t k = 0; k < COUNT_OF(torus); k++) {
            assert_int_equal(check_rule(&cases[i].machine, torus[k], 46080), cases[i].torus);
            assert_int_equal(check_rule(&cases[i].machine, ring[k], 46080), cases[i].ring);
            assert_false(k < 2 && check_rule(&cases[i].machine, torus[k], 46081));
        }
}

enum { RING, TORUS, ODD_TORUS, TORUS_3D, MESH, ALL_JOINED, SWITCH, SWITCH_12, PAIRS, LEVELS };

static void schedules_fold_as_far_as_their_steps_do(void **state)
{
    (void)state;
    static const struct expected expected[] = {
        {TORUS, "torus_rs_ag", 1, FOLD_BY_COMPARISON, NULL},
        {ODD_TORUS, "torus_reduce_scatter", 1, FOLD_BY_COMPARISON, NULL},
        {TORUS_3D, "torus_all_gather", 1, FOLD_BY_COMPARISON, NULL},
        {LEVELS, "torus_rs_ag", 1, FOLD_BY_COMPARISON, NULL},
        {RING, "ring_rs_ag", 1, FOLD_BY_COMPARISON, NULL},
        {RING, "pairwise_all_to_all", 1, FOLD_BY_COMPARISON, NULL},
        {ALL_JOINED, "direct_rs_ag", 1, FOLD_BY_COMPARISON, NULL},
        {SWITCH, "halving_doubling", 1, FOLD_BY_COMPARISON, NULL},
        {SWITCH, "recursive_doubling", 1, FOLD_BY_COMPARISON, NULL},
        {SWITCH, "hierarchical", 1, FOLD_BY_COMPARISON, NULL},
        /* exclusive ors on a ring: only half way round is one */
        {RING, "halving_doubling", 8, FOLD_BY_COMPARISON,
         "halving_doubling: rank 1, thread 0, step 0 sends elsewhere than rank 0's"},
        {SWITCH_12, "recursive_doubling", 12, FOLD_BY_COMPARISON, "rank 1, thread 0 has"},
        {RING, "double_binary_tree", 16, FOLD_BY_COMPARISON, "rank 1, thread 0 has"},
        /* one row of dies, another of packages */
        {PAIRS, "pairwise_all_to_all", 2, FOLD_BY_COMPARISON, "rank 1, thread 0, step 0 sends"},
    };
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        check_fold(&expected[i]);
}

static void kernels_fold_as_far_as_their_rules_say(void **state)
{
    (void)state;
    static const struct expected expected[] = {
        {RING, "lrab_hierarchical_allreduce", 1, FOLD_BY_PROOF, NULL},
        {TORUS, "lrab_hierarchical_allreduce", 1, FOLD_BY_PROOF, NULL},
        {SWITCH_12, "lrab_pipelined_allreduce", 1, FOLD_BY_PROOF, NULL},
        {ODD_TORUS, "pe_hierarchical_allreduce", 1, FOLD_BY_PROOF, NULL},
        /* rows of three dimensions follow each other: x, and z, but not y */
        {TORUS_3D, "lrab_hierarchical_allreduce", 2, FOLD_BY_PROOF, "rows or columns"},
        {TORUS, "ring_all_gather", 1, FOLD_BY_PROOF, NULL},
        {RING, "ring_allreduce", 1, FOLD_BY_PROOF, NULL},
        {TORUS, "ring_allreduce", 4, FOLD_BY_PROOF, "in the order of their numbers"},
        {TORUS, "tree_allreduce", 16, FOLD_BY_PROOF, "a tree has a root"},
        {PAIRS, "birs", 1, FOLD_BY_PROOF, NULL},
        {PAIRS, "birs_allreduce", 1, FOLD_BY_PROOF, NULL},
        {PAIRS, "rhd", 1, FOLD_BY_PROOF, NULL},
        {PAIRS, "mesh", 2, FOLD_BY_PROOF, "round all ranks"},
        {PAIRS, "birs_inter", 8, FOLD_BY_PROOF, "the own package's place"},
    };
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        check_fold(&expected[i]);
}

static void check_more(size_t machine, const char *algorithm, const char *set, uint32_t sips,
                       const char *why)
{
    struct config *const config = load(&machines[machine], algorithm, set);
    const struct ccl_call call = call_of(algorithm_of(config)->collective, ELEMS);
    int code;
    const struct fold_found found = find(config, &call, &code);
    assert_int_equal(code, CW_OK);
    assert_int_equal(found.fold.sips, sips);
    assert_non_null(strstr(found.why, why));
    config_free(config);
}

static void options_by_which_ranks_differ_are_seen(void **state)
{
    (void)state;
    /* sums in the order of ranks: the own tensor is in TCM, and so are slots, or they are not */
    check_more(RING, "lrab_hierarchical_allreduce", "defaults.rank_invariant=true", 1, "");
    const char *const slots = "defaults.buffer_kind=sram";
    check_more(RING, "lrab_hierarchical_allreduce", slots, 1, "");
    check_more(TORUS, "ring_all_gather", slots, 16, "in the order of ranks");
    /* ranks on SIPs of other numbers */
    const char *const places = "package=[0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,7]";
    static const char *const placed[] = {"birs", "birs_allreduce", "rhd", "mesh"};
    for (size_t i = 0; i < COUNT_OF(placed); i++) {
        char set[80];
        snprintf(set, sizeof set, "algorithms.%s.%s", placed[i], places);
        check_more(PAIRS, placed[i], set, 16, "say where ranks are");
    }
    /* a slow link of one SIP */
    check_more(TORUS, "torus_rs_ag", "faults.slow={links: sip_link, slower: 10}", 1, "");
    /* chunks of unequal lengths travel: 16 x 4 of 3,841 elements */
    struct config *const config = load(&machines[TORUS], "torus_rs_ag", NULL);
    const struct ccl_call call = call_of(CCL_ALL_REDUCE, ELEMS + 1);
    int code;
    const struct fold_found found = find(config, &call, &code);
    assert_int_equal(code, CW_OK);
    assert_int_equal(found.fold.sips, 16);
    assert_non_null(strstr(found.why, "moves other bytes (chunks of unequal lengths) than rank 0"));
    config_free(config);
}

static void calls_with_a_root_do_not_fold(void **state)
{
    (void)state;
    static const enum ccl_collective rooted[] = {CCL_BROADCAST, CCL_REDUCE, CCL_BARRIER};
    struct config *const config = load(&machines[TORUS], "lrab_hierarchical_allreduce", NULL);
    for (size_t i = 0; i < COUNT_OF(rooted); i++) {
        struct ccl_call call = call_of(rooted[i], ELEMS);
        call.root = 5;
        int code;
        const struct fold_found found = find(config, &call, &code);
        assert_int_equal(code, CW_OK);
        assert_int_equal(found.fold.sips, 16);
        assert_string_equal(found.why, "rank 5 is the root of a spanning tree, and others are not");
    }
    config_free(config);
}

/* All calls of a machine count: the first folds, the second does not. */
static void the_narrowest_call_decides(void **state)
{
    (void)state;
    struct config *const config = load(&machines[TORUS], "lrab_hierarchical_allreduce", NULL);
    const struct ccl_call calls[] = {call_of(CCL_ALL_REDUCE, ELEMS), call_of(CCL_BROADCAST, ELEMS)};
    struct fold_request request = {.config = config, .calls = calls, .count = 1};
    struct fold_found found;
    struct cw_error error;
    assert_int_equal(fold_find(&request, &found, &error), CW_OK);
    assert_int_equal(found.fold.sips, 1);
    request.count = 2;
    assert_int_equal(fold_find(&request, &found, &error), CW_OK);
    assert_int_equal(found.fold.sips, 16);
    request.count = 1;
    request.own_sizes = true;
    assert_int_equal(fold_find(&request, &found, &error), CW_OK);
    assert_int_equal(found.fold.sips, 16);
    config_free(config);
}

static void ranks_must_be_on_all_sips(void **state)
{
    (void)state;
    check_more(RING, "ring_rs_ag", "defaults.world_size=8", 16, "8 of 16 SIPs have ranks");
    check_more(RING, "ring_allreduce", "algorithms.ring_allreduce.mapper=rank_per_pe", 16,
               "ranks are PEs");
}

/* ---- one rank of 1,024 that differs ---------------------------------------------------------- */

enum { RANKS = 1024, ODD = 517, STEPS = 4 };

/* Each rank sends two chunks to the next one, in two messages, which adds and sends them back. A
 * second thread waits for the first. */
static struct schedule *shift(void)
{
    struct schedule_builder *const b = schedule_builder_create("shift", CCL_ALL_REDUCE, RANKS, 1);
    for (uint32_t r = 0; r < RANKS; r++) {
        const uint32_t next = (r + 1) % RANKS, before = (r + RANKS - 1) % RANKS;
        struct schedule_step step = {.op = SCHEDULE_SEND, .count = 1, .send_to = next};
        schedule_chunks_of(b, r, 8, 8, 4);
        const uint32_t t = schedule_thread(b, r, 0), u = schedule_thread(b, r, 0);
        (void)schedule_add(b, r, t, step);
        step.src.at = 1;
        (void)schedule_add(b, r, t, step);
        step = (struct schedule_step){.op = SCHEDULE_RECV_REDUCE_COPY,
                                      .count = 1,
                                      .src = {2, SCHEDULE_INPUT, false, {0}},
                                      .dst = {2, SCHEDULE_OUTPUT, false, {0}},
                                      .recv_from = before};
        (void)schedule_add(b, r, t, step);
        step.src.at = step.dst.at = 3;
        (void)schedule_add(b, r, t, step);
        (void)schedule_add(b, r, u,
                           (struct schedule_step){.op = SCHEDULE_COPY,
                                                  .count = 1,
                                                  .src = {5, SCHEDULE_INPUT, false, {0}},
                                                  .dst = {5, SCHEDULE_OUTPUT, false, {0}}});
        schedule_wait_for(b, r, u, (struct schedule_wait){.thread = t, .step = 2});
    }
    struct cw_error error;
    struct schedule *const s = schedule_build(b, &error);
    assert_non_null(s);
    return s;
}

static struct fold_found find_shift(struct schedule *schedule, uint64_t n_elem)
{
    static const char *const sets[] = {"system.sips.count=1024", "system.sips.topology=ring_1d",
                                       "defaults.algorithm=ring_rs_ag"};
    static struct config *config;
    if (config == NULL)
        config = load_with("tiny", sets, COUNT_OF(sets));
    const struct ccl_call call = call_of(CCL_ALL_REDUCE, n_elem);
    const struct fold_request request = {
        .config = config, .calls = &call, .count = 1, .schedule = schedule};
    struct fold_found found;
    struct cw_error error;
    if (fold_find(&request, &found, &error) != CW_OK)
        fail_msg("%s", error.text);
    schedule_free(found.schedule);
    if (schedule == NULL) {
        config_free(config);
        config = NULL;
    }
    return found;
}

/* One rank's part is changed, and changed back. */
static void expect_found(struct schedule *s, void *at, size_t bytes, const void *other,
                         const char *why)
{
    uint8_t before[64];
    assert_true(bytes <= sizeof before);
    memcpy(before, at, bytes);
    memcpy(at, other, bytes);
    const struct fold_found found = find_shift(s, 4096);
    memcpy(at, before, bytes);
    print_message("%u of %u: %s\n", found.fold.sips, found.fold.of, found.why);
    assert_true(found.fold.sips > 1);
    assert_non_null(strstr(found.why, why));
}
#define EXPECT_FOUND(s, at, value, why)                                                            \
    expect_found((s), &(at), sizeof(at), &(__typeof__(at)){value}, (why))

static void one_rank_of_1024_that_differs_is_found(void **state)
{
    (void)state;
    struct schedule *const s = shift();
    struct schedule_rank *const odd = &s->rank[ODD];
    assert_int_equal(find_shift(s, 4096).fold.sips, 1);
    EXPECT_FOUND(s, odd->step[0].op, SCHEDULE_RECV_COPY_SEND,
                 "shift: rank 517, thread 0, step 0 does something else than rank 0's");
    EXPECT_FOUND(s, odd->step[0].send_to, 519, "step 0 sends elsewhere than rank 0's");
    EXPECT_FOUND(s, odd->step[3].recv_from, 515, "step 3 receives from elsewhere than rank 0's");
    EXPECT_FOUND(s, odd->step[1].count, 2, "step 1 moves another number of chunks than rank 0's");
    EXPECT_FOUND(s, odd->step[1].channel, 1, "step 1 has another channel or joint than rank 0's");
    EXPECT_FOUND(s, odd->step[1].joined, SCHEDULE_JOINED, "step 1 has another channel or joint");
    EXPECT_FOUND(s, odd->step[2].src.buffer, SCHEDULE_SCRATCH, "step 2 has other buffers than");
    EXPECT_FOUND(s, odd->step[2].dst.buffer, SCHEDULE_SCRATCH, "step 2 has other buffers than");
    EXPECT_FOUND(s, odd->wait[0].step, 1, "rank 517 waits for other steps than rank 0's");
    EXPECT_FOUND(s, odd->step[4].wait_count, 0,
                 "rank 517, thread 1, step 0 waits for other steps than rank 0's");
    EXPECT_FOUND(s, odd->thread[1].other_way, true, "thread 1 is of another part, or goes another");
    EXPECT_FOUND(s, odd->thread[0].step_count, 3, "thread 0 has another number of steps than");
    EXPECT_FOUND(s, odd->thread_count, 1, "rank 517 has another number of threads than rank 0's");
    EXPECT_FOUND(s, odd->chunks[SCHEDULE_SCRATCH], 5, "has another number of chunks than rank 0's");
    /* in place, step 2 writes chunk 2: who reads it afterwards must not load early */
    s->in_place = true;
    assert_int_equal(find_shift(s, 4096).fold.sips, 1);
    const char *const early = "rank 517, thread 0, step 3 may not load when it can in rank 0's";
    EXPECT_FOUND(s, odd->step[3].src.at, 2, early);
    /* the same where two threads touch one place: then the program says it */
    for (uint32_t r = 0; r < RANKS; r++)
        s->rank[r].step[4].src.at = s->rank[r].step[4].dst.at = 3;
    assert_int_equal(find_shift(s, 4096).fold.sips, 1);
    EXPECT_FOUND(s, odd->step[3].src.at, 2, early);
    /* chunks of other numbers: the same if they are as long as all others */
    odd->step[0].src.at = 7;
    assert_int_equal(find_shift(s, 4096).fold.sips, 1);
    s->keeps_numbers = true;
    assert_int_equal(find_shift(s, 4096).fold.sips, 1);
    const struct fold_found found = find_shift(s, 4095);
    assert_true(found.fold.sips > 1);
    assert_non_null(strstr(found.why, "rank 517, thread 0, step 0 moves other bytes"));
    schedule_free(s);
}

/* A rank that differs leaves the relabellings that do not move it: none. Every 4th rank that
 * differs leaves those by four. */
static void every_fourth_rank_that_differs_leaves_a_fold_by_four(void **state)
{
    (void)state;
    struct schedule *const s = shift();
    for (uint32_t r = 1; r < RANKS; r += 4)
        s->rank[r].step[1].joined = SCHEDULE_JOINED;
    assert_int_equal(find_shift(s, 4096).fold.sips, 4);
    s->rank[ODD].step[1].joined = SCHEDULE_APART;
    assert_int_equal(find_shift(s, 4096).fold.sips, RANKS);
    schedule_free(s);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Each of 16 gpus sends its chunk to the next one, and keeps what it gets; gpu `odd` keeps it in
 * another chunk. */
static void write_file(const char *path, uint32_t odd)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "<algo coll='custom' ngpus='16' name='shift' inplace='0'>\n");
    for (uint32_t r = 0; r < 16; r++)
        fprintf(file,
                "<gpu id='%u' i_chunks='2' o_chunks='2' s_chunks='0'>\n"
                "<tb id='0' send='%u' recv='%u' chan='0'>\n"
                "<step s='0' type='s' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0' cnt='1'/>\n"
                "<step s='1' type='r' srcbuf='i' srcoff='0' dstbuf='o' dstoff='%u' cnt='1'/>\n"
                "</tb></gpu>\n",
                r, (r + 1) % 16, (r + 15) % 16, r == odd ? 1 : 0);
    fprintf(file, "</algo>\n");
    fclose(file);
}

static void check_file(const char *path, uint64_t n_elem, uint32_t sips, const char *why)
{
    const struct config_request request = {
        .preset = "tiny", .algorithm = path, .sets = machines[RING].set, .set_count = 2};
    struct config_errors errors = {0};
    struct config *config;
    assert_int_equal(config_load(&request, &config, &errors), CW_OK);
    const struct ccl_call call = call_of(CCL_CUSTOM, n_elem);
    int code;
    const struct fold_found found = find(config, &call, &code);
    assert_int_equal(code, CW_OK);
    assert_int_equal(found.fold.sips, sips);
    assert_string_equal(found.why, why);
    config_free(config);
    config_errors_free(&errors);
}

static void a_file_names_the_line_that_differs(void **state)
{
    (void)state;
    char folder[PATH_MAX];
    write_file("alike.xml", 16);
    write_file("odd.xml", 3);
    assert_non_null(getcwd(folder, sizeof folder));
    check_file("./alike.xml", 64, 1, "");
    check_file("./odd.xml", 64, 1, ""); /* where a chunk is kept makes no difference */
    FILE *const file = fopen("odd.xml", "r+");
    char text[16384];
    const size_t bytes = fread(text, 1, sizeof text - 1, file);
    text[bytes] = '\0';
    char *const at = strstr(strstr(text, "<gpu id='7'"), "srcoff='0'");
    at[strlen("srcoff='")] = '1';
    rewind(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    fclose(file);
    check_file("./odd.xml", 64, 1, "");
    /* 2 chunks of 33 elements: 17 and 16 */
    check_file("./odd.xml", 33, 16,
               "./odd.xml:39: gpu 7, tb 0, step 0 moves other bytes (chunks of unequal lengths) "
               "than gpu 0's");
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Reasons, numbered in the order in which the table needs them. */
struct reasons {
    char text[96][CCL_FOLD_WHY_BYTES];
    uint32_t count;
};

/* Without the numbers of ranks, threads and steps, by which reasons of one kind differ. */
static void shorten(const char *why, char text[CCL_FOLD_WHY_BYTES])
{
    size_t n = 0;
    const char *const colon = strstr(why, ": rank ");
    for (const char *at = colon != NULL ? colon + 2 : why; *at != '\0'; at++) {
        const bool digit = *at >= '0' && *at <= '9';
        if (digit && n > 0 && text[n - 1] == '#')
            continue;
        text[n++] = digit ? '#' : *at;
    }
    text[n] = '\0';
}

static uint32_t number_of_reason(struct reasons *reasons, const char *why)
{
    char text[CCL_FOLD_WHY_BYTES];
    uint32_t i = 0;
    shorten(why, text);
    while (i < reasons->count && strcmp(reasons->text[i], text) != 0)
        i++;
    assert_true(i < COUNT_OF(reasons->text));
    if (i == reasons->count)
        strcpy(reasons->text[reasons->count++], text);
    return i + 1;
}

static bool is_refused(const struct config *config, const struct ccl_algorithm *algorithm,
                       struct ccl_call call)
{
    struct ccl_refusal refusal;
    call.hw = &config->hw;
    call.ccl = &config->ccl;
    call.world_size = config->hw.sip_count;
    return algorithm->check != NULL && algorithm->check(&call, &refusal) != CW_OK;
}

static void print_cell(FILE *out, size_t machine, const char *name, struct reasons *reasons)
{
    struct config *const config = load(&machines[machine], name, NULL);
    const struct ccl_algorithm *const algorithm = algorithm_of(config);
    const struct ccl_call call = call_of(algorithm->collective, ELEMS);
    int code = CW_USAGE;
    struct fold_found found = {.why = ""};
    if (!is_refused(config, algorithm, call))
        found = find(config, &call, &code);
    if (code != CW_OK)
        fprintf(out, " – |");
    else if (found.fold.sips == 1)
        fprintf(out, " %s1 |", found.known == FOLD_BY_PROOF ? "p " : "");
    else
        fprintf(out, " %s%u (%u) |", found.known == FOLD_BY_PROOF ? "p " : "", found.fold.sips,
                number_of_reason(reasons, found.why));
    config_free(config);
}

static void print_table(FILE *out)
{
    static struct reasons reasons;
    reasons.count = 0;
    fprintf(out,
            "# What folds, and by how much\n\n"
            "How many SIPs are simulated for all (`collectives/fold/`). `p`: by proof; else by "
            "comparison of all ranks. A number in brackets: why it is not 1, below. –: the "
            "algorithm refuses the machine. %u elements of each shard; 2 x 2 cubes, on paired dies "
            "one. Written by `FOLDS_TABLE=perf/results/folds.md "
            "build/check/test/unit/collectives/test_fold_find`, which fails where this file "
            "differs.\n\n|",
            ELEMS);
    for (size_t m = 0; m < COUNT_OF(machines); m++)
        fprintf(out, " | %s", machines[m].name);
    fprintf(out, " |\n|---|");
    for (size_t m = 0; m < COUNT_OF(machines); m++)
        fprintf(out, "---|");
    for (uint32_t i = 0; ccl_algorithm_at(i) != NULL; i++) {
        fprintf(out, "\n| `%s` |", ccl_algorithm_at(i)->name);
        for (size_t m = 0; m < COUNT_OF(machines); m++)
            print_cell(out, m, ccl_algorithm_at(i)->name, &reasons);
    }
    fprintf(out,
            "\n\nThe first difference that was found, with # for numbers of ranks, threads and "
            "steps:\n\n");
    for (uint32_t i = 0; i < reasons.count; i++)
        fprintf(out, "%u. %s\n", i + 1, reasons.text[i]);
    fputs(
        "\nWhat is written by the numbers of ranks, and stays so:\n\n"
        "- `direct_...`, `pairwise_all_to_all` have peers so many ranks ahead. With peers so many "
        "places ahead in each dimension all SIPs of a torus are alike, but times move: on 4 x 4, "
        "5 x 3 and 8 x 8 those of `direct_...` by -0.8 to +11.2 %, those of "
        "`pairwise_all_to_all` by -4.8 to +0.9 %. `direct_...` would also add in another order. "
        "With one dimension both are the same. `direct_...` has at most 121 ranks, so it needs no "
        "rule.\n"
        "- `ring_rs_ag`, `rings_...` wind through a grid from neighbour to neighbour. No ring "
        "through all SIPs of a torus is kept by the turns of both dimensions: its steps would all "
        "be one step, along one row. Another ring adds in another order.\n"
        "- `ring_allreduce` is defined by the order of ranks, and so are its sums.\n",
        out);
}

static void the_table_of_folds_is_the_committed_one(void **state)
{
    char path[PATH_MAX + 32], *text = NULL, *committed = NULL;
    size_t bytes = 0;
    const struct scratch *const scratch = *state;
    FILE *const out = open_memstream(&text, &bytes);
    print_table(out);
    fclose(out);
    const char *const write_to = getenv("FOLDS_TABLE");
    snprintf(path, sizeof path, "%s/%s", scratch->start,
             write_to != NULL ? write_to : "perf/results/folds.md");
    FILE *const file = fopen(path, write_to != NULL ? "w+" : "r");
    assert_non_null(file);
    if (write_to != NULL)
        assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    rewind(file);
    committed = calloc(1, bytes + 2);
    assert_int_equal(fread(committed, 1, bytes + 1, file), bytes);
    assert_string_equal(committed, text);
    fclose(file);
    free(committed);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_fold_as_far_as_their_steps_do),
        cmocka_unit_test(rules_of_schedules_say_what_comparisons_say),
        cmocka_unit_test(kernels_fold_as_far_as_their_rules_say),
        cmocka_unit_test(options_by_which_ranks_differ_are_seen),
        cmocka_unit_test(calls_with_a_root_do_not_fold),
        cmocka_unit_test(the_narrowest_call_decides),
        cmocka_unit_test(ranks_must_be_on_all_sips),
        cmocka_unit_test(one_rank_of_1024_that_differs_is_found),
        cmocka_unit_test(every_fourth_rank_that_differs_leaves_a_fold_by_four),
        cmocka_unit_test(a_file_names_the_line_that_differs),
        cmocka_unit_test(the_table_of_folds_is_the_committed_one),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
