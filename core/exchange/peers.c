/*
 * peers.c: lays out a worker's ends of mailboxes, and publishes those that were written (peers.h).
 */
#include "core/exchange/peers.h"

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

bool peers_create(struct peers *peers, struct memory *memory, const int64_t *least_delay_ps,
                  uint32_t count, uint32_t own)
{
    *peers = (struct peers){.worker_count = count, .memory = memory, .sent_least = KEY_NEVER};
    for (uint32_t i = 0; i < count; i++) {
        peers->in_count += i != own && delay_between(least_delay_ps, count, i, own) < CW_TIME_MAX;
        peers->out_count += i != own && delay_between(least_delay_ps, count, own, i) < CW_TIME_MAX;
    }
    peers->in = memory_take(memory, peers->in_count * sizeof *peers->in);
    peers->out = memory_take(memory, peers->out_count * sizeof *peers->out);
    peers->out_of = memory_take(memory, count * sizeof *peers->out_of);
    peers->written = memory_take(memory, peers->out_count * sizeof *peers->written);
    peers->crossed = memory_take(memory, peers->out_count * sizeof *peers->crossed);
    if (peers->in == NULL || peers->out == NULL || peers->out_of == NULL ||
        peers->written == NULL || peers->crossed == NULL)
        return false;
    uint32_t in = 0, out = 0;
    arrivals_aside_init(&peers->aside, memory, peers->in_count);
    peers->out_of[own] = NO_PEER;
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t other = own + i < count ? own + i : own + i - count;
        const int64_t from_ps = delay_between(least_delay_ps, count, other, own);
        const int64_t to_ps = delay_between(least_delay_ps, count, own, other);
        if (from_ps < CW_TIME_MAX) {
            peers->in[in] = (struct peer_in){
                .from = other, .least_delay_ps = from_ps, .promised_ps = INT64_MIN};
            arrivals_init(&peers->in[in].arrivals, &peers->aside, in);
            in++;
        }
        peers->out_of[other] = to_ps < CW_TIME_MAX ? (uint16_t)out : NO_PEER;
        if (to_ps < CW_TIME_MAX)
            peers->out[out++] =
                (struct peer_out){.to = other, .least_delay_ps = to_ps, .crossing_ps = CW_TIME_MAX};
    }
    return true;
}

void peers_join(struct peers *peers, struct peer_in *in, uint32_t own, struct peers *sender)
{
    mailbox_join(&peers_to(sender, own)->mailbox, &in->mailbox, peers->memory,
                 mailbox_bytes(peers->in_count, peers->worker_count, peers->memory));
}

void peers_forget_arrivals(struct peers *peers)
{
    for (uint32_t i = 0; i < peers->in_count; i++) {
        arrivals_forget(&peers->in[i].arrivals);
        peers->in[i].promised_ps = INT64_MIN;
    }
    arrivals_aside_forget(&peers->aside);
}

void peers_settle(struct peers *peers, int64_t gvt_ps)
{
    int64_t least_ps = CW_TIME_MAX;
    for (uint32_t i = 0; i < peers->in_count; i++) {
        struct peer_in *const in = &peers->in[i];
        const int64_t final_ps = in->promised_ps > gvt_ps ? in->promised_ps : gvt_ps;
        if (in->arrivals.final_ps < final_ps)
            in->arrivals.final_ps = final_ps;
        least_ps = in->arrivals.final_ps < least_ps ? in->arrivals.final_ps : least_ps;
    }
    peers->aside.final_ps = least_ps;
}

void peers_free(struct peers *peers)
{
    struct memory *const memory = peers->memory;
    arrivals_aside_free(&peers->aside);
    for (uint32_t i = 0; i < peers->in_count && peers->in != NULL; i++) {
        mailbox_free(&peers->in[i].mailbox);
        arrivals_free(&peers->in[i].arrivals);
    }
    memory_give(memory, peers->in, peers->in_count * sizeof *peers->in);
    memory_give(memory, peers->out, peers->out_count * sizeof *peers->out);
    memory_give(memory, peers->out_of, peers->worker_count * sizeof *peers->out_of);
    memory_give(memory, peers->written, peers->out_count * sizeof *peers->written);
    memory_give(memory, peers->crossed, peers->out_count * sizeof *peers->crossed);
}

struct message *peers_write(struct peers *peers, struct peer_out *out, size_t body_bytes)
{
    struct message *const message = mailbox_write(&out->mailbox, body_bytes);
    if (message != NULL && !out->written) {
        out->written = true;
        peers->written[peers->written_count++] = (uint32_t)(out - peers->out);
    }
    return message;
}

void peers_note_crossing(struct peers *peers, struct peer_out *out, struct key key)
{
    if (key_before(key, peers->sent_least))
        peers->sent_least = key;
    if (out->crossing_ps == CW_TIME_MAX)
        peers->crossed[peers->crossed_count++] = (uint32_t)(out - peers->out);
    if (key.time_ps < out->crossing_ps)
        out->crossing_ps = key.time_ps;
}

void peers_begin_crossing(struct peers *peers)
{
    for (uint32_t i = 0; i < peers->crossed_count; i++)
        peers->out[peers->crossed[i]].crossing_ps = CW_TIME_MAX;
    peers->crossed_count = 0;
    peers->sent_least = KEY_NEVER;
}

bool peers_publish(struct peers *peers)
{
    bool any = false;
    for (uint32_t i = 0; i < peers->written_count; i++) {
        struct peer_out *const out = &peers->out[peers->written[i]];
        any |= mailbox_publish(&out->mailbox);
        out->written = false;
    }
    peers->written_count = 0;
    return any;
}
