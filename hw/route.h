/*
 * route.h: deterministic routing, hop by hop from coordinates (HARDWARE.md, "Routing"), and the
 * list of a whole path's nodes and links. NoC XY; cube mesh XY; SIP grid X then Y, the shorter
 * way round (ties: E, then S).
 *
 * lp/ follows the decisions (hw_route_*) event by event; hw_path_walk() strings the same decisions
 * together, for idle times, for `cubewarp topo`, and for tests that compare both.
 */
#ifndef HW_ROUTE_H
#define HW_ROUTE_H

#include "hw/structure.h"
#include "hw/topology/topology.h"

enum hw_memory { HW_MEMORY_TCM, HW_MEMORY_HBM, HW_MEMORY_SRAM, HW_MEMORY_NONE };
_Static_assert((int)HW_SLOT_MEMORIES == HW_MEMORY_NONE, "every memory may hold slots");

/*
 * The key of a route: which of several routes a topology has for a transfer (HARDWARE.md, "Routes
 * of graphs"). It is the same for all transfers from PE `src` to PE `dst` that have the same
 * `queue`: tiles and credits have the queue's direction at `dst`, all others HW_DIRS_MAX. So what
 * must not overtake each other takes one route: the credits of a queue, its tiles, the puts and
 * notifications from one PE to another.
 */
uint32_t hw_route_key_of(uint32_t src, uint32_t dst, uint32_t queue);
/* 0 where the topology has one route for all. */
static inline uint32_t hw_route_key(const struct hw_config *hw, uint32_t src, uint32_t dst,
                                    uint32_t queue)
{
    return hw->sip_topology->hashes ? hw_route_key_of(src, dst, queue) : 0;
}
/* The key from this stop on, where the transfer is now. */
static inline uint32_t hw_route_key_at(const struct hw_config *hw, uint32_t stop, uint32_t key)
{
    return hw->sip_topology->key_at == NULL ? key : hw->sip_topology->key_at(hw, stop, key);
}

/* Outlet by which a transfer at a stop leaves it towards `to_sip` (another stop). */
static inline uint32_t hw_route_exit(const struct hw_config *hw, uint32_t stop, uint32_t to_sip,
                                     uint32_t key)
{
    return hw->sip_topology->exit(hw, stop, to_sip, key);
}

/* The outlet that a queue of a global direction always uses; HW_OUTLET_NONE: as routed. */
static inline uint32_t hw_route_global_exit(const struct hw_config *hw, uint32_t sip,
                                            enum hw_dir dir)
{
    return hw->sip_topology->global_exit(hw, sip, (enum hw_port)((uint32_t)dir & 3));
}

/* The next SIP on the way from a stop to `to_sip`: at a switch, the SIP that it sends the transfer
 * to. */
static inline uint32_t hw_route_next_sip(const struct hw_config *hw, uint32_t stop, uint32_t outlet,
                                         uint32_t to_sip, uint32_t key)
{
    struct hw_hop hop = hw_hop(hw, stop, outlet);
    key = hw_route_key_at(hw, stop, key);
    while (hw_is_switch(hw, hop.to)) {
        key = hw_route_key_at(hw, hop.to, key);
        hop = hw_hop(hw, hop.to, hw_route_exit(hw, hop.to, to_sip, key));
    }
    return hop.to;
}

/* Port by which a transfer leaves cube `at` for cube `to` of the same SIP (another one). */
enum hw_port hw_route_cube(const struct hw_config *hw, uint32_t at, uint32_t to);

/* Port by which a transfer leaves cube `at` to reach the IO die's port `exit`. */
enum hw_port hw_route_cube_exit(const struct hw_config *hw, uint32_t at, enum hw_port exit);

/* Next step on the NoC from router `at` to router `to` (another one): X, then Y. */
enum hw_port hw_route_noc(const struct hw_config *hw, uint32_t at, uint32_t to, uint32_t *next);

/* One element of a path. Nodes alternate with links, a node first and last. */
struct hw_path_step {
    bool is_link;
    uint8_t kind;       /* enum hw_node_kind or enum hw_link_kind */
    uint32_t sip, cube; /* where it is, or where it starts; UINT32_MAX where meaningless */
    uint32_t index;     /* router, PE or slice number; for a switch, its number */
    enum hw_port port;  /* of ucie_port, io_port, ucie and outer links; the NoC link's step */
    uint32_t outlet;    /* of links outside SIPs: the SIP's; else HW_OUTLET_NONE, and so it is of
                           links between switches and of those that lead one way to a SIP */
    uint32_t exit;      /* of links that begin at a switch (index): its outlet */
};
typedef void (*hw_path_fn)(void *arg, const struct hw_path_step *step);

/*
 * Walks the path from PE_DMA of `from` to PE_DMA of `to` and, unless HW_MEMORY_NONE, on to that
 * memory (its own TCM or HBM slice, its cube's SRAM). `exit`: leave the first SIP by this outlet
 * (a connection that names a global direction), HW_OUTLET_NONE: as routed. `queue`: as in
 * hw_route_key(); of tiles and credits the queue's direction at `to`.
 */
void hw_path_walk(const struct hw_config *hw, struct hw_place from, struct hw_place to,
                  enum hw_memory memory, uint32_t exit, uint32_t queue, hw_path_fn visit,
                  void *arg);

/* T(path, bytes) of that path on an idle fabric, in ps. */
int64_t hw_path_ps(const struct hw_config *hw, struct hw_place from, struct hw_place to,
                   enum hw_memory memory, uint32_t exit, uint32_t queue, uint64_t bytes);

/* Slots in this memory have a cost of access of their own (HARDWARE.md, "Slot access"). */
static inline bool hw_has_slot_access(const struct hw_config *hw, enum hw_memory memory)
{
    return hw->slot_access[memory].rate.den > 0;
}

/* That cost, for a tile in a slot of PE `pe` of a cube: once for the write, once for the read. */
int64_t hw_slot_ps(const struct hw_config *hw, uint32_t pe, enum hw_memory memory, uint64_t bytes);

/* From the arrival of a notification to its visibility. */
static inline int64_t hw_notify_wire_ps(const struct hw_config *hw)
{
    return hw->ipcq_notify_wire_ps > 0 ? hw->ipcq_notify_wire_ps : hw->ipcq_wire_ps;
}

/* From the source's PE_DMA until a tile is in its slot, on an idle fabric. */
int64_t hw_tile_ps(const struct hw_config *hw, struct hw_place from, struct hw_place to,
                   enum hw_memory slots, uint32_t exit, uint32_t queue, uint64_t bytes);

#endif
