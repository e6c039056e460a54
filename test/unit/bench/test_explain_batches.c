/*
 * test_explain_batches.c: explanations of several collectives in flight (bench/explain): each has a
 * path of its own, and a kernel's wait for its PE is on it for as long as the PE ran other kernels.
 */
#include "bench/explain/explain.h"
#include "bench/explain/limits.h"
#include "test/support/test_lp_support.h"

enum { LONG_PS = 1000000, SHORT_PS = 300000, BACKLOG = 3 };

static const struct line takes_long[] = {DELAY(1000), DONE};
static const struct line takes_short[] = {DELAY(300), DONE};

struct scene {
    struct machine *m;
    struct explainer *explainer;
};

static const enum cw_sync modes[] = {CW_SEQUENTIAL, CW_ADAPTIVE, CW_OPTIMISTIC};

static struct scene scene_of_two_pes(enum cw_sync sync)
{
    struct machine *const m = small_machine(1, 1, 1);
    m->hw.corner_count = 1;
    m->hw.pe_per_corner = 2;
    m->needs.launches = BACKLOG;
    m->engine.sync = sync;
    struct explainer *const explainer =
        explainer_create(&m->hw, NULL, 1, sync == CW_SEQUENTIAL, 1 << 24);
    assert_non_null(explainer);
    m->causes = explainer_sink(explainer);
    machine_start(m);
    return (struct scene){m, explainer};
}

static void free_scene(struct scene *scene)
{
    machine_free(scene->m);
    explainer_free(scene->explainer);
}

/* A batch, which is held, of these kernels. */
static uint32_t submit(struct machine *m, const struct part *parts, size_t count)
{
    begin_scripts(m);
    submit_scripts(m, parts, count);
    return lp_system_hold_batch(m->system);
}

static uint32_t submit_one(struct machine *m, const struct line *script)
{
    const struct part part = {0, script};
    return submit(m, &part, 1);
}

/* How long the batch took, and how long of its path a kernel waited for its PE, and of the time of
 * the kernel that ended last. */
static void expect(const struct scene *scene, uint32_t batch, int64_t time_ps, int64_t wait_ps,
                   int64_t wait_of_last_ps)
{
    struct explain *const explain = explain_collective(scene->explainer, scene->m->system, batch);
    int64_t on_path_ps = 0;
    assert_non_null(explain);
    if (!explain->has_path)
        fail_msg("no path: %s", explain->lost);
    assert_int_equal(explain->time_ps, time_ps);
    for (size_t i = 0; i < explain->part_count; i++) {
        char name[64];
        const bool is_wait = strcmp(explain_part_name(&explain->part[i], name, sizeof name),
                                    "wait for another group's kernel") == 0;
        on_path_ps += is_wait ? explain->part[i].ps : 0;
        assert_true(is_wait || explain->part[i].class != PATH_REST);
    }
    assert_int_equal(on_path_ps, wait_ps);
    assert_int_equal(explain->slowest.share_ps[EXPLAIN_KERNEL], wait_of_last_ps);
    int64_t shares_ps = 0;
    for (uint32_t share = 0; share < EXPLAIN_SHARES; share++)
        shares_ps += explain->slowest.share_ps[share];
    assert_int_equal(shares_ps, explain->slowest.ps);
    assert_true(explain->slowest.share_ps[EXPLAIN_OTHER] == 0);
    free(explain);
}

/* The three launches are there at one instant, and their kernels take turns. */
static void a_wait_for_the_pe_is_on_the_path(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        struct scene scene = scene_of_two_pes(modes[i]);
        struct machine *const m = scene.m;
        const uint32_t first = submit_one(m, takes_long), second = submit_one(m, takes_short),
                       third = submit_one(m, takes_short);
        assert_int_equal(lp_system_drain(m->system, &m->error), CW_OK);
        expect(&scene, first, LONG_PS, 0, 0);
        expect(&scene, second, LONG_PS + SHORT_PS, LONG_PS, LONG_PS);
        expect(&scene, third, LONG_PS + 2 * SHORT_PS, LONG_PS + SHORT_PS, LONG_PS + SHORT_PS);
        free_scene(&scene);
    }
}

/* The last kernel to end did not wait itself, but for a tile of one that did. */
static void a_wait_of_the_sender_is_on_the_path(void **state)
{
    (void)state;
    static const struct line sends[] = {SEND(HW_DIR_INTRA_E, 64), DONE};
    static const struct line receives[] = {RECV(HW_DIR_INTRA_W, 64), DELAY(300), DONE};
    struct scene alone = scene_of_two_pes(CW_SEQUENTIAL), both = scene_of_two_pes(CW_SEQUENTIAL);
    const struct part parts[] = {{0, sends}, {1, receives}};
    const uint32_t single = submit(alone.m, parts, COUNT_OF(parts));
    assert_int_equal(lp_system_drain(alone.m->system, &alone.m->error), CW_OK);
    const struct lp_times *const times = lp_system_times_of(alone.m->system, single);
    const int64_t alone_ps = times->last_end_ps - times->first_start_ps;
    expect(&alone, single, alone_ps, 0, 0);
    (void)submit_one(both.m, takes_long);
    const uint32_t later = submit(both.m, parts, COUNT_OF(parts));
    assert_int_equal(lp_system_drain(both.m->system, &both.m->error), CW_OK);
    expect(&both, later, LONG_PS + alone_ps, LONG_PS, 0);
    free_scene(&alone);
    free_scene(&both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_for_the_pe_is_on_the_path),
        cmocka_unit_test(a_wait_of_the_sender_is_on_the_path),
    };
    return cmocka_run_group_tests_name("explain_batches", tests, NULL, NULL);
}
