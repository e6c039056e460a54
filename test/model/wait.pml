/*
 * wait.pml: how workers sleep and are woken (core/speculation/wait.c), around promises (promise.c) and
 * calls of rounds (gvt.c). A worker that finds nothing to do sleeps at once: when it sleeps is a
 * matter of speed, so this is also a worker that has lost its core to another program, and one that
 * comes from short turns. A sleep has no time-out; a nap ends by itself.
 *
 * Claims: of workers that wait for each other in a circle one stays awake: as long as one has not come
 * to the end, some worker goes on (I-WAIT-1). No worker sleeps while a new promise of the worker that
 * it waits for is out, or what it awaits of a round, and nobody is about to wake it (I-WAIT-2).
 *
 * Each worker raises its bound to the least of the others' promises, DELAY later, and promises it. A
 * round raises it to 1 beyond the least of all. All end when all have the bound LAST. Messages, cuts and what
 * is reported are mailbox.pml's and gvt.pml's matter: a round has one cut here. Each load and store
 * of a shared word is a step. The looks for sleepers are one for each worker.
 *
 * Planted bugs, each of which must be found:
 *   BUG_LOOK_FIRST       a worker looks for a new promise, and then says that it sleeps
 *   BUG_CIRCLE_FIRST     it looks whether the other one sleeps, and then says that it sleeps
 *   BUG_CIRCLE_BLIND     it does not look whether the other one sleeps
 *   BUG_CALL_UNSEEN      it does not look whether a round is called before it sleeps
 *   BUG_WAKE_FIRST       a worker looks for sleepers, and then promises
 *   BUG_COUNTED_LATE     it counts as a sleeper after its looks
 *   BUG_CALL_SILENT      the call of a round wakes nobody
 *   BUG_END_SILENT       the last worker's cut wakes nobody
 *   BUG_WAKE_OTHERS      a promise wakes those that sleep for other workers
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef DELAY
#define DELAY 0
#endif
#ifndef LAST
#define LAST 2
#endif
#define NEVER 99
#define CALLED(round) (2 * (round) + 1)
#define ALL_CUT(round) (2 * (round) + 2)

byte promise[WORKERS], waits_for[WORKERS]; /* 1 + a worker; 0: it does not sleep */
byte sleepers;
bool asleep[WORKERS];
byte saw[WORKERS], wants[WORKERS]; /* of a sleeper: the promise it has seen, the word it awaits */
bool promising[WORKERS];           /* a promise is out, and its sleepers are not all awake yet */
byte telling;                      /* workers that have changed `reached`, likewise */
byte reached, cuts;
byte report[2 * WORKERS]; /* of even and odd rounds */
byte ended;

inline wake(all)
{
    if
    :: sleepers == 0
    :: else ->
        k = 0;
        do
        :: k == WORKERS -> break
        :: atomic { k < WORKERS ->
            if
#ifdef BUG_WAKE_OTHERS
            :: k != me && waits_for[k] != 0 && (all || waits_for[k] != 1 + me) -> waits_for[k] = 0
#else
            :: k != me && waits_for[k] != 0 && (all || waits_for[k] == 1 + me) -> waits_for[k] = 0
#endif
            :: else
            fi;
            k++ }
        od;
        k = 0
    fi
}

inline sleep_for()
{
#ifdef BUG_LOOK_FIRST
    awake = awake || promise[by] != seen;
#endif
#ifdef BUG_CIRCLE_FIRST
    awake = awake || waits_for[by] != 0;
#endif
#ifndef BUG_COUNTED_LATE
    sleepers++;
#endif
    waits_for[me] = 1 + by;
#if !defined(BUG_CIRCLE_FIRST) && !defined(BUG_CIRCLE_BLIND)
    awake = awake || waits_for[by] != 0;
#endif
#ifndef BUG_LOOK_FIRST
    awake = awake || promise[by] != seen;
#endif
#ifndef BUG_CALL_UNSEEN
    awake = awake || reached >= (cut -> ALL_CUT(round) : CALLED(round));
#endif
#ifdef BUG_COUNTED_LATE
    sleepers++;
#endif
    if
    :: awake
    :: else ->
        d_step { asleep[me] = true; saw[me] = seen; wants[me] = (cut -> ALL_CUT(round) : CALLED(round)) };
        d_step { waits_for[me] != 1 + by || ended == WORKERS ->
            asleep[me] = false; saw[me] = 0; wants[me] = 0 }
    fi;
    waits_for[me] = 0;
    sleepers--;
    awake = false
}

proctype worker(byte me)
{
    byte bound, promised, by, seen, least, k, p, round;
    bool wanted, cut, moved, awake;
    do
    :: ended == WORKERS -> break
    :: else ->
        /* refresh_safe_bound() */
        least = NEVER; by = me; k = 0;
        do
        :: k == WORKERS -> break
        :: atomic { k < WORKERS ->
            if
            :: k != me && promise[k] + DELAY <= least ->
                least = promise[k] + DELAY; by = k; seen = promise[k]
            :: else
            fi;
            k++ }
        od;
        atomic {
            k = 0;
            least = (least > LAST -> LAST : least);
            moved = least > bound;
            bound = (moved -> least : bound);
            least = 0
        }
        /* gvt_step() */
        if
        :: !cut && (wanted || reached >= CALLED(round)) ->
            if
            :: reached < CALLED(round) ->
                d_step { reached = CALLED(round); telling++ };
#ifndef BUG_CALL_SILENT
                wake(true);
#endif
                telling--
            :: else
            fi;
            report[(round % 2) * WORKERS + me] = bound;
            cut = true;
            d_step { cuts++; p = (cuts % WORKERS == 0) };
            if
            :: p ->
                d_step { reached = ALL_CUT(round); telling++ };
#ifndef BUG_END_SILENT
                wake(true);
#endif
                telling--
            :: else
            fi;
            p = 0
        :: else
        fi;
        if
        :: cut && reached >= ALL_CUT(round) ->
            d_step {
                p = NEVER;
                for (k : 0 .. WORKERS - 1) {
                    p = (report[(round % 2) * WORKERS + k] < p ->
                         report[(round % 2) * WORKERS + k] : p)
                }
                k = 0;
                p = (p + 1 > LAST -> LAST : p + 1);
                moved = moved || p > bound;
                bound = (p > bound -> p : bound);
                p = 0; cut = false; wanted = false; round++
            }
        :: else
        fi;
        /* promise_renew() */
        if
        :: bound != promised ->
#ifdef BUG_WAKE_FIRST
            wake(false);
#endif
            d_step {
                promise[me] = bound; promised = bound; promising[me] = true;
                ended = ended + (bound == LAST)
            };
#ifndef BUG_WAKE_FIRST
            wake(false);
#endif
            promising[me] = false
        :: else
        fi;
        if
        :: moved -> moved = false
        :: else ->
            if
            :: by != me && waits_for[by] == 0 -> sleep_for()
            :: else -> wanted = true /* it naps, and calls a round */
            fi
        fi;
        by = 0; seen = 0
    od
}

#define SLEEPS(w) (asleep[w] && waits_for[w] != 0)
#define MISSES(w) (SLEEPS(w) && ended < WORKERS && \
    (promise[waits_for[w] - 1] != saw[w] && !promising[waits_for[w] - 1] || \
     reached >= wants[w] && telling == 0))

active proctype watcher()
{
end:
    do
    :: atomic { MISSES(0) || MISSES(1) || MISSES(WORKERS - 1) -> assert(false) }
    od
}

init {
    byte i;
    atomic {
        for (i : 0 .. WORKERS - 1) { run worker(i) }
    }
}
