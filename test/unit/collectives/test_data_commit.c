/*
 * test_data_commit.c: records executed by several workers, each with its cubes' records alone and
 * at a speed of its own, against the same records in the total order: the same memories, tiles and
 * failures, whatever the interleaving and wherever the cubes move meanwhile (I-DATA-1, I-DATA-2,
 * I-PARCEL-1, I-TILE-3).
 *
 * COMMIT_SEED=7 COMMIT_SEEDS=1 replays one script; COMMIT_SEEDS=1000 runs as many.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collectives/data/data_commit.h"
#include "collectives/data/data_operand.h"
#include "collectives/data/data_parcel.h"
#include "collectives/data/data_pass.h"
#include "test/support/record_script.h"

enum { SEEDS_DEFAULT = 30, STEPS = 3000, WORKERS_MAX = 8, INPUT_ELEMENTS = SCRIPT_MEMORY / 4 };

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *const text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

/* ---- the records in the total order ---------------------------------------------------------- */

/* How a script ends. */
struct ending {
    struct cw_error error; /* exit_code CW_OK: well */
    uint32_t failed_step;
    uint64_t digest, tiles;
    uint64_t lent; /* buffers that were not given back to their own pools */
};

static struct data_pass *create(const struct hw_config *hw, uint64_t bytes_max, uint32_t workers)
{
    struct cw_error error;
    struct data_pass *const pass = data_pass_create(hw, bytes_max, workers);
    assert_non_null(pass);
    for (uint32_t pe = 0; pe < SCRIPT_PE_COUNT && bytes_max == 0; pe++)
        assert_int_equal(data_pass_fill_input(pass, pe, 0, DTYPE_F32, 1, pe * INPUT_ELEMENTS,
                                              INPUT_ELEMENTS, &error),
                         CW_OK);
    return pass;
}

static struct ending in_total_order(const struct script *script)
{
    const struct hw_config hw = script_machine();
    struct data_pass *const pass = create(&hw, 0, 1);
    struct ending ending = {.error = {.exit_code = CW_OK}};
    for (uint32_t i = 0; i < script->count && ending.error.exit_code == CW_OK; i++) {
        const struct lp_op *const op = &script->step[i].op;
        ending.failed_step = i;
        if (op->kind == 0)
            data_pass_end_kernel(pass, op->pe);
        else if (data_pass_apply(pass, op, &ending.error) == CW_OK)
            ending.error.exit_code = CW_OK;
    }
    ending.digest = data_pass_digest(pass);
    ending.tiles = data_pass_tiles(pass);
    data_pass_free(pass);
    return ending;
}

/* ---- the same by workers --------------------------------------------------------------------- */

/* One run on workers. Between phases all threads rest, and cubes change their owners. */
struct crew {
    const struct script *script;
    struct data_pass *pass;
    uint32_t workers, phases;
    uint64_t seed;
    uint32_t owner[SCRIPT_ALL_CUBES];
    uint32_t *of_cube[SCRIPT_ALL_CUBES]; /* steps */
    uint32_t count[SCRIPT_ALL_CUBES];
    uint32_t next[SCRIPT_ALL_CUBES], target[SCRIPT_ALL_CUBES]; /* written by the owner */
};

struct member {
    struct crew *crew;
    uint32_t worker, phase;
};

static uint32_t owner_of(void *arg, uint32_t cube) { return ((struct crew *)arg)->owner[cube]; }

static bool commit_look(const struct crew *crew, uint32_t worker)
{
    const struct lp_worker_listener listener = data_commit_listener(crew->pass);
    return listener.look(listener.arg, worker);
}

static void deliver(const struct crew *crew, uint32_t worker, const struct script_step *step)
{
    /* A copy, which is gone afterwards: the engine's events and records are, too. */
    struct cw_event event = step->event;
    struct lp_op op = script_emitted(step);
    const struct lp_worker_listener listener = data_commit_listener(crew->pass);
    if (op.kind == 0)
        listener.kernel_ended(listener.arg, worker, &event,
                              &(struct lp_kernel_end){.pe = op.pe, .tcm_bytes = UINT32_MAX});
    else
        listener.op(listener.arg, worker, &event, &op);
    memset(&event, 0xA5, sizeof event);
    memset(&op, 0xA5, sizeof op);
}

/* Delivers some records of one of the worker's cubes. Returns whether any is left. */
static bool deliver_some(struct crew *crew, uint32_t worker, struct cw_rng *rng)
{
    const uint32_t first = cw_rng_below(rng, SCRIPT_ALL_CUBES);
    for (uint32_t i = 0; i < SCRIPT_ALL_CUBES; i++) {
        const uint32_t cube = (first + i) % SCRIPT_ALL_CUBES;
        if (crew->owner[cube] != worker || crew->next[cube] == crew->target[cube])
            continue;
        uint32_t some = 1 + cw_rng_below(rng, cw_rng_below(rng, 8) == 0 ? 200 : 8);
        for (; some > 0 && crew->next[cube] < crew->target[cube]; some--) {
            const uint32_t step = crew->of_cube[cube][crew->next[cube]++];
            deliver(crew, worker, &crew->script->step[step]);
        }
        return true;
    }
    return false;
}

static void *work(void *arg)
{
    const struct member *const member = arg;
    struct crew *const crew = member->crew;
    struct cw_rng rng =
        cw_rng_seeded(crew->seed, 1 + member->worker + (uint64_t)member->phase * WORKERS_MAX);
    const uint32_t slow = cw_rng_below(&rng, 5); /* some workers are far behind */
    const bool looks_at_all = cw_rng_below(&rng, 3) != 0;
    while (deliver_some(crew, member->worker, &rng)) {
        if (looks_at_all && cw_rng_below(&rng, 4) == 0)
            (void)commit_look(crew, member->worker);
        for (uint32_t i = 0; i < slow && cw_rng_below(&rng, 2) == 0; i++)
            sched_yield();
    }
    for (uint32_t looks = looks_at_all * cw_rng_below(&rng, 30);
         looks > 0 && commit_look(crew, member->worker); looks--)
        sched_yield();
    return NULL;
}

static void run_phase(struct crew *crew, uint32_t phase)
{
    pthread_t thread[WORKERS_MAX];
    struct member member[WORKERS_MAX];
    for (uint32_t i = 0; i < crew->workers; i++) {
        member[i] = (struct member){crew, i, phase};
        assert_int_equal(pthread_create(&thread[i], NULL, work, &member[i]), 0);
    }
    for (uint32_t i = 0; i < crew->workers; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
}

static void share_out(struct crew *crew)
{
    for (uint32_t cube = 0; cube < SCRIPT_ALL_CUBES; cube++)
        crew->of_cube[cube] = malloc(crew->script->count * sizeof(uint32_t));
    for (uint32_t i = 0; i < crew->script->count; i++) {
        const uint32_t cube = crew->script->step[i].op.pe / SCRIPT_PES;
        crew->of_cube[cube][crew->count[cube]++] = i;
    }
}

/* All phases. Each delivers a part of each cube's records, the last one the rest. */
static void run_crew(struct crew *crew)
{
    struct cw_rng rng = cw_rng_seeded(crew->seed, 0);
    share_out(crew);
    for (uint32_t phase = 0; phase < crew->phases; phase++) {
        for (uint32_t cube = 0; cube < SCRIPT_ALL_CUBES; cube++) {
            const uint32_t left = crew->count[cube] - crew->next[cube];
            if (phase == 0 || cw_rng_below(&rng, 2) == 0)
                crew->owner[cube] = cw_rng_below(&rng, crew->workers);
            crew->target[cube] = phase + 1 == crew->phases
                                     ? crew->count[cube]
                                     : crew->next[cube] + cw_rng_below(&rng, left / 2 + 1);
        }
        data_pass_set_owner(crew->pass, owner_of, crew);
        run_phase(crew, phase);
    }
    for (uint32_t cube = 0; cube < SCRIPT_ALL_CUBES; cube++)
        free(crew->of_cube[cube]);
}

struct crew_options {
    uint32_t workers, phases;
    uint64_t seed, bytes_max;
    struct data_drain drain;
};

static struct ending on_workers(const struct script *script, const struct crew_options *options)
{
    const struct hw_config hw = script_machine();
    struct crew crew = {.script = script,
                        .pass = create(&hw, options->bytes_max, options->workers),
                        .workers = options->workers,
                        .phases = options->phases,
                        .seed = options->seed};
    struct ending ending = {.error = {.exit_code = CW_OK}};
    struct cw_event event;
    run_crew(&crew);
    const int code = data_commit_settle(crew.pass, &options->drain, &event, &ending.error);
    if (code == CW_OK)
        ending.error.exit_code = CW_OK;
    else
        memcpy(&ending.failed_step, event.payload, sizeof ending.failed_step);
    assert_int_equal(code, ending.error.exit_code);
    ending.digest = data_pass_digest(crew.pass);
    ending.tiles = data_pass_tiles(crew.pass);
    for (uint32_t i = 0; i < options->workers; i++)
        ending.lent |= tile_pool_lent(&crew.pass->workers[i].pool);
    data_pass_free(crew.pass);
    return ending;
}

static void compare(const struct ending *got, const struct ending *expected,
                    const struct crew_options *options)
{
    const bool failed = expected->error.exit_code != CW_OK;
    if (got->error.exit_code == expected->error.exit_code &&
        (failed ? got->failed_step == expected->failed_step &&
                      strcmp(got->error.text, expected->error.text) == 0
                : got->digest == expected->digest && got->tiles == expected->tiles &&
                      (got->tiles > 0) == (got->lent > 0)))
        return;
    fail_msg("seed %llu, %u workers, %u phases: exit code %d at record %u (%s), digest %llx, %llu "
             "tiles; in the total order: %d at %u (%s), %llx, %llu tiles\n"
             "replay: COMMIT_SEED=%llu COMMIT_SEEDS=1 "
             "build/check/test/unit/collectives/test_data_commit",
             (unsigned long long)options->seed, options->workers, options->phases,
             got->error.exit_code, got->failed_step,
             got->error.exit_code != CW_OK ? got->error.text : "", (unsigned long long)got->digest,
             (unsigned long long)got->tiles, expected->error.exit_code, expected->failed_step,
             failed ? expected->error.text : "", (unsigned long long)expected->digest,
             (unsigned long long)expected->tiles, (unsigned long long)options->seed);
}

/* Different numbers of workers and phases. */
static void compare_crews(const struct script *script, uint64_t seed)
{
    static const uint32_t workers[] = {1, 2, 3, 8};
    const struct ending expected = in_total_order(script);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t phases = 1; phases <= 4; phases += 3) {
            const struct crew_options options = {
                .workers = workers[i], .phases = phases, .seed = seed};
            const struct ending got = on_workers(script, &options);
            compare(&got, &expected, &options);
        }
}

/* ---- results --------------------------------------------------------------------------------- */

static void workers_do_what_the_total_order_does(void **state)
{
    (void)state;
    const uint64_t first = from_environment("COMMIT_SEED", 1);
    const uint64_t seeds = from_environment("COMMIT_SEEDS", SEEDS_DEFAULT);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct script script = script_draw(seed, STEPS, seed % 2 == 0);
        const struct ending ending = in_total_order(&script);
        assert_int_equal(ending.error.exit_code, CW_OK);
        assert_int_equal(ending.tiles, script.tiles);
        compare_crews(&script, seed);
        script_free(&script);
    }
}

/* Without owners the records come in the total order, and none waits. */
static void one_worker_without_owners_waits_for_nothing(void **state)
{
    (void)state;
    struct script script = script_draw(99, STEPS, true);
    const struct hw_config hw = script_machine();
    const struct ending expected = in_total_order(&script);
    struct crew crew = {.pass = create(&hw, 0, 1)};
    struct cw_error error;
    struct cw_event event;
    for (uint32_t i = 0; i < script.count; i++) {
        deliver(&crew, 0, &script.step[i]);
        assert_false(commit_look(&crew, 0));
    }
    assert_int_equal(data_commit_settle(crew.pass, &(struct data_drain){0}, &event, &error), CW_OK);
    assert_int_equal(data_pass_digest(crew.pass), expected.digest);
    assert_int_equal(data_pass_tiles(crew.pass), 0);
    data_pass_free(crew.pass);
    script_free(&script);
}

/* I-TILE-3: the value is another worker's as soon as it is in the inbox. */
static void a_value_for_another_worker_is_counted_atomically(void **state)
{
    (void)state;
    const struct hw_config hw = script_machine();
    struct crew crew = {.pass = create(&hw, 0, 2), .owner = {[1] = 1}};
    data_pass_set_owner(crew.pass, owner_of, &crew);
    struct script_step step = {
        .op = {.kind = LP_OP_SEND, .peer = SCRIPT_PES, .bytes = 64, .a.space = LP_SPACE_HBM}};
    deliver(&crew, 0, &step);
    const struct data_parcel *const parcel = sync_load_pointer_acquire(&crew.pass->cubes[1].inbox);
    assert_non_null(parcel);
    assert_true(parcel->buffer->crossed);
    assert_int_equal(sync_load_acquire(&parcel->buffer->holders), 1);
    assert_int_equal(tile_pool_lent(&crew.pass->workers[0].pool), 1);
    data_pass_free(crew.pass);
}

/* I-TILE-3: the two holders of a forwarded tile count atomically, even if both cubes are one
 * worker's when it is forwarded: either may move. */
static void a_forwarded_tile_is_ready_for_cubes_that_move(void **state)
{
    (void)state;
    const struct hw_config hw = script_machine();
    for (uint32_t workers = 1; workers <= 2; workers++) {
        struct crew crew = {.pass = create(&hw, 0, workers)};
        data_pass_set_owner(crew.pass, owner_of, &crew); /* all are worker 0's */
        for (uint32_t cube = 0; cube < 2; cube++) {
            struct script_step step = {.op = {.kind = LP_OP_SEND,
                                              .pe = cube * SCRIPT_PES,
                                              .peer = (cube + 1) * SCRIPT_PES,
                                              .bytes = 64}};
            step.op.a.space = cube == 0 ? LP_SPACE_HBM : LP_SPACE_TILE;
            deliver(&crew, 0, &step);
        }
        struct tile *first, *second;
        assert_int_equal(
            tiles_find(&crew.pass->cubes[1].tiles, (struct tile_name){SCRIPT_PES, 0, 0}, &first),
            TILE_THERE);
        assert_int_equal(tiles_find(&crew.pass->cubes[2].tiles,
                                    (struct tile_name){2 * SCRIPT_PES, 0, 0}, &second),
                         TILE_THERE);
        assert_ptr_equal(first->buffer, second->buffer);
        assert_int_equal(sync_load_acquire(&first->buffer->holders), 2);
        assert_int_equal(first->buffer->crossed, workers > 1);
        data_pass_free(crew.pass);
    }
}

/* ---- failures -------------------------------------------------------------------------------- */

/* Breaks a record: the kind of fault depends on the record and on chance. Returns whether it could.
 */
static bool break_step(struct script_step *step, struct cw_rng *rng)
{
    struct lp_op *const op = &step->op;
    switch (op->kind) {
    case LP_OP_SEND: /* lost, or sent twice: its number is not the next */
        if (cw_rng_below(rng, 2) == 0)
            *op = (struct lp_op){.kind = LP_OP_NOTIFY, .pe = op->pe};
        else
            op->seq--;
        return true;
    case LP_OP_RECV: /* of a tile that is never sent */
        op->seq += 100000;
        return true;
    case LP_OP_MATH:
        op->dtype = 9;
        return true;
    case LP_OP_COPY:
        op->dst.at = SCRIPT_MEMORY;
        return true;
    case LP_OP_PUT: /* the next one has the wrong number */
        op->kind = LP_OP_NOTIFY;
        return true;
    case LP_OP_STORE_TO: /* never made */
    case LP_OP_LENT:
        op->kind = LP_OP_NOTIFY;
        return true;
    default:
        return false;
    }
}

/* A landing whose put is gone has nothing that landing.h could fill in. */
static void strip_landings(struct script *script)
{
    bool *const made = calloc((size_t)script->count, sizeof *made);
    for (uint32_t i = 0; i < script->count; i++) {
        struct lp_op *const land = &script->step[i].op;
        if (land->kind != LP_OP_LAND && land->kind != LP_OP_STORED)
            continue;
        const uint8_t kind = land->kind == LP_OP_LAND ? LP_OP_PUT : LP_OP_STORE_TO;
        bool there = false;
        for (uint32_t k = i; k-- > 0 && !there;) {
            const struct lp_op *const put = &script->step[k].op;
            there = !made[k] && put->kind == kind && put->pe == land->peer &&
                    put->seq == land->seq && put->peer == land->pe;
            made[k] |= there;
        }
        if (!there)
            *land = script_emitted(&script->step[i]);
    }
    free(made);
}

static void the_first_failure_in_the_total_order_is_reported(void **state)
{
    (void)state;
    const uint64_t first = from_environment("COMMIT_SEED", 1);
    const uint64_t seeds = from_environment("COMMIT_SEEDS", SEEDS_DEFAULT);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct cw_rng rng = cw_rng_seeded(seed, 77);
        struct script script = script_draw(seed, STEPS / 3, false);
        for (uint32_t faults = 1 + cw_rng_below(&rng, 6); faults > 0;)
            faults -= break_step(&script.step[cw_rng_below(&rng, script.count)], &rng);
        strip_landings(&script);
        compare_crews(&script, seed);
        script_free(&script);
    }
}

static void failures_behind_the_end_of_the_drain_do_not_count(void **state)
{
    (void)state;
    struct script script = script_draw(5, STEPS, false);
    uint32_t step = script.count / 2;
    while (script.step[step].op.kind != LP_OP_RECV)
        step++;
    script.step[step].op.seq += 100000;
    struct crew_options options = {.workers = 3, .phases = 1, .seed = 5};
    options.drain.failed = &script.step[step].event;
    struct ending ending = on_workers(&script, &options);
    assert_int_equal(ending.error.exit_code, CW_OK);
    options.drain.failed = &script.step[step + 1].event;
    ending = on_workers(&script, &options);
    assert_int_equal(ending.error.exit_code, CW_BUG);
    assert_int_equal(ending.failed_step, step);
    options.drain.failed = NULL;
    options.drain.aborted = true; /* a record that waits is no fault: its value may be untold */
    ending = on_workers(&script, &options);
    assert_int_equal(ending.error.exit_code, CW_OK);
    script_free(&script);
}

static void storage_that_ends_is_an_error_of_its_own(void **state)
{
    (void)state;
    struct script script = script_draw(6, STEPS, true);
    bool any = false;
    for (uint64_t bytes_max = 1 << 18; bytes_max <= 1 << 24; bytes_max += bytes_max / 4)
        for (uint32_t workers = 1; workers <= 4; workers++) {
            const struct crew_options options = {
                .workers = workers, .phases = 2, .seed = bytes_max, .bytes_max = bytes_max};
            const struct ending ending = on_workers(&script, &options);
            if (ending.error.exit_code == CW_OK)
                continue;
            any = true;
            assert_int_equal(ending.error.exit_code, CW_NO_RESOURCE);
            assert_non_null(strstr(ending.error.text, "bytes"));
        }
    assert_true(any);
    script_free(&script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_do_what_the_total_order_does),
        cmocka_unit_test(one_worker_without_owners_waits_for_nothing),
        cmocka_unit_test(a_value_for_another_worker_is_counted_atomically),
        cmocka_unit_test(a_forwarded_tile_is_ready_for_cubes_that_move),
        cmocka_unit_test(the_first_failure_in_the_total_order_is_reported),
        cmocka_unit_test(failures_behind_the_end_of_the_drain_do_not_count),
        cmocka_unit_test(storage_that_ends_is_an_error_of_its_own),
    };
    return cmocka_run_group_tests_name("data commit", tests, NULL, NULL);
}
