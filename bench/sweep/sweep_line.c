/*
 * sweep_line.c: see sweep_line.h.
 */
#include "bench/sweep/sweep_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/result/run_document.h"
#include "core/cw.h"

enum { THREADS_BYTES = 16, MORE_ARGUMENTS = 8 };

struct sweep_line {
    const struct study *study;
    struct run_kept *kept;
    char threads[THREADS_BYTES]; /* "" : not given */
};

struct sweep_line *sweep_line_create(const struct study *study, uint32_t threads,
                                     uint64_t machine_bytes)
{
    struct sweep_line *const line = calloc(1, sizeof *line);
    if (line == NULL)
        return NULL;
    line->study = study;
    line->kept = run_kept_create(machine_bytes);
    if (threads > 0)
        snprintf(line->threads, sizeof line->threads, "%u", threads);
    return line;
}

static bool gives(char *const *arguments, size_t count, const char *option)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(arguments[i], option) == 0)
            return true;
    return false;
}

/* The point's arguments, and arguments that only a sweep adds: these change no result. */
static char **line_arguments(struct sweep_line *line, uint32_t point, size_t *count)
{
    char **const own = study_arguments(line->study, line->study->points[point].at, count);
    char **const all = own == NULL ? NULL : realloc(own, (*count + MORE_ARGUMENTS) * sizeof *all);
    if (all == NULL) {
        free(own);
        return NULL;
    }
    const bool has_threads = gives(all, *count, "--threads") || gives(all, *count, "--sync");
    if (line->threads[0] != '\0' && !has_threads) {
        all[(*count)++] = "--threads";
        all[(*count)++] = line->threads;
    }
    if (!gives(all, *count, "--no-pin"))
        all[(*count)++] = "--no-pin";
    all[(*count)++] = "--quiet";
    all[*count] = NULL;
    return all;
}

/* The result as text, with as many digits as `run --json` writes. */
static char *document_text(const struct run_outcome *outcome)
{
    return outcome->document == NULL
               ? NULL
               : json_dumps(outcome->document,
                            JSON_COMPACT | JSON_REAL_PRECISION((size_t)outcome->digits));
}

void sweep_line_run(struct sweep_line *line, uint32_t point, struct sweep_line_result *result)
{
    size_t count;
    struct run_outcome outcome = {0};
    *result = (struct sweep_line_result){
        .exit_code = CW_NO_RESOURCE, .message = "out of memory", .document = ""};
    char **const arguments = line_arguments(line, point, &count);
    if (arguments == NULL)
        return;
    result->exit_code = run_document((int)count, arguments, line->kept, &outcome);
    result->owned[0] = document_text(&outcome);
    result->owned[1] = outcome.message != NULL ? strdup(outcome.message) : NULL;
    result->message = result->owned[1] != NULL ? result->owned[1] : "";
    if (result->owned[0] != NULL) {
        result->document = result->owned[0];
        result->document_bytes = strlen(result->document);
    } else if (result->exit_code == CW_OK) {
        result->exit_code = CW_NO_RESOURCE;
        result->message = "out of memory for the result";
    }
    run_outcome_free(&outcome);
    free(arguments);
}

void sweep_line_result_free(struct sweep_line_result *result)
{
    free(result->owned[0]);
    free(result->owned[1]);
    *result = (struct sweep_line_result){0};
}
