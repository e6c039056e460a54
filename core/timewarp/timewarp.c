/*
 * timewarp.c: what a worker has for Time Warp, and what it sends to the others (timewarp.h).
 * Entered by the owning worker, and, before and after a drain, by the host.
 */
#include "core/timewarp/timewarp.h"

#include <string.h>

#include "core/simulation.h"

/* What all mailboxes of a worker start with together, as far as each has at least the least. Those
 * that need more grow. */
enum { MAILBOXES_BYTES = 64 << 10, MAILBOX_BYTES_MIN = 1 << 10 };

/* ---- creation ------------------------------------------------------------------------------- */

/* Of one: a power of two. */
static size_t mailbox_bytes(uint32_t workers)
{
    size_t bytes = MAILBOXES_BYTES;
    while (bytes > MAILBOX_BYTES_MIN && bytes * (workers - 1) > MAILBOXES_BYTES)
        bytes /= 2;
    return bytes;
}

static bool create_mailboxes(struct cw_sim *sim, struct timewarp *tw)
{
    const uint32_t n = sim->worker_count;
    tw->in = memory_take(&sim->memory, n * sizeof *tw->in);
    tw->out = memory_take(&sim->memory, n * sizeof(struct mailbox *));
    tw->numbers = memory_take(&sim->memory, n * sizeof *tw->numbers);
    tw->sent_least = memory_take(&sim->memory, n * sizeof *tw->sent_least);
    tw->arrivals = memory_take(&sim->memory, n * sizeof *tw->arrivals);
    sim->slots[tw->index].sent = memory_take(&sim->memory, n * sizeof *sim->slots[tw->index].sent);
    if (tw->in == NULL || tw->out == NULL || tw->numbers == NULL || tw->sent_least == NULL ||
        tw->arrivals == NULL || sim->slots[tw->index].sent == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        tw->sent_least[i] = KEY_NEVER;
        if (i != tw->index && !mailbox_init(&tw->in[i], &sim->memory, mailbox_bytes(n)))
            return false;
    }
    return true;
}

bool timewarp_create(struct cw_sim *sim, struct worker *worker, uint32_t index)
{
    struct timewarp *const tw = memory_take(&sim->memory, sizeof *tw);
    if (tw == NULL)
        return false;
    worker->timewarp = tw;
    tw->worker = worker;
    tw->index = index;
    tw->lp_logs = sim->lp_logs;
    tw->front.time_ps = INT64_MIN;
    tw->outbox.memory = &sim->memory;
    tw->outbox.owner = index;
    stress_init(tw);
    tw->lazy.on = sim->config.lazy_cancellation;
    undo_log_init(&tw->undo_log, &sim->memory);
    throttle_init(tw);
    return create_mailboxes(sim, tw);
}

void timewarp_free(struct cw_sim *sim, struct worker *worker)
{
    struct timewarp *const tw = worker->timewarp;
    const uint32_t n = sim->worker_count;
    if (tw == NULL)
        return;
    for (uint32_t i = 0; i < n && tw->in != NULL; i++)
        mailbox_free(&tw->in[i]);
    for (uint32_t i = 0; i < n && tw->arrivals != NULL; i++)
        memory_give(&sim->memory, tw->arrivals[i].items,
                    tw->arrivals[i].capacity * sizeof(struct arrival));
    memory_give(&sim->memory, tw->in, n * sizeof *tw->in);
    memory_give(&sim->memory, tw->out, n * sizeof(struct mailbox *));
    memory_give(&sim->memory, tw->numbers, n * sizeof *tw->numbers);
    memory_give(&sim->memory, tw->sent_least, n * sizeof *tw->sent_least);
    memory_give(&sim->memory, tw->arrivals, n * sizeof *tw->arrivals);
    memory_give(&sim->memory, sim->slots[tw->index].sent, n * sizeof *sim->slots[tw->index].sent);
    memory_give(&sim->memory, tw->cancels, tw->cancel_capacity * sizeof(struct cw_event *));
    lazy_cancel_free(&tw->lazy, &sim->memory);
    record_outbox_free(&tw->outbox);
    undo_log_free(&tw->undo_log);
    memory_give(&sim->memory, tw, sizeof *tw);
    worker->timewarp = NULL;
}

/* ---- sending -------------------------------------------------------------------------------- */

static void timewarp_note_sent(struct timewarp *tw, uint32_t to, const struct entry *entry)
{
    const struct key key = key_of(entry);
    /* What is sent before the first cut is published there, what is sent after the second has a
     * cause that is reported (I-GVT-1). */
    if (tw->gvt.stage == GVT_FIRST_CUT && key_before(key, tw->sent_least[to]))
        tw->sent_least[to] = key;
}

void timewarp_send(struct worker *worker, uint64_t word_0, uint64_t word_1, uint64_t word_2,
                   uint64_t word_3, const void *payload)
{
    struct timewarp *const tw = worker->timewarp;
    const struct event_words words = {{word_0, word_1, word_2, word_3}};
    const uint32_t to = worker->lp_worker[words_lp(&words)];
    const uint16_t payload_bytes = words_payload_bytes(&words);
    const size_t bytes = offsetof(struct cw_event, payload) + payload_bytes;
    struct message *const message =
        worker_need_in_handler(worker, mailbox_write(tw->out[to], bytes));
    struct cw_event *const event = (struct cw_event *)(void *)message->body;
    words_write(event, &words);
    payload_copy(event->payload, payload, payload_bytes);
    message->kind = MESSAGE_EVENT;
    message->cancellable = tw->speculative;
    message->seq = tw->speculative ? tw->numbers[to]++ : 0;
    const struct entry entry = entry_of_words(&words, event);
    timewarp_note_sent(tw, to, &entry);
    if (!tw->speculative)
        return;
    const struct remote_send sent = {message->seq, entry.time_ps, entry.key_high, entry.key_low};
    if (!undo_log_add_remote(&tw->undo_log, to, &sent, (const uint8_t *)event + REMOTE_REST_OFFSET,
                             tw->lazy.on ? bytes - REMOTE_REST_OFFSET : 0))
        worker_fail_for_memory(worker); /* there was room before it was sent */
}

void timewarp_send_cancel(struct timewarp *tw, uint32_t to, const struct remote_send *sent)
{
    struct message *const message =
        worker_need(tw->worker, mailbox_write(tw->out[to], sizeof *sent));
    message->kind = MESSAGE_CANCEL;
    message->cancellable = 0;
    message->seq = sent->seq;
    memcpy(message->body, sent, sizeof *sent);
    const struct entry entry = {
        .time_ps = sent->time_ps, .key_high = sent->key_high, .key_low = sent->key_low};
    timewarp_note_sent(tw, to, &entry);
    tw->anti_messages++;
}

bool timewarp_flush(struct timewarp *tw)
{
    bool any = false;
    for (uint32_t i = 0; i < tw->worker->sim->worker_count; i++)
        if (i != tw->index)
            any |= mailbox_publish(tw->out[i]);
    return any;
}
