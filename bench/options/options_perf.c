/*
 * options_perf.c: see options_perf.h.
 */
#include "bench/options/options_perf.h"

#include <stdio.h>
#include <string.h>

#include "bench/options/options.h"
#include "bench/options/options_value.h"
#include "collectives/config/input/text.h"

enum { LIST_BYTES = 256 };
static const char list_too_long[] = "expected at most 255 characters";

/* For strtok_r(). False: the list is longer than any of its use. */
static bool copy_list(const char *text, char copy[LIST_BYTES])
{
    return snprintf(copy, LIST_BYTES, "%s", text) < LIST_BYTES;
}

int perf_options_read_workers(struct options *options, const struct option_row *row,
                              const char *text, struct cw_error *error)
{
    struct perf_options *const perf = options->values;
    char copy[LIST_BYTES], *rest = NULL;
    if (!copy_list(text, copy))
        return options_refuse(error, row->name, text, list_too_long);
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
    char copy[LIST_BYTES], *rest = NULL;
    if (!copy_list(text, copy))
        return options_refuse(error, row->name, text, list_too_long);
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

/* ---- several options together --------------------------------------------------------------- */

/* Refuses the first option of a list that is given, since it would have no effect. */
static int refuse_beside(const struct options *options, const char *why, const char *const *names,
                         struct cw_error *error)
{
    for (; *names != NULL; names++)
        if (options_given(options, *names))
            return cw_error_set(error, CW_USAGE, "%s: drop --%s", why, *names);
    return CW_OK;
}

int perf_run_finish(struct options *options, struct cw_error *error)
{
    static const char *const of_measuring[] = {"rounds",  "repeats",    "json", "budget",
                                               "history", "no-history", NULL};
    static const char *const of_history[] = {"history", NULL};
    const struct perf_options *const perf = options->values;
    if (perf->list)
        return refuse_beside(options, "--list measures nothing", of_measuring, error);
    return perf->no_history ? refuse_beside(options, "--no-history keeps no run", of_history, error)
                            : CW_OK;
}

bool perf_names_run(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

int perf_compare_finish(struct options *options, struct cw_error *error)
{
    static const char *const of_comparing[] = {"against", "format", "force", NULL};
    static const char *const of_history[] = {"history", NULL};
    const struct perf_options *const perf = options->values;
    char quoted[TEXT_QUOTE_BYTES];
    if (perf->list && perf->operand_count > 0)
        return cw_error_set(error, CW_USAGE, "--list lists all runs of the history: drop %s",
                            text_quote(perf->operands[0], strlen(perf->operands[0]), quoted));
    if (perf->list)
        return refuse_beside(options, "--list compares nothing", of_comparing, error);
    const bool are_files = perf->operand_count == 2 && !perf_names_run(perf->operands[0]) &&
                           !perf_names_run(perf->operands[1]);
    return are_files && perf->against == 0
               ? refuse_beside(options, "both runs come from files", of_history, error)
               : CW_OK;
}

int perf_project_finish(struct options *options, struct cw_error *error)
{
    static const char *const of_predictions[] = {"rounds", "layout", NULL};
    const struct perf_options *const perf = options->values;
    return perf->no_measure ? refuse_beside(options, "--no-measure leaves only the bounds",
                                            of_predictions, error)
                            : CW_OK;
}
