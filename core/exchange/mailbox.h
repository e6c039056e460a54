/*
 * mailbox.h: messages from one worker to another: a ring of bytes with one producer and one
 * consumer, for each ordered pair of workers of which one sends to the other (peers.h).
 *
 * The sender writes messages and makes them known in batches (mailbox_publish()). The receiver
 * takes them in the order in which they were sent. It copies the events that it keeps, so an
 * event's memory never changes its owner. The first ring comes into being with the first message.
 * A ring that is full is followed by one twice as large. The receiver frees a ring that it has
 * emptied and that has a successor. So a send never waits, and no message is dropped.
 *
 * I-MAIL-1: bytes in [head, tail) are the receiver's to read, all others the sender's to write.
 * `tail` is written by the sender alone, `head` by the receiver alone, each on a line of its own.
 * I-MAIL-2: `next` is set once, after the ring's last publication. A receiver that sees it and then
 * finds the ring empty has seen all of that ring. `first` is such a link, too: of a ring that
 * never holds anything.
 */
#ifndef CORE_MAILBOX_H
#define CORE_MAILBOX_H

#include "core/cw.h"
#include "core/os/memory.h"
#include "core/os/sync.h"

enum { MAILBOX_ALIGN = 16 };

enum message_kind {
    MESSAGE_EVENT = 1, /* an event */
    MESSAGE_CANCEL,    /* the event with the number `word` is not to be */
    MESSAGE_SKIP,      /* nothing: the rest of the ring up to its end */
};

/* The head of a message; an event's header and payload follow. */
struct message {
    uint32_t bytes; /* of the message, a multiple of MAILBOX_ALIGN */
    uint16_t kind;
    uint16_t cancellable; /* message_mark() of the number that names an event that may be cancelled;
                             0: it will not be */
    uint64_t word;        /* an event that may be cancelled: its cause's time */
    uint8_t body[];
};
_Static_assert(sizeof(struct message) == MAILBOX_ALIGN, "bodies are aligned as messages are");

/* The lowest bits of a number, which is one more than the number of the message before. Not 0. */
static inline uint16_t message_mark(uint64_t number)
{
    return (uint16_t)(1 << 15 | (number & INT16_MAX));
}

struct mailbox_ring {
    /* line 0: the sender's; all that a look at an empty mailbox reads */
    _Alignas(64) struct sync_u64 tail; /* published */
    struct sync_pointer next;
    /* line 1: the receiver's */
    _Alignas(64) struct sync_u64 head;
    /* line 2: const */
    _Alignas(64) uint64_t bytes; /* a power of two */
    _Alignas(64) uint8_t data[];
};

/* The receiver's end. */
struct mailbox_in {
    struct mailbox_ring *reading; /* NULL: none was seen yet */
    uint64_t read;                /* position after the last message taken */
    uint64_t tail_seen;           /* the sender's tail, as last read */
    struct sync_pointer first;    /* the first ring, which the sender sets; NULL: no message yet */
    struct memory *memory;
};

/* The sender's end. */
struct mailbox_out {
    struct mailbox_ring *writing; /* NULL: no message was written yet */
    uint64_t written;             /* position after the last message, published or not */
    uint64_t published;           /* ... after the last one published */
    uint64_t head_seen;           /* the receiver's head, as last read */
    struct mailbox_in *end;       /* the receiver's */
    uint64_t first_bytes;         /* of the first ring: a power of two */
};

/* Joins the two ends of an empty mailbox. Takes no memory: the first message does. */
void mailbox_join(struct mailbox_out *out, struct mailbox_in *in, struct memory *memory,
                  size_t first_bytes);
void mailbox_free(struct mailbox_in *in); /* when no worker uses it */

/* Sender: room for a message with that much body, to be filled before the next call. NULL: out of
 * memory. The message is counted and numbered by the caller. */
struct message *mailbox_write(struct mailbox_out *out, size_t body_bytes);
/* Sender: makes all messages known. Returns whether there were any. */
bool mailbox_publish(struct mailbox_out *out);

/* Receiver: fetches the line that a look at the mailbox reads, while another one is waited for. */
static inline void mailbox_fetch(const struct mailbox_in *in) { __builtin_prefetch(in->reading); }
/* Receiver: the next message, valid until the next call; NULL: there is none. */
const struct message *mailbox_read(struct mailbox_in *in);
/* Receiver: gives back the room of all messages read. */
void mailbox_release(struct mailbox_in *in);

#endif
