/*
 * workload_file.c: reads, expands and checks a workload file (workload_file.h).
 */
#include "workload/file/workload_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/file/model.h"

/* All mistakes as one text, a line each. */
static int refuse(struct model *model, struct cw_error *error)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *const stream = open_memstream(&text, &bytes);
    if (stream == NULL)
        return cw_error_memory(error, "the workload");
    config_errors_sort(&model->errors);
    config_errors_print(stream, &model->errors);
    if (fclose(stream) != 0 || text == NULL) {
        free(text);
        return cw_error_memory(error, "the workload");
    }
    if (bytes > 0 && text[bytes - 1] == '\n')
        text[bytes - 1] = '\0';
    const int code = cw_error_set(error, CW_USAGE, "%s", text);
    free(text);
    return code;
}

int workload_file_read(const struct workload_file_request *request, struct workload_graph *graph,
                       struct cw_error *error)
{
    struct model model = {0};
    int code = CW_OK;
    *graph = (struct workload_graph){0};
    bool good = true;
    if (model_read(&model, request))
        good = model_expand(&model, graph);
    if (good && model.errors.count == 0 && !model.arena.failed && graph->program_count > 0)
        good = model_place(&model, request, graph);
    if (!good || model.arena.failed)
        code = cw_error_memory(error, "the workload");
    else if (model.errors.count > 0)
        code = refuse(&model, error);
    else
        code = workload_graph_check(graph, error);
    if (code != CW_OK)
        workload_graph_free(graph);
    config_errors_free(&model.errors);
    config_arena_free(&model.arena);
    return code;
}
