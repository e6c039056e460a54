/*
 * links.c: lays out a worker's ends of mailboxes, and publishes those that were written (links.h).
 */
#include "core/exchange/links.h"

/* The bytes that all mailboxes to a worker start with together, and all mailboxes to all workers,
 * as far as each one has at least MAILBOX_BYTES_MIN. A mailbox that needs more grows. */
enum {
    MAILBOXES_BYTES = 64 << 10,
    ALL_BYTES = 16 << 20,
    ALL_SHARE = 64, /* of the memory, if that is less */
    MAILBOX_BYTES_MIN = 1 << 10
};

/* Bytes of one mailbox to a worker with this many neighbours: a power of two. */
static size_t mailbox_bytes(uint32_t neighbours, uint32_t workers, const struct memory *memory)
{
    const uint64_t part = memory->bytes_max / ALL_SHARE, all = part < ALL_BYTES ? part : ALL_BYTES;
    const uint64_t share = all / workers < MAILBOXES_BYTES ? all / workers : MAILBOXES_BYTES;
    size_t bytes = MAILBOXES_BYTES;
    while (bytes > MAILBOX_BYTES_MIN && bytes * neighbours > share)
        bytes /= 2;
    return bytes;
}

/* The least delay from one worker to another; CW_TIME_MAX: it never sends there. */
static int64_t delay_between(const int64_t *least_delay_ps, uint32_t count, uint32_t from,
                             uint32_t to)
{
    return least_delay_ps == NULL ? 0 : least_delay_ps[(size_t)from * count + to];
}

bool links_create(struct links *links, struct memory *memory, const int64_t *least_delay_ps,
                  uint32_t count, uint32_t own)
{
    *links = (struct links){.worker_count = count, .memory = memory, .sent_least = KEY_NEVER};
    for (uint32_t i = 0; i < count; i++) {
        links->in_count += i != own && delay_between(least_delay_ps, count, i, own) < CW_TIME_MAX;
        links->out_count += i != own && delay_between(least_delay_ps, count, own, i) < CW_TIME_MAX;
    }
    links->in = memory_take(memory, links->in_count * sizeof *links->in);
    links->out = memory_take(memory, links->out_count * sizeof *links->out);
    links->out_of = memory_take(memory, count * sizeof *links->out_of);
    links->written = memory_take(memory, links->out_count * sizeof *links->written);
    links->crossed = memory_take(memory, links->out_count * sizeof *links->crossed);
    if (links->in == NULL || links->out == NULL || links->out_of == NULL ||
        links->written == NULL || links->crossed == NULL)
        return false;
    uint32_t in = 0, out = 0;
    arrivals_aside_init(&links->aside, memory, links->in_count);
    links->out_of[own] = NO_LINK;
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t other = own + i < count ? own + i : own + i - count;
        const int64_t from_ps = delay_between(least_delay_ps, count, other, own);
        const int64_t to_ps = delay_between(least_delay_ps, count, own, other);
        if (from_ps < CW_TIME_MAX) {
            links->in[in] = (struct in_link){
                .from = other, .least_delay_ps = from_ps, .promised_ps = INT64_MIN};
            arrivals_init(&links->in[in].arrivals, &links->aside, in);
            in++;
        }
        links->out_of[other] = to_ps < CW_TIME_MAX ? (uint16_t)out : NO_LINK;
        if (to_ps < CW_TIME_MAX)
            links->out[out++] =
                (struct out_link){.to = other, .least_delay_ps = to_ps, .crossing_ps = CW_TIME_MAX};
    }
    return true;
}

void links_join(struct links *links, struct in_link *in, uint32_t own, struct links *sender)
{
    mailbox_join(&links_to(sender, own)->mailbox, &in->mailbox, links->memory,
                 mailbox_bytes(links->in_count, links->worker_count, links->memory));
}

void links_forget_arrivals(struct links *links)
{
    for (uint32_t i = 0; i < links->in_count; i++) {
        arrivals_forget(&links->in[i].arrivals);
        links->in[i].promised_ps = INT64_MIN;
    }
    arrivals_aside_forget(&links->aside);
}

void links_settle(struct links *links, int64_t gvt_ps)
{
    int64_t least_ps = CW_TIME_MAX;
    for (uint32_t i = 0; i < links->in_count; i++) {
        struct in_link *const in = &links->in[i];
        const int64_t final_ps = in->promised_ps > gvt_ps ? in->promised_ps : gvt_ps;
        if (in->arrivals.final_ps < final_ps)
            in->arrivals.final_ps = final_ps;
        least_ps = in->arrivals.final_ps < least_ps ? in->arrivals.final_ps : least_ps;
    }
    links->aside.final_ps = least_ps;
}

void links_free(struct links *links)
{
    struct memory *const memory = links->memory;
    arrivals_aside_free(&links->aside);
    for (uint32_t i = 0; i < links->in_count && links->in != NULL; i++) {
        mailbox_free(&links->in[i].mailbox);
        arrivals_free(&links->in[i].arrivals);
    }
    memory_give(memory, links->in, links->in_count * sizeof *links->in);
    memory_give(memory, links->out, links->out_count * sizeof *links->out);
    memory_give(memory, links->out_of, links->worker_count * sizeof *links->out_of);
    memory_give(memory, links->written, links->out_count * sizeof *links->written);
    memory_give(memory, links->crossed, links->out_count * sizeof *links->crossed);
}

struct message *links_write(struct links *links, struct out_link *out, size_t body_bytes)
{
    struct message *const message = mailbox_write(&out->mailbox, body_bytes);
    if (message != NULL && !out->written) {
        out->written = true;
        links->written[links->written_count++] = (uint32_t)(out - links->out);
    }
    return message;
}

void links_note_crossing(struct links *links, struct out_link *out, struct key key)
{
    if (key_before(key, links->sent_least))
        links->sent_least = key;
    if (out->crossing_ps == CW_TIME_MAX)
        links->crossed[links->crossed_count++] = (uint32_t)(out - links->out);
    if (key.time_ps < out->crossing_ps)
        out->crossing_ps = key.time_ps;
}

void links_begin_crossing(struct links *links)
{
    for (uint32_t i = 0; i < links->crossed_count; i++)
        links->out[links->crossed[i]].crossing_ps = CW_TIME_MAX;
    links->crossed_count = 0;
    links->sent_least = KEY_NEVER;
}

bool links_publish(struct links *links)
{
    bool any = false;
    for (uint32_t i = 0; i < links->written_count; i++) {
        struct out_link *const out = &links->out[links->written[i]];
        any |= mailbox_publish(&out->mailbox);
        out->written = false;
    }
    links->written_count = 0;
    return any;
}
