/*
 * partition.c: the registry of partitioners, and the two that need nothing but counting.
 */
#include "partition/partition.h"

#include <stddef.h>
#include <string.h>

#include "hw/structure.h"

static uint32_t partition_least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Whole SIPs, in their order, as evenly as they divide: cuts only links between SIPs, whose
 * latency is the largest. With more workers than SIPs, the last workers get none. */
int partition_sips(const struct hw_config *hw, uint32_t workers, uint32_t *cube_worker,
                   struct cw_error *error)
{
    const uint32_t cubes = hw_cubes(hw), busy = partition_least(workers, hw->sip_count);
    (void)error;
    for (uint32_t sip = 0; sip < hw->sip_count; sip++)
        for (uint32_t cube = 0; cube < cubes; cube++)
            cube_worker[sip * cubes + cube] = (uint32_t)((uint64_t)sip * busy / hw->sip_count);
    return CW_OK;
}

/* Cubes, in their order, as evenly as they divide: cuts through SIPs where it must. With more
 * workers than cubes, the last workers get none. */
int partition_blocks(const struct hw_config *hw, uint32_t workers, uint32_t *cube_worker,
                     struct cw_error *error)
{
    const uint32_t count = hw->sip_count * hw_cubes(hw), busy = partition_least(workers, count);
    (void)error;
    for (uint32_t i = 0; i < count; i++)
        cube_worker[i] = (uint32_t)((uint64_t)i * busy / count);
    return CW_OK;
}

static const struct partitioner registry[] = {
    {"sip", "whole SIPs in their order; never cuts a SIP", partition_sips},
    {"block", "cubes in their order", partition_blocks},
    {"metis", "balanced, the least expected traffic cut, SIPs whole where that balances",
     partition_metis},
};

const struct partitioner *partitioner_at(uint32_t i)
{
    return i < sizeof registry / sizeof *registry ? &registry[i] : NULL;
}

const struct partitioner *partitioner_find(const char *name)
{
    const struct partitioner *partitioner;
    for (uint32_t i = 0; (partitioner = partitioner_at(i)) != NULL; i++)
        if (strcmp(partitioner->name, name) == 0)
            return partitioner;
    return NULL;
}
