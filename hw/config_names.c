/*
 * config_names.c: the names of what hw/hw_config.h counts: one table per enumeration, in its order.
 * They are the keys and values of topology.yaml and components.yaml, and what messages and reports
 * print.
 */
#include "hw/hw_config.h"

const char *const hw_node_name[HW_NODE_KINDS] = {
    [HW_NODE_HOST] = "host",
    [HW_NODE_IO_CPU] = "io_cpu",
    [HW_NODE_IO_HUB] = "io_hub",
    [HW_NODE_IO_PORT] = "io_port",
    [HW_NODE_SWITCH] = "switch",
    [HW_NODE_M_CPU] = "m_cpu",
    [HW_NODE_ROUTER] = "router",
    [HW_NODE_UCIE_PORT] = "ucie_port",
    [HW_NODE_SRAM] = "sram",
    [HW_NODE_HBM] = "hbm",
    [HW_NODE_PE_CPU] = "pe_cpu",
    [HW_NODE_PE_SCHEDULER] = "pe_scheduler",
    [HW_NODE_PE_DMA] = "pe_dma",
    [HW_NODE_PE_IPCQ] = "pe_ipcq",
    [HW_NODE_PE_FETCH_STORE] = "pe_fetch_store",
    [HW_NODE_PE_MATH] = "pe_math",
    [HW_NODE_PE_GEMM] = "pe_gemm",
    [HW_NODE_PE_TCM] = "pe_tcm",
    [HW_NODE_PE_MMU] = "pe_mmu",
};

const char *const hw_link_name[HW_LINK_KINDS] = {
    [HW_LINK_PE_NOC] = "pe_noc",     [HW_LINK_TCM] = "tcm",   [HW_LINK_NOC] = "noc",
    [HW_LINK_HBM] = "hbm",           [HW_LINK_SRAM] = "sram", [HW_LINK_M_CPU] = "m_cpu",
    [HW_LINK_NOC_UCIE] = "noc_ucie", [HW_LINK_UCIE] = "ucie", [HW_LINK_HUB] = "hub",
    [HW_LINK_SIP_LINK] = "sip_link", [HW_LINK_PCIE] = "pcie", [HW_LINK_SIO] = "sio",
    [HW_LINK_HCCS] = "hccs",
};

const char *const hw_corner_name[HW_CORNERS] = {
    [HW_NW] = "NW", [HW_NE] = "NE", [HW_SW] = "SW", [HW_SE] = "SE"};
