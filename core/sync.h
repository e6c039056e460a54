/*
 * sync.h: every word that two workers share is read and written through here, and nothing else is
 * shared while they run. Concurrency Kit's loads, stores and fences; under ThreadSanitizer, which
 * cannot see through inline assembly, the compiler's.
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

/* A shared word. Only these functions touch it. */
struct sync_u64 {
    uint64_t word;
};
struct sync_pointer {
    void *word;
};

static inline uint64_t sync_load_acquire(const struct sync_u64 *shared)
{
#ifdef SYNC_BUILTINS
    return __atomic_load_n(&shared->word, __ATOMIC_ACQUIRE);
#else
    const uint64_t value = ck_pr_load_64(&shared->word);
    ck_pr_fence_acquire();
    return value;
#endif
}

static inline void sync_store_release(struct sync_u64 *shared, uint64_t value)
{
#ifdef SYNC_BUILTINS
    __atomic_store_n(&shared->word, value, __ATOMIC_RELEASE);
#else
    ck_pr_fence_release();
    ck_pr_store_64(&shared->word, value);
#endif
}

static inline void *sync_load_pointer_acquire(const struct sync_pointer *shared)
{
#ifdef SYNC_BUILTINS
    return __atomic_load_n(&shared->word, __ATOMIC_ACQUIRE);
#else
    void *const value = ck_pr_load_ptr(&shared->word);
    ck_pr_fence_acquire();
    return value;
#endif
}

static inline void sync_store_pointer_release(struct sync_pointer *shared, void *value)
{
#ifdef SYNC_BUILTINS
    __atomic_store_n(&shared->word, value, __ATOMIC_RELEASE);
#else
    ck_pr_fence_release();
    ck_pr_store_ptr(&shared->word, value);
#endif
}

/* Adds to a shared word and returns what it was; orders nothing: for accounts, of which each
 * change stands for itself. */
static inline uint64_t sync_add_relaxed(struct sync_u64 *shared, uint64_t value)
{
#ifdef SYNC_BUILTINS
    return __atomic_fetch_add(&shared->word, value, __ATOMIC_RELAXED);
#else
    return ck_pr_faa_64(&shared->word, value);
#endif
}

/* Sets a word that is 0; false if it was not. Orders everything. */
static inline bool sync_claim(struct sync_u64 *shared, uint64_t value)
{
#ifdef SYNC_BUILTINS
    uint64_t expected = 0;
    return __atomic_compare_exchange_n(&shared->word, &expected, value, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
#else
    return ck_pr_cas_64(&shared->word, 0, value);
#endif
}

/* One turn of waiting: spins at first, then gives the core away. */
static inline void sync_wait(unsigned *turns)
{
    enum { SPINS = 64 };
    if (++*turns < SPINS) {
#ifdef SYNC_BUILTINS
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
#else
        ck_pr_stall();
#endif
        return;
    }
    sched_yield();
}

#endif
