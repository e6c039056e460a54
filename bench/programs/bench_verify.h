/*
 * bench_verify.h: the inputs of a bench's tensors, and the verification of its results
 * (collectives/verify/verifier.h), as bench programs share them.
 */
#ifndef BENCH_VERIFY_H
#define BENCH_VERIFY_H

#include "bench/programs/bench_program.h"
#include "collectives/verify/verifier.h"

/* The seed that the tensors of a call with this many elements per shard are filled from (--seed,
 * --input); `policy` is theirs. */
uint64_t bench_seed(const struct bench_session *session, const struct dp_policy *policy,
                    uint64_t n_elem);

/* The call of a rank's worker, with the options' operation. */
void bench_all_reduce(const struct run_options *options, struct tensor *tensor);
void bench_reduce_scatter(const struct run_options *options, struct tensor *output,
                          struct tensor *input);

/* For a reduction that `algorithm` carries out, with inputs from `seed`. */
struct verifier *bench_verifier(const struct bench_session *session,
                                const struct ccl_algorithm *algorithm, uint64_t n_elem,
                                uint64_t seed, struct cw_error *error);
/* The same for a program's own values, of which each rank has its shards one after the other. */
struct verifier *bench_verifier_of_values(const struct bench_session *session,
                                          const struct ccl_algorithm *algorithm, uint64_t n_elem,
                                          const void *values, struct cw_error *error);
/* CW_USAGE: results of such a call cannot be sampled (--verify-data sample). */
int bench_sample_check(const struct bench_session *session, const struct ccl_call *call,
                       struct cw_error *error);
/* --verify-data sample: verifies some ranks' results of a call, with inputs from `seed`, and notes
 * it in the row. */
int bench_sample(const struct bench_session *session, const struct ccl_call *call, uint64_t seed,
                 struct result_row *row, struct cw_error *error);
/* Compares the tensors after a call, and adds the findings to the row. */
int bench_compare(struct verifier *verifier, const struct dist_completion *completion,
                  struct result_row *row, struct cw_error *error);

#endif
