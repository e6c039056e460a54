/*
 * credit.pml: core/exchange/credit.c in two workers' turns. Each worker has own events at the times 0
 * to TIMES - 1, each of which sends MANY messages to the other worker, to arrive DELAY later. With
 * -DONE_WAY worker 1 has none, and nothing but its credit holds worker 0 up.
 *
 * Claims: a worker that handles an event has fewer than CREDIT messages ahead of GVT; each one that
 * is settled comes from an event that is not after GVT (I-CREDIT-1); when nothing can go on any more,
 * all events have been handled.
 *
 * An event is a step; so is a round of GVT, and each worker's taking of its result. Messages are
 * received as they are sent, and a promise is the least pending time: mailbox.pml, gvt.pml and
 * promise.pml are about those. A worker begins a round only if it finds nothing to do.
 *
 * Planted bugs, each of which must be found:
 *   BUG_FAR_APART     there is no mark before the credit is used up
 *   BUG_NO_ROUND      a worker that is held back begins no round
 *   BUG_MARK_EARLY    a mark is settled before GVT has come to its time
 *   BUG_MARK_OLD      a mark has the time of the last mark
 *   BUG_NO_BOUND      no worker is held back
 */
#ifndef TIMES
#define TIMES 4
#endif
#ifndef DELAY
#define DELAY 1
#endif
#ifndef MANY
#define MANY 2
#endif
#define CREDIT 3
#ifdef BUG_FAR_APART
#define APART 9
#else
#define APART 2 /* messages between two marks */
#endif
#define LAST (TIMES + DELAY)
#define NEVER 99
#define AT(w, t) ((w) * (LAST + 1) + (t))

byte own[2];                 /* the time of the next own event; NEVER: none is left */
byte inbox[2 * (LAST + 1)];  /* messages that are pending, by time */
byte sent_at[2 * (LAST + 1)]; /* messages sent by events, by the event's time */
byte sent[2], settled[2], reached[2];
byte mark_reached[2], mark_sent[2]; /* the one mark; more marks only settle sooner */
bool marked[2];
byte now;                    /* the result of the last round */
byte gvt[2];                 /* as a worker has taken it */
bool poked[2];               /* the other worker has done something since this one found nothing */

inline least_of(w, result)
{
    result = own[w];
    for (k : 0 .. LAST) {
        if
        :: inbox[AT(w, k)] > 0 && k < result -> result = k
        :: else
        fi
    }
    k = 0
}

inline note(w, t)
{
#ifndef BUG_MARK_OLD
    reached[w] = t;
#endif
    if
    :: !marked[w] && sent[w] - settled[w] >= APART ->
        marked[w] = true; mark_reached[w] = reached[w]; mark_sent[w] = sent[w]
    :: marked[w] && sent[w] - mark_sent[w] >= APART -> /* one mark tells of all */
        mark_reached[w] = reached[w]; mark_sent[w] = sent[w]
    :: else
    fi;
#ifdef BUG_MARK_OLD
    reached[w] = t
#endif
}

inline settle(w)
{
#ifdef BUG_MARK_EARLY
    if
    :: marked[w] && mark_reached[w] <= gvt[w] + 1 -> settled[w] = mark_sent[w]; marked[w] = false
#else
    if
    :: marked[w] && mark_reached[w] <= gvt[w] -> settled[w] = mark_sent[w]; marked[w] = false
#endif
    :: else
    fi;
    sum = 0;
    for (k : 0 .. LAST) {
        if
        :: k <= gvt[w] -> sum = sum + sent_at[AT(w, k)]
        :: else
        fi
    }
    assert(settled[w] <= sum);
    k = 0; sum = 0
}

inline handle(w, t)
{
    sum = 0;
    for (k : 0 .. LAST) {
        if
        :: k > gvt[w] -> sum = sum + sent_at[AT(w, k)]
        :: else
        fi
    }
    assert(sum < CREDIT);
    k = 0; sum = 0;
    if
    :: own[w] == t ->
        own[w] = (t + 1 < TIMES -> t + 1 : NEVER);
        inbox[AT(peer, t + DELAY)] = inbox[AT(peer, t + DELAY)] + MANY;
        sent_at[AT(w, t)] = sent_at[AT(w, t)] + MANY;
        sent[w] = sent[w] + MANY
    :: else -> inbox[AT(w, t)]--
    fi;
    note(w, t)
}

proctype worker(byte w)
{
    byte least, other, k, sum, peer = 1 - w;
    bool held, idle;
    do
    :: atomic {
        least_of(w, least); least_of(peer, other);
        held = sent[w] - settled[w] >= CREDIT;
#ifdef BUG_NO_BOUND
        held = false;
#endif
        if
        :: least == NEVER && other == NEVER -> poked[peer] = true; break
        :: gvt[w] != now -> gvt[w] = now; settle(w)
        :: least != NEVER && !held &&
#ifdef ONE_WAY
               (w == 0 || least < other + DELAY || least <= gvt[w]) ->
#else
               (least < other + DELAY || least <= gvt[w]) ->
#endif
            handle(w, least)
        :: gvt[w] == now && now < (least < other -> least : other) &&
#ifdef BUG_NO_ROUND
               !held &&
#endif
               (held || least == NEVER || /* it finds nothing to do */
                least > gvt[w] && least >= other + DELAY) ->
            now = (least < other -> least : other)
        :: else -> idle = true
        fi;
        poked[peer] = poked[peer] || !idle;
        least = 0; other = 0; held = false
    }
    if
    :: idle -> idle = false; atomic { poked[w] -> poked[w] = false }
    :: else
    fi
    od
}

init {
#ifdef ONE_WAY
    own[1] = NEVER;
#endif
    atomic { run worker(0); run worker(1) }
}
