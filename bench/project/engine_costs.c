/*
 * engine_costs.c: see engine_costs.h. Each figure is the difference of two kinds of runs, taken in
 * alternation, the fastest of a few: other programs disturbed it least.
 */
#include "bench/project/engine_costs.h"

#include <math.h>

#include "core/host/clock.h"

enum { TRIALS = 5, SUBJECT_TRIALS_MIN = 3, SUBJECT_TRIALS_MAX = 12, MANY_WORKERS = 32 };
/* Short commands are tried more often, for so long together. */
#define SUBJECT_TRIALS_S 2.0

/* Stated, not measured: of a message 64 bytes move, most of them fetched ahead, so that the two
 * workers together wait for this part of a line; fitted to PHOLD in the machine's two states. */
#define MESSAGE_LINES 0.07
/* The count of a mailbox's messages, and the first of them, cannot be fetched ahead. */
#define MAIL_LINES 2.0
/* A promise is a word that is read at the beginning of a turn, and all of the turn waits for it. */
#define PROMISE_LINES 1.0
/* A round of GVT goes twice over all slots, and once over the reports. */
#define ROUND_TURNS 4.0
#define ROUND_LOOKS 3.0
/* The pause between two fruitless turns. */
#define IDLE_S 15e-9

/* ---- models ------------------------------------------------------------------------------------
 */

/* A PHOLD, and how it is run. */
struct kind {
    uint32_t lps, population;
    double remote, end_us;
    enum cw_sync sync;
    uint32_t workers; /* in turn on one thread */
};

struct measured {
    struct cw_stats stats;
    double run_s;
};

static int run_once(const struct kind *kind, struct measured *best, struct cw_error *error)
{
    struct phold_options options = phold_defaults();
    options.lps = kind->lps;
    options.population = kind->population;
    options.remote_p32 = (uint64_t)(kind->remote * 4294967296.0);
    options.engine.end_ps = (int64_t)(kind->end_us * 1e6);
    options.engine.thread_count = 1;
    struct cw_stats stats;
    double setup_s;
    const int result = phold_run(&options, kind->sync, kind->workers, &stats, &setup_s, error);
    if (result == CW_OK && (best->run_s <= 0 || stats.run_s < best->run_s))
        *best = (struct measured){stats, stats.run_s};
    return result;
}

static double at_least_0(double value) { return value > 0 ? value : 0; }

/* The time that `more` took beyond `less`. */
static double beyond_s(const struct measured *more, const struct measured *less)
{
    return more->run_s - less->run_s;
}

int engine_costs_measure(struct perf_engine_costs *costs, struct cw_error *error)
{
    enum { ONE, TWO, MANY, AHEAD, SMALL_ONE, SMALL_TWO, KINDS };
    static const struct kind kinds[KINDS] = {
        [ONE] = {1024, 16, 0.5, 40, CW_ADAPTIVE, 1},
        [TWO] = {1024, 16, 0.5, 40, CW_ADAPTIVE, 2},
        [MANY] = {1024, 16, 0.5, 40, CW_ADAPTIVE, MANY_WORKERS},
        [AHEAD] = {1024, 16, 0.5, 40, CW_OPTIMISTIC, 1},
        [SMALL_ONE] = {64, 1, 0.5, 6000, CW_ADAPTIVE, 1},
        [SMALL_TWO] = {64, 1, 0.5, 6000, CW_ADAPTIVE, 2},
    };
    struct measured best[KINDS] = {{.run_s = 0}};
    int result = CW_OK;
    for (int trial = 0; trial < TRIALS; trial++)
        for (int i = 0; i < KINDS && result == CW_OK; i++)
            result = run_once(&kinds[i], &best[i], error);
    if (result != CW_OK)
        return result;
    const double turns = (double)best[SMALL_TWO].stats.turns;
    *costs = (struct perf_engine_costs){.event_factor = 1,
                                        .idle_s = IDLE_S,
                                        .message_lines = MESSAGE_LINES,
                                        .mail_lines = MAIL_LINES,
                                        .promise_lines = PROMISE_LINES};
    costs->message_s =
        at_least_0(beyond_s(&best[TWO], &best[ONE])) / (double)best[TWO].stats.messages_sent;
    costs->turn_s = at_least_0(beyond_s(&best[SMALL_TWO], &best[SMALL_ONE]) -
                               costs->message_s * (double)best[SMALL_TWO].stats.messages_sent) /
                    turns;
    const double looks_s = beyond_s(&best[MANY], &best[ONE]) -
                           costs->message_s * (double)best[MANY].stats.messages_sent -
                           costs->turn_s * (double)best[MANY].stats.turns;
    costs->look_s = at_least_0(looks_s) / ((double)best[MANY].stats.turns * (MANY_WORKERS - 1));
    costs->round_s = ROUND_TURNS * costs->turn_s;
    costs->round_other_s = ROUND_LOOKS * costs->look_s;
    costs->undo_share = at_least_0(beyond_s(&best[AHEAD], &best[ONE])) / best[ONE].run_s;
    return CW_OK;
}

/* ---- the subject ------------------------------------------------------------------------------
 */

int subject_costs_measure(struct subject *subject, const struct perf_engine_costs *costs,
                          struct subject_costs *measured, struct cw_error *error)
{
    enum { SEQUENTIAL, ADAPTIVE, IN_TURN, WAYS };
    static const struct subject_way ways[WAYS] = {
        [SEQUENTIAL] = {.sync = CW_SEQUENTIAL, .workers = 1, .threads = 1},
        [ADAPTIVE] = {.sync = CW_ADAPTIVE, .workers = 1, .threads = 1},
        [IN_TURN] = {.sync = CW_ADAPTIVE, .workers = 2, .threads = 1},
    };
    struct measured best[WAYS] = {{.run_s = 0}};
    int result = CW_OK;
    const double start_s = clock_s();
    for (int trial = 0; trial < SUBJECT_TRIALS_MIN ||
                        (trial < SUBJECT_TRIALS_MAX && clock_s() - start_s < SUBJECT_TRIALS_S);
         trial++)
        for (int i = 0; i < WAYS && result == CW_OK; i++) {
            struct cw_stats stats;
            result = subject_run(subject, &ways[i], &stats, error);
            if (result == CW_OK && (best[i].run_s <= 0 || stats.run_s < best[i].run_s))
                best[i] = (struct measured){stats, stats.run_s};
        }
    if (result != CW_OK)
        return result;
    const struct cw_stats *const turns = &best[IN_TURN].stats;
    const double own_s = best[IN_TURN].run_s -
                         (costs->turn_s + costs->look_s) * (double)turns->turns -
                         costs->message_s * (double)turns->messages_sent;
    *measured = (struct subject_costs){
        .stats = best[SEQUENTIAL].stats,
        .sequential_s = best[SEQUENTIAL].run_s,
        .adaptive_factor = best[ADAPTIVE].run_s / best[SEQUENTIAL].run_s,
        .workers_factor = own_s / best[SEQUENTIAL].run_s,
    };
    return CW_OK;
}

int subject_part_factor(const struct subject *subject, const struct subject_costs *measured,
                        uint32_t workers, double *factor, struct cw_error *error)
{
    enum { LPS_MIN = 64, EVENTS_MIN = 500000 };
    *factor = 1;
    const uint32_t lps = subject->lp_count / workers;
    if (!subject->is_phold || subject->phold.traffic != PHOLD_RANDOM || workers < 2 ||
        lps < LPS_MIN)
        return CW_OK;
    struct phold_options options = subject->phold;
    const double mean_ps = (double)(options.mean_ps + options.lookahead_ps);
    const double per_ps = (double)lps * options.population / mean_ps;
    options.lps = lps;
    options.engine.end_ps = (int64_t)fmax((double)EVENTS_MIN / per_ps, mean_ps);
    double best_s = 0; /* of an event */
    for (int trial = 0; trial < TRIALS; trial++) {
        struct cw_stats stats;
        double setup_s;
        const int result = phold_run(&options, CW_SEQUENTIAL, 1, &stats, &setup_s, error);
        if (result != CW_OK)
            return result;
        const double event_s = stats.run_s / (double)stats.events_committed;
        best_s = best_s <= 0 || event_s < best_s ? event_s : best_s;
    }
    const double whole_s = measured->sequential_s / (double)measured->stats.events_committed;
    *factor = fmin(1, best_s / whole_s);
    return CW_OK;
}
