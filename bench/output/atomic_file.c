/*
 * atomic_file.c: the steps in order: open a temporary file, write, flush, fsync, name, rename,
 * fsync of the folder. A failure of any of them removes the temporary file and reports the path and
 * the error of the first step that failed.
 *
 * The temporary file is opened with O_TMPFILE, which the system removes with its last descriptor.
 * linkat() names it but replaces nothing, hence the rename after it. File systems without
 * O_TMPFILE, and systems without /proc, through which it is named, get a file with a name from the
 * start.
 */
#define _GNU_SOURCE /* O_TMPFILE, fopencookie */
#include "bench/output/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/output/left_aside.h"
#include "core/os/output_path.h"

#define ATTEMPTS   100
#define PROC_BYTES 40u

/* Temporary files that have names, for a program that ends early (exit()). */
static struct atomic_file *named_files;
static pthread_mutex_t named_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t named_once = PTHREAD_ONCE_INIT;

/* A forked process that ends leaves its parent's files alone. */
void atomic_file_abandon_all(void)
{
    pthread_mutex_lock(&named_lock);
    for (const struct atomic_file *file = named_files; file != NULL; file = file->next_named)
        if (file->owner == getpid())
            unlink(file->aside);
    pthread_mutex_unlock(&named_lock);
}

static void remove_at_exit(void) { (void)atexit(atomic_file_abandon_all); }

static void note_named(struct atomic_file *file)
{
    (void)pthread_once(&named_once, remove_at_exit);
    pthread_mutex_lock(&named_lock);
    file->owner = getpid();
    file->next_named = named_files;
    named_files = file;
    pthread_mutex_unlock(&named_lock);
}

static void forget_named(const struct atomic_file *file)
{
    pthread_mutex_lock(&named_lock);
    for (struct atomic_file **at = &named_files; *at != NULL; at = &(*at)->next_named)
        if (*at == file) {
            *at = file->next_named;
            break;
        }
    pthread_mutex_unlock(&named_lock);
}

static int atomic_file_fail(struct atomic_file *file, const char *path, int number,
                            struct cw_error *error)
{
    cw_error_set(error, CW_NO_RESOURCE, "cannot write %.800s: %s", path, strerror(number));
    atomic_file_discard(file);
    return CW_NO_RESOURCE;
}

/* ---- the stream: keeps the errno that stdio forgets ------------------------------------------ */

static ssize_t write_some(void *cookie, const char *bytes, size_t count)
{
    struct atomic_file *const file = cookie;
    size_t written = 0;
    while (written < count) {
        const ssize_t now = write(file->descriptor, bytes + written, count - written);
        if (now < 0 && errno == EINTR)
            continue;
        if (now < 0) {
            if (file->number == 0)
                file->number = errno;
            break;
        }
        written += (size_t)now;
    }
    return (ssize_t)written; /* fewer than asked for: stdio sees an error */
}

static int close_descriptor(void *cookie)
{
    const struct atomic_file *const file = cookie;
    return close(file->descriptor);
}

/* ---- the temporary file ---------------------------------------------------------------------- */

/* Where a path leads: through symbolic links to the file itself, so that they stay links. A path to
 * anything but a regular file stays as it is: /dev/stdout may lead to a pipe, which has none. */
static char *atomic_file_resolve(const char *path, bool *regular)
{
    struct stat status;
    *regular = stat(path, &status) != 0 || S_ISREG(status.st_mode);
    char *const real = *regular ? realpath(path, NULL) : NULL;
    return real != NULL ? real : strdup(path);
}

/* The folder of a path, in memory that the caller frees. */
static char *folder_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    if (slash == NULL)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static const char *atomic_file_name_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* A file without a name in the path's folder; -1 if the system has none. */
static int open_nameless(const char *path)
{
    char *const folder = folder_of(path);
    if (folder == NULL)
        return -1;
    const int descriptor = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    free(folder);
    char proc[PROC_BYTES];
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", descriptor);
    if (descriptor < 0 || access(proc, F_OK) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

/* Sets file->aside to names that are probably free, in turn, until `take` takes one or fails with
 * anything but EEXIST. Its result; -1 with errno and no name. */
static int find_name(struct atomic_file *file, int (*take)(const struct atomic_file *file))
{
    const size_t room = strlen(file->path) + 40;
    file->aside = malloc(room);
    if (file->aside == NULL)
        return -1;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        snprintf(file->aside, room, LEFT_ASIDE_FORMAT, file->path, (long)getpid(), attempt);
        const int taken = take(file);
        if (taken >= 0) {
            note_named(file);
            return taken;
        }
        if (errno != EEXIST)
            break;
    }
    const int number = errno;
    free(file->aside); /* nothing of ours is there to be removed */
    file->aside = NULL;
    errno = number;
    return -1;
}

static int open_named(const struct atomic_file *file)
{
    return open(file->aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static int give_name(const struct atomic_file *file)
{
    char proc[PROC_BYTES];
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", file->descriptor);
    return linkat(AT_FDCWD, proc, AT_FDCWD, file->aside, AT_SYMLINK_FOLLOW);
}

static int open_aside(struct atomic_file *file)
{
    char *const folder = folder_of(file->path);
    if (folder != NULL)
        left_aside_report(folder, file->path);
    free(folder);
    int descriptor = open_nameless(file->path);
    if (descriptor < 0)
        descriptor = find_name(file, open_named);
    if (descriptor >= 0)
        left_aside_lock(descriptor);
    return descriptor;
}

/* ---- the steps ------------------------------------------------------------------------------- */

int atomic_file_open(struct atomic_file *file, const char *path, struct cw_error *error)
{
    bool regular = true;
    *file = (struct atomic_file){.stream = NULL};
    if (output_path_check(path, error) != CW_OK)
        return error->exit_code;
    file->path = atomic_file_resolve(path, &regular);
    if (file->path == NULL)
        return atomic_file_fail(file, path, ENOMEM, error);
    struct stat status;
    const bool is_there = stat(file->path, &status) == 0;
    if (is_there && S_ISDIR(status.st_mode))
        return atomic_file_fail(file, path, EISDIR, error);
    file->is_regular = regular;
    file->descriptor = regular ? open_aside(file) : open(file->path, O_WRONLY | O_CLOEXEC);
    if (file->descriptor < 0)
        return atomic_file_fail(file, path, errno, error);
    if (is_there && regular) /* a new one has the permissions that the umask leaves */
        (void)fchmod(file->descriptor, status.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO));
    file->stream = fopencookie(
        file, "w", (cookie_io_functions_t){.write = write_some, .close = close_descriptor});
    if (file->stream == NULL) {
        close(file->descriptor);
        return atomic_file_fail(file, path, ENOMEM, error);
    }
    return CW_OK;
}

/* Makes a new name in the path's folder last. 0, or an errno; file systems that flush no folders
 * have nothing to do. */
static int flush_folder(const char *path)
{
    char *const folder = folder_of(path);
    const int descriptor = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(folder);
    if (descriptor < 0)
        return 0; /* a folder may be written and not read */
    const int number = fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
    close(descriptor);
    return number;
}

/* Flushes, and for a regular file gives it its place. 0, or the errno of the first failure. */
static int complete(struct atomic_file *file)
{
    if (fflush(file->stream) != 0 || ferror(file->stream) || file->number != 0)
        return file->number != 0 ? file->number : EIO;
    if (!file->is_regular)
        return 0;
    if (fsync(file->descriptor) != 0)
        return errno;
    if (file->aside == NULL && find_name(file, give_name) < 0)
        return errno;
    if (rename(file->aside, file->path) != 0)
        return errno;
    forget_named(file); /* it has been renamed: nothing to remove */
    free(file->aside);
    file->aside = NULL;
    return flush_folder(file->path);
}

int atomic_file_commit(struct atomic_file *file, struct cw_error *error)
{
    char path[900];
    snprintf(path, sizeof path, "%s", file->path);
    const int number = complete(file);
    if (number != 0)
        return atomic_file_fail(file, path, number, error);
    const bool closed = fclose(file->stream) == 0;
    file->stream = NULL;
    if (!closed)
        return atomic_file_fail(file, path, errno, error);
    atomic_file_discard(file);
    return CW_OK;
}

void atomic_file_discard(struct atomic_file *file)
{
    if (file->stream != NULL)
        fclose(file->stream);
    if (file->aside != NULL) {
        forget_named(file);
        unlink(file->aside);
    }
    free(file->aside);
    free(file->path);
    *file = (struct atomic_file){0};
}

bool atomic_file_same(const char *a, const char *b)
{
    struct stat status_a, status_b;
    const bool is_a = stat(a, &status_a) == 0, is_b = stat(b, &status_b) == 0;
    if (is_a != is_b)
        return false;
    bool same = strcmp(a, b) == 0;
    if (is_a)
        return same || (status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino);
    /* Neither is there: one name in one folder. */
    char *const folder_a = folder_of(a), *const folder_b = folder_of(b);
    if (!same && folder_a != NULL && folder_b != NULL && stat(folder_a, &status_a) == 0 &&
        stat(folder_b, &status_b) == 0)
        same = status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino &&
               strcmp(atomic_file_name_of(a), atomic_file_name_of(b)) == 0;
    free(folder_a);
    free(folder_b);
    return same;
}
