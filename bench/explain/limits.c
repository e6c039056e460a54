/*
 * limits.c: names parts and limits of a path, and says how to make a limit twice as fast
 * (limits.h).
 */
#include "bench/explain/limits.h"

#include <stdio.h>
#include <string.h>

const char *explain_part_name(const struct explain_part *part, char *text, size_t bytes)
{
    const char *const link = part->which < HW_LINK_KINDS ? hw_link_name[part->which] : "?";
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
        snprintf(text, bytes, "%s", part->which < HW_NODE_KINDS ? hw_node_name[part->which] : "?");
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
    default:
        snprintf(text, bytes, "jitter and waits");
    }
    return text;
}

const char *explain_limit_name(const struct explain_limit *limit, char *text, size_t bytes)
{
    if (limit->kind == EXPLAIN_NODE)
        snprintf(text, bytes, "%s (overhead and work)", hw_node_name[limit->which]);
    else
        snprintf(text, bytes, "the %s of %s",
                 limit->kind == EXPLAIN_RATE ? "bandwidth" : "flight time",
                 hw_link_name[limit->which]);
    return text;
}

/* ---- twice as fast --------------------------------------------------------------------------- */

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

void explain_double(struct hw_config *hw, const struct explain_limit *limit)
{
    if (limit->kind == EXPLAIN_NODE)
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

const char *explain_double_settings(const struct hw_config *hw, const struct explain_limit *limit,
                                    char *text, size_t bytes)
{
    struct hw_config faster = *hw;
    explain_double(&faster, limit);
    text[0] = '\0';
    if (limit->kind != EXPLAIN_NODE && limit->which >= HW_LINK_KEYED)
        return text; /* the links of a level have no keys of their own */
    if (limit->kind == EXPLAIN_RATE) {
        add_setting(text, bytes, "links", hw_link_name[limit->which], "bw_gbs",
                    per_ns(faster.link[limit->which].rate));
        return text;
    }
    if (limit->kind == EXPLAIN_FLIGHT) {
        add_setting(text, bytes, "links", hw_link_name[limit->which], "distance_mm", 0);
        add_setting(text, bytes, "links", hw_link_name[limit->which], "latency_ns",
                    (double)faster.link[limit->which].prop_ps / 1000);
        return text;
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
    return text;
}
