/*
 * verifier.h: compares the result of a reduction with the one that it must have, by the strongest
 * proof that there is for the algorithm and the inputs: its declared order of additions; else an
 * operation or inputs that no order makes a difference to; else a bound of the error. And says
 * which it was. Threads: as expect.h.
 */
#ifndef COLLECTIVES_VERIFIER_H
#define COLLECTIVES_VERIFIER_H

#include "collectives/algorithm.h"
#include "collectives/verify/agreement.h"
#include "collectives/verify/expect.h"

enum proof {
    PROOF_NONE,      /* nothing is verified */
    PROOF_ORDER,     /* bit for bit, in the algorithm's declared order, or its schedule's */
    PROOF_ANY_ORDER, /* bit for bit: max and min have the same bits in any order */
    PROOF_MOVED,     /* bit for bit: values are moved, not changed */
    PROOF_INTEGERS,  /* bit for bit: all sums of these inputs are exact */
    PROOF_BOUND,     /* within a bound that holds for every order */
    PROOF_STEPS,     /* bit for bit, as a custom file's own steps give */
    PROOF_SAMPLE,    /* of some ranks, by the steps of their schedule (sample.h) */
    PROOFS
};
const char *proof_name(enum proof proof); /* "order", for results; NONE: "" */
const char *proof_text(enum proof proof); /* in a few words */

/* Of a reduction whose order of additions is not looked at; integers: its inputs are those of
 * input_integers(). */
enum proof proof_without_order(enum dtype dtype, enum redop op, bool integers);

/* The findings of a comparison. */
struct verdict {
    enum proof proof;
    uint64_t wrong;
    double error_bound, error_largest; /* of PROOF_BOUND (expect_any.h) */
    struct agreement_found agreement;
};

struct verifier;

struct verifier_request {
    struct expect_request expect; /* module: NULL, or of the algorithm that runs */
    const struct ccl_algorithm *algorithm;
    const struct schedule *schedule; /* of an algorithm that is one; else NULL */
    uint32_t ranks;
    bool integers;     /* expect.seed is one of input_integers() */
    bool shards_apart; /* each shard of a rank is reduced for itself */
};

/* NULL on failure: CW_USAGE (the algorithm declares an order that is none on this machine, or a
 * schedule that is not its collective), CW_NO_RESOURCE. */
struct verifier *verifier_create(const struct verifier_request *request, struct cw_error *error);
void verifier_free(struct verifier *verifier); /* accepts NULL */

/* Compares all ranks' tensors, each of this many shards with `parts` different contents before the
 * call. */
int verifier_compare(struct verifier *verifier, uint32_t shards, uint32_t parts,
                     expect_read_fn read, void *arg, struct verdict *verdict,
                     struct cw_error *error);

#endif
