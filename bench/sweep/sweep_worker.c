/*
 * sweep_worker.c: both ends of a worker: the process that runs points, and the parent that sends
 * them and takes the answers.
 */
#define _GNU_SOURCE /* memfd_create */
#include "bench/sweep/sweep_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/output/plain_text.h"
#include "bench/sweep/sweep_point.h"
#include "core/os/clock.h"
#include "core/os/host_limits.h"
#include "core/os/text_stream.h"

enum { SIGNALLED = 128, TIMED_OUT = 124, NOTES_SHOWN = 1500, NOTES_KEPT = 1 << 20 };

/* Precedes the parts of an answer. */
struct header {
    uint32_t point;
    int32_t exit_code;
    double seconds;
    uint64_t rss_bytes, message_bytes, result_bytes, rows_bytes;
};

/* ---- the process ----------------------------------------------------------------------------- */

static bool write_all(int channel, const void *bytes, size_t count)
{
    for (const char *at = bytes; count > 0;) {
        const ssize_t written = write(channel, at, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        count -= (size_t)written;
    }
    return true;
}

static size_t text_bytes(const char *text) { return text != NULL ? strlen(text) : 0; }

/* Runs a point and answers. False: nobody reads. */
static bool serve(struct point_runner *runner, int channel, uint32_t point)
{
    struct point_result result;
    (void)!ftruncate(STDERR_FILENO, 0);
    const double begun_s = clock_s();
    point_runner_run(runner, point, &result);
    const struct header header = {.point = point,
                                  .exit_code = result.exit_code,
                                  .seconds = clock_s() - begun_s,
                                  .rss_bytes = host_limits_peak_resident_bytes(),
                                  .message_bytes = text_bytes(result.message),
                                  .result_bytes = text_bytes(result.document),
                                  .rows_bytes = result.rows_bytes};
    const bool is_sent = write_all(channel, &header, sizeof header) &&
                         write_all(channel, result.message, header.message_bytes) &&
                         write_all(channel, result.document, header.result_bytes) &&
                         write_all(channel, result.rows, header.rows_bytes);
    point_result_free(&result);
    return is_sent;
}

/* The worker process. Signals of the terminal are its parent's business, and it ends with its
 * parent. */
static _Noreturn void worker_main(const struct sweep_setup *setup, int channel, int notes,
                                  pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    study_db_forked(setup->db);
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct point_runner *const runner =
        point_runner_create(setup->study, setup->threads, setup->machine_bytes);
    if (getppid() != parent || nothing < 0 || runner == NULL || dup2(nothing, STDIN_FILENO) < 0 ||
        dup2(nothing, STDOUT_FILENO) < 0 || dup2(notes, STDERR_FILENO) < 0)
        _exit(CW_NO_RESOURCE);
    uint32_t point;
    ssize_t read_bytes;
    do {
        read_bytes = read(channel, &point, sizeof point);
    } while ((read_bytes < 0 && errno == EINTR) ||
             (read_bytes == sizeof point && serve(runner, channel, point)));
    _exit(CW_OK); /* leaves the parent's files and streams as they are */
}

/* ---- the parent ------------------------------------------------------------------------------ */

int sweep_worker_start(struct sweep_worker *worker, const struct sweep_setup *setup,
                       struct cw_error *error)
{
    int ends[2] = {-1, -1};
    const pid_t parent = getpid();
    *worker = (struct sweep_worker){.channel = -1};
    worker->notes = memfd_create("sweep-notes", MFD_CLOEXEC);
    if (worker->notes >= 0)
        (void)fcntl(worker->notes, F_SETFL, O_APPEND);
    const bool is_ready =
        worker->notes >= 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
    fflush(NULL);
    worker->process = is_ready ? fork() : -1;
    if (worker->process == 0) {
        close(ends[0]);
        worker_main(setup, ends[1], worker->notes, parent);
    }
    const int number = errno;
    if (ends[1] >= 0)
        close(ends[1]);
    if (worker->process > 0) {
        worker->channel = ends[0];
        (void)fcntl(worker->channel, F_SETFL, O_NONBLOCK);
        return CW_OK;
    }
    worker->process = 0;
    if (ends[0] >= 0)
        close(ends[0]);
    if (worker->notes >= 0)
        close(worker->notes);
    return cw_error_set(error, CW_NO_RESOURCE, "no process for the points of the study: %s%s",
                        strerror(number),
                        number == EMFILE   ? " (the limit is ulimit -n)"
                        : number == EAGAIN ? " (the limit is ulimit -u, or the control group's)"
                                           : "");
}

bool sweep_worker_send(struct sweep_worker *worker, uint32_t point)
{
    if (send(worker->channel, &point, sizeof point, MSG_NOSIGNAL) != sizeof point)
        return false;
    if (worker->point_count == 0)
        worker->begun_s = clock_s();
    worker->points[worker->point_count++] = point;
    return true;
}

/* Copies the next part of an answer, with a 0 at its end. */
static char *copy_part(const char **at, size_t bytes)
{
    char *const copy = malloc(bytes + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, *at, bytes);
    copy[bytes] = '\0';
    *at += bytes;
    return copy;
}

static enum study_state state_of(int exit_code, bool has_result)
{
    if (exit_code == CW_USAGE)
        return STUDY_REFUSED;
    return has_result && (exit_code == CW_OK || exit_code == CW_DATA_WRONG) ? STUDY_DONE
                                                                            : STUDY_FAILED;
}

static void point_outcome(struct sweep_answer *answer)
{
    answer->outcome.message =
        answer->message != NULL ? answer->message : "no memory for the message";
    answer->outcome.result = answer->result;
    answer->outcome.rows = answer->rows;
}

/* Takes the first answer from the received bytes. 1: *answer is filled; 0: it is not complete
 * yet; SWEEP_NO_MEMORY: the point would be done without its result. */
static int take_answer(struct sweep_worker *worker, struct sweep_answer *answer)
{
    struct header header;
    if (worker->answer_bytes < sizeof header)
        return 0;
    memcpy(&header, worker->answer, sizeof header);
    const size_t whole =
        sizeof header + header.message_bytes + header.result_bytes + header.rows_bytes;
    if (worker->answer_bytes < whole)
        return 0;
    const char *at = worker->answer + sizeof header;
    *answer = (struct sweep_answer){
        .point = header.point,
        .rss_bytes = header.rss_bytes,
        .outcome = {.state = state_of(header.exit_code, header.result_bytes > 0),
                    .exit_code = header.exit_code,
                    .seconds = header.seconds,
                    .result_bytes = header.result_bytes,
                    .rows_bytes = header.rows_bytes}};
    answer->message = copy_part(&at, header.message_bytes);
    const bool has_result = header.result_bytes > 0;
    if (answer->message != NULL && has_result)
        answer->result = copy_part(&at, header.result_bytes);
    if (answer->result != NULL)
        answer->rows = copy_part(&at, header.rows_bytes);
    if (answer->message == NULL || (has_result && answer->rows == NULL)) {
        sweep_answer_free(answer);
        return SWEEP_NO_MEMORY;
    }
    point_outcome(answer);
    worker->answer_bytes -= whole;
    memmove(worker->answer, worker->answer + whole, worker->answer_bytes);
    worker->point_count--;
    memmove(worker->points, worker->points + 1, worker->point_count * sizeof *worker->points);
    worker->begun_s = clock_s();
    return 1;
}

/* The last of the process's messages about its point, after `how`, as one text. */
static char *last_words(const struct sweep_worker *worker, const char *how)
{
    char notes[NOTES_SHOWN + 1], *text = NULL;
    size_t bytes;
    const off_t end = lseek(worker->notes, 0, SEEK_END);
    const off_t from = end > NOTES_SHOWN ? end - NOTES_SHOWN : 0;
    ssize_t read_bytes = pread(worker->notes, notes, NOTES_SHOWN, from);
    while (read_bytes > 0 && notes[read_bytes - 1] == '\n')
        read_bytes--;
    FILE *const stream = text_stream_open(&text, &bytes);
    if (stream == NULL)
        return NULL;
    fprintf(stream, "%s%s%.*s", how, read_bytes > 0 ? ": " : "",
            (int)(read_bytes > 0 ? read_bytes : 0), notes);
    return fclose(stream) == 0 ? plain_text(text, "\n\t") : NULL;
}

static void release(struct sweep_worker *worker)
{
    close(worker->channel);
    close(worker->notes);
    free(worker->answer);
    *worker = (struct sweep_worker){.channel = -1};
}

/* Whether the process ends on its own within a second. Its status remains for waitpid(). */
static bool ends_soon(pid_t process)
{
    enum { TRIES = 100 };
    const struct timespec wait = {.tv_nsec = 10000000};
    siginfo_t info = {.si_pid = 0};
    for (int i = 0; i < TRIES; i++) {
        if (waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid != 0)
            return true;
        (void)nanosleep(&wait, NULL);
    }
    return false;
}

/* Waits for a process that is ending, and says in *answer how it ended. */
static void bury(struct sweep_worker *worker, double timeout_s, struct sweep_answer *answer)
{
    int status = 0;
    char how[120];
    while (waitpid(worker->process, &status, 0) < 0 && errno == EINTR)
        ;
    *answer = (struct sweep_answer){.outcome = {.state = STUDY_FAILED}};
    if (timeout_s > 0) {
        answer->outcome.state = STUDY_TIMEOUT;
        answer->outcome.exit_code = TIMED_OUT;
        snprintf(how, sizeof how, "not over after %.6g s (--point-timeout)", timeout_s);
    } else if (WIFSIGNALED(status)) {
        answer->outcome.exit_code = SIGNALLED + WTERMSIG(status);
        answer->is_killed = WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM;
        snprintf(how, sizeof how, "its process was ended by signal %d (%s)%s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)),
                 WTERMSIG(status) == SIGKILL ? ", perhaps by the system for want of memory" : "");
    } else {
        answer->outcome.exit_code = WEXITSTATUS(status);
        snprintf(how, sizeof how, "its process ended early, with exit code %d",
                 WEXITSTATUS(status));
    }
    if (worker->point_count > 0) {
        answer->point = worker->points[0];
        answer->outcome.seconds = clock_s() - worker->begun_s;
        answer->message = last_words(worker, how);
    }
    point_outcome(answer);
}

int sweep_worker_receive(struct sweep_worker *worker, struct sweep_answer *answer)
{
    enum { BLOCK = 65536 };
    for (;;) {
        const int taken = take_answer(worker, answer);
        if (taken != 0)
            return taken;
        if (worker->answer_capacity - worker->answer_bytes < BLOCK) {
            const size_t capacity = 2 * worker->answer_capacity + BLOCK;
            char *const more = realloc(worker->answer, capacity);
            if (more == NULL)
                return SWEEP_NO_MEMORY;
            worker->answer = more;
            worker->answer_capacity = capacity;
        }
        const ssize_t read_bytes = read(worker->channel, worker->answer + worker->answer_bytes,
                                        worker->answer_capacity - worker->answer_bytes);
        if (read_bytes < 0 && errno == EINTR)
            continue;
        if (read_bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return 0;
        if (read_bytes <= 0)
            return -1;
        worker->answer_bytes += (size_t)read_bytes;
    }
}

void sweep_worker_forget(const struct sweep_worker *worker)
{
    struct stat notes;
    if (fstat(worker->notes, &notes) != 0 || (int64_t)notes.st_blocks * 512 <= NOTES_KEPT)
        return;
    /* The file keeps its length, since the process writes at its end. */
    (void)fallocate(worker->notes, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                    notes.st_size - NOTES_SHOWN);
}

void sweep_worker_end(struct sweep_worker *worker, double timeout_s, struct sweep_answer *answer)
{
    /* A process whose channel has failed may live on, and would wait for its next point forever. */
    if (timeout_s > 0 || answer == NULL || !ends_soon(worker->process))
        kill(worker->process, SIGKILL);
    struct sweep_answer ignored;
    bury(worker, timeout_s, answer != NULL ? answer : &ignored);
    if (answer == NULL)
        sweep_answer_free(&ignored);
    release(worker);
}

void sweep_answer_free(struct sweep_answer *answer)
{
    free(answer->message);
    free(answer->result);
    free(answer->rows);
    *answer = (struct sweep_answer){0};
}
