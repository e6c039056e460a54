/*
 * dist_internal.h: the inside of struct dist, shared by the files of the host runtime, and the
 * functions that those files offer each other; each function is listed under the name of its file.
 * Entered between drains, on one thread.
 */
#ifndef COLLECTIVES_WORLD_H
#define COLLECTIVES_WORLD_H

#include "collectives/runtime/barrier.h"
#include "collectives/runtime/contents.h"
#include "collectives/runtime/dist_world.h"
#include "collectives/runtime/install_plan.h"
#include "collectives/relay.h"
#include "collectives/schedule/schedule_messages.h"
#include "hw/topology/fold.h"

enum { DIST_OPERANDS_REGION = 0, DIST_GROUP_NAME_BYTES = 64 };

/* What a rank sends and receives in a call whose messages have sizes of their own. */
struct dist_messages {
    const struct schedule_program *program;
    struct schedule_messages list;
    /* Of sends and receives, their tensors, in order; NULL: in and out of the submission. */
    struct tensor **sent, **received; /* [list.send_count], [list.receive_count] */
};
struct dist_pending; /* dist_messages.c */

/* A rank's part of a call. */
struct submission {
    struct dist_group *group; /* NULL: the world */
    enum ccl_collective collective;
    const char *name;        /* of a call with messages, "gather"; NULL: the collective's */
    struct tensor *in, *out; /* the same, where the call works in place; NULL: none */
    enum redop op;
    double scalar;  /* of REDOP_PREMULSUM */
    uint32_t root;  /* rank, of a broadcast, a reduce, a gather or a scatter */
    uint64_t order; /* among the submissions of all ranks, from 1; 0: the rank has waited for it */
    struct dist_messages *messages; /* the call's own; NULL: equal blocks, or none */
    /* A computation beside the collective, or alone (compute_call.h); more NULL: none. */
    struct tensor *operands; /* region DIST_OPERANDS_REGION of the launches; NULL: none */
    const void *more;        /* of the launches: the computation's job */
    uint32_t operation;     /* of the SIP's program (lp/program.h); UINT32_MAX: the host launches */
    uint32_t first_pe, pes; /* of the SIP, that it is launched on; pes 0: those of the operands */
    uint32_t queue;         /* of a computation alone: hardware queue; else the group's counts */
    const struct tl_kernel *kernel;        /* of both together; NULL: the algorithm's */
    const struct ccl_algorithm *algorithm; /* of the computation alone; NULL: the collective's */
};

static inline const char *submission_name(const struct submission *submission)
{
    return submission->name != NULL ? submission->name
                                    : ccl_collective_name(submission->collective);
}

/*
 * A process group: the ranks that make its calls, in an order of their own, and the queues that
 * join them. The world is one. In what belongs to a group, a rank is a number within it.
 */
struct dist_group {
    struct dist *dist;
    char name[DIST_GROUP_NAME_BYTES]; /* "": the world's */
    uint32_t size;                    /* ranks, */
    uint32_t live;                    /* and live ones: those of SIPs that are simulated */
    const struct hw_fold *fold;       /* which are those, of the world; NULL: all ranks */
    const uint32_t *slots;            /* [size] of a group that is not the world, with a fold: the
                                         place of each rank among the live ones, or DIST_NOT_LIVE;
                                         then [live] these ranks. Else NULL */
    uint32_t number;                  /* among dist->groups */
    uint32_t account;                 /* dist_group_spec.account */
    uint32_t queue;                   /* dist_group_spec.queue */
    uint32_t kind;                    /* dist_group_spec.kind */
    uint32_t *lists;                  /* of a group that is not the world: its own lists */
    const uint32_t *ranks;            /* [size] in the world; NULL: the same */
    const uint32_t *sorted;           /* [size] the group's ranks, ascending in the world */
    const struct config *config;      /* of its algorithm */
    struct config *own;               /* the same, where it is the group's own; NULL: the world's */
    struct config *ring;              /* what algorithms see that go by the machine's own queues:
                                         the group's SIPs as a machine of their own, a ring_1d;
                                         NULL: the same */
    struct install_plans *plans;
    const struct lp_dirs *dirs; /* of its kernels; NULL: the PEs' */
    struct dist_work *works;    /* that are not over, but batches, in order */
    uint64_t *calls;            /* [live] that the rank has made */
    uint32_t *planned;       /* [live][PEs of a SIP] that run the rank's kernel, as the plans say;
                                NULL: too many */
    uint32_t *planned_count; /* [live] how many; UINT32_MAX: not yet asked */
    /* The last call whose conditions hold, and its algorithm; NULL: none is known. */
    const struct ccl_algorithm *checked_algorithm;
    struct ccl_call checked;
    const struct ccl_algorithm *reported; /* the last choice that was reported */
};

/* A live rank's part of a work. */
struct dist_of_rank {
    struct submission submission;
    struct tensor *scratch; /* NULL: none */
    uint8_t *kept;          /* of dist_scale.c */
    uint8_t *results[2];    /* of dist_results.c; NULL: none */
    int64_t done_ps;        /* the last of its kernels has answered; INT64_MAX: not yet */
    uint32_t left;          /* kernels that have not */
    bool submits;           /* its part is in */
};

/*
 * A call of a process group, from its first rank's part to its end on every rank. A rank's k-th
 * call is its part of the group's k-th work, so ranks may be calls apart. Its kernels are launched
 * when the machine next runs: all calls of one moment together, rank by rank, a rank's in the order
 * in which it made them.
 */
struct dist_work {
    struct dist *dist;
    struct dist_group *group;
    uint64_t number;                       /* of the group's call, from 0 */
    struct dist_of_rank *of_rank;          /* [live ranks] */
    struct tensor **tensors;               /* [live ranks] the results */
    struct relay relay;                    /* where the algorithm asks for one */
    const struct ccl_algorithm *algorithm; /* NULL: nothing is launched yet */
    uint32_t batch;                        /* lp/host/batches.h */
    uint32_t submitted, launched, done;    /* ranks */
    uint32_t first_rank, last_rank;        /* to submit, so far */
    bool prepared;                         /* for all ranks */
    bool keeps_results;                    /* of some rank */
    bool alone;                            /* sends and receives of first_rank, whatever others do;
                                              it is none of the numbered calls */
    int64_t complete_ps;                   /* on all ranks; INT64_MAX: not yet */
    uint32_t holders; /* ranks that have not returned from it, or hold its handle */
    struct dist_work *next, *previous; /* begun later; earlier */
    struct dist_work *next_of_group;   /* of the group, begun later */
};

/* A rank's part of a work. */
struct dist_part {
    struct dist_work *work;
    uint32_t rank; /* of the work's group */
};
struct dist_parts {
    struct dist_part *at;
    uint32_t count, capacity;
};

struct dist {
    struct dist_options options;
    struct hw_fold fold; /* of dist_options */
    struct dist_facts facts;
    struct lp_system *system;
    struct hw_config data_hw;     /* of the data pass: coarse tiles have addresses in TCM */
    struct data_pass *data;       /* NULL with no_data */
    struct strict_check *strict;  /* NULL without strict_validation */
    struct dist_group world;      /* without plans, of a program of kernels alone, */
    struct lp_plan *kernels_plan; /* which has this one */
    struct dist_group **groups;   /* [group_count] beside the world */
    uint32_t group_count;
    const struct dist_group_spec *wanted; /* which the ranks are about to make; NULL: none */
    uint32_t wanted_by;                   /* the first of them */
    struct lp_plan *composed; /* of the plans of all groups; NULL: there is the world alone */
    struct dist_group *own;   /* [live] of one rank each, for computations; NULL: none yet */
    uint32_t *own_ranks;      /* [live] their lists */
    struct dist_kept *kept;   /* that kernels may still read; freed with the world */
    struct barrier *init_barrier, *end_barrier, *group_barrier;
    bool installed;
    bool open;                     /* there is a process group */
    bool failed;                   /* no wait of the program ends any more */
    bool kernels_left;             /* of a program that has failed: the machine runs no other */
    struct dist_pending **pending; /* [world_size] ends of messages to a rank of the world whose
                                      other end has not been called; NULL: there were none yet */
    size_t pending_count;
    struct dist_work *works, *last_work; /* that are not over, in order */
    struct dist_parts *of_rank; /* [live] the rank's parts of these, in order of its calls */
    size_t in_flight;           /* parts that have been launched and have not ended */
    struct dist_work *spare;    /* one that is; NULL: none */
    struct dist_part *parts;    /* [part_count] to be launched, in order */
    size_t part_count, part_capacity;
    uint64_t submissions; /* ever */
    uint32_t operation,
        operation_queue;    /* that the next call is of, and where; UINT32_MAX: of none */
    bool runs_operations;   /* ranks wait for the end of their programs, */
    bool operations_over;   /* which has come */
    uint32_t waits_alone;   /* ranks that wait for their own end of a work, or for a time */
    int64_t now_ps;         /* the host's time */
    struct dist_part *ends; /* [end_count] parts whose kernels have answered, in order of time; from
                               end_at on later than the host's time */
    size_t end_count, end_capacity, end_at;
    int64_t *alarms; /* [alarm_count] later times for which ranks wait, in no order */
    size_t alarm_count;
    uint32_t *launched; /* [PEs of a SIP] that run the rank's kernel: room for a launch */
    uint8_t *running;   /* [PEs] kernels, where there is an op log; else NULL */
    struct tensor_space *space;
    struct tensor **owned; /* the workers' tensors: freed when all workers have ended */
    size_t owned_count, owned_capacity;
    struct host_copy *copies; /* [copy_capacity] maps and writes not yet submitted */
    size_t copy_count, copy_capacity;
    uint32_t maps;                 /* the number of the latest MmuMapMsg */
    struct contents contents;      /* fills that were put off */
    struct cw_error content_error; /* of one that failed when its contents were asked for */
    bool recycled;                 /* tensors have been freed: new ones may find old contents */
    struct op_log *op_log;         /* NULL: none */
    struct cw_error strict_error;  /* of the first record that strict validation refuses; */
    struct cw_event strict_event;  /* that emitted it */
};

/* Memory of malloc() that begins so, and is freed with the world. */
struct dist_kept {
    struct dist_kept *next;
};

/* ---- live ranks ------------------------------------------------------------------------------
 * In a folded world (dist_options.fold) only ranks whose SIPs are simulated are live: these have a
 * worker, and part in calls. What is kept for each of a group's live ranks is in their order. */

#define DIST_NOT_LIVE UINT32_MAX

/* The place of a live rank among them, and the reverse. */
static inline uint32_t dist_slot(const struct dist_group *group, uint32_t rank)
{
    return group->fold == NULL    ? rank
           : group->slots != NULL ? group->slots[rank]
                                  : hw_fold_index(group->fold, rank);
}
static inline uint32_t dist_rank_at(const struct dist_group *group, uint32_t slot)
{
    return group->fold == NULL    ? slot
           : group->slots != NULL ? group->slots[group->size + slot]
                                  : hw_fold_sip(group->fold, slot);
}
static inline bool dist_is_live(const struct dist_group *group, uint32_t rank)
{
    return group->fold == NULL    ? true
           : group->slots != NULL ? group->slots[rank] != DIST_NOT_LIVE
                                  : hw_fold_representative(group->fold, rank) == rank;
}
/* A live rank's part of a work. */
static inline struct dist_of_rank *dist_of(const struct dist_work *work, uint32_t rank)
{
    return &work->of_rank[dist_slot(work->group, rank)];
}
/* The parts of a live rank of the world. */
static inline struct dist_parts *dist_parts_of(const struct dist *dist, uint32_t world_rank)
{
    return &dist->of_rank[dist_slot(&dist->world, world_rank)];
}

int dist_no_memory(struct cw_error *error);
/* Tells the program around the workers that a stretch of the host's time has ended. */
void dist_phase_end(const struct dist *dist, const char *name);

/* ---- dist_world.c --------------------------------------------------------------------------- */

/* The calling worker's world; ends the worker if there is none. */
struct dist *dist_current(void);
/* Some call is in flight. */
bool dist_is_in_flight(const struct dist *dist);
/* Joins a barrier of the world as the calling rank; ends the worker if that fails. A failure of the
 * drain belongs to no rank. */
void dist_join(struct barrier *barrier, barrier_fn submit, void *submit_arg);
/* What has been submitted is under way; the machine runs until nothing is left to do before this
 * time. */
int dist_inject(struct dist *dist, struct cw_error *error);
int dist_run_until(struct dist *dist, int64_t end_ps, struct cw_error *error);

/* ---- dist_group.c ---------------------------------------------------------------------------- */

/* Makes the groups of dist_options, and one plan of all queues. An enum cw_exit. */
int dist_make_groups(struct dist *dist, struct cw_error *error);
/* All ranks want a group: makes it, and installs its queues. An enum cw_exit. */
int dist_make_wanted(void *dist, struct cw_error *error);
/* PEs with which a PE exchanges puts and notifications in a group's calls, at most. */
uint32_t dist_peers_in(const struct dist_group *group);
/* Its messages go through switches that reduce. */
bool dist_goes_by_trees(const struct dist_group *group);
/* The machine and its queues as an algorithm sees them in this group; NULL: one on its queues. */
const struct config *dist_seen_config(const struct dist_group *group,
                                      const struct ccl_algorithm *algorithm);
/* What a group's calls need, beside its plans. False: out of memory. */
bool dist_allocate_group(struct dist_group *group);
void dist_free_group(struct dist_group *group); /* what it has, not itself */
/* The group's number of a rank of the world; UINT32_MAX: it is not in the group. */
uint32_t dist_rank_in(const struct dist_group *group, uint32_t world_rank);
/* The reverse. */
uint32_t dist_world_rank(const struct dist_group *group, uint32_t rank);
/* The group; of NULL, the calling worker's world. */
struct dist_group *dist_group_or_world(struct dist_group *group);
/* Of one rank of the world, without queues: for calls that need no other rank. NULL: out of memory.
 */
struct dist_group *dist_group_of_one(struct dist *dist, uint32_t world_rank);
void dist_free_groups_of_one(struct dist *dist);

/* ---- dist_call.c ----------------------------------------------------------------------------- */

/* Makes a call as the calling rank; ends the worker if that fails. Returns its work, which
 * dist_release_work() ends. */
struct dist_work *dist_submit(const struct submission *submission);
/* Returns when the call has ended on all ranks. */
void dist_wait_for_all(struct dist_work *work);
/* Both. */
void dist_submit_and_wait(const struct submission *submission);
/* Launches the parts that have been submitted since it was last called. An enum cw_exit. */
int dist_launch_parts(struct dist *dist, struct cw_error *error);
/* A tensor of a rank of the group is on its SIP, with a shard on each PE that takes one of the
 * group's schedule. */
int dist_check_shards(const struct dist_group *group, uint32_t rank, const struct tensor *tensor,
                      struct cw_error *error);
/* The work has ended on a rank, which has its results from here on. */
int dist_finish_part(const struct dist_part *part, struct cw_error *error);
/* The work has ended on all ranks: calls the bench. */
int dist_finish_work(struct dist_work *work, struct cw_error *error);

/* ---- dist_work.c ----------------------------------------------------------------------------- */

/* The work of the next call of a rank of the group. NULL: out of memory. */
struct dist_work *dist_work_of_call(struct dist_group *group, uint32_t rank);
/* A work of sends and receives. */
struct dist_work *dist_work_alone(struct dist_group *group);
/* Ranks that take part. */
uint32_t dist_work_ranks(const struct dist_work *work);
/* The rank's part has no kernels: it ends at the host's time. */
void dist_end_at_once(struct dist_work *work, uint32_t rank);
/* The rank's part of the work is in. False: out of memory. */
bool dist_note_part(struct dist_work *work, uint32_t rank);
/* The hardware queue of the PEs that a rank's part runs on. */
uint32_t dist_work_queue(const struct dist_work *work, uint32_t rank);
/* Returns when this hardware queue of the PEs of a rank of the world has room for the kernels of
 * another call. */
void dist_wait_for_room(struct dist *dist, uint32_t world_rank, uint32_t queue);
/* Room for the ends of this many more parts. False: out of memory. */
bool dist_reserve_ends(struct dist *dist, size_t parts);
/* For reports: "call 3 (all_reduce)", without a number "send_recv"; "group tp0", of the world NULL;
 * " of group tp0", of the world
 * "". */
enum { DIST_WORK_NAME_BYTES = 96 };
const char *dist_work_name(const struct dist_work *work, char text[DIST_WORK_NAME_BYTES]);
const char *dist_work_whose(const struct dist_work *work, char text[DIST_WORK_NAME_BYTES]);
const char *dist_work_of(const struct dist_work *work, char text[DIST_WORK_NAME_BYTES]);
bool dist_add_part(struct dist *dist, struct dist_work *work, uint32_t rank);
/* Returns when the work has ended on the calling rank, or on all. */
void dist_wait_for_work(struct dist_work *work, bool all);
/* Ends the worker that waits for a handle that is none. */
void dist_check_handle(const struct dist *dist, const struct dist_work *work);
/* The calling rank needs the work no more. */
void dist_release_work(struct dist_work *work);
/* No worker can continue: launches, and runs the machine until one can. False: none ever will;
 * error->exit_code CW_OK: nothing has failed. */
bool dist_advance(void *dist, struct cw_error *error);
/* All workers have ended: carries out the calls that nobody has waited for. An enum cw_exit. */
int dist_carry_out(struct dist *dist, struct cw_error *error);
/* A kernel has ended, as its host hears (lp_system_options.answered). */
void dist_answered(void *dist, void *work, uint32_t rank, int64_t t_ps);
void dist_drop_works(struct dist *dist);

/* ---- dist_messages.c ------------------------------------------------------------------------- */

void dist_free_messages(struct dist_messages *messages); /* accepts NULL */
/* Of these PEs of a rank, those whose threads have something to move. Returns how many. */
uint32_t dist_messages_threads(const struct dist_messages *messages, uint32_t rank,
                               const uint32_t *pe, uint32_t count, uint32_t *out);
/* The i-th tensor of a submission; *changes: it is written. False: there are no more. */
bool dist_tensor_of(const struct submission *submission, uint32_t i, struct tensor **tensor,
                    bool *changes);
/* dist_completion.message_count of a work that has ended. */
uint64_t dist_count_messages(const struct dist_work *work);
/* The rank's sizes of an all-to-all agree with those of all ranks that have called it. */
int dist_check_splits(const struct dist_work *work, uint32_t rank, struct cw_error *error);
/* Finds the other ends of a rank's sends and receives, and compares them. */
int dist_match_messages(struct dist_work *work, uint32_t rank, struct cw_error *error);
/* Some send lacks its receive, or the reverse. */
bool dist_has_pending(const struct dist *dist);
/* Says which; work NULL: of any. False: none. */
bool dist_describe_pending(const struct dist *dist, const struct dist_work *work, char *text,
                           size_t size);
void dist_drop_pending(struct dist *dist);

/* ---- dist_tensor.c --------------------------------------------------------------------------- */

/* The host is about to write into the tensor; ends the worker that may not. */
void dist_begin_write(struct dist *dist, const char *call, const struct tensor *tensor);
/* Frees the workers' tensors: all workers have ended. */
void dist_free_tensors(struct dist *dist);

#endif
