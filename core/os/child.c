/*
 * child.c: starts a program by posix_spawnp() and reads its output. Its input is a file in memory,
 * so neither side can wait for the other to read.
 */
#define _GNU_SOURCE /* memfd_create(), pipe2(), posix_spawn_file_actions_addchdir_np() */
#include "core/os/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { NOT_FOUND = 127, LOOK_MS = 5 };

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* This process's environment, with the C locale, in UTF-8. To be freed; NULL: out of memory. */
static char **plain_environment(void)
{
    static char locale[] = "LC_ALL=C.UTF-8";
    size_t count = 0, used = 0;
    while (environ[count] != NULL)
        count++;
    char **const variables = malloc((count + 2) * sizeof *variables);
    if (variables == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LC_ALL=", 7) != 0)
            variables[used++] = environ[i];
    variables[used++] = locale;
    variables[used] = NULL;
    return variables;
}

/* A file in memory with this text, to be read from its beginning; -1: errno. */
static int file_of(const char *text, size_t bytes)
{
    const int file =
        text == NULL ? open("/dev/null", O_RDONLY | O_CLOEXEC) : memfd_create("input", MFD_CLOEXEC);
    for (size_t done = 0; file >= 0 && text != NULL && done < bytes;) {
        const ssize_t wrote = write(file, text + done, bytes - done);
        if (wrote < 0 && errno != EINTR) {
            const int number = errno;
            close(file);
            errno = number;
            return -1;
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    if (file >= 0)
        (void)lseek(file, 0, SEEK_SET);
    return file;
}

/* The child's own signals: none are blocked or ignored, so that the terminal can end it. */
static int set_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, reset;
    (void)sigemptyset(&none);
    (void)sigemptyset(&reset);
    (void)sigaddset(&reset, SIGPIPE);
    int number = posix_spawnattr_setsigmask(attributes, &none);
    if (number == 0)
        number = posix_spawnattr_setsigdefault(attributes, &reset);
    return number != 0 ? number
                       : posix_spawnattr_setflags(attributes,
                                                  POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int set_files(posix_spawn_file_actions_t *actions, const struct child *child, int in,
                     int out)
{
    int number = posix_spawn_file_actions_adddup2(actions, in, STDIN_FILENO);
    if (number == 0)
        number = posix_spawn_file_actions_adddup2(actions, out, STDOUT_FILENO);
    if (number == 0 && child->quiet)
        number = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (number == 0 && child->folder != NULL)
        number = posix_spawn_file_actions_addchdir_np(actions, child->folder);
    return number;
}

/* 0, or an error's number. */
static int start(const struct child *child, int in, int out, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char **const variables = plain_environment();
    if (variables == NULL)
        return ENOMEM;
    int number = posix_spawn_file_actions_init(&actions);
    if (number != 0) {
        free(variables);
        return number;
    }
    number = posix_spawnattr_init(&attributes);
    if (number == 0) {
        number = set_signals(&attributes);
        if (number == 0)
            number = set_files(&actions, child, in, out);
        if (number == 0)
            number =
                posix_spawnp(pid, child->argv[0], &actions, &attributes, child->argv, variables);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    free(variables);
    return number;
}

/* Milliseconds for poll() until then; -1: for ever. */
static int left_ms(int64_t until_ms)
{
    const int64_t left = until_ms - now_ms();
    return until_ms < 0 ? -1 : left > 0 ? (int)left : 0;
}

/* Makes room for more output. 0, or an error's number. */
static int make_room(struct child *child, size_t *room)
{
    if (child->out_bytes + 1 < *room)
        return 0;
    if (*room > CHILD_OUT_MAX)
        return EFBIG;
    *room = *room == 0 ? 1 << 16 : 2 * *room;
    char *const more = realloc(child->out, *room);
    if (more == NULL)
        return ENOMEM;
    child->out = more;
    return 0;
}

/* Reads until the end of the output. */
static enum child_end collect(struct child *child, int from, int64_t until_ms)
{
    size_t room = 0;
    for (;;) {
        child->number = make_room(child, &room);
        if (child->number != 0)
            return child->number == EFBIG ? CHILD_FAILED : CHILD_REFUSED;
        struct pollfd ready = {.fd = from, .events = POLLIN};
        const int polled = poll(&ready, 1, left_ms(until_ms));
        if (polled == 0)
            return CHILD_LATE;
        const ssize_t got =
            polled < 0 ? -1
                       : read(from, child->out + child->out_bytes, room - child->out_bytes - 1);
        if (got < 0 && errno != EINTR) {
            child->number = errno;
            return CHILD_REFUSED;
        }
        child->out_bytes += got > 0 ? (size_t)got : 0;
        child->out[child->out_bytes] = '\0';
        if (got == 0)
            return CHILD_DONE;
    }
}

/* Waits until the process has ended. False: it has not by then. */
static bool wait_for(pid_t pid, int64_t until_ms, int *status)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000};
    for (;;) {
        const pid_t ended = waitpid(pid, status, until_ms < 0 ? 0 : WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR)) /* nobody's child: SIGCHLD is ignored */
            return true;
        if (ended == 0 && now_ms() >= until_ms)
            return false;
        if (ended == 0)
            (void)nanosleep(&pause, NULL);
    }
}

static enum child_end end_of(int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
        return CHILD_ABSENT;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? CHILD_DONE : CHILD_FAILED;
}

static enum child_end run_with(struct child *child, int in, const int ends[2])
{
    const int64_t until_ms = child->limit_ms > 0 ? now_ms() + child->limit_ms : -1;
    int status = 0;
    pid_t pid;
    child->number = start(child, in, ends[1], &pid);
    close(ends[1]);
    if (child->number != 0)
        return child->number == ENOENT ? CHILD_ABSENT : CHILD_REFUSED;
    enum child_end end = collect(child, ends[0], until_ms);
    if (end == CHILD_DONE && !wait_for(pid, until_ms, &status))
        end = CHILD_LATE;
    else if (end == CHILD_DONE)
        return end_of(status);
    kill(pid, SIGKILL);
    (void)wait_for(pid, -1, &status);
    return end;
}

enum child_end child_run(struct child *child)
{
    int ends[2];
    child->out = NULL;
    child->out_bytes = 0;
    child->number = 0;
    const int in = file_of(child->in, child->in_bytes);
    if (in < 0 || pipe2(ends, O_CLOEXEC) != 0) {
        child->number = errno;
        if (in >= 0)
            close(in);
        return CHILD_REFUSED;
    }
    const enum child_end end = run_with(child, in, ends);
    close(ends[0]);
    close(in);
    if (end != CHILD_DONE) {
        free(child->out);
        child->out = NULL;
        child->out_bytes = 0;
    }
    return end;
}
