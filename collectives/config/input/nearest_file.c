/*
 * nearest_file.c: looks for a file with a similar name beside the one that was not found, and in
 * configs/ (nearest_file.h).
 */
#include "collectives/config/input/nearest_file.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
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

/* Endings that both have are no likeness. */
static void try_file(struct text_nearest *nearest, const char *name, const char *entry)
{
    char stem[NAME_MAX + 1], other[NAME_MAX + 1];
    struct text_nearest found = {0};
    const char *const dot = strrchr(name, '.'), *const dot_there = strrchr(entry, '.');
    const bool alike = dot != NULL && dot_there != NULL && strcmp(dot, dot_there) == 0;
    snprintf(stem, sizeof stem, "%.*s", (int)(alike ? (size_t)(dot - name) : strlen(name)), name);
    snprintf(other, sizeof other, "%.*s",
             (int)(alike ? (size_t)(dot_there - entry) : strlen(entry)), entry);
    text_nearest_try(&found, stem, other);
    if (found.best != NULL && (nearest->best == NULL || found.distance < nearest->distance))
        *nearest = (struct text_nearest){entry, found.distance};
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
            try_file(&nearest, name, entries[i]->d_name);
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
