/*
 * batches.h: the host's batches of control messages: an installation, a copy of the host's, or the
 * launches of one collective. Several batches of launches may be in flight at the same time; each
 * has times of its own. The launches that messages name are in one table (lp_model.launches), from
 * which those of ended batches are dropped.
 *
 * Threads: the host's, between drains. While the machine runs, the workers find a launch's batch
 * (lp_launch.of) and note their kernels' times there (batch_times.h), and the thread that drains
 * counts the answers.
 */
#ifndef LP_BATCHES_H
#define LP_BATCHES_H

#include "lp/host/batch_times.h"
#include "lp/model.h"

struct lp_batch {
    struct lp_batch_times times;
    const struct lp_dirs *dirs; /* of its launches */
    const uint32_t *slots;      /* lp_batch_options.slots */
    void *of;                   /* lp_batch_options.of */
    char *whose, *name;         /* lp_batch_options; NULL: it has none */
    bool held;                  /* it does not end, though it is answered */
    bool cuts_streams;          /* lp_batch_options.cuts_streams */
    uint8_t queue;              /* lp_batch_options.queue */
    uint32_t number;            /* from 1; 0: of messages without a kernel */
    uint32_t first_launch;      /* number of its first launch */
    uint32_t kernels;           /* launches that were submitted */
    uint32_t answers;           /* their completions that are back at the host */
    int64_t answered_ps;        /* the latest of them */
    struct lp_batch *next;      /* begun later */
};

struct lp_batches {
    struct lp_batch *first, *last; /* that have not ended, in order; at least one */
    struct lp_batch *current;      /* to which messages are added */
    uint32_t begun;                /* batches of launches, ever */
    void *by_number;               /* JudyL: of launches, number -> batch */
    uint32_t count, looked_at;     /* in the list; when all of it is looked through again */
    uint32_t worker_count;
    uint8_t *phase_of; /* lp_batch_times.phase_of */
};

/* False: out of memory; freeing is allowed then, too. */
bool lp_batches_init(struct lp_batches *batches, uint32_t worker_count, struct lp_model *m);
void lp_batches_free(struct lp_batches *batches);

/* Some launch has not been answered. */
bool lp_batches_are_in_flight(const struct lp_batches *batches);
/* Another batch begins: batches->current. All that are answered and not held end. `launches`: it is
 * of launches; if none is in flight, m->first_batch is its number. False: out of memory. */
bool lp_batches_begin(struct lp_batches *batches, struct lp_model *m, int64_t now_ps,
                      bool launches);
/* Names batches->current (lp_batch_options). False: out of memory. */
bool lp_batches_name(const struct lp_batches *batches, const char *whose, const char *name);
/* Its bytes count under this account. False: out of memory. */
bool lp_batches_count(const struct lp_batches *batches, struct lp_model *m, uint32_t account);
/* The batch with this number; NULL: it has ended. */
struct lp_batch *lp_batches_find(const struct lp_batches *batches, uint32_t number);
/* Adds a launch of batches->current to the table, or finds its latest one, if that says the same.
 * Returns its number; 0: out of memory. `op`: lp_launch.op. */
uint32_t lp_batches_add_launch(struct lp_batches *batches, struct lp_model *m,
                               const struct tl_kernel *kernel, const struct tl_args *args,
                               uint32_t op);
/* For reports: "kernel ring of group tp0, call 3 (all_reduce), rank 2". */
enum { LP_LAUNCH_NAME_BYTES = 256 };
const char *lp_launch_name(const struct lp_launch *launch, char text[LP_LAUNCH_NAME_BYTES]);
/* "group tp0", "call 3 (all_reduce)"; NULL: it has none. */
const char *lp_launch_whose(const struct lp_launch *launch);
const char *lp_launch_call(const struct lp_launch *launch);

#endif
