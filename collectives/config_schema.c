/*
 * config_schema.c: the two tables of keys. Ranges are what the simulator can hold: addresses have
 * 14 bits for the SIP, 10 for the cube, 6 for the PE and 32 for the byte (20-hardware.md, "Physical
 * addresses"), times stay far below 2^63 ps. Whatever is legal by itself but not beside other
 * values is checked in config_rules.c.
 */
#include "collectives/config_schema.h"

#include <string.h>

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

static const char *const contentions[] = {"none", "message", "chunk"};
static const char *const sip_topologies[] = {"ring_1d", "torus_2d", "mesh_2d_no_wrap", "switch",
                                             "pair_switch"};
static const char *const wirings[] = {"all_pes", "pe0"};
static const char *const buffer_kinds[] = {"tcm", "hbm", "sram"};
static const char *const backpressures[] = {"sleep", "poll"};
static const char *const fairnesses[] = {"weak", "strict"};
static const char *const credit_modes[] = {"fast_path", "fabric"};
static const char *const host_copies[] = {"instant", "simulated"};
static const char *const corners[] = {"NW", "NE", "SW", "SE"};
static const char *const roots[] = {"center", "corner"};
static const char *const topologies[] = {"ring_1d",         "ring_1d_unidir", "mesh_2d", "torus_2d",
                                         "mesh_2d_no_wrap", "tree_binary",    "none"};
static const char *const mappers[] = {"leader_only", "all_pes", "pe0_all_cubes"};
static const char *const validators[] = {"single_shard_per_rank", "multi_pe_sip_local",
                                         "cube_rows"};

#define CHOICES(array)     .choices = (array), .choice_count = COUNT_OF(array)
#define TO_HW(how, field)  .store = CONFIG_STORE_##how, .offset = offsetof(struct hw_config, field)
#define TO_CCL(how, field) .store = CONFIG_STORE_##how, .offset = offsetof(struct ccl_config, field)

#define NODE(name, index)                                                                          \
    {                                                                                              \
        .path = "nodes." name ".overhead_ns", .file = CONFIG_COMPONENTS, .type = CONFIG_DECIMAL,   \
        .min = "0", .max = "1000000000", .unit = "ns", .store = CONFIG_STORE_PS,                   \
        .offset = offsetof(struct hw_config, overhead_ps) + (index) * sizeof(int64_t)              \
    }

#define LINK(name)                                                                                 \
    {.path = "links." name ".distance_mm",                                                         \
     .file = CONFIG_COMPONENTS,                                                                    \
     .type = CONFIG_DECIMAL,                                                                       \
     .min = "0",                                                                                   \
     .max = "1000000",                                                                             \
     .unit = "mm"},                                                                                \
        {.path = "links." name ".bw_gbs",                                                          \
         .file = CONFIG_COMPONENTS,                                                                \
         .type = CONFIG_RATE,                                                                      \
         .min = "0.001",                                                                           \
         .max = "1000000",                                                                         \
         .unit = "GB/s"},                                                                          \
        {.path = "links." name ".ns_per_mm",                                                       \
         .file = CONFIG_COMPONENTS,                                                                \
         .type = CONFIG_DECIMAL,                                                                   \
         .min = "0",                                                                               \
         .max = "1000",                                                                            \
         .unit = "ns per mm",                                                                      \
         .flags = CONFIG_OPTIONAL},                                                                \
    {                                                                                              \
        .path = "links." name ".latency_ns", .file = CONFIG_COMPONENTS, .type = CONFIG_DECIMAL,    \
        .min = "0", .max = "1000000000", .unit = "ns", .flags = CONFIG_OPTIONAL                    \
    }

const struct config_key config_machine_keys[] = {
    /* topology.yaml */
    {.path = "system.sips.count",
     .file = CONFIG_TOPOLOGY,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "16384",
     TO_HW(U32, sip_count)},
    {.path = "system.sips.topology",
     .file = CONFIG_TOPOLOGY,
     .type = CONFIG_CHOICE,
     CHOICES(sip_topologies),
     TO_HW(ENUM, sip_topology)},
    {.path = "system.sips.w",
     .file = CONFIG_TOPOLOGY,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "16384",
     .flags = CONFIG_OPTIONAL},
    {.path = "system.sips.h",
     .file = CONFIG_TOPOLOGY,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "16384",
     .flags = CONFIG_OPTIONAL},
    {.path = "sip.cube_mesh.w",
     .file = CONFIG_TOPOLOGY,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "1024",
     TO_HW(U32, cube_w)},
    {.path = "sip.cube_mesh.h",
     .file = CONFIG_TOPOLOGY,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "1024",
     TO_HW(U32, cube_h)},
    {.path = "cube.pe_layout.pe_per_corner",
     .file = CONFIG_TOPOLOGY,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "64",
     TO_HW(U32, pe_per_corner)},
    {.path = "cube.pe_layout.corners",
     .file = CONFIG_TOPOLOGY,
     .type = CONFIG_CORNERS,
     CHOICES(corners)},
    {.path = "cube.noc.w",
     .file = CONFIG_TOPOLOGY,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "16",
     TO_HW(U32, noc_w)},
    {.path = "cube.noc.h",
     .file = CONFIG_TOPOLOGY,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "16",
     TO_HW(U32, noc_h)},
    {.path = "memory.tcm_kib",
     .file = CONFIG_TOPOLOGY,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "4194304",
     .unit = "KiB",
     TO_HW(U64, tcm_bytes),
     .scale = 1024},
    {.path = "memory.sram_kib",
     .file = CONFIG_TOPOLOGY,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "4194304",
     .unit = "KiB",
     TO_HW(U64, sram_bytes),
     .scale = 1024},
    {.path = "memory.hbm_mib",
     .file = CONFIG_TOPOLOGY,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "4096",
     .unit = "MiB",
     TO_HW(U64, hbm_bytes),
     .scale = 1024 * 1024},
    {.path = "fabric.contention",
     .file = CONFIG_TOPOLOGY,
     .type = CONFIG_CHOICE,
     CHOICES(contentions),
     TO_HW(ENUM, contention)},
    /* components.yaml */
    {.path = "ns_per_mm",
     .file = CONFIG_COMPONENTS,
     .type = CONFIG_DECIMAL,
     .min = "0",
     .max = "1000",
     .unit = "ns per mm"},
    {.path = "control_msg_bytes",
     .file = CONFIG_COMPONENTS,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "65536",
     .unit = "bytes",
     TO_HW(U32, control_msg_bytes)},
    NODE("host", HW_NODE_HOST),
    NODE("io_cpu", HW_NODE_IO_CPU),
    NODE("io_hub", HW_NODE_IO_HUB),
    NODE("io_port", HW_NODE_IO_PORT),
    NODE("switch", HW_NODE_SWITCH),
    NODE("m_cpu", HW_NODE_M_CPU),
    NODE("router", HW_NODE_ROUTER),
    NODE("ucie_port", HW_NODE_UCIE_PORT),
    NODE("sram", HW_NODE_SRAM),
    NODE("hbm", HW_NODE_HBM),
    NODE("pe_cpu", HW_NODE_PE_CPU),
    NODE("pe_scheduler", HW_NODE_PE_SCHEDULER),
    NODE("pe_dma", HW_NODE_PE_DMA),
    {.path = "nodes.pe_dma.queue_depth",
     .file = CONFIG_COMPONENTS,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "1024",
     .unit = "operations",
     TO_HW(U32, dma_queue_depth)},
    {.path = "nodes.pe_dma.reduce_bw_gbs",
     .file = CONFIG_COMPONENTS,
     .type = CONFIG_RATE,
     .min = "0.001",
     .max = "1000000",
     .unit = "GB/s",
     TO_HW(HW_RATE, dma_reduce)},
    NODE("pe_ipcq", HW_NODE_PE_IPCQ),
    {.path = "nodes.pe_ipcq.wire_ns",
     .file = CONFIG_COMPONENTS,
     .type = CONFIG_DECIMAL,
     .min = "0",
     .max = "1000000000",
     .unit = "ns",
     TO_HW(PS, ipcq_wire_ps)},
    {.path = "nodes.pe_ipcq.poll_interval_ns",
     .file = CONFIG_COMPONENTS,
     .type = CONFIG_DECIMAL,
     .min = "0.001",
     .max = "1000000000",
     .unit = "ns",
     TO_HW(PS, ipcq_poll_ps)},
    NODE("pe_fetch_store", HW_NODE_PE_FETCH_STORE),
    {.path = "nodes.pe_fetch_store.bw_gbs",
     .file = CONFIG_COMPONENTS,
     .type = CONFIG_RATE,
     .min = "0.001",
     .max = "1000000",
     .unit = "GB/s",
     TO_HW(HW_RATE, fetch_store)},
    NODE("pe_math", HW_NODE_PE_MATH),
    {.path = "nodes.pe_math.clock_ghz",
     .file = CONFIG_COMPONENTS,
     .type = CONFIG_RATE,
     .min = "0.001",
     .max = "1000",
     .unit = "GHz",
     TO_HW(HW_RATE, math_cycle)},
    {.path = "nodes.pe_math.lanes",
     .file = CONFIG_COMPONENTS,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "65536",
     TO_HW(U32, math_lanes)},
    NODE("pe_gemm", HW_NODE_PE_GEMM),
    {.path = "nodes.pe_gemm.clock_ghz",
     .file = CONFIG_COMPONENTS,
     .type = CONFIG_RATE,
     .min = "0.001",
     .max = "1000",
     .unit = "GHz",
     TO_HW(HW_RATE, gemm_cycle)},
    {.path = "nodes.pe_gemm.m",
     .file = CONFIG_COMPONENTS,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "65536",
     TO_HW(U32, gemm_m)},
    {.path = "nodes.pe_gemm.n",
     .file = CONFIG_COMPONENTS,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "65536",
     TO_HW(U32, gemm_n)},
    {.path = "nodes.pe_gemm.k",
     .file = CONFIG_COMPONENTS,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "65536",
     TO_HW(U32, gemm_k)},
    NODE("pe_tcm", HW_NODE_PE_TCM),
    NODE("pe_mmu", HW_NODE_PE_MMU),
    {.path = "nodes.pe_mmu.page_kib",
     .file = CONFIG_COMPONENTS,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "4194304",
     .unit = "KiB",
     TO_HW(U64, mmu_page_bytes),
     .scale = 1024},
    LINK("pe_noc"),
    LINK("tcm"),
    LINK("noc"),
    LINK("hbm"),
    LINK("sram"),
    LINK("m_cpu"),
    LINK("noc_ucie"),
    LINK("ucie"),
    LINK("hub"),
    LINK("sip_link"),
    LINK("pcie"),
    LINK("sio"),
    LINK("hccs"),
};
const uint32_t config_machine_key_count = COUNT_OF(config_machine_keys);
_Static_assert(COUNT_OF(config_machine_keys) <= CONFIG_MACHINE_KEYS_MAX, "values have room");

/* What only an algorithm's entry says first, then what it may override. */
const struct config_key config_ccl_keys[] = {
    {.path = "algorithm",
     .file = CONFIG_CCL,
     .type = CONFIG_NAME,
     .flags = CONFIG_NOT_IN_ALGORITHM,
     TO_CCL(TEXT, algorithm),
     .scale = CCL_NAME_BYTES},
    {.path = "extends",
     .file = CONFIG_CCL,
     .type = CONFIG_NAME,
     .flags = CONFIG_OPTIONAL | CONFIG_NOT_IN_DEFAULTS},
    {.path = "module",
     .file = CONFIG_CCL,
     .type = CONFIG_PLUGIN,
     .flags = CONFIG_OPTIONAL | CONFIG_NOT_IN_DEFAULTS,
     TO_CCL(TEXT, module),
     .scale = 256},
    {.path = "topology",
     .file = CONFIG_CCL,
     .type = CONFIG_CHOICE,
     CHOICES(topologies),
     .flags = CONFIG_OPTIONAL | CONFIG_NOT_IN_DEFAULTS,
     TO_CCL(TEXT, topology),
     .scale = CCL_NAME_BYTES},
    {.path = "mapper",
     .file = CONFIG_CCL,
     .type = CONFIG_PLUGIN,
     CHOICES(mappers),
     .flags = CONFIG_OPTIONAL | CONFIG_NOT_IN_DEFAULTS,
     TO_CCL(TEXT, mapper),
     .scale = 256},
    {.path = "validator",
     .file = CONFIG_CCL,
     .type = CONFIG_PLUGIN,
     CHOICES(validators),
     .flags = CONFIG_OPTIONAL | CONFIG_NOT_IN_DEFAULTS,
     TO_CCL(TEXT, validator),
     .scale = 256},
    {.path = "wiring",
     .file = CONFIG_CCL,
     .type = CONFIG_CHOICE,
     CHOICES(wirings),
     TO_CCL(ENUM, wiring)},
    {.path = "buffer_kind",
     .file = CONFIG_CCL,
     .type = CONFIG_CHOICE,
     CHOICES(buffer_kinds),
     TO_CCL(ENUM, buffer_kind)},
    {.path = "backpressure",
     .file = CONFIG_CCL,
     .type = CONFIG_CHOICE,
     CHOICES(backpressures),
     TO_CCL(ENUM, backpressure)},
    {.path = "recv_fairness",
     .file = CONFIG_CCL,
     .type = CONFIG_CHOICE,
     CHOICES(fairnesses),
     TO_CCL(ENUM, recv_fairness)},
    {.path = "n_slots",
     .file = CONFIG_CCL,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "65536",
     TO_CCL(U32, n_slots)},
    {.path = "slot_size",
     .file = CONFIG_CCL,
     .type = CONFIG_COUNT,
     .min = "4",
     .max = "1073741824",
     .unit = "bytes",
     TO_CCL(U32, slot_bytes)},
    {.path = "vc_chunk_size",
     .file = CONFIG_CCL,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "1073741824",
     .unit = "bytes",
     TO_CCL(U32, vc_chunk_bytes)},
    {.path = "vc_weights",
     .file = CONFIG_CCL,
     .type = CONFIG_WEIGHTS,
     .min = "1",
     .max = "1024",
     .unit = "chunks"},
    {.path = "ipcq_credit_size_bytes",
     .file = CONFIG_CCL,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "4096",
     .unit = "bytes",
     TO_CCL(U32, credit_bytes)},
    {.path = "credit_return_mode",
     .file = CONFIG_CCL,
     .type = CONFIG_CHOICE,
     CHOICES(credit_modes),
     TO_CCL(ENUM, credit_return_mode)},
    {.path = "recv_blocks_on_credit",
     .file = CONFIG_CCL,
     .type = CONFIG_BOOL,
     TO_CCL(BOOL, recv_blocks_on_credit)},
    {.path = "strict_validation",
     .file = CONFIG_CCL,
     .type = CONFIG_BOOL,
     TO_CCL(BOOL, strict_validation)},
    {.path = "host_copy",
     .file = CONFIG_CCL,
     .type = CONFIG_CHOICE,
     CHOICES(host_copies),
     TO_CCL(ENUM, host_copy)},
    {.path = "world_size",
     .file = CONFIG_CCL,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "16384",
     .unit = "ranks",
     .flags = CONFIG_OPTIONAL,
     TO_CCL(U32, world_size)},
    {.path = "root", .file = CONFIG_CCL, .type = CONFIG_ROOT, CHOICES(roots)},
    {.path = "rank_invariant",
     .file = CONFIG_CCL,
     .type = CONFIG_BOOL,
     TO_CCL(BOOL, rank_invariant)},
    {.path = "n_elem",
     .file = CONFIG_CCL,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "2147483648",
     .unit = "elements",
     TO_CCL(U64, n_elem),
     .scale = 1},
    {.path = "birs_enable", .file = CONFIG_CCL, .type = CONFIG_BOOL, TO_CCL(BOOL, birs_enable)},
    {.path = "mesh_max_bytes",
     .file = CONFIG_CCL,
     .type = CONFIG_COUNT,
     .min = "0",
     .max = "4294967296",
     .unit = "bytes",
     TO_CCL(U64, mesh_max_bytes),
     .scale = 1},
    {.path = "min_slice_align",
     .file = CONFIG_CCL,
     .type = CONFIG_COUNT,
     .min = "1",
     .max = "16777216",
     .unit = "bytes",
     TO_CCL(U32, min_slice_align)},
};
const uint32_t config_ccl_key_count = COUNT_OF(config_ccl_keys);
_Static_assert(COUNT_OF(config_ccl_keys) <= CONFIG_CCL_KEYS_MAX, "values have room");

static int find(const struct config_key *keys, uint32_t count, const char *path)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(keys[i].path, path) == 0)
            return (int)i;
    return -1;
}

int config_machine_find(const char *path)
{
    return find(config_machine_keys, config_machine_key_count, path);
}

int config_ccl_find(const char *name) { return find(config_ccl_keys, config_ccl_key_count, name); }
