/*
 * scheduled.h: the makers of schedules in this folder: hooks `schedule` of struct ccl_algorithm.
 * Each works for any number of ranks, unless its algorithm's check() refuses it. Pure.
 */
#ifndef COLLECTIVES_SCHEDULED_H
#define COLLECTIVES_SCHEDULED_H

#include "collectives/algorithm.h"

/* Parameters, in the order in which the algorithms declare them: of the rings, of the grids. */
enum { SCHEDULED_WAY, SCHEDULED_RINGS, SCHEDULED_ORDERS = 0 };

/* A parameter's value: of the configured algorithm that which is configured, else the default. */
int64_t scheduled_parameter(const struct ccl_call *call, const char *algorithm,
                            const struct ccl_parameter *parameters, uint32_t i);

struct schedule *ring_rs_ag_schedule(const struct ccl_call *call, struct cw_error *error);
struct schedule *ring_reduce_scatter_schedule(const struct ccl_call *call, struct cw_error *error);
struct schedule *ring_ag_schedule(const struct ccl_call *call, struct cw_error *error);
struct schedule *torus_rs_ag_schedule(const struct ccl_call *call, struct cw_error *error);
struct schedule *torus_reduce_scatter_schedule(const struct ccl_call *call, struct cw_error *error);
struct schedule *torus_ag_schedule(const struct ccl_call *call, struct cw_error *error);
struct schedule *direct_rs_ag_schedule(const struct ccl_call *call, struct cw_error *error);
struct schedule *direct_reduce_scatter_schedule(const struct ccl_call *call,
                                                struct cw_error *error);
struct schedule *direct_ag_schedule(const struct ccl_call *call, struct cw_error *error);
struct schedule *halving_doubling_schedule(const struct ccl_call *call, struct cw_error *error);
struct schedule *halving_reduce_scatter_schedule(const struct ccl_call *call,
                                                 struct cw_error *error);
struct schedule *doubling_ag_schedule(const struct ccl_call *call, struct cw_error *error);
struct schedule *recursive_doubling_schedule(const struct ccl_call *call, struct cw_error *error);
struct schedule *double_binary_tree_schedule(const struct ccl_call *call, struct cw_error *error);

#endif
