/* value_file.c: reads and checks files of raw numbers (value_file.h). */
#include "bench/programs/value_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectives/config/input/nearest_file.h"

enum { PIECE_BYTES = 1 << 20 };

/* Reads to the end, in pieces, since a pipe has no length; no further than one byte more than
 * bytes_max. errno 0: out of memory. */
static uint8_t *read_stream(FILE *file, uint64_t bytes_max, uint64_t *bytes)
{
    uint8_t *values = NULL;
    uint64_t used = 0, room = 0;
    size_t got = 1;
    while (got > 0 && used <= bytes_max) {
        if (used == room) {
            room = room == 0 ? PIECE_BYTES : 2 * room;
            uint8_t *const more = realloc(values, room);
            if (more == NULL) {
                free(values);
                errno = 0;
                return NULL;
            }
            values = more;
        }
        errno = 0;
        got = fread(values + used, 1, room - used, file);
        used += got;
        if (got == 0 && ferror(file)) {
            const int number = errno != 0 ? errno : EIO;
            free(values);
            errno = number;
            return NULL;
        }
    }
    *bytes = used;
    return values;
}

/* A device such as /dev/zero may never end. A terminal is one that does. */
static int check_kind(const char *option, const char *path, FILE *file, struct cw_error *error)
{
    struct stat status;
    if (fstat(fileno(file), &status) != 0 ||
        !(S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) || isatty(fileno(file)))
        return CW_OK;
    return cw_error_set(error, CW_USAGE,
                        "%s %s: it is a device, which may have no end; legal are a file, a pipe, "
                        "and - for standard input from either",
                        option, path);
}

static int read_values(const char *option, const char *path, FILE *file, uint64_t bytes_max,
                       uint8_t **values, uint64_t *bytes, struct cw_error *error)
{
    if (check_kind(option, path, file, error) != CW_OK)
        return error->exit_code;
    *values = read_stream(file, bytes_max, bytes);
    const int number = errno;
    if (*values == NULL && number == 0)
        return cw_error_memory(error, "a file of values");
    if (*values == NULL)
        return cw_error_set(error, CW_USAGE, "%s %s: cannot read it: %s", option, path,
                            strerror(number));
    if (*bytes <= bytes_max)
        return CW_OK;
    free(*values);
    *values = NULL;
    return cw_error_set(error, CW_NO_RESOURCE,
                        "%s %s: it has more than %" PRIu64
                        " bytes, the most that are read (--max-memory, or half of the machine's)",
                        option, path, bytes_max);
}

int value_file_read(const char *option, const char *path, uint64_t bytes_max, uint8_t **values,
                    uint64_t *bytes, struct cw_error *error)
{
    const bool is_opened = strcmp(path, "-") != 0;
    FILE *const file = is_opened ? fopen(path, "rb") : stdin;
    *values = NULL;
    char meant[NEAREST_FILE_BYTES];
    if (file == NULL)
        return cw_error_set(error, CW_USAGE, "%s %s: cannot open it: %s%s", option, path,
                            strerror(errno), nearest_file_hint(path, NULL, meant));
    const int code = read_values(option, path, file, bytes_max, values, bytes, error);
    if (is_opened)
        (void)fclose(file);
    return code;
}

bool value_file_is_finite(enum dtype dtype, const void *values, uint64_t count, uint64_t *at)
{
    const uint8_t *const from = values;
    const size_t itemsize = dtype_bytes(dtype);
    if (dtype_count_not_finite(dtype, values, count) == 0)
        return true;
    for (*at = 0; dtype_count_not_finite(dtype, from + *at * itemsize, 1) == 0;)
        ++*at;
    return false;
}
