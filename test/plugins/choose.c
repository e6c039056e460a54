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

/* PEs that a logical topology joins lane by lane: one away from the leader; another one of each
 * rank; half of each cube. */
bool pe_3_of_cube_5(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe);
bool pe_3_of_cube_5(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe)
{
    (void)hw, (void)rank;
    return cube == 5 && pe == 3;
}

bool another_of_each(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe);
bool another_of_each(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe)
{
    (void)hw;
    return cube == rank && pe == 7 - rank;
}

bool half_of_each(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe);
bool half_of_each(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe)
{
    (void)hw, (void)rank, (void)cube;
    return pe < 4;
}

/* PEs that no policy of a tensor names. */
bool scattered(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe);
bool scattered(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe)
{
    (void)hw, (void)rank;
    return (cube == 5 || cube == 6) && pe == 3;
}

/* Mappers that are wrong: no PE of rank 1; more PEs of rank 2. */
bool none_of_rank_1(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe);
bool none_of_rank_1(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe)
{
    (void)hw;
    return rank != 1 && cube == 0 && pe == 0;
}

bool nobody_at_all(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe);
bool nobody_at_all(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe)
{
    (void)hw, (void)rank, (void)cube, (void)pe;
    return false;
}

bool more_of_rank_2(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe);
bool more_of_rank_2(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe)
{
    (void)hw;
    return cube == 0 && pe <= (rank == 2);
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

int few(const struct tensor_group *group, const struct hw_config *hw, struct cw_error *error);
int few(const struct tensor_group *group, const struct hw_config *hw, struct cw_error *error)
{
    (void)hw;
    if (group->ranks <= 2)
        return CW_OK;
    snprintf(error->text, sizeof error->text, "%u ranks are too many for me", group->ranks);
    return error->exit_code = CW_USAGE;
}

extern const int a_number;
const int a_number = 1;
extern __thread int of_a_thread;
__thread int of_a_thread = 1;
