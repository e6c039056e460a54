/*
 * nearest_file.c: looks for a file with a similar name beside the one that was not found, and in
 * configs/ (nearest_file.h).
 */
#include "collectives/config/input/nearest_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool ends_with(const char *name, const char *suffix)
{
    const size_t bytes = strlen(name), end = suffix != NULL ? strlen(suffix) : 0;
    return end == 0 || (bytes > end && strcmp(name + bytes - end, suffix) == 0);
}

const char *nearest_file_hint(const char *path, const char *suffix, char meant[NEAREST_FILE_BYTES])
{
    const int number = errno;
    const char *const slash = strrchr(path, '/');
    const char *const name = slash != NULL ? slash + 1 : path;
    char quoted[TEXT_QUOTE_BYTES];
    char *const folder = slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    struct dirent **entries = NULL;
    struct text_nearest nearest = {0};
    meant[0] = '\0';
    const bool is_missing = access(path, F_OK) != 0;
    const int count = folder != NULL && is_missing ? scandir(folder, &entries, NULL, alphasort) : 0;
    for (int i = 0; i < count; i++)
        if (entries[i]->d_type != DT_DIR && ends_with(entries[i]->d_name, suffix))
            text_nearest_try(&nearest, name, entries[i]->d_name);
    if (nearest.best != NULL)
        snprintf(meant, NEAREST_FILE_BYTES, "; did you mean %s?",
                 text_quote(nearest.best, strlen(nearest.best), quoted));
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    free(folder);
    errno = number;
    return meant;
}
