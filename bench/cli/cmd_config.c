/*
 * cmd_config.c: `cubewarp config`: prints the resolved configuration and where each value was set;
 * with --keys, all keys and their legal values.
 */
#include "bench/cli/cmd_config.h"

#include <stdio.h>

#include "bench/cli/cli.h"
#include "collectives/config/config_load.h"
#include "collectives/config/config_print.h"
#include "collectives/config/config_schema.h"
#include "collectives/config/config_value.h"

static void print_key(const char *prefix, const struct config_key *key)
{
    char legal[400];
    printf("%s%s: %s\n    %s%s\n", prefix, key->path, key->doc,
           config_legal(key, legal, sizeof legal),
           (key->flags & CONFIG_OPTIONAL) != 0 ? "; may be absent" : "");
}

static void print_keys(void)
{
    for (uint32_t i = 0; i < config_machine_key_count; i++)
        print_key("", &config_machine_keys[i]);
    for (uint32_t i = 0; i < config_ccl_key_count; i++) {
        const unsigned flags = config_ccl_keys[i].flags;
        print_key((flags & CONFIG_NOT_IN_DEFAULTS) != 0    ? "algorithms.NAME."
                  : (flags & CONFIG_NOT_IN_ALGORITHM) != 0 ? "defaults."
                                                           : "defaults. or algorithms.NAME.",
                  &config_ccl_keys[i]);
    }
    for (const struct config_section_row *row = config_sections;
         row < config_sections + CONFIG_SECTIONS; row++) {
        char before[CCL_NAME_BYTES];
        snprintf(before, sizeof before, "%s.NAME.", row->name);
        for (uint32_t i = 0; i < row->key_count; i++)
            print_key(before, &row->keys[i]);
    }
}

int config_main(int argc, char **argv)
{
    struct run_options options;
    struct config *config;
    const int result = cli_begin(&options, COMMAND_CONFIG, argc, argv, &config);
    if (config == NULL)
        return result;
    if (options.keys)
        print_keys();
    else
        config_print(stdout, config, true);
    config_free(config);
    return cli_end("config", CW_OK);
}
