/*
 * cause_log.c: see cause_log.h. Entries lie in blocks. Memory comes in huge pages, of several
 * blocks each, which a worker keeps for the next collective: to touch new pages takes longer than
 * to write the entries.
 *
 * With one worker each full block ends with a list of the latest entry of each LP. So a question
 * for an entry at some time begins in the right block, which has few entries of an LP.
 */
#include "bench/explain/cause_log.h"

#include <stdlib.h>
#include <string.h>

#include "core/host/pages.h"

enum { BLOCK_BYTES_MIN = 1 << 16, LISTS_TO_A_BLOCK = 8, MORE_STEPS_MAX = 1024 };
_Static_assert(MORE_STEPS_MAX + LP_CAUSE_STEPS <= LP_CAUSE_STEPS_MAX, "an entry has room for them");

struct cause_block {
    struct cause_block *next, *before;
    bool begins_page; /* a huge page */
    _Alignas(struct lp_cause_entry) uint8_t data[];
};

/* Written by its worker alone. */
struct worker_log {
    _Alignas(128) struct lp_cause_writer writer; /* its room is in `current`, or in `nowhere` */
    const struct cause_log *log;
    struct cause_block *first, *current; /* blocks before `current` are full */
    uint64_t bytes;                      /* of all blocks */
    bool refused;                        /* something did not find room */
    uint32_t more;                       /* steps that belong to the next entry */
    uint32_t step[MORE_STEPS_MAX + LP_CAUSE_STEPS];
    _Alignas(8) uint8_t nowhere[LP_CAUSE_ENTRY_BYTES_MAX]; /* entries without room are lost here */
};

/* The last entry not after a time that was asked for: most questions go on from there. */
struct asked {
    const struct lp_cause_entry *entry;
    struct cause_block *block; /* no block behind it has the entry */
    int64_t until_ps;
};

struct cause_log {
    uint32_t lps, workers;
    uint64_t worker_bytes_max;
    size_t block_bytes;                  /* a power of two, at most a huge page */
    size_t list_bytes;                   /* at the end of each block; 0: blocks have no lists */
    struct worker_log *worker;           /* [workers] */
    struct asked *asked;                 /* [lps] by the host, between drains */
    const struct lp_cause_entry *last[]; /* [lps] each written by the worker that owns the LP */
};

static const struct lp_cause_entry **list_of(const struct cause_log *log, struct cause_block *block)
{
    return (const struct lp_cause_entry **)(void *)((uint8_t *)block + log->block_bytes -
                                                    log->list_bytes);
}

static void use_block(const struct cause_log *log, struct worker_log *own,
                      struct cause_block *block)
{
    own->current = block;
    own->writer.at = block != NULL ? block->data : NULL;
    own->writer.end = block != NULL ? (uint8_t *)block + log->block_bytes - log->list_bytes : NULL;
}

/* A block behind `before`, which is the last one, or NULL; NULL: there is no memory for it. */
static struct cause_block *add_block(const struct cause_log *log, struct worker_log *own,
                                     struct cause_block *before)
{
    uint8_t *const behind = before != NULL ? (uint8_t *)before + log->block_bytes : NULL;
    const bool new_page = (uintptr_t)behind % PAGES_HUGE_BYTES == 0; /* or there is none before */
    if (new_page && (own->refused || own->bytes + PAGES_HUGE_BYTES > log->worker_bytes_max))
        return NULL;
    struct cause_block *const block =
        new_page ? pages_map(PAGES_HUGE_BYTES) : (struct cause_block *)(void *)behind;
    if (block == NULL)
        return NULL;
    own->bytes += new_page ? PAGES_HUGE_BYTES : 0;
    block->begins_page = new_page;
    if (before != NULL)
        before->next = block;
    else
        own->first = block;
    return block;
}

/* The writer's room has ended: goes on to the next block, or nowhere. */
static void next_block(struct lp_cause_writer *writer)
{
    struct worker_log *const own = (struct worker_log *)(void *)writer; /* its first member */
    const struct cause_log *const log = own->log;
    struct cause_block *const before = own->current;
    struct cause_block *next = before != NULL ? before->next : own->first;
    if (next == NULL)
        next = add_block(log, own, before);
    if (next == NULL) {
        own->refused = true;
        writer->at = own->nowhere;
        writer->end = own->nowhere + sizeof own->nowhere;
        return;
    }
    if (before != NULL && log->list_bytes > 0)
        memcpy(list_of(log, before), log->last, log->list_bytes);
    next->before = before;
    use_block(log, own, next);
}

struct cause_log *cause_log_create(uint32_t lps, uint32_t workers, uint64_t bytes_max)
{
    struct cause_log *const log = calloc(1, sizeof *log + lps * sizeof *log->last);
    if (log == NULL)
        return NULL;
    log->lps = lps;
    log->worker_bytes_max = bytes_max / workers;
    const size_t list_bytes = lps * sizeof *log->last;
    log->list_bytes = workers == 1 && list_bytes <= PAGES_HUGE_BYTES / 8 ? list_bytes : 0;
    log->block_bytes = log->list_bytes > 0 ? BLOCK_BYTES_MIN : PAGES_HUGE_BYTES;
    while (log->block_bytes < PAGES_HUGE_BYTES &&
           log->block_bytes < LISTS_TO_A_BLOCK * log->list_bytes)
        log->block_bytes *= 2;
    log->worker = aligned_alloc(_Alignof(struct worker_log), workers * sizeof *log->worker);
    log->asked = calloc(lps, sizeof *log->asked);
    if (log->worker == NULL || log->asked == NULL) {
        cause_log_free(log);
        return NULL;
    }
    log->workers = workers;
    memset(log->worker, 0, workers * sizeof *log->worker);
    for (uint32_t i = 0; i < workers; i++) {
        log->worker[i].log = log;
        log->worker[i].writer = (struct lp_cause_writer){.last = log->last, .more = next_block};
    }
    return log;
}

void cause_log_clear(struct cause_log *log)
{
    memset(log->last, 0, log->lps * sizeof *log->last);
    memset(log->asked, 0, log->lps * sizeof *log->asked);
    for (uint32_t i = 0; i < log->workers; i++) {
        use_block(log, &log->worker[i], log->worker[i].first);
        log->worker[i].refused = false;
        log->worker[i].more = 0;
    }
}

void cause_log_free(struct cause_log *log)
{
    if (log == NULL)
        return;
    for (uint32_t i = 0; i < log->workers; i++)
        for (struct cause_block *block = log->worker[i].first, *next; block != NULL; block = next) {
            next = block->next;
            while (next != NULL && !next->begins_page)
                next = next->next;
            pages_unmap(block, PAGES_HUGE_BYTES);
        }
    free(log->worker);
    free(log->asked);
    free(log);
}

void cause_log_more(struct cause_log *log, uint32_t worker, const uint32_t *steps, uint32_t count)
{
    struct worker_log *const own = &log->worker[worker];
    if (own->more + count > MORE_STEPS_MAX)
        return; /* the rest of the delay has no name */
    memcpy(&own->step[own->more], steps, count * sizeof *steps);
    own->more += count;
}

struct cause_steps cause_log_join(struct cause_log *log, uint32_t worker,
                                  const struct lp_cause *cause)
{
    struct worker_log *const own = &log->worker[worker];
    const uint32_t count = cause->sent.count;
    if (own->more == 0)
        return (struct cause_steps){cause->step, count};
    memcpy(&own->step[own->more], cause->step, count * sizeof *own->step);
    const struct cause_steps steps = {own->step, own->more + count};
    own->more = 0;
    return steps;
}

const struct lp_cause_entry *cause_log_add(struct cause_log *log, uint32_t worker,
                                           const struct cw_event *event, const struct lp_sent *sent,
                                           struct cause_steps steps)
{
    struct lp_sent all = *sent;
    all.count = (uint16_t)steps.count;
    return lp_cause_write(&log->worker[worker].writer, event, &all, steps.step);
}

struct lp_cause_writer *cause_log_writer(struct cause_log *log) { return &log->worker[0].writer; }

bool cause_log_is_whole(const struct cause_log *log)
{
    for (uint32_t i = 0; i < log->workers; i++)
        if (log->worker[i].refused)
            return false;
    return true;
}

uint64_t cause_log_bytes(const struct cause_log *log)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < log->workers; i++)
        bytes += log->worker[i].bytes;
    return bytes;
}

/* Goes back to the first block that may have the last entry of an LP until a time. Returns an entry
 * of that LP from which it is found; NULL: there is none that the lists know. */
static const struct lp_cause_entry *go_back(const struct cause_log *log, uint32_t lp,
                                            int64_t until_ps, struct cause_block **block)
{
    const struct lp_cause_entry *from = NULL;
    while (log->list_bytes > 0 && *block != NULL && (*block)->before != NULL) {
        const struct lp_cause_entry *const earlier = list_of(log, (*block)->before)[lp];
        if (earlier == NULL || earlier->now_ps <= until_ps)
            break;
        from = earlier;
        *block = (*block)->before;
    }
    return from;
}

const struct lp_cause_entry *cause_log_until(struct cause_log *log, uint32_t lp, int64_t until_ps)
{
    if (lp >= log->lps)
        return NULL;
    struct asked *const asked = &log->asked[lp];
    if (asked->entry == NULL || until_ps > asked->until_ps)
        *asked = (struct asked){log->last[lp], log->worker[0].current, until_ps};
    const struct lp_cause_entry *const from = go_back(log, lp, until_ps, &asked->block);
    const struct lp_cause_entry *entry = from != NULL ? from : asked->entry;
    while (entry != NULL && entry->now_ps > until_ps)
        entry = entry->before;
    asked->entry = entry;
    asked->until_ps = until_ps;
    return entry;
}
