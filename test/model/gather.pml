/*
 * gather.pml: the hand-over of workers in core/run/gather.c: thread 0 asks the others to park,
 * runs their workers together with its own, and gives them back, again and again; the drain ends in
 * either way, or a worker aborts it at any moment.
 *
 * Claims: no worker is touched by two threads at once (I-GATHER-1); when nothing can go on any more
 * all threads have ended (I-GATHER-4); a drain that was not aborted ends with no work left.
 *
 * Each thread has one worker with a few turns of work. A worker has ended when it sees, in a turn of
 * its own, that no worker has any left. With TOGETHER the drain begins gathered: the other threads are
 * started when they part, or never. Each load and store of a shared word is a step. A sleep has
 * no time-out.
 *
 * Planted bugs, each of which must be found:
 *   BUG_NO_AWAIT         thread 0 does not wait for the others' words
 *   BUG_PARK_FIRST       a thread sets its word before its last turn
 *   BUG_OVER_LAST        thread 0 clears the words, and then says that the drain is over
 *   BUG_LOOK_FIRST       a thread looks whether the drain is over, and then sets its word
 *   BUG_WAKE_FIRST       thread 0 wakes the others before its last turn of their workers
 */
#ifndef THREADS
#define THREADS 3
#endif
#ifndef WORK
#define WORK 2
#endif
#ifndef CHANGES
#define CHANGES 2
#endif
#define RUNS 0
#define PARKED 1
#define HAS_ENDED 2

byte parked[THREADS];
bool paused, over, aborted, started;
byte work[THREADS], left; /* turns with something to do; of all workers */
bool worker_ended[THREADS], thread_ended[THREADS], touched[THREADS];

inline turn(w)
{
    atomic { assert(!touched[w]); touched[w] = true }
    atomic {
        if
        :: work[w] > 0 -> work[w]--; left--
        :: work[w] == 0 && left == 0 -> worker_ended[w] = true
        :: work[w] == 0 && left > 0
        :: !aborted -> aborted = true
        fi;
    }
    touched[w] = false
}

inline stay_parked()
{
#ifdef BUG_LOOK_FIRST
    parked[t] != PARKED /* sleeps until its word is cleared */
#else
    do
    :: parked[t] == RUNS -> break
    :: else ->
        if
        :: over -> break
        :: else -> parked[t] != PARKED /* sleeps until its word is cleared */
        fi
    od
#endif
}

proctype other(byte t)
{
    do
    :: true ->
        stay_parked(); /* the drain may begin so */
        if
        :: over -> break
        :: else
        fi;
        do
        :: paused || aborted || worker_ended[t] -> break
        :: else ->
#ifdef BUG_PARK_FIRST
            if
            :: paused -> parked[t] = PARKED
            :: else
            fi;
#endif
            turn(t)
        od;
        if
        :: aborted || worker_ended[t] -> break
        :: else
        fi;
#ifdef BUG_LOOK_FIRST
        if
        :: over -> break
        :: else
        fi;
#endif
        parked[t] = PARKED
    od;
    parked[t] = HAS_ENDED;
    thread_ended[t] = true
}

inline start_others()
{
    atomic {
        i = 1;
        do
        :: i < THREADS -> run other(i); i++
        :: i == THREADS -> break
        od;
        started = true
    }
}

inline release_others()
{
    i = 1;
    do
    :: i < THREADS ->
        if
        :: parked[i] == PARKED -> parked[i] = RUNS
        :: else
        fi;
        i++
    :: i == THREADS -> break
    od
}

inline join()
{
    i = 1;
    do
    :: i < THREADS ->
#ifndef BUG_NO_AWAIT
        (parked[i] != RUNS || aborted);
#endif
        i++
    :: i == THREADS -> break
    od;
    if
    :: !aborted -> together = true
    :: else
    fi
}

inline turn_of_each()
{
    w = 0;
    do
    :: w < THREADS ->
        if
        :: !worker_ended[w] && !aborted -> turn(w)
        :: else
        fi;
        w++
    :: w == THREADS -> break
    od
}

#define ALL_ENDED (worker_ended[0] && worker_ended[1] && worker_ended[THREADS - 1])

active proctype first()
{
    byte i, w, changes = CHANGES;
    bool together;
    atomic {
        i = 0;
        do
        :: i < THREADS -> work[i] = WORK; left = left + WORK; i++
        :: i == THREADS -> break
        od;
#ifdef TOGETHER
        together = true;
        paused = true;
        i = 1;
        do
        :: i < THREADS -> parked[i] = PARKED; i++
        :: i == THREADS -> break
        od
#endif
    }
#ifndef TOGETHER
    start_others();
#endif
    do
    :: aborted || (together && ALL_ENDED) || (!together && worker_ended[0]) -> break
    :: else ->
        if
        :: together -> turn_of_each()
        :: !together -> turn(0)
        fi;
        if
        :: changes > 0 && !aborted && !worker_ended[0] ->
            changes--;
            if
            :: together ->
                together = false;
                paused = false;
                release_others();
                if
                :: !started -> start_others()
                :: started
                fi;
#ifdef BUG_WAKE_FIRST
                turn_of_each()
#endif
            :: !together ->
                paused = true;
                join()
            fi
        :: true
        fi
    od;
#ifdef BUG_OVER_LAST
    release_others();
    over = true;
#else
    over = true;
    release_others();
#endif
    thread_ended[0] = true
}

active proctype watcher()
{
    byte i;
    timeout ->
    atomic {
        do
        :: i < THREADS -> assert(thread_ended[i] || !started && i > 0); i++
        :: i == THREADS -> break
        od;
        assert(aborted || left == 0)
    }
}
