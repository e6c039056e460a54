/*
 * sync.h: every word that two workers share is read and written through here, and nothing else is
 * shared while they run. Concurrency Kit's operations; under ThreadSanitizer, which cannot see
 * through inline assembly, the compiler's.
 *
 * Built with SYNC_EXPLORE, each access is a step between which the schedule explorer (test/stress)
 * decides which worker continues: once before it, and once after it, when its effect is visible.
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
/* The explorer's. `waits`: the caller can do nothing until another worker has continued. */
void sync_step(bool waits);
struct sync_u64;
/* The caller sleeps until the word has changed, or wakes for no reason. */
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

/* An operation by one of the two libraries. */
#ifdef SYNC_BUILTINS
#define SYNC_EITHER(kit, compiler) compiler
#else
#define SYNC_EITHER(kit, compiler) kit
#endif

/* Concurrency Kit's fences before and after an operation of each order. The compiler's operations
 * take their order as an argument. */
#define SYNC_BEFORE_RELAXED (void)0
#define SYNC_AFTER_RELAXED  (void)0
#define SYNC_BEFORE_ACQUIRE (void)0
#define SYNC_AFTER_ACQUIRE  ck_pr_fence_acquire()
#define SYNC_BEFORE_RELEASE ck_pr_fence_release()
#define SYNC_AFTER_RELEASE  (void)0
#define SYNC_BEFORE_SEQ_CST ck_pr_fence_release()
#define SYNC_AFTER_SEQ_CST  ck_pr_fence_acquire()

#define SYNC_RESULT(type, order, kit, compiler)                                                    \
    enum { ORDER = __ATOMIC_##order };                                                             \
    SYNC_EITHER(SYNC_BEFORE_##order, (void)0);                                                     \
    type const result = SYNC_EITHER(kit, compiler);                                                \
    SYNC_EITHER(SYNC_AFTER_##order, (void)0)

/* Defines a function that is one operation, and one step. */
#define SYNC_OPERATION(type, name, parameters, order, kit, compiler)                               \
    static inline type name parameters                                                             \
    {                                                                                              \
        sync_step(false);                                                                          \
        SYNC_RESULT(type, order, kit, compiler);                                                   \
        sync_step(false);                                                                          \
        return result;                                                                             \
    }

/* Defines one operation of several that are one step together. */
#define SYNC_PART(type, name, parameters, order, kit, compiler)                                    \
    static inline type name parameters                                                             \
    {                                                                                              \
        SYNC_RESULT(type, order, kit, compiler);                                                   \
        return result;                                                                             \
    }

/* ---- the table: result, name, parameters, order; by Concurrency Kit; by the compiler --------- */

SYNC_OPERATION(uint64_t, sync_load_acquire, (const struct sync_u64 *shared), ACQUIRE,
               ck_pr_load_64(&shared->word), __atomic_load_n(&shared->word, ORDER))

/* Both stores return what they have stored. */
SYNC_OPERATION(uint64_t, sync_store_release, (struct sync_u64 *const shared, uint64_t value),
               RELEASE, (ck_pr_store_64(&shared->word, value), value),
               (__atomic_store_n(&shared->word, value, ORDER), value))

SYNC_OPERATION(void *, sync_load_pointer_acquire, (const struct sync_pointer *shared), ACQUIRE,
               ck_pr_load_ptr(&shared->word), __atomic_load_n(&shared->word, ORDER))

SYNC_OPERATION(void *, sync_store_pointer_release, (struct sync_pointer *const shared, void *value),
               RELEASE, (ck_pr_store_ptr(&shared->word, value), value),
               (__atomic_store_n(&shared->word, value, ORDER), value))

/* Adds to a shared word and returns its value before. Orders nothing: for accounts, in which each
 * change stands for itself. */
SYNC_OPERATION(uint64_t, sync_add_relaxed, (struct sync_u64 *const shared, uint64_t value), RELAXED,
               ck_pr_faa_64(&shared->word, value), __atomic_fetch_add(&shared->word, value, ORDER))

/* The same. Orders everything. */
SYNC_OPERATION(uint64_t, sync_add_ordered, (struct sync_u64 *const shared, uint64_t value), SEQ_CST,
               ck_pr_faa_64(&shared->word, value), __atomic_fetch_add(&shared->word, value, ORDER))

/* Sets a word that is 0; false if it was not. Orders everything. */
SYNC_OPERATION(bool, sync_claim, (struct sync_u64 *const shared, uint64_t value), SEQ_CST,
               ck_pr_cas_64(&shared->word, 0, value),
               __atomic_compare_exchange_n(&shared->word, &(uint64_t){0}, value, false, ORDER,
                                           ORDER))

/* Takes what a pointer points at, and leaves NULL. */
SYNC_OPERATION(void *, sync_take_pointer, (struct sync_pointer *const shared), ACQUIRE,
               ck_pr_fas_ptr(&shared->word, NULL), __atomic_exchange_n(&shared->word, NULL, ORDER))

/* The parts of the loops below. A replacement fails, and sets `now`, if the word is not `now`. */
SYNC_PART(uint64_t, sync_part_load, (const struct sync_u64 *shared), RELAXED,
          ck_pr_load_64(&shared->word), __atomic_load_n(&shared->word, ORDER))
SYNC_PART(bool, sync_part_replace, (struct sync_u64 *const shared, uint64_t *now, uint64_t value),
          RELAXED, ck_pr_cas_64_value(&shared->word, *now, value, now),
          __atomic_compare_exchange_n(&shared->word, now, value, true, ORDER, ORDER))
SYNC_PART(void *, sync_part_load_pointer, (const struct sync_pointer *shared), RELAXED,
          ck_pr_load_ptr(&shared->word), __atomic_load_n(&shared->word, ORDER))
SYNC_PART(bool, sync_part_replace_pointer,
          (struct sync_pointer *const shared, void *now, void *value), RELEASE,
          ck_pr_cas_ptr(&shared->word, now, value),
          __atomic_compare_exchange_n(&shared->word, &now, value, false, ORDER, __ATOMIC_RELAXED))

/* ---- made of them --------------------------------------------------------------------------- */

/* Lowers a shared word that holds a time to `time_ps`, if it is greater. Orders nothing. */
static inline void sync_lower(struct sync_u64 *shared, int64_t time_ps)
{
    sync_step(false);
    uint64_t now = sync_part_load(shared);
    while ((int64_t)now > time_ps && !sync_part_replace(shared, &now, (uint64_t)time_ps))
        ;
    sync_step(false);
}

/* Raises it to `time_ps`, if it is less. Orders nothing. */
static inline void sync_raise(struct sync_u64 *shared, int64_t time_ps)
{
    sync_step(false);
    uint64_t now = sync_part_load(shared);
    while ((int64_t)now < time_ps && !sync_part_replace(shared, &now, (uint64_t)time_ps))
        ;
    sync_step(false);
}

/* A stack to which any worker adds and from which one worker takes all. The first member of its
 * items. */
struct sync_node {
    struct sync_node *next;
};

/* Adds an item. A release: the taker sees everything that the caller wrote. */
static inline void sync_push(struct sync_pointer *stack, struct sync_node *node)
{
    sync_step(false);
    do
        node->next = sync_part_load_pointer(stack);
    while (!sync_part_replace_pointer(stack, node->next, node));
    sync_step(false);
}

/* Takes all items, the latest first; NULL: there are none. An acquire: pairs with sync_push(). */
static inline struct sync_node *sync_take_all(struct sync_pointer *stack)
{
    return sync_load_pointer_acquire(stack) == NULL ? NULL : sync_take_pointer(stack);
}

/* Orders all earlier accesses before all later ones, stores before loads included. */
static inline void sync_fence(void)
{
#ifdef SYNC_EXPLORE
    sync_step(false); /* one thread: nothing to order */
#else
    uint64_t own = 0; /* ThreadSanitizer knows no fences; an exchange is one on the processor */
    (void)own;
    SYNC_EITHER(ck_pr_fence_memory(), (void)__atomic_exchange_n(&own, 1, __ATOMIC_SEQ_CST));
#endif
}

/* A moment of waiting. It leaves the core to the hardware thread that shares it, if there is one.
 */
static inline void sync_pause(void)
{
#ifdef SYNC_EXPLORE
    sync_step(true);
#else
    SYNC_EITHER(ck_pr_stall(), __atomic_signal_fence(__ATOMIC_SEQ_CST));
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

/* Sleeps while the word is `value`, until sync_wake(), or for this long; may wake for no reason. */
void sync_sleep(struct sync_u64 *shared, uint64_t value, long ns_max);
/* Sleeps for this long; nothing wakes it, but it may wake for no reason. */
void sync_doze(long ns_max);
/* Sets the word to 0 and wakes the thread that sleeps on it. */
void sync_wake(struct sync_u64 *shared);

#endif
