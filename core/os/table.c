/*
 * table.c: linear probing with backward shift (table.h).
 */
#include "core/os/table.h"

#include <stdlib.h>
#include <string.h>

#include "core/invariant.h"

#ifndef ARRAYS_BEGIN_AT
enum { TABLE_CAPACITY_MIN = 256 };
#else /* as in memory.c; a power of 2 with a free place */
enum { TABLE_CAPACITY_MIN = 4 * ARRAYS_BEGIN_AT };
#endif
enum { WORD_BYTES = sizeof(uint64_t) };

void table_init(struct table *table, struct memory *memory, size_t value_bytes)
{
    *table = (struct table){
        .memory = memory,
        .place_words = 1 + (value_bytes + WORD_BYTES - 1) / WORD_BYTES,
    };
}

static size_t places_bytes(const struct table *table)
{
    return table->capacity * table->place_words * WORD_BYTES;
}

void table_free(struct table *table)
{
    if (table->memory == NULL)
        free(table->places);
    else
        memory_give(table->memory, table->places, places_bytes(table));
    table->places = NULL;
    table->capacity = table->count = 0;
}

static uint64_t *place_at(const struct table *table, size_t place)
{
    return table->places + place * table->place_words;
}

/* The place where the search for a key begins. */
static size_t place_first(const struct table *table, uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (table->capacity - 1);
}

/* The key's place, or the free one where it belongs. */
static uint64_t *place_of(const struct table *table, uint64_t key)
{
    size_t place = place_first(table, key);
    while (*place_at(table, place) != 0 && *place_at(table, place) != key)
        place = (place + 1) & (table->capacity - 1);
    return place_at(table, place);
}

bool table_reserve(struct table *table)
{
    if (2 * table->count < table->capacity)
        return true;
    struct table wider = *table;
    wider.capacity = table->capacity == 0 ? TABLE_CAPACITY_MIN : 2 * table->capacity;
    wider.places = table->memory == NULL ? calloc(wider.capacity, table->place_words * WORD_BYTES)
                                         : memory_take(table->memory, places_bytes(&wider));
    if (wider.places == NULL)
        return false;
    for (size_t place = 0; place < table->capacity; place++) {
        const uint64_t *const from = place_at(table, place);
        if (*from != 0)
            memcpy(place_of(&wider, *from), from, table->place_words * WORD_BYTES);
    }
    table_free(table);
    *table = wider;
    return true;
}

void *table_add(struct table *table, uint64_t key)
{
    uint64_t *const place = place_of(table, key);
    CW_INVARIANT("I-TABLE-1", *place == 0 && 2 * table->count < table->capacity,
                 "key %llx, %zu of %zu places taken", (unsigned long long)key, table->count,
                 table->capacity);
    *place = key;
    table->count++;
    return place + 1;
}

void *table_find(const struct table *table, uint64_t key)
{
    if (table->count == 0)
        return NULL;
    uint64_t *const place = place_of(table, key);
    return *place == 0 ? NULL : place + 1;
}

/* Frees the key's place. A later entry moves there if its own search passes that place; then
 * the place that it leaves is the one to fill. */
void table_remove(struct table *table, void *value)
{
    const size_t mask = table->capacity - 1;
    size_t gap = (size_t)((uint64_t *)value - 1 - table->places) / table->place_words;
    for (size_t place = (gap + 1) & mask; *place_at(table, place) != 0;
         place = (place + 1) & mask) {
        const size_t first = place_first(table, *place_at(table, place));
        if (((place - first) & mask) < ((place - gap) & mask))
            continue; /* its search begins after the gap */
        memcpy(place_at(table, gap), place_at(table, place), table->place_words * WORD_BYTES);
        gap = place;
    }
    *place_at(table, gap) = 0;
    table->count--;
}

uint64_t table_next(const struct table *table, size_t *place)
{
    for (; *place < table->capacity; (*place)++)
        if (*place_at(table, *place) != 0)
            return *place_at(table, *place);
    return 0;
}
