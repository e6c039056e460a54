/*
 * fold_rule.h: what the rules of kernels ask of a fold (struct ccl_algorithm, `folds`): whether its
 * turns keep rings of ranks, or exclusive ors of their numbers. Rank r is SIP r. Pure.
 */
#ifndef COLLECTIVES_FOLD_RULE_H
#define COLLECTIVES_FOLD_RULE_H

#include "collectives/algorithm.h"
#include "hw/topology/fold.h"

/* Whether each turn maps the next place of every ring onto the next place of another ring. There is
 * a ring through every rank: its coordinate, rank / stride % size, grows by one, modulo size. */
bool fold_keeps_ring(const struct hw_fold *fold, uint32_t stride, uint32_t size);

/* Whether each turn is an exclusive or of the rank's number with a power of two. */
bool fold_keeps_bits(const struct hw_fold *fold);

/* Whether each turn leaves rank / stride as it is. */
bool fold_turns_below(const struct hw_fold *fold, uint32_t stride);

/* Of kernels that take the tensors of ranks one after the other, from TCM the own one, from slots
 * the others: whether it makes no difference which rank's comes when. */
bool fold_allows_order(const struct ccl_call *call, char why[CCL_FOLD_WHY_BYTES]);

/* Not of kernels alone: the mapper and the validator are built in. Loaded ones look at every rank.
 */
bool fold_asks_built_in(const struct ccl_config *ccl, char why[CCL_FOLD_WHY_BYTES]);

/* Fills `why`, and returns false, for a rule to return. */
__attribute__((format(printf, 2, 3))) bool fold_refuse(char why[CCL_FOLD_WHY_BYTES],
                                                       const char *format, ...);

#endif
