/*
 * config_groups.c: sets of groups of ranks, checked against the world that they are cut from. A
 * value that is wrong in itself has been reported already, and its set is passed over.
 */
#include "collectives/config/config_groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collectives/config/config_ranks.h"
#include "collectives/config/config_rules.h"

enum { RANKS_MAX = 16384, DIVISORS_BYTES = 160, GROUP_PATH_BYTES = CCL_NAME_BYTES + 32 };

/* A set under its rules. */
struct cutting {
    struct config_loader *loader;
    const struct config_tree *tree;
    const struct config_named *group;
    uint32_t world;
    struct ccl_group_set *set;
};

static const struct config_value *value_of(const struct cutting *cutting, const char *key)
{
    return &cutting->group->value[config_named_find(CONFIG_GROUPS, key)];
}

static bool is_wrong(const struct config_named *group)
{
    for (uint32_t i = 0; i < config_sections[CONFIG_GROUPS].key_count; i++)
        if (group->value[i].wrong)
            return true;
    return false;
}

/* "groups.NAME.KEY" */
static const char *path_of(const struct cutting *cutting, const char *key,
                           char path[GROUP_PATH_BYTES])
{
    snprintf(path, GROUP_PATH_BYTES, "groups.%s.%s", cutting->group->name, key);
    return path;
}

/* The ranks that groups are cut from: how many; 0: one is none of the world, or is there twice. */
static uint32_t check_ranks(struct cutting *cutting)
{
    const struct config_value *const value = value_of(cutting, "ranks");
    char path[GROUP_PATH_BYTES];
    uint64_t seen[RANKS_MAX / 64] = {0};
    uint32_t count = 0;
    if (!config_given(value)) {
        struct ccl_range *const all = config_arena_alloc(cutting->loader->arena, sizeof *all);
        if (all == NULL)
            return 0;
        *all = (struct ccl_range){.last = cutting->world - 1, .step = 1};
        cutting->set->ranks = all;
        cutting->set->range_count = 1;
        return cutting->world;
    }
    const struct config_ranges *const ranges = value->ranges;
    for (uint32_t i = 0; i < ranges->count; i++) {
        const struct ccl_range *const range = &ranges->at[i];
        if (range->last >= cutting->world) {
            config_error(cutting->loader, ranges->places[i],
                         "%s: rank %" PRIu32 " in a world of %" PRIu32 "; legal: 0 to %" PRIu32,
                         path_of(cutting, "ranks", path), range->last, cutting->world,
                         cutting->world - 1);
            return 0;
        }
        for (uint32_t rank = range->first; rank <= range->last; rank += range->step, count++) {
            if ((seen[rank / 64] >> rank % 64 & 1) != 0) {
                config_error(cutting->loader, ranges->places[i],
                             "%s: rank %" PRIu32 " is there twice; legal is each rank once",
                             path_of(cutting, "ranks", path), rank);
                return 0;
            }
            seen[rank / 64] |= (uint64_t)1 << rank % 64;
        }
    }
    cutting->set->ranks = ranges->at;
    cutting->set->range_count = ranges->count;
    return count;
}

/* "1, 2, 4, 8": the first of them, where there are many. */
static const char *list_divisors(uint32_t number, char text[DIVISORS_BYTES])
{
    size_t n = 0;
    for (uint32_t divisor = 1; divisor <= number; divisor++) {
        if (number % divisor > 0)
            continue;
        if (n + 24 > DIVISORS_BYTES) {
            (void)snprintf(text + n, DIVISORS_BYTES - n, " ...");
            break;
        }
        n += (size_t)snprintf(text + n, DIVISORS_BYTES - n, "%s%" PRIu32, n > 0 ? ", " : "",
                              divisor);
    }
    return text;
}

/* How the ranks are cut. */
static void cut(struct cutting *cutting, uint32_t ranks)
{
    const struct config_value *const each = value_of(cutting, "each");
    const struct config_value *const stride = value_of(cutting, "stride");
    const bool is_each = config_given(each), is_stride = config_given(stride);
    char path[GROUP_PATH_BYTES], divisors[DIVISORS_BYTES];
    struct ccl_group_set *const set = cutting->set;
    set->numbered = is_each || is_stride;
    set->stride = is_stride ? (uint32_t)stride->number.mantissa : 1;
    if (ranks % set->stride > 0) {
        config_error(cutting->loader, stride->place,
                     "%s: %" PRIu32 " does not divide the number of ranks, %" PRIu32 "; legal: %s",
                     path_of(cutting, "stride", path), set->stride, ranks,
                     list_divisors(ranks, divisors));
        return;
    }
    const uint32_t room = ranks / set->stride;
    set->size = is_each ? (uint32_t)each->number.mantissa : room;
    if (room % set->size > 0) {
        config_error(
            cutting->loader, each->place,
            "%s: %" PRIu32 " does not divide the number of ranks%s, %" PRIu32 "; legal: %s",
            path_of(cutting, "each", path), set->size, is_stride ? " that are a stride apart" : "",
            room, list_divisors(room, divisors));
        return;
    }
    set->groups = ranks / set->size;
}

static void check_lanes(struct cutting *cutting)
{
    const struct config_value *const lanes = value_of(cutting, "lanes");
    const uint32_t pes = config_pes_of_sip(cutting->tree);
    char path[GROUP_PATH_BYTES];
    const struct ccl_range range =
        config_given(lanes) ? lanes->ranges->at[0] : (struct ccl_range){.last = pes - 1};
    cutting->set->first_pe = range.first;
    cutting->set->pes = range.last - range.first + 1;
    if (config_given(lanes) && pes > 0 && range.last >= pes)
        config_error(cutting->loader, lanes->place,
                     "%s: PE %" PRIu32 " of a SIP that has %" PRIu32 "; legal: 0 to %" PRIu32,
                     path_of(cutting, "lanes", path), range.last, pes, pes - 1);
}

static void check_algorithm(struct cutting *cutting)
{
    const struct config_value *const value = value_of(cutting, "algorithm");
    char path[GROUP_PATH_BYTES];
    if (!config_given(value))
        return;
    struct config_algorithm *const entry = config_algorithm_find(cutting->tree, value->text);
    snprintf(cutting->set->algorithm, sizeof cutting->set->algorithm, "%s", value->text);
    if (entry != NULL)
        entry->runs = true;
    else
        config_unknown_algorithm(cutting->loader, cutting->tree,
                                 path_of(cutting, "algorithm", path), value);
}

void config_check_groups(struct config_loader *loader, struct config_tree *tree)
{
    struct cutting cutting = {.loader = loader, .tree = tree, .world = config_rank_count(tree)};
    if (tree->named[CONFIG_GROUPS] == NULL || cutting.world == 0)
        return;
    struct ccl_group_set *const sets =
        config_arena_alloc(loader->arena, tree->named_count[CONFIG_GROUPS] * sizeof *sets);
    tree->group_sets = sets;
    cutting.set = sets;
    for (const struct config_named *group = tree->named[CONFIG_GROUPS];
         group != NULL && cutting.set != NULL; group = group->next, cutting.set++) {
        cutting.group = group;
        snprintf(cutting.set->name, sizeof cutting.set->name, "%s", group->name);
        if (is_wrong(group))
            continue;
        const uint32_t ranks = check_ranks(&cutting);
        if (ranks > 0)
            cut(&cutting, ranks);
        check_lanes(&cutting);
        check_algorithm(&cutting);
    }
}
