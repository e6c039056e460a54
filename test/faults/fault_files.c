/*
 * fault_files.c: the functions of fault_shim.so that open, read, write, rename and ask for files.
 * Any thread.
 */
#define _GNU_SOURCE
#define __NO_INLINE__ 1 /* or stdio.h defines getline() itself */
#include "test/faults/fault_calls.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static mode_t mode_of(int flags, va_list arguments)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? (mode_t)va_arg(arguments, int) : 0;
}

#define OPEN(name)                                                                                 \
    PUBLIC int name(const char *path, int flags, ...)                                              \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        const mode_t mode = mode_of(flags, arguments);                                             \
        va_end(arguments);                                                                         \
        FAIL_IF(FAULT_OPEN, EMFILE, -1)                                                            \
        return REAL(name)(path, flags, mode);                                                      \
    }
OPEN(open)
OPEN(open64)

PUBLIC FILE *fopen(const char *path, const char *how)
{
    FAIL_IF(FAULT_OPEN, EMFILE, NULL)
    return REAL(fopen)(path, how);
}

PUBLIC FILE *fopen64(const char *path, const char *how)
{
    FAIL_IF(FAULT_OPEN, EMFILE, NULL)
    return REAL(fopen64)(path, how);
}

PUBLIC FILE *fdopen(int file, const char *how)
{
    FAIL_IF(FAULT_OPEN, EMFILE, NULL)
    return REAL(fdopen)(file, how);
}

PUBLIC FILE *open_memstream(char **text, size_t *bytes)
{
    FAIL_IF(FAULT_OPEN, ENOMEM, NULL)
    return REAL(open_memstream)(text, bytes);
}

PUBLIC FILE *fopencookie(void *cookie, const char *how, cookie_io_functions_t functions)
{
    FAIL_IF(FAULT_OPEN, ENOMEM, NULL)
    return REAL(fopencookie)(cookie, how, functions);
}

PUBLIC ssize_t read(int file, void *bytes, size_t count)
{
    FAIL_IF(FAULT_READ, EIO, -1)
    return REAL(read)(file, bytes, count);
}

#define PREAD(name, offset)                                                                        \
    PUBLIC ssize_t name(int file, void *bytes, size_t count, offset from)                          \
    {                                                                                              \
        FAIL_IF(FAULT_READ, EIO, -1)                                                               \
        return REAL(name)(file, bytes, count, from);                                               \
    }
PREAD(pread, off_t)
PREAD(pread64, off64_t)

/* Sets the stream's mark of an error as a failing read does: by a real one. */
static void mark_error(FILE *stream)
{
    const int file = fileno(stream);
    if (file < 0)
        return;
    /* A descriptor that cannot be read stands in for the file while the stream is read once more.
     */
    fault_inside++;
    const int kept = dup(file), blind = REAL(open)("/dev/null", O_WRONLY | O_CLOEXEC);
    if (kept >= 0 && blind >= 0) {
        char nothing[8192];
        (void)fflush(stream);
        (void)dup2(blind, file);
        while (REAL(fread)(nothing, 1, sizeof nothing, stream) > 0)
            ;
        (void)dup2(kept, file);
    }
    (void)REAL(close)(kept);
    (void)REAL(close)(blind);
    fault_inside--;
    errno = EIO;
}

PUBLIC size_t fread(void *bytes, size_t size, size_t count, FILE *stream)
{
    if (fault_comes(FAULT_READ)) {
        mark_error(stream);
        return 0;
    }
    return REAL(fread)(bytes, size, count, stream);
}

PUBLIC char *fgets(char *text, int bytes, FILE *stream)
{
    if (fault_comes(FAULT_READ)) {
        mark_error(stream);
        return NULL;
    }
    return REAL(fgets)(text, bytes, stream);
}

PUBLIC ssize_t getline(char **text, size_t *bytes, FILE *stream)
{
    if (fault_comes(FAULT_READ)) {
        mark_error(stream);
        return -1;
    }
    return REAL(getline)(text, bytes, stream);
}

/* Every other fault of a writing call writes a part first, as a full disk does. */
static bool writes_a_part(size_t count)
{
    return count > 1 && atomic_load(&fault_counted->injected) == 1;
}

PUBLIC ssize_t write(int file, const void *bytes, size_t count)
{
    if (fault_comes(FAULT_WRITE)) {
        if (writes_a_part(count))
            (void)!REAL(write)(file, bytes, count / 2);
        errno = ENOSPC;
        return -1;
    }
    return REAL(write)(file, bytes, count);
}

#define PWRITE(name, offset)                                                                       \
    PUBLIC ssize_t name(int file, const void *bytes, size_t count, offset from)                    \
    {                                                                                              \
        if (fault_comes(FAULT_WRITE)) {                                                            \
            if (writes_a_part(count))                                                              \
                (void)!REAL(name)(file, bytes, count / 2, from);                                   \
            errno = ENOSPC;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        return REAL(name)(file, bytes, count, from);                                               \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

PUBLIC int fflush(FILE *stream)
{
    FAIL_IF(FAULT_WRITE, ENOSPC, EOF)
    return REAL(fflush)(stream);
}

PUBLIC int fclose(FILE *stream)
{
    const bool failing = fileno(stream) >= 0 && fault_comes(FAULT_CLOSE);
    const int result = REAL(fclose)(stream);
    if (failing)
        errno = EIO;
    return failing ? EOF : result;
}

PUBLIC int close(int file)
{
    const bool failing = fault_comes(FAULT_CLOSE);
    const int result = REAL(close)(file);
    if (failing)
        errno = EIO;
    return failing ? -1 : result;
}

PUBLIC int ftruncate(int file, off_t bytes)
{
    FAIL_IF(FAULT_WRITE, EIO, -1)
    return REAL(ftruncate)(file, bytes);
}

PUBLIC int ftruncate64(int file, off64_t bytes)
{
    FAIL_IF(FAULT_WRITE, EIO, -1)
    return REAL(ftruncate64)(file, bytes);
}

PUBLIC int fsync(int file)
{
    FAIL_IF(FAULT_FSYNC, EIO, -1)
    return REAL(fsync)(file);
}

PUBLIC int fdatasync(int file)
{
    FAIL_IF(FAULT_FSYNC, EIO, -1)
    return REAL(fdatasync)(file);
}

PUBLIC int rename(const char *from, const char *to)
{
    FAIL_IF(FAULT_RENAME, EACCES, -1)
    return REAL(rename)(from, to);
}

PUBLIC int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    FAIL_IF(FAULT_RENAME, EACCES, -1)
    return REAL(linkat)(from_folder, from, to_folder, to, flags);
}

PUBLIC int unlink(const char *path)
{
    FAIL_IF(FAULT_UNLINK, EACCES, -1)
    return REAL(unlink)(path);
}

PUBLIC int mkdir(const char *path, mode_t mode)
{
    FAIL_IF(FAULT_OPEN, ENOSPC, -1)
    return REAL(mkdir)(path, mode);
}

#define STAT(name, status_type)                                                                    \
    PUBLIC int name(const char *path, status_type *status)                                         \
    {                                                                                              \
        FAIL_IF(FAULT_STAT, EACCES, -1)                                                            \
        return REAL(name)(path, status);                                                           \
    }
STAT(stat, struct stat)
STAT(stat64, struct stat64)
STAT(lstat, struct stat)

#define FSTAT(name, status_type)                                                                   \
    PUBLIC int name(int file, status_type *status)                                                 \
    {                                                                                              \
        FAIL_IF(FAULT_STAT, EIO, -1)                                                               \
        return REAL(name)(file, status);                                                           \
    }
FSTAT(fstat, struct stat)
FSTAT(fstat64, struct stat64)

PUBLIC int access(const char *path, int mode)
{
    FAIL_IF(FAULT_STAT, EACCES, -1)
    return REAL(access)(path, mode);
}

PUBLIC char *realpath(const char *path, char *resolved)
{
    FAIL_IF(FAULT_STAT, EACCES, NULL)
    return REAL(realpath)(path, resolved);
}

PUBLIC char *getcwd(char *path, size_t bytes)
{
    FAIL_IF(FAULT_STAT, ENOENT, NULL)
    return REAL(getcwd)(path, bytes);
}
