/*
 * move.pml: the moves of core/run/migrate.h, among workers that speculate, roll back, cancel and
 * promise.
 *
 * Claims: all workers make the same move at the end of the same round (I-MOVE-1); no event that was
 * committed is undone or cancelled, and nothing handled for good has a cause that is undone
 * (I-MOVE-2); after the second step no message is under way (I-MOVE-3); an event is handled by the
 * owner of its LP, and by no other worker (I-MOVE-4); an event is copied once, and its old record is
 * freed after that (I-MOVE-5); no message arrives below the safe bound, before a move or after it
 * (I-MOVE-6).
 *
 * Each LP has one event at the start. At each step a worker chooses: handle its
 * least event, take what has arrived and then publish and promise, go on with the round. An event sends one
 * event to any LP, or none, one unit of time later. Below the safe bound it is handled for good. A
 * plan gives any worker to each LP.
 *
 * Names are those of core/run/migrate.c. A look at all slots is one step, because what it waits
 * for stays true. A round of GVT is its two cuts only: the safe bound comes from promises.
 *
 * Planted bugs, each of which must be found:
 *   BUG_PLAN_LATE         worker 0 makes the plan known after its second cut of the next round
 *   BUG_UNPUBLISHED       step 1 does not publish the cancellations
 *   BUG_NO_UNDO           step 1 undoes nothing
 *   BUG_GIVE_EARLY        step 2 does not wait for all to have made step 1
 *   BUG_TAKE_EARLY        step 3 does not wait for all to have made step 2
 *   BUG_GO_ON_EARLY       step 4 does not wait for all to have made step 3
 *   BUG_OWNERS_EARLY      worker 0 writes the owners in step 1
 *   BUG_FREE_EARLY        a worker frees the events that it gave in step 3
 *   BUG_PROMISE_KEPT      step 3 leaves the promise as it was
 *   BUG_SAFE_KEPT         step 3 leaves the safe bound as it was
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef SENDS
#define SENDS 2 /* events that each worker may send */
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

#ifndef LPS
#define LPS 2
#endif
#define EVENTS (LPS + WORKERS * SENDS)
#define NEVER 255
#define NONE 255
#define DELAY 1
#define BOX(from, to) ((from) * WORKERS + (to))
#define LESS(a, b) ((a) < (b) -> (a) : (b))
#define PLUS(a) ((a) > LPS + EVENTS -> NEVER : (a) + DELAY) /* beyond all events: never */

#define UNUSED 0 /* or gone */
#define IN_TRANSIT 1
#define PENDING 2
#define PROCESSED 3
#define COMMITTED 4
#define LAID_OUT 5
#define COPIED 6

#define BEGIN 0
#define FIRST_CUT 1
#define SECOND_CUT 2

/* Whether all workers have come to this value: of two or three of them. */
#define ALL(word, value)                                                                           \
    (word[0] >= (value) && word[WORKERS / 2] >= (value) && word[WORKERS - 1] >= (value))

#define MOVE_NONE 0
#define MOVE_UNDONE 1
#define MOVE_GIVEN 2
#define MOVE_TAKEN 3

/* Events; worker w numbers those that it sends from LPS + w * SENDS on. `holder` has it pending, or
 * will; `giver` has laid it out. */
byte state[EVENTS], time[EVENTS], lp[EVENTS], holder[EVENTS], child[EVENTS], giver[EVENTS];

chan box[WORKERS * WORKERS] = [2 * SENDS] of { bool, byte }; /* is a cancellation; event */
byte unpublished[WORKERS * WORKERS];                         /* at the end of the box */

byte owner[LPS];
byte next[LPS], due; /* the plan */
byte used[WORKERS];  /* numbers given to events */
byte promise[WORKERS], safe[WORKERS];
byte first_cut[WORKERS], second_cut[WORKERS];
byte made[WORKERS];  /* 4 * round + step of a move */
byte moved[WORKERS]; /* the round at whose end the worker moved last */
bool planned;

inline put(to, cancels, event)
{
    box[BOX(me, to)]!cancels, event;
    unpublished[BOX(me, to)]++
}

inline publish()
{
    for (k : 0 .. WORKERS - 1) {
        unpublished[BOX(me, k)] = 0
    }
}

inline forget(event)
{
    state[event] = UNUSED;
    time[event] = 0;
    lp[event] = 0;
    holder[event] = 0;
    child[event] = NONE
}

/* An event's child is later than it, so the latest events are undone first. */
inline undo_from(than)
{
    t = 1 + LPS + EVENTS;
    do
    :: t >= than && t > 0 ->
        for (k : 0 .. EVENTS - 1) {
            if
            :: state[k] == PROCESSED && holder[k] == me && time[k] == t ->
                state[k] = PENDING;
                d = child[k];
                child[k] = NONE;
                if
                :: d == NONE
                :: d != NONE && holder[d] == me && state[d] != IN_TRANSIT ->
                    assert(state[d] == PENDING);
                    forget(d)
                :: d != NONE && (holder[d] != me || state[d] == IN_TRANSIT) ->
                    put(holder[d], true, d)
                fi;
                d = 0
            :: else
            fi
        }
        t--
    :: else -> break
    od
}

inline least_pending(result)
{
    result = NEVER;
    for (k : 0 .. EVENTS - 1) {
        if
        :: state[k] == PENDING && holder[k] == me -> result = LESS(time[k], result)
        :: else
        fi
    }
}

/* All that the others have published. */
inline take_all()
{
    for (f : 0 .. WORKERS - 1) {
        do
        :: len(box[BOX(f, me)]) > unpublished[BOX(f, me)] ->
            box[BOX(f, me)]?cancels, e;
            assert(time[e] >= safe[me]);
            if
            :: !cancels ->
                assert(state[e] == IN_TRANSIT);
                state[e] = PENDING;
                undo_from(time[e] + 1)
            :: else ->
                assert(holder[e] == me && (state[e] == PENDING || state[e] == PROCESSED));
                undo_from(time[e]);
                forget(e)
            fi;
            cancels = false;
            e = 0
        :: else -> break
        od
    }
}

/* Handles one of the least events. */
inline handle()
{
    least_pending(t);
    if
    :: t != NEVER ->
        e = 0;
        do
        :: state[e] == PENDING && holder[e] == me && time[e] == t -> break
        :: else -> e++
        od;
        assert(owner[lp[e]] == me);
        state[e] = (t < safe[me] -> COMMITTED : PROCESSED);
        if
        :: used[me] < SENDS ->
            c = LPS + me * SENDS + used[me];
            used[me]++;
            select(k : 0 .. LPS - 1);
            lp[c] = k;
            time[c] = t + DELAY;
            holder[c] = owner[k];
            child[c] = NONE;
            if
            :: state[e] == PROCESSED -> child[e] = c
            :: else
            fi;
            if
            :: holder[c] == me -> state[c] = PENDING
            :: else -> state[c] = IN_TRANSIT; put(holder[c], false, c)
            fi;
            c = 0;
            k = 0
        :: true
        fi;
        e = 0
    :: else
    fi;
    t = 0
}

/* The safe bound by the promises that were read before the mailboxes. */
inline look()
{
    atomic {
        bound = NEVER;
        for (k : 0 .. WORKERS - 1) {
            if
            :: k != me -> bound = LESS(PLUS(promise[k]), bound)
            :: else
            fi
        }
        k = 0
    }
    d_step {
        take_all();
        safe[me] = (bound > safe[me] -> bound : safe[me]);
        f = 0; k = 0; t = 0; bound = 0
    }
}

inline renew()
{
    d_step {
        publish();
        least_pending(t);
        promise[me] = LESS(t, safe[me]);
        t = 0; k = 0
    }
}

/* Worker 0, between two rounds. */
inline plan()
{
    if
    :: me == 0 && !planned && round < ROUNDS ->
        atomic {
            planned = true;
            for (f : 0 .. LPS - 1) {
                select(k : 0 .. WORKERS - 1);
                next[f] = k
            }
            f = 0;
            k = 0
        }
#ifndef BUG_PLAN_LATE
        due = round + 1
#endif
    :: true
    fi
}

/* Step 1. */
inline begin()
{
    d_step {
        moved[me] = round;
        least_pending(t);
        bound = LESS(t, safe[me]); /* K of I-MOVE-2 */
        for (k : 0 .. EVENTS - 1) {
            if
            :: state[k] == PROCESSED && holder[k] == me && time[k] < bound ->
                state[k] = COMMITTED;
                child[k] = NONE
            :: else
            fi
        }
#ifndef BUG_NO_UNDO
        undo_from(0);
#endif
#ifndef BUG_UNPUBLISHED
        publish();
#endif
#ifdef BUG_OWNERS_EARLY
        write_owners();
#endif
        t = 0; k = 0; bound = 0
    }
    step = MOVE_UNDONE;
    made[me] = 4 * round + MOVE_UNDONE
}

/* Step 2. */
inline give()
{
    d_step {
        take_all();
        for (k : 0 .. EVENTS - 1) {
            if
            :: state[k] == PENDING && holder[k] == me && next[lp[k]] != me ->
                state[k] = LAID_OUT;
                giver[k] = me
            :: else
            fi
        }
        f = 0; k = 0; t = 0
    }
    step = MOVE_GIVEN;
    made[me] = 4 * round + MOVE_GIVEN
}

inline write_owners()
{
    if
    :: me == 0 ->
        for (f : 0 .. LPS - 1) {
            owner[f] = next[f]
        }
        f = 0
    :: else
    fi
}

inline free_given()
{
    for (k : 0 .. EVENTS - 1) {
        if
        :: giver[k] == me ->
            assert(state[k] != LAID_OUT); /* it was copied */
            giver[k] = NONE
        :: else
        fi
    }
}

/* Step 3. The copy and the promise are two steps. */
inline take()
{
    d_step {
        for (k : 0 .. EVENTS - 1) {
            if
            :: state[k] == LAID_OUT && next[lp[k]] == me ->
                state[k] = PENDING;
                holder[k] = me
            :: else
            fi
        }
#ifdef BUG_FREE_EARLY
        free_given();
#endif
        k = 0
    }
    d_step {
#ifndef BUG_OWNERS_EARLY
        write_owners();
#endif
#ifndef BUG_SAFE_KEPT
        safe[me] = 0;
#endif
#ifndef BUG_PROMISE_KEPT
        promise[me] = 0;
#endif
        for (k : 0 .. WORKERS - 1) { /* I-MOVE-3 */
            assert(len(box[BOX(k, me)]) == 0)
        }
        for (k : 0 .. EVENTS - 1) {
            assert(state[k] != PROCESSED)
        }
        k = 0
    }
    step = MOVE_TAKEN;
    made[me] = 4 * round + MOVE_TAKEN
}

/* Step 4. */
inline go_on()
{
    d_step {
        free_given();
        k = 0;
        for (k : 0 .. WORKERS - 1) { /* I-MOVE-1 */
            assert(moved[k] == round)
        }
        k = 0
    }
    step = MOVE_NONE
}

#ifdef BUG_GIVE_EARLY
#define MAY_GIVE true
#else
#define MAY_GIVE ALL(made, 4 * round + MOVE_UNDONE)
#endif
#ifdef BUG_TAKE_EARLY
#define MAY_TAKE true
#else
#define MAY_TAKE ALL(made, 4 * round + MOVE_GIVEN)
#endif
#ifdef BUG_GO_ON_EARLY
#define MAY_GO_ON true
#else
#define MAY_GO_ON ALL(made, 4 * round + MOVE_TAKEN)
#endif

proctype worker(byte me)
{
    byte round, stage, step, bound, e, c, d, t, k, f;
    bool cancels;
    do
    :: step == MOVE_NONE -> atomic { handle() }
    :: step == MOVE_NONE -> atomic { look(); renew() }
    :: atomic {
        step == MOVE_NONE && stage == BEGIN && round < ROUNDS ->
        publish();
        k = 0;
        round++;
        first_cut[me] = round;
        stage = FIRST_CUT
    }
    :: atomic {
        step == MOVE_NONE && stage == FIRST_CUT && ALL(first_cut, round) ->
        take_all();
        publish();
        f = 0; k = 0; t = 0;
        second_cut[me] = round;
        stage = SECOND_CUT
    }
    :: step == MOVE_NONE && stage == SECOND_CUT && ALL(second_cut, round) ->
        stage = BEGIN;
#ifdef BUG_PLAN_LATE
        if
        :: me == 0 && planned && due == 0 && round == ROUNDS -> due = round
        :: else
        fi;
#endif
        if
        :: due == round -> begin()
        :: else -> plan()
        fi
    :: atomic { step == MOVE_UNDONE && MAY_GIVE -> give() }
    :: atomic { step == MOVE_GIVEN && MAY_TAKE -> take() }
    :: atomic { step == MOVE_TAKEN && MAY_GO_ON -> go_on() }
    :: step == MOVE_NONE && stage == BEGIN && round == ROUNDS -> break
    od
}

init
{
    byte i;
    atomic {
        for (i : 0 .. EVENTS - 1) {
            child[i] = NONE;
            giver[i] = NONE
        }
        for (i : 0 .. LPS - 1) {
            state[i] = PENDING;
            time[i] = i + 1;
            lp[i] = i;
            holder[i] = i % WORKERS;
            owner[i] = i % WORKERS
        }
        for (i : 0 .. WORKERS - 1) {
            run worker(i)
        }
    }
}
