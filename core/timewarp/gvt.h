/*
 * gvt.h: global virtual time, asynchronously: no worker ever stops for it (after Mattern's two
 * cuts, 1993; with Fujimoto and Hybinette's use of shared memory).
 *
 * A round has two cuts. At the first, each worker publishes its messages and says so. When all
 * have, each takes what has arrived, and reports: the least key it has pending, and, for each
 * other worker, the least key it has sent there since its first cut. When all have reported,
 * everybody computes the same result from the reports.
 *
 * I-GVT-1: a message that nobody has reported was sent after its sender's second cut. Proof: one
 * that was sent before its sender's first cut was published then, and taken by its receiver before
 * its own second cut, so it is pending there, or handled, and what came of it is; one that was
 * sent between its sender's cuts is in the sender's report. Hence, by induction over the causes of
 * events, no event or cancellation from after the cuts is before the least reported key.
 *
 * I-SAFE-1: with U(B) the least time reported by or for worker B, and D the least delay of any
 * non-empty path between workers, nothing that has not arrived at A when A has taken all that was
 * published before the reports comes before S(A) = min over B of U(B) + D(B, A). A cancellation is
 * caused by the rollback of an event that is not before U(B), and names an event that was sent
 * from there.
 *
 * I-GVT-2: a slot's fields of round r are not written again before all have read them: a worker
 * enters the first cut of r + 1 after it has computed r, and the second when all have entered
 * the first.
 *
 * I-GVT-3: the lists `sealed` and `spent` are worker 0's between everybody's first cut, which it
 * acquires, and its own second, and their slot's owner's between everybody's second cut, which it
 * acquires, and its own first.
 */
#ifndef CORE_GVT_H
#define CORE_GVT_H

#include "core/event.h"
#include "core/stats.h"
#include "core/host/sync.h"

/* A key without type, payload and LP. Where they decide between workers, which is in a failed run
 * only, the events themselves are compared (parallel.c). */
struct key {
    int64_t time_ps;
    uint64_t high, low;
};

static inline struct key key_of(const struct entry *entry)
{
    return (struct key){entry->time_ps, entry->key_high, entry->key_low >> 32};
}
static inline bool key_before(struct key a, struct key b)
{
    if (a.time_ps != b.time_ps)
        return a.time_ps < b.time_ps;
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}
#define KEY_NEVER ((struct key){CW_TIME_MAX, UINT64_MAX, UINT64_MAX})

/* What a worker tells the others; it alone writes, but for `sealed` and `spent`. Lines are fetched
 * in pairs: slots share none. */
struct gvt_slot {
    /* line 0: what the others look at again and again */
    _Alignas(128) struct sync_u64 promise_ps; /* promise.h */
    struct sync_u64 first_cut;                /* the last round whose first cut it has made */
    struct sync_u64 second_cut;               /* likewise; releases the fields below */
    /* line 1: whom it sleeps for (wait.h): 1 + its index; 0: it is awake. Set to 0 by that one */
    _Alignas(64) struct sync_u64 waits_for;
    /* line 2: the report */
    _Alignas(64) struct key least; /* pending */
    bool failed;                   /* its least event has failed for good */
    struct record_batch *sealed;   /* records handed over at the first cut */
    struct record_batch *spent;    /* and what worker 0 gives back (I-GVT-3) */
    struct key *sent;              /* [to] the least sent between the cuts */
    /* line 3: likewise; read by worker 0 only, and only if the host wants to know */
    _Alignas(64) struct stats_report report;
};

enum gvt_stage { GVT_BEGIN, GVT_FIRST_CUT, GVT_SECOND_CUT };

struct gvt {
    uint64_t round;
    enum gvt_stage stage;
    bool called;    /* another worker has begun a round */
    struct key now; /* GVT */
    int64_t next_safe_ps;
    int64_t safe_ps; /* events strictly before this are safe; not before GVT's time */
    bool over;       /* nothing is left before the end, or a failure is certain */
    bool failed;     /* likewise; what has failed is at GVT (timewarp.h) */
    uint64_t rounds;
    uint64_t begun, ticks; /* stats.h: when this round began; what all rounds took */
};

/* Differs at any two moments between which this worker has gone on with a round. */
static inline uint64_t gvt_moment(const struct gvt *gvt)
{
    return gvt->round * 4 + (uint64_t)gvt->stage;
}

struct timewarp;

/* Whether this worker can go on with the round, or another one has begun the next. */
bool gvt_can_go_on(const struct timewarp *tw);

/* Goes on with the round as far as possible without waiting, or begins one, if another worker has
 * or this one has a use for it. True: a round has ended, and `now` and `safe_ps` are new. */
bool gvt_step(struct timewarp *tw);

/* D: the least delay of any non-empty path between workers, from that of the direct ones. */
void gvt_close_delays(int64_t *delays_ps, uint32_t workers);

#endif
