/*
 * receive.c: takes messages out of the mailboxes (receive.h).
 */
#include "core/speculation/receive.h"

#include <string.h>

#include "core/invariant.h"
#include "core/worker/simulation.h"
#include "core/speculation/rollback.h"
#include "core/speculation/stress.h"
#include "core/speculation/timewarp.h"
#include "core/worker/worker.h"

/* Remembers an event that its sender may cancel. The sender numbers them in order. */
static void remember(struct timewarp *tw, struct peer_in *in, const struct message *message,
                     struct cw_event *event)
{
    if (message->cancellable != message_mark(in->arrivals.next))
        worker_bug(tw->worker, "message %llu from worker %u did not come in its turn",
                   (unsigned long long)in->arrivals.next, (unsigned)in->from);
    if (!arrivals_add(&in->arrivals, event, (int64_t)message->word))
        worker_fail_for_memory(tw->worker);
}

static void check_safe(struct timewarp *tw, uint32_t from, int64_t time_ps)
{
    if (__builtin_expect(time_ps < tw->gvt.safe_ps, 0))
        worker_bug(tw->worker,
                   "I-SAFE-1: a message from worker %u for %lld ps arrived below the safe bound, "
                   "%lld ps",
                   (unsigned)from, (long long)time_ps, (long long)tw->gvt.safe_ps);
}

static void take_event(struct timewarp *tw, struct peer_in *in, const struct message *message)
{
    struct worker *const worker = tw->worker;
    const struct cw_event *const sent = (const struct cw_event *)(const void *)message->body;
    check_safe(tw, in->from, sent->time_ps);
    struct cw_event *const event =
        worker_need(worker, event_pool_get(&worker->pool, sent->payload_bytes));
    struct event_words words;
    memcpy(&words, sent, sizeof words);
    words_write(event, &words);
    if (sent->payload_bytes > 0)
        memcpy(event->payload, sent->payload, sent->payload_bytes);
    const struct entry entry = entry_of_words(&words, event);
    CW_INVARIANT("I-GVT-1", !key_before(key_of(&entry), tw->gvt.now),
                 "worker %u has sent an event for %lld ps, GVT is %lld ps", (unsigned)in->from,
                 (long long)entry.time_ps, (long long)tw->gvt.now.time_ps);
    if (message->cancellable)
        remember(tw, in, message, event);
    if (!pending_push(&worker->pending, entry))
        worker_fail_for_memory(worker);
}

static void take_cancel(struct timewarp *tw, struct peer_in *in, const struct message *message)
{
    struct remote_send sent;
    memcpy(&sent, message->body, sizeof sent);
    check_safe(tw, in->from, sent.time_ps);
    const struct key key = {sent.time_ps, sent.key_high, sent.key_low >> 32};
    struct cw_event *const event = arrivals_take(&in->arrivals, message->word);
    if (event == NULL || key_before(key, tw->gvt.now))
        worker_bug(tw->worker, "worker %u cancelled message %llu, which is committed",
                   (unsigned)in->from, (unsigned long long)message->word);
    rollback_cancel(tw, event);
}

/* Takes at most `most` messages from one mailbox. True: it was then empty. */
static inline bool take_from(struct timewarp *tw, struct peer_in *in, uint64_t most)
{
    const struct message *message;
    uint64_t taken = 0;
    while (taken < most && (message = mailbox_read(&in->mailbox)) != NULL) {
        taken++;
        if (message->kind == MESSAGE_EVENT)
            take_event(tw, in, message);
        else
            take_cancel(tw, in, message);
    }
    if (taken > 0)
        mailbox_release(&in->mailbox);
    return taken < most;
}

void receive_all(struct timewarp *tw)
{
    for (uint32_t i = 0; i < tw->peers.in_count; i++)
        (void)take_from(tw, &tw->peers.in[i], UINT64_MAX);
}

bool receive_some(struct timewarp *tw)
{
    if (__builtin_expect(!tw->stress.on, 1)) {
        receive_all(tw);
        return true;
    }
    bool all = true;
    for (uint32_t i = 0; i < tw->peers.in_count; i++)
        all &= take_from(tw, &tw->peers.in[i], stress_delivery(tw));
    tw->stress.held_back += !all;
    return all;
}
