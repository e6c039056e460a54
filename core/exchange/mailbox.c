/*
 * mailbox.c: the rings (mailbox.h).
 *
 * Positions count bytes and only grow; a position modulo the ring's size is its place. A message
 * never wraps: where it would, a MESSAGE_SKIP fills the ring up to its end.
 *
 * Messages are copied rather than passed by pointer: so the receiver's cache loads a batch as whole
 * lines, and memory stays with the worker that allocated it.
 */
#include "core/exchange/mailbox.h"

#include "core/invariant.h"

/* Lines are prefetched this far ahead, because they come from the other worker's cache: otherwise a
 * store to a line that the receiver has read delays all later stores. */
enum { AHEAD_BYTES = 512, LINE_BYTES = 64 };

static size_t ring_bytes(uint64_t bytes) { return sizeof(struct mailbox_ring) + bytes; }

static struct mailbox_ring *ring_create(struct memory *memory, uint64_t bytes)
{
    struct mailbox_ring *const ring = memory_take(memory, ring_bytes(bytes));
    if (ring != NULL)
        ring->bytes = bytes;
    return ring;
}

void mailbox_join(struct mailbox_out *out, struct mailbox_in *in, struct memory *memory,
                  size_t first_bytes)
{
    *in = (struct mailbox_in){.memory = memory};
    *out = (struct mailbox_out){.end = in, .first_bytes = first_bytes};
}

void mailbox_free(struct mailbox_in *in)
{
    struct mailbox_ring *ring =
        in->reading != NULL ? in->reading : sync_load_pointer_acquire(&in->first);
    while (ring != NULL) {
        struct mailbox_ring *const next = sync_load_pointer_acquire(&ring->next);
        memory_give(in->memory, ring, ring_bytes(ring->bytes));
        ring = next;
    }
    in->reading = NULL;
    sync_store_pointer_release(&in->first, NULL); /* no worker uses it */
}

bool mailbox_publish(struct mailbox_out *out)
{
    if (out->writing == NULL || out->published == out->written)
        return false;
    CW_INVARIANT("I-MAIL-1", out->written - out->head_seen <= out->writing->bytes,
                 "%llu bytes written, %llu given back, in a ring of %llu",
                 (unsigned long long)out->written, (unsigned long long)out->head_seen,
                 (unsigned long long)out->writing->bytes);
    out->published = out->written;
    /* release: publishes the messages' bytes; pairs with the acquire of `tail` in mailbox_read() */
    sync_store_release(&out->writing->tail, out->written);
    return true;
}

static uint64_t room(struct mailbox_out *out)
{
    return out->writing->bytes - (out->written - out->head_seen);
}

/* The ring is full, or there is none yet: continues in a larger one. The messages in the old ring
 * are published first, so that its successor is the last thing that the receiver sees of it. */
static bool extend(struct mailbox_out *out)
{
    struct mailbox_ring *const old = out->writing;
    struct sync_pointer *const link = old == NULL ? &out->end->first : &old->next;
    struct mailbox_ring *const ring =
        ring_create(out->end->memory, old == NULL ? out->first_bytes : 2 * old->bytes);
    if (ring == NULL)
        return false;
    (void)mailbox_publish(out);
    CW_INVARIANT("I-MAIL-2", sync_load_pointer_acquire(link) == NULL,
                 "a ring of %llu bytes is the second successor", (unsigned long long)ring->bytes);
    /* release: publishes the ring and, before it, the old ring's last tail (I-MAIL-2); pairs with
     * the acquires of `first` and `next` in look_again() */
    sync_store_pointer_release(link, ring);
    out->writing = ring;
    out->written = out->published = out->head_seen = 0;
    return true;
}

struct message *mailbox_write(struct mailbox_out *out, size_t body_bytes)
{
    const uint32_t bytes = (uint32_t)((sizeof(struct message) + body_bytes + MAILBOX_ALIGN - 1) /
                                      MAILBOX_ALIGN * MAILBOX_ALIGN);
    for (;;) {
        struct mailbox_ring *const ring = out->writing;
        if (__builtin_expect(ring == NULL, 0)) {
            if (!extend(out))
                return NULL;
            continue;
        }
        const uint64_t place = out->written & (ring->bytes - 1);
        const uint64_t skip = ring->bytes - place < bytes ? ring->bytes - place : 0;
        if (room(out) < skip + bytes)
            /* acquire: the receiver has read the bytes up to here; pairs with mailbox_release() */
            out->head_seen = sync_load_acquire(&ring->head);
        if (room(out) < skip + bytes) {
            if (!extend(out))
                return NULL;
            continue;
        }
        struct message *message = (struct message *)(void *)(ring->data + place);
        if (skip > 0) {
            *message = (struct message){.bytes = (uint32_t)skip, .kind = MESSAGE_SKIP};
            out->written += skip;
            message = (struct message *)(void *)ring->data;
        }
        out->written += bytes;
        message->bytes = bytes;
        __builtin_prefetch(ring->data + ((out->written + AHEAD_BYTES) & (ring->bytes - 1)), 1);
        return message;
    }
}

/* Fetches the first lines of the published messages, all at once: each message says only where
 * the next one begins. */
static inline void fetch_first(const struct mailbox_in *in)
{
    const struct mailbox_ring *const ring = in->reading;
    const uint64_t most = in->read + AHEAD_BYTES;
    const uint64_t end = in->tail_seen < most ? in->tail_seen : most;
    for (uint64_t at = in->read; at < end; at += LINE_BYTES)
        __builtin_prefetch(ring->data + (at & (ring->bytes - 1)));
}

/* Looks for more in this ring or its successor; false: there is nothing. */
static bool look_again(struct mailbox_in *in)
{
    for (;;) {
        struct mailbox_ring *const ring = in->reading;
        if (__builtin_expect(ring == NULL, 0)) {
            /* acquire: pairs with the release in extend() */
            in->reading = sync_load_pointer_acquire(&in->first);
            if (in->reading == NULL)
                return false;
            continue;
        }
        /* Read before `tail`: if there is a next ring and this one is empty, it stays empty
         * (I-MAIL-2). acquire: pairs with the release in extend() */
        struct mailbox_ring *const next = sync_load_pointer_acquire(&ring->next);
        /* acquire: the messages' bytes; pairs with the release in mailbox_publish() */
        in->tail_seen = sync_load_acquire(&ring->tail);
        if (in->read != in->tail_seen) {
            fetch_first(in);
            return true;
        }
        if (next == NULL)
            return false;
        CW_INVARIANT("I-MAIL-2", sync_load_acquire(&ring->tail) == in->read,
                     "the receiver leaves a ring at %llu, the sender has published %llu",
                     (unsigned long long)in->read,
                     (unsigned long long)sync_load_acquire(&ring->tail));
        memory_give(in->memory, ring, ring_bytes(ring->bytes));
        in->reading = next;
        in->read = in->tail_seen = 0;
    }
}

const struct message *mailbox_read(struct mailbox_in *in)
{
    for (;;) {
        if (in->read == in->tail_seen && !look_again(in))
            return NULL;
        const struct mailbox_ring *const ring = in->reading;
        const uint64_t place = in->read & (ring->bytes - 1);
        const struct message *const message =
            (const struct message *)(const void *)(ring->data + place);
        in->read += message->bytes;
        CW_INVARIANT(
            "I-MAIL-1",
            message->bytes > 0 && message->bytes % MAILBOX_ALIGN == 0 && in->read <= in->tail_seen,
            "a message of %u bytes ends at %llu, published is %llu", (unsigned)message->bytes,
            (unsigned long long)in->read, (unsigned long long)in->tail_seen);
        if (in->tail_seen - in->read > AHEAD_BYTES)
            __builtin_prefetch((const uint8_t *)message + AHEAD_BYTES);
        if (message->kind != MESSAGE_SKIP)
            return message;
    }
}

void mailbox_release(struct mailbox_in *in)
{
    CW_INVARIANT("I-MAIL-1", sync_load_acquire(&in->reading->head) <= in->read,
                 "the receiver goes back to %llu", (unsigned long long)in->read);
    /* release: we have read these bytes; pairs with the acquire in mailbox_write() */
    sync_store_release(&in->reading->head, in->read);
}
