/*
 * dist_world.c: the host runtime's world (dist_world.h): owns the machine, the data pass, the
 * barriers. Between drains, one thread. While a drain lasts, the callbacks below take the records
 * that the machine commits: to the data pass on the workers, to logs and checks on one thread.
 */
#include "collectives/runtime/dist_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/config/input/environment.h"
#include "collectives/data/data_commit.h"
#include "collectives/data/op_log_write.h"
#include "collectives/plugin.h"
#include "collectives/data/strict_check.h"
#include "collectives/runtime/dist_check.h"
#include "collectives/runtime/dist_internal.h"
#include "collectives/schedule/schedule_program.h"
#include "core/os/clock.h"
#include "core/os/give_back.h"
#include "lp/queues/queue_ends.h"
#include "partition/partition.h"

int dist_no_memory(struct cw_error *error)
{
    return cw_error_set(error, CW_NO_RESOURCE, "out of memory in the host runtime");
}

/* ---- records that are committed -------------------------------------------------------------- */

/* The first failure in the total order counts. At one event a check comes before the data. */
static void note_strict_failure(struct dist *dist, const struct cw_event *event)
{
    memcpy(&dist->strict_event, event, offsetof(struct cw_event, payload) + event->payload_bytes);
}

static void on_op(void *arg, const struct cw_event *event, const struct lp_op *op)
{
    struct dist *dist = arg;
    if (dist->strict != NULL && dist->strict_error.exit_code == CW_OK &&
        strict_check_op(dist->strict, op, &dist->strict_error) != CW_OK)
        note_strict_failure(dist, event);
    if (dist->op_log != NULL)
        op_log_op(dist->op_log, op);
}

static void on_arrival(void *arg, const struct cw_event *event, const struct lp_arrival *arrival)
{
    struct dist *dist = arg;
    if (dist->strict_error.exit_code == CW_OK &&
        strict_check_arrival(dist->strict, arrival, &dist->strict_error) != CW_OK)
        note_strict_failure(dist, event);
}

/* The log knows kernels of a PE alone: they have ended when none of its hardware queues runs one.
 */
static void on_kernel(void *arg, const struct lp_kernel_record *record)
{
    const struct dist *const dist = arg;
    uint8_t *const running = &dist->running[record->pe];
    *running += record->mark == LP_MARK_START;
    *running -= record->mark == LP_MARK_END;
    if (dist->op_log != NULL && record->mark == LP_MARK_END && *running == 0)
        op_log_kernel_ended(dist->op_log, record->pe);
}

/* The records that the runtime itself wants in the total order: for the op log and the checks. */
static struct lp_listener own_listener(struct dist *dist)
{
    const bool strict = dist->strict != NULL, logs = dist->options.op_log;
    return (struct lp_listener){.op = strict || logs ? on_op : NULL,
                                .arrival = strict ? on_arrival : NULL,
                                .kernel = logs ? on_kernel : NULL,
                                .arg = dist};
}

static uint32_t worker_of_cube(void *arg, uint32_t cube)
{
    return cw_lp_worker(arg, 1 + cube); /* LP 0 is not a cube (lp/model.h) */
}

/* ---- the world ------------------------------------------------------------------------------- */

struct lp_plan *dist_queue_plan(const struct ccl_config *ccl, const struct hw_config *hw,
                                const struct lp_wiring *wiring, const uint32_t *pair,
                                const struct hw_fold *fold)
{
    const struct lp_plan_request request = {
        .hw = hw,
        .queues = &ccl->queues,
        .pe0_alone = ccl->wiring == CCL_WIRING_PE0,
        .pair = {pair != NULL ? pair[0] : 0, pair != NULL ? pair[1] : 0},
        .wiring = wiring,
        .fold = fold};
    return lp_plan_create(&request);
}

uint32_t dist_world_size_for(const struct config *config)
{
    return config->ccl.world_size > 0 ? config->ccl.world_size : config->hw.sip_count;
}

static int drain_installation(void *arg, struct cw_error *error)
{
    struct dist *dist = arg;
    const int code = dist_install(dist, error);
    dist->now_ps = cw_sim_now(lp_system_sim(dist->system));
    dist->open = code == CW_OK;
    return code;
}

static int close_group(void *arg, struct cw_error *error)
{
    struct dist *dist = arg;
    (void)error;
    dist->open = false;
    return CW_OK;
}

/* Of every HBM slice, for receive rings: a module's own topology is known by now. */
static uint64_t reserved_bytes(const struct dist *dist)
{
    const struct ccl_config *ccl = &dist->options.config->ccl;
    const struct lp_wiring *wiring =
        dist->world.plans ? install_plans_wiring(dist->world.plans) : NULL;
    if (dist->composed != NULL && ccl->queues.slots == HW_MEMORY_HBM)
        return lp_plan_rings(dist->composed).end;
    if (wiring == NULL || ccl->queues.slots != HW_MEMORY_HBM)
        return dist_ring_bytes(dist->options.config, HW_MEMORY_HBM);
    return (uint64_t)lp_wiring_rings_max(wiring) * ccl->queues.n_slots * ccl->queues.slot_bytes;
}

static bool allocate_world(struct dist *dist)
{
    dist->space =
        tensor_space_create(&dist->options.config->hw, dist->world.fold, reserved_bytes(dist));
    const struct hw_config *const hw = &dist->options.config->hw;
    dist->data_hw = *hw;
    dist->data_hw.tcm_bytes = lp_tcm_bytes(hw, &dist->options.config->ccl.queues);
    dist->of_rank = calloc(dist->world.live, sizeof *dist->of_rank);
    dist->running = dist->options.op_log ? calloc(hw_pe_count(hw), sizeof *dist->running) : NULL;
    dist->launched = malloc((size_t)hw_cubes(hw) * hw_pes(hw) * sizeof *dist->launched);
    dist->init_barrier = barrier_create(dist->world.live, drain_installation, dist);
    dist->end_barrier = barrier_create(dist->world.live, close_group, dist);
    dist->group_barrier = barrier_create(dist->world.live, dist_make_wanted, dist);
    if (!dist->options.no_data)
        dist->data = data_pass_create(&dist->data_hw, dist->options.machine.engine.memory_bytes_max,
                                      dist->options.machine.engine.worker_count);
    if (dist->data != NULL)
        data_pass_set_arithmetic(dist->data, dist->options.config->ccl.arithmetic);
    dist->contents.data = dist->data;
    const struct config *config = dist->options.config;
    if (config->ccl.strict_validation)
        dist->strict = strict_check_create(&config->hw, config->ccl.queues.n_slots,
                                           dist->options.warn, dist->options.arg);
    for (uint32_t i = 0; i < dist->group_count; i++)
        if (!dist_allocate_group(dist->groups[i]))
            return false;
    return dist_allocate_group(&dist->world) && dist->of_rank && dist->launched && dist->space &&
           dist->init_barrier && dist->end_barrier && dist->group_barrier &&
           (dist->data || dist->options.no_data) && (dist->running || !dist->options.op_log) &&
           (dist->strict || !config->ccl.strict_validation);
}

static uint32_t at_least(uint32_t count, uint32_t least) { return count > least ? count : least; }

/* Adds what a group's kernels need to what other kernels need. */
static void add_needs(const struct dist_group *group, struct lp_needs *needs)
{
    if (group->plans == NULL)
        return;
    needs->contexts = at_least(
        needs->contexts, 1 + install_plan_of(group->plans, 0).algorithm->kernel->stream_count);
    needs->peers = at_least(needs->peers, dist_peers_in(group));
    needs->trees |= dist_goes_by_trees(group);
}

/* The same of all groups; a PE may have peers in several of them. False: out of memory. */
static bool add_needs_of_groups(const struct dist *dist, struct lp_needs *needs)
{
    enum { LAUNCHES = 8 }; /* kernels that wait for a hardware queue of a PE */
    const uint32_t of_world = needs->peers;
    uint32_t *const peers = calloc(dist->options.config->hw.sip_count, sizeof *peers);
    if (peers == NULL)
        return false;
    for (uint32_t i = 0; i < dist->group_count; i++) {
        const struct dist_group *const group = dist->groups[i];
        add_needs(group, needs);
        const uint32_t own = dist_peers_in(group);
        for (uint32_t rank = 0; rank < group->size && own > 0; rank++)
            peers[ccl_sip_of(&group->config->ccl.ranks, rank)] += own;
    }
    for (uint32_t sip = 0; sip < dist->options.config->hw.sip_count; sip++)
        if (peers[sip] > 0)
            needs->peers = at_least(needs->peers, of_world + peers[sip]);
    needs->launches = at_least(needs->launches, LAUNCHES);
    free(peers);
    return true;
}

/* What a folded world cannot do; NULL: it can all that is asked. */
static const char *unfoldable(const struct dist *dist)
{
    const struct dist_options *const options = &dist->options;
    const struct ccl_config *const ccl = &options->config->ccl;
    return !options->no_data || options->op_log
               ? "has no values of tensors: its SIPs stand for others"
           : options->kernels_only ? "has no launches but those of collectives"
           : options->late_groups || (options->group_count > 0 && !options->groups_only)
               ? "has either collectives of the world or groups that are known when it is made"
           : ccl->strict_validation ? "has no strict validation: it does not see every PE"
           : ccl->ranks.per_sip > 0 || ccl->ranks.mapped || dist->world.size != dist->fold.of
               ? "has one rank on each SIP, rank r on SIP r"
               : NULL;
}

/* Makes the install plans. A program of kernels alone has no ranks, and uses the machine's own
 * queues. */
static int plan(struct dist *dist, struct cw_error *error)
{
    const struct config *config = dist->options.config;
    const struct hw_fold *const fold = dist->world.fold;
    const char *const lacks = fold != NULL ? unfoldable(dist) : NULL;
    if (lacks != NULL)
        return cw_error_set(error, CW_USAGE, "a folded world %s; legal: one that is not folded",
                            lacks);
    if (dist->options.kernels_only) {
        const uint32_t *const pair = dist->options.pair;
        if (dist_check_kernels_only(config, pair, error) != CW_OK)
            return error->exit_code;
        dist->kernels_plan = dist_queue_plan(&config->ccl, &config->hw, NULL, pair, NULL);
        return dist->kernels_plan != NULL ? CW_OK : dist_no_memory(error);
    }
    const char *key;
    const int code =
        fold != NULL && !dist->options.groups_only
            ? build_folded_plans(fold, dist->options.schedule, config->ccl.algorithm, &config->ccl,
                                 &config->hw, &dist->world.plans, &key, error)
            : build_install_plans(dist->facts.world_size, config->ccl.algorithm, &config->ccl,
                                  &config->hw, &dist->world.plans, &key, error);
    if (code != CW_OK)
        return code == CW_USAGE ? dist_refuse(config, key, error) : code;
    if (dist_check_rings(config, install_plans_rings(dist->world.plans),
                         install_plans_pes_of_cube(dist->world.plans), error) != CW_OK)
        return error->exit_code;
    if (dist_make_groups(dist, error) != CW_OK)
        return error->exit_code;
    const struct ccl_algorithm *const algorithm = install_plan_of(dist->world.plans, 0).algorithm;
    if (algorithm->schedule == NULL)
        return CW_OK;
    const struct ccl_call call = {.hw = &config->hw,
                                  .ccl = &config->ccl,
                                  .collective = algorithm->collective,
                                  .world_size = dist->facts.world_size,
                                  .n_elem = 1,
                                  .dtype = LP_F16}; /* its kernel needs as much TCM for any call */
    return dist_check_own_rings(config, algorithm, &call, install_plans_rings(dist->world.plans),
                                error);
}

/* Which worker has which cube. The caller frees *cube_worker; NULL: one has all. */
static int place_cubes(const struct dist *dist, uint32_t **cube_worker, struct cw_error *error)
{
    const struct hw_config *hw = &dist->options.config->hw;
    const struct partitioner *const partitioner = partitioner_find(dist->facts.partition);
    const uint32_t workers = dist->options.machine.engine.worker_count;
    const uint32_t sips = dist->world.fold != NULL ? dist->world.fold->sips : hw->sip_count;
    const uint64_t cubes = (uint64_t)sips * hw_cubes(hw);
    *cube_worker = NULL;
    if (workers <= 1)
        return CW_OK;
    *cube_worker = calloc(cubes, sizeof **cube_worker);
    if (partitioner == NULL || *cube_worker == NULL)
        return dist_no_memory(error);
    if (dist->world.fold == NULL)
        return partitioner->place(hw, workers, *cube_worker, error);
    for (uint64_t i = 0; i < cubes; i++)
        (*cube_worker)[i] = (uint32_t)(i * workers / cubes);
    return CW_OK;
}

static struct lp_system *build_machine(struct dist *dist, struct cw_error *error)
{
    struct lp_system_options *const machine = &dist->options.machine;
    const bool data = dist->data != NULL;
    uint32_t *cube_worker;
    if (place_cubes(dist, &cube_worker, error) != CW_OK) {
        free(cube_worker);
        return NULL;
    }
    machine->hw = &dist->options.config->hw;
    machine->queues = &dist->options.config->ccl.queues;
    add_needs(&dist->world, &machine->needs);
    machine->fold = dist->world.fold;
    machine->grows = dist->options.late_groups;
    if (dist->composed != NULL && !add_needs_of_groups(dist, &machine->needs)) {
        free(cube_worker);
        dist_no_memory(error);
        return NULL;
    }
    machine->plan[0] = dist->composed != NULL      ? dist->composed
                       : dist->world.plans != NULL ? install_plans_queues(dist->world.plans)
                                                   : dist->kernels_plan;
    machine->engine.tuning.stress_seed = 1;
    machine->cube_worker = cube_worker;
    machine->listener[1] = own_listener(dist);
    machine->answered = dist_answered;
    machine->answered_arg = dist;
    if (data)
        machine->on_workers = data_commit_listener(dist->data);
    struct lp_system *const system = lp_system_create(machine, error);
    free(cube_worker);
    machine->cube_worker = NULL;
    if (system != NULL && data && machine->engine.sync != CW_SEQUENTIAL)
        data_pass_set_owner(dist->data, worker_of_cube, lp_system_sim(system));
    if (data)
        data_pass_set_plan(dist->data, machine->plan[0]);
    if (dist->strict != NULL)
        strict_check_set_plan(dist->strict, machine->plan[0]);
    return system;
}

/* Of the plans. */
static void note_facts(struct dist *dist)
{
    struct dist_facts *const facts = &dist->facts;
    const char *const partition = dist->options.partition;
    facts->partition = partition != NULL ? partition : partitioner_at(0)->name;
    if (dist->world.plans == NULL)
        return;
    const struct schedule_program *const program = install_plans_program(dist->world.plans);
    facts->policy = install_plan_policy(dist->world.plans);
    facts->parts = install_plans_lanes(dist->world.plans);
    facts->schedule = program != NULL ? program->schedule : NULL;
}

struct dist *dist_create(const struct dist_options *options, struct cw_error *error)
{
    const double begin_s = clock_s();
    const struct config *config = options->config;
    if (options->fold == NULL && config->hw.sip_count > HW_UNFOLDED_SIPS_MAX) {
        (void)cw_error_set(error, CW_USAGE,
                           "%u SIPs: a machine that is not folded has at most %u (cubewarp run "
                           "--no-data folds)",
                           config->hw.sip_count, HW_UNFOLDED_SIPS_MAX);
        return NULL;
    }
    struct dist *dist = calloc(1, sizeof *dist);
    if (!dist) {
        dist_no_memory(error);
        return NULL;
    }
    dist->options = *options;
    dist->operation = UINT32_MAX;
    dist->facts.world_size = dist_world_size_for(config);
    if (options->fold != NULL)
        dist->fold = *options->fold;
    dist->facts.live_ranks = options->fold != NULL ? dist->fold.sips : dist->facts.world_size;
    dist->world = (struct dist_group){.dist = dist,
                                      .size = dist->facts.world_size,
                                      .live = dist->facts.live_ranks,
                                      .fold = options->fold != NULL ? &dist->fold : NULL,
                                      .config = config};
    if (plan(dist, error) != CW_OK) {
        dist_free(dist);
        return NULL;
    }
    note_facts(dist);
    if (!allocate_world(dist)) {
        dist_no_memory(error);
        dist_free(dist);
        return NULL;
    }
    dist->system = build_machine(dist, error);
    if (!dist->system) {
        dist_free(dist);
        return NULL;
    }
    dist->facts.setup_s = clock_s() - begin_s;
    return dist;
}

void dist_phase_end(const struct dist *dist, const char *name)
{
    if (dist->options.phase != NULL)
        dist->options.phase(dist->options.arg, name);
}

static void free_worker_data(void *arg, uint32_t worker)
{
    data_pass_free_part(arg, worker);
    give_back_freed();
}

void dist_free(struct dist *dist)
{
    if (!dist)
        return;
    if (dist->world.calls != NULL)
        dist_drop_works(dist);
    dist_free_tensors(dist);
    free(dist->owned);
    tensor_space_free(dist->space);
    barrier_free(dist->init_barrier);
    barrier_free(dist->end_barrier);
    barrier_free(dist->group_barrier);
    if (dist->data != NULL && dist->system != NULL)
        cw_each_worker(lp_system_sim(dist->system), free_worker_data, dist->data);
    if (dist->system != NULL) {
        cw_sim_clear(lp_system_sim(dist->system));
        dist_phase_end(dist, "freeing of data");
    }
    lp_system_free(dist->system);
    data_pass_free(dist->data);
    strict_check_free(dist->strict);
    dist_free_group(&dist->world);
    for (uint32_t i = 0; i < dist->group_count; i++) {
        dist_free_group(dist->groups[i]);
        free(dist->groups[i]);
    }
    free(dist->groups);
    dist_free_groups_of_one(dist);
    for (struct dist_kept *at = dist->kept, *next; at != NULL; at = next) {
        next = at->next;
        free(at);
    }
    lp_plan_free(dist->composed);
    lp_plan_free(dist->kernels_plan);
    free(dist->copies);
    contents_free(&dist->contents);
    for (uint32_t i = 0; dist->of_rank != NULL && i < dist->world.live; i++)
        free(dist->of_rank[i].at);
    free(dist->of_rank);
    free(dist->parts);
    free(dist->ends);
    free(dist->alarms);
    free(dist->launched);
    free(dist->running);
    free(dist);
}

/* The failure of a record that comes first in the total order; CW_OK: none failed. */
static int first_data_failure(struct dist *dist, const struct cw_event *failed, bool aborted,
                              struct cw_error *error)
{
    const struct data_drain drain = {.aborted = aborted, .failed = failed};
    struct cw_event event;
    int code = dist->data != NULL ? data_commit_settle(dist->data, &drain, &event, error) : CW_OK;
    if (code == CW_BUG && plugin_is_path(dist->options.config->ccl.module))
        code = error->exit_code = CW_PROGRAM_FAILED; /* a kernel of the user's asked for it */
    if (dist->strict_error.exit_code == CW_OK ||
        (code != CW_OK && cw_event_before(&event, &dist->strict_event)))
        return code;
    *error = dist->strict_error;
    return error->exit_code;
}

/* Fills that were put off. */
static int settle_contents(struct dist *dist, struct cw_error *error)
{
    const int code = contents_settle(&dist->contents, lp_system_sim(dist->system), error);
    if (code != CW_OK || dist->content_error.exit_code == CW_OK)
        return code;
    *error = dist->content_error;
    return error->exit_code;
}

/* The machine has run, with this result. Records come before the end of a run that failed, so an
 * error in a record goes first. */
static int settle_run(struct dist *dist, int code, struct cw_error *error)
{
    const struct cw_event *const failed = cw_failed_event(lp_system_sim(dist->system));
    const bool aborted =
        code == CW_NO_RESOURCE || (code != CW_OK && lp_system_is_cut_short(dist->system));
    struct cw_error data_error;
    if (first_data_failure(dist, failed, aborted, &data_error) == CW_OK)
        return code;
    *error = data_error;
    return error->exit_code;
}

int dist_drain(struct dist *dist, struct cw_error *error)
{
    if (settle_contents(dist, error) != CW_OK)
        return error->exit_code;
    return settle_run(dist, lp_system_drain(dist->system, error), error);
}

int dist_inject(struct dist *dist, struct cw_error *error)
{
    const int code = settle_contents(dist, error);
    return code == CW_OK ? lp_system_inject(dist->system, error) : code;
}

int dist_run_until(struct dist *dist, int64_t end_ps, struct cw_error *error)
{
    return settle_run(dist, lp_system_run_until(dist->system, end_ps, error), error);
}

int dist_install(struct dist *dist, struct cw_error *error)
{
    if (dist->installed)
        return CW_OK;
    const double begin_s = clock_s();
    int code = lp_system_submit_install(dist->system, 0, error);
    if (code == CW_OK)
        code = dist_drain(dist, error);
    dist->installed = code == CW_OK;
    const struct lp_times *times = lp_system_times(dist->system);
    dist->facts.init_ps = times->host_ps - times->submitted_ps;
    dist->facts.install_run_s = cw_sim_times(lp_system_sim(dist->system)).run_s;
    dist->facts.setup_s += clock_s() - begin_s;
    dist_phase_end(dist, "wiring");
    return code;
}

/* A call of the machine's workers, for work on the ranks' stacks. */
struct helped_call {
    mp_part_fn part;
    void *part_arg;
    uint32_t parts;
};

static void help(void *arg, uint32_t worker)
{
    const struct helped_call *const call = arg;
    call->part(call->part_arg, worker, call->parts);
}

static void help_each(void *arg, mp_part_fn part, void *part_arg)
{
    struct cw_sim *const sim = lp_system_sim(((struct dist *)arg)->system);
    struct helped_call call = {part, part_arg, cw_sim_worker_count(sim)};
    cw_each_worker(sim, help, &call);
}

static uint32_t rank_of_worker(const void *arg, uint32_t i)
{
    return dist_rank_at(&((const struct dist *)arg)->world, i);
}

int dist_spawn(struct dist *dist, mp_worker_fn worker, void *arg, struct cw_error *error)
{
    if (dist->kernels_left)
        return cw_error_set(error, CW_PROGRAM_FAILED,
                            "the machine still has kernels of a program that has failed; legal: a "
                            "world of its own for another program");
    void *const outer = mp_set_runtime(dist);
    dist_drop_works(dist);
    dist->copy_count = 0;
    dist->open = false;
    const struct mp_machine machine = {
        .each = help_each, .advance = dist_advance, .rank = rank_of_worker, .arg = dist};
    int code = mp_spawn_beside(worker, dist->world.live, arg, &machine, error);
    if (code == CW_OK)
        code = dist_carry_out(dist, error);
    (void)mp_set_runtime(outer);
    dist_drop_works(dist);
    dist_free_tensors(dist);
    return code;
}

const struct dist_facts *dist_facts(const struct dist *dist) { return &dist->facts; }
struct lp_system *dist_system(struct dist *dist) { return dist->system; }

void dist_log(struct dist *dist, struct op_log *log)
{
    dist->op_log = log;
    dist->contents.at_once = true;
    data_pass_log(dist->data, log);
}

struct data_pass *dist_data(struct dist *dist)
{
    struct cw_error error;
    if (contents_settle(&dist->contents, lp_system_sim(dist->system), &error) != CW_OK)
        dist->content_error = error; /* the next drain fails with it */
    return dist->data;
}

/* ---- for workers ----------------------------------------------------------------------------- */

struct dist *dist_current(void)
{
    struct dist *dist = mp_runtime();
    if (dist == NULL)
        mp_fail(CW_BUG, "a dist_ function was called outside of dist_spawn()");
    return dist;
}

void dist_join(struct barrier *barrier, barrier_fn submit, void *submit_arg)
{
    struct cw_error error;
    if (barrier_submit_and_drain(barrier, dist_slot(&dist_current()->world, (uint32_t)mp_rank()),
                                 submit, submit_arg, &error) == CW_OK)
        return;
    if (barrier_failed_in_drain(barrier))
        mp_fail_for_all(&error);
    mp_fail(error.exit_code, "%s", cw_error_text(&error));
}

void dist_init_process_group(const char *backend)
{
    struct dist *dist = dist_current();
    if (strcmp(backend, "ahbm") != 0)
        mp_fail(CW_USAGE, "dist_init_process_group: unknown backend %s; there is ahbm", backend);
    if (dist->open)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_init_process_group: rank %d is in a process group already; legal: once, or "
                "after dist_destroy_process_group",
                mp_rank());
    dist_join(dist->init_barrier, NULL, NULL);
}

void dist_destroy_process_group(void)
{
    struct dist *dist = dist_current();
    if (!dist->open)
        mp_fail(CW_PROGRAM_FAILED, "dist_destroy_process_group: there is no process group");
    dist_join(dist->end_barrier, NULL, NULL);
}

int dist_device_of(int rank)
{
    return (int)ccl_sip_of(&dist_current()->options.config->ccl.ranks, (uint32_t)rank);
}

/* Ends the worker that asks for something of a process group that is not there. */
static void check_open(const struct dist *dist, const char *call)
{
    if (!dist->open)
        mp_fail(CW_PROGRAM_FAILED,
                "%s: there is no process group; legal: between dist_init_process_group and "
                "dist_destroy_process_group",
                call);
}

int dist_get_world_size(void)
{
    const struct dist *const dist = dist_current();
    check_open(dist, "dist_get_world_size");
    return (int)dist->facts.world_size;
}

int64_t dist_time_ps(void) { return dist_current()->now_ps; }
int64_t dist_host_ps(const struct dist *dist) { return dist->now_ps; }

int dist_get_rank(void)
{
    if (!mp_in_worker() && environment_get(ENVIRONMENT_DEBUG) != NULL)
        fprintf(stderr, "cubewarp: warning: dist_get_rank() outside of a worker returns 0; a bug "
                        "unless one driver is meant\n");
    if (mp_in_worker() && mp_runtime() != NULL)
        check_open(mp_runtime(), "dist_get_rank");
    return mp_rank();
}
