/*
 * send_quota.c: marks along the messages that a worker has sent, from which it follows how many of
 * them are ahead of GVT (send_quota.h).
 */
#include "core/exchange/send_quota.h"

#include "core/cw.h"
#include "core/invariant.h"

enum {
    MESSAGE_BYTES = 128, /* of an event at its receiver: its record, its entry, and the message */
    MEMORY_SHARE = 16,
    MARKS_APART = 8, /* a mark each time that this part of `most` was sent */
};

void quota_init(struct send_quota *quota, uint64_t bytes_max, uint32_t workers)
{
    const uint64_t share = bytes_max / MEMORY_SHARE / MESSAGE_BYTES / workers;
    *quota = (struct send_quota){.most = share < QUOTA_MIN   ? QUOTA_MIN
                                         : share > QUOTA_MAX ? QUOTA_MAX
                                                             : share};
}

void quota_begin(struct send_quota *quota, uint64_t sent)
{
    quota->settled = quota->sent_then = sent;
    quota->count = 0;
}

void quota_note(struct send_quota *quota, uint64_t sent, int64_t reached_ps)
{
    const uint64_t last = quota->count == 0 ? quota->settled : quota->marks[quota->count - 1].sent;
    CW_INVARIANT("I-QUOTA-1",
                 quota->count == 0 || quota->marks[quota->count - 1].reached_ps <= reached_ps,
                 "events were committed up to %lld ps, and before up to %lld ps",
                 (long long)reached_ps, (long long)quota->marks[quota->count - 1].reached_ps);
    if (sent - last < quota->most / MARKS_APART)
        return;
    if (quota->count == QUOTA_MARKS) /* the newest one now stands for more */
        quota->count--;
    quota->marks[quota->count++] = (struct quota_mark){reached_ps, sent};
}

void quota_settle(struct send_quota *quota, uint64_t sent, int64_t gvt_ps)
{
    unsigned settled = 0;
    while (settled < quota->count && quota->marks[settled].reached_ps <= gvt_ps)
        quota->settled = quota->marks[settled++].sent;
    quota->count -= settled;
    for (unsigned i = 0; i < quota->count; i++)
        quota->marks[i] = quota->marks[i + settled];
    quota->sent_then = sent;
}
