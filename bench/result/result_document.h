/*
 * result_document.h: the reader of result JSON (bench/FORMATS.md, "JSON"): its members as plain
 * fields, for everything that reads results back: `compare`, `run --again`, the rows of a study's
 * database, `report`. A result is a file, or an object in memory.
 *
 * Files may be anybody's: a member that is absent, null, of another type, or a figure that no run
 * gives is unknown, and never a failure. Unknown are: a text NULL, a count -1, a figure NAN.
 * result_document_check() refuses a result that lacks the members by which two are compared.
 */
#ifndef BENCH_RESULT_DOCUMENT_H
#define BENCH_RESULT_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cw.h"

struct document_phase {
    const char *name; /* never NULL */
    double min_ns, mean_ns, max_ns;
};

struct document_link_kind {
    const char *kind; /* never NULL */
    int64_t links;
    double bytes, busy; /* busy: mean share of the time, 0 to 1 */
};

/* One collective at one size. Texts are the JSON's. */
struct document_row {
    const char *collective, *algorithm, *placement, *dtype, *redop, *bound_by, *data_hash, *proof,
        *last_pe;
    const char *not_run; /* why this size was not run, and then no figure means anything */
    int64_t bytes, count, bytes_per_rank, shards_per_rank;
    int64_t wrong, ranks_differ, not_finite; /* elements; -1: not verified */
    const char *fold;                        /* how SIPs are known to be alike; NULL: not folded */
    int64_t sips_simulated, iterations_simulated, operations_simulated; /* -1: all */
    double time_ns, host_time_ns, start_skew_ns, bound_ns, measured_ns, error_percent;
    double algbw_gbs, busbw_gbs, credit_wait_ns, last_pe_credit_wait_ns, moved_per_rank;
    double time_cost_us, joules, joules_per_byte;
    struct document_phase *phases;
    size_t phase_count;
    struct document_link_kind *kinds;
    size_t kind_count;
    const json_t *explain; /* where time goes; NULL: not asked for */
};

struct document_engine {
    const char *sync, *trace_hash, *fold_hash; /* one of the hashes is NULL */
    int64_t threads;
    double events, events_per_s, setup_s, run_s, peak_rss_bytes; /* events: committed */
};

struct result_document {
    json_t *json; /* the whole document; the result_document holds a reference */
    char *name;   /* the file, for messages */
    bool is_run;  /* of `run`, else of `phold` */
    const char *version, *bench, *algorithm, *config_digest, *input;
    bool has_seed;
    int64_t seed; /* the 64 bits of it */
    int64_t sips, cubes, pes;
    int64_t links_built; /* between SIPs, of all kinds */
    double cost, watts;  /* of the machine */
    double credit_wait_ns;
    struct document_engine engine;
    struct document_row *rows; /* of `phold`: none */
    size_t row_count;
    struct document_phase *phases;    /* of all rows, one row's after the other's */
    struct document_link_kind *kinds; /* likewise */
    const json_t *provenance;         /* NULL: a document from before there was one */
    const json_t *picture;            /* the machine with the use of its links; NULL: none */
    const json_t *phold;              /* the options of `phold`; NULL: none */
    bool interrupted;
    const char *failure; /* the message of a run that failed, "" if it has none; NULL: it did not */
};

/* A file, - for standard input. CW_OK, or CW_USAGE (it cannot be read, or is not JSON or not a
 * result; the text says which and where), or CW_NO_RESOURCE; *document is empty then. */
int result_document_read(const char *path, struct result_document *document,
                         struct cw_error *error);
/* The same of an object, to which the document adds a reference of its own. */
int result_document_of(json_t *json, const char *name, struct result_document *document,
                       struct cw_error *error);
/* CW_USAGE: it is not a result of `run`, or a row lacks its size or its time. */
int result_document_check(const struct result_document *document, struct cw_error *error);
void result_document_free(struct result_document *document); /* frees its members */

/* A row's time in whole ps, as the simulator counts; 0: unknown. */
int64_t document_row_time_ps(const struct document_row *row);
/* Bytes of a shard or, where they are known, of all shards of a rank. */
int64_t document_row_size(const struct document_row *row, bool per_rank);
/* The row of a collective at such a size; NULL: there is none. Of equal ones the `nth`, from 0. */
const struct document_row *result_document_row(const struct result_document *document,
                                               const char *collective, int64_t size, bool per_rank,
                                               size_t nth);
/* Whether both texts are unknown, or the same. */
bool document_text_same(const char *a, const char *b);
/* A text of the provenance ("command_line" is a list, and is none); "": absent. */
const char *result_document_provenance(const struct result_document *document, const char *key);

#endif
