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
/* The same, of which a small part will be used: small pages, which cost nothing until they are
 * touched, but for those that pages_wish_huge() names. */
void *pages_map_sparse(size_t bytes);
/* `start` is at a huge page: the whole huge pages from there on within so many bytes should be huge
 * ones. */
void pages_wish_huge(void *start, size_t bytes);
/* Gives back the memory that pages_map(bytes) or pages_map_sparse(bytes) has returned. */
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
