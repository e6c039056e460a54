/*
 * replay.c: records, finds, puts in place and undoes episodes (replay.h).
 */
#include "lp/host/replay.h"

#include <Judy.h>
#include <stdlib.h>
#include <string.h>

#include "lp/coarse.h"
#include "lp/entity.h"
#include "lp/fabric/sequencer.h"
#include "lp/host/idle_state.h"
#include "lp/places.h"
#include "lp/program.h"

/* ---- what is kept ---------------------------------------------------------------------------- */

enum change_kind {
    CHANGE_VALUE,  /* has this value */
    CHANGE_TIME,   /* this long after the begin */
    CHANGE_COUNT,  /* so much more */
    CHANGE_RING,   /* so many places on in a channel's ring */
    CHANGE_BATCH,  /* the operation's batch */
    CHANGE_BEFORE, /* the batch that is at `link` in the state; applied before that one changes */
    CHANGE_NUMBER, /* so much more than the number at `link`; applied after that one has changed */
    CHANGE_LINK,   /* struct link_change */
    CHANGE_IDLE    /* as much more as the age is greater than at the episode's begin */
};

/* Of one member of a state. */
struct change {
    uint32_t member; /* SIP, by its number in the episode */
    uint32_t lp;     /* in the SIP: a cube, or the IO die */
    uint32_t offset; /* in the state */
    uint8_t kind, bytes;
    uint32_t link; /* CHANGE_LINK: in links; CHANGE_IDLE: in ages; else an offset */
    int64_t value;
};

struct link_change {
    int64_t free_ps; /* after the begin */
    uint64_t bytes;
    uint32_t queue_ps_max;
    bool counted; /* bytes of the operation's batch */
};

/* An age that counts, as a part of the SIPs that was used. */
struct used_age {
    uint32_t index;
    bool grows; /* a state has the age itself afterwards */
    struct lp_age at;
};

/* An event that is pending at the end. */
struct later {
    struct cw_event event;
    uint32_t member; /* whose counter its number is of, */
    uint32_t pe;     /* of this PE; UINT32_MAX: the sequencer's */
    int32_t earlier; /* pending at the begin, too: its place there; -1: not */
    uint32_t launch; /* 1 + place in the episode's launches; 0: none */
    uint64_t number; /* more than the counter at the begin */
    uint32_t more;   /* CREDIT: more than the queue's head at the begin; ENGINE: than the engine's
                        generation */
};

struct episode {
    uint64_t digest;
    uint64_t *word;
    size_t words;
    uint32_t sips;
    int64_t duration_ps;
    struct change *changes;
    size_t change_count, change_capacity;
    struct link_change *links;
    size_t link_count, link_capacity;
    struct used_age *ages;
    size_t age_count, age_capacity;
    struct later *later;
    size_t later_count;
    struct lp_kernel_record *marks; /* t_ps: since the begin; launch: place in the launches */
    size_t mark_count, mark_capacity;
    uint32_t *kernels;    /* [sips] that have not been served */
    uint64_t *numbers;    /* [sips] of sequencers: so much more */
    struct episode *next; /* of the same digest */
};

/* The present state of an operation's SIPs, at its begin. */
struct moment {
    int64_t now_ps;
    struct lp_idle_state state;
    struct cw_event *events; /* in their order */
    size_t count, capacity;
    uint32_t *launches; /* [launch_count] the numbers of launches, in order of first appearance */
    size_t launch_count, launch_capacity;
    int64_t sigma_min_ps;
    bool out_of_memory;
};

/* An operation whose SIPs are recorded or replayed. */
struct cell {
    uint32_t batch;
    uint32_t *sip; /* [sips] */
    uint32_t sips;
    uint32_t *op; /* [sips] */
    struct episode *episode;
    bool records, is_broken, has_ended; /* has_ended: of a recording, for the next turn */
    bool is_met;                        /* of a replay: something has come from outside */
    struct moment begin;
    int64_t end_ps;
    uint32_t *left;   /* [sips] completions that have not come to io_cpu; recording */
    uint8_t **states; /* [sips * lps of a SIP] at the begin; recording */
    uint8_t *old;     /* replay: what changes have replaced, to be undone */
    struct cell *next;
};

struct batch_of {
    uint32_t first, size; /* in places */
    uint32_t come;        /* SIPs on which the operation has begun */
};
struct place {
    uint32_t sip, op;
};

struct lp_replay {
    struct lp_model *m;
    const struct lp_control *control;
    void (*mark)(void *arg, const struct lp_kernel_record *record);
    void *mark_arg;
    struct cw_sim *sim;
    struct lp_replay_watch watch;
    struct batch_of *batches; /* [batch - first_batch] */
    uint32_t batch_count;
    struct place *places;
    struct cell **of_sip; /* the cell that a SIP is in; NULL: none */
    struct cell *cells;
    uint32_t *due; /* batches that have begun on all their SIPs in the last event */
    size_t due_count, due_capacity;
    bool has_ended, is_met; /* some cell's */
    int64_t now_ps;         /* of the event that asked for the turn */
    void *episodes;         /* JudyL: digest -> struct episode, the first of a list */
    struct lp_replay_counts counts;
    bool out_of_memory;
};

static void *grown(void *at, size_t count, size_t *capacity, size_t each)
{
    if (count < *capacity)
        return at;
    const size_t more = *capacity > 0 ? 2 * *capacity : 64;
    void *const larger = realloc(at, more * each);
    if (larger != NULL)
        *capacity = more;
    return larger;
}

static void free_moment(struct moment *moment)
{
    lp_idle_state_free(&moment->state);
    free(moment->events);
    free(moment->launches);
    *moment = (struct moment){0};
}

static void free_episode(struct episode *episode)
{
    if (episode == NULL)
        return;
    free(episode->word);
    free(episode->changes);
    free(episode->links);
    free(episode->ages);
    free(episode->later);
    free(episode->marks);
    free(episode->kernels);
    free(episode->numbers);
    free(episode);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* LPs of a SIP: its cubes, then its IO die. */
static uint32_t lp_of_part(const struct lp_model *m, uint32_t sip, uint32_t part)
{
    return part < m->cubes ? lp_of_cube(m, sip, part) : lp_of_io_die(m, sip);
}

static uint32_t sip_of_lp(const struct lp_model *m, uint32_t lp)
{
    if (lp == 0 || lp >= m->lps.first_switch)
        return UINT32_MAX;
    return lp_sip_at(m, lp < m->lps.first_io_die ? (lp - 1) / m->cubes : lp - m->lps.first_io_die);
}

static struct cell **cell_at(const struct lp_replay *replay, uint32_t sip)
{
    return &replay->of_sip[lp_sip_index(replay->m, sip)];
}

/* Of a SIP, or of its representative. */
static uint32_t member_of(const struct lp_model *m, const struct cell *cell, uint32_t sip)
{
    const uint32_t index = lp_sip_index(m, sip);
    for (uint32_t i = 0; i < cell->sips; i++)
        if (lp_sip_index(m, cell->sip[i]) == index)
            return i;
    return UINT32_MAX;
}

/* The counter that an event's number is of: of a PE of the machine, or of a SIP's sequencer. */
struct origin {
    uint32_t sip, pe; /* pe: UINT32_MAX: the sequencer's */
};

static struct origin origin_of(const struct lp_model *m, const struct cw_event *event)
{
    const uint32_t pes = hw_pe_count(&m->hw);
    const uint32_t by = lp_originator(m, event->entity, sip_of_lp(m, event->lp));
    if (by == 0)
        return (struct origin){UINT32_MAX, UINT32_MAX};
    if (by > pes)
        return (struct origin){by - 1 - pes, UINT32_MAX};
    return (struct origin){lp_sip_of(m, by - 1), by - 1};
}

static const struct lp_pe *pe_in(const struct lp_replay *replay, uint32_t pe,
                                 const uint8_t *cube_state)
{
    const struct lp_model *const m = replay->m;
    const struct hw_place place = lp_place_of(m, pe);
    const struct lp_cube *const cube =
        cube_state != NULL ? (const struct lp_cube *)(const void *)cube_state
                           : cw_state(replay->sim, lp_of_cube(m, place.sip, place.cube));
    return lp_pe(m, cube, place.pe);
}

static uint64_t counter_of(const struct lp_replay *replay, struct origin origin)
{
    const struct lp_model *const m = replay->m;
    if (origin.pe != UINT32_MAX)
        return pe_in(replay, origin.pe, NULL)->next_number;
    return *lp_sequencer_number(m, cw_state_to_change(replay->sim, lp_of_io_die(m, origin.sip)));
}

/* ---- the moment ------------------------------------------------------------------------------ */

struct gathering {
    const struct lp_replay *replay;
    const struct cell *cell;
    struct moment *moment;
    bool takes;
};

static bool gather_event(void *arg, const struct cw_event *event)
{
    const struct gathering *const gathering = arg;
    struct moment *const moment = gathering->moment;
    const uint32_t sip = sip_of_lp(gathering->replay->m, event->lp);
    if (sip == UINT32_MAX || member_of(gathering->replay->m, gathering->cell, sip) == UINT32_MAX)
        return false;
    struct cw_event *const at = grown(moment->events, moment->count, &moment->capacity, sizeof *at);
    if (at == NULL) {
        moment->out_of_memory = true;
        return false;
    }
    moment->events = at;
    memset(&at[moment->count], 0, sizeof *at);
    memcpy(&at[moment->count++], event, offsetof(struct cw_event, payload) + event->payload_bytes);
    return gathering->takes;
}

static int by_order(const void *a, const void *b)
{
    return cw_event_before(a, b) ? -1 : cw_event_before(b, a) ? 1 : 0;
}

/* The events that are pending in the cell, in their order; `takes`: out of the machine. */
static int gather(const struct lp_replay *replay, const struct cell *cell, struct moment *moment,
                  bool takes, struct cw_error *error)
{
    struct gathering gathering = {replay, cell, moment, takes};
    moment->count = 0;
    int code = cw_take_events(replay->sim, gather_event, &gathering, error);
    if (code == CW_OK && moment->out_of_memory)
        code = cw_error_memory(error, "the replay of operations");
    qsort(moment->events, moment->count, sizeof *moment->events, by_order);
    return code;
}

/* The launch's place among those of the moment; UINT32_MAX: out of memory. */
static uint32_t place_of_launch(struct moment *moment, uint32_t launch)
{
    for (size_t i = moment->launch_count; i > 0; i--)
        if (moment->launches[i - 1] == launch)
            return (uint32_t)(i - 1);
    uint32_t *const at =
        grown(moment->launches, moment->launch_count, &moment->launch_capacity, sizeof *at);
    if (at == NULL) {
        moment->out_of_memory = true;
        return UINT32_MAX;
    }
    moment->launches = at;
    at[moment->launch_count] = launch;
    return (uint32_t)moment->launch_count++;
}

static const struct lp_transfer *transfer_in(const struct cw_event *event)
{
    return (const struct lp_transfer *)(const void *)event->payload;
}
static const struct lp_signal *signal_in(const struct cw_event *event)
{
    return (const struct lp_signal *)(const void *)event->payload;
}

static bool is_control_event(const struct cw_event *event)
{
    return event->type == LP_EVENT_TRANSFER || event->type == LP_EVENT_CPU_ARRIVAL ||
           event->type == LP_EVENT_CPU_DONE || event->type == LP_EVENT_PE_CPU;
}

static void put_launch(struct lp_idle_state *state, const struct lp_launch *launch)
{
    const uint64_t *const args = (const uint64_t *)(const void *)&launch->args;
    lp_idle_state_put(state, (uintptr_t)launch->kernel);
    lp_idle_state_put(state, (uint64_t)launch->queue << 8 | launch->cuts_streams);
    lp_idle_state_put(state, (uintptr_t)launch->dirs);
    for (size_t i = 0; i < sizeof launch->args / sizeof *args; i++)
        lp_idle_state_put(state, args[i]);
}
_Static_assert(sizeof(struct tl_args) % 8 == 0, "in words");

static struct hw_place place_of_signal(const struct lp_model *m, const struct cw_event *event)
{
    const uint32_t cube = event->lp - 1;
    return (struct hw_place){cube / m->cubes, cube % m->cubes, signal_in(event)->pe};
}

static const struct lp_pe *pe_of_signal(const struct lp_replay *replay,
                                        const struct cw_event *event)
{
    return lp_pe(replay->m, cw_state(replay->sim, event->lp), place_of_signal(replay->m, event).pe);
}

/* An event of a begin, relative to time and counters. False: episodes do not begin with such. */
static bool put_event(struct lp_replay *replay, const struct cell *cell, struct moment *moment,
                      const struct cw_event *event)
{
    const struct lp_model *const m = replay->m;
    struct lp_idle_state *const state = &moment->state;
    const struct origin origin = origin_of(m, event);
    const bool inside = origin.sip != UINT32_MAX && member_of(m, cell, origin.sip) != UINT32_MAX;
    lp_idle_state_put(state, (uint64_t)(event->time_ps - moment->now_ps));
    lp_idle_state_put(state, (uint64_t)event->lp << 32 | event->entity);
    lp_idle_state_put(state, (uint64_t)event->depth << 32 | event->type << 16 | inside);
    lp_idle_state_put(state, inside ? counter_of(replay, origin) - event->number : 0);
    if (is_control_event(event)) {
        struct lp_transfer transfer = *transfer_in(event);
        if (transfer.kind != LP_TRANSFER_LAUNCH || !inside)
            return false;
        const struct lp_launch *const launch = lp_launch_of(m, transfer.seq);
        const uint32_t member = member_of(m, cell, lp_sip_of(m, transfer.dst));
        if (member == UINT32_MAX || launch->batch != cell->batch ||
            launch->start_ps > moment->now_ps)
            return false;
        if (transfer.sigma_ps < moment->sigma_min_ps)
            moment->sigma_min_ps = transfer.sigma_ps;
        const size_t known = moment->launch_count;
        const uint32_t number = transfer.seq;
        transfer.seq = place_of_launch(moment, number);
        transfer.sigma_ps -= moment->now_ps;
        uint64_t words[sizeof transfer / 8];
        memcpy(words, &transfer, sizeof words);
        for (size_t i = 0; i < sizeof transfer / 8; i++)
            lp_idle_state_put(state, words[i]);
        if (moment->launch_count > known)
            put_launch(state, launch);
        return true;
    }
    if (event->type != LP_EVENT_CREDIT && event->type != LP_EVENT_ENGINE)
        return false;
    struct lp_signal signal = *signal_in(event);
    const struct lp_pe *const pe = pe_of_signal(replay, event);
    if (event->type == LP_EVENT_CREDIT)
        signal.arg -= pe->queue[signal.dir].my_head;
    else
        signal.arg -= pe->dma.generation;
    uint64_t words[2];
    memcpy(words, &signal, sizeof words);
    lp_idle_state_put(state, words[0]);
    lp_idle_state_put(state, words[1]);
    return true;
}

/* The peers of one-sided operations are at places that depend on their order. */
static void put_peers(struct lp_replay *replay, struct moment *moment, uint32_t sip)
{
    const struct lp_model *const m = replay->m;
    for (uint32_t pe = 0; m->needs.peers > 0 && pe < m->cubes * m->pes; pe++) {
        const struct lp_one_sided *const own =
            lp_one_sided(m, pe_in(replay, sip * m->cubes * m->pes + pe, NULL));
        for (uint32_t i = 0; i < m->needs.peers; i++)
            if (own->peer[i].key != 0) {
                lp_idle_state_put(&moment->state, (uint64_t)pe << 32 | i);
                lp_idle_state_put(&moment->state, own->peer[i].key);
            }
    }
}

/* Of the states alone. False: some PE is not idle. */
static bool put_states(struct lp_replay *replay, const struct cell *cell, struct moment *moment)
{
    const struct lp_idle_machine machine = {.m = replay->m,
                                            .sim = replay->sim,
                                            .control = replay->control,
                                            .now_ps = moment->now_ps,
                                            .in_program = true};
    lp_idle_state_begin(&moment->state, moment->now_ps);
    for (uint32_t i = 0; i < cell->sips; i++) {
        lp_idle_state_put(&moment->state, cell->sip[i]);
        for (uint32_t part = 0; part <= replay->m->cubes; part++)
            if (!lp_idle_state_add(&moment->state, &machine,
                                   lp_of_part(replay->m, cell->sip[i], part)))
                return false;
        put_peers(replay, moment, cell->sip[i]);
    }
    return true;
}

/* Takes the moment at a begin. *suits: an episode may begin with it. */
static int take_begin(struct lp_replay *replay, struct cell *cell, bool *suits,
                      struct cw_error *error)
{
    struct moment *const moment = &cell->begin;
    moment->now_ps = replay->now_ps;
    moment->sigma_min_ps = INT64_MAX;
    *suits = put_states(replay, cell, moment);
    if (!*suits)
        return CW_OK;
    const int code = gather(replay, cell, moment, false, error);
    if (code != CW_OK)
        return code;
    uint32_t launches = 0, kernels = 0;
    for (size_t i = 0; i < moment->count && *suits; i++) {
        *suits = put_event(replay, cell, moment, &moment->events[i]);
        launches += is_control_event(&moment->events[i]);
    }
    for (uint32_t i = 0; i < cell->sips; i++) {
        cell->left[i] = *lp_sequencer_kernels(
            replay->m, cw_state_to_change(replay->sim, lp_of_io_die(replay->m, cell->sip[i])),
            cell->op[i]);
        lp_idle_state_put(&moment->state, cell->left[i]);
        kernels += cell->left[i];
    }
    *suits = *suits && launches == kernels;
    if (!lp_idle_state_end(&moment->state) || moment->out_of_memory)
        return cw_error_memory(error, "the replay of operations");
    return CW_OK;
}

/* ---- changes --------------------------------------------------------------------------------- */

/* What has changed between two states of an LP. */
struct comparison {
    struct lp_replay *replay;
    struct cell *cell;
    struct episode *episode;
    uint32_t member, part, batch;
    uint32_t age; /* of the next part that has one */
    const uint8_t *before, *after;
    bool failed;
};

static void add_change(struct comparison *c, struct change change)
{
    struct episode *const e = c->episode;
    struct change *const at = grown(e->changes, e->change_count, &e->change_capacity, sizeof *at);
    if (at == NULL) {
        c->failed = true;
        return;
    }
    e->changes = at;
    change.member = c->member;
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
    const int64_t value = kind == CHANGE_TIME ? (int64_t)after - c->cell->begin.now_ps
                          : kind == CHANGE_COUNT || kind == CHANGE_RING ? (int64_t)(after - before)
                                                                        : (int64_t)after;
    add_change(c, (struct change){.offset = (uint32_t)((const uint8_t *)place - c->after),
                                  .kind = (uint8_t)kind,
                                  .bytes = (uint8_t)bytes,
                                  .value = value});
}
#define COMPARE(c, kind, member) compare((c), (kind), &(member), sizeof(member))

static void use_age(struct comparison *c, uint32_t index, bool grows)
{
    struct episode *const e = c->episode;
    struct used_age *const at = grown(e->ages, e->age_count, &e->age_capacity, sizeof *at);
    if (at == NULL || index >= c->cell->begin.state.age_count) {
        c->failed = true;
        return;
    }
    e->ages = at;
    at[e->age_count++] = (struct used_age){index, grows, c->cell->begin.state.age[index]};
}

/* Idle time that nothing has used. If it is longer than the episode, it is from before it. */
static void compare_idle(struct comparison *c, const int64_t *idle_ps, bool used, bool always_grows)
{
    const uint32_t age = c->age++;
    if (!used)
        return;
    const bool grows = always_grows || *idle_ps >= c->episode->duration_ps;
    add_change(c, (struct change){.offset = (uint32_t)((const uint8_t *)idle_ps - c->after),
                                  .kind = grows ? CHANGE_IDLE : CHANGE_VALUE,
                                  .bytes = 8,
                                  .link = (uint32_t)c->episode->age_count,
                                  .value = *idle_ps});
    use_age(c, age, grows);
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
    if (m->accounts.idle_words > 0)
        compare_idle(c, lp_link_idle(m, kind, link, index), used, false);
    if (!used)
        return;
    struct link_change *const at = grown(e->links, e->link_count, &e->link_capacity, sizeof *at);
    if (at == NULL) {
        c->failed = true;
        return;
    }
    e->links = at;
    const uint64_t counted = before.epoch < m->first_batch && link->epoch >= m->first_batch
                                 ? link->bytes
                                 : link->bytes - before.bytes;
    at[e->link_count] = (struct link_change){.free_ps = link->free_ps - c->cell->begin.now_ps,
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
    c->failed |= backlog->batch_before != batch;
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
    const uint64_t before = read_at(c->before, &own->engine_end_ps, c->after, 8),
                   idle = read_at(c->before, &own->engine_idle_ps, c->after, 8);
    compare_idle(c, &own->engine_idle_ps,
                 before != (uint64_t)own->engine_end_ps || idle != (uint64_t)own->engine_idle_ps,
                 true);
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

/* ---- recording ------------------------------------------------------------------------------- */

static size_t state_bytes(const struct lp_model *m, uint32_t part)
{
    return part < m->cubes ? lp_state_bytes_of(m, LP_OF_CUBE) : lp_state_bytes_of(m, LP_OF_IO_DIE);
}

static uint32_t parts_of(const struct lp_model *m) { return m->cubes + 1; }

static void free_states(const struct lp_model *m, struct cell *cell)
{
    for (uint32_t i = 0; cell->states != NULL && i < cell->sips * parts_of(m); i++)
        free(cell->states[i]);
    free(cell->states);
    cell->states = NULL;
}

static void free_cell(const struct lp_model *m, struct cell *cell)
{
    free_states(m, cell);
    free(cell->sip);
    free(cell->op);
    free(cell->left);
    free(cell->old);
    free_moment(&cell->begin);
    free(cell);
}

static bool begin_recording(struct lp_replay *replay, struct cell *cell)
{
    const struct lp_model *const m = replay->m;
    const uint32_t parts = parts_of(m);
    struct episode *const e = calloc(1, sizeof *e);
    cell->episode = e;
    cell->records = true;
    cell->states = calloc((size_t)cell->sips * parts, sizeof *cell->states);
    if (e == NULL || cell->states == NULL)
        return false;
    const struct lp_idle_state *const state = &cell->begin.state;
    e->digest = state->digest;
    e->words = state->count;
    e->sips = cell->sips;
    e->word = malloc((state->count + 1) * sizeof *e->word);
    e->kernels = calloc(cell->sips, sizeof *e->kernels);
    e->numbers = calloc(cell->sips, sizeof *e->numbers);
    if (e->word == NULL || e->kernels == NULL || e->numbers == NULL)
        return false;
    memcpy(e->word, state->word, state->count * sizeof *e->word);
    for (uint32_t i = 0; i < cell->sips; i++) {
        for (uint32_t part = 0; part < parts; part++) {
            uint8_t *const copy = malloc(state_bytes(m, part));
            cell->states[i * parts + part] = copy;
            if (copy == NULL)
                return false;
            memcpy(copy, cw_state(replay->sim, lp_of_part(m, cell->sip[i], part)),
                   state_bytes(m, part));
        }
        e->numbers[i] =
            *lp_sequencer_number(m, cw_state_to_change(replay->sim, lp_of_io_die(m, cell->sip[i])));
    }
    return true;
}

/* The state at the begin of the cube that the PE is in. */
static const uint8_t *cube_before(const struct lp_model *m, const struct cell *cell, uint32_t pe)
{
    const struct hw_place place = lp_place_of(m, pe);
    return cell->states[member_of(m, cell, place.sip) * parts_of(m) + place.cube];
}

static int32_t place_at_begin(const struct moment *begin, const struct cw_event *event)
{
    for (size_t i = 0; i < begin->count; i++)
        if (begin->events[i].entity == event->entity && begin->events[i].number == event->number &&
            begin->events[i].type == event->type && begin->events[i].lp == event->lp)
            return (int32_t)i;
    return -1;
}

/* An event that is pending at the end. False: episodes do not end with such. */
static bool keep_later(struct lp_replay *replay, struct cell *cell, const struct cw_event *event,
                       struct later *later)
{
    const struct lp_model *const m = replay->m;
    const struct origin origin = origin_of(m, event);
    *later = (struct later){.event = *event, .earlier = place_at_begin(&cell->begin, event)};
    later->event.time_ps -= cell->begin.now_ps;
    if (is_control_event(event)) {
        const struct lp_transfer *const transfer = transfer_in(event);
        if (transfer->kind != LP_TRANSFER_DONE || transfer->sigma_ps >= event->time_ps)
            return false;
        for (size_t i = 0; i < cell->begin.launch_count; i++)
            if (cell->begin.launches[i] == transfer->seq)
                later->launch = (uint32_t)i + 1;
        if (later->launch == 0)
            return false;
    } else if (event->type == LP_EVENT_CREDIT || event->type == LP_EVENT_ENGINE) {
        const struct hw_place at = place_of_signal(m, event);
        const struct lp_pe *const before =
            lp_pe(m,
                  (const struct lp_cube *)(const void *)
                      cell->states[member_of(m, cell, at.sip) * parts_of(m) + at.cube],
                  at.pe);
        later->more = signal_in(event)->arg - (event->type == LP_EVENT_CREDIT
                                                   ? before->queue[signal_in(event)->dir].my_head
                                                   : before->dma.generation);
    } else {
        return false;
    }
    if (later->earlier >= 0)
        return true;
    later->member = origin.sip != UINT32_MAX ? member_of(m, cell, origin.sip) : UINT32_MAX;
    later->pe = origin.pe;
    if (later->member == UINT32_MAX || origin.pe == UINT32_MAX)
        return false;
    later->number =
        event->number - pe_in(replay, origin.pe, cube_before(m, cell, origin.pe))->next_number;
    return true;
}

/* Returns whether the episode is one. */
static bool end_recording(struct lp_replay *replay, struct cell *cell, struct cw_error *error)
{
    const struct lp_model *const m = replay->m;
    struct episode *const e = cell->episode;
    const uint32_t parts = parts_of(m);
    struct moment end = {.now_ps = replay->now_ps};
    e->duration_ps = replay->now_ps - cell->begin.now_ps;
    bool good = put_states(replay, cell, &end) && gather(replay, cell, &end, false, error) == CW_OK;
    e->later = malloc((end.count + 1) * sizeof *e->later);
    good = good && e->later != NULL;
    for (size_t i = 0; good && i < end.count; i++)
        good = keep_later(replay, cell, &end.events[i], &e->later[e->later_count++]);
    struct comparison c = {.replay = replay, .cell = cell, .episode = e, .batch = cell->batch};
    for (c.member = 0; good && c.member < cell->sips; c.member++) {
        struct lp_io_die *const die =
            cw_state_to_change(replay->sim, lp_of_io_die(m, cell->sip[c.member]));
        e->kernels[c.member] = *lp_sequencer_kernels(m, die, cell->op[c.member]);
        e->numbers[c.member] = *lp_sequencer_number(m, die) - e->numbers[c.member];
        for (c.part = 0; c.part < parts; c.part++) {
            c.before = cell->states[c.member * parts + c.part];
            c.after = cw_state(replay->sim, lp_of_part(m, cell->sip[c.member], c.part));
            compare_part(&c);
        }
    }
    free_moment(&end);
    return good && !c.failed;
}

/* ---- finding --------------------------------------------------------------------------------- */

/* Whether idle times of before are as good as those of the episode's begin. */
static bool are_ages_alike(const struct episode *e, const struct moment *now)
{
    for (size_t i = 0; i < e->age_count; i++) {
        const struct used_age *const used = &e->ages[i];
        const struct lp_age *const at = &now->state.age[used->index];
        if (at->ps == used->at.ps && at->apart == used->at.apart)
            continue;
        if (at->ps == INT64_MAX || used->at.ps == INT64_MAX || at->ps < 2 * e->duration_ps ||
            used->at.ps < 2 * e->duration_ps)
            return false;
        if (used->grows &&
            at->ps + at->apart + e->duration_ps > now->sigma_min_ps) /* else it may be cut */
            return false;
    }
    return true;
}

static struct episode *find(struct lp_replay *replay, const struct cell *cell)
{
    const struct lp_idle_state *const state = &cell->begin.state;
    void *const *const first = (void *const *)JudyLGet(replay->episodes, state->digest, PJE0);
    for (struct episode *e = first != NULL ? *first : NULL; e != NULL; e = e->next)
        if (e->words == state->count &&
            memcmp(e->word, state->word, e->words * sizeof *e->word) == 0 &&
            are_ages_alike(e, &cell->begin))
            return e;
    return NULL;
}

static bool add_episode(struct lp_replay *replay, struct episode *e)
{
    void **const first = (void **)JudyLIns(&replay->episodes, e->digest, PJE0);
    if (first == NULL || first == PPJERR)
        return false;
    e->next = *first;
    *first = e;
    return true;
}

/* ---- putting in place ------------------------------------------------------------------------ */

enum { OLD_BYTES = sizeof(struct hw_link) };

static uint8_t *changed_place(struct lp_replay *replay, const struct cell *cell,
                              const struct change *change)
{
    return (uint8_t *)cw_state_to_change(
               replay->sim, lp_of_part(replay->m, cell->sip[change->member], change->lp)) +
           change->offset;
}

static void change_link(const struct lp_replay *replay, const struct cell *cell,
                        const struct link_change *change, struct hw_link *link)
{
    link->free_ps = cell->begin.now_ps + change->free_ps;
    if (!change->counted)
        return;
    if (link->epoch < replay->m->first_batch) {
        link->bytes = 0;
        link->queue_ps_max = 0;
    }
    link->bytes += change->bytes;
    if (change->queue_ps_max > link->queue_ps_max)
        link->queue_ps_max = change->queue_ps_max;
    if (cell->batch > link->epoch)
        link->epoch = cell->batch;
}

static uint64_t changed_value(const struct lp_replay *replay, const struct cell *cell,
                              const struct change *change, const uint8_t *place)
{
    const int64_t depth = replay->m->hw.dma_queue_depth;
    const uint64_t now = read_bytes(place, change->bytes);
    const uint8_t *const state = place - change->offset;
    switch ((enum change_kind)change->kind) {
    case CHANGE_TIME:
        return (uint64_t)(cell->begin.now_ps + change->value);
    case CHANGE_COUNT:
        return now + (uint64_t)change->value;
    case CHANGE_RING:
        return (now + (uint64_t)(change->value + depth)) % (uint64_t)depth;
    case CHANGE_BATCH:
        return cell->batch;
    case CHANGE_BEFORE:
        return read_bytes(state + change->link, 4);
    case CHANGE_NUMBER:
        return read_bytes(state + change->link, 4) + (uint64_t)change->value;
    case CHANGE_IDLE: {
        const struct used_age *const used = &cell->episode->ages[change->link];
        const struct lp_age *const at = &cell->begin.state.age[used->index];
        return (uint64_t)(change->value + at->ps + at->apart - used->at.ps - used->at.apart);
    }
    default:
        return (uint64_t)change->value;
    }
}

static void change_states(struct lp_replay *replay, struct cell *cell)
{
    const struct lp_model *const m = replay->m;
    const struct episode *const e = cell->episode;
    for (size_t i = 0; i < e->change_count; i++) {
        const struct change *const change = &e->changes[i];
        uint8_t *const place = changed_place(replay, cell, change);
        memcpy(cell->old + i * OLD_BYTES, place, change->bytes);
        if (change->kind == CHANGE_LINK) {
            change_link(replay, cell, &e->links[change->link], (struct hw_link *)(void *)place);
            continue;
        }
        const uint64_t value = changed_value(replay, cell, change, place);
        memcpy(place, &value, change->bytes);
    }
    for (uint32_t i = 0; i < cell->sips; i++) {
        struct lp_io_die *const die =
            cw_state_to_change(replay->sim, lp_of_io_die(m, cell->sip[i]));
        *lp_sequencer_number(m, die) += e->numbers[i];
        *lp_sequencer_kernels(m, die, cell->op[i]) = e->kernels[i];
    }
}

static void change_states_back(struct lp_replay *replay, struct cell *cell)
{
    const struct lp_model *const m = replay->m;
    const struct episode *const e = cell->episode;
    for (size_t i = e->change_count; i > 0; i--)
        memcpy(changed_place(replay, cell, &e->changes[i - 1]), cell->old + (i - 1) * OLD_BYTES,
               e->changes[i - 1].bytes);
    for (uint32_t i = 0; i < cell->sips; i++) {
        struct lp_io_die *const die =
            cw_state_to_change(replay->sim, lp_of_io_die(m, cell->sip[i]));
        *lp_sequencer_number(m, die) -= e->numbers[i];
        *lp_sequencer_kernels(m, die, cell->op[i]) = cell->left[i];
    }
}

/* The event of the episode's end as it is now; before the states change. */
static struct cw_event later_now(struct lp_replay *replay, const struct cell *cell,
                                 const struct later *later)
{
    struct cw_event event = later->event;
    event.time_ps += cell->begin.now_ps;
    event.number = later->earlier >= 0
                       ? cell->begin.events[later->earlier].number
                       : counter_of(replay, (struct origin){cell->sip[later->member], later->pe}) +
                             later->number;
    if (later->launch > 0)
        ((struct lp_transfer *)(void *)event.payload)->seq =
            cell->begin.launches[later->launch - 1];
    if (event.type == LP_EVENT_CREDIT || event.type == LP_EVENT_ENGINE) {
        const struct lp_pe *const pe = pe_of_signal(replay, &event);
        struct lp_signal *const signal = (struct lp_signal *)(void *)event.payload;
        signal->arg = later->more + (event.type == LP_EVENT_CREDIT ? pe->queue[signal->dir].my_head
                                                                   : pe->dma.generation);
    }
    return event;
}

/* An event that is in the cell. */
struct taken_out {
    const struct lp_replay *replay;
    const struct cell *cell;
};

static bool is_in_cell(void *arg, const struct cw_event *event)
{
    const struct taken_out *const out = arg;
    const uint32_t sip = sip_of_lp(out->replay->m, event->lp);
    return sip != UINT32_MAX && member_of(out->replay->m, out->cell, sip) != UINT32_MAX;
}

static int put_in_place(struct lp_replay *replay, struct cell *cell, struct cw_error *error)
{
    const struct episode *const e = cell->episode;
    struct taken_out out = {replay, cell};
    cell->end_ps = cell->begin.now_ps + e->duration_ps;
    cell->old = malloc((e->change_count + 1) * OLD_BYTES);
    if (cell->old == NULL)
        return cw_error_memory(error, "the replay of operations");
    int code = cw_take_events(replay->sim, is_in_cell, &out, error);
    for (size_t i = 0; i < e->later_count && code == CW_OK; i++) {
        const struct cw_event event = later_now(replay, cell, &e->later[i]);
        code = cw_put_event(replay->sim, &event, error);
    }
    change_states(replay, cell);
    replay->counts.replayed++;
    replay->counts.replayed_begins += cell->sips;
    return code;
}

/* Of what is pending in the cell the replay's own goes, what has come from outside stays. */
static int undo(struct lp_replay *replay, struct cell *cell, struct cw_error *error)
{
    const struct episode *const e = cell->episode;
    struct moment now = {0};
    change_states_back(replay, cell);
    int code = gather(replay, cell, &now, true, error);
    for (size_t i = 0; i < now.count && code == CW_OK; i++) {
        bool own = false;
        for (size_t k = 0; k < e->later_count && !own; k++) {
            const struct cw_event later = later_now(replay, cell, &e->later[k]);
            own = later.time_ps == now.events[i].time_ps && later.lp == now.events[i].lp &&
                  later.entity == now.events[i].entity && later.number == now.events[i].number &&
                  later.type == now.events[i].type;
        }
        if (!own)
            code = cw_put_event(replay->sim, &now.events[i], error);
    }
    for (size_t i = 0; i < cell->begin.count && code == CW_OK; i++)
        code = cw_put_event(replay->sim, &cell->begin.events[i], error);
    free_moment(&now);
    replay->counts.replayed--;
    replay->counts.replayed_begins -= cell->sips;
    replay->counts.undone++;
    return code;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void drop_cell(struct lp_replay *replay, struct cell *cell)
{
    for (struct cell **at = &replay->cells; *at != NULL; at = &(*at)->next)
        if (*at == cell) {
            *at = cell->next;
            break;
        }
    for (uint32_t i = 0; i < cell->sips; i++)
        if (*cell_at(replay, cell->sip[i]) == cell)
            *cell_at(replay, cell->sip[i]) = NULL;
    if (cell->records)
        free_episode(cell->episode);
    free_cell(replay->m, cell);
}

/* The replay's end is past: nothing undoes it any more. */
static void close_replay(struct lp_replay *replay, struct cell *cell)
{
    for (size_t i = 0; i < cell->episode->mark_count; i++) {
        struct lp_kernel_record mark = cell->episode->marks[i];
        mark.t_ps += cell->begin.now_ps;
        mark.launch = cell->begin.launches[mark.launch];
        replay->mark(replay->mark_arg, &mark);
    }
    drop_cell(replay, cell);
}

static struct cell *make_cell(struct lp_replay *replay, uint32_t batch)
{
    const struct batch_of *const of = &replay->batches[batch - replay->m->first_batch];
    struct cell *const cell = calloc(1, sizeof *cell);
    if (cell == NULL)
        return NULL;
    cell->batch = batch;
    cell->sips = of->size;
    cell->sip = malloc(of->size * sizeof *cell->sip);
    cell->op = malloc(of->size * sizeof *cell->op);
    cell->left = calloc(of->size, sizeof *cell->left);
    for (uint32_t i = 0; cell->sip != NULL && cell->op != NULL && i < of->size; i++) {
        cell->sip[i] = replay->places[of->first + i].sip;
        cell->op[i] = replay->places[of->first + i].op;
    }
    if (cell->sip != NULL && cell->op != NULL && cell->left != NULL)
        return cell;
    free_cell(replay->m, cell);
    return NULL;
}

/* An operation has begun on all its SIPs. */
static int begin_cell(struct lp_replay *replay, uint32_t batch, struct cw_error *error)
{
    struct cell *const cell = make_cell(replay, batch);
    if (cell == NULL)
        return cw_error_memory(error, "the replay of operations");
    bool suits = true;
    for (uint32_t i = 0; i < cell->sips; i++) {
        struct cell *const other = *cell_at(replay, cell->sip[i]);
        if (other != NULL && other->records)
            other->is_broken = true;
        suits &= other == NULL;
    }
    int code = suits ? take_begin(replay, cell, &suits, error) : CW_OK;
    if (code != CW_OK || !suits) {
        free_cell(replay->m, cell);
        return code;
    }
    cell->episode = find(replay, cell);
    cell->next = replay->cells;
    replay->cells = cell;
    for (uint32_t i = 0; i < cell->sips; i++)
        *cell_at(replay, cell->sip[i]) = cell;
    if (cell->episode != NULL)
        return put_in_place(replay, cell, error);
    return begin_recording(replay, cell) ? CW_OK
                                         : cw_error_memory(error, "the replay of operations");
}

/* Recordings that have ended or broken, and replays that were met. */
static int look_at_cells(struct lp_replay *replay, struct cw_error *error)
{
    int code = CW_OK;
    for (struct cell *cell = replay->cells, *next; cell != NULL && code == CW_OK; cell = next) {
        next = cell->next;
        if (cell->is_met) {
            code = undo(replay, cell, error);
            drop_cell(replay, cell);
        } else if (cell->is_broken) {
            drop_cell(replay, cell);
        } else if (cell->has_ended) {
            if (end_recording(replay, cell, error)) {
                if (!add_episode(replay, cell->episode))
                    code = cw_error_memory(error, "the replay of operations");
                else
                    cell->records = false; /* the episode stays */
            }
            drop_cell(replay, cell);
        }
    }
    return code;
}

int lp_replay_turn(struct lp_replay *replay, bool *again, struct cw_error *error)
{
    *again = false;
    if (replay->sim == NULL)
        return CW_OK;
    if (replay->out_of_memory)
        return cw_error_memory(error, "the replay of operations");
    *again = replay->due_count > 0 || replay->has_ended || replay->is_met;
    int code = look_at_cells(replay, error);
    replay->has_ended = replay->is_met = false;
    for (size_t i = 0; i < replay->due_count && code == CW_OK; i++)
        code = begin_cell(replay, replay->due[i], error);
    replay->due_count = 0;
    if (*again || code != CW_OK)
        return code;
    for (struct cell *cell = replay->cells, *next; cell != NULL; cell = next) {
        next = cell->next;
        if (cell->records)
            drop_cell(replay, cell);
        else
            close_replay(replay, cell);
    }
    return CW_OK;
}

/* ---- in handlers ----------------------------------------------------------------------------- */

static void ask_for_turn(struct lp_replay *replay, struct cw_ctx *ctx)
{
    replay->now_ps = cw_now(ctx);
    cw_pause(ctx);
}

static void op_begins(void *arg, struct cw_ctx *ctx, uint32_t sip, uint32_t op)
{
    struct lp_replay *const replay = arg;
    const struct lp_program_of_sip *const own =
        &replay->m->program->sip[lp_sip_index(replay->m, sip)];
    struct cell *const cell = *cell_at(replay, sip);
    replay->counts.operations++;
    if (cell != NULL && cell->records)
        cell->is_broken = true;
    else if (cell != NULL && cw_now(ctx) >= cell->end_ps)
        close_replay(replay, cell);
    const uint32_t batch = lp_launch_of(replay->m, own->runs[own->ops[op].first_run].launch)->batch;
    struct batch_of *const of = &replay->batches[batch - replay->m->first_batch];
    if (++of->come != of->size)
        return;
    uint32_t *const at = grown(replay->due, replay->due_count, &replay->due_capacity, sizeof *at);
    replay->out_of_memory |= at == NULL;
    if (at == NULL)
        return;
    replay->due = at;
    at[replay->due_count++] = batch;
    ask_for_turn(replay, ctx);
}

static void kernel_completed(void *arg, struct cw_ctx *ctx, uint32_t sip, uint32_t op)
{
    struct lp_replay *const replay = arg;
    struct cell *const cell = *cell_at(replay, sip);
    if (cell == NULL || !cell->records || cell->is_broken || cell->has_ended)
        return;
    const uint32_t member = member_of(replay->m, cell, sip);
    if (cell->op[member] != op || cell->left[member] == 0) {
        cell->is_broken = true;
        return;
    }
    if (--cell->left[member] > 0)
        return;
    cell->has_ended = replay->has_ended = true;
    ask_for_turn(replay, ctx);
}

static void sequencer_decides(void *arg, uint32_t sip, uint32_t op)
{
    struct lp_replay *const replay = arg;
    struct cell *const cell = *cell_at(replay, sip);
    if (cell != NULL && cell->records && cell->op[member_of(replay->m, cell, sip)] != op)
        cell->is_broken = true;
}

static void event_crosses(void *arg, struct cw_ctx *ctx, uint32_t from, uint32_t to, int64_t at_ps)
{
    struct lp_replay *const replay = arg;
    struct cell *const left = from != LP_AT_SWITCH ? *cell_at(replay, from) : NULL,
                       *const entered = to != LP_AT_SWITCH ? *cell_at(replay, to) : NULL;
    if (left == entered)
        return;
    if (left != NULL && left->records)
        left->is_broken = true;
    if (entered == NULL)
        return;
    if (entered->records) {
        entered->is_broken = true;
    } else if (at_ps <= entered->end_ps && !entered->is_met) {
        entered->is_met = replay->is_met = true;
        ask_for_turn(replay, ctx);
    }
}

void lp_replay_hears(struct lp_replay *replay, const struct lp_kernel_record *record)
{
    struct cell *const cell =
        replay->sim != NULL ? *cell_at(replay, lp_sip_of(replay->m, record->pe)) : NULL;
    if (cell == NULL || !cell->records || cell->is_broken)
        return;
    struct episode *const e = cell->episode;
    struct lp_kernel_record *const at =
        grown(e->marks, e->mark_count, &e->mark_capacity, sizeof *at);
    const uint32_t place = place_of_launch(&cell->begin, record->launch);
    if (at == NULL || place == UINT32_MAX) {
        replay->out_of_memory = true;
        return;
    }
    e->marks = at;
    at[e->mark_count] = *record;
    at[e->mark_count].launch = place;
    at[e->mark_count++].t_ps -= cell->begin.now_ps;
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct lp_replay *lp_replay_create(struct lp_model *m, const struct lp_control *control,
                                   void (*mark)(void *arg, const struct lp_kernel_record *record),
                                   void *mark_arg)
{
    struct lp_replay *const replay = calloc(1, sizeof *replay);
    if (replay == NULL)
        return NULL;
    *replay = (struct lp_replay){.m = m, .control = control, .mark = mark, .mark_arg = mark_arg};
    replay->watch = (struct lp_replay_watch){.arg = replay,
                                             .begins = op_begins,
                                             .completed = kernel_completed,
                                             .decides = sequencer_decides,
                                             .crosses = event_crosses};
    return replay;
}

void lp_replay_free(struct lp_replay *replay)
{
    if (replay == NULL)
        return;
    while (replay->cells != NULL)
        drop_cell(replay, replay->cells);
    Word_t digest = 0;
    for (void **first = (void **)JudyLFirst(replay->episodes, &digest, PJE0); first != NULL;
         first = (void **)JudyLNext(replay->episodes, &digest, PJE0))
        for (struct episode *e = *first, *next; e != NULL; e = next) {
            next = e->next;
            free_episode(e);
        }
    JudyLFreeArray(&replay->episodes, PJE0);
    free(replay->batches);
    free(replay->places);
    free(replay->of_sip);
    free(replay->due);
    free(replay);
}

/* The batch of an operation's launches; UINT32_MAX: it has none. */
static uint32_t batch_of_op(const struct lp_model *m, uint32_t sip, uint32_t op)
{
    const struct lp_program_of_sip *const own = &m->program->sip[lp_sip_index(m, sip)];
    return own->ops[op].run_count > 0
               ? lp_launch_of(m, own->runs[own->ops[op].first_run].launch)->batch
               : UINT32_MAX;
}

/* Which SIPs' operations belong together: those whose launches are of one batch. */
static bool name_batches(struct lp_replay *replay)
{
    const struct lp_model *const m = replay->m;
    uint32_t last = m->first_batch, count = 0;
    for (uint32_t i = 0; i < m->sips; i++)
        for (uint32_t op = 0; op < m->program->sip[i].count; op++) {
            const uint32_t batch = batch_of_op(m, lp_sip_at(m, i), op);
            last = batch != UINT32_MAX && batch > last ? batch : last;
            count += batch != UINT32_MAX;
        }
    replay->batch_count = last - m->first_batch + 1;
    replay->batches = calloc(replay->batch_count + 1, sizeof *replay->batches);
    replay->places = malloc((count + 1) * sizeof *replay->places);
    replay->of_sip = calloc(m->sips, sizeof *replay->of_sip);
    if (replay->batches == NULL || replay->places == NULL || replay->of_sip == NULL)
        return false;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < m->sips; i++)
            for (uint32_t op = 0; op < m->program->sip[i].count; op++) {
                const uint32_t sip = lp_sip_at(m, i), batch = batch_of_op(m, sip, op);
                if (batch == UINT32_MAX)
                    continue;
                struct batch_of *const of = &replay->batches[batch - m->first_batch];
                if (pass > 0)
                    replay->places[of->first + of->size] = (struct place){sip, op};
                of->size++;
            }
        for (uint32_t i = 0, first = 0; pass == 0 && i < replay->batch_count; i++) {
            replay->batches[i].first = first;
            first += replay->batches[i].size;
            replay->batches[i].size = 0;
        }
    }
    return true;
}

bool lp_replay_begin(struct lp_replay *replay, struct cw_sim *sim)
{
    if (!name_batches(replay))
        return false;
    replay->sim = sim;
    replay->m->replay = &replay->watch;
    return true;
}

struct lp_replay_counts lp_replay_count(const struct lp_replay *replay) { return replay->counts; }
