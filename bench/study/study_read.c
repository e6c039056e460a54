/*
 * study_read.c: reads the parts of a study file: name, base, axes, zip; then the points
 * (study_points.h). One call, one thread. After an error, reading continues with everything that
 * does not depend on the wrong part.
 */
#include "bench/study/study_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/study/study_fit.h"
#include "bench/study/study_points.h"
#include "bench/study/study_range.h"
#include "bench/study/study_setting.h"
#include "core/cw.h"

enum { NAME_BYTES_MAX = 64, ABOUT_BYTES_MAX = 1000, AXES_MAX = 32, SETTINGS_MAX = 256 };

static uint32_t study_children(const struct config_node *node)
{
    uint32_t count = 0;
    for (const struct config_node *at = node->first; at != NULL; at = at->next)
        count++;
    return count;
}

static bool expect_kind(struct config_loader *loader, const struct config_node *node,
                        enum config_node_kind kind, const char *name, const char *expected)
{
    char quoted[TEXT_QUOTE_BYTES];
    if (node->kind == kind && (kind == CONFIG_SCALAR ? node->bytes > 0 : node->first != NULL))
        return true;
    config_error(loader, node->place, "%s: expected %s; found %s", name, expected,
                 node->kind != kind || kind == CONFIG_SCALAR ? config_quote_node(node, quoted)
                 : kind == CONFIG_SEQUENCE                   ? "an empty list"
                                                             : "an empty mapping");
    return false;
}

/* ---- settings -------------------------------------------------------------------------------- */

static void read_settings(struct config_loader *loader, const struct config_node *node,
                          struct study_settings *settings)
{
    const uint32_t count = study_children(node);
    if (count > SETTINGS_MAX) {
        config_error(loader, node->place, "%u settings; at most %d are legal", count, SETTINGS_MAX);
        return;
    }
    settings->list = config_arena_alloc(loader->arena, (count + 1) * sizeof *settings->list);
    for (const struct config_node *at = node->first; at != NULL && settings->list != NULL;
         at = at->next)
        settings->count +=
            study_setting_read(loader, at, at->value, &settings->list[settings->count]);
}

/* ---- axes ------------------------------------------------------------------------------------ */

/* The values of a range differ by construction, and may be many, so they are not compared. */
static struct study_value *add_value(struct config_loader *loader, struct study_axis *axis,
                                     const struct config_node *node, bool of_range)
{
    struct study_value *const value = &axis->values[axis->count];
    *value = (struct study_value){.place = node->place};
    value->text = node->kind == CONFIG_SCALAR
                      ? config_arena_text(loader->arena, node->text, node->bytes)
                      : study_node_text(loader->arena, node);
    for (uint32_t i = 0; i < axis->count && value->text != NULL && !of_range; i++)
        if (strcmp(axis->values[i].text, value->text) == 0) {
            config_error(loader, node->place, "%s: the value %.60s stands twice in this axis",
                         axis->name, value->text);
            return NULL;
        }
    if (value->text != NULL)
        axis->count++;
    return value->text != NULL ? value : NULL;
}

/* A value that is one setting, named after the axis. */
static void add_setting(struct config_loader *loader, struct study_axis *axis,
                        const struct config_node *name, const struct config_node *node,
                        bool of_range)
{
    struct study_value *const value = add_value(loader, axis, node, of_range);
    if (value == NULL)
        return;
    value->settings.list = config_arena_alloc(loader->arena, sizeof *value->settings.list);
    if (value->settings.list != NULL)
        value->settings.count = study_setting_read(loader, name, node, value->settings.list);
}

static void read_cases(struct config_loader *loader, const struct config_node *name,
                       struct study_axis *axis)
{
    if (study_setting_is_known(name->text)) {
        config_error(loader, name->place,
                     "%s is a setting, and a mapping is of named cases: give the axis a name of "
                     "its own, or a list of values",
                     axis->name);
        return;
    }
    for (const struct config_node *at = name->value->first; at != NULL; at = at->next) {
        const bool is_as_base = at->value->kind == CONFIG_MAPPING && at->value->first == NULL;
        if (!is_as_base &&
            !expect_kind(loader, at->value, CONFIG_MAPPING, at->text, "a mapping of settings"))
            continue;
        struct study_value *const value = add_value(loader, axis, at, false);
        if (value != NULL)
            read_settings(loader, at->value, &value->settings);
    }
}

static void read_range(struct config_loader *loader, const struct config_node *name,
                       struct study_axis *axis)
{
    const char *const *texts;
    size_t count;
    const struct config_node *const range = name->value;
    const char *const wrong = study_range(loader->arena, range->text, &texts, &count);
    if (wrong != NULL) {
        char quoted[TEXT_QUOTE_BYTES];
        config_error(loader, range->place, "%s %s: %s", axis->name,
                     config_quote_node(range, quoted), wrong);
        return;
    }
    axis->values = config_arena_alloc(loader->arena, (count + 1) * sizeof *axis->values);
    for (size_t i = 0; i < count && axis->values != NULL; i++) {
        const uint32_t read = axis->count;
        const struct config_node node = {.kind = CONFIG_SCALAR,
                                         .plain = true,
                                         .place = range->place,
                                         .text = texts[i],
                                         .bytes = strlen(texts[i])};
        add_setting(loader, axis, name, &node, true);
        if (axis->count == read || axis->values[read].settings.count == 0)
            return; /* reported once for the range */
    }
}

static void read_axis(struct config_loader *loader, const struct config_node *name,
                      struct study_axis *axis)
{
    const struct config_node *const node = name->value;
    *axis = (struct study_axis){.place = name->place};
    axis->name = config_arena_text(loader->arena, name->text, name->bytes);
    if (axis->name == NULL)
        return;
    if (node->kind == CONFIG_SCALAR && strchr(node->text, ':') != NULL) {
        read_range(loader, name, axis);
        return;
    }
    if (node->kind != CONFIG_SCALAR && !expect_kind(loader, node, node->kind, axis->name, "values"))
        return;
    const uint32_t count = node->kind == CONFIG_SCALAR ? 1 : study_children(node);
    axis->values = config_arena_alloc(loader->arena, (count + 1) * sizeof *axis->values);
    if (axis->values == NULL)
        return;
    if (node->kind == CONFIG_MAPPING)
        read_cases(loader, name, axis);
    else if (node->kind == CONFIG_SCALAR)
        add_setting(loader, axis, name, node, false);
    else
        for (const struct config_node *at = node->first; at != NULL; at = at->next) {
            add_setting(loader, axis, name, at, false);
            if (!study_setting_is_known(name->text))
                return; /* reported once */
        }
}

/* How many values of an axis have, together, all names that it sets: one, if all set the axis's
 * own name. A range has thousands of values. */
static uint32_t naming_values(const struct study_axis *axis)
{
    const bool is_plain = axis->count > 0 && axis->values[0].settings.count == 1 &&
                          strcmp(axis->values[0].settings.list[0].name, axis->name) == 0;
    return is_plain ? 1 : axis->count;
}

/* The setting of an axis with this name; NULL: there is none. */
static const struct study_setting *find_setting(const struct study_axis *axis, const char *name)
{
    for (uint32_t v = 0; v < naming_values(axis); v++)
        for (uint32_t i = 0; i < axis->values[v].settings.count; i++)
            if (strcmp(axis->values[v].settings.list[i].name, name) == 0)
                return &axis->values[v].settings.list[i];
    return NULL;
}

/* If two axes set the same name, it would be unclear which counts. */
static void check_axes_apart(struct config_loader *loader, const struct study *study, uint32_t axis)
{
    const struct study_axis *const later = &study->axes[axis];
    for (uint32_t a = 0; a < axis; a++)
        for (uint32_t v = 0; v < naming_values(&study->axes[a]); v++)
            for (uint32_t i = 0; i < study->axes[a].values[v].settings.count; i++) {
                const char *const name = study->axes[a].values[v].settings.list[i].name;
                const struct study_setting *const again = find_setting(later, name);
                if (again == NULL)
                    continue;
                config_error(loader, again->place,
                             "%s is set by the axis %s, too; one name belongs to one axis", name,
                             study->axes[a].name);
                return;
            }
}

static void read_axes(struct config_loader *loader, struct study *study,
                      const struct config_node *node)
{
    const uint32_t count = study_children(node);
    if (count > AXES_MAX) {
        config_error(loader, node->place, "%u axes; at most %d are legal", count, AXES_MAX);
        return;
    }
    study->axes = config_arena_alloc(loader->arena, (count + 1) * sizeof *study->axes);
    if (study->axes == NULL)
        return;
    for (const struct config_node *at = node->first; at != NULL; at = at->next) {
        read_axis(loader, at, &study->axes[study->axis_count]);
        study->axes[study->axis_count].leader = study->axis_count;
        check_axes_apart(loader, study, study->axis_count);
        study->axis_count++;
    }
}

/* ---- zip ------------------------------------------------------------------------------------- */

/* Checks a group, and gives its axes their leader, the first of them in the file. */
static void read_zip_group(struct config_loader *loader, struct study *study,
                           const struct config_node *group)
{
    uint32_t axes[AXES_MAX], count = 0, first = UINT32_MAX;
    for (const struct config_node *at = group->first; at != NULL; at = at->next) {
        const int axis = study_axis_find(loader, study, at);
        if (axis < 0)
            return;
        bool is_taken = study->axes[axis].is_zipped;
        for (uint32_t i = 0; i < count; i++)
            is_taken |= axes[i] == (uint32_t)axis;
        if (is_taken) {
            config_error(loader, at->place, "%s advances with another axis already",
                         study->axes[axis].name);
            return;
        }
        axes[count++] = (uint32_t)axis;
        first = (uint32_t)axis < first ? (uint32_t)axis : first;
        if (study->axes[axis].count != study->axes[axes[0]].count) {
            config_error(loader, at->place,
                         "%s has %u values and %s has %u; axes that advance together have equally "
                         "many",
                         study->axes[axis].name, study->axes[axis].count, study->axes[axes[0]].name,
                         study->axes[axes[0]].count);
            return;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        study->axes[axes[i]].leader = first;
        study->axes[axes[i]].is_zipped = true;
    }
}

static void read_zip(struct config_loader *loader, struct study *study,
                     const struct config_node *node)
{
    for (const struct config_node *at = node->first; at != NULL; at = at->next)
        if (expect_kind(loader, at, CONFIG_SEQUENCE, "zip",
                        "a list of lists, as in [[axis, other axis]]"))
            read_zip_group(loader, study, at);
}

/* ---- the file -------------------------------------------------------------------------------- */

enum part {
    PART_STUDY,
    PART_ABOUT,
    PART_BASE,
    PART_AXES,
    PART_ZIP,
    PART_EXCLUDE,
    PART_EQUAL_COST,
    PART_FIT,
    PARTS
};
static const struct {
    const char *name;
    enum config_node_kind kind;
    const char *expected;
} parts[PARTS] = {
    [PART_STUDY] = {"study", CONFIG_SCALAR, "a name"},
    [PART_ABOUT] = {"about", CONFIG_SCALAR, "a sentence"},
    [PART_BASE] = {"base", CONFIG_MAPPING, "a mapping of settings"},
    [PART_AXES] = {"axes", CONFIG_MAPPING, "a mapping from axes to values"},
    [PART_ZIP] = {"zip", CONFIG_SEQUENCE, "a list of lists of axes"},
    [PART_EXCLUDE] = {"exclude", CONFIG_SEQUENCE, "a list of mappings from axes to values"},
    [PART_EQUAL_COST] = {"equal_cost", CONFIG_MAPPING, "a mapping with budget or of"},
    [PART_FIT] = {"fit", CONFIG_MAPPING, "a mapping from keys to bounds or lists"},
};

static void find_parts(struct config_loader *loader, const struct config_node *root,
                       const struct config_node *found[PARTS])
{
    for (const struct config_node *at = root->first; at != NULL; at = at->next) {
        struct text_nearest nearest = {0};
        char quoted[TEXT_QUOTE_BYTES];
        int part = -1;
        for (int i = 0; i < PARTS; i++) {
            text_nearest_try(&nearest, at->text, parts[i].name);
            if (strcmp(at->text, parts[i].name) == 0)
                part = i;
        }
        if (part < 0)
            config_error(loader, at->place,
                         "unknown key %s of a study%s%s%s legal are study, about, base, axes, "
                         "zip, exclude, equal_cost, fit",
                         text_quote_key(at->text, at->bytes, quoted),
                         nearest.best != NULL ? "; did you mean '" : "",
                         nearest.best != NULL ? nearest.best : "",
                         nearest.best != NULL ? "'?" : ";");
        else if (expect_kind(loader, at->value, parts[part].kind, parts[part].name,
                             parts[part].expected))
            found[part] = at->value;
        else if (part == PART_STUDY)
            found[part] = at; /* reported */
    }
}

static void read_name(struct config_loader *loader, struct study *study,
                      const struct config_node *root, const struct config_node *node)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    char quoted[TEXT_QUOTE_BYTES];
    if (node == NULL) {
        config_error(loader, root->place, "the study has no name; expected study: NAME");
        return;
    }
    if (node->bytes > NAME_BYTES_MAX || strspn(node->text, letters) != node->bytes)
        config_error(loader, node->place,
                     "study: expected a name of up to %d letters, digits, _, - and .; found %s",
                     NAME_BYTES_MAX, config_quote_node(node, quoted));
    study->name = config_arena_text(loader->arena, node->text, node->bytes);
}

static void read_parts(struct config_loader *loader, struct study *study,
                       const struct config_node *root)
{
    const struct config_node *found[PARTS] = {0};
    if (!expect_kind(loader, root, CONFIG_MAPPING, "a study",
                     "a mapping with study, base and axes"))
        return;
    find_parts(loader, root, found);
    read_name(loader, study, root, found[PART_STUDY]);
    const struct config_node *const about = found[PART_ABOUT];
    if (about != NULL && about->bytes > ABOUT_BYTES_MAX)
        config_error(loader, about->place, "about: longer than %d bytes", ABOUT_BYTES_MAX);
    study->about = about != NULL ? config_arena_text(loader->arena, about->text, about->bytes) : "";
    if (found[PART_BASE] != NULL)
        read_settings(loader, found[PART_BASE], &study->base);
    if (found[PART_AXES] != NULL)
        read_axes(loader, study, found[PART_AXES]);
    if (found[PART_ZIP] != NULL)
        read_zip(loader, study, found[PART_ZIP]);
    if (found[PART_FIT] != NULL)
        study_fits_read(loader, study, found[PART_FIT]);
    if (found[PART_FIT] != NULL && found[PART_EQUAL_COST] != NULL)
        config_error(
            loader, found[PART_FIT]->place,
            "fit: beside equal_cost, which sets the bandwidths of each point; expected one "
            "of the two");
    if (loader->errors->count == 0 && !loader->arena->failed)
        study_points_make(loader, study, found[PART_EXCLUDE], found[PART_EQUAL_COST]);
}

int study_read(const char *path, struct study **out, struct config_errors *errors)
{
    *out = NULL;
    struct study *const study = calloc(1, sizeof *study);
    if (study == NULL)
        return CW_NO_RESOURCE;
    struct config_arena scratch = {0};
    struct config_loader loader = {.arena = &study->arena, .scratch = &scratch, .errors = errors};
    study->path = config_arena_text(&study->arena, path, strlen(path));
    const uint32_t source = config_source_add(
        &loader, &(struct config_source){.name = study->path, .is_file = true, .any_key = true});
    size_t bytes = 0;
    char *const text = source == 0 ? NULL : config_file_read(&loader, source, path, &bytes);
    const struct config_node *const root =
        text == NULL ? NULL : config_parse(&loader, source, text, bytes);
    if (root != NULL) {
        study->text = config_arena_text(&study->arena, text, bytes);
        read_parts(&loader, study, root);
    } else if (text != NULL && errors->count == 0 && !study->arena.failed) {
        config_error(&loader, (struct config_place){.source = source, .line = 1, .column = 1},
                     "nothing but comments; expected a study");
    }
    free(text);
    const bool no_memory = study->arena.failed || scratch.failed;
    config_arena_free(&scratch);
    study->sources = loader.sources;
    config_errors_sort(errors);
    if (!no_memory && errors->count + errors->dropped == 0) {
        *out = study;
        return CW_OK;
    }
    study_free(study);
    return no_memory ? CW_NO_RESOURCE : CW_USAGE;
}
