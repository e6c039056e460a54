/*
 * cmd_verify.c: `cubewarp verify`: runs a configuration sequentially and in the given mode. The
 * trace hash, the data hashes and every result must be equal. Only the engine's own figures may
 * differ: rounds, rollbacks, memory, wall time. And `cubewarp batch`, whose program is
 * bench/programs/batch.c.
 */
#include "bench/cli/cmd_verify.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "bench/programs/batch.h"
#include "bench/programs/bench.h"
#include "bench/programs/shortcuts.h"
#include "bench/cli/cli.h"
#include "bench/options/options_run.h"
#include "bench/output/report.h"
#include "bench/output/report_json.h"
#include "bench/result/interrupt.h"
#include "collectives/config/config_load.h"
#include "collectives/plugin.h"

enum { NAME_BYTES = 96, VALUE_BYTES = 128 };

/* The table that is being printed. */
struct comparison {
    size_t differences;
    char first[200]; /* the first difference, in words */
};

static void compare_texts(struct comparison *comparison, const char *name, const char *a,
                          const char *b)
{
    const bool same = strcmp(a, b) == 0;
    printf("%-44s %20s %20s %s\n", name, a, b, same ? "same" : "DIFFERENT");
    if (!same && comparison->differences++ == 0)
        snprintf(comparison->first, sizeof comparison->first, "%.60s: %.60s, then %.60s", name, a,
                 b);
}

/* A value as the table shows it. Values with equal texts have equal bits: 17 digits distinguish any
 * two numbers, and times have three decimals. */
static const char *print_value(const json_t *value, bool is_ns, char text[VALUE_BYTES])
{
    if (value == NULL || json_is_null(value))
        snprintf(text, VALUE_BYTES, "none");
    else if (json_is_string(value))
        snprintf(text, VALUE_BYTES, "%s", json_string_value(value));
    else if (json_is_array(value))
        snprintf(text, VALUE_BYTES, "%zu", json_array_size(value));
    else if (json_is_real(value))
        snprintf(text, VALUE_BYTES, is_ns ? "%.3f" : "%.17g", json_real_value(value));
    else
        snprintf(text, VALUE_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return text;
}

static void compare_members(struct comparison *comparison, const char *first, const char *prefix,
                            json_t *a, json_t *b);

/* How the lines of a list's items begin: with the item's own name, if its first 24 letters are
 * unique; else with its place in the list. */
static const struct {
    const char *list, *item, *name;
} item_names[] = {{"phases", "phases", "name"},
                  {"link_kinds", "link_kinds", "kind"},
                  {"busiest links", "busiest", NULL}};

/* The items that both lists have. */
static void compare_items(struct comparison *comparison, const char *prefix, const char *list,
                          json_t *a, json_t *b)
{
    const char *item = list, *name_key = NULL;
    for (size_t i = 0; i < sizeof item_names / sizeof *item_names; i++)
        if (strcmp(list, item_names[i].list) == 0) {
            item = item_names[i].item;
            name_key = item_names[i].name;
        }
    for (size_t i = 0; i < json_array_size(a) && i < json_array_size(b); i++) {
        json_t *const item_a = json_array_get(a, i), *const item_b = json_array_get(b, i);
        char place[NAME_BYTES + 16], name[NAME_BYTES];
        snprintf(place, sizeof place, "%.30s%.30s[%zu] ", prefix, item, i);
        if (name_key != NULL)
            snprintf(name, sizeof name, "%.30s%.24s ", prefix,
                     json_string_value(json_object_get(item_a, name_key)));
        compare_members(comparison, place, name_key != NULL ? name : place, item_a, item_b);
    }
}

/* All members of two objects, in their order, so that a new member is compared automatically. The
 * line of the first member begins with `first`, the others with `prefix`. */
static void compare_members(struct comparison *comparison, const char *first, const char *prefix,
                            json_t *a, json_t *b)
{
    bool is_first = true;
    const char *key;
    json_t *value;
    json_object_foreach(a, key, value)
    {
        json_t *const other = json_object_get(b, key);
        const size_t length = strlen(key);
        const bool is_ns = length > 3 && strcmp(key + length - 3, "_ns") == 0;
        char name[NAME_BYTES], text_a[VALUE_BYTES], text_b[VALUE_BYTES];
        snprintf(name, sizeof name, "%.48s%.30s", is_first ? first : prefix, key);
        is_first = false;
        compare_texts(comparison, name, print_value(value, is_ns, text_a),
                      print_value(other, is_ns, text_b));
        if (json_is_array(value))
            compare_items(comparison, prefix, key, value, other);
    }
}

static int compare_results(const struct result *a, const struct result *b, struct cw_error *error)
{
    struct comparison comparison = {0};
    char threads[32];
    json_t *const json_a = report_comparison_json(a), *const json_b = report_comparison_json(b);
    const bool complete = json_a != NULL && json_b != NULL;
    snprintf(threads, sizeof threads, "%.20s x %" PRIu32, b->engine.sync, b->engine.threads);
    printf("# configuration %s\n", a->config_digest);
    printf("%-44s %20s %20s\n", "# what", "sequential", threads);
    if (complete)
        compare_members(&comparison, "", "", json_a, json_b);
    json_decref(json_a);
    json_decref(json_b);
    if (!complete)
        return cw_error_memory(error, "the comparison");
    report_stress(stdout, &b->engine.stats);
    if (comparison.differences == 0) {
        puts("identical");
        return CW_OK;
    }
    printf("first difference: %s\n", comparison.first);
    return cw_error_set(error, CW_BUG, "%zu differences; the first: %s", comparison.differences,
                        comparison.first);
}

/* Both runs; the options' mode is restored between them. */
static int verify_run(struct run_options *options, const struct config *config,
                      struct cw_error *error)
{
    struct result sequential = {0};
    struct result given = {0};
    const enum cw_sync sync = options->engine.sync;
    const uint32_t threads = options->engine.worker_count;
    int code = run_options_check(options, &config->hw, error);
    shortcuts_off(options); /* all committed events are compared */
    if (code == CW_OK) {
        options->engine.sync = CW_SEQUENTIAL;
        options->engine.worker_count = 1;
        code = bench_run(options, config, &sequential, error);
        options->engine.sync = sync;
        options->engine.worker_count = threads;
    }
    if (code == CW_OK)
        code = bench_run(options, config, &given, error);
    if (code == CW_OK)
        code = compare_results(&sequential, &given, error);
    if (code == CW_OK) /* identical, but it may be identically wrong */
        code = result_judge(&given, config->hw.contention != HW_CONTENTION_NONE,
                            plugin_is_path(config->ccl.module), error);
    result_free(&sequential);
    result_free(&given);
    return code;
}

int verify_main(int argc, char **argv)
{
    struct run_options options;
    struct config *config;
    struct cw_error error = {.exit_code = CW_OK};
    int code = cli_begin(&options, COMMAND_VERIFY, argc, argv, &config);
    if (config == NULL)
        return code;
    options.engine.stop = interrupt_asked;
    cli_watch("verify");
    code = verify_run(&options, config, &error);
    if (code == CW_INTERRUPTED)
        cli_end_interrupted("verify");
    interrupt_end();
    config_free(config);
    return cli_end_with("verify", code, &error);
}

int batch_main(int argc, char **argv)
{
    struct run_options options;
    struct config *config;
    struct cw_error error = {.exit_code = CW_OK};
    int code = cli_begin(&options, COMMAND_BATCH, argc, argv, &config);
    if (config == NULL)
        return code;
    options.engine.stop = interrupt_asked;
    cli_watch("batch");
    code = batch_run_all(&options, config, &error);
    if (code == CW_INTERRUPTED)
        cli_end_interrupted("batch");
    interrupt_end();
    config_free(config);
    return cli_end_with("batch", code, &error);
}
