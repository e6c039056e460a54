/*
 * options_perf.c: the arguments of the `perf` commands, and the checks of their options
 * (options_perf.h).
 */
#include "bench/options/options_perf.h"

#include <string.h>

#include "bench/options/options.h"
#include "bench/options/options_value.h"
#include "collectives/config/input/text.h"

int perf_compare_argument(struct option_parse *parse, int count, char **rest,
                          struct cw_error *error)
{
    struct perf_options *const perf = parse->values;
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

/* ---- several options together --------------------------------------------------------------- */

/* Refuses the first option of a list that is given, since it would have no effect. */
static int refuse_beside(const struct option_parse *parse, const char *why,
                         const char *const *names, struct cw_error *error)
{
    for (; *names != NULL; names++)
        if (options_given(parse, *names))
            return cw_error_set(error, CW_USAGE, "%s: drop --%s", why, *names);
    return CW_OK;
}

int perf_run_finish(struct option_parse *parse, struct cw_error *error)
{
    static const char *const of_measuring[] = {"rounds",  "repeats",    "json", "budget",
                                               "history", "no-history", NULL};
    static const char *const of_history[] = {"history", NULL};
    const struct perf_options *const perf = parse->values;
    if (perf->list)
        return refuse_beside(parse, "--list measures nothing", of_measuring, error);
    return perf->no_history ? refuse_beside(parse, "--no-history keeps no run", of_history, error)
                            : CW_OK;
}

bool perf_names_run(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

int perf_compare_finish(struct option_parse *parse, struct cw_error *error)
{
    static const char *const of_comparing[] = {"against", "format", "force", NULL};
    static const char *const of_history[] = {"history", NULL};
    const struct perf_options *const perf = parse->values;
    char quoted[TEXT_QUOTE_BYTES];
    if (perf->list && perf->operand_count > 0)
        return cw_error_set(error, CW_USAGE, "--list lists all runs of the history: drop %s",
                            text_quote(perf->operands[0], strlen(perf->operands[0]), quoted));
    if (perf->list)
        return refuse_beside(parse, "--list compares nothing", of_comparing, error);
    const bool are_files = perf->operand_count == 2 && !perf_names_run(perf->operands[0]) &&
                           !perf_names_run(perf->operands[1]);
    return are_files && perf->against == 0
               ? refuse_beside(parse, "both runs come from files", of_history, error)
               : CW_OK;
}
