/*
 * config_where.c: checks places and turns them into struct hw_where (config_where.h).
 */
#include "collectives/config/config_where.h"

#include <inttypes.h>
#include <string.h>

#include "collectives/config/config_parts.h"

/* That the SIPs that are listed are there, each once. */
static bool check_sips(struct config_loader *loader, const struct config_where_key *key,
                       uint32_t sip_count)
{
    const struct config_ranges *const ranges = key->value->ranges;
    uint64_t *const seen =
        config_arena_alloc(loader->scratch, hw_jitter_words(sip_count) * sizeof *seen);
    for (uint32_t i = 0; i < ranges->count && seen != NULL; i++) {
        const struct ccl_range *const range = &ranges->at[i];
        if (range->last >= sip_count) {
            config_error(loader, ranges->places[i],
                         "%s.%s: SIP %" PRIu32 " in a machine of %" PRIu32
                         " SIPs; legal: 0 to %" PRIu32,
                         key->path, key->name, range->last, sip_count, sip_count - 1);
            return false;
        }
        for (uint32_t sip = range->first; sip <= range->last; sip += range->step) {
            if ((seen[sip / 64] >> sip % 64 & 1) != 0) {
                config_error(loader, ranges->places[i],
                             "%s.%s: SIP %" PRIu32 " is there twice; legal is each SIP once",
                             key->path, key->name, sip);
                return false;
            }
            seen[sip / 64] |= (uint64_t)1 << sip % 64;
        }
    }
    return true;
}

bool config_check_where(struct config_loader *loader, const struct config_tree *tree,
                        const struct config_where_key *key)
{
    static const char *const place[] = {"a SIP", "a SIP or a cube", "a SIP, a cube or a PE"};
    const struct config_value *const only = key->value;
    if (!config_given(only) || only->rule.kind != CONFIG_RULE_NONE)
        return !only->wrong;
    if (only->list_count > key->parts_max) {
        config_error(loader, only->place,
                     "%s.%s: expected %s: there are none for each %s; found %s", key->path,
                     key->name, place[key->parts_max - 1], only->list_count == 3 ? "PE" : "cube",
                     only->text);
        return false;
    }
    const struct config_value *const count = config_machine_value(tree, "system.sips.count");
    const struct config_value *const w = config_machine_value(tree, "sip.cube_mesh.w");
    const struct config_value *const h = config_machine_value(tree, "sip.cube_mesh.h");
    const struct config_value *const pes =
        config_machine_value(tree, "cube.pe_layout.pe_per_corner");
    const struct config_value *const corners = config_machine_value(tree, "cube.pe_layout.corners");
    if (only->ranges != NULL)
        return !config_given(count) || check_sips(loader, key, (uint32_t)count->number.mantissa);
    if (!config_given(count) || !config_given(w) || !config_given(h) || !config_given(pes) ||
        !config_given(corners))
        return false;
    const int64_t limit[3] = {count->number.mantissa, w->number.mantissa * h->number.mantissa,
                              pes->number.mantissa * corners->list_count};
    for (uint32_t i = 0; i < only->list_count; i++)
        if (only->list[i] >= limit[i]) {
            config_error(loader, only->place,
                         "%s.%s: %s is outside the machine of %" PRId64 " SIPs with %" PRId64
                         " cubes of %" PRId64 " PEs; each is counted from 0",
                         key->path, key->name, only->text, limit[0], limit[1], limit[2]);
            return false;
        }
    return true;
}

/* The SIPs that the value names. */
static void put_sips(const struct config_value *value, uint32_t sips, uint64_t *bits)
{
    const struct config_ranges *const ranges = value->ranges;
    for (uint32_t i = 0; ranges != NULL && i < ranges->count; i++)
        for (uint32_t sip = ranges->at[i].first; sip <= ranges->at[i].last;
             sip += ranges->at[i].step)
            bits[sip / 64] |= (uint64_t)1 << sip % 64;
    for (uint32_t sip = 0; ranges == NULL && sip < sips; sip++)
        if (config_rule_takes(&value->rule, sip))
            bits[sip / 64] |= (uint64_t)1 << sip % 64;
}

struct hw_where config_where_of(struct config_arena *arena, const struct config_value *value,
                                uint32_t sips)
{
    struct hw_where where = {.parts = (uint8_t)value->list_count};
    uint32_t end = value->rule.kind != CONFIG_RULE_NONE ? sips : 0;
    memcpy(where.at, value->list, sizeof where.at);
    for (uint32_t i = 0; value->ranges != NULL && i < value->ranges->count; i++)
        if (value->ranges->at[i].last >= end)
            end = value->ranges->at[i].last + 1;
    if (end == 0)
        return where;
    struct hw_jitter_sips *const listed =
        config_arena_alloc(arena, sizeof *listed + hw_jitter_words(end) * sizeof *listed->bits);
    if (listed == NULL) /* the arena knows */
        return where;
    listed->text = value->text;
    listed->end = end;
    put_sips(value, sips, listed->bits);
    where.sips = listed;
    return where;
}
