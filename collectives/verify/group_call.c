/*
 * group_call.c: verifies a call of a process group (group_call.h): reductions by the verifier, in
 * the order of additions that the algorithm declares; all else moves values as they are.
 */
#include "collectives/verify/group_call.h"

#include <stdlib.h>

#include "collectives/data/scaling.h"
#include "collectives/runtime/dist_messages.h"
#include "collectives/verify/expect_moves.h"

static int read_result(void *arg, uint32_t rank, uint32_t shard, uint64_t first, uint64_t count,
                       void *dst, struct cw_error *error)
{
    const struct dist_completion *const completion = arg;
    return dist_read(completion->dist, completion->tensors[rank], shard, first, count, dst, error);
}

static int verify_move(const struct group_call *call, const struct dist_completion *completion,
                       struct verdict *verdict, struct cw_error *error)
{
    struct dist_completion view = *completion;
    const bool gathers = completion->collective == CCL_ALL_GATHER;
    const struct expect_moves moves = {.collective = completion->collective,
                                       .ranks = completion->world_size,
                                       .shards = completion->tensors[0]->shard_count,
                                       .root = completion->root,
                                       .dtype = call->dtype,
                                       .n_elem = gathers ? call->n_elem / completion->world_size
                                                         : call->n_elem,
                                       .seed = call->seed,
                                       .sim = lp_system_sim(dist_system(completion->dist))};
    return expect_moves_verify(&moves, read_result, &view, &verdict->wrong, error);
}

static int verify_reduction(const struct group_call *call, const struct dist_completion *completion,
                            struct verdict *verdict, struct cw_error *error)
{
    const struct dist_facts facts = dist_group_facts(completion->group);
    const struct config config = dist_group_config(completion->group, completion->algorithm);
    const enum dtype dtype = dtype_of_results(call->dtype, config.ccl.arithmetic);
    const uint64_t operands =
        (uint64_t)completion->world_size * (facts.parts > 0 ? 1 : call->shards);
    const bool is_built_in =
        ccl_algorithm_find(completion->algorithm->name) == completion->algorithm;
    const struct verifier_request request = {
        .expect = {.hw = &config.hw,
                   .ccl = &config.ccl,
                   .module = is_built_in ? completion->algorithm->name : config.ccl.module,
                   .dtype = dtype,
                   .op = redop_of_kernels(call->op),
                   .scaling = scaling_of(dtype, call->op, call->scalar, operands),
                   .n_elem = call->n_elem,
                   .seed = call->seed,
                   .sim = lp_system_sim(dist_system(completion->dist))},
        .algorithm = completion->algorithm,
        .schedule = completion->algorithm->schedule != NULL ? facts.schedule : NULL,
        .ranks = completion->world_size,
        .integers = call->integers,
        .shards_apart = facts.parts > 0};
    struct verifier *const verifier = verifier_create(&request, error);
    if (verifier == NULL)
        return error->exit_code;
    const struct tensor *const tensor = completion->tensors[0];
    struct dist_completion view = *completion;
    const int code = verifier_compare(verifier, tensor->shard_count, tensor_parts(tensor),
                                      read_result, &view, verdict, error);
    verifier_free(verifier);
    return code;
}

/* What the messages of a call have brought, each into a tensor. */
struct brought {
    const struct dist_completion *completion;
    struct dist_moved *moved; /* by expect_part.result */
};

static int read_brought(void *arg, uint32_t which, uint32_t shard, uint64_t first, uint64_t count,
                        void *dst, struct cw_error *error)
{
    const struct brought *const brought = arg;
    return dist_read(brought->completion->dist, brought->moved[which].result, shard, first, count,
                     dst, error);
}

static int verify_messages(const struct group_call *call, const struct dist_completion *completion,
                           struct verdict *verdict, struct cw_error *error)
{
    const uint64_t messages = completion->message_count;
    struct brought brought = {completion, malloc((messages + 1) * sizeof *brought.moved)};
    struct expect_part *const parts = malloc((messages + 1) * sizeof *parts);
    uint32_t count = 0;
    int code = CW_OK;
    if (brought.moved == NULL || parts == NULL)
        code = cw_error_memory(error, "the verification of messages");
    for (uint64_t m = 0; m < messages && code == CW_OK; m++) {
        const struct dist_moved moved = dist_moved(completion, m);
        if (moved.result == NULL || moved.count == 0)
            continue;
        brought.moved[count] = moved;
        parts[count] = (struct expect_part){.result = count,
                                            .from = moved.from,
                                            .n_elem = moved.input_elems,
                                            .at = moved.first_in,
                                            .to = moved.first_out,
                                            .count = moved.count};
        count++;
    }
    if (code == CW_OK && count > 0)
        code = expect_moves_verify(
            &(struct expect_moves){.shards = call->shards,
                                   .dtype = call->dtype,
                                   .seed = call->seed,
                                   .sim = lp_system_sim(dist_system(completion->dist)),
                                   .part = parts,
                                   .part_count = count},
            read_brought, &brought, &verdict->wrong, error);
    free(brought.moved);
    free(parts);
    return code;
}

int group_call_verify(const struct group_call *call, const struct dist_completion *completion,
                      struct verdict *verdict, struct cw_error *error)
{
    const bool reduces =
        completion->collective == CCL_ALL_REDUCE || completion->collective == CCL_REDUCE_SCATTER;
    *verdict = (struct verdict){.proof = PROOF_MOVED};
    verdict->agreement.ranks_differ = verdict->agreement.not_finite = -1;
    if (completion->collective == CCL_BARRIER || completion->collective == CCL_REDUCE) {
        verdict->proof = PROOF_NONE;
        return CW_OK;
    }
    if (completion->message_count > 0 || completion->collective == CCL_SEND_RECV)
        return verify_messages(call, completion, verdict, error);
    return reduces ? verify_reduction(call, completion, verdict, error)
                   : verify_move(call, completion, verdict, error);
}
