/*
 * promise.pml: the promises of core/speculation/promise.h, among workers that speculate, roll back, cancel, and
 * commit without waiting for a round of GVT.
 *
 * Claims: nothing is sent before what its sender has promised (I-PROM-1); no event and no
 * cancellation that is taken comes before the taker's safe bound (I-SAFE-2); nothing that was
 * committed is undone, be it by what arrives or by what the worker's own events send to each other
 * (I-PROM-2, core/speculation/fossil.c); promises do not go back; no cancellation arrives of an event
 * whose cause is final for the taker, which has forgotten it (I-ARRIVE-3, core/exchange/arrivals.h).
 *
 * What a worker does is a choice at each step: handle its least event, publish, take what has
 * arrived, look at the promises, promise anew, collect fossils. An event sends one event, to
 * another worker or to its own, or none; handled again, it may send something else. When a
 * straggler's turn comes, or an event is cancelled, all later events of the worker are undone, or
 * none (another LP's); those at the same time too, or not, if the straggler came from elsewhere
 * (with STRICT: not). What an undone event sent to its own worker is cancelled at once, with what
 * came of it. The delay is the least one of the pair, or one more; 0 or 1 to the own worker. Of
 * three workers the third has no event at the start, none sends to itself, and all delays are the
 * least.
 *
 * With RING each of three workers sends to the next one only, and looks at no promise but that of the
 * one before it. Without it, three workers forget no causes, which would be too many states.
 *
 * With LAZY, what an undone event sent stays (core/speculation/lazy_cancel.h) until that is handled again, and perhaps
 * sends the same, or is cancelled itself.
 *
 * A round of GVT is coarse, and for one worker alone: at one moment all publish, it takes what has
 * arrived, and its safe bound rises to what follows from all that is pending or on its way. That a
 * real round gives no greater bound is what gvt.pml checks.
 *
 * Names are those of core/speculation/promise.c. To look at a promise is one step, to empty a mailbox another.
 * To promise anew is one step: publishing earlier, box by box, is a choice of its own. What would
 * change nothing is left out: a look that cannot raise the bound, the same promise again.
 *
 * Planted bugs, each of which must be found:
 *   BUG_STORE_BEFORE_PUBLISH   a promise is made known before what was sent
 *   BUG_MAIL_BEFORE_PROMISES   the mailboxes are emptied before the promises are read
 *   BUG_NO_PENDING             a promise leaves out the pending events
 *   BUG_NO_BOUND               a promise leaves out the safe bound
 *   BUG_CANCEL_UNPUBLISHED     cancellations are not published before a promise
 *   BUG_RING_WRONG_WAY         with RING: the bound is of the worker that this one sends to
 *   BUG_LEFT_OUT               the bound leaves out the promise of worker 0
 *   BUG_OWN_PROMISE            the bound reads the own promise in the place of worker 0's
 *   BUG_OWN_DELAY              the bound adds the delay of the way there instead of the way back
 *   BUG_FOSSIL_NO_PENDING      what is final is before the safe bound, whatever is pending
 *   BUG_FOSSIL_NO_BOUND        what is final is before what is pending, whatever may arrive
 *   BUG_FOSSIL_AT              what is final is before the promise or at it
 *   BUG_FINAL_AT               the taker forgets causes at the promise, too
 *   BUG_FINAL_BEFORE_MAIL      the taker forgets by a promise whose messages it has not taken
 *   BUG_FINAL_BY_BOUND         the taker forgets causes before its own safe bound
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef SENDS
#define SENDS 1 /* events that each worker may send */
#endif
#ifndef JUMPS
#define JUMPS 1 /* of each worker's bound, by a round of GVT */
#endif
#ifndef START
#define START 3 /* worker 0 starts at 1, the other of two at 1, 2 or START */
#endif
#ifndef NEAR
#define NEAR 1 /* the least delay to a worker of a higher number; 0: no lookahead there */
#endif
#define FAR 2 /* and to one of a lower number */

#define EACH (1 + SENDS)
#define EVENTS (WORKERS * EACH)
#if WORKERS == 2
#define TOP (START + WORKERS * SENDS * (FAR + 1) + 1) /* behind all events: times end here */
#else
#define TOP (START + WORKERS * SENDS * FAR + 1)
#endif
#define NONE 255

#define DELAY(from, to) ((from) < (to) -> NEAR : FAR)
/* The least delay of a path, which goes through others where it ends at its beginning. */
#define PATH(from, to) ((from) == (to) -> NEAR + FAR : DELAY(from, to))
#define BOX(from, to) ((from) * WORKERS + (to))
#define LESS(a, b) ((a) < (b) -> (a) : (b))

#define UNUSED 0 /* or gone */
#define IN_TRANSIT 1
#define PENDING 2
#define PROCESSED 3
#define COMMITTED 4
#define SAFE 5 /* committed when it was handled, and others at its time may still come */

/* Events; worker w numbers those it makes from w * EACH on. A message is a number, and the time
 * stands for what would be copied. */
byte state[EVENTS], time[EVENTS], owner[EVENTS], child[EVENTS];
bool cancelling[EVENTS]; /* a cancellation of it is on its way */
byte cause[EVENTS];      /* the time of the event that has sent it */

chan box[WORKERS * WORKERS] = [2 * SENDS] of { bool, byte }; /* is a cancellation; event */
byte unpublished[WORKERS * WORKERS];                         /* not published yet, at the end */
#ifdef BUG_CANCEL_UNPUBLISHED
byte cancels_last[WORKERS * WORKERS]; /* of these, the cancellations at the end */
#endif

byte used[WORKERS]; /* numbers given to events */

byte promised[WORKERS];  /* the slots */
byte safe[WORKERS];      /* each worker's bound */
byte final[WORKERS * WORKERS]; /* of each box, the taker's: causes before it are final */
byte least[WORKERS];     /* the least time pending; TOP: none */
bool speculated[WORKERS]; /* something is processed and not committed */
bool live;                /* something is pending or on its way */
byte jumps[WORKERS];      /* made */

#define PROMISE_FULL LESS(safe[me], least[me])
#if defined(BUG_NO_PENDING)
#define PROMISE safe[me]
#elif defined(BUG_NO_BOUND)
#define PROMISE least[me]
#else
#define PROMISE PROMISE_FULL
#endif

/* What is before this is final. */
#if defined(BUG_FOSSIL_NO_PENDING)
#define LIMIT safe[me]
#elif defined(BUG_FOSSIL_NO_BOUND)
#define LIMIT least[me]
#elif defined(BUG_FOSSIL_AT)
#define LIMIT (PROMISE_FULL + 1)
#else
#define LIMIT PROMISE_FULL
#endif

/* Puts a message behind the others, for `publish` to make known. */
inline put(cancels, event)
{
    assert(time[event] >= promised[me] + DELAY(me, owner[event]));
    c = BOX(me, owner[event]);
    box[c]!cancels, event;
    unpublished[c]++;
#ifdef BUG_CANCEL_UNPUBLISHED
    cancels_last[c] = (cancels -> cancels_last[c] + 1 : 0);
#endif
    cancelling[event] = cancels;
    c = 0
}

/* Cancels what an event sent. */
inline drop(event)
{
    if
    :: child[event] != NONE ->
        if
        :: owner[child[event]] == me -> cancelling[child[event]] = true
        :: else -> put(true, child[event])
        fi;
        child[event] = NONE
    :: else
    fi
}

inline undo(event)
{
    assert(state[event] == PROCESSED);
    state[event] = PENDING;
#ifndef LAZY
    drop(event)
#endif
}

inline undo_later(than)
{
    for (k : 0 .. EVENTS - 1) {
        if
        :: state[k] >= PROCESSED && owner[k] == me &&
            (time[k] > than || (equal && time[k] == than && state[k] != SAFE)) -> undo(k)
        :: else
        fi
    }
    k = 0
}

inline forget(event)
{
#ifdef LAZY
    drop(event);
#endif
    state[event] = UNUSED;
    time[event] = 0;
    owner[event] = 0;
    child[event] = NONE;
    cause[event] = 0;
    cancelling[event] = false
}

/* What undone events sent to the own worker goes, with what came of it. One pass does: an event has
 * a greater number than its cause, if one worker made both. */
inline work_off_cancels()
{
    for (k : me * EACH .. me * EACH + EACH - 1) {
        if
        :: cancelling[k] && owner[k] == me ->
            if
            :: state[k] >= PROCESSED -> undo(k)
            :: else
            fi;
            forget(k)
        :: else
        fi
    }
    k = 0
}

/* The worker has another least event, or another bound: what is final is collected at once, which
 * leaves the most to be found wrong later. */
inline collect()
{
    least[me] = TOP;
    speculated[me] = false;
    live = false;
    for (k : 0 .. EVENTS - 1) {
        if
        :: state[k] == PENDING && owner[k] == me -> least[me] = LESS(time[k], least[me])
        :: else
        fi;
        live = live || state[k] == PENDING || state[k] == IN_TRANSIT || cancelling[k]
    }
    for (k : 0 .. EVENTS - 1) {
        if
        :: state[k] == PROCESSED && owner[k] == me ->
            if
            :: time[k] < LIMIT ->
                state[k] = COMMITTED;
                child[k] = NONE
            :: else -> speculated[me] = true
            fi
        :: state[k] == SAFE && owner[k] == me && time[k] < PROMISE_FULL -> state[k] = COMMITTED
        :: else
        fi
    }
    k = 0
}

/* All that `from` has published. */
inline take(from)
{
    atomic {
        do
        :: len(box[BOX(from, me)]) > unpublished[BOX(from, me)] ->
            box[BOX(from, me)]?cancels, e;
            assert(time[e] >= safe[me]);
            assert(!cancels || cause[e] >= final[BOX(from, me)]);
            if
            :: cancels && state[e] != PENDING ->
                if
                :: all = true
                :: true
                fi
            :: else
            fi;
            d_step {
                if
                :: !cancels -> state[e] = PENDING
                :: else ->
                    if
                    :: state[e] != PENDING ->
                        undo(e);
                        if
                        :: all -> undo_later(time[e])
                        :: else
                        fi
                    :: else
                    fi;
                    forget(e);
                    work_off_cancels()
                fi;
                cancels = false;
                all = false;
                e = 0;
                k = 0
            }
        :: else -> break
        od;
        skip; /* what a loop ends at must not be a d_step */
        d_step { collect() }
    }
}

#define OTHER(n) ((me + n) % WORKERS)

inline receive()
{
    take(OTHER(1))
#if WORKERS > 2
    ;
    take(OTHER(2))
#endif
}

/* Handles the least event, at equal times one from elsewhere, then the oldest; safe ones are
 * committed at once. */
inline handle()
{
    atomic {
        d_step {
            e = NONE;
            for (k : 0 .. EVENTS - 1) {
                if
                :: state[k] == PENDING && owner[k] == me && time[k] == least[me] &&
                    (e == NONE || (e / EACH == me && k / EACH != me)) -> e = k
                :: else
                fi
            }
            k = 0
        }
        if
        :: speculated[me] -> all = true /* a straggler */
#ifndef STRICT
        :: speculated[me] && e / EACH != me -> all = true; equal = true
#endif
        :: true
        fi;
        d_step {
            if
            :: all -> undo_later(time[e])
            :: else
            fi;
            work_off_cancels();
            safely = time[e] < safe[me];
            state[e] = (safely -> SAFE : PROCESSED);
            all = false;
            equal = false;
            k = 0
        }
#ifdef LAZY
        kept = false;
        if
        :: child[e] != NONE -> kept = true /* and sent again */
        :: child[e] != NONE && speculated[me] && owner[child[e]] == me -> all = true
        :: true
        fi;
        d_step {
            if
            :: kept && safely -> child[e] = NONE
            :: !kept && child[e] != NONE ->
                if
                :: all -> undo_later(time[child[e]])
                :: else
                fi;
                drop(e);
                work_off_cancels()
            :: else
            fi;
            all = false;
            k = 0
        }
#endif
        if
        :: true
        :: used[me] < EACH && !kept ->
            if
            :: to = OTHER(1)
#if WORKERS == 2
            :: to = me
#elif !defined(RING)
            :: to = OTHER(2)
#endif
            fi;
#if WORKERS == 2
            if
            :: true
            :: extra = 1
            fi;
#endif
            d_step {
                k = me * EACH + used[me];
                used[me]++;
                owner[k] = to;
                time[k] = time[e] + extra + (to == me -> 0 : DELAY(me, to));
#if WORKERS == 2 || defined(RING)
                cause[k] = (to == me -> 0 : time[e]);
#endif
                if
                :: !safely -> child[e] = k
                :: else
                fi;
                if
                :: to == me -> state[k] = PENDING
                :: else -> state[k] = IN_TRANSIT; put(false, k)
                fi
            }
        :: else
        fi;
        d_step {
            e = 0;
            k = 0;
            to = 0;
            extra = 0;
            safely = false;
            kept = false;
            collect()
        }
    }
}

inline flush()
{
    for (k : 0 .. WORKERS - 1) {
#ifdef BUG_CANCEL_UNPUBLISHED
        unpublished[BOX(me, k)] = cancels_last[BOX(me, k)]
#else
        unpublished[BOX(me, k)] = 0
#endif
    }
    k = 0
}

inline renew()
{
#ifdef BUG_STORE_BEFORE_PUBLISH
    promised[me] = PROMISE;
    d_step { flush() }
#else
    d_step {
        flush();
        assert(PROMISE > promised[me]);
        promised[me] = PROMISE
    }
#endif
}

/* What arrives from a worker is not before this, by a promise of it. */
#if defined(BUG_LEFT_OUT)
#define ARRIVAL(from, promise) ((from) == 0 -> TOP : (promise) + DELAY(from, me))
#elif defined(BUG_OWN_PROMISE)
#define ARRIVAL(from, promise) (((from) == 0 -> promised[me] : (promise)) + DELAY(from, me))
#elif defined(BUG_OWN_DELAY)
#define ARRIVAL(from, promise) ((promise) + DELAY(me, from))
#else
#define ARRIVAL(from, promise) ((promise) + DELAY(from, me))
#endif
/* Times end at TOP. */
#define BOUND(from, promise) LESS(ARRIVAL(from, promise), TOP)
#define BOUND_NOW(from) BOUND(from, promised[from])

inline raise(to_ps)
{
    d_step {
        if
        :: to_ps > safe[me] -> safe[me] = to_ps
        :: else
        fi;
        collect()
    }
}

/* The taker forgets the sender's causes before this time. */
#if defined(BUG_FINAL_AT)
#define FINAL(time) ((time) + 1)
#elif defined(BUG_FINAL_BY_BOUND)
#define FINAL(time) safe[me]
#else
#define FINAL(time) (time)
#endif
inline forget_causes(from, before)
{
#if WORKERS == 2 || defined(RING)
    d_step {
        if
        :: FINAL(before) > final[BOX(from, me)] -> final[BOX(from, me)] = FINAL(before)
        :: else
        fi
    }
#else
    skip
#endif
}

#if defined(RING) && !defined(BUG_RING_WRONG_WAY)
#define LOOKED_AT OTHER(2)
#else
#define LOOKED_AT OTHER(1)
#endif

inline look()
{
#ifdef BUG_MAIL_BEFORE_PROMISES
    receive();
#endif
    read1 = promised[LOOKED_AT];
#if WORKERS > 2 && !defined(RING)
    read2 = promised[OTHER(2)];
#endif
#ifdef BUG_FINAL_BEFORE_MAIL
    forget_causes(LOOKED_AT, read1);
#endif
    atomic {
#ifndef BUG_MAIL_BEFORE_PROMISES
        receive();
#endif
        d_step {
            bound = BOUND(LOOKED_AT, read1);
#if WORKERS > 2 && !defined(RING)
            bound = LESS(BOUND(OTHER(2), read2), bound)
#endif
        };
        raise(bound);
        forget_causes(LOOKED_AT, read1);
#if WORKERS > 2 && !defined(RING)
        forget_causes(OTHER(2), read2);
#endif
        bound = 0;
        read1 = 0;
        read2 = 0
    }
}

/* A round of GVT, at one moment, for one worker. */
inline jump()
{
    atomic {
        d_step {
            jumps[me]++;
            bound = TOP;
            read1 = TOP;
            for (k : 0 .. WORKERS * WORKERS - 1) {
                unpublished[k] = 0
#ifdef BUG_CANCEL_UNPUBLISHED
                ;
                cancels_last[k] = 0
#endif
            }
            for (k : 0 .. EVENTS - 1) {
                if
                :: state[k] == PENDING || state[k] == IN_TRANSIT || cancelling[k] ->
                    bound = LESS(time[k] + PATH(owner[k], me), bound);
                    read1 = LESS(time[k], read1)
                :: else
                fi
            }
            k = 0
        }
        receive();
        raise(bound);
        forget_causes(OTHER(1), read1); /* GVT */
#if WORKERS > 2
        forget_causes(OTHER(2), read1);
#endif
        bound = 0;
        read1 = 0
    }
}

#define HAS_MAIL(from) (len(box[BOX(from, me)]) > unpublished[BOX(from, me)])

proctype worker(byte me)
{
    byte e, k, c, to, extra, bound, read1, read2;
    bool cancels, all, equal, safely, kept;
end:
    do
    :: least[me] < TOP -> handle()
    :: HAS_MAIL(OTHER(1)) -> take(OTHER(1))
    :: unpublished[BOX(me, OTHER(1))] > 0 -> unpublished[BOX(me, OTHER(1))] = 0
#if WORKERS > 2
    :: HAS_MAIL(OTHER(2)) -> take(OTHER(2))
    :: unpublished[BOX(me, OTHER(2))] > 0 -> unpublished[BOX(me, OTHER(2))] = 0
#endif
#ifdef RING
    :: live && (BOUND_NOW(OTHER(1)) > safe[me] || BOUND_NOW(OTHER(2)) > safe[me]) -> look()
#else
    :: live && BOUND_NOW(OTHER(1)) > safe[me] -> look()
#endif
    :: live && PROMISE != promised[me] -> renew()
    :: live && jumps[me] < JUMPS -> jump()
    od
}

init
{
    byte w, k, t;
    atomic {
        for (k : 0 .. EVENTS - 1) {
            child[k] = NONE
        }
        for (w : 0 .. WORKERS - 1) {
            used[w] = 1;
            if
#if WORKERS > 2 /* fewer states: the third has none */
            :: t = (w == 2 -> TOP : 2 * w + 1)
#else
            :: t = 1
            :: w > 0 -> t = 2
            :: w > 0 -> t = START
#endif
            fi;
            k = w * EACH;
            state[k] = (t < TOP -> PENDING : UNUSED);
            owner[k] = (t < TOP -> w : 0);
            time[k] = (t < TOP -> t : 0);
            least[w] = t
        }
        live = true;
        w = 0;
        k = 0;
        t = 0;
        run worker(0);
        run worker(1);
#if WORKERS > 2
        run worker(2)
#endif
    }
}
