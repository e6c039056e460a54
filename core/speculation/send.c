/*
 * send.c: writes events and cancellations into mailboxes, and notes what GVT must know of them
 * (send.h).
 */
#include "core/speculation/send.h"

#include <string.h>

#include "core/invariant.h"
#include "core/speculation/timewarp.h"
#include "core/worker/simulation.h"
#include "core/worker/worker.h"

enum { CANCELS_MIN = 256 };

/* Between the cuts of a round the worker keeps the least key that it sends to any other one, and
 * the least time that it sends to each. A message from before the first cut is published there. A
 * message from after the second cut has a cause that is in the report (I-GVT-1). */
static void note_key(struct timewarp *tw, struct peer_out *out, const struct entry *entry)
{
    CW_INVARIANT("I-PROM-1",
                 entry->time_ps >= add_saturating(tw->promise.promised_ps, out->least_delay_ps),
                 "worker %u sends to worker %u for %lld ps; it has promised %lld ps, and %lld ps "
                 "between them",
                 (unsigned)tw->index, (unsigned)out->to, (long long)entry->time_ps,
                 (long long)tw->promise.promised_ps, (long long)out->least_delay_ps);
    if (tw->gvt.stage == GVT_FIRST_CUT)
        peers_note_crossing(&tw->peers, out, key_of(entry));
}

__attribute__((noinline)) void send_event(struct worker *worker, uint64_t word_0, uint64_t word_1,
                                          uint64_t word_2, uint64_t word_3, const void *payload)
{
    struct timewarp *const tw = worker->timewarp;
    const struct event_words words = {{word_0, word_1, word_2, word_3}};
    const uint32_t to = worker->lp_worker[words_lp(&words)];
    const uint16_t payload_bytes = words_payload_bytes(&words);
    const size_t bytes = offsetof(struct cw_event, payload) + payload_bytes;
    const bool cancellable = worker->speculative;
    struct peer_out *const out = peers_to(&tw->peers, to);
    worker_enter_engine(worker, payload, payload_bytes); /* until the message is whole */
    struct message *const message =
        worker_need_in_handler(worker, peers_write(&tw->peers, out, bytes));
    struct cw_event *const event = (struct cw_event *)(void *)message->body;
    words_write(event, &words);
    payload_copy(event->payload, payload, payload_bytes);
    tw->peers.messages++;
    message->kind = MESSAGE_EVENT;
    message->cancellable = cancellable ? message_mark(out->numbers) : 0;
    const struct entry entry = entry_of_words(&words, event);
    note_key(tw, out, &entry);
    if (!cancellable) {
        tw->peers.sent_for_good++;
        worker_leave_engine(worker);
        return;
    }
    message->word = (uint64_t)worker->ctx.event->time_ps;
    const struct remote_send sent = {out->numbers++, entry.time_ps, entry.key_high, entry.key_low};
    if (!undo_log_add_remote(&tw->undo_log, to, &sent, (const uint8_t *)event + REMOTE_REST_OFFSET,
                             tw->lazy.on ? bytes - REMOTE_REST_OFFSET : 0))
        worker_fail_for_memory(worker); /* handler_api.c has made room */
    worker_leave_engine(worker);
}

static void send_cancel(struct timewarp *tw, uint32_t to, const struct remote_send *sent)
{
    struct peer_out *const out = peers_to(&tw->peers, to);
    struct message *const message =
        worker_need(tw->worker, peers_write(&tw->peers, out, sizeof *sent));
    message->kind = MESSAGE_CANCEL;
    message->cancellable = 0;
    message->word = sent->seq;
    memcpy(message->body, sent, sizeof *sent);
    const struct entry entry = {
        .time_ps = sent->time_ps, .key_high = sent->key_high, .key_low = sent->key_low};
    note_key(tw, out, &entry);
    tw->peers.messages++;
    tw->peers.anti_messages++;
}

static void cancel_later(struct timewarp *tw, struct cw_event *event)
{
    struct rollback *const rollback = &tw->rollback;
    if (!memory_grow(&tw->worker->sim->memory, &rollback->cancels, &rollback->cancel_capacity,
                     rollback->cancel_count, rollback->cancel_count + 1, sizeof(struct cw_event *),
                     CANCELS_MIN))
        worker_fail_for_memory(tw->worker);
    rollback->cancels[rollback->cancel_count++] = event;
}

void send_cancel_logged(struct timewarp *tw, const uint64_t *data, uint64_t word)
{
    if ((word & ITEM_KIND_MASK) == ITEM_LOCAL)
        cancel_later(tw, (struct cw_event *)(uintptr_t)(word & ~(uint64_t)ITEM_KIND_MASK));
    else
        send_cancel(tw, (uint32_t)word >> 3, (const struct remote_send *)(const void *)data);
}
