/*
 * peers.h: a worker's ends of the mailboxes that lead to it and from it. A worker has an end for
 * each other worker to which the partition lets it send, or from which it may receive: its
 * peers, or neighbours. No other pair is visited, and no loop goes over all workers.
 *
 * Messages that can be cancelled are counted by their sender and remembered by their receiver.
 *
 * Owned by one worker, except for the word of a mailbox's end that the sender sets (mailbox.h). The
 * host creates and frees it between drains.
 */
#ifndef CORE_PEERS_H
#define CORE_PEERS_H

#include "core/queue/event.h"
#include "core/os/memory.h"
#include "core/exchange/arrivals.h"
#include "core/exchange/mailbox.h"

/* From one other worker. */
struct peer_in {
    struct mailbox_in mailbox;
    int64_t least_delay_ps; /* L of I-PROM-1 */
    int64_t promised_ps;    /* its promise, as last read */
    struct arrivals arrivals;
    uint32_t from;
};

/* To one other worker. */
struct peer_out {
    struct mailbox_out mailbox;
    uint64_t numbers;       /* cancellable messages sent */
    int64_t crossing_ps;    /* the least time sent there since the first cut; CW_TIME_MAX: none */
    int64_t least_delay_ps; /* L of I-PROM-1 */
    uint32_t to;
    bool written; /* this peer is on the list of that name */
};

enum { NO_PEER = UINT16_MAX };

struct peers {
    uint32_t in_count, out_count; /* neighbours */
    uint32_t worker_count;
    struct arrivals_aside aside;
    struct peer_in *in;   /* [in_count], the worker after this one first, then in their order */
    struct peer_out *out; /* [out_count], in the same order */
    uint16_t *out_of;     /* [worker]: its index in `out`; NO_PEER: it is not a neighbour */
    uint32_t *written;    /* [written_count]: peers with messages that are not published */
    uint32_t *crossed;    /* [crossed_count]: peers that were sent to since the first cut */
    uint32_t written_count, crossed_count;
    struct key sent_least; /* the least key that was sent to any worker since the first cut */
    struct memory *memory;
    uint64_t anti_messages; /* cancellations sent, ever */
    uint64_t messages;      /* sent, ever, cancellations included; of them, those */
    uint64_t sent_for_good; /* from events that are committed (send_quota.h) */
};

/*
 * Creates the ends of worker `own`. `least_delay_ps` is the partition's matrix, [from * count +
 * to]; NULL: all are 0. False: out of memory; peers_free() then frees the rest.
 */
bool peers_create(struct peers *peers, struct memory *memory, const int64_t *least_delay_ps,
                  uint32_t count, uint32_t own);
/* Joins worker `own`'s end of a mailbox to its sender's. */
void peers_join(struct peers *peers, struct peer_in *in, uint32_t own, struct peers *sender);
void peers_free(struct peers *peers);

/* All messages have been taken that were published before the promises were read, and before the
 * reports of which GVT was made: I-ARRIVE-3. */
void peers_settle(struct peers *peers, int64_t gvt_ps);

/* No message that has arrived will be cancelled any more, and promises begin anew. */
void peers_forget_arrivals(struct peers *peers);

/* The end to a neighbour. */
static inline struct peer_out *peers_to(const struct peers *peers, uint32_t to)
{
    return &peers->out[peers->out_of[to]];
}

/* Room for a message, as mailbox_write(); the next peers_publish() makes it known. */
struct message *peers_write(struct peers *peers, struct peer_out *out, size_t body_bytes);

/* Notes that a message with this key was sent between the cuts of a round (gvt.h). */
void peers_note_crossing(struct peers *peers, struct peer_out *out, struct key key);
/* The first cut: nothing has been sent since. */
void peers_begin_crossing(struct peers *peers);

/* Publishes all messages that were written. Returns whether there were any. */
bool peers_publish(struct peers *peers);

#endif
