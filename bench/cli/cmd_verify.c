/*
 * cmd_verify.c: `cubewarp verify`: the same configuration run sequentially and as asked for; the
 * trace hash, the data hashes and every result must be equal. What may differ is what the engine
 * did to get there: rounds, rollbacks, memory, wall time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/programs/bench.h"
#include "bench/cli/cli.h"
#include "bench/cli/options_run.h"
#include "bench/output/report.h"
#include "collectives/config/config_load.h"
#include "collectives/plugin.h"

#define VALUE_BYTES 80u

/* The table that is being printed. */
struct comparison {
    size_t differences;
    char first[200]; /* the first difference, in words */
};

static void cmd_verify_compare(struct comparison *comparison, const char *name, const char *a,
                               const char *b)
{
    const bool same = strcmp(a, b) == 0;
    printf("%-44s %20s %20s %s\n", name, a, b, same ? "same" : "DIFFERENT");
    if (!same && comparison->differences++ == 0)
        snprintf(comparison->first, sizeof comparison->first, "%.60s: %.60s, then %.60s", name, a,
                 b);
}

static void compare_hash(struct comparison *comparison, const char *name, bool has_a, uint64_t a,
                         bool has_b, uint64_t b)
{
    char text_a[VALUE_BYTES] = "none";
    char text_b[VALUE_BYTES] = "none";
    if (has_a)
        snprintf(text_a, sizeof text_a, "%016" PRIx64, a);
    if (has_b)
        snprintf(text_b, sizeof text_b, "%016" PRIx64, b);
    cmd_verify_compare(comparison, name, text_a, text_b);
}

static void compare_count(struct comparison *comparison, const char *name, uint64_t a, uint64_t b)
{
    char text_a[VALUE_BYTES];
    char text_b[VALUE_BYTES];
    snprintf(text_a, sizeof text_a, "%" PRIu64, a);
    snprintf(text_b, sizeof text_b, "%" PRIu64, b);
    cmd_verify_compare(comparison, name, text_a, text_b);
}

/* -1: not verified, which is not the same as 0. */
static void compare_wrong(struct comparison *comparison, const char *name, int64_t a, int64_t b)
{
    char text_a[VALUE_BYTES] = "none";
    char text_b[VALUE_BYTES] = "none";
    if (a >= 0)
        snprintf(text_a, sizeof text_a, "%" PRId64, a);
    if (b >= 0)
        snprintf(text_b, sizeof text_b, "%" PRId64, b);
    cmd_verify_compare(comparison, name, text_a, text_b);
}

static void compare_ns(struct comparison *comparison, const char *name, int64_t a, int64_t b)
{
    char text_a[REPORT_NUMBER_BYTES];
    char text_b[REPORT_NUMBER_BYTES];
    cmd_verify_compare(comparison, name, report_ns(a, text_a), report_ns(b, text_b));
}

/* To the bit: 17 digits tell any two doubles apart. */
static void compare_mean(struct comparison *comparison, const char *name, double a, double b)
{
    char text_a[VALUE_BYTES];
    char text_b[VALUE_BYTES];
    snprintf(text_a, sizeof text_a, "%.17g", a);
    snprintf(text_b, sizeof text_b, "%.17g", b);
    cmd_verify_compare(comparison, name, text_a, text_b);
}

static void compare_phases(struct comparison *comparison, size_t index, const struct result_row *a,
                           const struct result_row *b)
{
    const size_t count = a->phase_count < b->phase_count ? a->phase_count : b->phase_count;
    char name[VALUE_BYTES];
    snprintf(name, sizeof name, "results[%zu] phases", index);
    compare_count(comparison, name, a->phase_count, b->phase_count);
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "results[%zu] phases[%zu] name", index, i);
        cmd_verify_compare(comparison, name, a->phases[i].name, b->phases[i].name);
        snprintf(name, sizeof name, "results[%zu] %.24s min_ns", index, a->phases[i].name);
        compare_ns(comparison, name, a->phases[i].min_ps, b->phases[i].min_ps);
        snprintf(name, sizeof name, "results[%zu] %.24s mean_ps", index, a->phases[i].name);
        compare_mean(comparison, name, a->phases[i].mean_ps, b->phases[i].mean_ps);
        snprintf(name, sizeof name, "results[%zu] %.24s max_ns", index, a->phases[i].name);
        compare_ns(comparison, name, a->phases[i].max_ps, b->phases[i].max_ps);
    }
}

static void compare_link_kinds(struct comparison *comparison, size_t index,
                               const struct result_row *a, const struct result_row *b)
{
    const size_t count = a->kind_count < b->kind_count ? a->kind_count : b->kind_count;
    char name[VALUE_BYTES];
    snprintf(name, sizeof name, "results[%zu] link_kinds", index);
    compare_count(comparison, name, a->kind_count, b->kind_count);
    for (size_t i = 0; i < count; i++) {
        const struct result_link_kind *const kind_a = &a->kinds[i], *const kind_b = &b->kinds[i];
        snprintf(name, sizeof name, "results[%zu] link_kinds[%zu] kind", index, i);
        cmd_verify_compare(comparison, name, kind_a->name, kind_b->name);
        snprintf(name, sizeof name, "results[%zu] %.24s links", index, kind_a->name);
        compare_count(comparison, name, kind_a->links, kind_b->links);
        snprintf(name, sizeof name, "results[%zu] %.24s bytes", index, kind_a->name);
        compare_count(comparison, name, kind_a->bytes, kind_b->bytes);
        snprintf(name, sizeof name, "results[%zu] %.24s busy_ns", index, kind_a->name);
        compare_ns(comparison, name, kind_a->busy_ps, kind_b->busy_ps);
    }
}

static void compare_busiest(struct comparison *comparison, size_t index, const struct result_row *a,
                            const struct result_row *b)
{
    const size_t count = a->link_count < b->link_count ? a->link_count : b->link_count;
    char name[VALUE_BYTES];
    snprintf(name, sizeof name, "results[%zu] busiest links", index);
    compare_count(comparison, name, a->link_count, b->link_count);
    for (size_t i = 0; i < count; i++) {
        const struct result_link *const link_a = &a->links[i], *const link_b = &b->links[i];
        snprintf(name, sizeof name, "results[%zu] busiest[%zu] name", index, i);
        cmd_verify_compare(comparison, name, link_a->name, link_b->name);
        snprintf(name, sizeof name, "results[%zu] busiest[%zu] bytes", index, i);
        compare_count(comparison, name, link_a->bytes, link_b->bytes);
        snprintf(name, sizeof name, "results[%zu] busiest[%zu] busy_ns", index, i);
        compare_ns(comparison, name, link_a->busy_ps, link_b->busy_ps);
        snprintf(name, sizeof name, "results[%zu] busiest[%zu] longest queue_ns", index, i);
        compare_ns(comparison, name, link_a->queue_ps_max, link_b->queue_ps_max);
    }
}

static void compare_rows(struct comparison *comparison, size_t index, const struct result_row *a,
                         const struct result_row *b)
{
    const struct {
        const char *name;
        int64_t a, b;
    } times[] = {
        {"time_ns", a->time_ps, b->time_ps},
        {"host_time_ns", a->host_time_ps, b->host_time_ps},
        {"start_skew_ns", a->start_skew_ps, b->start_skew_ps},
        {"bound_ns", a->bound_ps, b->bound_ps},
    };
    char name[VALUE_BYTES];
    snprintf(name, sizeof name, "results[%zu] bytes", index);
    compare_count(comparison, name, a->bytes, b->bytes);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        snprintf(name, sizeof name, "results[%zu] %s", index, times[i].name);
        compare_ns(comparison, name, times[i].a, times[i].b);
    }
    snprintf(name, sizeof name, "results[%zu] wrong", index);
    compare_wrong(comparison, name, a->wrong, b->wrong);
    snprintf(name, sizeof name, "results[%zu] data_hash", index);
    compare_hash(comparison, name, a->has_hash, a->data_hash, b->has_hash, b->data_hash);
    compare_phases(comparison, index, a, b);
    compare_link_kinds(comparison, index, a, b);
    compare_busiest(comparison, index, a, b);
}

static int compare_results(const struct result *a, const struct result *b, struct cw_error *error)
{
    struct comparison comparison = {0};
    char threads[32];
    snprintf(threads, sizeof threads, "%.20s x %" PRIu32, b->engine.sync, b->engine.threads);
    printf("# configuration %s\n", a->config_digest);
    printf("%-44s %20s %20s\n", "# what", "sequential", threads);
    compare_hash(&comparison, "trace_hash", true, a->engine.stats.trace_hash, true,
                 b->engine.stats.trace_hash);
    compare_count(&comparison, "events_committed", a->engine.stats.events_committed,
                  b->engine.stats.events_committed);
    compare_ns(&comparison, "sim_time_ns", a->sim_time_ps, b->sim_time_ps);
    compare_ns(&comparison, "init_time_ns", a->init_time_ps, b->init_time_ps);
    cmd_verify_compare(&comparison, "algorithm", a->algorithm, b->algorithm);
    compare_count(&comparison, "ipcq_messages", a->engine.ipcq_messages, b->engine.ipcq_messages);
    compare_count(&comparison, "results", a->row_count, b->row_count);
    const size_t count = a->row_count < b->row_count ? a->row_count : b->row_count;
    for (size_t i = 0; i < count; i++)
        compare_rows(&comparison, i, &a->rows[i], &b->rows[i]);
    report_stress(stdout, &b->engine.stats);
    if (comparison.differences == 0) {
        puts("identical");
        return CW_OK;
    }
    printf("first difference: %s\n", comparison.first);
    snprintf(error->text, sizeof error->text, "%zu differences; the first: %s",
             comparison.differences, comparison.first);
    error->exit_code = CW_BUG;
    return CW_BUG;
}

/* Both runs; the options' mode is restored between them. */
static int cmd_verify_verify(struct run_options *options, const struct config *config,
                             struct cw_error *error)
{
    struct result sequential = {0};
    struct result given = {0};
    const enum cw_sync sync = options->sync;
    const uint32_t threads = options->threads;
    int code = run_options_check(options, &config->hw, error);
    if (code == CW_OK) {
        options->sync = CW_SEQUENTIAL;
        options->threads = 1;
        code = bench_run(options, config, &sequential, error);
        options->sync = sync;
        options->threads = threads;
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
    code = cmd_verify_verify(&options, config, &error);
    config_free(config);
    code = cli_end("verify", code);
    return error.exit_code != CW_OK ? cli_fail("verify", &error) : code;
}
