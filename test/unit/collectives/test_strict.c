/*
 * test_strict.c: strict_validation: sends and receives that disagree, and slots that are written
 * over too early, on any number of threads, with data and without.
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

#include "collectives/config/config_load.h"
#include "collectives/runtime/distributed.h"

enum { SLOTS = 3, BYTES = 64 };

struct world {
    struct config *config;
    struct dist *dist;
    char warnings[4][600];
    uint32_t warned;
};

static void warn(void *arg, const char *text)
{
    struct world *world = arg;
    assert_true(world->warned < 4);
    snprintf(world->warnings[world->warned++], sizeof world->warnings[0], "%s", text);
}

struct mode {
    enum cw_sync sync;
    uint32_t threads;
    bool no_data, lenient;
};
static const struct mode modes[] = {{CW_SEQUENTIAL, 1, false, false},
                                    {CW_SEQUENTIAL, 1, true, false},
                                    {CW_OPTIMISTIC, 2, false, false},
                                    {CW_CONSERVATIVE, 2, false, false},
                                    {CW_STRESS, 2, true, false}};
#define MODES (sizeof modes / sizeof *modes)

/* Two cubes with three slots for each direction. */
static struct world *make_world(struct mode mode)
{
    const char *const sets[] = {"system.sips.count=1",
                                "system.sips.topology=ring_1d",
                                "sip.cube_mesh.w=2",
                                "sip.cube_mesh.h=1",
                                "defaults.n_slots=3",
                                "defaults.wiring=pe0",
                                "defaults.slot_size=64",
                                mode.lenient ? "defaults.strict_validation=false"
                                             : "defaults.strict_validation=true"};
    const struct config_request request = {.sets = sets, .set_count = sizeof sets / sizeof *sets};
    struct cw_error error;
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->config = must_load(&request);
    const struct dist_options options = {
        .config = world->config,
        .machine.engine = {.sync = mode.sync, .worker_count = mode.threads},
        .no_data = mode.no_data,
        .warn = warn,
        .arg = world};
    world->dist = must_create(&options);
    if (dist_install(world->dist, &error) != CW_OK)
        fail_msg("%s", error.text);
    return world;
}

static void free_world(struct world *world)
{
    dist_free(world->dist);
    config_free(world->config);
    free(world);
}

/* The same kernel on both cubes, the second with another dtype if one is given. */
static int run(struct world *world, const struct tl_kernel *kernel, enum lp_dtype second,
               struct cw_error *error)
{
    *error = (struct cw_error){0};
    int code = lp_system_begin_batch(dist_system(world->dist),
                                     &(struct lp_batch_options){.kernel = kernel}, error);
    for (uint32_t cube = 0; cube < 2 && code == CW_OK; cube++) {
        const struct tl_args args = {.n_elem = BYTES / 2,
                                     .dtype = (uint8_t)(cube == 0 ? LP_F16 : second)};
        code = lp_system_submit_launch(
            dist_system(world->dist),
            hw_pe_index(&world->config->hw, (struct hw_place){0, cube, 0}), kernel, &args, error);
    }
    return code == CW_OK ? dist_drain(world->dist, error) : code;
}

/* ---- types ---------------------------------------------------------------------------------- */

struct frame {
    uint16_t line;
    uint32_t i;
    struct lp_operand first, last;
};

/* One tile of 64 bytes east, then one of 32, received as 64 both. */
static enum tl_status half_a_tile(struct tl *tl, void *state)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    for (f->i = 0; f->i < 2; f->i++) {
        if (tl_place(tl).cube == 0)
            TL_CALL(&f->line, tl_send(tl, HW_DIR_E, tl_tcm(0), BYTES / (f->i + 1)));
        else
            TL_CALL(&f->line, tl_recv(tl, HW_DIR_W, BYTES));
    }
    TL_END(&f->line);
}
/* Two tiles of 64 bytes east. */
static enum tl_status whole_tiles(struct tl *tl, void *state)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    for (f->i = 0; f->i < 2; f->i++) {
        if (tl_place(tl).cube == 0)
            TL_CALL(&f->line, tl_send(tl, HW_DIR_E, tl_tcm(0), BYTES));
        else
            TL_CALL(&f->line, tl_recv(tl, HW_DIR_W, BYTES));
    }
    TL_END(&f->line);
}
static const struct tl_kernel wholes = {
    .name = "wholes", .frame_bytes = sizeof(struct frame), .run = whole_tiles};
static const struct tl_kernel halves = {
    .name = "halves", .frame_bytes = sizeof(struct frame), .run = half_a_tile};

/* "... at T ns, ...": the texts before and behind the time. */
static void expect_parts(const char *text, const char *before, const char *behind)
{
    unsigned ns, ps;
    int used = 0;
    if (strncmp(text, before, strlen(before)) != 0)
        fail_msg("\"%s\" does not begin with \"%s\"", text, before);
    const char *rest = text + strlen(before);
    assert_int_equal(sscanf(rest, "%u.%3u%n", &ns, &ps, &used), 2);
    assert_string_equal(rest + used, behind);
}

#define AT(line_) " (at test/unit/collectives/test_strict.c:" #line_ ")"

static void a_receive_of_another_size_fails_and_names_both_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODES; i++) {
        struct world *world = make_world(modes[i]);
        struct cw_error error;
        assert_int_equal(run(world, &halves, LP_F16, &error), CW_PROGRAM_FAILED);
        assert_int_equal(error.exit_code, CW_PROGRAM_FAILED);
        expect_parts(
            error.text,
            "IpcqTypeMismatch: PE 0.0.0 sent tile 1 in direction E as 32 bytes of f16" AT(
                116) ", and PE 0.1.0 received it from direction W, at ",
            " ns, as 64 bytes of f16" AT(118) "; both ends must name one type and one shape");
        free_world(world);
    }
}

static void a_receive_of_another_type_fails(void **state)
{
    (void)state;
    struct world *world = make_world(modes[0]);
    struct cw_error error;
    assert_int_equal(run(world, &wholes, LP_BF16, &error), CW_PROGRAM_FAILED);
    expect_parts(
        error.text,
        "IpcqTypeMismatch: PE 0.0.0 sent tile 0 in direction E as 64 bytes of f16" AT(
            129) ", and PE 0.1.0 received it from direction W, at ",
        " ns, as 64 bytes of bf16" AT(131) "; both ends must name one type and one shape (or set "
                                           "defaults.strict_validation=false)");
    free_world(world);
}

/* A tile of 2 x 8 x 2 elements east, received as 2 x 4 x 4: the second dimension alone tells them
 * apart, since the last is what is left. */
static enum tl_status another_second_dimension(struct tl *tl, void *state)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    if (tl_place(tl).cube == 0)
        TL_CALL(&f->line, tl_send_tile(tl, HW_DIR_E, tl_tcm(0),
                                       (struct tl_tile){.bytes = BYTES, .dim = {2, 8, 2}}));
    else
        TL_CALL(&f->line,
                tl_recv_tile(tl, HW_DIR_W, (struct tl_tile){.bytes = BYTES, .dim = {2, 4, 4}}));
    TL_END(&f->line);
}
static const struct tl_kernel reshaper = {
    .name = "reshaper", .run = another_second_dimension, .frame_bytes = sizeof(struct frame)};

static void a_receive_of_another_second_dimension_fails(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODES; i++) {
        struct world *const world = make_world(modes[i]);
        struct cw_error error;
        assert_int_equal(run(world, &reshaper, LP_F16, &error), CW_PROGRAM_FAILED);
        if (strstr(error.text, "IpcqTypeMismatch") == NULL ||
            strstr(error.text, "(2 x 8 x 2)") == NULL || strstr(error.text, "(2 x 4 x 4)") == NULL)
            fail_msg("%s", error.text);
        free_world(world);
    }
}

static void nobody_looks_unless_asked(void **state)
{
    (void)state;
    struct world *world = make_world((struct mode){CW_SEQUENTIAL, 1, false, true});
    struct cw_error error;
    if (run(world, &wholes, LP_BF16, &error) != CW_OK)
        fail_msg("%s", error.text);
    free_world(world);
    world = make_world((struct mode){CW_SEQUENTIAL, 1, true, true});
    if (run(world, &halves, LP_F16, &error) != CW_OK)
        fail_msg("%s", error.text);
    free_world(world);
}

static void another_size_is_found_wherever_there_is_data(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODES; i++) {
        struct mode mode = modes[i];
        struct cw_error error;
        mode.lenient = true;
        if (mode.no_data)
            continue;
        struct world *world = make_world(mode);
        assert_int_equal(run(world, &halves, LP_F16, &error), CW_PROGRAM_FAILED);
        assert_string_equal(error.text,
                            "IpcqTypeMismatch: PE 0.1.0 received tile 1 from direction W as 64 "
                            "bytes" AT(118) ", and it was sent as 32 bytes" AT(
                                116) "; both ends must name one size");
        free_world(world);
    }
}

/* ---- slots ---------------------------------------------------------------------------------- */

enum { TILES = 3 * SLOTS };

/* Cube 0 sends tiles one after the other. Cube 1 receives them all and adds up the first one at
 * the end, and again: by then it has been written over. */
static enum tl_status keeps_the_first(struct tl *tl, void *state)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    for (f->i = 0; f->i < TILES; f->i++) {
        if (tl_place(tl).cube == 0) {
            TL_CALL(&f->line, tl_send(tl, HW_DIR_E, tl_tcm(0), BYTES));
        } else {
            TL_CALL(&f->line, tl_recv(tl, HW_DIR_W, BYTES));
            if (f->i == 0)
                f->first = tl_received(tl);
        }
    }
    for (f->i = 0; f->i < 2; f->i++)
        if (tl_place(tl).cube == 1)
            TL_CALL(&f->line, tl_math(tl, LP_MATH_SUM, 0, tl_tcm(0), f->first, BYTES / 2));
    TL_END(&f->line);
}
static const struct tl_kernel keeper = {
    .name = "keeper", .frame_bytes = sizeof(struct frame), .run = keeps_the_first};

/* The same, but each tile is used as it comes. */
static enum tl_status uses_at_once(struct tl *tl, void *state)
{
    struct frame *f = state;
    TL_BEGIN(&f->line);
    for (f->i = 0; f->i < TILES; f->i++) {
        if (tl_place(tl).cube == 0) {
            TL_CALL(&f->line, tl_send(tl, HW_DIR_E, tl_tcm(0), BYTES));
        } else {
            TL_CALL(&f->line, tl_recv(tl, HW_DIR_W, BYTES));
            TL_CALL(&f->line,
                    tl_math(tl, LP_MATH_SUM, 0, tl_tcm(0), tl_last(tl_received(tl)), BYTES / 2));
        }
    }
    TL_END(&f->line);
}
static const struct tl_kernel thrifty = {
    .name = "thrifty", .frame_bytes = sizeof(struct frame), .run = uses_at_once};

/* I-STRICT-1: one entry per slot is enough. */
static void a_slot_written_over_too_early_is_a_warning_once_per_queue(void **state)
{
    (void)state;
    char first[600] = "";
    for (size_t i = 0; i < MODES; i++) {
        struct world *world = make_world(modes[i]);
        struct cw_error error;
        if (run(world, &keeper, LP_F16, &error) != CW_OK)
            fail_msg("%s", error.text);
        assert_int_equal(world->warned, 1);
        /* the last of the tiles in slot 0 that came by then is tile 6 */
        const char *begin = "IpcqSlotReuse: PE 0.1.0, direction W: tile 6 was written over tile 0, "
                            "in slot 0 of 3, at ";
        assert_memory_equal(world->warnings[0], begin, strlen(begin));
        assert_non_null(strstr(world->warnings[0], ", and an operation of PE_MATH reads that tile "
                                                   "until "));
        assert_non_null(strstr(world->warnings[0], "raise defaults.n_slots"));
        if (i > 0)
            assert_string_equal(world->warnings[0], first);
        strcpy(first, world->warnings[0]);
        if (run(world, &keeper, LP_F16, &error) != CW_OK) /* once per queue, not per kernel */
            fail_msg("%s", error.text);
        assert_int_equal(world->warned, 1);
        free_world(world);
    }
}

static void a_tile_that_is_used_in_time_is_no_warning(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODES; i++) {
        struct world *world = make_world(modes[i]);
        struct cw_error error;
        if (run(world, &thrifty, LP_F16, &error) != CW_OK)
            fail_msg("%s", error.text);
        if (world->warned > 0)
            fail_msg("%s", world->warnings[0]);
        free_world(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receive_of_another_size_fails_and_names_both_ends),
        cmocka_unit_test(a_receive_of_another_type_fails),
        cmocka_unit_test(a_receive_of_another_second_dimension_fails),
        cmocka_unit_test(nobody_looks_unless_asked),
        cmocka_unit_test(another_size_is_found_wherever_there_is_data),
        cmocka_unit_test(a_slot_written_over_too_early_is_a_warning_once_per_queue),
        cmocka_unit_test(a_tile_that_is_used_in_time_is_no_warning),
    };
    return cmocka_run_group_tests_name("strict", tests, NULL, NULL);
}
