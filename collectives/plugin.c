/*
 * plugin.c: shared objects that the user's configuration names (plugin.h). The only place that
 * calls dlopen. One thread at a time.
 */
#include "collectives/plugin.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool plugin_is_path(const char *name) { return strchr(name, ':') != NULL; }

__attribute__((format(printf, 2, 3))) static void *refuse(struct cw_error *error,
                                                          const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    error->exit_code = CW_USAGE;
    return NULL;
}

void *plugin_symbol(const char *path_and_symbol, struct cw_error *error)
{
    const char *const colon = strrchr(path_and_symbol, ':');
    char path[256];
    if (colon == NULL || (size_t)(colon - path_and_symbol) >= sizeof path)
        return refuse(error, "%.200s is no ./file.so:symbol", path_and_symbol);
    memcpy(path, path_and_symbol, (size_t)(colon - path_and_symbol));
    path[colon - path_and_symbol] = '\0';
    void *const object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL)
        return refuse(error, "%.300s", dlerror());
    const uint32_t *const abi = dlsym(object, "ccl_plugin_abi");
    if (abi == NULL)
        return refuse(error, "%s does not say CCL_PLUGIN (collectives/plugin.h)", path);
    if (*abi != CCL_PLUGIN_ABI)
        return refuse(error, "%s was built with the headers of another version; build it again",
                      path);
    void *const symbol = dlsym(object, colon + 1);
    if (symbol == NULL)
        return refuse(error, "%s has no symbol %s", path, colon + 1);
    return symbol;
}
