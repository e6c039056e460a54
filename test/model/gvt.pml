/*
 * gvt.pml: the rounds of core/speculation/gvt.h, among workers that speculate, roll back and cancel.
 *
 * Claims: in every round all compute the same from reports of that round (I-GVT-2); GVT does not
 * go back; no event and no cancellation that is taken after a round comes before its GVT
 * (I-GVT-1) or before the safe bound (I-SAFE-1); nothing that was committed is undone; every round
 * ends.
 *
 * What a worker does is a choice at each step: handle its least event, publish, take what has
 * arrived, go on with the round. An event sends one event to another worker, or none; handled
 * again, it may send something else. A straggler undoes all later events of its worker, or none of
 * them (another LP's). The delay is the least one of the pair; with EXTRA, or one more.
 *
 * Names are those of core/speculation/gvt.c. The emptying of one mailbox is one step, because only its last
 * look at `tail` is seen by others. Publishing and counting the first cut is one step: publishing
 * earlier, box by box, is a choice of its own. A report's fields are written in one step, with the
 * reset of the worker's own transit word; each transit word is lowered in a step of its own; the cut
 * is counted in the next, and the last one to count writes `reached` in another. A worker that may
 * compute can be held up for any time before it reads the reports.
 *
 * Planted bugs, each of which must be found:
 *   BUG_NO_SENT_LEAST          GVT leaves out the least sent between the cuts
 *   BUG_NO_TRANSIT             the safe bound leaves it out
 *   BUG_ONE_WORD               one transit word for all rounds, in the place of two
 *   BUG_RESET_EARLY            the last round's transit word is reset at the first cut
 *   BUG_RESET_OWN              this round's transit word is reset at the second cut
 *   BUG_LOWERED_LATE           transit words are lowered after the second cut was counted
 *   BUG_SAFE_BEFORE_RECEIVE    the safe bound counts before the receiver took what was published
 *   BUG_ONE_CUT                nobody waits for the others' first cuts
 *   BUG_NO_FLUSH               the first cut does not publish
 *   BUG_REPORT_UNPUBLISHED     what is sent between the cuts is not published before the report
 *   BUG_CANCEL_UNNOTED         a cancellation does not count as sent
 *   BUG_NO_ROUND_TRIP          the safe bound leaves out what a worker causes to itself
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef INITIAL
#define INITIAL 1 /* events that each worker has at the start */
#endif
#ifndef SENDS
#define SENDS 2 /* events that each worker may send */
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef START
#define START 3 /* worker 0 starts at 1, the other of two at 1, 2 or START */
#endif

#define EACH (INITIAL + SENDS)
#define EVENTS (WORKERS * EACH)
#define NEVER 255
#define NONE 255

/* The least delay of a path from one worker to another, through others and back included. */
#define DELAY(from, to) ((to) == (from) -> WORKERS : ((to) + WORKERS - (from)) % WORKERS)
#define BOX(from, to) ((from) * WORKERS + (to))
#define LESS(a, b) ((a) < (b) -> (a) : (b))

#define UNUSED 0 /* or gone */
#define IN_TRANSIT 1
#define PENDING 2
#define PROCESSED 3
#define COMMITTED 4

#define BEGIN 0
#define FIRST_CUT 1
#define SECOND_CUT 2

/* Events; worker w numbers those it makes from w * EACH on. The sender reads `child` alone, the
 * owner the rest; a message is a number, and the time stands for what would be copied. */
byte state[EVENTS], time[EVENTS], owner[EVENTS], child[EVENTS];

chan box[WORKERS * WORKERS] = [2 * SENDS] of { bool, byte }; /* is a cancellation; event */
byte unpublished[WORKERS * WORKERS];                              /* not published yet, at the end */

byte crossing[WORKERS * WORKERS]; /* the least time sent there since the first cut */
byte sent_least[WORKERS];         /* and to any worker */
byte used[WORKERS];               /* numbers given to events */

/* How far all are: CALLED and so on of a round. */
#define PHASES 4
#define CALLED 1
#define ALL_FIRST 2
#define ALL_SECOND 3
byte reached, cuts;

/* slots */
byte least[WORKERS], pending[WORKERS];
byte transit[2 * WORKERS];
byte reported[WORKERS]; /* the round of the slot's fields */
#ifdef BUG_ONE_WORD
#define TRANSIT(round, worker) (worker)
#else
#define TRANSIT(round, worker) ((round) % 2 * WORKERS + (worker))
#endif
/* each worker's view */
byte now[WORKERS], safe[WORKERS];
byte result[ROUNDS + 1]; /* GVT, as the first one computed it */
byte rounds[WORKERS];    /* ended */

/* Puts a message behind the others, for `publish` to make known. */
inline put(cancels, event)
{
    c = BOX(me, owner[event]);
    box[c]!cancels, event;
    unpublished[c]++;
#ifdef BUG_CANCEL_UNNOTED
    crossing[c] = (cancels -> crossing[c] : LESS(time[event], crossing[c]));
    sent_least[me] = (cancels -> sent_least[me] : LESS(time[event], sent_least[me]))
#else
    crossing[c] = LESS(time[event], crossing[c]);
    sent_least[me] = LESS(time[event], sent_least[me])
#endif
}

inline undo(event)
{
    assert(state[event] == PROCESSED);
    state[event] = PENDING;
    if
    :: child[event] != NONE ->
        put(true, child[event]);
        child[event] = NONE
    :: else
    fi
}

inline undo_later(than)
{
    for (k : 0 .. EVENTS - 1) {
        if
        :: state[k] >= PROCESSED && owner[k] == me && time[k] > than -> undo(k)
        :: else
        fi
    }
}

inline forget(event)
{
    state[event] = UNUSED;
    time[event] = 0;
    owner[event] = 0;
    child[event] = NONE
}

/* All that `from` has published. */
inline take(from)
{
    atomic {
        do
        :: len(box[BOX(from, me)]) > unpublished[BOX(from, me)] ->
            box[BOX(from, me)]?cancels, e;
            assert(time[e] >= now[me]);
            assert(time[e] >= safe[me]);
            if
            :: true -> d_step { undo_later(time[e]); k = 0; c = 0 }
            :: true
            fi;
            d_step {
                if
                :: !cancels -> state[e] = PENDING
                :: else ->
                    if
                    :: state[e] != PENDING -> undo(e)
                    :: else
                    fi;
                    forget(e)
                fi;
                cancels = false;
                e = 0;
                c = 0
            }
        :: else -> break
        od
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

inline flush()
{
    for (k : 0 .. WORKERS - 1) {
        unpublished[BOX(me, k)] = 0
    }
}

/* The worker's least event to handle: e, or NONE. */
inline find_least()
{
    e = NONE;
    for (k : 0 .. EVENTS - 1) {
        if
        :: state[k] == PENDING && owner[k] == me && (e == NONE || time[k] < time[e]) -> e = k
        :: else
        fi
    }
    k = 0
}

/* Handles the least event; safe ones are committed at once. */
inline handle()
{
    atomic {
        d_step {
            find_least();
            safely = time[e] < safe[me] || time[e] <= now[me];
            state[e] = (safely -> COMMITTED : PROCESSED)
        }
        if
        :: true
        :: used[me] < EACH ->
            if
            :: to = (me + 1) % WORKERS
#if WORKERS > 2
            :: to = (me + 2) % WORKERS
#endif
            fi;
#ifdef EXTRA
            if
            :: true
            :: extra = 1
            fi;
#endif
            d_step {
                k = me * EACH + used[me];
                used[me]++;
                state[k] = IN_TRANSIT;
                owner[k] = to;
                time[k] = time[e] + DELAY(me, to) + extra;
                if
                :: !safely -> child[e] = k
                :: else
                fi;
                put(false, k)
            }
        fi;
        d_step { e = 0; k = 0; c = 0; to = 0; extra = 0; safely = false }
    }
}

inline reach(phase)
{
    d_step {
        assert(reached < round * PHASES + phase || phase == CALLED);
        assert(reached <= round * PHASES + phase);
        reached = round * PHASES + phase
    }
}

inline make_first_cut()
{
    d_step {
#ifndef BUG_NO_FLUSH
        flush();
#endif
        for (k : 0 .. WORKERS - 1) {
            crossing[BOX(me, k)] = NEVER
        }
        sent_least[me] = NEVER;
#ifdef BUG_RESET_EARLY
        transit[TRANSIT(round + 1, me)] = NEVER;
#endif
        k = 0;
        stage = FIRST_CUT;
        cuts++;
        last = cuts % WORKERS == 0
    }
    if
    :: last -> reach(ALL_FIRST); last = false
    :: else
    fi
}

inline lower()
{
    k = 0;
    do
    :: k < WORKERS ->
        d_step {
#ifndef BUG_NO_TRANSIT
            transit[TRANSIT(round, k)] = LESS(crossing[BOX(me, k)], transit[TRANSIT(round, k)]);
#endif
            k++;
            if /* its own: never */
            :: k == me -> k++
            :: else
            fi
        }
    :: else -> break
    od;
    k = 0
}

inline count_second_cut()
{
    d_step { stage = SECOND_CUT; cuts++; last = cuts % WORKERS == 0 }
    if
    :: last -> reach(ALL_SECOND); last = false
    :: else
    fi
}

inline make_second_cut()
{
    receive();
    d_step {
#ifndef BUG_REPORT_UNPUBLISHED
        flush();
#endif
        find_least();
        pending[me] = (e == NONE -> NEVER : time[e]);
#ifdef BUG_NO_SENT_LEAST
        least[me] = pending[me];
#else
        least[me] = LESS(pending[me], sent_least[me]);
#endif
#ifdef BUG_RESET_OWN
        transit[TRANSIT(round, me)] = NEVER;
#elif !defined(BUG_RESET_EARLY)
        transit[TRANSIT(round + 1, me)] = NEVER;
#endif
        reported[me] = round;
        e = 0;
        k = 0
    }
#ifdef BUG_LOWERED_LATE
    count_second_cut();
    lower()
#else
    lower();
    count_second_cut()
#endif
}

inline compute()
{
    d_step {
        extra = NEVER; /* GVT */
        next_safe = NEVER;
        for (k : 0 .. WORKERS - 1) {
            assert(reported[k] == round);
            extra = LESS(least[k], extra);
            e = LESS(pending[k], transit[TRANSIT(round, k)]);
#ifdef BUG_NO_ROUND_TRIP
            if
            :: k != me && e != NEVER -> next_safe = LESS(e + DELAY(k, me), next_safe)
#else
            if
            :: e != NEVER -> next_safe = LESS(e + DELAY(k, me), next_safe)
#endif
            :: else
            fi
        }
        assert(extra >= now[me]);
        assert(result[round] == 0 || result[round] == extra);
        result[round] = extra;
        now[me] = extra;
        /* fossils: nothing before GVT can be cancelled */
        for (k : 0 .. EVENTS - 1) {
            if
            :: state[k] >= PROCESSED && owner[k] == me && time[k] < now[me] ->
                state[k] = COMMITTED;
                child[k] = NONE
            :: else
            fi
        }
        e = 0;
        k = 0;
        c = 0;
        extra = 0
    }
#ifdef BUG_SAFE_BEFORE_RECEIVE
    safe[me] = next_safe;
#endif
    receive();
    d_step { safe[me] = next_safe; next_safe = 0; stage = BEGIN; rounds[me]++ }
}

#define HAS(k) \
    ((k) < EVENTS && state[((k) < EVENTS -> (k) : 0)] == PENDING && owner[((k) < EVENTS -> (k) : 0)] == me)
#define HAS_4(k) (HAS(k) || HAS(k + 1) || HAS(k + 2) || HAS(k + 3))
#define HAS_PENDING (HAS_4(0) || HAS_4(4) || HAS_4(8))

#define HAS_MAIL(from) (len(box[BOX(from, me)]) > unpublished[BOX(from, me)])

proctype worker(byte me)
{
    byte round, stage, e, k, c, to, extra, next_safe;
    bool cancels, safely, last;
end:
    do
    :: stage == BEGIN && round < ROUNDS && reached < (round + 1) * PHASES + CALLED ->
        round++;
        reach(CALLED);
        make_first_cut()
    :: stage == BEGIN && round < ROUNDS && reached >= (round + 1) * PHASES + CALLED ->
        d_step { round++ }
        make_first_cut()
#ifdef BUG_ONE_CUT
    :: stage == FIRST_CUT ->
#else
    :: stage == FIRST_CUT && reached >= round * PHASES + ALL_FIRST ->
#endif
        make_second_cut()
    :: stage == SECOND_CUT && reached >= round * PHASES + ALL_SECOND ->
        compute()
    :: HAS_PENDING -> handle()
    :: HAS_MAIL(OTHER(1)) -> take(OTHER(1))
    :: unpublished[BOX(me, OTHER(1))] > 0 -> unpublished[BOX(me, OTHER(1))] = 0
#if WORKERS > 2
    :: HAS_MAIL(OTHER(2)) -> take(OTHER(2))
    :: unpublished[BOX(me, OTHER(2))] > 0 -> unpublished[BOX(me, OTHER(2))] = 0
#endif
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
            used[w] = INITIAL;
            transit[w] = NEVER;
            transit[WORKERS + w] = NEVER;
            for (k : w * EACH .. w * EACH + INITIAL - 1) {
                if
#if WORKERS > 2 /* fewer states: the third has none */
                :: t = 2 * w + 1
#else
                :: t = 1
                :: w > 0 -> t = 2
                :: w > 0 -> t = START
#endif
                fi;
                state[k] = (w < 2 -> PENDING : UNUSED);
                owner[k] = (w < 2 -> w : 0);
                time[k] = (w < 2 -> t : 0)
            }
        }
        w = 0;
        k = 0;
        t = 0;
        run worker(0);
        run worker(1);
#if WORKERS > 2
        run worker(2)
#endif
    }
    timeout -> /* nobody can go on: every round has ended */
        for (w : 0 .. WORKERS - 1) {
            assert(rounds[w] == ROUNDS)
        }
}
