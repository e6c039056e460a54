/*
 * provenance.c: makes the object "provenance" of a result (provenance.h).
 */
#include "bench/result/provenance.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/output/report_json.h"
#include "bench/result/changed_values.h"
#include "collectives/config/config_print.h"
#include "collectives/config/config_load.h"
#include "core/cw.h"

/* Of the build (bench/build_commit.c); absent where the tests link this file. */
extern const char cw_build_commit[] __attribute__((weak));
extern const char cw_build_compiler[] __attribute__((weak));

/* Takes the value; false: no memory. */
static bool put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

static json_t *list_of_line(int argc, char *const *argv)
{
    json_t *const list = json_array();
    for (int i = 0; i < argc && list != NULL; i++)
        if (json_array_append_new(list, report_text(argv[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *date_now(void)
{
    const time_t now = time(NULL);
    struct tm utc;
    char text[32] = "";
    if (gmtime_r(&now, &utc) != NULL)
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return json_string(text);
}

json_t *provenance_of_line(int argc, char *const *argv)
{
    const char *const volatile commit = cw_build_commit, *const volatile compiler =
                                                             cw_build_compiler;
    char host[256] = "", folder[PATH_MAX] = "";
    (void)gethostname(host, sizeof host - 1);
    if (getcwd(folder, sizeof folder) == NULL)
        folder[0] = '\0';
    json_t *const object = json_object();
    if (object != NULL && put(object, "command_line", list_of_line(argc, argv)) &&
        put(object, "folder", report_text(folder)) &&
        put(object, "version", json_string(CW_VERSION)) &&
        put(object, "commit", json_string(commit != NULL ? commit : "unknown")) &&
        put(object, "compiler", json_string(compiler != NULL ? compiler : "unknown")) &&
        put(object, "host", report_text(host)) && put(object, "date", date_now()))
        return object;
    json_decref(object);
    return NULL;
}

/* ---- of a run -------------------------------------------------------------------------------- */

static json_t *tags_of(const struct run_options *options)
{
    json_t *const tags = json_object();
    for (size_t i = 0; i < options->tag_count && tags != NULL; i++) {
        char name[64];
        const size_t bytes = strcspn(options->tags[i], "=");
        snprintf(name, sizeof name, "%.*s", (int)bytes, options->tags[i]);
        if (!put(tags, name, report_text(options->tags[i] + bytes + 1))) {
            json_decref(tags);
            return NULL;
        }
    }
    return tags;
}

/* Values that are added to two objects, until one fails. */
struct adding {
    json_t *changed, *shipped;
    bool failed;
};

static void add_changed(void *arg, const char *path, const char *value, const char *shipped)
{
    struct adding *const adding = arg;
    adding->failed |=
        !put(adding->changed, path, value != NULL ? report_text(value) : json_null()) ||
        !put(adding->shipped, path, shipped != NULL ? report_text(shipped) : json_null());
}

/* Adds "changed", the values that a line without options has others of, and "shipped", the values
 * that it has. Both are null where the shipped files are not found, or name code that --no-plugins
 * forbids. False: no memory. */
static bool put_changed(json_t *object, const struct config *config, bool no_plugins,
                        struct config **shipped)
{
    const struct config_request nothing = {.no_plugins = no_plugins};
    struct config_errors errors = {0};
    const bool is_known = *shipped != NULL || changed_values_are_known(config);
    const int code = is_known ? CW_OK : config_load(&nothing, shipped, &errors);
    config_errors_free(&errors);
    if (code == CW_NO_RESOURCE)
        return false;
    if (code != CW_OK)
        return put(object, "changed", json_null()) && put(object, "shipped", json_null());
    struct adding adding = {.changed = json_object(), .shipped = json_object()};
    adding.failed = adding.changed == NULL || adding.shipped == NULL;
    if (!adding.failed)
        changed_values_visit(config, *shipped, add_changed, &adding);
    const bool is_put = put(object, "changed", adding.changed);
    return put(object, "shipped", adding.shipped) && is_put && !adding.failed;
}

static json_t *loaded_of(const struct config *config)
{
    json_t *const list = json_array();
    struct config_loaded loaded;
    for (uint32_t i = 0; list != NULL && config_loaded_at(config, i, &loaded); i++) {
        char hash[17];
        snprintf(hash, sizeof hash, "%016" PRIx64, loaded.contents);
        json_t *const one = json_object();
        if (one == NULL || !put(one, "file", report_text(loaded.file)) ||
            !put(one, "xxh3", loaded.contents != 0 ? json_string(hash) : json_null()) ||
            json_array_append(list, one) != 0) {
            json_decref(one);
            json_decref(list);
            return NULL;
        }
        json_decref(one);
    }
    return list;
}

json_t *provenance_of_run(int argc, char *const *argv, const struct run_options *options,
                          const struct config *config, struct config **shipped)
{
    const char *const preset = options->config.preset;
    struct config *own = NULL;
    json_t *const object = provenance_of_line(argc, argv);
    const bool done =
        object != NULL &&
        put(object, "preset", preset != NULL ? report_text(preset) : json_null()) &&
        put(object, "tags", tags_of(options)) &&
        put_changed(object, config, options->config.no_plugins, shipped != NULL ? shipped : &own) &&
        put(object, "loaded", loaded_of(config));
    config_free(own);
    if (done)
        return object;
    json_decref(object);
    return NULL;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Adds KEY=VALUE; of two with one key the later counts, as it does in the configuration. */
static bool add_column(struct result *result, const char *text)
{
    const size_t bytes = strcspn(text, "=");
    char *const name = strndup(text, bytes);
    char *const value = strdup(text[bytes] == '=' ? text + bytes + 1 : "");
    size_t at = 0;
    while (name != NULL && at < result->column_count && strcmp(result->columns[at].name, name) != 0)
        at++;
    if (name == NULL || value == NULL) {
        free(name);
        free(value);
        return false;
    }
    if (at == result->column_count)
        result->column_count++;
    else {
        free(result->columns[at].name);
        free(result->columns[at].value);
    }
    result->columns[at] = (struct result_column){.name = name, .value = value};
    return true;
}

bool provenance_columns(const struct run_options *options, struct result *result)
{
    const size_t count = options->config.set_count + options->tag_count;
    bool done = count == 0;
    if (!done)
        result->columns = calloc(count, sizeof *result->columns);
    if (result->columns != NULL) {
        done = true;
        for (size_t i = 0; i < options->config.set_count && done; i++)
            done = add_column(result, options->sets[i]);
        for (size_t i = 0; i < options->tag_count && done; i++)
            done = add_column(result, options->tags[i]);
    }
    return done;
}
