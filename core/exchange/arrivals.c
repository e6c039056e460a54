/*
 * arrivals.c: the ring, and the table for what stays in it too long (arrivals.h).
 *
 * I-ARRIVE-2, with L and A as there:
 *  1. The ring doubles only when it is full and more than a sixteenth of its items can be
 *     cancelled, or more than a quarter if memory is tight. So its capacity was less than 16 L, or
 *     4 L, and is then less than 32 L, or 8 L.
 *  2. Items go to the table only by put_aside(). It first removes the final ones, if the table has
 *     sweep_from items. Then it has at most A, and sweep_from is set to twice of that or to
 *     ARRIVALS_ASIDE_MIN. One call adds at most L, which is not more than A.
 *  3. So the table never has more than max(2 A, ARRIVALS_ASIDE_MIN) + A items.
 *
 * The cost: a full ring is searched once for each time that it was filled, and the table once for
 * each time that it doubles. So each event costs a constant time.
 */
#include "core/exchange/arrivals.h"

#include "core/invariant.h"

/* The ring grows if more than this part of its items can be cancelled. Where times vary much, as if
 * drawn from an exponential distribution, a twelfth can be; to move these at once would hold up the
 * worker, and then the others. */
enum { LIVE_SHARE = 16, LIVE_SHARE_TIGHT = 4 };

void arrivals_aside_init(struct arrivals_aside *aside, struct memory *memory, uint32_t senders)
{
    *aside = (struct arrivals_aside){
        .senders = senders, .final_ps = INT64_MIN, .sweep_from = ARRIVALS_ASIDE_MIN};
    table_init(&aside->table, memory, sizeof(struct arrival));
}

void arrivals_aside_free(struct arrivals_aside *aside) { table_free(&aside->table); }

void arrivals_init(struct arrivals *arrivals, struct arrivals_aside *aside, uint32_t sender)
{
    *arrivals = (struct arrivals){.final_ps = INT64_MIN, .aside = aside, .sender = sender};
}

static struct memory *memory_of(const struct arrivals *arrivals)
{
    return arrivals->aside->table.memory;
}

void arrivals_free(struct arrivals *arrivals)
{
    if (arrivals->items != NULL) /* else perhaps its worker had no memory to begin with */
        memory_give(memory_of(arrivals), arrivals->items,
                    arrivals->capacity * sizeof *arrivals->items);
}

/* A message's key in the table. Numbers stay below 2^54, of 1,024 senders at most. */
static uint64_t key_of_number(const struct arrivals *arrivals, uint64_t number)
{
    return number * arrivals->aside->senders + arrivals->sender + 1;
}

static struct arrival *arrival_at(const struct arrivals *arrivals, uint64_t number)
{
    return &arrivals->items[number & (arrivals->capacity - 1)];
}

static bool is_live(const struct arrival *arrival, int64_t final_ps)
{
    return arrival->event != NULL && arrival->cause_ps >= final_ps;
}

/* Removes from the table the final events of all senders. A removal moves items of the table; an
 * item that is missed for that reason is removed the next time. */
static void sweep(struct arrivals_aside *aside)
{
    size_t place = 0;
    uint64_t key;
    while ((key = table_next(&aside->table, &place)) != 0) {
        struct arrival *const arrival = table_find(&aside->table, key);
        if (is_live(arrival, aside->final_ps))
            place++;
        else
            table_remove(&aside->table, arrival);
    }
    const size_t twice = 2 * aside->table.count;
    aside->sweep_from = twice > ARRIVALS_ASIDE_MIN ? twice : ARRIVALS_ASIDE_MIN;
}

/* Empties the ring: events that can be cancelled go to the table. False: out of memory. */
static bool put_aside(struct arrivals *arrivals)
{
    if (arrivals->aside->table.count >= arrivals->aside->sweep_from)
        sweep(arrivals->aside);
    for (; arrivals->first < arrivals->next; arrivals->first++) {
        const struct arrival *const arrival = arrival_at(arrivals, arrivals->first);
        if (!is_live(arrival, arrivals->final_ps))
            continue;
        if (!table_reserve(&arrivals->aside->table))
            return false;
        const uint64_t key = key_of_number(arrivals, arrivals->first);
        *(struct arrival *)table_add(&arrivals->aside->table, key) = *arrival;
    }
    CW_INVARIANT("I-ARRIVE-2",
                 arrivals->aside->table.count <=
                     arrivals->aside->sweep_from + arrivals->capacity / LIVE_SHARE_TIGHT,
                 "the table has %zu events, it was to be searched from %zu on",
                 arrivals->aside->table.count, arrivals->aside->sweep_from);
    return true;
}

/* Doubles the ring. A number's place is its remainder, so it stays, or moves to the new half. */
static bool grow(struct arrivals *arrivals)
{
    const size_t full = arrivals->capacity;
    if (!memory_grow(memory_of(arrivals), &arrivals->items, &arrivals->capacity, full, full + 1,
                     sizeof *arrivals->items, ARRIVALS_MIN))
        return false;
    for (uint64_t i = arrivals->first; i < arrivals->next; i++)
        *arrival_at(arrivals, i) = arrivals->items[i & (full - 1)];
    return true;
}

static bool make_room(struct arrivals *arrivals)
{
    size_t live = 0;
    for (uint64_t i = arrivals->first; i < arrivals->next; i++)
        live += is_live(arrival_at(arrivals, i), arrivals->final_ps);
    const bool tight = memory_level(memory_of(arrivals)) >= MEMORY_TIGHT;
    const size_t share = tight ? LIVE_SHARE_TIGHT : LIVE_SHARE;
    if (live > arrivals->capacity / share || arrivals->capacity == 0)
        return grow(arrivals);
    return put_aside(arrivals);
}

bool arrivals_add(struct arrivals *arrivals, struct cw_event *event, int64_t cause_ps)
{
    while (arrivals->first < arrivals->next &&
           !is_live(arrival_at(arrivals, arrivals->first), arrivals->final_ps))
        arrivals->first++;
    if (arrivals->next - arrivals->first == arrivals->capacity && !make_room(arrivals))
        return false;
    *arrival_at(arrivals, arrivals->next++) = (struct arrival){event, cause_ps};
    return true;
}

struct cw_event *arrivals_take(struct arrivals *arrivals, uint64_t number)
{
    struct table *const table = &arrivals->aside->table;
    const uint64_t key = key_of_number(arrivals, number);
    const bool in_ring = number >= arrivals->first && number < arrivals->next;
    struct arrival *const arrival = in_ring ? arrival_at(arrivals, number) : table_find(table, key);
    CW_INVARIANT("I-ARRIVE-1", !in_ring || table_find(table, key) == NULL,
                 "message %llu is there twice", (unsigned long long)number);
    if (arrival == NULL)
        return NULL;
    struct cw_event *const event = arrival->event;
    CW_INVARIANT(
        "I-ARRIVE-3", event == NULL || arrival->cause_ps >= arrivals->final_ps,
        "message %llu is cancelled, its cause is at %lld ps; those before %lld ps are final",
        (unsigned long long)number, (long long)arrival->cause_ps, (long long)arrivals->final_ps);
    arrival->event = NULL;
    if (!in_ring)
        table_remove(table, arrival);
    return event;
}

void arrivals_forget(struct arrivals *arrivals)
{
    arrivals->first = arrivals->next;
    arrivals->final_ps = INT64_MIN;
}

void arrivals_aside_forget(struct arrivals_aside *aside)
{
    table_free(&aside->table);
    aside->sweep_from = ARRIVALS_ASIDE_MIN;
    aside->final_ps = INT64_MIN;
}
