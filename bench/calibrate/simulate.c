/*
 * simulate.c: forks a process per job for each call, which take rows from one counter and write
 * what they gave into shared memory. Keeping processes from call to call would keep nothing: each
 * call has another machine.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "bench/calibrate/simulate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/calibrate/line_settings.h"
#include "bench/options/options_run.h"
#include "bench/output/result.h"
#include "bench/programs/bench.h"
#include "collectives/plugin.h"
#include "core/os/clock.h"

enum { JOBS_MAX = 1024, SIZE_TEXT_BYTES = 24, OWN_SETTINGS = 4, NOT_ANSWERED = -1 };

/* With the processes. A row's answer is written by the one process that has taken it. */
struct shared_rows {
    _Atomic uint32_t next; /* no process has taken the row at this place of the call's list yet */
    struct row_answer answers[];
};

/* One call. */
struct call {
    const struct simulator *simulator;
    const uint32_t *rows;
    uint32_t count;
    const char *const *sets;
    uint32_t set_count;
};

/* What a process keeps from row to row: the configuration of a curve. */
struct kept {
    struct config *config; /* NULL: none */
    uint32_t curve;
    const char *bench, *algorithm;
};

static size_t shared_bytes(const struct curves *curves)
{
    return sizeof(struct shared_rows) + curves->row_count * sizeof(struct row_answer);
}

int simulator_init(struct simulator *simulator, const struct curves *curves, uint32_t jobs,
                   struct cw_error *error)
{
    *simulator = (struct simulator){.curves = curves, .jobs = jobs < JOBS_MAX ? jobs : JOBS_MAX};
    void *const shared =
        mmap(NULL, shared_bytes(curves), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return cw_error_memory(error, "the rows of the tables");
    simulator->shared = shared;
    return CW_OK;
}

void simulator_free(struct simulator *simulator)
{
    if (simulator->shared != NULL)
        (void)munmap(simulator->shared, shared_bytes(simulator->curves));
    simulator->shared = NULL;
}

/* ---- a process ------------------------------------------------------------------------------- */

static void ignore_warning(void *arg, const char *text)
{
    (void)arg;
    (void)text;
}

/* The settings of a row's run. The caller frees the list; NULL: no memory. */
static struct study_settings settings_of(const struct call *call, const struct curve_row *row,
                                         char size[SIZE_TEXT_BYTES])
{
    static char per_rank[] = "--bytes-per-rank", shard[] = "--bytes", no_data[] = "--no-data",
                no_pin[] = "--no-pin", set[] = "--set";
    const struct study_settings *const own = &call->simulator->curves->list[row->curve].settings;
    struct study_settings all = {
        .list = calloc(own->count + call->set_count + OWN_SETTINGS, sizeof *all.list)};
    if (all.list == NULL)
        return all;
    memcpy(all.list, own->list, own->count * sizeof *all.list);
    all.count = own->count;
    snprintf(size, SIZE_TEXT_BYTES, "%llu", (unsigned long long)row->bytes);
    line_settings_add(&all, row->is_shard ? "bytes" : "bytes-per-rank",
                      row->is_shard ? shard : per_rank, size);
    if (!line_settings_have(own, "no-data") && !line_settings_have(own, "verify-data"))
        line_settings_add(&all, "no-data", no_data, NULL);
    if (!line_settings_have(own, "no-pin"))
        line_settings_add(&all, "no-pin", no_pin, NULL);
    for (uint32_t i = 0; i < call->set_count; i++)
        line_settings_add(&all, "set", set, (char *)(uintptr_t)call->sets[i]);
    return all;
}

/* Loads the row's configuration, or takes that of the row before, of the same curve. */
static int configure(struct kept *kept, const struct study_settings *settings, uint32_t curve,
                     struct run_options *run, struct cw_error *error)
{
    if (kept->config == NULL || kept->curve != curve) {
        config_free(kept->config);
        const int code = line_settings_load(settings, run, &kept->config, error);
        kept->curve = curve;
        kept->bench = run->bench;
        kept->algorithm = run->config.algorithm;
        return code;
    }
    const int code = line_settings_give(settings, run, error);
    run->bench = kept->bench;
    run->config.algorithm = kept->algorithm;
    return code;
}

static void take_figures(const struct result *result, const struct curve_row *row,
                         struct row_answer *answer)
{
    const struct result_row *const first = &result->rows[0];
    answer->events = first->events;
    answer->time_ps = first->time_ps;
    answer->is_other_size = first->counted_bytes != row->bytes;
    answer->exit_code = first->not_run != NULL || answer->is_other_size ? CW_USAGE : CW_OK;
    if (first->not_run != NULL)
        snprintf(answer->message, sizeof answer->message, "%s", first->not_run);
    else if (answer->is_other_size)
        snprintf(answer->message, sizeof answer->message,
                 "bandwidths would count %llu bytes, not %llu",
                 (unsigned long long)first->counted_bytes, (unsigned long long)row->bytes);
}

static void run_row(const struct call *call, uint32_t index, struct kept *kept,
                    struct run_options *run)
{
    const struct curve_row *const row = &call->simulator->curves->rows[index];
    struct row_answer *const answer = &call->simulator->shared->answers[index];
    struct cw_error error = {.exit_code = CW_OK};
    struct result result = {0};
    char size[SIZE_TEXT_BYTES];
    struct study_settings settings = settings_of(call, row, size);
    int code = settings.list != NULL ? configure(kept, &settings, row->curve, run, &error)
                                     : cw_error_memory(&error, "a row");
    run->warn = ignore_warning;
    if (code == CW_OK)
        code = run_options_check(run, &kept->config->hw, &error);
    if (code == CW_OK)
        code = bench_run(run, kept->config, &result, &error);
    if (code == CW_OK)
        code = result_judge(&result, kept->config->hw.contention != HW_CONTENTION_NONE,
                            plugin_is_path(kept->config->ccl.module), &error);
    if (code != CW_OK)
        snprintf(answer->message, sizeof answer->message, "%s", cw_error_text(&error));
    if (code == CW_OK && result.row_count > 0)
        take_figures(&result, row, answer);
    else
        answer->exit_code = code != CW_OK ? code : CW_BUG;
    result_free(&result);
    free(settings.list);
}

static _Noreturn void process_main(const struct call *call, pid_t parent)
{
    struct shared_rows *const shared = call->simulator->shared;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct run_options *const run = malloc(sizeof *run);
    struct kept kept = {0};
    if (getppid() != parent || run == NULL || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
        dup2(nothing, STDOUT_FILENO) < 0 || dup2(nothing, STDERR_FILENO) < 0)
        _exit(CW_NO_RESOURCE);
    for (uint32_t at = 0; (at = atomic_fetch_add(&shared->next, 1)) < call->count;)
        run_row(call, call->rows[at], &kept, run);
    _exit(CW_OK); /* leaves the parent's files and streams as they are */
}

/* ---- the parent ------------------------------------------------------------------------------ */

/* Forks up to `count` processes, which inherit the pipe's writing end. Returns how many. */
static uint32_t start(const struct call *call, pid_t *processes, uint32_t count)
{
    const pid_t parent = getpid();
    uint32_t started = 0;
    fflush(NULL);
    while (started < count) {
        processes[started] = fork();
        if (processes[started] == 0)
            process_main(call, parent);
        if (processes[started] < 0)
            break;
        started++;
    }
    return started;
}

/* Waits until all processes have closed the pipe. False: the deadline has come. */
static bool wait_for(int ends, double deadline_s)
{
    for (;;) {
        const double left_s = deadline_s > 0 ? deadline_s - clock_s() : 1;
        struct pollfd polled = {.fd = ends, .events = POLLIN};
        if (left_s <= 0)
            return false;
        const int come = poll(&polled, 1, left_s < 1 ? (int)(1000 * left_s) + 1 : 1000);
        if (come > 0)
            return true;
        if (come < 0 && errno != EINTR)
            return true; /* waitpid() waits then */
    }
}

/* One generation of processes: until the list is at its end, all have died, or it is late. */
static int run_processes(const struct call *call, struct cw_error *error)
{
    pid_t processes[JOBS_MAX];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return cw_error_set(error, CW_NO_RESOURCE, "no pipe to the processes: %s", strerror(errno));
    const uint32_t jobs = call->count < call->simulator->jobs ? call->count : call->simulator->jobs;
    const uint32_t started = start(call, processes, jobs);
    const int number = errno;
    close(ends[1]);
    const bool is_late = started > 0 && !wait_for(ends[0], call->simulator->deadline_s);
    close(ends[0]);
    for (uint32_t i = 0; i < started && is_late; i++)
        (void)kill(processes[i], SIGKILL);
    for (uint32_t i = 0; i < started; i++)
        while (waitpid(processes[i], NULL, 0) < 0 && errno == EINTR)
            ;
    if (started == 0)
        return cw_error_set(error, CW_NO_RESOURCE, "no process for the rows: %s", strerror(number));
    return is_late ? CW_INTERRUPTED : CW_OK;
}

int simulate_rows(struct simulator *simulator, const uint32_t *rows, uint32_t count,
                  const char *const *sets, uint32_t set_count, struct row_answer *answers,
                  struct cw_error *error)
{
    const struct call call = {simulator, rows, count, sets, set_count};
    struct shared_rows *const shared = simulator->shared;
    int code = CW_OK;
    for (uint32_t i = 0; i < count; i++)
        shared->answers[rows[i]] =
            (struct row_answer){.exit_code = NOT_ANSWERED, .message = "its process ended early"};
    atomic_store(&shared->next, 0);
    while (code == CW_OK && atomic_load(&shared->next) < count)
        code = run_processes(&call, error);
    for (uint32_t i = 0; i < count; i++)
        answers[rows[i]] = shared->answers[rows[i]];
    return code;
}
