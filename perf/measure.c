/*
 * measure.c: starting, reading and judging a case's process (measure.h).
 *
 * The child's output is read to its end before it is waited for; a child that says nothing for too
 * long is ended, and only it.
 */
#include "perf/measure.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/os/clock.h"
#include "core/os/program_path.h"

extern char **environ;

enum {
    ARGUMENTS_MAX = 64,
    PATH_BYTES = 4096,
    LOOK_MS = 200,
    CASE_S_MAX =
        600, /* a case that prints nothing for this long is considered hung, and is ended */
};

/* The standard output of a program of the harness, read to its end. */
struct child {
    bool (*stop)(void *arg);
    void *stop_arg;
    char *out; /* the caller frees it */
    double cpu_s;
    uint64_t rss_bytes; /* this process's own counts, too */
};

static int measure_fail(struct cw_error *error, enum cw_exit exit_code, const char *command,
                        const char *reason)
{
    return cw_error_set(error, exit_code, "'%.600s' %s", command, reason);
}

/* ---- programs -------------------------------------------------------------------------------- */

static bool path_of(enum perf_program program, char path[PATH_BYTES])
{
    if (!program_path(path, PATH_BYTES - 64))
        return false;
    if (program == PERF_BARE) {
        char *const slash = strrchr(path, '/');
        snprintf(slash, 64, "/perf/bare/baseline");
    }
    return true;
}

bool perf_has_program(enum perf_program program)
{
    char path[PATH_BYTES];
    return path_of(program, path) && access(path, X_OK) == 0;
}

/* Splits at blanks, in place. */
static bool split(char *path, char *command, char *arguments[ARGUMENTS_MAX + 1])
{
    size_t count = 0;
    char *rest = NULL;
    arguments[count++] = path;
    for (char *word = strtok_r(command, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest))
        if (count < ARGUMENTS_MAX)
            arguments[count++] = word;
        else
            return false;
    arguments[count] = NULL;
    return true;
}

/* ---- the child ------------------------------------------------------------------------------- */

/* Everything that comes through a pipe, up to its end. NULL: it took too long or is not wanted any
 * more, and *number is 0; or reading failed, with this errno. */
static char *read_to_end(int from, const struct child *child, int *number)
{
    size_t bytes = 0, room = 0;
    int silent_ms = 0;
    char *text = NULL;
    *number = 0;
    for (;;) {
        if (room - bytes < 4096) {
            char *const longer = realloc(text, room = 2 * room + 8192);
            if (longer == NULL) {
                *number = ENOMEM;
                break;
            }
            text = longer;
        }
        struct pollfd ready = {.fd = from, .events = POLLIN};
        const int polled = poll(&ready, 1, LOOK_MS);
        silent_ms = polled == 0 ? silent_ms + LOOK_MS : 0;
        if (child->stop != NULL && child->stop(child->stop_arg))
            break;
        if ((polled < 0 && errno == EINTR) || (polled == 0 && silent_ms < CASE_S_MAX * 1000))
            continue;
        const ssize_t now = polled > 0 ? read(from, text + bytes, room - bytes - 1) : -1;
        if (now < 0 && polled > 0 && errno == EINTR)
            continue;
        if (now < 0) {
            *number = polled > 0 ? errno : 0;
            break;
        }
        if (now == 0) {
            text[bytes] = '\0';
            return text;
        }
        bytes += (size_t)now;
    }
    free(text);
    return NULL;
}

/* Not by fork(), which copies the tables of this process's memory: that would count as the
 * child's start. */
static pid_t measure_start(char *arguments[ARGUMENTS_MAX + 1], int *from)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    posix_spawn_file_actions_t actions;
    pid_t child = -1;
    (void)setenv("CUBEWARP_SHORTCUTS", "off", 1); /* all of the work is measured */
    fflush(NULL);
    if (posix_spawn_file_actions_init(&actions) == 0) {
        if (posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) != 0 ||
            posix_spawn_file_actions_addclose(&actions, ends[0]) != 0 ||
            posix_spawn_file_actions_addclose(&actions, ends[1]) != 0 ||
            posix_spawn(&child, arguments[0], &actions, NULL, arguments, environ) != 0)
            child = -1;
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    if (child < 0)
        close(ends[0]);
    *from = ends[0];
    return child;
}

static double seconds(const struct timeval *time)
{
    return (double)time->tv_sec + 1e-6 * (double)time->tv_usec;
}

/* Runs a program with arguments separated by spaces, and waits for it. */
static int run_child(enum perf_program program, const char *command, struct child *child,
                     struct cw_error *error)
{
    char path[PATH_BYTES], words[PERF_COMMAND_BYTES + 32], *arguments[ARGUMENTS_MAX + 1];
    int from = -1;
    child->out = NULL;
    snprintf(words, sizeof words, "%s", command);
    if (!path_of(program, path) || !split(path, words, arguments))
        return measure_fail(error, CW_NO_RESOURCE, command, "cannot be run");
    const pid_t pid = measure_start(arguments, &from);
    if (pid < 0)
        return measure_fail(error, CW_NO_RESOURCE, command, "cannot be run");
    int number;
    child->out = read_to_end(from, child, &number);
    close(from);
    if (child->out == NULL)
        kill(pid, SIGKILL);
    struct rusage use;
    int status;
    while (wait4(pid, &status, 0, &use) < 0)
        if (errno != EINTR)
            return measure_fail(error, CW_NO_RESOURCE, command, "is lost");
    child->cpu_s = seconds(&use.ru_utime) + seconds(&use.ru_stime);
    child->rss_bytes = (uint64_t)use.ru_maxrss * 1024;
    if (child->out == NULL && number != 0)
        return measure_fail(error, CW_NO_RESOURCE, command, strerror(number));
    if (child->out == NULL)
        return measure_fail(
            error, CW_BUG, command,
            "was ended: it said nothing for ten minutes, or was not wanted any more");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return CW_OK;
    free(child->out);
    child->out = NULL;
    char reason[64];
    if (!WIFEXITED(status))
        snprintf(reason, sizeof reason, "was ended by signal %d", WTERMSIG(status));
    else
        snprintf(reason, sizeof reason, "failed with exit code %d", WEXITSTATUS(status));
    return measure_fail(error, WIFEXITED(status) ? WEXITSTATUS(status) : CW_BUG, command, reason);
}

/* ---- its output ----------------------------------------------------------------------------- */

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* Hashes the results of the simulation: trace hash, and time and data of each size. None of them
 * may depend on the machine. */
static void read_results(const json_t *root, const json_t *engine, struct perf_sample *sample)
{
    XXH3_state_t *const state = XXH3_createState();
    if (state == NULL)
        return;
    const char *hash = json_string_value(json_object_get(engine, "trace_hash"));
    (void)XXH3_64bits_reset(state);
    (void)XXH3_64bits_update(state, hash != NULL ? hash : "", hash != NULL ? strlen(hash) : 0);
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(root, "results"), i, row)
    {
        const double time_ns = number_of(row, "time_ns");
        hash = json_string_value(json_object_get(row, "data_hash"));
        (void)XXH3_64bits_update(state, &time_ns, sizeof time_ns);
        (void)XXH3_64bits_update(state, hash != NULL ? hash : "", hash != NULL ? strlen(hash) : 0);
    }
    snprintf(sample->results, sizeof sample->results, "%016llx",
             (unsigned long long)XXH3_64bits_digest(state));
    (void)XXH3_freeState(state);
}

/* The object `engine` of cubewarp.run/1 or cubewarp.phold/1. */
static bool read_json(const char *text, struct perf_sample *sample)
{
    json_t *const root = json_loads(text, 0, NULL);
    const json_t *const engine = json_object_get(root, "engine");
    sample->events = (uint64_t)json_integer_value(json_object_get(engine, "events_committed"));
    sample->events_per_s = number_of(engine, "committed_events_per_s");
    sample->setup_s = number_of(engine, "setup_s");
    sample->efficiency = number_of(engine, "efficiency");
    read_results(root, engine, sample);
    sample->rss_bytes = (uint64_t)json_integer_value(json_object_get(engine, "peak_rss_bytes"));
    json_decref(root);
    return sample->events_per_s > 0;
}

/* "EVENTS SECONDS MILLIONS-PER-SECOND" */
static bool read_bare(const char *text, struct perf_sample *sample)
{
    unsigned long long events = 0;
    double run_s = 0;
    if (sscanf(text, "%llu %lf", &events, &run_s) != 2 || run_s <= 0)
        return false;
    sample->events = events;
    sample->events_per_s = (double)events / run_s;
    sample->efficiency = 1;
    return true;
}

/* ---- a measurement --------------------------------------------------------------------------- */

/*
 * Writes to this many bytes of new memory and frees them. A virtual machine may give free memory
 * back to its host after a second; a process that gets such memory then waits for the host, 5 us
 * and more for each 4 KiB instead of 0.2. Memory that was used a moment ago costs every process the
 * same. At most half of the free memory is touched.
 */
static void warm_memory(uint64_t bytes)
{
    enum { PAGE_BYTES = 4096 };
    const long free_pages = sysconf(_SC_AVPHYS_PAGES);
    const uint64_t most = free_pages > 0 ? (uint64_t)free_pages / 2 * PAGE_BYTES : 0;
    const size_t wanted = (size_t)(bytes < most ? bytes : most);
    if (wanted == 0)
        return;
    /* By a process of its own: the most memory that this one has had counts as its children's. */
    const pid_t pid = fork();
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (pid != 0)
        return;
    char *const memory =
        mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) {
        (void)madvise(memory, wanted, MADV_HUGEPAGE); /* free memory is given back in such */
        for (size_t at = 0; at < wanted; at += PAGE_BYTES)
            *(volatile char *)(memory + at) = 1;
    }
    _exit(0);
}

int perf_measure(const struct perf_case *one, uint64_t memory_bytes, bool (*stop)(void *arg),
                 void *stop_arg, struct perf_sample *sample, struct cw_error *error)
{
    enum { MORE_FOR_OTHERS = 4 /* a quarter: other processes take some of it */ };

    char command[PERF_COMMAND_BYTES + 32];
    struct child child = {.stop = stop, .stop_arg = stop_arg};
    snprintf(command, sizeof command, "%s%s", one->command,
             one->program == PERF_CUBEWARP ? " --quiet --json -" : "");
    warm_memory(memory_bytes + memory_bytes / MORE_FOR_OTHERS);
    int result = run_child(one->program, command, &child, error);
    if (result != CW_OK)
        return result;
    sample->rss_bytes = child.rss_bytes;
    const bool read =
        one->program == PERF_BARE ? read_bare(child.out, sample) : read_json(child.out, sample);
    free(child.out);
    if (!read)
        return measure_fail(error, CW_BUG, command, "printed no result that can be read");
    sample->run_s = (double)sample->events / sample->events_per_s;
    sample->cpu_s = child.cpu_s;
    result = perf_calibrate(&sample->after, error);
    sample->disturbed = perf_disturbance(&sample->before, &sample->after) != NULL;
    return result;
}
