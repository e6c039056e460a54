/*
 * replay_record.c: an episode, as what has changed between its begin and its end: members of
 * states, by what they depend on, events that are pending, marks of kernels.
 */
#include <string.h>

#include "lp/coarse.h"
#include "lp/fabric/sequencer.h"
#include "lp/host/replay_parts.h"

void replay_free_episode(struct episode *episode)
{
    if (episode == NULL)
        return;
    free(episode->word);
    free(episode->changes);
    free(episode->links);
    free(episode->idle);
    free(episode->later);
    free(episode->marks);
    free(episode->kernels);
    free(episode->numbers);
    free(episode);
}

/* ---- changes --------------------------------------------------------------------------------- */

/* What has changed between two states of an LP. */
struct comparison {
    const struct lp_replay *replay;
    const struct cell_sip *sip;
    struct episode *episode;
    uint32_t number, part, batch; /* number: of the SIP */
    uint32_t age;                 /* of the next part that has one */
    const uint8_t *before, *after;
    bool is_none; /* what has changed cannot be said so: no episode */
    bool out_of_memory;
};

static void add_change(struct comparison *c, struct change change)
{
    struct episode *const e = c->episode;
    struct change *const at =
        replay_grown(e->changes, e->change_count, &e->change_capacity, sizeof *at);
    if (at == NULL) {
        c->out_of_memory = true;
        return;
    }
    e->changes = at;
    change.sip = c->number;
    change.lp = c->part;
    at[e->change_count++] = change;
}

static uint64_t read_bytes(const uint8_t *from, uint32_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, from, bytes);
    return value;
}

static uint64_t read_at(const uint8_t *state, const void *place, const uint8_t *base,
                        uint32_t bytes)
{
    return read_bytes(state + ((const uint8_t *)place - base), bytes);
}

/* A member that no time depends on has been set, perhaps to what it was. */
static void set(struct comparison *c, const void *place, uint32_t bytes)
{
    add_change(c, (struct change){.offset = (uint32_t)((const uint8_t *)place - c->after),
                                  .kind = CHANGE_VALUE,
                                  .bytes = (uint8_t)bytes,
                                  .value = (int64_t)read_at(c->after, place, c->after, bytes)});
}
#define SET(c, member) set((c), &(member), sizeof(member))

/* A member of the state that has the value, or is so much more, or so long after. */
static void compare(struct comparison *c, enum change_kind kind, const void *place, uint32_t bytes)
{
    const uint64_t before = read_at(c->before, place, c->after, bytes),
                   after = read_at(c->after, place, c->after, bytes);
    if (kind == CHANGE_BATCH ? after != c->batch : before == after)
        return;
    /* Counters of 32 bits stay far from their end (replay_take_moment()). */
    c->is_none |= kind == CHANGE_COUNT && bytes == 4 && (uint32_t)(after - before) > UINT32_MAX / 2;
    const int64_t value = kind == CHANGE_TIME ? (int64_t)after - c->sip->begin.now_ps
                          : kind == CHANGE_COUNT || kind == CHANGE_RING ? (int64_t)(after - before)
                          : kind == CHANGE_BATCH                        ? 0
                                                                        : (int64_t)after;
    add_change(c, (struct change){.offset = (uint32_t)((const uint8_t *)place - c->after),
                                  .kind = (uint8_t)kind,
                                  .bytes = (uint8_t)bytes,
                                  .value = value});
}
#define COMPARE(c, kind, member) compare((c), (kind), &(member), sizeof(member))

/* Idle time that nothing has used. If it is longer than the episode, it is from before it. */
static void compare_idle(struct comparison *c, const int64_t *idle_ps, bool used, bool always_grows)
{
    struct episode *const e = c->episode;
    const uint32_t index = c->age++;
    if (!used)
        return;
    struct used_idle *const at =
        replay_grown(e->idle, e->idle_count, &e->idle_capacity, sizeof *at);
    c->out_of_memory |= at == NULL;
    c->is_none |= index >= c->sip->begin.state.age_count;
    if (c->out_of_memory || c->is_none)
        return;
    const struct lp_age age = c->sip->begin.state.age[index];
    const bool grows = always_grows || *idle_ps >= e->duration_ps;
    e->idle = at;
    at[e->idle_count] =
        (struct used_idle){.sip = c->number,
                           .index = index,
                           .change = (uint32_t)e->change_count,
                           .is_early = c->sip->begin.sigma_min_ps < 2 * e->duration_ps,
                           .at = age,
                           .least_ps = age.ps + age.apart,
                           .most_ps = age.ps + age.apart,
                           .least_busy_ps = c->sip->begin.now_ps - age.ps - age.apart};
    add_change(c, (struct change){.offset = (uint32_t)((const uint8_t *)idle_ps - c->after),
                                  .kind = grows ? CHANGE_IDLE : CHANGE_VALUE,
                                  .bytes = 8,
                                  .link = (uint32_t)e->idle_count++,
                                  .value = *idle_ps});
}

/* Whether a member is another one than at the begin. */
static bool differs(const struct comparison *c, const int64_t *place)
{
    return read_at(c->before, place, c->after, sizeof *place) != (uint64_t)*place;
}

static void compare_link(struct comparison *c, enum lp_link_owner kind, const struct hw_link *link,
                         uint32_t index)
{
    const struct lp_model *const m = c->replay->m;
    struct episode *const e = c->episode;
    if (m->hw.contention == HW_CONTENTION_NONE)
        return; /* nothing is reserved */
    struct hw_link before;
    memcpy(&before, c->before + ((const uint8_t *)link - c->after), sizeof before);
    const bool used = memcmp(&before, link, sizeof before) != 0;
    if (m->accounts.idle_words > 0) {
        const int64_t *const idle_ps = lp_link_idle(m, kind, link, index);
        compare_idle(c, idle_ps, used || differs(c, idle_ps), false);
    }
    if (!used)
        return;
    struct link_change *const at =
        replay_grown(e->links, e->link_count, &e->link_capacity, sizeof *at);
    if (at == NULL) {
        c->out_of_memory = true;
        return;
    }
    e->links = at;
    const uint64_t counted = before.epoch < m->first_batch && link->epoch >= m->first_batch
                                 ? link->bytes
                                 : link->bytes - before.bytes;
    at[e->link_count] = (struct link_change){.free_ps = link->free_ps - c->sip->begin.now_ps,
                                             .bytes = counted,
                                             .queue_ps_max = link->queue_ps_max,
                                             .counted = counted > 0};
    add_change(c, (struct change){.offset = (uint32_t)((const uint8_t *)link - c->after),
                                  .kind = CHANGE_LINK,
                                  .bytes = sizeof *link,
                                  .link = (uint32_t)e->link_count++});
}

static void compare_queue(struct comparison *c, const struct lp_queue *queue)
{
    if (read_at(c->before, &queue->my_head, c->after, 4) != queue->my_head)
        SET(c, queue->sent_at);
    COMPARE(c, CHANGE_COUNT, queue->my_head);
    COMPARE(c, CHANGE_COUNT, queue->my_tail);
    COMPARE(c, CHANGE_COUNT, queue->peer_head_cache);
    COMPARE(c, CHANGE_COUNT, queue->peer_tail_cache);
}

static void compare_dma(struct comparison *c, const struct hw_dma *dma)
{
    if (read_at(c->before, &dma->generation, c->after, 4) == dma->generation &&
        read_at(c->before, &dma->whole_chunks, c->after, 1) == dma->whole_chunks)
        return; /* no run was granted */
    COMPARE(c, CHANGE_TIME, dma->run_start_ps);
    COMPARE(c, CHANGE_COUNT, dma->generation);
    for (uint32_t vc = 0; vc < HW_VCS; vc++) {
        SET(c, dma->passed[vc]);
        SET(c, dma->run_passed[vc]);
        COMPARE(c, CHANGE_RING, dma->head[vc]);
    }
    SET(c, dma->run_depth);
    SET(c, dma->last);
    SET(c, dma->last_before);
    SET(c, dma->whole_chunks);
    SET(c, dma->quota);
    SET(c, dma->quota_before);
}

/* Before the queue's batch is compared, and after the PE's next number. */
static void compare_backlog(struct comparison *c, const struct lp_backlog *backlog,
                            const struct lp_pe_queue *queue, const struct lp_pe *pe)
{
    const uint64_t batch = read_at(c->before, &queue->batch, c->after, 4);
    if (queue->batch != c->batch)
        return; /* no kernel has begun */
    add_change(
        c, (struct change){.offset = (uint32_t)((const uint8_t *)&backlog->first_number - c->after),
                           .kind = CHANGE_NUMBER,
                           .bytes = 4,
                           .link = (uint32_t)((const uint8_t *)&pe->next_number - c->after),
                           .value = (int32_t)(backlog->first_number - pe->next_number)});
    if (backlog->batch_before == c->batch) {
        COMPARE(c, CHANGE_BATCH, backlog->batch_before);
        return;
    }
    c->is_none |= backlog->batch_before != batch;
    add_change(
        c, (struct change){.offset = (uint32_t)((const uint8_t *)&backlog->batch_before - c->after),
                           .kind = CHANGE_BEFORE,
                           .bytes = 4,
                           .link = (uint32_t)((const uint8_t *)&queue->batch - c->after)});
}

static void compare_one_sided(struct comparison *c, const struct lp_pe *pe)
{
    const struct lp_model *const m = c->replay->m;
    if (m->needs.peers == 0)
        return;
    const struct lp_one_sided *const own = lp_one_sided(m, pe);
    COMPARE(c, CHANGE_COUNT, own->puts_issued);
    COMPARE(c, CHANGE_COUNT, own->puts_passed);
    COMPARE(c, CHANGE_COUNT, own->notifies_issued);
    for (uint32_t i = 0; i < m->needs.peers; i++) {
        COMPARE(c, CHANGE_VALUE, own->peer[i].key);
        COMPARE(c, CHANGE_COUNT, own->peer[i].sent);
        COMPARE(c, CHANGE_COUNT, own->peer[i].seen);
        for (uint32_t tag = 0; tag < TL_TAGS; tag++)
            COMPARE(c, CHANGE_VALUE, own->peer[i].pending[tag]);
    }
}

static void compare_coarse(struct comparison *c, const struct lp_pe *pe)
{
    const struct lp_model *const m = c->replay->m;
    if (!lp_is_coarse(&m->config))
        return;
    const struct lp_coarse *const own = lp_coarse_of(m, pe);
    for (uint32_t dir = 0; dir < HW_DIRS_MAX; dir++) {
        COMPARE(c, CHANGE_TIME, own->queue[dir].visible_ps);
        COMPARE(c, CHANGE_VALUE, own->queue[dir].sigma_ps);
        COMPARE(c, CHANGE_TIME, own->queue[dir].sent_ps);
    }
    COMPARE(c, CHANGE_TIME, own->engine_end_ps);
    compare_idle(c, &own->engine_idle_ps,
                 differs(c, &own->engine_end_ps) || differs(c, &own->engine_idle_ps), true);
    for (uint32_t vc = 0; vc < HW_VCS; vc++)
        COMPARE(c, CHANGE_VALUE, own->skipped[vc]);
}

/* Two idle PEs: contexts and channels are free, maps of slots are empty. */
static void compare_pe(struct comparison *c, const struct lp_pe *pe)
{
    const struct lp_model *const m = c->replay->m;
    for (uint32_t dir = 0; dir < HW_DIRS_MAX; dir++)
        compare_queue(c, &pe->queue[dir]);
    compare_dma(c, &pe->dma);
    COMPARE(c, CHANGE_COUNT, pe->next_number);
    COMPARE(c, CHANGE_VALUE, pe->served);
    for (uint32_t i = 0; i < m->needs.queues; i++) {
        const struct lp_pe_queue *const queue = lp_pe_queue(m, pe, i);
        if (m->needs.launches > 0)
            compare_backlog(c, lp_backlog(m, pe, i), queue, pe);
        COMPARE(c, CHANGE_BATCH, queue->batch);
        COMPARE(c, CHANGE_BATCH, queue->written);
        COMPARE(c, CHANGE_VALUE, queue->async_at);
        COMPARE(c, CHANGE_VALUE, queue->last_polled);
    }
    compare_one_sided(c, pe);
    compare_coarse(c, pe);
}

/* In the order in which idle_state.c has ages. */
static void compare_part(struct comparison *c)
{
    const struct lp_model *const m = c->replay->m;
    if (c->part < m->cubes) {
        const struct lp_cube *const cube = (const struct lp_cube *)(const void *)c->after;
        COMPARE(c, CHANGE_TIME, cube->m_cpu_free_ps);
        for (uint32_t i = 0; i < m->links.count[LP_OF_CUBE]; i++)
            compare_link(c, LP_OF_CUBE, &cube->link[i], i);
        for (uint32_t pe = 0; pe < m->pes; pe++)
            compare_pe(c, lp_pe(m, cube, pe));
        return;
    }
    const struct lp_io_die *const die = (const struct lp_io_die *)(const void *)c->after;
    COMPARE(c, CHANGE_TIME, die->io_cpu_free_ps);
    for (uint32_t i = 0; i < m->links.count[LP_OF_IO_DIE]; i++)
        compare_link(c, LP_OF_IO_DIE, &die->link[i], i);
}

/* ---- the begin ------------------------------------------------------------------------------- */

void replay_free_states(const struct lp_model *m, struct cell_sip *sip)
{
    for (uint32_t part = 0; sip->states != NULL && part < replay_parts(m); part++)
        free(sip->states[part]);
    free(sip->states);
    sip->states = NULL;
}

bool replay_keep_states(const struct lp_replay *replay, struct cell_sip *sip)
{
    const struct lp_model *const m = replay->m;
    sip->states = calloc(replay_parts(m), sizeof *sip->states);
    for (uint32_t part = 0; sip->states != NULL && part < replay_parts(m); part++) {
        const size_t bytes = replay_state_bytes(m, part);
        sip->states[part] = malloc(bytes);
        if (sip->states[part] == NULL)
            return false;
        memcpy(sip->states[part], cw_state(replay->sim, replay_lp(m, sip->sip, part)), bytes);
    }
    return sip->states != NULL;
}

struct episode *replay_begin_episode(const struct cell *cell, uint64_t digest, uint64_t *word,
                                     size_t words)
{
    struct episode *const e = calloc(1, sizeof *e);
    if (e == NULL)
        return NULL;
    *e = (struct episode){.digest = digest,
                          .words = words,
                          .word = malloc((words + 1) * sizeof *e->word),
                          .kernels = calloc(cell->sips, sizeof *e->kernels),
                          .numbers = calloc(cell->sips, sizeof *e->numbers)};
    if (e->word == NULL || e->kernels == NULL || e->numbers == NULL) {
        replay_free_episode(e);
        return NULL;
    }
    memcpy(e->word, word, words * sizeof *e->word);
    return e;
}

/* ---- the end --------------------------------------------------------------------------------- */

static int32_t place_at_begin(const struct events *begin, const struct cw_event *event)
{
    for (size_t i = 0; i < begin->count; i++)
        if (begin->at[i].entity == event->entity && begin->at[i].number == event->number &&
            begin->at[i].type == event->type && begin->at[i].lp == event->lp)
            return (int32_t)i;
    return -1;
}

/* A PE of the cell, at the begin. NULL: it is of no SIP of the cell. */
static const struct lp_pe *pe_before(const struct lp_replay *replay, const struct cell *cell,
                                     uint32_t pe)
{
    const struct lp_model *const m = replay->m;
    const struct hw_place place = lp_place_of(m, pe);
    const struct sip_in_cell *const at = replay_in_cell(replay, place.sip);
    return at->cell == cell
               ? lp_pe(
                     m,
                     (const struct lp_cube *)(const void *)cell->sip[at->number].states[place.cube],
                     place.pe)
               : NULL;
}

/* An event that is pending at the end. False: episodes do not end with such. */
static bool keep_later(const struct lp_replay *replay, const struct cell *cell,
                       const struct cw_event *event, struct later *later)
{
    const struct lp_model *const m = replay->m;
    const uint32_t receiver = replay_number_of_lp(replay, cell, event->lp);
    const struct cell_sip *const sip = &cell->sip[receiver];
    *later = (struct later){.event = *event,
                            .receiver = receiver,
                            .earlier = place_at_begin(&sip->begin.events, event)};
    later->event.time_ps -= sip->begin.now_ps;
    if (replay_is_control(event)) {
        const struct lp_transfer *const transfer = replay_transfer(event);
        if (transfer->kind != LP_TRANSFER_DONE || transfer->sigma_ps >= event->time_ps)
            return false;
        for (size_t i = 0; i < sip->begin.launch_count; i++)
            if (sip->begin.launches[i] == transfer->seq)
                later->launch = (uint32_t)i + 1;
        if (later->launch == 0)
            return false;
    } else if (event->type == LP_EVENT_CREDIT || event->type == LP_EVENT_ENGINE) {
        const uint8_t *const cube = sip->states[(event->lp - 1) % m->cubes];
        const struct lp_pe *const before = replay_pe_of_signal(replay, event, cube);
        const struct lp_signal *const signal = replay_signal(event);
        later->more =
            signal->arg - (event->type == LP_EVENT_CREDIT ? before->queue[signal->dir].my_head
                                                          : before->dma.generation);
    } else {
        return false;
    }
    if (later->earlier >= 0)
        return true;
    later->pe = replay_sender(m, event);
    const struct lp_pe *const before =
        later->pe != UINT32_MAX ? pe_before(replay, cell, later->pe) : NULL;
    if (before == NULL)
        return false;
    later->number = event->number - before->next_number;
    return true;
}

/* What of the SIP has changed. */
static void compare_sip(struct comparison *c)
{
    const struct lp_model *const m = c->replay->m;
    struct lp_io_die *const die = cw_state_to_change(c->replay->sim, lp_of_io_die(m, c->sip->sip));
    c->episode->kernels[c->number] = *lp_sequencer_kernels(m, die, c->sip->op);
    c->episode->numbers[c->number] = *lp_sequencer_number(m, die) - c->sip->begin.number;
    c->age = 0;
    for (c->part = 0; c->part < replay_parts(m); c->part++) {
        c->before = c->sip->states[c->part];
        c->after = cw_state(c->replay->sim, replay_lp(m, c->sip->sip, c->part));
        compare_part(c);
    }
}

int replay_end_episode(struct lp_replay *replay, struct cell *cell, bool *is_episode,
                       struct cw_error *error)
{
    struct episode *const e = cell->episode;
    struct events events = {.at = NULL};
    struct comparison c = {.replay = replay, .episode = e, .batch = cell->batch};
    bool good = true;
    *is_episode = false;
    e->duration_ps = replay->now_ps - cell->first_ps;
    e->taken = cell->taken;
    const int code = replay_gather(replay, cell, NULL, false, &events, error);
    if (code == CW_OK)
        e->later = malloc((events.count + 1) * sizeof *e->later);
    if (e->later == NULL) {
        free(events.at);
        return code != CW_OK ? code : cw_error_memory(error, "the replay of operations");
    }
    for (uint32_t i = 0; i < cell->sips && good; i++)
        good = replay_is_idle(replay, &cell->sip[i], replay->now_ps);
    for (size_t i = 0; good && i < events.count; i++)
        good = keep_later(replay, cell, &events.at[i], &e->later[e->later_count++]);
    free(events.at);
    for (c.number = 0; good && c.number < cell->sips; c.number++) {
        c.sip = &cell->sip[c.number];
        compare_sip(&c);
    }
    if (c.out_of_memory)
        return cw_error_memory(error, "the replay of operations");
    e->marks = cell->marks;
    e->mark_count = cell->mark_count;
    cell->marks = NULL;
    *is_episode = good && !c.is_none;
    return CW_OK;
}

/* ---- two episodes that begin alike ----------------------------------------------------------- */

static bool same_changes(const struct episode *a, const struct episode *b)
{
    for (size_t i = 0; i < a->change_count; i++) {
        const struct change *const x = &a->changes[i], *const y = &b->changes[i];
        const bool is_idle = x->kind == CHANGE_IDLE || y->kind == CHANGE_IDLE;
        if (x->sip != y->sip || x->lp != y->lp || x->offset != y->offset || x->link != y->link ||
            (!is_idle && x->kind != y->kind))
            return false;
    }
    return true;
}

/* But for what is left of idle times. */
static bool same_values(const struct episode *a, const struct episode *b)
{
    size_t idle = 0;
    for (size_t i = 0; i < a->change_count; i++) {
        const bool is_idle = idle < a->idle_count && a->idle[idle].change == i;
        if (!is_idle && (a->changes[i].value != b->changes[i].value ||
                         a->changes[i].kind != b->changes[i].kind))
            return false;
        idle += is_idle;
    }
    return true;
}

static bool same_events(const struct episode *a, const struct episode *b)
{
    for (size_t i = 0; i < a->later_count; i++) {
        const struct later *const x = &a->later[i], *const y = &b->later[i];
        struct cw_event event = y->event;
        event.number = x->event.number; /* by later.number */
        if (x->launch > 0)              /* by later.launch */
            ((struct lp_transfer *)(void *)event.payload)->seq = replay_transfer(&x->event)->seq;
        if (event.type == LP_EVENT_CREDIT || event.type == LP_EVENT_ENGINE) /* by later.more */
            ((struct lp_signal *)(void *)event.payload)->arg = replay_signal(&x->event)->arg;
        if (memcmp(&x->event, &event, sizeof event) != 0 || x->receiver != y->receiver ||
            x->pe != y->pe || x->earlier != y->earlier || x->launch != y->launch ||
            (x->earlier < 0 && x->number != y->number) || x->more != y->more)
            return false;
    }
    return true;
}

static bool same_marks(const struct episode *a, const struct episode *b)
{
    for (size_t i = 0; i < a->mark_count; i++)
        if (a->marks[i].sip != b->marks[i].sip ||
            memcmp(&a->marks[i].record, &b->marks[i].record, sizeof a->marks[i].record) != 0)
            return false;
    return true;
}

/* The longest wait is of all operations so far. */
static bool same_links(const struct episode *a, const struct episode *b)
{
    for (size_t i = 0; i < a->link_count; i++)
        if (a->links[i].free_ps != b->links[i].free_ps || a->links[i].bytes != b->links[i].bytes ||
            a->links[i].counted != b->links[i].counted)
            return false;
    return true;
}

static int64_t idle_at(const struct used_idle *idle) { return idle->at.ps + idle->at.apart; }

/* What of an idle time is left, in two episodes. */
static bool fit(const struct episode *a, const struct episode *b, size_t i, enum change_kind *kind)
{
    const struct used_idle *const x = &a->idle[i], *const y = &b->idle[i];
    const int64_t more = idle_at(y) - idle_at(x);
    const int64_t left = b->changes[y->change].value - a->changes[x->change].value;
    *kind = left == more ? CHANGE_IDLE : CHANGE_VALUE;
    return x->sip == y->sip && x->index == y->index && x->change == y->change &&
           (left == more || left == 0) &&
           (more == 0 || !x->is_known || a->changes[x->change].kind == *kind);
}

bool replay_join_episodes(struct episode *e, const struct episode *other)
{
    enum change_kind kind;
    bool same = e->duration_ps == other->duration_ps && e->taken == other->taken &&
                e->change_count == other->change_count && e->link_count == other->link_count &&
                e->idle_count == other->idle_count && e->later_count == other->later_count &&
                e->mark_count == other->mark_count && same_changes(e, other) &&
                same_values(e, other) && same_events(e, other) && same_marks(e, other) &&
                same_links(e, other);
    for (size_t i = 0; i < e->idle_count && same; i++)
        same = fit(e, other, i, &kind);
    for (size_t i = 0; i < e->idle_count && same; i++) {
        struct used_idle *const mine = &e->idle[i];
        const struct used_idle *const its = &other->idle[i];
        const int64_t its_busy_ps = its->least_busy_ps;
        (void)fit(e, other, i, &kind);
        mine->is_uncut |= kind == CHANGE_IDLE && mine->least_busy_ps != its_busy_ps;
        mine->least_busy_ps = its_busy_ps < mine->least_busy_ps ? its_busy_ps : mine->least_busy_ps;
        if (idle_at(mine) == idle_at(its))
            continue;
        e->changes[mine->change].kind = (uint8_t)kind;
        mine->is_known = true;
        mine->least_ps = its->least_ps < mine->least_ps ? its->least_ps : mine->least_ps;
        mine->most_ps = its->most_ps > mine->most_ps ? its->most_ps : mine->most_ps;
    }
    return same;
}
