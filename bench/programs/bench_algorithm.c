/*
 * bench_algorithm.c: which algorithm a bench runs by its name (bench_program.h). One that is named
 * by an option must do the bench's collective; an algorithm from a file serves all collectives that
 * a program may call, and another takes its place where it cannot do the one called. Host side,
 * pure.
 */
#include "bench/programs/bench_algorithm.h"

#include <stdio.h>
#include <string.h>

#include "collectives/config/config_place.h"
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

struct ccl_call bench_call(const struct bench_session *session, enum ccl_collective collective,
                           uint64_t n_elem)
{
    return (struct ccl_call){.hw = &session->config->hw,
                             .ccl = &session->config->ccl,
                             .collective = collective,
                             .world_size = dist_world_size_for(session->config),
                             .n_elem = n_elem,
                             .dtype = (enum lp_dtype)session->options->dtype,
                             .math = (enum lp_math)session->options->op};
}

/* The program's own, of its i-th size. */
static struct ccl_call bench_algorithm_call_of(const struct bench_session *session, size_t i)
{
    const enum ccl_collective collective = session->program->does;
    const uint64_t n_elem = collective == CCL_BARRIER ? 1 : bench_size(session, i);
    const uint32_t parts = collective == CCL_ALL_GATHER ? dist_world_size_for(session->config) : 1;
    return bench_call(session, collective, n_elem / parts);
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
    ccl->n_elem = call->n_elem * tl_itemsize(call->dtype) / tl_itemsize(LP_F16);
    ccl->n_elem_is_most = options->size_count <= 1 || bench_sizes_apart(options);
}

void bench_expect(const struct bench_session *session, size_t i)
{
    if (!has_algorithm(session->program))
        return;
    const struct ccl_call call = bench_algorithm_call_of(session, i);
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
    if (schedule != NULL && algorithm->schedule != NULL) {
        row->moved = schedule_moved(schedule);
        if (schedule->why[0] != '\0')
            snprintf(row->algorithm, sizeof row->algorithm, "%s", schedule->name);
    } else if (algorithm->moved != NULL) {
        row->moved = algorithm->moved(&call);
    }
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
        const struct ccl_call call = bench_algorithm_call_of(session, i);
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
