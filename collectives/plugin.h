/*
 * plugin.h: the objects that a configuration file names as `./file.so:symbol`: an algorithm (struct
 * ccl_algorithm), a mapper or a validator (functions). Loaded with dlopen, resolved in the working
 * directory as dlopen does, and never unloaded: kernels and messages may refer to it. The loader of
 * the configuration has made sure that the path comes from a file and that --no-plugins is not
 * given.
 *
 * A shared object says once, outside of any function, CCL_PLUGIN; it is compiled with the headers
 * of the program that loads it (collectives/README.md, "Writing an algorithm", has the
 * command).
 */
#ifndef COLLECTIVES_PLUGIN_H
#define COLLECTIVES_PLUGIN_H

#include "collectives/algorithm.h"
#include "lp/model.h"

/* Changes with every layout that a shared object and the program must agree on: with MAJOR and
 * MINOR of the version, as the name of the engine's shared library does, and with the sizes of what
 * they exchange. Sizes are multiples of 8, which leaves six bits to the version. */
#define CCL_PLUGIN_ABI                                                                             \
    (32u * CW_VERSION_MAJOR + CW_VERSION_MINOR + 8u * (uint32_t)sizeof(struct ccl_algorithm) +     \
     4096u * (uint32_t)sizeof(struct tl_args) + 1048576u * (uint32_t)sizeof(struct tl_kernel))
#define CCL_PLUGIN                                                                                 \
    extern const uint32_t ccl_plugin_abi;                                                          \
    const uint32_t ccl_plugin_abi = CCL_PLUGIN_ABI

/* "./file.so:symbol", else a registry's name. */
bool plugin_is_path(const char *name);

/* XXH3 of the file's contents; 0: it cannot be read by that name. */
uint64_t plugin_contents(const char *path_and_symbol);

/* The symbol's address; NULL with CW_USAGE and the fault: no such file, no such symbol, built
 * for other headers, a symbol of another kind. */
void *plugin_function(const char *path_and_symbol, struct cw_error *error);
/* ... of an object of at least this many bytes; `what`, for the message: "struct ccl_algorithm". */
void *plugin_object(const char *path_and_symbol, const char *what, size_t bytes,
                    struct cw_error *error);

#endif
