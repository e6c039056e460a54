/*
 * study_points.c: makes the points of a study: exclusions, combinations, checks, digests.
 */
#include "bench/study/study_points.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "bench/options/options.h"
#include "bench/options/options_run.h"
#include "bench/study/study_cost.h"
#include "bench/study/study_known.h"

enum { COMBINATIONS_MAX = 10000000, MESSAGES_MAX = 50, VALUES_SHOWN_BYTES = 600 };

/* An entry of `exclude`: which values it names on each axis. */
struct exclusion {
    const bool **names; /* [axis_count]; NULL for an axis that the entry does not mention */
};

struct making {
    struct config_loader *loader;
    struct study *study;
    struct exclusion *exclusions;
    uint32_t exclusion_count;
    uint32_t capacity;
};

int study_axis_find(struct config_loader *loader, const struct study *study,
                    const struct config_node *name)
{
    struct text_nearest nearest = {0};
    char quoted[TEXT_QUOTE_BYTES];
    for (uint32_t a = 0; a < study->axis_count && name->kind == CONFIG_SCALAR; a++) {
        if (study->axes[a].name == NULL)
            continue;
        if (strcmp(study->axes[a].name, name->text) == 0)
            return (int)a;
        text_nearest_try(&nearest, name->text, study->axes[a].name);
    }
    config_error(loader, name->place, "no axis of this study is called %s%s%s%s",
                 config_quote_node(name, quoted), nearest.best != NULL ? "; did you mean '" : "",
                 nearest.best != NULL ? nearest.best : "", nearest.best != NULL ? "'?" : "");
    return -1;
}

/* ---- exclusions ------------------------------------------------------------------------------ */

/* The values of an axis for messages: all, or some and how many more there are. */
static void list_values(const struct study_axis *axis, char known[VALUES_SHOWN_BYTES])
{
    size_t used = 0;
    uint32_t v = 0;
    known[0] = '\0';
    while (v < axis->count && used + strlen(axis->values[v].text) + 40 < VALUES_SHOWN_BYTES) {
        used += (size_t)snprintf(known + used, VALUES_SHOWN_BYTES - used, "%s%s", v > 0 ? ", " : "",
                                 axis->values[v].text);
        v++;
    }
    if (v < axis->count)
        snprintf(known + used, VALUES_SHOWN_BYTES - used, "%s%u %s", v > 0 ? " and " : "",
                 axis->count - v, v > 0 ? "more" : "values");
}

int study_value_find(struct config_loader *loader, const struct study_axis *axis,
                     const struct config_node *node)
{
    struct text_nearest nearest = {0};
    char quoted[TEXT_QUOTE_BYTES], known[VALUES_SHOWN_BYTES];
    for (uint32_t v = 0; v < axis->count && node->kind == CONFIG_SCALAR; v++) {
        if (strcmp(axis->values[v].text, node->text) == 0)
            return (int)v;
        text_nearest_try(&nearest, node->text, axis->values[v].text);
    }
    list_values(axis, known);
    config_error(loader, node->place, "the axis %s has no value %s; %s%s%sit has %s", axis->name,
                 config_quote_node(node, quoted), nearest.best != NULL ? "did you mean '" : "",
                 nearest.best != NULL ? nearest.best : "", nearest.best != NULL ? "'? " : "",
                 known);
    return -1;
}

static void exclude_value(struct making *making, const struct study_axis *axis,
                          const struct config_node *node, bool *names)
{
    const int value = study_value_find(making->loader, axis, node);
    if (value >= 0)
        names[value] = true;
}

static void read_exclusion(struct making *making, const struct config_node *node)
{
    struct study *const study = making->study;
    struct config_arena *const scratch = making->loader->scratch;
    struct exclusion *const exclusion = &making->exclusions[making->exclusion_count];
    char quoted[TEXT_QUOTE_BYTES];
    if (node->kind != CONFIG_MAPPING || node->first == NULL) {
        config_error(making->loader, node->place,
                     "exclude: expected a mapping from axes to values; found %s",
                     config_quote_node(node, quoted));
        return;
    }
    exclusion->names = config_arena_alloc(scratch, study->axis_count * sizeof *exclusion->names);
    for (const struct config_node *at = node->first; at != NULL && exclusion->names != NULL;
         at = at->next) {
        const int axis = study_axis_find(making->loader, study, at);
        bool *const names =
            axis < 0 ? NULL : config_arena_alloc(scratch, study->axes[axis].count + 1);
        if (names == NULL)
            continue;
        exclusion->names[axis] = names;
        if (at->value->kind != CONFIG_SEQUENCE)
            exclude_value(making, &study->axes[axis], at->value, names);
        else
            for (const struct config_node *one = at->value->first; one != NULL; one = one->next)
                exclude_value(making, &study->axes[axis], one, names);
    }
    making->exclusion_count += exclusion->names != NULL;
}

static void read_exclusions(struct making *making, const struct config_node *exclude)
{
    uint32_t count = 0;
    for (const struct config_node *at = exclude->first; at != NULL; at = at->next)
        count++;
    making->exclusions =
        config_arena_alloc(making->loader->scratch, count * sizeof *making->exclusions);
    for (const struct config_node *at = exclude->first; at != NULL && making->exclusions != NULL;
         at = at->next)
        read_exclusion(making, at);
}

static bool is_excluded(const struct making *making, const uint32_t *at)
{
    for (uint32_t e = 0; e < making->exclusion_count; e++) {
        bool agrees = true;
        for (uint32_t a = 0; a < making->study->axis_count && agrees; a++) {
            const bool *const names = making->exclusions[e].names[a];
            agrees = names == NULL || names[at[a]];
        }
        if (agrees)
            return true;
    }
    return false;
}

/* ---- combinations ---------------------------------------------------------------------------- */

/* The next combination: the last axis changes fastest. False: there is none. */
static bool advance(const struct study *study, uint32_t *at)
{
    for (uint32_t a = study->axis_count; a-- > 0;) {
        if (study->axes[a].leader != a)
            continue;
        const bool is_over = ++at[a] == study->axes[a].count;
        if (is_over)
            at[a] = 0;
        for (uint32_t b = a + 1; b < study->axis_count; b++)
            if (study->axes[b].leader == a)
                at[b] = at[a];
        if (!is_over)
            return true;
    }
    return false;
}

static bool add_point(struct making *making, const uint32_t *at)
{
    struct study *const study = making->study;
    const size_t bytes = (study->axis_count + 1) * sizeof *at;
    if (study->point_count == making->capacity) {
        const uint32_t capacity = 2 * making->capacity + 64;
        struct study_point *const points =
            config_arena_alloc(&study->arena, capacity * sizeof *points);
        if (points == NULL)
            return false;
        if (study->point_count > 0)
            memcpy(points, study->points, study->point_count * sizeof *points);
        study->points = points;
        making->capacity = capacity;
    }
    uint32_t *const own = config_arena_alloc(&study->arena, bytes);
    if (own == NULL)
        return false;
    memcpy(own, at, study->axis_count * sizeof *at);
    study->points[study->point_count++].at = own;
    return true;
}

static void combine(struct making *making)
{
    struct study *const study = making->study;
    uint32_t *const at =
        config_arena_alloc(making->loader->scratch, (study->axis_count + 1) * sizeof *at);
    const struct config_place place = {.source = 1, .line = 1, .column = 1};
    uint64_t combinations = 1;
    for (uint32_t a = 0; a < study->axis_count; a++)
        if (study->axes[a].leader == a && combinations <= COMBINATIONS_MAX)
            combinations *= study->axes[a].count;
    if (combinations > COMBINATIONS_MAX) {
        config_error(making->loader, study->axes[0].place,
                     "more than %d combinations; a study has at most %d points", COMBINATIONS_MAX,
                     STUDY_POINTS_MAX);
        return;
    }
    if (at == NULL)
        return;
    do {
        if (is_excluded(making, at))
            continue;
        if (study->point_count == STUDY_POINTS_MAX) {
            config_error(making->loader, study->axes[0].place, "more than %d points",
                         STUDY_POINTS_MAX);
            return;
        }
        if (!add_point(making, at))
            return;
    } while (advance(study, at));
    if (study->point_count == 0)
        config_error(making->loader, place, "every point is excluded; a study has one at least");
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* The place of the setting that a message about options begins with ("--NAME ..."); else the first
 * axis's. */
static struct config_place blamed(const struct study *study, const struct study_settings *settings,
                                  const char *message)
{
    for (uint32_t i = 0; i < settings->count; i++) {
        const size_t bytes = strlen(settings->list[i].option);
        if (strncmp(message, settings->list[i].option, bytes) == 0 &&
            strchr(" :,'", message[bytes]) != NULL)
            return settings->list[i].place;
    }
    return study->axis_count > 0 ? study->axes[0].place
                                 : (struct config_place){.source = 1, .line = 1, .column = 1};
}

/* Checks the point's options together. The same message at the same place is reported once. */
static void check_options(struct making *making, uint32_t point)
{
    struct study *const study = making->study;
    struct run_options run;
    struct option_parse parse = {.command = COMMAND_RUN, .values = &run};
    struct cw_error error = {.exit_code = CW_OK};
    struct study_settings settings = study_settings_of(study, point);
    run_options_defaults(&run);
    if (settings.list == NULL) {
        study->arena.failed = true;
    } else if (study_settings_give(&settings, &parse, &error) != CW_OK) {
        const struct config_place place = blamed(study, &settings, cw_error_text(&error));
        const struct config_errors *const reported = making->loader->errors;
        bool is_reported = reported->count >= MESSAGES_MAX;
        for (size_t i = 0; i < reported->count; i++)
            is_reported |=
                reported->list[i].line == place.line && reported->list[i].column == place.column;
        char *const label = study_label(study, point);
        if (!is_reported)
            config_error(making->loader, place, "%s (point %s)", cw_error_text(&error),
                         label != NULL ? label : "");
        free(label);
    }
    free(settings.list);
}

/* ---- digests --------------------------------------------------------------------------------- */

static int compare_names(const void *left, const void *right)
{
    const struct study_setting *const a = left;
    const struct study_setting *const b = right;
    return strcmp(a->name, b->name);
}

static bool ends_in(const char *text, const char *end)
{
    const size_t bytes = strlen(text), tail = strlen(end);
    return bytes >= tail && strcmp(text + bytes - tail, end) == 0;
}

/* Whether a key's value names a file: "./file.so:symbol", "./file.xml" or "./file.json". */
static bool key_names_file(const struct study_setting *setting, char path[PATH_MAX])
{
    static const char *const keys[] = {".module", ".mapper", ".validator"};
    const char *const value = setting->argument + strlen(setting->name) + 1; /* after KEY= */
    bool is_such = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        is_such |= ends_in(setting->name, keys[i]);
    const size_t quote = value[0] == '"';
    snprintf(path, PATH_MAX, "%.*s", (int)(strlen(value) - 2 * quote), value + quote);
    char *const colon = strrchr(path, ':');
    if (colon != NULL)
        *colon = '\0';
    return is_such && (colon != NULL || ccl_is_schedule_file(path));
}

/* Whether a setting names a file whose contents decide results. */
static bool names_file(const struct study_setting *setting, char path[PATH_MAX])
{
    static const char *const options[] = {"topology", "components", "ccl",
                                          "data",     "measured",   "workload"};
    const char *const text = setting->argument;
    if (text == NULL)
        return false;
    if (strcmp(setting->option, "--set") == 0)
        return key_names_file(setting, path);
    snprintf(path, PATH_MAX, "%s", text);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(setting->name, options[i]) == 0)
            return true;
    if (strcmp(setting->name, "preset") == 0)
        return strchr(text, '/') != NULL || ends_in(text, ".yaml");
    return strcmp(setting->name, "algorithm") == 0 && ccl_is_schedule_file(text);
}

/* A file that cannot be read counts as empty; its points will report it. So does a device or a
 * pipe, which may be endless. */
static void digest_file(XXH3_state_t *state, const char *path)
{
    static const size_t block = 65536;
    struct stat status;
    const bool is_file = stat(path, &status) == 0 && S_ISREG(status.st_mode);
    FILE *const file = is_file ? fopen(path, "rbe") : NULL;
    char *const bytes = file != NULL ? malloc(block) : NULL;
    for (size_t read; bytes != NULL && (read = fread(bytes, 1, block, file)) > 0;)
        (void)XXH3_128bits_update(state, bytes, read);
    free(bytes);
    if (file != NULL)
        fclose(file);
}

static void put_digest(XXH3_state_t *state, char digest[STUDY_DIGEST_BYTES])
{
    const XXH128_hash_t hash = XXH3_128bits_digest(state);
    snprintf(digest, STUDY_DIGEST_BYTES, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}

static void digest_point(XXH3_state_t *state, struct study *study, uint32_t number)
{
    struct study_point *const point = &study->points[number];
    char path[PATH_MAX];
    struct study_settings settings = study_settings_of(study, number);
    study->arena.failed |= settings.list == NULL;
    if (settings.count > 1)
        qsort(settings.list, settings.count, sizeof *settings.list, compare_names);
    (void)XXH3_128bits_reset(state);
    for (uint32_t i = 0; i < settings.count; i++) {
        const struct study_setting *const setting = &settings.list[i];
        const char *const texts[] = {setting->option, setting->argument};
        for (size_t k = 0; k < 2 && !setting->is_off; k++)
            if (texts[k] != NULL)
                (void)XXH3_128bits_update(state, texts[k], strlen(texts[k]) + 1);
        if (!setting->is_off && names_file(setting, path))
            digest_file(state, path);
    }
    put_digest(state, point->digest);
    free(settings.list);
}

static int compare_points(const void *left, const void *right)
{
    const struct study_point *const *const a = left;
    const struct study_point *const *const b = right;
    const int order = strcmp((*a)->digest, (*b)->digest);
    return order != 0 ? order : (*a > *b) - (*a < *b);
}

/* Points with equal settings would share one row of the database. */
static void check_distinct(struct making *making)
{
    struct study *const study = making->study;
    const struct study_point **const sorted = calloc(study->point_count, sizeof *sorted);
    study->arena.failed |= sorted == NULL;
    for (uint32_t i = 0; i < study->point_count && sorted != NULL; i++)
        sorted[i] = &study->points[i];
    if (sorted != NULL)
        qsort(sorted, study->point_count, sizeof *sorted, compare_points);
    for (uint32_t i = 1; i < study->point_count && sorted != NULL; i++)
        if (strcmp(sorted[i - 1]->digest, sorted[i]->digest) == 0) {
            char *const a = study_label(study, (uint32_t)(sorted[i - 1] - study->points));
            char *const b = study_label(study, (uint32_t)(sorted[i] - study->points));
            config_error(making->loader, study->axes[0].place,
                         "two points have the same settings: %s; and %s", a != NULL ? a : "",
                         b != NULL ? b : "");
            free(a);
            free(b);
            break;
        }
    free(sorted);
}

static void digest_all(struct making *making)
{
    struct study *const study = making->study;
    XXH3_state_t *const state = XXH3_createState();
    if (state == NULL) {
        study->arena.failed = true;
        return;
    }
    for (uint32_t i = 0; i < study->point_count; i++)
        digest_point(state, study, i);
    (void)XXH3_128bits_reset(state);
    for (uint32_t i = 0; i < study->point_count; i++)
        (void)XXH3_128bits_update(state, study->points[i].digest, STUDY_DIGEST_BYTES);
    put_digest(state, study->digest);
    XXH3_freeState(state);
    check_distinct(making);
}

void study_points_make(struct config_loader *loader, struct study *study,
                       const struct config_node *exclude, const struct config_node *equal_cost)
{
    struct making making = {.loader = loader, .study = study};
    if (exclude != NULL)
        read_exclusions(&making, exclude);
    if (loader->errors->count > 0)
        return;
    combine(&making);
    for (uint32_t i = 0; i < study->point_count && loader->errors->count < MESSAGES_MAX; i++)
        check_options(&making, i);
    if (loader->errors->count == 0 && !study->arena.failed)
        study_check_known(loader, study);
    if (loader->errors->count == 0 && !study->arena.failed && equal_cost != NULL)
        study_equal_cost(loader, study, equal_cost);
    if (loader->errors->count == 0 && !study->arena.failed)
        digest_all(&making);
}
