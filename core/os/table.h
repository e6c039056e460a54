/*
 * table.h: a hash table from 64-bit keys to values of one size, with linear probing.
 *
 * A key is a number that is not 0, or a pointer (table_key()). At most half of the places are
 * taken. Removing an entry moves later ones up (backward shift), so there are no tombstones and a
 * search ends at the first free place. Adding and removing move values: a pointer to a value is
 * valid until the next change of the table.
 *
 * I-TABLE-1: no free place lies between the place where a key's search begins and the key.
 *
 * Owned by one thread at a time.
 *
 *   struct table table;
 *   table_init(&table, memory, sizeof(struct value));   memory NULL: not counted in an account
 *   if (!table_reserve(&table)) ...                     out of memory
 *   struct value *value = table_add(&table, key);       the key must not be there yet
 *   struct value *value = table_find(&table, key);      NULL: it is not there
 *   table_remove(&table, value);                        `value` as table_find() gave it
 *   table_free(&table);
 */
#ifndef CORE_TABLE_H
#define CORE_TABLE_H

#include "core/os/memory.h"

struct table {
    struct memory *memory; /* NULL: blocks come from calloc() and are not counted */
    uint64_t *places;      /* [capacity * place_words]: a key, then its value; key 0: free */
    size_t capacity;       /* 0, or a power of two */
    size_t count;
    size_t place_words;
};

static inline uint64_t table_key(const void *pointer) { return (uintptr_t)pointer; }

void table_init(struct table *table, struct memory *memory, size_t value_bytes);
void table_free(struct table *table);

/* Makes room for one more key. False: out of memory, and nothing has changed. */
bool table_reserve(struct table *table);
/* Adds a key, for which there is room and which is not there yet. Returns its value, not set. */
void *table_add(struct table *table, uint64_t key);
/* The key's value. NULL: the key is not there. */
void *table_find(const struct table *table, uint64_t key);
/* Removes the key of a value that table_find() gave. */
void table_remove(struct table *table, void *value);

/* The first key in the places from *place on; sets *place to its place. 0: there is none. A loop
 * that removes the key that it was given looks at the same place again. */
uint64_t table_next(const struct table *table, size_t *place);

#endif
