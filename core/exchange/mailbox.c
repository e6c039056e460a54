/*
 * mailbox.c: the rings (mailbox.h).
 *
 * Positions count bytes and only grow; a position's place is its remainder by the ring's size. A
 * message never wraps: where it would, a MESSAGE_SKIP fills the ring up to its end.
 *
 * Why copying, not pointers: the receiver's caches take a batch of records in whole lines, and
 * records stay with the worker that allocated them.
 */
#include "core/exchange/mailbox.h"

#include "core/invariant.h"

/* Lines are asked for so far ahead: they come from the other worker's cache. Without, a store to
 * one that the receiver has read holds up all stores behind it. */
enum { AHEAD_BYTES = 512 };

static size_t ring_bytes(uint64_t bytes) { return sizeof(struct mailbox_ring) + bytes; }

static struct mailbox_ring *ring_create(struct memory *memory, uint64_t bytes)
{
    struct mailbox_ring *const ring = memory_take(memory, ring_bytes(bytes));
    if (ring != NULL)
        ring->bytes = bytes;
    return ring;
}

bool mailbox_init(struct mailbox *mailbox, struct memory *memory, size_t bytes)
{
    *mailbox = (struct mailbox){.memory = memory};
    mailbox->writing = mailbox->reading = ring_create(memory, bytes);
    return mailbox->writing != NULL;
}

void mailbox_free(struct mailbox *mailbox)
{
    for (struct mailbox_ring *ring = mailbox->reading; ring != NULL;) {
        struct mailbox_ring *const next = sync_load_pointer_acquire(&ring->next);
        memory_give(mailbox->memory, ring, ring_bytes(ring->bytes));
        ring = next;
    }
    mailbox->reading = mailbox->writing = NULL;
}

bool mailbox_publish(struct mailbox *mailbox)
{
    if (mailbox->published == mailbox->written)
        return false;
    CW_INVARIANT("I-MAIL-1", mailbox->written - mailbox->head_seen <= mailbox->writing->bytes,
                 "%llu bytes written, %llu given back, in a ring of %llu",
                 (unsigned long long)mailbox->written, (unsigned long long)mailbox->head_seen,
                 (unsigned long long)mailbox->writing->bytes);
    mailbox->published = mailbox->written;
    /* release: publishes the messages' bytes; pairs with the acquire of `tail` in mailbox_read() */
    sync_store_release(&mailbox->writing->tail, mailbox->written);
    return true;
}

static uint64_t room(struct mailbox *mailbox)
{
    return mailbox->writing->bytes - (mailbox->written - mailbox->head_seen);
}

/* The ring is full: goes on in a larger one. The messages in the old ring are published first, so
 * that its successor is the last thing that the receiver sees of it. */
static bool extend(struct mailbox *mailbox)
{
    struct mailbox_ring *const old = mailbox->writing;
    struct mailbox_ring *const ring = ring_create(mailbox->memory, 2 * old->bytes);
    if (ring == NULL)
        return false;
    (void)mailbox_publish(mailbox);
    CW_INVARIANT("I-MAIL-2", sync_load_pointer_acquire(&old->next) == NULL,
                 "a ring of %llu bytes gets a second successor", (unsigned long long)old->bytes);
    /* release: publishes the ring and, before it, the old ring's last tail (I-MAIL-2); pairs with
     * the acquire of `next` in mailbox_read() */
    sync_store_pointer_release(&old->next, ring);
    mailbox->writing = ring;
    mailbox->written = mailbox->published = mailbox->head_seen = 0;
    return true;
}

struct message *mailbox_write(struct mailbox *mailbox, size_t body_bytes)
{
    const uint32_t bytes = (uint32_t)((sizeof(struct message) + body_bytes + MAILBOX_ALIGN - 1) /
                                      MAILBOX_ALIGN * MAILBOX_ALIGN);
    for (;;) {
        struct mailbox_ring *const ring = mailbox->writing;
        const uint64_t place = mailbox->written & (ring->bytes - 1);
        const uint64_t skip = ring->bytes - place < bytes ? ring->bytes - place : 0;
        if (room(mailbox) < skip + bytes)
            /* acquire: the receiver has read the bytes up to here; pairs with mailbox_release() */
            mailbox->head_seen = sync_load_acquire(&ring->head);
        if (room(mailbox) < skip + bytes) {
            if (!extend(mailbox))
                return NULL;
            continue;
        }
        struct message *message = (struct message *)(void *)(ring->data + place);
        if (skip > 0) {
            *message = (struct message){.bytes = (uint32_t)skip, .kind = MESSAGE_SKIP};
            mailbox->written += skip;
            message = (struct message *)(void *)ring->data;
        }
        mailbox->written += bytes;
        message->bytes = bytes;
        __builtin_prefetch(ring->data + ((mailbox->written + AHEAD_BYTES) & (ring->bytes - 1)), 1);
        return message;
    }
}

/* Looks for more in this ring or its successor; false: there is nothing. */
static bool look_again(struct mailbox *mailbox)
{
    for (;;) {
        struct mailbox_ring *const ring = mailbox->reading;
        /* Read before `tail`: if the ring then is empty, it is so for good (I-MAIL-2). acquire:
         * pairs with the release in extend() */
        struct mailbox_ring *const next = sync_load_pointer_acquire(&ring->next);
        /* acquire: the messages' bytes; pairs with the release in mailbox_publish() */
        mailbox->tail_seen = sync_load_acquire(&ring->tail);
        if (mailbox->read != mailbox->tail_seen)
            return true;
        if (next == NULL)
            return false;
        CW_INVARIANT("I-MAIL-2", sync_load_acquire(&ring->tail) == mailbox->read,
                     "the receiver leaves a ring at %llu, the sender has published %llu",
                     (unsigned long long)mailbox->read,
                     (unsigned long long)sync_load_acquire(&ring->tail));
        memory_give(mailbox->memory, ring, ring_bytes(ring->bytes));
        mailbox->reading = next;
        mailbox->read = mailbox->tail_seen = 0;
    }
}

const struct message *mailbox_read(struct mailbox *mailbox)
{
    for (;;) {
        if (mailbox->read == mailbox->tail_seen && !look_again(mailbox))
            return NULL;
        const struct mailbox_ring *const ring = mailbox->reading;
        const uint64_t place = mailbox->read & (ring->bytes - 1);
        const struct message *const message =
            (const struct message *)(const void *)(ring->data + place);
        mailbox->read += message->bytes;
        CW_INVARIANT("I-MAIL-1",
                     message->bytes > 0 && message->bytes % MAILBOX_ALIGN == 0 &&
                         mailbox->read <= mailbox->tail_seen,
                     "a message of %u bytes ends at %llu, published is %llu",
                     (unsigned)message->bytes, (unsigned long long)mailbox->read,
                     (unsigned long long)mailbox->tail_seen);
        if (mailbox->tail_seen - mailbox->read > AHEAD_BYTES)
            __builtin_prefetch((const uint8_t *)message + AHEAD_BYTES);
        if (message->kind != MESSAGE_SKIP)
            return message;
    }
}

void mailbox_release(struct mailbox *mailbox)
{
    CW_INVARIANT("I-MAIL-1", sync_load_acquire(&mailbox->reading->head) <= mailbox->read,
                 "the receiver goes back to %llu", (unsigned long long)mailbox->read);
    /* release: we have read these bytes; pairs with the acquire in mailbox_write() */
    sync_store_release(&mailbox->reading->head, mailbox->read);
}
