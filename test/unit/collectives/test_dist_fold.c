/*
 * test_dist_fold.c: folded worlds (dist_options.fold). Plans of representatives are those that the
 * whole machine has of these SIPs, and what such a world cannot do is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/test_dist_support.h"

#include "collectives/runtime/install_plan.h"
#include "collectives/schedule/schedule_program.h"
#include "lp/queues/queue_ends.h"

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

/* A machine, how far its dimensions are turned, and what runs on it. */
struct folded {
    const char *sets[4];
    uint32_t candidate; /* hw_fold_candidate() */
    uint32_t step[3];   /* of each digit, in the fold's order; 0: the least */
    const char *algorithm, *mapper;
};

static const struct folded FOLDED[] = {
    {.sets = {"system.sips.topology=ring_1d", "system.sips.count=6"}, .algorithm = "ring_rs_ag"},
    {.sets = {"system.sips.topology=ring_1d", "system.sips.count=6"},
     .step = {3},
     .algorithm = "ring_rs_ag",
     .mapper = "all_pes"},
    {.sets = {"system.sips.topology=ring_1d", "system.sips.count=2"}, .algorithm = "ring_rs_ag"},
    {.sets = {"system.sips.topology=ring_1d", "system.sips.count=6"},
     .algorithm = "ring_allreduce"},
    {.sets = {"system.sips.topology=ring_1d", "system.sips.count=6"},
     .step = {2},
     .algorithm = "ring_allreduce",
     .mapper = "pe0_all_cubes"},
    {.sets = {"system.sips.topology=torus_2d", "system.sips.count=12", "system.sips.w=4",
              "system.sips.h=3"},
     .algorithm = "torus_rs_ag",
     .mapper = "all_pes"},
    {.sets = {"system.sips.topology=torus_2d", "system.sips.count=12", "system.sips.w=4",
              "system.sips.h=3"},
     .step = {2, 3},
     .algorithm = "torus_rs_ag"},
    {.sets = {"system.sips.topology=torus_2d", "system.sips.count=4", "system.sips.w=2",
              "system.sips.h=2"},
     .algorithm = "torus_rs_ag"},
    {.sets = {"system.sips.topology=ring_1d", "system.sips.count=6",
              "algorithms.hierarchical.between=ring_rs_ag"},
     .algorithm = "hierarchical",
     .mapper = "all_pes"},
    {.sets = {"system.sips.topology=torus_2d", "system.sips.count=12", "system.sips.w=4",
              "system.sips.h=3"},
     .algorithm = "torus_reduce_scatter",
     .mapper = "pe0_all_cubes"},
    {.sets = {"system.sips.topology=ring_1d", "system.sips.count=6"},
     .algorithm = "rings_all_gather"},
    {.sets = {"system.sips.topology=ring_1d", "system.sips.count=5"},
     .algorithm = "pairwise_all_to_all"},
    {.sets = {"system.sips.topology=fully_connected", "system.sips.count=5"},
     .algorithm = "direct_rs_ag",
     .mapper = "all_pes"},
    {.sets = {"system.sips.topology=switch", "system.sips.count=8"},
     .candidate = 1,
     .algorithm = "halving_doubling"},
};

static struct config *load(const struct folded *f)
{
    char algorithm[64], mapper[64];
    const char *sets[8] = {"sip.cube_mesh.w=2", "sip.cube_mesh.h=1", algorithm};
    size_t count = 3;
    snprintf(algorithm, sizeof algorithm, "defaults.algorithm=%s", f->algorithm);
    for (size_t i = 0; i < COUNT_OF(f->sets) && f->sets[i] != NULL; i++)
        sets[count++] = f->sets[i];
    if (f->mapper != NULL) {
        snprintf(mapper, sizeof mapper, "algorithms.%s.mapper=%s", f->algorithm, f->mapper);
        sets[count++] = mapper;
    }
    return must_load(&(struct config_request){.sets = sets, .set_count = count});
}

static void find_fold(const struct folded *f, const struct hw_config *hw, struct hw_fold *fold)
{
    assert_true(hw_fold_candidate(hw, f->candidate, fold));
    for (uint32_t d = 0; d < fold->count; d++)
        if (f->step[d] > 0)
            hw_fold_set_step(fold, d, f->step[d]);
    assert_true(fold->sips < fold->of);
}

/* ---- plans ----------------------------------------------------------------------------------- */

static void expect_same_queues(const struct lp_plan *whole, const struct lp_plan *folded,
                               uint32_t pe)
{
    assert_int_equal(lp_is_wired(folded, pe), lp_is_wired(whole, pe));
    assert_int_equal(lp_directions(folded, pe), lp_directions(whole, pe));
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++) {
        struct lp_wire a, b;
        if (!lp_queue_end(whole, pe, dir, &a))
            continue;
        assert_true(lp_queue_end(folded, pe, dir, &b));
        assert_int_equal(b.peer, a.peer);
        assert_int_equal(b.way, a.way);
        assert_int_equal(b.exit, a.exit);
        assert_int_equal(b.credit_ps, a.credit_ps);
        assert_string_equal(lp_dir_name(folded, pe, dir), lp_dir_name(whole, pe, dir));
        assert_int_equal(b.peer_dir, a.peer_dir);
        const struct lp_endpoint x = lp_endpoint_of(whole, a.peer, (enum hw_dir)a.peer_dir),
                                 y = lp_endpoint_of(folded, b.peer, (enum hw_dir)b.peer_dir);
        assert_int_equal(y.rx_base_pa, x.rx_base_pa);
        assert_int_equal(y.n_slots, x.n_slots);
    }
}

static void expect_same_program(const struct schedule_program *whole,
                                const struct schedule_program *folded, uint32_t rank)
{
    const struct program_rank *const a = &whole->rank[rank],
                                     *const b =
                                         &folded->rank[schedule_place_of(folded->schedule, rank)];
    assert_int_equal(b->thread_count, a->thread_count);
    assert_int_equal(b->first_pe, a->first_pe);
    assert_int_equal(folded->piece_tiles, whole->piece_tiles);
    assert_int_equal(folded->most_bytes, whole->most_bytes);
    assert_memory_equal(b->thread, a->thread, a->thread_count * sizeof *a->thread);
    for (uint32_t t = 0; t < a->thread_count; t++) {
        const struct program_thread *const thread = &a->thread[t];
        for (uint32_t k = 0; k < thread->step_count; k++) {
            const struct program_step *const x = &a->step[thread->step_first + k],
                                             *const y = &b->step[thread->step_first + k];
            assert_memory_equal(y, x, sizeof *x);
            if (whole->schedule->keeps_numbers || x->count > 1)
                assert_memory_equal(&b->size[y->size_first], &a->size[x->size_first],
                                    x->count * sizeof *a->size);
            if (x->wait_count > 0)
                assert_memory_equal(&b->wait[y->wait_first], &a->wait[x->wait_first],
                                    x->wait_count * sizeof *a->wait);
            if (x->notify_count > 0)
                assert_memory_equal(&b->notify[y->notify_first], &a->notify[x->notify_first],
                                    x->notify_count * sizeof *a->notify);
        }
    }
}

static void plans_of_representatives_are_those_of_the_whole_machine(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(FOLDED); i++) {
        struct config *const config = load(&FOLDED[i]);
        const struct ccl_config *const ccl = &config->ccl;
        struct install_plans *whole, *folded;
        struct hw_fold fold;
        struct cw_error error;
        const char *key;
        find_fold(&FOLDED[i], &config->hw, &fold);
        if (build_install_plans(config->hw.sip_count, ccl->algorithm, ccl, &config->hw, &whole,
                                &key, &error) != CW_OK ||
            build_folded_plans(&fold, NULL, ccl->algorithm, ccl, &config->hw, &folded, &key,
                               &error) != CW_OK)
            fail_msg("%zu: %s: %s", i, key, error.text);
        const uint32_t pes = hw_cubes(&config->hw) * hw_pes(&config->hw);
        uint32_t here[64], there[64];
        assert_true(pes <= COUNT_OF(here));
        for (uint32_t slot = 0; slot < fold.sips; slot++) {
            const uint32_t rank = hw_fold_sip(&fold, slot);
            for (uint32_t pe = rank * pes; pe < (rank + 1) * pes; pe++)
                expect_same_queues(install_plans_queues(whole), install_plans_queues(folded), pe);
            const uint32_t count = install_plan_participants(whole, rank, here);
            assert_int_equal(install_plan_participants(folded, rank, there), count);
            assert_memory_equal(there, here, count * sizeof here[0]);
            if (install_plans_program(whole) != NULL)
                expect_same_program(install_plans_program(whole), install_plans_program(folded),
                                    rank);
        }
        assert_int_equal(install_plans_rings(folded), install_plans_rings(whole));
        assert_int_equal(install_plans_lanes(folded), install_plans_lanes(whole));
        const struct dp_policy a = install_plan_policy(whole), b = install_plan_policy(folded);
        assert_memory_equal(&b, &a, sizeof a);
        install_plans_free(folded);
        install_plans_free(whole);
        config_free(config);
    }
}

/* ---- times ----------------------------------------------------------------------------------- */

enum { CALLS = 2 };

/* What the ranks of a world have seen. */
struct times {
    uint64_t n_elem;
    struct dp_policy policy;
    uint32_t workers, calls;
    int64_t installed_ps, ended_ps[CALLS], rank0_ps[CALLS];
    struct lp_times of_batch;
};

static void all_reduce_twice(int rank, void *arg)
{
    struct times *const times = arg;
    join_group(rank);
    times->workers++;
    times->installed_ps = dist_time_ps();
    struct tensor *const tensor = dist_tensor_zeros(times->n_elem, DTYPE_F16, &times->policy);
    for (uint32_t i = 0; i < CALLS; i++) {
        dist_wait(dist_all_reduce_async(NULL, tensor, REDOP_SUM));
        if (rank == 0)
            times->rank0_ps[i] = dist_time_ps();
    }
    dist_tensor_free(tensor);
    dist_destroy_process_group();
}

static int completed(void *arg, const struct dist_completion *completion, struct cw_error *error)
{
    struct times *const times = arg;
    (void)error;
    times->ended_ps[times->calls++] = completion->times->host_ps;
    times->of_batch = *completion->times;
    assert_int_equal(completion->live_ranks, times->workers);
    return CW_OK;
}

static struct times run(const struct config *config, const struct hw_fold *fold, uint64_t n_elem)
{
    struct times times = {.n_elem = n_elem};
    const struct dist_options options = {
        .config = config,
        .fold = fold,
        .no_data = true,
        .completed = completed,
        .arg = &times,
        .machine.engine = {.sync = CW_SEQUENTIAL, .worker_count = 1}};
    struct dist *const dist = must_create(&options);
    struct cw_error error;
    times.policy = dist_facts(dist)->policy;
    assert_int_equal(dist_facts(dist)->world_size, config->hw.sip_count);
    if (dist_spawn(dist, all_reduce_twice, &times, &error) != CW_OK)
        fail_msg("%s", cw_error_text(&error));
    assert_int_equal(times.workers, dist_facts(dist)->live_ranks);
    dist_free(dist);
    return times;
}

/* All of FOLDED that all-reduce, and the machine's own queues. */
static void a_folded_world_takes_the_time_of_the_whole(void **state)
{
    (void)state;
    static const struct folded own_queues[] = {
        {.sets = {"system.sips.topology=torus_2d", "system.sips.count=12", "system.sips.w=4",
                  "system.sips.h=3"},
         .algorithm = "lrab_hierarchical_allreduce"},
        {.sets = {"system.sips.topology=ring_1d", "system.sips.count=6"},
         .step = {2},
         .algorithm = "pe_hierarchical_allreduce"},
    };
    for (size_t i = 0; i < COUNT_OF(FOLDED) + COUNT_OF(own_queues); i++) {
        const struct folded *const f =
            i < COUNT_OF(FOLDED) ? &FOLDED[i] : &own_queues[i - COUNT_OF(FOLDED)];
        struct config *const config = load(f);
        struct hw_fold fold;
        find_fold(f, &config->hw, &fold);
        if (strstr(f->algorithm, "reduce_scatter") == NULL &&
            strstr(f->algorithm, "all_") == NULL && fold.translates) {
            const struct times whole = run(config, NULL, 720), folded = run(config, &fold, 720);
            assert_int_equal(whole.workers, fold.of);
            assert_int_equal(folded.workers, fold.sips);
            assert_int_equal(folded.installed_ps, whole.installed_ps);
            for (uint32_t k = 0; k < CALLS; k++) {
                if (folded.ended_ps[k] != whole.ended_ps[k])
                    fail_msg("%s, %u of %u SIPs: call %u ends at %lld ps instead of %lld ps",
                             f->algorithm, fold.sips, fold.of, k, (long long)folded.ended_ps[k],
                             (long long)whole.ended_ps[k]);
                assert_int_equal(folded.rank0_ps[k], whole.rank0_ps[k]);
            }
        }
        config_free(config);
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* Worlds of a ring of six SIPs that do not fold. */
struct refused {
    const char *set;
    struct dist_options options;
    const char *text;
};

static void what_a_folded_world_cannot_do_is_refused(void **state)
{
    (void)state;
    static const uint32_t pair[] = {0, 1};
    const struct dist_group_spec group = {.name = "pair", .ranks = pair, .count = 2};
    const struct refused refused[] = {
        {.text = "a folded world has no values of tensors: its SIPs stand for others; legal: one "
                 "that is not folded"},
        {.options = {.no_data = true, .kernels_only = true},
         .text = "a folded world has no launches but those of collectives; legal: one that is not "
                 "folded"},
        {.options = {.no_data = true, .groups = &group, .group_count = 1},
         .text = "a folded world has either collectives of the world or groups that are known when "
                 "it is made; legal: one that is not folded"},
        {.options = {.no_data = true, .late_groups = true},
         .text = "a folded world has either collectives of the world or groups that are known when "
                 "it is made; legal: one that is not folded"},
        {.set = "defaults.strict_validation=true",
         .options = {.no_data = true},
         .text = "a folded world has no strict validation: it does not see every PE; legal: one "
                 "that is not folded"},
        {.set = "defaults.world_size=5",
         .options = {.no_data = true},
         .text = "a folded world has one rank on each SIP, rank r on SIP r; legal: one that is not "
                 "folded"},
    };
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        const char *const sets[] = {"system.sips.topology=ring_1d", "system.sips.count=6",
                                    "defaults.algorithm=ring_allreduce", refused[i].set};
        struct config *const config = must_load(&(struct config_request){
            .sets = sets, .set_count = refused[i].set != NULL ? COUNT_OF(sets) : 3});
        struct dist_options options = refused[i].options;
        struct hw_fold fold;
        struct cw_error error;
        assert_true(hw_fold_candidate(&config->hw, 0, &fold));
        options.config = config;
        options.fold = &fold;
        options.machine.engine.worker_count = 1;
        assert_null(dist_create(&options, &error));
        assert_int_equal(error.exit_code, CW_USAGE);
        assert_string_equal(error.text, refused[i].text);
        config_free(config);
    }
}

static void broadcast(int rank, void *arg)
{
    const struct dp_policy *const policy = arg;
    join_group(rank);
    dist_broadcast(dist_tensor_zeros(8, DTYPE_F16, policy), 1);
}

static void send(int rank, void *arg)
{
    const struct dp_policy *const policy = arg;
    join_group(rank);
    dist_send(dist_tensor_zeros(8, DTYPE_F16, policy), 1);
}

static void barrier(int rank, void *arg)
{
    (void)arg;
    join_group(rank);
    dist_barrier();
}

/* Which of two algorithms, a program, and why it fails. */
struct uneven {
    const char *algorithm;
    mp_worker_fn worker;
    const char *text;
};

static void calls_that_differ_by_rank_are_refused(void **state)
{
    (void)state;
    static const struct uneven uneven[] = {
        {"ring_allreduce", broadcast,
         "1 of 1 ranks failed\n"
         "  rank 0: dist_broadcast: a folded world has calls alone that are alike on all ranks; "
         "legal: a world that is not folded"},
        {"pairwise_all_to_all", send,
         "1 of 1 ranks failed\n"
         "  rank 0: dist_send_recv: a folded world has calls alone that are alike on all ranks; "
         "legal: a world that is not folded"},
        {"ring_allreduce", barrier,
         "relay_barrier goes by a tree from rank 0, and a folded world has calls alone that are "
         "alike on all ranks; legal: a world that is not folded"},
    };
    for (size_t i = 0; i < COUNT_OF(uneven); i++) {
        const struct folded on = {.sets = {"system.sips.topology=ring_1d", "system.sips.count=6"},
                                  .algorithm = uneven[i].algorithm};
        struct config *const config = load(&on);
        struct hw_fold fold;
        find_fold(&on, &config->hw, &fold);
        const struct dist_options options = {
            .config = config,
            .fold = &fold,
            .no_data = true,
            .machine.engine = {.sync = CW_SEQUENTIAL, .worker_count = 1}};
        struct dist *const dist = must_create(&options);
        struct dp_policy policy = dist_facts(dist)->policy;
        struct cw_error error;
        assert_int_equal(dist_spawn(dist, uneven[i].worker, &policy, &error), CW_USAGE);
        assert_string_equal(cw_error_text(&error), uneven[i].text);
        dist_free(dist);
        config_free(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_of_representatives_are_those_of_the_whole_machine),
        cmocka_unit_test(a_folded_world_takes_the_time_of_the_whole),
        cmocka_unit_test(calls_that_differ_by_rank_are_refused),
        cmocka_unit_test(what_a_folded_world_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
