/*
 * plugin.c: shared objects that the user's configuration names (plugin.h). The only place that
 * calls dlopen for a path that a user names. One thread at a time.
 */
#define _GNU_SOURCE /* dladdr1() */
#include "collectives/plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "collectives/hook.h"

bool plugin_is_path(const char *name) { return strchr(name, ':') != NULL; }

uint64_t plugin_contents(const char *path_and_symbol)
{
    const char *const colon = strrchr(path_and_symbol, ':');
    char path[256], part[16384];
    snprintf(path, sizeof path, "%.*s", (int)(colon - path_and_symbol), path_and_symbol);
    FILE *const file = fopen(path, "rb");
    XXH3_state_t *const state = XXH3_createState();
    uint64_t contents = 0;
    if (file != NULL && state != NULL && XXH3_64bits_reset(state) == XXH_OK) {
        for (size_t bytes; (bytes = fread(part, 1, sizeof part, file)) > 0;)
            (void)XXH3_64bits_update(state, part, bytes);
        contents = ferror(file) ? 0 : XXH3_64bits_digest(state);
    }
    XXH3_freeState(state);
    if (file != NULL)
        (void)fclose(file);
    return contents;
}

__attribute__((format(printf, 2, 3))) static void *plugin_refuse(struct cw_error *error,
                                                                 const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)cw_error_set_list(error, CW_USAGE, format, args);
    va_end(args);
    return NULL;
}

static void *find_symbol(const char *path_and_symbol, struct cw_error *error)
{
    const char *const colon = strrchr(path_and_symbol, ':');
    char path[256];
    if (colon == NULL || (size_t)(colon - path_and_symbol) >= sizeof path)
        return plugin_refuse(error, "%.200s is no ./file.so:symbol", path_and_symbol);
    memcpy(path, path_and_symbol, (size_t)(colon - path_and_symbol));
    path[colon - path_and_symbol] = '\0';
    ccl_hook_enter("constructors", 0, path);
    void *const object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ccl_hook_leave();
    ccl_hooks_are_loaded = true;
    if (object == NULL)
        return plugin_refuse(error, "%.300s", dlerror());
    const uint32_t *const abi = dlsym(object, "ccl_plugin_abi");
    if (abi == NULL)
        return plugin_refuse(error, "%s does not say CCL_PLUGIN (collectives/plugin.h)", path);
    if (*abi != CCL_PLUGIN_ABI)
        return plugin_refuse(
            error, "%s was built with the headers of another version; build it again", path);
    void *const symbol = dlsym(object, colon + 1);
    if (symbol == NULL)
        return plugin_refuse(error, "%s has no symbol %s", path, colon + 1);
    return symbol;
}

/* The shared object's symbol table entry for the address that dlsym() gave: its kind, STT_...,
 * and size. False: it is in no shared object (a variable of each thread). */
static bool plugin_describe(const void *address, unsigned *type, size_t *bytes)
{
    Dl_info info;
    void *entry = NULL;
    if (dladdr1(address, &info, &entry, RTLD_DL_SYMENT) == 0)
        return false;
    const ElfW(Sym) *const symbol = entry;
    /* A function that is chosen at load time has the address of the chosen one, which needs no
     * entry. */
    *type = symbol != NULL ? ELF64_ST_TYPE(symbol->st_info) : STT_FUNC;
    *bytes = symbol != NULL ? symbol->st_size : 0;
    return true;
}

void *plugin_function(const char *path_and_symbol, struct cw_error *error)
{
    void *const symbol = find_symbol(path_and_symbol, error);
    unsigned type;
    size_t bytes;
    if (symbol != NULL && (!plugin_describe(symbol, &type, &bytes) || type == STT_OBJECT))
        return plugin_refuse(error, "%.200s is a variable; a function is wanted", path_and_symbol);
    return symbol;
}

void *plugin_object(const char *path_and_symbol, const char *what, size_t wanted,
                    struct cw_error *error)
{
    void *const symbol = find_symbol(path_and_symbol, error);
    unsigned type = STT_NOTYPE;
    size_t bytes;
    if (symbol == NULL)
        return NULL;
    if (!plugin_describe(symbol, &type, &bytes) || type != STT_OBJECT)
        return plugin_refuse(error, "%.200s is %s; a %s is wanted", path_and_symbol,
                             type == STT_FUNC ? "a function" : "no object", what);
    if (bytes < wanted)
        return plugin_refuse(error,
                             "%.200s is an object of %zu bytes; a %s is wanted, which has %zu",
                             path_and_symbol, bytes, what, wanted);
    return symbol;
}
