/*
 * fault_memory.c: the functions of fault_shim.so that give memory. Calls before main() get early
 * memory, which never fails. Any thread.
 */
#define _GNU_SOURCE
#include "test/faults/fault_calls.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { EARLY_BYTES = 8 << 20 };

/* Memory for all that allocates before main(): allocators may not be ready there, as that of
 * AddressSanitizer, which looks up names itself. It is never given back. */
static char early[EARLY_BYTES] __attribute__((aligned(16)));
static _Atomic(size_t) early_used;

static void *early_memory(size_t bytes)
{
    const size_t at = atomic_fetch_add(&early_used, (bytes + 15) / 16 * 16);
    if (at + bytes > EARLY_BYTES)
        abort();
    return early + at;
}

static bool is_early(const void *memory)
{
    return (const char *)memory >= early && (const char *)memory < early + EARLY_BYTES;
}

PUBLIC void *malloc(size_t bytes)
{
    if (!fault_has_begun || fault_looking)
        return early_memory(bytes);
    FAIL_IF(FAULT_MALLOC, ENOMEM, NULL)
    return REAL(malloc)(bytes);
}

PUBLIC void *calloc(size_t count, size_t bytes)
{
    if (!fault_has_begun || fault_looking)
        return early_memory(count * bytes);
    FAIL_IF(FAULT_MALLOC, ENOMEM, NULL)
    return REAL(calloc)(count, bytes);
}

PUBLIC void *realloc(void *memory, size_t bytes)
{
    if (fault_has_begun && !fault_looking && !is_early(memory)) {
        FAIL_IF(FAULT_MALLOC, ENOMEM, NULL)
        return REAL(realloc)(memory, bytes);
    }
    void *const moved = malloc(bytes);
    if (moved != NULL && memory != NULL) {
        const size_t rest = (size_t)(early + EARLY_BYTES - (char *)memory);
        memcpy(moved, memory, bytes < rest ? bytes : rest);
    }
    return moved;
}

PUBLIC void free(void *memory)
{
    if (memory != NULL && !is_early(memory))
        REAL(free)(memory);
}

PUBLIC void *aligned_alloc(size_t alignment, size_t bytes)
{
    FAIL_IF(FAULT_MALLOC, ENOMEM, NULL)
    return REAL(aligned_alloc)(alignment, bytes);
}

PUBLIC int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    FAIL_IF(FAULT_MALLOC, ENOMEM, ENOMEM)
    return REAL(posix_memalign)(memory, alignment, bytes);
}

PUBLIC void *reallocarray(void *memory, size_t count, size_t bytes)
{
    FAIL_IF(FAULT_MALLOC, ENOMEM, NULL)
    return REAL(reallocarray)(memory, count, bytes);
}

PUBLIC char *strdup(const char *text)
{
    FAIL_IF(FAULT_MALLOC, ENOMEM, NULL)
    return UNCOUNTED(REAL(strdup)(text));
}

PUBLIC char *strndup(const char *text, size_t bytes)
{
    FAIL_IF(FAULT_MALLOC, ENOMEM, NULL)
    return UNCOUNTED(REAL(strndup)(text, bytes));
}

PUBLIC void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t from)
{
    FAIL_IF(FAULT_MMAP, ENOMEM, MAP_FAILED)
    return REAL(mmap)(at, bytes, protection, flags, file, from);
}

PUBLIC int mprotect(void *at, size_t bytes, int protection)
{
    FAIL_IF(FAULT_MMAP, ENOMEM, -1)
    return REAL(mprotect)(at, bytes, protection);
}

/* LeakSanitizer asks for leaks that it is not to report: Judy loses a part of an array where memory
 * runs out, and nobody else can give it back. */
PUBLIC const char *__lsan_default_suppressions(void);
PUBLIC const char *__lsan_default_suppressions(void) { return "leak:JudySLIns\n"; }
