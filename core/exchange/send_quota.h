/*
 * send_quota.h: how many messages a worker has sent ahead of GVT, and how many more it may send.
 *
 * A worker that nothing delays may run ahead of its receivers without limit, and each message waits
 * in their memory. So a worker handles no event while `most` of its messages or more come from
 * events after GVT's time.
 *
 * Counted are the messages of events that are committed, ahead of GVT where a promise or a safe
 * bound allowed it. The messages of events that could be undone are bounded by the window
 * (throttle.h).
 *
 * When events change their workers, or are gathered, the count begins anew. A worker may then have
 * events that are before those that it has committed. If its messages still counted, it would hold
 * these events back until GVT has risen, and GVT would wait for them.
 *
 * I-QUOTA-1: of the first `settled` messages that were counted since quota_begin(), each was sent
 * by an event that is not after GVT's time. Proof: a mark says how many messages were counted by
 * then, and up to which time events were committed by then. When GVT's time has come to the mark's,
 * the events that have sent those messages are not after it.
 * I-QUOTA-2: when no event of a worker could be undone any more, the messages that were counted
 * are all messages that it has sent and not cancelled. Proof: a safe event's message is counted
 * when it is sent, and never cancelled. A speculative event's messages are counted by its undo log,
 * and here when it commits. When it is undone, it cancels them, or keeps them for the log of the
 * same event when it is handled again. A failed run may leave undone events that keep their
 * messages, and is exempt.
 *
 * No worker is held back forever:
 *   1. The worker with the least event of all is not held back. Once a round has found this event,
 *      it is at GVT. All events that the worker has committed since its count began come before
 *      it: they were safe or at GVT. So none of the counted messages is ahead.
 *   2. After each round that worker handles its event, or GVT has risen. Between two rises finitely
 *      many events are handled: as many as come at one key.
 *   3. A worker that is held back finds nothing to do. So it begins rounds, and takes part in
 *      others. While one thread runs all workers, worker 0 begins the rounds: when it finds nothing
 *      to do, and after 16,384 events.
 *   4. At the latest when GVT has passed the event that it committed last, it continues.
 *
 * Owned by one worker.
 */
#ifndef CORE_SEND_QUOTA_H
#define CORE_SEND_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

/* The limits of `most`. The schedule explorer's builds set few, which short runs use up. */
#ifndef QUOTA_MIN
#define QUOTA_MIN 64
#endif
#ifndef QUOTA_MAX
#define QUOTA_MAX 16384
#endif

enum { QUOTA_MARKS = 16 };

/* The first `sent` messages were sent by events that are not after `reached_ps`. */
struct quota_mark {
    int64_t reached_ps;
    uint64_t sent;
};

struct send_quota {
    uint64_t most;
    uint64_t settled;
    uint64_t sent_then;                   /* when GVT was computed last */
    struct quota_mark marks[QUOTA_MARKS]; /* [count], the oldest first: those not settled */
    unsigned count;
};

/* `most` is as much as a 16th of the memory holds, if each worker sends as much. */
void quota_init(struct send_quota *quota, uint64_t bytes_max, uint32_t workers);

/* Nothing that was sent counts as ahead. `sent` here and below: messages of committed events, ever.
 */
void quota_begin(struct send_quota *quota, uint64_t sent);

/* Before quota_left(). No event that was committed since quota_begin() is after `reached_ps`. */
void quota_note(struct send_quota *quota, uint64_t sent, int64_t reached_ps);

/* GVT was computed. */
void quota_settle(struct send_quota *quota, uint64_t sent, int64_t gvt_ps);

/* How many more messages may be sent; 0: the worker is held back. */
static inline uint64_t quota_left(const struct send_quota *quota, uint64_t sent)
{
    const uint64_t ahead = sent - quota->settled;
    return ahead < quota->most ? quota->most - ahead : 0;
}

/* Whether GVT should be computed soon, so that the worker need not stop. */
static inline bool quota_wants_round(const struct send_quota *quota, uint64_t sent)
{
    return sent - quota->sent_then >= quota->most / 4;
}

#endif
