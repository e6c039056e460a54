/*
 * failing_memory.c: see failing_memory.h. Includes core/os/memory.c and core/os/pages.c with
 * the allocator's functions replaced, so that their failures reach the engine, and the engine's own
 * way out runs.
 */
#include "test/stress/failing_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* File-scope, because the functions that are replaced have no argument to find it by. */
static struct {
    uint64_t count, fails;
    bool for_good;
    uint64_t blocks, mapped;
} failing;

static bool fails(void)
{
    failing.count++;
    return failing.fails > 0 &&
           (failing.for_good ? failing.count >= failing.fails : failing.count == failing.fails);
}

static int failing_posix_memalign(void **block, size_t align, size_t bytes)
{
    if (fails())
        return ENOMEM;
    const int result = posix_memalign(block, align, bytes);
    failing.blocks += result == 0;
    return result;
}

static void failing_free(void *block)
{
    failing.blocks -= block != NULL;
    free(block);
}

static void *failing_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (fails())
        return MAP_FAILED;
    void *const start = mmap(at, bytes, protection, flags, file, offset);
    failing.mapped += start == MAP_FAILED ? 0 : bytes;
    return start;
}

static int failing_munmap(void *start, size_t bytes)
{
    failing.mapped -= bytes;
    return munmap(start, bytes);
}

static int failing_mprotect(void *start, size_t bytes, int protection)
{
    if (fails())
        return -1;
    return mprotect(start, bytes, protection);
}

#define posix_memalign failing_posix_memalign
#define free           failing_free
#define mmap           failing_mmap
#define munmap         failing_munmap
#define mprotect       failing_mprotect
#include "core/os/memory.c"
#include "core/os/pages.c"

void failing_memory_arm(uint64_t n, bool for_good)
{
    failing.count = 0;
    failing.fails = n;
    failing.for_good = for_good;
}

uint64_t failing_memory_count(void) { return failing.count; }
uint64_t failing_memory_blocks(void) { return failing.blocks; }
uint64_t failing_memory_mapped(void) { return failing.mapped; }
