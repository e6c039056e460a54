/*
 * recorder.pml: records on their way from two workers to the recorder (core/exchange/recorder.h and
 * record_outbox.h).
 *
 * Claims: when the recorder has delivered a bound, the records of all events before it have been
 * delivered, in the order of their times, each once (I-GVT-3, I-MERGE-1); a chunk is read, written
 * and given back by the side that owns it, and none is lost (I-REC-1); the bound does not change
 * while the recorder delivers it, and all is delivered in the end (I-REC-2); the workers, the
 * recorder and the host all come to an end (I-REC-3).
 *
 * Event e has the time e + 1. Event 1 is worker 1's, all others are worker 0's. A worker handles its
 * events in any order.
 * It commits each one at once, or when GVT has passed it. Cancellations and messages are gvt.pml's
 * matter, so GVT is the least event that is pending. A chunk has room for UNITS events.
 *
 * Names are those of core/exchange/recorder.c, record_outbox.c and record_merge.c. Each load or
 * store of `used`, `next`, `first`, `spent`, `asked`, `closed` and `asleep` is a step of its own. A
 * look at all slots is one step, because what it waits for stays true.
 *
 * Planted bugs, each of which must be found:
 *   BUG_NEXT_AFTER_USED      the recorder reads `used` before `next`
 *   BUG_SPEND_OPEN           a chunk is given back before it has a successor
 *   BUG_SPENT_OVERWRITTEN    chunks are given back before the worker has taken the last ones
 *   BUG_ASK_EARLY            worker 0 asks before the other worker has made its first cut
 *   BUG_ASK_TWICE            worker 0 asks while the recorder still delivers
 *   BUG_COMMIT_LATE          events before GVT are committed after the next first cut
 *   BUG_CLOSED_LAST          the recorder reads `asked` before `closed`
 *   BUG_SLEEP_BLIND          the recorder does not look once more before it sleeps
 *   BUG_WAKE_FIRST           worker 0 looks for the sleeper before it asks
 *   BUG_WAIT_FOR_IDLE        a worker waits though the recorder has nothing to deliver
 */
#ifndef EVENTS
#define EVENTS 4
#endif
#ifndef UNITS
#define UNITS 1
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef MOST
#define MOST 0 /* chunks that may be lent to the recorder before a worker waits */
#endif

#define CHUNKS (EVENTS - 1) /* of each worker */
#define OWNER(event) ((event) == 1 -> 1 : 0)
#define NEVER 255
#define NONE 255
#define MINE(event) (OWNER(event) == me)

#define PENDING 0
#define PROCESSED 1
#define COMMITTED 2

byte state[EVENTS];
bool taken[EVENTS], delivered[EVENTS];
byte chunk_of[EVENTS];

/* chunks: those of worker w are numbered from w * CHUNKS on */
byte data[2 * CHUNKS * UNITS];
byte used[2 * CHUNKS], next[2 * CHUNKS], older[2 * CHUNKS], left[2 * CHUNKS];
bool ended[2 * CHUNKS];
bool lent_out[2 * CHUNKS]; /* in the chain that the recorder reads */
byte first[2], spent[2];
byte lent[2], spare[2], fresh[2]; /* each worker's own */

byte first_cut[2], second_cut[2], least[2];
bool asked, closed, asleep;
byte bound;
byte over; /* processes that have come to rest */

/* the recorder's, then the host's */
byte reading[2], read[2], list[2], last;

inline take_back()
{
    c = spent[me];
    if
    :: c != NONE ->
        spent[me] = NONE;
        d_step {
            do
            :: c != NONE ->
                assert(lent_out[c] && left[c] == 0 && ended[c]);
                lent_out[c] = false;
                k = older[c];
                older[c] = spare[me];
                spare[me] = c;
                lent[me]--;
                c = k
            :: else -> break
            od;
            k = 0
        }
    :: else
    fi;
    c = NONE
}

inline publish()
{
    if
    :: open != NONE && used[open] != written ->
        d_step { assert(lent_out[open]); used[open] = written }
    :: else
    fi
}

/* Appends an event; opens a chunk if need be. */
inline add(event)
{
    if
    :: open == NONE || written == UNITS ->
        if
        :: spare[me] == NONE -> take_back()
        :: else
        fi;
        d_step {
            if
            :: spare[me] != NONE ->
                c = spare[me];
                spare[me] = older[c]
            :: else ->
                assert(fresh[me] < CHUNKS);
                c = me * CHUNKS + fresh[me];
                fresh[me]++
            fi;
            assert(!lent_out[c]);
            used[c] = 0;
            next[c] = NONE;
            older[c] = NONE;
            ended[c] = false
        }
        publish();
        d_step {
            lent_out[c] = true;
            if
            :: open == NONE -> first[me] = c
            :: else ->
                assert(next[open] == NONE && lent_out[open]);
                next[open] = c;
                lent[me]++
            fi;
            open = c;
            written = 0;
            c = NONE
        }
    :: else
    fi;
    d_step {
        assert(lent_out[open] && used[open] <= written);
        data[open * UNITS + written] = event;
        written++;
        state[event] = COMMITTED
    }
}

/* Commits what was handled and is before GVT. */
inline collect()
{
    do
    :: true ->
        d_step {
            e = NONE;
            k = 0;
            do
            :: k < EVENTS ->
                if
                :: MINE(k) && state[k] == PROCESSED && k + 1 < now && e == NONE -> e = k
                :: else
                fi;
                k++
            :: else -> break
            od;
            k = 0
        }
        if
        :: e != NONE -> add(e)
        :: else -> break
        fi
    od;
    e = 0
}

inline wake()
{
    if
    :: asleep -> asleep = false
    :: else
    fi
}

inline ask()
{
    if
#ifdef BUG_ASK_TWICE
    :: true ->
#else
    :: !asked ->
#endif
        bound = now;
#ifdef BUG_WAKE_FIRST
        wake();
        asked = true
#else
        asked = true;
        wake()
#endif
    :: else
    fi
}

inline least_pending()
{
    d_step {
        k = 0;
        least[me] = NEVER;
        do
        :: k < EVENTS ->
            if
            :: MINE(k) && state[k] == PENDING && least[me] == NEVER -> least[me] = k + 1
            :: else
            fi;
            k++
        :: else -> break
        od;
        k = 0
    }
}

proctype worker(byte me)
{
    byte open = NONE, written, round, now, e, k, c = NONE, pending = (me == 0 -> EVENTS - 1 : 1);
    do
    :: pending > 0 -> /* handles an event */
        if
        :: MINE(0) && state[0] == PENDING -> e = 0
        :: MINE(1) && state[1] == PENDING -> e = 1
        :: MINE(2) && state[2] == PENDING -> e = 2
#if EVENTS > 3
        :: MINE(3) && state[3] == PENDING -> e = 3
#endif
#if EVENTS > 4
        :: MINE(4) && state[4] == PENDING -> e = 4
#endif
        fi;
        pending--;
        if
        :: state[e] = PROCESSED
        :: add(e)
        fi;
        e = 0
    :: (round + 1 < ROUNDS || pending == 0) && round < ROUNDS -> /* a round */
        round++;
        publish();
        d_step { first_cut[me] = round }
#ifdef BUG_ASK_EARLY
        if
        :: me == 0 -> ask()
        :: else
        fi;
        first_cut[0] >= round && first_cut[1] >= round;
#else
        first_cut[0] >= round && first_cut[1] >= round;
        if
        :: me == 0 -> ask()
        :: else
        fi;
#endif
        least_pending();
        second_cut[me] = round;
        second_cut[0] >= round && second_cut[1] >= round;
        now = (least[0] < least[1] -> least[0] : least[1]);
#ifdef BUG_COMMIT_LATE
        if
        :: round == ROUNDS -> collect()
        :: else
        fi;
#else
        collect();
#endif
        if
        :: round == ROUNDS -> break
        :: else
        fi;
#ifdef BUG_COMMIT_LATE
        if
        :: skip
        :: collect()
        fi;
#endif
        do /* wait_for_recorder() */
        :: lent[me] > MOST ->
            take_back();
#ifdef BUG_WAIT_FOR_IDLE
            lent[me] <= MOST || spent[me] != NONE
#else
            if
            :: lent[me] <= MOST || !asked -> break
            :: lent[me] > MOST && (!asked || spent[me] != NONE)
            fi
#endif
        :: else -> break
        od
    od;
    publish();
    if
    :: me == 0 ->
        closed = true;
        wake()
    :: else
    fi;
    over++
}

inline give_back(w)
{
    if
    :: list[w] != NONE ->
#ifdef BUG_SPENT_OVERWRITTEN
        if
        :: true ->
#else
        if
        :: spent[w] == NONE ->
#endif
            d_step { spent[w] = list[w]; list[w] = NONE }
        :: else
        fi
    :: else
    fi
}

inline spend(w, chunk)
{
    d_step { assert(lent_out[chunk]); older[chunk] = list[w]; list[w] = chunk }
    give_back(w)
}

inline take_events(w)
{
    d_step {
        do
        :: read[w] < seen ->
            assert(lent_out[reading[w]] && !ended[reading[w]]);
            e = data[reading[w] * UNITS + read[w]];
            assert(OWNER(e) == w && !taken[e]);
            taken[e] = true;
            chunk_of[e] = reading[w];
            left[reading[w]]++;
            read[w]++
        :: else -> break
        od;
        e = 0
    }
}

inline take_lane(w)
{
    do
    :: true ->
        if
        :: reading[w] == NONE -> after = first[w]
        :: else ->
#ifdef BUG_NEXT_AFTER_USED
            seen = used[reading[w]];
            after = next[reading[w]];
#else
            after = next[reading[w]];
            seen = used[reading[w]];
#endif
            take_events(w)
        fi;
        if
        :: after == NONE -> break
        :: else
        fi;
        c = reading[w];
        d_step {
            reading[w] = after;
            read[w] = 0;
            if
            :: c != NONE -> ended[c] = true
            :: else
            fi
        }
        if
        :: c != NONE && left[c] == 0 -> spend(w, c)
        :: else
        fi
    od;
    skip; /* no jump ends in a d_step */
    d_step { c = NONE; after = NONE; seen = 0 }
}

/* Delivers what was taken and is before the limit. */
inline deliver(limit)
{
    e = 0;
    do
    :: e < EVENTS && e + 1 < limit ->
        if
        :: taken[e] && !delivered[e] ->
            d_step {
                assert(e + 1 > last);
                last = e + 1;
                delivered[e] = true;
                c = chunk_of[e];
                assert(left[c] > 0 && lent_out[c]);
                left[c]--
            }
#ifdef BUG_SPEND_OPEN
            if
            :: left[c] == 0 -> d_step { ended[c] = true } spend(OWNER(e), c)
#else
            if
            :: left[c] == 0 && ended[c] -> spend(OWNER(e), c)
#endif
            :: else
            fi;
            c = NONE
        :: else
        fi;
        e++
    :: else -> break
    od;
    e = 0;
    give_back(0);
    give_back(1)
}

inline check_delivered(limit)
{
    d_step {
        e = 0;
        do
        :: e < EVENTS ->
            assert(e + 1 >= limit || delivered[e]);
            e++
        :: else -> break
        od;
        e = 0
    }
}

proctype recorder()
{
    byte e, c = NONE, seen, after = NONE;
    bool end, go;
    do
    :: true ->
#ifdef BUG_CLOSED_LAST
        go = asked;
        end = closed;
#else
        end = closed;
        go = asked;
#endif
        if
        :: go ->
            take_lane(0);
            take_lane(1);
            deliver(bound);
            check_delivered(bound);
            asked = false
        :: !go && end -> break
        :: else ->
            asleep = true;
#ifndef BUG_SLEEP_BLIND
            if
            :: asked -> skip
            :: else ->
                if
                :: closed -> skip
                :: else -> !asleep
                fi
            fi;
#else
            !asleep;
#endif
            asleep = false
        fi
    od;
    over++
}

/* Afterwards: delivers the rest, and counts the chunks. */
proctype host()
{
    byte e, c = NONE, seen, after = NONE, count;
    over == 3;
    assert(!asked);
    take_lane(0);
    take_lane(1);
    deliver(NEVER);
    check_delivered(NEVER);
    d_step {
        e = 0;
        do
        :: e < 2 ->
            c = reading[e];
            do :: c != NONE -> count++; c = next[c] :: else -> break od;
            c = spent[e];
            do :: c != NONE -> count++; c = older[c] :: else -> break od;
            c = list[e];
            do :: c != NONE -> count++; c = older[c] :: else -> break od;
            c = spare[e];
            do :: c != NONE -> count++; c = older[c] :: else -> break od;
            e++
        :: else -> break
        od;
        assert(count == fresh[0] + fresh[1])
    }
    over++
}

/* Nothing can go on: then all have come to their end. */
proctype watchdog()
{
    timeout -> assert(over == 4)
}

init
{
    byte i;
    atomic {
        d_step {
            i = 0;
            do
            :: i < 2 * CHUNKS -> next[i] = NONE; older[i] = NONE; i++
            :: else -> break
            od;
            i = 0;
            do
            :: i < 2 ->
                first[i] = NONE;
                spent[i] = NONE;
                spare[i] = NONE;
                reading[i] = NONE;
                list[i] = NONE;
                i++
            :: else -> break
            od
        }
        run worker(0);
        run worker(1);
        run recorder();
        run host();
        run watchdog()
    }
}
