/*
 * config_schema.c: the tables of keys. Ranges are the limits of the simulator: addresses have
 * 14 bits for the SIP, 10 for the cube, 6 for the PE and 32 for the byte (hw/HARDWARE.md, "Physical
 * addresses"), times stay far below 2^63 ps. Whatever is legal on its own but not beside other
 * values is checked in config_rules.c.
 */
#include "collectives/config/config_schema.h"

#include <string.h>

#include "collectives/algorithm.h"
#include "collectives/config/ccl_config.h"
#include "collectives/runtime/mapper.h"
#include "collectives/topologies.h"
#include "hw/route.h"
#include "hw/topology/topology.h"

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

/* The names of an enumeration's values, each beside the value that it means. */
#define NAMES(function, ...)                                                                       \
    static const char *function(uint32_t value)                                                    \
    {                                                                                              \
        static const char *const names[] = {__VA_ARGS__};                                          \
        return value < COUNT_OF(names) ? names[value] : NULL;                                      \
    }

NAMES(contention_name, [HW_CONTENTION_NONE] = "none", [HW_CONTENTION_MESSAGE] = "message",
      [HW_CONTENTION_CHUNK] = "chunk")
NAMES(reduce_name, [HW_REDUCE_NONE] = "none", [HW_REDUCE_PUSH] = "push", [HW_REDUCE_PULL] = "pull")
NAMES(wiring_name, [CCL_WIRING_ALL_PES] = "all_pes", [CCL_WIRING_PE0] = "pe0")
NAMES(buffer_kind_name, [HW_MEMORY_TCM] = "tcm", [HW_MEMORY_HBM] = "hbm", [HW_MEMORY_SRAM] = "sram")
/* Of two names: false and true (struct lp_config). */
NAMES(backpressure_name, "sleep", "poll")
NAMES(fairness_name, "weak", "strict")
NAMES(credit_mode_name, "fast_path", "fabric")
NAMES(channels_name, "dual", "single")
NAMES(protocol_name, [LP_SIMPLE] = "simple", [LP_LL] = "ll", [LP_LL128] = "ll128")
NAMES(host_copy_name, [CCL_HOST_COPY_INSTANT] = "instant", [CCL_HOST_COPY_SIMULATED] = "simulated")
NAMES(accumulate_name, [CCL_ACCUMULATE_OWN] = "own", [CCL_ACCUMULATE_F32] = "f32")
NAMES(fp8_overflow_name, [CCL_FP8_SATURATE] = "saturate", [CCL_FP8_INFINITY] = "infinity")
NAMES(distribution_name, [HW_JITTER_NONE] = "none", [HW_JITTER_FIXED] = "fixed",
      [HW_JITTER_UNIFORM] = "uniform", [HW_JITTER_NORMAL] = "normal",
      [HW_JITTER_EXPONENTIAL] = "exponential")
NAMES(draw_name, [CONFIG_DRAW_OPERATION] = "operation", [CONFIG_DRAW_INSTANCE] = "instance")
NAMES(root_name, [CCL_ROOT_CENTER] = "center", [CCL_ROOT_CORNER] = "corner")

static const char *corner_name(uint32_t corner)
{
    return corner < HW_CORNERS ? hw_corner_name[corner] : NULL;
}

#define CHOICES(name_of)   .choice = (name_of)
#define TO_HW(how, field)  .store = CONFIG_STORE_##how, .offset = offsetof(struct hw_config, field)
#define TO_CCL(how, field) .store = CONFIG_STORE_##how, .offset = offsetof(struct ccl_config, field)

/* A row: its path and type, then its other members. */
#define KEY(in, path_, type_, doc_, ...)                                                           \
    {                                                                                              \
        .file = CONFIG_##in, .path = (path_), .type = CONFIG_##type_, .doc = (doc_), __VA_ARGS__   \
    }
#define READ(how)                .reader = CONFIG_READ_##how
#define READ_BY(reader_, kind)   .reader = CONFIG_READ_BY_##reader_, .of = (kind)
#define RANGE(min_, max_, unit_) .min = (min_), .max = (max_), .unit = (unit_)

#define NODE(name, kind)                                                                           \
    KEY(COMPONENTS, "nodes." name ".overhead_ns", DECIMAL, "time a message spends in it",          \
        RANGE("0", "1000000000", "ns"), .store = CONFIG_STORE_PS, READ_BY(NODE, kind),             \
        .offset = offsetof(struct hw_config, overhead_ps) + (kind) * sizeof(int64_t))
#define LINK(name, kind)                                                                           \
    KEY(COMPONENTS, "links." name ".distance_mm", DECIMAL, "length", RANGE("0", "1000000", "mm"),  \
        READ_BY(LINK, kind)),                                                                      \
        KEY(COMPONENTS, "links." name ".bw_gbs", RATE, "bytes per ns, each direction",             \
            RANGE("0.001", "1000000", "GB/s"), READ_BY(LINK, kind)),                               \
        KEY(COMPONENTS, "links." name ".ns_per_mm", DECIMAL, "its own flight time",                \
            RANGE("0", "1000", "ns per mm"), .flags = CONFIG_OPTIONAL, READ_BY(LINK, kind)),       \
        KEY(COMPONENTS, "links." name ".latency_ns", DECIMAL, "added to the flight time",          \
            RANGE("0", "1000000000", "ns"), .flags = CONFIG_OPTIONAL, READ_BY(LINK, kind))

/* What parts cost (hw/topology/built.h), after their other keys. A link's figures are filled by
 * hand, since links.scale scales them. */
#define SWITCH_PRICE(member)                                                                       \
    .store = CONFIG_STORE_MILLIONTHS,                                                              \
    .offset = offsetof(struct hw_config, switch_price) + offsetof(struct hw_price, member)
#define SIP_PRICE(member)                                                                          \
    .store = CONFIG_STORE_MILLIONTHS,                                                              \
    .offset = offsetof(struct hw_config, sip_price) + offsetof(struct hw_price, member)
#define LINK_PRICE(member) .store = CONFIG_STORE_HAND
#define COST_KEY(in, path, part, reader_)                                                          \
    KEY(in, path ".cost", RATE, "of one, in any currency", RANGE("0", "100000000", NULL),          \
        .flags = CONFIG_OPTIONAL, reader_, part(cost))
#define WATTS_KEY(in, path, part, reader_)                                                         \
    KEY(in, path ".watts", RATE, "power of one, whatever it does", RANGE("0", "1000000", "W"),     \
        .flags = CONFIG_OPTIONAL, reader_, part(watts))
#define ENERGY_KEY(path, part, reader_)                                                            \
    KEY(COMPONENTS, path ".pj_per_bit", RATE, "energy of a bit that crosses it",                   \
        RANGE("0", "1000000", "pJ"), .flags = CONFIG_OPTIONAL, reader_, part(pj_per_bit))
#define PRICE_OF_INNER(name, kind) ENERGY_KEY("links." name, LINK_PRICE, READ_BY(LINK, kind)),
#define PRICE_OF_OUTER(name, kind)                                                                 \
    COST_KEY(COMPONENTS, "links." name, LINK_PRICE, READ_BY(BUILT, kind)),                         \
        WATTS_KEY(COMPONENTS, "links." name, LINK_PRICE, READ_BY(BUILT, kind)),                    \
        ENERGY_KEY("links." name, LINK_PRICE, READ_BY(LINK, kind)),                                \
        KEY(COMPONENTS, "links." name ".scale", RATE,                                              \
            "bandwidth, cost and watts of these links, times this", RANGE("0.001", "1000", NULL),  \
            .flags = CONFIG_OPTIONAL, READ_BY(BUILT, kind)),

/* The jitter of one kind of node or link (hw/jitter.h). */
#define JITTER(group, name, field, kind, BLOCK)                                                    \
    KEY(COMPONENTS, "jitter." group "." name ".distribution", CHOICE,                              \
        "of the time added to each operation", CHOICES(distribution_name),                         \
        .flags = CONFIG_OPTIONAL, READ_BY(BLOCK, kind),                                            \
        JITTER_TO(ENUM, field, kind, distribution)),                                               \
        KEY(COMPONENTS, "jitter." group "." name ".mean_ns", DECIMAL, "its mean",                  \
            RANGE("0", "1000000000", "ns"), .flags = CONFIG_OPTIONAL, READ_BY(BLOCK, kind),        \
            JITTER_TO(PS, field, kind, mean_ps)),                                                  \
        KEY(COMPONENTS, "jitter." group "." name ".spread_ns", DECIMAL,                            \
            "uniform: half its width; normal: its standard deviation",                             \
            RANGE("0", "1000000000", "ns"), .flags = CONFIG_OPTIONAL, READ_BY(BLOCK, kind),        \
            JITTER_TO(PS, field, kind, spread_ps)),                                                \
        KEY(COMPONENTS, "jitter." group "." name ".each", CHOICE, "what gets a draw of its own",   \
            CHOICES(draw_name), .flags = CONFIG_OPTIONAL, READ_BY(BLOCK, kind)),                   \
        KEY(COMPONENTS, "jitter." group "." name ".only", PLACE, "where; not given: everywhere",   \
            .flags = CONFIG_OPTIONAL, READ_BY(BLOCK, kind))
#define JITTER_TO(how, field, kind, part)                                                          \
    .store = CONFIG_STORE_##how, .offset = offsetof(struct hw_config, field) +                     \
                                           (kind) * sizeof(struct hw_jitter_kind) +                \
                                           offsetof(struct hw_jitter_kind, part)
/* Keys of a kind of node beside overhead_ns. */
#define KEYS_OF_SWITCH                                                                             \
    KEY(COMPONENTS, "nodes.switch.reduce", CHOICE,                                                 \
        "whether it reduces and multicasts what SIPs push to it, or pulls from them",              \
        CHOICES(reduce_name), .flags = CONFIG_OPTIONAL, READ_BY(NODE, HW_NODE_SWITCH),             \
        TO_HW(ENUM, reduce[0].mode)),                                                              \
        KEY(COMPONENTS, "nodes.switch.reduce_gbs", RATE,                                           \
            "bytes of results per ns; not given: no limit", RANGE("0.001", "1000000", "GB/s"),     \
            .flags = CONFIG_OPTIONAL, READ(BY_SUMS_OF_SWITCHES), TO_HW(HW_RATE, reduce[0].rate)),  \
        KEY(COMPONENTS, "nodes.switch.reduce_ns", DECIMAL, "latency of a reduction",               \
            RANGE("0", "1000000000", "ns"), .flags = CONFIG_OPTIONAL, READ(BY_SUMS_OF_SWITCHES),   \
            TO_HW(PS, reduce[0].latency_ps)),                                                      \
        KEY(COMPONENTS, "nodes.switch.trees", COUNT,                                               \
            "tiles that it combines at one time; not given: any number",                           \
            RANGE("1", "65535", "tiles"), .flags = CONFIG_OPTIONAL, READ(BY_SUMS_OF_SWITCHES),     \
            TO_HW(U32, reduce[0].trees)),                                                          \
        COST_KEY(COMPONENTS, "nodes.switch", SWITCH_PRICE, READ_BY(BUILT, HW_LINK_KINDS)),         \
        WATTS_KEY(COMPONENTS, "nodes.switch", SWITCH_PRICE, READ_BY(BUILT, HW_LINK_KINDS)),        \
        ENERGY_KEY("nodes.switch", SWITCH_PRICE, READ_BY(NODE, HW_NODE_SWITCH)),
#define KEYS_OF_PE_DMA                                                                             \
    KEY(COMPONENTS, "nodes.pe_dma.queue_depth", COUNT, "operations each channel holds",            \
        RANGE("1", "1024", "operations"), TO_HW(U32, dma_queue_depth), READ(ALWAYS)),              \
        KEY(COMPONENTS, "nodes.pe_dma.reduce_bw_gbs", RATE,                                        \
            "rate of put_reduce at its destination", RANGE("0.001", "1000000", "GB/s"),            \
            TO_HW(HW_RATE, dma_reduce), READ(BY_REDUCING_PUTS)),
#define KEYS_OF_PE_IPCQ                                                                            \
    KEY(COMPONENTS, "nodes.pe_ipcq.wire_ns", DECIMAL,                                              \
        "from the end of a transfer to its visibility", RANGE("0", "1000000000", "ns"),            \
        TO_HW(PS, ipcq_wire_ps), READ_BY(NODE, HW_NODE_PE_IPCQ)),                                  \
        KEY(COMPONENTS, "nodes.pe_ipcq.poll_interval_ns", DECIMAL,                                 \
            "between two looks with backpressure: poll", RANGE("0.001", "1000000000", "ns"),       \
            TO_HW(PS, ipcq_poll_ps), READ(BY_POLLING)),                                            \
        KEY(COMPONENTS, "nodes.pe_ipcq.ll_wire_ns", DECIMAL, "wire_ns with protocol: ll or ll128", \
            RANGE("0", "1000000000", "ns"), .flags = CONFIG_OPTIONAL, TO_HW(PS, ipcq_ll_wire_ps),  \
            READ(BY_LL)),                                                                          \
        KEY(COMPONENTS, "nodes.pe_ipcq.notify_wire_ns", DECIMAL, "wire_ns of a notification",      \
            RANGE("0", "1000000000", "ns"), .flags = CONFIG_OPTIONAL,                              \
            TO_HW(PS, ipcq_notify_wire_ps), READ_BY(NODE, HW_NODE_PE_IPCQ)),
#define KEYS_OF_PE_FETCH_STORE                                                                     \
    KEY(COMPONENTS, "nodes.pe_fetch_store.bw_gbs", RATE, "TCM to registers and back",              \
        RANGE("0.001", "1000000", "GB/s"), TO_HW(HW_RATE, fetch_store),                            \
        READ_BY(NODE, HW_NODE_PE_FETCH_STORE)),
#define KEYS_OF_PE_MATH                                                                            \
    KEY(COMPONENTS, "nodes.pe_math.clock_ghz", RATE, "clock of PE_MATH",                           \
        RANGE("0.001", "1000", "GHz"), TO_HW(HW_RATE, math_cycle),                                 \
        READ_BY(NODE, HW_NODE_PE_MATH)),                                                           \
        KEY(COMPONENTS, "nodes.pe_math.lanes", COUNT, "elements per cycle",                        \
            RANGE("1", "65536", NULL), TO_HW(U32, math_lanes), READ_BY(NODE, HW_NODE_PE_MATH)),    \
        KEY(COMPONENTS, "nodes.pe_math.free_operands", BOOL,                                       \
            "its operands and results take no time in PE_FETCH_STORE", .flags = CONFIG_OPTIONAL,   \
            TO_HW(BOOL, math_free_operands), READ_BY(NODE, HW_NODE_PE_MATH)),
#define KEYS_OF_PE_GEMM                                                                            \
    KEY(COMPONENTS, "nodes.pe_gemm.clock_ghz", RATE, "clock of PE_GEMM",                           \
        RANGE("0.001", "1000", "GHz"), TO_HW(HW_RATE, gemm_cycle),                                 \
        READ_BY(NODE, HW_NODE_PE_GEMM)),                                                           \
        KEY(COMPONENTS, "nodes.pe_gemm.m", COUNT, "rows of a tile product per cycle",              \
            RANGE("1", "65536", NULL), TO_HW(U32, gemm_m), READ_BY(NODE, HW_NODE_PE_GEMM)),        \
        KEY(COMPONENTS, "nodes.pe_gemm.n", COUNT, "columns of a tile product per cycle",           \
            RANGE("1", "65536", NULL), TO_HW(U32, gemm_n), READ_BY(NODE, HW_NODE_PE_GEMM)),        \
        KEY(COMPONENTS, "nodes.pe_gemm.k", COUNT, "depth of a tile product per cycle",             \
            RANGE("1", "65536", NULL), TO_HW(U32, gemm_k), READ_BY(NODE, HW_NODE_PE_GEMM)),
#define KEYS_OF_PE_MMU                                                                             \
    KEY(COMPONENTS, "nodes.pe_mmu.page_kib", COUNT, "size of a page",                              \
        RANGE("1", "4194304", "KiB"), TO_HW(U64, mmu_page_bytes), .scale = 1024,                   \
        READ(BY_TENSORS)),

/* A tile's write into its slot, and its read there, in one kind of memory. */
#define SLOT_ACCESS(name, memory)                                                                  \
    KEY(COMPONENTS, "slot_access." name ".overhead_ns", DECIMAL,                                   \
        "of a tile's write into its slot, and again of its read", RANGE("0", "1000000000", "ns"),  \
        .flags = CONFIG_OPTIONAL, READ_BY(SLOTS, memory), SLOT_TO(PS, memory, overhead_ps)),       \
        KEY(COMPONENTS, "slot_access." name ".bw_gbs", RATE,                                       \
            "rate of both; not given: no such cost", RANGE("0.001", "1000000", "GB/s"),            \
            .flags = CONFIG_OPTIONAL, READ_BY(SLOTS, memory), SLOT_TO(HW_RATE, memory, rate)),     \
        KEY(COMPONENTS, "slot_access." name ".write_only", BOOL, "the read costs nothing",         \
            .flags = CONFIG_OPTIONAL, READ_BY(SLOTS, memory), SLOT_TO(BOOL, memory, write_only)),  \
        KEY(COMPONENTS, "slot_access." name ".read_only", BOOL, "the write costs nothing",         \
            .flags = CONFIG_OPTIONAL, READ_BY(SLOTS, memory), SLOT_TO(BOOL, memory, read_only)),   \
        KEY(COMPONENTS, "slot_access." name ".by_sender", BOOL,                                    \
            "the write is the time of the kernel that sends", .flags = CONFIG_OPTIONAL,            \
            READ_BY(SLOTS, memory), SLOT_TO(BOOL, memory, by_sender)),                             \
        KEY(COMPONENTS, "slot_access." name ".ll_overhead_ns", DECIMAL,                            \
            "overhead_ns with protocol: ll", RANGE("0", "1000000000", "ns"),                       \
            .flags = CONFIG_OPTIONAL, READ(BY_LL), SLOT_TO(PS, memory, ll_overhead_ps)),           \
        KEY(COMPONENTS, "slot_access." name ".ll128_overhead_ns", DECIMAL,                         \
            "overhead_ns with protocol: ll128", RANGE("0", "1000000000", "ns"),                    \
            .flags = CONFIG_OPTIONAL, READ(BY_LL), SLOT_TO(PS, memory, ll128_overhead_ps))
#define SLOT_TO(how, memory, part)                                                                 \
    .store = CONFIG_STORE_##how, .offset = offsetof(struct hw_config, slot_access) +               \
                                           (memory) * sizeof(struct hw_slot_access) +              \
                                           offsetof(struct hw_slot_access, part)

/* The rows of hw/blocks.h as keys. */
#define OWN_KEYS_OF(KIND) KEYS_OF_##KIND
#define PLAIN_OF(KIND)
#define NODE_KEYS(KIND, name, salt, keys, jitter) NODE(#name, HW_NODE_##KIND), keys##_OF(KIND)
#define LINK_KEYS(KIND, name, salt, per, place)                                                    \
    LINK(#name, HW_LINK_##KIND), PRICE_OF_##place(#name, HW_LINK_##KIND)
#define STEADY_KEYS(KIND, name)
#define LATE_KEYS(KIND, name)                            JITTER("nodes", #name, node_jitter, HW_NODE_##KIND, NODE),
#define LATE_ON_WAY_KEYS(KIND, name)                     LATE_KEYS(KIND, name)
#define NODE_JITTER_KEYS(KIND, name, salt, keys, jitter) jitter##_KEYS(KIND, name)
#define LINK_JITTER_KEYS(KIND, name, salt, per, place)                                             \
    JITTER("links", #name, link_jitter, HW_LINK_##KIND, LINK),

const struct config_key config_machine_keys[] = {
    /* topology.yaml */
    KEY(TOPOLOGY, "system.sips.count", COUNT, "number of SIPs", RANGE("1", "16777216", NULL),
        TO_HW(U32, sip_count), READ(ALWAYS)),
    KEY(TOPOLOGY, "system.sips.topology", SIPS, "how SIPs are joined", CHOICES(hw_topology_name_at),
        READ(ALWAYS)),
    KEY(TOPOLOGY, "system.sips.w", COUNT, "columns of a grid of SIPs", RANGE("1", "16777216", NULL),
        .flags = CONFIG_OPTIONAL, READ(BY_GRID)),
    KEY(TOPOLOGY, "system.sips.h", COUNT, "rows of a grid of SIPs", RANGE("1", "16777216", NULL),
        .flags = CONFIG_OPTIONAL, READ(BY_GRID)),
    KEY(TOPOLOGY, "system.sips.d", COUNT, "layers of a 3-D grid of SIPs", RANGE("1", "16384", NULL),
        .flags = CONFIG_OPTIONAL, READ(BY_CUBOID)),
    KEY(TOPOLOGY, "sip.cube_mesh.w", COUNT, "columns of cubes in a SIP", RANGE("1", "1024", NULL),
        TO_HW(U32, cube_w), READ(ALWAYS)),
    KEY(TOPOLOGY, "sip.cube_mesh.h", COUNT, "rows of cubes in a SIP", RANGE("1", "1024", NULL),
        TO_HW(U32, cube_h), READ(ALWAYS)),
    COST_KEY(TOPOLOGY, "sip", SIP_PRICE, READ(ALWAYS)),
    WATTS_KEY(TOPOLOGY, "sip", SIP_PRICE, READ(ALWAYS)),
    KEY(TOPOLOGY, "cube.pe_layout.pe_per_corner", COUNT, "PEs at each corner",
        RANGE("1", "64", NULL), TO_HW(U32, pe_per_corner), READ(ALWAYS)),
    KEY(TOPOLOGY, "cube.pe_layout.corners", CORNERS, "where PEs sit, in the order of their numbers",
        CHOICES(corner_name), READ(ALWAYS)),
    KEY(TOPOLOGY, "cube.noc.w", COUNT, "columns of routers in a cube", RANGE("1", "16", NULL),
        TO_HW(U32, noc_w), READ(ALWAYS)),
    KEY(TOPOLOGY, "cube.noc.h", COUNT, "rows of routers in a cube", RANGE("1", "16", NULL),
        TO_HW(U32, noc_h), READ(ALWAYS)),
    KEY(TOPOLOGY, "memory.tcm_kib", COUNT, "TCM of a PE", RANGE("1", "4194304", "KiB"),
        TO_HW(U64, tcm_bytes), .scale = 1024, READ(AS_LIMIT)),
    KEY(TOPOLOGY, "memory.sram_kib", COUNT, "SRAM of a cube", RANGE("1", "4194304", "KiB"),
        TO_HW(U64, sram_bytes), .scale = 1024, READ(AS_LIMIT)),
    KEY(TOPOLOGY, "memory.hbm_mib", COUNT, "HBM slice of a PE", RANGE("1", "4096", "MiB"),
        TO_HW(U64, hbm_bytes), .scale = 1024 * 1024, READ(AS_LIMIT)),
    KEY(TOPOLOGY, "fabric.contention", CHOICE, "what happens on busy links",
        CHOICES(contention_name), TO_HW(ENUM, contention), READ(ALWAYS)),
    /* components.yaml */
    KEY(COMPONENTS, "ns_per_mm", DECIMAL, "flight time on links without their own",
        RANGE("0", "1000", "ns per mm"), READ(ALWAYS)),
    KEY(COMPONENTS, "control_msg_bytes", COUNT, "size of a control message",
        RANGE("1", "65536", "bytes"), TO_HW(U32, control_msg_bytes), READ(ALWAYS)),
    KEY(COMPONENTS, "launch_together", BOOL,
        "kernels of one batch of launches start at one instant", .flags = CONFIG_OPTIONAL,
        TO_HW(BOOL, launch_together), READ(ALWAYS)),
    KEY(COMPONENTS, "launch_static_ns", DECIMAL,
        "at the start of each kernel, before its first call", RANGE("0", "1000000000", "ns"),
        .flags = CONFIG_OPTIONAL, TO_HW(PS, launch_static_ps), READ(ALWAYS)),
    KEY(COMPONENTS, "ll128_launch_static_ns", DECIMAL, "launch_static_ns with protocol: ll128",
        RANGE("0", "1000000000", "ns"), .flags = CONFIG_OPTIONAL, TO_HW(PS, ll128_launch_static_ps),
        READ(BY_LL)),
    KEY(COMPONENTS, "compute_model.matrix_tflops", RATE, "of matrix products, as they reach it",
        RANGE("0.001", "1000000", "TFLOP/s"), .flags = CONFIG_OPTIONAL,
        TO_HW(HW_RATE, compute.matrix), READ(BY_STEPS)),
    KEY(COMPONENTS, "compute_model.vector_tflops", RATE, "of all other operations",
        RANGE("0.001", "1000000", "TFLOP/s"), .flags = CONFIG_OPTIONAL,
        TO_HW(HW_RATE, compute.vector), READ(BY_STEPS)),
    KEY(COMPONENTS, "compute_model.memory_gbs", RATE, "of bytes to and from memory",
        RANGE("0.001", "1000000", "GB/s"), .flags = CONFIG_OPTIONAL, TO_HW(HW_RATE, compute.memory),
        READ(BY_STEPS)),
    KEY(COMPONENTS, "compute_model.kernel_ns", DECIMAL,
        "from one kernel's launch to the next one's", RANGE("0", "1000000000", "ns"),
        .flags = CONFIG_OPTIONAL, TO_HW(PS, compute.kernel_ps), READ(BY_STEPS)),
    HW_NODES(NODE_KEYS) KEY(COMPONENTS, "links.scale", RATE,
                            "bandwidth, cost and watts of all links between SIPs, times this",
                            RANGE("0.001", "1000", NULL), .flags = CONFIG_OPTIONAL, READ(ALWAYS)),
    HW_LINKS(LINK_KEYS) SLOT_ACCESS("tcm", HW_MEMORY_TCM), SLOT_ACCESS("sram", HW_MEMORY_SRAM),
    SLOT_ACCESS("hbm", HW_MEMORY_HBM),
    KEY(COMPONENTS, "jitter.seed", COUNT, "of all draws; 1 if not given",
        RANGE("0", "999999999999999999", NULL), .flags = CONFIG_OPTIONAL, TO_HW(U64, jitter_seed),
        READ(BY_DRAWS)),
    HW_NODES(NODE_JITTER_KEYS) HW_LINKS(LINK_JITTER_KEYS)
    /* ccl.yaml */
    KEY(CCL, "concurrent", CALLS, "calls of the bench concurrent, as --call has them",
        .flags = CONFIG_OPTIONAL, READ(BY_GROUPS))};
const uint32_t config_machine_key_count = COUNT_OF(config_machine_keys);
_Static_assert(COUNT_OF(config_machine_keys) <= CONFIG_MACHINE_KEYS_MAX, "values have room");

/* What a protocol of lines has instead. */
#define LINES_KEYS(name, lines)                                                                    \
    KEY(CCL, name "_n_slots", COUNT, "n_slots with protocol: " name, RANGE("1", "65536", NULL),    \
        .flags = CONFIG_OPTIONAL, TO_CCL(U32, lines.n_slots), READ(BY_LL)),                        \
        KEY(CCL, name "_slot_size", COUNT, "slot_size with protocol: " name,                       \
            RANGE("4", "1073741824", "bytes"), .flags = CONFIG_OPTIONAL,                           \
            TO_CCL(U32, lines.slot_bytes), READ(BY_LL)),                                           \
        KEY(CCL, name "_piece_size", COUNT, "piece_size with protocol: " name,                     \
            RANGE("4", "1073741824", "bytes"), .flags = CONFIG_OPTIONAL,                           \
            TO_CCL(U32, lines.piece_bytes), READ(BY_LL))

/* In the order in which they are printed: keys of an entry alone, then keys that it may override.
 */
const struct config_key config_ccl_keys[] = {
    KEY(CCL, "algorithm", NAME, "the entry of `algorithms` that runs",
        .flags = CONFIG_NOT_IN_ALGORITHM, TO_CCL(TEXT, algorithm), .scale = CCL_NAME_BYTES,
        READ(BY_ALGORITHM)),
    KEY(CCL, "extends", NAME, "the entry whose keys this one inherits",
        .flags = CONFIG_OPTIONAL | CONFIG_NOT_IN_DEFAULTS, READ(BY_ALGORITHM)),
    KEY(CCL, "module", PLUGIN, "the kernel and its host side",
        .flags = CONFIG_OPTIONAL | CONFIG_NOT_IN_DEFAULTS, TO_CCL(TEXT, module), .scale = 256,
        READ(BY_ALGORITHM)),
    KEY(CCL, "topology", CHOICE, "logical topology; none: the wiring of the machine",
        CHOICES(logical_name_at), .flags = CONFIG_OPTIONAL | CONFIG_NOT_IN_DEFAULTS,
        TO_CCL(TEXT, topology), .scale = CCL_NAME_BYTES, READ(BY_ALGORITHM)),
    KEY(CCL, "mapper", PLUGIN, "which PEs take part", CHOICES(ccl_mapper_name_at),
        .flags = CONFIG_OPTIONAL | CONFIG_NOT_IN_DEFAULTS, TO_CCL(TEXT, mapper), .scale = 256,
        READ(BY_MAPPED)),
    KEY(CCL, "validator", PLUGIN, "which tensors are accepted", CHOICES(ccl_validator_name_at),
        .flags = CONFIG_OPTIONAL | CONFIG_NOT_IN_DEFAULTS, TO_CCL(TEXT, validator), .scale = 256,
        READ(BY_ALGORITHM)),
    KEY(CCL, "wiring", CHOICE, "which PEs have queues", CHOICES(wiring_name), TO_CCL(ENUM, wiring),
        READ(BY_WIRING)),
    KEY(CCL, "buffer_kind", CHOICE, "memory of the ring slots", CHOICES(buffer_kind_name),
        TO_CCL(ENUM, queues.slots), READ(BY_TILES)),
    KEY(CCL, "backpressure", CHOICE, "how a kernel waits", CHOICES(backpressure_name),
        TO_CCL(BOOL, queues.poll), READ(BY_WAITS)),
    KEY(CCL, "recv_fairness", CHOICE, "order in which recv from any direction serves",
        CHOICES(fairness_name), TO_CCL(BOOL, queues.fairness_strict), READ(BY_ANY_RECV)),
    KEY(CCL, "n_slots", COUNT, "depth of a ring", RANGE("1", "65536", NULL),
        TO_CCL(U32, queues.n_slots), READ(BY_TILES)),
    KEY(CCL, "slot_size", COUNT, "one tile", RANGE("4", "1073741824", "bytes"),
        TO_CCL(U32, queues.slot_bytes), READ(BY_CUTS)),
    KEY(CCL, "min_way_bytes", COUNT, "a tile takes as long on its way as one of so many bytes",
        RANGE("1", "1073741824", "bytes"), .flags = CONFIG_OPTIONAL,
        TO_CCL(U32, queues.min_way_bytes), READ(BY_TILES)),
    KEY(CCL, "protocol", CHOICE, "how tiles travel: whole, or as lines with flags",
        CHOICES(protocol_name), .flags = CONFIG_OPTIONAL, TO_CCL(ENUM, queues.protocol),
        READ(BY_CUTS)),
    KEY(CCL, "ll_max_tile_bytes", COUNT,
        "with protocol: ll larger tiles travel whole; 0: none does",
        RANGE("0", "1073741824", "bytes"), .flags = CONFIG_OPTIONAL,
        TO_CCL(U32, queues.ll_max_tile_bytes), READ(BY_LL)),
    LINES_KEYS("ll", ll),
    LINES_KEYS("ll128", ll128),
    KEY(CCL, "piece_size", COUNT, "what a step of a schedule moves before the next begins",
        RANGE("4", "1073741824", "bytes"), .flags = CONFIG_OPTIONAL, TO_CCL(U32, piece_bytes),
        READ(BY_TILES)),
    KEY(CCL, "tile_min_size", COUNT, "least tile of a chunk that is smaller than a piece",
        RANGE("4", "1073741824", "bytes"), .flags = CONFIG_OPTIONAL, TO_CCL(U32, tile_min_bytes),
        READ(BY_TILES)),
    KEY(CCL, "coarse", COUNT, "what one event of a simulation with coarse tiles stands for",
        RANGE("4", "1073741824", "bytes"), .flags = CONFIG_OPTIONAL, TO_CCL(U32, coarse_bytes),
        READ(BY_CUTS)),
    KEY(CCL, "vc", CHOICE, "dual: compute and communication each have a channel of PE_DMA",
        CHOICES(channels_name), .flags = CONFIG_OPTIONAL, TO_CCL(BOOL, queues.single_vc),
        READ(BY_CHANNELS)),
    KEY(CCL, "vc_chunk_size", COUNT, "what the DMA engine moves between two choices",
        RANGE("1", "1073741824", "bytes"), TO_CCL(U32, queues.vc_chunk_bytes), READ(BY_CHANNELS)),
    KEY(CCL, "vc_weights", WEIGHTS, "shares of the DMA engine", RANGE("1", "1024", "chunks"),
        READ(BY_CHANNELS)),
    KEY(CCL, "ipcq_credit_size_bytes", COUNT, "size of a credit", RANGE("1", "4096", "bytes"),
        TO_CCL(U32, queues.credit_bytes), READ(BY_TILES)),
    KEY(CCL, "credit_return_mode", CHOICE, "how credits travel", CHOICES(credit_mode_name),
        TO_CCL(BOOL, queues.credit_fabric), READ(BY_TILES)),
    KEY(CCL, "recv_blocks_on_credit", BOOL, "recv returns when its credit is out",
        TO_CCL(BOOL, queues.credit_blocks), READ(BY_TILES)),
    KEY(CCL, "strict_validation", BOOL, "check that send and recv agree on type and shape",
        TO_CCL(BOOL, strict_validation), READ(BY_TILES)),
    KEY(CCL, "whole_tensor", BOOL, "a tensor is one tile, whatever slot_size is",
        .flags = CONFIG_OPTIONAL, TO_CCL(BOOL, queues.whole_tensor), READ(BY_TENSOR_CUTS)),
    KEY(CCL, "host_copy", CHOICE, "whether fills and maps take simulated time",
        CHOICES(host_copy_name), TO_CCL(ENUM, host_copy), READ(BY_TENSORS)),
    KEY(CCL, "world_size", COUNT, "ranks; not given: the number of SIPs",
        RANGE("1", "16384", "ranks"), .flags = CONFIG_OPTIONAL, TO_CCL(U32, world_size),
        READ(BY_ALGORITHM)),
    KEY(CCL, "root", ROOT, "cube where the reduction meets", CHOICES(root_name),
        READ_BY(OPTION, CCL_READS_ROOT)),
    KEY(CCL, "root_cube", COUNT, "a placeholder of the design records: not read, see root",
        RANGE("0", "1023", NULL), .flags = CONFIG_OPTIONAL, READ(ALWAYS)),
    KEY(CCL, "rank_invariant", BOOL, "every rank ends with the same bits",
        TO_CCL(BOOL, rank_invariant), READ_BY(OPTION, CCL_READS_RANK_INVARIANT)),
    KEY(CCL, "accumulate", CHOICE, "type in which one addition of several operands adds",
        CHOICES(accumulate_name), .flags = CONFIG_OPTIONAL, TO_CCL(ENUM, arithmetic.accumulate),
        READ(BY_NARROW)),
    KEY(CCL, "fp8_overflow", CHOICE,
        "results beyond fp8's greatest number are that number, or an infinity (E4M3: NaN)",
        CHOICES(fp8_overflow_name), .flags = CONFIG_OPTIONAL, TO_CCL(ENUM, arithmetic.fp8_overflow),
        READ(BY_FP8)),
    KEY(CCL, "overlap_exchange", BOOL, "lrab_pipelined's root exchanges in a context of its own",
        TO_CCL(BOOL, overlap_exchange), READ_BY(OPTION, CCL_READS_OVERLAP)),
    KEY(CCL, "n_elem", COUNT, "elements per shard when no size is asked for",
        RANGE("1", "2147483648", "elements"), TO_CCL(U64, n_elem), READ(BY_NO_SIZE)),
    KEY(CCL, "birs_enable", BOOL, "auto may choose birs", TO_CCL(BOOL, birs_enable),
        READ_BY(OPTION, CCL_READS_BIRS_ENABLE)),
    KEY(CCL, "mesh_max_bytes", COUNT, "auto takes mesh below this only",
        RANGE("0", "4294967296", "bytes"), TO_CCL(U64, mesh_max_bytes),
        READ_BY(OPTION, CCL_READS_MESH_MAX)),
    KEY(CCL, "min_slice_align", COUNT, "alignment of scratch slots",
        RANGE("1", "16777216", "bytes"), TO_CCL(U32, min_slice_align),
        READ_BY(OPTION, CCL_READS_SLICE_ALIGN)),
    KEY(CCL, "slice_rounding", BOOL, "slots of other sizes are rounded up to min_slice_align",
        TO_CCL(BOOL, slice_rounding), READ_BY(OPTION, CCL_READS_SLICE_ALIGN)),
    KEY(CCL, "mate", RANKS, "the rank on the other die of each rank's package",
        RANGE("0", "511", NULL), .flags = CONFIG_OPTIONAL | CONFIG_NOT_IN_DEFAULTS,
        READ(BY_ALGORITHM)),
    KEY(CCL, "package", RANKS, "the package of each rank", RANGE("0", "255", NULL),
        .flags = CONFIG_OPTIONAL | CONFIG_NOT_IN_DEFAULTS, READ(BY_ALGORITHM)),
};
const uint32_t config_ccl_key_count = COUNT_OF(config_ccl_keys);
_Static_assert(COUNT_OF(config_ccl_keys) <= CONFIG_CCL_KEYS_MAX, "values have room");

/* A set of groups is cut from its ranks by `each` and `stride`. */
static const struct config_key group_keys[] = {
    KEY(CCL, "ranks", RANGES, "the ranks that the groups are cut from; not given: all, in order",
        RANGE("0", "16383", NULL), .flags = CONFIG_OPTIONAL, READ(BY_GROUPS)),
    KEY(CCL, "each", COUNT, "ranks of each group; not given: as many as there are",
        RANGE("1", "16384", "ranks"), .flags = CONFIG_OPTIONAL, READ(BY_GROUPS)),
    KEY(CCL, "stride", COUNT, "how far apart a group's ranks are; not given: side by side",
        RANGE("1", "16384", "ranks"), .flags = CONFIG_OPTIONAL, READ(BY_GROUPS)),
    KEY(CCL, "algorithm", NAME, "the entry that carries out calls; not given: defaults.algorithm",
        .flags = CONFIG_OPTIONAL, READ(BY_GROUPS)),
    KEY(CCL, "lanes", RANGE, "PEs of each SIP, in order of (cube, PE); not given: all",
        RANGE("0", "65535", NULL), .flags = CONFIG_OPTIONAL, READ(BY_GROUPS)),
};

static const char *node_name(uint32_t kind)
{
    uint32_t at = 0; /* of those that may be slow */
    for (uint32_t node = 0; node < HW_NODE_KEYED; node++)
        if (hw_node_row[node].jitter != HW_STEADY && at++ == kind)
            return hw_node_name[node];
    return NULL;
}
static const char *link_name(uint32_t kind)
{
    return kind < HW_LINK_KEYED ? hw_link_name[kind] : NULL;
}

/* A fault says which parts, and what they lack (config_faults.c). */
static const struct config_key fault_keys[] = {
    KEY(COMPONENTS, "links", LINKS, "links that have it", CHOICES(link_name),
        .flags = CONFIG_OPTIONAL, READ(BY_FAULT)),
    KEY(COMPONENTS, "nodes", KINDS, "kinds of blocks that have it", CHOICES(node_name),
        .flags = CONFIG_OPTIONAL, READ(BY_FAULT)),
    KEY(COMPONENTS, "at", PARTS,
        "the SIPs, the cube or the PE that have it; with links or nodes: where these are",
        RANGE("0", "16777215", NULL), .flags = CONFIG_OPTIONAL, READ(BY_FAULT)),
    KEY(COMPONENTS, "slower", SLOWER, "added to each operation, of its own time",
        RANGE("0", "1000000", "percent"), .flags = CONFIG_OPTIONAL, READ(BY_FAULT)),
    KEY(COMPONENTS, "bandwidth", RATE, "of each link, in place of its kind's",
        RANGE("0.001", "1000000", "GB/s"), .flags = CONFIG_OPTIONAL, READ(BY_FAULT)),
    KEY(COMPONENTS, "failed", FAILED, "the parts do not work, or cease to",
        .flags = CONFIG_OPTIONAL, READ(BY_FAULT)),
    KEY(COMPONENTS, "from_ns", DECIMAL, "when parts become slower; not given: from the start",
        RANGE("0", "1000000000", "ns"), .flags = CONFIG_OPTIONAL, READ(BY_FAULT)),
};

const struct config_section_row config_sections[CONFIG_SECTIONS] = {
    [CONFIG_GROUPS] = {"groups", "sets of groups", "set", group_keys, COUNT_OF(group_keys),
                       1u << CONFIG_CCL},
    [CONFIG_FAULTS] = {"faults", "faults", "fault", fault_keys, COUNT_OF(fault_keys),
                       1u << CONFIG_COMPONENTS | 1u << CONFIG_TOPOLOGY},
};
_Static_assert(COUNT_OF(group_keys) <= CONFIG_NAMED_KEYS_MAX &&
                   COUNT_OF(fault_keys) <= CONFIG_NAMED_KEYS_MAX,
               "values have room");

static int config_schema_find(const struct config_key *keys, uint32_t count, const char *path)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(keys[i].path, path) == 0)
            return (int)i;
    return -1;
}

int config_machine_find(const char *path)
{
    return config_schema_find(config_machine_keys, config_machine_key_count, path);
}

int config_ccl_find(const char *name)
{
    return config_schema_find(config_ccl_keys, config_ccl_key_count, name);
}

int config_named_find(enum config_section section, const char *name)
{
    return config_schema_find(config_sections[section].keys, config_sections[section].key_count,
                              name);
}

enum config_section config_section_of(const char *path, const char **rest)
{
    for (uint32_t section = 0; section < CONFIG_SECTIONS; section++) {
        const size_t bytes = strlen(config_sections[section].name);
        if (strncmp(path, config_sections[section].name, bytes) != 0 || path[bytes] != '.')
            continue;
        *rest = path + bytes + 1;
        return (enum config_section)section;
    }
    return CONFIG_SECTIONS;
}
