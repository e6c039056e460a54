/*
 * cause_log.c: see cause_log.h. A log is a list of chunks, each twice as large as the one before,
 * up to a limit. A chunk has its entries one after the other from its start, and their places from
 * its end on backwards.
 */
#include "bench/explain/cause_log.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES_MIN = 1024, CHUNK_BYTES_MAX = 64 * 1024, MORE_STEPS_MAX = 1024 };

struct cause_chunk {
    struct cause_chunk *before;
    uint32_t bytes, used, entries;
    uint32_t reserved;
    _Alignas(8) uint8_t data[];
};

/* Written by its worker alone. */
struct worker_log {
    _Alignas(128) uint64_t bytes;
    bool refused;  /* something did not find room */
    uint32_t more; /* steps that belong to the next entry */
    uint32_t step[MORE_STEPS_MAX + LP_CAUSE_STEPS];
};

struct cause_log {
    uint32_t lps, workers;
    uint64_t worker_bytes_max;
    struct worker_log *worker;  /* [workers] */
    struct cause_chunk *last[]; /* [lps] */
};

struct cause_log *cause_log_create(uint32_t lps, uint32_t workers, uint64_t bytes_max)
{
    struct cause_log *const log = calloc(1, sizeof *log + lps * sizeof(struct cause_chunk *));
    if (log == NULL)
        return NULL;
    log->lps = lps;
    log->workers = workers;
    log->worker_bytes_max = bytes_max / workers;
    log->worker = aligned_alloc(_Alignof(struct worker_log), workers * sizeof *log->worker);
    if (log->worker == NULL) {
        free(log);
        return NULL;
    }
    memset(log->worker, 0, workers * sizeof *log->worker);
    return log;
}

void cause_log_clear(struct cause_log *log)
{
    for (uint32_t lp = 0; lp < log->lps; lp++)
        while (log->last[lp] != NULL) {
            struct cause_chunk *const before = log->last[lp]->before;
            free(log->last[lp]);
            log->last[lp] = before;
        }
    for (uint32_t i = 0; i < log->workers; i++) {
        log->worker[i].bytes = 0;
        log->worker[i].refused = false;
        log->worker[i].more = 0;
    }
}

void cause_log_free(struct cause_log *log)
{
    if (log == NULL)
        return;
    cause_log_clear(log);
    free(log->worker);
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

static uint32_t *place_of(const struct cause_chunk *chunk, uint32_t index)
{
    uint8_t *const end = (uint8_t *)(uintptr_t)chunk->data + chunk->bytes;
    return (uint32_t *)(void *)end - 1 - index;
}

/* Room for an entry at the end of an LP's log. NULL: there is none. */
static struct cause_entry *make_room(struct cause_log *log, struct worker_log *own, uint32_t lp,
                                     uint32_t size)
{
    struct cause_chunk *chunk = log->last[lp];
    const uint32_t places = chunk != NULL ? (chunk->entries + 1) * (uint32_t)sizeof(uint32_t) : 0;
    if (chunk == NULL || chunk->used + size + places > chunk->bytes) {
        uint32_t bytes = chunk == NULL                    ? CHUNK_BYTES_MIN
                         : chunk->bytes < CHUNK_BYTES_MAX ? 2 * chunk->bytes
                                                          : CHUNK_BYTES_MAX;
        while (bytes < size + sizeof(uint32_t))
            bytes *= 2;
        if (own->bytes + bytes > log->worker_bytes_max)
            return NULL;
        chunk = malloc(sizeof *chunk + bytes);
        if (chunk == NULL)
            return NULL;
        *chunk = (struct cause_chunk){.before = log->last[lp], .bytes = bytes};
        own->bytes += bytes;
        log->last[lp] = chunk;
    }
    *place_of(chunk, chunk->entries) = chunk->used;
    struct cause_entry *const entry = (struct cause_entry *)(void *)(chunk->data + chunk->used);
    chunk->entries++;
    chunk->used += size;
    return entry;
}

struct cause_steps cause_log_join(struct cause_log *log, uint32_t worker,
                                  const struct lp_cause *cause)
{
    struct worker_log *const own = &log->worker[worker];
    if (own->more == 0)
        return (struct cause_steps){cause->step, cause->count};
    memcpy(&own->step[own->more], cause->step, cause->count * sizeof *own->step);
    const struct cause_steps steps = {own->step, own->more + cause->count};
    own->more = 0;
    return steps;
}

void cause_log_add(struct cause_log *log, uint32_t worker, const struct cw_event *event,
                   const struct lp_cause *cause, struct cause_steps steps)
{
    struct worker_log *const own = &log->worker[worker];
    const uint32_t size =
        (uint32_t)((sizeof(struct cause_entry) + steps.count * sizeof(uint32_t) + 7) & ~(size_t)7);
    struct cause_entry *const entry = own->refused ? NULL : make_room(log, own, event->lp, size);
    if (entry == NULL) {
        own->refused = true;
        return;
    }
    *entry = (struct cause_entry){.now_ps = event->time_ps,
                                  .by_entity = event->entity,
                                  .by_number = (uint32_t)event->number,
                                  .by_type = (uint8_t)event->type,
                                  .steps = (uint16_t)steps.count,
                                  .to_lp = cause->to_lp,
                                  .at_ps = cause->at_ps,
                                  .entity = cause->entity,
                                  .number = cause->number,
                                  .bytes = cause->bytes,
                                  .sigma_ps = cause->sigma_ps,
                                  .type = cause->type,
                                  .context = cause->context,
                                  .size = size};
    memcpy(entry + 1, steps.step, steps.count * sizeof *steps.step);
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

static const struct cause_entry *entry_of(const struct cause_chunk *chunk, uint32_t index)
{
    return (const struct cause_entry *)(const void *)(chunk->data + *place_of(chunk, index));
}

struct cause_cursor cause_log_until(const struct cause_log *log, uint32_t lp, int64_t until_ps)
{
    const struct cause_chunk *chunk = lp < log->lps ? log->last[lp] : NULL;
    while (chunk != NULL && entry_of(chunk, 0)->now_ps > until_ps)
        chunk = chunk->before;
    if (chunk == NULL)
        return (struct cause_cursor){0};
    uint32_t low = 0, high = chunk->entries; /* the first that is after lies in (low, high] */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (entry_of(chunk, middle)->now_ps > until_ps)
            high = middle;
        else
            low = middle;
    }
    return (struct cause_cursor){chunk, low};
}

const struct cause_entry *cause_log_at(struct cause_cursor cursor)
{
    return cursor.chunk != NULL ? entry_of(cursor.chunk, cursor.index) : NULL;
}

const uint32_t *cause_log_steps(const struct cause_entry *entry)
{
    return (const uint32_t *)(const void *)(entry + 1);
}

struct cause_cursor cause_log_before(struct cause_cursor cursor)
{
    if (cursor.index > 0)
        return (struct cause_cursor){cursor.chunk, cursor.index - 1};
    const struct cause_chunk *const before = cursor.chunk->before;
    return (struct cause_cursor){before, before != NULL ? before->entries - 1 : 0};
}
