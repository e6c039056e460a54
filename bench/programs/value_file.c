/* value_file.c: see value_file.h. */
#include "bench/programs/value_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 20, PIECE_ELEMS = 512 };

/* Reads to the end, in pieces, since a pipe has no length. errno 0: out of memory. */
static uint8_t *read_stream(FILE *file, uint64_t *bytes)
{
    uint8_t *values = NULL;
    size_t used = 0, room = 0;
    for (;;) {
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
        const size_t got = fread(values + used, 1, room - used, file);
        used += got;
        if (got == 0 && ferror(file)) {
            const int number = errno != 0 ? errno : EIO;
            free(values);
            errno = number;
            return NULL;
        }
        if (got == 0)
            break;
    }
    *bytes = used;
    return values;
}

int value_file_read(const char *option, const char *path, uint8_t **values, uint64_t *bytes,
                    struct cw_error *error)
{
    FILE *const file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    *values = NULL;
    if (file == NULL)
        return cw_error_set(error, CW_USAGE, "%s %s: cannot open it: %s", option, path,
                            strerror(errno));
    *values = read_stream(file, bytes);
    const int number = errno;
    if (file != stdin)
        (void)fclose(file);
    if (*values != NULL)
        return CW_OK;
    if (number == 0)
        return cw_error_memory(error, "a file of values");
    return cw_error_set(error, CW_USAGE, "%s %s: cannot read it: %s", option, path,
                        strerror(number));
}

bool value_file_is_finite(enum dtype dtype, const void *values, uint64_t count, uint64_t *at)
{
    const uint8_t *const from = values;
    float piece[PIECE_ELEMS];
    for (uint64_t done = 0; done < count; done += PIECE_ELEMS) {
        const size_t n = count - done < PIECE_ELEMS ? count - done : PIECE_ELEMS;
        dtype_to_f32(dtype, piece, from + done * dtype_bytes(dtype), n);
        for (size_t i = 0; i < n; i++)
            if (!isfinite(piece[i])) {
                *at = done + i;
                return false;
            }
    }
    return true;
}
