/*
 * options_compare.c: reads the arguments and values of `compare` (options_compare.h).
 */
#include "bench/options/options_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/options/options_value.h"
#include "collectives/config/input/text.h"

int compare_options_argument(struct option_parse *parse, int count, char **rest,
                             struct cw_error *error)
{
    struct compare_options *const compare = parse->values;
    char quoted[TEXT_QUOTE_BYTES];
    (void)count;
    for (size_t i = 0; i < 2; i++)
        if (compare->paths[i] == NULL) {
            compare->paths[i] = rest[0];
            return 1;
        }
    cw_error_set(error, CW_USAGE,
                 "unexpected argument %s; two results, or two studies, are compared",
                 text_quote(rest[0], strlen(rest[0]), quoted));
    return 0;
}

int compare_options_finish(struct option_parse *parse, struct cw_error *error)
{
    const struct compare_options *const compare = parse->values;
    if (compare->paths[1] == NULL)
        return cw_error_set(error, CW_USAGE,
                            "name two results that run --json wrote, or two databases of sweep: "
                            "the first is what the second is held against");
    if (strcmp(compare->paths[0], "-") == 0 && strcmp(compare->paths[1], "-") == 0)
        return cw_error_set(error, CW_USAGE, "only one result comes from standard input");
    return CW_OK;
}

int compare_options_read_tolerance(struct option_parse *parse, const struct option_row *row,
                                   const char *text, struct cw_error *error)
{
    double *const percent = options_field(parse, row);
    char *end;
    *percent = strtod(text, &end);
    if (*end == '%')
        end++;
    if (end == text || *end != '\0' || !(*percent >= 0) || !isfinite(*percent) ||
        strspn(text, "0123456789.%eE+-") != strlen(text))
        return options_refuse(error, row->name, text, "expected per cent, such as 2, 2% or 0.5");
    return CW_OK;
}
