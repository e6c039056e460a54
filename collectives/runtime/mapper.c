/*
 * mapper.c: the registries of mappers and validators (mapper.h).
 */
#include "collectives/runtime/mapper.h"

#include <stdio.h>
#include <string.h>

#include "collectives/plugin.h"

/* ---- mappers --------------------------------------------------------------------------------- */

static bool leader_only(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe)
{
    (void)hw, (void)rank;
    return cube == 0 && pe == 0;
}

static bool all_pes(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe)
{
    (void)hw, (void)rank, (void)cube, (void)pe;
    return true;
}

static bool pe0_all_cubes(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe)
{
    (void)hw, (void)rank, (void)cube;
    return pe == 0;
}

/* The one PE that the rank is. */
static bool rank_per_pe(const struct hw_config *hw, uint32_t rank, uint32_t cube, uint32_t pe)
{
    return rank % (hw_cubes(hw) * hw_pes(hw)) == cube * hw_pes(hw) + pe;
}

static const struct {
    const char *name;
    ccl_mapper_fn map;
    enum ccl_mappers member;
} mappers[] = {{"leader_only", leader_only, CCL_MAPPER_LEADER_ONLY},
               {"all_pes", all_pes, CCL_MAPPER_ALL_PES},
               {"pe0_all_cubes", pe0_all_cubes, CCL_MAPPER_PE0_ALL_CUBES},
               {CCL_RANK_PER_PE, rank_per_pe, CCL_MAPPER_LEADER_ONLY}}; /* one PE of a rank, too */
#define MAPPERS (sizeof mappers / sizeof *mappers)

/* PEs of a SIP that take part. */
static uint32_t pes_of(const struct hw_config *hw, enum ccl_mappers mapper)
{
    return mapper == CCL_MAPPER_LEADER_ONLY ? 1
           : mapper == CCL_MAPPER_ALL_PES   ? hw_cubes(hw) * hw_pes(hw)
                                            : hw_cubes(hw);
}

/* The sets of PEs are nested, so two sets of one size are equal. */
static bool is_among(const struct hw_config *hw, enum ccl_mappers mapper, uint32_t legal)
{
    for (size_t i = 0; i < MAPPERS; i++)
        if ((legal & mappers[i].member) != 0 && pes_of(hw, mappers[i].member) == pes_of(hw, mapper))
            return true;
    return false;
}

bool ccl_goes_by_queues(const struct ccl_algorithm *algorithm)
{
    return algorithm->machine.peers == NULL && algorithm->schedule == NULL &&
           (algorithm->machine.mappers == 0 ||
            (algorithm->machine.mappers & CCL_MAPPER_LEADER_ONLY) != 0);
}

int ccl_mapper_check(const char *name, const struct ccl_algorithm *algorithm,
                     const struct hw_config *hw, struct ccl_refusal *refusal)
{
    size_t given = 0;
    while (given < MAPPERS && strcmp(name, mappers[given].name) != 0)
        given++;
    if (given == MAPPERS || algorithm->machine.mappers == 0 ||
        is_among(hw, mappers[given].member, algorithm->machine.mappers))
        return CW_OK;
    return ccl_mapper_refuse(name, algorithm, refusal);
}

int ccl_mapper_refuse(const char *name, const struct ccl_algorithm *algorithm,
                      struct ccl_refusal *refusal)
{
    (void)ccl_refuse(refusal, "defaults.mapper", "mapper: %s cannot run on the PEs that %s chooses",
                     algorithm->name, name);
    (void)ccl_legal(refusal, "legal:");
    for (size_t i = 0; i < MAPPERS; i++)
        if ((algorithm->machine.mappers & mappers[i].member) != 0 &&
            (mappers[i].map != rank_per_pe || ccl_goes_by_queues(algorithm)))
            (void)ccl_legal(refusal, " %s,", mappers[i].name);
    return ccl_legal(refusal, " ./file.so:symbol");
}

bool ccl_mapper_suits(const struct ccl_algorithm *algorithm, const struct hw_config *hw,
                      uint32_t rank, const uint32_t *pe_of_sip, uint32_t count)
{
    bool suits = algorithm->machine.mappers == 0;
    for (size_t i = 0; i < MAPPERS && !suits; i++) {
        if ((algorithm->machine.mappers & mappers[i].member) == 0 || mappers[i].map == rank_per_pe)
            continue;
        uint32_t same = 0;
        while (same < count &&
               mappers[i].map(hw, rank, pe_of_sip[same] / hw_pes(hw), pe_of_sip[same] % hw_pes(hw)))
            same++;
        suits = same == count && count == pes_of(hw, mappers[i].member);
    }
    return suits;
}

/* ---- validators ------------------------------------------------------------------------------ */

static int refuse_shards(struct cw_error *error, const char *name, uint32_t rank, uint32_t shards,
                         const char *legal)
{
    return cw_error_set(error, CW_USAGE, "validator %s: rank %u's tensor has %u shards; legal: %s",
                        name, rank, shards, legal);
}

static int single_shard_per_rank(const struct tensor_group *group, const struct hw_config *hw,
                                 struct cw_error *error)
{
    (void)hw;
    for (uint32_t rank = 0; rank < group->ranks; rank++)
        if (group->tensor[rank]->shard_count != 1)
            return refuse_shards(error, "single_shard_per_rank", rank,
                                 group->tensor[rank]->shard_count, "one");
    return CW_OK;
}

static int multi_pe_sip_local(const struct tensor_group *group, const struct hw_config *hw,
                              struct cw_error *error)
{
    for (uint32_t rank = 0; rank < group->ranks; rank++)
        if (group->tensor[rank]->shard_count != hw_cubes(hw) * hw_pes(hw))
            return refuse_shards(error, "multi_pe_sip_local", rank,
                                 group->tensor[rank]->shard_count, "one on each PE of the SIP");
    return CW_OK;
}

static int cube_rows(const struct tensor_group *group, const struct hw_config *hw,
                     struct cw_error *error)
{
    static const char legal[] = "one row of the tensor on PE 0 of each cube";
    for (uint32_t rank = 0; rank < group->ranks; rank++) {
        const struct tensor *tensor = group->tensor[rank];
        if (tensor->shard_count != hw_cubes(hw) || tensor->policy.cube != DP_ROW_WISE)
            return refuse_shards(error, "cube_rows", rank, tensor->shard_count, legal);
        for (uint32_t i = 0; i < tensor->shard_count; i++)
            if (tensor->shard[i].cube != i || tensor->shard[i].pe != 0)
                return refuse_shards(error, "cube_rows", rank, tensor->shard_count, legal);
    }
    return CW_OK;
}

static const struct {
    const char *name;
    ccl_validator_fn validate;
} validators[] = {{"single_shard_per_rank", single_shard_per_rank},
                  {"multi_pe_sip_local", multi_pe_sip_local},
                  {"cube_rows", cube_rows}};
#define VALIDATORS (sizeof validators / sizeof *validators)

const char *ccl_mapper_name_at(uint32_t number)
{
    return number < MAPPERS ? mappers[number].name : NULL;
}

const char *ccl_validator_name_at(uint32_t number)
{
    return number < VALIDATORS ? validators[number].name : NULL;
}

/* ---- by name --------------------------------------------------------------------------------- */

/* Functions and data have addresses of one size and kind here (POSIX). */
_Static_assert(sizeof(ccl_mapper_fn) == sizeof(void *), "dlsym() returns functions, too");

ccl_mapper_fn ccl_mapper_find(const char *name, struct cw_error *error)
{
    for (size_t i = 0; i < MAPPERS; i++)
        if (strcmp(name, mappers[i].name) == 0)
            return mappers[i].map;
    ccl_mapper_fn found = NULL;
    if (plugin_is_path(name)) {
        void *const symbol = plugin_function(name, error);
        memcpy(&found, &symbol, sizeof found);
        return found;
    }
    size_t n = (size_t)snprintf(error->text, sizeof error->text,
                                "mapper: no mapper '%.64s'; there are", name);
    for (size_t i = 0; i < MAPPERS && n < sizeof error->text; i++)
        n += (size_t)snprintf(error->text + n, sizeof error->text - n, " %s,", mappers[i].name);
    if (n < sizeof error->text)
        snprintf(error->text + n, sizeof error->text - n, " ./file.so:symbol");
    error->exit_code = CW_USAGE;
    return NULL;
}

ccl_validator_fn ccl_validator_find(const char *name, struct cw_error *error)
{
    for (size_t i = 0; i < VALIDATORS; i++)
        if (strcmp(name, validators[i].name) == 0)
            return validators[i].validate;
    ccl_validator_fn found = NULL;
    if (plugin_is_path(name)) {
        void *const symbol = plugin_function(name, error);
        memcpy(&found, &symbol, sizeof found);
        return found;
    }
    size_t n = (size_t)snprintf(error->text, sizeof error->text,
                                "validator: no validator '%.64s'; there are", name);
    for (size_t i = 0; i < VALIDATORS && n < sizeof error->text; i++)
        n += (size_t)snprintf(error->text + n, sizeof error->text - n, " %s,", validators[i].name);
    if (n < sizeof error->text)
        snprintf(error->text + n, sizeof error->text - n, " ./file.so:symbol");
    error->exit_code = CW_USAGE;
    return NULL;
}
