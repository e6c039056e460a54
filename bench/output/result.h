/*
 * result.h: the results of a run, as the table, the JSON and the CSV writers see them. Times are
 * simulated, in ps; bench/FORMATS.md explains each figure. Filled by the bench programs. A result
 * owns its arrays; result_free() releases them.
 */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/explain/explain.h"
#include "bench/output/process_phases.h"
#include "collectives/verify/sample.h"
#include "collectives/verify/verifier.h"
#include "core/cw.h"
#include "lp/host/credit_wait.h"
#include "lp/host/placement.h"

/* A stretch of the collective that the kernels marked; statistics over the ranks. */
struct result_phase {
    char name[32];
    int64_t min_ps, max_ps;
    double mean_ps;
};

/* One directed link, over one collective; and others at the same place of other SIPs whose figures
 * are equal. */
struct result_link {
    char name[96]; /* "sip 0 cube 1 ucie E": of the lowest SIP */
    uint64_t bytes;
    int64_t busy_ps;      /* time it was sending */
    int64_t queue_ps_max; /* the longest that a message waited for it */
    uint64_t place;       /* in its SIP: the order of links that are equally busy */
    uint32_t alike;       /* links, itself with them */
    uint32_t lp, index;   /* of itself: struct lp_link_use */
    const char *kind;     /* as in struct result_link_kind */
};

/* Why a run is far from its bound though a link is busy nearly all the time: that link carries this
 * many times its even share of the bytes that the bound counts on links of its class, the product
 * of the two factors. Of a class that is in no cut of the bound both are 0. */
struct result_busiest {
    const char *kind; /* NULL: it is not so */
    double bytes;     /* the mean of its class over that share */
    double uneven;    /* itself over the mean */
};

/* All links of one kind that carried something, over one collective. */
struct result_link_kind {
    const char *name;      /* "hccs"; static */
    uint64_t links, bytes; /* of those that carried something */
    uint64_t built;        /* between SIPs: all there are; 0: inside SIPs */
    int64_t busy_ps;       /* of all of them together */
};
#define RESULT_LINK_KINDS_MAX ((size_t)HW_LINK_KINDS)

/* A row of a call that several groups make at once: the row's time is the slowest group's. */
struct result_groups {
    uint32_t groups, ranks; /* of each; 0: the row is of no groups */
    uint32_t calls;         /* of a row of several calls together, which has no size; else 0 */
    int64_t fastest_ps, median_ps;
    int64_t begin_ps, end_ps; /* of all of them, since the first call's kernels began */
    int64_t alone_ps;         /* the row's time without other calls; 0: not known */
};

enum { RESULT_LINKS_MAX = 5 };

/* Of a row of several calls together: the bytes of one of them over the row's busiest links. */
struct result_share {
    char call[96]; /* the row's name; of calls that share their queues the names of all */
    uint64_t bytes[RESULT_LINKS_MAX];
};

/* What the shortcuts did in a row (COMMANDS.md, "Shortcuts"); of each, zeros: it was not taken, and
 * all was simulated. Counts are of the whole machine, calls with the warm-up, and operations of a
 * step; `done` of them were simulated. */
struct result_shortcuts {
    struct result_simulated {
        uint64_t of, done;
    } sips, iterations, operations;
    const char *fold; /* how it is known that SIPs are alike: "comparison", "proof"; static */
    char why[400];    /* why not fewer are simulated though --fold is not off; "": nothing to say */
};

/* --verify-data sample (collectives/verify/sample.h); of_ranks 0: another run. */
struct result_sampled {
    uint32_t ranks, of_ranks;
    uint64_t chunks, of_chunks; /* of each of these ranks' results */
    uint64_t elements;          /* computed, of all of them */
    enum proof proof;           /* by which these were compared */
    char fault[400];            /* the first; "": none */
};

/* One row: one collective at one size, means over the iterations. */
struct result_row {
    char collective[96];   /* "all_reduce"; of groups "all_reduce:tp" */
    char algorithm[64];    /* "" for a bench without */
    char choice[680];      /* why that algorithm was chosen; "": it was named */
    const char *placement; /* the mapper that an automatic choice took with it; static. NULL: PEs
                              are the mapper's that the configuration names, or the algorithm's */
    uint64_t bytes, count;
    uint64_t counted_bytes;    /* by bandwidths: COMMANDS.md, "Bytes and bandwidths" */
    uint32_t shards;           /* of a rank, of this many bytes each; 0: none, it is single tiles */
    bool together;             /* the shards of a rank are added together; else each is its own */
    bool done;                 /* false: the run failed before its figures were known */
    char *not_run;             /* why this size was not run; NULL: it was. The result's */
    char dtype[12], redop[12]; /* "" where it means nothing */
    uint32_t ranks;            /* world size: busbw's n */
    double bus_factor;         /* busbw = algbw * factor */
    double flops;              /* floating-point operations of a rank; 0: none, or not counted */
    double moved; /* of a shard that a rank sends to others, in the mean; 0: not known */
    int64_t time_ps, host_time_ps, start_skew_ps, bound_ps;
    int64_t class_ps[HW_LINK_KINDS]; /* struct hw_bound */
    struct result_busiest busiest;
    bool bound_without_metis; /* struct hw_bound */
    const char *bound_by; /* the term that decides the bound (struct hw_bound); NULL: not said */
    int64_t wrong;        /* -1: not verified (null) */
    enum proof proof;     /* by which `wrong` was counted */
    double error_bound, error_largest; /* of PROOF_BOUND (struct verdict) */
    struct result_sampled sampled;     /* of PROOF_SAMPLE */
    int64_t ranks_differ; /* elements that ranks end with in different bits; -1 (null): not
                             verified, or each rank has a result of its own */
    int64_t not_finite;   /* infinities and NaNs though all inputs are finite; -1 (null): not
                             verified, or they are not */
    bool has_hash;        /* false: null */
    uint64_t data_hash;
    struct result_phase *phases;
    size_t phase_count;
    struct result_link links[RESULT_LINKS_MAX]; /* the busiest */
    struct result_link_kind kinds[RESULT_LINK_KINDS_MAX];
    size_t kind_count;
    size_t link_count;
    uint64_t switched_bytes[HW_SWITCH_KINDS]; /* that left switches, over one collective */
    double joules;                            /* of the machine over the row's time; 0: not known */
    int64_t queue_ps_max;                     /* the longest that a message waited for any link */
    uint64_t events;                          /* of all calls of this size that were simulated */
    int64_t measured_ps; /* on a real machine (struct result_measured); 0: not known */
    struct lp_credit_wait credit_longest; /* for credits: of the PE that waited longest, */
    struct lp_credit_wait credit_last;    /* and of the one whose kernel ended last */
    struct result_groups groups;
    struct result_share *shares; /* [share_count]; the result's */
    size_t share_count;
    struct explain *explain; /* of the last iteration; NULL: not asked for. The result's */
    struct result_shortcuts shortcuts;
};

struct result_engine {
    const char *sync, *partition;
    const char *cancellation; /* NULL: in this mode nothing is undone */
    uint32_t threads;
    bool folded;        /* then trace_hash and events per second mean nothing */
    uint64_t fold_hash; /* of a folded run (FORMATS.md, "Engine object") */
    bool has_cut;       /* false: one thread, or a model that is not a machine */
    struct lp_cut cut;  /* the partition of the machine */
    struct cw_stats stats;
    struct cw_stats *workers; /* [worker_count], of each; the result's */
    uint32_t worker_count;
    uint64_t peak_rss_bytes;
    double setup_s;         /* wall time to build the machine and to install its queues */
    double run_s;           /* wall time in the engine after that, the data pass included */
    double events_per_s;    /* committed, over all the time in the engine, installation included */
    uint64_t ipcq_messages; /* tiles sent; phold: 0 */
    const struct process_phases *phases; /* of the process; NULL: not noted */
};

/* A kernel that had not ended when the run failed. */
struct result_waiting {
    char pe[24]; /* "0.1.0" */
    uint32_t rank;
    char kernel[64];
    char *state; /* "waits for data from W (at chain.c:31)"; the result's */
    int64_t since_ps;
};

/* What the machine is built of between its SIPs (hw/topology/built.h). */
struct result_built {
    bool known;
    struct result_built_kind {
        char name[32];
        uint64_t links, ways; /* a link both ways is one; each direction for itself */
        double gbs;           /* each way */
    } kinds[RESULT_LINK_KINDS_MAX];
    size_t kind_count;
    uint64_t links, switches;
    bool has_cost, has_energy; /* of a machine whose parts have any */
    double cost, watts;
};

/* A default that costs much: the row's time is less by `share` of it with the other value. */
struct result_cost {
    const char *key, *value, *other; /* "fabric.contention", "message", "none"; static */
    double share;
    size_t row;
};
enum { RESULT_COSTS_MAX = 2 };

/* Measured times beside the rows; path NULL: not asked for. */
struct result_measured {
    const char *path;           /* the host's */
    const char *format, *place; /* "nccl-tests", "in place"; static */
    size_t rows, rows_read;     /* of its tables in use, and how many of them gave a time */
    size_t rows_wrong;          /* of those read: their results were wrong on the real machine */
    const char *const *notes;   /* [note_count], the host's: what was not read, converted, wrong */
    size_t note_count;
    uint32_t ranks; /* of the real machine; 0: not said */
};

/* A column of the CSV that not every run has: of a --set or a --tag. */
struct result_column {
    char *name, *value; /* the result's */
};

struct json_t;      /* jansson's */
struct picture;     /* bench/draw/picture.h */
struct step_report; /* bench/output/step_report.h */

struct result {
    char bench[32];
    char algorithm[64];
    char config_digest[17]; /* XXH3 of the resolved configuration, 16 hex digits */
    uint64_t seed;
    const char *input;        /* of tensors: "uniform", "integers" */
    const char *protocol;     /* how tiles travel, if not as they are; else NULL */
    uint32_t coarse_tiles;    /* that a coarse tile stands for; 0: tiles are exact */
    const char *coarse_doubt; /* what is known to be far off with them; NULL: nothing */
    char grid[64];            /* of SIPs, if it is not square and w and h were not given; else "" */
    uint64_t sips, cubes, pes, queue_pairs, lps;
    struct result_built built;
    struct result_engine engine;
    struct process_phases phases; /* up to the freeing of the machine */
    struct result_row *rows;
    size_t row_count;
    struct result_measured measured;
    int64_t sim_time_ps, init_time_ps;
    struct lp_credit_wait credit_wait; /* over the whole run */
    struct result_cost costs[RESULT_COSTS_MAX];
    size_t cost_count;
    char *failure; /* of a run that failed: its message; NULL: it did not */
    int failure_code;
    struct result_waiting *waiting; /* [waiting_count] then */
    size_t waiting_count;
    char *pointers;   /* then: of all queues that are not idle, a line each; NULL: not known */
    bool interrupted; /* the run was ended before all sizes were done; then `unfinished` */
    /* The size at which a run that failed or was interrupted ended: its row without figures, whose
     * not_run says so. bytes 0: between sizes, or before the first. */
    struct result_row unfinished;
    bool shows_machine;       /* the line named no work: a sentence closes the table */
    const char *rest;         /* of such a run: the sizes that were left out; the host's */
    bool rows_named;          /* a size has several rows, of several collectives */
    bool has_groups;          /* rows are of groups */
    size_t sizes;             /* that were asked for */
    size_t reported;          /* rows that row_done was called for */
    struct step_report *step; /* of the bench `step`, the result's; NULL: none */
    struct picture *picture;  /* the machine in its last row, the result's; NULL: not asked for */
    /* Filled before the run, by its caller: */
    bool document; /* its JSON is wanted */
    void (*row_done)(void *arg, struct result *result,
                     size_t row); /* each row, once it is known
with all figures of the run so far; in order, on the host's thread; or NULL */
    void *row_arg;
    struct json_t *provenance;     /* the result's; NULL: none */
    struct result_column *columns; /* [column_count], the result's */
    size_t column_count;
};

/* NULL, aggressive or lazy. */
const char *result_cancellation(enum cw_sync sync, bool lazy);

void result_free(struct result *result); /* frees its members, not the struct */

/* A sum's mean, rounded half away from zero as all times are. sum_ps >= 0, count > 0. */
int64_t result_mean_ps(int64_t sum_ps, uint32_t count);

/* How many times as much a row stands for as was simulated; 1: all was. */
double result_shortcut_factor(const struct result_shortcuts *shortcuts);

/*
 * Judges a run by its figures: CW_BUG with *error filled for a time below its
 * bound, if the bound holds, or CW_PROGRAM_FAILED if the algorithm was `loaded` from a shared
 * object; CW_DATA_WRONG for elements that verification found wrong.
 */
int result_judge(const struct result *result, bool bound_holds, bool loaded,
                 struct cw_error *error);

/* busbw / algbw, as nccl-tests has it, of n ranks. */
double result_bus_factor(enum ccl_collective collective, double n);

#endif
