/*
 * layout.c: names the layouts of tensors, and compares shards with the PEs that take them
 * (layout.h).
 */
#include "collectives/runtime/layout.h"

#include <stdio.h>

#include "hw/structure.h"

/* ---- names ----------------------------------------------------------------------------------- */

static const char *one_shard(const struct hw_config *hw, uint32_t pe_index,
                             char name[LAYOUT_NAME_BYTES])
{
    const struct hw_place place = hw_place_of(hw, pe_index);
    (void)snprintf(name, LAYOUT_NAME_BYTES,
                   "one shard (single_shard_per_rank), on PE %u of cube %u", place.pe, place.cube);
    return name;
}

/* The validator that accepts this many parts, one on each of these cubes and PEs. */
static const char *validator_name(const struct hw_config *hw, uint32_t cubes, uint32_t pes)
{
    return cubes != hw_cubes(hw) ? ""
           : pes == hw_pes(hw)   ? "multi_pe_sip_local: "
           : pes == 1            ? "cube_rows: "
                                 : "";
}

const char *layout_name(const struct hw_config *hw, const struct tensor *tensor,
                        char name[LAYOUT_NAME_BYTES])
{
    const struct dp_policy *const policy = &tensor->policy;
    const bool rows = policy->cube == DP_ROW_WISE, columns = policy->pe == DP_COLUMN_WISE;
    char pes[60] = "on PE 0 of each";
    if (tensor->shard_count == 1)
        return one_shard(hw, tensor->shard[0].pe_index, name);
    if (policy->num_pes > 1)
        (void)snprintf(pes, sizeof pes, "%s %u PEs of each",
                       columns ? "columns over" : "a copy on each of", policy->num_pes);
    (void)snprintf(name, LAYOUT_NAME_BYTES, "%u shards (%s%s %u cubes, %s)", tensor->shard_count,
                   tensor_parts(tensor) == tensor->shard_count
                       ? validator_name(hw, policy->num_cubes, policy->num_pes)
                       : "",
                   rows || policy->num_cubes == 1 ? "rows over" : "a copy on each of",
                   policy->num_cubes, pes);
    return name;
}

/* One PE of each cube, or all PEs of each, from the first on: the usual sets. */
static bool is_each(const struct hw_config *hw, const uint32_t *pe, uint32_t pes, uint32_t apart)
{
    const uint32_t of_sip = hw_cubes(hw) * hw_pes(hw);
    for (uint32_t i = 0; i < pes; i++)
        if (pe[i] % of_sip != i * apart)
            return false;
    return pes * apart == of_sip;
}

const char *layout_name_of_pes(const struct hw_config *hw, const uint32_t *pe, uint32_t pes,
                               char name[LAYOUT_NAME_BYTES])
{
    if (pes == 1)
        return one_shard(hw, pe[0], name);
    if (is_each(hw, pe, pes, hw_pes(hw)))
        (void)snprintf(name, LAYOUT_NAME_BYTES,
                       "%u shards (cube_rows: rows over %u cubes, on PE 0 of each)", pes, pes);
    else if (is_each(hw, pe, pes, 1))
        (void)snprintf(name, LAYOUT_NAME_BYTES,
                       "%u shards (multi_pe_sip_local: rows over %u cubes, columns over %u PEs of "
                       "each)",
                       pes, hw_cubes(hw), hw_pes(hw));
    else {
        const struct hw_place first = hw_place_of(hw, pe[0]), last = hw_place_of(hw, pe[pes - 1]);
        (void)snprintf(name, LAYOUT_NAME_BYTES,
                       "%u shards, on PE %u of cube %u to PE %u of cube %u, as the mapper names "
                       "them",
                       pes, first.pe, first.cube, last.pe, last.cube);
    }
    return name;
}

/* ---- the check ------------------------------------------------------------------------------- */

bool layout_is_alike(const struct tensor *a, const struct tensor *b)
{
    const struct dp_policy *const p = &a->policy, *const q = &b->policy;
    return p->num_cubes == q->num_cubes && p->num_pes == q->num_pes &&
           (p->num_cubes == 1 || p->cube == q->cube) && (p->num_pes == 1 || p->pe == q->pe);
}

static int refuse(const struct layout_need *need, uint32_t rank, const struct tensor *tensor,
                  const char *wrong, struct cw_error *error)
{
    char has[LAYOUT_NAME_BYTES], takes[LAYOUT_NAME_BYTES];
    return cw_error_set(error, CW_USAGE,
                        "validator of %s: rank %u's tensor has %s, and %s; legal: %s",
                        need->algorithm, rank, layout_name(need->hw, tensor, has), wrong,
                        layout_name_of_pes(need->hw, need->pe, need->pes, takes));
}

static int refuse_at(const struct layout_need *need, uint32_t rank, const struct tensor *tensor,
                     uint32_t pe_index, const char *wrong, struct cw_error *error)
{
    const struct hw_place place = hw_place_of(need->hw, pe_index);
    char text[120];
    (void)snprintf(text, sizeof text, "PE %u of cube %u %s", place.pe, place.cube, wrong);
    return refuse(need, rank, tensor, text, error);
}

/* Both lists are in order of (cube, pe). */
static int check_places(const struct layout_need *need, uint32_t rank, const struct tensor *tensor,
                        struct cw_error *error)
{
    for (uint32_t i = 0, at = 0;
         i < need->pes || (!need->may_have_more && at < tensor->shard_count);) {
        const uint32_t kernel = i < need->pes ? need->pe[i] : UINT32_MAX;
        const uint32_t shard = at < tensor->shard_count ? tensor->shard[at].pe_index : UINT32_MAX;
        if (kernel < shard)
            return refuse_at(need, rank, tensor, kernel, "takes a shard and has none", error);
        if (shard < kernel && !need->may_have_more)
            return refuse_at(need, rank, tensor, shard, "has a shard that no kernel takes", error);
        i += kernel == shard;
        at++;
    }
    return CW_OK;
}

int layout_check(const struct layout_need *need, uint32_t rank, const struct tensor *in,
                 const struct tensor *out, struct cw_error *error)
{
    if (check_places(need, rank, in, error) != CW_OK)
        return error->exit_code;
    if (need->together && tensor_parts(in) < in->shard_count)
        return refuse(need, rank, in, "the copies of a part would be added up", error);
    if (out == NULL || (layout_is_alike(in, out) && in->policy.first_pe == out->policy.first_pe))
        return CW_OK;
    char has[LAYOUT_NAME_BYTES], wants[LAYOUT_NAME_BYTES];
    return cw_error_set(error, CW_USAGE,
                        "validator of %s: rank %u's output has %s, and its input %s; legal: both "
                        "alike",
                        need->algorithm, rank, layout_name(need->hw, out, has),
                        layout_name(need->hw, in, wants));
}
