/*
 * dist_world.h: the world of a host program: the machine, the data pass, the process group; and
 * kernels that are launched without a group. distributed.h includes it, beside the calls of
 * workers.
 *
 * Between drains of the engine, on one thread.
 */
#ifndef COLLECTIVES_DIST_WORLD_H
#define COLLECTIVES_DIST_WORLD_H

#include "collectives/algorithm.h"
#include "collectives/config/config.h"
#include "collectives/data/data_pass.h"
#include "collectives/runtime/spawn.h"
#include "collectives/runtime/tensor.h"
#include "lp/host/system.h"

struct dist;
struct dist_group;
struct op_log;
struct schedule;

/* A collective that has just completed on all ranks; valid during the callback. Each rank's tensor
 * holds what the call left there, though the rank may have continued and overwritten it since. */
struct dist_completion {
    struct dist *dist;
    const struct dist_group *group; /* NULL: the world */
    uint64_t number;                /* of the group's call, from 0 */
    enum ccl_collective collective;
    const struct ccl_algorithm *algorithm; /* that carried it out */
    const struct lp_times *times;
    uint32_t batch;                /* its launches', of lp_system_times_of() and its like */
    struct tensor *const *tensors; /* [live ranks] the results; a barrier has none: each is NULL */
    uint32_t live_ranks;           /* the group's size, but in a folded world */
    uint32_t world_size;           /* the group's size */
    enum redop op;
    uint32_t root;           /* of a broadcast */
    uint32_t first_rank;     /* of the world, that made the call first; of a computation, its own */
    const void *computation; /* of a computation: its struct compute_job; else NULL */
    bool beside;             /* a matrix product ran beside it */
    /* Messages of sizes of their own: of an uneven all-to-all, from each rank to each, by receiver;
     * of CCL_SEND_RECV, those that one rank has received. 0: the call has none. */
    uint64_t message_count;
    const struct dist_work *work; /* for dist_moved() */
};

/* What a message has moved, per shard. Ranks are the group's. */
struct dist_moved {
    uint32_t from, to;
    const struct tensor *result; /* NULL: an uneven all-to-all's that has no elements here */
    uint64_t input_elems;        /* of a shard of the sender's tensor */
    uint64_t first_in, first_out, count;
};
struct dist_moved dist_moved(const struct dist_completion *completion, uint64_t message);
/* The operation of its SIP's program that a rank's part of the call was (dist_next_operation()). */
uint32_t dist_operation_of(const struct dist_completion *completion, uint32_t rank);

/* A process group beside the world, which is known when the world is created. */
struct dist_group_spec {
    const char *name;      /* for reports; NULL: its number */
    const uint32_t *ranks; /* [count] of the world, each once: the group's rank i is ranks[i] */
    uint32_t count;
    const struct config *config; /* of its algorithm, on the same machine and with the same queues;
                                    NULL: the world's */
    uint32_t first_pe, pes;      /* its lanes: PEs of each SIP, by number; pes 0: all */
    uint32_t account;            /* of its bytes on links (lp_batch_options.account) */
    uint32_t queue;              /* hardware queue of its PEs that its kernels run on, below
                                    dist_options.machine.needs.queues */
    uint32_t kind;               /* with a fold: of groups that its turns take to each other it is
                                    the same (lp_plan_part.kind) */
    uint32_t like;               /* 1 + the number of a group before this one, of the same
                                    algorithm, whose ranks lie as this one's do, so that it has the
                                    same schedule; 0: its own */
};

struct dist_options {
    const struct config *config;
    const struct dist_group_spec *groups; /* [group_count]; read by dist_create() alone */
    uint32_t group_count;
    bool groups_only; /* no collective of the whole world is called: it has no queues */
    /* Set by dist_create() if it fails since the queues of all groups do not fit. NULL: not wanted.
     */
    bool *lacks_queues;
    bool late_groups; /* workers may make groups that are not among these */
    /* The machine (lp/host/system.h). The program sets `engine`, `needs` (of kernels beside the
     * algorithm's), `listener[0]`, `causes` and `wired`; dist_create() all else. */
    struct lp_system_options machine;
    /* The world is folded (hw/topology/fold.h): rank r is SIP r, and only ranks on representatives
     * are live: have workers, tensors, launches. All ranks' calls are to be alike under the fold,
     * which the caller has found out (collectives/fold). Without data; the world's collectives
     * without a root, and computations. NULL: all ranks are live. Copied. */
    const struct hw_fold *fold;
    struct schedule *schedule; /* of the fold: the configured algorithm's, of all ranks; it gets an
                                  owner. NULL: it is made */
    const char *partition;     /* NULL: the default */
    bool no_data;              /* leave out the data pass: timing alone */
    bool op_log;               /* dist_log() will be called */
    bool kernels_only;         /* no collective is called: the machine's own queues */
    bool says_choices;         /* the host says itself what automatic choices took */
    uint32_t pair[2]; /* of kernels_only: PEs joined by a queue of their own; equal: none */
    /* Called with each warning (IpcqSlotReuse), in an order of its own, as the listener is: it may
     * run at the same time as the engine's `progress`. NULL: not wanted. */
    void (*warn)(void *arg, const char *text);
    /* Called at the end of each stretch of the host's time; NULL: not wanted. */
    void (*phase)(void *arg, const char *name);
    /* Called after each collective, before any rank continues. Non-zero ends the run. */
    int (*completed)(void *arg, const struct dist_completion *completion, struct cw_error *error);
    void *arg;
};

/* The config must outlive the world. NULL on failure. */
struct dist *dist_create(const struct dist_options *options, struct cw_error *error);
void dist_free(struct dist *dist); /* accepts NULL */

/* Ranks: world_size of the algorithm, else of `defaults`, else the number of SIPs. */
uint32_t dist_world_size_for(const struct config *config);
/* Installs the queues and drains, the first time; for dist_init_process_group(). */
int dist_install(struct dist *dist, struct cw_error *error);
/* Runs a worker on every live rank, as coroutines (mp_spawn). */
int dist_spawn(struct dist *dist, mp_worker_fn worker, void *arg, struct cw_error *error);

/* Runs the machine until nothing is left to do: launches without a collective, say, after
 * lp_system_begin_batch() and any number of lp_system_submit_launch(). */
int dist_drain(struct dist *dist, struct cw_error *error);

/* A world as it was created and installed. */
struct dist_facts {
    uint32_t world_size;
    uint32_t live_ranks;     /* ranks with workers: all, but in a folded world */
    const char *partition;   /* the partitioner's name */
    struct dp_policy policy; /* how tensors are laid out for the PEs that take part in the
                                algorithm; not with kernels_only */
    uint32_t parts; /* shards of a rank that make up one tensor, each of which goes through the
                       collective for itself; 0: a rank has one shard, or its shards are reduced
                       together */
    const struct schedule *schedule; /* of the process group's algorithm; NULL: it is none */
    int64_t init_ps;                 /* duration of the installation */
    double setup_s;                  /* wall time: building, and installing the queues */
    double install_run_s;            /* of that, in the engine */
};
const struct dist_facts *dist_facts(const struct dist *dist);
struct lp_system *dist_system(struct dist *dist);
int64_t dist_host_ps(const struct dist *dist);  /* the simulated time at the host */
struct data_pass *dist_data(struct dist *dist); /* NULL with no_data */
/* From here on the log records everything that changes contents. With dist_options.op_log and data
 * only. */
void dist_log(struct dist *dist, struct op_log *log);
/* The install plan of a logical topology, or (NULL) of the machine's own queues. pair: two PEs that
 * are joined by a queue of their own, if they differ; NULL: none. `fold`: the machine's; NULL:
 * none. The caller frees. NULL: out of memory. */
struct lp_plan *dist_queue_plan(const struct ccl_config *ccl, const struct hw_config *hw,
                                const struct lp_wiring *wiring, const uint32_t *pair,
                                const struct hw_fold *fold);
/* ---- for workers ----------------------------------------------------------------------------- */

/* The calling worker's rank. In a worker of dist_spawn() without a process group it is an error.
 * Outside of workers it is 0, with a warning if CUBEWARP_DEBUG is set. */
int dist_get_rank(void);
/* Joins the process group, once; returns when every PE_IPCQ of the group is installed, having taken
 * simulated time. The backend is "ahbm". */
void dist_init_process_group(const char *backend);
/* Leaves the process group when all ranks do. A program may then begin another one: the queues are
 * there, so that it takes no simulated time. */
void dist_destroy_process_group(void);
int dist_get_world_size(void); /* in a process group */
/*
 * Process groups beside the world. Every rank has all handles, those of groups that it is not in,
 * too. A group's calls take the handle (dist_call.h).
 *   dist_group_at()    the i-th of dist_options.groups; NULL: there are fewer
 *   dist_new_group()   the one of these ranks, in this order. If there is none, it is made
 *                      (late_groups): all ranks call, in the same order, while none of their calls
 *                      is in flight; it returns on all when the members' queues are installed
 *   dist_group_rank()  the calling worker's rank in the group, NULL: the world; UINT32_MAX: it is
 *                      not in it
 *   dist_group_policy() how tensors are laid out for the PEs that take part in its algorithm
 */
struct dist_group;
struct dist_group *dist_group_at(struct dist *dist, uint32_t number);
struct dist_group *dist_new_group(const uint32_t *ranks, uint32_t count);
uint32_t dist_group_number(const struct dist_group *group); /* the same number */
const char *dist_group_name(const struct dist_group *group);
uint32_t dist_group_size(const struct dist_group *group);
struct dp_policy dist_group_policy(const struct dist_group *group);
/* world_size, policy, parts and schedule, as if the group were a world; and the configuration of
 * such a world, which gives the results of the group's calls that an algorithm carries out. */
struct dist_facts dist_group_facts(const struct dist_group *group);
struct config dist_group_config(const struct dist_group *group,
                                const struct ccl_algorithm *algorithm);
/* The spanning tree along which a group (NULL: the world) reduces to a root; relay_free() frees its
 * arrays. CW_USAGE: queues do not join the ranks; CW_NO_RESOURCE. */
struct relay;
int dist_relay(const struct dist *dist, const struct dist_group *group, uint32_t root,
               struct relay *out, struct cw_error *error);
uint32_t dist_group_rank(const struct dist_group *group);
/* The simulated time at the host, in ps: of the calling worker's latest wait, or call's end. */
int64_t dist_time_ps(void);
/* Returns at this time at the host, CW_TIME_MAX / 2 at most; at once, if it is over. */
void dist_wait_until_ps(int64_t t_ps);
/* The SIP that a rank is to be on: its number, if the algorithm's `mate` or `package` do not say
 * otherwise. */
int dist_device_of(int rank);
#endif
