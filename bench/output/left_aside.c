/*
 * left_aside.c: looks through a path's folder for temporary files, and tries to lock each. A lock
 * that it gets is released at once; a process that creates its temporary file at that moment
 * continues without a lock, and its file may be reported by mistake.
 */
#include "bench/output/left_aside.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

void left_aside_lock(int descriptor) { (void)flock(descriptor, LOCK_EX | LOCK_NB); }

/* Skips a point and a number; NULL: they are not there. */
static const char *after_number(const char *text)
{
    const size_t digits = *text == '.' ? strspn(text + 1, "0123456789") : 0;
    return digits > 0 ? text + 1 + digits : NULL;
}

/* Whether a name is one of a temporary file for `base`. */
static bool is_aside_of(const char *name, const char *base)
{
    const size_t bytes = strlen(base);
    const char *const end = strncmp(name, base, bytes) == 0 ? after_number(name + bytes) : NULL;
    const char *const part = end != NULL ? after_number(end) : NULL;
    return part != NULL && strcmp(part, ".part") == 0;
}

static bool is_left(int folder, const char *name)
{
    struct stat status;
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool is_left = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                         flock(file, LOCK_SH | LOCK_NB) == 0;
    if (file >= 0)
        close(file);
    return is_left;
}

void left_aside_report(const char *folder, const char *path)
{
    const char *const slash = strrchr(path, '/'), *const base = slash != NULL ? slash + 1 : path;
    DIR *const stream = opendir(folder);
    if (stream == NULL)
        return; /* a folder may be written and not read */
    for (const struct dirent *entry = readdir(stream); entry != NULL; entry = readdir(stream))
        if (is_aside_of(entry->d_name, base) && is_left(dirfd(stream), entry->d_name))
            fprintf(stderr,
                    "cubewarp: %s/%s is left of a run that was killed before it could rename it to "
                    "%s; remove it, or keep it under another name\n",
                    folder, entry->d_name, base);
    closedir(stream);
}
