/*
 * sample.c: carries out a schedule for some ranks, and judges their outputs (sample.h).
 */
#include "collectives/verify/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/hook.h"
#include "collectives/schedule/schedule_check.h"
#include "collectives/schedule/schedule_walk.h"
#include "collectives/verify/sample_values.h"

struct sampling {
    const struct sample_request *request;
    struct sample_found *found;
    uint32_t *rank; /* [count] of the schedule */
    uint32_t count;
    struct schedule_faults faults;
};

/* ---- elements -------------------------------------------------------------------------------- */

static uint64_t block_elems(const struct sampling *s)
{
    const enum ccl_collective collective = s->request->algorithm->collective;
    const bool divides = collective == CCL_REDUCE_SCATTER || collective == CCL_ALL_TO_ALL;
    return s->request->n_elem / (divides ? s->request->call.world_size : 1);
}

/* What a wrong chunk counts: its elements, and at least 1, so that no fault goes uncounted. */
static uint64_t wrong_elements(const struct sample_layout *layout, uint32_t chunk)
{
    const uint64_t elements = sample_layout_elements(layout, chunk);
    return elements > 0 ? elements : 1;
}

/* Keeps the first line of the faults so far, and forgets them. */
static void note_faults(struct sampling *s)
{
    char *const to = s->found->fault;
    if (s->faults.count > 0 && s->faults.text != NULL && to[0] == '\0')
        snprintf(to, sizeof s->found->fault, "%.*s", (int)strcspn(s->faults.text, "\n"),
                 s->faults.text);
    schedule_faults_free(&s->faults);
}

/* ---- all steps ------------------------------------------------------------------------------- */

static int judge_whole(struct sampling *s, const struct schedule *schedule, struct cw_error *error)
{
    struct schedule_values *const values = schedule_formulas_of_steps(schedule, error);
    if (values == NULL)
        return error->exit_code;
    const struct sample_layout output = {.chunks = values->outputs,
                                         .blocks = schedule_blocks(schedule, SCHEDULE_OUTPUT),
                                         .parts = schedule->parts,
                                         .shards = schedule->members > 1 ? 1 : s->request->shards,
                                         .block_elems = block_elems(s)};
    struct sample_formulas formulas = {.values = values, .input = output, .output = output};
    formulas.input.chunks = values->inputs;
    formulas.input.blocks = schedule_blocks(schedule, SCHEDULE_INPUT);
    const size_t chunks = (size_t)s->count * values->outputs;
    bool *const wrong = calloc(chunks + 1, sizeof *wrong);
    s->faults.no_memory |= wrong == NULL;
    if (wrong != NULL)
        schedule_values_check_some(values, schedule, s->rank, s->count, wrong, &s->faults);
    for (size_t i = 0; i < chunks && wrong != NULL; i++)
        if (wrong[i])
            s->found->wrong += wrong_elements(&output, (uint32_t)(i % values->outputs));
    s->found->chunks = s->found->of_chunks = values->outputs;
    int code = s->faults.no_memory ? cw_error_memory(error, "verification") : CW_OK;
    note_faults(s);
    if (code == CW_OK)
        code = sample_values(s->request, &formulas, s->rank, s->count, wrong, s->found, error);
    free(wrong);
    schedule_values_free(values);
    return code;
}

/* A schedule that has just been made. */
static int judge_made(struct sampling *s, const struct schedule *made, struct cw_error *error)
{
    const struct sample_request *const request = s->request;
    const uint32_t ranks = request->call.world_size * request->members;
    if (made->rank_count != ranks || made->members != request->members)
        return cw_error_set(error, CW_USAGE,
                            "%s makes a schedule of %u ranks, each of %u members; legal is %u of "
                            "%u",
                            request->algorithm->name, made->rank_count, made->members, ranks,
                            request->members);
    return judge_whole(s, made, error);
}

/* ---- steps of single chunks ------------------------------------------------------------------ */

/* One value, which these ranks have, as the formulas' chunks say. */
static int judge_value(struct sampling *s, const struct schedule_walk_maker *maker,
                       struct sample_formulas *formulas, uint32_t value, const uint32_t *rank,
                       uint32_t count, struct cw_error *error)
{
    bool *const wrong = calloc((size_t)count + 1, sizeof *wrong);
    s->faults.no_memory |= wrong == NULL;
    struct schedule_values *const values =
        wrong != NULL ? schedule_walk_value(maker, value, rank, count, wrong, &s->faults) : NULL;
    int code = s->faults.no_memory ? cw_error_memory(error, "verification") : CW_OK;
    for (uint32_t i = 0; i < count && code == CW_OK; i++)
        if (values == NULL || wrong[i])
            s->found->wrong += wrong_elements(&formulas->output, formulas->output_chunk);
    if (code == CW_OK)
        note_faults(s);
    formulas->values = values;
    if (values != NULL && code == CW_OK)
        code = sample_values(s->request, formulas, rank, count, wrong, s->found, error);
    schedule_values_free(values);
    free(wrong);
    return code;
}

/* struct schedule_walk, look(): as many chunks of each rank as the visits allow. */
static int judge_chunks(void *arg, const struct schedule_walk_maker *maker, struct cw_error *error)
{
    struct sampling *const s = arg;
    const bool scatters = maker->collective == CCL_REDUCE_SCATTER,
               gathers = maker->collective == CCL_ALL_GATHER;
    const struct sample_layout whole = {.chunks = maker->values,
                                        .blocks = scatters || gathers ? maker->ranks : 1,
                                        .parts = maker->parts,
                                        .shards = s->request->shards,
                                        .block_elems = block_elems(s)};
    struct sample_layout block = whole;
    block.chunks = maker->parts;
    block.blocks = 1;
    struct sample_formulas formulas = {.input = gathers ? block : whole,
                                       .output = scatters ? block : whole};
    const uint64_t room = sample_room(s->request, maker->ranks, s->count);
    const uint32_t of = formulas.output.chunks;
    int code = CW_OK;
    s->found->of_chunks = of;
    s->found->chunks = room < of ? room : of;
    for (uint64_t i = 0; i < s->found->chunks && code == CW_OK; i++) {
        const uint32_t chunk = (uint32_t)sample_number(i, s->found->chunks, of);
        formulas.output_chunk = chunk;
        formulas.input_chunk = gathers ? chunk % maker->parts : chunk;
        if (!scatters)
            code = judge_value(s, maker, &formulas, chunk, s->rank, s->count, error);
        for (uint32_t k = 0; k < s->count && scatters && code == CW_OK; k++) {
            formulas.input_chunk = s->rank[k] * maker->parts + chunk;
            code = judge_value(s, maker, &formulas, formulas.input_chunk, &s->rank[k], 1, error);
        }
    }
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Asks for steps of single chunks. An algorithm that knows nothing of them makes all steps, which
 * are judged instead. */
static int walk_chunks(struct sampling *s, struct cw_error *error)
{
    const struct schedule_walk walk = {.look = judge_chunks, .arg = s};
    struct ccl_call call = s->request->call;
    call.walk = &walk;
    error->exit_code = CW_OK;
    struct schedule *const made =
        CCL_HOOK("schedule()", s->request->algorithm->schedule, (&call, error));
    if (made == NULL)
        return error->exit_code;
    const int code = s->found->chunks == 0 ? judge_made(s, made, error) : CW_OK;
    schedule_free(made);
    return code;
}

static int judge(struct sampling *s, struct cw_error *error)
{
    const struct sample_request *const request = s->request;
    if (request->algorithm->folds != NULL && request->call.world_size > 1 &&
        request->steps > SAMPLE_STEPS_WHOLE) {
        const int code = walk_chunks(s, error);
        if (code != CW_OK || s->found->chunks > 0)
            return code;
    }
    if (request->schedule != NULL)
        return judge_whole(s, request->schedule, error);
    struct schedule *const made = schedule_ask(request->algorithm, &request->call, error);
    const int code = made != NULL ? judge_made(s, made, error) : error->exit_code;
    schedule_free(made);
    return code;
}

/* Ranks of the schedule, of which each rank of the process group may have several. */
static bool take_ranks(struct sampling *s, uint32_t members)
{
    const uint32_t of = s->request->call.world_size;
    s->found->of = of;
    s->found->ranks = s->request->ranks < of ? s->request->ranks : of;
    s->count = s->found->ranks * members;
    s->rank = malloc(((size_t)s->count + 1) * sizeof *s->rank);
    for (uint32_t i = 0; s->rank != NULL && i < s->count; i++)
        s->rank[i] = sample_rank(i / members, s->found->ranks, of) * members + i % members;
    return s->rank != NULL;
}

int sample_verify(const struct sample_request *request, struct sample_found *found,
                  struct cw_error *error)
{
    struct sampling s = {.request = request, .found = found};
    *found = (struct sample_found){.of = 0};
    const int code = take_ranks(&s, request->members) ? judge(&s, error)
                                                      : cw_error_memory(error, "verification");
    note_faults(&s);
    schedule_faults_free(&s.faults);
    free(s.rank);
    return code;
}
