/*
 * partition.c: the registry of partitioners, and the two that need nothing but counting.
 */
#include "partition/partition.h"

#include <stddef.h>
#include <string.h>

static uint32_t cubes_of(const struct hw_config *hw) { return hw->cube_w * hw->cube_h; }

/* Whole SIPs, in their order, as evenly as they divide: cuts only links between SIPs, whose
 * latency is the largest. With more workers than SIPs, some workers get none. */
static void place_sips(const struct hw_config *hw, uint32_t workers, uint32_t *cube_worker)
{
    const uint32_t cubes = cubes_of(hw);
    for (uint32_t sip = 0; sip < hw->sip_count; sip++)
        for (uint32_t cube = 0; cube < cubes; cube++)
            cube_worker[sip * cubes + cube] = (uint32_t)((uint64_t)sip * workers / hw->sip_count);
}

/* Cubes, in their order, as evenly as they divide: cuts through SIPs where it must. */
static void place_blocks(const struct hw_config *hw, uint32_t workers, uint32_t *cube_worker)
{
    const uint32_t count = hw->sip_count * cubes_of(hw);
    for (uint32_t i = 0; i < count; i++)
        cube_worker[i] = (uint32_t)((uint64_t)i * workers / count);
}

static const struct partitioner registry[] = {
    {"sip", "whole SIPs in their order; never cuts a SIP", place_sips},
    {"block", "cubes in their order", place_blocks},
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
