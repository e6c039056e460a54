/*
 * queue_ends.c: the other end of a queue, the latency of its credits, and its receive ring
 * (lp/QUEUES.md, "Queue pair"; hw/HARDWARE.md, "Routing"). For the machine's own queues they follow
 * from coordinates and from a table for the PEs of one SIP, which all SIPs share. A logical
 * topology brings a table of its own (logical_wiring.h). Const while the engine runs; any thread
 * reads.
 */
#include "lp/queues/queue_ends.h"

#include <stdlib.h>
#include <string.h>

#include "hw/phys_addr.h"
#include "lp/queues/logical_wiring.h"

static bool has_pair(const struct lp_model *m) { return m->config.pair[0] != m->config.pair[1]; }

/* The direction `peer` of a point-to-point bench, beside all others. */
static bool is_of_pair(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir)
{
    return dir == HW_DIR_PEER && has_pair(m) &&
           (pe_index == m->config.pair[0] || pe_index == m->config.pair[1]);
}

static bool is_between_sips(enum hw_dir dir)
{
    return dir >= HW_DIR_GLOBAL_N && dir <= HW_DIR_GLOBAL_W;
}

bool lp_queue_peer(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir, uint32_t *peer,
                   enum hw_dir *peer_dir)
{
    if (is_of_pair(m, pe_index, dir)) {
        *peer = m->config.pair[pe_index == m->config.pair[0]];
        *peer_dir = HW_DIR_PEER;
        return true;
    }
    if (m->config.wiring != NULL) {
        const struct lp_wire *const wire = lp_wiring_at(m->config.wiring, pe_index, dir);
        if (wire == NULL)
            return false;
        *peer = wire->peer_rank * m->cubes * m->pes;
        *peer_dir = (enum hw_dir)wire->peer_dir;
        return true;
    }
    if (dir >= HW_DIR_BUILT_IN)
        return false;
    const uint32_t sip_pes = m->cubes * m->pes;
    uint32_t sip = pe_index / sip_pes;
    const uint32_t in_sip = m->queues.peer[(pe_index - sip * sip_pes) * HW_DIR_BUILT_IN + dir];
    if (in_sip == UINT32_MAX ||
        (is_between_sips(dir) && !hw_sip_neighbour(&m->hw, sip, (enum hw_port)(dir & 3), &sip)))
        return false;
    *peer = sip * sip_pes + in_sip;
    *peer_dir = (enum hw_dir)(dir ^ 1);
    return true;
}

enum hw_port lp_queue_exit(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir)
{
    if (!is_between_sips(dir))
        return HW_PORT_NONE;
    if (m->config.wiring != NULL) {
        const struct lp_wire *const wire = lp_wiring_at(m->config.wiring, pe_index, dir);
        if (wire == NULL || strcmp(wire->name, hw_dir_name(dir)) != 0)
            return HW_PORT_NONE;
    }
    return hw_route_global_exit(&m->hw, dir);
}

bool lp_queue_goes(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir, bool sending)
{
    if (m->config.wiring == NULL || is_of_pair(m, pe_index, dir))
        return true;
    const struct lp_wire *const wire = lp_wiring_at(m->config.wiring, pe_index, dir);
    return wire != NULL && wire->way != (sending ? LP_WAY_IN : LP_WAY_OUT);
}

const char *lp_dir_name(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir)
{
    if (m->config.wiring == NULL || is_of_pair(m, pe_index, dir))
        return hw_dir_name(dir);
    const struct lp_wire *const wire = lp_wiring_at(m->config.wiring, pe_index, dir);
    return wire != NULL ? wire->name : hw_dir_name(dir);
}

enum hw_dir lp_dir_named(const struct lp_model *m, uint32_t pe_index, const char *name)
{
    const uint16_t installed = lp_is_wired(m, pe_index) ? lp_directions(m, pe_index) : 0;
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++)
        if ((installed >> dir & 1) != 0 && strcmp(lp_dir_name(m, pe_index, dir), name) == 0)
            return dir;
    return HW_DIRS_MAX;
}

bool lp_is_wired(const struct lp_model *m, uint32_t pe_index)
{
    const struct lp_wiring *const wiring = m->config.wiring;
    if (wiring != NULL && pe_index / (m->cubes * m->pes) >= lp_wiring_ranks(wiring))
        return is_of_pair(m, pe_index, HW_DIR_PEER);
    return m->config.wire_all_pes || pe_index % m->pes == 0;
}

uint16_t lp_directions(const struct lp_model *m, uint32_t pe_index)
{
    const bool intra = m->config.wire_all_pes || m->config.wiring != NULL;
    uint16_t directions = 0;
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++) {
        uint32_t peer;
        enum hw_dir peer_dir;
        if (dir >= HW_DIR_INTRA_N && dir <= HW_DIR_INTRA_W && !intra)
            continue;
        if (lp_queue_peer(m, pe_index, dir, &peer, &peer_dir))
            directions |= (uint16_t)(1u << dir);
    }
    return directions;
}

int64_t lp_credit_ps(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir)
{
    if (is_of_pair(m, pe_index, dir))
        return m->queues.pair_credit_ps[pe_index == m->config.pair[1]];
    if (m->config.wiring != NULL)
        return lp_wiring_at(m->config.wiring, pe_index, dir)->credit_ps;
    return m->queues.credit_ps[pe_index % (m->cubes * m->pes) * HW_DIR_BUILT_IN + dir];
}

/* ---- receive rings --------------------------------------------------------------------------- */

/* A ring's place among the rings of its PE. The ring of direction `peer` comes last. */
static uint32_t ring_index(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir)
{
    const struct lp_wiring *const wiring = m->config.wiring;
    if (wiring != NULL)
        return lp_wiring_rings(wiring, pe_index, is_of_pair(m, pe_index, dir) ? HW_DIRS_MAX : dir);
    return m->queues.ring_index[pe_index % (m->cubes * m->pes) * HW_DIRS_MAX + (uint32_t)dir];
}

struct lp_endpoint lp_endpoint_of(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir)
{
    const struct hw_place place = hw_place_of(&m->hw, pe_index);
    const uint32_t ring = m->config.n_slots * m->config.slot_bytes;
    const uint32_t index = ring_index(m, pe_index, dir);
    struct lp_endpoint endpoint = {.place = place,
                                   .buffer_kind = m->config.slots,
                                   .n_slots = m->config.n_slots,
                                   .slot_size = m->config.slot_bytes};
    const bool sram = m->config.slots == HW_MEMORY_SRAM;
    if (m->config.slots == HW_MEMORY_TCM)
        endpoint.rx_base_offset = (uint32_t)m->hw.tcm_bytes - (m->queues.rings_max - index) * ring;
    else
        endpoint.rx_base_offset = ((sram ? place.pe * m->queues.rings_max : 0) + index) * ring;
    struct hw_phys_addr address = {m->config.slots, place, endpoint.rx_base_offset};
    address.place.pe = sram ? 0 : place.pe;
    (void)hw_pa_encode(&address, &endpoint.rx_base_pa); /* the loader keeps to its limits */
    return endpoint;
}

struct lp_operand lp_slot_of(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir,
                             uint32_t seq)
{
    static const uint8_t space[] = {[HW_MEMORY_TCM] = LP_SPACE_TCM,
                                    [HW_MEMORY_HBM] = LP_SPACE_HBM,
                                    [HW_MEMORY_SRAM] = LP_SPACE_SRAM};
    const struct lp_endpoint ring = lp_endpoint_of(m, pe_index, dir);
    return (struct lp_operand){.space = space[ring.buffer_kind],
                               .at = ring.rx_base_offset + seq % ring.n_slots * ring.slot_size};
}

/* ---- tables of the machine's own queues ------------------------------------------------------ */

/* A credit of direction `dir` takes the same time in every SIP that has the direction: asks the
 * first such SIP. */
static int64_t credit_latency(const struct lp_model *m, uint32_t cube, uint32_t pe, enum hw_dir dir)
{
    const bool global = is_between_sips(dir);
    for (uint32_t sip = 0; sip < (global ? m->hw.sip_count : 1); sip++) {
        const struct hw_place from = {sip, cube, pe};
        struct hw_place to;
        if (hw_dir_neighbour(&m->hw, from, dir, &to))
            return hw_path_ps(&m->hw, from, to, HW_MEMORY_NONE,
                              global ? hw_route_global_exit(&m->hw, dir) : HW_PORT_NONE,
                              m->config.credit_bytes);
    }
    return 0; /* no SIP has this direction */
}

static bool compute_credits(struct lp_model *m)
{
    m->queues.credit_ps =
        calloc((size_t)m->cubes * m->pes * HW_DIR_BUILT_IN, sizeof *m->queues.credit_ps);
    if (m->queues.credit_ps == NULL)
        return false;
    int64_t *out = m->queues.credit_ps;
    for (uint32_t cube = 0; cube < m->cubes; cube++)
        for (uint32_t pe = 0; pe < m->pes; pe++)
            for (enum hw_dir dir = 0; dir < HW_DIR_BUILT_IN; dir++)
                *out++ = credit_latency(m, cube, pe, dir);
    return true;
}

/* The neighbours inside a SIP, which all SIPs share. */
static bool find_peers(struct lp_model *m)
{
    const uint32_t sip_pes = m->cubes * m->pes;
    m->queues.peer = calloc((size_t)sip_pes * HW_DIR_BUILT_IN, sizeof *m->queues.peer);
    if (m->queues.peer == NULL)
        return false;
    for (uint32_t i = 0; i < sip_pes; i++)
        for (enum hw_dir dir = 0; dir < HW_DIR_BUILT_IN; dir++) {
            struct hw_place to = hw_place_of(&m->hw, i);
            const bool found =
                is_between_sips(dir) || hw_dir_neighbour(&m->hw, hw_place_of(&m->hw, i), dir, &to);
            m->queues.peer[i * HW_DIR_BUILT_IN + dir] =
                found ? hw_pe_index(&m->hw, to) : UINT32_MAX;
        }
    return true;
}

/*
 * Receive rings lie one after the other, in the order of their directions: at the start of an HBM
 * slice, at the end of a TCM, PE by PE in an SRAM. A direction has its place in every SIP if it
 * exists in one.
 */
static bool place_rings(struct lp_model *m)
{
    m->queues.ring_index = calloc((size_t)m->cubes * m->pes * HW_DIRS_MAX, 1);
    if (m->queues.ring_index == NULL)
        return false;
    for (uint32_t i = 0; i < m->cubes * m->pes; i++) {
        uint8_t next = 0;
        for (enum hw_dir dir = 0; dir < HW_DIR_BUILT_IN; dir++) {
            const bool intra = dir >= HW_DIR_INTRA_N;
            m->queues.ring_index[i * HW_DIRS_MAX + dir] = next;
            next += m->queues.credit_ps[i * HW_DIR_BUILT_IN + dir] > 0 &&
                    (m->config.wire_all_pes || !intra);
        }
        m->queues.ring_index[i * HW_DIRS_MAX + HW_DIR_PEER] = next;
        next += has_pair(m);
        m->queues.rings_max = next > m->queues.rings_max ? next : m->queues.rings_max;
    }
    return true;
}

bool lp_queues_init(struct lp_model *m)
{
    const uint32_t *pair = m->config.pair;
    for (int end = 0; end < 2 && has_pair(m); end++)
        m->queues.pair_credit_ps[end] =
            hw_path_ps(&m->hw, hw_place_of(&m->hw, pair[end]), hw_place_of(&m->hw, pair[!end]),
                       HW_MEMORY_NONE, HW_PORT_NONE, m->config.credit_bytes);
    if (m->config.wiring == NULL)
        return find_peers(m) && compute_credits(m) && place_rings(m);
    m->queues.rings_max = lp_wiring_rings_max(m->config.wiring) + has_pair(m);
    return true;
}

void lp_queues_free(struct lp_model *m)
{
    free(m->queues.credit_ps);
    free(m->queues.ring_index);
    free(m->queues.peer);
}
