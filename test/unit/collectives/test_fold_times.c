/*
 * test_fold_times.c: folded worlds beside whole ones: random machines, algorithms, sizes and
 * options. Where fold_find() finds a fold, and the folded run calls itself exact, every time of
 * every rank's calls is the whole machine's, to the picosecond. Folds by translations are always
 * exact.
 *
 * Then files whose buffers are one, on machines that fold in part, so that a representative's
 * number is not its place among representatives.
 *
 * FOLD_SEEDS=N: so many (make nightly); 150 in CI. FOLD_SEED=S begins with this one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/support/test_dist_support.h"

#include "collectives/fold/fold_find.h"
#include "hw/arithmetic.h"

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])
enum { CALLS = 2, SIPS_MAX = 24, SETS_MAX = 16, SET_BYTES = 96 };

/* ---- random cases ---------------------------------------------------------------------------- */

struct random_case {
    uint64_t seed, state;
    char set[SETS_MAX][SET_BYTES];
    size_t sets;
    uint64_t n_elem;
};

static uint32_t draw(struct random_case *c, uint32_t below)
{
    c->state += UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hw_mix(c->state) % below);
}

__attribute__((format(printf, 2, 3))) static void set(struct random_case *c, const char *format,
                                                      ...)
{
    va_list arguments;
    assert_true(c->sets < SETS_MAX);
    va_start(arguments, format);
    (void)vsnprintf(c->set[c->sets++], SET_BYTES, format, arguments);
    va_end(arguments);
}

static void draw_machine(struct random_case *c)
{
    const uint32_t w = 1 + draw(c, 4), h = 1 + draw(c, 4), d = 1 + draw(c, 3);
    const uint32_t n = 2 + draw(c, SIPS_MAX - 1), power = 2u << draw(c, 4);
    bool one_cube = false;
    switch (draw(c, 8)) {
    case 0:
        set(c, "system.sips.topology=ring_1d");
        set(c, "system.sips.count=%u", n);
        break;
    case 1:
    case 2:
        set(c, "system.sips.topology=torus_2d");
        set(c, "system.sips.count=%u", w * h);
        set(c, "system.sips.w=%u", w);
        set(c, "system.sips.h=%u", h);
        break;
    case 3:
        set(c, "system.sips.topology=torus_3d");
        set(c, "system.sips.count=%u", w * 2 * d);
        set(c, "system.sips.w=%u", w);
        set(c, "system.sips.h=2");
        set(c, "system.sips.d=%u", d);
        break;
    case 4:
        set(c, "system.sips.topology=fully_connected");
        set(c, "system.sips.count=%u", n);
        break;
    case 5:
        set(c, "system.sips.topology=switch");
        set(c, "system.sips.count=%u", draw(c, 2) ? power : n);
        break;
    case 6:
        one_cube = true;
        set(c, "system.sips.topology=pair_switch");
        set(c, "system.sips.count=%u", draw(c, 2) ? power : n / 2 * 2);
        break;
    default:
        set(c, "system.sips.topology=[{fully_connected: %u}, {ring_1d: %u, bw_gbs: 50}]", 1 + w,
            1 + h);
        set(c, "system.sips.count=%u", (1 + w) * (1 + h));
    }
    set(c, "sip.cube_mesh.w=%u", one_cube ? 1 : 1 + draw(c, 2));
    set(c, "sip.cube_mesh.h=%u", one_cube ? 1 : 1 + draw(c, 2));
}

static void draw_options(struct random_case *c, const char *algorithm)
{
    static const char *const buffer[] = {"tcm", "hbm", "sram"};
    static const char *const credit[] = {"fast_path", "fabric"};
    static const char *const contention[] = {"message", "chunk", "none"};
    if (draw(c, 2))
        set(c, "defaults.buffer_kind=%s", buffer[draw(c, 3)]);
    if (draw(c, 2))
        set(c, "defaults.credit_return_mode=%s", credit[draw(c, 2)]);
    if (draw(c, 2))
        set(c, "fabric.contention=%s", contention[draw(c, 3)]);
    if (draw(c, 2))
        set(c, "defaults.slot_size=%u", 64u << draw(c, 3));
    if (draw(c, 3) == 0 && strcmp(algorithm, "lrab_hierarchical_allreduce") == 0)
        set(c, "defaults.rank_invariant=true");
    else if (draw(c, 3) == 0)
        set(c, "algorithms.%s.mapper=all_pes", algorithm);
    if (draw(c, 6) == 0)
        set(c, "links.sip_link.latency_ns=%u", 1 + draw(c, 900));
}

static const struct ccl_algorithm *draw_algorithm(struct random_case *c)
{
    uint32_t count = 0;
    while (ccl_algorithm_at(count) != NULL)
        count++;
    return ccl_algorithm_at(draw(c, count));
}

/* NULL: the configuration is not legal. */
static struct config *draw_case(struct random_case *c, const struct ccl_algorithm **algorithm)
{
    const char *sets[SETS_MAX];
    struct config_errors errors = {0};
    struct config *config;
    *algorithm = draw_algorithm(c);
    draw_machine(c);
    set(c, "defaults.algorithm=%s", (*algorithm)->name);
    draw_options(c, (*algorithm)->name);
    for (size_t i = 0; i < c->sets; i++)
        sets[i] = c->set[i];
    c->n_elem = 1 + draw(c, 900);
    if (config_load(&(struct config_request){.sets = sets, .set_count = c->sets}, &config,
                    &errors) != CW_OK)
        config = NULL;
    config_errors_free(&errors);
    if (config != NULL && draw(c, 3) > 0) /* mostly sizes that divide */
        c->n_elem = (uint64_t)config->hw.sip_count * 16 * (1 + draw(c, 6));
    return config;
}

/* ---- runs ------------------------------------------------------------------------------------ */

struct times {
    const struct ccl_algorithm *algorithm;
    uint64_t n_elem;
    struct dp_policy policy;
    uint32_t calls;
    int64_t installed_ps, ended_ps[CALLS], rank_ps[SIPS_MAX + 1][CALLS];
    bool exact;
};

static void call_once(const struct times *times, struct tensor *in, struct tensor *out)
{
    switch (times->algorithm->collective) {
    case CCL_REDUCE_SCATTER:
        dist_wait(dist_reduce_scatter_async(NULL, out, in, REDOP_SUM));
        break;
    case CCL_ALL_GATHER:
        dist_wait(dist_all_gather_async(NULL, in, out));
        break;
    case CCL_ALL_TO_ALL:
        dist_wait(dist_all_to_all_async(NULL, out, in));
        break;
    default:
        dist_wait(dist_all_reduce_async(NULL, in, REDOP_SUM));
    }
}

static void worker(int rank, void *arg)
{
    struct times *const times = arg;
    const bool parts = times->algorithm->collective == CCL_REDUCE_SCATTER ||
                       times->algorithm->collective == CCL_ALL_GATHER;
    join_group(rank);
    times->installed_ps = dist_time_ps();
    const uint64_t elems = times->n_elem, ranks = (uint64_t)dist_get_world_size();
    struct tensor *const in = dist_tensor_zeros(elems, DTYPE_F16, &times->policy),
                         *const out = dist_tensor_zeros(parts ? elems / ranks : elems, DTYPE_F16,
                                                        &times->policy);
    for (uint32_t i = 0; i < CALLS; i++) {
        call_once(times, in, out);
        times->rank_ps[rank][i] = dist_time_ps();
    }
    dist_tensor_free(in);
    dist_tensor_free(out);
    dist_destroy_process_group();
}

static int completed(void *arg, const struct dist_completion *completion, struct cw_error *error)
{
    struct times *const times = arg;
    (void)error;
    times->ended_ps[times->calls++] = completion->times->host_ps;
    return CW_OK;
}

/* The code of the run. */
static int run(const struct config *config, const struct hw_fold *fold, struct schedule *schedule,
               struct times *times)
{
    const struct dist_options options = {
        .config = config,
        .fold = fold,
        .schedule = fold != NULL ? schedule : NULL,
        .no_data = true,
        .says_choices = true,
        .completed = completed,
        .arg = times,
        .machine.engine = {.sync = CW_SEQUENTIAL, .worker_count = 1}};
    struct cw_error error;
    struct dist *const dist = dist_create(&options, &error);
    if (dist == NULL) {
        if (fold != NULL)
            print_message("%s\n", cw_error_text(&error));
        return error.exit_code;
    }
    times->policy = dist_facts(dist)->policy;
    const int code = dist_spawn(dist, worker, times, &error);
    if (code != CW_OK && fold != NULL)
        print_message("%s\n", cw_error_text(&error));
    times->exact = fold == NULL || lp_system_fold_is_exact(dist_system(dist));
    dist_free(dist);
    return code;
}

static void print_case(const struct random_case *c)
{
    print_message("FOLD_SEED=%llu, %llu elements:", (unsigned long long)c->seed,
                  (unsigned long long)c->n_elem);
    for (size_t i = 0; i < c->sets; i++)
        print_message(" --set '%s'", c->set[i]);
    print_message("\n");
}

static uint32_t folded_cases, exact_cases;

static void compare(const struct random_case *c, const struct config *config,
                    const struct fold_found *found, const struct ccl_algorithm *algorithm)
{
    struct times whole = {.algorithm = algorithm, .n_elem = c->n_elem}, folded = whole;
    if (run(config, NULL, NULL, &whole) != CW_OK)
        return;
    folded_cases++;
    const int code = run(config, &found->fold, found->schedule, &folded);
    if (code != CW_OK)
        print_case(c);
    assert_int_equal(code, CW_OK);
    if (!folded.exact) {
        assert_false(found->fold.translates);
        return;
    }
    exact_cases++;
    bool same = folded.installed_ps == whole.installed_ps && folded.calls == whole.calls;
    for (uint32_t k = 0; k < CALLS; k++) {
        same &= folded.ended_ps[k] == whole.ended_ps[k];
        for (uint32_t sip = 0; sip < found->fold.of; sip++)
            same &= folded.rank_ps[hw_fold_representative(&found->fold, sip)][k] ==
                    whole.rank_ps[sip][k];
    }
    if (same)
        return;
    print_case(c);
    for (uint32_t k = 0; k < CALLS; k++)
        print_message("call %u: %lld ps, folded %lld ps\n", k, (long long)whole.ended_ps[k],
                      (long long)folded.ended_ps[k]);
    for (uint32_t sip = 0; sip < found->fold.of; sip++)
        print_message("rank %u: %lld, folded %lld\n", sip, (long long)whole.rank_ps[sip][0],
                      (long long)folded.rank_ps[hw_fold_representative(&found->fold, sip)][0]);
    fail_msg("a folded world to %u of %u SIPs takes another time", found->fold.sips,
             found->fold.of);
}

static void check_seed(uint64_t seed)
{
    struct random_case c = {.seed = seed, .state = seed};
    const struct ccl_algorithm *algorithm;
    struct fold_found found;
    struct cw_error error;
    struct config *const config = draw_case(&c, &algorithm);
    if (config == NULL)
        return;
    const struct ccl_call call = {.hw = &config->hw,
                                  .ccl = &config->ccl,
                                  .collective = algorithm->collective,
                                  .world_size = config->hw.sip_count,
                                  .n_elem = algorithm->collective == CCL_ALL_GATHER
                                                ? c.n_elem / config->hw.sip_count
                                                : c.n_elem,
                                  .dtype = LP_F16,
                                  .math = LP_MATH_SUM};
    const struct fold_request request = {.config = config, .calls = &call, .count = 1};
    if (fold_find(&request, &found, &error) == CW_OK) {
        if (found.fold.sips < found.fold.of)
            compare(&c, config, &found, algorithm);
        schedule_free(found.schedule);
    }
    config_free(config);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *const text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static void folded_worlds_take_the_times_of_whole_ones(void **state)
{
    (void)state;
    const uint64_t first = number_from("FOLD_SEED", 1), count = number_from("FOLD_SEEDS", 150);
    for (uint64_t seed = first; seed < first + count; seed++)
        check_seed(seed);
    print_message("%u of %llu cases fold, %u of them exactly\n", folded_cases,
                  (unsigned long long)count, exact_cases);
}

/* ---- files in place -------------------------------------------------------------------------- */

/* A machine of RANKS SIPs, and a file for it. */
struct file_case {
    const char *topology[3];
    uint32_t columns; /* ranks are added coordinate by coordinate; 0: exclusive or */
    uint32_t (*copies)(uint32_t rank); /* of ranks that do not fold onto each other, unlike */
    uint32_t sips;                     /* that are left */
};
enum { RANKS = 8, CHUNKS = 2 }; /* of each rank's block */

/* The rank that is `by` away, or whose distance is: back. */
static uint32_t rank_away(const struct file_case *c, uint32_t rank, uint32_t by, bool back)
{
    if (c->columns == 0)
        return rank ^ by;
    const uint32_t w = c->columns, h = RANKS / w, x = by % w, y = by / w;
    return (rank / w + (back ? h - y : y)) % h * w + (rank % w + (back ? w - x : x)) % w;
}

static void write_step(FILE *file, uint32_t number, const char *op, uint32_t src, const char *to,
                       uint32_t dst, const char *waits)
{
    fprintf(file,
            "<step s='%u' type='%s' srcbuf='i' srcoff='%u' dstbuf='%s' dstoff='%u' cnt='1' %s "
            "hasdep='1'/>\n",
            number, op, src, to, dst, waits);
}

/* Each pair of ranks has a thread at both ends. Copies are to scratch, and serve no purpose. In an
 * all-gather nothing writes the input, so its second chunk may be loaded early. In a reduce-scatter
 * sums are added in the order of threads. */
static void write_thread(FILE *file, const struct file_case *c, bool gathers, uint32_t rank,
                         uint32_t thread)
{
    const uint32_t to = rank_away(c, rank, thread + 1, false),
                   from = rank_away(c, rank, thread + 1, true);
    const uint32_t copies = thread == 0 ? c->copies(rank) : 0;
    fprintf(file, "<tb id='%u' send='%u' recv='%u' chan='0'>\n", thread, to, from);
    for (uint32_t i = 0; i < copies; i++)
        write_step(file, i, "cpy", 0, "s", 0, "");
    for (uint32_t k = 0, number = copies; k < CHUNKS; k++, number += 2) {
        char waits[60] = "";
        if (thread > 0)
            snprintf(waits, sizeof waits, "depid='%u' deps='%u'", thread - 1,
                     (thread == 1 ? c->copies(rank) : 0) + 2 * k + 1);
        if (gathers) {
            write_step(file, number, "s", k, "o", rank * CHUNKS + k, "");
            write_step(file, number + 1, "r", 0, "o", from * CHUNKS + k, "");
        } else {
            write_step(file, number, "s", to * CHUNKS + k, "o", k, "");
            write_step(file, number + 1, "rrc", rank * CHUNKS + k, "o", k, waits);
        }
    }
    fprintf(file, "</tb>\n");
}

static void write_in_place(const char *path, const struct file_case *c, bool gathers)
{
    FILE *const file = fopen(path, "w");
    const uint32_t all = RANKS * CHUNKS;
    assert_non_null(file);
    fprintf(file, "<algo name='x' nchunksperloop='%u' ngpus='%u' coll='%s' inplace='1'>\n", all,
            (unsigned)RANKS, gathers ? "allgather" : "reduce_scatter");
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        fprintf(file, "<gpu id='%u' i_chunks='%u' o_chunks='%u' s_chunks='1'>\n", rank,
                gathers ? CHUNKS : all, gathers ? all : CHUNKS);
        for (uint32_t thread = 0; thread + 1 < RANKS; thread++)
            write_thread(file, c, gathers, rank, thread);
        fprintf(file, "</gpu>\n");
    }
    fprintf(file, "</algo>\n");
    assert_int_equal(fclose(file), 0);
}

static void check_in_place(const struct file_case *c, bool gathers, uint32_t elems_of_rank)
{
    const char *const path = gathers ? "./gathers.xml" : "./scatters.xml";
    struct random_case given = {.n_elem = (uint64_t)elems_of_rank * RANKS};
    const char *sets[SETS_MAX];
    for (size_t i = 0; i < COUNT_OF(c->topology) && c->topology[i] != NULL; i++)
        set(&given, "system.sips.%s", c->topology[i]);
    set(&given, "system.sips.count=%u", (unsigned)RANKS);
    for (size_t i = 0; i < given.sets; i++)
        sets[i] = given.set[i];
    write_in_place(path, c, gathers);
    struct config_errors errors = {0};
    struct config *config;
    assert_int_equal(
        config_load(
            &(struct config_request){.algorithm = path, .sets = sets, .set_count = given.sets},
            &config, &errors),
        CW_OK);
    const uint64_t n_elem = gathers ? elems_of_rank : given.n_elem;
    const struct ccl_call call = {.hw = &config->hw,
                                  .ccl = &config->ccl,
                                  .collective = gathers ? CCL_ALL_GATHER : CCL_REDUCE_SCATTER,
                                  .world_size = RANKS,
                                  .n_elem = n_elem,
                                  .dtype = LP_F16,
                                  .math = LP_MATH_SUM};
    struct cw_error error;
    const struct ccl_algorithm *const algorithm = ccl_algorithm_of(&call, NULL, &error);
    struct fold_found found;
    assert_non_null(algorithm);
    assert_int_equal(fold_find(&(struct fold_request){.config = config, .calls = &call, .count = 1},
                               &found, &error),
                     CW_OK);
    assert_int_equal(found.fold.sips, c->sips);
    const uint32_t before = exact_cases;
    compare(&given, config, &found, algorithm);
    assert_int_equal(exact_cases, before + 1);
    schedule_free(found.schedule);
    config_free(config);
    config_errors_free(&errors);
}

static uint32_t by_row(uint32_t rank) { return rank / 4; }
static uint32_t by_row_and_parity(uint32_t rank) { return rank / 4 * 2 + rank % 2; }
static uint32_t by_parity(uint32_t rank) { return rank % 2; }
static uint32_t by_pair(uint32_t rank) { return rank / 2; }

static void files_in_place_fold_in_part(void **state)
{
    (void)state;
    static const struct file_case cases[] = {
        {{"topology=torus_2d", "w=4", "h=2"}, 4, by_row, 2},
        {{"topology=torus_2d", "w=4", "h=2"}, 4, by_row_and_parity, 4},
        {{"topology=ring_1d"}, 8, by_parity, 2},
        {{"topology=switch"}, 0, by_row, 2},
        {{"topology=switch"}, 0, by_pair, 4}};
    static const uint32_t elems[] = {8, 17}; /* chunks of 4 and 4; of 9 and 8 */
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (size_t k = 0; k < COUNT_OF(elems); k++) {
            check_in_place(&cases[i], true, elems[k]);
            check_in_place(&cases[i], false, elems[k]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(folded_worlds_take_the_times_of_whole_ones),
                                       cmocka_unit_test(files_in_place_fold_in_part)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
