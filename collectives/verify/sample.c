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
#include "hw/arithmetic.h"

/* How the chunks of an output lie in its shards. */
struct output {
    uint32_t chunks, blocks, parts;
    uint32_t shards;      /* that go by the parts; 1: the parts share it */
    uint64_t block_elems; /* of each shard */
};

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

static uint64_t elements_of(const struct output *output, uint32_t chunk)
{
    const uint32_t of_block = output->chunks / output->blocks, at = chunk % of_block;
    if (output->shards <= 1)
        return schedule_span(output->block_elems, of_block, at).count;
    const uint32_t each = of_block / output->parts, part = at / each;
    const uint32_t shards =
        output->shards / output->parts + (part < output->shards % output->parts);
    return schedule_span(output->block_elems, each, at % each).count * shards;
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

static struct schedule *make_whole(const struct sample_request *request, struct cw_error *error)
{
    error->exit_code = CW_OK;
    struct schedule *const made =
        CCL_HOOK("schedule()", request->algorithm->schedule, (&request->call, error));
    if (made == NULL && error->exit_code == CW_OK)
        (void)cw_error_set(error, CW_USAGE, "%s makes no schedule", request->algorithm->name);
    return made;
}

static int judge_whole(struct sampling *s, const struct schedule *schedule, struct cw_error *error)
{
    struct schedule_values *const values = schedule_formulas_of_steps(schedule, error);
    if (values == NULL)
        return error->exit_code;
    const struct output output = {.chunks = values->outputs,
                                  .blocks = schedule_blocks(schedule, SCHEDULE_OUTPUT),
                                  .parts = schedule->parts,
                                  .shards = schedule->members > 1 ? 1 : s->request->shards,
                                  .block_elems = block_elems(s)};
    const size_t chunks = (size_t)s->count * values->outputs;
    bool *const wrong = calloc(chunks + 1, sizeof *wrong);
    s->faults.no_memory |= wrong == NULL;
    if (wrong != NULL)
        schedule_values_check_some(values, schedule, s->rank, s->count, wrong, &s->faults);
    for (size_t i = 0; i < chunks && wrong != NULL; i++)
        s->found->wrong += wrong[i] ? elements_of(&output, (uint32_t)(i % values->outputs)) : 0;
    s->found->chunks = s->found->of_chunks = values->outputs;
    free(wrong);
    schedule_values_free(values);
    return s->faults.no_memory ? cw_error_memory(error, "verification") : CW_OK;
}

/* ---- steps of single chunks ------------------------------------------------------------------ */

/* The i-th of `count` numbers below `of`, one somewhere in each of `count` equal stretches, with
 * the first and the last of all: at irregular distances. */
static uint64_t number_at(uint64_t i, uint64_t count, uint64_t of)
{
    if (i == 0 || count == of)
        return i;
    if (i == count - 1)
        return of - 1;
    const uint64_t first = (uint64_t)((unsigned __int128)of * i / count),
                   next = (uint64_t)((unsigned __int128)of * (i + 1) / count);
    return first + hw_mix(i) % (next - first);
}

/* One value, which these ranks have: their chunk `chunk`. */
static void judge_value(struct sampling *s, const struct schedule_walk_maker *maker,
                        const struct output *output, uint32_t value, const uint32_t *rank,
                        uint32_t count, uint32_t chunk)
{
    bool *const wrong = calloc((size_t)count + 1, sizeof *wrong);
    s->faults.no_memory |= wrong == NULL;
    struct schedule_values *const values =
        wrong != NULL ? schedule_walk_value(maker, value, rank, count, wrong, &s->faults) : NULL;
    for (uint32_t i = 0; i < count && !s->faults.no_memory; i++)
        s->found->wrong += values == NULL || wrong[i] ? elements_of(output, chunk) : 0;
    schedule_values_free(values);
    free(wrong);
    if (!s->faults.no_memory)
        note_faults(s);
}

/* struct schedule_walk, look(): as many chunks of each rank as the visits allow. */
static int judge_chunks(void *arg, const struct schedule_walk_maker *maker, struct cw_error *error)
{
    struct sampling *const s = arg;
    const bool scatters = maker->collective == CCL_REDUCE_SCATTER,
               gathers = maker->collective == CCL_ALL_GATHER;
    const struct output output = {.chunks = scatters ? maker->parts : maker->values,
                                  .blocks = gathers ? maker->ranks : 1,
                                  .parts = maker->parts,
                                  .shards = s->request->shards,
                                  .block_elems = block_elems(s)};
    const uint64_t visits = (uint64_t)maker->ranks * (scatters ? s->count : 1);
    const uint64_t room = SAMPLE_VISITS / visits > 0 ? SAMPLE_VISITS / visits : 1;
    s->found->of_chunks = output.chunks;
    s->found->chunks = room < output.chunks ? room : output.chunks;
    for (uint64_t i = 0; i < s->found->chunks && !s->faults.no_memory; i++) {
        const uint32_t chunk = (uint32_t)number_at(i, s->found->chunks, output.chunks);
        if (!scatters)
            judge_value(s, maker, &output, chunk, s->rank, s->count, chunk);
        for (uint32_t k = 0; k < s->count && scatters; k++)
            judge_value(s, maker, &output, s->rank[k] * maker->parts + chunk, &s->rank[k], 1,
                        chunk);
    }
    return s->faults.no_memory ? cw_error_memory(error, "verification") : CW_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int judge(struct sampling *s, struct cw_error *error)
{
    const struct sample_request *const request = s->request;
    if (request->algorithm->folds != NULL && request->call.world_size > 1 &&
        request->steps > SAMPLE_STEPS_WHOLE) {
        const struct schedule_walk walk = {.look = judge_chunks, .arg = s};
        struct ccl_call call = request->call;
        call.walk = &walk;
        error->exit_code = CW_OK;
        (void)request->algorithm->schedule(&call, error);
        return error->exit_code;
    }
    if (request->schedule != NULL)
        return judge_whole(s, request->schedule, error);
    struct schedule *const made = make_whole(request, error);
    const int code = made != NULL ? judge_whole(s, made, error) : error->exit_code;
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
    const int code = take_ranks(&s, request->members > 0 ? request->members : 1)
                         ? judge(&s, error)
                         : cw_error_memory(error, "verification");
    note_faults(&s);
    schedule_faults_free(&s.faults);
    free(s.rank);
    return code;
}
