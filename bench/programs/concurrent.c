/*
 * concurrent.c: the bench `concurrent`: calls of several groups of ranks at once (--call), each
 * from its start on; then each call alone. A rank makes the calls of its groups in the order of
 * their starts, without waiting in between. A row for each call, over all groups of its set, and
 * one for all calls together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "bench/programs/bench_algorithm.h"
#include "bench/programs/bench_program.h"
#include "bench/programs/concurrent_bound.h"
#include "bench/programs/concurrent_plan.h"
#include "bench/programs/row_work.h"
#include "collectives/compute/compute_call.h"
#include "collectives/compute/matmul_verify.h"
#include "collectives/data/input.h"
#include "collectives/runtime/dist_messages.h"
#include "collectives/verify/group_call.h"

enum { ALL_CALLS = UINT32_MAX };
enum { SOURCES_COUNTED = 16 }; /* whose bytes links count apart: of more, none */

/* What a call of one group did in one run of the program. */
struct outcome {
    int64_t start_ps, end_ps; /* of its kernels; INT64_MAX: it has not ended */
    uint64_t hash;
};

/* A call under way, and its findings. */
struct running {
    struct outcome *outcomes;                  /* [groups] */
    struct tensor **in, **out;                 /* [world size] of each rank that takes part */
    struct dist_work **work;                   /* [world size] */
    int64_t fastest_ps, median_ps, slowest_ps; /* sums over iterations */
    int64_t begin_ps, end_ps, alone_ps;
    int64_t wrong, ranks_differ, not_finite; /* of all groups and iterations */
    enum proof proof;
    double error_bound, error_largest;
    char algorithm[64];
    struct explain *explain; /* of its slowest group; NULL: none is asked for */
    int64_t explained_ps;    /* how long that one took */
};

struct concurrent {
    struct bench_session *session;
    struct concurrent_plan plan;
    struct running *running; /* [calls] */
    uint32_t stage;          /* the call that runs alone, or ALL_CALLS */
    int64_t begin_ps;        /* of this run of the program */
    int64_t all_ps;          /* sum over iterations: from the first start to the last end */
    struct lp_times times;   /* of the call that ended last */
    bool is_last;            /* iteration of all calls */
    bool no_memory;
};

static bool takes_part(const struct concurrent *own, uint32_t call, uint32_t rank, uint32_t *group,
                       uint32_t *i)
{
    return (own->stage == ALL_CALLS || own->stage == call) &&
           concurrent_member(&own->plan, &own->plan.calls[call], rank, group, i);
}

/* The inputs of the groups and calls differ, so that none is taken for another's. */
static uint64_t seed_of(const struct concurrent *own, uint32_t call, uint32_t group)
{
    const struct run_options *const options = own->session->options;
    const struct concurrent_call *const c = &own->plan.calls[call];
    const uint64_t seed = (options->seed + 1009 * (uint64_t)call + group) & UINT32_MAX;
    return options->input == RUN_INPUT_INTEGERS
               ? input_integers(seed, options->dtype, options->op, (uint64_t)c->size * c->shards,
                                c->n_elem)
               : seed;
}

/* ---- the program ----------------------------------------------------------------------------- */

/* The numbers of a product's operands. */
static uint64_t seed_of_product(const struct concurrent *own, uint32_t call, uint32_t group)
{
    return (own->session->options->seed + 1009 * (uint64_t)call + group) & UINT32_MAX;
}

static void make_operands(const struct concurrent *own, uint32_t call, uint32_t rank,
                          uint32_t group)
{
    const struct compute_request *const request = &own->plan.calls[call].compute;
    struct running *const r = &own->running[call];
    if (request->kind != COMPUTE_PRODUCT)
        return;
    r->out[rank] = dist_compute_operands(request);
    dist_fill_operands(r->out[rank], request, seed_of_product(own, call, group));
}

/* A rank's product: each block. */
static void verify_product(struct concurrent *own, uint32_t call, uint32_t rank, uint32_t group)
{
    const struct compute_request *const request = &own->plan.calls[call].compute;
    const struct compute_job *const job = dist_compute_job(request);
    struct running *const r = &own->running[call];
    const uint64_t elems = r->out[rank]->shard_elems, first = rank * matmul_result(&job->shape);
    const size_t bytes = dtype_bytes(request->dtype);
    uint8_t *const got = malloc(tensor_parts(r->out[rank]) * elems * bytes);
    if (got != NULL)
        dist_tensor_copy_to(r->out[rank], request->dtype, got, tensor_parts(r->out[rank]) * elems);
    own->no_memory |= got == NULL;
    for (uint32_t i = 0; i < job->pes && got != NULL; i++) {
        const struct compute_block block = compute_block_of(job, i);
        uint64_t wrong = 0;
        own->no_memory |= !compute_verify(
            job, i, seed_of_product(own, call, group), first, own->session->config->ccl.arithmetic,
            got + ((job->request.first + i) * elems + matmul_result(&block.shape)) * bytes, &wrong);
        r->wrong += (int64_t)wrong;
    }
    r->proof = PROOF_ORDER;
    free(got);
}

/* Creates and fills the tensors of a rank's part. */
static void make_tensors(struct concurrent *own, uint32_t call, uint32_t rank, uint32_t group,
                         uint32_t i)
{
    const struct concurrent_call *const c = &own->plan.calls[call];
    struct running *const r = &own->running[call];
    const enum dtype dtype = own->session->options->dtype;
    const enum ccl_collective does = c->asked->collective;
    r->in[rank] = r->out[rank] = NULL;
    if (does == CCL_COMPUTE) {
        make_operands(own, call, rank, group);
        return;
    }
    const struct dp_policy policy = dist_group_policy(
        dist_group_at(own->session->dist, concurrent_group(&own->plan, c, group)));
    const bool gathers = does == CCL_ALL_GATHER, sends = does == CCL_SEND_RECV;
    if (does == CCL_BARRIER)
        return;
    if (!sends || i == 1)
        r->out[rank] = dist_tensor_zeros(
            does == CCL_REDUCE_SCATTER ? c->n_elem / c->size : c->n_elem, dtype, &policy);
    r->in[rank] = r->out[rank];
    if (gathers || sends || does == CCL_REDUCE_SCATTER || does == CCL_ALL_TO_ALL)
        r->in[rank] = sends && i == 1 ? NULL
                                      : dist_tensor_zeros(gathers ? c->n_elem / c->size : c->n_elem,
                                                          dtype, &policy);
    if (r->in[rank] != NULL)
        dist_fill_input_as(r->in[rank], seed_of(own, call, group), i);
}

static struct dist_work *begin_call(const struct concurrent *own, uint32_t call, uint32_t rank,
                                    uint32_t group, uint32_t i)
{
    const struct concurrent_call *const c = &own->plan.calls[call];
    const struct running *const r = &own->running[call];
    const struct run_options *const options = own->session->options;
    if (c->asked->collective == CCL_COMPUTE)
        return dist_compute_async(&c->compute, r->out[rank]);
    struct dist_group *const in_group =
        dist_group_at(own->session->dist, concurrent_group(&own->plan, c, group));
    switch (c->asked->collective) {
    case CCL_ALL_REDUCE:
        return options->op == REDOP_PREMULSUM
                   ? dist_all_reduce_scaled_async(in_group, r->out[rank], options->scalar)
                   : dist_all_reduce_async(in_group, r->out[rank], options->op);
    case CCL_REDUCE_SCATTER:
        return options->op == REDOP_PREMULSUM
                   ? dist_reduce_scatter_scaled_async(in_group, r->out[rank], r->in[rank],
                                                      options->scalar)
                   : dist_reduce_scatter_async(in_group, r->out[rank], r->in[rank], options->op);
    case CCL_ALL_GATHER:
        return dist_all_gather_async(in_group, r->out[rank], r->in[rank]);
    case CCL_ALL_TO_ALL:
        return dist_all_to_all_async(in_group, r->out[rank], r->in[rank]);
    case CCL_BROADCAST:
        return dist_broadcast_async(in_group, r->out[rank], 0);
    case CCL_SEND_RECV:
        return i == 0 ? dist_isend(in_group, r->in[rank], 1)
                      : dist_irecv(in_group, r->out[rank], 0);
    default:
        return dist_barrier_async(in_group);
    }
}

/* The worker of every rank. */
static void concurrent_worker(int rank, void *arg)
{
    struct concurrent *const own = arg;
    const struct concurrent_plan *const plan = &own->plan;
    const uint32_t me = (uint32_t)rank;
    uint32_t group, i;
    dist_init_process_group("ahbm");
    ahbm_set_device(dist_device_of(rank));
    own->begin_ps = dist_time_ps();
    for (uint32_t call = 0; call < plan->call_count; call++)
        if (takes_part(own, call, me, &group, &i))
            make_tensors(own, call, me, group, i);
    for (uint32_t k = 0; k < plan->call_count; k++) {
        const uint32_t call = plan->order[k];
        if (!takes_part(own, call, me, &group, &i))
            continue;
        if (own->stage == ALL_CALLS)
            dist_wait_until_ps(own->begin_ps + plan->calls[call].asked->start_ps);
        own->running[call].work[rank] = begin_call(own, call, me, group, i);
    }
    for (uint32_t k = 0; k < plan->call_count; k++) {
        const uint32_t call = plan->order[k];
        if (!takes_part(own, call, me, &group, &i))
            continue;
        dist_wait(own->running[call].work[rank]);
        if (own->session->options->verify_data && own->running[call].out[rank] != NULL &&
            plan->calls[call].asked->collective == CCL_COMPUTE && own->stage == ALL_CALLS)
            verify_product(own, call, me, group);
    }
}

/* ---- ends of calls --------------------------------------------------------------------------- */

static int verify_call(struct concurrent *own, uint32_t call, uint32_t group,
                       const struct dist_completion *completion, struct cw_error *error)
{
    const struct run_options *const options = own->session->options;
    const struct concurrent_call *const c = &own->plan.calls[call];
    const struct group_call of = {.dtype = options->dtype,
                                  .op = options->op,
                                  .scalar = options->scalar,
                                  .shards = c->shards,
                                  .n_elem = c->n_elem,
                                  .seed = seed_of(own, call, group),
                                  .integers = options->input == RUN_INPUT_INTEGERS};
    struct running *const r = &own->running[call];
    struct verdict verdict;
    const int code = group_call_verify(&of, completion, &verdict, error);
    if (code != CW_OK)
        return code;
    r->wrong += (int64_t)verdict.wrong;
    r->proof = verdict.proof;
    r->ranks_differ += verdict.agreement.ranks_differ > 0 ? verdict.agreement.ranks_differ : 0;
    r->not_finite += verdict.agreement.not_finite > 0 ? verdict.agreement.not_finite : 0;
    r->error_bound = verdict.error_bound > r->error_bound ? verdict.error_bound : r->error_bound;
    if (verdict.error_largest > r->error_largest)
        r->error_largest = verdict.error_largest;
    return CW_OK;
}

/* Of the last iteration, and of several groups the slowest one. */
static int explain_group(struct concurrent *own, uint32_t call,
                         const struct dist_completion *completion, struct cw_error *error)
{
    struct running *const r = &own->running[call];
    const int64_t took_ps = completion->times->last_end_ps - completion->times->first_start_ps;
    if (own->session->explainer == NULL || own->stage != ALL_CALLS || !own->is_last ||
        (r->explain != NULL && took_ps <= r->explained_ps))
        return CW_OK;
    free(r->explain);
    r->explain = explain_collective(own->session->explainer, dist_system(completion->dist),
                                    completion->batch);
    r->explained_ps = took_ps;
    return r->explain != NULL ? CW_OK : cw_error_memory(error, "the explanation");
}

static void note_times(struct concurrent *own, struct outcome *outcome,
                       const struct lp_times *times)
{
    outcome->end_ps = outcome->start_ps == INT64_MAX || times->last_end_ps > outcome->end_ps
                          ? times->last_end_ps
                          : outcome->end_ps;
    outcome->start_ps =
        times->first_start_ps < outcome->start_ps ? times->first_start_ps : outcome->start_ps;
    if (own->times.last_end_ps <= times->last_end_ps)
        own->times = *times;
}

/* A rank has computed: one of the ranks of a group. */
static int computed(struct concurrent *own, const struct dist_completion *completion)
{
    const uint32_t rank = completion->first_rank;
    uint32_t call = 0, group, i;
    while (own->plan.calls[call].asked->collective != CCL_COMPUTE ||
           own->running[call].work[rank] != completion->work)
        call++;
    (void)concurrent_member(&own->plan, &own->plan.calls[call], rank, &group, &i);
    note_times(own, &own->running[call].outcomes[group], completion->times);
    snprintf(own->running[call].algorithm, sizeof own->running[call].algorithm, "%s",
             completion->algorithm->name);
    return CW_OK;
}

/* Of the receiver's tensor; the sender's part has none. */
static int hash_receipt(const struct concurrent *own, uint32_t call,
                        const struct dist_completion *completion, struct cw_error *error)
{
    const struct running *const r = &own->running[call];
    const uint32_t receiver = own->plan.sources[own->plan.calls[call].source].ranks[1];
    return completion->message_count == 0 || own->session->options->no_data
               ? CW_OK
               : dist_hash_of(completion->dist, &r->out[receiver], 1, &r->outcomes[0].hash, error);
}

/* A call of a group has ended on all its ranks; of a send, on one of the two. */
static int concurrent_completed(void *arg, const struct dist_completion *completion,
                                struct cw_error *error)
{
    struct concurrent *const own = ((struct bench_session *)arg)->own;
    const struct run_options *const options = own->session->options;
    if (completion->collective == CCL_COMPUTE)
        return computed(own, completion);
    const uint32_t number = dist_group_number(completion->group);
    const uint32_t call = own->stage != ALL_CALLS
                              ? own->stage
                              : concurrent_call_of(&own->plan, number, completion->number);
    struct running *const r = &own->running[call];
    const uint32_t group = number - own->plan.sources[own->plan.calls[call].source].first;
    struct outcome *const outcome = &r->outcomes[group];
    note_times(own, outcome, completion->times);
    int code = explain_group(own, call, completion, error);
    if (code != CW_OK)
        return code;
    if (options->verify_data && (own->stage == ALL_CALLS || completion->message_count > 0) &&
        completion->collective != CCL_BARRIER)
        code = verify_call(own, call, group, completion, error);
    if (code == CW_OK && completion->collective == CCL_SEND_RECV)
        return hash_receipt(own, call, completion, error);
    snprintf(r->algorithm, sizeof r->algorithm, "%s",
             dist_group_facts(completion->group).schedule != NULL &&
                     completion->algorithm->schedule != NULL
                 ? concurrent_schedule_name(completion->group)
                 : completion->algorithm->name);
    if (completion->collective == CCL_BARRIER)
        return CW_OK;
    if (code == CW_OK && !options->no_data)
        code = dist_hash_of(completion->dist, completion->tensors, completion->world_size,
                            &outcome->hash, error);
    return code;
}

/* ---- a run of the program -------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The times of a call's groups, in order. NULL: out of memory. */
static int64_t *sorted_times(const struct running *r, uint32_t groups)
{
    int64_t *const times = malloc(groups * sizeof *times);
    for (uint32_t g = 0; times != NULL && g < groups; g++)
        times[g] = r->outcomes[g].end_ps - r->outcomes[g].start_ps;
    if (times != NULL)
        qsort(times, groups, sizeof *times, compare_times);
    return times;
}

static int run_once(struct concurrent *own, uint32_t stage, struct cw_error *error)
{
    own->stage = stage;
    own->times = (struct lp_times){.last_end_ps = 0};
    for (uint32_t call = 0; call < own->plan.call_count; call++)
        for (uint32_t g = 0; g < own->plan.calls[call].groups; g++)
            own->running[call].outcomes[g] = (struct outcome){.start_ps = INT64_MAX};
    int code = dist_spawn(own->session->dist, concurrent_worker, own, error);
    if (code == CW_OK)
        code = dist_drain(own->session->dist, error);
    if (code == CW_OK && own->no_memory)
        code = cw_error_memory(error, "the verification");
    return code;
}

/* Adds the times of one run of all calls, for as many as it stands for. */
static int sample(struct concurrent *own, struct cw_error *error)
{
    const uint32_t weight = repeat_weight(&own->session->repeat);
    int64_t first_ps = INT64_MAX, last_ps = 0;
    for (uint32_t call = 0; call < own->plan.call_count; call++) {
        const uint32_t groups = own->plan.calls[call].groups;
        struct running *const r = &own->running[call];
        int64_t *const times = sorted_times(r, groups);
        if (times == NULL)
            return cw_error_memory(error, "the results");
        r->fastest_ps += weight * times[0];
        r->median_ps += weight * ((times[(groups - 1) / 2] + times[groups / 2]) / 2);
        r->slowest_ps += weight * times[groups - 1];
        free(times);
        r->begin_ps = INT64_MAX;
        r->end_ps = 0;
        for (uint32_t g = 0; g < groups; g++) {
            const struct outcome *const outcome = &r->outcomes[g];
            r->begin_ps = outcome->start_ps < r->begin_ps ? outcome->start_ps : r->begin_ps;
            r->end_ps = outcome->end_ps > r->end_ps ? outcome->end_ps : r->end_ps;
        }
        first_ps = r->begin_ps < first_ps ? r->begin_ps : first_ps;
        last_ps = r->end_ps > last_ps ? r->end_ps : last_ps;
    }
    own->all_ps += weight * (last_ps - first_ps);
    for (uint32_t call = 0; call < own->plan.call_count; call++) {
        own->running[call].begin_ps -= first_ps;
        own->running[call].end_ps -= first_ps;
    }
    return CW_OK;
}

/* Each call by itself; one that is like another takes as long. */
static int run_alone(struct concurrent *own, struct cw_error *error)
{
    const struct concurrent_plan *const plan = &own->plan;
    int code = CW_OK;
    for (uint32_t call = 0; call < plan->call_count && code == CW_OK; call++) {
        struct running *const r = &own->running[call];
        uint32_t like = 0;
        while (like < call && !concurrent_alike(plan, like, call))
            like++;
        if (like < call) {
            r->alone_ps = own->running[like].alone_ps;
            continue;
        }
        code = run_once(own, call, error);
        for (uint32_t g = 0; g < plan->calls[call].groups && code == CW_OK; g++) {
            const int64_t ps = r->outcomes[g].end_ps - r->outcomes[g].start_ps;
            r->alone_ps = ps > r->alone_ps ? ps : r->alone_ps;
        }
    }
    return code;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool counts_sources(const struct concurrent_plan *plan)
{
    return plan->source_count <= SOURCES_COUNTED;
}

static int add_call_row(struct concurrent *own, uint32_t call, struct cw_error *error)
{
    const struct run_options *const options = own->session->options;
    const struct concurrent_call *const c = &own->plan.calls[call];
    struct running *const r = &own->running[call];
    const uint32_t times = options->iterations;
    const enum ccl_collective does = c->asked->collective;
    const bool reduces = does == CCL_ALL_REDUCE || does == CCL_REDUCE_SCATTER;
    const bool computes = does == CCL_COMPUTE;
    const bool has_tensors =
        does != CCL_BARRIER && (!computes || c->compute.kind == COMPUTE_PRODUCT);
    struct result_row *const row = bench_add_row(own->session, c->name, c->n_elem, error);
    if (row == NULL)
        return error->exit_code;
    bench_note_repeat(own->session, row);
    row->ranks = c->size;
    row->shards = has_tensors && !computes ? c->shards : 0;
    row->flops = computes ? compute_flops(&c->job) : 0;
    row->together = c->together;
    row->counted_bytes = row->bytes * (c->together || row->shards == 0 ? 1 : c->shards);
    row->bus_factor = result_bus_factor(does, (double)c->size * (c->together ? c->shards : 1));
    bench_set_bound(row, c->bound);
    row->time_ps = row->host_time_ps = result_mean_ps(r->slowest_ps, times);
    snprintf(row->algorithm, sizeof row->algorithm, "%s", r->algorithm);
    if (reduces)
        snprintf(row->redop, sizeof row->redop, "%s", redop_name(options->op));
    if (!has_tensors)
        row->dtype[0] = '\0';
    if (has_tensors && options->verify_data) {
        row->wrong = r->wrong;
        row->proof = r->proof;
        row->ranks_differ = does == CCL_ALL_REDUCE ? r->ranks_differ : -1;
        row->not_finite = reduces ? r->not_finite : -1;
        row->error_bound = r->error_bound;
        row->error_largest = r->error_largest;
    }
    row->groups = (struct result_groups){.groups = c->groups,
                                         .ranks = c->size,
                                         .fastest_ps = result_mean_ps(r->fastest_ps, times),
                                         .median_ps = result_mean_ps(r->median_ps, times),
                                         .begin_ps = r->begin_ps,
                                         .end_ps = r->end_ps,
                                         .alone_ps = r->alone_ps};
    row->explain = r->explain;
    r->explain = NULL;
    if (counts_sources(&own->plan)) /* the bytes of its groups alone */
        bench_row_links(own->session, row, 1 + c->source);
    row->busiest.kind = NULL; /* its share would be of all links of the machine */
    row->has_hash = row->shards > 0 && !options->no_data;
    if (row->has_hash) {
        XXH3_state_t *const state = XXH3_createState();
        if (state == NULL)
            return cw_error_memory(error, "the results");
        (void)XXH3_64bits_reset(state);
        for (uint32_t g = 0; g < c->groups; g++)
            (void)XXH3_64bits_update(state, &r->outcomes[g].hash, sizeof r->outcomes[g].hash);
        row->data_hash = XXH3_64bits_digest(state);
        XXH3_freeState(state);
    }
    row->done = true;
    return CW_OK;
}

/* "all_reduce:tp", and the other calls of the same groups by the same entry. */
static void name_share(const struct concurrent_plan *plan, uint32_t source, char *text,
                       size_t bytes)
{
    const char *before = "";
    size_t n = 0;
    for (uint32_t call = 0; call < plan->call_count && n < bytes; call++) {
        const struct concurrent_call *const c = &plan->calls[call];
        uint32_t like = 0;
        while (like < call &&
               (plan->calls[like].source != source || strcmp(plan->calls[like].name, c->name) != 0))
            like++;
        if (c->source != source || like < call)
            continue;
        n += (size_t)snprintf(text + n, bytes - n, "%s%s", before, c->name);
        before = " and ";
    }
}

/* Whose bytes the busiest links carried. */
static bool share_links(const struct concurrent *own, struct result_row *row)
{
    const struct concurrent_plan *const plan = &own->plan;
    if (!counts_sources(plan) || plan->source_count < 2)
        return true;
    row->shares = calloc(plan->source_count, sizeof *row->shares);
    if (row->shares == NULL)
        return false;
    row->share_count = plan->source_count;
    for (uint32_t s = 0; s < plan->source_count; s++) {
        name_share(plan, s, row->shares[s].call, sizeof row->shares[s].call);
        bench_find_share(own->session, row, 1 + s, &row->shares[s]);
    }
    return true;
}

/* All calls together: from the first start to the last end. */
static int add_all_row(struct concurrent *own, struct cw_error *error)
{
    struct bench_session *const session = own->session;
    struct result_row *const row = bench_add_row(session, "all calls", 0, error);
    if (row == NULL)
        return error->exit_code;
    bench_note_repeat(session, row);
    row->dtype[0] = '\0';
    row->time_ps = row->host_time_ps = result_mean_ps(own->all_ps, session->options->iterations);
    struct hw_bound bound = {.by = NULL};
    for (uint32_t call = 0; call < own->plan.call_count; call++)
        if (own->plan.calls[call].bound.ps > bound.ps)
            bound = own->plan.calls[call].bound;
    bench_set_bound(row, bound);
    row->bound_by = NULL; /* of a call, whose row says it */
    row->groups.calls = own->plan.call_count;
    bench_row_links(session, row, 0);
    row->busiest.kind = NULL;
    if (!share_links(own, row))
        return cw_error_memory(error, "the use of links");
    row->done = true;
    return run_use_row(&session->use, session->result, row, dist_system(session->dist), &own->times,
                       error);
}

static bool make_room(struct concurrent *own)
{
    const uint32_t world = dist_facts(own->session->dist)->world_size;
    own->running = calloc(own->plan.call_count, sizeof *own->running);
    for (uint32_t call = 0; own->running != NULL && call < own->plan.call_count; call++) {
        struct running *const r = &own->running[call];
        r->outcomes = calloc(own->plan.calls[call].groups, sizeof *r->outcomes);
        r->in = calloc(world, sizeof(struct tensor *));
        r->out = calloc(world, sizeof(struct tensor *));
        r->work = calloc(world, sizeof(struct dist_work *));
        if (r->outcomes == NULL || r->in == NULL || r->out == NULL || r->work == NULL)
            return false;
    }
    return own->running != NULL;
}

static void free_running(struct concurrent *own)
{
    for (uint32_t call = 0; own->running != NULL && call < own->plan.call_count; call++) {
        struct running *const r = &own->running[call];
        free(r->outcomes);
        free(r->explain);
        free(r->in);
        free(r->out);
        free(r->work);
    }
    free(own->running);
    own->running = NULL;
}

/* Logs hold every operation: then of the calls at once alone. */
static bool writes_operations(const struct run_options *options)
{
    return options->op_log != NULL || options->ccl_trace != NULL || options->timeline != NULL ||
           options->engine_trace != NULL || options->engine_log != NULL || options->dump_pointers;
}

static int concurrent_run(struct bench_session *session, struct cw_error *error)
{
    struct concurrent *const own = session->own;
    const struct run_options *const options = session->options;
    bench_size_begin(session, 0);
    if (!make_room(own))
        return cw_error_memory(error, "the calls");
    int code = CW_OK;
    bench_calls_begin(session);
    for (uint32_t i = 0; repeat_goes_on(&session->repeat, i) && code == CW_OK; i++) {
        own->is_last = i + 1 == repeat_simulated(&session->repeat);
        code = run_once(own, ALL_CALLS, error);
        if (code == CW_OK && repeat_weight(&session->repeat) > 0)
            code = sample(own, error);
        bench_called(session);
    }
    for (uint32_t call = 0; call < own->plan.call_count && code == CW_OK; call++)
        code = add_call_row(own, call, error);
    if (code == CW_OK)
        code = add_all_row(own, error);
    if (code == CW_OK && own->plan.call_count > 1 && !writes_operations(options))
        code = run_alone(own, error);
    for (uint32_t call = 0; call < own->plan.call_count && code == CW_OK; call++)
        session->result->rows[call].groups.alone_ps = own->running[call].alone_ps;
    return code;
}

static int concurrent_prepare(struct bench_session *session, struct dist_options *dist,
                              struct cw_error *error)
{
    struct concurrent *const own = calloc(1, sizeof *own);
    if (own == NULL)
        return cw_error_memory(error, "the calls");
    session->own = own;
    own->session = session;
    if (session->options->size_count > 0)
        return cw_error_set(error, CW_USAGE,
                            "concurrent has no --bytes or --n-elem: each --call has its own size");
    const int code = concurrent_plan_make(session, &own->plan, error);
    dist->groups = own->plan.specs;
    dist->group_count = own->plan.spec_count;
    if (counts_sources(&own->plan))
        dist->machine.needs.accounts = own->plan.source_count;
    dist->groups_only = true;
    dist->completed = concurrent_completed;
    return code;
}

static void concurrent_finish(struct bench_session *session)
{
    struct concurrent *const own = session->own;
    if (own == NULL)
        return;
    free_running(own);
    concurrent_plan_free(&own->plan);
    free(own);
    session->own = NULL;
}

const struct bench_program bench_concurrent = {
    .name = "concurrent",
    .about = "calls of several groups of ranks at once (--call), then each alone",
    .collective = true,
    .no_algorithm = true,
    .rows_named = true,
    .groups = true,
    .own = concurrent_work,
    .takes = {"call", "input"},
    .prepare = concurrent_prepare,
    .run = concurrent_run,
    .finish = concurrent_finish};
