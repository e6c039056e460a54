/*
 * test_launcher.c: host programs on a real machine (DECISIONS.md): ranks,
 * devices, collectives one after the other, and a rank that fails: one error that
 * names the ranks, a world that can be used again, and, under AddressSanitizer, no leak.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/support/test_dist_support.h"

#include "collectives/config/config_load.h"
#include "collectives/runtime/distributed.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

enum { N = 8 }; /* elements per shard */

struct world {
    struct config *config;
    struct dist *dist;
    uint64_t started;    /* workers */
    uint32_t completed;  /* collectives */
    float first, second; /* element 0 of rank 0's tensor after each of two collectives */
    int fails;           /* the rank that fails; -1: none */
    int64_t n_elem;
    bool no_data;
    struct dp_policy layout;
};

static int completed(void *arg, const struct dist_completion *completion, struct cw_error *error)
{
    struct world *world = arg;
    float *to = world->completed++ == 0 ? &world->first : &world->second;
    if (world->no_data)
        return CW_OK;
    return dist_read(completion->dist, completion->tensors[0], 0, 0, 1, to, error);
}

/* A mesh of w x h SIPs, each of one cube with a PE in each corner; *more: one --set. */
static struct world *make_world(uint32_t w, uint32_t h, const char *more, bool no_data)
{
    char count[40], width[40], height[40];
    snprintf(count, sizeof count, "system.sips.count=%u", w * h);
    snprintf(width, sizeof width, "system.sips.w=%u", w);
    snprintf(height, sizeof height, "system.sips.h=%u", h);
    const char *const sets[] = {count,
                                width,
                                height,
                                "sip.cube_mesh.w=1",
                                "sip.cube_mesh.h=1",
                                "cube.pe_layout.pe_per_corner=1",
                                "system.sips.topology=mesh_2d_no_wrap",
                                more};
    const struct config_request request = {.sets = sets,
                                           .set_count = COUNT_OF(sets) - (more == NULL)};
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->fails = -1;
    world->n_elem = N;
    world->no_data = no_data;
    world->config = must_load(&request);
    const struct dist_options options = {
        .config = world->config,
        .machine.engine = {.sync = CW_SEQUENTIAL, .worker_count = 1},
        .no_data = no_data,
        .completed = completed,
        .arg = world};
    world->dist = must_create(&options);
    return world;
}

static void free_world(struct world *world)
{
    dist_free(world->dist);
    config_free(world->config);
    free(world);
}

static void run_well(struct world *world, mp_worker_fn worker)
{
    struct cw_error error;
    world->completed = 0;
    world->started = 0;
    if (dist_spawn(world->dist, worker, world, &error) != CW_OK)
        fail_msg("%s", error.text);
}

static void run_badly(struct world *world, mp_worker_fn worker, int exit_code, const char *text)
{
    struct cw_error error = {0};
    world->completed = 0;
    world->started = 0;
    assert_int_equal(dist_spawn(world->dist, worker, world, &error), exit_code);
    assert_int_equal(error.exit_code, exit_code);
    assert_string_equal(error.text, text);
}

/* ---- ranks and devices ----------------------------------------------------------------------- */

static const struct dp_policy one_per_cube = {
    .cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_pes = 1};

static void looks_around(int rank, void *arg)
{
    struct world *world = arg;
    assert_int_equal(world->started++, rank); /* one worker for each, in rank order */
    dist_init_process_group("ahbm");
    assert_int_equal(dist_get_rank(), rank);
    assert_int_equal(dist_get_world_size(), 6);
    dist_cooperative_yield();
    assert_int_equal(dist_get_rank(), rank);
}

static void a_worker_runs_on_every_sip(void **state)
{
    (void)state;
    struct world *world = make_world(3, 2, NULL, false);
    assert_int_equal(dist_facts(world->dist)->world_size, 6);
    run_well(world, looks_around);
    assert_int_equal(world->started, 6);
    free_world(world);
}

static void chooses(int rank, void *arg)
{
    (void)arg;
    dist_init_process_group("ahbm");
    struct tensor *before = dist_tensor_zeros(N, DTYPE_F32, &one_per_cube);
    if (rank & 1)
        ahbm_set_device(rank);
    else
        accelerator_set_device_index(rank);
    dist_cooperative_yield();
    struct tensor *after = dist_tensor_zeros(N, DTYPE_F32, &one_per_cube);
    for (uint32_t i = 0; i < before->shard_count; i++)
        assert_int_equal(before->shard[i].sip, 0);
    for (uint32_t i = 0; i < after->shard_count; i++)
        assert_int_equal(after->shard[i].sip, rank);
}

static void a_tensor_is_on_the_sip_that_its_rank_has_chosen(void **state)
{
    (void)state;
    struct world *world = make_world(2, 2, NULL, false);
    run_well(world, chooses);
    free_world(world);
}

/* ---- collectives ----------------------------------------------------------------------------- */

/* Even and odd ranks meet in the same collective from different places of the program. */
static void reduces_twice(int rank, void *arg)
{
    struct world *world = arg;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    struct tensor *tensor = dist_tensor_zeros((uint64_t)world->n_elem, DTYPE_F32, &one_per_cube);
    dist_fill_input(tensor, 1);
    if (rank & 1) {
        dist_cooperative_yield();
        dist_all_reduce(tensor, REDOP_SUM);
    } else {
        dist_all_reduce(tensor, REDOP_SUM);
    }
    if (rank == world->fails)
        mp_fail(CW_PROGRAM_FAILED, "no gradient on SIP %d", rank);
    dist_all_reduce(tensor, REDOP_SUM);
}

static void collectives_follow_each_other(void **state)
{
    (void)state;
    struct world *world = make_world(2, 2, NULL, false);
    run_well(world, reduces_twice);
    assert_int_equal(world->completed, 2);
    assert_true(world->first != 0);
    assert_true(world->second == 4 * world->first); /* exact: by powers of two */
    free_world(world);
}

/* ---- shards and kernels ---------------------------------------------------------------------- */

static void reduces_as_laid_out(int rank, void *arg)
{
    struct world *world = arg;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    dist_all_reduce(dist_tensor_zeros(N, DTYPE_F32, &world->layout), REDOP_SUM);
}

/* The default algorithm has no validator of its own in the configuration. */
static void shards_are_where_kernels_run_or_the_call_is_refused(void **state)
{
    (void)state;
    static const struct {
        struct dp_policy layout;
        const char *text;
    } cases[] = {
        {{.cube = DP_ROW_WISE, .pe = DP_COLUMN_WISE},
         "validator of lrab_hierarchical_allreduce: rank 0's tensor has 8 shards "
         "(multi_pe_sip_local: rows over 2 cubes, columns over 4 PEs of each), and PE 1 of cube 0 "
         "has a shard that no kernel takes; legal: 2 shards (cube_rows: rows over 2 cubes, on PE 0 "
         "of each)"},
        {{.cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_cubes = 1, .num_pes = 1},
         "validator of lrab_hierarchical_allreduce: rank 0's tensor has one shard "
         "(single_shard_per_rank), on PE 0 of cube 0, and PE 0 of cube 1 takes a shard and has "
         "none; legal: 2 shards (cube_rows: rows over 2 cubes, on PE 0 of each)"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct world *world = make_world(2, 2, "sip.cube_mesh.w=2", true);
        struct cw_error error = {0};
        world->layout = cases[i].layout;
        assert_int_equal(dist_spawn(world->dist, reduces_as_laid_out, world, &error), CW_USAGE);
        if (strstr(error.text, cases[i].text) == NULL)
            fail_msg("%s", error.text);
        assert_int_equal(lp_system_times(dist_system(world->dist))->started, 0);
        world->layout = one_per_cube;
        run_well(world, reduces_as_laid_out);
        free_world(world);
    }
}

/* ---- failures -------------------------------------------------------------------------------- */

/* Tensors take two fifths of every HBM slice: a second world's worth fits only if the first was
 * given back. */
static void rank_517_of_1024_is_reported_and_nothing_is_left(void **state)
{
    (void)state;
    struct world *world = make_world(32, 32, "memory.hbm_mib=1", true);
    world->n_elem = 100 * 1024;
    world->fails = 517;
    for (int i = 0; i < 3; i++) {
        run_badly(world, reduces_twice, CW_PROGRAM_FAILED,
                  "1 of 1024 ranks failed\n  rank 517: no gradient on SIP 517");
        assert_int_equal(world->completed, 1);
    }
    free_world(world);
}

static void after_a_failure_the_world_reduces_again(void **state)
{
    (void)state;
    struct world *world = make_world(3, 3, NULL, false);
    world->fails = 5;
    run_badly(world, reduces_twice, CW_PROGRAM_FAILED,
              "1 of 9 ranks failed\n  rank 5: no gradient on SIP 5");
    const float first = world->first;
    world->fails = -1;
    run_well(world, reduces_twice);
    assert_int_equal(world->completed, 2);
    assert_true(world->first == first);
    free_world(world);
}

static void leaves_early(int rank, void *arg)
{
    struct world *world = arg;
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    struct tensor *tensor = dist_tensor_zeros(N, DTYPE_F32, &one_per_cube);
    if (rank == world->fails)
        return;
    dist_all_reduce(tensor, REDOP_SUM);
}

static void a_rank_that_ends_before_the_collective_is_missed_by_name(void **state)
{
    (void)state;
    struct world *world = make_world(2, 2, NULL, false);
    world->fails = 1;
    run_badly(world, leaves_early, CW_PROGRAM_FAILED,
              "rank 0 waits forever: call 0, all_reduce, lacks rank 1 of 4, which will not "
              "make it any more");
    run_badly(world, leaves_early, CW_PROGRAM_FAILED,
              "the machine still has kernels of a program that has failed; legal: a world of its "
              "own for another program");
    free_world(world);
    world = make_world(2, 2, NULL, false);
    world->fails = -1;
    run_well(world, leaves_early);
    assert_int_equal(world->completed, 1);
    free_world(world);
}

static void asks_for_too_much(int rank, void *arg)
{
    struct world *world = arg;
    dist_init_process_group("ahbm");
    accelerator_set_device_index(rank);
    dist_tensor_zeros((uint64_t)(rank >= 2 ? 1 << 20 : N), DTYPE_F32, &one_per_cube);
    if (rank == world->fails)
        mp_fail(CW_USAGE, "a shape that is none");
    dist_cooperative_yield();
    world->completed++;
}

static void one_error_lists_every_rank_s(void **state)
{
    (void)state;
    struct world *world = make_world(2, 2, "memory.hbm_mib=1", false);
    struct cw_error error = {0};
    world->fails = 0;
    assert_int_equal(dist_spawn(world->dist, asks_for_too_much, world, &error), CW_NO_RESOURCE);
    assert_non_null(strstr(error.text, "3 of 4 ranks failed\n  rank 0: a shape that is none\n"
                                       "  rank 2: HBM: a tensor needs 4194304 bytes"));
    assert_non_null(strstr(error.text, "\n  rank 3: HBM: a tensor needs 4194304 bytes"));
    assert_int_equal(world->completed, 0);
    free_world(world);
}

static void forgets_the_group(int rank, void *arg)
{
    (void)arg;
    ahbm_set_device(rank);
    dist_all_reduce(dist_tensor_zeros(N, DTYPE_F32, &one_per_cube), REDOP_SUM);
}

static void names_a_backend(int rank, void *arg)
{
    (void)rank, (void)arg;
    dist_init_process_group("nccl");
}

static void a_program_without_a_group_or_with_another_backend_is_told(void **state)
{
    (void)state;
    struct world *world = make_world(2, 1, NULL, false);
    run_badly(world, forgets_the_group, CW_PROGRAM_FAILED,
              "2 of 2 ranks failed\n  ranks 0-1: dist_all_reduce before dist_init_process_group: "
              "the queues are not installed");
    run_badly(world, names_a_backend, CW_USAGE,
              "2 of 2 ranks failed\n  ranks 0-1: dist_init_process_group: unknown backend nccl; "
              "there is ahbm");
    free_world(world);
}

static void joins_twice(int rank, void *arg)
{
    (void)rank, (void)arg;
    dist_init_process_group("ahbm");
    dist_init_process_group("ahbm");
}

static void joins_two_groups_in_turn(int rank, void *arg)
{
    struct world *world = arg;
    for (int i = 0; i < 2; i++) {
        dist_init_process_group("ahbm");
        assert_int_equal(dist_get_rank(), rank);
        world->started++;
        dist_destroy_process_group();
    }
}

static void a_second_group_beside_the_first_is_refused(void **state)
{
    (void)state;
    struct world *world = make_world(2, 1, NULL, false);
    run_badly(world, joins_twice, CW_PROGRAM_FAILED,
              "2 of 2 ranks failed\n"
              "  rank 0: dist_init_process_group: rank 0 is in a process group already; legal: "
              "once, or after dist_destroy_process_group\n"
              "  rank 1: dist_init_process_group: rank 1 is in a process group already; legal: "
              "once, or after dist_destroy_process_group");
    run_well(world, joins_two_groups_in_turn);
    assert_int_equal(world->started, 4);
    free_world(world);
}

static void asks_for_its_rank(int rank, void *arg)
{
    (void)rank, (void)arg;
    (void)dist_get_rank();
}

static void asks_for_the_world_size(int rank, void *arg)
{
    (void)rank, (void)arg;
    dist_init_process_group("ahbm");
    dist_destroy_process_group();
    (void)dist_get_world_size();
}

/* ADR-0024 D14 and ADR-0032 D5: a single driver installs without workers, and the queues are wired
 * once: neither a second call, nor a process group, nor a second group takes simulated time. */
static void the_queues_are_wired_once_with_or_without_workers(void **state)
{
    (void)state;
    struct world *world = make_world(2, 1, NULL, false);
    struct cw_error error = {0};
    assert_int_equal(dist_install(world->dist, &error), CW_OK);
    const struct lp_times *const times = lp_system_times(dist_system(world->dist));
    const int64_t installed_ps = times->host_ps, took_ps = dist_facts(world->dist)->init_ps;
    assert_true(took_ps > 0);
    assert_int_equal(dist_install(world->dist, &error), CW_OK);
    run_well(world, joins_two_groups_in_turn);
    assert_int_equal(times->host_ps, installed_ps);
    assert_int_equal(dist_facts(world->dist)->init_ps, took_ps);
    run_well(world, reduces_twice); /* over those queues */
    assert_int_equal(world->completed, 2);
    assert_int_equal(dist_facts(world->dist)->init_ps, took_ps);
    free_world(world);
}

static void rank_and_world_size_are_a_group_s(void **state)
{
    (void)state;
    struct world *world = make_world(2, 1, NULL, false);
    run_badly(world, asks_for_its_rank, CW_PROGRAM_FAILED,
              "2 of 2 ranks failed\n  ranks 0-1: dist_get_rank: there is no process group; legal: "
              "between dist_init_process_group and dist_destroy_process_group");
    run_badly(world, asks_for_the_world_size, CW_PROGRAM_FAILED,
              "2 of 2 ranks failed\n  ranks 0-1: dist_get_world_size: there is no process group; "
              "legal: between dist_init_process_group and dist_destroy_process_group");
    free_world(world);
}

static void names_no_operation(int rank, void *arg)
{
    struct world *world = arg;
    (void)rank;
    dist_init_process_group("ahbm");
    const struct dp_policy policy = dist_facts(world->dist)->policy;
    ahbm_set_device(rank);
    dist_all_reduce(dist_tensor_zeros(N, DTYPE_F32, &policy), (enum redop)55);
}

static void an_operation_that_there_is_not_is_refused_and_the_world_goes_on(void **state)
{
    (void)state;
    struct world *world = make_world(2, 1, NULL, false);
    run_badly(
        world, names_no_operation, CW_USAGE,
        "2 of 2 ranks failed\n  ranks 0-1: dist_all_reduce: operation 55; legal: 1 (sum) to 6 "
        "(premulsum)");
    run_well(world, reduces_twice);
    free_world(world);
}

/* ---- a collective that fails on the machine -------------------------------------------------- */

struct frame {
    uint16_t line, reserved[3];
};

enum { RECEIVE_LINE = __LINE__ + 6 }; /* of the call below */

static enum tl_status waits_for_nobody(struct tl *tl, void *state)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    TL_CALL(&f->line, tl_recv(tl, HW_DIR_GLOBAL_E, 16));
    TL_END(&f->line);
}

static const struct tl_kernel receiver = {
    .name = "receiver", .frame_bytes = sizeof(struct frame), .run = waits_for_nobody};

static int launch_receivers(struct world *world, struct cw_error *error)
{
    const struct tl_args args = {.n_elem = N, .dtype = LP_F32};
    int code = lp_system_begin_batch(dist_system(world->dist),
                                     &(struct lp_batch_options){.kernel = &receiver}, error);
    for (uint32_t sip = 0; sip < 2 && code == CW_OK; sip++)
        code = lp_system_submit_launch(
            dist_system(world->dist), hw_pe_index(&world->config->hw, (struct hw_place){sip, 0, 0}),
            &receiver, &args, error);
    return code == CW_OK ? dist_drain(world->dist, error) : code;
}

static const char *deadlock_text(void)
{
    static char text[500];
    snprintf(text, sizeof text,
             "1 of 4 ranks failed\n  rank 3: "
             "IpcqDeadlock: 2 kernels wait and nothing is left to happen: PE 1.0.0 waits for data "
             "from global_E (at test/unit/collectives/test_launcher.c:%d): its peer, PE 2.0.0, "
             "runs no kernel. Each send needs a receive on the other side, in the opposite "
             "direction\n"
             "0.0.0 global_E my_head=0 my_tail=0 peer_head_cache=0 peer_tail_cache=0\n"
             "1.0.0 global_E my_head=0 my_tail=0 peer_head_cache=0 peer_tail_cache=0",
             RECEIVE_LINE);
    return text;
}

static void launches(int rank, void *arg)
{
    struct world *world = arg;
    struct cw_error error;
    dist_init_process_group("ahbm");
    if (rank != 3)
        return;
    const int code = launch_receivers(world, &error);
    mp_fail(code, "%s", cw_error_text(&error));
}

static void a_drain_of_a_ranks_own_fails_as_its_error(void **state)
{
    (void)state;
    struct world *world = make_world(4, 1, NULL, false);
    run_badly(world, launches, CW_PROGRAM_FAILED, deadlock_text());
    free_world(world);
}

static enum tl_status loads_its_shard(struct tl *tl, void *state)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    TL_CALL(&f->line, tl_load(tl, 0, tl_shard(tl), 4));
    TL_END(&f->line);
}

static const struct tl_kernel loader = {
    .name = "loader", .frame_bytes = sizeof(struct frame), .run = loads_its_shard};

/* Launches without a validator, on this PE of SIP 1: the tensor has one shard there, on PE 0. */
static int launch_loader(struct world *world, uint32_t pe, struct cw_error *error)
{
    const struct tensor *const tensor = dist_tensor_zeros(N, DTYPE_F32, &one_per_cube);
    const struct tl_args args = {.tensor = tensor->va_base,
                                 .tensor_pa = tensor->hbm_offset,
                                 .shard_bytes = tensor->shard_bytes,
                                 .n_elem = N,
                                 .dtype = LP_F32};
    int code = lp_system_begin_batch(dist_system(world->dist),
                                     &(struct lp_batch_options){.kernel = &loader}, error);
    if (code == CW_OK)
        code = lp_system_submit_launch(dist_system(world->dist),
                                       hw_pe_index(&world->config->hw, (struct hw_place){1, 0, pe}),
                                       &loader, &args, error);
    return code == CW_OK ? dist_drain(world->dist, error) : code;
}

static void loads_where_no_shard_is(int rank, void *arg)
{
    struct world *world = arg;
    struct cw_error error;
    dist_init_process_group("ahbm");
    if (rank != 1)
        return;
    ahbm_set_device(rank);
    assert_int_equal(launch_loader(world, 0, &error), CW_OK);
    const int code = launch_loader(world, 2, &error);
    mp_fail(code, "%s", cw_error_text(&error));
}

#define NO_SHARD_FAULT                                                                             \
    "PageFault: PE 1.0.2, kernel loader: load of 4 bytes at address 0x10000020000, which is not "  \
    "mapped there; legal: its cube's SRAM from 0x4000000000000000 on (at "                         \
    "test/unit/collectives/test_launcher.c:"

static void a_kernel_without_a_shard_faults(void **state)
{
    (void)state;
    struct world *world = make_world(2, 1, NULL, false);
    struct cw_error error = {0};
    assert_int_equal(dist_spawn(world->dist, loads_where_no_shard_is, world, &error),
                     CW_PROGRAM_FAILED);
    if (strstr(error.text, NO_SHARD_FAULT) == NULL)
        fail_msg("%s", error.text);
    free_world(world);
}

/* ---- what only MSCCL files do ---------------------------------------------------------------- */

/* Of three ranks, one chunk: a chain from rank 2, or to it (a reduce). */
static void write_chain(char *path, bool reduces)
{
    static const char *const tb[2][3] = {
        {"send='1' recv='2' chan='0'><step s='0' type='rcs' srcbuf='i' srcoff='0'",
         "send='-1' recv='0' chan='0'><step s='0' type='r' srcbuf='i' srcoff='0'",
         "send='0' recv='-1' chan='0'><step s='0' type='s' srcbuf='i' srcoff='0'"},
        {"send='2' recv='1' chan='0'><step s='0' type='rrs' srcbuf='i' srcoff='0'",
         "send='0' recv='-1' chan='0'><step s='0' type='s' srcbuf='i' srcoff='0'",
         "send='-1' recv='0' chan='0'><step s='0' type='rrc' srcbuf='i' srcoff='0'"}};
    const int fd = mkstemps(path, 4);
    FILE *const f = fd >= 0 ? fdopen(fd, "w") : NULL;
    assert_non_null(f);
    fprintf(f, "<algo ngpus='3' nchunksperloop='1' coll='%s' inplace='1'>\n",
            reduces ? "reduce" : "broadcast");
    for (unsigned r = 0; r < 3; r++)
        fprintf(f,
                "<gpu id='%u' i_chunks='1' o_chunks='1' s_chunks='0'><tb id='0' %s dstbuf='o' "
                "dstoff='0' cnt='1'/></tb></gpu>\n",
                r, tb[reduces][r]);
    fputs("</algo>\n", f);
    assert_int_equal(fclose(f), 0);
}

struct rooted {
    bool reduces;
    uint32_t root;
};

static void calls_with_a_root(int rank, void *arg)
{
    const struct rooted *const rooted = arg;
    static const struct dp_policy one = {
        .cube = DP_ROW_WISE, .pe = DP_REPLICATE, .num_cubes = 1, .num_pes = 1};
    float value[N];
    dist_init_process_group("ahbm");
    ahbm_set_device(rank);
    struct tensor *const t = dist_tensor_zeros(N, DTYPE_F32, &one);
    for (int i = 0; i < N; i++)
        value[i] = (float)(rank + 1);
    dist_tensor_copy_from(t, DTYPE_F32, value, N);
    if (rooted->reduces)
        dist_reduce(t, rooted->root, REDOP_SUM);
    else
        dist_broadcast(t, rooted->root);
    dist_tensor_copy_to(t, DTYPE_F32, value, N);
    for (int i = 0; i < N && (rank == 2 || !rooted->reduces); i++)
        assert_true(value[i] == (rooted->reduces ? 6 : 3)); /* 1 + 2 + 3, and rank 2's own */
}

static void a_file_has_its_root(void **state)
{
    (void)state;
    for (unsigned reduces = 0; reduces < 2; reduces++) {
        char path[] = "/tmp/cubewarp-launcher-XXXXXX.xml";
        static const char *const sets[] = {"system.sips.count=3", "sip.cube_mesh.w=1",
                                           "sip.cube_mesh.h=1", "system.sips.topology=ring_1d"};
        const struct config_request request = {
            .sets = sets, .set_count = COUNT_OF(sets), .algorithm = path};
        struct rooted rooted = {reduces == 1, 2};
        struct cw_error error = {0};
        write_chain(path, rooted.reduces);
        struct config *const config = must_load(&request);
        const struct dist_options options = {
            .config = config, .machine.engine = {.sync = CW_SEQUENTIAL, .worker_count = 1}};
        struct dist *const dist = must_create(&options);
        if (dist_spawn(dist, calls_with_a_root, &rooted, &error) != CW_OK)
            fail_msg("%s", error.text);
        rooted.root = 1;
        assert_int_equal(dist_spawn(dist, calls_with_a_root, &rooted, &error), CW_USAGE);
        assert_non_null(strstr(error.text, "root 1: the root of "));
        assert_non_null(strstr(error.text, "_xml is 2"));
        dist_free(dist);
        config_free(config);
        assert_int_equal(remove(path), 0);
    }
}

/* ---- scale ----------------------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MANY_W = 32, MANY_KIB = 1 << 22 }; /* a sanitizer keeps a lot about each stack */
#else
enum { MANY_W = 128, MANY_KIB = 1 << 20 };
#endif

static void eight_thousand_ranks_reduce_in_less_than_a_gigabyte(void **state)
{
    (void)state;
    struct rusage usage;
    struct world *world = make_world(MANY_W, 64, "cube.pe_layout.corners=[NW]", false);
    assert_int_equal(dist_facts(world->dist)->world_size, MANY_W * 64);
    run_well(world, reduces_twice);
    assert_int_equal(world->completed, 2);
    assert_true(fabsf(world->second / world->first - MANY_W * 64) < 1); /* rounded sums */
    getrusage(RUSAGE_SELF, &usage);
    assert_true(usage.ru_maxrss < MANY_KIB);
    free_world(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_runs_on_every_sip),
        cmocka_unit_test(a_tensor_is_on_the_sip_that_its_rank_has_chosen),
        cmocka_unit_test(collectives_follow_each_other),
        cmocka_unit_test(shards_are_where_kernels_run_or_the_call_is_refused),
        cmocka_unit_test(rank_517_of_1024_is_reported_and_nothing_is_left),
        cmocka_unit_test(after_a_failure_the_world_reduces_again),
        cmocka_unit_test(a_rank_that_ends_before_the_collective_is_missed_by_name),
        cmocka_unit_test(one_error_lists_every_rank_s),
        cmocka_unit_test(a_program_without_a_group_or_with_another_backend_is_told),
        cmocka_unit_test(a_second_group_beside_the_first_is_refused),
        cmocka_unit_test(the_queues_are_wired_once_with_or_without_workers),
        cmocka_unit_test(rank_and_world_size_are_a_group_s),
        cmocka_unit_test(an_operation_that_there_is_not_is_refused_and_the_world_goes_on),
        cmocka_unit_test(a_drain_of_a_ranks_own_fails_as_its_error),
        cmocka_unit_test(a_kernel_without_a_shard_faults),
        cmocka_unit_test(a_file_has_its_root),
        cmocka_unit_test(eight_thousand_ranks_reduce_in_less_than_a_gigabyte),
    };
    return cmocka_run_group_tests_name("launcher", tests, NULL, NULL);
}
