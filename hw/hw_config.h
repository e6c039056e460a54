/*
 * hw_config.h: the machine's parameters, as the other files of hw/ and lp/ see them: whole numbers,
 * in picoseconds and bytes, derived from topology.yaml and components.yaml by the loader in
 * collectives/. Source of every field: HARDWARE.md. Plain data; const once a run has started.
 */
#ifndef HW_CONFIG_H
#define HW_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/blocks.h"
#include "hw/grid.h"
#include "hw/jitter.h"

struct hw_topology_ops; /* hw/topology/topology.h */
struct hw_faults;       /* hw/faults.h */
struct hw_sip_orders;   /* hw/sip_walk.h */

enum hw_contention { HW_CONTENTION_NONE, HW_CONTENTION_MESSAGE, HW_CONTENTION_CHUNK };
enum hw_corner { HW_NW, HW_NE, HW_SW, HW_SE, HW_CORNERS };

extern const char *const hw_corner_name[HW_CORNERS]; /* "NW", ... */

/*
 * A rate: `units` of work (bytes, cycles) take ceil(units * num / den) ps. num / den is reduced.
 * From `bw_gbs: p/q` (bytes per ns): num/den = 1000 q / p; from `clock_ghz` in the same way, per
 * cycle. The loader keeps num and den below 2^40, and units * num below 2^63 for units below 2^32
 * where the rate is 1 Mbyte/s or more.
 */
struct hw_rate {
    uint64_t num, den;
};

struct hw_link_class {
    int64_t prop_ps; /* round((distance_mm * ns_per_mm + latency_ns) * 1000) */
    struct hw_rate rate;
};

/* What a part costs, its power, and the energy of a bit that crosses it, in millionths of a unit, a
 * W and a pJ; 0: not given (HARDWARE.md, "Costs"). */
struct hw_price {
    int64_t cost, watts, pj_per_bit;
};

/* The cost of a tile's write into its slot, and of its read from there (HARDWARE.md, "Slot
 * access"). rate.den == 0: no such cost; the tile takes the way to the memory like any other data.
 */
struct hw_slot_access {
    int64_t overhead_ps;
    struct hw_rate rate;
    bool write_only;                           /* the read costs nothing */
    bool read_only;                            /* the write costs nothing; not both */
    bool by_sender;                            /* the write is the time of the kernel that sends */
    int64_t ll_overhead_ps, ll128_overhead_ps; /* overhead_ps with these protocols; 0: not given */
};
enum { HW_SLOT_MEMORIES = 3 };

/* How long an operation of a step computes, from its flops, bytes and kernels (workload/STEPS.md,
 * "Compute model"). A rate counts in 1,000 flops, or bytes. memory.den == 0: there is no model. */
struct hw_compute_model {
    struct hw_rate matrix, vector, memory;
    int64_t kernel_ps; /* from one kernel's launch to the next one's */
};

/* What a kind of switches does beside forwarding (HARDWARE.md, "Switches that reduce"). */
enum hw_reduce_mode { HW_REDUCE_NONE, HW_REDUCE_PUSH, HW_REDUCE_PULL };
struct hw_switch_reduce {
    enum hw_reduce_mode mode;
    struct hw_rate rate; /* of its unit, bytes of a result; den == 0: no limit */
    int64_t latency_ps;  /* of its unit */
    uint32_t trees;      /* tiles that it reduces at one time; 0: any number */
};

/*
 * Topologies that are products of dimensions (hw/topology/sip_dims.h): SIPs whose coordinates
 * differ in one dimension alone are joined as it says. The SIP's number is the sum of its
 * coordinates, each times its dimension's stride.
 */
enum hw_sip_joint {
    HW_SIP_RING,
    HW_SIP_LINE,   /* a ring without the link from its end to its beginning */
    HW_SIP_FULL,   /* a link between every two */
    HW_SIP_SWITCH, /* one switch, to which each has a link */
    HW_SIP_OTHER   /* of a graph: as its links say */
};
struct hw_sip_dim {
    enum hw_sip_joint joint;
    enum hw_link_kind link;
    uint32_t size, stride;
};
enum { HW_SIP_DIMS_MAX = 12 };
struct hw_sip_dims {
    uint32_t count; /* 0: the topology is not such a product */
    struct hw_sip_dim at[HW_SIP_DIMS_MAX];
};

/* SIPs of a machine; of one that is not folded (hw/topology/fold.h). */
enum { HW_SIPS_MAX = 1 << 24, HW_UNFOLDED_SIPS_MAX = 1 << 14 };

/* A kind of switches: those from number `first` on. */
struct hw_switch_row {
    const char *name;
    uint32_t first, count;
};

struct hw_config {
    /* structure */
    uint32_t sip_count;    /* SIPs x PEs of each are less than 2^32 */
    uint32_t sip_w, sip_h; /* of a 2-D grid; else count x 1 */
    const struct hw_topology_ops *sip_topology;
    uint32_t cube_w, cube_h;
    uint32_t pe_per_corner, corner_count;
    enum hw_corner
        corner[HW_CORNERS]; /* [corner_count] where PEs sit, in the order of PE numbers */
    uint32_t noc_w, noc_h;
    uint64_t tcm_bytes, sram_bytes, hbm_bytes; /* per PE, per cube, per PE */
    enum hw_contention contention;

    /* timing */
    int64_t overhead_ps[HW_NODE_KINDS];
    struct hw_link_class link[HW_LINK_KINDS];
    uint32_t control_msg_bytes;
    uint32_t dma_queue_depth;
    struct hw_rate dma_reduce;
    int64_t ipcq_wire_ps, ipcq_poll_ps;
    int64_t ipcq_ll_wire_ps;     /* ipcq_wire_ps with the protocols ll and ll128; 0: not given */
    int64_t ipcq_notify_wire_ps; /* ipcq_wire_ps of a notification; 0: not given */
    struct hw_rate fetch_store;
    struct hw_rate math_cycle, gemm_cycle; /* per cycle */
    uint32_t math_lanes;
    bool math_free_operands; /* PE_FETCH_STORE takes no time for PE_MATH */
    uint32_t gemm_m, gemm_n, gemm_k;
    uint64_t mmu_page_bytes;
    struct hw_switch_reduce reduce[HW_SWITCH_KINDS];     /* of each kind (hw_switch_node()) */
    struct hw_slot_access slot_access[HW_SLOT_MEMORIES]; /* [enum hw_memory] */
    bool launch_together;           /* kernels of one batch of launches start at one instant */
    int64_t launch_static_ps;       /* at the start of each kernel, before its first call */
    int64_t ll128_launch_static_ps; /* the same with the protocol ll128; 0: not given */
    struct hw_compute_model compute;

    /* the time that single operations take beyond that, in blocks of a PE and on links */
    const struct hw_faults
        *faults; /* parts that are slower than others of their kind; NULL: none */
    /* The machine from later_ps on, when links have failed: with another sip_topology, and the same
     * in all else. NULL: none fail during a run. */
    const struct hw_config *later;
    int64_t later_ps;
    bool jittered; /* any of these; lp/layout.c sets it: most machines have none */
    bool watched; /* jittered, or the causes of events are traced (lp/causes.h): off the fast way */
    uint64_t jitter_seed;
    struct hw_jitter_kind node_jitter[HW_NODE_KINDS];
    struct hw_jitter_kind link_jitter[HW_LINK_KINDS];

    struct hw_sip_dims sip_dims;

    /* of a machine whose links are listed one by one; else NULL */
    const struct hw_sip_orders *orders;

    /* of a graph; else NULL */
    const char *const *class_name;        /* [HW_CLASSES_MAX] of HW_LINK_CLASS_1 on */
    const struct hw_switch_row *switches; /* [HW_SWITCH_KINDS] of hw_switch_node() */

    /* what parts cost: of a link between SIPs (inside SIPs pj_per_bit alone), a switch of each
     * hw_switch_node(), a SIP */
    struct hw_price link_price[HW_LINK_KINDS], switch_price[HW_SWITCH_KINDS], sip_price;
};

/* The name of a kind of links or nodes in this machine: "sip_link", "level_2", a graph's own. */
const char *hw_link_name_of(const struct hw_config *hw, enum hw_link_kind kind);
const char *hw_node_name_of(const struct hw_config *hw, enum hw_node_kind kind);
/* "switch 3"; of a graph "switch leaf.1", or "switch spine" if it is the only one of its kind.
 * Returns text. */
enum { HW_SWITCH_TEXT_BYTES = 48 };
const char *hw_switch_text(const struct hw_config *hw, uint32_t number,
                           char text[HW_SWITCH_TEXT_BYTES]);

#endif
