/*
 * weak_orders.cpp: the protocols between workers as litmus tests under the memory model of C++11,
 * for Relacy (https://github.com/dvyukov/relacy, Debian's relacy-dev). A load may give an older
 * value, as far as acquire and release allow, and each plain word that two threads share is watched
 * for races. The steps are those of the sources that each protocol names; no code is shared.
 *
 * Each access names its place (enum place). `weak_orders PROTOCOL` checks one protocol with the
 * orders of core/os/sync.h; with a place behind it that access orders nothing, and a fence is
 * not there: a bug that must be found. `weak_orders --list` prints protocols and places, and
 * test/model/run.sh runs all.
 *
 * sync_fence_all() and sync_fence_often() (membarrier) are full fences on both sides here, as where
 * the system has no such call.
 */
#include <relacy/relacy.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace
{

enum place {
    NOTHING,
    TAIL_STORE, TAIL_LOAD, HEAD_STORE, HEAD_LOAD, NEXT_STORE, NEXT_LOAD, NEXT_AFTER_TAIL,
    CUT_ADD, REACHED_STORE, REACHED_LOAD, TRANSIT_LATE, REPORT_LATE,
    PROMISE_STORE, PROMISE_LOAD, PROMISE_EARLY, MAIL_FIRST,
    SLEEPER_FENCE, WAKER_FENCE, ASLEEP_LATE, COUNTED_LATE,
    CIRCLE_FENCE,
    PARK_STORE, PARK_LOAD, RUN_STORE, RUN_LOAD,
    OVER_FENCE, PARKED_FENCE,
    JOB_STORE, JOB_LOAD, DONE_STORE, DONE_LOAD, BUSY_LATE,
    ASKED_STORE, ASKED_LOAD, ANSWER_STORE, ANSWER_LOAD,
    SPENT_STORE, SPENT_LOAD,
    PUSH_ORDER, TAKE_ORDER,
    STAGE_STORE, STAGE_LOAD,
    HOLDER_ADD, CROSSED_LATE,
    PLACES
};

const char *const place_name[PLACES] = {
    "nothing",
    "tail-store", "tail-load", "head-store", "head-load", "next-store", "next-load",
    "next-after-tail",
    "cut-add", "reached-store", "reached-load", "transit-late", "report-late",
    "promise-store", "promise-load", "promise-early", "mail-first",
    "sleeper-fence", "waker-fence", "asleep-late", "counted-late",
    "circle-fence",
    "park-store", "park-load", "run-store", "run-load",
    "over-fence", "parked-fence",
    "job-store", "job-load", "done-store", "done-load", "busy-late",
    "asked-store", "asked-load", "answer-store", "answer-load",
    "spent-store", "spent-load",
    "push-order", "take-order",
    "stage-store", "stage-load",
    "holder-add", "crossed-late"};

place planted = NOTHING;

rl::memory_order order(place where, rl::memory_order right)
{
    return planted == where ? rl::mo_relaxed : right;
}
rl::memory_order acquire_at(place where) { return order(where, rl::mo_acquire); }
rl::memory_order release_at(place where) { return order(where, rl::mo_release); }

void fence_at(place where)
{
    if (planted != where)
        rl::atomic_thread_fence(rl::mo_seq_cst, $);
}

typedef rl::atomic<int> word;
typedef rl::var<int> plain;

/* ---- core/exchange/mailbox.c ------------------------------------------------------------------ */

/* Four messages through a ring of one and its successor of four. A receiver that leaves a ring frees
 * it (`freed`); the sender looks at a ring only while it writes to it. */
struct mailbox : rl::test_suite<mailbox, 2> {
    enum { MESSAGES = 4, RINGS = 2, PLACES_MOST = 4 };
    struct ring {
        word tail, head, next;
        plain freed;
        plain slot[PLACES_MOST];
    } rings[RINGS];
    int places(int ring) const { return ring == 0 ? 1 : PLACES_MOST; }

    void before()
    {
        for (int r = 0; r < RINGS; r++) {
            rings[r].tail($).store(0, rl::mo_relaxed);
            rings[r].head($).store(0, rl::mo_relaxed);
            rings[r].next($).store(0, rl::mo_relaxed);
            rings[r].freed($) = 0;
        }
    }

    void send()
    {
        int ring = 0, written = 0;
        for (int message = 1; message <= MESSAGES; message++) {
            RL_ASSERT(rings[ring].freed($) == 0);
            if (written - rings[ring].head($).load(acquire_at(HEAD_LOAD)) == places(ring)) {
                rings[ring].next($).store(1, release_at(NEXT_STORE));
                ring = 1;
                written = 0;
            }
            rings[ring].slot[written % places(ring)]($) = message;
            written++;
            rings[ring].tail($).store(written, release_at(TAIL_STORE));
        }
    }

    void receive()
    {
        int ring = 0, read = 0;
        for (int message = 1; message <= MESSAGES;) {
            int next = 0, tail = 0;
            if (planted == NEXT_AFTER_TAIL)
                tail = rings[ring].tail($).load(rl::mo_acquire);
            next = rings[ring].next($).load(acquire_at(NEXT_LOAD));
            if (planted != NEXT_AFTER_TAIL)
                tail = rings[ring].tail($).load(acquire_at(TAIL_LOAD));
            for (; read < tail; read++, message++)
                RL_ASSERT((int)rings[ring].slot[read % places(ring)]($) == message);
            rings[ring].head($).store(read, release_at(HEAD_STORE));
            if (next != 0 && read == tail) {
                RL_ASSERT(rings[ring].tail($).load(rl::mo_relaxed) == read);
                rings[ring].freed($) = 1;
                ring = 1;
                read = 0;
            }
            rl::yield(1, $);
        }
    }

    void thread(unsigned index) { index == 0 ? send() : receive(); }
};

/* ---- core/speculation/gvt.c ---------------------------------------------------------------------- */

/* Two rounds of two workers. A report is a plain word; what a worker has sent between its cuts is
 * lowered into the word of its receiver, without order. */
struct gvt : rl::test_suite<gvt, 2> {
    enum { ROUNDS = 2, NEVER = 100 };
    word cuts, reached, transit[2][2];
    plain report[2];

    void before()
    {
        cuts($).store(0, rl::mo_relaxed);
        reached($).store(0, rl::mo_relaxed);
        for (int i = 0; i < 4; i++)
            transit[i / 2][i % 2]($).store(NEVER, rl::mo_relaxed);
        report[0]($) = report[1]($) = 0;
    }

    void count_cut(int cut)
    {
        if (cuts($).fetch_add(1, order(CUT_ADD, rl::mo_acq_rel)) % 2 == 1)
            reached($).store(cut, release_at(REACHED_STORE));
        while (reached($).load(acquire_at(REACHED_LOAD)) < cut)
            rl::yield(1, $);
    }

    void thread(unsigned index)
    {
        for (int round = 0; round < ROUNDS; round++) {
            const int told = 10 * round + 1 + (int)index;
            count_cut(2 * round + 1);
            if (planted != REPORT_LATE)
                report[index]($) = told;
            transit[index][(round + 1) % 2]($).store(NEVER, rl::mo_release);
            if (planted != TRANSIT_LATE)
                transit[1 - index][round % 2]($).fetch_add(told - NEVER, rl::mo_relaxed);
            count_cut(2 * round + 2);
            if (planted == TRANSIT_LATE)
                transit[1 - index][round % 2]($).fetch_add(told - NEVER, rl::mo_relaxed);
            if (planted == REPORT_LATE)
                report[index]($) = told;
            for (int w = 0; w < 2; w++) {
                RL_ASSERT((int)report[w]($) == 10 * round + 1 + w);
                RL_ASSERT(transit[w][round % 2]($).load(rl::mo_acquire) == 10 * round + 2 - w);
            }
        }
    }
};

/* ---- core/speculation/promise.c ------------------------------------------------------------------ */

/* The sender publishes a message and promises more than its time, twice. A receiver that sees the
 * promise finds the message. */
struct promise : rl::test_suite<promise, 2> {
    word promised, tail;
    plain message[2];

    void before()
    {
        promised($).store(0, rl::mo_relaxed);
        tail($).store(0, rl::mo_relaxed);
    }

    void thread(unsigned index)
    {
        for (int i = 1; i <= 2 && index == 0; i++) {
            if (planted == PROMISE_EARLY)
                promised($).store(i, rl::mo_release);
            message[i - 1]($) = i;
            tail($).store(i, rl::mo_release);
            if (planted != PROMISE_EARLY)
                promised($).store(i, release_at(PROMISE_STORE));
        }
        for (int i = 0; i < 3 && index == 1; i++) {
            int bound = 0;
            if (planted != MAIL_FIRST)
                bound = promised($).load(acquire_at(PROMISE_LOAD));
            const int taken = tail($).load(rl::mo_acquire);
            if (planted == MAIL_FIRST)
                bound = promised($).load(rl::mo_acquire);
            RL_ASSERT(taken >= bound);
            for (int m = 0; m < taken; m++)
                RL_ASSERT((int)message[m]($) == m + 1);
        }
    }
};

/* ---- core/speculation/wait.c --------------------------------------------------------------------- */

/* I-WAIT-2: either the sleeper sees the new promise, or the other worker sees the sleeper. */
struct sleeper : rl::test_suite<sleeper, 2> {
    word promised, sleepers, waits_for;
    plain sleeps, woken;

    void before()
    {
        promised($).store(0, rl::mo_relaxed);
        sleepers($).store(0, rl::mo_relaxed);
        waits_for($).store(0, rl::mo_relaxed);
        sleeps($) = woken($) = 0;
    }

    void thread(unsigned index)
    {
        if (index == 0) {
            if (planted != COUNTED_LATE && planted != ASLEEP_LATE)
                sleepers($).fetch_add(1, rl::mo_relaxed);
            if (planted != ASLEEP_LATE)
                waits_for($).store(1, rl::mo_release);
            fence_at(SLEEPER_FENCE);
            sleeps($) = promised($).load(rl::mo_acquire) == 0;
            if (planted == COUNTED_LATE || planted == ASLEEP_LATE)
                sleepers($).fetch_add(1, rl::mo_relaxed);
            if (planted == ASLEEP_LATE)
                waits_for($).store(1, rl::mo_release);
        } else {
            promised($).store(1, rl::mo_release);
            fence_at(WAKER_FENCE);
            woken($) = sleepers($).load(rl::mo_acquire) != 0 && waits_for($).load(rl::mo_acquire) != 0;
        }
    }

    void after() { RL_ASSERT((int)sleeps($) == 0 || (int)woken($) == 1); }
};

/* I-WAIT-1: of two workers that wait for each other at most one sleeps. */
struct circle : rl::test_suite<circle, 2> {
    word waits_for[2];
    plain sleeps[2];

    void before()
    {
        for (int i = 0; i < 2; i++) {
            waits_for[i]($).store(0, rl::mo_relaxed);
            sleeps[i]($) = 0;
        }
    }

    void thread(unsigned index)
    {
        waits_for[index]($).store(1, rl::mo_release);
        fence_at(CIRCLE_FENCE);
        sleeps[index]($) = waits_for[1 - index]($).load(rl::mo_acquire) == 0;
    }

    void after() { RL_ASSERT((int)sleeps[0]($) + (int)sleeps[1]($) <= 1); }
};

/* ---- core/run/gather.c --------------------------------------------------------------------- */

/* I-GATHER-1: the workers of thread 1 are a plain word. */
struct park : rl::test_suite<park, 2> {
    enum { TURNS = 2 };
    word parked;
    plain workers;

    void before()
    {
        parked($).store(0, rl::mo_relaxed);
        workers($) = 0;
    }

    void turn(int expected)
    {
        RL_ASSERT((int)workers($) == expected);
        workers($) = expected + 1;
    }

    void thread(unsigned index)
    {
        for (int i = 0; i < TURNS; i++) {
            if (index == 1) {
                while (parked($).load(acquire_at(RUN_LOAD)) != 0)
                    rl::yield(1, $);
                turn(2 * i);
                parked($).store(1, release_at(PARK_STORE));
            } else {
                while (parked($).load(acquire_at(PARK_LOAD)) != 1)
                    rl::yield(1, $);
                turn(2 * i + 1);
                parked($).store(0, release_at(RUN_STORE));
            }
        }
    }
};

/* I-GATHER-4: a thread that parks when the drain is over sees that, or its word is cleared. */
struct over : rl::test_suite<over, 2> {
    word is_over, parked;
    plain saw;

    void before()
    {
        is_over($).store(0, rl::mo_relaxed);
        parked($).store(0, rl::mo_relaxed);
        saw($) = 0;
    }

    void thread(unsigned index)
    {
        if (index == 0) {
            is_over($).store(1, rl::mo_release);
            fence_at(OVER_FENCE);
            parked($).store(0, rl::mo_release);
        } else {
            parked($).store(1, rl::mo_release);
            fence_at(PARKED_FENCE);
            saw($) = is_over($).load(rl::mo_acquire);
        }
    }

    void after()
    {
        RL_ASSERT((int)saw($) == 1 || parked($).load(rl::mo_relaxed) == 0);
    }
};

/* ---- core/os/threads.c ---------------------------------------------------------------------- */

/* I-THREADS-1: two jobs, each written by the caller, and answered by the thread. */
struct jobs : rl::test_suite<jobs, 2> {
    enum { JOBS = 2 };
    word parked, busy;
    plain job, result;

    void before()
    {
        parked($).store(1, rl::mo_relaxed);
        busy($).store(0, rl::mo_relaxed);
        job($) = result($) = 0;
    }

    void thread(unsigned index)
    {
        for (int i = 1; i <= JOBS; i++) {
            if (index == 0) {
                job($) = i;
                if (planted != BUSY_LATE)
                    busy($).store(1, rl::mo_release);
                parked($).store(0, release_at(JOB_STORE));
                if (planted == BUSY_LATE)
                    busy($).store(1, rl::mo_release);
                while (busy($).load(acquire_at(DONE_LOAD)) != 0)
                    rl::yield(1, $);
                RL_ASSERT((int)result($) == 10 * i);
            } else {
                while (parked($).load(acquire_at(JOB_LOAD)) != 0)
                    rl::yield(1, $);
                result($) = 10 * (int)job($);
                parked($).store(1, rl::mo_release);
                busy($).store(0, release_at(DONE_STORE));
            }
        }
    }
};

/* ---- core/exchange/recorder.c, record_outbox.c ------------------------------------------------ */

/* I-REC-2: who may touch the bound and the merger. */
struct recorder : rl::test_suite<recorder, 2> {
    enum { TIMES = 2 };
    word asked;
    plain bound, least;

    void before()
    {
        asked($).store(0, rl::mo_relaxed);
        bound($) = least($) = 0;
    }

    void thread(unsigned index)
    {
        for (int i = 1; i <= TIMES; i++) {
            while (asked($).load(acquire_at(index == 0 ? ANSWER_LOAD : ASKED_LOAD)) != (int)index)
                rl::yield(1, $);
            if (index == 0) {
                RL_ASSERT((int)least($) == i - 1);
                bound($) = i;
                asked($).store(1, release_at(ASKED_STORE));
            } else {
                RL_ASSERT((int)bound($) == i);
                least($) = i;
                asked($).store(0, release_at(ANSWER_STORE));
            }
        }
    }
};

/* I-REC-1, 3: a chunk comes back to its worker by the word `spent`, which each side changes only as
 * the other one has left it. */
struct chunk : rl::test_suite<chunk, 2> {
    enum { TIMES = 2 };
    word used, spent;
    plain bytes;

    void before()
    {
        used($).store(0, rl::mo_relaxed);
        spent($).store(0, rl::mo_relaxed);
    }

    void thread(unsigned index)
    {
        for (int i = 1; i <= TIMES; i++) {
            if (index == 0) {
                bytes($) = i;
                used($).store(i, rl::mo_release);
                while (spent($).load(acquire_at(SPENT_LOAD)) == 0)
                    rl::yield(1, $);
                spent($).store(0, rl::mo_release);
            } else {
                while (used($).load(rl::mo_acquire) != i)
                    rl::yield(1, $);
                RL_ASSERT((int)bytes($) == i);
                while (spent($).load(rl::mo_acquire) != 0)
                    rl::yield(1, $);
                spent($).store(1, release_at(SPENT_STORE));
            }
        }
    }
};

/* ---- sync_push(), sync_take_all() ------------------------------------------------------------- */

/* Two threads push an item each, and a third takes them. Items are named by numbers. */
struct stack : rl::test_suite<stack, 3> {
    word first;
    plain next[3], value[3];

    void before() { first($).store(0, rl::mo_relaxed); }

    void thread(unsigned index)
    {
        if (index > 0) {
            int seen = first($).load(rl::mo_relaxed);
            value[index]($) = 7 * (int)index;
            do
                next[index]($) = seen;
            while (!first($).compare_exchange_strong(seen, (int)index, release_at(PUSH_ORDER),
                                                     rl::mo_relaxed));
            return;
        }
        for (int taken = 0; taken < 2;) {
            int item = first($).exchange(0, acquire_at(TAKE_ORDER));
            for (; item != 0; item = next[item]($), taken++)
                RL_ASSERT((int)value[item]($) == 7 * item);
            rl::yield(1, $);
        }
    }
};

/* ---- core/run/migrate.c ------------------------------------------------------------------- */

/* I-MOVE-3, 5: each worker lays an event out, copies the other one's, and then frees its own. */
struct move : rl::test_suite<move, 2> {
    word stage[2];
    plain laid_out[2];

    void before()
    {
        for (int i = 0; i < 2; i++) {
            stage[i]($).store(0, rl::mo_relaxed);
            laid_out[i]($) = 0;
        }
    }

    void step(unsigned index, int made)
    {
        stage[index]($).store(made, release_at(STAGE_STORE));
        while (stage[1 - index]($).load(acquire_at(STAGE_LOAD)) < made)
            rl::yield(1, $);
    }

    void thread(unsigned index)
    {
        laid_out[index]($) = 1 + (int)index;
        step(index, 1);
        RL_ASSERT((int)laid_out[1 - index]($) == 2 - (int)index);
        step(index, 2);
        laid_out[index]($) = 0;
    }
};

/* ---- collectives/memory/tile_pool.c ----------------------------------------------------------- */

/* I-TILE-3: a buffer crosses to another worker. Both read it, and the last holder writes it anew. */
struct holders : rl::test_suite<holders, 2> {
    word count, handed_over;
    plain crossed, bytes;

    void before()
    {
        count($).store(1, rl::mo_relaxed);
        handed_over($).store(0, rl::mo_relaxed);
        crossed($) = 0;
        bytes($) = 0;
    }

    bool is_last()
    {
        if ((int)crossed($) != 0)
            return count($).fetch_sub(1, order(HOLDER_ADD, rl::mo_acq_rel)) == 1;
        const int left = count($).load(rl::mo_acquire) - 1;
        count($).store(left, rl::mo_release);
        return left == 0;
    }

    void thread(unsigned index)
    {
        if (index == 0) {
            bytes($) = 1;
            if (planted != CROSSED_LATE)
                crossed($) = 1;
            count($).fetch_add(1, rl::mo_relaxed);
            handed_over($).store(1, rl::mo_release);
            if (planted == CROSSED_LATE)
                crossed($) = 1;
        } else {
            while (handed_over($).load(rl::mo_acquire) == 0)
                rl::yield(1, $);
        }
        RL_ASSERT((int)bytes($) == 1);
        if (is_last())
            bytes($) = 2;
    }
};

/* ---- runs ------------------------------------------------------------------------------------- */

template <typename suite> bool holds(bool all)
{
    rl::test_params params;
    params.search_type = all ? rl::fair_full_search_scheduler_type : rl::random_scheduler_type;
    params.iteration_count = 1000000;
    params.execution_depth_limit = 4000;
    return rl::simulate<suite>(params);
}

/* `all`: every execution, where they are few; else random ones. */
const struct {
    const char *name;
    bool (*holds)(bool all);
    bool all;
    place first, last; /* its planted bugs */
} protocols[] = {
    {"mailbox", holds<mailbox>, false, TAIL_STORE, NEXT_AFTER_TAIL},
    {"gvt", holds<gvt>, false, CUT_ADD, REPORT_LATE},
    {"promise", holds<promise>, true, PROMISE_STORE, MAIL_FIRST},
    {"sleeper", holds<sleeper>, true, SLEEPER_FENCE, COUNTED_LATE},
    {"circle", holds<circle>, true, CIRCLE_FENCE, CIRCLE_FENCE},
    {"park", holds<park>, true, PARK_STORE, RUN_LOAD},
    {"over", holds<over>, true, OVER_FENCE, PARKED_FENCE},
    {"jobs", holds<jobs>, false, JOB_STORE, BUSY_LATE},
    {"recorder", holds<recorder>, true, ASKED_STORE, ANSWER_LOAD},
    {"chunk", holds<chunk>, false, SPENT_STORE, SPENT_LOAD},
    {"stack", holds<stack>, true, PUSH_ORDER, TAKE_ORDER},
    {"move", holds<move>, true, STAGE_STORE, STAGE_LOAD},
    {"holders", holds<holders>, true, HOLDER_ADD, CROSSED_LATE},
};

} // namespace

/* Exit code 0: the protocol holds; 1: it does not; 2: no such protocol or place. */
int main(int count, char **arguments)
{
    if (count == 2 && strcmp(arguments[1], "--list") == 0) {
        for (const auto &protocol : protocols) {
            printf("%s", protocol.name);
            for (int p = protocol.first; p <= protocol.last; p++)
                printf(" %s", place_name[p]);
            printf("\n");
        }
        return 0;
    }
    for (int p = 0; count == 3 && p < PLACES; p++)
        if (strcmp(arguments[2], place_name[p]) == 0)
            planted = static_cast<place>(p);
    if (count < 2 || count > 3 || (count == 3 && planted == NOTHING))
        return 2;
    for (const auto &protocol : protocols)
        if (strcmp(arguments[1], protocol.name) == 0)
            return protocol.holds(protocol.all) ? 0 : 1;
    return 2;
}
