/*
 * cause_log.c: see cause_log.h. Entries lie in blocks of whole pages, which a worker keeps for the
 * next collective: to touch new pages takes longer than to write the entries.
 */
#include "bench/explain/cause_log.h"

#include <stdlib.h>
#include <string.h>

#include "core/host/pages.h"

enum { BLOCK_BYTES = PAGES_HUGE_BYTES, MORE_STEPS_MAX = 1024 };

struct cause_block {
    struct cause_block *next;
    uint8_t data[];
};

/* Written by its worker alone. */
struct worker_log {
    _Alignas(128) uint8_t *at, *end;     /* of `current`: room for entries */
    struct cause_block *first, *current; /* blocks before `current` are full */
    uint64_t bytes;                      /* of all blocks */
    bool refused;                        /* something did not find room */
    uint32_t more;                       /* steps that belong to the next entry */
    uint32_t step[MORE_STEPS_MAX + LP_CAUSE_STEPS];
};

/* The last entry not after a time that was asked for: most questions go on from there. */
struct asked {
    const struct cause_entry *entry;
    int64_t until_ps;
};

struct cause_log {
    uint32_t lps, workers;
    uint64_t worker_bytes_max;
    struct worker_log *worker;        /* [workers] */
    struct asked *asked;              /* [lps] by the host, between drains */
    const struct cause_entry *last[]; /* [lps] each written by the worker that owns the LP */
};

struct cause_log *cause_log_create(uint32_t lps, uint32_t workers, uint64_t bytes_max)
{
    struct cause_log *const log = calloc(1, sizeof *log + lps * sizeof(struct cause_entry *));
    if (log == NULL)
        return NULL;
    log->lps = lps;
    log->worker_bytes_max = bytes_max / workers;
    log->worker = aligned_alloc(_Alignof(struct worker_log), workers * sizeof *log->worker);
    log->asked = calloc(lps, sizeof *log->asked);
    if (log->worker == NULL || log->asked == NULL) {
        cause_log_free(log);
        return NULL;
    }
    log->workers = workers;
    memset(log->worker, 0, workers * sizeof *log->worker);
    return log;
}

static void use_block(struct worker_log *own, struct cause_block *block)
{
    own->current = block;
    own->at = block != NULL ? block->data : NULL;
    own->end = block != NULL ? (uint8_t *)block + BLOCK_BYTES : NULL;
}

void cause_log_clear(struct cause_log *log)
{
    memset(log->last, 0, log->lps * sizeof *log->last);
    memset(log->asked, 0, log->lps * sizeof *log->asked);
    for (uint32_t i = 0; i < log->workers; i++) {
        use_block(&log->worker[i], log->worker[i].first);
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
            pages_unmap(block, BLOCK_BYTES);
        }
    free(log->worker);
    free(log->asked);
    free(log);
}

/* Goes on to the next block. False: there is none. */
static __attribute__((noinline)) bool next_block(const struct cause_log *log,
                                                 struct worker_log *own)
{
    struct cause_block *next = own->current != NULL ? own->current->next : NULL;
    if (next == NULL && own->bytes + BLOCK_BYTES <= log->worker_bytes_max) {
        next = pages_map(BLOCK_BYTES);
        own->bytes += next != NULL ? BLOCK_BYTES : 0;
        if (own->current != NULL)
            own->current->next = next;
        else
            own->first = next;
    }
    own->refused |= next == NULL;
    if (next != NULL)
        use_block(own, next);
    return next != NULL;
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

void cause_log_add(struct cause_log *log, uint32_t worker, const struct cw_event *event,
                   const struct lp_sent *sent, struct cause_steps steps)
{
    struct worker_log *const own = &log->worker[worker];
    const size_t size =
        (sizeof(struct cause_entry) + steps.count * sizeof(uint32_t) + 7) & ~(size_t)7;
    if ((size_t)(own->end - own->at) < size && (own->refused || !next_block(log, own)))
        return;
    struct cause_entry *const entry = (struct cause_entry *)(void *)own->at;
    own->at += size;
    *entry = (struct cause_entry){.before = log->last[event->lp],
                                  .now_ps = event->time_ps,
                                  .by_entity = event->entity,
                                  .by_number = (uint32_t)event->number,
                                  .at_ps = sent->at_ps,
                                  .entity = sent->entity,
                                  .number = sent->number,
                                  .to_lp = sent->to_lp,
                                  .bytes = sent->bytes,
                                  .sigma_ps = sent->sigma_ps,
                                  .by_type = (uint8_t)event->type,
                                  .type = sent->type,
                                  .steps = (uint16_t)steps.count};
    log->last[event->lp] = entry;
    uint32_t *const to = (uint32_t *)(void *)(entry + 1);
    for (uint32_t i = 0; i < steps.count; i++) /* mostly few */
        to[i] = steps.step[i];
}

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

const struct cause_entry *cause_log_until(struct cause_log *log, uint32_t lp, int64_t until_ps)
{
    if (lp >= log->lps)
        return NULL;
    struct asked *const asked = &log->asked[lp];
    const bool goes_on = asked->entry != NULL && until_ps <= asked->until_ps;
    const struct cause_entry *entry = goes_on ? asked->entry : log->last[lp];
    while (entry != NULL && entry->now_ps > until_ps)
        entry = entry->before;
    *asked = (struct asked){entry, until_ps};
    return entry;
}

const uint32_t *cause_log_steps(const struct cause_entry *entry)
{
    return (const uint32_t *)(const void *)(entry + 1);
}
