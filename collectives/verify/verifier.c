/*
 * verifier.c: takes the strongest proof that there is for an algorithm and its inputs, and compares
 * by it (verifier.h).
 */
#include "collectives/verify/verifier.h"

#include <stdlib.h>

#include "collectives/schedule/schedule_check.h"
#include "collectives/verify/expect_any.h"
#include "collectives/verify/sums.h"

struct verifier {
    struct verifier_request request;
    enum proof proof;
    struct expect *expect;          /* of PROOF_ORDER */
    struct schedule_values *values; /* of PROOF_ORDER, of a schedule */
};

const char *proof_name(enum proof proof)
{
    static const char *const name[PROOFS] = {"",         "order",       "any_order", "moved",
                                             "integers", "error_bound", "steps",     "sample"};
    return name[proof];
}

const char *proof_text(enum proof proof)
{
    static const char *const text[PROOFS] = {
        "",
        "bit for bit, in the order of additions that the algorithm declares",
        "bit for bit: this operation has the same bits in any order",
        "bit for bit: the values are moved, not changed",
        "bit for bit: the inputs are whole numbers, all of whose sums are exact",
        "within a bound of the error that holds for any order of additions",
        "bit for bit: data as the file's own steps give",
        "by the steps of the schedule: each contribution is there once"};
    return text[proof];
}

enum proof proof_without_order(enum dtype dtype, enum redop op, bool integers)
{
    const bool whole = dtype_digits(dtype) == 0; /* they wrap */
    return whole || op == REDOP_MAX || op == REDOP_MIN ? PROOF_ANY_ORDER
           : integers                                  ? PROOF_INTEGERS
                                                       : PROOF_BOUND;
}

/* The order says which sums are kept in f32. */
static bool says_what_is_kept(const struct ccl_order *order)
{
    return order->kept != CCL_KEPT_UNSAID ||
           (order->operand == NULL && order->tree == NULL && order->between <= CCL_BETWEEN_TREE);
}

/* Outputs that no step writes stay as they were, of a tensor that is input and output. */
static void keep_unwritten(struct schedule_values *values)
{
    for (size_t i = 0; i < (size_t)values->ranks * values->outputs; i++)
        if (values->output[i] == VALUE_NONE)
            values->output[i] = (uint32_t)i;
}

struct verifier *verifier_create(const struct verifier_request *request, struct cw_error *error)
{
    struct verifier *const verifier = calloc(1, sizeof *verifier);
    if (verifier == NULL) {
        (void)cw_error_set(error, CW_NO_RESOURCE, "out of memory: %zu bytes", sizeof *verifier);
        return NULL;
    }
    verifier->request = *request;
    const struct ccl_order *const order = request->algorithm->order;
    const bool is_said = order != NULL && says_what_is_kept(order);
    const bool ordered = (order != NULL || request->schedule != NULL) &&
                         (request->schedule != NULL || is_said || !expect_in_f32(&request->expect));
    const bool by_steps = request->algorithm->collective == CCL_CUSTOM;
    verifier->proof = by_steps  ? PROOF_STEPS
                      : ordered ? PROOF_ORDER
                                : proof_without_order(request->expect.dtype, request->expect.op,
                                                      request->integers);
    if (verifier->proof != PROOF_ORDER && verifier->proof != PROOF_STEPS)
        return verifier;
    if (request->schedule != NULL)
        verifier->values = schedule_formulas(request->schedule, error);
    else
        verifier->expect = expect_create(&request->expect, error);
    if (verifier->values != NULL && (by_steps || request->algorithm->collective == CCL_REDUCE))
        keep_unwritten(verifier->values);
    if (verifier->expect != NULL || verifier->values != NULL)
        return verifier;
    verifier_free(verifier);
    return NULL;
}

void verifier_free(struct verifier *verifier)
{
    if (verifier == NULL)
        return;
    expect_free(verifier->expect);
    schedule_values_free(verifier->values);
    free(verifier);
}

/* Which shards a schedule reduces: each by its parts, or all of them as members. */
static int compare_with_schedule(const struct verifier *verifier, uint32_t shards,
                                 expect_read_fn read, void *arg, struct verdict *verdict,
                                 struct cw_error *error)
{
    const struct expect_request *const request = &verifier->request.expect;
    const struct schedule *const schedule = verifier->request.schedule;
    const struct sums sums = {.values = verifier->values,
                              .members = schedule->members,
                              .shards = shards,
                              .parts = schedule->parts,
                              .scatters = schedule->collective == CCL_REDUCE_SCATTER,
                              .moves = schedule->collective == CCL_CUSTOM,
                              .dtype = request->dtype,
                              .op = request->op,
                              .in_f32 = expect_in_f32(request),
                              .n_elem = request->n_elem,
                              .seed = request->seed,
                              .scaling = request->scaling,
                              .given = request->values,
                              .sim = request->sim};
    return sums_compare(&sums, read, arg, &verdict->wrong, error);
}

static int compare_by_proof(struct verifier *verifier, uint32_t shards, uint32_t parts,
                            expect_read_fn read, void *arg, struct verdict *verdict,
                            struct cw_error *error)
{
    const struct expect_request *const request = &verifier->request.expect;
    if (verifier->values != NULL)
        return compare_with_schedule(verifier, shards, read, arg, verdict, error);
    if (verifier->expect != NULL)
        return expect_verify(verifier->expect, shards, read, arg, &verdict->wrong, error);
    const struct expect_any any = {.collective = verifier->request.algorithm->collective,
                                   .ranks = verifier->request.ranks,
                                   .parts = parts,
                                   .shards = shards,
                                   .dtype = request->dtype,
                                   .op = request->op,
                                   .n_elem = request->n_elem,
                                   .seed = request->seed,
                                   .scaling = request->scaling,
                                   .values = request->values,
                                   .exact = verifier->proof != PROOF_BOUND,
                                   .sim = request->sim};
    struct expect_any_found found;
    const int code = expect_any_verify(&any, read, arg, &found, error);
    verdict->wrong = found.wrong;
    verdict->error_bound = found.bound;
    verdict->error_largest = found.largest;
    return code;
}

/* Right results of max, min and whole numbers have no rank's order in them, and are finite. */
static bool may_surprise(const struct verifier *verifier, uint64_t wrong)
{
    return wrong > 0 || verifier->proof == PROOF_ORDER || verifier->proof == PROOF_BOUND ||
           verifier->proof == PROOF_STEPS;
}

int verifier_compare(struct verifier *verifier, uint32_t shards, uint32_t parts,
                     expect_read_fn read, void *arg, struct verdict *verdict,
                     struct cw_error *error)
{
    const struct verifier_request *const request = &verifier->request;
    const enum ccl_collective collective = request->algorithm->collective;
    const bool scatters = collective == CCL_REDUCE_SCATTER;
    const struct agreement agreement = {.collective = collective,
                                        .ranks = request->ranks,
                                        .shards = shards,
                                        .shards_apart = request->shards_apart,
                                        .dtype = request->expect.dtype,
                                        .n_elem = request->expect.n_elem /
                                                  (scatters ? request->ranks : 1),
                                        .sim = request->expect.sim};
    *verdict = (struct verdict){.proof = verifier->proof,
                                .agreement.ranks_differ = agreement_is_due(collective) ? 0 : -1};
    const int code = compare_by_proof(verifier, shards, parts, read, arg, verdict, error);
    if (code != CW_OK || !may_surprise(verifier, verdict->wrong))
        return code;
    return agreement_look(&agreement, read, arg, &verdict->agreement, error);
}
