/*
 * config_source.c: reads a text (config_source.h). A file is read whole into memory, up to a bound.
 */
#include "collectives/config/input/config_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collectives/config/input/nearest_file.h"
#include "collectives/config/input/meaning.h"

uint32_t config_source_add(struct config_loader *loader, const struct config_source *source)
{
    if (loader->source_count == loader->source_capacity) {
        const uint32_t capacity = 2 * loader->source_capacity + 8;
        struct config_source *const sources =
            config_arena_alloc(loader->arena, capacity * sizeof *sources);
        if (sources == NULL)
            return 0;
        if (loader->source_count > 0)
            memcpy(sources, loader->sources, loader->source_count * sizeof *sources);
        loader->sources = sources;
        loader->source_capacity = capacity;
    }
    loader->sources[loader->source_count] = *source;
    return ++loader->source_count;
}

/* Reads at most one byte more than a file may have, so that a pipe or a device ends too. */
static char *read_all(struct config_loader *loader, struct config_place place, FILE *file,
                      size_t *bytes)
{
    const size_t most =
        loader->sources[place.source - 1].is_list ? CONFIG_LIST_BYTES_MAX : CONFIG_FILE_BYTES_MAX;
    size_t room = CONFIG_FILE_BYTES_MAX + 1;
    char *text = NULL;
    *bytes = 0;
    for (;;) {
        char *const more = realloc(text, room);
        if (more == NULL) {
            free(text);
            loader->arena->failed = true;
            return NULL;
        }
        text = more;
        *bytes += fread(text + *bytes, 1, room - *bytes, file);
        if (*bytes < room || room > most)
            break;
        room = 2 * room < most + 1 ? 2 * room : most + 1;
    }
    if (!ferror(file) && *bytes <= most)
        return text;
    if (ferror(file))
        config_error(loader, place, "cannot read: %s", strerror(errno));
    else
        config_error(loader, place, "longer than %zu bytes: not a configuration file", most);
    free(text);
    return NULL;
}

char *config_file_read(struct config_loader *loader, uint32_t source, const char *path,
                       size_t *bytes)
{
    const struct config_place place = {.source = source, .line = 1, .column = 1};
    struct stat status;
    char meant[NEAREST_FILE_BYTES];
    FILE *const file = fopen(path, "rbe");
    if (file == NULL) {
        if (errno == ENOMEM)
            loader->arena->failed = true;
        else {
            const int number = errno;
            char text[MEANING_BYTES];
            const char *const meaning = meaning_of(path, strlen(path), text);
            config_error(loader, place, "cannot open: %s%s%s", strerror(number),
                         meaning != NULL ? "; expected a file; that is "
                                         : nearest_file_hint(path, NULL, meant),
                         meaning != NULL ? meaning : "");
        }
        return NULL;
    }
    char *text = NULL;
    if (fstat(fileno(file), &status) != 0)
        config_error(loader, place, "cannot read: %s", strerror(errno));
    else if (S_ISDIR(status.st_mode))
        config_error(loader, place, "is a directory; expected a YAML file");
    else
        text = read_all(loader, place, file, bytes);
    fclose(file);
    return text;
}
