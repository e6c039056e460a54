/*
 * hw_config.h: the machine's parameters, as the other files of hw/ and lp/ see them: whole numbers,
 * in picoseconds and bytes, derived from topology.yaml and components.yaml by the loader in
 * collectives/. Source of every field: 20-hardware.md. Plain data; const once a run has started.
 */
#ifndef HW_CONFIG_H
#define HW_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/grid.h"
#include "hw/jitter.h"

struct hw_topology_ops; /* hw/topology/topology.h */

enum hw_contention { HW_CONTENTION_NONE, HW_CONTENTION_MESSAGE, HW_CONTENTION_CHUNK };
enum hw_corner { HW_NW, HW_NE, HW_SW, HW_SE, HW_CORNERS };

/* Keys of `nodes:` and `links:` in components.yaml, in their order there. */
enum hw_node_kind {
    HW_NODE_HOST,
    HW_NODE_IO_CPU,
    HW_NODE_IO_HUB,
    HW_NODE_IO_PORT,
    HW_NODE_SWITCH,
    HW_NODE_M_CPU,
    HW_NODE_ROUTER,
    HW_NODE_UCIE_PORT,
    HW_NODE_SRAM,
    HW_NODE_HBM,
    HW_NODE_PE_CPU,
    HW_NODE_PE_SCHEDULER,
    HW_NODE_PE_DMA,
    HW_NODE_PE_IPCQ,
    HW_NODE_PE_FETCH_STORE,
    HW_NODE_PE_MATH,
    HW_NODE_PE_GEMM,
    HW_NODE_PE_TCM,
    HW_NODE_PE_MMU,
    HW_NODE_KINDS
};
enum hw_link_kind {
    HW_LINK_PE_NOC,
    HW_LINK_TCM,
    HW_LINK_NOC,
    HW_LINK_HBM,
    HW_LINK_SRAM,
    HW_LINK_M_CPU,
    HW_LINK_NOC_UCIE,
    HW_LINK_UCIE,
    HW_LINK_HUB,
    HW_LINK_SIP_LINK,
    HW_LINK_PCIE,
    HW_LINK_SIO,
    HW_LINK_HCCS,
    HW_LINK_KINDS
};

extern const char *const hw_node_name[HW_NODE_KINDS]; /* "host", "io_cpu", ... */
extern const char *const hw_corner_name[HW_CORNERS];  /* "NW", ... */
extern const char *const hw_link_name[HW_LINK_KINDS]; /* "pe_noc", "tcm", ... */

/*
 * A rate: `units` of work (bytes, cycles) take ceil(units * num / den) ps. num / den is reduced.
 * From `bw_gbs: p/q` (bytes per ns): num/den = 1000 q / p; from `clock_ghz` likewise, per cycle.
 * The loader keeps num and den below 2^40, and units * num below 2^63 for units below 2^32
 * where the rate is 1 Mbyte/s or more.
 */
struct hw_rate {
    uint64_t num, den;
};

struct hw_link_class {
    int64_t prop_ps; /* round((distance_mm * ns_per_mm + latency_ns) * 1000) */
    struct hw_rate rate;
};

struct hw_config {
    /* structure */
    uint32_t sip_count;
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
    struct hw_rate fetch_store;
    struct hw_rate math_cycle, gemm_cycle; /* per cycle */
    uint32_t math_lanes;
    uint32_t gemm_m, gemm_n, gemm_k;
    uint64_t mmu_page_bytes;

    /* what single operations take beyond that; blocks of a PE and links only */
    bool jittered; /* any of them; lp/layout.c sets it: most machines have none */
    uint64_t jitter_seed;
    struct hw_jitter_kind node_jitter[HW_NODE_KINDS];
    struct hw_jitter_kind link_jitter[HW_LINK_KINDS];
};

#endif
