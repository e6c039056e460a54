/*
 * config_ranks.c: where ranks are on paired dies, from an algorithm's `mate` and `package` lists
 * (collectives/RUNTIME.md, "Process group"): either gives the other, and both must agree. The lower
 * rank of a package is on its first die. A list that is wrong in itself has been reported already.
 */
#include "collectives/config/config_ranks.h"

#include <inttypes.h>
#include <string.h>

#include "collectives/config/config_faults.h"

enum { NO_RANK = CCL_RANKS_MAX };

static const struct config_value *list_of(const struct config_tree *tree, const char *name)
{
    return config_ccl_value(tree, tree->chosen, config_ccl_find(name));
}

static uint32_t count_of(const struct config_value *value)
{
    return config_given(value) ? (uint32_t)value->number.mantissa : 0;
}

uint32_t config_rank_count(const struct config_tree *tree)
{
    const uint32_t world = count_of(list_of(tree, "world_size"));
    return world > 0 ? world
                     : count_of(config_machine_value(tree, "system.sips.count")) -
                           config_failed_sips(tree);
}

static bool check_length(struct config_loader *loader, const struct config_value *list,
                         const char *name, uint32_t ranks)
{
    if (list->list_count == ranks)
        return true;
    config_error(loader, list->place, "%s: %u entries for %u ranks; one per rank is legal", name,
                 list->list_count, ranks);
    return false;
}

static bool check_mates(struct config_loader *loader, const struct config_value *list,
                        uint32_t ranks)
{
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const uint32_t mate = list->ranks[rank];
        if (mate < ranks && mate != rank && list->ranks[mate] == rank)
            continue;
        config_error(loader, list->place,
                     "mate: rank %u has %u, which is %s; legal is another rank below %u whose mate "
                     "is %u",
                     rank, mate,
                     mate >= ranks  ? "no rank"
                     : mate == rank ? "itself"
                                    : "another's mate",
                     ranks, rank);
        return false;
    }
    return true;
}

static bool check_packages(struct config_loader *loader, const struct config_value *list,
                           uint32_t ranks)
{
    uint32_t in_package[CCL_RANKS_MAX] = {0};
    for (uint32_t rank = 0; rank < ranks; rank++)
        in_package[list->ranks[rank]]++;
    for (uint32_t package = 0; package < CCL_RANKS_MAX; package++) {
        const uint32_t wanted = package < ranks / 2 ? 2 : 0;
        if (in_package[package] == wanted)
            continue;
        config_error(loader, list->place,
                     "package: %u rank%s in package %u; with %u ranks legal are two in each of the "
                     "packages 0 to %u",
                     in_package[package], in_package[package] == 1 ? "" : "s", package, ranks,
                     ranks / 2 - 1);
        return false;
    }
    return true;
}

/* Ranks are SIPs that have not failed, in their order; nothing else may say where they are. */
static bool check_living(struct config_loader *loader, const struct config_tree *tree)
{
    static const char *const others[] = {"mate", "package", "world_size"};
    const uint32_t sips = count_of(config_machine_value(tree, "system.sips.count"));
    const uint32_t failed = config_failed_sips(tree);
    if (failed == 0)
        return true;
    if (failed >= sips) {
        if (loader->errors->count == 0)
            config_error(loader, tree->named[CONFIG_FAULTS]->place,
                         "faults: all %" PRIu32 " SIPs have failed; legal: some that have not",
                         sips);
        return false;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct config_value *const other = list_of(tree, others[i]);
        if (!config_given(other) || (i == 2 && count_of(other) == sips - failed))
            continue;
        config_error(loader, other->place,
                     "%s: %" PRIu32 " of the %" PRIu32
                     " SIPs have failed, and ranks are the others, in their order; legal: no %s",
                     others[i], failed, sips, others[i]);
        return false;
    }
    if (!config_ranks_are_pes(tree))
        return true;
    config_error(loader, list_of(tree, "mapper")->place,
                 "mapper: with SIPs that have failed a rank is a SIP; legal: no " CCL_RANK_PER_PE);
    return false;
}

void config_check_ranks(struct config_loader *loader, const struct config_tree *tree)
{
    const struct config_value *const mate = list_of(tree, "mate");
    const struct config_value *const package = list_of(tree, "package");
    if (!check_living(loader, tree))
        return;
    const uint32_t ranks = config_rank_count(tree);
    if (ranks == 0 || (!config_given(mate) && !config_given(package)))
        return;
    if (config_given(mate) &&
        (!check_length(loader, mate, "mate", ranks) || !check_mates(loader, mate, ranks)))
        return;
    if (config_given(package) && (!check_length(loader, package, "package", ranks) ||
                                  !check_packages(loader, package, ranks)))
        return;
    for (uint32_t rank = 0; rank < ranks && config_given(mate) && config_given(package); rank++) {
        const uint32_t other = mate->ranks[rank];
        if (package->ranks[rank] == package->ranks[other])
            continue;
        config_error(loader, mate->place,
                     "mate: ranks %u and %u are mates, but package has them in packages %u and %u; "
                     "legal are mates of one package, or one of the two lists alone",
                     rank, other, package->ranks[rank], package->ranks[other]);
        return;
    }
}

uint32_t config_pes_of_sip(const struct config_tree *tree)
{
    return count_of(config_machine_value(tree, "sip.cube_mesh.w")) *
           count_of(config_machine_value(tree, "sip.cube_mesh.h")) *
           count_of(config_machine_value(tree, "cube.pe_layout.pe_per_corner")) *
           config_machine_value(tree, "cube.pe_layout.corners")->list_count;
}

/* The mapper says so; or there are more ranks than SIPs, and no mapper says otherwise. */
bool config_ranks_are_pes(const struct config_tree *tree)
{
    const struct config_value *const mapper = list_of(tree, "mapper");
    const struct config_value *const topology = list_of(tree, "topology");
    if (config_given(mapper))
        return strcmp(mapper->text, CCL_RANK_PER_PE) == 0;
    return config_given(topology) && strcmp(topology->text, "none") != 0 &&
           count_of(list_of(tree, "world_size")) >
               count_of(config_machine_value(tree, "system.sips.count"));
}

/* The SIPs that have not failed are a list. */
static void fill_living(struct config_tree *tree, struct ccl_ranks *ranks)
{
    const uint32_t sips = count_of(config_machine_value(tree, "system.sips.count"));
    const uint64_t *const failed = config_failed_bits(&tree->arena, tree);
    uint32_t *const list = config_arena_alloc(&tree->arena, sips * sizeof *list);
    uint32_t *const sorted = config_arena_alloc(&tree->arena, sips * sizeof *sorted);
    if (failed == NULL || list == NULL || sorted == NULL)
        return;
    for (uint32_t sip = 0; sip < sips; sip++)
        if ((failed[sip / 64] >> sip % 64 & 1) == 0) {
            sorted[ranks->count] = ranks->count;
            list[ranks->count++] = sip;
        }
    ranks->list = list;
    ranks->sorted = sorted;
}

void config_fill_ranks(struct config_tree *tree, struct ccl_ranks *ranks)
{
    if (config_failed_sips(tree) > 0) {
        fill_living(tree, ranks);
        return;
    }
    const struct config_value *const mate = list_of(tree, "mate");
    const struct config_value *const package = list_of(tree, "package");
    uint16_t first_of[CCL_RANKS_MAX];
    uint32_t packages = 0;
    if (config_ranks_are_pes(tree))
        ranks->per_sip = config_pes_of_sip(tree);
    ranks->by_mate = config_given(mate);
    ranks->mapped = ranks->by_mate || config_given(package);
    if (!ranks->mapped)
        return;
    memset(first_of, 0xff, sizeof first_of);
    const uint32_t count = config_rank_count(tree);
    for (uint32_t rank = 0; rank < count; rank++) {
        uint32_t at = config_given(package) ? package->ranks[rank] : packages;
        bool second = first_of[at] < NO_RANK;
        if (!config_given(package)) { /* packages in order of their lower ranks */
            second = mate->ranks[rank] < rank;
            at = second ? ranks->sip_of[mate->ranks[rank]] / 2 : packages++;
        }
        first_of[at] = (uint16_t)rank;
        ranks->sip_of[rank] = (uint16_t)(2 * at + second);
        ranks->rank_on[2 * at + second] = (uint16_t)rank;
    }
}
