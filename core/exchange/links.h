/*
 * links.h: a worker's ends of the mailboxes to and from all other workers. For messages that can be
 * cancelled it counts those that it has sent, and remembers those that it has received.
 *
 * Owned by one worker. The host creates and frees it between drains.
 */
#ifndef CORE_LINKS_H
#define CORE_LINKS_H

#include "core/event.h"
#include "core/memory/memory.h"
#include "core/exchange/mailbox.h"

/* An event from another worker that its sender may still cancel. Once the event is before GVT it
 * may be forgotten: I-GVT-1 says that no cancellation of it can come. */
struct arrival {
    struct cw_event *event;
    int64_t time_ps;
};

/* Those of one sender, by the numbers that it gave them. */
struct arrivals {
    struct arrival *items; /* [capacity], a ring: number n is at n & (capacity - 1) */
    uint64_t first, next;  /* numbers [first, next) are in it */
    size_t capacity;       /* 0, or a power of two */
};

struct links {
    uint32_t count, own;       /* workers; this worker's index, at which nothing is used below */
    struct mailbox *in, **out; /* in[from], *out[to] */
    uint64_t *numbers;         /* [to] cancellable messages sent */
    struct key *sent_least;    /* [to] the least key sent there since the first cut */
    struct arrivals *arrivals; /* [from] */
    uint64_t anti_messages;    /* cancellations sent, ever */
    uint64_t messages;         /* sent, ever, cancellations included */
};

/* links->out is still to be connected. False: out of memory; links_free() then frees the rest. */
bool links_create(struct links *links, struct memory *memory, uint32_t count, uint32_t own);
void links_free(struct links *links, struct memory *memory);

/* Publishes all messages that were written. Returns whether there were any. */
bool links_publish(struct links *links);

#endif
