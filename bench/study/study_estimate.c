/*
 * study_estimate.c: the formulas of estimates, and their constants, which were fitted by eye over
 * 11 algorithms, 1 to 1,024 SIPs and 1 KiB to 512 KiB on a 3 GHz core. Estimates decide which point
 * runs first, and how many at once; no result depends on them.
 */
#include "bench/study/study_estimate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/options/options.h"
#include "bench/options/options_run.h"
#include "bench/options/options_value.h"
#include "bench/programs/bench.h"
#include "bench/result/run_line.h"
#include "collectives/algorithm.h"
#include "collectives/hook.h"
#include "collectives/runtime/dist_world.h"
#include "collectives/runtime/mapper.h"
#include "core/os/host_limits.h"

#define PROCESS_BYTES           8e6
#define PE_BYTES                1900.0 /* queues, links, kernels */
#define TENSOR_FACTOR           2.4    /* tensor, result, tiles in flight */
#define PE_EVENTS               16.0   /* installation, launch, end */
#define MESSAGE_EVENTS          12.0   /* between SIPs */
#define INNER_EVENTS            6.0    /* within one */
#define PROCESS_S               0.001
#define PE_S                    1.3e-6
#define EVENT_S                 1.2e-7
#define TENSOR_BYTE_S           2.5e-9
#define MOVED_BYTE_S            1.5e-10
#define MOVED_NOT_KNOWN         2.0
#define FEW_TILES               4.0 /* up to this many, a hierarchy sends by one cube */
#define SCHEDULE_MESSAGE_BYTES  180.0
#define HIERARCHY_MESSAGE_BYTES 900.0
#define CAUSE_BYTES             50.0 /* of an event that is explained, with the walk along it */

/* ---- one point ------------------------------------------------------------------------------- */

/* How many times a rank sends a shard's bytes to others. For schedules nearly twice, like the
 * best algorithms. */
static double moved_of(const struct config *config, const struct run_options *run, uint64_t n_elem)
{
    struct cw_error ignored;
    const struct ccl_algorithm *const algorithm = ccl_algorithm_load(config->ccl.module, &ignored);
    const struct ccl_call call = {.hw = &config->hw,
                                  .ccl = &config->ccl,
                                  .collective = CCL_ALL_REDUCE,
                                  .world_size = dist_world_size_for(config),
                                  .n_elem = n_elem,
                                  .dtype = (enum lp_dtype)run->dtype};
    return algorithm != NULL && algorithm->moved != NULL && algorithm->collective == CCL_ALL_REDUCE
               ? CCL_HOOK("moved()", algorithm->moved, (&call))
               : MOVED_NOT_KNOWN * (call.world_size - 1) / call.world_size;
}

double study_estimate_shards(const struct config *config)
{
    struct cw_error ignored;
    const struct hw_config *const hw = &config->hw;
    const struct ccl_algorithm *const algorithm = ccl_algorithm_load(config->ccl.module, &ignored);
    const char *const mapper = config->ccl.mapper;
    if (strcmp(mapper, "all_pes") == 0)
        return (double)hw_cubes(hw) * hw_pes(hw);
    if (strcmp(mapper, "pe0_all_cubes") == 0)
        return hw_cubes(hw);
    if (mapper[0] != '\0' || algorithm == NULL || algorithm->takes_part == NULL)
        return 1;
    const struct ccl_call call = {.hw = hw, .ccl = &config->ccl};
    double shards = 0;
    for (uint32_t cube = 0; cube < hw_cubes(hw); cube++)
        for (uint32_t pe = 0; pe < hw_pes(hw); pe++)
            shards += CCL_HOOK("takes_part()", algorithm->takes_part, (&call, cube, pe));
    return shards > 0 ? shards : 1;
}

/*
 * The messages that a rank sends at any size; 0: few, or unknown. On 64 to 1,024 SIPs, small sizes
 * sent 1.25 to 2.1 times as many as the algorithm's hook says, hence `more`.
 */
static double messages_least(const struct config *config, const struct ccl_algorithm *algorithm)
{
    const double more = 1.3;
    if (algorithm == NULL || algorithm->messages_least == NULL)
        return 0;
    const struct ccl_call call = {.hw = &config->hw,
                                  .ccl = &config->ccl,
                                  .collective = algorithm->collective,
                                  .world_size = dist_world_size_for(config)};
    return more * CCL_HOOK("messages_least()", algorithm->messages_least, (&call));
}

/* The events of a rank's messages in one call, for shards of this many tiles. */
static double message_events(const struct config *config, double shards, double tiles, double moved)
{
    struct cw_error ignored;
    const struct ccl_algorithm *const algorithm = ccl_algorithm_load(config->ccl.module, &ignored);
    const double least = messages_least(config, algorithm), sent = tiles * moved;
    /* Each shard is sent separately. */
    if (algorithm != NULL && algorithm->schedule != NULL && !algorithm->machine.members)
        return shards * (sent > least ? sent : least) * MESSAGE_EVENTS;
    /* The shards of a rank are combined, sent as one, and distributed again. With more than a
     * few tiles, each shard of a hierarchy sends its own part. */
    const double events = sent * MESSAGE_EVENTS + tiles * 2 * (shards - 1) * INNER_EVENTS;
    const double apart = tiles > FEW_TILES ? shards * least * MESSAGE_EVENTS : 0;
    return events > apart ? events : apart;
}

/* Memory of the schedule itself: the steps of each rank, or of each shard in a hierarchy. */
static double schedule_bytes(const struct config *config, double shards, double tiles)
{
    struct cw_error ignored;
    const struct ccl_algorithm *const algorithm = ccl_algorithm_load(config->ccl.module, &ignored);
    const double messages = dist_world_size_for(config) * messages_least(config, algorithm);
    if (algorithm == NULL || !algorithm->machine.members)
        return messages * SCHEDULE_MESSAGE_BYTES;
    return tiles > FEW_TILES ? messages * shards * HIERARCHY_MESSAGE_BYTES : 0;
}

/* Adds the work of one size. `bytes` of the estimate still covers only the largest schedule. */
static void add_size(struct study_estimate *estimate, const struct config *config,
                     const struct run_options *run, uint64_t n_elem, double *tensors_most)
{
    const double ranks = dist_world_size_for(config), shards = study_estimate_shards(config);
    const double bytes =
        (double)n_elem * (double)dtype_bytes(run->dtype) / (run->sizes_per_rank ? shards : 1);
    const double times = (double)run->iterations + run->warmup;
    const double slot = config->ccl.queues.slot_bytes > 0 ? config->ccl.queues.slot_bytes : 4096;
    const double moved = moved_of(config, run, n_elem);
    const double tiles = bytes / slot < 1 ? 1 : bytes / slot;
    const double tensors = ranks * shards * bytes;
    const double events = times * (ranks * message_events(config, shards, tiles, moved) +
                                   (double)hw_pe_count(&config->hw));
    const uint64_t schedule = (uint64_t)schedule_bytes(config, shards, tiles);
    estimate->events += events;
    estimate->seconds += events * EVENT_S;
    /* Causes beyond a quarter of the machine's memory are not kept. */
    const double causes = run->explain ? events / times * CAUSE_BYTES : 0;
    const uint64_t causes_most = host_limits_memory_bytes() / 4;
    const uint64_t size_bytes =
        schedule + (causes < (double)causes_most ? (uint64_t)causes : causes_most);
    estimate->bytes = size_bytes > estimate->bytes ? size_bytes : estimate->bytes;
    if (run->no_data)
        return;
    estimate->seconds += times * (tensors * TENSOR_BYTE_S + tensors * moved * MOVED_BYTE_S);
    *tensors_most = tensors > *tensors_most ? tensors : *tensors_most;
}

struct study_estimate study_estimate_run(const struct run_options *run, const struct config *config)
{
    const double pes = (double)hw_pe_count(&config->hw);
    struct study_estimate estimate = {
        .is_known = true, .events = pes * PE_EVENTS, .seconds = PROCESS_S + pes * PE_S};
    double tensors = 0;
    for (size_t i = 0; i < run->size_count; i++)
        if (run->n_elem[i] > 0)
            add_size(&estimate, config, run, run->n_elem[i], &tensors);
    if (run->size_count == 0)
        add_size(&estimate, config, run, config->ccl.n_elem, &tensors);
    estimate.bytes += (uint64_t)(PROCESS_BYTES + pes * PE_BYTES + tensors * TENSOR_FACTOR);
    return estimate;
}

/* The configuration of the previous point: points that differ only in sizes share it. */
struct kept_config {
    char *key;             /* its settings without sizes; NULL: there is none */
    struct config *config; /* NULL: it is not legal */
    const char *bench;     /* follows from it; a static name */
};

static void forget_config(struct kept_config *kept)
{
    config_free(kept->config);
    free(kept->key);
    *kept = (struct kept_config){0};
}

/* The caller frees it; NULL: no memory. */
static char *key_of_settings(const struct study_settings *settings)
{
    static const char *const sizes[] = {"bytes",    "bytes-per-rank", "n-elem",   "minbytes",
                                        "maxbytes", "stepfactor",     "stepbytes"};
    char *text = NULL;
    size_t bytes;
    FILE *const stream = open_memstream(&text, &bytes);
    for (uint32_t i = 0; stream != NULL && i < settings->count; i++) {
        const struct study_setting *const setting = &settings->list[i];
        bool is_left_out = setting->is_off;
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            is_left_out |= strcmp(setting->name, sizes[k]) == 0;
        if (!is_left_out)
            fprintf(stream, "%s\n%s\n", setting->option,
                    setting->argument != NULL ? setting->argument : "");
    }
    return stream != NULL && fclose(stream) == 0 ? text : NULL;
}

/* `key` is taken. */
static struct study_estimate estimate_kept(struct run_options *run, char *key,
                                           struct kept_config *kept)
{
    if (key == NULL || kept->key == NULL || strcmp(key, kept->key) != 0) {
        struct config_errors errors = {0};
        const enum run_line_bench bench = run->is_bench_named ? RUN_LINE_BENCH : RUN_LINE_ANY_BENCH;
        forget_config(kept);
        kept->key = key;
        if (run_line_configure(run, bench, &kept->config, &errors) != CW_OK)
            kept->config = NULL;
        kept->bench = run->bench;
        config_errors_free(&errors);
    } else {
        free(key);
    }
    run->bench = kept->bench;
    return kept->config != NULL ? study_estimate_run(run, kept->config)
                                : (struct study_estimate){0};
}

static struct study_estimate estimate_point(const struct study *study, uint32_t point,
                                            struct kept_config *kept)
{
    struct study_estimate estimate = {0};
    struct run_options *const run = malloc(sizeof *run);
    struct option_parse parse = {.command = COMMAND_RUN, .values = run};
    struct cw_error ignored;
    struct study_settings settings = study_settings_at(study, study->points[point].at);
    if (run != NULL && settings.list != NULL) {
        run_options_defaults(run);
        if (study_settings_give(&settings, &parse, &ignored) == CW_OK)
            estimate = estimate_kept(run, key_of_settings(&settings), kept);
    }
    free(settings.list);
    free(run);
    return estimate;
}

struct study_estimate study_estimate(const struct study *study, uint32_t point)
{
    struct kept_config kept = {0};
    const struct study_estimate estimate = estimate_point(study, point, &kept);
    forget_config(&kept);
    return estimate;
}

/* ---- many points ----------------------------------------------------------------------------- */

/* Whether two settings of one name are equal. */
static bool settings_are_equal(const struct study_setting *a, const struct study_setting *b)
{
    return a->is_off == b->is_off && (a->argument == NULL) == (b->argument == NULL) &&
           (a->argument == NULL || strcmp(a->argument, b->argument) == 0);
}

/* Whether a setting may change the amount of work. */
static bool is_of_size(const struct study_setting *setting)
{
    static const char *const speeds[] = {"links.", "nodes.", "jitter.", "fabric.", NULL};
    static const char *const options[] = {"seed", "op", "input", "verify-data", "check", NULL};
    for (size_t i = 0; speeds[i] != NULL; i++)
        if (strncmp(setting->name, speeds[i], strlen(speeds[i])) == 0)
            return false;
    for (size_t i = 0; options[i] != NULL; i++)
        if (strcmp(setting->name, options[i]) == 0)
            return false;
    return true;
}

/* Whether two values of an axis agree in all settings that count. */
static bool values_agree(const struct study_axis *axis, uint32_t left, uint32_t right,
                         study_counts_fn counts)
{
    const struct study_settings *const a = &axis->values[left].settings;
    const struct study_settings *const b = &axis->values[right].settings;
    bool agree = a->count == b->count;
    for (uint32_t i = 0; i < a->count && agree; i++)
        agree = strcmp(a->list[i].name, b->list[i].name) == 0 &&
                ((!counts(&a->list[i]) && !counts(&b->list[i])) ||
                 settings_are_equal(&a->list[i], &b->list[i]));
    return agree;
}

/* For each value of each axis, the first value of the axis that agrees with it; axis after axis.
 * NULL: no memory. */
static uint32_t *classes_of(const struct study *study, study_counts_fn counts)
{
    size_t total = 0;
    for (uint32_t a = 0; a < study->axis_count; a++)
        total += study->axes[a].count;
    uint32_t *const classes = malloc((total + 1) * sizeof *classes);
    uint32_t *next = classes;
    for (uint32_t a = 0; a < study->axis_count && classes != NULL; a++)
        for (uint32_t value = 0; value < study->axes[a].count; value++) {
            uint32_t like = 0;
            while (like < value && !values_agree(&study->axes[a], like, value, counts))
                like++;
            *next++ = like;
        }
    return classes;
}

struct numbered {
    uint64_t key; /* of the classes on all axes, by position: a collision costs accuracy only */
    uint32_t index;
};

static int compare_keys(const void *left, const void *right)
{
    const struct numbered *const a = left;
    const struct numbered *const b = right;
    return a->key != b->key ? (a->key > b->key) - (a->key < b->key)
                            : (a->index > b->index) - (a->index < b->index);
}

static uint64_t key_of_point(const struct study *study, const uint32_t *classes, uint32_t point)
{
    uint64_t key = 0;
    for (uint32_t a = 0; a < study->axis_count; a++) {
        key = key * 1000003 + classes[study->points[point].at[a]];
        classes += study->axes[a].count;
    }
    return key;
}

bool study_find_alike(const struct study *study, const uint32_t *points, uint32_t count,
                      study_counts_fn counts, uint32_t *first)
{
    uint32_t *const classes = classes_of(study, counts);
    struct numbered *const sorted = calloc((size_t)count + 1, sizeof *sorted);
    const bool is_done = classes != NULL && sorted != NULL;
    for (uint32_t i = 0; i < count && is_done; i++)
        sorted[i] = (struct numbered){key_of_point(study, classes, points[i]), i};
    if (is_done)
        qsort(sorted, count, sizeof *sorted, compare_keys);
    for (uint32_t i = 0; i < count && is_done; i++)
        first[sorted[i].index] = i > 0 && sorted[i].key == sorted[i - 1].key
                                     ? first[sorted[i - 1].index]
                                     : sorted[i].index;
    free(sorted);
    free(classes);
    return is_done;
}

bool study_estimate_all(const struct study *study, const uint32_t *points, uint32_t count,
                        struct study_estimate *estimates)
{
    struct kept_config kept = {0};
    uint32_t *const first = malloc(((size_t)count + 1) * sizeof *first);
    const bool is_done = first != NULL && study_find_alike(study, points, count, is_of_size, first);
    for (uint32_t i = 0; i < count && is_done; i++)
        estimates[i] = first[i] < i ? estimates[first[i]] : estimate_point(study, points[i], &kept);
    forget_config(&kept);
    free(first);
    return is_done;
}

/* ---- texts ----------------------------------------------------------------------------------- */

enum { UNIT_STEP = 1024 };

const char *estimate_number_text(double number, char text[ESTIMATE_TEXT_BYTES])
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    size_t unit = 0;
    for (; number >= 1000 && unit < 4; unit++)
        number /= 1000;
    snprintf(text, ESTIMATE_TEXT_BYTES, "%.3g%s", number, units[unit]);
    return text;
}

const char *estimate_bytes_text(double bytes, char text[ESTIMATE_TEXT_BYTES])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; bytes >= UNIT_STEP && unit < 4; unit++)
        bytes /= UNIT_STEP;
    snprintf(text, ESTIMATE_TEXT_BYTES, "%.3g %s", bytes, units[unit]);
    return text;
}

const char *estimate_seconds_text(double seconds, char text[ESTIMATE_TEXT_BYTES])
{
    if (seconds < 1)
        snprintf(text, ESTIMATE_TEXT_BYTES, "%.3g ms", seconds * 1e3);
    else if (seconds < 120)
        snprintf(text, ESTIMATE_TEXT_BYTES, "%.3g s", seconds);
    else if (seconds < 7200)
        snprintf(text, ESTIMATE_TEXT_BYTES, "%.3g min", seconds / 60);
    else
        snprintf(text, ESTIMATE_TEXT_BYTES, "%.3g h", seconds / 3600);
    return text;
}
