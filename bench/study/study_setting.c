/*
 * study_setting.c: reads the name and value of a setting. The tables of options and keys belong to
 * others; this file knows which of them a study may use, and where an error is.
 */
#include "bench/study/study_setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/options/options_run.h"
#include "bench/options/options_table.h"
#include "bench/options/options_value.h"
#include "collectives/config/config_schema.h"
#include "collectives/config/config_value.h"
#include "core/os/text_stream.h"

enum { NAME_BYTES = 256 };
static const char defaults[] = "defaults.", algorithms[] = "algorithms.", workload[] = "workload.";

/* ---- a node as text -------------------------------------------------------------------------- */

static void put_scalar(FILE *stream, const struct config_node *node, bool is_inner)
{
    const bool stands = node->plain && (!is_inner || strpbrk(node->text, ",[]{}:#") == NULL);
    if (stands) {
        fputs(node->text, stream);
        return;
    }
    fputc('"', stream);
    for (const char *at = node->text; *at != '\0'; at++)
        if (*at == '\n')
            fputs("\\n", stream);
        else
            fprintf(stream, "%s%c", *at == '"' || *at == '\\' ? "\\" : "", *at);
    fputc('"', stream);
}

static void put_node(FILE *stream, const struct config_node *node, bool is_inner)
{
    if (node->kind == CONFIG_SCALAR) {
        put_scalar(stream, node, is_inner);
        return;
    }
    const bool is_list = node->kind == CONFIG_SEQUENCE;
    fputc(is_list ? '[' : '{', stream);
    for (const struct config_node *at = node->first; at != NULL; at = at->next) {
        put_node(stream, at, true);
        if (!is_list) {
            fputs(": ", stream);
            put_node(stream, at->value, true);
        }
        if (at->next != NULL)
            fputs(", ", stream);
    }
    fputc(is_list ? ']' : '}', stream);
}

const char *study_node_text(struct config_arena *arena, const struct config_node *node)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *const stream = text_stream_open(&text, &bytes);
    if (stream == NULL) {
        arena->failed = true;
        return NULL;
    }
    put_node(stream, node, false);
    const bool is_whole = fclose(stream) == 0;
    const char *const kept = is_whole ? config_arena_text(arena, text, bytes) : NULL;
    arena->failed |= !is_whole;
    free(text);
    return kept;
}

static char *join(struct config_arena *arena, const char *a, const char *b, const char *c)
{
    const size_t bytes = strlen(a) + strlen(b) + strlen(c) + 1;
    char *const text = config_arena_alloc(arena, bytes);
    if (text != NULL)
        snprintf(text, bytes, "%s%s%s", a, b, c);
    return text;
}

/* ---- names ----------------------------------------------------------------------------------- */

const struct option_row *study_option(const char *name)
{
    for (size_t i = 0; i < option_row_count; i++)
        if ((option_rows[i].commands & COMMAND_RUN) != 0 && strcmp(option_rows[i].name, name) == 0)
            return &option_rows[i];
    return NULL;
}

/* Why a study may not use an option; NULL: it may. */
static const char *why_not(const struct option_row *row)
{
    static const char *const printing[] = {"quiet", "dump-pointers", "ccl-trace", "again", NULL};
    if (row->type == OPTION_HELP)
        return "is no setting of a run";
    if (strcmp(row->name, "set") == 0)
        return "is not needed here: give the key itself, as in system.sips.count: 64";
    if (row->type == OPTION_OUTPUT || row->type == OPTION_OUTPUT_FILE)
        return "writes a file; the results of a study go to its database";
    for (size_t i = 0; printing[i] != NULL; i++)
        if (strcmp(row->name, printing[i]) == 0)
            return "does not suit a study, whose results go to its database";
    return NULL;
}

/* The collectives' key of this name, if it is legal here; -1: there is none. */
static int find_ccl(const char *name, int not_flag)
{
    const int key = config_ccl_find(name);
    return key >= 0 && (config_ccl_keys[key].flags & not_flag) == 0 ? key : -1;
}

/* The part of "algorithms.NAME.KEY" after NAME, for before = "algorithms."; NULL: it is not such a
 * path. */
static const char *key_of_named(const char *name, const char *before)
{
    if (strncmp(name, before, strlen(before)) != 0)
        return NULL;
    const char *const dot = strchr(name + strlen(before), '.');
    return dot != NULL && dot[1] != '\0' ? dot + 1 : NULL;
}

/* Whether there is such a key. *key: its row; NULL: a parameter, whose type only its algorithm
 * knows, or a key of a workload. */
static bool find_key(const char *name, const struct config_key **key)
{
    *key = NULL;
    if (strncmp(name, workload, sizeof workload - 1) == 0)
        return name[sizeof workload - 1] != '\0'; /* only its file knows its type */
    int found = config_machine_find(name);
    if (found >= 0) {
        *key = &config_machine_keys[found];
        return true;
    }
    if (strncmp(name, defaults, sizeof defaults - 1) == 0) {
        found = find_ccl(name + sizeof defaults - 1, CONFIG_NOT_IN_DEFAULTS);
        *key = found >= 0 ? &config_ccl_keys[found] : NULL;
        return found >= 0;
    }
    const char *below;
    const enum config_section section = config_section_of(name, &below);
    const char *rest = section < CONFIG_SECTIONS ? strchr(below, '.') : NULL;
    if (section < CONFIG_SECTIONS) {
        found = rest != NULL ? config_named_find(section, rest + 1) : -1;
        *key = found >= 0 ? &config_sections[section].keys[found] : NULL;
        return found >= 0;
    }
    rest = key_of_named(name, algorithms);
    found = rest != NULL ? find_ccl(rest, CONFIG_NOT_IN_ALGORITHM) : -1;
    *key = found >= 0 ? &config_ccl_keys[found] : NULL;
    return rest != NULL;
}

bool study_setting_is_known(const char *name)
{
    const struct config_key *key;
    return study_option(name) != NULL || find_key(name, &key);
}

static void refuse_name(struct config_loader *loader, const struct config_node *name)
{
    struct text_nearest nearest = {0};
    char quoted[TEXT_QUOTE_BYTES], best[NAME_BYTES] = "", path[NAME_BYTES];
    for (size_t i = 0; i < option_row_count; i++)
        if ((option_rows[i].commands & COMMAND_RUN) != 0 && why_not(&option_rows[i]) == NULL)
            text_nearest_try(&nearest, name->text, option_rows[i].name);
    for (uint32_t i = 0; i < config_machine_key_count; i++)
        text_nearest_try(&nearest, name->text, config_machine_keys[i].path);
    if (nearest.best != NULL)
        snprintf(best, sizeof best, "%s", nearest.best);
    for (uint32_t i = 0; i < config_ccl_key_count; i++) {
        const unsigned before = nearest.best != NULL ? nearest.distance : UINT32_MAX;
        snprintf(path, sizeof path, "%s%s", defaults, config_ccl_keys[i].path);
        if ((config_ccl_keys[i].flags & CONFIG_NOT_IN_DEFAULTS) == 0)
            text_nearest_try(&nearest, name->text, path);
        if (nearest.best != NULL && nearest.distance < before)
            snprintf(best, sizeof best, "%s", path);
    }
    text_quote_key(name->text, name->bytes, quoted);
    if (best[0] != '\0')
        config_error(loader, name->place, "unknown option or key %s; did you mean '%s'?", quoted,
                     best);
    else
        config_error(loader, name->place,
                     "unknown option or key %s; legal are the long options of 'cubewarp run' and "
                     "the keys of 'cubewarp config --keys'",
                     quoted);
}

bool study_setting_key(struct config_loader *loader, const struct config_node *name,
                       const struct config_key **key)
{
    if (study_option(name->text) != NULL) {
        config_error(loader, name->place, "%s is an option; expected a key of the configuration",
                     name->text);
        return false;
    }
    if (find_key(name->text, key))
        return true;
    refuse_name(loader, name);
    return false;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_flag_value(const struct config_node *value)
{
    return value->kind == CONFIG_SCALAR &&
           (strcmp(value->text, "true") == 0 || strcmp(value->text, "false") == 0);
}

/* Reads an option without a value. */
static bool read_flag(struct config_loader *loader, const char *name,
                      const struct config_node *value, struct study_setting *setting)
{
    char quoted[TEXT_QUOTE_BYTES];
    const bool is_on = value->kind == CONFIG_SCALAR && strcmp(value->text, "true") == 0;
    setting->is_off = value->kind == CONFIG_SCALAR && strcmp(value->text, "false") == 0;
    if (!is_on && !setting->is_off)
        config_error(loader, value->place, "%s: expected true or false; found %s", name,
                     config_quote_node(value, quoted));
    return is_on || setting->is_off;
}

static bool read_option(struct config_loader *loader, const struct option_row *row,
                        const struct config_node *name, const struct config_node *value,
                        struct study_setting *setting)
{
    struct run_options run;
    struct option_parse parse = {.command = COMMAND_RUN, .values = &run};
    struct cw_error error = {.exit_code = CW_OK};
    char quoted[TEXT_QUOTE_BYTES];
    if (why_not(row) != NULL) {
        config_error(loader, name->place, "option '%s' %s", row->name, why_not(row));
        return false;
    }
    setting->row = row;
    setting->option = join(loader->arena, "--", row->name, "");
    if (row->argument == NULL || (row->optional != NULL && is_flag_value(value)))
        return read_flag(loader, row->name, value, setting);
    if (value->kind != CONFIG_SCALAR || value->bytes == 0) {
        config_error(loader, value->place, "%s: expected %s, as for --%s; found %s", row->name,
                     row->argument, row->name, config_quote_node(value, quoted));
        return false;
    }
    setting->argument = config_arena_text(loader->arena, value->text, value->bytes);
    run_options_defaults(&run);
    if (setting->argument == NULL || options_store(&parse, row, setting->argument, &error) == CW_OK)
        return setting->argument != NULL;
    config_error(loader, value->place, "%s", cw_error_text(&error));
    return false;
}

bool study_setting_read(struct config_loader *loader, const struct config_node *name,
                        const struct config_node *value, struct study_setting *setting)
{
    const struct option_row *const row = study_option(name->text);
    const struct config_key *key;
    struct config_value checked = {0};
    *setting = (struct study_setting){.place = value->place};
    setting->name = config_arena_text(loader->arena, name->text, name->bytes);
    if (setting->name == NULL)
        return false;
    if (row != NULL)
        return read_option(loader, row, name, value, setting);
    if (!find_key(name->text, &key)) {
        refuse_name(loader, name);
        return false;
    }
    setting->row = study_option("set");
    setting->option = "--set";
    if (key != NULL && !config_value_read(loader, key, name->text, value, &checked))
        return false;
    const char *const text = study_node_text(loader->arena, value);
    setting->argument = text != NULL ? join(loader->arena, name->text, "=", text) : NULL;
    return setting->argument != NULL;
}
