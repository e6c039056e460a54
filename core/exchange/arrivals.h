/*
 * arrivals.h: the events of one sender that it may still cancel, by the numbers that it gave them.
 *
 * An event cannot be cancelled any more once its cause is final: the cause will not be undone.
 * Numbers come in order, and most causes are final in about the same order. So a ring holds the
 * events, and drops the oldest once they are final. A cause far in the future would hold the
 * ring's end, and the ring would grow with each later event. So when the ring is full and few
 * of its items can still be cancelled, these items move to a table, and the ring is empty again.
 * There is one table for all senders.
 *
 * I-ARRIVE-1: each event that its sender may still cancel is here once: in the ring if its number
 * is in [first, next), else in the table.
 * I-ARRIVE-2: let L be the greatest number of one sender's events that could ever be cancelled at
 * a time, and A the same for all senders. The ring has room for at most max(ARRIVALS_MIN, 32 L)
 * items, and the table has at most max(2 A, ARRIVALS_ASIDE_MIN) + A of them. (Proof: arrivals.c.)
 * I-ARRIVE-3: no cancellation arrives of an event whose cause is before arrivals.final_ps.
 * Proof:
 *   1. final_ps is a promise of the sender, or GVT. Of the sender's events, those before a promise
 *      are final when it is published (I-PROM-2), those before GVT when the sender has reported.
 *   2. An event whose sends were kept when it was undone (lazy_cancel.h) is pending: neither the
 *      promise nor GVT is beyond it.
 *   3. So the sender has published all cancellations of these events' messages before it published
 *      the promise, or reported.
 *   4. The receiver sets final_ps after it has taken all messages that were published before the
 *      promise that it has read, or before the reports.
 *
 * Owned by the worker that receives; no other thread enters.
 */
#ifndef CORE_ARRIVALS_H
#define CORE_ARRIVALS_H

#include "core/cw.h"
#include "core/os/table.h"

enum { ARRIVALS_MIN = 16, ARRIVALS_ASIDE_MIN = 64 };

struct arrival {
    struct cw_event *event; /* NULL: it cannot be cancelled any more */
    int64_t cause_ps;       /* the time of the event that has sent it */
};

/* Of all senders. */
struct arrivals_aside {
    struct table table; /* by number * senders + sender + 1: struct arrival */
    uint32_t senders;
    int64_t final_ps;  /* the least of all senders' */
    size_t sweep_from; /* from this many items on, the table is searched for final ones */
};

struct arrivals {
    struct arrival *items; /* [capacity], a ring: number n is at n & (capacity - 1) */
    uint64_t first, next;  /* numbers [first, next) are in it */
    size_t capacity;       /* 0, or a power of two */
    int64_t final_ps; /* I-ARRIVE-3; INT64_MIN: not known. It only rises until all are forgotten */
    struct arrivals_aside *aside;
    uint32_t sender; /* below `senders` */
};

void arrivals_aside_init(struct arrivals_aside *aside, struct memory *memory, uint32_t senders);
void arrivals_aside_free(struct arrivals_aside *aside);

void arrivals_init(struct arrivals *arrivals, struct arrivals_aside *aside, uint32_t sender);
void arrivals_free(struct arrivals *arrivals);

/* Adds the event with the number arrivals->next. It is dropped some time after its cause is final.
 * False: out of memory. */
bool arrivals_add(struct arrivals *arrivals, struct cw_event *event, int64_t cause_ps);

/* Removes the event with that number, and returns it. NULL: it is not there. */
struct cw_event *arrivals_take(struct arrivals *arrivals, uint64_t number);

/* No event of the sender can be cancelled any more. arrivals_aside_forget() follows. */
void arrivals_forget(struct arrivals *arrivals);
/* No event of any sender can be cancelled any more. */
void arrivals_aside_forget(struct arrivals_aside *aside);

#endif
