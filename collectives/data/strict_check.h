/*
 * strict_check.h: the checks of committed records for `strict_validation` (ccl.yaml) (QUEUES.md,
 * "Failures", F2, and "Value semantics"): that a receive names the bytes and the type that the
 * matching send sent, and that no slot is written over while its tile is still in use. It follows
 * the records in their order, so it says the same for any number of threads, with data or without.
 *
 * One thread at a time; two checks share nothing.
 */
#ifndef COLLECTIVES_STRICT_CHECK_H
#define COLLECTIVES_STRICT_CHECK_H

#include "core/cw.h"
#include "hw/hw_config.h"
#include "lp/record.h"

struct lp_plan;
struct strict_check;

/* hw must outlive the check. `warn` gets each IpcqSlotReuse, once per queue. NULL: out of
 * memory. */
struct strict_check *strict_check_create(const struct hw_config *hw, uint32_t n_slots,
                                         void (*warn)(void *arg, const char *text), void *arg);
/* Messages name directions as in this install plan, which must outlive the check; before this call,
 * by their built-in names. */
void strict_check_set_plan(struct strict_check *check, const struct lp_plan *plan);
void strict_check_free(struct strict_check *check); /* accepts NULL */

/* An operation has been committed. CW_OK, or CW_PROGRAM_FAILED with IpcqTypeMismatch. */
int strict_check_op(struct strict_check *check, const struct lp_op *op, struct cw_error *error);
/* A tile has become visible in its slot. CW_OK, or CW_NO_RESOURCE. */
int strict_check_arrival(struct strict_check *check, const struct lp_arrival *arrival,
                         struct cw_error *error);

#endif
