/*
 * accounts.h: for each kernel the time that it spent in calls, in blocks, and waiting, summed while
 * it runs. PEs are known by their places (lp_pe_place()). A PE has an account for each batch of
 * which it runs a kernel. It is written by the worker that owns the PE's cube.
 */
#ifndef BENCH_ACCOUNTS_H
#define BENCH_ACCOUNTS_H

#include "lp/causes.h"

enum account_wait {
    ACCOUNT_LOAD,
    ACCOUNT_STORE,
    ACCOUNT_CHANNEL,
    ACCOUNT_ASYNC,
    ACCOUNT_NOTIFY,
    ACCOUNT_STREAMS,
    ACCOUNT_ROOM,
    ACCOUNT_WAITS
};

/* Parts of a kernel's own time that are summed. */
enum account_part { ACCOUNT_MATH, ACCOUNT_GEMM, ACCOUNT_FETCH, ACCOUNT_CREDIT, ACCOUNT_PARTS };

/* Work of a kernel, or of its streams. Calls by kind, from ISSUE_CPU on. */
struct account_work {
    int64_t part_ps[ACCOUNT_PARTS];
    uint32_t calls[ISSUES - ISSUE_CPU];
};

/* The first two cache lines have nearly all that an event of a kernel changes. */
struct account {
    _Alignas(64) struct account_work own;
    int64_t busy_ps;   /* until then the kernel's time is accounted for */
    int64_t engine_ps; /* PE_DMA's engine passed bytes; with several hardware queues, those of any
                          kernel, while this one's events were the latest */
    int64_t data_ps[HW_DIRS_MAX];
    int64_t wait_ps[ACCOUNT_WAITS];
    int64_t start_ps, end_ps; /* of the kernel; start INT64_MAX: none ran */
    int64_t pe_ps;            /* it waited for its PE before */
    struct account_work streams;
    struct account *before;    /* of another kernel of the PE; of one queue, the later ones first */
    uint32_t batch;            /* 0: unknown, on a machine where no kernel waits for its PE */
    uint8_t context, contexts; /* of the PE, that run it: the first, and how many */
    bool is_extra;             /* allocated by itself */
};

struct accounts;

/* `sips`: that have LPs. NULL: out of memory. */
struct accounts *accounts_create(const struct hw_config *hw, uint32_t sips);
void accounts_free(struct accounts *accounts); /* accepts NULL */
/* `m`: of the machine whose events come from now on. */
void accounts_clear(struct accounts *accounts, const struct lp_model *m);

/* Called as the members of struct lp_cause_direct. */
void accounts_take_kernel(struct accounts *accounts, const struct cw_event *event, uint32_t entity,
                          uint32_t context, int64_t at_ps, const uint32_t *steps, uint32_t count);
void accounts_take_other(struct accounts *accounts, const struct cw_event *event, uint32_t entity,
                         uint32_t type, uint32_t bytes);
void accounts_take_wait(struct accounts *accounts, int64_t now_ps, const struct lp_waited *waited);

/* Between drains. */
uint32_t accounts_count(const struct accounts *accounts);
/* NULL: nothing has happened at this PE for this batch. */
const struct account *accounts_of(const struct accounts *accounts, uint32_t pe, uint32_t batch);

#endif
