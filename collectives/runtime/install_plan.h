/*
 * install_plan.h: the plan of installation and launch of a process group (RUNTIME.md, "Install
 * plans"): for each rank, one plan: its SIP, the neighbour tables of its PEs, the layout of their
 * rings, which PEs run which kernel. The queues are one lp_plan (lp/queues/queue_ends.h): the
 * IpcqInitMsgs name it, and the tables below are read from it. It computes them when asked, so that
 * a million PEs cost nothing.
 *
 * Const once built. The configuration and the hardware must outlive the plans.
 */
#ifndef COLLECTIVES_INSTALL_PLAN_H
#define COLLECTIVES_INSTALL_PLAN_H

#include "collectives/algorithm.h"
#include "collectives/relay.h"
#include "collectives/runtime/mapper.h"
#include "lp/model.h"

struct install_plans;
struct schedule;

/*
 * Composes topology, mapper and algorithm. `algorithm` is the entry's name, for messages and the
 * plans; config is that entry, resolved. On failure *key is the configuration's key at fault
 * ("defaults.mapper"), and *error says which values are legal: CW_USAGE; or CW_NO_RESOURCE.
 */
int build_install_plans(uint32_t world_size, const char *algorithm, const struct ccl_config *config,
                        const struct hw_config *spec, struct install_plans **out, const char **key,
                        struct cw_error *error);
/* The same with the schedule of plans of as many ranks, if they have one: the algorithm would make
 * an equal one. */
int build_install_plans_like(const struct install_plans *like, uint32_t world_size,
                             const char *algorithm, const struct ccl_config *config,
                             const struct hw_config *spec, struct install_plans **out,
                             const char **key, struct cw_error *error);
/* The same of a world that a fold's representatives stand for (rank r is SIP r): only their ranks
 * are live, and plans have these alone. The fold outlives the plans. `schedule`: the configured
 * algorithm's, of all ranks or folded so; NULL: it is made. */
int build_folded_plans(const struct hw_fold *fold, struct schedule *schedule, const char *algorithm,
                       const struct ccl_config *config, const struct hw_config *spec,
                       struct install_plans **out, const char **key, struct cw_error *error);
/* The same for questions alone, where nothing is installed: of a schedule that is very long, a
 * sketch (schedule.h) if there is one; its places and memory are there, its queues are not. */
int sketch_install_plans(uint32_t world_size, const char *algorithm,
                         const struct ccl_config *config, const struct hw_config *spec,
                         struct install_plans **out, const char **key, struct cw_error *error);
void install_plans_free(struct install_plans *plans); /* accepts NULL */

/* One live rank's plan. */
struct sip_install_plan {
    const char *algorithm_name;
    uint32_t sip, rank, world_size;
    uint32_t pe_of_sip; /* where the rank's tensors begin: 0; where ranks are PEs, the rank's PE; in
                           a logical topology the first PE that the mapper names */
    enum hw_memory buffer_kind;
    uint32_t n_slots, slot_size;
    const struct ccl_algorithm *algorithm;  /* the kernel's module */
    const struct ccl_config *kernel_config; /* for kernel_args() */
};
struct sip_install_plan install_plan_of(const struct install_plans *plans, uint32_t rank);

/* A PE's part of an IpcqInitMsg. */
struct neighbour_entry {
    const char *direction, *peer_direction;
    uint32_t peer_sip, peer_cube, peer_pe;
    /* Of the peer's ring, into which this PE sends, and of this PE's own. A virtual address of 0:
     * the ring has none. */
    uint64_t rx_base_pa, my_rx_base_pa;
    uint64_t rx_base_va, my_rx_base_va;
    uint32_t n_slots, slot_size, my_n_slots, my_slot_size;
};
struct pe_install {
    uint32_t cube, pe;
    uint32_t neighbour_count;
    struct neighbour_entry neighbour[HW_DIRS_MAX]; /* in order of enum hw_dir */
};

/*
 * The PEs of a rank's SIP that get an IpcqInitMsg, in order of (cube, pe): *at starts as 0 and is
 * the walk's own. False: there is no further one.
 */
bool install_plan_next(const struct install_plans *plans, uint32_t rank, uint32_t *at,
                       struct pe_install *out);
/* The PE of the rank's SIP runs the kernel. */
bool install_plan_participates(const struct install_plans *plans, uint32_t rank, uint32_t cube,
                               uint32_t pe);
/* Writes the indices of all such PEs, in order of (cube, pe). Returns how many: at most the PEs of
 * a SIP. */
uint32_t install_plan_participants(const struct install_plans *plans, uint32_t rank, uint32_t *pe);

/* Shards of a rank that go through the collective each for itself; 0: one, or all together. */
uint32_t install_plans_lanes(const struct install_plans *plans);
/* The PE of the rank's SIP has queues to other SIPs. */
bool install_plan_joins(const struct install_plans *plans, uint32_t rank, uint32_t cube,
                        uint32_t pe);

/* A spanning tree over the ranks' queues, from `root`. */
int install_plans_relay(const struct install_plans *plans, uint32_t root, bool both_ways,
                        struct relay *out, struct cw_error *error);

/* The queues of all ranks, which the machine installs. */
const struct lp_plan *install_plans_queues(const struct install_plans *plans);
/* The table of a logical topology; NULL: queues are as the machine is built. */
const struct lp_wiring *install_plans_wiring(const struct install_plans *plans);
/* Most receive rings of a PE by that table, or of places only; 0: queues are as the machine is
 * built.
 */
uint32_t install_plans_rings(const struct install_plans *plans);
/* PEs of a cube up to the last one that has such rings: they share the cube's SRAM. */
uint32_t install_plans_pes_of_cube(const struct install_plans *plans);
/* The steps of an algorithm that is a schedule; NULL: it is none, or there are no plans. */
const struct schedule_program *install_plans_program(const struct install_plans *plans);
/* Refuses tensors that the configured validator does not accept, where the configured algorithm or
 * its automatic choice carries out the call. */
int install_plans_validate(const struct install_plans *plans, const struct ccl_algorithm *algorithm,
                           const struct tensor_group *group, struct cw_error *error);

/* How tensors are laid out for the PEs that take part: one shard on the leader, on every PE, or on
 * PE 0 of each cube. */
struct dp_policy install_plan_policy(const struct install_plans *plans);
/* The same without plans: a schedule's need not be built for it. Errors as for
 * build_install_plans(). */
int install_policy_for(uint32_t world_size, const char *algorithm, const struct ccl_config *config,
                       const struct hw_config *spec, struct dp_policy *policy, const char **key,
                       struct cw_error *error);

#endif
