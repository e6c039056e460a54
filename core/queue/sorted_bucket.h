/*
 * sorted_bucket.h: the pending set's current bucket, as an array in the total order.
 *
 * The array knows exactly which events come next, so the worker can fetch them from memory some
 * events ahead, which no heap can do: worth a factor of 2 to 3 once events outgrow the cache.
 */
#ifndef CORE_SORTED_BUCKET_H
#define CORE_SORTED_BUCKET_H

#include "core/queue/entry_chain.h"

enum {
    SORTED_AHEAD = 8,                /* the entry this far after the front may be read, always */
    SORTED_SLACK = SORTED_AHEAD + 1, /* so, the front being `last`, this many come after `last` */
};

struct sorted_bucket {
    struct entry *front, *last; /* the entries that are left: front <= ... < last */
    struct entry *entries;      /* the array; one guard before it, SORTED_SLACK after `last` */
    struct entry *scratch;      /* as large; NULL until the first long run of near-equal keys */
    size_t capacity;
    size_t distinct; /* times in the bucket that was sorted last */
    struct memory *memory;
    struct cw_event unused;          /* the entries after `last` point to it */
    struct entry idle[SORTED_SLACK]; /* the array before the first bucket */
};

void sorted_bucket_init(struct sorted_bucket *sorted, struct memory *memory);
void sorted_bucket_free(struct sorted_bucket *sorted);

/*
 * Sorts a chain that is not empty into the array, which has run empty, and takes its chunks.
 * Returns how many entries there are, 0: out of memory, and nothing is lost.
 */
size_t sorted_bucket_fill(struct sorted_bucket *sorted, struct chunk_pool *pool,
                          struct entry_chain *chain);

#endif
