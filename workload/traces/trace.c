/*
 * trace.c: the entry of the readers of traces (trace.h): finds the files, recognises the format,
 * and hands them to its reader.
 */
#include "workload/traces/trace.h"

#include <string.h>
#include <sys/stat.h>

#include "collectives/config/input/text.h"
#include "workload/traces/chakra.h"
#include "workload/traces/goal.h"
#include "workload/traces/layers.h"
#include "workload/traces/trace_build.h"
#include "workload/traces/trace_file.h"

enum { LOOK_BYTES = 1 << 16 };

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
    const bool is_trace = file.format != TRACE_NONE;
    trace_file_free(&file);
    return is_trace;
}

static int read_one(struct trace_build *build, const char *path, const struct trace_set *set)
{
    struct trace_file file;
    int code = trace_file_read(path, SIZE_MAX, &file, build->error);
    if (code != CW_OK)
        return code;
    const bool is_chakra = file.format == TRACE_CHAKRA || file.format == TRACE_CHAKRA_JSON;
    if (build->options->groups != NULL && !is_chakra)
        code = cw_error_set(build->error, CW_USAGE,
                            "%s: groups are of Chakra traces, and this is none", path);
    else if (is_chakra)
        code = chakra_read(build, set, &file);
    else if (file.format == TRACE_GOAL)
        code = goal_read_text(build, &file);
    else if (file.format == TRACE_GOAL_BINARY)
        code = goal_read_binary(build, &file);
    else if (file.format == TRACE_LAYERS)
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
