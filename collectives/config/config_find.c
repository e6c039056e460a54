/*
 * config_find.c: where the shipped files are. CUBEWARP_CONFIGS says so, or they are in a folder
 * configs/ beside one of the folders above the executable (build/cubewarp in a clone), or in the
 * working directory. The first that holds topology.yaml is taken. If none does, the files take
 * effect that the program has compiled in.
 */
#include "collectives/config/config_find.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectives/algorithm.h"
#include "collectives/config/input/environment.h"
#include "collectives/config/input/meaning.h"
#include "collectives/config/input/text.h"
#include "core/os/program_path.h"

const char CONFIG_BUILT_IN[] = "built-in";
const char CONFIG_WORKING_FOLDER[] = "configs";

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

/* configs/ in the folders above the executable, the nearest first. */
static const char *find_beside_executable(struct config_loader *loader)
{
    char path[PATH_MAX];
    if (!program_path(path, sizeof path))
        return NULL;
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
    }
    return NULL;
}

/* The folder that is to hold the shipped files: `given`, or the environment's. */
static const char *named_folder(const char *given)
{
    return given != NULL ? given : environment_get(ENVIRONMENT_CONFIGS);
}

static const char *by_environment(const char *given)
{
    return given != NULL ? "" : ", which CUBEWARP_CONFIGS names";
}

const char *config_find_shipped(struct config_loader *loader, const char *given)
{
    const struct config_place nowhere = {0};
    const char *const folder = named_folder(given);
    if (folder != NULL && folder[0] != '\0') {
        if (holds_configs(folder))
            return config_arena_text(loader->arena, folder, strlen(folder));
        config_error(loader, nowhere,
                     "no topology.yaml in %.200s%s; expected the folder with topology.yaml, "
                     "components.yaml and ccl.yaml",
                     folder, by_environment(given));
        return NULL;
    }
    const char *const found = find_beside_executable(loader);
    if (found != NULL)
        return found;
    return holds_configs(CONFIG_WORKING_FOLDER) ? CONFIG_WORKING_FOLDER : CONFIG_BUILT_IN;
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

/* The presets there are, for a message about an unknown one. */
struct presets {
    const char *wanted;
    unsigned count;
    char known[TRIED_BYTES];
    char best[NAME_MAX + 1];
    struct text_nearest nearest;
};

/* `name` ends in ".yaml". */
static void preset_add(struct presets *presets, const char *name)
{
    char bare[NAME_MAX + 1];
    snprintf(bare, sizeof bare, "%.*s", (int)(strlen(name) - 5), name);
    const size_t used = strlen(presets->known);
    if (presets->count++ < NAMES_MAX)
        snprintf(presets->known + used, TRIED_BYTES - used, "%s%s", used == 0 ? "" : ", ", bare);
    text_nearest_try(&presets->nearest, presets->wanted, bare);
    if (presets->nearest.best == bare) {
        memcpy(presets->best, bare, sizeof bare);
        presets->nearest.best = presets->best;
    }
}

static void presets_of_folder(struct presets *presets, const char *folder)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, is_preset, compare_names);
    for (int i = 0; i < count; i++) {
        preset_add(presets, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

static void presets_built_in(struct presets *presets)
{
    for (size_t i = 0; i < builtin_file_count; i++)
        if (strncmp(builtin_files[i].name, "presets/", 8) == 0)
            preset_add(presets, builtin_files[i].name + 8);
}

/* "unknown preset 'x'; did you mean 'y'? known in configs/presets: a, b, c" */
static void unknown_preset(struct config_loader *loader, const char *folder, const char *preset)
{
    const struct config_place nowhere = {0};
    struct presets presets = {.wanted = preset};
    char quoted[TEXT_QUOTE_BYTES];
    if (folder == CONFIG_BUILT_IN)
        presets_built_in(&presets);
    else
        presets_of_folder(&presets, folder);
    const bool is_near = presets.best[0] != '\0';
    char text[MEANING_BYTES];
    const char *const meaning = meaning_of(preset, strlen(preset), text);
    if (ccl_algorithm_find(preset) != NULL) {
        config_error(loader, nowhere, "unknown preset %s; that is an algorithm: --algorithm %s",
                     text_quote(preset, strlen(preset), quoted), preset);
        return;
    }
    if (meaning != NULL && !is_near) {
        config_error(loader, nowhere, "unknown preset %s; that is %s",
                     text_quote(preset, strlen(preset), quoted), meaning);
        return;
    }
    config_error(loader, nowhere, "unknown preset %s; %s%s%sknown in %.200s: %s",
                 text_quote(preset, strlen(preset), quoted), is_near ? "did you mean '" : "",
                 presets.best, is_near ? "'? " : "",
                 folder == CONFIG_BUILT_IN ? "built-in presets" : folder,
                 presets.count > 0 ? presets.known : "none");
}

static const char *built_in_preset(struct config_loader *loader, const char *preset,
                                   const struct builtin_file **builtin)
{
    char name[PATH_MAX];
    const int length = snprintf(name, sizeof name, "presets/%s.yaml", preset);
    *builtin = length < (int)sizeof name ? builtin_file_find(name) : NULL;
    if (*builtin != NULL)
        return (*builtin)->name;
    unknown_preset(loader, CONFIG_BUILT_IN, preset);
    return NULL;
}

/* Where three files of the user's own make the shipped ones unnecessary, their absence is no error
 * yet. */
static void no_presets(struct config_loader *loader, const char *given, const char *preset)
{
    const struct config_place nowhere = {0};
    char quoted[TEXT_QUOTE_BYTES];
    config_error(loader, nowhere,
                 "preset %s: no topology.yaml in %.200s%s; presets are in its folder presets",
                 text_quote(preset, strlen(preset), quoted), named_folder(given),
                 by_environment(given));
}

const char *config_find_preset(struct config_loader *loader, const char *configs_dir,
                               const char *given, const char *preset,
                               const struct builtin_file **builtin)
{
    *builtin = NULL;
    const size_t bytes = strlen(preset);
    if (strchr(preset, '/') != NULL || (bytes > 5 && strcmp(preset + bytes - 5, ".yaml") == 0))
        return config_arena_text(loader->arena, preset, bytes);
    if (configs_dir == NULL && !loader->arena->failed)
        no_presets(loader, given, preset);
    if (configs_dir == NULL)
        return NULL;
    if (configs_dir == CONFIG_BUILT_IN)
        return built_in_preset(loader, preset, builtin);
    char folder[PATH_MAX]; /* has room: topology.yaml, a longer name, was found there */
    char path[PATH_MAX];
    (void)snprintf(folder, sizeof folder, "%s/presets", configs_dir);
    if (snprintf(path, sizeof path, "%s/%s.yaml", folder, preset) >= (int)sizeof path ||
        bytes == 0 || access(path, F_OK) != 0) {
        unknown_preset(loader, folder, preset);
        return NULL;
    }
    return config_arena_text(loader->arena, path, strlen(path));
}
