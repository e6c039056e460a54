/*
 * test_core_threads.c: a simulation's threads: all of them start, or none; they run once for each
 * call.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/idle_engine.h"

#include "core/os/threads.h"

enum { THREADS = 5 };

/* The system's, as this program sees it: starts so many more. */
static uint32_t startable = UINT32_MAX;

int pthread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*enter)(void *),
                   void *argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (startable == 0)
        return EAGAIN;
    startable--;
    void *const found = dlsym(RTLD_NEXT, "pthread_create");
    if (found == NULL)
        abort();
    memcpy(&real, &found, sizeof real);
    return real(handle, attributes, enter, argument);
}

struct seen {
    struct sync_u64 calls[THREADS];
    pthread_t first; /* the thread of index 0 */
};

static void note(void *shared, uint32_t index)
{
    struct seen *const seen = shared;
    (void)sync_add_relaxed(&seen->calls[index], 1);
    if (index == 0)
        seen->first = pthread_self();
}

static void each_index_runs_once_and_the_first_on_the_calling_thread(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory, 1 << 20);
    for (uint32_t count = 1; count <= THREADS; count++) {
        uint32_t started;
        struct threads *const threads = threads_start(&memory, count, count % 2 == 0, &started);
        assert_non_null(threads);
        assert_int_equal(started, count);
        for (uint64_t runs = 1; runs <= 3; runs++) {
            struct seen seen = {.calls = {{0}}};
            threads_run(threads, note, &seen);
            for (uint32_t i = 0; i < THREADS; i++)
                assert_int_equal(seen.calls[i].word, i < count);
            assert_true(pthread_equal(seen.first, pthread_self()));
        }
        threads_end(threads);
    }
    assert_int_equal(memory.taken.word, 0);
}

static void where_the_system_starts_too_few_there_are_none(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory, 1 << 20);
    for (uint32_t granted = 0; granted < THREADS - 1; granted++) {
        uint32_t started;
        startable = granted;
        assert_null(threads_start(&memory, THREADS, true, &started));
        startable = UINT32_MAX;
        assert_int_equal(started, 1 + granted);
    }
    assert_int_equal(memory.taken.word, 0);
}

static void without_memory_there_are_none(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory, 1);
    uint32_t started;
    assert_null(threads_start(&memory, THREADS, true, &started));
    assert_int_equal(started, 0);
}

/* ---- a drain -------------------------------------------------------------------------------- */

static void a_drain_says_how_many_threads_the_system_starts(void **state)
{
    (void)state;
    struct cw_sim *const sim = idle_engine_on(4, 4);
    struct cw_error error;
    assert_int_equal(cw_inject(sim, 3, 1, 1, 1, 1, NULL, 0, &error), CW_OK);
    startable = 2;
    const int exit_code = cw_drain(sim, &error);
    startable = UINT32_MAX;
    assert_int_equal(exit_code, CW_NO_RESOURCE);
    assert_string_equal(error.text, "the system starts no more than 3 of 4 threads");
    cw_sim_free(sim);
}

static void count_calls(void *arg, uint32_t worker)
{
    uint32_t *const calls = arg;
    calls[worker]++;
}

static void without_threads_the_calling_one_works_for_each_worker(void **state)
{
    (void)state;
    struct cw_sim *const sim = idle_engine_on(4, 4);
    struct cw_error error;
    uint32_t calls[4] = {0};
    startable = 2;
    cw_each_worker(sim, count_calls, calls);
    startable = UINT32_MAX;
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(calls[i], 1);
    assert_int_equal(cw_drain(sim, &error), CW_OK); /* they can be had by now */
    cw_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_index_runs_once_and_the_first_on_the_calling_thread),
        cmocka_unit_test(where_the_system_starts_too_few_there_are_none),
        cmocka_unit_test(without_memory_there_are_none),
        cmocka_unit_test(a_drain_says_how_many_threads_the_system_starts),
        cmocka_unit_test(without_threads_the_calling_one_works_for_each_worker),
    };
    return cmocka_run_group_tests_name("threads of a drain", tests, NULL, NULL);
}
