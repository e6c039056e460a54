/*
 * options_replay.c: the arguments of `replay`, and the checks of its options (options_replay.h).
 */
#include "bench/options/options_replay.h"

#include <string.h>

#include "collectives/config/input/text.h"

int replay_options_argument(struct option_parse *parse, int count, char **rest,
                            struct cw_error *error)
{
    struct replay_options *const replay = parse->values;
    char quoted[TEXT_QUOTE_BYTES];
    (void)count;
    if (replay->path != NULL) {
        cw_error_set(error, CW_USAGE, "unexpected argument %s; one op log at a time",
                     text_quote(rest[0], strlen(rest[0]), quoted));
        return 0;
    }
    replay->path = rest[0];
    return 1;
}

int replay_options_finish(struct option_parse *parse, struct cw_error *error)
{
    const struct replay_options *const replay = parse->values;
    if (replay->path == NULL)
        return cw_error_set(error, CW_USAGE, "name an op log, as run --op-log FILE writes it");
    return CW_OK;
}
