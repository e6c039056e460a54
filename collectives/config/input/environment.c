/*
 * environment.c: reads the environment variables that cubewarp knows, and checks their values
 * (environment.h).
 */
#define _GNU_SOURCE /* environ */
#include "collectives/config/input/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "collectives/config/input/text.h"

const struct environment_variable environment_variables[ENVIRONMENT_NAMES] = {
    [ENVIRONMENT_CONFIGS] = {"CUBEWARP_CONFIGS",
                             "the folder with topology.yaml, components.yaml and ccl.yaml"},
    [ENVIRONMENT_BIRS_ENABLE] = {"CUBEWARP_BIRS_ENABLE",
                                 "TRUE or FALSE: birs_enable, whatever files and options say"},
    [ENVIRONMENT_CCL_TRACE] = {"CUBEWARP_CCL_TRACE", "1: as --ccl-trace -"},
    [ENVIRONMENT_CHECK_CHANGES] = {"CUBEWARP_CHECK_CHANGES",
                                   "set: after each event the engine proves that its handler "
                                   "changed only the parts that it asked for"},
    [ENVIRONMENT_DEBUG] = {"CUBEWARP_DEBUG", "set: warnings of doubtful calls of a host program"},
    [ENVIRONMENT_SHORTCUTS] = {"CUBEWARP_SHORTCUTS",
                               "off: no --fold, --repeat and --replay; a run simulates everything"},
    [ENVIRONMENT_STACK_KIB] = {"CUBEWARP_STACK_KIB", "32 to 65536: KiB of stack for each rank"},
    [ENVIRONMENT_DATA_HOME] = {"XDG_DATA_HOME",
                               "the folder that has cubewarp/perf.sqlite, the throughput history"},
    [ENVIRONMENT_HOME] = {"HOME", "without XDG_DATA_HOME, .local/share below it is that folder"},
    [ENVIRONMENT_SLURM_ID] = {"SLURM_ARRAY_TASK_ID",
                              "of sweep --shard array: this task of an array of Slurm"},
    [ENVIRONMENT_SLURM_MIN] = {"SLURM_ARRAY_TASK_MIN", "its first task"},
    [ENVIRONMENT_SLURM_MAX] = {"SLURM_ARRAY_TASK_MAX", "its last task"},
    [ENVIRONMENT_SLURM_STEP] = {"SLURM_ARRAY_TASK_STEP", "from one task to the next"},
    [ENVIRONMENT_SLURM_COUNT] = {"SLURM_ARRAY_TASK_COUNT", "how many tasks it has"},
    [ENVIRONMENT_LSF_ID] = {"LSB_JOBINDEX", "the same of LSF: this element of a job array"},
    [ENVIRONMENT_LSF_END] = {"LSB_JOBINDEX_END", "its last element"},
    [ENVIRONMENT_LSF_STEP] = {"LSB_JOBINDEX_STEP", "from one element to the next"},
    [ENVIRONMENT_SGE_ID] = {"SGE_TASK_ID", "the same of Grid Engine: this task"},
    [ENVIRONMENT_SGE_FIRST] = {"SGE_TASK_FIRST", "the first task"},
    [ENVIRONMENT_SGE_LAST] = {"SGE_TASK_LAST", "the last task"},
    [ENVIRONMENT_SGE_STEP] = {"SGE_TASK_STEPSIZE", "from one task to the next"},
    [ENVIRONMENT_PBS_ID] =
        {"PBS_ARRAY_INDEX",
         "the same of PBS: this sub-job; say how many there are: --shard array/N"},
};

static const char own_prefix[] = "CUBEWARP_";
static const size_t own_prefix_bytes = sizeof own_prefix - 1;

const char *environment_get(enum environment_name name)
{
    return getenv(environment_variables[name].name);
}

const char *environment_unknown(unsigned i)
{
    for (char **at = environ; *at != NULL; at++) {
        const size_t bytes = strcspn(*at, "=");
        bool is_known = strncmp(*at, own_prefix, own_prefix_bytes) != 0;
        for (size_t n = 0; n < ENVIRONMENT_NAMES && !is_known; n++)
            is_known = strlen(environment_variables[n].name) == bytes &&
                       strncmp(*at, environment_variables[n].name, bytes) == 0;
        if (!is_known && i-- == 0)
            return *at;
    }
    return NULL;
}

const char *environment_foreign(const char **own)
{
    *own = environment_variables[ENVIRONMENT_BIRS_ENABLE].name;
    return getenv("HCCL_BIRS_ENABLE") != NULL ? "HCCL_BIRS_ENABLE" : NULL;
}

const char *environment_meant(const char *unknown)
{
    struct text_nearest nearest = {0};
    char rest[TEXT_QUOTE_BYTES];
    snprintf(rest, sizeof rest, "%.*s", (int)strcspn(unknown, "=") - (int)own_prefix_bytes,
             unknown + own_prefix_bytes);
    for (size_t n = 0; n < ENVIRONMENT_NAMES; n++)
        if (strncmp(environment_variables[n].name, own_prefix, own_prefix_bytes) == 0)
            text_nearest_try(&nearest, rest, environment_variables[n].name + own_prefix_bytes);
    return nearest.best != NULL ? nearest.best - own_prefix_bytes : NULL;
}

bool environment_is(enum environment_name name, const char *text)
{
    const char *const value = environment_get(name);
    return value != NULL && strcmp(value, text) == 0;
}

enum environment_answer environment_answer(enum environment_name name)
{
    static const char *const words[][2] = {
        {"true", "false"}, {"yes", "no"}, {"on", "off"}, {"1", "0"}};
    const char *const value = environment_get(name);
    if (value == NULL || value[0] == '\0')
        return ENVIRONMENT_UNSET;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(value, words[i][0]) == 0)
            return ENVIRONMENT_YES;
        if (strcasecmp(value, words[i][1]) == 0)
            return ENVIRONMENT_NO;
    }
    return ENVIRONMENT_NEITHER;
}
