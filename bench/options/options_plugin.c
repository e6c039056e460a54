/*
 * options_plugin.c: reads the arguments of `plugin`: `new NAME` (options_plugin.h).
 */
#include "bench/options/options_plugin.h"

#include <string.h>

#include "collectives/config/input/text.h"

int plugin_options_argument(struct option_parse *parse, int count, char **rest,
                            struct cw_error *error)
{
    struct plugin_options *const plugin = parse->values;
    char quoted[TEXT_QUOTE_BYTES];
    (void)count;
    if (!plugin->create) {
        plugin->create = strcmp(rest[0], "new") == 0;
        if (!plugin->create)
            cw_error_set(error, CW_USAGE, "unexpected argument %s; expected new NAME",
                         text_quote(rest[0], strlen(rest[0]), quoted));
        return plugin->create;
    }
    if (plugin->name != NULL) {
        cw_error_set(error, CW_USAGE, "unexpected argument %s; one plug-in at a time",
                     text_quote(rest[0], strlen(rest[0]), quoted));
        return 0;
    }
    plugin->name = rest[0];
    return 1;
}

int plugin_options_finish(struct option_parse *parse, struct cw_error *error)
{
    const struct plugin_options *const plugin = parse->values;
    if (plugin->name == NULL)
        return cw_error_set(error, CW_USAGE, "name the plug-in: cubewarp plugin new NAME");
    return CW_OK;
}
