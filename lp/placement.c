/*
 * placement.c: which worker has which LP, and the lookahead between workers (placement.h): the
 * least over all links and credit paths that cross from one to the other (20-hardware.md: an event
 * that carries a transfer on is sent with a delay of at least its link's flight time plus the
 * next node's overhead).
 */
#include "lp/placement.h"

struct place {
    const struct lp_model *m;
    uint32_t workers;
    const uint32_t *lp_worker;
    int64_t *least_ps;
};

/* LP `from` may send to LP `to` with that delay. */
static void allow(const struct place *p, uint32_t from, uint32_t to, int64_t delay_ps)
{
    int64_t *const least = &p->least_ps[(size_t)p->lp_worker[from] * p->workers + p->lp_worker[to]];
    *least = delay_ps < *least ? delay_ps : *least;
}

static int64_t hop_ps(const struct lp_model *m, enum hw_link_kind link, enum hw_node_kind node)
{
    return m->hw.link[link].prop_ps + m->hw.overhead_ps[node];
}

static void allow_cube(const struct place *p, uint32_t sip, uint32_t cube)
{
    const struct lp_model *m = p->m;
    const uint32_t lp = lp_of_cube(m, sip, cube), die = lp_of_io_die(m, sip);
    for (enum hw_port port = 0; port < HW_PORTS; port++) {
        uint32_t to;
        if (hw_cube_neighbour(&m->hw, cube, port, &to)) {
            allow(p, lp, lp_of_cube(m, sip, to), hop_ps(m, HW_LINK_UCIE, HW_NODE_UCIE_PORT));
        } else {
            allow(p, lp, die, hop_ps(m, HW_LINK_UCIE, HW_NODE_IO_PORT));
            allow(p, die, lp, hop_ps(m, HW_LINK_UCIE, HW_NODE_UCIE_PORT));
        }
    }
    for (uint32_t pe = 0; pe < m->pes; pe++)
        for (enum hw_dir dir = 0; dir <= HW_DIR_PEER; dir++) {
            const uint32_t index = hw_pe_index(&m->hw, (struct hw_place){sip, cube, pe});
            uint32_t peer;
            enum hw_dir peer_dir;
            if (!lp_queue_peer(m, index, dir, &peer, &peer_dir))
                continue;
            const struct hw_place to = hw_place_of(&m->hw, peer);
            allow(p, lp, lp_of_cube(m, to.sip, to.cube), lp_credit_ps(m, index, dir));
        }
}

static void allow_io_die(const struct place *p, uint32_t sip)
{
    const struct lp_model *m = p->m;
    const uint32_t die = lp_of_io_die(m, sip);
    allow(p, die, 0, hop_ps(m, HW_LINK_PCIE, HW_NODE_HOST));
    for (enum hw_port port = 0; port < HW_PORTS; port++) {
        const enum hw_link_kind link = hw_route_outer_link(&m->hw, port);
        uint32_t to;
        if (hw_route_through_switch(&m->hw, port)) {
            const uint32_t hub =
                m->first_switch + (m->hw.sip_topology == HW_PAIR_SWITCH ? sip & 1 : 0);
            allow(p, die, hub, hop_ps(m, link, HW_NODE_SWITCH));
            allow(p, hub, die, hop_ps(m, link, HW_NODE_IO_PORT));
        } else if (hw_sip_neighbour(&m->hw, sip, port, &to)) {
            allow(p, die, lp_of_io_die(m, to), hop_ps(m, link, HW_NODE_IO_PORT));
        }
    }
    if (m->hw.sip_topology == HW_PAIR_SWITCH && (sip ^ 1) < m->hw.sip_count)
        allow(p, die, lp_of_io_die(m, sip ^ 1), hop_ps(m, HW_LINK_SIO, HW_NODE_IO_PORT));
}

void lp_place(const struct lp_model *m, uint32_t workers, const uint32_t *cube_worker,
              uint32_t *lp_worker, int64_t *least_delay_ps)
{
    const struct place p = {m, workers, lp_worker, least_delay_ps};
    lp_worker[0] = 0;
    for (uint32_t i = 0; i < m->hw.sip_count * m->cubes; i++)
        lp_worker[1 + i] = cube_worker[i];
    for (uint32_t sip = 0; sip < m->hw.sip_count; sip++)
        lp_worker[lp_of_io_die(m, sip)] = cube_worker[sip * m->cubes];
    for (uint32_t i = 0; i < m->switch_count; i++)
        lp_worker[m->first_switch + i] = i % workers;
    for (size_t i = 0; i < (size_t)workers * workers; i++)
        least_delay_ps[i] = i / workers == i % workers ? 0 : CW_TIME_MAX;
    for (uint32_t sip = 0; sip < m->hw.sip_count; sip++) {
        allow_io_die(&p, sip);
        for (uint32_t cube = 0; cube < m->cubes; cube++)
            allow_cube(&p, sip, cube);
    }
    for (uint32_t w = 0; w < workers; w++) /* one's own LPs are promised nothing */
        least_delay_ps[(size_t)w * workers + w] = 0;
}
