/*
 * handover.pml: the values that cubes hand to each other in collectives/data: parcels, inboxes,
 * counted buffers, and records that wait for a value (data_parcel.h, tile_pool.h, data_commit.h).
 *
 * Three cubes. SOURCE sends SENDS tiles to MIDDLE. MIDDLE receives each tile, forwards the first
 * FORWARDS of them to SINK, and drops it. SINK receives and drops it. SOURCE belongs to worker 0,
 * MIDDLE to worker MIDDLE_OWNER, SINK to worker 0 (with three workers: to worker 2), and SINK moves
 * to the next worker up to MOVES times, at moments when all workers rest. A worker hands over the next record of any of its cubes, or
 * looks at its records that wait, in any order; what it has not executed in the end, the host does.
 *
 * Claims: the tiles of a queue are delivered in order, each once (I-PARCEL-1); a record finds the
 * value that the total order gives it (I-DATA-1); nothing waits at the end (I-DATA-2); a buffer is
 * freed once, by its last holder, and not used afterwards, and all are free at the end (I-TILE-3).
 *
 * Each push, each taking of an inbox, each change of a crossed buffer's count is one step. A count
 * that is changed without an atomic operation is read in one step and written in another.
 *
 * Planted bugs, each of which must be found:
 *   BUG_NO_REVERSE     an inbox is delivered in the order in which it was taken: the latest first
 *   BUG_PLAIN_COUNT    the count of a crossed buffer is changed without an atomic operation
 *   BUG_CROSS_LATE     the buffer is marked as crossed after it was pushed (FORWARDS=1)
 *   BUG_FORWARD_PLAIN  a forwarded buffer does not cross while both cubes are one worker's
 *                      (MIDDLE_OWNER=0)
 *   BUG_NOT_LISTED     a record waits, and its cube is not listed
 *   BUG_OVERTAKEN      a record is executed although an earlier one of its cube waits
 *   BUG_DIRECT         a tile for an own cube is delivered before those that lie in its inbox
 *   BUG_NOT_HANDED     a listed cube that has moved is forgotten instead of handed over
 *   BUG_NO_LOOK        the host does not look at cubes that were handed over while it settled
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef SENDS
#define SENDS 2
#endif
#ifndef FORWARDS
#define FORWARDS SENDS
#endif
#ifndef MIDDLE_OWNER
#define MIDDLE_OWNER 1
#endif
#ifndef MOVES
#define MOVES 2
#endif

#define SOURCE 0
#define SINK 1
#define MIDDLE 2
#define CUBES 3
#define LENGTH(c) ((c) == SOURCE -> SENDS : ((c) == SINK -> 2 * FORWARDS : 3 * SENDS))
/* The tile that record i of a cube is about, and which of the cube's kinds of records it is. */
#define TILE(c, i) ((c) == SOURCE -> (i) : ((c) == SINK -> (i) / 2 : (i) / 3))
#define KIND(c, i) ((c) == SOURCE -> 0 : ((c) == SINK -> (i) % 2 : (i) % 3))

byte owner[CUBES];
byte told[CUBES], executed[CUBES]; /* records: handed over; executed. The others wait */
byte arrived[CUBES];               /* tiles that have their names */
byte tile[CUBES * SENDS];          /* their buffers + 1; 0: dropped */
byte inbox[CUBES * SENDS], inbox_seq[CUBES * SENDS], inbox_count[CUBES]; /* buffers */
bool listed[WORKERS * CUBES]; /* in a worker's list */
bool moved[WORKERS * CUBES];        /* on its way to it */
bool on_a_list[CUBES];              /* data_cube.listed */

byte holders[SENDS], value[SENDS]; /* of buffers; value: the number of its send + 1 */
bool crossed[SENDS], in_use[SENDS], given_back[SENDS];
byte moves;
bool busy[WORKERS], ended[WORKERS];

/* ---- buffers --------------------------------------------------------------------------------- */

inline hold(b) {
    assert(in_use[b]);
    if
#ifndef BUG_PLAIN_COUNT
    :: crossed[b] -> holders[b] = holders[b] + 1
    :: else ->
#else
    :: true ->
#endif
        count = holders[b];
        holders[b] = count + 1;
        count = 0
    fi
}

/* All buffers are the pool's of worker 0. */
inline release(b) {
    assert(in_use[b]);
    if
#ifndef BUG_PLAIN_COUNT
    :: crossed[b] -> d_step { holders[b] = holders[b] - 1; count = holders[b] }
    :: else ->
#else
    :: true ->
#endif
        count = holders[b];
        d_step { count = count - 1; holders[b] = count }
    fi;
    if
    :: count == 0 ->
        d_step {
            assert(in_use[b] && holders[b] == 0);
            in_use[b] = false;
            value[b] = 0;
            given_back[b] = w != 0 /* the pool's inbox */
        }
    :: else
    fi;
    count = 0
}

/* Only worker 0 and the host take buffers. */
inline take_buffer() {
    d_step {
        buffer = 0;
        do
        :: buffer < SENDS && in_use[buffer] -> buffer++
        :: else -> break
        od;
        assert(buffer < SENDS && holders[buffer] == 0);
        given_back[buffer] = false;
        in_use[buffer] = true;
        crossed[buffer] = false;
        holders[buffer] = 1
    }
}

/* ---- parcels --------------------------------------------------------------------------------- */

inline deliver(to, seq, b) {
    d_step {
        assert(seq == arrived[to]); /* I-PARCEL-1 */
        tile[(to) * SENDS + seq] = b + 1;
        arrived[to] = arrived[to] + 1
    }
}

/* Takes the inbox at once, then delivers one parcel after the other. */
inline take_inbox(to) {
    d_step {
        taken = inbox_count[to];
        i = 0;
        do
        :: i < taken ->
#ifdef BUG_NO_REVERSE
            mine[i] = inbox[(to) * SENDS + taken - 1 - i];
            mine_seq[i] = inbox_seq[(to) * SENDS + taken - 1 - i];
#else
            mine[i] = inbox[(to) * SENDS + i]; /* the earliest first */
            mine_seq[i] = inbox_seq[(to) * SENDS + i];
#endif
            i++
        :: else -> break
        od;
        for (i : 0 .. SENDS - 1) { /* what was taken is forgotten: fewer states */
            inbox[(to) * SENDS + i] = 0;
            inbox_seq[(to) * SENDS + i] = 0
        }
        inbox_count[to] = 0;
        i = 0
    }
    do
    :: i < taken ->
        deliver(to, mine_seq[i], mine[i]); /* the parcel's hold becomes the tile's */
        d_step { mine[i] = 0; mine_seq[i] = 0; i++ }
    :: else -> break
    od;
    skip;
    d_step { i = 0; taken = 0 }
}

/* The caller holds the buffer, and goes on holding it. */
inline send(to, seq, b) {
    if
    :: owner[to] == w ->
#ifndef BUG_DIRECT
        take_inbox(to);
#endif
        hold(b);
        deliver(to, seq, b)
    :: else ->
        hold(b);
#ifndef BUG_CROSS_LATE
        crossed[b] = true;
#endif
        d_step {
            inbox[(to) * SENDS + inbox_count[to]] = b;
            inbox_seq[(to) * SENDS + inbox_count[to]] = seq;
            inbox_count[to] = inbox_count[to] + 1
        }
#ifdef BUG_CROSS_LATE
        crossed[b] = true;
#endif
    fi
}

/* ---- records --------------------------------------------------------------------------------- */

/* The cube's record number `at`. */
inline execute(c, at) {
    seq_now = TILE(c, at);
    if
    :: c == SOURCE ->
        take_buffer();
        value[buffer] = seq_now + 1;
        send(MIDDLE, seq_now, buffer);
        release(buffer)
    :: c != SOURCE ->
        d_step {
            buffer = tile[(c) * SENDS + seq_now] - 1;
            assert(in_use[buffer] && value[buffer] == seq_now + 1) /* I-DATA-1 */
        }
        if
        :: KIND(c, at) == 0 || (c == MIDDLE && KIND(c, at) == 1 && seq_now >= FORWARDS) ->
            skip /* a receive, or no forward */
        :: c == MIDDLE && KIND(c, at) == 1 && seq_now < FORWARDS ->
#ifndef BUG_FORWARD_PLAIN
            crossed[buffer] = true;
#endif
            hold(buffer);
            send(SINK, seq_now, buffer);
            release(buffer)
        :: else ->
            tile[(c) * SENDS + seq_now] = 0;
            release(buffer)
        fi
    fi;
    d_step { buffer = 0; seq_now = 0 }
}

inline look_for_value(c, at) {
    ready = (c) == SOURCE || TILE(c, at) < arrived[c];
    if
    :: !ready && inbox_count[c] > 0 ->
        take_inbox(c);
        ready = TILE(c, at) < arrived[c]
    :: else
    fi
}

/* Executes what waits, as far as the values have come. */
inline execute_waiting(c) {
    do
    :: executed[c] < told[c] ->
        look_for_value(c, executed[c]);
        if
        :: ready ->
            execute(c, executed[c]);
            d_step { executed[c] = executed[c] + 1; progress = true; ready = false }
        :: else -> break
        fi
    :: else -> break
    od
}

/* The next record of a cube is final. */
inline tell(c) {
    ready = false;
    if
#ifndef BUG_OVERTAKEN
    :: executed[c] == told[c] -> look_for_value(c, told[c])
    :: else
#else
    :: true -> look_for_value(c, told[c])
#endif
    fi;
    if
    :: ready ->
        execute(c, told[c]);
        d_step { told[c] = told[c] + 1; executed[c] = executed[c] + 1; ready = false }
    :: else ->
        d_step {
            told[c] = told[c] + 1;
#ifndef BUG_NOT_LISTED
            listed[w * CUBES + c] = listed[w * CUBES + c] || !on_a_list[c];
            on_a_list[c] = true
#endif
        }
    fi
}

/* Worker w's list: adopts, hands over, executes. */
inline look() {
    c_now = 0;
    do
    :: c_now < CUBES ->
        if
        :: moved[w * CUBES + c_now] ->
            d_step { moved[w * CUBES + c_now] = false; listed[w * CUBES + c_now] = true }
        :: else
        fi;
        if
        :: listed[w * CUBES + c_now] && owner[c_now] != w ->
            d_step {
                listed[w * CUBES + c_now] = false;
#ifndef BUG_NOT_HANDED
                moved[owner[c_now] * CUBES + c_now] = true;
#endif
#ifndef BUG_NO_LOOK
                progress = true
#endif
            }
        :: listed[w * CUBES + c_now] && owner[c_now] == w ->
            execute_waiting(c_now);
            if
            :: executed[c_now] == told[c_now] ->
                d_step { listed[w * CUBES + c_now] = false; on_a_list[c_now] = false }
            :: else
            fi
        :: else
        fi;
        c_now++
    :: else -> break
    od;
    c_now = 0
}

#define ALL_TOLD                                                                                   \
    (told[SOURCE] == LENGTH(SOURCE) && told[SINK] == LENGTH(SINK) &&                               \
     told[MIDDLE] == LENGTH(MIDDLE))

proctype worker(byte w) {
    byte count, buffer, taken, i, seq_now, c_now;
    byte mine[SENDS], mine_seq[SENDS];
    bool ready, progress;
    do
    :: d_step { owner[SOURCE] == w && told[SOURCE] < LENGTH(SOURCE) -> busy[w] = true }
        tell(SOURCE);
        busy[w] = false
    :: d_step { owner[MIDDLE] == w && told[MIDDLE] < LENGTH(MIDDLE) -> busy[w] = true }
        tell(MIDDLE);
        busy[w] = false
    :: d_step { owner[SINK] == w && told[SINK] < LENGTH(SINK) -> busy[w] = true }
        tell(SINK);
        busy[w] = false
    :: d_step { !ALL_TOLD || listed[w * CUBES + SINK] || listed[w * CUBES + MIDDLE] -> busy[w] = true }
        look();
        d_step { progress = false; busy[w] = false }
    :: ALL_TOLD -> break /* it may give up although something waits */
    od;
    ended[w] = true
}

/* Between two batches of events. */
proctype balance() {
    do
    :: atomic {
           moves < MOVES && !busy[0] && !busy[1] && !busy[WORKERS - 1] && !ALL_TOLD ->
               owner[SINK] = (owner[SINK] + 1) % WORKERS;
               moves++
       }
    :: moves == MOVES || ALL_TOLD -> break
    od
}

/* data_commit_settle(), then the checks. */
proctype host() {
    byte w; /* the worker for which the host acts */
    byte count, buffer, taken, i, seq_now, c_now;
    byte mine[SENDS], mine_seq[SENDS];
    bool ready, progress;
    ended[0] && ended[1] && ended[WORKERS - 1];
    do
    :: progress = false;
        w = 0;
        do
        :: w < WORKERS -> look(); w++
        :: else -> break
        od;
        if
        :: !progress -> break
        :: else
        fi
    od;
    assert(executed[SOURCE] == LENGTH(SOURCE) && executed[SINK] == LENGTH(SINK) &&
           executed[MIDDLE] == LENGTH(MIDDLE)); /* I-DATA-2 */
    w = 0;
    do
    :: w < SENDS -> assert(!in_use[w] && holders[w] == 0); w++ /* I-TILE-3 */
    :: else -> break
    od
}

init {
    atomic {
        owner[SOURCE] = 0;
        owner[MIDDLE] = MIDDLE_OWNER;
        owner[SINK] = (WORKERS == 3 -> 2 : 0);
        run worker(0);
        run worker(1);
#if WORKERS == 3
        run worker(2);
#endif
        run balance();
        run host()
    }
}
