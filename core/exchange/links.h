/*
 * links.h: a worker's ends of the mailboxes that lead to it and from it. A worker has an end for
 * each other worker to which the partition lets it send, or from which it may receive: its
 * neighbours. Nothing here is looked at for any other pair, and no loop goes over all workers.
 *
 * Messages that can be cancelled are counted by their sender and remembered by their receiver.
 *
 * Owned by one worker, except for the word of a mailbox's end that the sender sets (mailbox.h). The
 * host creates and frees it between drains.
 */
#ifndef CORE_LINKS_H
#define CORE_LINKS_H

#include "core/queue/event.h"
#include "core/os/memory.h"
#include "core/exchange/arrivals.h"
#include "core/exchange/mailbox.h"

/* From one other worker. */
struct in_link {
    struct mailbox_in mailbox;
    int64_t least_delay_ps; /* L of I-PROM-1 */
    int64_t promised_ps;    /* its promise, as last read */
    struct arrivals arrivals;
    uint32_t from;
};

/* To one other worker. */
struct out_link {
    struct mailbox_out mailbox;
    uint64_t numbers;       /* cancellable messages sent */
    int64_t crossing_ps;    /* the least time sent there since the first cut; CW_TIME_MAX: none */
    int64_t least_delay_ps; /* L of I-PROM-1 */
    uint32_t to;
    bool written; /* this link is on the list of that name */
};

enum { NO_LINK = UINT16_MAX };

struct links {
    uint32_t in_count, out_count; /* neighbours */
    uint32_t worker_count;
    struct arrivals_aside aside;
    struct in_link *in;   /* [in_count], the worker after this one first, then in their order */
    struct out_link *out; /* [out_count], in the same order */
    uint16_t *out_of;     /* [worker]: its index in `out`; NO_LINK: it is not a neighbour */
    uint32_t *written;    /* [written_count]: links with messages that are not published */
    uint32_t *crossed;    /* [crossed_count]: links that were sent over since the first cut */
    uint32_t written_count, crossed_count;
    struct key sent_least; /* the least key that was sent to any worker since the first cut */
    struct memory *memory;
    uint64_t anti_messages; /* cancellations sent, ever */
    uint64_t messages;      /* sent, ever, cancellations included; of them, those */
    uint64_t sent_for_good; /* from events that are committed (send_quota.h) */
};

/*
 * Creates the ends of worker `own`. `least_delay_ps` is the partition's matrix, [from * count +
 * to]; NULL: all are 0. False: out of memory; links_free() then frees the rest.
 */
bool links_create(struct links *links, struct memory *memory, const int64_t *least_delay_ps,
                  uint32_t count, uint32_t own);
/* Joins worker `own`'s end of a link to the end of the worker that sends over it. */
void links_join(struct links *links, struct in_link *in, uint32_t own, struct links *sender);
void links_free(struct links *links);

/* All messages have been taken that were published before the promises were read, and before the
 * reports of which GVT was made: I-ARRIVE-3. */
void links_settle(struct links *links, int64_t gvt_ps);

/* No message that has arrived will be cancelled any more, and promises begin anew. */
void links_forget_arrivals(struct links *links);

/* The link to a neighbour. */
static inline struct out_link *links_to(const struct links *links, uint32_t to)
{
    return &links->out[links->out_of[to]];
}

/* Room for a message, as mailbox_write(); the next links_publish() makes it known. */
struct message *links_write(struct links *links, struct out_link *out, size_t body_bytes);

/* Notes that a message with this key was sent between the cuts of a round (gvt.h). */
void links_note_crossing(struct links *links, struct out_link *out, struct key key);
/* The first cut: nothing has been sent since. */
void links_begin_crossing(struct links *links);

/* Publishes all messages that were written. Returns whether there were any. */
bool links_publish(struct links *links);

#endif
