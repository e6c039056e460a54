/*
 * queue_ends.c: install plans (queue_ends.h): the other end of a queue, the latency of its credits,
 * and its receive ring (lp/QUEUES.md, "Queue pair"; hw/HARDWARE.md, "Routing"). The machine's own
 * queues follow from coordinates and from a table for the PEs of one SIP, which all SIPs share. A
 * logical topology brings a table of its own (logical_wiring.h). Queues that lp_plan_join() has
 * joined are in a map of their own. Made by the host; const while the engine runs; any thread
 * reads.
 */
#include "lp/queues/queue_ends.h"

#include <Judy.h>
#include <stdlib.h>
#include <string.h>

#include "hw/phys_addr.h"

struct lp_plan {
    struct hw_config hw;
    uint32_t cubes, pes; /* per SIP, per cube */
    struct hw_divisor by_sip_pes;
    bool wire_all_pes;
    struct lp_config queues;
    uint32_t pair[2];
    const struct lp_wiring *wiring;
    struct hw_fold *fold; /* NULL: none */
    /* Of the machine's own queues, alike in all SIPs; NULL with a logical topology. */
    int64_t *credit_ps;     /* [cube][pe][dir]: T(path to the sender's PE_DMA, credit) */
    int64_t *sip_credit_ps; /* [PE][global direction]: the same, where SIPs differ; or NULL. PEs of
                               a folded machine are those of representatives */
    uint8_t *ring_index;    /* [cube][pe][dir]: place of the receive ring among the PE's rings */
    uint32_t *peer;         /* [cube][pe][dir]: the other end's [cube][pe], UINT32_MAX: none; of a
                               direction between SIPs it is the PE's own */
    uint32_t rings_max;     /* most receive rings that one PE has */
    int64_t least_credit_ps[HW_PORTS]; /* the least of each global direction, from any PE; if SIPs
                                          are alike */
    int64_t pair_credit_ps[2];         /* of direction `peer`, by the end in `pair` */
    void *laid; /* JudyL: end_key() -> struct laid_end *; the entries that lp_plan_join() changed */
    struct layers *layers; /* of a plan composed of others; NULL: it is none, as all above says */
};

/* One of the plans that a plan is composed of, on its SIPs. */
struct part {
    const struct lp_plan *plan;
    struct lp_dirs dirs;
    uint8_t own[HW_DIRS_MAX]; /* [PE's direction]: the plan's own */
    uint32_t layer, kind;
};

/* Parts that share no SIP. A PE has the directions of its SIP's part in each layer. */
struct layer {
    uint32_t *part_of_sip; /* [SIP]: 1 + the part; 0: none */
    uint32_t first, width; /* directions */
    uint32_t rings_before, rings_max;
};

struct layers {
    uint32_t count, part_count;
    uint32_t laid;               /* layers whose directions have been given out: they do not grow */
    uint8_t of_dir[HW_DIRS_MAX]; /* the layer */
    struct layer at[HW_DIRS_MAX + 1]; /* the last stays empty */
    struct part **part;               /* [part_count] */
};

/* An end of a queue that lp_plan_join() has joined or taken away. */
struct laid_end {
    uint32_t peer; /* UINT32_MAX: the queue was taken away */
    enum hw_dir peer_dir;
    int64_t credit_ps;
};

static Word_t end_key(uint32_t pe_index, enum hw_dir dir)
{
    return (Word_t)pe_index * HW_DIRS_MAX + (Word_t)dir;
}

/* The end, if lp_plan_join() has changed it; otherwise NULL, and the rest of the plan applies. */
static const struct laid_end *laid_end_of(const struct lp_plan *plan, uint32_t pe_index,
                                          enum hw_dir dir)
{
    if (__builtin_expect(plan->laid == NULL, 1))
        return NULL;
    void **const at = JudyLGet(plan->laid, end_key(pe_index, dir), PJE0);
    return at != NULL ? *at : NULL;
}

static bool has_pair(const struct lp_plan *plan) { return plan->pair[0] != plan->pair[1]; }

/* The direction `peer` of a point-to-point bench, in addition to all others. */
static bool is_of_pair(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir)
{
    return dir == HW_DIR_PEER && has_pair(plan) &&
           (pe_index == plan->pair[0] || pe_index == plan->pair[1]);
}

static bool is_between_sips(enum hw_dir dir)
{
    return dir >= HW_DIR_GLOBAL_N && dir <= HW_DIR_GLOBAL_W;
}

/* The part that has a PE in a layer; NULL: none has. */
static const struct part *part_in(const struct lp_plan *plan, const struct layer *layer,
                                  uint32_t pe_index)
{
    const uint32_t part = layer->part_of_sip[hw_divide(pe_index, &plan->by_sip_pes)];
    return part > 0 ? plan->layers->part[part - 1] : NULL;
}

/* The part that a PE's direction belongs to, and the part's own direction; NULL: there is none. */
static const struct part *part_of(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir,
                                  enum hw_dir *own)
{
    const struct layers *const layers = plan->layers;
    if ((unsigned)dir >= HW_DIRS_MAX || layers->of_dir[dir] >= layers->count)
        return NULL;
    const struct part *const part = part_in(plan, &layers->at[layers->of_dir[dir]], pe_index);
    if (part == NULL || part->own[dir] >= HW_DIRS_MAX)
        return NULL;
    *own = (enum hw_dir)part->own[dir];
    return part;
}

/* The part of this kind in a layer that has two SIPs; NULL: none has. */
static const struct part *joins(const struct lp_plan *plan, const struct layer *layer,
                                uint32_t kind, uint32_t sip_a, uint32_t sip_b)
{
    const uint32_t part = layer->part_of_sip != NULL ? layer->part_of_sip[sip_a] : 0;
    return part > 0 && layer->part_of_sip[sip_b] == part &&
                   plan->layers->part[part - 1]->kind == kind
               ? plan->layers->part[part - 1]
               : NULL;
}

/* Whose directions the peer of a part's PE has. On a folded machine a peer that has no LP is its
 * representative, and the part there is the one that the part becomes. NULL: none is that. */
static const struct part *part_there(const struct lp_plan *plan, const struct part *part,
                                     uint32_t pe_index, uint32_t peer)
{
    if (plan->fold == NULL)
        return part;
    const uint32_t sip = hw_divide(pe_index, &plan->by_sip_pes),
                   there = hw_divide(peer, &plan->by_sip_pes);
    const uint32_t home = hw_fold_representative(plan->fold, there);
    if (home == there)
        return part;
    const uint32_t moved = hw_fold_moved(plan->fold, there, sip);
    const struct layers *const layers = plan->layers;
    const struct part *found = joins(plan, &layers->at[part->layer], part->kind, home, moved);
    for (uint32_t i = 0; found == NULL && i < layers->count; i++)
        found = joins(plan, &layers->at[i], part->kind, home, moved);
    return found;
}

static bool end_in_part(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir,
                        struct lp_wire *end)
{
    enum hw_dir own;
    const struct part *const part = part_of(plan, pe_index, dir, &own);
    if (part == NULL || !lp_queue_end(part->plan, pe_index, own, end))
        return false;
    const struct part *const there = part_there(plan, part, pe_index, end->peer);
    if (there == NULL)
        return false;
    end->peer_dir = there->dirs.of_pe[end->peer_dir];
    return true;
}

/* Where sip_credit_ps has a SIP's PEs. */
static size_t row_of_sip(const struct lp_plan *plan, uint32_t sip)
{
    const uint32_t row = plan->fold == NULL ? sip : hw_fold_index(plan->fold, sip);
    return (size_t)row * plan->by_sip_pes.value * HW_PORTS;
}

/* Of the machine's own queues. */
static bool own_end(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir,
                    struct lp_wire *end)
{
    if (dir >= HW_DIR_BUILT_IN)
        return false;
    const uint32_t sip_pes = plan->by_sip_pes.value;
    const uint32_t from = hw_divide(pe_index, &plan->by_sip_pes);
    uint32_t sip = from;
    const uint32_t at = (pe_index - sip * sip_pes) * HW_DIR_BUILT_IN + (uint32_t)dir;
    const uint32_t in_sip = plan->peer[at];
    const bool global = is_between_sips(dir);
    if (in_sip == UINT32_MAX ||
        (global && !hw_sip_neighbour(&plan->hw, sip, (enum hw_port)(dir & 3), &sip)))
        return false;
    end->peer = sip * sip_pes + in_sip;
    end->peer_dir = (uint8_t)(dir ^ 1);
    end->way = LP_WAY_BOTH;
    end->exit = (uint8_t)(global ? hw_route_global_exit(&plan->hw, from, dir) : HW_OUTLET_NONE);
    end->credit_ps = plan->sip_credit_ps != NULL && global
                         ? plan->sip_credit_ps[row_of_sip(plan, from) + in_sip * HW_PORTS +
                                               (uint32_t)(dir - HW_DIR_GLOBAL_N)]
                         : plan->credit_ps[at];
    return true;
}

bool lp_queue_end(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir,
                  struct lp_wire *end)
{
    if (plan->layers != NULL)
        return end_in_part(plan, pe_index, dir, end);
    const struct laid_end *const laid = laid_end_of(plan, pe_index, dir);
    if (laid != NULL) {
        *end = (struct lp_wire){.peer = laid->peer,
                                .peer_dir = (uint8_t)laid->peer_dir,
                                .exit = HW_OUTLET_NONE,
                                .credit_ps = laid->credit_ps};
        return laid->peer != UINT32_MAX;
    }
    if (is_of_pair(plan, pe_index, dir)) {
        const bool second = pe_index != plan->pair[0];
        *end = (struct lp_wire){.peer = plan->pair[!second],
                                .peer_dir = HW_DIR_PEER,
                                .exit = HW_OUTLET_NONE,
                                .credit_ps = plan->pair_credit_ps[second]};
        return true;
    }
    if (plan->wiring == NULL)
        return own_end(plan, pe_index, dir, end);
    const struct lp_wire *const wire = lp_wiring_at(plan->wiring, pe_index, dir);
    if (wire == NULL)
        return false;
    *end = *wire;
    return true;
}

bool lp_queue_peer(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir, uint32_t *peer,
                   enum hw_dir *peer_dir)
{
    struct lp_wire end;
    if (!lp_queue_end(plan, pe_index, dir, &end))
        return false;
    *peer = end.peer;
    *peer_dir = (enum hw_dir)end.peer_dir;
    return true;
}

bool lp_queue_goes(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir, bool sending)
{
    if (plan->layers != NULL) {
        enum hw_dir own;
        const struct part *const part = part_of(plan, pe_index, dir, &own);
        return part != NULL && lp_queue_goes(part->plan, pe_index, own, sending);
    }
    if (plan->wiring == NULL || is_of_pair(plan, pe_index, dir))
        return true;
    if (laid_end_of(plan, pe_index, dir) != NULL)
        return true;
    const struct lp_wire *const wire = lp_wiring_at(plan->wiring, pe_index, dir);
    return wire != NULL && wire->way != (sending ? LP_WAY_IN : LP_WAY_OUT);
}

const char *lp_dir_name(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir)
{
    if (plan != NULL && plan->layers != NULL) {
        enum hw_dir own;
        const struct part *const part = part_of(plan, pe_index, dir, &own);
        return part != NULL ? lp_dir_name(part->plan, pe_index, own) : "none";
    }
    if (plan == NULL || plan->wiring == NULL || is_of_pair(plan, pe_index, dir))
        return hw_dir_name(dir);
    const char *const name = lp_wiring_name(plan->wiring, pe_index, dir);
    return name != NULL ? name : hw_dir_name(dir);
}

enum hw_dir lp_dir_named(const struct lp_plan *plan, uint32_t pe_index, uint16_t installed,
                         const char *name)
{
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++)
        if ((installed >> dir & 1) != 0 && strcmp(lp_dir_name(plan, pe_index, dir), name) == 0)
            return dir;
    return HW_DIRS_MAX;
}

uint32_t lp_plan_ranks(const struct lp_plan *plan)
{
    uint32_t most = 0;
    for (uint32_t i = 0; plan->layers != NULL && i < plan->layers->part_count; i++) {
        const uint32_t ranks = lp_plan_ranks(plan->layers->part[i]->plan);
        most = ranks > most ? ranks : most;
    }
    if (plan->layers != NULL)
        return most;
    return plan->wiring != NULL ? lp_wiring_ranks(plan->wiring) : 0;
}

bool lp_is_wired(const struct lp_plan *plan, uint32_t pe_index)
{
    for (uint32_t i = 0; plan->layers != NULL && i < plan->layers->count; i++) {
        const struct part *const part = part_in(plan, &plan->layers->at[i], pe_index);
        if (part != NULL && lp_is_wired(part->plan, pe_index))
            return true;
    }
    if (plan->layers != NULL)
        return false;
    const bool by_plan = plan->wire_all_pes || pe_index % plan->pes == 0;
    if (plan->wiring == NULL)
        return by_plan;
    return lp_wiring_wires(plan->wiring, pe_index, by_plan) ||
           is_of_pair(plan, pe_index, HW_DIR_PEER);
}

/* A part's own directions as a PE's. */
static uint16_t in_pe(const struct part *part, uint16_t own)
{
    uint16_t directions = 0;
    for (uint32_t left = own & part->dirs.mask_own; left != 0; left &= left - 1)
        directions |= (uint16_t)(1u << part->dirs.of_pe[__builtin_ctz(left)]);
    return directions;
}

static uint16_t directions_of_parts(const struct lp_plan *plan, uint32_t pe_index)
{
    uint16_t directions = 0;
    for (uint32_t i = 0; i < plan->layers->count; i++) {
        const struct part *const part = part_in(plan, &plan->layers->at[i], pe_index);
        if (part != NULL && lp_is_wired(part->plan, pe_index))
            directions |= in_pe(part, lp_directions(part->plan, pe_index));
    }
    return directions;
}

/* Of the machine's own queues, as own_end() has them. */
static uint16_t own_directions(const struct lp_plan *plan, uint32_t pe_index)
{
    const uint32_t sip = hw_divide(pe_index, &plan->by_sip_pes);
    const uint32_t *const peer =
        &plan->peer[(pe_index - sip * plan->by_sip_pes.value) * HW_DIR_BUILT_IN];
    uint16_t directions = 0;
    for (enum hw_dir dir = 0; dir < HW_DIR_BUILT_IN; dir++) {
        uint32_t to;
        if (peer[dir] == UINT32_MAX ||
            (dir >= HW_DIR_INTRA_N && dir <= HW_DIR_INTRA_W && !plan->wire_all_pes) ||
            (is_between_sips(dir) &&
             !hw_sip_neighbour(&plan->hw, sip, (enum hw_port)(dir & 3), &to)))
            continue;
        directions |= (uint16_t)(1u << dir);
    }
    return directions;
}

uint16_t lp_directions(const struct lp_plan *plan, uint32_t pe_index)
{
    if (plan->layers != NULL)
        return directions_of_parts(plan, pe_index);
    uint16_t directions = plan->wiring != NULL ? lp_wiring_directions_of(plan->wiring, pe_index)
                                               : own_directions(plan, pe_index);
    if (is_of_pair(plan, pe_index, HW_DIR_PEER))
        directions |= 1u << HW_DIR_PEER;
    /* lp_plan_join() joins ends of directions that are there, and takes others away. */
    for (uint32_t left = plan->laid != NULL ? directions : 0; left != 0; left &= left - 1) {
        const uint32_t dir = (uint32_t)__builtin_ctz(left);
        const struct laid_end *const laid = laid_end_of(plan, pe_index, (enum hw_dir)dir);
        if (laid != NULL && laid->peer == UINT32_MAX)
            directions &= (uint16_t) ~(1u << dir);
    }
    return directions;
}

int64_t lp_credit_ps(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir)
{
    struct lp_wire end;
    return lp_queue_end(plan, pe_index, dir, &end) ? end.credit_ps : 0;
}

/* ---- receive rings --------------------------------------------------------------------------- */

/* A ring's place among the rings of its PE. The ring of direction `peer` comes last. */
static uint32_t ring_index(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir)
{
    const struct lp_wiring *const wiring = plan->wiring;
    if (wiring != NULL)
        return lp_wiring_rings(wiring, pe_index,
                               is_of_pair(plan, pe_index, dir) ? HW_DIRS_MAX : dir);
    return plan
        ->ring_index[hw_remainder(pe_index, &plan->by_sip_pes) * HW_DIRS_MAX + (uint32_t)dir];
}

/* Rings of its PE from a memory's start to a ring; from a ring's start to the end of a TCM. */
struct ring_place {
    uint32_t from_start, to_end;
};

/* A part has room of its own for its rings, in a TCM below that of the parts before it. */
static struct ring_place ring_place(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir)
{
    enum hw_dir own = dir;
    const struct part *part = NULL;
    if (plan->layers != NULL && (part = part_of(plan, pe_index, dir, &own)) == NULL)
        return (struct ring_place){0, plan->rings_max};
    const struct lp_plan *const of = part != NULL ? part->plan : plan;
    const uint32_t before = part != NULL ? plan->layers->at[part->layer].rings_before : 0;
    const uint32_t index = ring_index(of, pe_index, own);
    return (struct ring_place){before + index, before + of->rings_max - index};
}

struct lp_ring_area lp_plan_rings(const struct lp_plan *plan)
{
    const uint64_t bytes =
        (uint64_t)plan->rings_max * plan->queues.n_slots * plan->queues.slot_bytes;
    if (plan->queues.slots == HW_MEMORY_TCM)
        return (struct lp_ring_area){lp_tcm_bytes(&plan->hw, &plan->queues) - bytes,
                                     lp_tcm_bytes(&plan->hw, &plan->queues)};
    return (struct lp_ring_area){0,
                                 plan->queues.slots == HW_MEMORY_SRAM ? plan->pes * bytes : bytes};
}

/* The PE whose rings a PE has: of a folded plan of several, its representative. */
static uint32_t at_home(const struct lp_plan *plan, uint32_t pe_index)
{
    if (plan->layers == NULL || plan->fold == NULL)
        return pe_index;
    const uint32_t sip = hw_divide(pe_index, &plan->by_sip_pes);
    return pe_index - (sip - hw_fold_representative(plan->fold, sip)) * plan->by_sip_pes.value;
}

struct lp_endpoint lp_endpoint_of(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir)
{
    const struct hw_place place = hw_place_of(&plan->hw, pe_index);
    const uint32_t ring = plan->queues.n_slots * plan->queues.slot_bytes;
    const struct ring_place at = ring_place(plan, at_home(plan, pe_index), dir);
    struct lp_endpoint endpoint = {.place = place,
                                   .buffer_kind = plan->queues.slots,
                                   .n_slots = plan->queues.n_slots,
                                   .slot_size = plan->queues.slot_bytes};
    const bool sram = plan->queues.slots == HW_MEMORY_SRAM;
    if (plan->queues.slots == HW_MEMORY_TCM)
        endpoint.rx_base_offset =
            (uint32_t)lp_tcm_bytes(&plan->hw, &plan->queues) - at.to_end * ring;
    else
        endpoint.rx_base_offset = ((sram ? place.pe * plan->rings_max : 0) + at.from_start) * ring;
    struct hw_phys_addr address = {plan->queues.slots, place, endpoint.rx_base_offset};
    address.place.pe = sram ? 0 : place.pe;
    address.place.sip %= 1u << HW_PA_SIP_BITS;          /* of a folded machine that has more */
    (void)hw_pa_encode(&address, &endpoint.rx_base_pa); /* the loader has checked its limits */
    if (sram)
        endpoint.rx_base_va = tl_sram_va(endpoint.rx_base_offset);
    return endpoint;
}

struct lp_operand lp_slot_of(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir,
                             uint32_t seq)
{
    static const uint8_t space[] = {[HW_MEMORY_TCM] = LP_SPACE_TCM,
                                    [HW_MEMORY_HBM] = LP_SPACE_HBM,
                                    [HW_MEMORY_SRAM] = LP_SPACE_SRAM};
    const struct lp_endpoint ring = lp_endpoint_of(plan, pe_index, dir);
    return (struct lp_operand){.space = space[ring.buffer_kind],
                               .at = ring.rx_base_offset + seq % ring.n_slots * ring.slot_size};
}

/* ---- tables of the machine's own queues ------------------------------------------------------ */

/* 0: the place has no such direction. */
static int64_t credit_from(const struct lp_plan *plan, struct hw_place from, enum hw_dir dir)
{
    struct hw_place to;
    if (!hw_dir_neighbour(&plan->hw, from, dir, &to))
        return 0;
    return hw_path_ps(&plan->hw, from, to, HW_MEMORY_NONE,
                      is_between_sips(dir) ? hw_route_global_exit(&plan->hw, from.sip, dir)
                                           : HW_OUTLET_NONE,
                      (uint32_t)dir ^ 1, plan->queues.credit_bytes);
}

/* Asks the first SIP that has the direction, which on open lines need not be SIP 0. A credit takes
 * the same time in all that have it, unless the neighbours of some are further away: then
 * sip_credit_ps has the time of each. */
static int64_t credit_latency(const struct lp_plan *plan, uint32_t cube, uint32_t pe,
                              enum hw_dir dir)
{
    int64_t ps = 0;
    const bool differs =
        is_between_sips(dir) &&
        (plan->hw.sip_topology->lines == HW_SIP_LINES_OPEN || plan->hw.sip_topology->is_irregular);
    for (uint32_t sip = 0; sip < (differs ? plan->hw.sip_count : 1) && ps == 0; sip++)
        ps = credit_from(plan, (struct hw_place){sip, cube, pe}, dir);
    return ps;
}

/* Neighbours in the global directions may be several links apart, more in one SIP than in another,
 * where SIPs are more than a grid (hw/topology/sip_dims.h), or irregular. */
static bool compute_sip_credits(struct lp_plan *plan)
{
    const uint32_t sip_pes = plan->by_sip_pes.value;
    const uint32_t sips = plan->fold == NULL ? plan->hw.sip_count : plan->fold->sips;
    if (plan->hw.sip_dims.count < 2 && !plan->hw.sip_topology->is_irregular)
        return true;
    plan->sip_credit_ps = calloc((size_t)sips * sip_pes * HW_PORTS, sizeof *plan->sip_credit_ps);
    int64_t *next = plan->sip_credit_ps;
    for (uint32_t row = 0; next != NULL && row < sips; row++) {
        const uint32_t sip = plan->fold == NULL ? row : hw_fold_sip(plan->fold, row);
        for (uint32_t i = 0; i < sip_pes * HW_PORTS; i++)
            *next++ = credit_from(plan, hw_place_of(&plan->hw, sip * sip_pes + i / HW_PORTS),
                                  (enum hw_dir)(HW_DIR_GLOBAL_N + i % HW_PORTS));
    }
    return plan->sip_credit_ps != NULL;
}

static int64_t lesser_ps(int64_t a, int64_t b) { return a < b ? a : b; }

static void find_least_credits(struct lp_plan *plan)
{
    for (enum hw_port port = 0; port < HW_PORTS; port++) {
        const uint32_t dir = (uint32_t)HW_DIR_GLOBAL_N + port;
        plan->least_credit_ps[port] = CW_TIME_MAX;
        for (uint32_t pe = 0; pe < plan->cubes * plan->pes; pe++)
            plan->least_credit_ps[port] = lesser_ps(
                plan->least_credit_ps[port], plan->credit_ps[(size_t)pe * HW_DIR_BUILT_IN + dir]);
    }
}

static bool compute_credits(struct lp_plan *plan)
{
    plan->credit_ps =
        calloc((size_t)plan->cubes * plan->pes * HW_DIR_BUILT_IN, sizeof *plan->credit_ps);
    if (plan->credit_ps == NULL)
        return false;
    int64_t *out = plan->credit_ps;
    for (uint32_t cube = 0; cube < plan->cubes; cube++)
        for (uint32_t pe = 0; pe < plan->pes; pe++)
            for (enum hw_dir dir = 0; dir < HW_DIR_BUILT_IN; dir++)
                *out++ = credit_latency(plan, cube, pe, dir);
    find_least_credits(plan);
    return true;
}

/* The neighbours inside a SIP, which all SIPs share. */
static bool find_peers(struct lp_plan *plan)
{
    const uint32_t sip_pes = plan->cubes * plan->pes;
    plan->peer = calloc((size_t)sip_pes * HW_DIR_BUILT_IN, sizeof *plan->peer);
    if (plan->peer == NULL)
        return false;
    for (uint32_t i = 0; i < sip_pes; i++)
        for (enum hw_dir dir = 0; dir < HW_DIR_BUILT_IN; dir++) {
            struct hw_place to = hw_place_of(&plan->hw, i);
            const bool found = is_between_sips(dir) ||
                               hw_dir_neighbour(&plan->hw, hw_place_of(&plan->hw, i), dir, &to);
            plan->peer[i * HW_DIR_BUILT_IN + dir] = found ? hw_pe_index(&plan->hw, to) : UINT32_MAX;
        }
    return true;
}

/*
 * Receive rings are placed one after the other, in the order of their directions: at the start of
 * an HBM slice, at the end of a TCM, PE by PE in an SRAM. A direction has its place in every SIP if
 * it exists in one.
 */
static bool place_rings(struct lp_plan *plan)
{
    plan->ring_index = calloc((size_t)plan->cubes * plan->pes * HW_DIRS_MAX, 1);
    if (plan->ring_index == NULL)
        return false;
    for (uint32_t i = 0; i < plan->cubes * plan->pes; i++) {
        uint8_t next = 0;
        for (enum hw_dir dir = 0; dir < HW_DIR_BUILT_IN; dir++) {
            const bool intra = dir >= HW_DIR_INTRA_N;
            plan->ring_index[i * HW_DIRS_MAX + dir] = next;
            next +=
                plan->credit_ps[i * HW_DIR_BUILT_IN + dir] > 0 && (plan->wire_all_pes || !intra);
        }
        plan->ring_index[i * HW_DIRS_MAX + HW_DIR_PEER] = next;
        next += has_pair(plan);
        plan->rings_max = next > plan->rings_max ? next : plan->rings_max;
    }
    return true;
}

static bool fill_plan(struct lp_plan *plan)
{
    const uint32_t *pair = plan->pair;
    for (int end = 0; end < 2 && has_pair(plan); end++)
        plan->pair_credit_ps[end] = hw_path_ps(
            &plan->hw, hw_place_of(&plan->hw, pair[end]), hw_place_of(&plan->hw, pair[!end]),
            HW_MEMORY_NONE, HW_OUTLET_NONE, HW_DIR_PEER, plan->queues.credit_bytes);
    if (plan->wiring == NULL)
        return find_peers(plan) && compute_credits(plan) && compute_sip_credits(plan) &&
               place_rings(plan);
    plan->rings_max = lp_wiring_rings_max(plan->wiring) + has_pair(plan);
    return true;
}

struct lp_plan *lp_plan_create(const struct lp_plan_request *request)
{
    struct lp_plan *const plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return NULL;
    *plan =
        (struct lp_plan){.hw = *request->hw,
                         .cubes = hw_cubes(request->hw),
                         .by_sip_pes = hw_divisor_of(hw_cubes(request->hw) * hw_pes(request->hw)),
                         .pes = hw_pes(request->hw),
                         .wire_all_pes = !request->pe0_alone,
                         .queues = *request->queues,
                         .pair = {request->pair[0], request->pair[1]},
                         .wiring = request->wiring};
    if (request->fold != NULL && (plan->fold = malloc(sizeof *plan->fold)) != NULL)
        *plan->fold = *request->fold;
    if ((request->fold == NULL || plan->fold != NULL) && fill_plan(plan))
        return plan;
    lp_plan_free(plan);
    return NULL;
}

static void free_layers(struct layers *layers)
{
    for (uint32_t i = 0; layers != NULL && i < HW_DIRS_MAX; i++)
        free(layers->at[i].part_of_sip);
    for (uint32_t i = 0; layers != NULL && i < layers->part_count; i++)
        free(layers->part[i]);
    if (layers != NULL)
        free(layers->part);
    free(layers);
}

void lp_plan_free(struct lp_plan *plan)
{
    if (plan == NULL)
        return;
    Word_t key = 0;
    for (void **end = JudyLFirst(plan->laid, &key, PJE0); end != NULL;
         end = JudyLNext(plan->laid, &key, PJE0))
        free(*end);
    JudyLFreeArray(&plan->laid, PJE0);
    free(plan->fold);
    free(plan->sip_credit_ps);
    free(plan->credit_ps);
    free(plan->ring_index);
    free(plan->peer);
    free_layers(plan->layers);
    free(plan);
}

const struct hw_config *lp_plan_hw(const struct lp_plan *plan) { return &plan->hw; }

bool lp_plan_stays_in_sip(const struct lp_plan *plan, enum hw_dir dir)
{
    return plan->layers == NULL && plan->wiring == NULL && plan->laid == NULL &&
           dir < HW_DIR_BUILT_IN && !is_between_sips(dir);
}

bool lp_plan_is_alike(const struct lp_plan *plan)
{
    return plan->layers == NULL && plan->wiring == NULL && plan->laid == NULL && !has_pair(plan);
}

int64_t lp_plan_least_credit_ps(const struct lp_plan *plan, uint32_t sip, enum hw_port port)
{
    if (plan->sip_credit_ps == NULL)
        return plan->least_credit_ps[port];
    const uint32_t sip_pes = plan->by_sip_pes.value;
    const int64_t *const ps = &plan->sip_credit_ps[row_of_sip(plan, sip) + port];
    int64_t least_ps = CW_TIME_MAX;
    for (uint32_t pe = 0; pe < sip_pes; pe++)
        least_ps = lesser_ps(least_ps, ps[(size_t)pe * HW_PORTS]);
    return least_ps;
}

/* ---- plans of several plans ------------------------------------------------------------------ */

/* The directions that any PE of a part has, by its own plan. */
static uint16_t directions_of(const struct lp_plan_part *part)
{
    const struct lp_plan *const plan = part->plan;
    uint16_t directions = 0;
    if (plan->wiring != NULL && !has_pair(plan) && plan->laid == NULL)
        return lp_wiring_directions(plan->wiring);
    const uint32_t sip_pes = plan->by_sip_pes.value;
    const uint32_t sips = plan->fold == NULL ? plan->hw.sip_count : plan->fold->sips;
    for (uint32_t i = 0; i < sips * sip_pes; i++) {
        const uint32_t sip = i / sip_pes;
        const uint32_t pe =
            (plan->fold == NULL ? sip : hw_fold_sip(plan->fold, sip)) * sip_pes + i % sip_pes;
        if (lp_is_wired(plan, pe))
            directions |= lp_directions(plan, pe);
    }
    return directions;
}

static bool has_room(const struct layer *layer, const struct lp_plan_part *part)
{
    for (uint32_t i = 0; i < part->sip_count; i++)
        if (layer->part_of_sip[part->sip != NULL ? part->sip[i] : i] != 0)
            return false;
    return true;
}

/* The part's directions and rings have room in the layer. */
static bool suits(const struct layers *layers, uint32_t layer, const struct lp_plan_part *part,
                  uint32_t width)
{
    const struct layer *const at = &layers->at[layer];
    return has_room(at, part) && (layer >= layers->laid ||
                                  (width <= at->width && part->plan->rings_max <= at->rings_max));
}

/* The first layer that suits a part: it may be the next one. */
static uint32_t layer_for(const struct layers *layers, const struct lp_plan_part *part,
                          uint32_t width)
{
    uint32_t i = 0;
    while (i < layers->count && !suits(layers, i, part, width))
        i++;
    return i;
}

/* Gives the part's directions the next numbers of its layer, in their order. */
static void name_directions(struct part *part, uint32_t first)
{
    memset(part->dirs.of_pe, HW_DIRS_MAX, sizeof part->dirs.of_pe);
    memset(part->own, HW_DIRS_MAX, sizeof part->own);
    for (uint32_t left = part->dirs.mask_own; left != 0; left &= left - 1) {
        const uint32_t dir = (uint32_t)__builtin_ctz(left);
        part->dirs.of_pe[dir] = (uint8_t)first;
        part->dirs.mask |= (uint16_t)(1u << first);
        part->own[first++] = (uint8_t)dir;
    }
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* The receive rings that a PE may have in their memory. */
static uint64_t rings_of_memory(const struct lp_plan *plan)
{
    const uint64_t ring = (uint64_t)plan->queues.n_slots * plan->queues.slot_bytes;
    return (plan->queues.slots == HW_MEMORY_TCM   ? plan->hw.tcm_bytes
            : plan->queues.slots == HW_MEMORY_HBM ? plan->hw.hbm_bytes
                                                  : plan->hw.sram_bytes / plan->pes) /
           ring;
}

/* Puts a part into a layer; one without directions, such as a lone rank's, has no place in it.
 * CW_USAGE: it has no room; CW_NO_RESOURCE. */
static int put_part(struct lp_plan *plan, const struct lp_plan_part *given)
{
    struct layers *const layers = plan->layers;
    const uint16_t own = directions_of(given);
    const uint32_t wanted = (uint32_t)__builtin_popcount(own),
                   number = wanted > 0 ? layer_for(layers, given, wanted) : 0;
    struct layer *const layer = &layers->at[number];
    uint32_t used = larger(layer->width, wanted),
             rings = larger(layer->rings_max, given->plan->rings_max);
    for (uint32_t i = 0; i < layers->count; i++) {
        used += i != number ? layers->at[i].width : 0;
        rings += i != number ? layers->at[i].rings_max : 0;
    }
    if (used > HW_DIRS_MAX || rings > rings_of_memory(plan))
        return CW_USAGE;
    struct part **const parts =
        realloc(layers->part, (layers->part_count + 1) * sizeof(struct part *));
    struct part *const part = calloc(1, sizeof *part);
    if (parts != NULL)
        layers->part = parts;
    if (wanted > 0 && layer->part_of_sip == NULL)
        layer->part_of_sip = calloc(plan->hw.sip_count, sizeof *layer->part_of_sip);
    if (parts == NULL || part == NULL || (wanted > 0 && layer->part_of_sip == NULL)) {
        free(part);
        return CW_NO_RESOURCE;
    }
    *part = (struct part){
        .plan = given->plan, .dirs.mask_own = own, .layer = number, .kind = given->kind};
    layers->part[layers->part_count++] = part;
    if (wanted == 0)
        return CW_OK;
    for (uint32_t i = 0; i < given->sip_count; i++)
        layer->part_of_sip[given->sip != NULL ? given->sip[i] : i] = layers->part_count;
    layer->width = larger(layer->width, wanted);
    layer->rings_max = larger(layer->rings_max, given->plan->rings_max);
    layers->count = larger(layers->count, number + 1);
    return CW_OK;
}

/* The parts from this one on are in their layers: where new layers' directions and rings begin. */
static void lay_layers(struct lp_plan *plan, uint32_t part)
{
    struct layers *const layers = plan->layers;
    const struct layer *const last = layers->laid > 0 ? &layers->at[layers->laid - 1] : NULL;
    uint32_t dirs = last != NULL ? last->first + last->width : 0;
    for (; layers->laid < layers->count; layers->laid++) {
        struct layer *const layer = &layers->at[layers->laid];
        layer->first = dirs;
        layer->rings_before = plan->rings_max;
        plan->rings_max += layer->rings_max;
        memset(layers->of_dir + dirs, (int)layers->laid, layer->width);
        dirs += layer->width;
    }
    for (; part < layers->part_count; part++)
        name_directions(layers->part[part], layers->at[layers->part[part]->layer].first);
}

struct lp_plan *lp_plan_create_composed(const struct lp_plan *like, const struct hw_fold *fold)
{
    struct lp_plan *const plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return NULL;
    *plan = (struct lp_plan){.hw = like->hw,
                             .cubes = like->cubes,
                             .pes = like->pes,
                             .by_sip_pes = like->by_sip_pes,
                             .queues = like->queues,
                             .fold = fold != NULL ? malloc(sizeof *fold) : NULL,
                             .layers = calloc(1, sizeof *plan->layers)};
    if (plan->layers == NULL || (fold != NULL && plan->fold == NULL)) {
        lp_plan_free(plan);
        return NULL;
    }
    if (fold != NULL)
        *plan->fold = *fold;
    memset(plan->layers->of_dir, HW_DIRS_MAX, sizeof plan->layers->of_dir);
    return plan;
}

int lp_plan_add(struct lp_plan *plan, const struct lp_plan_part *part, uint32_t count,
                uint32_t *fits)
{
    const uint32_t first = plan->layers->part_count;
    int code = CW_OK;
    for (*fits = 0; *fits < count && code == CW_OK; *fits += code == CW_OK)
        code = put_part(plan, &part[*fits]);
    if (code == CW_OK)
        lay_layers(plan, first);
    return code;
}

const struct lp_dirs *lp_plan_dirs(const struct lp_plan *plan, uint32_t part)
{
    return &plan->layers->part[part]->dirs;
}

/* ---- queues that lp_plan_join() lays --------------------------------------------------------- */

/* False: out of memory. */
static bool lay_end(struct lp_plan *plan, struct lp_end end, struct laid_end laid)
{
    void **const at = JudyLIns(&plan->laid, end_key(end.pe, end.dir), PJE0);
    if (at == NULL || at == PPJERR)
        return false;
    if (*at == NULL)
        *at = malloc(sizeof laid);
    if (*at == NULL)
        return false;
    *(struct laid_end *)*at = laid;
    return true;
}

/* Takes an end's queue away, at the other end too. */
static bool cut_queue(struct lp_plan *plan, struct lp_end end)
{
    const struct laid_end none = {.peer = UINT32_MAX, .peer_dir = HW_DIRS_MAX};
    struct lp_end other;
    if (!lp_queue_peer(plan, end.pe, end.dir, &other.pe, &other.dir))
        return true;
    return lay_end(plan, end, none) && lay_end(plan, other, none);
}

static bool point_end(struct lp_plan *plan, struct lp_end from, struct lp_end to)
{
    const struct hw_place here = hw_place_of(&plan->hw, from.pe),
                          there = hw_place_of(&plan->hw, to.pe);
    const struct laid_end laid = {to.pe, to.dir,
                                  hw_path_ps(&plan->hw, here, there, HW_MEMORY_NONE, HW_OUTLET_NONE,
                                             to.dir, plan->queues.credit_bytes)};
    return lay_end(plan, from, laid);
}

static bool has_end(const struct lp_plan *plan, struct lp_end end)
{
    return end.pe < hw_pe_count(&plan->hw) && (unsigned)end.dir < HW_DIRS_MAX &&
           lp_is_wired(plan, end.pe) && (lp_directions(plan, end.pe) >> end.dir & 1);
}

int lp_plan_join(struct lp_plan *plan, struct lp_end a, struct lp_end b, struct cw_error *error)
{
    if (!has_end(plan, a) || !has_end(plan, b) || a.pe == b.pe)
        return cw_error_set(error, CW_USAGE,
                            "a queue from direction %d of PE %u to direction %d of PE %u; legal: "
                            "directions that the plan gives two different PEs",
                            a.dir, a.pe, b.dir, b.pe);
    if (cut_queue(plan, a) && cut_queue(plan, b) && point_end(plan, a, b) && point_end(plan, b, a))
        return CW_OK;
    return cw_error_memory(error, "an install plan");
}
