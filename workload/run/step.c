/*
 * step.c: runs the graph of a step (step.h). The worker of each rank makes all its rank's calls
 * ahead, as operations of its SIP's program, and waits for the programs' end; io_cpus do the rest.
 */
#include "workload/run/step.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "collectives/compute/compute_call.h"
#include "collectives/runtime/dist_messages.h"
#include "collectives/verify/group_call.h"
#include "workload/run/step_plan.h"

/* A tensor that calls share which need one alike; of one rank. With values each has its own. */
struct shared_tensor {
    struct dp_policy policy;
    uint64_t n_elem;
    uint8_t dtype;
    uint8_t use; /* 0: input, 1: output */
    struct tensor *tensor;
};

/* Warnings that were passed on: of machines that are made again, each is said once. */
struct said {
    char **texts;
    uint32_t count;
};

struct step_run {
    const struct step_options *options;
    struct said *said;
    struct step_plan plan;
    bool lacks_queues; /* those of all groups do not fit */
    bool has_ties;     /* its fold is not exact */
    bool is_refused;   /* the options refuse it, folded or not */
    struct dist *dist;
    struct step_result *result;
    struct maker *makers; /* [rank_count]; kept here, since a worker that fails frees nothing */
};

/* A rank's worker at work. */
struct maker {
    struct step_run *run;
    uint32_t rank;
    struct shared_tensor *tensors;
    uint32_t tensor_count;
    uint32_t *calls;          /* [specs] that the rank has made of each group */
    struct dist_work **works; /* [work_count] its handles */
    uint32_t work_count;
    uint64_t *splits; /* [2 * rank_count] of an uneven all-to-all: sent, received */
};

/* ---- calls ----------------------------------------------------------------------------------- */

/* The values of a call's inputs: of a group, as its k-th. */
static uint64_t seed_of(uint32_t spec, uint64_t call)
{
    return (1 + 1009 * (uint64_t)spec + 31 * call) & UINT32_MAX;
}

static struct tensor *shared_tensor(struct maker *maker, const struct step_source *source,
                                    uint64_t n_elem, enum dtype dtype, uint8_t use)
{
    for (uint32_t i = 0; i < maker->tensor_count; i++) {
        const struct shared_tensor *const at = &maker->tensors[i];
        if (at->n_elem == n_elem && at->dtype == dtype && at->use == use &&
            memcmp(&at->policy, &source->policy, sizeof at->policy) == 0)
            return at->tensor;
    }
    struct shared_tensor *const more =
        realloc(maker->tensors, (maker->tensor_count + 1) * sizeof *more);
    if (more == NULL) {
        mp_fail(CW_NO_RESOURCE, "out of memory: the tensors of a step");
        return NULL;
    }
    maker->tensors = more;
    more[maker->tensor_count] =
        (struct shared_tensor){.policy = source->policy,
                               .n_elem = n_elem,
                               .dtype = (uint8_t)dtype,
                               .use = use,
                               .tensor = dist_tensor_zeros(n_elem, dtype, &source->policy)};
    return more[maker->tensor_count++].tensor;
}

/* A call of a group that a rank is about to make. */
struct made_call {
    const struct step_source *source;
    uint32_t spec, rank; /* of the group, and the rank in it */
    enum dtype dtype;
};

static struct tensor *output_of(struct maker *maker, const struct made_call *call, uint64_t n_elem)
{
    return maker->run->options->graph->verifies
               ? dist_tensor_zeros(n_elem, call->dtype, &call->source->policy)
               : shared_tensor(maker, call->source, n_elem, call->dtype, 1);
}

static struct tensor *input_of(struct maker *maker, const struct made_call *call, uint64_t n_elem)
{
    if (!maker->run->options->graph->verifies)
        return shared_tensor(maker, call->source, n_elem, call->dtype, 0);
    struct tensor *const tensor = dist_tensor_zeros(n_elem, call->dtype, &call->source->policy);
    dist_fill_input_as(tensor, seed_of(call->spec, maker->calls[call->spec]), call->rank);
    return tensor;
}

static void note_work(struct maker *maker, struct dist_work *work)
{
    maker->works[maker->work_count++] = work;
}

/* Elements of the block from one rank of a group to another: those of its first rank are larger or
 * smaller than the mean, all others alike. */
static uint64_t uneven_block(const struct workload_op *op, uint64_t n_elem, uint32_t ranks,
                             uint32_t from, uint32_t to)
{
    const uint64_t part = op->to_first > 0 ? op->to_first : op->from_first,
                   first = n_elem / ranks * part / 1000;
    const bool is_first = (op->to_first > 0 ? to : from) == 0;
    return is_first ? first : (n_elem - (first < n_elem ? first : n_elem)) / (ranks - 1);
}

static void call_uneven(struct maker *maker, const struct workload_op *op,
                        const struct made_call *call, struct dist_group *group, uint64_t n_elem)
{
    const struct workload_set *const set = &maker->run->options->graph->sets[op->set];
    const uint32_t number = set->group_of[maker->rank], own = set->rank_in[maker->rank];
    const uint32_t ranks = set->first[number + 1] - set->first[number];
    uint64_t *const splits = maker->splits;
    uint64_t sent = 0, received = 0;
    for (uint32_t other = 0; other < ranks; other++) {
        splits[other] = uneven_block(op, n_elem, ranks, own, other);
        splits[ranks + other] = uneven_block(op, n_elem, ranks, other, own);
        sent += splits[other];
        received += splits[ranks + other];
    }
    struct tensor *const in = sent > 0 ? input_of(maker, call, sent) : NULL;
    struct tensor *const out = received > 0 ? output_of(maker, call, received) : NULL;
    note_work(maker, dist_all_to_all_v_async(group, out, splits + ranks, in, splits));
}

static void call_collective(struct maker *maker, const struct workload_op *op)
{
    const struct step_run *const run = maker->run;
    const struct workload_set *const set = &run->options->graph->sets[op->set];
    const struct step_source *const source = step_source_of(&run->plan, op);
    const uint32_t number = set->group_of[maker->rank];
    const uint32_t ranks = set->first[number + 1] - set->first[number];
    const struct made_call call = {source, run->plan.spec_of[source->first + number],
                                   set->rank_in[maker->rank], (enum dtype)op->dtype};
    struct dist_group *const group = dist_group_at(run->dist, call.spec);
    const uint64_t n_elem = step_elements(source, op, ranks), block = n_elem / ranks;
    const enum redop redop = (enum redop)op->redop;
    struct tensor *out, *in;
    switch ((enum ccl_collective)op->collective) {
    case CCL_ALL_REDUCE:
        note_work(maker, dist_all_reduce_async(group, input_of(maker, &call, n_elem), redop));
        break;
    case CCL_REDUCE_SCATTER:
        out = output_of(maker, &call, block);
        in = input_of(maker, &call, n_elem);
        note_work(maker, dist_reduce_scatter_async(group, out, in, redop));
        break;
    case CCL_ALL_GATHER:
        out = output_of(maker, &call, n_elem);
        in = input_of(maker, &call, block);
        note_work(maker, dist_all_gather_async(group, out, in));
        break;
    case CCL_ALL_TO_ALL:
        if (op->to_first > 0 || op->from_first > 0) {
            call_uneven(maker, op, &call, group, n_elem);
            break;
        }
        out = output_of(maker, &call, n_elem);
        in = input_of(maker, &call, n_elem);
        note_work(maker, dist_all_to_all_async(group, out, in));
        break;
    case CCL_BROADCAST:
        in = input_of(maker, &call, n_elem);
        note_work(maker, dist_broadcast_async(group, in, op->peer));
        break;
    case CCL_REDUCE:
        in = input_of(maker, &call, n_elem);
        note_work(maker, dist_reduce_async(group, in, op->peer, redop));
        break;
    default:
        note_work(maker, dist_barrier_async(group));
    }
    maker->calls[call.spec]++;
}

/* An uneven all-to-all of the two ranks, whose only block is the message. */
static void call_message(struct maker *maker, uint32_t meeting)
{
    const struct step_run *const run = maker->run;
    struct step_message ends;
    (void)step_message_of(&run->plan, meeting, &ends);
    const struct {
        uint32_t from, to;
    } message = {ends.send.rank, ends.receive.rank};
    const bool sends = message.from == maker->rank;
    const uint32_t index = sends ? ends.send.op : ends.receive.op;
    const struct workload_op *const op =
        &step_program_of(run->options->graph, maker->rank)->ops[index];
    const struct step_source *const source = step_source_of(&run->plan, op);
    const uint64_t n_elem = step_elements(source, op, 2);
    const uint64_t splits[2] = {message.to < message.from ? n_elem : 0,
                                message.to < message.from ? 0 : n_elem};
    const uint64_t from_splits[2] = {message.from < message.to ? n_elem : 0,
                                     message.from < message.to ? 0 : n_elem};
    const uint64_t none[2] = {0, 0};
    const struct made_call call = {source, run->plan.spec_of[run->plan.pair_of[meeting]],
                                   maker->rank > (sends ? message.to : message.from),
                                   (enum dtype)op->dtype};
    struct tensor *const tensor =
        sends ? input_of(maker, &call, n_elem) : output_of(maker, &call, n_elem);
    struct dist_group *const group = dist_group_at(run->dist, call.spec);
    maker->calls[call.spec]++;
    dist_next_operation(index, sends ? source->queue : source->queue + 1);
    note_work(maker,
              dist_all_to_all_v_async(group, sends ? NULL : tensor, sends ? none : from_splits,
                                      sends ? tensor : NULL, sends ? splits : none));
}

static struct compute_request request_of(const struct workload_op *op)
{
    struct compute_request request = {.dtype = (enum dtype)op->dtype};
    if (op->kind == WORKLOAD_PRODUCT) {
        request.kind = COMPUTE_PRODUCT;
        request.m = op->side[0];
        request.n = op->side[1];
        request.k = op->side[2];
    } else {
        request.kind = COMPUTE_ROOFLINE;
        request.flops = op->flops;
        request.bytes = op->bytes;
        request.block = op->matrix ? TL_BLOCK_GEMM : TL_BLOCK_MATH;
    }
    return request;
}

static void call_computation(struct maker *maker, const struct workload_op *op)
{
    const struct compute_request request = request_of(op);
    struct tensor *const operands =
        request.kind == COMPUTE_PRODUCT ? dist_compute_operands(&request) : NULL;
    note_work(maker, dist_compute_async(&request, operands));
}

static void make_calls(struct maker *maker)
{
    const struct step_run *const run = maker->run;
    const struct workload_program *const p = step_program_of(run->options->graph, maker->rank);
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct workload_op *const op = &p->ops[i];
        if (!step_is_call(&run->plan, op) || op->kind == WORKLOAD_SEND || op->kind == WORKLOAD_RECV)
            continue;
        dist_next_operation(
            i, op->kind == WORKLOAD_COLLECTIVE ? step_source_of(&run->plan, op)->queue : 0);
        if (op->kind == WORKLOAD_COLLECTIVE)
            call_collective(maker, op);
        else
            call_computation(maker, op);
    }
    for (uint32_t m = 0; m < run->plan.meetings.count && !run->options->modes.free_communication;
         m++) {
        struct step_message ends;
        if (step_message_of(&run->plan, m, &ends) &&
            (ends.send.rank == maker->rank || ends.receive.rank == maker->rank))
            call_message(maker, m);
    }
}

static void set_up(struct step_run *run, uint32_t rank, struct maker *maker)
{
    const struct workload_graph *const graph = run->options->graph;
    const uint32_t ops = step_program_of(graph, rank)->op_count;
    *maker = (struct maker){.run = run, .rank = rank};
    maker->works = malloc((ops + 1) * sizeof(struct dist_work *));
    maker->calls = calloc(run->plan.spec_count + 1, sizeof *maker->calls);
    maker->splits = malloc(2 * (size_t)graph->rank_count * sizeof *maker->splits);
    if (maker->works == NULL || maker->calls == NULL || maker->splits == NULL)
        mp_fail(CW_NO_RESOURCE, "out of memory: the calls of a step");
}

static void step_worker(int sip, void *arg)
{
    struct step_run *const run = arg;
    const uint32_t rank = run->plan.rank_of_sip[sip];
    struct maker *const maker = rank != WORKLOAD_NONE ? &run->makers[rank] : NULL;
    dist_init_process_group("ahbm");
    ahbm_set_device((uint32_t)sip);
    if (maker != NULL) {
        set_up(run, rank, maker);
        make_calls(maker);
    }
    dist_run_operations();
    for (uint32_t i = 0; maker != NULL && i < maker->work_count; i++)
        dist_wait(maker->works[i]);
}

static void free_makers(struct step_run *run)
{
    for (uint32_t rank = 0; run->makers != NULL && rank < run->options->graph->rank_count; rank++) {
        free(run->makers[rank].works);
        free(run->makers[rank].calls);
        free(run->makers[rank].tensors);
        free(run->makers[rank].splits);
    }
    free(run->makers);
    run->makers = NULL;
}

/* ---- results --------------------------------------------------------------------------------- */

static struct step_span *span_of(const struct step_run *run, uint32_t rank, uint32_t op)
{
    return &run->result->spans[run->result->first_span[rank] + op];
}

/* The source whose group this is, by its number, where all ranks are simulated. */
static const struct step_source *source_of_spec(const struct step_run *run, uint32_t spec)
{
    uint32_t s = 0;
    while (spec >= run->plan.sources[s].first + run->plan.sources[s].groups)
        s++;
    return &run->plan.sources[s];
}

/* Calls end in one order, whatever the mode and the threads. */
static int add_hash(const struct step_run *run, const struct dist_completion *completion,
                    struct cw_error *error)
{
    int code = CW_OK;
    for (uint32_t i = 0; i < completion->world_size && code == CW_OK; i++) {
        uint64_t both[2] = {run->result->hash, 0};
        if (completion->tensors[i] == NULL)
            continue;
        code = dist_hash_of(completion->dist, &completion->tensors[i], 1, &both[1], error);
        run->result->hash = XXH3_64bits(both, sizeof both);
    }
    return code;
}

/* Whether a call has left what it must. */
static int verify_call(const struct step_run *run, const struct dist_completion *completion,
                       const struct workload_op *op, struct cw_error *error)
{
    const uint32_t spec = dist_group_number(completion->group);
    const struct step_source *const source = source_of_spec(run, spec);
    const struct group_call call = {.dtype = (enum dtype)op->dtype,
                                    .op = (enum redop)op->redop,
                                    .shards = source->shards,
                                    .n_elem = step_elements(source, op, completion->world_size),
                                    .seed = seed_of(spec, completion->number)};
    struct verdict verdict;
    const int code = group_call_verify(&call, completion, &verdict, error);
    struct step_result *const result = run->result;
    if (code != CW_OK)
        return code;
    result->wrong += verdict.wrong;
    if (!result->verified || verdict.proof != PROOF_MOVED)
        result->proof = verdict.proof;
    result->verified = true;
    return add_hash(run, completion, error);
}

/* When its kernels began on each rank that is simulated, on the machine's clock. */
static int step_completed(void *arg, const struct dist_completion *completion,
                          struct cw_error *error)
{
    const struct step_run *const run = arg;
    const struct workload_op *op = NULL;
    const struct lp_phases *const phases =
        lp_system_phases_of(dist_system(completion->dist), completion->batch);
    const bool alone = completion->collective == CCL_COMPUTE;
    const uint32_t size = alone ? 1 : completion->world_size;
    for (uint32_t i = 0, live = 0; i < size; i++) {
        const uint32_t sip = alone ? completion->first_rank
                                   : run->plan.specs[dist_group_number(completion->group)].ranks[i];
        const uint32_t rank = run->plan.rank_of_sip[sip];
        if (!step_is_live(&run->plan, rank))
            continue;
        const uint32_t index = dist_operation_of(completion, i);
        struct step_span *const span = span_of(run, rank, index);
        span->start_ps = span->met_ps = phases->start_ps[live++];
        op = &step_program_of(run->options->graph, rank)->ops[index];
    }
    return alone || !run->options->graph->verifies ? CW_OK
                                                   : verify_call(run, completion, op, error);
}

/* When all that it depends on was over. */
static int64_t ready_ps(const struct workload_program *p, const struct workload_op *op,
                        const struct step_span *spans)
{
    int64_t ready_ps = 0;
    for (uint32_t k = 0; k < op->dep_count; k++) {
        const uint32_t dep = p->deps[op->first_dep + k];
        const struct step_span *const on = &spans[dep & ~WORKLOAD_AFTER_START];
        const int64_t t_ps = (dep & WORKLOAD_AFTER_START) != 0 ? on->start_ps : on->end_ps;
        ready_ps = t_ps > ready_ps ? t_ps : ready_ps;
    }
    return ready_ps;
}

/* The times that the rank's io_cpu has noted, on the machine's clock, as those of kernels' starts
 * that are there. */
static void take_noted(const struct step_run *run, uint32_t rank)
{
    struct lp_system *const system = dist_system(run->dist);
    const struct workload_graph *const graph = run->options->graph;
    const uint32_t sip = step_sip_of(graph, rank), count = step_program_of(graph, rank)->op_count;
    const int64_t begun_ps = count > 0 ? lp_system_program_begun_ps(system, sip) : 0;
    for (uint32_t op = 0; op < count; op++) {
        const struct lp_program_times times = lp_system_program_times(system, sip, op);
        struct step_span *const span = span_of(run, rank, op);
        if (span->met_ps == 0)
            span->start_ps = span->met_ps = times.start_ps + begun_ps;
        span->end_ps = times.end_ps + begun_ps;
    }
}

/* When the last of those that meet has begun. Where communication is free, they have met when all
 * is over. */
static void take_meetings(const struct step_run *run)
{
    const struct step_plan *const plan = &run->plan;
    const struct workload_meetings *const meetings = &plan->meetings;
    for (uint32_t m = 0; m < meetings->count; m++) {
        int64_t met_ps = 0;
        for (uint64_t i = meetings->first_part[m]; i < meetings->first_part[m + 1]; i++) {
            const struct workload_part *const part = &meetings->parts[i];
            const struct step_span *const span = span_of(run, plan->live_of[part->rank], part->op);
            const int64_t t_ps = plan->program.meets ? span->end_ps : span->start_ps;
            met_ps = t_ps > met_ps ? t_ps : met_ps;
        }
        for (uint64_t i = meetings->first_part[m]; i < meetings->first_part[m + 1]; i++)
            if (step_is_live(plan, meetings->parts[i].rank))
                span_of(run, meetings->parts[i].rank, meetings->parts[i].op)->met_ps = met_ps;
    }
}

/* From the machine's clock to the step's. */
static void count_from_begin(const struct step_run *run, uint32_t rank)
{
    const struct workload_program *const p = step_program_of(run->options->graph, rank);
    struct step_span *const spans = span_of(run, rank, 0);
    const int64_t begun_ps =
        p->op_count > 0 ? lp_system_program_begun_ps(dist_system(run->dist),
                                                     step_sip_of(run->options->graph, rank))
                        : 0;
    for (uint32_t op = 0; op < p->op_count; op++) {
        spans[op].start_ps -= begun_ps;
        spans[op].met_ps -= begun_ps;
        spans[op].end_ps -= begun_ps;
        if (spans[op].end_ps > run->result->step_ps)
            run->result->step_ps = spans[op].end_ps;
    }
    for (uint32_t op = 0; op < p->op_count; op++)
        spans[op].ready_ps = ready_ps(p, &p->ops[op], spans);
}

/* The times of all ranks: those that are not simulated have those of the ranks that are in their
 * place. */
static void take_times(const struct step_run *run)
{
    const struct workload_graph *const graph = run->options->graph;
    for (uint32_t rank = 0; rank < graph->rank_count; rank++)
        if (step_is_live(&run->plan, rank))
            take_noted(run, rank);
    take_meetings(run);
    for (uint32_t rank = 0; rank < graph->rank_count; rank++)
        if (step_is_live(&run->plan, rank))
            count_from_begin(run, rank);
    for (uint32_t rank = 0; rank < graph->rank_count; rank++)
        if (!step_is_live(&run->plan, rank))
            memcpy(span_of(run, rank, 0), span_of(run, run->plan.live_of[rank], 0),
                   step_program_of(graph, rank)->op_count * sizeof *run->result->spans);
}

static int allocate(struct step_result *result, const struct workload_graph *graph,
                    struct cw_error *error)
{
    uint64_t count = 0;
    *result = (struct step_result){0};
    result->first_span = malloc((graph->rank_count + 1) * sizeof *result->first_span);
    for (uint32_t rank = 0; result->first_span != NULL && rank <= graph->rank_count; rank++) {
        result->first_span[rank] = count;
        if (rank < graph->rank_count)
            count += step_program_of(graph, rank)->op_count;
    }
    result->spans = calloc(count + 1, sizeof *result->spans);
    if (result->first_span != NULL && result->spans != NULL)
        return CW_OK;
    step_result_free(result);
    return cw_error_memory(error, "the times of a step");
}

/* ---- the run --------------------------------------------------------------------------------- */

static const char *name_of_operation(void *arg, uint32_t sip, uint32_t op, char *text, size_t size)
{
    const struct step_run *const run = arg;
    const struct workload_graph *const graph = run->options->graph;
    const uint32_t rank = run->plan.rank_of_sip[sip];
    const struct workload_op *const at = &step_program_of(graph, rank)->ops[op];
    char name[160], place[40] = "";
    if (at->column > 0)
        (void)snprintf(place, sizeof place, ":%" PRIu64 ":%u", at->id, at->column);
    else
        (void)snprintf(place, sizeof place, " %" PRIu64, at->id);
    (void)snprintf(text, size, "rank %u: %s (%s%s)", rank,
                   workload_op_name(graph, at, name, sizeof name),
                   at->column > 0 && graph->file != NULL ? graph->file : "operation", place);
    return text;
}

static bool was_said(struct said *said, const char *text)
{
    for (uint32_t i = 0; i < said->count; i++)
        if (strcmp(said->texts[i], text) == 0)
            return true;
    char **const more = realloc(said->texts, (said->count + 1) * sizeof *more);
    if (more != NULL) { /* without memory it may be said again */
        said->texts = more;
        more[said->count] = strdup(text);
        said->count += more[said->count] != NULL;
    }
    return false;
}

static void pass_warning(void *arg, const char *text)
{
    const struct step_run *const run = arg;
    const struct dist_options *const dist = &run->options->dist;
    if (dist->warn != NULL && !was_said(run->said, text))
        dist->warn(dist->arg, text);
}

static void free_said(struct said *said)
{
    for (uint32_t i = 0; i < said->count; i++)
        free(said->texts[i]);
    free(said->texts);
}

static void pass_phase(void *arg, const char *name)
{
    const struct dist_options *const dist = &((const struct step_run *)arg)->options->dist;
    dist->phase(dist->arg, name);
}

/* Of a program. */
static uint32_t most_operations(const struct workload_graph *graph)
{
    uint32_t most = 0;
    for (uint32_t p = 0; p < graph->program_count; p++)
        most = graph->programs[p].op_count > most ? graph->programs[p].op_count : most;
    return most;
}

static int run_on_machine(struct step_run *run, struct cw_error *error)
{
    struct dist_options dist = run->options->dist;
    dist.lacks_queues = &run->lacks_queues;
    dist.config = run->options->config;
    dist.groups = run->plan.specs;
    dist.group_count = run->plan.spec_count;
    dist.groups_only = true;
    dist.says_choices = true;
    dist.no_data = !run->options->graph->verifies;
    dist.completed = step_completed;
    dist.warn = run->options->dist.warn != NULL ? pass_warning : NULL;
    dist.phase = run->options->dist.phase != NULL ? pass_phase : NULL;
    dist.arg = run;
    dist.fold = run->plan.fold.sips < run->plan.fold.of ? &run->plan.fold : NULL;
    dist.machine.program = &run->plan.program;
    dist.machine.needs.operations = most_operations(run->options->graph);
    dist.machine.needs.launches = run->plan.launches;
    dist.machine.needs.queues = run->plan.queues;
    dist.machine.needs.turns = run->plan.program.turns;
    run->plan.program.name = name_of_operation;
    run->plan.program.arg = run;
    run->makers = calloc(run->options->graph->rank_count, sizeof *run->makers);
    if (run->makers == NULL)
        return cw_error_memory(error, "the calls of a step");
    run->dist = dist_create(&dist, error);
    if (run->dist == NULL)
        return error->exit_code;
    const char *const refused = lp_system_refuses_replay(dist_system(run->dist));
    if (run->options->must_replay && refused != NULL) {
        dist_free(run->dist);
        run->dist = NULL;
        run->is_refused = true;
        return cw_error_set(error, CW_USAGE, "--replay on: %s", refused);
    }
    void *const arg = run->options->dist.arg;
    int code = run->options->begins != NULL ? run->options->begins(arg, run->dist, error) : CW_OK;
    const bool has_begun = code == CW_OK;
    if (code == CW_OK)
        code = dist_spawn(run->dist, step_worker, run, error);
    if (code == CW_OK && !lp_system_fold_is_exact(dist_system(run->dist))) {
        run->has_ties = true;
        code = cw_error_set(error, CW_USAGE, "the fold of a step is not exact");
    }
    if (code == CW_OK)
        take_times(run);
    run->result->folded = run->plan.folded;
    run->result->replay = lp_system_replayed(dist_system(run->dist));
    if (has_begun && run->options->ends != NULL)
        code = run->options->ends(arg, run->dist, code, error);
    dist_free(run->dist);
    return code;
}

/* How a step ran on a machine. */
struct ran {
    bool folded;     /* ranks were simulated for others, */
    bool has_ties;   /* and the fold is not exact */
    bool is_refused; /* nothing was simulated: the options refuse it, of any fold */
};

static int run_once(const struct step_options *options, struct said *said,
                    struct step_result *result, struct ran *ran, struct cw_error *error)
{
    struct step_run run = {.options = options, .said = said, .result = result};
    int code = allocate(result, options->graph, error);
    *ran = (struct ran){.folded = false};
    if (code != CW_OK)
        return code;
    code = step_plan_make(options, UINT32_MAX, &run.plan, error);
    if (code == CW_OK)
        code = run_on_machine(&run, error);
    while (run.lacks_queues) { /* the largest groups take rings, and then smaller ones */
        const uint32_t ranks = step_largest_group(&run.plan, run.plan.rings_from);
        run.lacks_queues = false;
        if (ranks <= 2)
            break;
        char text[160];
        snprintf(text, sizeof text,
                 "collectives of %u ranks and more take rings: the queues of all groups do not fit "
                 "otherwise",
                 ranks);
        pass_warning(&run, text);
        free_makers(&run);
        step_plan_free(&run.plan);
        code = step_plan_make(options, ranks, &run.plan, error);
        if (code == CW_OK)
            code = run_on_machine(&run, error);
    }
    *ran = (struct ran){run.plan.folded.sips < run.plan.folded.of, run.has_ties, run.is_refused};
    free_makers(&run);
    step_plan_free(&run.plan);
    if (code != CW_OK)
        step_result_free(result);
    return code;
}

/* A fold that is not exact gives way to translations, which are. What fails in a folded step fails
 * in the whole one, whose ranks the message is to name; else STEP_FOLD_ON refuses it. */
int step_run(const struct step_options *options, struct step_result *result, struct cw_error *error)
{
    struct step_options again = *options;
    struct said said = {.count = 0};
    struct ran ran;
    int code = run_once(options, &said, result, &ran, error);
    if (ran.has_ties) {
        again.translations = true;
        error->exit_code = CW_OK;
        code = run_once(&again, &said, result, &ran, error);
    }
    if (ran.folded && !ran.is_refused && code != CW_OK && code != CW_NO_RESOURCE &&
        code != CW_INTERRUPTED) {
        const struct cw_error folded = *error;
        again.fold = STEP_FOLD_OFF;
        error->exit_code = CW_OK;
        code = run_once(&again, &said, result, &ran, error);
        if (code == CW_OK && options->fold == STEP_FOLD_ON) {
            step_result_free(result);
            code = cw_error_set(error, CW_USAGE, "--fold on: the folded step fails: %.400s",
                                cw_error_text(&folded));
        }
    }
    free_said(&said);
    return code;
}
