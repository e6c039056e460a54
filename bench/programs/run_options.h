/*
 * run_options.h: which run is asked for: the configuration, the bench and its work, the engine's
 * mode, and the files to write. The command line fills it (bench/options/options_run.h); the bench
 * programs and the logs of a run read it.
 */
#ifndef BENCH_RUN_OPTIONS_H
#define BENCH_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/draw/picture_format.h"
#include "collectives/algorithm.h"
#include "collectives/config/config.h"
#include "collectives/config/config_load.h"
#include "collectives/data/dtype.h"
#include "collectives/compute/compute.h"
#include "core/cw.h"
#include "hw/structure.h"
#include "workload/traces/trace_options.h"

enum {
    RUN_SIZES_MAX = 256, /* of one --bytes or --n-elem */
    RUN_SETS_MAX = 256,
    RUN_PRESETS_MAX = 16,
    RUN_TAGS_MAX = 64,
    RUN_CALLS_MAX = 64
};

/* A call of the bench `concurrent`: --call COLLECTIVE:GROUPS:SIZE@START. */
struct run_call {
    char text[120];
    enum ccl_collective collective; /* CCL_SEND_RECV: from the rank `from` to the rank `to` */
    char groups[80];                /* "tp", "tp.3", "world"; of a send "0-8" */
    uint32_t from, to;
    uint64_t bytes;                 /* of a rank's tensor */
    struct compute_request compute; /* of CCL_COMPUTE, but for its PEs and its type */
    int64_t start_ps;
};

/* The numbers that tensors are filled with (COMMANDS.md, "Inputs"). */
enum run_input { RUN_INPUT_UNIFORM, RUN_INPUT_INTEGERS };

/* What a step leaves out or forces (workload/run/step.h). */
enum run_concurrency { RUN_CONCURRENCY_FREE, RUN_CONCURRENCY_ONE };
enum run_launch_order { RUN_LAUNCH_IMPLICIT, RUN_LAUNCH_PROGRAM };
enum run_simulated { RUN_SIMULATED, RUN_FREE };

/* A shortcut (bench/programs/shortcuts.h). */
enum run_shortcut { RUN_SHORTCUT_AUTO, RUN_SHORTCUT_ON, RUN_SHORTCUT_OFF };

/* What a bench does beside calls of its algorithm, by estimate: events of an iteration, and bytes
 * of tensors; multiplications of their elements. */
struct bench_own {
    double events, bytes, products;
    double part; /* of the machine that is simulated (--fold); 0: all of it */
};

/* The sizes as the command line names them, in one of four ways; NULL, 0: not that way. */
struct run_sizes_asked {
    const char *bytes, *bytes_per_rank, *n_elem;
    uint64_t least, most, factor, step; /* as in nccl-tests */
};

/* Which measured times, where a table has both. */
enum measured_place { MEASURED_IN_PLACE, MEASURED_OUT_OF_PLACE };

/* Not to be copied: config.sets points into it. */
struct run_options {
    /* Mode, workers, window, limits; no option sets its functions. The first member, as in `phold`:
     * the rows of these options are for both (bench/options/options_table.c). */
    struct cw_config engine;

    struct config_request config;
    const char *sets[RUN_SETS_MAX];
    char coarse_set[40];                  /* --coarse as one of them */
    const char *presets[RUN_PRESETS_MAX]; /* all, config.preset the last */

    struct run_call calls[RUN_CALLS_MAX];
    size_t call_count;

    /* Of the bench `step`: a workload file or a trace, and KEY=VALUE of the file, which --set
     * names workload.KEY=VALUE. */
    const char *workload;
    const char *workload_sets[RUN_SETS_MAX];
    size_t workload_set_count;
    struct workload_trace_options workload_trace;
    uint32_t concurrency, launch_order; /* enum run_concurrency, run_launch_order */
    uint32_t launches, communication;   /* enum run_simulated */

    const char *tags[RUN_TAGS_MAX]; /* KEY=VALUE each */
    size_t tag_count;

    const char *bench;   /* one of bench_name() */
    bool is_bench_named; /* by an option */
    enum dtype dtype;
    enum redop op;
    double scalar; /* of REDOP_PREMULSUM */
    struct run_sizes_asked asked;
    /* Elements per shard of each row, in the order asked for; size_count 0: the algorithm's own
     * n_elem (struct ccl_config). */
    uint64_t n_elem[RUN_SIZES_MAX];
    size_t size_count;
    bool sizes_per_rank;         /* n_elem[] are a rank's, of all its shards */
    bool sizes_rounded;          /* down to what the collective can divide: bench_whole_size() */
    uint32_t iterations, warmup; /* timed, and before them untimed */
    uint64_t seed;
    enum run_input input;
    const char *data, *data_out; /* of ccl_gradient: files of values; NULL: none */
    bool verify_data, no_data;
    uint32_t verify_ranks; /* of --verify-data sample: so many; 0: another run. Then no_data */
    bool is_check_given;   /* whether data are verified is said by an option */
    bool shows_machine;    /* the line names no work: sizes and algorithm are the default ones */
    char rest[200];        /* then: which sizes were left out, and how to run them; "": none */

    uint32_t fold, repeat, replay; /* enum run_shortcut */

    double begun_s; /* the command (clock_s()); 0: with the run */

    const char *partition; /* a partitioner's name; NULL: the default */

    struct matmul_shape gemm; /* of gemm, gemm_allreduce */
    struct hw_place from, to; /* of ipcq_pingpong, raw_store */
    enum hw_dir dir;          /* of ipcq_shift */
    uint32_t tiles;
    uint32_t ahead;     /* of ipcq_shift: how far its sends are before its receives */
    uint32_t rows;      /* of `batch` */
    uint64_t row_elems; /* of `batch`; 0: not asked for */

    const char *measured;    /* a file of measured times; NULL: none */
    uint32_t measured_place; /* enum measured_place */

    const char *again;      /* a result whose line runs again; NULL: none */
    const char *json, *csv; /* NULL: none; "-": standard output */
    const char *ccl_trace;  /* NULL: none; "-": standard output, or error beside JSON or CSV */
    const char *op_log, *timeline;         /* --op-log, --trace; NULL: none */
    const char *trace_only;                /* --trace-only PLACES; NULL: all */
    bool trace_links;                      /* --trace-links */
    int64_t trace_from_ps, trace_to_ps;    /* --trace-from, --trace-to; to 0: no end */
    const char *links;                     /* --links FILE; NULL: none */
    const char *engine_log, *engine_trace; /* NULL: none */
    bool dump_pointers;
    bool aside; /* a run for a figure of another run: it writes no listing, whatever the environment
                   asks for */
    bool explain; /* where the time of each row goes */
    bool quiet;   /* no progress line */

    /* No option sets it: where warnings of the run go; NULL: to standard error. Called on any
     * thread of the run, by one at a time. */
    void (*warn)(void *arg, const char *text);
    void *warn_arg;
    /* Likewise: machines that earlier runs have left (lp/host/wired.h); NULL: none. */
    struct lp_wired *wired;

    const char *path_from, *path_to; /* of `topo --path A B`; NULL: none */
    const char
        *drawn[PICTURE_FORMATS]; /* --svg, --dot, --gexf FILE of `topo` and `run`; NULL: not */
    const char *xml, *graph;     /* of `topo --xml FILE`, `topo --graph FILE` */
    const char *list;            /* of `list WHAT` */
    bool keys;                   /* of `config --keys` */
    bool verbose;                /* of `check --verbose` */
};

#endif
