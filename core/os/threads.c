/*
 * threads.c: starts threads, hands them a job and waits for all of them (threads.h).
 *
 * Each thread has two words. `parked` is set by the thread before it waits, and cleared by the
 * caller to let it continue. `busy` is set by the caller before it lets the thread continue, and
 * cleared by the thread when it has returned. I-THREADS-1 holds:
 *   1. The side that waits for a word to be 0 acquires it; the side that clears it releases all
 * that it has written before.
 *   2. So a thread reads the job after the caller has written it (`parked`).
 *   3. And the caller writes the next job after the thread has done this one (`busy`).
 */
#define _GNU_SOURCE /* uselocale() */
#include "core/os/threads.h"

#include "core/invariant.h"

#include <locale.h>
#include <pthread.h>
#include <unistd.h>

#include "core/os/sync.h"

enum {
    LOOKS = 16384, /* before it sleeps, where each has a core: some hundred microseconds */
    SLEEP_NS_MAX = 100000000,
};

struct thread {
    _Alignas(128) struct sync_u64 parked;
    struct sync_u64 busy;
    struct threads *team;
    uint32_t index;
    pthread_t handle;
};

struct threads {
    struct memory *memory;
    size_t bytes;  /* of this */
    pid_t process; /* that has them: a fork has none of its threads */
    uint32_t count;
    unsigned looks;
    locale_t locale;   /* of the caller's thread */
    threads_main main; /* NULL: the threads are to end */
    void *shared;
    struct thread members[]; /* [count]; the first is unused */
};

/* Until the other side has cleared the word. */
static void await(const struct threads *team, struct sync_u64 *word)
{
    for (unsigned looks = 0; sync_load_acquire(word) != 0; looks++) {
        if (looks < team->looks)
            sync_pause();
        else
            sync_sleep(word, 1, SLEEP_NS_MAX);
    }
}

static void *threads_enter(void *argument)
{
    struct thread *const thread = argument;
    struct threads *const team = thread->team;
    (void)uselocale(team->locale);
    for (;;) {
        await(team, &thread->parked);
        if (team->main == NULL)
            return NULL;
        CW_INVARIANT("I-THREADS-1", sync_load_acquire(&thread->busy) == 1,
                     "thread %u runs, and the caller does not wait for it",
                     (unsigned)thread->index);
        team->main(team->shared, thread->index);
        sync_store_release(&thread->parked, 1);
        sync_wake(&thread->busy);
    }
}

struct threads *threads_start(struct memory *memory, uint32_t count, bool spin, uint32_t *started)
{
    *started = 0;
    const size_t bytes = sizeof(struct threads) + count * sizeof(struct thread);
    struct threads *const team = memory_take(memory, bytes);
    if (team == NULL)
        return NULL;
    team->memory = memory;
    team->bytes = bytes;
    team->process = getpid();
    team->looks = spin ? LOOKS : 0;
    team->locale = uselocale((locale_t)0);
    for (team->count = 1; team->count < count; team->count++) {
        struct thread *const thread = &team->members[team->count];
        *thread = (struct thread){.parked.word = 1, .team = team, .index = team->count};
        if (pthread_create(&thread->handle, NULL, threads_enter, thread) != 0)
            break;
    }
    *started = team->count;
    if (team->count == count)
        return team;
    threads_end(team);
    return NULL;
}

void threads_begin(struct threads *threads, threads_main main, void *shared)
{
    threads->main = main;
    threads->shared = shared;
    for (uint32_t i = 1; i < threads->count; i++) {
        sync_store_release(&threads->members[i].busy, 1);
        sync_wake(&threads->members[i].parked);
    }
}

void threads_finish(struct threads *threads)
{
    for (uint32_t i = 1; i < threads->count; i++) {
        await(threads, &threads->members[i].busy);
        CW_INVARIANT("I-THREADS-1", sync_load_acquire(&threads->members[i].parked) == 1,
                     "thread %u has returned, but is not parked", (unsigned)i);
    }
}

void threads_run(struct threads *threads, threads_main main, void *shared)
{
    threads_begin(threads, main, shared);
    main(shared, 0);
    threads_finish(threads);
}

bool threads_are_here(const struct threads *threads) { return threads->process == getpid(); }

void threads_end(struct threads *threads)
{
    if (threads == NULL)
        return;
    const uint32_t count = threads_are_here(threads) ? threads->count : 1;
    threads->main = NULL;
    for (uint32_t i = 1; i < count; i++)
        sync_wake(&threads->members[i].parked);
    for (uint32_t i = 1; i < count; i++) /* meanwhile all give their memory back */
        pthread_join(threads->members[i].handle, NULL);
    memory_give(threads->memory, threads, threads->bytes);
}
