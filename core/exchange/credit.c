/*
 * credit.c: marks along the messages that a worker has sent, from which it follows how many of them
 * are ahead of GVT (credit.h).
 */
#include "core/exchange/credit.h"

#include "core/cw.h"
#include "core/invariant.h"

enum {
    MESSAGE_BYTES = 128, /* of an event at its receiver: its record, its entry, and the message */
    MEMORY_SHARE = 16,
    MARKS_APART = 8, /* a mark each time that this part of `most` was sent */
};

void credit_init(struct credit *credit, uint64_t bytes_max, uint32_t workers)
{
    const uint64_t share = bytes_max / MEMORY_SHARE / MESSAGE_BYTES / workers;
    *credit = (struct credit){.most = share < CREDIT_MIN   ? CREDIT_MIN
                                      : share > CREDIT_MAX ? CREDIT_MAX
                                                           : share};
}

void credit_begin(struct credit *credit, uint64_t sent)
{
    credit->settled = credit->sent_then = sent;
    credit->count = 0;
}

void credit_note(struct credit *credit, uint64_t sent, int64_t reached_ps)
{
    const uint64_t last =
        credit->count == 0 ? credit->settled : credit->marks[credit->count - 1].sent;
    CW_INVARIANT("I-CREDIT-1",
                 credit->count == 0 || credit->marks[credit->count - 1].reached_ps <= reached_ps,
                 "events were committed up to %lld ps, and before up to %lld ps",
                 (long long)reached_ps, (long long)credit->marks[credit->count - 1].reached_ps);
    if (sent - last < credit->most / MARKS_APART)
        return;
    if (credit->count == CREDIT_MARKS) /* the newest one now stands for more */
        credit->count--;
    credit->marks[credit->count++] = (struct credit_mark){reached_ps, sent};
}

void credit_settle(struct credit *credit, uint64_t sent, int64_t gvt_ps)
{
    unsigned settled = 0;
    while (settled < credit->count && credit->marks[settled].reached_ps <= gvt_ps)
        credit->settled = credit->marks[settled++].sent;
    credit->count -= settled;
    for (unsigned i = 0; i < credit->count; i++)
        credit->marks[i] = credit->marks[i + settled];
    credit->sent_then = sent;
}
