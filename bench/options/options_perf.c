/*
 * options_perf.c: see options_perf.h.
 */
#include "bench/options/options_perf.h"

#include <stdio.h>
#include <string.h>

#include "bench/options/options_value.h"
#include "collectives/config/input/text.h"

int perf_options_read_workers(struct options *options, const struct option_row *row,
                              const char *text, struct cw_error *error)
{
    struct perf_options *const perf = options->values;
    char copy[256], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    perf->worker_count = 0;
    for (char *word = strtok_r(copy, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
        uint64_t workers;
        if (perf->worker_count == PERF_WORKERS_MAX)
            return cw_error_set(error, CW_USAGE, "--%s %.200s: at most %d numbers", row->name, text,
                                PERF_WORKERS_MAX);
        if (options_read_count(error, row->name, word, 1, 1024, &workers) != CW_OK)
            return CW_USAGE;
        perf->workers[perf->worker_count++] = (uint32_t)workers;
    }
    return perf->worker_count > 0
               ? CW_OK
               : options_refuse(error, row->name, text, "expected numbers such as 2,4,8");
}

int perf_options_read_layouts(struct options *options, const struct option_row *row,
                              const char *text, struct cw_error *error)
{
    struct perf_options *const perf = options->values;
    char copy[256], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    perf->layout_count = 0;
    for (char *word = strtok_r(copy, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
        if (perf->layout_count == PERF_LAYOUTS_MAX)
            return cw_error_set(error, CW_USAGE, "--%s %.200s: at most %d machines", row->name,
                                text, PERF_LAYOUTS_MAX);
        if (perf_socket_layout_read(word, &perf->layouts[perf->layout_count++], error) != CW_OK)
            return CW_USAGE;
    }
    return perf->layout_count > 0
               ? CW_OK
               : options_refuse(error, row->name, text, "expected machines such as 1x64,2x32");
}

int perf_compare_argument(struct options *options, int count, char **rest, struct cw_error *error)
{
    struct perf_options *const perf = options->values;
    char quoted[TEXT_QUOTE_BYTES];
    (void)count;
    if (perf->operand_count == PERF_OPERANDS_MAX) {
        cw_error_set(error, CW_USAGE, "unexpected argument %s",
                     text_quote(rest[0], strlen(rest[0]), quoted));
        return 0;
    }
    perf->operands[perf->operand_count++] = rest[0];
    return 1;
}

/* The command to project takes all that follows. */
int perf_project_argument(struct options *options, int count, char **rest, struct cw_error *error)
{
    struct perf_options *const perf = options->values;
    (void)error;
    perf->command = rest;
    perf->command_count = count;
    return count;
}
