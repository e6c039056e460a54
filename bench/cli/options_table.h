/*
 * options_table.h: the options as data, between their table (options.c), what reads their values
 * (options_value.c) and nobody else.
 */
#ifndef BENCH_OPTIONS_TABLE_H
#define BENCH_OPTIONS_TABLE_H

#include "bench/cli/options.h"

enum option_id {
    OPTION_TOPOLOGY,
    OPTION_COMPONENTS,
    OPTION_CCL,
    OPTION_PRESET,
    OPTION_SET,
    OPTION_ALGORITHM,
    OPTION_NO_PLUGINS,
    OPTION_BENCH,
    OPTION_BYTES,
    OPTION_N_ELEM,
    OPTION_LEAST,
    OPTION_MOST,
    OPTION_FACTOR,
    OPTION_STEP,
    OPTION_DTYPE,
    OPTION_OP,
    OPTION_ITERS,
    OPTION_WARMUP,
    OPTION_SEED,
    OPTION_VERIFY_DATA,
    OPTION_CHECK,
    OPTION_NO_DATA,
    OPTION_FROM,
    OPTION_TO,
    OPTION_DIR,
    OPTION_TILES,
    OPTION_GEMM,
    OPTION_GEMM_TILE,
    OPTION_SYNC,
    OPTION_THREADS,
    OPTION_PARTITION,
    OPTION_WINDOW,
    OPTION_CANCELLATION,
    OPTION_STRESS_RATE,
    OPTION_NO_PIN,
    OPTION_MAX_MEMORY,
    OPTION_JSON,
    OPTION_CSV,
    OPTION_CCL_TRACE,
    OPTION_OP_LOG,
    OPTION_TRACE,
    OPTION_ENGINE_LOG,
    OPTION_DUMP_POINTERS,
    OPTION_PATH,
    OPTION_SVG,
    OPTION_KEYS,
    OPTION_QUIET,
    OPTION_HELP,
};

struct option_row {
    const char *name; /* NULL: the letter alone */
    char letter;      /* 0: none */
    uint8_t commands; /* enum command; and options.c's own note */
    uint8_t id;
    const char *argument; /* NULL: takes none */
    const char *help;
};

/* What is put together from several options once all are read. */
struct options_pending {
    const char *bytes, *n_elem;
    bool has_least, has_most;
    uint64_t least, most, factor, step;
};

struct options_parse {
    struct run_options *options;
    struct options_pending pending;
    struct cw_error *error;
};

/* Takes one option's value. */
int options_read(struct options_parse *parse, const struct option_row *row, const char *text);
/* When all have been read: what needs several options. */
int options_finish(struct options_parse *parse);

#endif
