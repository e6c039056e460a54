/*
 * format_trace.c: traces of other tools: whatever a file says, it becomes a graph that is sound, or
 * is refused; the same bytes give the same graph.
 */
#include <string.h>

#include "test/fuzz/fuzz.h"
#include "workload/traces/trace.h"

/* The graph of a file, if there is one. */
static int read_graph(const char *path, struct workload_graph *graph)
{
    const struct workload_trace_options options = {.ranks = 4};
    struct cw_error error = {.exit_code = CW_OK};
    const int code = workload_trace_read(path, &options, graph, &error);
    fuzz_demand_error(code, &error);
    if (code == CW_USAGE && strstr(cw_error_text(&error), "fuzz.") == NULL)
        fuzz_fail(__FILE__, __LINE__, "a refusal names the file", cw_error_text(&error));
    return code;
}

static void read_trace(const uint8_t *data, size_t size)
{
    struct workload_graph graph = {0}, again = {0};
    /* What begins with a letter or a brace is text; else the name says that it is Chakra's. */
    const bool is_text = size > 0 && strchr("{/DHMn\x7f", data[0]) != NULL;
    const char *const path = fuzz_file(is_text ? "fuzz.txt" : "fuzz.et", data, size);
    const int code = read_graph(path, &graph);
    FUZZ_DEMAND(read_graph(path, &again) == code);
    if (code == CW_OK) {
        FUZZ_DEMAND(workload_is_trace(path));
        FUZZ_DEMAND(graph.rank_count == again.rank_count);
        FUZZ_DEMAND(graph.program_count == again.program_count);
        for (uint32_t p = 0; p < graph.program_count; p++)
            FUZZ_DEMAND(graph.programs[p].op_count == again.programs[p].op_count);
    }
    workload_graph_free(&graph);
    workload_graph_free(&again);
    fuzz_clear();
}

const struct fuzz_format fuzz_trace = {.name = "trace", .once = read_trace};
