/*
 * perf_json.c: writing and reading (perf_json.h). Times are in ms, one iteration per entry: a case
 * is run once in a round.
 */
#include "perf/perf_json.h"

#include <jansson.h>
#include <string.h>

#include "collectives/config/input/json_file.h"
#include "collectives/config/input/nearest_file.h"
#include "perf/perf_table.h"

/* Adds a member and takes the value; a missing value (no memory) makes the object fail. */
static void perf_json_put(json_t **object, const char *key, json_t *value)
{
    if (json_object_set_new(*object, key, value) == 0) /* without an object it frees the value */
        return;
    json_decref(*object);
    *object = NULL;
}

static void put_u64(json_t **object, const char *key, uint64_t value)
{
    perf_json_put(object, key, json_integer((json_int_t)value));
}

static void put_real(json_t **object, const char *key, double value)
{
    perf_json_put(object, key, json_real(value));
}

static void put_text(json_t **object, const char *key, const char *value)
{
    perf_json_put(object, key, json_string(value));
}

/* ---- writing --------------------------------------------------------------------------------- */

static json_t *context_json(const struct perf_run *run)
{
    json_t *own = json_object();
    put_text(&own, "version", run->version);
    put_text(&own, "commit", run->commit);
    put_text(&own, "set", run->set);
    put_text(&own, "cpu", run->machine.cpu);
    put_text(&own, "kernel", run->machine.kernel);
    put_text(&own, "state", perf_state_name[perf_state_of_run(run)]);
    json_t *context = json_object();
    put_text(&context, "date", run->started);
    put_text(&context, "host_name", run->machine.host);
    put_text(&context, "executable", "cubewarp");
    put_u64(&context, "num_cpus", run->machine.cores);
    perf_json_put(&context, "caches", json_array());
    put_text(&context, "library_build_type", "release");
    perf_json_put(&context, "cubewarp", own);
    return context;
}

/* The members with which entries of rounds and of aggregates begin. */
static json_t *entry_begin(const struct perf_run *run, size_t index, const char *suffix,
                           const char *run_type)
{
    const struct perf_case_run *const measured = &run->cases[index];
    char name[PERF_NAME_BYTES + 16];
    snprintf(name, sizeof name, "%s%s", measured->name, suffix);
    json_t *entry = json_object();
    put_text(&entry, "name", name);
    put_u64(&entry, "family_index", index);
    put_u64(&entry, "per_family_instance_index", 0);
    put_text(&entry, "run_name", measured->name);
    put_text(&entry, "run_type", run_type);
    put_u64(&entry, "repetitions", measured->sample_count);
    return entry;
}

static void put_calibration(json_t **entry, const char *when,
                            const struct perf_calibration *calibration)
{
    char key[32];
    snprintf(key, sizeof key, "loop_ns_%s", when);
    put_real(entry, key, calibration->loop_ns);
    snprintf(key, sizeof key, "gain_%s", when);
    put_real(entry, key, calibration->gain);
    snprintf(key, sizeof key, "line_ns_%s", when);
    put_real(entry, key, calibration->line_ns);
}

static json_t *sample_json(const struct perf_run *run, size_t index,
                           const struct perf_sample *sample)
{
    json_t *entry = entry_begin(run, index, "", "iteration");
    put_u64(&entry, "repetition_index", sample->round);
    put_u64(&entry, "threads", run->cases[index].threads);
    put_u64(&entry, "iterations", 1);
    put_real(&entry, "real_time", sample->run_s * 1e3);
    put_real(&entry, "cpu_time", sample->cpu_s * 1e3);
    put_text(&entry, "time_unit", "ms");
    put_real(&entry, "items_per_second", sample->events_per_s);
    put_text(&entry, "label", run->cases[index].command);
    put_u64(&entry, "events", sample->events);
    put_text(&entry, "results", sample->results);
    put_real(&entry, "setup_s", sample->setup_s);
    put_real(&entry, "efficiency", sample->efficiency);
    put_u64(&entry, "peak_rss_bytes", sample->rss_bytes);
    put_calibration(&entry, "before", &sample->before);
    put_calibration(&entry, "after", &sample->after);
    put_u64(&entry, "repeats", sample->repeats);
    put_u64(&entry, "disturbed", sample->disturbed);
    return entry;
}

static json_t *aggregate_json(const struct perf_run *run, size_t index, const char *name)
{
    const struct perf_case_run *const measured = &run->cases[index];
    const struct perf_summary summary = perf_summary_of(measured, PERF_MIXED);
    const bool is_median = strcmp(name, "median") == 0;
    char suffix[16];
    snprintf(suffix, sizeof suffix, "_%s", name);
    /* As in the form's own tools, the aggregate of each figure by itself. */
    double real_ms[256], cpu_ms[256];
    size_t count = 0;
    for (size_t i = 0; i < measured->sample_count && count < 256; i++, count++) {
        real_ms[count] = measured->samples[i].run_s * 1e3;
        cpu_ms[count] = measured->samples[i].cpu_s * 1e3;
    }
    const struct perf_spread real = perf_spread_of(real_ms, count);
    const struct perf_spread cpu = perf_spread_of(cpu_ms, count);
    json_t *entry = entry_begin(run, index, suffix, "aggregate");
    put_u64(&entry, "threads", measured->threads);
    put_text(&entry, "aggregate_name", name);
    put_text(&entry, "aggregate_unit", "time");
    put_u64(&entry, "iterations", measured->sample_count);
    put_real(&entry, "real_time", is_median ? real.median : real.stddev);
    put_real(&entry, "cpu_time", is_median ? cpu.median : cpu.stddev);
    put_text(&entry, "time_unit", "ms");
    put_real(&entry, "items_per_second",
             is_median ? summary.events_per_s.median : summary.events_per_s.stddev);
    return entry;
}

static void perf_json_append(json_t **list, json_t *entry)
{
    if (json_array_append_new(*list, entry) == 0)
        return;
    json_decref(*list);
    *list = NULL;
}

int perf_json_write(FILE *file, const struct perf_run *run, struct cw_error *error)
{
    json_t *list = json_array();
    for (size_t i = 0; i < run->case_count; i++) {
        for (size_t k = 0; k < run->cases[i].sample_count; k++)
            perf_json_append(&list, sample_json(run, i, &run->cases[i].samples[k]));
        perf_json_append(&list, aggregate_json(run, i, "median"));
        perf_json_append(&list, aggregate_json(run, i, "stddev"));
    }
    json_t *root = json_object();
    perf_json_put(&root, "context", context_json(run));
    perf_json_put(&root, "benchmarks", list);
    const bool written = root != NULL &&
                         json_dumpf(root, file, JSON_INDENT(2) | JSON_REAL_PRECISION(10)) == 0 &&
                         fputc('\n', file) != EOF;
    json_decref(root);
    if (written || ferror(file))
        return CW_OK;
    return cw_error_memory(error, "the JSON result");
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A text that is too long is cut between two characters, so that it is written again. */
static void get_text(const json_t *object, const char *key, char *text, size_t bytes)
{
    const char *const value = json_string_value(json_object_get(object, key));
    size_t length = value != NULL ? strlen(value) : 0;
    if (length >= bytes)
        for (length = bytes - 1; length > 0 && ((unsigned char)value[length] & 0xc0) == 0x80;)
            length--;
    if (length > 0)
        memcpy(text, value, length);
    text[length] = '\0';
}

static double get_real(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static uint64_t get_u64(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

static struct perf_calibration get_calibration(const json_t *entry, const char *when)
{
    char loop[32], gain[32], line[32];
    snprintf(loop, sizeof loop, "loop_ns_%s", when);
    snprintf(gain, sizeof gain, "gain_%s", when);
    snprintf(line, sizeof line, "line_ns_%s", when);
    const struct perf_calibration calibration = {get_real(entry, loop), get_real(entry, gain),
                                                 get_real(entry, line)};
    return calibration;
}

static void read_context(const json_t *context, struct perf_run *run)
{
    const json_t *const own = json_object_get(context, "cubewarp");
    get_text(context, "date", run->started, sizeof run->started);
    get_text(context, "host_name", run->machine.host, sizeof run->machine.host);
    run->machine.cores = (uint32_t)get_u64(context, "num_cpus");
    get_text(own, "cpu", run->machine.cpu, sizeof run->machine.cpu);
    get_text(own, "kernel", run->machine.kernel, sizeof run->machine.kernel);
    get_text(own, "commit", run->commit, sizeof run->commit);
    get_text(own, "version", run->version, sizeof run->version);
    get_text(own, "set", run->set, sizeof run->set);
    perf_run_clean(run);
}

static struct perf_case_run *case_named(struct perf_run *run, const json_t *entry)
{
    char name[PERF_NAME_BYTES], command[PERF_COMMAND_BYTES];
    get_text(entry, "run_name", name, sizeof name);
    get_text(entry, "label", command, sizeof command);
    perf_name_clean(name);
    for (size_t i = 0; i < run->case_count; i++)
        if (strcmp(run->cases[i].name, name) == 0)
            return &run->cases[i];
    return perf_run_add(run, name, command, (uint32_t)get_u64(entry, "threads"));
}

/* The i-th of the benchmarks. */
static int read_entry(struct perf_run *run, const char *path, const json_t *entry, size_t i,
                      struct cw_error *error)
{
    const char *const type = json_string_value(json_object_get(entry, "run_type"));
    if (type == NULL || strcmp(type, "iteration") != 0)
        return CW_OK;
    struct perf_case_run *const measured = case_named(run, entry);
    struct perf_sample sample = {
        .round = (uint32_t)get_u64(entry, "repetition_index"),
        .repeats = (uint32_t)get_u64(entry, "repeats"),
        .disturbed = get_u64(entry, "disturbed") != 0,
        .events_per_s = get_real(entry, "items_per_second"),
        .run_s = get_real(entry, "real_time") * 1e-3,
        .setup_s = get_real(entry, "setup_s"),
        .cpu_s = get_real(entry, "cpu_time") * 1e-3,
        .efficiency = get_real(entry, "efficiency"),
        .events = get_u64(entry, "events"),
        .rss_bytes = get_u64(entry, "peak_rss_bytes"),
        .before = get_calibration(entry, "before"),
        .after = get_calibration(entry, "after"),
    };
    get_text(entry, "results", sample.results, sizeof sample.results);
    perf_name_clean(sample.results);
    if (!perf_sample_is_sound(&sample))
        return cw_error_set(error, CW_USAGE,
                            "%.400s: benchmarks[%zu]: a figure below 0 or above 1e15, which no "
                            "measurement has",
                            path, i);
    return measured != NULL && perf_case_add(measured, &sample)
               ? CW_OK
               : cw_error_set(error, CW_NO_RESOURCE, "out of memory for %.400s", path);
}

static int perf_json_reject(struct cw_error *error, const char *path, int line, int column,
                            const char *reason)
{
    return cw_error_set(error, CW_USAGE, "%.400s:%d:%d: %.400s", path, line, column, reason);
}

int perf_json_read(const char *path, struct perf_run *run, struct cw_error *error)
{
    json_error_t wrong;
    char meant[NEAREST_FILE_BYTES];
    int number;
    *run = (struct perf_run){.case_count = 0};
    json_t *const root = json_file_read(path, JSON_REJECT_DUPLICATES, &wrong, &number);
    if (root == NULL && number != 0)
        return cw_error_set(error, CW_USAGE, "cannot read %.400s: %s%s", path, strerror(number),
                            nearest_file_hint(path, NULL, meant));
    if (root == NULL && wrong.column == 0 && wrong.position == 0) /* an empty file */
        return cw_error_set(error, CW_USAGE,
                            "%.400s: nothing can be read from it; expected a result of 'cubewarp "
                            "perf run --json'",
                            path);
    if (root == NULL)
        return perf_json_reject(error, path, wrong.line > 0 ? wrong.line : 1,
                                wrong.column > 0 ? wrong.column : 1, wrong.text);
    const json_t *const list = json_object_get(root, "benchmarks");
    const json_t *const context = json_object_get(root, "context");
    int result = CW_OK;
    if (!json_is_array(list) || !json_is_object(json_object_get(context, "cubewarp")))
        result = perf_json_reject(error, path, 1, 1, "not a result of 'cubewarp perf run --json'");
    else
        read_context(context, run);
    for (size_t i = 0; result == CW_OK && i < json_array_size(list); i++)
        result = read_entry(run, path, json_array_get(list, i), i, error);
    json_decref(root);
    return result;
}
