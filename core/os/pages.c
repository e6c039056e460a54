/*
 * pages.c: mmap() and madvise() for large blocks (pages.h). That pages should be huge is a wish
 * that Linux takes. Addresses alone are pages without any access: Linux counts pages that may be
 * written, even where MAP_NORESERVE asks it not to (vm.overcommit_memory 2).
 */
#include "core/os/pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t whole_pages(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/* Maps a little more than needed and unmaps both ends, to start at a huge page. */
static uint8_t *map_aligned(size_t length, int protection, int flags)
{
    const size_t mapped = length + PAGES_HUGE_BYTES;
    uint8_t *const start = mmap(NULL, mapped, protection, flags, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    const size_t before =
        (PAGES_HUGE_BYTES - (uintptr_t)start % PAGES_HUGE_BYTES) % PAGES_HUGE_BYTES;
    if (before > 0)
        munmap(start, before);
    if (mapped - before > length)
        munmap(start + before + length, mapped - before - length);
    return start + before;
}

void *pages_map(size_t bytes)
{
    const size_t length = whole_pages(bytes);
    uint8_t *const start = map_aligned(length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
#ifdef MADV_HUGEPAGE
    /* A wish: without it all is slower, not wrong. */
    if (start != NULL)
        (void)madvise(start, length, MADV_HUGEPAGE);
#endif
    return start;
}

void *pages_map_sparse(size_t bytes)
{
    return map_aligned(whole_pages(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS);
}

bool pages_open(void *start, size_t bytes)
{
    const size_t length = whole_pages(bytes);
    if (mprotect(start, length, PROT_READ | PROT_WRITE) != 0)
        return false;
#ifdef MADV_HUGEPAGE
    (void)madvise(start, length, MADV_HUGEPAGE); /* a wish, as in pages_map() */
#endif
    return true;
}

void pages_unmap(void *start, size_t bytes) { munmap(start, whole_pages(bytes)); }

void pages_drop(void *start, size_t bytes)
{
#ifdef MADV_DONTNEED
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = ((uintptr_t)start + page - 1) / page * page;
    const uintptr_t end = ((uintptr_t)start + bytes) / page * page;
    if (end > first)
        (void)madvise((uint8_t *)start + (first - (uintptr_t)start), end - first, MADV_DONTNEED);
#else
    (void)start, (void)bytes;
#endif
}

void *pages_reserve(size_t bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef __linux__
    flags |= MAP_NORESERVE | MAP_STACK;
#endif
    void *const start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
#ifdef MADV_NOHUGEPAGE
    (void)madvise(start, bytes, MADV_NOHUGEPAGE); /* a stack touches a few pages of many */
#endif
    return start;
}

void pages_release(void *start, size_t bytes) { munmap(start, bytes); }

/* Linux 6.13 and later have guard pages that leave the mapping whole: a quarter of the time, and no
 * limit on their number. */
bool pages_close(void *start, size_t bytes)
{
#ifdef __linux__
    enum { GUARD_INSTALL = 102 };
    if (madvise(start, bytes, GUARD_INSTALL) == 0)
        return true;
#endif
    return mprotect(start, bytes, PROT_NONE) == 0;
}
