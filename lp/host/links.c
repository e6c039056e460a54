/*
 * links.c: see links.h. Reads the links in the LPs' states; names them by their place.
 */
#include "lp/host/links.h"

#include <stdio.h>

struct visit {
    const struct lp_model *m;
    uint32_t epoch;
    void (*fn)(void *arg, const struct lp_link_use *use);
    void *arg;
    char place[40]; /* "sip 3 cube 5" */
};

void lp_link_name(const struct lp_link_use *use, char *text, size_t bytes)
{
    char number[16] = "";
    if (use->number != UINT32_MAX)
        snprintf(number, sizeof number, "%u", use->number);
    snprintf(text, bytes, "%s %s %s%s%s", use->place, use->kind, use->detail, number, use->behind);
}

static void visit_server(const struct visit *v, const struct hw_link *link, struct hw_rate rate,
                         struct lp_link_use use)
{
    if (link->epoch != v->epoch || link->bytes == 0)
        return;
    use.place = v->place;
    use.bytes = link->bytes;
    use.busy_ps = hw_rate_ps(rate, link->bytes);
    use.queue_ps_max = link->queue_ps_max;
    v->fn(v->arg, &use);
}

static void visit_link(const struct visit *v, const struct hw_link *link, enum hw_link_kind kind,
                       const char *detail, uint32_t number)
{
    visit_server(v, link, v->m->hw.link[kind].rate,
                 (struct lp_link_use){
                     .kind = hw_link_name[kind], .detail = detail, .number = number, .behind = ""});
}

static void visit_ports(const struct visit *v, const struct hw_link *links, enum hw_link_kind kind,
                        const char *const detail[HW_PORTS])
{
    for (enum hw_port port = 0; port < HW_PORTS; port++)
        visit_link(v, &links[port], kind, detail[port], UINT32_MAX);
}

static const char *const out_port[HW_PORTS] = {"out N", "out S", "out E", "out W"};
static const char *const in_port[HW_PORTS] = {"in N", "in S", "in E", "in W"};
static const char *const to_port[HW_PORTS] = {"N", "S", "E", "W"};
static const char *const behind_port[HW_PORTS] = {" N", " S", " E", " W"};
static const char *const lane_port[HW_PORTS] = {"N lane ", "S lane ", "E lane ", "W lane "};

static void links_visit_cube(const struct visit *v, const struct lp_cube *cube)
{
    const struct lp_model *m = v->m;
    for (uint32_t router = 0; router < m->hw.noc_w * m->hw.noc_h; router++)
        for (enum hw_port port = 0; port < HW_PORTS; port++)
            visit_server(v, &cube->link[m->cube.link_noc + router * HW_PORTS + port],
                         m->hw.link[HW_LINK_NOC].rate,
                         (struct lp_link_use){.kind = hw_link_name[HW_LINK_NOC],
                                              .detail = "router ",
                                              .number = router,
                                              .behind = behind_port[port]});
    visit_ports(v, &cube->link[m->cube.link_in], HW_LINK_NOC_UCIE, in_port);
    visit_ports(v, &cube->link[m->cube.link_out], HW_LINK_NOC_UCIE, out_port);
    visit_ports(v, &cube->link[m->cube.link_ucie], HW_LINK_UCIE, to_port);
    visit_link(v, &cube->link[m->cube.link_m_cpu], HW_LINK_M_CPU, "to m_cpu", UINT32_MAX);
    visit_link(v, &cube->link[m->cube.link_m_cpu + 1], HW_LINK_M_CPU, "from m_cpu", UINT32_MAX);
    visit_link(v, &cube->link[m->cube.link_sram], HW_LINK_SRAM, "write", UINT32_MAX);
    visit_link(v, &cube->link[m->cube.link_sram + 1], HW_LINK_SRAM, "read", UINT32_MAX);
    for (uint32_t pe = 0; pe < m->pes; pe++) {
        const struct hw_link *link = &cube->link[m->cube.link_pe + pe * LP_PE_LINKS];
        visit_link(v, &link[LP_LINK_OUT], HW_LINK_PE_NOC, "from PE ", pe);
        visit_link(v, &link[LP_LINK_IN], HW_LINK_PE_NOC, "to PE ", pe);
        visit_link(v, &link[LP_LINK_TCM], HW_LINK_TCM, "write PE ", pe);
        visit_link(v, &link[LP_LINK_HBM_IN], HW_LINK_HBM, "write PE ", pe);
        visit_link(v, &link[LP_LINK_HBM_OUT], HW_LINK_HBM, "read PE ", pe);
        if (m->config.peers > 0)
            visit_server(v, &cube->link[m->cube.link_reduce + pe], m->hw.dma_reduce,
                         (struct lp_link_use){
                             .kind = "reduce", .detail = "PE ", .number = pe, .behind = ""});
    }
}

static void links_visit_io_die(const struct visit *v, const struct lp_io_die *die)
{
    const struct lp_model *m = v->m;
    visit_ports(v, &die->link[m->io_die.link_hub_in], HW_LINK_HUB, in_port);
    visit_ports(v, &die->link[m->io_die.link_hub_out], HW_LINK_HUB, out_port);
    for (enum hw_port port = 0; port < HW_PORTS; port++) {
        visit_link(v, &die->link[m->io_die.link_outer + port], hw_route_outer_link(&m->hw, port),
                   to_port[port], UINT32_MAX);
        const uint32_t lanes = port == HW_PORT_E || port == HW_PORT_W ? m->hw.cube_h : m->hw.cube_w;
        for (uint32_t lane = 0; lane < lanes; lane++)
            visit_link(v, &die->link[m->io_die.link_edge[port] + lane], HW_LINK_UCIE,
                       lane_port[port], lane);
    }
    visit_link(v, &die->link[m->io_die.link_io_cpu], HW_LINK_HUB, "to io_cpu", UINT32_MAX);
    visit_link(v, &die->link[m->io_die.link_io_cpu + 1], HW_LINK_HUB, "from io_cpu", UINT32_MAX);
    visit_link(v, &die->link[m->io_die.link_pcie], HW_LINK_PCIE, "to host", UINT32_MAX);
}

void lp_links_visit(const struct lp_model *m, const struct cw_sim *sim, uint32_t epoch,
                    void (*fn)(void *arg, const struct lp_link_use *use), void *arg)
{
    struct visit v = {m, epoch, fn, arg, ""};
    for (uint32_t sip = 0; sip < m->hw.sip_count; sip++) {
        for (uint32_t cube = 0; cube < m->cubes; cube++) {
            snprintf(v.place, sizeof v.place, "sip %u cube %u", sip, cube);
            links_visit_cube(&v, cw_state(sim, lp_of_cube(m, sip, cube)));
        }
        snprintf(v.place, sizeof v.place, "sip %u io_die", sip);
        links_visit_io_die(&v, cw_state(sim, lp_of_io_die(m, sip)));
    }
    for (uint32_t i = 0; i < m->lps.switch_count; i++) {
        const struct lp_switch *s = cw_state(sim, m->lps.first_switch + i);
        snprintf(v.place, sizeof v.place, "switch %u", i);
        for (uint32_t sip = 0; sip < m->hw.sip_count; sip++)
            visit_link(&v, &s->link[sip], hw_switch_link(&m->hw), "to sip ", sip);
    }
}
