/*
 * atomic_file.c: the steps in their order: open aside, write, flush, fsync, close, rename. A
 * failure of any of them removes the file aside and names the path, the step's error and nothing
 * else.
 */
#include "bench/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTEMPTS 100

static int fail(struct atomic_file *file, const char *path, int number, struct cw_error *error)
{
    snprintf(error->text, sizeof error->text, "cannot write %.800s: %s", path, strerror(number));
    error->exit_code = CW_NO_RESOURCE;
    atomic_file_discard(file);
    return CW_NO_RESOURCE;
}

/* Where a path leads: through symbolic links to the file itself, so that they stay links. */
static char *resolve(const char *path, bool *regular)
{
    struct stat status;
    char *const real = realpath(path, NULL);
    *regular = real == NULL || stat(real, &status) != 0 || S_ISREG(status.st_mode);
    return real != NULL ? real : strdup(path);
}

/* A new file beside the path; -1 with errno. */
static int open_aside(struct atomic_file *file)
{
    const size_t room = strlen(file->path) + 40;
    file->aside = malloc(room);
    if (file->aside == NULL)
        return -1;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        snprintf(file->aside, room, "%s.%ld.%d.part", file->path, (long)getpid(), attempt);
        const int descriptor = open(file->aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0)
            return descriptor;
        if (errno != EEXIST)
            break;
    }
    const int number = errno;
    free(file->aside); /* nothing of ours is there to be removed */
    file->aside = NULL;
    errno = number;
    return -1;
}

int atomic_file_open(struct atomic_file *file, const char *path, struct cw_error *error)
{
    bool regular = true;
    *file = (struct atomic_file){.path = resolve(path, &regular)};
    if (file->path == NULL)
        return fail(file, path, ENOMEM, error);
    struct stat status;
    if (stat(file->path, &status) == 0 && S_ISDIR(status.st_mode))
        return fail(file, path, EISDIR, error);
    const int descriptor = regular ? open_aside(file) : open(file->path, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
        return fail(file, path, errno, error);
    file->stream = fdopen(descriptor, "w");
    if (file->stream == NULL) {
        const int number = errno;
        close(descriptor);
        return fail(file, path, number, error);
    }
    return CW_OK;
}

int atomic_file_commit(struct atomic_file *file, struct cw_error *error)
{
    char path[900];
    snprintf(path, sizeof path, "%s", file->path);
    errno = 0;
    bool well = !ferror(file->stream) && fflush(file->stream) == 0;
    if (well && file->aside != NULL)
        well = fsync(fileno(file->stream)) == 0;
    int number = errno;
    if (fclose(file->stream) != 0 && well) {
        number = errno;
        well = false;
    }
    file->stream = NULL;
    if (well && file->aside != NULL && rename(file->aside, file->path) != 0) {
        number = errno;
        well = false;
    }
    if (!well)
        return fail(file, path, number != 0 ? number : EIO, error);
    free(file->aside); /* it has been renamed: nothing to remove */
    file->aside = NULL;
    atomic_file_discard(file);
    return CW_OK;
}

void atomic_file_discard(struct atomic_file *file)
{
    if (file->stream != NULL)
        fclose(file->stream);
    if (file->aside != NULL)
        unlink(file->aside);
    free(file->aside);
    free(file->path);
    *file = (struct atomic_file){0};
}
