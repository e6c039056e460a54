/*
 * sync.c: the parts of sync.h that need the system: sleeping on a shared word, by Linux' futex on
 * its low half, and a fence on all threads.
 */
#define _GNU_SOURCE
#include "core/os/sync.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/os/cpu.h" /* a word's low half comes first */

enum { TIME_SLICE_NS = 1000000 };

#ifdef SYNC_EXPLORE
uint64_t sync_yield_timed(void)
{
    sync_step(true);
    return 0;
}
#else
static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t sync_yield_timed(void)
{
    const uint64_t start_ns = now_ns();
    sync_yield();
    const uint64_t away_ns = now_ns() - start_ns;
    return away_ns < TIME_SLICE_NS ? 0 : away_ns;
}
#endif

void sync_sleep(struct sync_u64 *shared, uint64_t value, long ns_max)
{
#ifdef SYNC_EXPLORE
    (void)ns_max;
    sync_step_asleep(shared, value);
#else
    const struct timespec most = {.tv_nsec = ns_max};
    (void)syscall(SYS_futex, &shared->word, FUTEX_WAIT_PRIVATE, (uint32_t)value, &most, NULL, 0);
#endif
}

void sync_doze(long ns_max)
{
#ifdef SYNC_EXPLORE
    (void)ns_max;
    sync_step(true);
#else
    struct sync_u64 unused = {1};
    sync_sleep(&unused, 1, ns_max);
#endif
}

void sync_wake(struct sync_u64 *shared)
{
    sync_store_release(shared, 0); /* the sleeper reads it in the kernel, under the futex' lock */
#ifndef SYNC_EXPLORE
    (void)syscall(SYS_futex, &shared->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
#endif
}

#if defined(SYNC_BUILTINS) || defined(SYNC_EXPLORE)
/* ThreadSanitizer does not know the call, and the explorer has one thread. */
bool sync_can_fence_all(void) { return false; }
#else
bool sync_can_fence_all(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}
#endif

void sync_fence_all(void) { (void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }
