/*
 * control.c: keeps the host's control messages and injects them (control.h). Messages are mostly
 * submitted in the order of their PEs, so they are kept as runs of one SIP each. All workers walk
 * through one list, and each skips the others' runs.
 */
#include "lp/host/control.h"

#include <stdlib.h>
#include <string.h>

#include "hw/timing.h"
#include "lp/jitter_draw.h"
#include "lp/layout.h"
#include "lp/queues/queue_ends.h"

/* Fewer messages than these are not worth waking a thread for. */
enum { SHARED_MESSAGES_MIN = 512 };

/* The injection in progress. */
struct injection {
    struct lp_control *control;
    const struct lp_model *m;
    struct cw_sim *sim;
    int64_t submitted_ps;
    bool all;                /* worker 0 does all */
    struct cw_error *errors; /* [worker] why it had to stop; exit_code CW_OK: it did not */
};

bool lp_control_init(struct lp_control *control, const struct lp_model *m)
{
    *control = (struct lp_control){.sip_pes = m->cubes * m->pes,
                                   .pcie_free_ps = calloc(m->sips, sizeof *control->pcie_free_ps)};
    return control->pcie_free_ps != NULL;
}

void lp_control_free(struct lp_control *control)
{
    free(control->runs);
    free(control->pcie_free_ps);
}

/* Whether messages to this many consecutive PEs of the SIP continue the run. The second message of
 * a run decides its stride. */
static bool continues(struct lp_control_run *run, const struct lp_control_message *message,
                      uint32_t count, uint32_t sip)
{
    const struct lp_control_message *const first = &run->message;
    const uint32_t stride = run->count > 1 ? run->stride : message->pe - first->pe;
    if (sip != run->sip || message->pe != first->pe + run->count * stride ||
        (count > 1 && stride != 1) || message->seq != first->seq ||
        message->data_bytes != first->data_bytes || message->kind != first->kind)
        return false;
    run->stride = stride;
    return true;
}

bool lp_control_submit_run(struct lp_control *control, struct lp_control_message message,
                           uint32_t count)
{
    struct lp_control_run *const last =
        control->run_count > 0 ? &control->runs[control->run_count - 1] : NULL;
    const uint32_t sip = message.pe / control->sip_pes;
    if (last != NULL && continues(last, &message, count, sip)) {
        last->count += count;
        control->count += count;
        return true;
    }
    if (control->run_count == control->run_capacity) {
        const size_t capacity = control->run_capacity > 0 ? 2 * control->run_capacity : 64;
        struct lp_control_run *const runs = realloc(control->runs, capacity * sizeof *runs);
        if (runs == NULL)
            return false;
        control->runs = runs;
        control->run_capacity = capacity;
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there is room for run_capacity */
    control->runs[control->run_count++] = (struct lp_control_run){
        .message = message, .count = count, .stride = 1, .sip = sip, .first = control->count};
    control->count += count;
    return true;
}

bool lp_control_submit(struct lp_control *control, struct lp_control_message message)
{
    return lp_control_submit_run(control, message, 1);
}

/* The most messages to one SIP. 0: out of memory. */
static uint64_t most_of_a_sip(const struct lp_control *control, const struct lp_model *m)
{
    uint64_t *const of_sip = calloc(m->sips, sizeof *of_sip);
    uint64_t most = 0;
    for (size_t i = 0; of_sip != NULL && i < control->run_count; i++) {
        uint64_t *const count = &of_sip[lp_sip_index(m, control->runs[i].sip)];
        *count += control->runs[i].count;
        most = *count > most ? *count : most;
    }
    free(of_sip);
    return most;
}

/*
 * No message comes later, since
 * 1. on the way there are at most the links and nodes of the longest way;
 * 2. a message finds at most the others of its SIP before it at each server (link, io_cpu, m_cpu),
 *    and each of them takes as long there as it does itself.
 */
int64_t lp_control_way_ps(const struct lp_control *control, const struct lp_model *m)
{
    const struct hw_config *const hw = &m->hw;
    const int64_t messages = (int64_t)most_of_a_sip(control, m);
    const int64_t cubes = hw->cube_w + hw->cube_h; /* and the port of the IO die */
    const int64_t routers = 2 * (hw->noc_w + hw->noc_h);
    const int64_t links[HW_LINK_KINDS] = {[HW_LINK_PCIE] = 1,
                                          [HW_LINK_HUB] = 2,
                                          [HW_LINK_UCIE] = cubes,
                                          [HW_LINK_NOC_UCIE] = 2 * cubes,
                                          [HW_LINK_NOC] = cubes * routers,
                                          [HW_LINK_M_CPU] = 2,
                                          [HW_LINK_PE_NOC] = 1};
    const int64_t nodes[HW_NODE_KINDS] = {
        [HW_NODE_HOST] = 1,          [HW_NODE_IO_HUB] = 1,
        [HW_NODE_IO_PORT] = 1,       [HW_NODE_UCIE_PORT] = 2 * cubes,
        [HW_NODE_PE_CPU] = 1,        [HW_NODE_ROUTER] = cubes * (routers + 1),
        [HW_NODE_IO_CPU] = messages, [HW_NODE_M_CPU] = messages};
    int64_t ps = messages > 0 || control->count == 0 ? 0 : -1;
    for (uint32_t kind = 0; ps >= 0 && kind < HW_LINK_KINDS; kind++)
        if (links[kind] > 0)
            ps += links[kind] * (hw->link[kind].prop_ps +
                                 messages * hw_ser_ps(&hw->link[kind], hw->control_msg_bytes));
    for (uint32_t kind = 0; ps >= 0 && kind < HW_NODE_KINDS; kind++)
        ps += nodes[kind] * hw->overhead_ps[kind];
    return ps;
}

/* Reserves the host's link to the SIP and injects the message's arrival at its IO die. */
static int inject_message(const struct injection *injection, const struct lp_control_run *run,
                          uint32_t index, struct cw_error *error)
{
    const uint32_t sip = run->sip, pe = run->message.pe + index * run->stride;
    struct lp_control *const control = injection->control;
    const struct lp_control_message *const message = &run->message;
    const struct hw_config *const hw = &injection->m->hw;
    const uint64_t number = control->next_number + run->first + index;
    struct lp_transfer transfer = {.src = pe,
                                   .dst = pe,
                                   .bytes = hw->control_msg_bytes + message->data_bytes,
                                   .seq = message->seq,
                                   .kind = message->kind,
                                   .exit = HW_OUTLET_NONE};
    struct hw_flight flight = {injection->submitted_ps + hw->overhead_ps[HW_NODE_HOST], 0,
                               transfer.bytes, 0, lp_operation(0, number)};
    int64_t *const pcie_free_ps = &control->pcie_free_ps[lp_sip_index(injection->m, sip)];
    struct hw_link link = {.free_ps = *pcie_free_ps};
    const bool reserves = hw->contention != HW_CONTENTION_NONE && transfer.bytes > 0;
    const struct hw_jitter_place place = {sip, HW_JITTER_ANY, HW_JITTER_ANY, HW_JITTER_ANY, 0};
    hw_flight_cross_late(&flight, &hw->link[HW_LINK_PCIE], reserves ? &link : NULL, 0, 0,
                         lp_late_link_ps(hw, HW_LINK_PCIE, place, &flight));
    *pcie_free_ps = link.free_ps;
    transfer.sigma_ps = flight.sigma_ps;
    return cw_inject(injection->sim, lp_of_io_die(injection->m, sip), flight.tau_ps,
                     LP_EVENT_CPU_ARRIVAL, 0, number, &transfer, sizeof transfer, error);
}

/* Injects the messages to a worker's SIPs. */
static void inject_of_worker(void *arg, uint32_t worker)
{
    const struct injection *const injection = arg;
    const struct lp_control *const control = injection->control;
    for (size_t i = 0; i < control->run_count; i++) {
        const struct lp_control_run *const run = &control->runs[i];
        const uint32_t io_die = lp_of_io_die(injection->m, run->sip);
        const bool own = injection->all || cw_lp_worker(injection->sim, io_die) == worker;
        for (uint32_t k = 0; own && k < run->count; k++)
            if (inject_message(injection, run, k, &injection->errors[worker]) != CW_OK)
                return;
    }
}

int lp_control_inject(struct lp_control *control, const struct lp_model *m, struct cw_sim *sim,
                      int64_t submitted_ps, struct cw_error *error)
{
    const uint32_t workers = cw_sim_worker_count(sim);
    struct injection injection = {.control = control,
                                  .m = m,
                                  .sim = sim,
                                  .submitted_ps = submitted_ps,
                                  .all = control->count < SHARED_MESSAGES_MIN,
                                  .errors = calloc(workers, sizeof *injection.errors)};
    if (injection.errors == NULL)
        return cw_error_memory(error, "the control messages");
    if (injection.all)
        inject_of_worker(&injection, 0);
    else
        cw_each_worker(sim, inject_of_worker, &injection);
    const struct cw_error *failed = NULL;
    for (uint32_t i = 0; i < workers && failed == NULL; i++)
        failed = injection.errors[i].exit_code != CW_OK ? &injection.errors[i] : NULL;
    const int code = failed != NULL ? failed->exit_code : CW_OK;
    if (failed != NULL)
        *error = *failed;
    free(injection.errors);
    control->next_number += control->count;
    control->count = 0;
    control->run_count = 0;
    return code;
}
