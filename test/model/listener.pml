/*
 * listener.pml: the events for the LP that only listens (core/run/listen.c), in two drains of two
 * workers that speculate. Each worker keeps what its own events have sent to the listener. At a
 * drain's end both sort, both merge one stretch of the total order each, the thread that drains
 * handles what comes before the end, and both free their own.
 *
 * Claims: the listener's events are handled in the total order, each once, and they are those that
 * a sequential run gives it: all before the end, or before the failed event (I-LISTEN-1). A record
 * is freed once, by its owner, and not read afterwards. A worker sorts with a part of the array that
 * no other one uses, and merges sorted lists only.
 *
 * Cause c has the time c and is worker (c mod 2)'s. It sends at most one event to the listener, 1 or
 * 2 later. A sequential run's choice is drawn first, also that the cause is cancelled or fails. What
 * a speculative handler sends is arbitrary; a cause commits only if that is right. What an undone
 * cause has sent is cancelled at once, or when the cause has been handled again, or before that,
 * when memory is tight. A send may find the list full.
 *
 * While events are handled each worker touches what is its own: the model takes worker 0's first.
 * Sorting is two steps, handling one for each event; merging and freeing are one each, as the lists
 * do not change meanwhile.
 *
 * Planted bugs, each of which must be found:
 *   BUG_NOT_MARKED       undoing a send does not mark the event
 *   BUG_NOT_DROPPED      cancelled events are not dropped before the sorting
 *   BUG_LAZY_FORGOTTEN   what was not sent again is not cancelled
 *   BUG_LAZY_TWICE       what is sent again is added again
 *   BUG_LAZY_GONE        a cancelled cause leaves what it has kept
 *   BUG_LAZY_MARKED      what is kept for reuse is marked as cancelled
 *   BUG_ROOM_STAYS       a full list frees cancelled events that stay in it
 *   BUG_PARTS_OVERLAP    all workers sort with the first part of the array
 *   BUG_MERGE_EARLY      a worker merges before the other one has sorted
 *   BUG_HANDLE_EARLY     events are handled before the other worker has merged
 *   BUG_FREE_EARLY       a worker frees its events while they are handled
 *   BUG_CUT_TWICE        both stretches have the event at the cut
 *   BUG_PLACE_OWN        a stretch begins behind what comes before it in its worker's own list
 *   BUG_COUNT_EARLY      events are counted before the cancelled ones are dropped
 *   BUG_FREE_ALL         events behind the end are freed with the others
 *   BUG_FREE_SHORT       the last event that was handled is not freed
 *   BUG_TO_THE_END       a failed run handles all events before the end
 *   BUG_PAST_THE_END     the end of the drain is not heeded
 */
#ifndef CAUSES
#define CAUSES 2
#endif
#ifndef FIRST_END
#define FIRST_END 3 /* of the first drain; the second one has none */
#endif
#define TRIES 2     /* an event is undone at most once */
#define RECORDS (CAUSES * TRIES)
#define ROOM ((CAUSES + 1) / 2 * TRIES)
#define NONE 255
#define NEVER 250
#define GONE 3      /* right: the cause is cancelled */
#define LAST(w) (CAUSES > (w) + 2 -> (w) + 2 : (w)) /* of worker w's causes */
#define KEY_OF_CAUSE(c) ((c) * 16)
#define KEY(t, c) ((t) * 16 + 1 + (c)) /* of an event at time t that cause c has sent */
#define TIME(key) ((key) / 16)

#define PENDING 0
#define PROCESSED 1
#define COMMITTED 2
#define CANCELLED_CAUSE 3
#define FAILED 4
#define LEFT 5

#define UNUSED 0
#define LIVE 1
#define CANCELLED 2
#define FREED 3

/* The causes. */
byte right[CAUSES], state[CAUSES], tries[CAUSES];
byte sent[CAUSES]; /* a record; of a pending cause, one that is kept for reuse */
byte failing = NONE;

/* Records and lists. */
byte note[RECORDS], key[RECORDS];
bool heard[RECORDS];
byte list[2 * ROOM], count[2];
bool sorted[2];

/* The end of a drain. */
byte scratch[RECORDS]; /* 1 + the worker that sorts with it */
byte merged[RECORDS], first[2], cut, all, handled, end;
byte job, done, goes_on;
bool failed, closed;

#define ENTRY(w, i) list[(w) * ROOM + (i)]
#define DUE(c) ((c) < end)

/* ---- lists */

inline free(r)
{
    assert(note[r] == LIVE || note[r] == CANCELLED);
    note[r] = FREED
}

inline drop_cancelled(w)
{
    kept = 0;
    for (i : 0 .. ROOM - 1) {
        if
        :: i < count[w] && note[ENTRY(w, i)] == CANCELLED -> free(ENTRY(w, i))
        :: i < count[w] && note[ENTRY(w, i)] != CANCELLED ->
            ENTRY(w, kept) = ENTRY(w, i);
            kept++
        :: else
        fi
    }
    for (i : 0 .. ROOM - 1) {
        if
        :: i >= kept -> ENTRY(w, i) = NONE
        :: else
        fi
    }
    count[w] = kept; kept = 0; i = 0
}

inline mark(r)
{
    if
    :: r != NONE ->
        assert(note[r] == LIVE);
#ifndef BUG_NOT_MARKED
        note[r] = CANCELLED
#endif
    :: else
    fi
}

inline add(w, r)
{
    assert(note[r] == UNUSED && count[w] < ROOM);
    note[r] = LIVE;
    ENTRY(w, count[w]) = r;
    count[w]++
}

/* ---- events */

/* The send of cause c, `delay` later; 0: it sends nothing. */
inline send(c, delay)
{
    old = sent[c];
    if
    :: old != NONE && delay > 0 && key[old] == KEY(c + delay, c) -> /* it is out already */
#ifdef BUG_LAZY_TWICE
        r = (c) * TRIES + tries[c]; key[r] = key[old]; add(c % 2, r)
#endif
    :: else ->
        sent[c] = NONE;
        if
        :: delay > 0 ->
            if
            :: true
#ifdef BUG_ROOM_STAYS
            :: true ->
                for (i : 0 .. ROOM - 1) {
                    if
                    :: i < count[c % 2] && note[ENTRY(c % 2, i)] == CANCELLED -> free(ENTRY(c % 2, i))
                    :: else
                    fi
                }
                i = 0
#else
            :: true -> drop_cancelled(c % 2) /* the list is full */
#endif
            fi;
            r = (c) * TRIES + tries[c];
            key[r] = KEY(c + delay, c);
            add(c % 2, r);
            sent[c] = r
        :: else
        fi;
#ifndef BUG_LAZY_FORGOTTEN
        mark(old)
#endif
    fi;
    tries[c]++;
    old = NONE; r = NONE
}

#define IS_RIGHT(c) (right[c] != GONE && \
    (right[c] == 0 && sent[c] == NONE || \
     right[c] > 0 && sent[c] != NONE && key[sent[c]] == KEY(c + right[c], c)))

/* All that is due was handled and is final; or, at a failure, what comes before it. */
#define SETTLED(c) (!DUE(c) || state[c] >= COMMITTED)

inline speculate(c)
{
    if
    :: delay = 0
    :: delay = 1
    :: delay = 2
    fi;
    state[c] = PROCESSED;
    send(c, delay);
    delay = 0
}

inline step(c)
{
    if
    :: state[c] == PENDING && tries[c] + 1 < TRIES -> speculate(c)
    :: state[c] == PENDING && right[c] != GONE && c != failing -> /* safe */
        send(c, right[c]);
        state[c] = COMMITTED
    :: state[c] == PENDING && right[c] == GONE ->
#ifndef BUG_LAZY_GONE
        mark(sent[c]);
#endif
        sent[c] = NONE;
        state[c] = CANCELLED_CAUSE
    :: state[c] == PENDING && sent[c] != NONE -> /* memory is tight */
        mark(sent[c]);
        sent[c] = NONE
    :: state[c] == PENDING && c == failing -> /* for good */
        mark(sent[c]);
        sent[c] = NONE;
        state[c] = FAILED
    :: state[c] == PROCESSED && IS_RIGHT(c) && c != failing -> state[c] = COMMITTED
    :: state[c] == PROCESSED -> /* undone, its send cancelled at once */
        state[c] = PENDING;
        mark(sent[c]);
        sent[c] = NONE
    :: state[c] == PROCESSED -> /* undone, its send kept */
        state[c] = PENDING;
#ifdef BUG_LAZY_MARKED
        mark(sent[c])
#endif
    :: failing != NONE && c > failing -> state[c] = LEFT /* the run ends before it is final */
    fi
}

/* Worker 0's events, then worker 1's. */
inline run_events()
{
    w = 0;
    do
    :: atomic { w == 2 -> w = 0; break }
    :: atomic { w < 2 && SETTLED(w) && SETTLED(LAST(w)) -> w++ }
    :: atomic { w < 2 && !SETTLED(w) -> c = w; step(c); c = 0 }
    :: atomic { w < 2 && LAST(w) != w && !SETTLED(LAST(w)) -> c = LAST(w); step(c); c = 0 }
    od
}

/* ---- the end of a drain */

inline sort_own()
{
    d_step {
#ifndef BUG_NOT_DROPPED
        drop_cancelled(me);
#endif
#ifdef BUG_PARTS_OVERLAP
        k = 0;
#else
        k = first[me];
#endif
        for (i : 0 .. ROOM - 1) {
            if
            :: i < count[me] -> assert(scratch[k + i] == 0); scratch[k + i] = 1 + me
            :: else
            fi
        }
        i = 0
    }
    d_step {
        for (i : 0 .. ROOM - 1) {
            if
            :: i < count[me] -> assert(scratch[k + i] == 1 + me); scratch[k + i] = 0
            :: else
            fi
        }
        for (i : 1 .. ROOM - 1) {
            for (j : 1 .. ROOM - 1) {
                if
                :: j < count[me] && key[ENTRY(me, j)] < key[ENTRY(me, j - 1)] ->
                    r = ENTRY(me, j); ENTRY(me, j) = ENTRY(me, j - 1); ENTRY(me, j - 1) = r
                :: else
                fi
            }
        }
        sorted[me] = true;
        i = 0; j = 0; k = 0; r = NONE
    }
}

/* The place of the first entry of worker w that does not come before the bound. */
inline place_of_bound(w, bound, place)
{
    place = 0;
    for (i : 0 .. ROOM - 1) {
        if
        :: i < count[w] && key[ENTRY(w, i)] < bound -> place++
        :: else
        fi
    }
    i = 0
}

inline merge_stretch()
{
    d_step {
        assert(sorted[0] && sorted[1]);
        if
        :: me == 0 ->
            place_of_bound(0, cut, until[0]);
            place_of_bound(1, cut, until[1]);
#ifdef BUG_CUT_TWICE
            until[0] = (until[0] < count[0] -> until[0] + 1 : until[0])
#endif
        :: else ->
            place_of_bound(0, cut, at[0]);
            place_of_bound(1, cut, at[1]);
            until[0] = count[0]; until[1] = count[1]
        fi;
#ifdef BUG_PLACE_OWN
        k = at[me];
#else
        k = at[0] + at[1];
#endif
        do
        :: at[0] < until[0] &&
               (at[1] >= until[1] || key[ENTRY(0, at[0])] < key[ENTRY(1, at[1])]) ->
            assert(merged[k] == NONE); merged[k] = ENTRY(0, at[0]); at[0]++; k++
        :: at[1] < until[1] &&
               (at[0] >= until[0] || key[ENTRY(1, at[1])] < key[ENTRY(0, at[0])]) ->
            assert(merged[k] == NONE); merged[k] = ENTRY(1, at[1]); at[1]++; k++
        :: else -> break
        od;
        at[0] = 0; at[1] = 0; until[0] = 0; until[1] = 0; k = 0
    }
}

inline free_own()
{
    d_step {
        if
        :: handled == all -> k = count[me]
        :: else -> place_of_bound(me, key[merged[handled]], k)
        fi;
#ifdef BUG_FREE_ALL
        k = count[me];
#endif
#ifdef BUG_FREE_SHORT
        k = (k > 0 -> k - 1 : 0);
#endif
        for (i : 0 .. ROOM - 1) {
            if
            :: i < k -> free(ENTRY(me, i))
            :: else
            fi
        }
        for (i : 0 .. ROOM - 1) {
            if
            :: i + k < count[me] -> ENTRY(me, i) = ENTRY(me, i + k)
            :: else -> ENTRY(me, i) = NONE
            fi
        }
        count[me] = count[me] - k;
        sorted[me] = false;
        i = 0; k = 0
    }
}

/* The calls of parallel_each_worker(): `job` counts the steps that were due, and each call returns
 * when both workers have made its step (I-THREADS-1). */
proctype second()
{
    byte me = 1, i, j, k, r = NONE, kept, at[2], until[2], before;
    do
    :: job >= before + 1; sort_own(); done++;
#ifndef BUG_MERGE_EARLY
        job >= before + 2;
#endif
        merge_stretch(); done++;
#ifndef BUG_FREE_EARLY
        job >= before + 3;
#else
        done >= 2 * before + 4;
#endif
        free_own(); done++;
        before = before + 3;
        if
        :: closed -> break
        :: goes_on >= before
        fi
    od
}

inline take_samples()
{
    d_step {
        /* each worker's first and middle entries; the second stretch begins at the middle one */
        k = 0;
        for (j : 0 .. 1) {
            if
            :: count[j] > 0 ->
                sample[k] = key[ENTRY(j, 0)]; k++;
                sample[k] = key[ENTRY(j, count[j] / 2)]; k++
            :: else
            fi
        }
        for (i : 1 .. 3) {
            for (j : 1 .. 3) {
                if
                :: j < k && sample[j] < sample[j - 1] ->
                    r = sample[j]; sample[j] = sample[j - 1]; sample[j - 1] = r
                :: else
                fi
            }
        }
        cut = sample[k / 2];
        for (j : 0 .. 3) { sample[j] = 0 }
        i = 0; j = 0; k = 0; r = NONE
    }
}

inline handle_merged()
{
    do
    :: d_step { handled < all && TIME(key[merged[handled]]) < end &&
#ifdef BUG_TO_THE_END
                true ->
#else
                (!failed || key[merged[handled]] < KEY_OF_CAUSE(failing)) ->
#endif
        r = merged[handled];
        assert(note[r] == LIVE && !heard[r] && key[r] > latest);
        latest = key[r];
        heard[r] = true;
        handled++;
        r = NONE }
#ifdef BUG_PAST_THE_END
    :: d_step { handled < all && TIME(key[merged[handled]]) >= end && !failed ->
        r = merged[handled]; heard[r] = true; handled++; r = NONE }
#endif
    :: atomic { else -> break }
    od
}

/* What the listener has heard is what a sequential run gives it. */
inline check_heard()
{
    d_step {
        for (i : 0 .. CAUSES - 1) {
            k = 0;
            for (j : 0 .. TRIES - 1) {
                if
                :: heard[i * TRIES + j] ->
                    k++;
                    assert(right[i] != GONE && right[i] > 0 &&
                           key[i * TRIES + j] == KEY(i + right[i], i));
                    assert(note[i * TRIES + j] == FREED)
                :: else
                fi
            }
            if
            :: right[i] != GONE && right[i] > 0 && DUE(i) && i + right[i] < end &&
               (!failed || KEY(i + right[i], i) < KEY_OF_CAUSE(failing)) -> assert(k == 1)
            :: else -> assert(k == 0)
            fi
        }
        for (i : 0 .. RECORDS - 1) {
            assert(failed || note[i] != CANCELLED); /* none is left behind */
            assert(failed || end != NEVER || note[i] == UNUSED || note[i] == FREED)
        }
        i = 0; j = 0; k = 0
    }
}

active proctype first_worker()
{
    byte me = 0, i, j, k, r = NONE, old = NONE, kept, at[2], until[2], sample[4], latest, drains;
    byte w, c, delay;
    d_step {
        for (i : 0 .. CAUSES - 1) { sent[i] = NONE }
        for (i : 0 .. RECORDS - 1) { merged[i] = NONE }
        for (i : 0 .. 2 * ROOM - 1) { list[i] = NONE }
        end = FIRST_END;
        i = 0
    }
    atomic {
        for (i : 0 .. CAUSES - 1) {
            if
            :: right[i] = 0
            :: right[i] = 1
            :: right[i] = 2
            :: right[i] = GONE
            fi
        }
        i = 0;
        if
        :: true
        :: right[1] != GONE -> failing = 1
        :: right[CAUSES - 1] != GONE -> failing = CAUSES - 1
        fi;
        run second()
    }
    do
    :: run_events();
        skip;
        d_step {
            failed = failing != NONE && DUE(failing);
            first[0] = 0;
            first[1] = count[0];
#ifdef BUG_COUNT_EARLY
            all = count[0] + count[1];
#endif
            job++
        }
        sort_own(); done++;
#ifndef BUG_MERGE_EARLY
        done == 6 * drains + 2;
#endif
        take_samples();
        d_step {
#ifndef BUG_COUNT_EARLY
            all = count[0] + count[1];
#endif
            job++
        }
        merge_stretch(); done++;
#ifndef BUG_HANDLE_EARLY
        done >= 6 * drains + 4;
#endif
        handle_merged();
        job++;
        free_own(); done++;
        done == 6 * drains + 6;
        check_heard();
        drains++;
        if
        :: drains == 2 || failed -> closed = true; break
        :: else ->
            d_step {
                for (i : 0 .. RECORDS - 1) { merged[i] = NONE }
                i = 0; end = NEVER; handled = 0; all = 0; cut = 0;
                goes_on = 3 * drains
            }
        fi
    od
}
