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

static const struct hw_jitter_kind *jitter_of(const struct hw_config *hw, uint32_t part)
{
    return part < HW_NODE_KINDS ? &hw->node_jitter[part] : &hw->link_jitter[part - HW_NODE_KINDS];
}

static bool is_same_place(const struct hw_jitter_kind *a, const struct hw_jitter_kind *b)
{
    if (a->sips != NULL && b->sips != NULL)
        return a->sips->end == b->sips->end &&
               memcmp(a->sips->bits, b->sips->bits,
                      hw_jitter_words(a->sips->end) * sizeof *a->sips->bits) == 0;
    return a->sips == b->sips && a->only_parts == b->only_parts &&
           memcmp(a->only, b->only, a->only_parts * sizeof *a->only) == 0;
}

uint32_t explain_slow_group(const struct hw_config *hw, uint32_t part)
{
    const struct hw_jitter_kind *const kind = jitter_of(hw, part);
    if (kind->slower_percent == 0 || (kind->only_parts == 0 && kind->sips == NULL))
        return EXPLAIN_SLOW_PARTS;
    uint32_t first = 0;
    while (jitter_of(hw, first)->slower_percent == 0 || !is_same_place(jitter_of(hw, first), kind))
        first++;
    return first;
}

static bool is_in_group(const struct hw_config *hw, const struct explain_limit *limit,
                        uint32_t part)
{
    return explain_slow_group(hw, part) == limit->which;
}

static void name_place(const struct hw_jitter_kind *kind, char *text, size_t bytes)
{
    const uint32_t *const at = kind->only;
    if (kind->sips != NULL)
        snprintf(text, bytes, "SIPs %s",
                 strlen(kind->sips->text) + 6 > bytes ? "listed" : kind->sips->text);
    else if (kind->only_parts == 1)
        snprintf(text, bytes, "SIP %u", at[0]);
    else if (kind->only_parts == 2)
        snprintf(text, bytes, "cube %u.%u", at[0], at[1]);
    else
        snprintf(text, bytes, "PE %u.%u.%u", at[0], at[1], at[2]);
}

/* "2.0 ×" */
static void name_factor(const struct hw_jitter_kind *kind, char *text, size_t bytes)
{
    const int decimals = kind->slower_percent % 10 == 0 ? 1 : 2;
    snprintf(text, bytes, "%.*f ×", decimals, 1 + kind->slower_percent / 100.0);
}

/* The part of the group with most time on the path, after those that `named` has. */
static uint32_t longest_slow(const struct hw_config *hw, const int64_t *slow_ps,
                             const struct explain_limit *limit, const bool *named)
{
    uint32_t longest = EXPLAIN_SLOW_PARTS;
    for (uint32_t part = 0; part < EXPLAIN_SLOW_PARTS; part++)
        if (slow_ps[part] > 0 && !named[part] && is_in_group(hw, limit, part) &&
            (longest == EXPLAIN_SLOW_PARTS || slow_ps[part] > slow_ps[longest]))
            longest = part;
    return longest;
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

/* One slow part has its own name, and several are named together. */
static void name_slow(const struct hw_config *hw, const int64_t *slow_ps,
                      struct explain_limit *limit)
{
    enum { NAMED = 3 };
    char place[40], factor[24];
    uint32_t count = 0;
    for (uint32_t part = 0; part < EXPLAIN_SLOW_PARTS; part++)
        count += slow_ps[part] > 0 && is_in_group(hw, limit, part);
    name_place(jitter_of(hw, limit->which), place, sizeof place);
    bool named[EXPLAIN_SLOW_PARTS] = {false};
    size_t used = 0;
    for (uint32_t i = 0; i < count && i < NAMED; i++) {
        const uint32_t part = longest_slow(hw, slow_ps, limit, named);
        const bool is_node = part < HW_NODE_KINDS;
        const uint32_t which = is_node ? part : part - HW_NODE_KINDS;
        named[part] = true;
        name_factor(jitter_of(hw, part), factor, sizeof factor);
        if (count == 1) {
            name_kind(hw, is_node ? EXPLAIN_NODE : EXPLAIN_RATE, which, limit->name,
                      sizeof limit->name);
            snprintf(limit->slow, sizeof limit->slow, "%s slower in %s", factor, place);
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

void explain_name_limit(const struct hw_config *hw, const int64_t slow_ps[EXPLAIN_SLOW_PARTS],
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

/* Half of the slowness of all parts that are slow at the limit's place. */
static void halve_slowness(struct hw_config *hw, const struct explain_limit *limit)
{
    const struct hw_config before = *hw;
    for (uint32_t part = 0; part < EXPLAIN_SLOW_PARTS; part++) {
        struct hw_jitter_kind *const kind =
            part < HW_NODE_KINDS ? &hw->node_jitter[part] : &hw->link_jitter[part - HW_NODE_KINDS];
        if (is_in_group(&before, limit, part))
            kind->slower_percent /= 2;
    }
}

void explain_double(struct hw_config *hw, const struct explain_limit *limit)
{
    if (limit->kind == EXPLAIN_SLOW)
        halve_slowness(hw, limit);
    else if (limit->kind == EXPLAIN_NODE)
        double_node(hw, (enum hw_node_kind)limit->which);
    else if (limit->kind == EXPLAIN_FLIGHT)
        hw->link[limit->which].prop_ps = half_ps(hw->link[limit->which].prop_ps);
    else
        hw->link[limit->which].rate = twice(hw->link[limit->which].rate);
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

/* Links of levels are slow where sip_link is, which has the key. */
static void add_slow_settings(const struct hw_config *hw, struct explain_limit *limit)
{
    size_t used = 0;
    for (uint32_t part = 0; part < HW_NODE_KINDS + HW_LINK_KEYED; part++) {
        if (!is_in_group(hw, limit, part) || used >= sizeof limit->settings)
            continue;
        const bool is_node = part < HW_NODE_KINDS;
        const int length = snprintf(
            limit->settings + used, sizeof limit->settings - used,
            "%sjitter.%s.%s.slower_percent=%u", used > 0 ? " " : "", is_node ? "nodes" : "links",
            is_node ? hw_node_name[part] : hw_link_name[part - HW_NODE_KINDS],
            jitter_of(hw, part)->slower_percent / 2);
        used += length > 0 ? (size_t)length : 0;
    }
}

void explain_double_settings(const struct hw_config *hw, struct explain_limit *limit)
{
    char *const text = limit->settings;
    const size_t bytes = sizeof limit->settings;
    struct hw_config faster = *hw;
    explain_double(&faster, limit);
    text[0] = '\0';
    if (limit->kind == EXPLAIN_SLOW) {
        add_slow_settings(hw, limit);
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
