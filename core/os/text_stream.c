/*
 * text_stream.c: a FILE that writes into growing memory (text_stream.h). Invariant of a stream that
 * has not failed: `used` < `room`.
 */
#define _GNU_SOURCE /* fopencookie */
#include "core/os/text_stream.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct text_stream {
    char **text;
    size_t *bytes;
    char *own;
    size_t used, room;
    bool failed;
};

static bool make_room(struct text_stream *stream, size_t count)
{
    enum { ROOM_MIN = 256 };
    if (count < stream->room - stream->used)
        return true;
    const size_t room = 2 * stream->room + count + ROOM_MIN;
    char *const more = realloc(stream->own, room);
    if (more == NULL)
        return false;
    stream->own = more;
    stream->room = room;
    return true;
}

static ssize_t put_bytes(void *cookie, const char *bytes, size_t count)
{
    struct text_stream *const stream = cookie;
    stream->failed = stream->failed || !make_room(stream, count);
    if (stream->failed)
        return 0; /* stdio sees an error */
    memcpy(stream->own + stream->used, bytes, count);
    stream->used += count;
    return (ssize_t)count;
}

static int hand_over(void *cookie)
{
    struct text_stream *const stream = cookie;
    const bool failed = stream->failed || !make_room(stream, 0);
    if (failed) {
        free(stream->own);
    } else {
        stream->own[stream->used] = '\0';
        *stream->text = stream->own;
        *stream->bytes = stream->used;
    }
    free(stream);
    return failed ? -1 : 0;
}

FILE *text_stream_open(char **text, size_t *bytes)
{
    struct text_stream *const stream = calloc(1, sizeof *stream);
    *text = NULL;
    *bytes = 0;
    if (stream == NULL)
        return NULL;
    stream->text = text;
    stream->bytes = bytes;
    FILE *const file =
        fopencookie(stream, "w", (cookie_io_functions_t){.write = put_bytes, .close = hand_over});
    if (file == NULL)
        free(stream);
    return file;
}
