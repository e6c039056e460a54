/*
 * options_value.c: reads the value of each option, and puts together what needs several. What this
 * version cannot do is refused by name: no option is ever taken and ignored.
 */
#include "bench/cli/options_table.h"
#include "partition/partition.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/output/atomic_file.h"
#include "bench/programs/bench.h"
#include "collectives/config/config_source.h"

int options_usage(struct cw_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    error->exit_code = CW_USAGE;
    return CW_USAGE;
}

const char *nearest_name(const char *text, const char *const *names, size_t count)
{
    struct text_nearest nearest = {0};
    for (size_t i = 0; i < count; i++)
        text_nearest_try(&nearest, text, names[i]);
    return nearest.best;
}

int options_reject(struct cw_error *error, const char *name, const char *text, const char *expected)
{
    char quoted[TEXT_QUOTE_BYTES];
    return options_usage(error, "--%s %s: %s", name, text_quote(text, strlen(text), quoted),
                         expected);
}

int options_count(struct cw_error *error, const char *name, const char *text, uint64_t least,
                  uint64_t most, uint64_t *value)
{
    char expected[96];
    uint64_t number = 0;
    bool whole = text[0] != '\0';
    for (const char *at = text; whole && *at != '\0'; at++)
        whole = *at >= '0' && *at <= '9' && !__builtin_mul_overflow(number, 10, &number) &&
                !__builtin_add_overflow(number, (uint64_t)(*at - '0'), &number);
    snprintf(expected, sizeof expected, "expected a whole number from %" PRIu64 " to %" PRIu64,
             least, most);
    if (!whole || number < least || number > most)
        return options_reject(error, name, text, expected);
    *value = number;
    return CW_OK;
}

int options_u32(struct cw_error *error, const char *name, const char *text, uint32_t least,
                uint32_t most, uint32_t *value)
{
    uint64_t wide = 0;
    const int result = options_count(error, name, text, least, most, &wide);
    if (result == CW_OK)
        *value = (uint32_t)wide;
    return result;
}

int options_size(struct cw_error *error, const char *name, const char *text, uint64_t *size)
{
    if (!size_parse(text, strlen(text), size) || *size == 0)
        return options_reject(error, name, text, "expected a size such as 4096, 4KiB or 16MB");
    return CW_OK;
}

int options_file(struct cw_error *error, const char *name, const char *text, const char **path)
{
    if (text[0] == '\0')
        return options_reject(error, name, text,
                              "expected a file's name, or - for standard output");
    *path = text;
    return CW_OK;
}

int options_regular_file(struct cw_error *error, const char *name, const char *text,
                         const char **path)
{
    if (text[0] == '\0' || strcmp(text, "-") == 0)
        return options_reject(error, name, text,
                              "expected a file's name: standard output has the result");
    *path = text;
    return CW_OK;
}

static int option_value_reject(struct options_parse *parse, const struct option_row *row,
                               const char *text, const char *expected)
{
    return options_reject(parse->error, row->name, text, expected);
}

static int read_count(struct options_parse *parse, const struct option_row *row, const char *text,
                      uint64_t least, uint64_t most, uint64_t *value)
{
    return options_count(parse->error, row->name, text, least, most, value);
}

static int read_u32(struct options_parse *parse, const struct option_row *row, const char *text,
                    uint32_t least, uint32_t most, uint32_t *value)
{
    return options_u32(parse->error, row->name, text, least, most, value);
}

static int read_size(struct options_parse *parse, const struct option_row *row, const char *text,
                     uint64_t *size)
{
    return options_size(parse->error, row->name, text, size);
}

/* SIP.cube.PE */
static int option_value_read_place(struct options_parse *parse, const struct option_row *row,
                                   const char *text, struct hw_place *place)
{
    unsigned sip, cube, pe;
    int used = 0;
    if (strspn(text, "0123456789.") != strlen(text) || strlen(text) > 20 ||
        sscanf(text, "%5u.%4u.%2u%n", &sip, &cube, &pe, &used) != 3 || text[used] != '\0')
        return option_value_reject(parse, row, text, "expected SIP.cube.PE, as in 0.1.0");
    *place = (struct hw_place){.sip = sip, .cube = cube, .pe = pe};
    return CW_OK;
}

static int read_gemm(struct options_parse *parse, const struct option_row *row, const char *text)
{
    struct matmul_shape *gemm = &parse->options->gemm;
    unsigned m, n, k;
    int used = 0;
    if (strspn(text, "0123456789x") != strlen(text) || strlen(text) > 20 ||
        sscanf(text, "%5ux%5ux%5u%n", &m, &n, &k, &used) != 3 || text[used] != '\0' || m == 0 ||
        n == 0 || k == 0 || m > MATMUL_SIDE_MAX || n > MATMUL_SIDE_MAX || k > MATMUL_SIDE_MAX)
        return option_value_reject(parse, row, text,
                                   "expected MxNxK, each from 1 to 65536, as in 128x128x512");
    gemm->m = m, gemm->n = n, gemm->k = k;
    return CW_OK;
}

static int read_bench(struct options_parse *parse, const struct option_row *row, const char *text)
{
    struct text_nearest nearest = {0};
    char known[200] = "";
    size_t used = 0;
    for (size_t i = 0; bench_name(i) != NULL; i++) {
        if (strcmp(text, bench_name(i)) == 0) {
            parse->options->bench = bench_name(i);
            return CW_OK;
        }
        text_nearest_try(&nearest, text, bench_name(i));
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ",
                                     bench_name(i));
    }
    char expected[400];
    snprintf(expected, sizeof expected, "no such bench; %s%s%sknown: %s",
             nearest.best == NULL ? "" : "did you mean ", nearest.best == NULL ? "" : nearest.best,
             nearest.best == NULL ? "" : "? ", known);
    return option_value_reject(parse, row, text, expected);
}

/* Our names, and those that nccl-tests has for the same. */
static int read_dtype(struct options_parse *parse, const struct option_row *row, const char *text)
{
    const char *const name = strcmp(text, "half") == 0       ? "f16"
                             : strcmp(text, "float") == 0    ? "f32"
                             : strcmp(text, "bfloat16") == 0 ? "bf16"
                                                             : text;
    if (!dtype_parse(name, &parse->options->dtype))
        return option_value_reject(parse, row, text, "expected f16, bf16 or f32");
    return CW_OK;
}

static int read_sync(struct options_parse *parse, const struct option_row *row, const char *text)
{
    for (size_t i = 0; i < CW_SYNCS; i++)
        if (strcmp(text, cw_sync_name[i]) == 0) {
            parse->options->sync = (enum cw_sync)i;
            parse->options->sync_given = true;
            return CW_OK;
        }
    return option_value_reject(parse, row, text,
                               "expected sequential, conservative, optimistic, adaptive or stress");
}

int options_cancellation(struct cw_error *error, const char *name, const char *text, bool *lazy)
{
    *lazy = strcmp(text, "lazy") == 0;
    return *lazy || strcmp(text, "aggressive") == 0
               ? CW_OK
               : options_reject(error, name, text, "expected aggressive or lazy");
}

static bool undoes(enum cw_sync sync) { return sync != CW_SEQUENTIAL && sync != CW_CONSERVATIVE; }

int options_cancellation_fits(struct cw_error *error, enum cw_sync sync, bool lazy)
{
    if (lazy && !undoes(sync))
        return options_usage(error,
                             "--cancellation lazy is for the modes that undo events: adaptive, "
                             "optimistic, stress; not for %s",
                             cw_sync_name[sync]);
    return CW_OK;
}

static int read_partition(struct options_parse *parse, const struct option_row *row,
                          const char *text)
{
    if (partitioner_find(text) == NULL) {
        char legal[128] = "expected one of";
        size_t used = strlen(legal);
        const struct partitioner *row_of;
        for (uint32_t i = 0; (row_of = partitioner_at(i)) != NULL && used < sizeof legal; i++)
            used += (size_t)snprintf(legal + used, sizeof legal - used, "%s %s", i == 0 ? "" : ",",
                                     row_of->name);
        return option_value_reject(parse, row, text, legal);
    }
    parse->options->partition = text;
    return CW_OK;
}

static int read_window(struct options_parse *parse, const struct option_row *row, const char *text)
{
    uint32_t window_ns = 0;
    const int result = read_u32(parse, row, text, 1, UINT32_MAX, &window_ns);
    parse->options->window_ps = (int64_t)window_ns * 1000;
    return result;
}

static int read_set(struct options_parse *parse, const char *text)
{
    struct config_request *const config = &parse->options->config;
    if (config->set_count == RUN_SETS_MAX)
        return options_usage(parse->error, "--set: given more than %u times", RUN_SETS_MAX);
    parse->options->sets[config->set_count++] = text;
    return CW_OK;
}

/* Options of the configuration and of what comes out. */
static int read_common(struct options_parse *parse, const struct option_row *row, const char *text)
{
    struct run_options *const options = parse->options;
    switch ((enum option_id)row->id) {
    case OPTION_TOPOLOGY:
        options->config.topology = text;
        break;
    case OPTION_COMPONENTS:
        options->config.components = text;
        break;
    case OPTION_CCL:
        options->config.ccl = text;
        break;
    case OPTION_PRESET:
        options->config.preset = text;
        break;
    case OPTION_SET:
        return read_set(parse, text);
    case OPTION_ALGORITHM:
        options->config.algorithm = text;
        break;
    case OPTION_NO_PLUGINS:
        options->config.no_plugins = true;
        break;
    case OPTION_JSON:
        return options_file(parse->error, row->name, text, &options->json);
    case OPTION_CSV:
        return options_file(parse->error, row->name, text, &options->csv);
    case OPTION_CCL_TRACE:
        return options_file(parse->error, row->name, text, &options->ccl_trace);
    case OPTION_OP_LOG:
        return options_regular_file(parse->error, row->name, text, &options->op_log);
    case OPTION_TRACE:
        return options_regular_file(parse->error, row->name, text, &options->timeline);
    case OPTION_ENGINE_LOG:
        return options_regular_file(parse->error, row->name, text, &options->engine_log);
    case OPTION_DUMP_POINTERS:
        options->dump_pointers = true;
        break;
    case OPTION_PATH:
        options->path_from = text;
        break;
    case OPTION_SVG:
        return options_file(parse->error, row->name, text, &options->svg);
    case OPTION_KEYS:
        options->keys = true;
        break;
    case OPTION_QUIET:
        options->quiet = true;
        break;
    case OPTION_HELP:
        options->help = true;
        break;
    default:
        return options_usage(parse->error, "--%s: not part of this version", row->name);
    }
    return CW_OK;
}

/* Sizes and what is done with them. */
static int read_work(struct options_parse *parse, const struct option_row *row, const char *text)
{
    struct options_pending *const pending = &parse->pending;
    struct run_options *const options = parse->options;
    uint64_t flag = 0;
    int result = CW_OK;
    switch ((enum option_id)row->id) {
    case OPTION_BYTES:
        pending->bytes = text;
        break;
    case OPTION_N_ELEM:
        pending->n_elem = text;
        break;
    case OPTION_LEAST:
        pending->has_least = true;
        return read_size(parse, row, text, &pending->least);
    case OPTION_MOST:
        pending->has_most = true;
        return read_size(parse, row, text, &pending->most);
    case OPTION_FACTOR:
        return read_count(parse, row, text, 2, 1u << 20, &pending->factor);
    case OPTION_STEP:
        return read_size(parse, row, text, &pending->step);
    case OPTION_DTYPE:
        return read_dtype(parse, row, text);
    case OPTION_OP:
        return redop_parse(text, &options->op)
                   ? CW_OK
                   : option_value_reject(parse, row, text, "expected sum, max, min or prod");
    case OPTION_ITERS:
        return read_u32(parse, row, text, 1, 1000000, &options->iterations);
    case OPTION_WARMUP:
        return read_u32(parse, row, text, 0, 1000000, &options->warmup);
    case OPTION_SEED: /* seed * 2^32 is a stream's place, so more bits would repeat streams */
        return read_count(parse, row, text, 0, UINT32_MAX, &options->seed);
    case OPTION_VERIFY_DATA:
        options->verify_data = true;
        break;
    case OPTION_CHECK:
        result = read_count(parse, row, text, 0, 1000000, &flag);
        options->verify_data = flag != 0;
        break;
    case OPTION_NO_DATA:
        options->no_data = true;
        break;
    default:
        return read_common(parse, row, text);
    }
    return result;
}

int options_read(struct options_parse *parse, const struct option_row *row, const char *text)
{
    struct run_options *const options = parse->options;
    switch ((enum option_id)row->id) {
    case OPTION_BENCH:
        return read_bench(parse, row, text);
    case OPTION_FROM:
        return option_value_read_place(parse, row, text, &options->from);
    case OPTION_TO:
        return option_value_read_place(parse, row, text, &options->to);
    case OPTION_DIR: {
        const int dir = hw_dir_by_name(text);
        if (dir < 0 || dir >= HW_DIR_BUILT_IN)
            return option_value_reject(
                parse, row, text, "expected N, S, E, W, or one of them behind global_ or intra_");
        options->dir = (enum hw_dir)dir;
        return CW_OK;
    }
    case OPTION_GEMM:
        return read_gemm(parse, row, text);
    case OPTION_GEMM_TILE:
        return read_u32(parse, row, text, 1, 4096, &options->gemm.tile);
    case OPTION_TILES:
        return read_u32(parse, row, text, 1, 1u << 24, &options->tiles);
    case OPTION_SYNC:
        return read_sync(parse, row, text);
    case OPTION_THREADS:
        return read_u32(parse, row, text, 1, 1024, &options->threads);
    case OPTION_PARTITION:
        return read_partition(parse, row, text);
    case OPTION_NO_PIN:
        parse->options->no_pin = true;
        return CW_OK;
    case OPTION_WINDOW:
        return read_window(parse, row, text);
    case OPTION_CANCELLATION:
        return options_cancellation(parse->error, row->name, text, &options->lazy_cancellation);
    case OPTION_STRESS_RATE:
        return options_stress_rate(parse->error, row->name, text, &options->stress_rate_p32);
    case OPTION_MAX_MEMORY:
        return read_size(parse, row, text, &options->memory_bytes_max);
    default:
        return read_work(parse, row, text);
    }
}

/* ---- what needs several options ------------------------------------------------------------ */

/* -b, -e, -f, -i as one list of sizes. */
static int expand_nccl_sizes(struct options_parse *parse, uint64_t *sizes, size_t *count)
{
    const struct options_pending *const pending = &parse->pending;
    if (!pending->has_least)
        return options_usage(parse->error, "-e, -f and -i need -b, the first size");
    if (pending->factor != 0 && pending->step != 0)
        return options_usage(parse->error, "-f and -i exclude each other");
    const uint64_t most = pending->has_most ? pending->most : pending->least;
    char range[96];
    if (pending->step != 0)
        snprintf(range, sizeof range, "%" PRIu64 ":%" PRIu64 ":+%" PRIu64, pending->least, most,
                 pending->step);
    else
        snprintf(range, sizeof range, "%" PRIu64 ":%" PRIu64 ":x%" PRIu64, pending->least, most,
                 pending->factor != 0 ? pending->factor : 2);
    const char *const wrong = sizes_parse(range, sizes, RUN_SIZES_MAX, count);
    return wrong == NULL ? CW_OK : options_usage(parse->error, "-b %s: %s", range, wrong);
}

static int finish_sizes(struct options_parse *parse)
{
    struct run_options *const options = parse->options;
    const struct options_pending *const pending = &parse->pending;
    const bool nccl =
        pending->has_least || pending->has_most || pending->factor != 0 || pending->step != 0;
    const int ways = (pending->bytes != NULL) + (pending->n_elem != NULL) + nccl;
    if (ways > 1)
        return options_usage(parse->error, "--bytes, --n-elem and -b exclude each other");
    if (ways == 0)
        return CW_OK;
    const char *const option = pending->n_elem != NULL ? "--n-elem" : nccl ? "-b" : "--bytes";
    uint64_t *const sizes = options->n_elem;
    const char *const text = pending->n_elem != NULL ? pending->n_elem : pending->bytes;
    const char *const wrong =
        nccl ? NULL : sizes_parse(text, sizes, RUN_SIZES_MAX, &options->size_count);
    if (wrong != NULL) {
        char quoted[TEXT_QUOTE_BYTES];
        return options_usage(parse->error, "%s %s: %s", option,
                             text_quote(text, strlen(text), quoted), wrong);
    }
    if (nccl && expand_nccl_sizes(parse, sizes, &options->size_count) != CW_OK)
        return CW_USAGE;
    const uint64_t item_bytes = pending->n_elem != NULL ? 1 : dtype_bytes(options->dtype);
    for (size_t i = 0; i < options->size_count; i++) {
        if (sizes[i] % item_bytes != 0)
            return options_usage(parse->error,
                                 "%s: %" PRIu64
                                 " bytes are no whole number of %s elements of %" PRIu64 " bytes",
                                 option, sizes[i], dtype_name(options->dtype), item_bytes);
        sizes[i] /= item_bytes;
        if (sizes[i] == 0 || sizes[i] > (uint64_t)1 << 31)
            return options_usage(parse->error,
                                 "%s: a shard has from 1 to 2147483648 elements; found %" PRIu64,
                                 option, sizes[i]);
    }
    return CW_OK;
}

/* Each output has a file of its own. */
static int check_outputs(struct options_parse *parse)
{
    const struct {
        const char *name, *path;
    } outputs[] = {
        {"json", parse->options->json},           {"csv", parse->options->csv},
        {"ccl-trace", parse->options->ccl_trace}, {"op-log", parse->options->op_log},
        {"trace", parse->options->timeline},      {"engine-log", parse->options->engine_log}};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        for (size_t k = 0; k < i; k++)
            if (outputs[i].path != NULL && outputs[k].path != NULL &&
                strcmp(outputs[i].path, "-") != 0 && strcmp(outputs[k].path, "-") != 0 &&
                atomic_file_same(outputs[i].path, outputs[k].path))
                return options_usage(parse->error,
                                     "--%s and --%s name one file; give each a file of its own",
                                     outputs[k].name, outputs[i].name);
    return CW_OK;
}

int options_finish(struct options_parse *parse)
{
    struct run_options *const options = parse->options;
    if (!options->sync_given && options->threads > 1)
        options->sync = CW_ADAPTIVE;
    if (options->sync == CW_SEQUENTIAL && options->threads > 1)
        return options_usage(parse->error, "--sync sequential runs on 1 thread, not on %" PRIu32,
                             options->threads);
    if (options->stress_rate_p32 != 0 && options->sync != CW_STRESS)
        return options_usage(parse->error, "--stress-rate is for --sync stress");
    if (options_cancellation_fits(parse->error, options->sync, options->lazy_cancellation) != CW_OK)
        return CW_USAGE;
    if (options->window_ps != 0 && !undoes(options->sync))
        return options_usage(parse->error,
                             "--window is for the modes that speculate: adaptive, optimistic, "
                             "stress; not for %s%s",
                             cw_sync_name[options->sync],
                             options->sync_given ? "" : ", the default on one thread (--sync)");
    if (options->no_data && options->verify_data)
        return options_usage(parse->error,
                             "--no-data leaves nothing to verify: drop it or --verify-data");
    if (options->no_data && options->op_log != NULL)
        return options_usage(parse->error, "--no-data leaves nothing for --op-log to replay: drop "
                                           "one of the two");
    if (options->json != NULL && options->csv != NULL && strcmp(options->json, "-") == 0 &&
        strcmp(options->csv, "-") == 0)
        return options_usage(parse->error, "--json - and --csv - cannot share standard output");
    if (check_outputs(parse) != CW_OK)
        return CW_USAGE;
    return finish_sizes(parse);
}

static int option_value_check_place(const char *option, struct hw_place place,
                                    const struct hw_config *hw, struct cw_error *error)
{
    if (place.sip < hw->sip_count && place.cube < hw_cubes(hw) && place.pe < hw_pes(hw))
        return CW_OK;
    return options_usage(error,
                         "--%s %" PRIu32 ".%" PRIu32 ".%" PRIu32
                         ": no such PE; SIPs are 0 to %" PRIu32 ", cubes 0 to %" PRIu32
                         ", PEs 0 to %" PRIu32,
                         option, place.sip, place.cube, place.pe, hw->sip_count - 1,
                         hw_cubes(hw) - 1, hw_pes(hw) - 1);
}

int run_options_check(const struct run_options *options, const struct hw_config *hw,
                      struct cw_error *error)
{
    if (strcmp(options->bench, "ipcq_pingpong") != 0)
        return CW_OK;
    int result = option_value_check_place("from", options->from, hw, error);
    if (result == CW_OK)
        result = option_value_check_place("to", options->to, hw, error);
    if (result == CW_OK && hw_pe_index(hw, options->from) == hw_pe_index(hw, options->to))
        return options_usage(error, "--from and --to name the same PE; ipcq_pingpong needs two");
    return result;
}
