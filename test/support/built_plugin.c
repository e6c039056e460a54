/* built_plugin.c: builds shared objects for tests and configures them (built_plugin.h). */
#include "test/support/built_plugin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

int built_plugin_make(struct built_plugin *plugin, const char *name)
{
    char command[400];
    strcpy(plugin->folder, "/tmp/cubewarp-test-XXXXXX");
    assert_non_null(mkdtemp(plugin->folder));
    snprintf(plugin->path, sizeof plugin->path, "%s/%s.so", plugin->folder, name);
    snprintf(command, sizeof command,
             "${CC:-cc} -std=gnu17 -I. -shared -fPIC -o %s test/plugins/%s.c", plugin->path, name);
    return system(command);
}

int built_plugin_remove(const struct built_plugin *plugin)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", plugin->folder);
    return system(command);
}

const char *built_plugin_name_module(struct built_plugin *plugin, const char *module,
                                     const char *topology)
{
    snprintf(plugin->config, sizeof plugin->config, "%s/ccl.yaml", plugin->folder);
    FILE *file = fopen(plugin->config, "w");
    assert_non_null(file);
    fprintf(file,
            "defaults:\n  algorithm: built\nalgorithms:\n  built:\n    module: %s\n"
            "    topology: %s\n",
            module, topology);
    assert_int_equal(fclose(file), 0);
    return plugin->config;
}

const char *built_plugin_name_symbol(struct built_plugin *plugin, const char *symbol,
                                     const char *topology)
{
    char module[200];
    snprintf(module, sizeof module, "%s:%s", plugin->path, symbol);
    return built_plugin_name_module(plugin, module, topology);
}
