/*
 * bench_algorithm.c: which algorithm a bench runs by its name (bench_program.h). One that is named
 * by an option must do the bench's collective; an algorithm from a file serves all collectives that
 * a program may call, and another takes its place where it cannot do the one called. Host side,
 * pure.
 */
#include "bench/programs/bench_algorithm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/config_place.h"
#include "collectives/hook.h"
#include "collectives/schedule/schedule.h"

static bool has_algorithm(const struct bench_program *program)
{
    return program->collective && !program->no_algorithm;
}

/* The registered algorithms of a collective, as a list. */
static void put_names(enum ccl_collective collective, char *buf, size_t size)
{
    const struct ccl_algorithm *algorithm;
    const char *separator = "";
    size_t n = 0;
    for (uint32_t i = 0; (algorithm = ccl_algorithm_at(i)) != NULL && n < size; i++) {
        if (algorithm->collective != collective)
            continue;
        n += (size_t)snprintf(buf + n, size - n, "%s%s", separator, algorithm->name);
        separator = ", ";
    }
}

int bench_algorithm_fits(const struct config *config, enum ccl_collective does, const char *name,
                         struct cw_error *error)
{
    if (!config_is_from_option(config, "defaults.algorithm"))
        return CW_OK;
    const struct ccl_algorithm *const named = ccl_algorithm_load(config->ccl.module, error);
    if (named == NULL)
        return dist_refuse(config, "defaults.module", error);
    if (named->collective == does)
        return CW_OK;
    char names[512] = "";
    put_names(does, names, sizeof names);
    cw_error_set(error, CW_USAGE, "%s does %s, and %s is a bench of %s, for which there are: %s",
                 config->ccl.algorithm, ccl_collective_name(named->collective), name,
                 ccl_collective_name(does), names);
    return dist_refuse(config, "defaults.algorithm", error);
}

int bench_algorithm_check(const struct bench_session *session, struct cw_error *error)
{
    const struct bench_program *const program = session->program;
    return has_algorithm(program)
               ? bench_algorithm_fits(session->config, program->does, program->name, error)
               : CW_OK;
}

uint32_t bench_root(const struct config *config, enum ccl_collective collective)
{
    struct cw_error ignored;
    const struct ccl_algorithm *const algorithm =
        schedule_has_root(collective) ? ccl_algorithm_for(&config->ccl, collective, &ignored)
                                      : NULL;
    const uint32_t root = algorithm != NULL ? ccl_algorithm_fixed(algorithm).root : UINT32_MAX;
    return root != UINT32_MAX ? root : 0;
}

struct ccl_call bench_call(const struct bench_session *session, enum ccl_collective collective,
                           uint64_t n_elem)
{
    return (struct ccl_call){.hw = &session->config->hw,
                             .ccl = &session->config->ccl,
                             .collective = collective,
                             .world_size = dist_world_size_for(session->config),
                             .root = bench_root(session->config, collective),
                             .n_elem = n_elem,
                             .dtype = (enum lp_dtype)session->options->dtype,
                             .math = (enum lp_math)redop_of_kernels(session->options->op)};
}

struct ccl_call bench_call_of_size(const struct bench_session *session, size_t i)
{
    const enum ccl_collective collective = session->program->does;
    const uint32_t parts = collective == CCL_ALL_GATHER ? dist_world_size_for(session->config) : 1;
    const uint64_t n_elem = collective == CCL_BARRIER ? 0 : bench_size(session, i) / parts;
    return bench_call(session, collective, n_elem > 0 ? n_elem : 1);
}

bool bench_is_scheduled(const struct bench_session *session)
{
    struct cw_error ignored;
    if (!has_algorithm(session->program))
        return false;
    const struct ccl_algorithm *const algorithm =
        ccl_algorithm_for(&session->config->ccl, session->program->does, &ignored);
    return algorithm != NULL && algorithm->schedule != NULL;
}

bool bench_sizes_apart(const struct run_options *options)
{
    return options->size_count > 1 && options->op_log == NULL && options->ccl_trace == NULL &&
           options->timeline == NULL && options->engine_trace == NULL &&
           options->engine_log == NULL && !options->dump_pointers;
}

void bench_expect_call(const struct run_options *options, const struct ccl_call *call,
                       struct ccl_config *ccl)
{
    struct cw_error ignored;
    const struct ccl_algorithm *const algorithm =
        ccl_algorithm_for(ccl, call->collective, &ignored);
    if (algorithm == NULL || algorithm->schedule == NULL)
        return;
    const uint64_t half = tl_itemsize(LP_F16); /* the unit of a configured n_elem */
    ccl->n_elem = (call->n_elem * tl_itemsize(call->dtype) + half - 1) / half;
    ccl->n_elem_is_most = options->size_count <= 1 || bench_sizes_apart(options);
}

int bench_place(struct bench_session *session, struct cw_error *error)
{
    const struct run_options *const options = session->options;
    const enum ccl_collective collective = session->program->does;
    const size_t sizes = bench_size_count(session);
    if (!has_algorithm(session->program) || !options->sizes_per_rank ||
        !dist_chooses_placement(session->config, collective))
        return CW_OK;
    struct dist_placement *const placements = calloc(sizes, sizeof *placements);
    if (placements == NULL)
        return cw_error_memory(error, "the placements");
    for (size_t i = 0; i < sizes; i++) {
        if (i > 0 && !bench_sizes_apart(options)) {
            placements[i] = placements[0];
            continue;
        }
        const int code = bench_place_size(options, session->config, collective, options->n_elem[i],
                                          &placements[i], error);
        if (code != CW_OK && code != CW_USAGE) {
            free(placements);
            return code;
        }
        if (code == CW_USAGE) /* the size will be refused */
            placements[i] = (struct dist_placement){.mapper = "leader_only", .shards = 1};
    }
    session->placements = placements;
    return CW_OK;
}

int bench_place_size(const struct run_options *options, const struct config *config,
                     enum ccl_collective collective, uint64_t n_elem,
                     struct dist_placement *placement, struct cw_error *error)
{
    const uint32_t ranks = dist_world_size_for(config);
    const uint64_t input = n_elem / (collective == CCL_ALL_GATHER ? ranks : 1);
    const struct ccl_call call = {.hw = &config->hw,
                                  .ccl = &config->ccl,
                                  .collective = collective,
                                  .world_size = ranks,
                                  .n_elem = input > 0 ? input : 1,
                                  .dtype = (enum lp_dtype)options->dtype,
                                  .math = (enum lp_math)redop_of_kernels(options->op)};
    return dist_choose_placement(config, &call, placement, error);
}

void bench_expect(struct bench_session *session, size_t i)
{
    if (!has_algorithm(session->program))
        return;
    if (session->placements != NULL) {
        dist_take_placement(session->expected, &session->placements[i]);
        session->shards = session->placements[i].shards;
    }
    const struct ccl_call call = bench_call_of_size(session, i);
    bench_expect_call(session->options, &call, &session->expected->ccl);
}

void bench_note_algorithm(const struct bench_session *session, struct result_row *row)
{
    const struct schedule *const schedule = dist_facts(session->dist)->schedule;
    struct ccl_choice choice = {.why = ""};
    struct cw_error ignored;
    if (!has_algorithm(session->program))
        return;
    const struct ccl_call call = bench_call(session, session->program->does, row->count);
    const struct ccl_algorithm *const algorithm = ccl_algorithm_of(&call, &choice, &ignored);
    if (algorithm == NULL)
        return;
    const char *const why =
        schedule != NULL && algorithm->schedule != NULL ? schedule->why : choice.why;
    snprintf(row->choice, sizeof row->choice, "%s", why);
    if (session->placements != NULL) {
        const struct dist_placement *const placement = &session->placements[session->size];
        row->placement = placement->mapper;
        snprintf(row->choice, sizeof row->choice, "%s; %s", placement->why, why);
    }
    if (schedule != NULL && algorithm->schedule != NULL) {
        row->moved = schedule_moved(schedule);
        if (schedule->why[0] != '\0')
            snprintf(row->algorithm, sizeof row->algorithm, "%s", schedule->name);
    } else if (algorithm->moved != NULL) {
        row->moved = CCL_HOOK("moved()", algorithm->moved, (&call));
    }
}

static bool same_choice(const struct bench_choice *a, const struct bench_choice *b)
{
    return strcmp(a->algorithm, b->algorithm) == 0 && a->placement == b->placement;
}

/* As sizes are typed: "64K", "1M", "1000". */
static void print_size(FILE *file, uint64_t bytes)
{
    const bool is_m = bytes % (1 << 20) == 0 && bytes > 0,
               is_k = bytes % (1 << 10) == 0 && bytes > 0;
    fprintf(file, "%" PRIu64 "%s",
            bytes >> (is_m   ? 20
                      : is_k ? 10
                             : 0),
            is_m   ? "M"
            : is_k ? "K"
                   : "");
}

void bench_keep_left_out(struct bench_choice *choice, const char *why)
{
    const char *const left_out = strstr(why, "; no ");
    snprintf(choice->left_out, sizeof choice->left_out, "%s", left_out != NULL ? left_out : "");
}

void bench_print_choices(FILE *file, const struct bench_choice *choices, size_t count, bool by_rank)
{
    for (size_t i = 0, last; i < count; i = last + 1) {
        const struct bench_choice *const first = &choices[i];
        last = i;
        while (last + 1 < count && same_choice(first, &choices[last + 1]))
            last++;
        fprintf(file, "%s %s", i > 0 ? ";" : "", first->algorithm);
        if (first->placement != NULL)
            fprintf(file, " on %s", first->placement);
        fputs(" (", file);
        print_size(file, first->bytes);
        if (last > i) {
            fputs(" to ", file);
            print_size(file, choices[last].bytes);
        }
        fputs(i == 0 ? by_rank ? " per rank)" : " per shard)" : ")", file);
    }
    size_t i = 0;
    while (i + 1 < count && choices[i].left_out[0] == '\0')
        i++;
    fprintf(file, "; estimates: check, --json%s\n", choices[i].left_out);
}

void bench_say_choices(const struct bench_session *session)
{
    const struct result *const result = session->result;
    const bool by_rank = session->options->sizes_per_rank;
    struct bench_choice choices[RUN_SIZES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < result->row_count && count < RUN_SIZES_MAX; i++) {
        const struct result_row *const row = &result->rows[i];
        if (row->choice[0] == '\0')
            continue;
        bench_keep_left_out(&choices[count], row->choice);
        choices[count].placement = row->placement;
        choices[count].bytes = row->bytes * (by_rank ? row->shards : 1);
        snprintf(choices[count].algorithm, sizeof choices->algorithm, "%s", row->algorithm);
        count++;
    }
    if (count == 0)
        return;
    fprintf(stderr, "cubewarp: %s takes", session->config->ccl.algorithm);
    bench_print_choices(stderr, choices, count, by_rank);
}

void bench_algorithm_name(const struct bench_session *session, char *buf, size_t size)
{
    const struct ccl_config *ccl = &session->config->ccl;
    struct cw_error ignored;
    buf[0] = '\0';
    if (!has_algorithm(session->program))
        return;
    const struct ccl_algorithm *algorithm =
        ccl_algorithm_for(ccl, session->program->does, &ignored);
    if (algorithm != NULL && algorithm->choose != NULL) { /* its choice is a row's */
        snprintf(buf, size, "%s", ccl_algorithm_label(ccl, algorithm));
        return;
    }
    for (size_t i = 0; i < bench_size_count(session); i++) {
        const struct ccl_call call = bench_call_of_size(session, i);
        algorithm = ccl_algorithm_of(&call, NULL, &ignored);
        const char *const label = algorithm != NULL ? ccl_algorithm_label(ccl, algorithm) : "";
        if (i > 0 && strcmp(buf, label) != 0) {
            buf[0] = '\0';
            return;
        }
        snprintf(buf, size, "%s", label);
    }
}

/* The module of the algorithm that ran: a plug-in's is its path, since its own name may
 * also be a built-in's. */
const char *bench_order(const struct bench_session *session, const struct ccl_algorithm *ran)
{
    return ccl_algorithm_find(ran->name) == ran ? ran->name : session->config->ccl.module;
}
