/*
 * named_asides.c: by LD_PRELOAD, a file system without files that have no names (O_TMPFILE), as NFS
 * is one. test_interrupt.c builds it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;  \
        va_end(arguments);                                                                         \
        if ((flags & O_TMPFILE) == O_TMPFILE) {                                                    \
            errno = EOPNOTSUPP;                                                                    \
            return -1;                                                                             \
        }                                                                                          \
        int (*const real)(const char *, int, ...) = dlsym(RTLD_NEXT, #name);                       \
        return real(path, flags, mode);                                                            \
    }
OPEN(open)
OPEN(open64)
