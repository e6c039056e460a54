/*
 * bench_program.h: the interface of bench programs, and the functions that they share. A program is
 * one `const struct bench_program` in one file, and a row in the registry (bench.c).
 */
#ifndef BENCH_BENCH_PROGRAM_H
#define BENCH_BENCH_PROGRAM_H

#include "bench/output/atomic_file.h"
#include "bench/programs/run_options.h"
#include "bench/programs/repeat.h"
#include "bench/programs/run_use.h"
#include "bench/output/progress.h"
#include "bench/output/result.h"
#include "collectives/config/config.h"
#include "collectives/fold/fold_find.h"
#include "collectives/runtime/dist_placement.h"
#include "collectives/runtime/distributed.h"
#include "collectives/verify/bound.h"

struct run_logs;

/* A run in progress, as its program sees it. */
struct bench_session {
    const struct run_options *options;
    const struct config *config;
    struct dist *dist; /* NULL in prepare() */
    struct result *result;
    const struct bench_program *program;
    struct config *expected;     /* config, which the current size may change: bench_expect() */
    uint64_t n_elem;             /* per shard, where no option names sizes: the configured number,
                                    until prepare() knows better */
    size_t first_size, end_size; /* the sizes that the current machine is for */
    size_t size;                 /* the one under way */
    uint32_t shards;             /* of each rank's tensor; 0: the program has none */
    /* [sizes] that an automatic choice has taken with its algorithms; NULL: PEs are the mapper's */
    struct dist_placement *placements;
    char *refused[RUN_SIZES_MAX];           /* of each size, why it is not run; NULL: it is */
    struct lp_credit_waited *credit_waited; /* [PE]: for credits before the current row */
    struct repeat repeat;                   /* of the current calls */
    void *own;                              /* the program's, from prepare() on */
    struct explainer *explainer;            /* NULL: nothing is to be explained */
    struct result_engine before;     /* of the machines before this one; zero: it is the first */
    struct cw_stats *workers_before; /* [worker] likewise */
    bool shows_progress;
    struct progress_line progress;
    struct event_estimate estimate; /* of the events of a size */
    uint32_t calls;                 /* that are done at this size */
    struct atomic_file engine_log, engine_trace;
    struct run_use use;
    struct run_logs *logs;
    /* The current machine is folded, and how; its rows are reported after its verdict. */
    bool folded;
    struct fold_found fold;
    char fold_why[CCL_FOLD_WHY_BYTES]; /* why it is not folded further; "": nothing to say */
    bool fold_warned;                  /* the folded run had a warning */
    /* Notes in the rows that are not reported yet what the fold did (bench_fold.h). False: they may
     * not be the whole machine's. */
    bool (*fold_holds_so_far)(struct bench_session *session);
    bool any_folded;    /* some machine of the run was */
    uint64_t fold_hash; /* of all rows so far */
};

struct bench_program {
    const char *name;
    const char *about;        /* one line */
    bool collective;          /* has an algorithm and tensors: hence a data pass, a hash */
    bool no_algorithm;        /* but none of ccl.yaml's: tensors alone */
    bool multiplies, stores;  /* kernels that do; stores: without tensors */
    bool groups;              /* calls of the groups that the configuration names */
    bool folds;               /* a size is calls of one collective alone, the same on all ranks */
    bool rows_named;          /* a size has several rows, of several collectives */
    enum ccl_collective does; /* of one with an algorithm */
    /* The options that this program takes, of those that only some programs take
     * (bench/options/options_table.c); then NULL. */
    const char *takes[12];
    /* For estimates: calls of the algorithm in an iteration, 0 for 1; and the work of all that is
     * not such a call. NULL: none. */
    uint32_t calls;
    struct bench_own (*own)(const struct run_options *options, const struct config *config);
    /* Checks the options before the machine is built, and sets the parts that it must have (a pair
     * of PEs with a queue of their own, a callback). NULL: nothing. */
    int (*prepare)(struct bench_session *session, struct dist_options *dist,
                   struct cw_error *error);
    /* Runs the host program, which installs the queues, and fills the result's rows. */
    int (*run)(struct bench_session *session, struct cw_error *error);
    /* Instead of run(): makes its own machine with these options, and calls
     * bench_machine_begins() and bench_machine_ends() around what it does there. */
    int (*run_apart)(struct bench_session *session, const struct dist_options *dist,
                     struct cw_error *error);
    /* Frees the memory of prepare(), after a run and after a failed prepare(). NULL: nothing. */
    void (*finish)(struct bench_session *session);
};

extern const struct bench_program bench_ccl_allreduce, bench_ccl_reduce_scatter;
extern const struct bench_program bench_ccl_gradient;
extern const struct bench_program bench_ccl_all_gather, bench_ccl_broadcast, bench_ccl_barrier;
extern const struct bench_program bench_ccl_reduce, bench_ccl_custom;
extern const struct bench_program bench_ccl_all_to_all;
extern const struct bench_program bench_ipcq_pingpong, bench_ipcq_shift, bench_raw_store;
extern const struct bench_program bench_gemm, bench_gemm_allreduce, bench_concurrent, bench_step;

/* The sizes asked for, in elements per shard, or the program's only one; their number. */
size_t bench_size_count(const struct bench_session *session);
/* Checks each size in prepare(), and runs the sizes that were not refused. A refused size is a row
 * that says why, unless all are refused: then the first refusal is the error. */
int bench_check_sizes(struct bench_session *session,
                      int (*check)(const struct bench_session *session, uint64_t n_elem,
                                   struct cw_error *error),
                      struct cw_error *error);
int bench_run_sizes(struct bench_session *session,
                    int (*run)(struct bench_session *session, uint64_t n_elem,
                               struct cw_error *error),
                    struct cw_error *error);
/* If an explanation is asked for: the session's explainer, which listens to a machine with these
 * options. */
int bench_explain(struct bench_session *session, struct lp_system_options *machine,
                  struct cw_error *error);

/* For the progress line: the queues are installed; a call is done. */
void bench_progress_wired(struct bench_session *session);
void bench_progress_called(struct bench_session *session);

/* Of run_apart(): the machine is there, and nothing has run on it; the program is over or has
 * failed with that code, and the machine is still there. The code may be that of a log that could
 * not be written. */
int bench_machine_begins(struct bench_session *session, struct dist *machine,
                         struct cw_error *error);
int bench_machine_ends(struct bench_session *session, int code, struct cw_error *error);

/* The figures of the run so far, into the session's result. */
void bench_fill_result(struct bench_session *session);
/* Refuses tensors of this many bytes per shard together that a PE's HBM has no room for. */
int bench_check_hbm(const struct bench_session *session, uint64_t bytes, struct cw_error *error);
uint64_t bench_size(const struct bench_session *session, size_t i);
/* Shards of a rank's tensor of that size. */
uint32_t bench_shards(const struct bench_session *session, size_t i);

/* A call of a collective with that many elements (of each rank, for an all-gather), on the run's
 * machine and with its options. */
struct ccl_call bench_call(const struct bench_session *session, enum ccl_collective collective,
                           uint64_t n_elem);

/* The program's own, of its i-th size. */
struct ccl_call bench_call_of_size(const struct bench_session *session, size_t i);

/*
 * A row for a size, valid until the next one is added: add, sample after each iteration, which
 * stands for `weight` timed ones (repeat.h), finish. Its bandwidths count the bytes of its
 * elements; a collective's are row_work_add()'s. Times become means; phases and links are the last
 * iteration's. bound, wrong and hash are the program's to fill. NULL: out of memory.
 */
struct result_row *bench_add_row(struct bench_session *session, const char *collective,
                                 uint64_t n_elem, struct cw_error *error);
void bench_row_sample(struct result_row *row, const struct lp_times *times, uint32_t weight);
/* The calls of a row begin; one of them has completed, and nobody has continued (repeat.h). */
void bench_calls_begin(struct bench_session *session);
void bench_called(struct bench_session *session);
/* Which of the iterations were simulated, if not all; of bench_row_finish(), too. */
void bench_note_repeat(const struct bench_session *session, struct result_row *row);
/* `batch`: the launches of the last iteration. */
int bench_row_finish(struct bench_session *session, struct result_row *row, uint32_t batch,
                     uint32_t iterations, struct cw_error *error);

/* The use of links since the row's calls began. */
void bench_row_links(const struct bench_session *session, struct result_row *row, uint32_t account);
/* The bytes of an account over the row's busiest links. */
void bench_find_share(const struct bench_session *session, const struct result_row *row,
                      uint32_t account, struct result_share *share);

/* The i-th size begins, and ends: all its rows are known. */
void bench_size_begin(struct bench_session *session, size_t i);
void bench_size_end(struct bench_session *session);
/* Reports the rows that are known, with the figures so far. */
void bench_report_rows(struct bench_session *session);

/* Refuses a tile that does not fit in a slot. */
int bench_check_tile(const struct bench_session *session, uint64_t n_elem, struct cw_error *error);

/*
 * The sizes of a bench that sends single tiles: installs the queues, then for each size a row of
 * iterations of `once`, with the bound for a tile of that many bytes.
 */
int bench_run_tiles(struct bench_session *session,
                    int (*once)(struct bench_session *session, uint64_t n_elem,
                                struct cw_error *error),
                    struct hw_bound (*bound)(const struct bench_session *session, uint64_t bytes),
                    struct cw_error *error);

/* The row's bound, and the term that decides it. */
void bench_set_bound(struct result_row *row, struct hw_bound bound);

#endif
