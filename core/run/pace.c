/*
 * pace.c: chooses the first mode by the pending events, then measures both modes and compares them
 * (pace.h).
 */
#include "core/run/pace.h"

#include "core/queue/event.h"
#include "core/run/move_events.h"
#include "core/worker/simulation.h"
#include "core/worker/worker.h"

/* ---- the first mode -------------------------------------------------------------------------- */

enum {
    TOGETHER_MOST = 1 << 10,          /* events, of all workers */
    GATHERED_MOST = MOVES_COPIED_MAX, /* to gather more costs more */
    WINDOW_EVENTS = 32, /* for each worker, within the least lookahead: fewer do not pay */
};

/* The least delay between two workers, of all that may send to each other; 0: none is promised. */
static int64_t least_lookahead_ps(const struct cw_sim *sim)
{
    const size_t n = sim->worker_count;
    const int64_t *const least_ps = sim->config.least_delay_ps;
    int64_t lookahead_ps = CW_TIME_MAX;
    for (size_t i = 0; i < n * n && least_ps != NULL; i++)
        if (i / n != i % n && least_ps[i] < lookahead_ps)
            lookahead_ps = least_ps[i];
    return least_ps == NULL ? 0 : lookahead_ps;
}

/* The events of all workers from the first one on, for this long. Nothing is opened for that:
 * memory may run out, and the buckets may go to one thread. */
static uint64_t count_within(const struct cw_sim *sim, int64_t span_ps)
{
    int64_t first_ps = CW_TIME_MAX;
    uint64_t count = 0;
    for (uint32_t i = 0; i < sim->worker_count; i++) {
        const int64_t least_ps = pending_least_ps(&sim->workers[i].pending);
        first_ps = least_ps < first_ps ? least_ps : first_ps;
    }
    const int64_t end_ps = add_saturating(first_ps, span_ps);
    for (uint32_t i = 0; i < sim->worker_count; i++)
        count += pending_count_before(&sim->workers[i].pending, end_ps);
    return count;
}

/* If few events are pending, one thread has finished a short drain before others are awake. If
 * there are more, parallel threads pay when many of the events lie within a lookahead: then no
 * worker waits for another, or speculates. Gathering very many events costs more than it may gain.
 */
enum threading_mode pace_first_mode(const struct cw_sim *sim)
{
    uint64_t pending = 0;
    for (uint32_t i = 0; i < sim->worker_count; i++)
        pending += pending_count(&sim->workers[i].pending);
    if (pending <= TOGETHER_MOST)
        return THREADS_SINGLE;
    if (pending > GATHERED_MOST)
        return THREADS_PARALLEL;
    return count_within(sim, least_lookahead_ps(sim)) < (uint64_t)WINDOW_EVENTS * sim->worker_count
               ? THREADS_SINGLE
               : THREADS_PARALLEL;
}

/* ---- measurements ---------------------------------------------------------------------------- */

#define SETTLE_S       0.0002
#define TRIAL_S        0.001
#define WINDOW_S       0.004
#define INTERVAL_MIN_S 0.02
#define INTERVAL_MAX_S 0.64
/* Trials take at most this fraction of the time, as 1 / n. */
#define TRIAL_SHARE 64
/* A mode must be better by this factor to be chosen. A single thread frees the other cores, and its
 * trial starts with cold caches, so it needs only to come close. The product exceeds 1, so that
 * noise of a few per cent does not make the mode flip back and forth. */
static const double gain_min[THREADING_MODES] = {1.06, 0.96};
/* The model itself may have been faster during the trial, and the best mode may have been measured
 * with cold caches. So a win counts only if the mode beats the best one as measured both before
 * the trial and right after it. The single thread has to win this many trials in a row. */
#define WINS_MIN 3
/* Two wins are enough if the single thread is faster by CLEAR than parallel threads both before and
 * after the trial, one win if by DECISIVE. Parallel threads are chosen without another trial if
 * they are faster by CLEAR. */
#define CLEAR    1.25
#define DECISIVE 2.5
/* A new mode is measured no later than after this many times the time that the best mode takes for
 * the pending events. */
#define WARM_MOST 2
/* The first mode's speed is unknown. It is measured no later than after this many times the
 * duration of a change: handling an event that is in no cache takes that much longer. */
#define WARM_FIRST 8
/* A trial below this fraction of the best rate after a quarter or a half of its time ends early. If
 * it ends below SLOWER_HALF, it is not repeated soon. */
#define SLOWER_QUARTER 0.7
#define SLOWER_HALF    0.9
/* With so few events pending, parallel threads seldom gain. The first trial waits until it costs
 * about a twentieth of the time, so that a short run does not pay for it. */
#define FEW_PENDING   512
#define FIRST_TRIAL_S 0.01
/* Below this fraction of its rate when it was chosen, the best mode is put to another trial. */
#define SLOWER 0.7

static void begin_measurement(struct pace *pace, double now_s, uint64_t committed)
{
    pace->began_s = now_s;
    pace->committed = committed;
}

void pace_begin(struct pace *pace, double now_s, uint64_t committed)
{
    pace->settles = true;
    begin_measurement(pace, now_s, committed);
}

void pace_init(struct pace *pace, enum threading_mode mode, double now_s, uint64_t committed)
{
    *pace = (struct pace){.mode = mode, .best = mode, .interval_s = INTERVAL_MIN_S};
    pace_begin(pace, now_s, committed);
}

static void change_mode(struct pace *pace, enum threading_mode mode, double now_s,
                        uint64_t committed)
{
    pace->mode = mode;
    pace_begin(pace, now_s, committed);
}

static enum threading_mode other_mode(enum threading_mode mode)
{
    return mode == THREADS_PARALLEL ? THREADS_SINGLE : THREADS_PARALLEL;
}

static void begin_trial(struct pace *pace, double now_s, uint64_t committed)
{
    pace->tries = true;
    pace->trial_s = now_s;
    pace->trial_committed = committed;
    change_mode(pace, other_mode(pace->best), now_s, committed);
}

/* The mode is the best one from now on. */
static void choose(struct pace *pace, enum threading_mode mode, double now_s, uint64_t committed,
                   double change_s)
{
    pace->best = mode;
    pace->earlier = 0;
    pace->decided = pace->rate[mode];
    pace->wins = 0;
    pace->interval_s = INTERVAL_MIN_S;
    /* a trial that loses costs two changes, and takes about as long again */
    const double least_s = TRIAL_SHARE * 4 * change_s;
    pace->next_s = now_s + (least_s > pace->interval_s ? least_s : pace->interval_s);
    if (pace->mode != mode)
        change_mode(pace, mode, now_s, committed);
}

static void note_loss(struct pace *pace, double rate)
{
    pace->wins = 0;
    pace->interval_s *= rate < pace->rate[pace->best] * SLOWER_HALF ? 4 : 2;
    if (pace->interval_s > INTERVAL_MAX_S)
        pace->interval_s = INTERVAL_MAX_S;
}

/* The best mode's rate, the better of its last two: another program on the core, or a short phase
 * of the model, does not make the mode look slow. */
static double best_rate(const struct pace *pace)
{
    const double last = pace->rate[pace->best];
    return last > pace->earlier ? last : pace->earlier;
}

/* The trial is measured. If parallel threads win clearly they stay; else the best mode returns. */
static void end_trial(struct pace *pace, double now_s, uint64_t committed, double change_s)
{
    const enum threading_mode tried = pace->mode;
    const bool wins = pace->rate[tried] > best_rate(pace) * gain_min[tried];
    pace->tries = false;
    if (tried == THREADS_PARALLEL && pace->rate[tried] > best_rate(pace) * CLEAR) {
        choose(pace, tried, now_s, committed, change_s);
        return;
    }
    if (!wins)
        note_loss(pace, pace->rate[tried]);
    pace->doubts = wins;
    pace->before = best_rate(pace);
    pace->returns = true;
    change_mode(pace, pace->best, now_s, committed);
}

/* The wins in a row that a mode needs, if it won the last trial by the factor `gain`. */
static unsigned wins_needed(enum threading_mode mode, double gain)
{
    if (mode == THREADS_PARALLEL || gain > DECISIVE)
        return 1;
    return gain > CLEAR ? 2 : WINS_MIN;
}

/* The other mode has won a trial, and the best mode was measured again after it. */
static void judge_again(struct pace *pace, double now_s, uint64_t committed, double change_s)
{
    const enum threading_mode other = other_mode(pace->best);
    const double after = pace->rate[pace->best], tried = pace->rate[other];
    const double best = after > pace->before ? after : pace->before;
    pace->doubts = false;
    if (tried <= best * gain_min[other]) {
        note_loss(pace, tried);
        return;
    }
    pace->interval_s = INTERVAL_MIN_S;
    if (++pace->wins >= wins_needed(other, tried / best))
        choose(pace, other, now_s, committed, change_s);
    else /* the measurement after this trial comes before the next one */
        begin_trial(pace, now_s, committed);
}

/* The best mode continues after a trial that it has won. The time lost is the length of the trial,
 * including both changes of the mode, less the time that the best mode takes for the same events.
 */
static void count_cost(struct pace *pace, double now_s, uint64_t committed)
{
    const double events = (double)(committed - pace->trial_committed);
    const double lost_s = now_s - pace->trial_s - events / pace->rate[pace->best];
    const double least_s = TRIAL_SHARE * lost_s;
    pace->returns = false;
    pace->next_s = now_s + (least_s > pace->interval_s ? least_s : pace->interval_s);
}

/* When the first trial is due, after the very first measurement: at once, unless starting threads
 * would cost a short run too much, or many events would have to move. */
static double first_trial_s(const struct pace *pace, double now_s, uint64_t pending,
                            double change_s)
{
    if (pace->best == THREADS_SINGLE)
        return pending <= FEW_PENDING ? now_s + FIRST_TRIAL_S : now_s;
    return change_s < TRIAL_S ? now_s : now_s + TRIAL_SHARE * 2 * change_s;
}

/* The best mode was measured again. */
static void judge_best(struct pace *pace, double now_s, uint64_t pending, double change_s)
{
    const double rate = pace->rate[pace->best];
    if (pace->decided <= 0) { /* the very first measurement */
        pace->decided = rate;
        pace->next_s = first_trial_s(pace, now_s, pending, change_s);
    } else if (rate < SLOWER * pace->decided) {
        pace->decided = rate;
        pace->interval_s = INTERVAL_MIN_S;
        const double soon_s = TRIAL_SHARE * 2 * change_s;
        const double next_s = now_s + (soon_s > pace->interval_s ? soon_s : pace->interval_s);
        if (pace->next_s > next_s)
            pace->next_s = next_s;
    }
}

/* Whether the mode in use has been measured for long enough. */
static bool is_measured(const struct pace *pace, double elapsed_s, uint64_t committed,
                        double change_s)
{
    const double trial_s = TRIAL_S + change_s;
    if (pace->decided <= 0 || pace->doubts)
        return elapsed_s >= trial_s;
    if (!pace->tries)
        return elapsed_s >= WINDOW_S;
    const double share = (double)(committed - pace->committed) / elapsed_s / pace->rate[pace->best];
    return elapsed_s >= trial_s || (elapsed_s >= trial_s / 2 && share < SLOWER_HALF) ||
           (elapsed_s >= trial_s / 4 && share < SLOWER_QUARTER);
}

/* Whether the mode has run for long enough to be measured: the caches are warm. */
static bool has_settled(const struct pace *pace, double elapsed_s, uint64_t committed,
                        uint64_t pending, double change_s)
{
    const double best = pace->rate[pace->best];
    const double warm_s = best > 0 ? WARM_MOST * (double)pending / best : WARM_FIRST * change_s;
    return elapsed_s >= SETTLE_S &&
           (committed - pace->committed >= pending || elapsed_s >= SETTLE_S + warm_s);
}

enum threading_mode pace_look(struct pace *pace, double now_s, uint64_t committed, uint64_t pending,
                              double change_s)
{
    const double elapsed_s = now_s - pace->began_s;
    if (pace->settles) {
        if (!has_settled(pace, elapsed_s, committed, pending, change_s))
            return pace->mode;
        pace->settles = false;
        if (pace->returns)
            count_cost(pace, now_s, committed);
        begin_measurement(pace, now_s, committed);
        return pace->mode;
    }
    if (!is_measured(pace, elapsed_s, committed, change_s))
        return pace->mode;
    if (pace->mode == pace->best)
        pace->earlier = pace->rate[pace->best];
    pace->rate[pace->mode] = (double)(committed - pace->committed) / elapsed_s;
    begin_measurement(pace, now_s, committed);
    if (pace->tries) {
        end_trial(pace, now_s, committed, change_s);
        return pace->mode;
    }
    if (pace->doubts) {
        judge_again(pace, now_s, committed, change_s);
        return pace->mode;
    }
    judge_best(pace, now_s, pending, change_s);
    if (now_s >= pace->next_s)
        begin_trial(pace, now_s, committed);
    return pace->mode;
}
