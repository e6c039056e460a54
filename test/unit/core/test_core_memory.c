/*
 * test_core_memory.c: the engine's memory account, its slabs and its pools of event records.
 */
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

#include "core/os/clock.h"
#include "core/os/host_limits.h"
#include "core/os/pages.h"
#include "core/queue/event_pool.h"
#include "core/exchange/commit_records.h"
#include "core/os/slab_alloc.h"

static void blocks_are_counted_zeroed_and_aligned(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 100, 65536, (2 << 20) - 1, 2 << 20, (5 << 20) + 7};
    struct memory memory;
    memory_init(&memory, 64 << 20);
    uint8_t *blocks[7];
    uint64_t total = 0;
    for (size_t i = 0; i < 7; i++) {
        blocks[i] = memory_take(&memory, sizes[i]);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % MEMORY_ALIGN, 0);
        if (sizes[i] >= 2 << 20)
            assert_int_equal((uintptr_t)blocks[i] % (2 << 20), 0);
        for (size_t b = 0; b < sizes[i]; b++)
            assert_int_equal(blocks[i][b], 0);
        memset(blocks[i], 0xff, sizes[i]);
        total += sizes[i] > 0 ? sizes[i] : 1;
        assert_true(memory.taken.word == total);
    }
    for (size_t i = 0; i < 7; i++)
        memory_give(&memory, blocks[i], sizes[i]);
    memory_give(&memory, NULL, 100);
    assert_true(memory.taken.word == 0);
}

/* The bytes in use count, not the addresses. */
static void sparse_memory_counts_as_it_is_used(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory, 1 << 20);
    const size_t addresses = (64 << 20) + 100;
    uint8_t *const block = memory_take_sparse(&memory, 1000, addresses);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % (2 << 20), 0);
    uint8_t *const end = block + (62 << 20);
    assert_true(pages_open(block, 100) && pages_open(end, (2 << 20) + 100));
    assert_int_equal(block[0] + end[0] + block[addresses - 1], 0);
    block[0] = block[addresses - 1] = 1;
    assert_int_equal(memory.taken.word, 1000);
    assert_null(memory_take_sparse(&memory, 1 << 20, 1 << 20));
    assert_int_equal(memory.needed.word, (1 << 20) + 1000);
    memory_give_sparse(&memory, block, 1000, addresses);
    memory_give_sparse(&memory, NULL, 1000, addresses);
    assert_int_equal(memory.taken.word, 0);
    assert_null(memory_take_sparse(&memory, 1000, SIZE_MAX / 4));
    assert_int_equal(memory.taken.word, 0);
}

static void the_limit_is_never_passed(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory, 10000);
    void *const block = memory_take(&memory, 9000);
    assert_non_null(block);
    assert_null(memory_take(&memory, 1001));
    assert_int_equal(memory.needed.word, 10001);
    struct cw_error error;
    assert_int_equal(memory_error(&memory, &error), CW_NO_RESOURCE);
    assert_string_equal(error.text, "out of memory: the simulation needs at least 10001 bytes, the "
                                    "limit is 10000 (--max-memory)");
    assert_null(memory_take(&memory, SIZE_MAX));
    assert_null(memory_take(&memory, SIZE_MAX - 9000));
    void *const rest = memory_take(&memory, 1000);
    assert_non_null(rest);
    memory_give(&memory, rest, 1000);
    memory_give(&memory, block, 9000);
    assert_int_equal(memory.taken.word, 0);
}

static void a_limit_beyond_the_machine_ends_with_the_system(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory, UINT64_MAX);
    assert_null(memory_take(&memory, SIZE_MAX / 4));
    struct cw_error error;
    assert_int_equal(memory_error(&memory, &error), CW_NO_RESOURCE);
    assert_string_equal(error.text, "out of memory: the simulation needs at least "
                                    "4611686018427387903 bytes, and the system has no more");
    assert_int_equal(memory.taken.word, 0);
}

static void the_default_limit_is_four_fifths_of_the_machine(void **state)
{
    (void)state;
    const uint64_t machine = host_limits_memory_bytes();
    assert_true(machine > 64 << 20);
    struct memory memory;
    memory_init(&memory, 0);
    assert_true(memory.bytes_max <= machine && memory.bytes_max >= machine / 10 * 7);
}

static void the_limits_of_the_process_count(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* a sanitizer takes terabytes of addresses, and ends the process without them */
#endif
    static const __rlimit_resource_t resources[] = {RLIMIT_AS, RLIMIT_DATA};
    for (int i = 0; i < 2; i++) {
        struct rlimit before;
        assert_int_equal(getrlimit(resources[i], &before), 0);
        const struct rlimit less = {.rlim_cur = 48 << 20, .rlim_max = before.rlim_max};
        assert_int_equal(setrlimit(resources[i], &less), 0);
        const uint64_t bytes = host_limits_memory_bytes();
        assert_int_equal(setrlimit(resources[i], &before), 0);
        assert_int_equal(bytes, 48 << 20);
    }
}

/* A folder with the files of control groups, in place of "/". */
static char fake_root[] = "/tmp/cubewarp-groups-XXXXXX";

static void put_file(const char *path, const char *text)
{
    char command[400];
    snprintf(command, sizeof command, "mkdir -p \"$(dirname %s%s)\" && printf -- '%s' >%s%s",
             fake_root, path, text, fake_root, path);
    assert_int_equal(system(command), 0);
}

static void forget_groups(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s/*", fake_root);
    assert_int_equal(system(command), 0);
}

/* A quota that pays for less than the cores counts, rounded up, in both versions of control groups
 * and in any group above the process'. */
static void a_quota_of_time_limits_the_cores(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(fake_root));
    const uint32_t all = host_limits_cores_below(fake_root); /* without any group */
    static const struct {
        const char *quota;
        uint32_t cores;
    } v2[] = {{"max 100000\\n", UINT32_MAX}, {"50000 100000\\n", 1}, {"100000 100000\\n", 1},
              {"100001 100000\\n", 2},       {"150000 50000\\n", 3}, {"9900000 100000\\n", 99}};
    for (size_t i = 0; i < sizeof v2 / sizeof *v2; i++) {
        put_file("/proc/self/cgroup", "0::/a.slice/b\\n");
        put_file("/sys/fs/cgroup/a.slice/cpu.max", v2[i].quota);
        put_file("/sys/fs/cgroup/a.slice/b/cpu.max", "max 100000\\n");
        assert_int_equal(host_limits_cores_below(fake_root), v2[i].cores < all ? v2[i].cores : all);
        forget_groups();
    }
    static const struct {
        const char *quota, *mount, *list;
        uint32_t cores;
    } v1[] = {{"-1\\n", "cpu", "cpu,cpuacct", UINT32_MAX},
              {"50000\\n", "cpu", "cpu,cpuacct", 1},
              {"50000\\n", "cpu,cpuacct", "cpuacct,cpu", 1},
              {"150000\\n", "cpu", "cpu", 2},
              {"50000\\n", "cpu", "cpuset", UINT32_MAX}};
    for (size_t i = 0; i < sizeof v1 / sizeof *v1; i++) {
        char groups[80], path[2][80];
        snprintf(groups, sizeof groups, "7:memory:/x\\n4:%s:/job\\n", v1[i].list);
        snprintf(path[0], sizeof path[0], "/sys/fs/cgroup/%s/job/cpu.cfs_quota_us", v1[i].mount);
        snprintf(path[1], sizeof path[1], "/sys/fs/cgroup/%s/job/cpu.cfs_period_us", v1[i].mount);
        put_file("/proc/self/cgroup", groups);
        put_file(path[0], v1[i].quota);
        put_file(path[1], "100000\\n");
        assert_int_equal(host_limits_cores_below(fake_root), v1[i].cores < all ? v1[i].cores : all);
        forget_groups();
    }
    assert_int_equal(rmdir(fake_root), 0);
}

/* ... and to a sixty-fourth of the limit. */
static void slabs_double_up_to_2_mib(void **state)
{
    (void)state;
    for (uint64_t limit = 16 << 20; limit <= 256 << 20; limit *= 4) {
        const size_t most = limit / 64 < 2 << 20 ? limit / 64 : 2 << 20;
        struct memory memory;
        struct slab_alloc slabs;
        memory_init(&memory, limit);
        slab_alloc_init(&slabs, &memory);
        size_t expected = 64 << 10;
        for (int i = 0; i < 8; i++) {
            size_t bytes = 0;
            uint8_t *const block = slab_alloc_more(&slabs, &bytes);
            assert_non_null(block);
            assert_int_equal((uintptr_t)block % SLAB_ALIGN, 0);
            assert_in_range(bytes, expected - SLAB_ALIGN, expected);
            memset(block, 1, bytes);
            expected = expected < most ? 2 * expected : expected;
        }
        slab_alloc_free(&slabs);
        assert_int_equal(memory.taken.word, 0);
    }
}

static void records_are_recycled_last_in_first_out(void **state)
{
    (void)state;
    struct memory memory;
    struct event_pool pool;
    memory_init(&memory, 64 << 20);
    event_pool_init(&pool, &memory);
    struct cw_event *const a = event_pool_get(&pool, 40), *const b = event_pool_get(&pool, 48);
    assert_ptr_not_equal(a, b);
    a->payload_bytes = 40;
    b->payload_bytes = 48;
    event_pool_put(&pool, a);
    event_pool_put(&pool, b);
    assert_ptr_equal(event_pool_get(&pool, 33), b); /* the same class: 33 to 48 */
    assert_ptr_equal(event_pool_get(&pool, 48), a);
    assert_ptr_not_equal(event_pool_get(&pool, 49), a);
    event_pool_free(&pool);
    assert_int_equal(memory.taken.word, 0);
}

static void records_of_all_sizes_lie_apart(void **state)
{
    (void)state;
    struct memory memory;
    struct event_pool pool;
    memory_init(&memory, 64 << 20);
    event_pool_init(&pool, &memory);
    enum { RECORDS = 20000 };
    static struct cw_event *records[RECORDS];
    for (unsigned i = 0; i < RECORDS; i++) {
        const uint16_t bytes = (uint16_t)(i * 7 % (CW_PAYLOAD_BYTES_MAX + 1));
        records[i] = event_pool_get(&pool, bytes);
        assert_non_null(records[i]);
        assert_int_equal((uintptr_t)records[i] % 16, 0);
        memset((void *)records[i], (int)i, offsetof(struct cw_event, payload) + bytes);
        records[i]->payload_bytes = bytes;
    }
    assert_int_equal(event_pool_alive(&pool), RECORDS);
    for (unsigned i = 0; i < RECORDS; i++) {
        assert_int_equal(records[i]->time_ps & 0xff, i & 0xff);
        for (unsigned b = 0; b < records[i]->payload_bytes; b++)
            assert_int_equal(records[i]->payload[b], i & 0xff);
        event_pool_put(&pool, records[i]);
    }
    assert_int_equal(event_pool_alive(&pool), 0);
    assert_int_equal(pool.alive_max, RECORDS);
    event_pool_free(&pool);
    assert_int_equal(memory.taken.word, 0);
}

struct delivered {
    unsigned count;
    const struct cw_event *event;
};

static void deliver(void *arg, const struct cw_event *event, uint16_t kind, const void *record,
                    uint16_t bytes)
{
    struct delivered *const delivered = arg;
    assert_ptr_equal(event, delivered->event);
    assert_int_equal(kind, delivered->count);
    assert_int_equal(bytes, delivered->count % 65);
    for (unsigned i = 0; i < bytes; i++)
        assert_int_equal(((const uint8_t *)record)[i], delivered->count & 0xff);
    assert_int_equal((uintptr_t)record % 8, 0);
    delivered->count++;
}

static void commit_records_come_out_as_they_went_in(void **state)
{
    (void)state;
    struct memory memory;
    struct commit_records records;
    memory_init(&memory, 64 << 20);
    commit_records_init(&records, &memory);
    const struct cw_event event = {.time_ps = 1};
    for (int round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 1000; i++) {
            uint8_t bytes[64];
            memset(bytes, (int)i, sizeof bytes);
            assert_true(commit_records_add(&records, (uint16_t)i, bytes, (uint16_t)(i % 65)));
        }
        struct delivered delivered = {.event = &event};
        commit_records_deliver_bytes(records.bytes, records.used, &event, deliver, &delivered);
        assert_int_equal(delivered.count, 1000); /* each once */
        records.used = 0;
    }
    commit_records_free(&records);
    assert_int_equal(memory.taken.word, 0);
}

/* ---- whole simulations
 * ---------------------------------------------------------------------------------- */

static void send_two(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    (void)state;
    cw_send(ctx, 0, 1, 1, 1, 2 * event->number % CW_NUMBER_MAX, NULL, 0);
    cw_send(ctx, 1, 1, 1, 1, (2 * event->number + 1) % CW_NUMBER_MAX, NULL, 0);
}

static size_t state_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return 16;
}

static void init(const void *data, uint32_t lp, void *state) { (void)data, (void)lp, (void)state; }

static const struct cw_config plain = {
    .sync = CW_SEQUENTIAL, .worker_count = 1, .end_ps = CW_TIME_MAX};

static const struct cw_model doubling = {
    .name = "doubling",
    .lp_count = 2,
    .state_bytes = state_bytes,
    .init = init,
    .handle = send_two,
};

static void a_run_that_needs_too_much_memory_says_how_much(void **state)
{
    (void)state;
    struct cw_config config = plain;
    config.memory_bytes_max = 4 << 20;
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &doubling, &error);
    assert_int_equal(cw_inject(sim, 0, 1, 1, 1, 1, NULL, 0, &error), CW_OK);
    assert_int_equal(cw_drain(sim, &error), CW_NO_RESOURCE);
    unsigned long long needed = 0, limit = 0;
    assert_int_equal(sscanf(error.text,
                            "out of memory: the simulation needs at least %llu bytes, the limit is "
                            "%llu (--max-memory)",
                            &needed, &limit),
                     2);
    assert_int_equal(limit, 4 << 20);
    assert_true(needed > limit && needed < 3 * limit);
    cw_sim_free(sim);
}

static size_t huge_bytes(const void *data, uint32_t lp)
{
    (void)data;
    return lp == 0 ? 1 << 20 : SIZE_MAX / 2;
}

static size_t mib_bytes(const void *data, uint32_t lp)
{
    (void)data, (void)lp;
    return 1 << 20;
}

static void states_beyond_the_limit_are_refused(void **state)
{
    (void)state;
    struct cw_model model = doubling;
    model.lp_count = 1;
    model.state_bytes = huge_bytes;
    struct cw_config config = plain;
    config.memory_bytes_max = 1 << 19;
    struct cw_error error;
    assert_null(cw_sim_create(&config, &model, &error));
    assert_int_equal(error.exit_code, CW_NO_RESOURCE);
    /* those of several workers, which lie apart; all but the states would fit */
    config = (struct cw_config){.sync = CW_ADAPTIVE,
                                .worker_count = 2,
                                .end_ps = CW_TIME_MAX,
                                .memory_bytes_max = 64 << 20};
    model.state_bytes = mib_bytes;
    model.lp_count = 64;
    assert_null(cw_sim_create(&config, &model, &error));
    assert_int_equal(error.exit_code, CW_NO_RESOURCE);
    config.memory_bytes_max = 128 << 20;
    struct cw_sim *const sim = cw_sim_create(&config, &model, &error);
    assert_non_null(sim);
    cw_sim_free(sim);
    model.lp_count = 4;
    model.state_bytes = huge_bytes; /* their sum does not fit an address */
    assert_null(cw_sim_create(&plain, &model, &error));
    assert_int_equal(error.exit_code, CW_NO_RESOURCE);
}

/* LP 0's is as large as it may be, or a byte more. */
static size_t bytes_at_the_limit(const void *data, uint32_t lp)
{
    return lp == 0 ? CW_STATE_BYTES_MAX + *(const size_t *)data : 16;
}

static void a_state_is_as_large_as_an_image_can_tell(void **state)
{
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        struct cw_model model = doubling;
        model.data = &more;
        model.state_bytes = bytes_at_the_limit;
        struct cw_config config = plain;
        config.memory_bytes_max = 1 << 20;
        struct cw_error error;
        assert_null(cw_sim_create(&config, &model, &error));
        assert_int_equal(error.exit_code, CW_NO_RESOURCE);
        /* memory would do, or none does */
        static const char *const begins[] = {"out of memory: the simulation needs at least",
                                             "LP 0 of model doubling has a state of 536870912"};
        assert_ptr_equal(strstr(error.text, begins[more]), error.text);
    }
}

/* No other worker runs that could give anything back. */
static void an_injection_that_is_refused_does_not_wait(void **state)
{
    (void)state;
    enum { REFUSED = 1000 }; /* a wait takes 2 ms at least */
    const struct cw_config config = {
        .sync = CW_ADAPTIVE, .worker_count = 2, .end_ps = CW_TIME_MAX, .memory_bytes_max = 4 << 20};
    struct cw_error error;
    struct cw_sim *const sim = cw_sim_create(&config, &doubling, &error);
    assert_non_null(sim);
    uint64_t number = 0;
    while (cw_inject(sim, number % 2, 1, 1, 1, number, NULL, 0, &error) == CW_OK)
        number++;
    assert_true(number > REFUSED);
    const double begin_s = clock_s();
    for (unsigned i = 0; i < REFUSED; i++)
        assert_int_equal(cw_inject(sim, 0, 1, 1, 1, number, NULL, 0, &error), CW_NO_RESOURCE);
    assert_true(clock_s() - begin_s < 1.5);
    cw_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_counted_zeroed_and_aligned),
        cmocka_unit_test(sparse_memory_counts_as_it_is_used),
        cmocka_unit_test(the_limit_is_never_passed),
        cmocka_unit_test(a_limit_beyond_the_machine_ends_with_the_system),
        cmocka_unit_test(the_default_limit_is_four_fifths_of_the_machine),
        cmocka_unit_test(the_limits_of_the_process_count),
        cmocka_unit_test(a_quota_of_time_limits_the_cores),
        cmocka_unit_test(slabs_double_up_to_2_mib),
        cmocka_unit_test(records_are_recycled_last_in_first_out),
        cmocka_unit_test(records_of_all_sizes_lie_apart),
        cmocka_unit_test(commit_records_come_out_as_they_went_in),
        cmocka_unit_test(a_run_that_needs_too_much_memory_says_how_much),
        cmocka_unit_test(states_beyond_the_limit_are_refused),
        cmocka_unit_test(a_state_is_as_large_as_an_image_can_tell),
        cmocka_unit_test(an_injection_that_is_refused_does_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
