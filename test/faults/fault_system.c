/*
 * fault_system.c: the functions of fault_shim.so for processes, threads, shared objects and SQLite.
 * Any thread.
 */
#define _GNU_SOURCE
#include "test/faults/fault_calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- processes and threads ------------------------------------------------------------------- */

PUBLIC int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *arg)
{
    FAIL_IF(FAULT_THREAD, EAGAIN, EAGAIN)
    return REAL(pthread_create)(thread, attributes, run, arg);
}

PUBLIC pid_t fork(void)
{
    FAIL_IF(FAULT_PROCESS, EAGAIN, -1)
    return REAL(fork)();
}

PUBLIC int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const argv[],
                       char *const environment[])
{
    FAIL_IF(FAULT_PROCESS, EAGAIN, EAGAIN)
    return REAL(posix_spawn)(child, path, actions, attributes, argv, environment);
}

PUBLIC int posix_spawnp(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const argv[],
                        char *const environment[])
{
    FAIL_IF(FAULT_PROCESS, EAGAIN, EAGAIN)
    return REAL(posix_spawnp)(child, path, actions, attributes, argv, environment);
}

PUBLIC int pipe(int ends[2])
{
    FAIL_IF(FAULT_PROCESS, EMFILE, -1)
    return REAL(pipe)(ends);
}

PUBLIC int pipe2(int ends[2], int flags)
{
    FAIL_IF(FAULT_PROCESS, EMFILE, -1)
    return REAL(pipe2)(ends, flags);
}

PUBLIC int socketpair(int domain, int type, int protocol, int ends[2])
{
    FAIL_IF(FAULT_PROCESS, EMFILE, -1)
    return REAL(socketpair)(domain, type, protocol, ends);
}

PUBLIC int memfd_create(const char *name, unsigned flags)
{
    FAIL_IF(FAULT_PROCESS, EMFILE, -1)
    return REAL(memfd_create)(name, flags);
}

PUBLIC ssize_t send(int socket, const void *bytes, size_t count, int flags)
{
    FAIL_IF(FAULT_PROCESS, EPIPE, -1)
    return REAL(send)(socket, bytes, count, flags);
}

PUBLIC int sched_setaffinity(pid_t process, size_t bytes, const cpu_set_t *cores)
{
    FAIL_IF(FAULT_PROCESS, EINVAL, -1)
    return REAL(sched_setaffinity)(process, bytes, cores);
}

PUBLIC void *dlopen(const char *path, int mode)
{
    FAIL_IF(FAULT_DLOPEN, ENOMEM, NULL)
    return UNCOUNTED(REAL(dlopen)(path, mode));
}

/* ---- SQLite ---------------------------------------------------------------------------------- */

static _Thread_local int in_exec; /* sqlite3_exec() calls */

PUBLIC int sqlite3_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs)
{
    if (fault_comes(FAULT_SQLITE)) {
        *db = NULL;
        return SQLITE_NOMEM;
    }
    return REAL(sqlite3_open_v2)(path, db, flags, vfs);
}

PUBLIC int sqlite3_prepare_v2(sqlite3 *db, const char *text, int bytes, sqlite3_stmt **statement,
                              const char **rest)
{
    if (fault_comes(FAULT_SQLITE)) {
        *statement = NULL;
        return SQLITE_IOERR;
    }
    return REAL(sqlite3_prepare_v2)(db, text, bytes, statement, rest);
}

PUBLIC int sqlite3_prepare_v3(sqlite3 *db, const char *text, int bytes, unsigned flags,
                              sqlite3_stmt **statement, const char **rest)
{
    if (fault_comes(FAULT_SQLITE)) {
        *statement = NULL;
        return SQLITE_IOERR;
    }
    return REAL(sqlite3_prepare_v3)(db, text, bytes, flags, statement, rest);
}

PUBLIC int sqlite3_step(sqlite3_stmt *statement)
{
    if (in_exec == 0 && fault_comes(FAULT_SQLITE))
        return SQLITE_IOERR;
    return REAL(sqlite3_step)(statement);
}

PUBLIC int sqlite3_exec(sqlite3 *db, const char *text, int (*row)(void *, int, char **, char **),
                        void *arg, char **message)
{
    if (fault_comes(FAULT_SQLITE)) {
        if (message != NULL)
            *message = NULL;
        return SQLITE_FULL;
    }
    in_exec++; /* it calls sqlite3_step() for its statements, and takes the result from elsewhere */
    const int result = REAL(sqlite3_exec)(db, text, row, arg, message);
    in_exec--;
    return result;
}

PUBLIC int sqlite3_bind_text(sqlite3_stmt *statement, int at, const char *text, int bytes,
                             void (*done)(void *))
{
    if (fault_comes(FAULT_SQLITE)) {
        (void)sqlite3_bind_null(statement, at);
        return SQLITE_NOMEM;
    }
    return REAL(sqlite3_bind_text)(statement, at, text, bytes, done);
}

PUBLIC const unsigned char *sqlite3_column_text(sqlite3_stmt *statement, int column)
{
    if (fault_comes(FAULT_SQLITE))
        return NULL;
    return REAL(sqlite3_column_text)(statement, column);
}
