/*
 * machine_use.h: how the parts of a machine were used during its latest collective, or during the
 * latest ones that were in flight together since the machine was idle, gathered from
 * committed records: for each PE the time at work, in receives and in sends, and the bytes; for PEs
 * and links, how busy they were over time, in bins of equal width.
 *
 * Records arrive in the total order, from one thread at a time (struct lp_listener); figures are
 * read between drains. So they are the same for any number of threads. They begin with the
 * first kernel after the machine was idle, which discards those before.
 */
#ifndef BENCH_DRAW_MACHINE_USE_H
#define BENCH_DRAW_MACHINE_USE_H

#include "lp/model.h"

enum { USE_BINS = 32, USE_SPANS = 8 };

struct use_span {
    int64_t begin_ps, end_ps;
};

struct pe_use {
    int64_t start_ps, end_ps; /* of its kernel, from the first start in the machine; end 0: none */
    int64_t work_ps; /* in products, additions, casts, loads, stores, copies: at least one */
    int64_t recv_ps; /* in receives and waits for notifications, of all streams together */
    int64_t send_ps; /* in sends and puts, likewise */
    uint64_t sent_bytes, received_bytes;
    int64_t *bins; /* [USE_BINS] work_ps over time; NULL: no kernel ran */
    /* Stretches of work that later ones may still overlap, in order of time; earlier ones are in
     * work_ps and bins. */
    struct use_span span[USE_SPANS];
    uint32_t spans;
};

struct machine_use;

/* NULL: out of memory. The model must outlive all records and figures. */
struct machine_use *machine_use_create(const struct lp_model *model);
void machine_use_free(struct machine_use *use); /* accepts NULL */

/* Takes a record, in order. */
void machine_use_kernel(struct machine_use *use, const struct lp_kernel_record *record);
void machine_use_op(struct machine_use *use, const struct lp_op *op);
void machine_use_crossed(struct machine_use *use, const struct lp_crossed *crossed);

/* ---- between drains -------------------------------------------------------------------------- */

/* Completes the collective's figures. False: memory ran out, and some are missing. */
bool machine_use_finish(struct machine_use *use);
/* Of a PE of the whole machine. */
const struct pe_use *machine_use_pe(const struct machine_use *use, uint32_t pe);
/* [USE_BINS] how long the link of this number in the LP's state was busy in each bin. NULL: it
 * carried nothing. */
const int64_t *machine_use_link(const struct machine_use *use, uint32_t lp, uint32_t index);
/* The width of a bin; bins begin with the first start. */
int64_t machine_use_bin_ps(const struct machine_use *use);

#endif
