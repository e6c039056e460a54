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

enum { DIST_OPERANDS_REGION = 0 };

/* A rank's part of the collective in flight. */
struct submission {
    enum ccl_collective collective;
    struct tensor *in, *out; /* the same, where the call works in place; NULL: none */
    enum redop op;
    double scalar; /* of REDOP_PREMULSUM */
    uint32_t root; /* rank, of a broadcast */
    /* A computation beside the collective, or alone: a matrix product (matmul_call.h). NULL: none.
     */
    struct tensor *operands;               /* region DIST_OPERANDS_REGION of the launches */
    const void *more;                      /* of the launches: the computation's job */
    const struct tl_kernel *kernel;        /* of both together; NULL: the algorithm's */
    const struct ccl_algorithm *algorithm; /* of the computation alone; NULL: the collective's */
};

struct dist {
    struct dist_options options;
    struct dist_facts facts;
    struct lp_system *system;
    struct data_pass *data;      /* NULL with no_data */
    struct strict_check *strict; /* NULL without strict_validation */
    struct install_plans *plans;
    struct lp_plan *kernels_plan; /* of a program of kernels alone, which has no `plans` */
    struct barrier *init_barrier, *barrier, *end_barrier;
    bool installed;
    bool open;                      /* there is a process group */
    struct submission *submissions; /* [world_size] */
    uint32_t submitted, first_rank; /* of the open epoch: how many ranks, and the first */
    struct tensor **tensors;        /* [world_size] of the last collective: its results */
    uint32_t *launched;      /* [PEs of a SIP] that run the rank's kernel: room for a launch */
    uint32_t *planned;       /* [rank][PEs of a SIP] the same, as the plans say; NULL: too many */
    uint32_t *planned_count; /* [rank] how many; UINT32_MAX: not yet asked */
    struct tensor **scratch; /* [world_size] of the collective in flight; or all NULL */
    /* The last call whose conditions hold, and its algorithm; NULL: none is known. */
    const struct ccl_algorithm *checked_algorithm;
    struct ccl_call checked;
    struct relay relay;                   /* of the collective in flight, where it asks for one */
    const struct ccl_algorithm *reported; /* the last choice that was reported */
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

int dist_no_memory(struct cw_error *error);
/* Tells the program around the workers that a stretch of the host's time has ended. */
void dist_phase_end(const struct dist *dist, const char *name);

/* ---- dist_world.c --------------------------------------------------------------------------- */

/* The calling worker's world; ends the worker if there is none. */
struct dist *dist_current(void);
/* Joins a barrier of the world as the calling rank; ends the worker if that fails. A failure of the
 * drain belongs to no rank. */
void dist_join(struct barrier *barrier, barrier_fn submit, void *submit_arg);

/* ---- dist_call.c ----------------------------------------------------------------------------- */

/* Joins the open collective call as the calling rank; ends the worker if that fails. */
void dist_submit(const struct submission *submission);
/* The last rank has submitted: launches all at one moment, runs the machine, calls the bench. */
int dist_run_collective(void *dist, struct cw_error *error);

/* ---- dist_tensor.c --------------------------------------------------------------------------- */

/* Frees the workers' tensors: all workers have ended. */
void dist_free_tensors(struct dist *dist);

#endif
