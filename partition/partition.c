/*
 * partition.c: the registry of partitioners (partition.h).
 */
#include "partition/partition.h"

#include <stddef.h>
#include <string.h>

#include "partition/in_order.h"
#include "partition/metis_partitioner.h"

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
