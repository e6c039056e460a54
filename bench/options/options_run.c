/*
 * options_run.c: the values that only `run` and its relatives have, and the checks
 * of several options together (options_run.h). No option is ever accepted and ignored.
 */
#include "bench/options/options_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/options/options_size.h"
#include "bench/options/options_value.h"
#include "bench/output/report_csv.h"
#include "bench/programs/bench.h"
#include "collectives/config/input/decimal.h"
#include "collectives/config/input/text.h"
#include "core/at_random.h"

/* No option has chosen: the mode does. */
#define BALANCE_BY_SYNC ((enum cw_balance)(CW_BALANCE_RANDOM + 1))

struct cw_config engine_options_defaults(void)
{
    return (struct cw_config){.sync = CW_SYNCS,
                              .worker_count = 1,
                              .tuning.balance = BALANCE_BY_SYNC,
                              .tuning.gather = CW_GATHER_IF_FASTER,
                              .tuning.pin_workers = true};
}

void run_options_defaults(struct run_options *options)
{
    *options = (struct run_options){.bench = bench_name(0),
                                    .dtype = DTYPE_F16,
                                    .op = REDOP_SUM,
                                    .scalar = 2,
                                    .iterations = 1,
                                    .seed = 1,
                                    .engine = engine_options_defaults(),
                                    .to = {.cube = 1},
                                    .dir = HW_DIR_E,
                                    .tiles = 1,
                                    .rows = 16,
                                    .gemm = {.m = 128, .n = 128, .k = 512, .tile = 32}};
    options->config.sets = options->sets;
}

/* ---- single values -------------------------------------------------------------------------- */

int run_options_read_set(struct option_parse *parse, const struct option_row *row, const char *text,
                         struct cw_error *error)
{
    static const char of_workload[] = "workload.";
    struct run_options *const run = parse->values;
    const bool is_workload = strncmp(text, of_workload, sizeof of_workload - 1) == 0;
    if (run->config.set_count + run->workload_set_count == RUN_SETS_MAX)
        return cw_error_set(error, CW_USAGE, "--%s: given more than %d times", row->name,
                            RUN_SETS_MAX);
    if (is_workload)
        run->workload_sets[run->workload_set_count++] = text;
    else
        run->sets[run->config.set_count++] = text;
    return CW_OK;
}

int run_options_read_coarse(struct option_parse *parse, const struct option_row *row,
                            const char *text, struct cw_error *error)
{
    struct run_options *const run = parse->values;
    uint64_t size;
    if (!size_parse(text, strlen(text), &size) || size == 0)
        return options_refuse(error, row->name, text, "expected a size such as 4096, 4KiB or 16MB");
    snprintf(run->coarse_set, sizeof run->coarse_set, "defaults.coarse=%" PRIu64, size);
    return run_options_read_set(parse, row, run->coarse_set, error);
}

int run_options_read_preset(struct option_parse *parse, const struct option_row *row,
                            const char *text, struct cw_error *error)
{
    struct run_options *const run = parse->values;
    const size_t before = run->config.presets_before_count + (run->config.preset != NULL);
    if (before == RUN_PRESETS_MAX)
        return cw_error_set(error, CW_USAGE, "--%s: given more than %d times", row->name,
                            RUN_PRESETS_MAX);
    run->presets[before] = text;
    run->config.preset = text;
    run->config.presets_before = run->presets;
    run->config.presets_before_count = before;
    return CW_OK;
}

/* Whether a tag of that name, `bytes` long, is there already. */
static bool has_tag(const struct run_options *run, const char *name, size_t bytes)
{
    for (size_t i = 0; i < run->tag_count; i++)
        if (strncmp(run->tags[i], name, bytes) == 0 && run->tags[i][bytes] == '=')
            return true;
    return false;
}

int run_options_read_tag(struct option_parse *parse, const struct option_row *row, const char *text,
                         struct cw_error *error)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    struct run_options *const run = parse->values;
    const size_t bytes = strspn(text, legal);
    char name[64];
    if (bytes == 0 || bytes >= sizeof name || text[bytes] != '=')
        return options_refuse(error, row->name, text,
                              "expected KEY=VALUE, KEY of up to 63 letters, digits, '_', '-', '.'");
    snprintf(name, sizeof name, "%.*s", (int)bytes, text);
    if (report_csv_has_column(name))
        return cw_error_set(error, CW_USAGE,
                            "--tag %s: every CSV has a column of that name; take "
                            "another",
                            name);
    if (text_utf8_prefix(text, strlen(text)) != strlen(text))
        return options_refuse(error, row->name, text, "expected a value in UTF-8");
    if (has_tag(run, name, bytes))
        return cw_error_set(error, CW_USAGE, "--tag %s: given more than once", name);
    if (run->tag_count == RUN_TAGS_MAX)
        return cw_error_set(error, CW_USAGE, "--%s: given more than %d times", row->name,
                            RUN_TAGS_MAX);
    run->tags[run->tag_count++] = text;
    return CW_OK;
}

/* Our names, and the names that nccl-tests has for the same types and operations. */
static int refuse_name(const struct option_row *row, const char *text,
                       const char *(*name)(size_t i), struct cw_error *error)
{
    static const char *const words[][2] = {
        {"add", "sum"},       {"plus", "sum"},      {"mean", "avg"},     {"average", "avg"},
        {"mul", "prod"},      {"multiply", "prod"}, {"product", "prod"}, {"e4m3", "fp8_e4m3"},
        {"e5m2", "fp8_e5m2"}, {"int", "int32"}};
    char list[240] = "expected one of ";
    struct text_nearest nearest = {0};
    for (size_t i = 0; name(i) != NULL; i++) {
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i > 0 ? ", " : "",
                 name(i));
        text_nearest_try(&nearest, text, name(i));
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            if (strcmp(words[k][0], text) == 0 && strcmp(words[k][1], name(i)) == 0)
                nearest = (struct text_nearest){.best = name(i)};
    }
    if (nearest.best != NULL && nearest.distance < 2) /* int64 is neither int8 nor int32 */
        snprintf(list + strlen(list), sizeof list - strlen(list), "; did you mean %s?",
                 nearest.best);
    return options_refuse(error, row->name, text, list);
}

int run_options_read_dtype(struct option_parse *parse, const struct option_row *row,
                           const char *text, struct cw_error *error)
{
    return dtype_parse(text, options_field(parse, row)) ? CW_OK
                                                        : refuse_name(row, text, dtype_at, error);
}

int run_options_read_op(struct option_parse *parse, const struct option_row *row, const char *text,
                        struct cw_error *error)
{
    return redop_parse(text, options_field(parse, row)) ? CW_OK
                                                        : refuse_name(row, text, redop_at, error);
}

int run_options_read_scalar(struct option_parse *parse, const struct option_row *row,
                            const char *text, struct cw_error *error)
{
    struct decimal scalar;
    if (!decimal_parse(text, strlen(text), &scalar))
        return options_refuse(error, row->name, text, "expected a number, as in 0.25");
    *(double *)options_field(parse, row) = (double)scalar.mantissa / pow(10, scalar.places);
    return CW_OK;
}

int run_options_read_place(struct option_parse *parse, const struct option_row *row,
                           const char *text, struct cw_error *error)
{
    struct hw_place *const place = options_field(parse, row);
    unsigned sip, cube, pe;
    int used = 0;
    if (strspn(text, "0123456789.") != strlen(text) || strlen(text) > 20 ||
        sscanf(text, "%9u.%9u.%9u%n", &sip, &cube, &pe, &used) != 3 || text[used] != '\0')
        return options_refuse(error, row->name, text, "expected SIP.cube.PE, as in 0.1.0");
    *place = (struct hw_place){.sip = sip, .cube = cube, .pe = pe};
    return CW_OK;
}

int run_options_read_verify(struct option_parse *parse, const struct option_row *row,
                            const char *text, struct cw_error *error)
{
    enum { RANKS = 4, RANKS_MAX = 65536 };
    struct run_options *const run = parse->values;
    uint64_t ranks = RANKS;
    if (text == NULL) {
        run->verify_data = true;
        return CW_OK;
    }
    if (strncmp(text, "sample", 6) != 0 || (text[6] != '\0' && text[6] != '='))
        return options_refuse(error, row->name, text,
                              "expected sample, or sample=K for K ranks, or no value: all ranks");
    if (text[6] == '=' &&
        options_read_count(error, "verify-data sample", text + 7, 1, RANKS_MAX, &ranks) != CW_OK)
        return CW_USAGE;
    run->verify_ranks = (uint32_t)ranks;
    return CW_OK;
}

int run_options_read_gemm(struct option_parse *parse, const struct option_row *row,
                          const char *text, struct cw_error *error)
{
    struct matmul_shape *const gemm = options_field(parse, row);
    unsigned m, n, k;
    int used = 0;
    if (strspn(text, "0123456789x") != strlen(text) || strlen(text) > 20 ||
        sscanf(text, "%5ux%5ux%5u%n", &m, &n, &k, &used) != 3 || text[used] != '\0' || m == 0 ||
        n == 0 || k == 0 || m > MATMUL_SIDE_MAX || n > MATMUL_SIDE_MAX || k > MATMUL_SIDE_MAX)
        return options_refuse(error, row->name, text,
                              "expected MxNxK, each from 1 to 65536, as in 128x128x512");
    gemm->m = m, gemm->n = n, gemm->k = k;
    return CW_OK;
}

/* ---- the engine's mode ---------------------------------------------------------------------- */

static bool undoes_events(enum cw_sync sync)
{
    return sync != CW_SEQUENTIAL && sync != CW_CONSERVATIVE;
}

int engine_options_finish(struct cw_config *engine, struct cw_error *error)
{
    if (engine->sync == CW_SYNCS)
        engine->sync = engine->worker_count > 1 ? CW_ADAPTIVE : CW_SEQUENTIAL;
    if (engine->sync != CW_ADAPTIVE) /* the other modes are to be measured without help */
        engine->tuning.gather = CW_GATHER_NEVER;
    if (engine->tuning.balance == CW_BALANCES) /* the choice after the engine's own */
        engine->tuning.balance = CW_BALANCE_RANDOM;
    if (engine->tuning.balance == BALANCE_BY_SYNC)
        engine->tuning.balance = engine->sync == CW_ADAPTIVE ? CW_BALANCE_ON : CW_BALANCE_OFF;
    if (engine->sync == CW_SEQUENTIAL && engine->worker_count > 1)
        return cw_error_set(error, CW_USAGE, "--sync sequential runs on 1 thread, not on %" PRIu32,
                            engine->worker_count);
    if (engine->tuning.stress_rate_p32 != 0 && engine->sync != CW_STRESS)
        return cw_error_set(error, CW_USAGE, "--stress-rate is for --sync stress");
    if (engine->tuning.lazy_cancellation && !undoes_events(engine->sync))
        return cw_error_set(error, CW_USAGE,
                            "--cancellation lazy is for the modes that undo events: adaptive, "
                            "optimistic, stress; not for %s",
                            cw_sync_name[engine->sync]);
    return CW_OK;
}

/* ---- sizes ---------------------------------------------------------------------------------- */

/* -b, -e, -f, -i as one list of sizes. */
static int expand_nccl_sizes(struct run_options *run, struct cw_error *error)
{
    const struct run_sizes_asked *const asked = &run->asked;
    const uint64_t most = asked->most != 0 ? asked->most : asked->least;
    uint64_t least = asked->least;
    size_t more = 0;
    char range[96];
    run->size_count = 0;
    if (asked->least == 0) { /* no bytes first; a factor continues with one element */
        run->n_elem[run->size_count++] = 0;
        least = asked->step != 0 ? asked->step : dtype_bytes(run->dtype);
        if (least > most)
            return CW_OK;
    }
    if (asked->step != 0)
        snprintf(range, sizeof range, "%" PRIu64 ":%" PRIu64 ":+%" PRIu64, least, most,
                 asked->step);
    else
        snprintf(range, sizeof range, "%" PRIu64 ":%" PRIu64 ":x%" PRIu64, least, most,
                 asked->factor != 0 ? asked->factor : 2);
    const char *const wrong =
        sizes_parse(range, run->n_elem + run->size_count, RUN_SIZES_MAX - run->size_count, &more);
    run->size_count += more;
    return wrong == NULL ? CW_OK : cw_error_set(error, CW_USAGE, "-b %s: %s", range, wrong);
}

/* Larger ones have sizes in bytes that overflow. A shard has fewer, and bench_check_sizes() makes a
 * row of each size that is too large. */
#define ELEMENTS_MAX ((uint64_t)1 << 60)

static int count_elements(struct run_options *run, const char *option, uint64_t item_bytes,
                          struct cw_error *error)
{
    const bool may_be_empty = option[1] == 'b' && run->sizes_per_rank; /* as nccl-tests prints */
    for (size_t i = 0; i < run->size_count; i++) {
        uint64_t *const size = &run->n_elem[i];
        if (*size % item_bytes != 0 && !run->sizes_rounded)
            return cw_error_set(error, CW_USAGE,
                                "%s: %" PRIu64
                                " bytes are no whole number of %s elements of %" PRIu64 " bytes",
                                option, *size, dtype_name(run->dtype), item_bytes);
        *size /= item_bytes;
        if ((*size == 0 && !may_be_empty) || *size > ELEMENTS_MAX)
            return cw_error_set(error, CW_USAGE,
                                "%s: a shard has from 1 to 2147483648 elements; found %" PRIu64,
                                option, *size);
    }
    return CW_OK;
}

static int finish_sizes(const struct option_parse *parse, struct cw_error *error)
{
    struct run_options *const run = parse->values;
    const struct run_sizes_asked *const asked = &run->asked;
    const bool nccl = options_given(parse, "minbytes");
    const int ways =
        (asked->bytes != NULL) + (asked->bytes_per_rank != NULL) + (asked->n_elem != NULL) + nccl;
    if (ways > 1)
        return cw_error_set(error, CW_USAGE,
                            "--bytes, --bytes-per-rank, --n-elem and -b exclude each other");
    if (ways == 0)
        return CW_OK;
    /* As nccl-tests counts: a rank's bytes, where a rank has shards. */
    run->sizes_per_rank =
        nccl ? bench_takes(run->bench, "bytes-per-rank") : asked->bytes_per_rank != NULL;
    run->sizes_rounded = nccl;
    if (nccl)
        return expand_nccl_sizes(run, error) == CW_OK
                   ? count_elements(run, "-b", dtype_bytes(run->dtype), error)
                   : CW_USAGE;
    const bool in_bytes = asked->n_elem == NULL;
    const char *const option = asked->bytes_per_rank != NULL ? "bytes-per-rank"
                               : in_bytes                    ? "bytes"
                                                             : "n-elem";
    const char *const text = asked->bytes_per_rank != NULL ? asked->bytes_per_rank
                             : in_bytes                    ? asked->bytes
                                                           : asked->n_elem;
    char name[32];
    snprintf(name, sizeof name, "--%s", option);
    const char *const wrong = sizes_parse(text, run->n_elem, RUN_SIZES_MAX, &run->size_count);
    if (wrong != NULL)
        return options_refuse(error, option, text, wrong);
    run->sizes_rounded = in_bytes && run->size_count > 1;
    return count_elements(run, name, in_bytes ? dtype_bytes(run->dtype) : 1, error);
}

/* ---- several options together --------------------------------------------------------------- */

/* Refuses an option that the bench ignores: the user would believe that it has an effect. */
static int check_taken(const struct option_parse *parse, struct cw_error *error)
{
    const struct run_options *const run = parse->values;
    for (size_t i = 0; i < parse->row_count; i++) {
        const struct option_row *const row = &parse->rows[i];
        if (!row->of_some_benches || !parse->given[i] || bench_takes(run->bench, row->name))
            continue;
        char takers[200] = "";
        for (size_t k = 0; bench_name(k) != NULL; k++)
            if (bench_takes(bench_name(k), row->name))
                snprintf(takers + strlen(takers), sizeof takers - strlen(takers), "%s%s",
                         *takers ? ", " : "", bench_name(k));
        return cw_error_set(error, CW_USAGE,
                            "--%s does nothing in the bench %s (--bench); it is for %s", row->name,
                            run->bench, takers);
    }
    return CW_OK;
}

/* The file's name says its form. */
static bool names_table(const char *path)
{
    const char *const dot = strrchr(path, '.');
    return dot != NULL && (strcmp(dot, ".json") == 0 || strcmp(dot, ".csv") == 0);
}

/* The scalar has an effect, and a type of whole numbers has it. */
static int check_scalar(const struct option_parse *parse, struct cw_error *error)
{
    const struct run_options *const run = parse->values;
    uint8_t element[DTYPE_BYTES_MAX];
    double kept;
    if (options_given(parse, "scalar") && run->op != REDOP_PREMULSUM)
        return cw_error_set(error, CW_USAGE, "--scalar is for --op premulsum, not for %s",
                            redop_name(run->op));
    dtype_from_f64(run->dtype, element, &run->scalar, 1);
    dtype_to_f64(run->dtype, &kept, element, 1);
    return run->op != REDOP_PREMULSUM || dtype_digits(run->dtype) > 0 || kept == run->scalar
               ? CW_OK
               : cw_error_set(error, CW_USAGE, "--scalar %.15g: %s has no such number", run->scalar,
                              dtype_name(run->dtype));
}

/* A step has its file, and no sizes. */
static int check_step(const struct run_options *run, struct cw_error *error)
{
    const struct run_sizes_asked *const asked = &run->asked;
    if (strcmp(run->bench, "step") != 0)
        return run->workload_set_count == 0
                   ? CW_OK
                   : cw_error_set(error, CW_USAGE,
                                  "--set %s: keys of a workload are for `cubewarp step FILE`",
                                  run->workload_sets[0]);
    if (run->workload == NULL)
        return cw_error_set(error, CW_USAGE,
                            "expected a workload file or a trace: cubewarp step FILE, or run "
                            "--bench step --workload FILE");
    if (asked->bytes != NULL || asked->bytes_per_rank != NULL || asked->n_elem != NULL ||
        asked->least > 0)
        return cw_error_set(error, CW_USAGE,
                            "a step has no --bytes or --n-elem: its workload says the sizes");
    if (run->iterations != 1 || run->warmup != 0)
        return cw_error_set(error, CW_USAGE, "a step runs once: drop --iters and --warmup_iters");
    if (run->measured != NULL)
        return cw_error_set(error, CW_USAGE, "--measured is not for a step");
    if (run->trace_only != NULL || run->trace_links || run->trace_from_ps != 0 ||
        run->trace_to_ps != 0)
        return cw_error_set(error, CW_USAGE,
                            "--trace of a step has its operations alone: drop --trace-only, "
                            "--trace-from, --trace-to and --trace-links");
    return CW_OK;
}

int step_options_argument(struct option_parse *parse, int count, char **rest,
                          struct cw_error *error)
{
    struct run_options *const run = parse->values;
    char quoted[TEXT_QUOTE_BYTES];
    (void)count;
    if (run->workload != NULL)
        return cw_error_set(error, CW_USAGE, "one step at a time: unexpected argument %s",
                            text_quote(rest[0], strlen(rest[0]), quoted)),
               0;
    run->workload = rest[0];
    options_note_given(parse, "workload"); /* so that no output takes its place */
    return 1;
}

int step_options_finish(struct option_parse *parse, struct cw_error *error)
{
    struct run_options *const run = parse->values;
    run->bench = "step";
    const int code = run_options_finish(parse, error);
    run->is_bench_named = true;
    return code;
}

int run_options_finish(struct option_parse *parse, struct cw_error *error)
{
    struct run_options *const run = parse->values;
    run->is_bench_named = options_given(parse, "bench");
    run->is_check_given = options_given(parse, "check") || options_given(parse, "verify-data");
    if (check_taken(parse, error) != CW_OK || check_step(run, error) != CW_OK ||
        engine_options_finish(&run->engine, error) != CW_OK)
        return CW_USAGE;
    if (run->engine.tuning.window_ps != 0 && !undoes_events(run->engine.sync))
        return cw_error_set(error, CW_USAGE,
                            "--window is for the modes that speculate: adaptive, optimistic, "
                            "stress; not for %s%s",
                            cw_sync_name[run->engine.sync],
                            options_given(parse, "sync") ? ""
                                                         : ", the default on one thread (--sync)");
    if (run->verify_ranks > 0 && (run->op_log != NULL || run->data != NULL))
        return cw_error_set(
            error, CW_USAGE,
            "--verify-data sample: the run has no tensor data, and --%s needs them: "
            "drop one of the two",
            run->op_log != NULL ? "op-log" : "data");
    run->no_data |= run->verify_ranks > 0;
    if (run->no_data && run->verify_data)
        return cw_error_set(error, CW_USAGE,
                            "--no-data leaves nothing to verify: drop it or --verify-data");
    if (check_scalar(parse, error) != CW_OK)
        return CW_USAGE;
    if (run->links != NULL && !names_table(run->links))
        return options_refuse(error, "links", run->links, "expected FILE.json or FILE.csv");
    if (run->json != NULL && run->csv != NULL && strcmp(run->json, "-") == 0 &&
        strcmp(run->csv, "-") == 0)
        return cw_error_set(error, CW_USAGE, "--json - and --csv - cannot share standard output");
    return finish_sizes(parse, error);
}

int topo_options_argument(struct option_parse *parse, int count, char **rest,
                          struct cw_error *error)
{
    struct run_options *const run = parse->values;
    char quoted[TEXT_QUOTE_BYTES];
    (void)count;
    if (run->path_to != NULL)
        return cw_error_set(error, CW_USAGE, "unexpected argument %s",
                            text_quote(rest[0], strlen(rest[0]), quoted)),
               0;
    run->path_to = rest[0];
    return 1;
}

int list_options_argument(struct option_parse *parse, int count, char **rest,
                          struct cw_error *error)
{
    struct run_options *const run = parse->values;
    (void)count;
    run->list = run->list == NULL ? rest[0] : "";
    return list_options_finish(parse, error) == CW_OK;
}

int list_options_finish(struct option_parse *parse, struct cw_error *error)
{
    static const char *const lists[] = {"algorithms", "presets", "topologies", "studies",
                                        "benches"};
    const struct run_options *const run = parse->values;
    for (size_t i = 0; run->list != NULL && i < sizeof lists / sizeof *lists; i++)
        if (strcmp(run->list, lists[i]) == 0)
            return CW_OK;
    struct text_nearest nearest = {0};
    for (size_t i = 0; run->list != NULL && i < sizeof lists / sizeof *lists; i++)
        text_nearest_try(&nearest, run->list, lists[i]);
    return cw_error_set(error, CW_USAGE,
                        "expected one of algorithms, presets, topologies, studies, benches: "
                        "cubewarp list %s",
                        nearest.best != NULL ? nearest.best : "algorithms");
}

int topo_options_finish(struct option_parse *parse, struct cw_error *error)
{
    const struct run_options *const run = parse->values;
    char quoted[TEXT_QUOTE_BYTES];
    int shown = (run->path_from != NULL) + (run->xml != NULL) + (run->graph != NULL);
    for (int format = 0; format < PICTURE_FORMATS; format++)
        shown += run->drawn[format] != NULL;
    if (shown > 1)
        return cw_error_set(error, CW_USAGE,
                            "--path, --svg, --dot, --gexf, --graph and --xml exclude each other");
    if (run->path_from != NULL && run->path_to == NULL)
        return cw_error_set(error, CW_USAGE, "--path needs two PEs: --path 0.0.0 1.0.0");
    if (run->path_from == NULL && run->path_to != NULL)
        return cw_error_set(error, CW_USAGE, "unexpected argument %s; a path is --path 0.0.0 1.0.0",
                            text_quote(run->path_to, strlen(run->path_to), quoted));
    return CW_OK;
}

static int check_place(const char *option, struct hw_place place, const struct hw_config *hw,
                       struct cw_error *error)
{
    if (place.sip < hw->sip_count && place.cube < hw_cubes(hw) && place.pe < hw_pes(hw))
        return CW_OK;
    return cw_error_set(error, CW_USAGE,
                        "--%s %" PRIu32 ".%" PRIu32 ".%" PRIu32
                        ": no such PE; SIPs are 0 to %" PRIu32 ", cubes 0 to %" PRIu32
                        ", PEs 0 to %" PRIu32,
                        option, place.sip, place.cube, place.pe, hw->sip_count - 1,
                        hw_cubes(hw) - 1, hw_pes(hw) - 1);
}

int run_options_check(const struct run_options *options, const struct hw_config *hw,
                      struct cw_error *error)
{
    if (!bench_takes(options->bench, "from"))
        return CW_OK;
    int result = check_place("from", options->from, hw, error);
    if (result == CW_OK)
        result = check_place("to", options->to, hw, error);
    if (result == CW_OK && strcmp(options->bench, "ipcq_pingpong") == 0 &&
        hw_pe_index(hw, options->from) == hw_pe_index(hw, options->to))
        return cw_error_set(error, CW_USAGE,
                            "--from and --to name the same PE; ipcq_pingpong needs two");
    return result;
}

int batch_options_finish(struct option_parse *parse, struct cw_error *error)
{
    struct run_options *const run = parse->values;
    return engine_options_finish(&run->engine, error);
}
