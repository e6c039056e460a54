/*
 * test_core_pin.c: workers on hardware threads of their own: distinct ones, of those the caller may
 * run on, neighbours on one NUMA node, and the caller's own binding afterwards. Tests that take two
 * hardware threads are skipped on a machine that grants one.
 */
#define _GNU_SOURCE /* cpu_set_t */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <hwloc.h>

#include "core/cw.h"
#include "core/os/pin.h"

static cpu_set_t bound(void)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    return set;
}

static int granted(void)
{
    const cpu_set_t set = bound();
    return CPU_COUNT(&set);
}

struct thread {
    struct pin *pin;
    uint32_t index;
    cpu_set_t seen;
};

static void *enter(void *argument)
{
    struct thread *const thread = argument;
    pin_thread(thread->pin, thread->index);
    if (sched_getaffinity(0, sizeof thread->seen, &thread->seen) != 0)
        CPU_ZERO(&thread->seen);
    return NULL;
}

static void each_worker_has_a_hardware_thread_of_its_own(void **state)
{
    (void)state;
    enum { MOST = 64 };
    const cpu_set_t allowed = bound();
    const uint32_t workers = granted() < MOST ? (uint32_t)granted() : MOST;
    if (workers < 2)
        skip();
    struct pin *const pin = pin_create(workers);
    assert_non_null(pin);
    assert_int_equal(pin_count(pin), workers);
    cpu_set_t all;
    CPU_ZERO(&all);
    for (uint32_t i = 0; i < workers; i++) {
        struct thread thread = {pin, i, all};
        pthread_t id;
        assert_int_equal(pthread_create(&id, NULL, enter, &thread), 0);
        assert_int_equal(pthread_join(id, NULL), 0);
        assert_int_equal(CPU_COUNT(&thread.seen), 1);
        CPU_OR(&all, &all, &thread.seen);
    }
    pin_end(pin);
    assert_int_equal(CPU_COUNT(&all), workers);
    cpu_set_t outside;
    CPU_XOR(&outside, &all, &allowed);
    CPU_AND(&outside, &outside, &all);
    assert_int_equal(CPU_COUNT(&outside), 0);
    pin_free(pin);
}

static void more_workers_than_hardware_threads_are_not_pinned(void **state)
{
    (void)state;
    assert_null(pin_create((uint32_t)granted() + 1));
    assert_null(pin_create(1));
    assert_null(pin_create(0));
    assert_int_equal(pin_count(NULL), 0);
}

static void what_the_caller_is_bound_to_is_all_there_is(void **state)
{
    (void)state;
    const cpu_set_t before = bound();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    struct pin *const pin = pin_create(2);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_null(pin);
}

/* ---- other machines -------------------------------------------------------------------------- */

enum { PLACES_MAX = 64 };

/* Chooses on a machine that hwloc makes up; false: there are too few hardware threads. */
static bool choose(const char *synthetic, const char *allowed, unsigned here, uint32_t threads,
                   struct pin_place *places)
{
    hwloc_topology_t topology;
    const hwloc_bitmap_t set = hwloc_bitmap_alloc();
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(topology, synthetic), 0);
    assert_true(pin_filter(topology));
    assert_int_equal(hwloc_topology_load(topology), 0);
    if (allowed == NULL)
        hwloc_bitmap_copy(set, hwloc_topology_get_topology_cpuset(topology));
    else
        assert_int_equal(hwloc_bitmap_list_sscanf(set, allowed), 0);
    const bool chosen = pin_choose(topology, set, here, threads, places);
    hwloc_bitmap_free(set);
    hwloc_topology_destroy(topology);
    return chosen;
}

static void expect_places(const struct pin_place *places, uint32_t threads, const char *expected)
{
    char text[PLACES_MAX * 16] = "";
    for (uint32_t i = 0; i < threads; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u:%u", i > 0 ? " " : "",
                 (unsigned)places[i].node, (unsigned)places[i].pu);
    assert_string_equal(text, expected);
}

/* node:hardware thread of each thread. */
static void on_two_nodes_neighbours_share_a_node(void **state)
{
    (void)state;
    struct pin_place places[PLACES_MAX];
    /* two nodes of four cores with two hardware threads each, 0 to 7 and 8 to 15 */
    static const char machine[] = "node:2 core:4 pu:2";
    assert_true(choose(machine, NULL, 0, 8, places));
    expect_places(places, 8, "0:0 0:2 0:4 0:6 1:8 1:10 1:12 1:14");
    assert_true(choose(machine, NULL, 10, 6, places));
    expect_places(places, 6, "1:10 1:12 1:14 1:8 0:0 0:2");
    assert_true(choose(machine, NULL, 0, 12, places)); /* two on each core of the first node */
    expect_places(places, 12, "0:0 0:1 0:2 0:3 0:4 0:5 0:6 0:7 1:8 1:10 1:12 1:14");
    assert_true(choose(machine, "2-5,12-15", 12, 5, places));
    expect_places(places, 5, "1:12 1:13 1:14 0:2 0:4");
    assert_false(choose(machine, "2-5,12-15", 12, 9, places));
    assert_false(choose(machine, NULL, 0, 17, places));
}

static void nodes_whose_hardware_threads_are_dealt_in_turn_are_told_apart(void **state)
{
    (void)state;
    struct pin_place places[PLACES_MAX];
    /* two nodes of four cores: 0, 2, 4, 6 and 1, 3, 5, 7 */
    static const char machine[] = "node:2 core:4 pu:1(indexes=0,2,4,6,1,3,5,7)";
    assert_true(choose(machine, NULL, 0, 8, places));
    expect_places(places, 8, "0:0 0:2 0:4 0:6 1:1 1:3 1:5 1:7");
    assert_true(choose(machine, NULL, 5, 6, places));
    expect_places(places, 6, "1:5 1:7 1:1 1:3 0:0 0:2");
    static const char packages[] = "package:2 [numa] core:2 pu:2(indexes=0,4,2,6,1,5,3,7)";
    assert_true(choose(packages, NULL, 0, 5, places));
    expect_places(places, 5, "0:0 0:4 0:2 1:1 1:3");
}

static void eight_nodes_fill_one_after_the_other(void **state)
{
    (void)state;
    struct pin_place places[PLACES_MAX];
    static const char machine[] = "package:2 node:4 core:8 pu:1";
    for (unsigned here = 0; here < 64; here += 9)
        for (uint32_t threads = 1; threads <= 64; threads++) {
            uint64_t seen = 0;
            assert_true(choose(machine, NULL, here, threads, places));
            assert_int_equal(places[0].pu, here);
            for (uint32_t i = 0; i < threads; i++) {
                assert_int_equal(places[i].node, (here / 8 + i / 8) % 8);
                assert_int_equal(places[i].pu / 8, places[i].node);
                assert_int_equal(seen >> places[i].pu & 1, 0);
                seen |= UINT64_C(1) << places[i].pu;
            }
        }
}

/* ---- a simulation ---------------------------------------------------------------------------- */

static size_t no_state(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return 8;
}

static void init(const void *data, uint32_t lp, void *state) { (void)data, (void)lp, (void)state; }

/* Emits how many hardware threads the worker may run on, and passes a token round. */
static void handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state;
    cpu_set_t set;
    CPU_ZERO(&set);
    cw_check(ctx, sched_getaffinity(0, sizeof set, &set) == 0);
    const uint64_t count = (uint64_t)CPU_COUNT(&set);
    cw_emit(ctx, 0, &count, sizeof count);
    if (event->number < 100)
        cw_send(ctx, 1 - event->lp, 1000, 0, 0, event->number + 1, NULL, 0);
}

struct counted {
    uint32_t records, pinned;
};

static void count(void *arg, const struct cw_event *event, uint16_t kind, const void *record,
                  uint16_t bytes)
{
    struct counted *const counted = arg;
    uint64_t threads;
    (void)event, (void)kind;
    assert_int_equal(bytes, sizeof threads);
    memcpy(&threads, record, sizeof threads);
    counted->records++;
    counted->pinned += threads == 1;
}

static struct counted run(uint32_t workers, bool pin, uint32_t *stats_pinned)
{
    const struct cw_model model = {
        .name = "token", .lp_count = 2, .state_bytes = no_state, .init = init, .handle = handle};
    const uint32_t lp_worker[2] = {0, workers > 1};
    struct counted counted = {0, 0};
    const struct cw_config config = {.sync = CW_ADAPTIVE,
                                     .worker_count = workers,
                                     .lp_worker = lp_worker,
                                     .end_ps = CW_TIME_MAX,
                                     .record = count,
                                     .record_arg = &counted,
                                     .tuning.pin_workers = pin};
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    for (int64_t drain = 0; drain < 2; drain++) {
        assert_int_equal(cw_inject(sim, 0, cw_sim_now(sim), 0, 0, 0, NULL, 0, &error), CW_OK);
        assert_int_equal(cw_drain(sim, &error), CW_OK);
    }
    struct cw_stats stats;
    cw_sim_stats(sim, &stats);
    *stats_pinned = stats.threads_pinned;
    cw_sim_free(sim);
    return counted;
}

static void note_pinned(void *arg, uint32_t worker)
{
    const cpu_set_t now = bound();
    ((int *)arg)[worker] = CPU_COUNT(&now);
}

/* The threads of the workers make the calls, bound as in a drain. */
static void calls_of_workers_give_the_caller_back(void **state)
{
    (void)state;
    const cpu_set_t before = bound();
    if (granted() < 2)
        skip();
    const struct cw_model model = {
        .name = "token", .lp_count = 2, .state_bytes = no_state, .init = init, .handle = handle};
    const struct cw_config config = {
        .sync = CW_ADAPTIVE, .worker_count = 2, .end_ps = CW_TIME_MAX, .tuning.pin_workers = true};
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    int hardware_threads[2] = {0, 0};
    cw_each_worker(sim, note_pinned, hardware_threads);
    const cpu_set_t after = bound();
    assert_int_equal(hardware_threads[0], 1);
    assert_int_equal(hardware_threads[1], 1);
    assert_true(CPU_EQUAL(&before, &after));
    cw_sim_free(sim);
}

/* I-PIN-1 */
static void a_drain_pins_its_workers_and_gives_the_caller_back(void **state)
{
    (void)state;
    const cpu_set_t before = bound();
    if (granted() < 2)
        skip();
    uint32_t stats_pinned;
    const struct counted counted = run(2, true, &stats_pinned);
    assert_int_equal(counted.records, 202);
    assert_int_equal(counted.pinned, 202);
    assert_int_equal(stats_pinned, 2);
    const cpu_set_t after = bound();
    assert_true(CPU_EQUAL(&before, &after));
}

static void nobody_is_pinned_who_does_not_ask_for_it(void **state)
{
    (void)state;
    if (granted() < 2)
        skip();
    uint32_t stats_pinned;
    const struct counted counted = run(2, false, &stats_pinned);
    assert_int_equal(counted.records, 202);
    assert_int_equal(counted.pinned, 0);
    assert_int_equal(stats_pinned, 0);
}

/* Uses up this process' memory but for some blocks, and asks for pinned threads. */
static _Noreturn void pin_with_memory_for(int blocks)
{
    enum { BLOCK_BYTES = 2048, LEFT_MOST = 64 };
    void *left[LEFT_MOST];
    for (int i = 0; i < LEFT_MOST; i++)
        left[i] = malloc(BLOCK_BYTES);
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_AS, &none);
    for (size_t bytes = (size_t)1 << 20; bytes >= 16; bytes /= 2)
        for (void *volatile block = malloc(bytes); block != NULL; block = malloc(bytes))
            ; /* kept until the process ends */
    for (int i = 0; i < blocks && i < LEFT_MOST; i++)
        free(left[i]);
    _exit(pin_create(2) == NULL ? 0 : 1);
}

static void without_memory_nobody_is_pinned(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* a sanitizer ends with the address space */
#endif
    for (int blocks = 0; blocks <= 64; blocks += 4) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            pin_with_memory_for(blocks);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_worker_has_a_hardware_thread_of_its_own),
        cmocka_unit_test(more_workers_than_hardware_threads_are_not_pinned),
        cmocka_unit_test(what_the_caller_is_bound_to_is_all_there_is),
        cmocka_unit_test(on_two_nodes_neighbours_share_a_node),
        cmocka_unit_test(nodes_whose_hardware_threads_are_dealt_in_turn_are_told_apart),
        cmocka_unit_test(eight_nodes_fill_one_after_the_other),
        cmocka_unit_test(calls_of_workers_give_the_caller_back),
        cmocka_unit_test(a_drain_pins_its_workers_and_gives_the_caller_back),
        cmocka_unit_test(nobody_is_pinned_who_does_not_ask_for_it),
        cmocka_unit_test(without_memory_nobody_is_pinned),
    };
    return cmocka_run_group_tests_name("pin", tests, NULL, NULL);
}
