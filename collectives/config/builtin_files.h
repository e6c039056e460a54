/*
 * builtin_files.h: the shipped configuration files as they were when the program was built. They
 * take effect where no folder configs/ is found (config_find.c): an installed program needs none.
 */
#ifndef COLLECTIVES_BUILTIN_FILES_H
#define COLLECTIVES_BUILTIN_FILES_H

#include <stddef.h>

struct builtin_file {
    const char *name; /* below configs/: "topology.yaml", "presets/pod64.yaml" */
    const unsigned char *text;
    size_t bytes;
};

/* Sorted by name. */
extern const struct builtin_file builtin_files[];
extern const size_t builtin_file_count;

/* NULL: there is no such file. */
const struct builtin_file *builtin_file_find(const char *name);

#endif
