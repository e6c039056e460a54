/*
 * explain.c: listens to a machine, and explains its collectives (explain.h). Records come on the
 * workers; the rest runs between drains.
 */
#include "bench/explain/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/explain/accounts.h"
#include "bench/explain/limits.h"
#include "bench/explain/path_parts.h"
#include "hw/faults.h"
#include "hw/structure.h"
#include "lp/layout.h"
#include "lp/queues/queue_ends.h"

struct explainer {
    struct lp_cause_direct direct;
    uint32_t calls_before; /* collectives that are not explained */
    struct cause_log *log;
    struct accounts *accounts; /* NULL: kernels are not counted */
};

const char *const explain_share_name[EXPLAIN_SHARES] = {
    [EXPLAIN_LOAD] = "load",
    [EXPLAIN_STORE] = "store",
    [EXPLAIN_MATH] = "math",
    [EXPLAIN_CALLS] = "calls",
    [EXPLAIN_DATA] = "wait for data",
    [EXPLAIN_ROOM] = "wait for a credit to send",
    [EXPLAIN_CREDIT] = "wait for own credit to be out",
    [EXPLAIN_DMA] = "wait for PE_DMA",
    [EXPLAIN_DMA_ASYNC] = "wait for an asynchronous move",
    [EXPLAIN_NOTIFY] = "wait for a notification",
    [EXPLAIN_STREAMS] = "wait for streams",
    [EXPLAIN_KERNEL] = "wait for another group's kernel",
    [EXPLAIN_OTHER] = "other",
};

/* ---- records --------------------------------------------------------------------------------- */

static bool explainer_begin(void *arg, const struct lp_model *m)
{
    struct explainer *const explainer = arg;
    if (explainer->calls_before > 0) {
        explainer->calls_before--;
        return false;
    }
    cause_log_clear(explainer->log, m);
    if (explainer->accounts != NULL)
        accounts_clear(explainer->accounts, m);
    return true;
}

void explainer_expect(struct explainer *explainer, uint32_t calls)
{
    explainer->calls_before = calls > 0 ? calls - 1 : 0;
}

static void explainer_record(void *arg, uint32_t worker, const struct cw_event *event,
                             uint16_t kind, const void *record, uint16_t bytes)
{
    struct explainer *const explainer = arg;
    if (kind == LP_RECORD_CAUSE) {
        struct lp_sent sent;
        const uint32_t *const steps = cause_log_join(explainer->log, worker, record, &sent);
        cause_log_add(explainer->log, worker, event, &sent, steps);
        if (explainer->accounts == NULL)
            return;
        if (sent.type == LP_EVENT_KERNEL)
            accounts_take_kernel(explainer->accounts, event, sent.entity, sent.context, sent.at_ps,
                                 steps, sent.count);
        else if (lp_cause_counts(event->type, sent.type, sent.bytes))
            accounts_take_other(explainer->accounts, event, sent.entity, sent.type, sent.bytes);
    } else if (kind == LP_RECORD_CAUSE_MORE) {
        cause_log_more(explainer->log, worker, record, bytes / (uint32_t)sizeof(uint32_t));
    } else if (explainer->accounts != NULL) {
        accounts_take_wait(explainer->accounts, event->time_ps, record);
    }
}

/* The same of final events, past the records. */
static void explainer_kernel(void *arg, const struct cw_event *event, uint32_t entity,
                             uint32_t context, int64_t at_ps, const uint32_t *steps, uint32_t count)
{
    struct accounts *const accounts = ((struct explainer *)arg)->accounts;
    if (accounts != NULL)
        accounts_take_kernel(accounts, event, entity, context, at_ps, steps, count);
}

static void explainer_other(void *arg, const struct cw_event *event, uint32_t entity, uint32_t type,
                            uint32_t bytes)
{
    struct accounts *const accounts = ((struct explainer *)arg)->accounts;
    if (accounts != NULL)
        accounts_take_other(accounts, event, entity, type, bytes);
}

static void explainer_waited(void *arg, int64_t now_ps, const struct lp_waited *waited)
{
    struct accounts *const accounts = ((struct explainer *)arg)->accounts;
    if (accounts != NULL)
        accounts_take_wait(accounts, now_ps, waited);
}

struct explainer *explainer_create(const struct hw_config *hw, const struct hw_fold *fold,
                                   uint32_t workers, bool ordered, uint64_t bytes_max)
{
    struct explainer *const explainer = calloc(1, sizeof *explainer);
    if (explainer == NULL)
        return NULL;
    const uint32_t sips = fold != NULL ? fold->sips : hw->sip_count;
    const uint32_t switches = fold != NULL ? hw_fold_switches(fold) : hw_switches(hw);
    const uint32_t lps = 1 + sips * hw_cubes(hw) + sips + switches;
    explainer->log = cause_log_create(lps, workers, ordered, bytes_max);
    explainer->accounts = accounts_create(hw, sips);
    if (explainer->log != NULL && explainer->accounts != NULL)
        return explainer;
    explainer_free(explainer);
    return NULL;
}

void explainer_keep_causes(struct explainer *explainer)
{
    accounts_free(explainer->accounts);
    explainer->accounts = NULL;
}

void explainer_free(struct explainer *explainer)
{
    if (explainer == NULL)
        return;
    cause_log_free(explainer->log);
    accounts_free(explainer->accounts);
    free(explainer);
}

struct lp_cause_sink explainer_sink(struct explainer *explainer)
{
    explainer->direct =
        (struct lp_cause_direct){cause_log_writers(explainer->log), explainer_kernel,
                                 explainer_other, explainer_waited, explainer};
    return (struct lp_cause_sink){explainer_begin, explainer_record, explainer, &explainer->direct};
}

/* ---- shares of a kernel's time --------------------------------------------------------------- */

/* A block's overhead on this PE, which may be slow. */
static int64_t overhead_ps(const struct lp_model *m, uint32_t pe, enum hw_node_kind node)
{
    const struct hw_place at = hw_place_of(&m->hw, pe);
    const struct hw_jitter_place place = {at.sip, at.cube, at.pe, HW_JITTER_ANY, 0};
    const int64_t ps = m->hw.overhead_ps[node];
    return ps + hw_slow_node_ps(&m->hw, node, &place, ps, 0);
}

/* Uses of a block by calls of these kinds; 0: of a block that is not for calls. */
static int64_t uses_of(const uint32_t calls[ISSUES - ISSUE_CPU], enum hw_node_kind node)
{
    const int64_t queue = calls[ISSUE_IPCQ - ISSUE_CPU], memory = calls[ISSUE_MEMORY - ISSUE_CPU],
                  compute = calls[ISSUE_COMPUTE - ISSUE_CPU];
    switch (node) {
    case HW_NODE_PE_CPU:
        return calls[0] + queue + memory + compute;
    case HW_NODE_PE_IPCQ:
        return queue;
    case HW_NODE_PE_SCHEDULER:
        return memory + compute;
    case HW_NODE_PE_MMU:
        return memory;
    default:
        return 0;
    }
}

static const enum hw_node_kind explained_block[EXPLAIN_BLOCKS] = {
    HW_NODE_PE_DMA,  HW_NODE_PE_MATH, HW_NODE_PE_GEMM,      HW_NODE_PE_FETCH_STORE,
    HW_NODE_PE_IPCQ, HW_NODE_PE_CPU,  HW_NODE_PE_SCHEDULER, HW_NODE_PE_MMU};

static int64_t calls_ps(const struct lp_model *m, uint32_t pe,
                        const uint32_t calls[ISSUES - ISSUE_CPU])
{
    int64_t ps = 0;
    for (uint32_t i = 0; i < EXPLAIN_BLOCKS; i++)
        ps += uses_of(calls, explained_block[i]) * overhead_ps(m, pe, explained_block[i]);
    return ps;
}

static struct explain_kernel kernel_of(const struct lp_model *m, uint32_t pe,
                                       const struct account *own)
{
    struct explain_kernel kernel = {.ps = own->end_ps - own->start_ps + own->pe_ps};
    const struct account_work *const work = &own->own;
    int64_t *const share_ps = kernel.share_ps;
    share_ps[EXPLAIN_LOAD] = own->wait_ps[ACCOUNT_LOAD];
    share_ps[EXPLAIN_STORE] = own->wait_ps[ACCOUNT_STORE];
    share_ps[EXPLAIN_MATH] =
        work->part_ps[ACCOUNT_MATH] + work->part_ps[ACCOUNT_GEMM] + work->part_ps[ACCOUNT_FETCH];
    share_ps[EXPLAIN_CALLS] = calls_ps(m, pe, work->calls);
    share_ps[EXPLAIN_ROOM] = own->wait_ps[ACCOUNT_ROOM];
    share_ps[EXPLAIN_CREDIT] = work->part_ps[ACCOUNT_CREDIT];
    share_ps[EXPLAIN_DMA] = own->wait_ps[ACCOUNT_CHANNEL];
    share_ps[EXPLAIN_DMA_ASYNC] = own->wait_ps[ACCOUNT_ASYNC];
    share_ps[EXPLAIN_NOTIFY] = own->wait_ps[ACCOUNT_NOTIFY];
    share_ps[EXPLAIN_STREAMS] = own->wait_ps[ACCOUNT_STREAMS];
    share_ps[EXPLAIN_KERNEL] = own->pe_ps;
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++) {
        kernel.data_ps[dir] = own->data_ps[dir];
        share_ps[EXPLAIN_DATA] += own->data_ps[dir];
    }
    share_ps[EXPLAIN_OTHER] = kernel.ps;
    for (uint32_t share = 0; share < EXPLAIN_OTHER; share++)
        share_ps[EXPLAIN_OTHER] -= share_ps[share];
    return kernel;
}

static void add_kernel(struct explain_kernel *sum, const struct explain_kernel *one)
{
    sum->ps += one->ps;
    for (uint32_t share = 0; share < EXPLAIN_SHARES; share++)
        sum->share_ps[share] += one->share_ps[share];
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++)
        sum->data_ps[dir] += one->data_ps[dir];
}

/* A sum of shares, and the part of their mean that is given to shares already. */
struct dividing {
    int64_t sum_ps, given_ps;
    uint32_t count;
};

static int64_t next_mean_ps(struct dividing *dividing, int64_t ps)
{
    dividing->sum_ps += ps;
    const int64_t mean_ps = dividing->sum_ps / dividing->count - dividing->given_ps;
    dividing->given_ps += mean_ps;
    return mean_ps;
}

/* Means in whole ps that sum to the mean, as the shares sum to the sum. */
static void divide_kernel(struct explain_kernel *sum, uint32_t count)
{
    struct dividing dividing = {.count = count};
    sum->ps /= count;
    for (uint32_t share = 0; share < EXPLAIN_SHARES; share++) {
        struct dividing data = dividing;
        sum->share_ps[share] = next_mean_ps(&dividing, sum->share_ps[share]);
        for (enum hw_dir dir = 0; share == EXPLAIN_DATA && dir < HW_DIRS_MAX; dir++)
            sum->data_ps[dir] = next_mean_ps(&data, sum->data_ps[dir]);
    }
}

/* Time that a block was at work for a PE's kernel and its streams. */
static int64_t block_ps(const struct lp_model *m, uint32_t pe, const struct account *own,
                        enum hw_node_kind node)
{
    const struct account_work *const work = &own->own, *const streams = &own->streams;
    switch (node) {
    case HW_NODE_PE_MATH:
        return work->part_ps[ACCOUNT_MATH] + streams->part_ps[ACCOUNT_MATH];
    case HW_NODE_PE_GEMM:
        return work->part_ps[ACCOUNT_GEMM] + streams->part_ps[ACCOUNT_GEMM];
    case HW_NODE_PE_FETCH_STORE:
        return work->part_ps[ACCOUNT_FETCH] + streams->part_ps[ACCOUNT_FETCH];
    case HW_NODE_PE_DMA:
        return own->engine_ps;
    default:
        return (uses_of(work->calls, node) + uses_of(streams->calls, node)) *
               overhead_ps(m, pe, node);
    }
}

static void fill_shares(const struct explainer *explainer, const struct lp_model *m, uint32_t batch,
                        struct explain *explain)
{
    const uint32_t alike = m->fold != NULL ? hw_fold_alike(m->fold) : 1;
    uint32_t kernels = 0;
    for (uint32_t i = 0; i < EXPLAIN_BLOCKS; i++)
        explain->block[i].node = explained_block[i];
    for (uint32_t place = 0; place < accounts_count(explainer->accounts); place++) {
        const struct account *const own = accounts_of(explainer->accounts, place, batch);
        const uint32_t pe = lp_pe_at(m, place);
        if (own == NULL || own->start_ps == INT64_MAX)
            continue;
        const struct explain_kernel kernel = kernel_of(m, pe, own);
        add_kernel(&explain->mean, &kernel);
        kernels++;
        if (pe == explain->slowest_pe)
            explain->slowest = kernel;
        for (uint32_t i = 0; i < EXPLAIN_BLOCKS; i++) {
            struct explain_block *const block = &explain->block[i];
            const int64_t ps = block_ps(m, pe, own, block->node);
            block->busy_ps += (double)ps * alike;
            block->busy_ps_max = ps > block->busy_ps_max ? ps : block->busy_ps_max;
        }
    }
    if (kernels > 0)
        divide_kernel(&explain->mean, kernels);
    explain->kernels = kernels * alike;
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++) {
        const bool named = m->named != NULL && explain->slowest.data_ps[dir] > 0;
        snprintf(explain->dir_name[dir], sizeof explain->dir_name[dir], "%s",
                 named ? lp_dir_name(m->named, explain->slowest_pe, dir) : "");
    }
}

/* ---- the path's sums ------------------------------------------------------------------------- */

/* A place: a link, a PE, or all else of an LP. */
struct place_sum {
    uint64_t key;
    int64_t ps;
};

struct sums {
    const struct lp_model *m;
    struct explain *explain;
    struct place_sum *place; /* a hash table of `places` places, a power of two */
    size_t places, used;
    struct place_sum latest;            /* parts of one place come in a row: not yet in the table */
    uint16_t part_at[PATH_CLASSES][64]; /* 1 + the place in explain->part */
    /* of kinds, without what is slow at one place */
    int64_t rate_ps[HW_LINK_KINDS], flight_ps[HW_LINK_KINDS], node_ps[HW_NODE_KINDS];
    int64_t slow_ps[EXPLAIN_SLOWS][HW_PART_KINDS];
    int64_t all_ps;
};

static const char *kind_name(const struct hw_config *hw, const struct path_part *part)
{
    if (part->class == PATH_NODE)
        return part->which < HW_NODE_KINDS ? hw_node_name_of(hw, (enum hw_node_kind)part->which)
                                           : "?";
    return part->which < HW_LINK_KINDS ? hw_link_name_of(hw, (enum hw_link_kind)part->which) : "?";
}

static void sum_part(struct sums *sums, const struct path_part *part)
{
    struct explain *const explain = sums->explain;
    uint16_t *const at = &sums->part_at[part->class][part->which];
    if (*at == 0) {
        if (explain->part_count == sizeof explain->part / sizeof *explain->part)
            return;
        explain->part[explain->part_count++] = (struct explain_part){
            (enum path_class)part->class, part->which, 0, kind_name(&sums->m->hw, part)};
        *at = (uint16_t)explain->part_count;
    }
    explain->part[*at - 1].ps += part->ps;
}

static void sum_place(struct sums *sums, uint64_t key, int64_t ps)
{
    if (2 * sums->used >= sums->places) {
        const size_t places = sums->places > 0 ? 2 * sums->places : 1024;
        struct place_sum *const old = sums->place;
        struct place_sum *const more = calloc(places, sizeof *more);
        if (more == NULL)
            return;
        const size_t old_places = sums->places;
        sums->place = more;
        sums->places = places;
        sums->used = 0;
        for (size_t i = 0; i < old_places; i++)
            if (old[i].key != 0)
                sum_place(sums, old[i].key, old[i].ps);
        free(old);
    }
    size_t i = (key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (sums->places - 1);
    while (sums->place[i].key != 0 && sums->place[i].key != key)
        i = (i + 1) & (sums->places - 1);
    sums->used += sums->place[i].key == 0;
    sums->place[i].key = key;
    sums->place[i].ps += ps;
}

static void sum_latest_place(struct sums *sums)
{
    if (sums->latest.key != 0)
        sum_place(sums, sums->latest.key, sums->latest.ps);
    sums->latest = (struct place_sum){0};
}

enum { PLACE_LP = 1, PLACE_PE, PLACE_LINK };

static void take_part(void *arg, const struct path_part *part)
{
    struct sums *const sums = arg;
    sums->all_ps += part->ps;
    sum_part(sums, part);
    if (part->credit)
        sums->explain->credit_ps += part->ps;
    const uint32_t kind =
        part->class == PATH_NODE ? part->which : HW_NODE_KINDS + (uint32_t)part->which;
    if (explain_slow_place(&sums->m->hw, part->slow))
        sums->slow_ps[part->slow - 1][kind] += part->ps;
    else if (part->class == PATH_SERIAL || part->class == PATH_QUEUE || part->class == PATH_ENGINE)
        sums->rate_ps[part->which] += part->ps;
    else if (part->class == PATH_FLIGHT)
        sums->flight_ps[part->which] += part->ps;
    else if (part->class == PATH_NODE)
        sums->node_ps[part->which] += part->ps;
    const bool link = part->link != UINT16_MAX;
    const uint64_t where = part->pe != UINT32_MAX ? part->pe : part->lp;
    const uint64_t key = (uint64_t)(link                     ? PLACE_LINK
                                    : part->pe != UINT32_MAX ? PLACE_PE
                                                             : PLACE_LP)
                             << 56 |
                         (uint64_t)(link ? part->link : 0) << 32 | (link ? part->lp : where);
    if (key != sums->latest.key)
        sum_latest_place(sums);
    sums->latest.key = key;
    sums->latest.ps += part->ps;
}

static int by_part_time(const void *a, const void *b)
{
    const struct explain_part *const x = a, *const y = b;
    return x->ps != y->ps         ? (x->ps < y->ps ? 1 : -1)
           : x->class != y->class ? (x->class > y->class ? 1 : -1)
                                  : (x->which > y->which) - (x->which < y->which);
}

static bool is_longer(const struct place_sum *a, const struct place_sum *b)
{
    return a->ps != b->ps ? a->ps > b->ps : a->key < b->key;
}

static void name_place(const struct lp_model *m, uint64_t key, char *text, size_t bytes)
{
    const uint32_t where = (uint32_t)key;
    if (key >> 56 == PLACE_LINK) {
        lp_link_name_of(m, where, (uint32_t)(key >> 32 & 0xffff), text, bytes);
    } else if (key >> 56 == PLACE_PE) {
        const struct hw_place place = hw_place_of(&m->hw, where);
        snprintf(text, bytes, "PE %u.%u.%u", place.sip, place.cube, place.pe);
    } else if (where < m->lps.first_io_die) {
        snprintf(text, bytes, "sip %u cube %u, nodes and PE_DMA", (where - 1) / m->cubes,
                 (where - 1) % m->cubes);
    } else if (where < m->lps.first_switch) {
        snprintf(text, bytes, "sip %u io_die, nodes", where - m->lps.first_io_die);
    } else {
        char name[HW_SWITCH_TEXT_BYTES];
        snprintf(text, bytes, "%s", hw_switch_text(&m->hw, where - m->lps.first_switch, name));
    }
}

static void fill_places(struct sums *sums)
{
    struct explain *const explain = sums->explain;
    struct place_sum longest[EXPLAIN_PLACES + 1];
    size_t count = 0;
    sum_latest_place(sums);
    for (size_t i = 0; i < sums->places; i++) {
        if (sums->place[i].ps <= 0)
            continue;
        size_t at = count;
        for (; at > 0 && is_longer(&sums->place[i], &longest[at - 1]); at--)
            longest[at] = longest[at - 1];
        longest[at] = sums->place[i];
        count += count < EXPLAIN_PLACES;
    }
    for (size_t i = 0; i < count; i++) {
        struct explain_place *const place = &explain->place[explain->place_count++];
        place->ps = longest[i].ps;
        name_place(sums->m, longest[i].key, place->name, sizeof place->name);
    }
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void offer_limit(struct explain *explain, enum explain_limit_kind kind, uint32_t which,
                        int64_t ps)
{
    size_t at = explain->limit_count;
    while (at > 0 && explain->limit[at - 1].ps < ps)
        at--;
    if (ps == 0 || at == EXPLAIN_LIMITS)
        return;
    if (explain->limit_count < EXPLAIN_LIMITS)
        explain->limit_count++;
    memmove(&explain->limit[at + 1], &explain->limit[at],
            (explain->limit_count - 1 - at) * sizeof *explain->limit);
    explain->limit[at] = (struct explain_limit){.kind = kind, .which = which, .ps = ps};
}

/* What is slow at one place is one limit. */
static void offer_slow_places(struct sums *sums)
{
    for (uint32_t slow = 0; slow < EXPLAIN_SLOWS; slow++) {
        int64_t all_ps = 0;
        for (uint32_t kind = 0; kind < HW_PART_KINDS; kind++)
            all_ps += sums->slow_ps[slow][kind];
        offer_limit(sums->explain, EXPLAIN_SLOW, slow, all_ps);
    }
}

static void fill_limits(struct sums *sums, struct path *path)
{
    struct explain *const explain = sums->explain;
    offer_slow_places(sums);
    for (uint32_t kind = 0; kind < HW_LINK_KINDS; kind++) {
        offer_limit(explain, EXPLAIN_RATE, kind, sums->rate_ps[kind]);
        offer_limit(explain, EXPLAIN_FLIGHT, kind, sums->flight_ps[kind]);
    }
    for (uint32_t node = 0; node < HW_NODE_KINDS; node++)
        offer_limit(explain, EXPLAIN_NODE, node, sums->node_ps[node]);
    for (size_t i = 0; i < explain->limit_count; i++) {
        struct hw_config hw = sums->m->hw;
        struct hw_faults faults;
        explain_double(&hw, &faults, &explain->limit[i]);
        explain->limit[i].faster_ps = path_retime_ps(sums->m, path, &hw);
        explain_double_settings(&sums->m->hw, &explain->limit[i]);
        explain_name_limit(
            &sums->m->hw,
            explain->limit[i].kind == EXPLAIN_SLOW ? sums->slow_ps[explain->limit[i].which] : NULL,
            &explain->limit[i]);
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The kernels of a batch between which its path lies. */
struct ends {
    struct path_end first;       /* to be launched: to start, or to wait for its PE */
    struct path_end last, other; /* to end: of all; of the other SIPs */
};

/* A PE in another SIP than this one that does the same as the PE at this place: the least. False:
 * there is none. */
static bool find_elsewhere(const struct lp_model *m, uint32_t place, uint32_t sip, uint32_t *pe)
{
    const uint32_t own = hw_divide(lp_pe_at(m, place), &m->by.sip_pes);
    uint32_t next = UINT32_MAX; /* how far the next SIP of the class is */
    *pe = lp_pe_at(m, place);
    if (own != sip)
        return true;
    for (uint32_t d = 0; m->fold != NULL && d < m->fold->count; d++) {
        const struct hw_fold_digit *const digit = &m->fold->digit[d];
        if (digit->step < digit->size && digit->step * digit->stride < next)
            next = digit->step * digit->stride;
    }
    *pe += next * m->by.sip_pes.value;
    return next != UINT32_MAX;
}

static struct ends find_ends(const struct explainer *explainer, const struct lp_model *m,
                             uint32_t batch, const struct lp_times *times)
{
    const uint32_t sip = hw_place_of(&m->hw, times->last_end_pe).sip;
    struct ends ends = {.first = {times->last_end_pe, times->first_start_ps},
                        .last = {times->last_end_pe, times->last_end_ps},
                        .other = {0, INT64_MIN}};
    struct path_end *const first = &ends.first, *const other = &ends.other;
    for (uint32_t place = accounts_count(explainer->accounts); place-- > 0;) {
        const struct account *const own = accounts_of(explainer->accounts, place, batch);
        uint32_t elsewhere;
        if (own == NULL || own->start_ps == INT64_MAX)
            continue;
        const int64_t launch_ps = own->start_ps - own->pe_ps;
        if (launch_ps <= first->ps)
            *first = (struct path_end){lp_pe_at(m, place), launch_ps};
        if (own->end_ps >= other->ps && find_elsewhere(m, place, sip, &elsewhere) &&
            (own->end_ps > other->ps || elsewhere < other->pe))
            *other = (struct path_end){elsewhere, own->end_ps};
    }
    return ends;
}

static bool has_causes(const struct explainer *explainer, struct explain *explain)
{
    if (!cause_log_is_whole(explainer->log))
        explain->lost = "the causes of so many events do not fit in memory (--max-memory)";
    return explain->lost == NULL;
}

static void fill_parts(struct sums *sums, struct path *path)
{
    struct explain *const explain = sums->explain;
    path_visit(sums->m, path, take_part, sums);
    explain->has_path = path->whole && sums->all_ps == explain->time_ps;
    explain->lost = explain->has_path ? NULL : "a cause was not found";
    explain->leg_count = path->count;
    qsort(explain->part, explain->part_count, sizeof *explain->part, by_part_time);
    fill_places(sums);
}

static void fill_path(const struct explainer *explainer, const struct lp_model *m,
                      const struct ends *ends, struct explain *explain)
{
    struct path path;
    struct sums sums = {.m = m, .explain = explain};
    if (!has_causes(explainer, explain))
        return;
    path_walk(m, explainer->log, ends->last, ends->first.ps, &path);
    fill_parts(&sums, &path);
    (void)path_find_ends(m, &path, ends->first, ends->other);
    fill_limits(&sums, &path);
    free(sums.place);
    path_free(&path);
}

struct explain *explain_programs(struct explainer *explainer, struct lp_system *system,
                                 int64_t begun_ps, int64_t end_ps)
{
    const struct lp_model *const m = lp_system_model(system);
    struct explain *const explain = calloc(1, sizeof *explain);
    struct sums sums = {.m = m, .explain = explain};
    struct path path;
    if (explain == NULL)
        return NULL;
    explain->time_ps = end_ps - begun_ps;
    if (!has_causes(explainer, explain))
        return explain;
    (void)path_walk_program(m, explainer->log, begun_ps, end_ps, &path);
    fill_parts(&sums, &path);
    fill_limits(&sums, &path);
    free(sums.place);
    path_free(&path);
    return explain;
}

struct explain *explain_collective(struct explainer *explainer, struct lp_system *system,
                                   uint32_t batch)
{
    const struct lp_model *const m = lp_system_model(system);
    const struct lp_times *const times = lp_system_times_of(system, batch);
    struct explain *const explain = calloc(1, sizeof *explain);
    if (explain == NULL)
        return NULL;
    const struct hw_place place = hw_place_of(&m->hw, times->last_end_pe);
    const struct ends ends = find_ends(explainer, m, batch, times);
    explain->time_ps = ends.last.ps - ends.first.ps;
    explain->slowest_pe = times->last_end_pe;
    explain->slowest_rank = place.sip;
    snprintf(explain->slowest_place, sizeof explain->slowest_place, "%u.%u.%u", place.sip,
             place.cube, place.pe);
    fill_shares(explainer, m, batch, explain);
    if (m->fold == NULL) {
        fill_path(explainer, m, &ends, explain);
        return explain;
    }
    struct lp_model whole;
    lp_layout_init(&whole, &m->hw, &m->config, m->needs, NULL);
    cause_log_unfold(explainer->log, &whole);
    fill_path(explainer, &whole, &ends, explain);
    cause_log_unfold(explainer->log, m);
    lp_layout_free(&whole);
    return explain;
}
