/*
 * format_workload.c: workload files: whatever one says, it is refused with places, or it becomes a
 * graph whose operations end, or wait for each other in a way that is named. Lines at the start of
 * an input that begin with "--set " are settings.
 */
#include <stdlib.h>
#include <string.h>

#include "test/fuzz/fuzz.h"
#include "workload/file/workload_file.h"
#include "workload/run/ideal.h"

enum { FUZZ_SETTINGS_MAX = 4, OPERATIONS_MAX = 20000, RANKS_MAX = 4096 };

static int64_t takes_one(void *arg, const struct workload_op *op)
{
    (void)arg;
    (void)op;
    return 1;
}

/* Of a graph that was accepted. */
static void run_ideal(const struct workload_graph *graph)
{
    struct step_result result = {0};
    struct cw_error error = {.exit_code = CW_OK};
    uint64_t spans = 0;
    for (uint32_t rank = 0; rank < graph->rank_count; rank++)
        spans += graph->programs[graph->program_of[rank]].op_count;
    if (graph->rank_count > RANKS_MAX || spans > 10 * OPERATIONS_MAX)
        return;
    const int code = step_ideal(graph, &(struct step_modes){0}, takes_one, NULL, &result, &error);
    FUZZ_DEMAND(code == CW_OK || code == CW_PROGRAM_FAILED || code == CW_USAGE);
    if (code != CW_OK)
        FUZZ_DEMAND(error.text[0] != '\0');
    step_result_free(&result);
}

/* Every line of the message names a place. */
static void demand_places(const struct cw_error *error)
{
    const char *line = cw_error_text(error);
    while (line != NULL && *line != '\0') {
        if (strncmp(line, "fuzz.yaml:", 10) != 0 && strncmp(line, "--set ", 6) != 0 &&
            strncmp(line, "and ", 4) != 0)
            fuzz_fail(__FILE__, __LINE__, "an error names its place", line);
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
}

static void read_file(const uint8_t *data, size_t size)
{
    struct workload_graph graph;
    struct cw_error error = {.exit_code = CW_OK};
    const char *settings[FUZZ_SETTINGS_MAX];
    size_t count = 0;
    char *const text = malloc(size + 1);
    FUZZ_DEMAND(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    char *at = text;
    while (count < FUZZ_SETTINGS_MAX && strncmp(at, "--set ", 6) == 0) {
        char *const end = strchr(at, '\n');
        if (end == NULL)
            break;
        *end = '\0';
        settings[count++] = at + 6;
        at = end + 1;
    }
    const struct workload_file_request request = {.path = "fuzz.yaml",
                                                  .text = at,
                                                  .bytes = size - (size_t)(at - text),
                                                  .settings = settings,
                                                  .setting_count = count,
                                                  .sip_w = 4,
                                                  .sip_h = 4,
                                                  .operations_max = OPERATIONS_MAX};
    const int code = workload_file_read(&request, &graph, &error);
    fuzz_demand_error(code, &error);
    FUZZ_DEMAND((code == CW_OK) == (graph.programs != NULL));
    if (code == CW_OK)
        run_ideal(&graph);
    else
        demand_places(&error);
    workload_graph_free(&graph);
    free(text);
}

const struct fuzz_format fuzz_workload = {.name = "workload", .once = read_file};
