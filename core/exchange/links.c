/*
 * links.c: see links.h.
 */
#include "core/exchange/links.h"

/* The bytes that all mailboxes of a worker start with together, as far as each one has at least
 * MAILBOX_BYTES_MIN. A mailbox that needs more grows. */
enum { MAILBOXES_BYTES = 64 << 10, MAILBOX_BYTES_MIN = 1 << 10 };

/* Bytes of one mailbox: a power of two. */
static size_t mailbox_bytes(uint32_t workers)
{
    size_t bytes = MAILBOXES_BYTES;
    while (bytes > MAILBOX_BYTES_MIN && bytes * (workers - 1) > MAILBOXES_BYTES)
        bytes /= 2;
    return bytes;
}

bool links_create(struct links *links, struct memory *memory, uint32_t count, uint32_t own)
{
    *links = (struct links){.count = count, .own = own};
    links->in = memory_take(memory, count * sizeof *links->in);
    links->out = memory_take(memory, count * sizeof(struct mailbox *));
    links->numbers = memory_take(memory, count * sizeof *links->numbers);
    links->sent_least = memory_take(memory, count * sizeof *links->sent_least);
    links->arrivals = memory_take(memory, count * sizeof *links->arrivals);
    if (links->in == NULL || links->out == NULL || links->numbers == NULL ||
        links->sent_least == NULL || links->arrivals == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        links->sent_least[i] = KEY_NEVER;
        if (i != own && !mailbox_init(&links->in[i], memory, mailbox_bytes(count)))
            return false;
    }
    return true;
}

void links_free(struct links *links, struct memory *memory)
{
    const uint32_t n = links->count;
    for (uint32_t i = 0; i < n && links->in != NULL; i++)
        mailbox_free(&links->in[i]);
    for (uint32_t i = 0; i < n && links->arrivals != NULL; i++)
        memory_give(memory, links->arrivals[i].items,
                    links->arrivals[i].capacity * sizeof(struct arrival));
    memory_give(memory, links->in, n * sizeof *links->in);
    memory_give(memory, links->out, n * sizeof(struct mailbox *));
    memory_give(memory, links->numbers, n * sizeof *links->numbers);
    memory_give(memory, links->sent_least, n * sizeof *links->sent_least);
    memory_give(memory, links->arrivals, n * sizeof *links->arrivals);
}

bool links_publish(struct links *links)
{
    bool any = false;
    for (uint32_t i = 0; i < links->count; i++)
        if (i != links->own)
            any |= mailbox_publish(links->out[i]);
    return any;
}
