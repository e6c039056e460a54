/*
 * timewarp.c: a worker's events between its queue, its mailboxes and its records (timewarp.h).
 * Entered by the owning worker, and, before and after a drain, by the host.
 */
#include "core/timewarp.h"

#include <string.h>

#include "core/simulation.h"

enum { MAILBOX_BYTES = 64 << 10, ARRIVALS_MIN = 1024 };

/* ---- creation ------------------------------------------------------------------------------- */

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
        if (i != tw->index && !mailbox_init(&tw->in[i], &sim->memory, MAILBOX_BYTES))
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
    worker->lp_worker = sim->config.lp_worker;
    tw->worker = worker;
    tw->index = index;
    tw->newest = sim->newest;
    tw->outbox.memory = &sim->memory;
    tw->chaos = cw_rng_seeded(sim->config.stress_seed, index);
    history_init(&tw->history, &sim->memory);
    window_init(tw);
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
    fossil_free(tw);
    memory_give(&sim->memory, tw->cancels, tw->cancel_capacity * sizeof(struct cw_event *));
    outbox_free(&tw->outbox);
    history_free(&tw->history);
    memory_give(&sim->memory, tw, sizeof *tw);
    worker->timewarp = NULL;
}

/* ---- sending -------------------------------------------------------------------------------- */

static inline void send_local(struct timewarp *tw, const struct event_words *words,
                              const void *payload)
{
    struct worker *const worker = tw->worker;
    const uint16_t bytes = words_payload_bytes(words);
    struct cw_event *const event = worker_need(worker, pool_get(&worker->pool, bytes));
    words_write(event, words);
    if (bytes > 0)
        memcpy(event->payload, payload, bytes);
    if (!pending_push(&worker->pending, entry_of_words(words, event)))
        worker_fail_for_memory(worker);
    if (!tw->speculative)
        return;
    struct cw_event **const item =
        worker_need(worker, history_add(&tw->history, ITEM_LOCAL, 0, sizeof(struct cw_event *)));
    *item = event;
}

static void note_sent(struct timewarp *tw, uint32_t to, const struct entry *entry)
{
    const struct key key = key_of(entry);
    if (key_before(key, tw->sent_least[to]))
        tw->sent_least[to] = key;
}

__attribute__((noinline)) static void
send_remote(struct timewarp *tw, uint32_t to, const struct event_words *words, const void *payload)
{
    struct mailbox *const mailbox = tw->out[to];
    const uint16_t payload_bytes = words_payload_bytes(words);
    const size_t bytes = offsetof(struct cw_event, payload) + payload_bytes;
    struct message *const message = worker_need(tw->worker, mailbox_write(mailbox, bytes));
    struct cw_event *const event = (struct cw_event *)(void *)message->body;
    words_write(event, words);
    if (payload_bytes > 0)
        memcpy(event->payload, payload, payload_bytes);
    message->kind = MESSAGE_EVENT;
    message->cancellable = tw->speculative;
    message->seq = tw->speculative ? tw->numbers[to]++ : 0;
    const struct entry entry = entry_of_words(words, event);
    note_sent(tw, to, &entry);
    if (!tw->speculative)
        return;
    struct remote_send *const item =
        worker_need(tw->worker, history_add(&tw->history, ITEM_REMOTE, (uint16_t)to, sizeof *item));
    *item = (struct remote_send){.seq = message->seq, .entry = entry};
}

void timewarp_send(struct worker *worker, uint64_t word_0, uint64_t word_1, uint64_t word_2,
                   uint64_t word_3, const void *payload)
{
    struct timewarp *const tw = worker->timewarp;
    const struct event_words words = {{word_0, word_1, word_2, word_3}};
    const uint32_t to = worker->sim->config.lp_worker[words_lp(&words)];
    if (to == tw->index)
        send_local(tw, &words, payload);
    else
        send_remote(tw, to, &words, payload);
}

void timewarp_keep(struct worker *worker, size_t offset, const void *part, size_t bytes)
{
    struct image *const image = worker_need(
        worker, history_add(&worker->timewarp->history, ITEM_IMAGE, 0, sizeof *image + bytes));
    image->offset = offset;
    memcpy(image->before, part, bytes);
    worker->timewarp->history.image_bytes += bytes;
}

void timewarp_send_cancel(struct timewarp *tw, uint32_t to, const struct remote_send *sent)
{
    struct message *const message =
        worker_need(tw->worker, mailbox_write(tw->out[to], sizeof(int64_t)));
    message->kind = MESSAGE_CANCEL;
    message->cancellable = 0;
    message->seq = sent->seq;
    memcpy(message->body, &sent->entry.time_ps, sizeof(int64_t));
    note_sent(tw, to, &sent->entry);
    tw->anti_messages++;
}

void timewarp_flush(struct timewarp *tw)
{
    for (uint32_t i = 0; i < tw->worker->sim->worker_count; i++)
        if (i != tw->index)
            mailbox_publish(tw->out[i]);
}

/* ---- receiving ------------------------------------------------------------------------------ */

static bool grow_arrivals(struct timewarp *tw, struct arrivals *arrivals)
{
    struct memory *const memory = &tw->worker->sim->memory;
    const uint64_t capacity = arrivals->capacity == 0 ? ARRIVALS_MIN : 2 * arrivals->capacity;
    struct arrival *const items = memory_take(memory, capacity * sizeof *items);
    if (items == NULL)
        return false;
    for (uint64_t i = arrivals->first; i < arrivals->next; i++)
        items[i & (capacity - 1)] = arrivals->items[i & (arrivals->capacity - 1)];
    memory_give(memory, arrivals->items, arrivals->capacity * sizeof *items);
    arrivals->items = items;
    arrivals->capacity = capacity;
    return true;
}

/* Remembers an event that its sender may cancel. Numbers come in order. */
static void remember(struct timewarp *tw, uint32_t from, uint64_t seq, struct cw_event *event)
{
    struct arrivals *const arrivals = &tw->arrivals[from];
    while (arrivals->first < arrivals->next &&
           arrivals->items[arrivals->first & (arrivals->capacity - 1)].time_ps <
               tw->gvt.now.time_ps)
        arrivals->first++;
    if (arrivals->next - arrivals->first == arrivals->capacity && !grow_arrivals(tw, arrivals))
        worker_fail_for_memory(tw->worker);
    if (seq != arrivals->next)
        worker_bug(tw->worker, "message %llu from worker %u came out of order",
                   (unsigned long long)seq, (unsigned)from);
    arrivals->items[arrivals->next++ & (arrivals->capacity - 1)] =
        (struct arrival){event, event->time_ps};
}

static void check_safe(struct timewarp *tw, uint32_t from, int64_t time_ps)
{
    if (__builtin_expect(time_ps < tw->gvt.safe_ps, 0))
        worker_bug(tw->worker,
                   "I-SAFE-1: a message from worker %u for %lld ps arrived below the safe bound, "
                   "%lld ps",
                   (unsigned)from, (long long)time_ps, (long long)tw->gvt.safe_ps);
}

static void take_event(struct timewarp *tw, uint32_t from, const struct message *message)
{
    struct worker *const worker = tw->worker;
    const struct cw_event *const sent = (const struct cw_event *)(const void *)message->body;
    check_safe(tw, from, sent->time_ps);
    struct cw_event *const event =
        worker_need(worker, pool_get(&worker->pool, sent->payload_bytes));
    memcpy(event, sent, offsetof(struct cw_event, payload) + sent->payload_bytes);
    if (message->cancellable)
        remember(tw, from, message->seq, event);
    if (!pending_push(&worker->pending, entry_of_event(event)))
        worker_fail_for_memory(worker);
}

static void take_cancel(struct timewarp *tw, uint32_t from, const struct message *message)
{
    const struct arrivals *const arrivals = &tw->arrivals[from];
    int64_t time_ps;
    memcpy(&time_ps, message->body, sizeof time_ps);
    check_safe(tw, from, time_ps);
    if (message->seq < arrivals->first || message->seq >= arrivals->next ||
        time_ps < tw->gvt.now.time_ps)
        worker_bug(tw->worker, "worker %u cancelled message %llu, which is committed",
                   (unsigned)from, (unsigned long long)message->seq);
    rollback_cancel(tw, arrivals->items[message->seq & (arrivals->capacity - 1)].event);
}

void timewarp_receive(struct timewarp *tw)
{
    const uint32_t n = tw->worker->sim->worker_count;
    for (uint32_t from = 0; from < n; from++) {
        if (from == tw->index)
            continue;
        struct mailbox *const mailbox = &tw->in[from];
        const struct message *message;
        bool any = false;
        while ((message = mailbox_read(mailbox)) != NULL) {
            any = true;
            if (message->kind == MESSAGE_EVENT)
                take_event(tw, from, message);
            else
                take_cancel(tw, from, message);
        }
        if (any)
            mailbox_release(mailbox);
    }
}
