/*
 * config_find.c: where the shipped files are. CUBEWARP_CONFIGS says so, or they are in a folder
 * configs/ beside one of the folders above the executable (build/cubewarp in a clone), or in the
 * working directory. The first that holds topology.yaml is taken.
 */
#include "collectives/config/config_find.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectives/config/environment.h"
#include "collectives/config/text.h"

#define LEVELS_UP   4
#define TRIED_BYTES 800u
#define NAMES_MAX   64u

static bool holds_configs(const char *folder)
{
    char path[PATH_MAX];
    const int bytes = snprintf(path, sizeof path, "%s/topology.yaml", folder);
    return bytes < (int)sizeof path && access(path, R_OK) == 0;
}

/* The folder as a user would write it: relative if it is below the working directory. */
static const char *shorten(struct config_loader *loader, const char *folder)
{
    char cwd[PATH_MAX];
    if (getcwd(cwd, sizeof cwd) != NULL) {
        const size_t bytes = strlen(cwd);
        if (strncmp(folder, cwd, bytes) == 0 && folder[bytes] == '/')
            folder += bytes + 1;
    }
    return config_arena_text(loader->arena, folder, strlen(folder));
}

static void note_tried(char tried[TRIED_BYTES], const char *folder)
{
    const size_t used = strlen(tried);
    snprintf(tried + used, TRIED_BYTES - used, "%s%s", used == 0 ? "" : ", ", folder);
}

/* configs/ in the folders above the executable, the nearest first. */
static const char *find_beside_executable(struct config_loader *loader, char tried[TRIED_BYTES])
{
    char path[PATH_MAX];
    const ssize_t bytes = readlink("/proc/self/exe", path, sizeof path - 1);
    if (bytes <= 0)
        return NULL;
    path[bytes] = '\0';
    char *slash = strrchr(path, '/');
    for (int level = 0; level < LEVELS_UP && slash != NULL && slash != path; level++) {
        *slash = '\0';
        slash = strrchr(path, '/');
        if (slash == NULL)
            break;
        char folder[PATH_MAX];
        const int length =
            snprintf(folder, sizeof folder, "%.*s/configs", (int)(slash - path), path);
        if (length >= (int)sizeof folder)
            continue;
        if (holds_configs(folder))
            return shorten(loader, folder);
        note_tried(tried, folder);
    }
    return NULL;
}

const char *config_find_shipped(struct config_loader *loader, const char *given)
{
    const struct config_place nowhere = {0};
    if (given == NULL)
        given = environment_get(ENVIRONMENT_CONFIGS);
    if (given != NULL && given[0] != '\0') {
        if (holds_configs(given))
            return config_arena_text(loader->arena, given, strlen(given));
        config_error(
            loader, nowhere,
            "no topology.yaml in %.200s, which CUBEWARP_CONFIGS names; expected the folder "
            "with topology.yaml, components.yaml and ccl.yaml",
            given);
        return NULL;
    }
    char tried[TRIED_BYTES] = "";
    const char *const found = find_beside_executable(loader, tried);
    if (found != NULL)
        return found;
    if (holds_configs("configs"))
        return "configs";
    note_tried(tried, "./configs");
    config_error(loader, nowhere,
                 "topology.yaml not found in %s; set CUBEWARP_CONFIGS to the folder that has it",
                 tried);
    return NULL;
}

static int is_preset(const struct dirent *entry)
{
    const size_t bytes = strlen(entry->d_name);
    return bytes > 5 && strcmp(entry->d_name + bytes - 5, ".yaml") == 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* "unknown preset 'x'; did you mean 'y'? known: a, b, c" */
static void unknown_preset(struct config_loader *loader, const char *folder, const char *preset)
{
    const struct config_place nowhere = {0};
    struct dirent **entries = NULL;
    char known[TRIED_BYTES] = "";
    char best[NAME_MAX + 1] = "";
    char quoted[TEXT_QUOTE_BYTES];
    struct text_nearest nearest = {0};
    const int count = scandir(folder, &entries, is_preset, compare_names);
    for (int i = 0; i < count; i++) {
        char *const name = entries[i]->d_name;
        name[strlen(name) - 5] = '\0';
        if (i < (int)NAMES_MAX)
            note_tried(known, name);
        text_nearest_try(&nearest, preset, name);
        if (nearest.best == name)
            snprintf(best, sizeof best, "%s", name);
    }
    config_error(loader, nowhere, "unknown preset %s; %s%s%sknown in %.200s: %s",
                 text_quote(preset, strlen(preset), quoted),
                 best[0] == '\0' ? "" : "did you mean '", best, best[0] == '\0' ? "" : "'? ",
                 folder, count > 0 ? known : "none");
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
}

const char *config_find_preset(struct config_loader *loader, const char *configs_dir,
                               const char *preset)
{
    const size_t bytes = strlen(preset);
    if (strchr(preset, '/') != NULL || (bytes > 5 && strcmp(preset + bytes - 5, ".yaml") == 0))
        return config_arena_text(loader->arena, preset, bytes);
    if (configs_dir == NULL)
        return NULL;
    char folder[PATH_MAX];
    char path[PATH_MAX];
    if (snprintf(folder, sizeof folder, "%s/presets", configs_dir) >= (int)sizeof folder)
        return NULL;
    if (snprintf(path, sizeof path, "%s/%s.yaml", folder, preset) >= (int)sizeof path ||
        bytes == 0 || access(path, F_OK) != 0) {
        unknown_preset(loader, folder, preset);
        return NULL;
    }
    return config_arena_text(loader->arena, path, strlen(path));
}
