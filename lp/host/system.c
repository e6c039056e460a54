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
#include "lp/fabric/sequencer.h"
#include "lp/host/batches.h"
#include "lp/host/control.h"
#include "lp/host/deadlock.h"
#include "lp/host/drained_check.h"
#include "lp/host/landing.h"
#include "lp/host/machine_count.h"
#include "lp/host/overrun.h"
#include "lp/host/replay.h"
#include "lp/host/unreceived.h"
#include "lp/host/wired.h"
#include "lp/kernel/tl_check.h"
#include "lp/layout.h"
#include "lp/lp_kinds.h"
#include "lp/queues/queue_ends.h"
#include "lp/places.h"
#include "lp/tie_watch.h"

struct lp_system {
    struct lp_model model;
    struct cw_model hooks;
    struct lp_system_options options;
    struct hw_fold fold; /* options.fold */
    struct cw_sim *sim;
    struct lp_control control;
    struct lp_maps *maps;
    struct lp_cut cut; /* with more than one thread */
    struct lp_batches batches;
    uint64_t acknowledged;    /* before the current batch */
    int64_t host_now_ps;      /* the host's time: when messages are submitted */
    uint32_t launches_from;   /* the operation of a program that launches are of, or UINT32_MAX, */
    uint8_t launches_queue;   /* and their hardware queue */
    bool in_program;          /* it has begun, and has not ended */
    struct lp_replay *replay; /* of its operations; NULL: all are simulated */
    struct lp_landing landing;
    struct lp_launched *launched; /* [launched_count] since the machine was idle */
    size_t launched_count, launched_capacity;
    bool hears_ops;     /* some listener wants data operations in the total order */
    bool out_of_memory; /* while records were delivered */
    bool engine_failed; /* in the last drain */
    bool is_restored;   /* the submitted installation was taken from a kept machine */
    bool is_to_keep;    /* the machine goes to options.wired after it */
};

/* ---- records in the total order -------------------------------------------------------------- */

/* A receive gets its sender, and the slot that the tile comes from. */
static void complete_recv(const struct lp_model *m, struct lp_op *op)
{
    enum hw_dir peer_dir = HW_DIRS_MAX;
    if (!lp_queue_peer(m->named, op->pe, (enum hw_dir)op->dir, &op->peer, &peer_dir))
        return;
    op->peer_dir = (uint8_t)peer_dir;
    op->a = lp_slot_of(m->named, op->pe, (enum hw_dir)op->dir, op->seq);
}

/* A landing gets the destination and the operation of its put or raw store. */
static void complete_op(struct lp_system *system, struct lp_op *op)
{
    if (op->kind == LP_OP_PUT || op->kind == LP_OP_STORE_TO)
        system->out_of_memory = !lp_landing_put(&system->landing, op);
    else if (op->kind == LP_OP_LAND || op->kind == LP_OP_STORED)
        (void)lp_landing_land(&system->landing, lp_moved_pe_of(&system->model, op->peer, op->peer),
                              op); /* else the data pass finds it impossible */
    else if (op->kind == LP_OP_RECV)
        complete_recv(&system->model, op);
}

static void deliver(const struct lp_listener *listener, const struct cw_event *event, uint16_t kind,
                    const void *record)
{
    if (kind == LP_RECORD_OP && listener->op != NULL)
        listener->op(listener->arg, event, record);
    else if (kind == LP_RECORD_ARRIVAL && listener->arrival != NULL)
        listener->arrival(listener->arg, event, record);
    else if (kind == LP_RECORD_KERNEL && listener->kernel != NULL)
        listener->kernel(listener->arg, record);
    else if (kind == LP_RECORD_CROSSED && listener->crossed != NULL)
        listener->crossed(listener->arg, record);
    else if ((kind == LP_RECORD_WAITED || kind == LP_RECORD_WAIT_KEPT) && listener->waited != NULL)
        listener->waited(listener->arg, event->time_ps, record);
}

static void on_record(void *arg, const struct cw_event *event, uint16_t kind, const void *record,
                      uint16_t bytes)
{
    struct lp_system *const system = arg;
    struct lp_op op;
    (void)bytes;
    if (kind == LP_RECORD_OP) {
        if (system->out_of_memory || !system->hears_ops)
            return;
        op = *(const struct lp_op *)record;
        complete_op(system, &op);
        record = &op;
    }
    for (size_t i = 0; i < LP_LISTENERS; i++)
        deliver(&system->options.listener[i], event, kind, record);
}

/* ---- records on the workers ------------------------------------------------------------------ */

/* A kernel's completion is at the host. In the total order, on the thread that drains. */
static void on_answer(void *arg, const struct lp_answer *answer)
{
    struct lp_system *const system = arg;
    const struct lp_launch *const launch = lp_launch_of(&system->model, answer->launch);
    struct lp_batch *const batch = launch->of;
    batch->answers++;
    batch->answered_ps = answer->t_ps;
    if (system->options.answered != NULL)
        system->options.answered(system->options.answered_arg, batch->of, launch->args.rank,
                                 answer->t_ps);
}

static void on_worker_record(void *arg, uint32_t worker, const struct cw_event *event,
                             uint16_t kind, const void *record, uint16_t bytes)
{
    struct lp_system *system = arg;
    const struct lp_worker_listener *const listener = &system->options.on_workers;
    const struct lp_cause_sink *const causes = &system->options.causes;
    if (kind == LP_RECORD_KERNEL && system->replay != NULL)
        lp_replay_hears(system->replay, record);
    if (kind == LP_RECORD_OP) {
        if (listener->op != NULL)
            listener->op(listener->arg, worker, event, record);
    } else if (kind == LP_RECORD_KERNEL) {
        const struct lp_kernel_record *const kernel = record;
        const struct lp_launch *const launch = lp_launch_of(&system->model, kernel->launch);
        const uint32_t tcm_bytes = (uint32_t)system->model.tcm_queue_bytes;
        const uint32_t rank = launch->args.rank;
        lp_batch_times_mark(&launch->of->times, worker,
                            launch->of->slots != NULL ? launch->of->slots[rank]
                                                      : lp_sip_index(&system->model, rank),
                            lp_pe_place(&system->model, kernel->pe) * system->model.needs.queues +
                                launch->queue,
                            kernel);
        if (kernel->mark == LP_MARK_START && listener->kernel_started != NULL)
            listener->kernel_started(listener->arg, worker, event, kernel->pe, launch->of->number);
        if (kernel->mark == LP_MARK_END && listener->kernel_ended != NULL)
            listener->kernel_ended(listener->arg, worker, event,
                                   &(struct lp_kernel_end){kernel->pe, launch->queue,
                                                           launch->queue * tcm_bytes, tcm_bytes});
    } else if (kind == LP_RECORD_ANSWER) {
        on_answer(system, record);
    } else if (kind >= LP_RECORD_CAUSE) {
        if (system->model.emit.causes)
            causes->record(causes->arg, worker, event, kind, record, bytes);
    }
}

/* A mark of a kernel that was replayed. */
static void on_replayed_mark(void *arg, const struct lp_kernel_record *mark)
{
    const struct lp_system *const system = arg;
    const struct lp_model *const m = &system->model;
    const struct lp_launch *const launch = lp_launch_of(m, mark->launch);
    const uint32_t rank = launch->args.rank;
    lp_batch_times_mark(&launch->of->times, 0,
                        launch->of->slots != NULL ? launch->of->slots[rank] : lp_sip_index(m, rank),
                        lp_pe_place(m, mark->pe) * m->needs.queues + launch->queue, mark);
}

static bool on_worker_look(void *arg, uint32_t worker)
{
    const struct lp_worker_listener *const listener =
        &((const struct lp_system *)arg)->options.on_workers;
    return listener->look(listener->arg, worker);
}

/* ---- creation -------------------------------------------------------------------------------- */

/* Between drains: the causes are wanted from here on, or not. */
static void trace_causes(struct lp_system *system, bool wanted)
{
    struct lp_model *const m = &system->model;
    m->emit.causes = wanted;
    m->emit.notes = wanted || m->emit.waits;
    m->emit.crossings = m->emit.links || m->needs.accounts > 0 || lp_is_coarse(&m->config);
    m->hw.watched = m->hw.jittered || wanted || m->emit.crossings;
}

static int machine_out_of_memory(struct cw_error *error)
{
    return cw_error_set(error, CW_NO_RESOURCE, "out of memory while building the machine");
}

/* Another batch begins, of launches or of other messages. False: out of memory. */
static bool begin_batch(struct lp_system *system, bool launches)
{
    const struct lp_host *const host = cw_state(system->sim, 0);
    system->acknowledged = host->acknowledged;
    return lp_batches_begin(&system->batches, &system->model, system->host_now_ps, launches);
}

static struct lp_times *current_times(const struct lp_system *system)
{
    return &system->batches.current->times.sum;
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

/* Which records handlers emit: those that somebody hears. */
static struct lp_emitted emitted(const struct lp_system_options *options)
{
    struct lp_emitted emit = {.ops = options->on_workers.op != NULL,
                              .direct = options->causes.direct};
    for (size_t i = 0; i < LP_LISTENERS; i++) {
        const struct lp_listener *const listener = &options->listener[i];
        emit.ops |= listener->op != NULL;
        emit.arrivals |= listener->arrival != NULL;
        emit.links |= listener->crossed != NULL;
        emit.waits |= listener->waited != NULL;
    }
    return emit;
}

/* Whether anything is wanted in the total order. */
static bool is_heard(const struct lp_system_options *options)
{
    bool heard = false;
    for (size_t i = 0; i < LP_LISTENERS; i++) {
        const struct lp_listener *const listener = &options->listener[i];
        heard |= listener->op != NULL || listener->arrival != NULL || listener->kernel != NULL ||
                 listener->crossed != NULL || listener->waited != NULL;
    }
    return heard;
}

static bool build_model(struct lp_system *system)
{
    const struct lp_system_options *const options = &system->options;
    struct lp_model *const m = &system->model;
    const uint32_t workers =
        options->engine.sync == CW_SEQUENTIAL ? 1 : options->engine.worker_count;
    lp_landing_init(&system->landing);
    if (options->fold != NULL)
        system->fold = *options->fold;
    lp_layout_init(m, options->hw, options->queues, options->needs,
                   options->fold != NULL ? &system->fold : NULL);
    const bool timed = lp_batches_init(&system->batches, workers, m);
    system->maps = lp_maps_create(m->sips, m->pes);
    m->maps = system->maps;
    for (uint32_t i = 0; i < LP_PLANS; i++)
        m->plan[1 + i] = options->plan[i];
    m->grows = options->grows;
    m->program = options->program;
    system->launches_from = UINT32_MAX;
    m->emit = emitted(options);
    m->emit.answer = on_answer;
    m->emit.answer_arg = system;
    for (size_t i = 0; i < LP_LISTENERS; i++)
        system->hears_ops |= options->listener[i].op != NULL;
    trace_causes(system, false);
    const bool watches = m->fold != NULL && !m->fold->translates;
    m->ties = watches ? lp_tie_watch_create(m) : NULL;
    if (watches && m->ties == NULL)
        return false;
    system->hooks = lp_engine_model(m, options->causes.begin != NULL);
    return lp_control_init(&system->control, m) && timed && system->maps != NULL;
}

/* What the machine itself sets of the engine's configuration, the arrays of the partition aside. */
static struct cw_config engine_config(struct lp_system *system)
{
    const struct lp_system_options *const options = &system->options;
    struct cw_config config = options->engine;
    if (config.end_ps == 0)
        config.end_ps = CW_TIME_MAX;
    config.record = is_heard(options) ? on_record : NULL;
    config.record_arg = system;
    config.tuning.listener = 1; /* the host's LP takes answers: it sends nothing, emits nothing */
    config.tuning.least_delays = system_least_delays;
    config.tuning.least_delays_arg = system;
    config.tuning.worker_record = on_worker_record;
    config.tuning.worker_look = options->on_workers.look != NULL ? on_worker_look : NULL;
    config.tuning.worker_arg = system;
    return config;
}

/* NULL: *error says why. */
static struct cw_sim *create_simulation(struct lp_system *system, struct cw_error *error)
{
    const struct lp_system_options *const options = &system->options;
    const uint32_t workers = options->engine.worker_count;
    const bool placed = workers > 1;
    uint32_t *const lp_worker = malloc(system->model.lps.count * sizeof *lp_worker);
    int64_t *const least_ps = malloc((size_t)workers * workers * sizeof *least_ps);
    uint32_t *const lp_part = parts_of(options, &system->model);
    struct cw_sim *sim = NULL;
    if (lp_worker == NULL || least_ps == NULL ||
        (placed && !lp_place(&system->model, workers, options->cube_worker, lp_worker, least_ps,
                             &system->cut))) {
        machine_out_of_memory(error);
    } else {
        struct cw_config config = engine_config(system);
        config.lp_worker = placed ? lp_worker : NULL;
        config.least_delay_ps = placed ? least_ps : NULL;
        config.tuning.lp_part = lp_part;
        sim = cw_sim_create(&config, &system->hooks, error);
    }
    free(lp_worker);
    free(least_ps);
    free(lp_part);
    return sim;
}

static int check_queues(const struct lp_needs *needs, const struct hw_config *hw,
                        struct cw_error *error)
{
    const uint32_t contexts = needs->contexts > 0 ? needs->contexts : 1;
    if (needs->queues > LP_PE_QUEUES_MAX)
        return cw_error_set(error, CW_USAGE, "%u hardware queues of a PE; legal are 1 to %d",
                            needs->queues, LP_PE_QUEUES_MAX);
    if (needs->queues > 1 && needs->queues * contexts > LP_PE_CONTEXTS_MAX)
        return cw_error_set(error, CW_USAGE,
                            "%u hardware queues of a PE, for kernels of up to %u contexts each; "
                            "legal are %d contexts in all",
                            needs->queues, contexts, LP_PE_CONTEXTS_MAX);
    if ((uint64_t)needs->queues * hw_pe_count(hw) >= UINT32_MAX) /* lp_peer_key() */
        return cw_error_set(error, CW_USAGE,
                            "%u hardware queues of each of %u PEs; legal are fewer than 2^32 - 1 "
                            "in all",
                            needs->queues, hw_pe_count(hw));
    return CW_OK;
}

const char *lp_system_refuses_replay(const struct lp_system *system)
{
    const struct lp_system_options *const options = &system->options;
    const struct lp_worker_listener *const heard = &options->on_workers;
    bool late = options->hw->faults != NULL;
    for (enum hw_node_kind kind = 0; kind < HW_NODE_KINDS; kind++)
        late |= options->hw->node_jitter[kind].active;
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
        late |= options->hw->link_jitter[kind].active;
    if (options->engine.sync != CW_SEQUENTIAL)
        return "operations are replayed on one thread alone: give --threads 1";
    if (late)
        return "the machine has jitter or slow parts";
    if (options->hw->later != NULL)
        return "links fail during the run";
    if (is_heard(options) || heard->op != NULL || options->causes.record != NULL)
        return "records of all events are wanted";
    if (system->model.ties != NULL)
        return "the fold watches all events for ties";
    if (options->needs.accounts > 0)
        return "bytes are counted by accounts";
    if (options->program == NULL || options->program->free_control)
        return "launches take no time";
    return NULL;
}

struct lp_system *lp_system_create(const struct lp_system_options *options, struct cw_error *error)
{
    struct lp_system *system = calloc(1, sizeof *system);
    if (system == NULL) {
        machine_out_of_memory(error);
        return NULL;
    }
    system->options = *options;
    if (options->fold != NULL && !options->fold->translates) { /* it watches for ties */
        system->options.engine.sync = CW_SEQUENTIAL;
        system->options.engine.worker_count = 1;
    }
    if (check_queues(&options->needs, options->hw, error) != CW_OK) {
        lp_system_free(system);
        return NULL;
    }
    if (!build_model(system))
        machine_out_of_memory(error);
    else
        system->sim = create_simulation(system, error);
    if (system->sim == NULL) {
        lp_system_free(system);
        return NULL;
    }
    return system;
}

void lp_system_free(struct lp_system *system)
{
    if (system == NULL)
        return;
    cw_sim_free(system->sim);
    lp_layout_free(&system->model);
    lp_control_free(&system->control);
    lp_tie_watch_free(system->model.ties);
    lp_landing_free(&system->landing);
    lp_replay_free(system->replay);
    lp_maps_free(system->maps);
    free(system->launched);
    lp_batches_free(&system->batches);
    free(system);
}

/* ---- control messages ------------------------------------------------------------------------ */

/* Submits a control message with this much data to `count` consecutive PEs of one SIP. */
static int submit_messages(struct lp_system *system, uint32_t pe, uint32_t count,
                           enum lp_transfer_kind kind, uint32_t seq, uint32_t data_bytes,
                           struct cw_error *error)
{
    const uint32_t sip = pe / system->control.sip_pes;
    if (system->model.fold != NULL && hw_fold_representative(system->model.fold, sip) != sip)
        return cw_error_set(error, CW_BUG,
                            "a message to SIP %u, which its representative %u stands for", sip,
                            hw_fold_representative(system->model.fold, sip));
    const struct lp_control_message message = {
        .pe = pe, .seq = seq, .data_bytes = data_bytes, .kind = (uint8_t)kind};
    if (!lp_control_submit_run(&system->control, message, count))
        return machine_out_of_memory(error);
    current_times(system)->submitted += count;
    system->batches.current->kernels += kind == LP_TRANSFER_LAUNCH ? count : 0;
    return CW_OK;
}

static int submit_message(struct lp_system *system, uint32_t pe, enum lp_transfer_kind kind,
                          uint32_t seq, uint32_t data_bytes, struct cw_error *error)
{
    return submit_messages(system, pe, 1, kind, seq, data_bytes, error);
}

/* Adds its rings to those that other plans have named. */
static void name_plan(struct lp_model *m, uint32_t plan)
{
    const bool first = m->named == NULL;
    m->named = m->plan[1 + plan];
    const struct lp_ring_area rings = lp_plan_rings(m->named);
    m->rings.start = first || rings.start < m->rings.start ? rings.start : m->rings.start;
    m->rings.end = rings.end > m->rings.end ? rings.end : m->rings.end;
    if (m->config.slots == HW_MEMORY_TCM)
        m->tcm_queue_bytes = lp_tcm_share(m->rings.start, m->needs.queues);
}

/* PEs in a row, from this one to the end of its SIP at most, that the named plan wires. */
static uint32_t wired_from(const struct lp_system *system, uint32_t pe)
{
    const uint32_t sip_pes = system->control.sip_pes, end = (pe / sip_pes + 1) * sip_pes;
    uint32_t to = pe;
    while (to < end && lp_is_wired(system->model.named, to))
        to++;
    return to - pe;
}

static struct lp_wired_machine wired_machine(struct lp_system *system, uint32_t plan)
{
    return (struct lp_wired_machine){.m = &system->model,
                                     .plan = plan,
                                     .engine = &system->options.engine,
                                     .sim = system->sim,
                                     .control = &system->control};
}

/* Whether an installation now would be the first, and nobody wants records of its events. */
static bool may_share_installation(const struct lp_system *system)
{
    const struct lp_system_options *const options = &system->options;
    const struct cw_tuning *const tuning = &options->engine.tuning;
    const bool is_first = system->model.named == NULL && system->control.count == 0 &&
                          system->control.next_number == 0;
    return options->wired != NULL && is_first && !is_heard(options) && tuning->each_round == NULL &&
           tuning->interval_bytes == 0;
}

/* Whether the machine now is as one that was installed alike. */
static bool restore_installed(struct lp_system *system, uint32_t plan)
{
    if (!may_share_installation(system))
        return false;
    const struct lp_wired_machine machine = wired_machine(system, plan);
    const uint32_t messages = lp_wired_restore(system->options.wired, &machine);
    current_times(system)->submitted = messages;
    system->is_restored = messages > 0;
    system->is_to_keep = !system->is_restored;
    return system->is_restored;
}

int lp_system_submit_install(struct lp_system *system, uint32_t plan, struct cw_error *error)
{
    const uint32_t pe_count = lp_pe_count(&system->model);
    if (!begin_batch(system, false))
        return machine_out_of_memory(error);
    const bool is_restored = restore_installed(system, plan);
    name_plan(&system->model, plan);
    int code = CW_OK;
    if (is_restored)
        return code;
    for (uint32_t i = 0, count; i < pe_count && code == CW_OK; i += count > 0 ? count : 1) {
        const uint32_t pe = lp_pe_at(&system->model, i);
        count = wired_from(system, pe);
        if (count > 0)
            code = submit_messages(system, pe, count, LP_TRANSFER_INIT, plan, 0, error);
    }
    return code;
}

int lp_system_submit_more_queues(struct lp_system *system, uint32_t plan, const uint32_t *sip,
                                 uint32_t sip_count, const struct lp_dirs *dirs,
                                 struct cw_error *error)
{
    const uint32_t sip_pes = system->control.sip_pes;
    if (!begin_batch(system, false))
        return machine_out_of_memory(error);
    name_plan(&system->model, plan);
    int code = CW_OK;
    for (uint32_t i = 0; i < sip_count; i++)
        for (uint32_t pe = sip[i] * sip_pes; pe < (sip[i] + 1) * sip_pes && code == CW_OK; pe++)
            if ((lp_directions(system->model.named, pe) & dirs->mask) != 0)
                code = submit_messages(system, pe, 1, LP_TRANSFER_INIT, plan, 0, error);
    return code;
}

int lp_system_begin_copy(struct lp_system *system, struct cw_error *error)
{
    return begin_batch(system, false) ? CW_OK : machine_out_of_memory(error);
}

int lp_system_map(struct lp_system *system, const struct lp_map *map, struct cw_error *error)
{
    struct lp_map own = *map;
    own.sip = lp_sip_index(&system->model, map->sip);
    if (!lp_maps_add(system->maps, &own))
        return cw_error_memory(error, "the maps of virtual addresses");
    return CW_OK;
}

void lp_system_unmap(struct lp_system *system, uint32_t sip, uint64_t va)
{
    lp_maps_drop(system->maps, lp_sip_index(&system->model, sip), va);
}

int lp_system_submit_map(struct lp_system *system, uint32_t pe, uint32_t message,
                         struct cw_error *error)
{
    return submit_message(system, pe, LP_TRANSFER_MAP, message, 0, error);
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

/* Of which the times of phases are kept. */
static size_t rank_count(const struct lp_model *m)
{
    const size_t ranks = m->named != NULL ? lp_plan_ranks(m->named) : 0;
    return ranks > m->hw.sip_count ? ranks : m->hw.sip_count;
}

/* Something begins on an idle machine. */
static void ask_for_causes(struct lp_system *system)
{
    if (system->options.causes.begin != NULL)
        trace_causes(system,
                     system->options.causes.begin(system->options.causes.arg, &system->model));
}

int lp_system_begin_batch(struct lp_system *system, const struct lp_batch_options *options,
                          struct cw_error *error)
{
    if (options->queue >= system->model.needs.queues)
        return cw_error_set(error, CW_USAGE,
                            "a batch of launches on hardware queue %u: legal are 0 to %u",
                            options->queue, system->model.needs.queues - 1);
    if (system->model.launches.last > UINT32_MAX - lp_pe_count(&system->model))
        return cw_error_set(error, CW_PROGRAM_FAILED,
                            "the machine has run %u launches, and the next batch may need more "
                            "numbers than 2^32 - 1; run the others in a process of their own",
                            (unsigned)system->model.launches.last);
    const bool is_idle = !lp_batches_are_in_flight(&system->batches);
    if (is_idle) {
        ask_for_causes(system);
        system->launched_count = 0;
    }
    if (!begin_batch(system, true) ||
        !lp_batch_times_name_phases(&system->batches.current->times, options->kernel,
                                    options->ranks > 0 ? options->ranks
                                                       : rank_count(&system->model)) ||
        !lp_batches_name(&system->batches, options->whose, options->name) ||
        !lp_batches_count(&system->batches, &system->model, options->account))
        return machine_out_of_memory(error);
    system->batches.current->dirs = options->dirs;
    system->batches.current->slots = options->slots;
    system->batches.current->of = options->of;
    system->batches.current->queue = (uint8_t)options->queue;
    system->batches.current->cuts_streams =
        options->cuts_streams && system->model.hw.contention == HW_CONTENTION_MESSAGE;
    return CW_OK;
}

/* These PEs have got this launch, since the machine was idle. False: out of memory. */
static bool note_launched(struct lp_system *system, const uint32_t *pe, uint32_t count,
                          uint32_t launch)
{
    const size_t needed = system->launched_count + count;
    if (needed > system->launched_capacity) {
        const size_t capacity = 2 * needed;
        struct lp_launched *const more = realloc(system->launched, capacity * sizeof *more);
        if (more == NULL)
            return false;
        system->launched = more;
        system->launched_capacity = capacity;
    }
    for (uint32_t i = 0; i < count; i++)
        system->launched[system->launched_count++] = (struct lp_launched){pe[i], launch};
    return true;
}

/* ---- programs -------------------------------------------------------------------------------- */

void lp_system_launch_from(struct lp_system *system, uint32_t op, uint32_t queue)
{
    system->launches_from = op;
    system->launches_queue = (uint8_t)queue;
}

/* A place for another run of the SIP's program; NULL: out of memory. */
static struct lp_program_run *add_run(struct lp_program_of_sip *own, struct lp_program_op *op)
{
    if (own->run_count == own->run_capacity) {
        const uint32_t capacity = 2 * own->run_capacity + 64;
        struct lp_program_run *const runs = realloc(own->runs, capacity * sizeof *runs);
        if (runs == NULL)
            return NULL;
        own->runs = runs;
        own->run_capacity = capacity;
    }
    if (op->run_count++ == 0)
        op->first_run = own->run_count;
    return &own->runs[own->run_count++];
}

/* A launch of the current operation, on these PEs of one SIP. False: out of memory. */
static bool add_runs(struct lp_system *system, const uint32_t *pe, uint32_t count, uint32_t launch)
{
    struct lp_program_of_sip *const own =
        &system->options.program
             ->sip[lp_sip_index(&system->model, pe[0] / system->control.sip_pes)];
    struct lp_program_run *run = NULL;
    struct lp_launches *const launches = &system->model.launches;
    launches->at[launch - 1 - launches->dropped].queue = system->launches_queue;
    for (uint32_t i = 0; i < count; i++) {
        if (run != NULL && run->count == 1)
            run->stride = pe[i] - run->pe;
        if (run != NULL && pe[i] == run->pe + run->count * run->stride) {
            run->count++;
            continue;
        }
        run = add_run(own, &own->ops[system->launches_from]);
        if (run == NULL)
            return false;
        *run = (struct lp_program_run){.launch = launch, .pe = pe[i], .count = 1, .stride = 1};
    }
    system->batches.current->kernels += count;
    current_times(system)->submitted += count;
    return true;
}

int lp_system_begin_program(struct lp_system *system, struct cw_error *error)
{
    const struct lp_program *const program = system->options.program;
    system->launches_from = UINT32_MAX;
    system->in_program = true;
    if (system->options.replay && lp_system_refuses_replay(system) == NULL) {
        system->replay =
            lp_replay_create(&system->model, &system->control, on_replayed_mark, system);
        if (system->replay == NULL || !lp_replay_begin(system->replay, system->sim))
            return machine_out_of_memory(error);
    }
    if (!lp_batches_are_in_flight(&system->batches))
        ask_for_causes(system);
    for (uint32_t i = 0; i < system->model.sips; i++)
        if (program->sip[i].count > 0 &&
            !lp_control_submit(&system->control,
                               (struct lp_control_message){.pe = lp_sip_at(&system->model, i) *
                                                                 system->control.sip_pes,
                                                           .kind = LP_TRANSFER_BEGIN}))
            return machine_out_of_memory(error);
    return CW_OK;
}

static const struct lp_io_die *io_die(const struct lp_system *system, uint32_t sip)
{
    return cw_state(system->sim, lp_of_io_die(&system->model, sip));
}

int64_t lp_system_program_begun_ps(const struct lp_system *system, uint32_t sip)
{
    return lp_sequencer_begun_ps(&system->model, io_die(system, sip));
}

struct lp_program_times lp_system_program_times(const struct lp_system *system, uint32_t sip,
                                                uint32_t op)
{
    const struct lp_model *const m = &system->model;
    const int64_t begun_ps = lp_sequencer_begun_ps(m, io_die(system, sip));
    struct lp_program_times times = lp_sequencer_times(m, io_die(system, sip), op);
    times.start_ps -= begun_ps;
    times.end_ps -= begun_ps;
    return times;
}

/* An operation whose kernels have ended. */
struct ended {
    int64_t t_ps;
    uint32_t sip, op; /* sip: its number among those that have LPs */
};

static int by_end(const void *a, const void *b)
{
    const struct ended *const x = a, *const y = b;
    if (x->t_ps != y->t_ps)
        return x->t_ps < y->t_ps ? -1 : 1;
    if (x->sip != y->sip)
        return x->sip < y->sip ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static void count_waiting(void *arg, const struct lp_waiting *waiting)
{
    (void)waiting;
    ++*(uint32_t *)arg;
}

/* Of some SIPs the first operation that is not over; then the kernels that wait, if any. */
static int report_unfinished(struct lp_system *system, struct cw_error *error)
{
    enum { SIPS_SHOWN = 4 };
    const struct lp_program *const program = system->options.program;
    char name[300], text[SIPS_SHOWN * (sizeof name + 2)] = "";
    size_t used = 0;
    uint32_t left = 0, sips = 0, kernels = 0;
    for (uint32_t i = 0; i < system->model.sips; i++) {
        const uint32_t sip = lp_sip_at(&system->model, i);
        bool is_first = true;
        for (uint32_t op = 0; op < program->sip[i].count; op++) {
            if (lp_sequencer_times(&system->model, io_die(system, sip), op).end_ps >= 0)
                continue;
            left++;
            if (is_first && sips++ < SIPS_SHOWN && program->name != NULL)
                used +=
                    (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? "; " : "",
                                     program->name(program->arg, sip, op, name, sizeof name));
            is_first = false;
        }
    }
    if (sips > SIPS_SHOWN)
        (void)snprintf(text + used, sizeof text - used, "; and of %u more", sips - SIPS_SHOWN);
    lp_waiting_visit(&system->model, system->sim, count_waiting, &kernels);
    char *const more =
        kernels > 0 && lp_deadlock_report(&system->model, system->sim, error) == CW_PROGRAM_FAILED
            ? strdup(cw_error_text(error))
            : NULL;
    (void)cw_error_set(error, CW_PROGRAM_FAILED,
                       "a deadlock: %u operation%s %s not end; the first of each rank: %s%s%s",
                       left, left == 1 ? "" : "s", left == 1 ? "does" : "do", text,
                       more != NULL ? "\n" : "", more != NULL ? more : "");
    free(more);
    return error->exit_code;
}

/* As if the kernels' completions had come to the host. */
static int end_program(struct lp_system *system, struct cw_error *error)
{
    const struct lp_program *const program = system->options.program;
    const struct lp_model *const m = &system->model;
    size_t count = 0;
    system->in_program = false;
    for (uint32_t i = 0; i < m->sips; i++) {
        count += program->sip[i].count;
        if (program->sip[i].count > 0 && lp_sequencer_left(m, io_die(system, lp_sip_at(m, i))) > 0)
            return report_unfinished(system, error);
    }
    struct ended *const ended = malloc((count + 1) * sizeof *ended);
    if (ended == NULL)
        return cw_error_memory(error, "the ends of operations");
    count = 0;
    for (uint32_t i = 0; i < m->sips; i++)
        for (uint32_t op = 0; op < program->sip[i].count; op++)
            ended[count++] = (struct ended){
                lp_sequencer_times(m, io_die(system, lp_sip_at(m, i)), op).end_ps, i, op};
    qsort(ended, count, sizeof *ended, by_end);
    for (size_t i = 0; i < count; i++) {
        const struct lp_program_of_sip *const own = &program->sip[ended[i].sip];
        const struct lp_program_op *const op = &own->ops[ended[i].op];
        for (uint32_t k = 0; k < op->run_count; k++)
            for (uint32_t kernel = 0; kernel < own->runs[op->first_run + k].count; kernel++)
                on_answer(system,
                          &(struct lp_answer){ended[i].t_ps, own->runs[op->first_run + k].pe,
                                              own->runs[op->first_run + k].launch});
    }
    free(ended);
    return CW_OK;
}

/* ---- launches -------------------------------------------------------------------------------- */

int lp_system_submit_launches(struct lp_system *system, const uint32_t *pe, uint32_t count,
                              const struct tl_kernel *kernel, const struct tl_args *args,
                              struct cw_error *error)
{
    int code = tl_kernel_check(kernel, error);
    if (code != CW_OK || count == 0)
        return code;
    const uint32_t launch = lp_batches_add_launch(&system->batches, &system->model, kernel, args,
                                                  system->launches_from + 1);
    if (launch == 0 || !note_launched(system, pe, count, launch))
        return machine_out_of_memory(error);
    if (system->launches_from != UINT32_MAX)
        return add_runs(system, pe, count, launch) ? CW_OK : machine_out_of_memory(error);
    for (uint32_t i = 0; i < count && code == CW_OK; i++)
        code = submit_message(system, pe[i], LP_TRANSFER_LAUNCH, launch, 0, error);
    return code;
}

int lp_system_submit_launch(struct lp_system *system, uint32_t pe, const struct tl_kernel *kernel,
                            const struct tl_args *args, struct cw_error *error)
{
    return lp_system_submit_launches(system, &pe, 1, kernel, args, error);
}

static int by_pe(const void *a, const void *b)
{
    const struct lp_launched *const x = a, *const y = b;
    if (x->pe != y->pe)
        return x->pe < y->pe ? -1 : 1;
    return x->launch < y->launch ? -1 : x->launch > y->launch;
}

/* The list as lp_check_received() wants it. One batch alone is in this order already. */
static void sort_launched(struct lp_system *system)
{
    if (system->batches.current->number != system->model.first_batch)
        qsort(system->launched, system->launched_count, sizeof *system->launched, by_pe);
}

/* Nothing is left to happen: all kernels have ended, and all their tiles were received. */
static int check_ended(struct lp_system *system, struct cw_error *error)
{
    if (lp_system_times(system)->returned == current_times(system)->submitted &&
        !lp_batches_are_in_flight(&system->batches)) {
        sort_launched(system);
        return lp_check_received(&system->model, system->sim, system->launched,
                                 system->launched_count, error);
    }
    return lp_deadlock_report(&system->model, system->sim, error);
}

/* The engine has ended the run. Only without speculation are the states committed.
 */
static int report_failure(struct lp_system *system, struct cw_error *error)
{
    char fault[sizeof error->text];
    system->engine_failed = true;
    if (error->exit_code != CW_PROGRAM_FAILED || cw_failed_event(system->sim) != NULL ||
        system->options.engine.sync != CW_SEQUENTIAL)
        return error->exit_code;
    (void)snprintf(fault, sizeof fault, "%s", error->text);
    return lp_overrun_report(&system->model, system->sim, fault, error);
}

static int report_end_of_time(const struct lp_system *system, struct cw_error *error)
{
    const long long end_ps = (long long)system->options.engine.end_ps;
    char fault[120];
    (void)snprintf(fault, sizeof fault, "not over at %lld.%03lld ns, the limit of simulated time,",
                   end_ps / 1000, end_ps % 1000);
    return lp_overrun_report(&system->model, system->sim, fault, error);
}

bool lp_system_has_committed_states(const struct lp_system *system)
{
    return !system->engine_failed || system->options.engine.sync == CW_SEQUENTIAL;
}

bool lp_system_is_cut_short(const struct lp_system *system)
{
    return system->engine_failed && cw_failed_event(system->sim) == NULL;
}

/* With launch_together, the kernels that are submitted together start when the last launch message
 * has come. */
static bool set_start(struct lp_system *system)
{
    struct lp_launches *const launches = &system->model.launches;
    const int64_t way_ps =
        system->model.hw.launch_together ? lp_control_way_ps(&system->control, &system->model) : 0;
    for (uint32_t i = launches->last - launches->dropped;
         i > 0 && launches->at[i - 1].start_ps == INT64_MAX; i--)
        launches->at[i - 1].start_ps = system->host_now_ps + way_ps;
    return way_ps >= 0;
}

int lp_system_inject(struct lp_system *system, struct cw_error *error)
{
    if (!set_start(system))
        return cw_error_memory(error, "the control messages");
    return lp_control_inject(&system->control, &system->model, system->sim, system->host_now_ps,
                             error);
}

int lp_system_run_until(struct lp_system *system, int64_t end_ps, struct cw_error *error)
{
    bool again = false;
    int code;
    do {
        code = cw_drain_until(system->sim, end_ps, error);
        if (code == CW_OK && system->replay != NULL)
            code = lp_replay_turn(system->replay, &again, error);
    } while (code == CW_OK && again);
    if (code != CW_OK)
        return report_failure(system, error);
    if (system->out_of_memory) /* before all else: records are missing */
        return cw_error_memory(error, "the puts in flight");
    const int64_t limit_ps = system->options.engine.end_ps, next_ps = lp_system_next_ps(system);
    return limit_ps > 0 && next_ps >= limit_ps && next_ps < CW_TIME_MAX
               ? report_end_of_time(system, error)
               : CW_OK;
}

void lp_system_set_now(struct lp_system *system, int64_t now_ps) { system->host_now_ps = now_ps; }

uint64_t lp_system_free_tcm(const struct lp_system *system)
{
    const struct lp_model *const m = &system->model;
    const uint64_t more = m->hw.tcm_bytes - m->hw.tcm_bytes / lp_coarse(&m->config);
    return more == 0 ? m->tcm_queue_bytes : (m->tcm_queue_bytes - more / m->needs.queues) / 64 * 64;
}

int64_t lp_system_reaction_ps(const struct lp_system *system)
{
    const struct hw_config *const hw = &system->model.hw;
    const struct hw_link_class *const pcie = &hw->link[HW_LINK_PCIE];
    return hw->overhead_ps[HW_NODE_HOST] + pcie->prop_ps + hw_ser_ps(pcie, hw->control_msg_bytes);
}

int64_t lp_system_next_ps(const struct lp_system *system) { return cw_sim_next(system->sim); }

int lp_system_drain(struct lp_system *system, struct cw_error *error)
{
    if (system->is_restored) {
        system->is_restored = false;
        system->host_now_ps = cw_sim_now(system->sim);
        return CW_OK;
    }
    int code = lp_system_inject(system, error);
    if (code == CW_OK)
        code = lp_system_run_until(system, CW_TIME_MAX, error);
    system->host_now_ps = cw_sim_now(system->sim);
    if (code != CW_OK)
        return code;
    if (CW_ASSERTING && lp_check_drained(&system->model, system->sim, error) != CW_OK)
        return CW_BUG;
    if (system->in_program && (code = end_program(system, error)) != CW_OK)
        return code;
    code = check_ended(system, error);
    if (code == CW_OK && system->is_to_keep)
        lp_wired_keep(system->options.wired, system->sim, current_times(system)->submitted);
    system->is_to_keep = false;
    return code;
}

/* ---- the idle machine ------------------------------------------------------------------------ */

bool lp_system_is_idle(const struct lp_system *system)
{
    return !system->engine_failed && !system->in_program && system->control.count == 0 &&
           !lp_batches_are_in_flight(&system->batches) && lp_system_next_ps(system) == CW_TIME_MAX;
}

struct lp_idle_machine lp_system_idle_machine(const struct lp_system *system)
{
    return (struct lp_idle_machine){.m = &system->model,
                                    .sim = system->sim,
                                    .control = &system->control,
                                    .now_ps = system->host_now_ps};
}

/* What a launch asks for, but for its number, its batch and the host's accounts. */
static void put_launch(struct lp_idle_state *state, const struct lp_launch *launch)
{
    const struct tl_args *const args = &launch->args;
    const uint64_t words[] = {(uintptr_t)launch->kernel,
                              (uintptr_t)launch->dirs,
                              (uint64_t)launch->queue << 1 | launch->cuts_streams,
                              launch->op,
                              args->tensor,
                              args->tensor_pa,
                              args->shard_bytes,
                              args->n_elem,
                              args->rank,
                              (uint64_t)args->dtype << 24 | (uint64_t)args->math << 16 |
                                  (uint64_t)args->pe_shards << 8 | args->topology,
                              (uint64_t)args->sip_w << 32 | args->sip_h,
                              args->piece_tiles,
                              (uintptr_t)args->parameter,
                              (uintptr_t)args->more,
                              (uintptr_t)args->own};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        lp_idle_state_put(state, words[i]);
    for (size_t i = 0; i < TL_REGIONS; i++) {
        lp_idle_state_put(state, args->region[i].va);
        lp_idle_state_put(state, args->region[i].pa);
        lp_idle_state_put(state, args->region[i].bytes);
    }
    for (size_t i = 0; i < TL_SCALARS_MAX; i++)
        lp_idle_state_put(state, (uint64_t)args->scalar[i]);
}

static void put_launches(const struct lp_system *system, struct lp_idle_state *state)
{
    uint32_t before = 0;
    for (size_t i = 0; i < system->launched_count; i++) {
        const struct lp_launched *const launched = &system->launched[i];
        if (launched->launch != before && lp_has_launch(&system->model, launched->launch))
            put_launch(state, lp_launch_of(&system->model, launched->launch));
        before = launched->launch;
        lp_idle_state_put(state, launched->pe);
    }
}

static void put_maps(const struct lp_system *system, struct lp_idle_state *state)
{
    const struct lp_map *map;
    for (uint32_t sip = 0; sip < system->model.sips; sip++)
        for (uint32_t i = 0; (map = lp_maps_at(system->maps, sip, i)) != NULL; i++) {
            const uint64_t words[] = {map->va,
                                      map->pa,
                                      map->bytes,
                                      map->sip,
                                      (uint64_t)map->first_cube << 32 | map->cubes,
                                      (uint64_t)map->first_pe << 32 | map->pes,
                                      (uint64_t)map->parts};
            for (size_t k = 0; k < sizeof words / sizeof *words; k++)
                lp_idle_state_put(state, words[k]);
        }
}

bool lp_system_idle_state(const struct lp_system *system, struct lp_idle_state *state)
{
    const struct lp_idle_machine machine = lp_system_idle_machine(system);
    bool idle = lp_system_is_idle(system);
    lp_idle_state_begin(state, machine.now_ps);
    for (uint32_t lp = 0; idle && lp < system->model.lps.count; lp++)
        idle = lp_idle_state_add(state, &machine, lp);
    if (idle) {
        put_launches(system, state);
        put_maps(system, state);
        lp_idle_state_count_up(state, system->model.launches.last);
    }
    return idle && lp_idle_state_end(state);
}

uint32_t lp_system_current_batch(const struct lp_system *system)
{
    return system->batches.current->number;
}

uint32_t lp_system_hold_batch(struct lp_system *system)
{
    system->batches.current->held = true;
    return system->batches.current->number;
}

void lp_system_return_to_batch(struct lp_system *system, uint32_t batch)
{
    system->batches.current = lp_batches_find(&system->batches, batch);
}

void lp_system_release_batch(struct lp_system *system, uint32_t batch)
{
    struct lp_batch *const held = lp_batches_find(&system->batches, batch);
    if (held != NULL)
        held->held = false;
}

/* ---- queries --------------------------------------------------------------------------------- */

const struct lp_model *lp_system_model(const struct lp_system *system) { return &system->model; }
struct cw_sim *lp_system_sim(struct lp_system *system) { return system->sim; }
const struct lp_cut *lp_system_cut(const struct lp_system *system)
{
    return system->options.engine.worker_count > 1 ? &system->cut : NULL;
}

/* Without the host's messages beside the launches. */
static struct lp_times *sum_times(struct lp_batch *batch)
{
    struct lp_times *const sum = &batch->times.sum;
    (void)lp_batch_times_sum(&batch->times);
    sum->returned = batch->answers;
    sum->host_ps = batch->answered_ps;
    return sum;
}

const struct lp_times *lp_system_times(struct lp_system *system)
{
    const struct lp_host *const host = cw_state(system->sim, 0);
    const uint32_t acknowledged = (uint32_t)(host->acknowledged - system->acknowledged);
    struct lp_times *const sum = sum_times(system->batches.current);
    sum->returned += acknowledged;
    if (acknowledged > 0 && host->last_ps > sum->host_ps)
        sum->host_ps = host->last_ps;
    return sum;
}

const struct lp_times *lp_system_times_of(struct lp_system *system, uint32_t batch)
{
    return sum_times(lp_batches_find(&system->batches, batch));
}

const struct lp_phases *lp_system_phases_of(struct lp_system *system, uint32_t batch)
{
    return lp_batch_times_phases(&lp_batches_find(&system->batches, batch)->times);
}

const struct lp_cube *lp_system_cube(const struct lp_system *system, uint32_t sip, uint32_t cube)
{
    return cw_state(system->sim, lp_of_cube(&system->model, sip, cube));
}

bool lp_system_has_written_nothing(const struct lp_system *system, uint32_t batch,
                                   struct hw_place place, const struct tl_source **at)
{
    const struct lp_model *const m = &system->model;
    const struct lp_pe *const pe =
        lp_pe(m, lp_system_cube(system, place.sip, place.cube), place.pe);
    for (uint32_t queue = 0; queue < m->needs.queues; queue++) {
        const struct lp_pe_queue *const own = lp_pe_queue(m, pe, queue);
        *at = lp_kernel_on(m, pe, queue)->source;
        if (own->batch == batch)
            return own->written < batch;
    }
    return false;
}

bool lp_system_fold_is_exact(const struct lp_system *system)
{
    return system->model.ties == NULL || lp_tie_watch_first(system->model.ties).lp == 0;
}

const char *lp_system_fold_tie(const struct lp_system *system, char text[LP_TIE_BYTES])
{
    const struct lp_model *const m = &system->model;
    const struct lp_tie tie = m->ties != NULL ? lp_tie_watch_first(m->ties) : (struct lp_tie){0};
    const double ns = (double)tie.time_ps / 1000;
    char at[HW_SWITCH_TEXT_BYTES];
    text[0] = '\0';
    if (tie.lp >= m->lps.first_switch)
        (void)snprintf(text, LP_TIE_BYTES, "%s, at %.3f ns",
                       hw_switch_text(&m->hw, lp_switch_at(m, tie.lp), at), ns);
    else if (tie.lp >= m->lps.first_io_die)
        (void)snprintf(text, LP_TIE_BYTES, "the io_die of SIP %u, at %.3f ns",
                       lp_sip_at(m, tie.lp - m->lps.first_io_die), ns);
    else if (tie.lp > 0)
        (void)snprintf(text, LP_TIE_BYTES, "cube %u of SIP %u, at %.3f ns", (tie.lp - 1) % m->cubes,
                       lp_sip_at(m, (tie.lp - 1) / m->cubes), ns);
    return text;
}

struct lp_replay_counts lp_system_replayed(const struct lp_system *system)
{
    return system->replay != NULL ? lp_replay_count(system->replay) : (struct lp_replay_counts){0};
}

struct lp_counts lp_system_count(const struct lp_system *system)
{
    return lp_machine_count(&system->model, system->sim, system->batches.worker_count);
}

void lp_system_visit_links(const struct lp_system *system, struct lp_machine_part part,
                           void (*visit)(void *arg, const struct lp_link_use *use), void *arg)
{
    lp_links_visit(&system->model, system->sim,
                   (struct lp_links_asked){.first_batch = system->model.first_batch,
                                           .account = part.account,
                                           .part = part.index,
                                           .parts = part.parts,
                                           .groups = part.groups},
                   visit, arg);
}
