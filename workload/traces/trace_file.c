/*
 * trace_file.c: reads and unpacks the files of traces, and finds those of a set (trace_file.h).
 */
#define _GNU_SOURCE /* asprintf, memmem */
#include "workload/traces/trace_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "collectives/config/input/nearest_file.h"
#include "collectives/config/input/text.h"

#define FILE_BYTES_MAX ((size_t)4 << 30)
enum { FIRST_ROOM = 1 << 16, RANKS_MAX = 1 << 17 };

/* ---- reading --------------------------------------------------------------------------------- */

struct room {
    uint8_t *at;
    size_t count, capacity;
};

/* Room for at least one more byte, and the 0 after it. */
static bool grow(struct room *room)
{
    if (room->count + 1 < room->capacity)
        return true;
    const size_t capacity = room->capacity > 0 ? 2 * room->capacity : FIRST_ROOM;
    uint8_t *const more = realloc(room->at, capacity);
    if (more == NULL)
        return false;
    room->at = more;
    room->capacity = capacity;
    return true;
}

static int read_all(const char *path, size_t most, struct room *room, struct cw_error *error)
{
    char hint[NEAREST_FILE_BYTES];
    FILE *const stream = fopen(path, "rbe");
    if (stream == NULL)
        return cw_error_set(error, CW_USAGE, "%s: cannot be opened: %s%s", path, strerror(errno),
                            nearest_file_hint(path, NULL, hint));
    errno = 0;
    int code = CW_OK;
    size_t got = 1;
    while (code == CW_OK && got > 0 && room->count < most) {
        if (!grow(room)) {
            code = cw_error_memory(error, "a trace");
        } else {
            const size_t left = room->capacity - room->count - 1, wanted = most - room->count;
            got = fread(room->at + room->count, 1, left < wanted ? left : wanted, stream);
            room->count += got;
            if (room->count > FILE_BYTES_MAX)
                code =
                    cw_error_set(error, CW_USAGE, "%s: more than 4 GiB, which no trace has", path);
        }
    }
    if (code == CW_OK && ferror(stream))
        code = cw_error_set(error, CW_USAGE, "%s: cannot be read: %s", path,
                            strerror(errno != 0 ? errno : EIO));
    fclose(stream);
    return code;
}

/* Replaces the bytes of gzip by those that were packed; of a file that goes on, by its beginning.
 */
static int unpack(const char *path, size_t most, struct room *room, struct cw_error *error)
{
    struct room out = {0};
    z_stream stream = {.next_in = room->at};
    size_t taken = 0; /* bytes of the file that zlib has been shown */
    int code = CW_OK, got = inflateInit2(&stream, 15 + 16);
    if (got != Z_OK)
        return cw_error_memory(error, "a trace");
    do {
        if (stream.avail_in == 0) {
            const size_t left = room->count - taken, shown = left < 1 << 30 ? left : 1 << 30;
            stream.next_in = room->at + taken;
            stream.avail_in = (uInt)shown;
            taken += shown;
        }
        if (!grow(&out)) {
            code = cw_error_memory(error, "a trace");
            break;
        }
        const size_t free_bytes = out.capacity - out.count - 1,
                     offered = free_bytes < 1 << 30 ? free_bytes : 1 << 30;
        stream.next_out = out.at + out.count;
        stream.avail_out = (uInt)offered;
        got = inflate(&stream, Z_NO_FLUSH);
        out.count += offered - stream.avail_out;
        if (got == Z_STREAM_END && (stream.avail_in > 0 || taken < room->count))
            got = inflateReset(&stream); /* another member */
        if (out.count > FILE_BYTES_MAX)
            code = cw_error_set(error, CW_USAGE, "%s: more than 4 GiB unpacked, which no trace has",
                                path);
    } while (code == CW_OK && got == Z_OK && out.count < most);
    inflateEnd(&stream);
    if (code == CW_OK && got != Z_STREAM_END && most == SIZE_MAX)
        code = cw_error_set(error, CW_USAGE, "%s: gzip that is damaged or cut off", path);
    free(room->at);
    *room = out;
    return code;
}

static bool ends(const char *path, const char *suffix)
{
    const size_t length = strlen(path), end = strlen(suffix);
    return length > end && strcmp(path + length - end, suffix) == 0;
}

int trace_file_read(const char *path, size_t most, struct trace_file *file, struct cw_error *error)
{
    struct room room = {0};
    *file = (struct trace_file){.path = strdup(path)};
    int code =
        file->path != NULL ? read_all(path, most, &room, error) : cw_error_memory(error, "a trace");
    if (code == CW_OK && room.count > 2 && room.at[0] == 0x1f && room.at[1] == 0x8b)
        code = unpack(path, most, &room, error);
    if (code == CW_OK && !grow(&room))
        code = cw_error_memory(error, "a trace");
    if (code == CW_OK)
        room.at[room.count] = 0;
    file->bytes = room.at;
    file->count = room.count;
    if (code != CW_OK)
        trace_file_free(file);
    return code;
}

void trace_file_free(struct trace_file *file)
{
    free(file->path);
    free(file->bytes);
    *file = (struct trace_file){0};
}

/* ---- sets of files --------------------------------------------------------------------------- */

static const char *const suffixes[] = {".et", ".json", ".et.gz", ".json.gz", ".eg"};
enum { SUFFIXES = sizeof suffixes / sizeof *suffixes };

/* "dir/name.12.et" as "dir/name" (its length), 12 and ".et". */
static bool split(const char *path, size_t *prefix, uint64_t *rank, const char **suffix)
{
    for (int i = 0; i < SUFFIXES; i++) {
        if (!ends(path, suffixes[i]))
            continue;
        const size_t end = strlen(path) - strlen(suffixes[i]);
        size_t begin = end;
        while (begin > 0 && isdigit((unsigned char)path[begin - 1]))
            begin--;
        if (begin == end || begin < 2 || path[begin - 1] != '.' || path[begin - 2] == '/' ||
            (path[begin] == '0' && end - begin > 1))
            continue;
        if (text_whole(path + begin, end - begin, RANKS_MAX, rank) != end - begin)
            continue;
        *prefix = begin - 1;
        *suffix = suffixes[i];
        return true;
    }
    return false;
}

static bool is_there(const char *prefix, size_t length, uint64_t rank, const char *suffix)
{
    char *path;
    if (asprintf(&path, "%.*s.%llu%s", (int)length, prefix, (unsigned long long)rank, suffix) < 0)
        return false;
    const bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

/* The only set in a folder. */
static int find_in_folder(const char *path, char **prefix, const char **suffix,
                          struct cw_error *error)
{
    DIR *const folder = opendir(path);
    const struct dirent *entry;
    int code = CW_OK;
    *prefix = NULL;
    if (folder == NULL)
        return cw_error_set(error, CW_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    while (code == CW_OK && (entry = readdir(folder)) != NULL) {
        size_t length;
        uint64_t rank;
        const char *ending;
        char *whole;
        if (!split(entry->d_name, &length, &rank, &ending))
            continue;
        if (asprintf(&whole, "%s/%.*s", path, (int)length, entry->d_name) < 0) {
            code = cw_error_memory(error, "a trace");
        } else if (*prefix == NULL) {
            *prefix = whole;
            *suffix = ending;
        } else {
            if (strcmp(*prefix, whole) != 0 || *suffix != ending)
                code = cw_error_set(error, CW_USAGE,
                                    "%s: more than one set of traces: %s.0%s and %s.0%s; name one "
                                    "of them",
                                    path, *prefix, *suffix, whole, ending);
            free(whole);
        }
    }
    closedir(folder);
    if (code == CW_OK && *prefix == NULL)
        code =
            cw_error_set(error, CW_USAGE, "%s: no set of traces (NAME.0.et, NAME.1.et ...)", path);
    return code;
}

/* How many files of the set there are; all from 0 on must be. */
static int count_files(const char *path, struct trace_set *set, uint64_t known,
                       struct cw_error *error)
{
    const size_t length = strlen(set->prefix);
    uint64_t ranks = 0;
    while (ranks <= RANKS_MAX && is_there(set->prefix, length, ranks, set->suffix))
        ranks++;
    uint64_t last = known;
    for (uint64_t r = ranks + 1; r < ranks + 1024; r++)
        if (is_there(set->prefix, length, r, set->suffix))
            last = r;
    if (ranks > RANKS_MAX)
        return cw_error_set(error, CW_USAGE, "%s: more than %d files", path, RANKS_MAX);
    if (last >= ranks)
        return cw_error_set(error, CW_USAGE,
                            "%s.%llu%s is missing, and %s.%llu%s is there; legal: one file for "
                            "each rank, from 0 on",
                            set->prefix, (unsigned long long)ranks, set->suffix, set->prefix,
                            (unsigned long long)last, set->suffix);
    set->ranks = (uint32_t)ranks;
    return CW_OK;
}

int trace_set_find(const char *path, struct trace_set *set, struct cw_error *error)
{
    struct stat status;
    const bool there = stat(path, &status) == 0;
    size_t length = strlen(path);
    uint64_t rank = 0;
    const char *suffix = NULL;
    char *prefix = NULL;
    *set = (struct trace_set){0};
    if (there && S_ISDIR(status.st_mode)) {
        const int code = find_in_folder(path, &prefix, &suffix, error);
        if (code != CW_OK) {
            free(prefix);
            return code;
        }
    } else if (there) {
        /* One file alone is what all ranks do. */
        if (!split(path, &length, &rank, &suffix) ||
            (rank == 0 && !is_there(path, length, 1, suffix)))
            return CW_OK;
    } else {
        for (int i = 0; i < SUFFIXES && suffix == NULL; i++)
            if (is_there(path, length, 0, suffixes[i]))
                suffix = suffixes[i];
        if (suffix == NULL)
            return CW_OK;
    }
    set->prefix = prefix != NULL ? prefix : strndup(path, length);
    set->suffix = strdup(suffix);
    int code = set->prefix != NULL && set->suffix != NULL ? CW_OK : cw_error_memory(error, "a set");
    if (code == CW_OK)
        code = count_files(path, set, rank, error);
    if (code != CW_OK)
        trace_set_free(set);
    return code;
}

void trace_set_free(struct trace_set *set)
{
    free(set->prefix);
    free(set->suffix);
    *set = (struct trace_set){0};
}

char *trace_set_path(const struct trace_set *set, uint32_t rank)
{
    char *path;
    return asprintf(&path, "%s.%u%s", set->prefix, rank, set->suffix) >= 0 ? path : NULL;
}
