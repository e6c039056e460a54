/*
 * accounts.c: sums up the time of each PE's kernel (accounts.h).
 */
#include "bench/explain/accounts.h"

#include <stdlib.h>
#include <string.h>

#include "core/os/sync.h"
#include "hw/structure.h"
#include "hw/timing.h"
#include "lp/kernel/tl_call.h"

/*
 * A PE without a kernel has no account. The accounts lie in the order in which they were begun, on
 * few pages of memory, since touching a new page takes longer than writing an account. On several
 * threads this order is by chance, and nothing depends on it. Each worker takes places for itself.
 * A place is written by the worker that owns the PE's cube.
 */
struct accounts {
    const struct hw_config *hw;
    const struct lp_model *model; /* of the machine whose events come */
    uint32_t count;
    struct account **latest; /* [count] by PE: the account of the kernel that has had an event last;
                                NULL: none */
    struct account *account; /* [count], taken first */
    struct sync_u64 used;    /* accounts that were begun; added to by any worker */
};

struct accounts *accounts_create(const struct hw_config *hw, uint32_t sips)
{
    const uint32_t count = sips * hw_cubes(hw) * hw_pes(hw);
    struct accounts *const accounts = calloc(1, sizeof *accounts);
    if (accounts == NULL)
        return NULL;
    accounts->hw = hw;
    accounts->count = count;
    accounts->latest = calloc(count, sizeof(struct account *));
    accounts->account = aligned_alloc(_Alignof(struct account), count * sizeof *accounts->account);
    if (accounts->latest != NULL && accounts->account != NULL) {
        accounts_clear(accounts, NULL);
        return accounts;
    }
    accounts_free(accounts);
    return NULL;
}

/* A PE's accounts. */
static void forget(struct account **latest)
{
    for (struct account *at = *latest, *before; at != NULL; at = before) {
        before = at->before;
        if (at->is_extra)
            free(at);
    }
    *latest = NULL;
}

void accounts_free(struct accounts *accounts)
{
    if (accounts == NULL)
        return;
    for (uint32_t pe = 0; accounts->latest != NULL && pe < accounts->count; pe++)
        forget(&accounts->latest[pe]);
    free(accounts->latest);
    free(accounts->account);
    free(accounts);
}

void accounts_clear(struct accounts *accounts, const struct lp_model *m)
{
    accounts->model = m;
    for (uint32_t pe = 0; pe < accounts->count; pe++)
        forget(&accounts->latest[pe]);
    sync_store_release(&accounts->used, 0);
}

/* Without memory the PE's latest account goes on. */
static __attribute__((noinline)) struct account *begin_account(struct accounts *accounts,
                                                               uint32_t pe, uint32_t batch,
                                                               uint8_t context, uint8_t contexts)
{
    const uint64_t at = sync_add_relaxed(&accounts->used, 1);
    const bool is_extra = at >= accounts->count;
    struct account *const own =
        is_extra ? aligned_alloc(_Alignof(struct account), sizeof *own) : &accounts->account[at];
    if (own == NULL)
        return accounts->latest[pe];
    *own = (struct account){.start_ps = INT64_MAX,
                            .batch = batch,
                            .context = context,
                            .contexts = contexts,
                            .is_extra = is_extra,
                            .before = accounts->latest[pe]};
    accounts->latest[pe] = own;
    return own;
}

static bool is_run_by(const struct account *own, uint32_t context)
{
    return context - own->context < own->contexts;
}

/* It becomes the PE's latest: its next event is likely to come next. */
static __attribute__((noinline)) struct account *find_account(struct accounts *accounts,
                                                              uint32_t pe, uint32_t context)
{
    for (struct account **at = &accounts->latest[pe]; *at != NULL; at = &(*at)->before) {
        struct account *const own = *at;
        if (!is_run_by(own, context))
            continue;
        *at = own->before;
        own->before = accounts->latest[pe];
        return accounts->latest[pe] = own;
    }
    return begin_account(accounts, pe, 0, 0, LP_PE_CONTEXTS_MAX);
}

/* Of the kernel that this context of the PE runs. */
static inline struct account *account_of(struct accounts *accounts, uint32_t pe, uint32_t context)
{
    struct account *const latest = accounts->latest[pe];
    return __builtin_expect(latest != NULL && is_run_by(latest, context), 1)
               ? latest
               : find_account(accounts, pe, context);
}

/* Of the kernel that ends now: its own time has come to an end here. */
static struct account *account_that_ends(struct accounts *accounts, uint32_t pe, int64_t now_ps)
{
    for (struct account *at = accounts->latest[pe]; at != NULL; at = at->before)
        if (at->end_ps == 0 && at->busy_ps == now_ps)
            return at;
    return accounts->latest[pe] != NULL ? accounts->latest[pe] : account_of(accounts, pe, 0);
}

/* A kernel's own time, up to its next event. */
static void take_stretch(struct account_work *work, const uint32_t *steps, uint32_t count)
{
    static const uint8_t place[LP_PARTS] = {[LP_PART_MATH] = 1 + ACCOUNT_MATH,
                                            [LP_PART_GEMM] = 1 + ACCOUNT_GEMM,
                                            [LP_PART_FETCH] = 1 + ACCOUNT_FETCH,
                                            [LP_PART_CREDIT] = 1 + ACCOUNT_CREDIT};
    const uint32_t calls_max = (1u << LP_STEP_CALLS_BITS) - 1;
    for (uint32_t i = 0; i < count; i += lp_step_words(steps[i])) {
        const enum lp_cause_part part = lp_step_part(steps[i]);
        if (part == LP_PART_CALLS) {
            for (uint32_t k = 0; k < ISSUES - ISSUE_CPU; k++)
                work->calls[k] += steps[i] >> k * LP_STEP_CALLS_BITS & calls_max;
        } else if (place[part] > 0) {
            work->part_ps[place[part] - 1] += lp_step_ps(&steps[i]);
        }
    }
}

static void note_start(struct account *own, const struct cw_event *event)
{
    if (event->type == LP_EVENT_PE_CPU && event->time_ps < own->start_ps)
        own->start_ps = event->time_ps;
}

/* The sender is a PE, and its event was on its cube. */
static bool is_of_pe(const struct accounts *accounts, const struct cw_event *event, uint32_t entity)
{
    const struct lp_model *const m = accounts->model;
    return entity - 1 < m->by.sip_pes.value && event->lp < m->lps.first_io_die;
}

/* Its place: events that concern a PE's time are on its own SIP. */
static uint32_t pe_of(const struct accounts *accounts, const struct cw_event *event,
                      uint32_t entity)
{
    const struct lp_model *const m = accounts->model;
    return hw_divide(event->lp - 1, &m->by.cubes) * m->by.sip_pes.value + entity - 1;
}

void accounts_take_kernel(struct accounts *accounts, const struct cw_event *event, uint32_t entity,
                          uint32_t context, int64_t at_ps, const uint32_t *steps, uint32_t count)
{
    if (!is_of_pe(accounts, event, entity))
        return;
    struct account *const own = account_of(accounts, pe_of(accounts, event, entity), context);
    take_stretch(context == own->context ? &own->own : &own->streams, steps, count);
    if (context == own->context)
        own->busy_ps = at_ps;
    note_start(own, event);
}

/* Bytes of a request to a memory pass the engine, and so do bytes that leave from TCM. */
void accounts_take_other(struct accounts *accounts, const struct cw_event *event, uint32_t entity,
                         uint32_t type, uint32_t bytes)
{
    if (!is_of_pe(accounts, event, entity))
        return;
    const uint32_t pe = pe_of(accounts, event, entity);
    const bool ends = type == LP_EVENT_CPU_ARRIVAL && event->type != LP_EVENT_TRANSFER;
    struct account *const latest = accounts->latest[pe];
    struct account *const own = ends             ? account_that_ends(accounts, pe, event->time_ps)
                                : latest != NULL ? latest
                                                 : account_of(accounts, pe, 0);
    const bool leaves = event->type == LP_EVENT_ENGINE && type != LP_EVENT_ENGINE;
    const bool asks = type == LP_EVENT_MEMORY && event->type != LP_EVENT_MEMORY;
    note_start(own, event);
    if (ends)
        own->end_ps = event->time_ps;
    else if (bytes > 0 && type != LP_EVENT_CREDIT && (leaves || asks))
        own->engine_ps += hw_ser_ps(&accounts->hw->link[HW_LINK_PE_NOC], bytes);
}

static uint32_t place_of_waited(const struct accounts *accounts, const struct lp_waited *waited)
{
    return __builtin_expect(accounts->model->fold == NULL, 1)
               ? waited->pe
               : lp_pe_place(accounts->model, waited->pe);
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

/* The PE's next kernel. */
static void begin_kernel(struct accounts *accounts, int64_t now_ps, const struct lp_waited *waited)
{
    struct account *const own = begin_account(accounts, place_of_waited(accounts, waited),
                                              waited->batch, waited->context, waited->dir);
    if (own == NULL || own->batch != waited->batch)
        return;
    own->start_ps = own->busy_ps = now_ps;
    own->pe_ps = now_ps - waited->since_ps;
}

void accounts_take_wait(struct accounts *accounts, int64_t now_ps, const struct lp_waited *waited)
{
    if (waited->wait == LP_WAIT_PE) {
        begin_kernel(accounts, now_ps, waited);
        return;
    }
    struct account *const own =
        account_of(accounts, place_of_waited(accounts, waited), waited->context);
    if (waited->context != own->context)
        return;
    const int64_t since_ps = waited->since_ps > own->busy_ps ? waited->since_ps : own->busy_ps;
    own->busy_ps = now_ps;
    if (waited->wait == LP_WAIT_DATA)
        own->data_ps[waited->dir & (HW_DIRS_MAX - 1)] += now_ps - since_ps;
    else
        own->wait_ps[kind_of(waited)] += now_ps - since_ps;
}

uint32_t accounts_count(const struct accounts *accounts) { return accounts->count; }

const struct account *accounts_of(const struct accounts *accounts, uint32_t pe, uint32_t batch)
{
    const struct account *own = accounts->latest[pe];
    while (own != NULL && own->batch != 0 && own->batch != batch)
        own = own->before;
    return own;
}
