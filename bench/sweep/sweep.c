/*
 * sweep.c: the loop of a sweep: gives points to workers, takes answers, stops points that take too
 * long, replaces workers that have ended, records results, shows progress.
 */
#include "bench/sweep/sweep.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench/sweep/sweep_order.h"
#include "bench/sweep/sweep_progress.h"
#include "bench/sweep/sweep_worker.h"
#include "core/os/clock.h"

/* Points shorter than this are handed out ahead, while many remain. */
#define SHORT_POINT_S 0.1
enum { MANY_EACH = 8, STARTS_FAILED_MAX = 3, TURN_MS = 100 };

struct sweep {
    const struct sweep_plan *plan;
    struct sweep_counts *counts;
    struct sweep_setup setup;
    struct sweep_worker *workers;
    struct pollfd *polled;
    struct sweep_order order;
    uint32_t *again; /* points that were waiting at a worker when it ended */
    uint32_t again_count;
    uint32_t *killed; /* points whose process was killed once: they run again at the end, alone */
    uint32_t killed_count;
    bool *was_killed; /* [study->point_count] */
    uint32_t ended;
    uint32_t idle_ends;      /* processes in a row that ended without a point */
    uint32_t processes_most; /* most that the system has granted at once */
    double busy_s;           /* of all points that have ended */
    double forgotten_s;      /* when the workers' messages were last trimmed */
    struct sweep_progress progress;
};

static volatile sig_atomic_t signal_seen; /* written by the handler, read by the loop */

static void note_signal(int number) { signal_seen = number; }

static void catch_signals(struct sigaction before[3])
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = note_signal};
    signal_seen = 0;
    for (int i = 0; i < 3; i++) {
        sigaction(numbers[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) /* as under nohup */
            sigaction(numbers[i], &action, NULL);
    }
}

static void leave_signals(const struct sigaction before[3])
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++)
        sigaction(numbers[i], &before[i], NULL);
}

/* ---- points ---------------------------------------------------------------------------------- */

static uint32_t points_left(const struct sweep *sweep)
{
    return sweep_order_left(&sweep->order) + sweep->again_count + sweep->killed_count;
}

/* The next point for a worker; at least one must be left. */
static uint32_t next_point(struct sweep *sweep, const struct sweep_worker *worker)
{
    if (sweep->again_count > 0)
        return sweep->again[sweep->again_count - 1];
    if (sweep_order_left(&sweep->order) > 0)
        return sweep_order_next(&sweep->order, (uint32_t)(worker - sweep->workers));
    return sweep->killed[sweep->killed_count - 1];
}

/* Notes that the worker has it. */
static void take_point(struct sweep *sweep, const struct sweep_worker *worker)
{
    if (sweep->again_count > 0)
        sweep->again_count--;
    else if (sweep_order_left(&sweep->order) == 0)
        sweep->killed_count--;
    else
        sweep_order_take(&sweep->order, (uint32_t)(worker - sweep->workers));
}

/* How many points a worker may have: two only while points are short and many. */
static uint32_t points_each(const struct sweep *sweep)
{
    const bool is_short = sweep->ended > 0 && sweep->busy_s / sweep->ended < SHORT_POINT_S &&
                          points_left(sweep) > MANY_EACH * sweep->plan->workers;
    return is_short ? SWEEP_AHEAD_MAX : 1;
}

static int record(struct sweep *sweep, const struct sweep_answer *answer, struct cw_error *error)
{
    const struct study_outcome *const outcome = &answer->outcome;
    const int code = study_db_record(sweep->plan->db, answer->point, outcome, error);
    sweep->ended++;
    sweep->busy_s += outcome->seconds;
    sweep->counts->ended[outcome->state]++;
    sweep->counts->wrong += outcome->state == STUDY_DONE && outcome->exit_code == CW_DATA_WRONG;
    sweep_progress_point(&sweep->progress, answer);
    return code;
}

/* ---- workers --------------------------------------------------------------------------------- */

/* A process may be killed because the points in flight use too much memory, or just before the
 * sweep itself is killed with all processes of a job. So its point gets one more try, alone. */
static bool runs_again(struct sweep *sweep, const struct sweep_answer *answer)
{
    if (!answer->is_killed || sweep->was_killed[answer->point])
        return false;
    sweep->was_killed[answer->point] = true;
    sweep->killed[sweep->killed_count++] = answer->point;
    return true;
}

/* Ends a worker. Its first point has ended with it; the others run again. */
static int end_worker(struct sweep *sweep, struct sweep_worker *worker, double timeout_s,
                      struct cw_error *error)
{
    struct sweep_answer answer;
    const uint32_t points = worker->point_count;
    for (uint32_t i = points; i-- > 1;)
        sweep->again[sweep->again_count++] = worker->points[i];
    sweep_worker_end(worker, timeout_s, &answer);
    int code = CW_OK;
    if (points > 0 && !runs_again(sweep, &answer))
        code = record(sweep, &answer, error);
    sweep->idle_ends = points > 0 ? 0 : sweep->idle_ends + 1;
    if (sweep->idle_ends > STARTS_FAILED_MAX)
        code = cw_error_set(error, CW_NO_RESOURCE,
                            "processes for the points of the study end at once, with exit code %d",
                            answer.outcome.exit_code);
    sweep_answer_free(&answer);
    return code;
}

static double bytes_of(const struct sweep *sweep, uint32_t point)
{
    return (double)sweep->plan->estimates[point].bytes;
}

/* Whether the next point is estimated to fit into memory beside the other workers' points. A
 * point always fits alone; one whose process was killed fits only alone. */
static bool fits(struct sweep *sweep, const struct sweep_worker *worker)
{
    const uint32_t point = next_point(sweep, worker);
    double bytes = bytes_of(sweep, point);
    bool is_alone = true;
    for (uint32_t i = 0; i < sweep->plan->workers; i++) {
        const struct sweep_worker *const other = &sweep->workers[i];
        if (other == worker || other->point_count == 0)
            continue;
        is_alone = false;
        bytes += bytes_of(sweep, other->points[0]);
    }
    return is_alone || (!sweep->was_killed[point] && bytes <= (double)sweep->plan->memory_bytes);
}

/* Lowers the number of points that run at once, and reports it once. */
static void limit_processes(struct sweep *sweep, uint32_t processes, const char *why)
{
    fprintf(stderr, "cubewarp sweep: %u %s at a time, not %u: %s\n", processes,
            processes == 1 ? "point" : "points", sweep->plan->workers, why);
    sweep->processes_most = processes;
}

/* Each worker needs two files here, and inherits the earlier workers' files. A point also
 * reads its configuration, and the database has its journal. */
static void limit_by_files(struct sweep *sweep)
{
    enum { FILES_EACH = 2, FILES_SPARE = 24 };
    struct rlimit files;
    char why[80];
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    const rlim_t most = files.rlim_max;
    if (files.rlim_cur < most &&
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = most, .rlim_max = most}) == 0)
        files.rlim_cur = most;
    const rlim_t needed = FILES_SPARE + (rlim_t)FILES_EACH * sweep->plan->workers;
    if (files.rlim_cur >= needed || sweep->plan->workers <= 1)
        return;
    const rlim_t room = files.rlim_cur > FILES_SPARE ? files.rlim_cur - FILES_SPARE : 0;
    snprintf(why, sizeof why, "at most %llu files may be open (ulimit -n)",
             (unsigned long long)files.rlim_cur);
    limit_processes(sweep, room > FILES_EACH ? (uint32_t)room / FILES_EACH : 1, why);
}

/* Forks a worker's process. If the system grants no more processes, the others do the work and
 * this worker stays without one. The sweep ends only if the first one is refused. */
static int start_worker(struct sweep *sweep, struct sweep_worker *worker, struct cw_error *error)
{
    uint32_t processes = 0;
    for (uint32_t i = 0; i < sweep->plan->workers; i++)
        processes += sweep->workers[i].process != 0;
    if (processes >= sweep->processes_most)
        return CW_OK;
    const int code = sweep_worker_start(worker, &sweep->setup, error);
    if (code == CW_OK || processes == 0)
        return code;
    limit_processes(sweep, processes, cw_error_text(error));
    *error = (struct cw_error){.exit_code = CW_OK};
    return CW_OK;
}

/* Gives a worker as many points as it may have, after forking it if necessary. */
static int feed(struct sweep *sweep, struct sweep_worker *worker, struct cw_error *error)
{
    const uint32_t most = points_each(sweep);
    while (worker->point_count < most && points_left(sweep) > 0 && fits(sweep, worker)) {
        if (worker->process == 0 && start_worker(sweep, worker, error) != CW_OK)
            return error->exit_code;
        if (worker->process == 0)
            return CW_OK;
        const uint32_t point = next_point(sweep, worker);
        take_point(sweep, worker);
        if (sweep_worker_send(worker, point))
            continue;
        sweep->again[sweep->again_count++] = point;
        const int code = end_worker(sweep, worker, 0, error);
        if (code != CW_OK)
            return code;
    }
    return CW_OK;
}

/* Takes all answers that have arrived. */
static int listen_to(struct sweep *sweep, struct sweep_worker *worker, struct cw_error *error)
{
    struct sweep_answer answer;
    int come, code = CW_OK;
    while (code == CW_OK && (come = sweep_worker_receive(worker, &answer)) > 0) {
        code = record(sweep, &answer, error);
        sweep_answer_free(&answer);
        sweep->idle_ends = 0;
    }
    if (code == CW_OK && come == SWEEP_NO_MEMORY)
        code = cw_error_memory(error, "the answer of a point's process");
    else if (code == CW_OK && come < 0)
        code = end_worker(sweep, worker, 0, error);
    return code;
}

static bool is_late(const struct sweep *sweep, const struct sweep_worker *worker)
{
    return sweep->plan->timeout_s > 0 && worker->point_count > 0 &&
           clock_s() - worker->begun_s > sweep->plan->timeout_s;
}

/* Trims the messages of each worker, at most ten times a second. */
static void forget_messages(struct sweep *sweep)
{
    const double now_s = clock_s();
    if (now_s - sweep->forgotten_s < TURN_MS / 1000.0)
        return;
    sweep->forgotten_s = now_s;
    for (uint32_t i = 0; i < sweep->plan->workers; i++)
        if (sweep->workers[i].process != 0)
            sweep_worker_forget(&sweep->workers[i]);
}

/* Feeds every worker, waits for answers, takes them, and records them in one transaction. */
static int turn(struct sweep *sweep, struct cw_error *error)
{
    const uint32_t count = sweep->plan->workers;
    int code = CW_OK;
    for (uint32_t i = 0; i < count && code == CW_OK; i++) {
        code = feed(sweep, &sweep->workers[i], error);
        sweep->polled[i] =
            (struct pollfd){.fd = sweep->workers[i].process != 0 ? sweep->workers[i].channel : -1,
                            .events = POLLIN};
    }
    if (code != CW_OK || poll(sweep->polled, count, TURN_MS) < 0)
        return code != CW_OK || errno == EINTR
                   ? code
                   : cw_error_set(error, CW_NO_RESOURCE, "poll: %s", strerror(errno));
    for (uint32_t i = 0; i < count && code == CW_OK; i++) {
        struct sweep_worker *const worker = &sweep->workers[i];
        if (sweep->polled[i].revents != 0)
            code = listen_to(sweep, worker, error);
        if (code == CW_OK && is_late(sweep, worker))
            code = end_worker(sweep, worker, sweep->plan->timeout_s, error);
    }
    forget_messages(sweep);
    const int committed = study_db_commit(sweep->plan->db, error);
    sweep_progress_show(&sweep->progress, sweep->workers, points_left(sweep));
    return code != CW_OK ? code : committed;
}

static bool is_over(const struct sweep *sweep)
{
    if (signal_seen != 0)
        return true;
    for (uint32_t i = 0; i < sweep->plan->workers; i++)
        if (sweep->workers[i].point_count > 0)
            return false;
    return points_left(sweep) == 0;
}

int sweep_run(const struct sweep_plan *plan, struct sweep_counts *counts, struct cw_error *error)
{
    struct sweep sweep = {
        .plan = plan,
        .counts = counts,
        .processes_most = plan->workers,
        .setup = {.study = plan->study,
                  .db = plan->db,
                  .threads = plan->threads,
                  .machine_bytes = plan->machine_bytes},
        .workers = calloc(plan->workers, sizeof *sweep.workers),
        .polled = calloc(plan->workers, sizeof *sweep.polled),
        .again = calloc((size_t)SWEEP_AHEAD_MAX * plan->workers + 1, sizeof *sweep.again),
        .killed = calloc((size_t)plan->count + 1, sizeof *sweep.killed),
        .was_killed = calloc(plan->study->point_count, sizeof *sweep.was_killed)};
    struct sigaction before[3];
    *counts = (struct sweep_counts){0};
    int code = CW_OK;
    if (!sweep_order_init(&sweep.order, plan) || sweep.workers == NULL || sweep.polled == NULL ||
        sweep.again == NULL || sweep.killed == NULL || sweep.was_killed == NULL)
        code = cw_error_memory(error, "the processes of the study");
    const double begun_s = clock_s();
    limit_by_files(&sweep);
    sweep_progress_begin(&sweep.progress, plan);
    catch_signals(before);
    while (code == CW_OK && !is_over(&sweep))
        code = turn(&sweep, error);
    counts->signal_number = code == CW_OK ? signal_seen : 0;
    leave_signals(before);
    for (uint32_t i = 0; i < plan->workers && sweep.workers != NULL; i++)
        if (sweep.workers[i].process != 0)
            sweep_worker_end(&sweep.workers[i], 0, NULL);
    sweep_progress_end(&sweep.progress);
    counts->wall_s = clock_s() - begun_s;
    sweep_order_free(&sweep.order);
    free(sweep.workers);
    free(sweep.polled);
    free(sweep.again);
    free(sweep.killed);
    free(sweep.was_killed);
    return code;
}
