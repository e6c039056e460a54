/*
 * study_line.c: makes a study of a command line: the options are its base, the measured tables its
 * one axis, the names of keys its fits.
 */
#include "bench/study/study_line.h"

#include <stdlib.h>
#include <string.h>

#include "bench/study/study_fit.h"
#include "bench/study/study_points.h"
#include "bench/study/study_setting.h"

static struct config_node scalar(const char *text, size_t bytes, struct config_place place)
{
    return (struct config_node){
        .kind = CONFIG_SCALAR, .plain = true, .place = place, .text = text, .bytes = bytes};
}

static struct config_place place_of(struct config_loader *loader, const char *name)
{
    return (struct config_place){
        .source = config_source_add(loader, &(struct config_source){.name = name, .any_key = true}),
        .line = 1,
        .column = 1};
}

/* Reads an option as a setting. False: refused. */
static bool read_option(struct config_loader *loader, const char *name, const char *value,
                        struct config_place place, struct study_setting *setting)
{
    const struct config_node key = scalar(name, strlen(name), place);
    const struct config_node node = scalar(value, strlen(value), place);
    return study_setting_read(loader, &key, &node, setting);
}

/* KEY=VALUE, which the loader of the configuration reads. */
static bool read_set(struct config_loader *loader, const char *text, struct config_place place,
                     struct study_setting *setting)
{
    const char *const equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
        config_error(loader, place, "%s: expected KEY=VALUE", text);
        return false;
    }
    *setting = (struct study_setting){
        .name = config_arena_text(loader->arena, text, (size_t)(equals - text)),
        .row = study_option("set"),
        .option = "--set",
        .argument = config_arena_text(loader->arena, text, strlen(text)),
        .place = place};
    return setting->name != NULL && setting->argument != NULL;
}

static void read_base(struct config_loader *loader, const struct study_line *line,
                      struct study *study)
{
    const size_t count = line->option_count + line->set_count;
    struct study_settings *const base = &study->base;
    base->list = config_arena_alloc(loader->arena, (count + 1) * sizeof *base->list);
    for (uint32_t i = 0; i < line->option_count && base->list != NULL; i++)
        base->count += read_option(loader, line->options[i].name, line->options[i].value,
                                   place_of(loader, "the command line"), &base->list[base->count]);
    for (uint32_t i = 0; i < line->set_count && base->list != NULL; i++)
        base->count +=
            read_set(loader, line->sets[i], place_of(loader, "--set"), &base->list[base->count]);
}

static void read_tables(struct config_loader *loader, const struct study_line *line,
                        struct study *study)
{
    struct study_axis *const axis = config_arena_alloc(loader->arena, sizeof *axis);
    if (axis == NULL)
        return;
    *axis = (struct study_axis){.name = "measured", .place = place_of(loader, "the command line")};
    study->axes = axis;
    study->axis_count = 1;
    axis->values = config_arena_alloc(loader->arena, line->measured_count * sizeof *axis->values);
    for (uint32_t i = 0; i < line->measured_count && axis->values != NULL; i++) {
        struct study_value *const value = &axis->values[i];
        *value = (struct study_value){.text = line->measured[i], .place = axis->place};
        value->settings.list = config_arena_alloc(loader->arena, sizeof *value->settings.list);
        if (value->settings.list == NULL)
            return;
        value->settings.count =
            read_option(loader, "measured", line->measured[i], axis->place, value->settings.list);
        axis->count++;
    }
}

/* The names between commas as the mapping of a study's fit, without bounds. */
static void read_fits(struct config_loader *loader, const struct study_line *line,
                      struct study *study)
{
    const struct config_place place = place_of(loader, "--fit");
    struct config_node mapping = {.kind = CONFIG_MAPPING, .place = place};
    struct config_node nodes[STUDY_FITS_MAX + 1], *last = NULL;
    struct config_node nothing = scalar("", 0, place);
    uint32_t count = 0;
    for (const char *at = line->fit; at != NULL && count <= STUDY_FITS_MAX;) {
        const size_t bytes = strcspn(at, ",");
        const char *const name = config_arena_text(loader->arena, at, bytes);
        if (name == NULL)
            return;
        nodes[count] = scalar(name, bytes, place);
        nodes[count].value = &nothing;
        *(last != NULL ? &last->next : &mapping.first) = &nodes[count];
        last = &nodes[count++];
        at = at[bytes] == ',' ? at + bytes + 1 : NULL;
    }
    study_fits_read(loader, study, &mapping);
}

int study_of_line(const struct study_line *line, struct study **out, struct config_errors *errors)
{
    *out = NULL;
    struct study *const study = calloc(1, sizeof *study);
    if (study == NULL)
        return CW_NO_RESOURCE;
    struct config_arena scratch = {0};
    struct config_loader loader = {.arena = &study->arena, .scratch = &scratch, .errors = errors};
    study->path = study->name = "calibrate";
    study->about = study->text = "";
    read_base(&loader, line, study);
    read_tables(&loader, line, study);
    read_fits(&loader, line, study);
    if (errors->count == 0 && !study->arena.failed)
        study_points_make(&loader, study, NULL, NULL);
    const bool no_memory = study->arena.failed || scratch.failed;
    config_arena_free(&scratch);
    study->sources = loader.sources;
    if (!no_memory && errors->count + errors->dropped == 0) {
        *out = study;
        return CW_OK;
    }
    study_free(study);
    return no_memory ? CW_NO_RESOURCE : CW_USAGE;
}
