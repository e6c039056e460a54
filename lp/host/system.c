/*
 * system.c: the host's side of the simulated machine (system.h): creation, control messages,
 * draining, and the times in the commit records. Runs between drains; the record sink runs while
 * the engine delivers.
 */
#include "lp/host/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/invariant.h"
#include "lp/fabric/jitter_draw.h"
#include "lp/host/deadlock.h"
#include "lp/host/drained_check.h"
#include "lp/host/landing.h"
#include "lp/kernel/tl_check.h"
#include "lp/layout.h"
#include "lp/lp_kinds.h"
#include "lp/queues/queue_ends.h"

struct lp_system {
    struct lp_model model;
    struct cw_model hooks;
    struct lp_system_options options;
    struct cw_sim *sim;
    uint64_t next_number;  /* of the host's own events */
    int64_t *pcie_free_ps; /* [sip] the host's link down to each SIP: reserved at submission */
    uint32_t batch;        /* number of the current one, from 1; 0: installation */
    struct lp_cut cut;     /* with more than one thread */
    struct lp_times times;
    struct lp_phases phases;
    uint8_t *phase_of_pe; /* [pe] the phase its kernel is in, 255: none yet */
    struct lp_landing landing;
    bool out_of_memory; /* while records were delivered */
};

/* ---- records --------------------------------------------------------------------------------- */

/* A landing gets the destination and the operation of its put. */
static void deliver_op(struct lp_system *system, const struct lp_op *record)
{
    struct lp_op op = *record;
    if (system->out_of_memory)
        return;
    if (op.kind == LP_OP_PUT)
        system->out_of_memory = !lp_landing_put(&system->landing, &op);
    else if (op.kind == LP_OP_LAND)
        (void)lp_landing_land(&system->landing, &op); /* else the data pass finds it impossible */
    system->options.op(system->options.arg, &op);
}

static void note_kernel(struct lp_system *system, const struct lp_kernel_record *record)
{
    struct lp_times *times = &system->times;
    struct lp_phases *phases = &system->phases;
    const uint32_t rank = system->model.launches.at[record->launch - 1].args.rank;
    uint8_t *phase = &system->phase_of_pe[record->pe];
    if (record->mark == LP_MARK_START) {
        if (times->started++ == 0)
            times->first_start_ps = record->t_ps;
        if (record->t_ps > times->last_start_ps)
            times->last_start_ps = record->t_ps;
        if (phases->start_ps[rank] < 0 || record->t_ps < phases->start_ps[rank])
            phases->start_ps[rank] = record->t_ps;
        *phase = 255;
        return;
    }
    if (*phase < phases->count) {
        int64_t *exit_ps = &phases->exit_ps[(size_t)rank * phases->count + *phase];
        if (record->t_ps > *exit_ps)
            *exit_ps = record->t_ps;
    }
    *phase = record->mark == LP_MARK_PHASE ? (uint8_t)record->phase : 255;
    if (record->mark == LP_MARK_END) {
        times->ended++;
        if (record->t_ps > times->last_end_ps)
            times->last_end_ps = record->t_ps;
        if (system->options.kernel_ended)
            system->options.kernel_ended(system->options.arg, record->pe);
    }
}

static void on_record(void *arg, const struct cw_event *event, uint16_t kind, const void *record,
                      uint16_t bytes)
{
    struct lp_system *system = arg;
    (void)event, (void)bytes;
    switch (kind) {
    case LP_RECORD_OP:
        if (system->options.op)
            deliver_op(system, record);
        break;
    case LP_RECORD_ARRIVAL:
        system->options.arrival(system->options.arg, record);
        break;
    case LP_RECORD_KERNEL:
        if (system->options.kernel)
            system->options.kernel(system->options.arg, record);
        note_kernel(system, record);
        break;
    default:
        system->times.returned++;
        system->times.host_ps = ((const struct lp_host_record *)record)->t_ps;
    }
}

/* ---- creation -------------------------------------------------------------------------------- */

static int machine_out_of_memory(struct cw_error *error)
{
    return cw_error_set(error, CW_NO_RESOURCE, "out of memory while building the machine");
}

static void reset_times(struct lp_system *system)
{
    system->times = (struct lp_times){.submitted_ps = cw_sim_now(system->sim)};
}

static void system_least_delays(void *arg, const uint32_t *lp_worker, uint32_t workers,
                                int64_t *least_delay_ps)
{
    const struct lp_system *const system = arg;
    lp_least_delays(&system->model, workers, lp_worker, least_delay_ps);
}

/* [lp_count] The parts that move between workers; the caller frees it. NULL: blocks of LPs move,
 * since one thread has no use for parts, or there is no memory. */
static uint32_t *parts_of(const struct lp_system_options *options, const struct lp_model *model)
{
    const uint32_t workers = options->engine.worker_count;
    uint32_t *const lp_part = workers > 1 ? malloc(model->lps.count * sizeof *lp_part) : NULL;
    if (lp_part != NULL)
        lp_parts(model, workers, options->cube_worker, lp_part);
    return lp_part;
}

struct lp_system *lp_system_create(const struct lp_system_options *options, struct cw_error *error)
{
    struct lp_system *system = calloc(1, sizeof *system);
    if (system == NULL) {
        machine_out_of_memory(error);
        return NULL;
    }
    system->options = *options;
    lp_landing_init(&system->landing);
    const uint32_t pe_count = hw_pe_count(options->hw);
    system->pcie_free_ps = calloc(options->hw->sip_count, sizeof *system->pcie_free_ps);
    system->phase_of_pe = malloc(pe_count);
    if (!lp_layout_init(&system->model, options->hw, options->config) ||
        system->pcie_free_ps == NULL || system->phase_of_pe == NULL) {
        machine_out_of_memory(error);
        lp_system_free(system);
        return NULL;
    }
    memset(system->phase_of_pe, 255, pe_count);
    system->model.emit.ops = options->op != NULL;
    system->model.emit.arrivals = options->arrival != NULL;
    system->hooks = lp_engine_model(&system->model);
    const uint32_t workers = options->engine.worker_count;
    const size_t pairs = (size_t)workers * workers;
    uint32_t *const lp_worker = malloc(system->model.lps.count * sizeof *lp_worker);
    int64_t *const least_ps = malloc(pairs * sizeof *least_ps);
    const bool placed = workers > 1;
    if (lp_worker == NULL || least_ps == NULL ||
        (placed && !lp_place(&system->model, workers, options->cube_worker, lp_worker, least_ps,
                             &system->cut))) {
        free(lp_worker);
        free(least_ps);
        machine_out_of_memory(error);
        lp_system_free(system);
        return NULL;
    }
    struct cw_config config = options->engine;
    config.lp_worker = placed ? lp_worker : NULL;
    config.least_delay_ps = placed ? least_ps : NULL;
    uint32_t *const lp_part = parts_of(options, &system->model);
    config.lp_part = lp_part;
    config.least_delays = system_least_delays;
    config.least_delays_arg = system;
    config.end_ps = CW_TIME_MAX;
    config.record = on_record;
    config.record_arg = system;
    system->sim = cw_sim_create(&config, &system->hooks, error);
    free(lp_worker);
    free(least_ps);
    free(lp_part);
    if (system->sim == NULL) {
        lp_system_free(system);
        return NULL;
    }
    reset_times(system);
    return system;
}

void lp_system_free(struct lp_system *system)
{
    if (system == NULL)
        return;
    cw_sim_free(system->sim);
    lp_layout_free(&system->model);
    free(system->pcie_free_ps);
    free(system->phase_of_pe);
    lp_landing_free(&system->landing);
    free(system->phases.start_ps);
    free(system->phases.exit_ps);
    free(system);
}

/* ---- control messages ------------------------------------------------------------------------ */

/* Submits a control message with so much data to a PE: reserves the host's link and injects its
 * arrival. */
static int submit_message(struct lp_system *system, uint32_t pe, enum lp_transfer_kind kind,
                          uint32_t seq, uint32_t data_bytes, struct cw_error *error)
{
    const struct lp_model *m = &system->model;
    const struct hw_config *hw = &m->hw;
    const uint32_t sip = pe / (m->cubes * m->pes);
    struct lp_transfer transfer = {.src = pe,
                                   .dst = pe,
                                   .bytes = hw->control_msg_bytes + data_bytes,
                                   .seq = seq,
                                   .kind = (uint8_t)kind,
                                   .exit = HW_PORT_NONE};
    struct hw_flight flight = {system->times.submitted_ps + hw->overhead_ps[HW_NODE_HOST], 0,
                               transfer.bytes, 0, lp_operation(0, system->next_number)};
    struct hw_link link = {.free_ps = system->pcie_free_ps[sip]};
    const bool reserves = hw->contention != HW_CONTENTION_NONE && transfer.bytes > 0;
    const struct hw_jitter_place place = {sip, HW_JITTER_ANY, HW_JITTER_ANY, HW_JITTER_ANY};
    hw_flight_cross_late(&flight, &hw->link[HW_LINK_PCIE], reserves ? &link : NULL, 0,
                         lp_late_link_ps(hw, HW_LINK_PCIE, place, &flight));
    system->pcie_free_ps[sip] = link.free_ps;
    transfer.sigma_ps = flight.sigma_ps;
    system->times.submitted++;
    return cw_inject(system->sim, lp_of_io_die(m, sip), flight.tau_ps, LP_EVENT_CPU_ARRIVAL, 0,
                     system->next_number++, &transfer, sizeof transfer, error);
}

int lp_system_submit_install(struct lp_system *system, struct cw_error *error)
{
    const uint32_t pe_count = hw_pe_count(&system->model.hw);
    reset_times(system);
    for (uint32_t pe = 0; pe < pe_count; pe++) {
        if (!lp_is_wired(&system->model, pe))
            continue;
        const int code = submit_message(system, pe, LP_TRANSFER_INIT, 0, 0, error);
        if (code != CW_OK)
            return code;
    }
    return CW_OK;
}

void lp_system_begin_copy(struct lp_system *system) { reset_times(system); }

int lp_system_submit_map(struct lp_system *system, uint32_t pe, struct cw_error *error)
{
    return submit_message(system, pe, LP_TRANSFER_MAP, 0, 0, error);
}

int lp_system_submit_write(struct lp_system *system, uint32_t pe, uint64_t data_bytes,
                           struct cw_error *error)
{
    if (data_bytes > UINT32_MAX - system->model.hw.control_msg_bytes)
        return cw_error_set(
            error, CW_NO_RESOURCE, "a MemoryWriteMsg of %llu bytes: one carries at most %u",
            (unsigned long long)data_bytes, UINT32_MAX - system->model.hw.control_msg_bytes);
    return submit_message(system, pe, LP_TRANSFER_WRITE, 0, (uint32_t)data_bytes, error);
}

int lp_system_begin_batch(struct lp_system *system, const struct tl_kernel *kernel,
                          struct cw_error *error)
{
    struct lp_phases *phases = &system->phases;
    const size_t ranks = system->model.hw.sip_count;
    reset_times(system);
    system->batch++;
    free(phases->start_ps);
    free(phases->exit_ps);
    *phases = (struct lp_phases){.name = kernel->phase, .count = kernel->phase_count};
    phases->start_ps = malloc(ranks * sizeof *phases->start_ps);
    phases->exit_ps = malloc((ranks * phases->count + 1) * sizeof *phases->exit_ps);
    if (phases->start_ps == NULL || phases->exit_ps == NULL)
        return machine_out_of_memory(error);
    memset(phases->start_ps, 0xff, ranks * sizeof *phases->start_ps);
    memset(phases->exit_ps, 0xff, ranks * phases->count * sizeof *phases->exit_ps);
    return CW_OK;
}

/* Adds a launch to the table, or finds the last one if it says the same. Returns index + 1. */
static uint32_t add_launch(struct lp_system *system, const struct tl_kernel *kernel,
                           const struct tl_args *args)
{
    struct lp_model *m = &system->model;
    if (m->launches.count > 0) {
        const struct lp_launch *last = &m->launches.at[m->launches.count - 1];
        if (last->kernel == kernel && memcmp(&last->args, args, sizeof *args) == 0 &&
            system->times.submitted > 0)
            return m->launches.count;
    }
    if (m->launches.count == m->launches.capacity) {
        const uint32_t capacity = m->launches.capacity ? 2 * m->launches.capacity : 64;
        struct lp_launch *launches = realloc(m->launches.at, capacity * sizeof *launches);
        if (launches == NULL)
            return 0;
        m->launches.at = launches;
        m->launches.capacity = capacity;
    }
    m->launches.at[m->launches.count++] = (struct lp_launch){kernel, *args, system->batch};
    return m->launches.count;
}

int lp_system_submit_launch(struct lp_system *system, uint32_t pe, const struct tl_kernel *kernel,
                            const struct tl_args *args, struct cw_error *error)
{
    const int code = tl_kernel_check(kernel, error);
    if (code != CW_OK)
        return code;
    const uint32_t launch = add_launch(system, kernel, args);
    if (launch == 0)
        return machine_out_of_memory(error);
    return submit_message(system, pe, LP_TRANSFER_LAUNCH, launch, 0, error);
}

int lp_system_drain(struct lp_system *system, struct cw_error *error)
{
    const int code = cw_drain(system->sim, error);
    if (code != CW_OK)
        return code;
    if (system->out_of_memory)
        return cw_error_memory(error, "the puts under way");
    if (CW_ASSERTING && lp_check_drained(&system->model, system->sim, error) != CW_OK)
        return CW_BUG;
    if (system->times.returned == system->times.submitted)
        return CW_OK;
    error->exit_code = CW_PROGRAM_FAILED;
    lp_deadlock_summary(&system->model, system->sim, error->text, sizeof error->text);
    return CW_PROGRAM_FAILED;
}

/* ---- queries --------------------------------------------------------------------------------- */

const struct lp_model *lp_system_model(const struct lp_system *system) { return &system->model; }
struct cw_sim *lp_system_sim(struct lp_system *system) { return system->sim; }
const struct lp_cut *lp_system_cut(const struct lp_system *system)
{
    return system->options.engine.worker_count > 1 ? &system->cut : NULL;
}
const struct lp_times *lp_system_times(const struct lp_system *system) { return &system->times; }
const struct lp_phases *lp_system_phases(const struct lp_system *system) { return &system->phases; }

const struct lp_cube *lp_system_cube(const struct lp_system *system, uint32_t sip, uint32_t cube)
{
    return cw_state(system->sim, lp_of_cube(&system->model, sip, cube));
}

uint64_t lp_system_queue_pairs(const struct lp_system *system)
{
    const struct lp_model *m = &system->model;
    uint64_t pairs = 0;
    for (uint32_t sip = 0; sip < m->hw.sip_count; sip++)
        for (uint32_t cube = 0; cube < m->cubes; cube++)
            for (uint32_t pe = 0; pe < m->pes; pe++)
                pairs += (uint64_t)__builtin_popcount(
                    lp_pe(m, lp_system_cube(system, sip, cube), pe)->installed);
    return pairs;
}

void lp_system_visit_links(const struct lp_system *system,
                           void (*visit)(void *arg, const struct lp_link_use *use), void *arg)
{
    lp_links_visit(&system->model, system->sim, system->batch, visit, arg);
}

uint64_t lp_system_messages(const struct lp_system *system)
{
    const struct lp_model *m = &system->model;
    uint64_t messages = 0;
    for (uint32_t sip = 0; sip < m->hw.sip_count; sip++)
        for (uint32_t cube = 0; cube < m->cubes; cube++)
            for (uint32_t pe = 0; pe < m->pes; pe++)
                for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++)
                    messages += lp_pe(m, lp_system_cube(system, sip, cube), pe)->queue[dir].my_head;
    return messages;
}
