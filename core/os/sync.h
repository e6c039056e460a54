/*
 * sync.h: every word that two workers share is read and written through here, and nothing else is
 * shared while they run. Concurrency Kit's loads, stores and fences; under ThreadSanitizer, which
 * cannot see through inline assembly, the compiler's.
 *
 * Built with SYNC_EXPLORE, each access is a step between which the schedule explorer (test/stress)
 * decides which worker goes on: once before it, and once after it, when its effect is visible.
 *
 * A release orders all earlier accesses of its thread before the store; an acquire orders the load
 * before all later ones. Neither orders a store before a later load.
 */
#ifndef CORE_SYNC_H
#define CORE_SYNC_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__SANITIZE_THREAD__)
#define SYNC_BUILTINS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SYNC_BUILTINS 1
#endif
#endif

#ifndef SYNC_BUILTINS
#include <ck_pr.h>
#endif

#ifdef SYNC_EXPLORE
/* The explorer's. `waits`: the caller can do nothing until another worker has gone on. */
void sync_step(bool waits);
struct sync_u64;
/* The caller sleeps until the word is another one, or wakes for no reason. */
void sync_step_asleep(const struct sync_u64 *shared, uint64_t value);
#else
static inline void sync_step(bool waits) { (void)waits; }
#endif

/* A shared word. Only these functions touch it. */
struct sync_u64 {
    uint64_t word;
};
struct sync_pointer {
    void *word;
};

static inline uint64_t sync_load_acquire(const struct sync_u64 *shared)
{
    sync_step(false);
#ifdef SYNC_BUILTINS
    const uint64_t value = __atomic_load_n(&shared->word, __ATOMIC_ACQUIRE);
#else
    const uint64_t value = ck_pr_load_64(&shared->word);
    ck_pr_fence_acquire();
#endif
    sync_step(false);
    return value;
}

static inline void sync_store_release(struct sync_u64 *shared, uint64_t value)
{
    sync_step(false);
#ifdef SYNC_BUILTINS
    __atomic_store_n(&shared->word, value, __ATOMIC_RELEASE);
#else
    ck_pr_fence_release();
    ck_pr_store_64(&shared->word, value);
#endif
    sync_step(false);
}

static inline void *sync_load_pointer_acquire(const struct sync_pointer *shared)
{
    sync_step(false);
#ifdef SYNC_BUILTINS
    void *const value = __atomic_load_n(&shared->word, __ATOMIC_ACQUIRE);
#else
    void *const value = ck_pr_load_ptr(&shared->word);
    ck_pr_fence_acquire();
#endif
    sync_step(false);
    return value;
}

static inline void sync_store_pointer_release(struct sync_pointer *shared, void *value)
{
    sync_step(false);
#ifdef SYNC_BUILTINS
    __atomic_store_n(&shared->word, value, __ATOMIC_RELEASE);
#else
    ck_pr_fence_release();
    ck_pr_store_ptr(&shared->word, value);
#endif
    sync_step(false);
}

/* Adds to a shared word and returns its value before. Orders nothing: for accounts, in which each
 * change stands for itself. */
static inline uint64_t sync_add_relaxed(struct sync_u64 *shared, uint64_t value)
{
    sync_step(false);
#ifdef SYNC_BUILTINS
    const uint64_t before = __atomic_fetch_add(&shared->word, value, __ATOMIC_RELAXED);
#else
    const uint64_t before = ck_pr_faa_64(&shared->word, value);
#endif
    sync_step(false);
    return before;
}

/* Lowers a shared word that holds a time to `time_ps`, if it is greater. Orders nothing. */
static inline void sync_lower(struct sync_u64 *shared, int64_t time_ps)
{
    sync_step(false);
#ifdef SYNC_BUILTINS
    uint64_t now = __atomic_load_n(&shared->word, __ATOMIC_RELAXED);
    while ((int64_t)now > time_ps &&
           !__atomic_compare_exchange_n(&shared->word, &now, (uint64_t)time_ps, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
#else
    uint64_t now = ck_pr_load_64(&shared->word);
    while ((int64_t)now > time_ps &&
           !ck_pr_cas_64_value(&shared->word, now, (uint64_t)time_ps, &now))
        ;
#endif
    sync_step(false);
}

/* Raises it to `time_ps`, if it is less. Orders nothing. */
static inline void sync_raise(struct sync_u64 *shared, int64_t time_ps)
{
    sync_step(false);
#ifdef SYNC_BUILTINS
    uint64_t now = __atomic_load_n(&shared->word, __ATOMIC_RELAXED);
    while ((int64_t)now < time_ps &&
           !__atomic_compare_exchange_n(&shared->word, &now, (uint64_t)time_ps, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
#else
    uint64_t now = ck_pr_load_64(&shared->word);
    while ((int64_t)now < time_ps &&
           !ck_pr_cas_64_value(&shared->word, now, (uint64_t)time_ps, &now))
        ;
#endif
    sync_step(false);
}

/* Sets a word that is 0; false if it was not. Orders everything. */
static inline bool sync_claim(struct sync_u64 *shared, uint64_t value)
{
    sync_step(false);
#ifdef SYNC_BUILTINS
    uint64_t expected = 0;
    const bool claimed = __atomic_compare_exchange_n(&shared->word, &expected, value, false,
                                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
#else
    const bool claimed = ck_pr_cas_64(&shared->word, 0, value);
#endif
    sync_step(false);
    return claimed;
}

/* Adds to a shared word and returns its value before. Orders everything. */
static inline uint64_t sync_add_ordered(struct sync_u64 *shared, uint64_t value)
{
    sync_step(false);
#ifdef SYNC_BUILTINS
    const uint64_t before = __atomic_fetch_add(&shared->word, value, __ATOMIC_SEQ_CST);
#else
    ck_pr_fence_release();
    const uint64_t before = ck_pr_faa_64(&shared->word, value);
    ck_pr_fence_acquire();
#endif
    sync_step(false);
    return before;
}

/* A stack to which any worker adds and from which one worker takes all. The first member of its
 * items. */
struct sync_node {
    struct sync_node *next;
};

/* Adds an item. A release: the taker sees everything that the caller wrote. */
static inline void sync_push(struct sync_pointer *stack, struct sync_node *node)
{
    bool added = false;
    sync_step(false);
    while (!added) {
#ifdef SYNC_BUILTINS
        void *first = __atomic_load_n(&stack->word, __ATOMIC_RELAXED);
        node->next = first;
        added = __atomic_compare_exchange_n(&stack->word, &first, node, false, __ATOMIC_RELEASE,
                                            __ATOMIC_RELAXED);
#else
        void *const first = ck_pr_load_ptr(&stack->word);
        node->next = first;
        ck_pr_fence_release();
        added = ck_pr_cas_ptr(&stack->word, first, node);
#endif
    }
    sync_step(false);
}

/* Takes all items, the latest first; NULL: there are none. An acquire: pairs with sync_push(). */
static inline struct sync_node *sync_take_all(struct sync_pointer *stack)
{
    if (sync_load_pointer_acquire(stack) == NULL)
        return NULL;
    sync_step(false);
#ifdef SYNC_BUILTINS
    void *const first = __atomic_exchange_n(&stack->word, NULL, __ATOMIC_ACQUIRE);
#else
    void *const first = ck_pr_fas_ptr(&stack->word, NULL);
    ck_pr_fence_acquire();
#endif
    sync_step(false);
    return first;
}

/* A moment of waiting. It leaves the core to the hardware thread that shares it, if there is one.
 */
static inline void sync_pause(void)
{
#if defined(SYNC_EXPLORE)
    sync_step(true);
#elif defined(SYNC_BUILTINS)
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
#else
    ck_pr_stall();
#endif
}

/* Gives the core to another thread, if one is ready. */
static inline void sync_yield(void)
{
#ifdef SYNC_EXPLORE
    sync_step(true);
#else
    sched_yield();
#endif
}

/* The same. Returns for how many ns the core was away; 0: for less than another program's time
 * slice. Beside busy programs each such call may take that long. */
uint64_t sync_yield_timed(void);

/* Orders all earlier accesses before all later ones, stores before loads included. */
static inline void sync_fence(void)
{
#if defined(SYNC_BUILTINS)
    uint64_t own = 0; /* ThreadSanitizer knows no fences; an exchange is one on the processor */
    (void)__atomic_exchange_n(&own, 1, __ATOMIC_SEQ_CST);
#elif defined(SYNC_EXPLORE)
    sync_step(false); /* one thread: nothing to order */
#else
    ck_pr_fence_memory();
#endif
}

/*
 * A full fence for two sides, of which one comes here often and the other rarely. The frequent side
 * calls sync_fence_often(), the rare one sync_fence_all(), which makes all threads of the process
 * order their accesses (membarrier(2)); then the frequent side needs no more than that the compiler
 * keeps the order. If the system has no such call, sync_can_fence_all() is false, and both sides
 * need sync_fence(). The first call registers the process: at once if it has one thread, in some
 * milliseconds if it has several.
 */
bool sync_can_fence_all(void);
void sync_fence_all(void);
static inline void sync_fence_often(bool can_fence_all)
{
    if (can_fence_all)
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    else
        sync_fence();
}

/* Sleeps while the word is `value`, until sync_wake(), or for so long; may wake for no reason. */
void sync_sleep(struct sync_u64 *shared, uint64_t value, long ns_max);
/* Sleeps for so long; nothing wakes it, but it may wake for no reason. */
void sync_doze(long ns_max);
/* Sets the word to 0 and wakes the thread that sleeps on it. */
void sync_wake(struct sync_u64 *shared);

#endif
