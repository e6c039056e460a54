/*
 * reference_heap.h: a binary heap of whole events, least first, by the total order as cw.h words
 * it. It shares nothing with the engine's pending set, so that tests may compare the two.
 */
#ifndef TEST_REFERENCE_HEAP_H
#define TEST_REFERENCE_HEAP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/cw.h"

static inline int compare_numbers(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

/* The total order as cw.h words it. */
static inline int compare_events(const struct cw_event *a, const struct cw_event *b)
{
    int order = a->time_ps < b->time_ps ? -1 : a->time_ps > b->time_ps;
    if (order == 0)
        order = compare_numbers(a->depth, b->depth);
    if (order == 0)
        order = compare_numbers(a->entity, b->entity);
    if (order == 0)
        order = compare_numbers(a->number, b->number);
    if (order == 0)
        order = compare_numbers(a->lp, b->lp);
    if (order == 0)
        order = compare_numbers(a->type, b->type);
    for (unsigned i = 0; order == 0 && i < CW_PAYLOAD_BYTES_MAX; i++) {
        if (i == a->payload_bytes || i == b->payload_bytes) {
            order = compare_numbers(a->payload_bytes, b->payload_bytes);
            break;
        }
        order = compare_numbers(a->payload[i], b->payload[i]);
    }
    return order;
}

struct reference {
    struct cw_event *events;
    size_t count, capacity;
};

static inline void reference_push(struct reference *reference, const struct cw_event *event)
{
    if (reference->count == reference->capacity) {
        reference->capacity = reference->capacity * 2 + 64;
        reference->events =
            realloc(reference->events, reference->capacity * sizeof *reference->events);
        assert_non_null(reference->events);
    }
    struct cw_event *const events = reference->events;
    size_t at = reference->count++;
    for (; at > 0 && compare_events(event, &events[(at - 1) / 2]) < 0; at = (at - 1) / 2)
        events[at] = events[(at - 1) / 2];
    events[at] = *event;
}

static inline struct cw_event reference_pop(struct reference *reference)
{
    struct cw_event *const events = reference->events;
    const struct cw_event least = events[0], last = events[--reference->count];
    size_t at = 0;
    for (size_t child = 1; child < reference->count; child = 2 * at + 1) {
        if (child + 1 < reference->count && compare_events(&events[child + 1], &events[child]) < 0)
            child++;
        if (compare_events(&events[child], &last) >= 0)
            break;
        events[at] = events[child];
        at = child;
    }
    events[at] = last;
    return least;
}

#endif
