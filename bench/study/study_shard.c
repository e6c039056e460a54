/*
 * study_shard.c: finds the part of a study that a sweep runs. Points are dealt to the parts in
 * turn: neighbours cost about the same, so all parts take about as long.
 */
#include "bench/study/study_shard.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/input/environment.h"
#include "collectives/config/input/text.h"

#define NONE ENVIRONMENT_NAMES

/* The variables of each engine, in the order in which they are tried; NONE: it has none. */
static const struct engine {
    const char *name;
    enum environment_name task, first, last, step, count;
} engines[] = {
    {"Slurm", ENVIRONMENT_SLURM_ID, ENVIRONMENT_SLURM_MIN, ENVIRONMENT_SLURM_MAX,
     ENVIRONMENT_SLURM_STEP, ENVIRONMENT_SLURM_COUNT},
    {"LSF", ENVIRONMENT_LSF_ID, NONE, ENVIRONMENT_LSF_END, ENVIRONMENT_LSF_STEP, NONE},
    {"Grid Engine", ENVIRONMENT_SGE_ID, ENVIRONMENT_SGE_FIRST, ENVIRONMENT_SGE_LAST,
     ENVIRONMENT_SGE_STEP, NONE},
    {"PBS", ENVIRONMENT_PBS_ID, NONE, NONE, NONE, NONE},
};

/* A variable as a number; `otherwise` if it is unset or not a number. */
static uint64_t number_or(enum environment_name name, uint64_t otherwise)
{
    const char *const text = name == NONE ? NULL : environment_get(name);
    uint64_t number;
    if (text == NULL || text_whole(text, strlen(text), UINT32_MAX, &number) != strlen(text) ||
        text[0] == '\0')
        return otherwise;
    return number;
}

/* Whether an engine has given this process a task. Some set their variable to 0 or "undefined"
 * in a job that is not an array. */
static const struct engine *engine_of(uint64_t *task)
{
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        const bool from_zero = engines[i].task != ENVIRONMENT_LSF_ID;
        *task = number_or(engines[i].task, UINT64_MAX);
        if (*task != UINT64_MAX && (*task > 0 || from_zero))
            return &engines[i];
    }
    return NULL;
}

/* Whether a variable names a task that is not a number, and none names a number. Grid Engine
 * sets "undefined" in a job that is not an array. */
static bool is_task_unreadable(struct cw_error *error)
{
    char quoted[TEXT_QUOTE_BYTES];
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        const char *const text = environment_get(engines[i].task);
        if (text == NULL || text[0] == '\0' || strcmp(text, "undefined") == 0 ||
            number_or(engines[i].task, UINT64_MAX) != UINT64_MAX)
            continue;
        cw_error_set(error, CW_USAGE, "--shard array: %s is %s; expected the number of a task",
                     environment_variables[engines[i].task].name,
                     text_quote(text, strlen(text), quoted));
        return true;
    }
    return false;
}

/* The array says how many tasks it has. */
static int count_tasks(const struct engine *engine, uint64_t task, struct study_shard *shard,
                       struct cw_error *error)
{
    const uint64_t first = number_or(engine->first, 1), last = number_or(engine->last, 0);
    const uint64_t step = number_or(engine->step, 1);
    const uint64_t count = last >= first && step > 0 ? (last - first) / step + 1 : 0;
    if (count == 0 || count > STUDY_SHARDS_MAX || task < first || task > last)
        return cw_error_set(error, CW_USAGE,
                            "--shard array: %s does not say how many tasks the array has; say it: "
                            "--shard array/N, with tasks 1 to N",
                            engine->name);
    if (number_or(engine->count, count) != count)
        return cw_error_set(error, CW_USAGE,
                            "--shard array: the array has %" PRIu64 " tasks of %" PRIu64
                            " to %" PRIu64 ", so it does not say how many parts there are; say it: "
                            "--shard array/N",
                            number_or(engine->count, count), first, last);
    *shard = (struct study_shard){(uint32_t)((task - first) / step) + 1, (uint32_t)count};
    return CW_OK;
}

static int read_array(const char *count, struct study_shard *shard, struct cw_error *error)
{
    uint64_t task, parts;
    const struct engine *const engine = engine_of(&task);
    if (engine == NULL && is_task_unreadable(error))
        return CW_USAGE;
    if (engine == NULL)
        return cw_error_set(error, CW_USAGE,
                            "--shard array: this is no task of an array: none of "
                            "SLURM_ARRAY_TASK_ID, LSB_JOBINDEX, SGE_TASK_ID and PBS_ARRAY_INDEX is "
                            "set; --shard I/N names a part");
    if (count == NULL)
        return count_tasks(engine, task, shard, error);
    const size_t bytes = text_whole(count, strlen(count), STUDY_SHARDS_MAX, &parts);
    if (bytes == 0 || count[bytes] != '\0' || parts == 0)
        return cw_error_set(error, CW_USAGE, "--shard array/N: N is from 1 to %d",
                            STUDY_SHARDS_MAX);
    if (task == 0 || task > parts)
        return cw_error_set(error, CW_USAGE,
                            "--shard array/%" PRIu64 ": this is task %" PRIu64
                            "; number the tasks of the array from 1 to %" PRIu64,
                            parts, task, parts);
    *shard = (struct study_shard){(uint32_t)task, (uint32_t)parts};
    return CW_OK;
}

int study_shard_read(const char *text, struct study_shard *shard, struct cw_error *error)
{
    uint64_t index, count;
    char quoted[TEXT_QUOTE_BYTES];
    *shard = (struct study_shard){1, 1};
    if (text == NULL)
        return CW_OK;
    if (strncmp(text, "array", 5) == 0 && (text[5] == '\0' || text[5] == '/'))
        return read_array(text[5] == '/' ? text + 6 : NULL, shard, error);
    const size_t bytes = text_whole(text, strlen(text), STUDY_SHARDS_MAX, &index);
    const char *const rest = text + bytes;
    const size_t more =
        rest[0] == '/' ? text_whole(rest + 1, strlen(rest + 1), STUDY_SHARDS_MAX, &count) : 0;
    if (bytes == 0 || more == 0 || rest[1 + more] != '\0' || index == 0 || index > count)
        return cw_error_set(error, CW_USAGE,
                            "--shard %s: expected I/N with I from 1 to N, as in 3/10; array or "
                            "array/N",
                            text_quote(text, strlen(text), quoted));
    *shard = (struct study_shard){(uint32_t)index, (uint32_t)count};
    return CW_OK;
}

bool study_shard_has(struct study_shard shard, uint32_t point)
{
    return point % shard.count + 1 == shard.index;
}
