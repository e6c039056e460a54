/*
 * threads.c: see threads.h. Started threads wait at a gate until it is known whether all of them
 * are there.
 */
#include "core/threads.h"

#include <pthread.h>

struct gate {
    pthread_mutex_t closed; /* held until `open` is decided, then only to read it */
    bool open;
    threads_main main;
    void *shared;
};

struct thread {
    pthread_t handle;
    struct gate *gate;
    uint32_t index;
};

static void *enter(void *argument)
{
    const struct thread *const thread = argument;
    struct gate *const gate = thread->gate;
    pthread_mutex_lock(&gate->closed);
    const bool open = gate->open;
    pthread_mutex_unlock(&gate->closed);
    if (open)
        gate->main(gate->shared, thread->index);
    return NULL;
}

uint32_t threads_run(struct memory *memory, uint32_t count, threads_main main, void *shared)
{
    struct thread *const threads = memory_take(memory, count * sizeof *threads);
    if (threads == NULL)
        return 0;
    struct gate gate = {.closed = PTHREAD_MUTEX_INITIALIZER, .main = main, .shared = shared};
    pthread_mutex_lock(&gate.closed);
    uint32_t started = 1;
    for (; started < count; started++) {
        threads[started].gate = &gate;
        threads[started].index = started;
        if (pthread_create(&threads[started].handle, NULL, enter, &threads[started]) != 0)
            break;
    }
    gate.open = started == count;
    pthread_mutex_unlock(&gate.closed);
    if (gate.open)
        main(shared, 0);
    for (uint32_t i = 1; i < started; i++)
        pthread_join(threads[i].handle, NULL);
    pthread_mutex_destroy(&gate.closed);
    memory_give(memory, threads, count * sizeof *threads);
    return started;
}
