/*
 * builtin_files.c: finds a shipped file in a table whose rows the build writes (.ci/embed.sh).
 */
#include "collectives/config/builtin_files.h"

#include <string.h>

const struct builtin_file builtin_files[] = {
#include "builtin_files.inc"
};
const size_t builtin_file_count = sizeof builtin_files / sizeof *builtin_files;

const struct builtin_file *builtin_file_find(const char *name)
{
    for (size_t i = 0; i < builtin_file_count; i++)
        if (strcmp(builtin_files[i].name, name) == 0)
            return &builtin_files[i];
    return NULL;
}
