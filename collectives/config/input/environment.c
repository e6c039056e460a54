/*
 * environment.c: see environment.h.
 */
#include "collectives/config/input/environment.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
    [ENVIRONMENT_STACK_KIB] = {"CUBEWARP_STACK_KIB", "32 to 65536: KiB of stack for each rank"},
    [ENVIRONMENT_DATA_HOME] = {"XDG_DATA_HOME",
                               "the folder that has cubewarp/perf.sqlite, the throughput history"},
    [ENVIRONMENT_HOME] = {"HOME", "without XDG_DATA_HOME, .local/share below it is that folder"},
};

const char *environment_get(enum environment_name name)
{
    return getenv(environment_variables[name].name);
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
