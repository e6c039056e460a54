/*
 * study_estimate.c: makes the call of each size as a run would, with its placement and its
 * schedule, and adds up what it takes: events (cost_events()), and bytes of machine, tensors,
 * schedule and causes. Times of an event and a byte are those of a 3 GHz core. Estimates decide
 * which point runs first, and how many at once; no result depends on them.
 */
#include "bench/study/study_estimate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/options/options.h"
#include "bench/options/options_run.h"
#include "bench/options/options_value.h"
#include "bench/programs/bench.h"
#include "bench/programs/bench_algorithm.h"
#include "bench/programs/bench_fold.h"
#include "bench/result/run_line.h"
#include "collectives/choice/cost.h"
#include "collectives/choice/cost_times.h"
#include "collectives/fold/fold_find.h"
#include "collectives/memory/sparse_arena.h"
#include "collectives/runtime/dist_placement.h"
#include "collectives/runtime/dist_world.h"
#include "collectives/runtime/install_plan.h"
#include "collectives/schedule/schedule.h"
#include "core/os/host_limits.h"

#define PROCESS_BYTES 6.5e6
#define PE_BYTES      1900.0 /* queues, links, kernels */
#define STEP_BYTES    140.0  /* of a schedule, */
#define CHUNK_BYTES   12.0   /* of each chunk of a rank's buffers in it, */
#define WIRED_BYTES   384.0  /* and of a PE in its table of queues */
#define CAUSE_BYTES   50.0   /* of an event that is explained, with the walk along it */
#define STORED_FACTOR 1.1    /* of bytes in sparse memories: tables of pages */
#define PROCESS_S     0.001
#define PE_S          1.3e-6
#define EVENT_S       8e-8
#define DATA_EVENT_S  9e-8 /* more, with tensor data */
#define FAR_BYTES     64e6 /* of machine: more do not fit in a cache, */
#define FAR_FACTOR    2.2  /* and an event takes so many times as long */
#define TENSOR_BYTE_S 2.5e-9
#define PRODUCT_S     6e-10  /* of two elements, added to others */
#define STEP_S        1.3e-7 /* of a schedule that is made, or compared for a fold */

enum {
    TILES_IN_TCM = 4,          /* of schedule_kernel */
    STEPS_COMPARED_MAX = 40000 /* of a schedule without a rule for folds, which is compared */
};

/* ---- one point ------------------------------------------------------------------------------- */

double study_estimate_shards(const struct config *config, enum ccl_collective collective)
{
    struct cw_error ignored;
    const char *key;
    struct dp_policy policy;
    struct ccl_config own = config->ccl;
    const struct ccl_algorithm *const algorithm =
        ccl_algorithm_for(&config->ccl, collective, &ignored);
    if (algorithm == NULL)
        return 1;
    snprintf(own.module, sizeof own.module, "%s",
             algorithm == ccl_algorithm_load(config->ccl.module, &ignored) ? config->ccl.module
                                                                           : algorithm->name);
    if (install_policy_for(dist_world_size_for(config), own.algorithm, &own, &config->hw, &policy,
                           &key, &ignored) != CW_OK)
        return 1;
    const uint32_t cubes = policy.num_cubes != 0 ? policy.num_cubes : hw_cubes(&config->hw);
    const uint32_t pes = policy.num_pes != 0 ? policy.num_pes : hw_pes(&config->hw);
    return (double)cubes * (policy.pe == DP_COLUMN_WISE ? pes : 1);
}

/* PEs that get an IpcqInitMsg: where a schedule lays the queues, all. */
static double installed(const struct config *config, const char *bench)
{
    struct cw_error ignored;
    const struct hw_config *const hw = &config->hw;
    const enum ccl_collective does = bench_collective(bench);
    const struct ccl_algorithm *const algorithm =
        does != CCL_COLLECTIVES ? ccl_algorithm_for(&config->ccl, does, &ignored) : NULL;
    const bool scheduled = algorithm != NULL && algorithm->schedule != NULL;
    return config->ccl.wiring == CCL_WIRING_PE0 && !scheduled ? (double)hw->sip_count * hw_cubes(hw)
                                                              : (double)hw_pe_count(hw);
}

static double times_of(const struct run_options *run)
{
    return (double)run->iterations + run->warmup;
}

/* A call of one size. */
struct sized {
    struct config config; /* with the placement that is chosen, and the call that is expected */
    struct ccl_call call;
    double shards;
    const struct ccl_algorithm *algorithm;
    struct schedule *schedule; /* perhaps a sketch, perhaps folded; NULL: it is none */
    struct hw_fold fold;       /* of the machine of this size */
};

/* The part of the machine that is simulated. */
static double live(const struct sized *sized) { return (double)sized->fold.sips / sized->fold.of; }

/* Takes the fold of a request if it is wider than the one that is known. A run whose widest fold is
 * refused does not fold. */
static void look_for_fold(struct sized *sized, const struct run_options *run, bool by_rules)
{
    struct fold_found found;
    struct cw_error ignored;
    const struct fold_request request = {.config = &sized->config,
                                         .calls = &sized->call,
                                         .count = 1,
                                         .schedule = sized->schedule,
                                         .by_rules = by_rules};
    if (fold_find(&request, &found, &ignored) == CW_OK && found.fold.sips < sized->fold.sips) {
        if (bench_fold_why_refused(run, sized->call.hw, &found.fold) == NULL)
            sized->fold = found.fold;
        else
            hw_fold_none(sized->call.hw, &sized->fold);
    }
    schedule_free(found.schedule);
}

static bool is_cheap_to_compare(const struct sized *sized)
{
    return sized->schedule != NULL && sized->fold.sips > 1 && !sized->schedule->sketch &&
           !sized->schedule->partial && sized->schedule->steps <= STEPS_COMPARED_MAX &&
           sized->call.world_size <= FOLD_COMPARED_MAX;
}

/* The schedule, and the fold that a run will find: by the rules of algorithms, and where there is
 * none, by comparison, if it is soon done. False: the call will be refused. */
static bool make_schedule(struct sized *sized, const struct run_options *run, bool may_fold)
{
    struct ccl_refusal refusal;
    struct cw_error ignored;
    const struct ccl_call *const call = &sized->call;
    const struct ccl_algorithm *const algorithm = sized->algorithm;
    const bool is_large = call->world_size > HW_UNFOLDED_SIPS_MAX;
    hw_fold_none(call->hw, &sized->fold);
    if (may_fold)
        look_for_fold(sized, run, true);
    if (is_large && sized->fold.sips > HW_UNFOLDED_SIPS_MAX)
        return false;
    if (algorithm->schedule == NULL)
        return true;
    if (algorithm->check == NULL || algorithm->check(call, &refusal) == CW_OK)
        sized->schedule = is_large ? schedule_ask_folded(algorithm, call, &sized->fold, &ignored)
                                   : schedule_ask(algorithm, call, &ignored);
    if (may_fold && is_cheap_to_compare(sized))
        look_for_fold(sized, run, false);
    return sized->schedule != NULL;
}

static uint64_t input_of(enum ccl_collective collective, uint64_t n_elem, uint32_t ranks)
{
    const uint64_t input = collective == CCL_ALL_GATHER ? n_elem / ranks
                           : collective == CCL_BARRIER  ? 1
                                                        : n_elem;
    return input > 0 ? input : 1;
}

/* The call of the i-th size, as bench_expect() makes it. False: it will be refused. */
static bool make_call(struct sized *sized, const struct run_options *run,
                      const struct config *config, enum ccl_collective collective, size_t i)
{
    struct cw_error ignored;
    struct dist_placement placement;
    struct ccl_choice choice = {.why = ""};
    const bool has_sizes = run->size_count > 0;
    sized->config = *config;
    if (has_sizes && run->sizes_per_rank && dist_chooses_placement(config, collective)) {
        if (bench_place_size(run, config, collective, run->n_elem[i], &placement, &ignored) !=
            CW_OK)
            placement.mapper = "leader_only"; /* as in bench_place() */
        dist_take_placement(&sized->config, &placement);
    }
    sized->shards = study_estimate_shards(&sized->config, collective);
    const uint32_t ranks = dist_world_size_for(config);
    const uint64_t n_elem =
        has_sizes ? bench_whole_size(run, &sized->config, collective, i,
                                     run->sizes_per_rank ? (uint32_t)sized->shards : 1)
                  : config->ccl.n_elem;
    sized->call = (struct ccl_call){.hw = &sized->config.hw,
                                    .ccl = &sized->config.ccl,
                                    .collective = collective,
                                    .world_size = ranks,
                                    .n_elem = input_of(collective, n_elem, ranks),
                                    .dtype = (enum lp_dtype)run->dtype,
                                    .math = LP_MATH_SUM,
                                    .sketch = ranks <= HW_UNFOLDED_SIPS_MAX};
    bench_expect_call(run, &sized->call, &sized->config.ccl);
    sized->algorithm = ccl_algorithm_of(&sized->call, &choice, &ignored);
    return sized->algorithm != NULL &&
           make_schedule(sized, run, bench_why_no_fold(run, config) == NULL);
}

/* PEs of a rank that run a kernel. */
static double launched(const struct sized *sized)
{
    if (sized->call.collective == CCL_BARRIER)
        return 1;
    return sized->schedule != NULL && sized->schedule->members == 1 && sized->shards == 1
               ? sized->schedule->rank[0].thread_count
               : sized->shards;
}

/* Bytes that this many take in a sparse memory. */
static double stored(double bytes)
{
    return (double)SPARSE_PAGE_BYTES * (double)(uint64_t)(bytes / (double)SPARSE_PAGE_BYTES + 1);
}

/* Chunks of rank 0's buffers into which a schedule writes, over those of the larger of its input
 * and output. */
static double written_by(const struct schedule *schedule)
{
    const struct schedule_rank *const rank = &schedule->rank[0];
    uint64_t written = 0;
    for (uint32_t buffer = 0; buffer < SCHEDULE_BUFFERS; buffer++) {
        bool *const is_written = calloc((size_t)rank->chunks[buffer] + 1, sizeof *is_written);
        for (uint32_t i = 0; i < rank->step_count && is_written != NULL; i++) {
            const struct schedule_step *const step = &rank->step[i];
            const bool own = step->op != SCHEDULE_STORE || step->send_to == SCHEDULE_NO_RANK;
            for (uint32_t k = 0; k < step->count && step->dst.buffer == buffer && own &&
                                 schedule_op_writes((enum schedule_op)step->op);
                 k++) {
                written += !is_written[step->dst.at + k];
                is_written[step->dst.at + k] = true;
            }
        }
        free(is_written);
    }
    return (double)written / schedule->loop_chunks;
}

/* Ranks that send to rank 0. */
static double senders_to_one(const struct schedule *schedule)
{
    const struct schedule_rank *const rank = &schedule->rank[0];
    bool *const sends = calloc((size_t)schedule->rank_count + 1, sizeof *sends);
    uint32_t senders = 0;
    for (uint32_t i = 0; i < rank->step_count && sends != NULL; i++) {
        const struct schedule_step *const step = &rank->step[i];
        if (!schedule_op_receives((enum schedule_op)step->op))
            continue;
        senders += !sends[step->recv_from];
        sends[step->recv_from] = true;
    }
    free(sends);
    return senders;
}

/* Bytes of tensors, of TCM and of tiles on their way, on a PE that has a shard. Inputs that nobody
 * has changed take none. */
static double shard_bytes(const struct sized *sized)
{
    const struct ccl_call *const call = &sized->call;
    const double ranks = call->world_size;
    const double bytes = (double)call->n_elem * tl_itemsize(call->dtype) *
                         (call->collective == CCL_ALL_GATHER ? ranks : 1);
    const double slot = lp_tile_bytes(&call->ccl->queues);
    if (sized->schedule == NULL)
        return stored(bytes * (call->collective == CCL_BROADCAST ? 1 - 1 / ranks : 1)) +
               stored((double)ccl_algorithm_tcm_bytes(sized->algorithm, call));
    const double chunk = bytes / sized->schedule->loop_chunks;
    const double tile = chunk < slot ? chunk : slot;
    const double rings = senders_to_one(sized->schedule) * call->ccl->queues.n_slots * tile;
    return stored(bytes * written_by(sized->schedule)) + TILES_IN_TCM * stored(tile) +
           (rings < bytes ? rings : bytes);
}

/* Steps in memory at once: all, where the algorithm does not make some ranks' alone. */
static double steps_made(const struct sized *sized)
{
    return (double)sized->schedule->steps * (sized->algorithm->folds != NULL ? live(sized) : 1);
}

/* Steps that are made one time or another: those of all ranks, where they are compared. */
static double steps_in_all(const struct sized *sized)
{
    return sized->schedule == NULL                      ? 0
           : sized->call.world_size > FOLD_COMPARED_MAX ? steps_made(sized)
                                                        : (double)sized->schedule->steps;
}

static double schedule_bytes(const struct sized *sized)
{
    const struct schedule *const schedule = sized->schedule;
    if (schedule == NULL)
        return 0;
    double chunks = 0, ranks = (double)schedule->all_ranks * live(sized);
    for (uint32_t buffer = schedule->in_place ? SCHEDULE_OUTPUT : SCHEDULE_INPUT;
         buffer < SCHEDULE_BUFFERS; buffer++)
        chunks += ranks * schedule->rank[0].chunks[buffer];
    return steps_made(sized) * STEP_BYTES + chunks * CHUNK_BYTES +
           (double)hw_pe_count(&sized->config.hw) * live(sized) * WIRED_BYTES;
}

/* Causes beyond a quarter of the machine's memory are not kept. */
static double cause_bytes(const struct run_options *run, double events)
{
    const double causes = run->explain ? events * CAUSE_BYTES : 0,
                 most = (double)host_limits_memory_bytes() / 4;
    return causes < most ? causes : most;
}

static double event_s(const struct run_options *run, double pes)
{
    return (EVENT_S + (run->no_data ? 0 : DATA_EVENT_S)) *
           (pes * PE_BYTES > FAR_BYTES ? FAR_FACTOR : 1);
}

/* Adds the work of one size; its bytes count if they are the most so far. */
static void add_call(struct study_estimate *estimate, const struct sized *sized,
                     const struct run_options *run)
{
    struct cw_error ignored;
    const struct ccl_call *const call = &sized->call;
    const struct cost_request request = {.call = call,
                                         .mapper = cost_mapper(call->ccl),
                                         .algorithm = sized->algorithm,
                                         .schedule = sized->schedule};
    const double ranks = call->world_size * live(sized),
                 times = times_of(run) * bench_calls(run->bench);
    double events = 0;
    if (cost_events(&request, sized->shards, &events, &ignored) != CW_OK)
        events = 0;
    if (sized->schedule == NULL || sized->schedule->fold == NULL)
        events *= live(sized);
    events += ranks * launched(sized) * cost_launch_events(&sized->config.hw, launched(sized) == 1);
    const double data = run->no_data || call->collective == CCL_BARRIER
                            ? 0
                            : ranks * sized->shards * shard_bytes(sized);
    const double bytes = schedule_bytes(sized) + cause_bytes(run, events) + data * STORED_FACTOR;
    estimate->events += times * events;
    estimate->seconds +=
        times * (events * event_s(run, (double)hw_pe_count(call->hw) * live(sized)) +
                 data * TENSOR_BYTE_S) +
        steps_in_all(sized) * STEP_S;
    estimate->bytes = bytes > (double)estimate->bytes ? (uint64_t)bytes : estimate->bytes;
}

/* The events that install the queues, of the part of a machine that is simulated. */
static double install_events(const struct run_options *run, const struct config *config,
                             double part)
{
    return part * installed(config, run->bench) * cost_launch_events(&config->hw, false);
}

/* Adds all sizes of a bench with an algorithm. Returns which part of the machine is simulated, at
 * most. */
static double add_sizes(struct study_estimate *estimate, const struct run_options *run,
                        const struct config *config)
{
    const enum ccl_collective does = bench_collective(run->bench);
    const size_t sizes = run->size_count > 0 && does != CCL_BARRIER ? run->size_count : 1;
    struct sized *const sized = malloc(sizeof *sized);
    double most = 0;
    for (size_t i = 0; sized != NULL && i < sizes; i++) {
        *sized = (struct sized){.schedule = NULL};
        const bool is_empty = run->size_count > 0 && does != CCL_BARRIER && run->n_elem[i] == 0;
        if (!is_empty && make_call(sized, run, config, does, i)) {
            add_call(estimate, sized, run);
            most = live(sized) > most ? live(sized) : most;
        }
        if (i > 0 && sized->schedule != NULL && bench_sizes_apart(run)) /* a machine of its own */
            estimate->events += install_events(run, config, live(sized));
        schedule_free(sized->schedule);
    }
    free(sized);
    return most > 0 ? most : 1;
}

struct study_estimate study_estimate_run(const struct run_options *run, const struct config *config)
{
    const struct bench_own own = bench_own_work(run, config);
    struct study_estimate estimate = {.is_known = true, .seconds = PROCESS_S};
    const double part = bench_collective(run->bench) != CCL_COLLECTIVES
                            ? add_sizes(&estimate, run, config)
                        : own.part > 0 ? own.part
                                       : 1;
    const double pes = (double)hw_pe_count(&config->hw) * part;
    const double sizes = run->size_count > 0 ? (double)run->size_count : 1;
    estimate.events += install_events(run, config, part) + times_of(run) * sizes * own.events;
    estimate.seconds += pes * PE_S + times_of(run) * sizes *
                                         (own.events * event_s(run, pes) +
                                          (run->no_data ? 0 : own.products * PRODUCT_S));
    estimate.bytes += (uint64_t)(PROCESS_BYTES + pes * PE_BYTES + cause_bytes(run, own.events) +
                                 (run->no_data ? 0 : own.bytes * STORED_FACTOR));
    if ((double)config->hw.sip_count * part > HW_UNFOLDED_SIPS_MAX)
        return (struct study_estimate){.is_known = false};
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
    struct study_settings settings = study_settings_of(study, point);
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

/* Whether a setting may change the amount of work. (verify-data may: a sample needs no tensors.) */
static bool is_of_size(const struct study_setting *setting)
{
    static const char *const speeds[] = {"links.", "nodes.", "jitter.", "fabric.", NULL};
    static const char *const options[] = {"seed", "op", "input", "check", NULL};
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
