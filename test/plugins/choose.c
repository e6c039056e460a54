/* choose.c: a mapper and a validator in a shared object, for test_loaded_mappers.c. */
#include <stdio.h>
#include <stdlib.h>

#include "collectives/runtime/mapper.h"
#include "collectives/plugin.h"

#ifdef OTHER_HEADERS
extern const uint32_t ccl_plugin_abi;
const uint32_t ccl_plugin_abi = CCL_PLUGIN_ABI + 1;
#elif !defined NO_PLUGIN
CCL_PLUGIN;
#endif

/* Leaves a file behind when the object is loaded, if a test has named one. */
__attribute__((constructor)) static void leave_file(void)
{
    const char *const path = getenv("CUBEWARP_TEST_LOADED");
    FILE *const file = path != NULL ? fopen(path, "w") : NULL;
    if (file != NULL)
        (void)fclose(file);
}

bool leader(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe);
bool leader(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe)
{
    (void)hw, (void)rank;
    return cube == 0 && pe == 0;
}

/* PE 0 of two cubes of sixteen. */
bool two_cubes(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe);
bool two_cubes(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe)
{
    (void)hw, (void)rank;
    return cube < 2 && pe == 0;
}

int small(const struct tensor_group *group, const struct hw_config *hw, struct cw_error *error);
int small(const struct tensor_group *group, const struct hw_config *hw, struct cw_error *error)
{
    (void)hw;
    if (group->tensor[0]->shard_elems <= 100)
        return CW_OK;
    snprintf(error->text, sizeof error->text, "%llu elements are too many for me; at most 100",
             (unsigned long long)group->tensor[0]->shard_elems);
    return error->exit_code = CW_USAGE;
}

extern const int a_number;
const int a_number = 1;
extern __thread int of_a_thread;
__thread int of_a_thread = 1;
