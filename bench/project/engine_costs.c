/*
 * engine_costs.c: see engine_costs.h. A trial runs all kinds of runs once, in turn. Each figure is
 * the median over the trials of a difference or a ratio within a trial: a disturbance that lasts
 * slows both sides.
 */
#include "bench/project/engine_costs.h"

#include <math.h>

#include "core/host/clock.h"
#include "perf/statistics.h"

enum { TRIALS = 7, SUBJECT_TRIALS_MIN = 2, SUBJECT_TRIALS_MAX = 15, MANY_WORKERS = 32 };
/* Short commands are tried more often, for so long together. */
#define SUBJECT_TRIALS_S 3.0
#define HOST_TRIALS_S    3.0

/* Stated, not measured: of a message 64 bytes move, most of them fetched ahead, so that the two
 * workers together wait for this part of a line; fitted to PHOLD in the machine's two states. */
#define MESSAGE_LINES 0.07
/* The count of a mailbox's messages, and the first of them, cannot be fetched ahead. */
#define MAIL_LINES 2.0
/* A promise is a word that is read at the beginning of a turn, and all of the turn waits for it. */
#define PROMISE_LINES 1.0
/* A short turn's part of a turn: its look, publishing and promising take 80 ticks, and a turn has
 * 84 ticks of upkeep as well (perf/README.md, "Parallel PHOLD"). */
#define SHORT_SHARE (80.0 / 164.0)
/* A round of GVT goes twice over all slots, and once over the reports. */
#define ROUND_TURNS 4.0
#define ROUND_LOOKS 3.0
/* The pause between two fruitless turns. */
#define IDLE_S 15e-9

/* ---- models ---------------------------------------------------------------------------------- */

/* A PHOLD, and how it is run. */
struct kind {
    uint32_t lps, population;
    double remote, end_us;
    enum cw_sync sync;
    uint32_t workers; /* in turn on one thread */
};

static int run_once(const struct kind *kind, struct cw_stats *stats, struct cw_error *error)
{
    struct phold_options options = phold_defaults();
    options.lps = kind->lps;
    options.population = kind->population;
    options.remote_p32 = (uint64_t)(kind->remote * 4294967296.0);
    options.engine.end_ps = (int64_t)(kind->end_us * 1e6);
    options.engine.thread_count = 1;
    double setup_s;
    return phold_run(&options, kind->sync, kind->workers, stats, &setup_s, error);
}

static double at_least_0(double value) { return value > 0 ? value : 0; }

enum { ONE, TWO, MANY, AHEAD, SMALL_ONE, SMALL_TWO, KINDS };

static const struct kind kinds[KINDS] = {
    [ONE] = {1024, 16, 0.5, 40, CW_ADAPTIVE, 1},
    [TWO] = {1024, 16, 0.5, 40, CW_ADAPTIVE, 2},
    [MANY] = {1024, 16, 0.5, 40, CW_ADAPTIVE, MANY_WORKERS},
    [AHEAD] = {1024, 16, 0.5, 40, CW_OPTIMISTIC, 1},
    [SMALL_ONE] = {64, 1, 0.5, 4000, CW_ADAPTIVE, 1},
    [SMALL_TWO] = {64, 1, 0.5, 4000, CW_ADAPTIVE, 2},
};

int engine_costs_measure(struct perf_engine_costs *costs, struct cw_error *error)
{
    double message_s[TRIALS], turn_s[TRIALS], look_s[TRIALS], undo[TRIALS];
    for (int trial = 0; trial < TRIALS; trial++) {
        struct cw_stats run[KINDS];
        for (int i = 0; i < KINDS; i++) {
            const int result = run_once(&kinds[i], &run[i], error);
            if (result != CW_OK)
                return result;
        }
        message_s[trial] = (run[TWO].run_s - run[ONE].run_s) / (double)run[TWO].messages_sent;
        turn_s[trial] = (run[SMALL_TWO].run_s - run[SMALL_ONE].run_s -
                         message_s[trial] * (double)run[SMALL_TWO].messages_sent) /
                        (double)run[SMALL_TWO].turns;
        look_s[trial] =
            (run[MANY].run_s - run[ONE].run_s - message_s[trial] * (double)run[MANY].messages_sent -
             turn_s[trial] * (double)run[MANY].turns) /
            ((double)run[MANY].turns * (MANY_WORKERS - 1));
        undo[trial] = run[AHEAD].run_s / run[ONE].run_s - 1;
    }
    *costs = (struct perf_engine_costs){
        .event_factor = 1,
        .turn_s = at_least_0(perf_median(turn_s, TRIALS)),
        .short_share = SHORT_SHARE,
        .look_s = at_least_0(perf_median(look_s, TRIALS)),
        .idle_s = IDLE_S,
        .message_s = at_least_0(perf_median(message_s, TRIALS)),
        .message_lines = MESSAGE_LINES,
        .mail_lines = MAIL_LINES,
        .promise_lines = PROMISE_LINES,
        .undo_share = at_least_0(perf_median(undo, TRIALS)),
    };
    costs->round_s = ROUND_TURNS * costs->turn_s;
    costs->round_other_s = ROUND_LOOKS * costs->look_s;
    return CW_OK;
}

/* ---- the subject ----------------------------------------------------------------------------- */

enum { SEQUENTIAL, ADAPTIVE, IN_TURN, WAYS };

static const struct subject_way ways[WAYS] = {
    [SEQUENTIAL] = {.sync = CW_SEQUENTIAL, .workers = 1, .threads = 1},
    [ADAPTIVE] = {.sync = CW_ADAPTIVE, .workers = 1, .threads = 1},
    [IN_TURN] = {.sync = CW_ADAPTIVE, .workers = 2, .threads = 1},
};

int subject_costs_measure(struct subject *subject, const struct perf_engine_costs *costs,
                          struct subject_costs *measured, struct cw_error *error)
{
    double adaptive[SUBJECT_TRIALS_MAX], workers[SUBJECT_TRIALS_MAX];
    double listen_s[SUBJECT_TRIALS_MAX], listen_serial_s[SUBJECT_TRIALS_MAX];
    const double start_s = clock_s();
    size_t trial = 0;
    for (; trial < SUBJECT_TRIALS_MIN ||
           (trial < SUBJECT_TRIALS_MAX && clock_s() - start_s < SUBJECT_TRIALS_S);
         trial++) {
        struct cw_stats run[WAYS];
        for (int i = 0; i < WAYS; i++) {
            const int result = subject_run(subject, &ways[i], &run[i], error);
            if (result != CW_OK)
                return result;
        }
        const struct cw_stats *const turns = &run[IN_TURN];
        const double own_s = turns->run_s - (costs->turn_s + costs->look_s) * (double)turns->turns -
                             costs->message_s * (double)turns->messages_sent -
                             turns->listen_shared_s - turns->listen_serial_s;
        const double listened = (double)turns->events_listened;
        const double others = 1 - listened / (double)turns->events_committed;
        listen_s[trial] = listened > 0 ? turns->listen_shared_s / listened : 0;
        listen_serial_s[trial] = listened > 0 ? turns->listen_serial_s / listened : 0;
        adaptive[trial] = run[ADAPTIVE].run_s / run[SEQUENTIAL].run_s;
        workers[trial] = own_s / (run[SEQUENTIAL].run_s * others);
        if (trial == 0 || run[SEQUENTIAL].run_s < measured->sequential_s) {
            measured->stats = run[SEQUENTIAL];
            measured->sequential_s = run[SEQUENTIAL].run_s;
        }
    }
    measured->adaptive_factor = fmax(1, perf_median(adaptive, trial)); /* less is chance */
    measured->workers_factor = fmax(1, perf_median(workers, trial));
    measured->listen_s = perf_median(listen_s, trial);
    measured->listen_serial_s = perf_median(listen_serial_s, trial);
    return CW_OK;
}

/* Keeps the least of some trials, phase by phase: a disturbance of one phase does not count. */
static void take_least(struct host_phases *least, const struct process_phases *phases, bool first)
{
    least->count = phases->count;
    for (size_t i = 0; i < phases->count; i++) {
        const struct process_phase *const phase = &phases->list[i];
        const struct host_work own = {phase->times.work_s, phase->times.longest_s,
                                      process_phase_serial_s(phase),
                                      (double)phase->times.host_calls};
        struct host_work *const of = &least->phase[i];
        least->name[i] = phase->name;
        if (first)
            *of = own;
        of->work_s = fmin(of->work_s, own.work_s);
        of->longest_s = fmin(of->longest_s, own.longest_s);
        of->serial_s = fmin(of->serial_s, own.serial_s);
    }
}

static void sum_up(struct host_phases *host)
{
    for (size_t i = 0; i < host->count; i++) {
        host->sum.work_s += host->phase[i].work_s;
        host->sum.longest_s += host->phase[i].longest_s;
        host->sum.serial_s += host->phase[i].serial_s;
        host->sum.calls += host->phase[i].calls;
    }
}

int subject_host_measure(struct subject *subject, uint32_t workers, struct host_phases *host,
                         struct cw_error *error)
{
    enum { HOST_TRIALS_MAX = 9 };
    struct process_phases phases = {.count = 0};
    const struct subject_way way = {.sync = workers > 1 ? CW_ADAPTIVE : CW_SEQUENTIAL,
                                    .workers = workers,
                                    .threads = 1,
                                    .phases = &phases};
    const double start_s = clock_s();
    *host = (struct host_phases){.count = 0};
    for (int trial = 0;
         trial == 0 || (trial < HOST_TRIALS_MAX && clock_s() - start_s < HOST_TRIALS_S); trial++) {
        struct cw_stats stats;
        const int result = subject_run(subject, &way, &stats, error);
        if (result != CW_OK)
            return result;
        take_least(host, &phases, trial == 0);
    }
    sum_up(host);
    return CW_OK;
}

/* The time of an event of PHOLD with so many LPs. */
static int part_event_s(const struct phold_options *whole, uint32_t lps, double *event_s,
                        struct cw_error *error)
{
    enum { EVENTS_MIN = 300000, EVENTS_MAX = 4000000 };
    struct phold_options options = *whole;
    const double mean_ps = (double)(options.mean_ps + options.lookahead_ps);
    const double per_ps = (double)lps * options.population / mean_ps;
    struct cw_stats stats;
    double setup_s;
    options.lps = lps;
    /* Each event that is pending at first is handled, if the command lasts so long. */
    const double pending = (double)whole->lps * whole->population;
    const double most_ps = fmax(EVENTS_MAX, pending) / pending * mean_ps;
    options.engine.end_ps =
        (int64_t)fmax(EVENTS_MIN / per_ps, fmin((double)whole->engine.end_ps, most_ps));
    const int result = phold_run(&options, CW_SEQUENTIAL, 1, &stats, &setup_s, error);
    *event_s = stats.events_committed > 0 ? stats.run_s / (double)stats.events_committed : 0;
    return result;
}

int subject_parts_measure(const struct subject *subject, struct subject_costs *measured,
                          struct cw_error *error)
{
    enum { LPS_MIN = 64, PENDING_MANY = 1 << 22 };
    for (int part = 0; part < SUBJECT_PARTS; part++)
        measured->part_factor[part] = 1;
    if (!subject->is_phold || subject->phold.traffic != PHOLD_RANDOM)
        return CW_OK;
    const bool is_large = (uint64_t)subject->phold.lps * subject->phold.population > PENDING_MANY;
    const int trials = is_large ? 1 : TRIALS;
    double factors[SUBJECT_PARTS][TRIALS];
    int parts = 0;
    for (int trial = 0; trial < trials; trial++) {
        double whole_s = 0;
        for (parts = 0; parts < SUBJECT_PARTS && subject->phold.lps >> parts >= LPS_MIN; parts++) {
            double event_s = 0;
            const int result =
                part_event_s(&subject->phold, subject->phold.lps >> parts, &event_s, error);
            if (result != CW_OK)
                return result;
            whole_s = parts == 0 ? event_s : whole_s;
            factors[parts][trial] = event_s / whole_s;
        }
    }
    for (int part = 1; part < SUBJECT_PARTS; part++) {
        double *const factor = &measured->part_factor[part];
        *factor = part < parts ? fmin(factor[-1], perf_median(factors[part], (size_t)trials))
                               : factor[-1];
    }
    return CW_OK;
}

double subject_part_factor(const struct subject_costs *measured, uint32_t workers)
{
    const uint32_t dies = (workers + PERF_DIE_CORES - 1) / PERF_DIE_CORES;
    const double part = log2(dies);
    const int below = (int)part, above = below + 1 < SUBJECT_PARTS ? below + 1 : below;
    const double share = part - below;
    return measured->part_factor[below] * (1 - share) + measured->part_factor[above] * share;
}
