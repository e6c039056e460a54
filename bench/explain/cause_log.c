/*
 * cause_log.c: keeps entries of causes in blocks, and looks them up (cause_log.h). Memory comes in
 * huge pages of several blocks each, which a worker keeps for the next collective, because touching
 * new pages takes longer than writing the entries. A place is the number of a page, and a word of
 * it. 0 is a word of the first block's own data.
 *
 * If entries arrive in order of time, each full block ends with a list of the latest entry of each
 * LP. So a look-up of an entry at some time begins in the right block, which has few entries of an
 * LP.
 */
#include "bench/explain/cause_log.h"

#include <stdlib.h>
#include <string.h>

#include "core/os/pages.h"
#include "core/os/sync.h"
#include "lp/entity.h"

enum {
    BLOCK_BYTES_MIN = 1 << 16,
    LISTS_TO_A_BLOCK = 16,
    MORE_STEPS_MAX = 1024,
    WORD_BYTES = sizeof(uint32_t),
    /* a place: the number of the huge page, and a word in it */
    PLACE_WORD_BITS = 19,
    PLACE_PAGES_MAX = 1 << (32 - PLACE_WORD_BITS),
    BASE_BEFORE_PS = 1 << 30 /* a block's base is this long before its first event, since an event
                                of another LP that is handled later may have an earlier time */
};
_Static_assert(PAGES_HUGE_BYTES == WORD_BYTES << PLACE_WORD_BITS, "a place names every word");
_Static_assert(MORE_STEPS_MAX + LP_CAUSE_STEPS <= LP_ENTRY_STEPS_MAX, "an entry has room for them");

struct cause_block {
    struct cause_block *next, *before;
    int64_t base_ps; /* its entries' times are relative to this */
    uint32_t page;   /* the number of its huge page */
    bool begins_page;
    uint32_t words[];
};

/* Written by its worker alone. */
struct worker_log {
    _Alignas(128) struct lp_cause_writer writer; /* its room is in `current`, or in `nowhere` */
    struct cause_log *log;
    struct cause_block *first, *current; /* blocks before `current` are full */
    uint64_t bytes;                      /* of all blocks */
    bool refused;                        /* an entry or a step found no room */
    uint32_t more;                       /* steps that belong to the next entry */
    uint32_t step[MORE_STEPS_MAX + LP_CAUSE_STEPS];
    /* entries without room are lost here */
    uint32_t nowhere[LP_ENTRY_WORDS_MAX + LP_ENTRY_STEPS_MAX + LP_STEPS_AT_ONCE];
};

/* Of an LP: the entry that the last look-up found, where most look-ups continue. */
struct lookup_cache {
    uint32_t place;
    int64_t until_ps;
};

/*
 * A page's number is taken by the worker that needs the page, and only that worker writes the
 * page's address. The host reads addresses between drains, and the end of a drain orders them.
 */
struct cause_log {
    uint32_t lps, workers, pages_max;
    uint64_t worker_bytes_max;
    size_t block_bytes;                /* a power of two, at most a huge page */
    size_t list_bytes;                 /* at the end of each block; 0: blocks have no lists */
    struct worker_log *worker;         /* [workers] */
    struct lp_cause_writer **writer;   /* [workers] theirs */
    struct lookup_cache *lookup_cache; /* [lps] by the host, between drains; not with lists */
    struct cause_block *last_block;    /* of the host's last look-up, with lists; NULL: none */
    const struct lp_model *model;      /* whose originators entries have; NULL: entities */
    const struct lp_model *whole;      /* that LPs are of; `model` itself: nothing is folded */
    uint32_t **page;                   /* [pages_max] */
    struct sync_u64 pages;             /* numbers taken so far, by any worker */
    uint32_t last[]; /* [lps] places, each written by the worker that owns the LP */
};

static uint32_t *list_of(const struct cause_log *log, struct cause_block *block)
{
    return (uint32_t *)(void *)((uint8_t *)block + log->block_bytes - log->list_bytes);
}

static uint32_t place_of(const struct cause_log *log, const struct cause_block *block)
{
    return block->page << PLACE_WORD_BITS | (uint32_t)(block->words - log->page[block->page]);
}

static void use_block(const struct cause_log *log, struct worker_log *own,
                      struct cause_block *block, int64_t now_ps)
{
    struct lp_cause_writer *const writer = &own->writer;
    own->current = block;
    writer->at = writer->end = NULL;
    if (block == NULL)
        return;
    block->base_ps = writer->base_ps = now_ps - BASE_BEFORE_PS;
    writer->begin = writer->at = block->words;
    writer->begin_place = place_of(log, block);
    writer->end = list_of(log, block);
}

/* A new huge page; NULL: there is none. */
static struct cause_block *add_page(struct cause_log *log, struct worker_log *own)
{
    if (own->refused || own->bytes + PAGES_HUGE_BYTES > log->worker_bytes_max)
        return NULL;
    struct cause_block *const block = pages_map(PAGES_HUGE_BYTES);
    if (block == NULL)
        return NULL;
    const uint64_t number = sync_add_relaxed(&log->pages, 1);
    if (number >= log->pages_max) {
        pages_unmap(block, PAGES_HUGE_BYTES);
        return NULL;
    }
    own->bytes += PAGES_HUGE_BYTES;
    log->page[number] = (uint32_t *)(void *)block;
    block->page = (uint32_t)number;
    block->begins_page = true;
    return block;
}

/* A block after `before`, which is the last one, or NULL; NULL: there is no memory for it. */
static struct cause_block *add_block(struct cause_log *log, struct worker_log *own,
                                     struct cause_block *before)
{
    uint8_t *const after = before != NULL ? (uint8_t *)before + log->block_bytes : NULL;
    struct cause_block *block = (struct cause_block *)(void *)after;
    if ((uintptr_t)after % PAGES_HUGE_BYTES == 0) /* the page is full, or this is the first block */
        block = add_page(log, own);
    else
        block->page = before->page;
    if (block != NULL)
        *(before != NULL ? &before->next : &own->first) = block;
    return block;
}

/* The writer's room is full: continues in the next block, or in `nowhere`. */
static void next_block(struct lp_cause_writer *writer, int64_t now_ps)
{
    struct worker_log *const own = (struct worker_log *)(void *)writer; /* its first member */
    struct cause_log *const log = own->log;
    struct cause_block *const before = own->current;
    struct cause_block *next = before != NULL ? before->next : own->first;
    if (next == NULL)
        next = add_block(log, own, before);
    if (next == NULL) {
        own->refused = true;
        writer->begin = writer->at = own->nowhere;
        writer->end = own->nowhere + sizeof own->nowhere / sizeof *own->nowhere;
        return;
    }
    if (before != NULL && log->list_bytes > 0)
        memcpy(list_of(log, before), log->last, log->list_bytes);
    next->before = before;
    use_block(log, own, next, now_ps);
}

static bool create_arrays(struct cause_log *log, uint32_t workers)
{
    log->worker = aligned_alloc(_Alignof(struct worker_log), workers * sizeof *log->worker);
    log->writer = calloc(workers, sizeof *log->writer);
    log->lookup_cache = calloc(log->lps, sizeof *log->lookup_cache);
    log->page = calloc(log->pages_max > 0 ? log->pages_max : 1, sizeof *log->page);
    return log->worker != NULL && log->writer != NULL && log->lookup_cache != NULL &&
           log->page != NULL;
}

struct cause_log *cause_log_create(uint32_t lps, uint32_t workers, bool ordered, uint64_t bytes_max)
{
    struct cause_log *const log = calloc(1, sizeof *log + lps * sizeof *log->last);
    if (log == NULL)
        return NULL;
    const uint64_t pages = bytes_max / PAGES_HUGE_BYTES;
    log->lps = lps;
    log->pages_max = pages < PLACE_PAGES_MAX ? (uint32_t)pages : PLACE_PAGES_MAX;
    log->worker_bytes_max = bytes_max / workers;
    const size_t list_bytes = lps * sizeof *log->last;
    log->list_bytes = ordered && list_bytes <= PAGES_HUGE_BYTES / 8 ? list_bytes : 0;
    log->block_bytes = log->list_bytes > 0 ? BLOCK_BYTES_MIN : PAGES_HUGE_BYTES;
    while (log->block_bytes < PAGES_HUGE_BYTES &&
           log->block_bytes < LISTS_TO_A_BLOCK * log->list_bytes)
        log->block_bytes *= 2;
    if (!create_arrays(log, workers)) {
        cause_log_free(log);
        return NULL;
    }
    log->workers = workers;
    memset(log->worker, 0, workers * sizeof *log->worker);
    for (uint32_t i = 0; i < workers; i++) {
        log->worker[i].log = log;
        log->writer[i] = &log->worker[i].writer;
        log->worker[i].writer = (struct lp_cause_writer){.last = log->last, .more = next_block};
    }
    return log;
}

/* Several workers get their first pages before they run: while all cores are busy the system may
 * take milliseconds for a huge page, and the other workers would wait for the one that asks. */
static void add_first_pages(struct cause_log *log, struct worker_log *own)
{
    enum { PAGES_FIRST = 2 };
    struct cause_block *before = NULL;
    for (int i = 0; i < PAGES_FIRST && (i == 0 || before != NULL); i++)
        before = add_block(log, own, before);
}

void cause_log_clear(struct cause_log *log, const struct lp_model *m)
{
    log->model = log->whole = m;
    memset(log->last, 0, log->lps * sizeof *log->last);
    memset(log->lookup_cache, 0, log->lps * sizeof *log->lookup_cache);
    log->last_block = NULL;
    for (uint32_t i = 0; i < log->workers; i++) {
        struct worker_log *const own = &log->worker[i];
        own->writer.at = own->writer.end = NULL;
        own->current = NULL; /* the first entry goes to the first block */
        own->refused = false;
        own->more = 0;
        if (log->workers > 1 && own->first == NULL)
            add_first_pages(log, own);
    }
}

void cause_log_free(struct cause_log *log)
{
    if (log == NULL)
        return;
    const uint64_t taken = sync_load_acquire(&log->pages);
    for (uint64_t i = 0; log->page != NULL && i < taken && i < log->pages_max; i++)
        if (log->page[i] != NULL)
            pages_unmap(log->page[i], PAGES_HUGE_BYTES);
    free(log->worker);
    free(log->writer);
    free(log->lookup_cache);
    free(log->page);
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

const uint32_t *cause_log_join(struct cause_log *log, uint32_t worker, const struct lp_cause *cause,
                               struct lp_sent *sent)
{
    struct worker_log *const own = &log->worker[worker];
    *sent = cause->sent;
    memcpy(&own->step[own->more], cause->step, cause->sent.count * sizeof *own->step);
    sent->count = (uint16_t)(own->more + cause->sent.count);
    own->more = 0;
    return own->step;
}

void cause_log_add(struct cause_log *log, uint32_t worker, const struct cw_event *event,
                   const struct lp_sent *sent, const uint32_t *steps)
{
    lp_cause_write(&log->worker[worker].writer, event, sent, steps, (struct lp_entry_form){0});
}

struct lp_cause_writer **cause_log_writers(struct cause_log *log) { return log->writer; }

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

/* ---- reading, between drains ----------------------------------------------------------------- */

static const uint32_t *words_at(const struct cause_log *log, uint32_t place)
{
    return log->page[place >> PLACE_WORD_BITS] + (place & ((1u << PLACE_WORD_BITS) - 1));
}

/* The SIP from which an LP sees the entities of an event that it sends to another one. */
static uint32_t sip_of(const struct lp_model *m, uint32_t lp, uint32_t to_lp)
{
    const uint32_t seen = lp >= m->lps.first_switch ? to_lp : lp;
    if (seen == 0)
        return 0;
    return lp_sip_at(m, seen < m->lps.first_io_die ? hw_divide(seen - 1, &m->by.cubes)
                                                   : seen - m->lps.first_io_die);
}

/* ---- a folded machine, read as the whole ---- */

/* How entries are turned: a switch's, so that events of this originator are the whole machine's
 * (NO_TURN: by the SIP that an entry goes to); all others, as their LP. */
struct turn {
    uint32_t originator, to_sip;
};
#define NO_TURN UINT32_MAX
static const struct turn own_turn = {NO_TURN, NO_TURN};

static uint32_t sip_of_lp(const struct lp_model *m, uint32_t lp)
{
    return lp < m->lps.first_io_die ? hw_divide(lp - 1, &m->by.cubes) : lp - m->lps.first_io_die;
}

/* The LP in whose log an LP of the whole machine is read. */
static uint32_t logged_lp(const struct cause_log *log, uint32_t lp)
{
    const struct lp_model *const m = log->model, *const whole = log->whole;
    if (whole == m || lp == 0)
        return lp;
    if (lp >= whole->lps.first_switch)
        return m->lps.first_switch + hw_fold_switch_index(m->fold, lp - whole->lps.first_switch);
    const uint32_t index = hw_fold_index(m->fold, sip_of_lp(whole, lp));
    return lp >= whole->lps.first_io_die
               ? m->lps.first_io_die + index
               : 1 + index * m->cubes + hw_remainder(lp - 1, &m->by.cubes);
}

/* The SIP that sees an originator's SIP at this offset (lp/entity.h): that SIP minus the offset, in
 * each dimension. The SIP whose number is the offset sees the originator's SIP at just this
 * difference. */
static uint32_t sip_before(const struct lp_model *whole, uint32_t originator, uint32_t offset)
{
    return hw_divide(lp_entity_of_originator(whole, originator, offset) - 1, &whole->by.sip_places);
}

/* The last link that the steps of an entry cross. */
static uint32_t last_link(const struct lp_cause_entry *entry)
{
    uint32_t link = UINT32_MAX;
    for (uint32_t i = 0; i < entry->steps; i += lp_step_words(entry->step[i]))
        if (!lp_step_is_part(entry->step[i]) && !lp_step_is_way(entry->step[i]))
            link = lp_step_index(entry->step[i]);
    return link;
}

static void turn_at_switch(const struct cause_log *log, uint32_t lp, struct turn turn,
                           struct lp_cause_entry *entry)
{
    const struct lp_model *const m = log->model, *const whole = log->whole;
    const uint32_t logged_to = lp_sip_at(m, entry->to_lp - m->lps.first_io_die);
    uint32_t to = logged_to;
    if (turn.to_sip != NO_TURN)
        to = hw_fold_moved_back(m->fold, turn.to_sip, logged_to);
    else if (turn.originator != NO_TURN && turn.originator > 0 && entry->entity > 0)
        to =
            sip_before(whole, turn.originator, hw_divide(entry->entity - 1, &whole->by.sip_places));
    entry->entity = lp_originator(whole, entry->entity, to);
    entry->by_entity = lp_originator(whole, entry->by_entity, to);
    entry->to_lp = whole->lps.first_io_die + to;
    entry->to_sip = to;
    entry->to_link =
        hw_route_exit(&whole->hw, whole->hw.sip_count + lp - whole->lps.first_switch, to, 0);
    entry->is_turned = true;
}

/* The LP that an event of a SIP's LP goes to. */
static uint32_t turned_to(const struct cause_log *log, uint32_t lp, uint32_t sip,
                          const struct lp_cause_entry *entry)
{
    const struct lp_model *const m = log->model, *const whole = log->whole;
    const uint32_t outlet = lp >= whole->lps.first_io_die && entry->type == LP_EVENT_TRANSFER
                                ? last_link(entry) - m->links.first[LP_LINKS_OUTER]
                                : UINT32_MAX;
    if (outlet < hw_outlets(&whole->hw)) {
        const uint32_t to = hw_hop(&whole->hw, sip, outlet).to;
        return hw_is_switch(&whole->hw, to) ? whole->lps.first_switch + (to - whole->hw.sip_count)
                                            : whole->lps.first_io_die + to;
    }
    if (entry->type == LP_EVENT_CREDIT && !m->config.credit_fabric)
        return 1 + hw_divide(entry->bytes, &whole->by.pes);
    if (entry->to_lp == 0)
        return 0;
    return entry->to_lp >= m->lps.first_io_die
               ? whole->lps.first_io_die + sip
               : 1 + sip * m->cubes + hw_remainder(entry->to_lp - 1, &m->by.cubes);
}

static void turn_entry(const struct cause_log *log, uint32_t lp, struct turn turn,
                       struct lp_cause_entry *entry)
{
    const struct lp_model *const m = log->model, *const whole = log->whole;
    if (lp >= whole->lps.first_switch) {
        turn_at_switch(log, lp, turn, entry);
        return;
    }
    const uint32_t sip = lp == 0 ? 0 : sip_of_lp(whole, lp);
    if (entry->type == LP_EVENT_CREDIT && !m->config.credit_fabric) { /* of which PE */
        const uint32_t of = hw_divide(entry->bytes, &m->by.sip_pes);
        entry->bytes += (hw_fold_moved_back(m->fold, sip, of) - of) * m->by.sip_pes.value;
    }
    entry->to_lp = turned_to(log, lp, sip, entry);
    entry->entity = lp_originator(whole, entry->entity, sip);
    entry->by_entity = lp_originator(whole, entry->by_entity, sip);
}

void cause_log_unfold(struct cause_log *log, const struct lp_model *whole) { log->whole = whole; }

/* `lp`: of log->whole. */
static struct lp_cause_entry read_entry(const struct cause_log *log, uint32_t lp, uint32_t place,
                                        struct turn turn)
{
    if (place == 0)
        return (struct lp_cause_entry){0};
    const uint32_t *const words = words_at(log, place);
    const struct cause_block *const block =
        (const void *)((uintptr_t)words & ~(uintptr_t)(log->block_bytes - 1));
    struct lp_cause_entry entry = lp_cause_read(words, place, block->base_ps, logged_lp(log, lp));
    if (log->whole != log->model) {
        turn_entry(log, lp, turn, &entry);
    } else if (log->model != NULL) {
        const struct lp_model *const m = log->model;
        const bool on = lp >= m->lps.first_switch && entry.to_lp >= m->lps.first_switch;
        const uint32_t sip = on ? 0 : sip_of(m, lp, entry.to_lp);
        entry.entity = lp_originator(m, entry.entity, sip);
        entry.by_entity = on && entry.by_number == entry.number
                              ? entry.entity
                              : lp_originator(m, entry.by_entity, sip);
    }
    return entry;
}

static int64_t first_ps(const struct cause_block *block) { return block->base_ps + BASE_BEFORE_PS; }

/* The place of an LP's latest entry in the last block that begins no later than `until_ps`, or in
 * an earlier block; 0: there is none. */
static uint32_t place_until(struct cause_log *log, uint32_t lp, int64_t until_ps)
{
    struct cause_block *const current = log->worker[0].current;
    struct cause_block *block = log->last_block != NULL ? log->last_block : current;
    if (block == NULL)
        return 0;
    while (block->before != NULL && first_ps(block) > until_ps)
        block = block->before;
    while (block != current && first_ps(block->next) <= until_ps)
        block = block->next;
    log->last_block = block;
    return block == current ? log->last[lp] : list_of(log, block)[lp];
}

/* `lp`: of log->whole. */
static struct lp_cause_entry find_until(struct cause_log *log, uint32_t lp, int64_t until_ps,
                                        struct turn turn)
{
    const uint32_t logged = logged_lp(log, lp);
    if (logged >= log->lps || !cause_log_is_whole(log))
        return (struct lp_cause_entry){0};
    struct lookup_cache *const cache = &log->lookup_cache[logged];
    if (log->list_bytes > 0)
        cache->place = place_until(log, logged, until_ps);
    else if (cache->place == 0 || until_ps > cache->until_ps)
        cache->place = log->last[logged];
    struct lp_cause_entry entry = read_entry(log, lp, cache->place, turn);
    while (entry.place != 0 && entry.now_ps > until_ps)
        entry = read_entry(log, lp, entry.before, turn);
    cache->place = entry.place;
    cache->until_ps = until_ps;
    return entry;
}

struct lp_cause_entry cause_log_until(struct cause_log *log, uint32_t lp, int64_t until_ps)
{
    return find_until(log, lp, until_ps, own_turn);
}

struct lp_cause_entry cause_log_until_of(struct cause_log *log, uint32_t lp, int64_t until_ps,
                                         uint32_t originator)
{
    return find_until(log, lp, until_ps, (struct turn){originator, NO_TURN});
}

struct lp_cause_entry cause_log_before(const struct cause_log *log, uint32_t lp,
                                       const struct lp_cause_entry *entry)
{
    const struct turn turn = {NO_TURN, entry->is_turned ? entry->to_sip : NO_TURN};
    return read_entry(log, lp, entry->before, turn);
}

struct lp_cause_entry cause_log_before_of(const struct cause_log *log, uint32_t lp,
                                          const struct lp_cause_entry *entry, uint32_t originator)
{
    return read_entry(log, lp, entry->before, (struct turn){originator, NO_TURN});
}

struct lp_cause_entry cause_log_sent(const struct cause_log *log, uint32_t lp,
                                     const struct lp_cause_entry *from, uint32_t entity,
                                     uint32_t number, uint32_t type)
{
    const struct lp_model *const whole = log->whole;
    const bool at_switch = whole != NULL && lp >= whole->lps.first_switch;
    const uint32_t sent = whole == NULL || at_switch
                              ? entity
                              : lp_entity_of_originator(whole, entity, sip_of(whole, lp, 0));
    for (uint32_t place = from->place; place != 0;) {
        const uint32_t *const words = words_at(log, place);
        if (words[LP_ENTRY_NUMBER] == number && (at_switch || words[LP_ENTRY_ENTITY] == sent) &&
            (words[LP_ENTRY_TAG] >> LP_TAG_TYPE_SHIFT & 15) == type) {
            const struct lp_cause_entry found =
                read_entry(log, lp, place, (struct turn){entity, NO_TURN});
            if (found.entity == entity)
                return found;
        }
        place = words[LP_ENTRY_BEFORE];
    }
    return (struct lp_cause_entry){0};
}
