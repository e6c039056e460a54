/*
 * built_plugin.h: a shared object built from test/plugins/ as a user would build one, and a
 * ccl.yaml that names an algorithm in it.
 */
#ifndef TEST_BUILT_PLUGIN_H
#define TEST_BUILT_PLUGIN_H

#include <stddef.h>

/* A folder of this test program, with the object in it. */
struct built_plugin {
    char folder[64];
    char path[100];   /* of the object */
    char config[100]; /* of the last ccl.yaml */
};

/* From test/plugins/NAME.c; returns the compiler's exit status. */
int built_plugin_make(struct built_plugin *plugin, const char *name);
int built_plugin_remove(const struct built_plugin *plugin);

/* A test program's one object, `plugin`, and the functions that make and remove it around its group
 * of tests: build() and clean(). */
#define BUILT_PLUGIN(name)                                                                         \
    static struct built_plugin plugin;                                                             \
    static int build(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        return built_plugin_make(&plugin, (name));                                                 \
    }                                                                                              \
    static int clean(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        return built_plugin_remove(&plugin);                                                       \
    }

/* Writes a ccl.yaml whose algorithm `module`, as it stands, is the default. Returns its path. */
const char *built_plugin_name_module(struct built_plugin *plugin, const char *module,
                                     const char *topology);
/* The same for a symbol of the object. */
const char *built_plugin_name_symbol(struct built_plugin *plugin, const char *symbol,
                                     const char *topology);

#endif
