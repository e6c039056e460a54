/*
 * trace.c: the entry of the readers of traces (trace.h): recognises the format by a file's first
 * bytes, and hands it to its reader. Text formats begin with a word; a Chakra trace is a list of
 * framed messages, whose first one is tried.
 */
#define _GNU_SOURCE /* memmem */
#include "workload/traces/trace.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#include "collectives/config/input/text.h"
#include "workload/traces/chakra.h"
#include "workload/traces/chakra_wire.h"
#include "workload/traces/goal.h"
#include "workload/traces/layers.h"
#include "workload/traces/trace_build.h"
#include "workload/traces/trace_file.h"

enum { LOOK_BYTES = 1 << 16 };

enum format {
    FORMAT_NONE, /* no trace */
    FORMAT_CHAKRA,
    FORMAT_CHAKRA_JSON,
    FORMAT_GOAL,
    FORMAT_GOAL_BINARY,
    FORMAT_LAYERS
};

/* ---- recognising ----------------------------------------------------------------------------- */

/* Past blanks and comments of GOAL. */
static size_t skip_to_word(const char *text, size_t count)
{
    size_t at = 0;
    while (at < count) {
        if (isspace((unsigned char)text[at])) {
            at++;
        } else if (at + 1 < count && text[at] == '/' && text[at + 1] == '/') {
            while (at < count && text[at] != '\n')
                at++;
        } else if (at + 1 < count && text[at] == '/' && text[at + 1] == '*') {
            const char *const end = memmem(text + at + 2, count - at - 2, "*/", 2);
            at = end != NULL ? (size_t)(end - text) + 2 : count;
        } else {
            break;
        }
    }
    return at;
}

static bool begins(const char *text, size_t count, const char *word)
{
    const size_t length = strlen(word);
    return count >= length && memcmp(text, word, length) == 0 &&
           (count == length || isspace((unsigned char)text[length]));
}

/* JSON of a trace: an object whose first key is one of theirs. */
static bool begins_json(const char *text, size_t count)
{
    static const char *const keys[] = {"\"workload_graph\"", "\"version\"", "\"attr\"", "\"id\"",
                                       "\"schema\"",         "\"nodes\"",   "\"name\""};
    if (count == 0 || text[0] != '{')
        return false;
    size_t at = 1;
    while (at < count && isspace((unsigned char)text[at]))
        at++;
    if (at < count && text[at] == '}')
        return true; /* no metadata */
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (count - at >= strlen(keys[i]) && memcmp(text + at, keys[i], strlen(keys[i])) == 0)
            return true;
    return false;
}

static bool has_control_bytes(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count && i < 64; i++)
        if (bytes[i] < ' ' && strchr("\t\n\r", bytes[i]) == NULL)
            return true;
    return memchr(bytes, 0, count < 64 ? count : 64) != NULL;
}

static bool ends(const char *path, const char *suffix)
{
    const size_t length = strlen(path), end = strlen(suffix);
    return length > end && strcmp(path + length - end, suffix) == 0;
}

static enum format recognise(const struct trace_file *file)
{
    const uint8_t *const bytes = file->bytes;
    const size_t count = file->count;
    const char *const text = (const char *)bytes;
    const size_t word = skip_to_word(text, count);
    if (goal_is_binary(bytes, count))
        return FORMAT_GOAL_BINARY;
    if (begins(text + word, count - word, "num_ranks"))
        return FORMAT_GOAL;
    if (layers_begin(text + word, count - word))
        return FORMAT_LAYERS;
    if (begins_json(text + word, count - word))
        return FORMAT_CHAKRA_JSON;
    if (ends(file->path, ".et") || (has_control_bytes(bytes, count) && wire_begins(bytes, count)))
        return FORMAT_CHAKRA;
    return FORMAT_NONE;
}

/* ---- reading --------------------------------------------------------------------------------- */

bool workload_is_trace(const char *path)
{
    struct trace_set set;
    struct trace_file file;
    struct cw_error error;
    struct stat status;
    if (trace_set_find(path, &set, &error) != CW_OK)
        return true; /* a set that is not whole, or a folder: the reader says what is wrong */
    const bool is_set = set.prefix != NULL;
    trace_set_free(&set);
    if (is_set && (stat(path, &status) != 0 || S_ISDIR(status.st_mode)))
        return true;
    if (trace_file_read(path, LOOK_BYTES, &file, &error) != CW_OK)
        return false;
    const bool is_trace = recognise(&file) != FORMAT_NONE;
    trace_file_free(&file);
    return is_trace;
}

static int read_one(struct trace_build *build, const char *path, const struct trace_set *set)
{
    struct trace_file file;
    int code = trace_file_read(path, SIZE_MAX, &file, build->error);
    if (code != CW_OK)
        return code;
    const enum format format = recognise(&file);
    const bool is_chakra = format == FORMAT_CHAKRA || format == FORMAT_CHAKRA_JSON;
    if (build->options->groups != NULL && !is_chakra)
        code = cw_error_set(build->error, CW_USAGE,
                            "%s: groups are of Chakra traces, and this is none", path);
    else if (is_chakra)
        code = chakra_read(build, set, &file);
    else if (format == FORMAT_GOAL)
        code = goal_read_text(build, &file);
    else if (format == FORMAT_GOAL_BINARY)
        code = goal_read_binary(build, &file);
    else if (format == FORMAT_LAYERS)
        code = layers_read(build, &file);
    else
        code = cw_error_set(build->error, CW_USAGE,
                            "%s: no trace; legal: a Chakra execution trace, GOAL, a layer table of "
                            "ASTRA-sim 1.0 or SimAI",
                            path);
    trace_file_free(&file);
    return code;
}

int workload_trace_read(const char *path, const struct workload_trace_options *options,
                        struct workload_graph *graph, struct cw_error *error)
{
    static const struct workload_trace_options defaults;
    struct trace_build build = {
        .graph = graph, .options = options != NULL ? options : &defaults, .error = error};
    struct trace_set set = {0};
    graph->file = strdup(path);
    graph->name = strdup(strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path);
    int code = graph->file != NULL && graph->name != NULL ? trace_set_find(path, &set, error)
                                                          : trace_no_memory(&build);
    if (code == CW_OK && set.prefix != NULL)
        code = chakra_read(&build, &set, NULL);
    else if (code == CW_OK)
        code = read_one(&build, path, &set);
    if (code == CW_OK)
        code = trace_build_end(&build);
    if (code == CW_OK)
        code = workload_graph_check(graph, error);
    trace_build_free(&build);
    trace_set_free(&set);
    return code;
}
