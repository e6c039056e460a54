/*
 * test_hw_support.h: shared by the tests of hw/ and lp/: the machine of hw/HARDWARE.md with the
 * figures of configs/components.yaml, written out here so that expectations in the tests can be
 * checked by hand against this page alone.
 */
#ifndef TEST_HW_SUPPORT_H
#define TEST_HW_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/hw_config.h"
#include "hw/structure.h"
#include "hw/topology/sip_dims.h"
#include "hw/topology/topology.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static inline uint64_t test_gcd(uint64_t a, uint64_t b) { return b == 0 ? a : test_gcd(b, a % b); }

/* ceil(units * num / den) ps with num / den = 1000 / (p / q), the rate of p / q units per ns. */
static inline struct hw_rate per_ns(uint64_t p, uint64_t q)
{
    const uint64_t num = 1000 * q, gcd = test_gcd(num, p);
    return (struct hw_rate){num / gcd, p / gcd};
}

static inline struct hw_link_class link_class(int64_t prop_ps, uint64_t gbs)
{
    return (struct hw_link_class){prop_ps, per_ns(gbs, 1)};
}

/*
 * The default machine: 4 SIPs in a 2 x 2 torus, 4 x 4 cubes, 8 PEs, a 2 x 2 NoC. Flight time is
 * 10 ps per mm, on boards 7 ps per mm.
 */
static inline struct hw_config default_machine(void)
{
    struct hw_config hw = {
        .sip_count = 4,
        .sip_w = 2,
        .sip_h = 2,
        .sip_topology = &hw_torus_2d,
        .cube_w = 4,
        .cube_h = 4,
        .pe_per_corner = 2,
        .corner_count = 4,
        .corner = {HW_NW, HW_NE, HW_SW, HW_SE},
        .noc_w = 2,
        .noc_h = 2,
        .tcm_bytes = 1 << 20,
        .sram_bytes = 4 << 20,
        .hbm_bytes = 2048ull << 20,
        .contention = HW_CONTENTION_MESSAGE,
        .overhead_ps = {[HW_NODE_IO_CPU] = 20000,
                        [HW_NODE_IO_HUB] = 10000,
                        [HW_NODE_IO_PORT] = 50000,
                        [HW_NODE_SWITCH] = 150000,
                        [HW_NODE_M_CPU] = 10000,
                        [HW_NODE_ROUTER] = 1000,
                        [HW_NODE_UCIE_PORT] = 4000,
                        [HW_NODE_SRAM] = 3000,
                        [HW_NODE_HBM] = 40000,
                        [HW_NODE_PE_CPU] = 2000,
                        [HW_NODE_PE_SCHEDULER] = 1000,
                        [HW_NODE_PE_DMA] = 4000,
                        [HW_NODE_PE_IPCQ] = 2000,
                        [HW_NODE_PE_FETCH_STORE] = 1000,
                        [HW_NODE_PE_MATH] = 4000,
                        [HW_NODE_PE_GEMM] = 8000,
                        [HW_NODE_PE_TCM] = 1000},
        .control_msg_bytes = 64,
        .dma_queue_depth = 16,
        .dma_reduce = per_ns(256, 1),
        .ipcq_wire_ps = 1000,
        .ipcq_poll_ps = 20000,
        .fetch_store = per_ns(512, 1),
        .math_cycle = per_ns(1, 1),
        .gemm_cycle = per_ns(1, 1),
        .math_lanes = 64,
        .gemm_m = 16,
        .gemm_n = 16,
        .gemm_k = 16,
        .mmu_page_bytes = 65536,
    };
    hw.link[HW_LINK_PE_NOC] = link_class(5, 128);
    hw.link[HW_LINK_TCM] = link_class(1, 512);
    hw.link[HW_LINK_NOC] = link_class(30, 256);
    hw.link[HW_LINK_HBM] = link_class(10, 64);
    hw.link[HW_LINK_SRAM] = link_class(5, 256);
    hw.link[HW_LINK_M_CPU] = link_class(5, 32);
    hw.link[HW_LINK_NOC_UCIE] = link_class(5, 256);
    hw.link[HW_LINK_UCIE] = link_class(20, 128);
    hw.link[HW_LINK_HUB] = link_class(50, 512);
    hw.link[HW_LINK_SIP_LINK] = link_class(2100, 100);
    hw.link[HW_LINK_PCIE] = link_class(201400, 64);
    hw.link[HW_LINK_SIO] = link_class(100, 270);
    hw.link[HW_LINK_HCCS] = link_class(3500, 196);
    return hw;
}

/* The same with these SIPs. A 1-D topology, a switch or pairs: h is 1. torus_3d has one layer,
 * levels are a ring of w in each of h groups, and switches over the groups. */
static inline struct hw_config sips_of(const struct hw_topology_ops *topology, uint32_t w,
                                       uint32_t h)
{
    struct hw_config hw = default_machine();
    struct hw_sip_size size, given = {.w = w, .h = h, .d = 1};
    struct hw_misfit misfit;
    hw.sip_topology = topology;
    hw.sip_count = w * h;
    hw.sip_w = w;
    hw.sip_h = h;
    for (uint32_t level = 0; level < HW_LEVELS_MAX; level++)
        hw.link[HW_LINK_CLASS_1 + level] = link_class(1000 + 100 * level, 50 + 10 * level);
    if (topology->dims != NULL)
        return hw;
    if (topology == &hw_levels) {
        hw_sip_dims_add(&given.dims, HW_SIP_RING, w, HW_LINK_CLASS_1);
        hw_sip_dims_add(&given.dims, HW_SIP_SWITCH, h,
                        (enum hw_link_kind)(HW_LINK_CLASS_1 + 2 - 1));
    }
    assert_true(topology->fit(hw.sip_count, given, &size, &misfit));
    hw_join_sips(&hw, topology, &size);
    return hw;
}

#endif
