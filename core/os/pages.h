/*
 * pages.h: memory straight from the system, in whole pages.
 */
#ifndef CORE_PAGES_H
#define CORE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

enum { PAGES_HUGE_BYTES = 2 << 20 };

/* Zeroed pages that begin at a huge page, if possible made of huge pages; NULL: none are left. */
void *pages_map(size_t bytes);
/* Addresses alone, from a huge page on; NULL: the system grants no more. They count against a limit
 * on addresses (RLIMIT_AS), but not as memory, not even where the system grants no more memory than
 * there is (vm.overcommit_memory 2). */
void *pages_map_sparse(size_t bytes);
/* Zeroed pages at a part that begins at a huge page; huge pages are used where a whole one is in
 * the part. False: none are left. */
bool pages_open(void *start, size_t bytes);
/* Gives back the pages of pages_map(bytes), or the addresses of pages_map_sparse(bytes). */
void pages_unmap(void *start, size_t bytes);
/* Gives back the memory behind the whole pages of a part, whose contents are lost. The addresses
 * stay. Threads may do this to several parts at the same time. */
void pages_drop(void *start, size_t bytes);

/* Zeroed small pages for stacks, which cost nothing until they are touched; NULL with errno: none
 * are left. Given back by pages_release(). */
void *pages_reserve(size_t bytes);
void pages_release(void *start, size_t bytes);
/* Makes a part of them inaccessible. False with errno: the system grants no more. */
bool pages_close(void *start, size_t bytes);

#endif
