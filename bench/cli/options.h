/*
 * options.h: the command line of `run`, `verify`, `check`, `config` and `topo` (60-cli.md): one
 * table of options, of which each command has its part. Parsing checks everything that needs no
 * configuration; run_options_check() the rest.
 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/config/config.h"
#include "collectives/data/dtype.h"
#include "collectives/matmul/matmul.h"
#include "core/cw.h"
#include "hw/structure.h"

#define RUN_SIZES_MAX 256u /* sizes of one --bytes or --n-elem */
#define RUN_SETS_MAX  256u

/* The commands that share the table; bits, for its columns. */
enum command {
    COMMAND_RUN = 1,
    COMMAND_VERIFY = 2,
    COMMAND_CHECK = 4,
    COMMAND_CONFIG = 8,
    COMMAND_TOPO = 16,
    COMMAND_PROJECT = 32, /* no column's: `run` behind `perf project --`, options_projected() */
};

/* Not to be copied: config.sets points into it. */
struct run_options {
    struct config_request config;
    const char *sets[RUN_SETS_MAX];

    const char *bench; /* one of bench_name() */
    enum dtype dtype;
    enum redop op;
    /* Elements per shard of each row, in the order asked for; size_count 0: the algorithm's own
     * n_elem (struct ccl_config). */
    uint64_t n_elem[RUN_SIZES_MAX];
    size_t size_count;
    uint32_t iterations, warmup; /* timed, and before them untimed */
    uint64_t seed;
    bool verify_data, no_data;

    enum cw_sync sync;
    bool sync_given; /* else: sequential on one thread, adaptive on several */
    uint32_t threads;
    const char *partition;     /* a partitioner's name; NULL: the default */
    bool no_pin;               /* leave the placing of threads to the system */
    int64_t window_ps;         /* 0: any */
    bool lazy_cancellation;    /* else aggressive */
    uint64_t stress_rate_p32;  /* 0: the engine's default */
    uint64_t memory_bytes_max; /* 0: the engine's default */

    struct matmul_shape gemm; /* of gemm, gemm_allreduce */
    struct hw_place from, to; /* of ipcq_pingpong, raw_store */
    enum hw_dir dir;          /* of ipcq_shift */
    uint32_t tiles;

    const char *json, *csv; /* NULL: none; "-": standard output */
    const char *ccl_trace;  /* NULL: none; "-": standard output, or error beside JSON or CSV */
    const char *op_log, *timeline; /* --op-log, --trace; NULL: none */
    const char *engine_log;        /* NULL: none */
    bool dump_pointers;
    bool quiet; /* no progress line */

    const char *path_from, *path_to; /* of `topo --path A B`; NULL: none */
    const char *svg;                 /* of `topo --svg FILE` */
    bool keys;                       /* of `config --keys` */
    bool help;                       /* --help was given: nothing else counts */

    cw_trace_fn trace; /* no option's: what `perf project` keeps; NULL: nobody wants to know */
    void *trace_arg;
};

/*
 * Parses argv[1..]; argv[0] is the command's name. CW_OK, or CW_USAGE with *error filled with one
 * sentence that says what is legal. The strings of *options point into argv.
 */
int run_options_parse(struct run_options *options, enum command command, int argc, char **argv,
                      struct cw_error *error);
/* What the machine decides: --from, --to and the topology of --dir. */
int run_options_check(const struct run_options *options, const struct hw_config *hw,
                      struct cw_error *error);
/* The text of --help. */
void run_options_help(enum command command);

/*
 * SIZE: a whole number with an optional unit: KiB, MiB, GiB (and K, M, G, as in nccl-tests) are
 * powers of 1024, KB, MB, GB of 1000. False if it is none, or above 2^63.
 */
bool size_parse(const char *text, size_t bytes, uint64_t *size);
/*
 * SIZE, or a range MIN:MAX:xF (each F times the one before) or MIN:MAX:+STEP, MIN:MAX doubling.
 * Fills up to `room` sizes. NULL, or what is wrong.
 */
const char *sizes_parse(const char *text, uint64_t *sizes, size_t room, size_t *count);

/* The known name nearest to `text`, NULL if none is near. */
const char *nearest_name(const char *text, const char *const *names, size_t count);

/*
 * What every command that reads options shares. All return CW_OK, or CW_USAGE with *error filled;
 * `name` is an option's, without its dashes, `text` its value.
 */
/* Always CW_USAGE. */
int options_usage(struct cw_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "--name 'text': expected ..."; always CW_USAGE. */
int options_reject(struct cw_error *error, const char *name, const char *text,
                   const char *expected);
int options_count(struct cw_error *error, const char *name, const char *text, uint64_t least,
                  uint64_t most, uint64_t *value);
int options_u32(struct cw_error *error, const char *name, const char *text, uint32_t least,
                uint32_t most, uint32_t *value);
int options_size(struct cw_error *error, const char *name, const char *text, uint64_t *size);
/* A decimal fraction at the start of `text`, times `unit`, a power of ten; exact. Returns what is
 * behind it. NULL: there is none, or it is too large. */
const char *options_decimal(const char *text, int64_t unit, int64_t *value);
/* 0.25 or 25%, times 2^32. */
int options_probability(struct cw_error *error, const char *name, const char *text, uint64_t *p32);
/* Likewise, but not 0. */
int options_stress_rate(struct cw_error *error, const char *name, const char *text, uint64_t *p32);
/* aggressive, or lazy. */
int options_cancellation(struct cw_error *error, const char *name, const char *text, bool *lazy);
/* Whether the mode has anything to cancel. */
int options_cancellation_fits(struct cw_error *error, enum cw_sync sync, bool lazy);
/* An output file's name, or - for standard output. */
int options_file(struct cw_error *error, const char *name, const char *text, const char **path);
/* An output file's name: standard output is not for it. */
int options_regular_file(struct cw_error *error, const char *name, const char *text,
                         const char **path);
/* Whether an option of `run` or `phold` has a meaning in what `perf project` projects; CW_USAGE
 * says why not. */
int options_projected(struct cw_error *error, const char *name);
/* An argument that getopt_long does not know: `letter` is its optopt, `names` the long names.
 * Always CW_USAGE. */
int options_unknown(struct cw_error *error, const char *argument, int letter,
                    const char *const *names, size_t count);

#endif
