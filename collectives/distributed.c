/*
 * distributed.c: the host runtime (distributed.h): owns the machine, the data pass, the barrier and
 * the ranks' tensors. Between drains, one thread; what the machine commits reaches the data pass
 * through the two callbacks below while a drain is under way.
 */
#include "collectives/distributed.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/barrier.h"
#include "collectives/input.h"
#include "core/clock.h"
#include "partition/partition.h"

/* What a rank has submitted to the collective under way. */
struct submission {
    struct tensor *tensor;
    enum redop op;
};

struct dist {
    struct dist_options options;
    struct lp_system *system;
    struct data_pass *data; /* NULL with no_data */
    const struct ccl_algorithm *algorithm;
    struct barrier *init_barrier, *barrier;
    uint32_t world_size;
    bool installed;
    int64_t init_ps;
    double setup_s, install_run_s;
    struct submission *submissions; /* [world_size] */
    struct tensor **tensors;        /* [world_size] of the last collective */
    struct tensor_space *space;
    struct tensor **owned; /* the workers' tensors: freed when all workers have ended */
    size_t owned_count, owned_capacity;
    bool recycled;              /* tensors have been freed: new ones may find old contents */
    struct cw_error data_error; /* the first record that could not be executed */
};

static int no_memory(struct cw_error *error)
{
    error->exit_code = CW_NO_RESOURCE;
    snprintf(error->text, sizeof error->text, "out of memory in the host runtime");
    return CW_NO_RESOURCE;
}

/* ---- what the machine commits ---------------------------------------------------------------- */

static void trace_op(FILE *trace, const struct hw_config *hw, const struct lp_op *op)
{
    if (op->kind != LP_OP_SEND && op->kind != LP_OP_RECV)
        return;
    const struct hw_place place = hw_place_of(hw, op->pe);
    fprintf(trace, "rank %u, t %lld.%03lld ns, %s %s, %u bytes, PE %u.%u.%u\n", place.sip,
            (long long)(op->t_end_ps / 1000), (long long)(op->t_end_ps % 1000),
            op->kind == LP_OP_SEND ? "send" : "recv", hw_dir_name((enum hw_dir)op->dir), op->bytes,
            place.sip, place.cube, place.pe);
}

static void on_op(void *arg, const struct lp_op *op)
{
    struct dist *dist = arg;
    if (dist->options.ccl_trace != NULL)
        trace_op(dist->options.ccl_trace, &dist->options.config->hw, op);
    if (dist->data != NULL && dist->data_error.exit_code == CW_OK)
        (void)data_pass_apply(dist->data, op, &dist->data_error);
}

static void on_progress(void *arg, const struct cw_progress *progress)
{
    struct dist *dist = arg;
    if (dist->options.progress != NULL)
        dist->options.progress(dist->options.arg, dist, progress);
}

static void on_round(void *arg, const struct cw_progress *progress)
{
    struct dist *dist = arg;
    dist->options.each_round(dist->options.arg, progress);
}

static void on_kernel_ended(void *arg, uint32_t pe)
{
    struct dist *dist = arg;
    if (dist->data != NULL)
        data_pass_end_kernel(dist->data, pe);
}

/* ---- the world ------------------------------------------------------------------------------- */

enum hw_memory dist_slot_memory(const struct ccl_config *ccl)
{
    return ccl->buffer_kind == CCL_BUFFER_TCM   ? HW_MEMORY_TCM
           : ccl->buffer_kind == CCL_BUFFER_HBM ? HW_MEMORY_HBM
                                                : HW_MEMORY_SRAM;
}

struct lp_config dist_queue_config(const struct ccl_config *ccl)
{
    return (struct lp_config){.wire_all_pes = ccl->wiring == CCL_WIRING_ALL_PES,
                              .slots = dist_slot_memory(ccl),
                              .poll = ccl->backpressure == CCL_POLL,
                              .credit_blocks = ccl->recv_blocks_on_credit,
                              .n_slots = ccl->n_slots,
                              .slot_bytes = ccl->slot_bytes,
                              .credit_bytes = ccl->credit_bytes,
                              .vc_chunk_bytes = ccl->vc_chunk_bytes,
                              .vc_weight = {ccl->vc_weight[0], ccl->vc_weight[1]}};
}

uint64_t dist_ring_bytes(const struct config *config, enum ccl_buffer_kind memory)
{
    const struct ccl_config *ccl = &config->ccl;
    if (ccl->buffer_kind != memory)
        return 0;
    return (uint64_t)config_directions_max(&config->hw, ccl) * ccl->n_slots * ccl->slot_bytes;
}

/* A call is refused with the place of the value at fault. */
static int refuse(const struct config *config, const char *key, struct cw_error *error)
{
    char where[512], text[sizeof error->text];
    memcpy(text, error->text, sizeof text);
    config_where(config, key, where, sizeof where);
    if (snprintf(error->text, sizeof error->text, "%s: %s", where, text) < 0)
        error->text[0] = 0;
    return error->exit_code = CW_USAGE;
}

/* What ccl.yaml may ask for and this version does not do is refused, never passed over. */
static int check_features(const struct config *config, struct cw_error *error)
{
    const struct ccl_config *ccl = &config->ccl;
    const struct {
        bool asked;
        const char *key, *legal;
    } absent[] = {
        {ccl->recv_fairness != CCL_FAIRNESS_WEAK, "defaults.recv_fairness", "weak"},
        {ccl->credit_return_mode != CCL_CREDIT_FAST_PATH, "defaults.credit_return_mode",
         "fast_path"},
        {ccl->strict_validation, "defaults.strict_validation", "false"},
        {ccl->host_copy != CCL_HOST_COPY_INSTANT, "defaults.host_copy", "instant"},
        {strcmp(ccl->topology, "none") != 0, "defaults.topology", "none"},
        {ccl->mapper[0] != 0, "defaults.mapper", "no mapper"},
        {ccl->validator[0] != 0, "defaults.validator", "no validator"},
    };
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        if (!absent[i].asked)
            continue;
        snprintf(error->text, sizeof error->text,
                 "%s: this value is not part of this version, which has %s",
                 strchr(absent[i].key, '.') + 1, absent[i].legal);
        return refuse(config, absent[i].key, error);
    }
    return CW_OK;
}

int dist_check_call(const struct config *config, const struct ccl_call *call,
                    struct cw_error *error)
{
    const struct ccl_algorithm *algorithm = ccl_algorithm_find(config->ccl.module);
    const char *key = "defaults.module";
    if (algorithm == NULL) {
        size_t n = (size_t)snprintf(
            error->text, sizeof error->text,
            "algorithm module %s is not part of this version; there are:", config->ccl.module);
        for (uint32_t i = 0; (algorithm = ccl_algorithm_at(i)) && n < sizeof error->text; i++)
            n += (size_t)snprintf(error->text + n, sizeof error->text - n, " %s", algorithm->name);
        return refuse(config, key, error);
    }
    const int code = check_features(config, error);
    if (code != CW_OK)
        return code;
    if (config->ccl.world_size && config->ccl.world_size != config->hw.sip_count) {
        snprintf(error->text, sizeof error->text,
                 "world_size %u: %s takes all %u SIPs; leave it out", config->ccl.world_size,
                 config->ccl.algorithm, config->hw.sip_count);
        return refuse(config, "defaults.world_size", error);
    }
    if (algorithm->check(call, &key, error) != CW_OK)
        return refuse(config, key, error);
    const uint64_t rings = dist_ring_bytes(config, CCL_BUFFER_TCM);
    const uint64_t wanted = algorithm->tcm_bytes(call);
    if (wanted <= config->hw.tcm_bytes - rings)
        return CW_OK;
    snprintf(error->text, sizeof error->text,
             "a tensor of %llu elements needs %llu bytes of TCM, and %llu of %llu are free beside "
             "the receive rings; use fewer elements, smaller rings, or lrab_pipelined_allreduce%s",
             (unsigned long long)call->n_elem, (unsigned long long)wanted,
             (unsigned long long)(config->hw.tcm_bytes - rings),
             (unsigned long long)config->hw.tcm_bytes,
             ccl_algorithm_note("lrab_pipelined_allreduce"));
    return refuse(config, "memory.tcm_kib", error);
}

static int drain_installation(void *arg, struct cw_error *error)
{
    return dist_install(arg, error);
}

static int drain_collective(void *arg, struct cw_error *error);

static bool allocate(struct dist *dist)
{
    dist->submissions = calloc(dist->world_size, sizeof *dist->submissions);
    dist->tensors = calloc(dist->world_size, sizeof *dist->tensors);
    dist->space = tensor_space_create(&dist->options.config->hw,
                                      dist_ring_bytes(dist->options.config, CCL_BUFFER_HBM));
    dist->init_barrier = barrier_create(dist->world_size, drain_installation, dist);
    dist->barrier = barrier_create(dist->world_size, drain_collective, dist);
    if (!dist->options.no_data)
        dist->data = data_pass_create(&dist->options.config->hw, dist->options.memory_bytes_max);
    return dist->submissions && dist->tensors && dist->space && dist->init_barrier &&
           dist->barrier && (dist->data || dist->options.no_data);
}

struct dist *dist_create(const struct dist_options *options, struct cw_error *error)
{
    const double begin_s = clock_s();
    const struct config *config = options->config;
    if (check_features(config, error) != CW_OK)
        return NULL;
    struct dist *dist = calloc(1, sizeof *dist);
    if (!dist) {
        no_memory(error);
        return NULL;
    }
    dist->options = *options;
    dist->world_size = config->ccl.world_size ? config->ccl.world_size : config->hw.sip_count;
    dist->algorithm = ccl_algorithm_find(config->ccl.module);
    if (!allocate(dist)) {
        no_memory(error);
        dist_free(dist);
        return NULL;
    }
    struct lp_config queues = dist_queue_config(&config->ccl);
    memcpy(queues.pair, options->pair, sizeof queues.pair);
    const struct partitioner *const partitioner = partitioner_find(dist_partition(dist));
    uint32_t *const cube_worker =
        calloc((size_t)config->hw.sip_count * hw_cubes(&config->hw), sizeof *cube_worker);
    if (partitioner == NULL || cube_worker == NULL) {
        free(cube_worker);
        no_memory(error);
        dist_free(dist);
        return NULL;
    }
    if (partitioner->place(&config->hw, options->threads, cube_worker, error) != CW_OK) {
        free(cube_worker);
        dist_free(dist);
        return NULL;
    }
    const bool wants_ops = dist->data != NULL || options->ccl_trace != NULL;
    const struct lp_system_options machine = {.hw = &config->hw,
                                              .config = &queues,
                                              .sync = options->sync,
                                              .threads = options->threads,
                                              .cube_worker = cube_worker,
                                              .window_ps = options->window_ps,
                                              .stress_rate_p32 = options->stress_rate_p32,
                                              .stress_seed = 1,
                                              .lazy_cancellation = options->lazy_cancellation,
                                              .memory_bytes_max = options->memory_bytes_max,
                                              .pin_workers = options->pin_workers,
                                              .check_changes = options->check_changes,
                                              .progress = on_progress,
                                              .each_round = options->each_round ? on_round : NULL,
                                              .trace = options->trace,
                                              .trace_arg = options->trace_arg,
                                              .op = wants_ops ? on_op : NULL,
                                              .kernel_ended = on_kernel_ended,
                                              .arg = dist};
    dist->system = lp_system_create(&machine, error);
    free(cube_worker);
    if (!dist->system) {
        dist_free(dist);
        return NULL;
    }
    dist->setup_s = clock_s() - begin_s;
    return dist;
}

static void free_tensors(struct dist *dist)
{
    for (size_t i = 0; i < dist->owned_count; i++)
        tensor_free(dist->owned[i]);
    dist->recycled |= dist->owned_count > 0;
    dist->owned_count = 0;
}

void dist_free(struct dist *dist)
{
    if (!dist)
        return;
    free_tensors(dist);
    free(dist->owned);
    tensor_space_free(dist->space);
    barrier_free(dist->init_barrier);
    barrier_free(dist->barrier);
    lp_system_free(dist->system);
    data_pass_free(dist->data);
    free(dist->submissions);
    free(dist->tensors);
    free(dist);
}

int dist_drain(struct dist *dist, struct cw_error *error)
{
    const int code = lp_system_drain(dist->system, error);
    if (code != CW_OK || dist->data_error.exit_code == CW_OK)
        return code;
    *error = dist->data_error;
    return error->exit_code;
}

int dist_install(struct dist *dist, struct cw_error *error)
{
    if (dist->installed)
        return CW_OK;
    const double begin_s = clock_s();
    int code = lp_system_submit_install(dist->system, error);
    if (code == CW_OK)
        code = dist_drain(dist, error);
    dist->installed = code == CW_OK;
    const struct lp_times *times = lp_system_times(dist->system);
    dist->init_ps = times->host_ps - times->submitted_ps;
    struct cw_stats stats;
    cw_sim_stats(lp_system_sim(dist->system), &stats);
    dist->install_run_s = stats.run_s;
    dist->setup_s += clock_s() - begin_s;
    return code;
}

int dist_spawn(struct dist *dist, mp_worker_fn worker, void *arg, struct cw_error *error)
{
    void *const outer = mp_set_runtime(dist);
    const int code = mp_spawn(worker, dist->world_size, arg, error);
    (void)mp_set_runtime(outer);
    free_tensors(dist);
    return code;
}

int dist_begin_launch(struct dist *dist, const struct tl_kernel *kernel, struct cw_error *error)
{
    return lp_system_begin_batch(dist->system, kernel, error);
}

int dist_launch(struct dist *dist, struct hw_place place, const struct tl_kernel *kernel,
                struct tl_args args, struct cw_error *error)
{
    return lp_system_submit_launch(dist->system, hw_pe_index(&dist->options.config->hw, place),
                                   kernel, &args, error);
}

const struct lp_times *dist_times(const struct dist *dist) { return lp_system_times(dist->system); }
int64_t dist_init_ps(const struct dist *dist) { return dist->init_ps; }
double dist_setup_s(const struct dist *dist) { return dist->setup_s; }
const char *dist_partition(const struct dist *dist)
{
    return dist->options.partition ? dist->options.partition : partitioner_at(0)->name;
}
double dist_install_run_s(const struct dist *dist) { return dist->install_run_s; }
uint64_t dist_messages(const struct dist *dist) { return lp_system_messages(dist->system); }
struct lp_system *dist_system(struct dist *dist) { return dist->system; }
uint32_t dist_world_size_of(const struct dist *dist) { return dist->world_size; }

/* ---- tensors --------------------------------------------------------------------------------- */

int dist_read(struct dist *dist, const struct tensor *tensor, uint32_t shard, uint64_t first,
              uint64_t count, void *dst, struct cw_error *error)
{
    const size_t itemsize = dtype_bytes(tensor->dtype);
    if (dist->data == NULL || shard >= tensor->shard_count || first > tensor->shard_elems ||
        count > tensor->shard_elems - first) {
        error->exit_code = CW_BUG;
        snprintf(error->text, sizeof error->text, "read of shard %u, elements %llu + %llu", shard,
                 (unsigned long long)first, (unsigned long long)count);
        return CW_BUG;
    }
    const struct tensor_shard *s = &tensor->shard[shard];
    data_pass_read(dist->data, s->pe_index, s->hbm_offset + first * itemsize, dst,
                   count * itemsize);
    return CW_OK;
}

int dist_hash(struct dist *dist, struct tensor *const *tensors, uint64_t *hash,
              struct cw_error *error)
{
    size_t count = 0, n = 0;
    for (uint32_t rank = 0; rank < dist->world_size; rank++)
        count += tensors[rank]->shard_count;
    struct sparse_range *ranges = malloc((count + 1) * sizeof *ranges);
    if (ranges == NULL)
        return no_memory(error);
    for (uint32_t rank = 0; rank < dist->world_size; rank++)
        for (uint32_t i = 0; i < tensors[rank]->shard_count; i++) {
            const struct tensor_shard *s = &tensors[rank]->shard[i];
            ranges[n++] =
                data_pass_range(dist->data, s->pe_index, s->hbm_offset, tensors[rank]->shard_bytes);
        }
    *hash = data_pass_hash(dist->data, ranges, n);
    free(ranges);
    return CW_OK;
}

/* ---- a collective ---------------------------------------------------------------------------- */

static struct ccl_call call_of(const struct dist *dist, uint32_t rank)
{
    const struct submission *submission = &dist->submissions[rank];
    return (struct ccl_call){.hw = &dist->options.config->hw,
                             .ccl = &dist->options.config->ccl,
                             .rank = rank,
                             .world_size = dist->world_size,
                             .n_elem = submission->tensor->shard_elems,
                             .dtype = (enum lp_dtype)submission->tensor->dtype,
                             .math = (enum lp_math)submission->op};
}

/* One KernelLaunchMsg for each PE of the rank's SIP that takes part, in order of (cube, pe). */
static int launch_rank(struct dist *dist, uint32_t rank, struct cw_error *error)
{
    const struct hw_config *hw = &dist->options.config->hw;
    const struct tensor *tensor = dist->submissions[rank].tensor;
    const struct ccl_call call = call_of(dist, rank);
    struct tl_args args = {.tensor = tensor->va_base,
                           .tensor_pa = tensor->hbm_offset,
                           .shard_bytes = tensor->shard_bytes,
                           .n_elem = tensor->shard_elems,
                           .rank = rank,
                           .dtype = (uint8_t)call.dtype,
                           .math = (uint8_t)call.math,
                           .pe_shards = tensor->policy.pe == DP_COLUMN_WISE};
    dist->algorithm->kernel_args(&call, args.scalar);
    for (uint32_t cube = 0; cube < hw_cubes(hw); cube++)
        for (uint32_t pe = 0; pe < hw_pes(hw); pe++) {
            if (!dist->algorithm->takes_part(&call, cube, pe))
                continue;
            const int code = dist_launch(dist, (struct hw_place){tensor->sip, cube, pe},
                                         dist->algorithm->kernel, args, error);
            if (code != CW_OK)
                return code;
        }
    return CW_OK;
}

/* Every rank has submitted: launches all at one moment, runs the machine, tells the bench. */
static int drain_collective(void *arg, struct cw_error *error)
{
    struct dist *dist = arg;
    int code = dist_begin_launch(dist, dist->algorithm->kernel, error);
    for (uint32_t rank = 0; rank < dist->world_size && code == CW_OK; rank++)
        code = launch_rank(dist, rank, error);
    if (code == CW_OK)
        code = dist_drain(dist, error);
    if (code != CW_OK || dist->options.completed == NULL)
        return code;
    for (uint32_t rank = 0; rank < dist->world_size; rank++)
        dist->tensors[rank] = dist->submissions[rank].tensor;
    const struct dist_completion completion = {.dist = dist,
                                               .times = dist_times(dist),
                                               .tensors = dist->tensors,
                                               .world_size = dist->world_size,
                                               .op = dist->submissions[0].op};
    return dist->options.completed(dist->options.arg, &completion, error);
}

/* ---- for workers ----------------------------------------------------------------------------- */

static struct dist *current(void)
{
    struct dist *dist = mp_runtime();
    if (dist == NULL)
        mp_fail(CW_BUG, "a dist_ function was called outside of dist_spawn()");
    return dist;
}

void dist_init_process_group(const char *backend)
{
    struct dist *dist = current();
    struct cw_error error;
    if (strcmp(backend, "ahbm") != 0)
        mp_fail(CW_USAGE, "dist_init_process_group: unknown backend %s; there is ahbm", backend);
    if (barrier_submit_and_drain(dist->init_barrier, (uint32_t)dist_get_rank(), NULL, NULL,
                                 &error) != CW_OK)
        mp_fail(error.exit_code, "%s", error.text);
}

int dist_get_world_size(void) { return (int)current()->world_size; }

/* Keeps the tensor until all workers have ended; zeroes it if its memory was somebody else's. */
static int adopt(struct dist *dist, struct tensor *tensor, struct cw_error *error)
{
    if (dist->owned_count == dist->owned_capacity) {
        const size_t capacity = 2 * dist->owned_capacity + 16;
        struct tensor **owned = realloc(dist->owned, capacity * sizeof(struct tensor *));
        if (owned == NULL)
            return no_memory(error);
        dist->owned = owned;
        dist->owned_capacity = capacity;
    }
    dist->owned[dist->owned_count++] = tensor;
    int code = CW_OK;
    for (uint32_t i = 0; code == CW_OK && i < tensor->shard_count; i++)
        if (dist->data != NULL && dist->recycled)
            code =
                data_pass_fill(dist->data, tensor->shard[i].pe_index, tensor->shard[i].hbm_offset,
                               tensor->dtype, 0, tensor->shard_elems, error);
    return code;
}

struct tensor *dist_tensor_zeros(uint64_t n_elem, enum dtype dtype, const struct dp_policy *policy)
{
    struct dist *dist = current();
    struct cw_error error = {.exit_code = CW_OK};
    const struct hw_config *hw = &dist->options.config->hw;
    const uint64_t cubes = policy->num_cubes ? policy->num_cubes : hw_cubes(hw);
    const uint64_t pes = policy->num_pes ? policy->num_pes : hw_pes(hw);
    const struct tensor_shape shape = {policy->cube == DP_ROW_WISE ? cubes : 1,
                                       policy->pe == DP_COLUMN_WISE ? pes * n_elem : n_elem};
    const int device = ahbm_current_device();
    struct tensor *tensor =
        tensor_create(dist->space, device < 0 ? 0 : (uint32_t)device, shape, dtype, policy, &error);
    if (tensor != NULL && adopt(dist, tensor, &error) == CW_OK)
        return tensor;
    mp_fail(error.exit_code, "%s", error.text);
}

void dist_fill_input(struct tensor *tensor, uint64_t seed)
{
    struct dist *dist = current();
    struct cw_error error;
    const uint32_t parts = tensor_parts(tensor);
    if (dist->data == NULL)
        return;
    for (uint32_t i = 0; i < tensor->shard_count; i++) {
        const struct tensor_shard *s = &tensor->shard[i];
        if (data_pass_fill_input(
                dist->data, s->pe_index, s->hbm_offset, tensor->dtype, seed,
                input_first((uint64_t)dist_get_rank(), parts, s->part, tensor->shard_elems),
                tensor->shard_elems, &error) != CW_OK)
            mp_fail(error.exit_code, "%s", error.text);
    }
}

/* What a rank hands to the barrier. */
struct all_reduce {
    struct dist *dist;
    uint32_t rank;
    struct submission submission;
};

static int submit_all_reduce(void *arg, struct cw_error *error)
{
    const struct all_reduce *call = arg;
    struct dist *dist = call->dist;
    dist->submissions[call->rank] = call->submission;
    const struct ccl_call check = call_of(dist, call->rank);
    return dist_check_call(dist->options.config, &check, error);
}

void dist_all_reduce(struct tensor *tensor, enum redop op)
{
    struct dist *dist = current();
    struct cw_error error;
    struct all_reduce call = {dist, (uint32_t)dist_get_rank(), {tensor, op}};
    if (!dist->installed)
        mp_fail(CW_PROGRAM_FAILED,
                "dist_all_reduce before dist_init_process_group: the queues are not installed");
    if (barrier_submit_and_drain(dist->barrier, call.rank, submit_all_reduce, &call, &error) !=
        CW_OK)
        mp_fail(error.exit_code, "%s", error.text);
}
