/*
 * accounts.c: see accounts.h.
 */
#include "bench/explain/accounts.h"

#include <stdlib.h>

#include "hw/structure.h"
#include "hw/timing.h"
#include "lp/kernel/tl_call.h"

/* A PE without a kernel has no account: a large machine's accounts take time to clear. */
struct accounts {
    const struct hw_config *hw;
    uint32_t count, cubes;
    uint32_t collective; /* the one under way, from 1 */
    uint32_t *begun;     /* [count] by PE: in which collective its account was begun */
    struct account *of;  /* [count] by PE */
};

struct accounts *accounts_create(const struct hw_config *hw)
{
    const uint32_t count = hw_pe_count(hw);
    struct accounts *const accounts = calloc(1, sizeof *accounts);
    if (accounts == NULL)
        return NULL;
    accounts->hw = hw;
    accounts->count = count;
    accounts->cubes = hw->sip_count * hw_cubes(hw);
    accounts->begun = calloc(count, sizeof *accounts->begun);
    accounts->of = aligned_alloc(_Alignof(struct account), count * sizeof *accounts->of);
    if (accounts->begun != NULL && accounts->of != NULL) {
        accounts_clear(accounts);
        return accounts;
    }
    accounts_free(accounts);
    return NULL;
}

void accounts_free(struct accounts *accounts)
{
    if (accounts == NULL)
        return;
    free(accounts->begun);
    free(accounts->of);
    free(accounts);
}

void accounts_clear(struct accounts *accounts) { accounts->collective++; }

static struct account *account_of(struct accounts *accounts, uint32_t pe)
{
    struct account *const own = &accounts->of[pe];
    if (__builtin_expect(accounts->begun[pe] != accounts->collective, 0)) {
        accounts->begun[pe] = accounts->collective;
        *own = (struct account){.start_ps = INT64_MAX};
    }
    return own;
}

/* A kernel's own time, up to its next event. */
static void take_stretch(struct account_work *work, const uint32_t *steps, uint32_t count)
{
    static const uint8_t place[1 << 7] = {[LP_PART_MATH] = 1 + ACCOUNT_MATH,
                                          [LP_PART_GEMM] = 1 + ACCOUNT_GEMM,
                                          [LP_PART_FETCH] = 1 + ACCOUNT_FETCH,
                                          [LP_PART_CREDIT] = 1 + ACCOUNT_CREDIT};
    const uint32_t calls_max = (1u << LP_STEP_CALLS_BITS) - 1;
    for (uint32_t i = 0; i < count; i++) {
        const enum lp_cause_part part = lp_step_part(steps[i]);
        if (part == LP_PART_CALLS) {
            for (uint32_t k = 0; k < ISSUES - ISSUE_CPU; k++)
                work->calls[k] += steps[i] >> k * LP_STEP_CALLS_BITS & calls_max;
            continue;
        }
        if (++i < count && place[part] > 0)
            work->part_ps[place[part] - 1] +=
                (int64_t)((uint64_t)(steps[i - 1] & 255) << 32 | steps[i]);
    }
}

/* Bytes pass the engine: those of a request to a memory, and those that leave from TCM. */
static void take_engine(struct accounts *accounts, const struct lp_cause_entry *cause)
{
    const bool leaves = cause->by_type == LP_EVENT_ENGINE && cause->type != LP_EVENT_ENGINE &&
                        cause->type != LP_EVENT_KERNEL;
    if (cause->bytes > 0 && cause->type != LP_EVENT_CREDIT &&
        (leaves || (cause->type == LP_EVENT_MEMORY && cause->by_type != LP_EVENT_MEMORY)))
        account_of(accounts, cause->entity - 1)->engine_ps +=
            hw_ser_ps(&accounts->hw->link[HW_LINK_PE_NOC], cause->bytes);
}

void accounts_take_cause(struct accounts *accounts, uint32_t lp, const struct lp_cause_entry *cause)
{
    if (cause->entity == 0 || lp > accounts->cubes)
        return;
    struct account *const own = account_of(accounts, cause->entity - 1);
    if (cause->type == LP_EVENT_KERNEL)
        take_stretch(cause->context == 0 ? &own->own : &own->streams, lp_cause_steps_of(cause),
                     cause->steps);
    if (cause->type == LP_EVENT_KERNEL && cause->context == 0)
        own->busy_ps = cause->at_ps;
    if (cause->by_type == LP_EVENT_PE_CPU && cause->now_ps < own->start_ps)
        own->start_ps = cause->now_ps;
    if (cause->type == LP_EVENT_CPU_ARRIVAL && cause->by_type != LP_EVENT_TRANSFER)
        own->end_ps = cause->now_ps;
    else
        take_engine(accounts, cause);
}

static enum account_wait kind_of(const struct lp_waited *waited)
{
    switch (waited->wait) {
    case LP_WAIT_CREDIT:
        return ACCOUNT_ROOM;
    case LP_WAIT_CHANNEL:
        return ACCOUNT_CHANNEL;
    case LP_WAIT_NOTIFY:
        return ACCOUNT_NOTIFY;
    case LP_WAIT_DMA:
        return waited->call == CALL_WAIT_DMA ? ACCOUNT_ASYNC
               : waited->call == CALL_STORE || waited->call == CALL_COPY ||
                       waited->call == CALL_STORE_TO || waited->call == CALL_COPY_TILE
                   ? ACCOUNT_STORE
                   : ACCOUNT_LOAD;
    default:
        return ACCOUNT_STREAMS;
    }
}

void accounts_take_wait(struct accounts *accounts, int64_t now_ps, const struct lp_waited *waited)
{
    struct account *const own = account_of(accounts, waited->pe);
    if (waited->context != 0)
        return;
    const int64_t since_ps = waited->since_ps > own->busy_ps ? waited->since_ps : own->busy_ps;
    own->busy_ps = now_ps;
    if (waited->wait == LP_WAIT_DATA)
        own->data_ps[waited->dir & (HW_DIRS_MAX - 1)] += now_ps - since_ps;
    else
        own->wait_ps[kind_of(waited)] += now_ps - since_ps;
}

uint32_t accounts_count(const struct accounts *accounts) { return accounts->count; }

const struct account *accounts_of(const struct accounts *accounts, uint32_t pe)
{
    return accounts->begun[pe] == accounts->collective ? &accounts->of[pe] : NULL;
}
