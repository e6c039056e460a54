/*
 * lp_config.h: how the queues are set up (lp/QUEUES.md), and what kernels need of each PE.
 * The collectives' configuration (collectives/config/ccl_config.h) contains the first, so that a
 * key of the configuration is stored where the handlers read it.
 */
#ifndef LP_CONFIG_H
#define LP_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/dma.h"
#include "hw/route.h"

/* How tiles travel: as they are; in lines of which half is payload; in lines of 128 bytes with 120
 * bytes of payload. */
enum lp_protocol { LP_SIMPLE, LP_LL, LP_LL128 };

struct lp_config {
    enum hw_memory slots; /* memory of the receive rings: TCM, HBM or SRAM */
    uint32_t n_slots;
    uint32_t slot_bytes; /* from one slot to the next, and the most bytes of a tile, unless */
    bool whole_tensor;   /* a tile has any size: slots are addresses alone */
    uint32_t coarse;     /* tiles that kernels move as one, a coarse tile; 0 or 1: none */
    uint32_t credit_bytes;
    uint32_t vc_chunk_bytes;
    uint32_t vc_weight[HW_VCS];
    bool poll;          /* a kernel that waits polls; else it sleeps */
    bool credit_blocks; /* a receive returns when its credit has been emitted */
    bool single_vc;     /* PE_DMA has one channel, for both kinds of work */
    bool credit_fabric; /* credits go through vc_comm instead of wires of their own */
    enum lp_protocol protocol;
    uint32_t ll_max_tile_bytes; /* with LP_LL larger tiles travel as with LP_SIMPLE; 0: none does */
    uint32_t min_way_bytes; /* on its way a tile counts as so many bytes at least; 0: as it is */
    bool fairness_strict;   /* recv_any serves the direction served least recently */
};

enum { LP_PE_QUEUES_MAX = 8, LP_PE_CONTEXTS_MAX = 16 };
struct lp_needs {
    uint32_t queues;     /* hardware queues of a PE, up to LP_PE_QUEUES_MAX; 0 counts as 1 */
    uint32_t contexts;   /* of each of them, up to TL_CONTEXTS_MAX; 0 counts as 1. All of a PE's: up
                            to LP_PE_CONTEXTS_MAX */
    uint32_t peers;      /* most PEs with which one PE exchanges puts and notifies, for each queue
                            counted by themselves; 0: none */
    uint32_t launches;   /* most kernels that wait for a queue while another one runs there; 0: none
                          */
    uint32_t accounts;   /* under which links count the bytes of batches; 0: all together alone */
    bool trees;          /* kernels send parts of tiles through switches that reduce */
    uint32_t operations; /* most of a SIP's program (lp/program.h); 0: there are no programs */
    uint32_t turns;      /* that their operations take (lp_program.turns) */
};

/* Each of several hardware queues has an equal share of a TCM's first bytes, a multiple of 64. */
static inline uint64_t lp_tcm_share(uint64_t free_bytes, uint32_t queues)
{
    return queues <= 1 ? free_bytes : free_bytes / queues / 64 * 64;
}

/* The most bytes of a tile: as many as a slot has. With whole_tensor any tensor is one tile. */
enum { LP_WHOLE_TENSOR_BYTES = 1 << 30 };
_Static_assert((uint64_t)LP_WHOLE_TENSOR_BYTES << 1 <= UINT32_MAX,
               "with LP_LL a tile takes twice its bytes, in 32 bits");
static inline uint32_t lp_tile_bytes(const struct lp_config *config)
{
    return config->whole_tensor ? (uint32_t)LP_WHOLE_TENSOR_BYTES : config->slot_bytes;
}

/* The bytes that a tile takes on its way, its flags with it. */
static inline uint32_t lp_bytes_on_way(const struct lp_config *config, uint32_t bytes)
{
    enum { LINE = 128, PAYLOAD = 120 };
    const uint32_t least = bytes > config->min_way_bytes ? bytes : config->min_way_bytes;
    if (config->protocol == LP_SIMPLE)
        return least;
    if (config->protocol == LP_LL128)
        return (least + PAYLOAD - 1) / PAYLOAD * LINE;
    return least << (config->protocol == LP_LL &&
                     (config->ll_max_tile_bytes == 0 || bytes <= config->ll_max_tile_bytes));
}

/* Coarse tiles (lp/QUEUES.md): what kernels move at a time, and how many tiles it costs. */
static inline bool lp_is_coarse(const struct lp_config *config)
{
    return __builtin_expect(config->coarse > 1, 0);
}
static inline uint32_t lp_coarse(const struct lp_config *config)
{
    return config->coarse > 1 ? config->coarse : 1;
}
static inline uint32_t lp_move_bytes(const struct lp_config *config)
{
    return lp_tile_bytes(config) * lp_coarse(config);
}
/* Kernels keep as many coarse tiles in a TCM as they would keep tiles: addresses reach so far. */
static inline uint64_t lp_tcm_bytes(const struct hw_config *hw, const struct lp_config *config)
{
    return hw->tcm_bytes * lp_coarse(config);
}

#endif
