/*
 * limits.c: names parts and limits of a path, and says how to make a limit faster (limits.h).
 */
#include "bench/explain/limits.h"

#include <stdio.h>
#include <string.h>

const char *explain_part_name(const struct explain_part *part, char *text, size_t bytes)
{
    const char *const link = part->kind;
    switch (part->class) {
    case PATH_SERIAL:
        snprintf(text, bytes, "%s serialisation", link);
        break;
    case PATH_QUEUE:
        snprintf(text, bytes, "%s serialisation, in a queue", link);
        break;
    case PATH_FLIGHT:
        snprintf(text, bytes, "%s flight time", link);
        break;
    case PATH_NODE:
        snprintf(text, bytes, "%s", part->kind);
        break;
    case PATH_ENGINE:
        snprintf(text, bytes, "pe_dma engine, at pe_noc's rate");
        break;
    case PATH_REDUCE:
        snprintf(text, bytes, "reduce unit");
        break;
    case PATH_CREDIT:
        snprintf(text, bytes, "credits");
        break;
    case PATH_SLOT:
        snprintf(text, bytes, "slot access");
        break;
    case PATH_POLL:
        snprintf(text, bytes, "polling");
        break;
    case PATH_LAUNCH:
        snprintf(text, bytes, "launch, static");
        break;
    case PATH_KERNEL:
        snprintf(text, bytes, "wait for another group's kernel");
        break;
    case PATH_TIME:
        snprintf(text, bytes, "operations with a time");
        break;
    default:
        snprintf(text, bytes, "jitter and waits");
    }
    return text;
}

/* ---- slow parts ------------------------------------------------------------------------------ */

static const struct hw_slow *slow_of(const struct hw_config *hw, uint32_t number)
{
    return &hw->faults->slow[number];
}

bool explain_slow_place(const struct hw_config *hw, uint32_t slow)
{
    return slow > 0 && slow <= EXPLAIN_SLOWS && hw_slow_has_place(slow_of(hw, slow - 1));
}

static void name_place(const struct hw_slow *slow, char *text, size_t bytes)
{
    const uint32_t *const at = slow->where.at;
    if (slow->link_count > 0)
        snprintf(text, bytes, "%s", slow->links_text);
    else if (slow->where.sips != NULL)
        snprintf(text, bytes, "SIPs %s",
                 strlen(slow->where.sips->text) + 6 > bytes ? "listed" : slow->where.sips->text);
    else if (slow->where.parts == 1)
        snprintf(text, bytes, "SIP %u", at[0]);
    else if (slow->where.parts == 2)
        snprintf(text, bytes, "cube %u.%u", at[0], at[1]);
    else
        snprintf(text, bytes, "PE %u.%u.%u", at[0], at[1], at[2]);
}

/* What a second of a kind's own time takes there, in seconds. */
static double factor_of(const struct hw_config *hw, const struct hw_slow *slow, uint32_t kind)
{
    if (slow->rate.den == 0 || kind < HW_NODE_KINDS)
        return 1 + slow->percent / 100.0;
    const struct hw_rate *const rate = &hw->link[kind - HW_NODE_KINDS].rate;
    return (double)slow->rate.num / (double)slow->rate.den /
           ((double)rate->num / (double)rate->den);
}

/* "2.0 ×" */
static void name_factor(const struct hw_config *hw, const struct hw_slow *slow, uint32_t kind,
                        char *text, size_t bytes)
{
    const double factor = factor_of(hw, slow, kind);
    const int decimals = slow->rate.den == 0 && slow->percent % 10 == 0 ? 1 : 2;
    snprintf(text, bytes, "%.*f ×", decimals, factor);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void name_kind(const struct hw_config *hw, enum explain_limit_kind kind, uint32_t which,
                      char *text, size_t bytes)
{
    if (kind == EXPLAIN_NODE)
        snprintf(text, bytes, "%s (overhead and work)", hw_node_name_of(hw, which));
    else
        snprintf(text, bytes, "the %s of %s", kind == EXPLAIN_RATE ? "bandwidth" : "flight time",
                 hw_link_name_of(hw, which));
}

/* One slow kind has its own name, and several are named together, the longest on the path first. */
static void name_slow(const struct hw_config *hw, const int64_t *slow_ps,
                      struct explain_limit *limit)
{
    enum { NAMED = 3 };
    const struct hw_slow *const slow = slow_of(hw, limit->which);
    int64_t left_ps[HW_PART_KINDS];
    char place[40], factor[24];
    uint32_t count = 0;
    size_t used = 0;
    memcpy(left_ps, slow_ps, sizeof left_ps);
    for (uint32_t kind = 0; kind < HW_PART_KINDS; kind++)
        count += slow_ps[kind] > 0;
    name_place(slow, place, sizeof place);
    for (uint32_t i = 0; i < count && i < NAMED; i++) {
        uint32_t kind = 0;
        for (uint32_t other = 1; other < HW_PART_KINDS; other++)
            kind = left_ps[other] > left_ps[kind] ? other : kind;
        left_ps[kind] = 0;
        const bool is_node = kind < HW_NODE_KINDS;
        const uint32_t which = is_node ? kind : kind - HW_NODE_KINDS;
        name_factor(hw, slow, kind, factor, sizeof factor);
        if (count == 1) {
            name_kind(hw, is_node ? EXPLAIN_NODE : EXPLAIN_RATE, which, limit->name,
                      sizeof limit->name);
            snprintf(limit->slow, sizeof limit->slow, "%s slower %s %s", factor,
                     slow->link_count > 0 ? "on" : "in", place);
            return;
        }
        const int length =
            snprintf(limit->slow + used, sizeof limit->slow - used, "%s%s %s", i > 0 ? ", " : "",
                     is_node ? hw_node_name_of(hw, which) : hw_link_name_of(hw, which), factor);
        used += length > 0 ? (size_t)length : 0;
    }
    snprintf(limit->name, sizeof limit->name, "slow parts of %s", place);
    if (count > NAMED)
        snprintf(limit->slow + used, sizeof limit->slow - used, " and %u more", count - NAMED);
}

void explain_name_limit(const struct hw_config *hw, const int64_t slow_ps[HW_PART_KINDS],
                        struct explain_limit *limit)
{
    limit->slow[0] = '\0';
    if (limit->kind == EXPLAIN_SLOW)
        name_slow(hw, slow_ps, limit);
    else
        name_kind(hw, limit->kind, limit->which, limit->name, sizeof limit->name);
}

/* ---- faster ---------------------------------------------------------------------------------- */

static struct hw_rate twice(struct hw_rate rate)
{
    return (struct hw_rate){rate.num, 2 * rate.den};
}

static int64_t half_ps(int64_t ps) { return (ps + 1) / 2; }

static void double_node(struct hw_config *hw, enum hw_node_kind node)
{
    hw->overhead_ps[node] = half_ps(hw->overhead_ps[node]);
    switch (node) {
    case HW_NODE_PE_MATH:
        hw->math_cycle = twice(hw->math_cycle);
        break;
    case HW_NODE_PE_GEMM:
        hw->gemm_cycle = twice(hw->gemm_cycle);
        break;
    case HW_NODE_PE_FETCH_STORE:
        hw->fetch_store = twice(hw->fetch_store);
        break;
    case HW_NODE_PE_IPCQ:
        hw->ipcq_wire_ps = half_ps(hw->ipcq_wire_ps);
        break;
    default:
        break;
    }
}

void explain_double(struct hw_config *hw, struct hw_faults *faults,
                    const struct explain_limit *limit)
{
    if (limit->kind == EXPLAIN_SLOW) {
        *faults = *hw->faults;
        faults->halved = limit->which + 1;
        hw->faults = faults;
    } else if (limit->kind == EXPLAIN_NODE) {
        double_node(hw, (enum hw_node_kind)limit->which);
    } else if (limit->kind == EXPLAIN_FLIGHT) {
        hw->link[limit->which].prop_ps = half_ps(hw->link[limit->which].prop_ps);
    } else {
        hw->link[limit->which].rate = twice(hw->link[limit->which].rate);
    }
}

/* 1000 * den / num, in units per ns, with all decimals that matter. */
static double per_ns(struct hw_rate rate) { return 1000.0 * (double)rate.den / (double)rate.num; }

static void add_setting(char *text, size_t bytes, const char *room, const char *name,
                        const char *key, double value)
{
    const size_t used = strlen(text);
    snprintf(text + used, bytes - used, "%s%s.%s.%s=%.9g", used > 0 ? " " : "", room, name, key,
             value);
}

/* A link's own rate becomes the one at which it has half of its slowness. */
static void add_slow_setting(const struct hw_config *hw, struct explain_limit *limit)
{
    const struct hw_slow *const slow = slow_of(hw, limit->which);
    if (slow->rate.den == 0) {
        snprintf(limit->settings, sizeof limit->settings, "faults.%s.slower=%u", slow->name,
                 slow->percent / 2);
        return;
    }
    for (uint32_t kind = 0; kind < HW_LINK_KINDS; kind++)
        if (slow->kind[hw_part_of_link((enum hw_link_kind)kind)]) {
            const double own = per_ns(slow->rate), of_kind = per_ns(hw->link[kind].rate);
            snprintf(limit->settings, sizeof limit->settings, "faults.%s.bandwidth=%.6f",
                     slow->name, 2 / (1 / own + 1 / of_kind));
            return;
        }
}

void explain_double_settings(const struct hw_config *hw, struct explain_limit *limit)
{
    char *const text = limit->settings;
    const size_t bytes = sizeof limit->settings;
    struct hw_config faster = *hw;
    struct hw_faults faults;
    explain_double(&faster, &faults, limit);
    text[0] = '\0';
    if (limit->kind == EXPLAIN_SLOW) {
        add_slow_setting(hw, limit);
        return;
    }
    if (limit->kind != EXPLAIN_NODE && limit->which >= HW_LINK_KEYED)
        return; /* the links of a level have no keys of their own */
    if (limit->kind == EXPLAIN_RATE) {
        add_setting(text, bytes, "links", hw_link_name[limit->which], "bw_gbs",
                    per_ns(faster.link[limit->which].rate));
        return;
    }
    if (limit->kind == EXPLAIN_FLIGHT) {
        add_setting(text, bytes, "links", hw_link_name[limit->which], "distance_mm", 0);
        add_setting(text, bytes, "links", hw_link_name[limit->which], "latency_ns",
                    (double)faster.link[limit->which].prop_ps / 1000);
        return;
    }
    const enum hw_node_kind node = (enum hw_node_kind)limit->which;
    if (hw->switches != NULL && hw_node_is_switch(node))
        return; /* nor have the switches of a graph */
    add_setting(text, bytes, "nodes", hw_node_name[node], "overhead_ns",
                (double)faster.overhead_ps[node] / 1000);
    if (node == HW_NODE_PE_MATH)
        add_setting(text, bytes, "nodes", "pe_math", "clock_ghz", per_ns(faster.math_cycle));
    else if (node == HW_NODE_PE_GEMM)
        add_setting(text, bytes, "nodes", "pe_gemm", "clock_ghz", per_ns(faster.gemm_cycle));
    else if (node == HW_NODE_PE_FETCH_STORE)
        add_setting(text, bytes, "nodes", "pe_fetch_store", "bw_gbs", per_ns(faster.fetch_store));
    else if (node == HW_NODE_PE_IPCQ)
        add_setting(text, bytes, "nodes", "pe_ipcq", "wire_ns", (double)faster.ipcq_wire_ps / 1000);
}
