/*
 * cmd_list.c: `cubewarp list`: algorithms (the entries of ccl.yaml, with files that are named),
 * presets, topologies, studies and benches, a line each. Lines of presets are the first sentences
 * of their files.
 */
#include "bench/cli/cmd_list.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli/cli.h"
#include "bench/options/options_run.h"
#include "bench/programs/bench.h"
#include "collectives/algorithm.h"
#include "collectives/config/builtin_files.h"
#include "collectives/config/config_find.h"
#include "collectives/config/config_load.h"
#include "collectives/config/config_tree.h"
#include "core/os/text_stream.h"
#include "hw/topology/topology.h"

enum { NAME_WIDTH = 27, ABOUT_BYTES = 400 };

static void put(const char *name, const char *about)
{
    printf("%-*s  %s\n", NAME_WIDTH, name, about);
}

/* ---- algorithms ------------------------------------------------------------------------------ */

static void put_entry(const struct config_tree *tree, const struct config_algorithm *entry)
{
    struct cw_error error;
    const char *const module = config_ccl_value(tree, entry, config_ccl_find("module"))->text;
    const struct config_value *const mapper =
        config_ccl_value(tree, entry, config_ccl_find("mapper"));
    const struct ccl_algorithm *const algorithm =
        strchr(module, ':') == NULL ? ccl_algorithm_load(module, &error) : NULL;
    char about[ABOUT_BYTES];
    if (algorithm == NULL)
        snprintf(about, sizeof about, "from %s", module);
    else
        snprintf(about, sizeof about, "%s%s%s%s", ccl_collective_name(algorithm->collective),
                 strncmp(entry->name, "auto", 4) == 0 ? ", an automatic choice"
                 : algorithm->schedule != NULL        ? ", a schedule"
                 : algorithm->machine.peers != NULL   ? ", puts between paired dies or SIPs"
                                                      : ", tiles through queues",
                 config_given(mapper) ? ", on " : "", config_given(mapper) ? mapper->text : "");
    put(entry->name, about);
}

static int list_algorithms(struct run_options *options)
{
    struct config *config = NULL;
    struct config_errors errors = {0};
    const int code = config_load(&options->config, &config, &errors);
    config_errors_print(stderr, &errors);
    config_errors_free(&errors);
    for (const struct config_algorithm *entry = code == CW_OK ? config->tree->algorithms : NULL;
         entry != NULL; entry = entry->next)
        put_entry(config->tree, entry);
    config_free(config);
    return code;
}

/* ---- presets and studies --------------------------------------------------------------------- */

/* The first sentence of the comment that a file begins with. */
static void first_sentence(const char *text, size_t bytes, char about[ABOUT_BYTES])
{
    size_t n = 0;
    for (size_t at = 0; at < bytes && text[at] == '#' && n < ABOUT_BYTES - 2;) {
        at += 1 + (at + 1 < bytes && text[at + 1] == ' ');
        while (at < bytes && text[at] != '\n' && n < ABOUT_BYTES - 2)
            about[n++] = text[at++];
        about[n++] = ' ';
        at += at < bytes;
    }
    about[n] = '\0';
    char *const end = strstr(about, ". ");
    const size_t length = end != NULL ? (size_t)(end - about) : n;
    about[length < 110 ? length : 110] = '\0';
    if (length > 110)
        *strrchr(about, ' ') = '\0';
}

static int list_presets(void)
{
    for (size_t i = 0; i < builtin_file_count; i++) {
        char name[NAME_MAX + 1], about[ABOUT_BYTES];
        const struct builtin_file *const file = &builtin_files[i];
        if (strncmp(file->name, "presets/", 8) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(strlen(file->name) - 8 - 5), file->name + 8);
        first_sentence((const char *)file->text, file->bytes, about);
        put(name, about);
    }
    return CW_OK;
}

/* The line `about: ...` of a study. */
static void put_study(const char *folder, const char *name)
{
    char path[PATH_MAX + NAME_MAX + 2], line[ABOUT_BYTES], about[ABOUT_BYTES] = "";
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "re");
    while (file != NULL && about[0] == '\0' && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "about: ", 7) == 0)
            snprintf(about, sizeof about, "%.*s", (int)strcspn(line + 7, "\n"), line + 7);
    if (file != NULL)
        (void)fclose(file);
    put(path, about);
}

static int is_study(const struct dirent *entry)
{
    const size_t bytes = strlen(entry->d_name);
    return bytes > 5 && strcmp(entry->d_name + bytes - 5, ".yaml") == 0;
}

static int list_studies(void)
{
    struct config_arena arena = {0};
    struct config_errors errors = {0};
    struct config_loader loader = {.arena = &arena, .scratch = &arena, .errors = &errors};
    struct dirent **entries = NULL;
    char folder[PATH_MAX] = "";
    const char *const configs = config_find_shipped(&loader, NULL);
    if (configs != NULL && configs != CONFIG_BUILT_IN)
        snprintf(folder, sizeof folder, "%s/studies", configs);
    const int count = folder[0] != '\0' ? scandir(folder, &entries, is_study, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        put_study(folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    if (count <= 0)
        fputs("cubewarp list: no folder configs/studies is found; a clone of the project has it\n",
              stderr);
    config_errors_print(stderr, &errors);
    config_errors_free(&errors);
    config_arena_free(&arena);
    return configs != NULL ? CW_OK : CW_USAGE;
}

/* ---- topologies and benches ------------------------------------------------------------------ */

static int list_topologies(void)
{
    static const char *const about[][2] = {
        {"ring_1d", "a ring"},
        {"torus_2d", "a grid of w x h that wraps both ways"},
        {"torus_3d", "a grid of w x h x d that wraps in each dimension"},
        {"mesh_2d_no_wrap", "a grid of w x h that does not wrap"},
        {"fully_connected", "a link between every two SIPs"},
        {"switch", "one switch, to which each SIP has a link"},
        {"pair_switch", "paired dies, and two switches, each for one die of every pair"},
        {"levels", "a list, inner level first: [{fully_connected: 8, bw_gbs: 64}, {switch: 16}]"},
    };
    const char *name;
    for (uint32_t i = 0; (name = hw_topology_name_at(i)) != NULL; i++) {
        const char *text = "";
        for (size_t k = 0; k < sizeof about / sizeof *about; k++)
            if (strcmp(about[k][0], name) == 0)
                text = about[k][1];
        put(name, text);
    }
    return CW_OK;
}

static int list_benches(void)
{
    for (size_t i = 0; bench_name(i) != NULL; i++)
        put(bench_name(i), bench_about(i));
    return CW_OK;
}

int list_main(int argc, char **argv)
{
    struct run_options options;
    struct option_parse parse = {.command = COMMAND_LIST, .values = &options};
    int code;
    run_options_defaults(&options);
    if (!cli_read(&parse, argc, argv, &code))
        return code;
    code = strcmp(options.list, "algorithms") == 0   ? list_algorithms(&options)
           : strcmp(options.list, "presets") == 0    ? list_presets()
           : strcmp(options.list, "topologies") == 0 ? list_topologies()
           : strcmp(options.list, "studies") == 0    ? list_studies()
                                                     : list_benches();
    return cli_end("list", code);
}
