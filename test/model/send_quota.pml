/*
 * send_quota.pml: core/exchange/send_quota.c in two workers' turns. Each worker has own events at the times 0
 * to TIMES - 1, each of which sends MANY messages to the other worker, to arrive DELAY later. With
 * -DONE_WAY worker 1 has none, and nothing but its quota holds worker 0 up. With -DMOVE worker 1's
 * events send to worker 1 itself, so nothing else holds worker 0 up either, and at any time after a
 * round they may move to worker 0, which may have gone on beyond them.
 *
 * Claims: a worker that handles an event has fewer than CREDIT messages ahead of GVT; each one that
 * is settled comes from an event that is not after GVT (I-QUOTA-1), but for those that were ahead
 * when the events moved; when nothing can go on any more, all events have been handled.
 *
 * An event is a step; so is a round of GVT, and each worker's taking of its result. Messages are
 * received as they are sent, and a promise is the least pending time: mailbox.pml, gvt.pml and
 * promise.pml are about those. A worker begins a round only if it finds nothing to do.
 *
 * Planted bugs, each of which must be found:
 *   BUG_FAR_APART     there is no mark before the quota is used up
 *   BUG_NO_ROUND      a worker that is held back begins no round
 *   BUG_MARK_EARLY    a mark is settled before GVT has come to its time
 *   BUG_MARK_OLD      a mark has the time of the last mark
 *   BUG_NO_BOUND      no worker is held back
 *   BUG_MOVE_COUNTS   with -DMOVE: messages from before the move still count
 *   BUG_MOVE_REACHED  with -DMOVE: so does the time of the events that have sent them
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
#ifndef MORE
#define MORE MANY            /* MOVE: messages of each event of the part that moves */
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
byte part = NEVER;           /* MOVE: the next event that worker 0 has of worker 1's part */
byte forgiven[2];            /* MOVE: messages that were ahead when it moved */
bool moved;
bool poked[2];               /* the other worker has done something since this one found nothing */

inline least_of(w, result)
{
    result = own[w];
    if
    :: w == 0 && part < result -> result = part
    :: else
    fi;
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
    reached[w] = (t > reached[w] -> t : reached[w]);
#endif
    if
    :: !marked[w] && sent[w] - settled[w] >= APART ->
        marked[w] = true; mark_reached[w] = reached[w]; mark_sent[w] = sent[w]
    :: marked[w] && sent[w] - mark_sent[w] >= APART -> /* one mark tells of all */
        mark_reached[w] = reached[w]; mark_sent[w] = sent[w]
    :: else
    fi;
#ifdef BUG_MARK_OLD
    reached[w] = (t > reached[w] -> t : reached[w])
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
    assert(settled[w] <= sum + forgiven[w]);
    k = 0; sum = 0
}

/* Worker 1's part moves to worker 0. Both know GVT, and messages that are pending stay. */
inline move()
{
    moved = true;
    part = own[1]; own[1] = NEVER;
    for (k : 0 .. LAST) {
        if
        :: k > now -> forgiven[0] = forgiven[0] + sent_at[AT(0, k)]
        :: else
        fi
    }
    k = 0;
#ifndef BUG_MOVE_COUNTS
    settled[0] = sent[0]; marked[0] = false;
#endif
#ifndef BUG_MOVE_REACHED
    reached[0] = 0
#endif
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
    assert(sum < CREDIT + forgiven[w]);
    k = 0; sum = 0;
    if
#ifdef MOVE
    :: w == 1 && own[1] == t ->
        own[1] = (t + 1 < TIMES -> t + 1 : NEVER);
        inbox[AT(1, t + DELAY)] = inbox[AT(1, t + DELAY)] + MORE
    :: w == 0 && (own[0] == t || part == t) ->
        if
        :: part == t -> part = (t + 1 < TIMES -> t + 1 : NEVER); sum = MORE
        :: else -> own[0] = (t + 1 < TIMES -> t + 1 : NEVER); sum = MANY
        fi;
        inbox[AT(1, t + DELAY)] = inbox[AT(1, t + DELAY)] + sum;
        sent_at[AT(0, t)] = sent_at[AT(0, t)] + sum;
        sent[0] = sent[0] + sum;
        sum = 0
#else
    :: own[w] == t ->
        own[w] = (t + 1 < TIMES -> t + 1 : NEVER);
        inbox[AT(peer, t + DELAY)] = inbox[AT(peer, t + DELAY)] + MANY;
        sent_at[AT(w, t)] = sent_at[AT(w, t)] + MANY;
        sent[w] = sent[w] + MANY
#endif
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
#ifdef MOVE
        :: w == 1 && !moved && gvt[0] == now && gvt[1] == now && own[1] != NEVER -> move()
#endif
        :: least != NEVER && !held &&
#if defined(ONE_WAY) || defined(MOVE)
               (w == 0 || least < other + DELAY || least <= gvt[w]) ->
#else
               (least < other + DELAY || least <= gvt[w]) ->
#endif
            handle(w, least)
#ifndef BUG_NO_ROUND
        :: held && gvt[w] == now && marked[w] && mark_reached[w] <= now ->
            settle(w) /* another round finds the same GVT */
#endif
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
