/*
 * replay_moment.c: the moment at which an operation has just begun on a SIP, as a list of words:
 * states relative to time and counters (idle_state.h), and the events that are pending, in their
 * order. Two moments with the same words, and ages that are as good, have the same future.
 *
 * Events' numbers are no words. They decide among events of one sender alone, and their order in
 * the list is that decision; what the sender sends later has greater ones.
 */
#include <string.h>

#include "lp/entity.h"
#include "lp/fabric/sequencer.h"
#include "lp/host/replay_parts.h"
#include "lp/program.h"

void replay_free_moment(struct moment *moment)
{
    lp_idle_state_free(&moment->state);
    free(moment->events.at);
    free(moment->launches);
    *moment = (struct moment){0};
}

/* ---- who ------------------------------------------------------------------------------------- */

uint32_t replay_sender(const struct lp_model *m, const struct cw_event *event)
{
    const uint32_t index = replay_index_of_lp(m, event->lp);
    const uint32_t by = lp_originator(m, event->entity, lp_sip_at(m, index));
    return by == 0 || by > hw_pe_count(&m->hw) ? UINT32_MAX : by - 1;
}

const struct lp_pe *replay_pe(const struct lp_replay *replay, uint32_t pe)
{
    const struct hw_place place = lp_place_of(replay->m, pe);
    return lp_pe(replay->m, cw_state(replay->sim, lp_of_cube(replay->m, place.sip, place.cube)),
                 place.pe);
}

const struct lp_pe *replay_pe_of_signal(const struct lp_replay *replay,
                                        const struct cw_event *event, const uint8_t *cube)
{
    return lp_pe(replay->m,
                 cube != NULL ? (const struct lp_cube *)(const void *)cube
                              : cw_state(replay->sim, event->lp),
                 replay_signal(event)->pe);
}

/* ---- events ---------------------------------------------------------------------------------- */

struct gathering {
    const struct lp_replay *replay;
    const struct cell *cell;
    uint32_t index; /* of the only SIP; UINT32_MAX: all of the cell */
    struct events *events;
    bool takes, out_of_memory;
};

static bool gather_event(void *arg, const struct cw_event *event)
{
    struct gathering *const gathering = arg;
    struct events *const events = gathering->events;
    const uint32_t index = replay_index_of_lp(gathering->replay->m, event->lp);
    if (index == UINT32_MAX ||
        (gathering->index != UINT32_MAX ? index != gathering->index
                                        : gathering->replay->of_sip[index].cell != gathering->cell))
        return false;
    struct cw_event *const at =
        replay_grown(events->at, events->count, &events->capacity, sizeof *at);
    if (at == NULL) {
        gathering->out_of_memory = true;
        return false;
    }
    events->at = at;
    memset(&at[events->count], 0, sizeof *at);
    memcpy(&at[events->count++], event, offsetof(struct cw_event, payload) + event->payload_bytes);
    return gathering->takes;
}

static int by_order(const void *a, const void *b)
{
    return cw_event_before(a, b) ? -1 : cw_event_before(b, a) ? 1 : 0;
}

int replay_gather(const struct lp_replay *replay, const struct cell *cell,
                  const struct cell_sip *sip, bool takes, struct events *events,
                  struct cw_error *error)
{
    struct gathering gathering = {.replay = replay,
                                  .cell = cell,
                                  .index =
                                      sip != NULL ? lp_sip_index(replay->m, sip->sip) : UINT32_MAX,
                                  .events = events,
                                  .takes = takes};
    events->count = 0;
    int code = cw_take_events(replay->sim, gather_event, &gathering, error);
    if (code == CW_OK && gathering.out_of_memory)
        code = cw_error_memory(error, "the replay of operations");
    if (events->count > 1)
        qsort(events->at, events->count, sizeof *events->at, by_order);
    return code;
}

uint32_t replay_place_of_launch(struct moment *moment, uint32_t launch)
{
    for (size_t i = moment->launch_count; i > 0; i--)
        if (moment->launches[i - 1] == launch)
            return (uint32_t)(i - 1);
    uint32_t *const at =
        replay_grown(moment->launches, moment->launch_count, &moment->launch_capacity, sizeof *at);
    if (at == NULL) {
        moment->out_of_memory = true;
        return UINT32_MAX;
    }
    moment->launches = at;
    at[moment->launch_count] = launch;
    return (uint32_t)moment->launch_count++;
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

/* A launch of the operation that is on its way from io_cpu. False: some other message is. */
static bool put_control(const struct lp_replay *replay, uint32_t batch, struct cell_sip *sip,
                        const struct cw_event *event)
{
    const struct lp_model *const m = replay->m;
    struct moment *const moment = &sip->begin;
    struct lp_transfer transfer = *replay_transfer(event);
    if (transfer.kind != LP_TRANSFER_LAUNCH || event->entity != lp_entity_of_io_cpu(m))
        return false;
    const struct lp_launch *const launch = lp_launch_of(m, transfer.seq);
    if (launch->batch != batch || launch->start_ps > moment->now_ps ||
        lp_sip_index(m, lp_sip_of(m, transfer.dst)) != lp_sip_index(m, sip->sip))
        return false;
    if (transfer.sigma_ps < moment->sigma_min_ps)
        moment->sigma_min_ps = transfer.sigma_ps;
    const size_t known = moment->launch_count;
    transfer.seq = replay_place_of_launch(moment, transfer.seq);
    transfer.sigma_ps -= moment->now_ps;
    uint64_t words[sizeof transfer / 8];
    memcpy(words, &transfer, sizeof words);
    for (size_t i = 0; i < sizeof transfer / 8; i++)
        lp_idle_state_put(&moment->state, words[i]);
    if (moment->launch_count > known)
        put_launch(&moment->state, launch);
    return true;
}

/* An event of a begin, relative to time and counters. False: episodes do not begin with such. */
static bool put_event(const struct lp_replay *replay, uint32_t batch, struct cell_sip *sip,
                      const struct cw_event *event)
{
    struct moment *const moment = &sip->begin;
    struct lp_idle_state *const state = &moment->state;
    lp_idle_state_put(state, (uint64_t)(event->time_ps - moment->now_ps));
    lp_idle_state_put(state, (uint64_t)event->lp << 32 | event->entity);
    lp_idle_state_put(state, (uint64_t)event->depth << 32 | event->type);
    if (replay_is_control(event))
        return put_control(replay, batch, sip, event);
    if (event->type != LP_EVENT_CREDIT && event->type != LP_EVENT_ENGINE)
        return false;
    struct lp_signal signal = *replay_signal(event);
    const struct lp_pe *const pe = replay_pe_of_signal(replay, event, NULL);
    if (event->type == LP_EVENT_CREDIT)
        signal.arg -= pe->queue[signal.dir].my_head;
    else
        signal.arg -= pe->dma.generation;
    uint64_t words[sizeof signal / 8];
    memcpy(words, &signal, sizeof words);
    for (size_t i = 0; i < sizeof signal / 8; i++)
        lp_idle_state_put(state, words[i]);
    return true;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* The peers of one-sided operations are at places that depend on their order. */
static void put_peers(const struct lp_replay *replay, struct moment *moment, uint32_t sip)
{
    const struct lp_model *const m = replay->m;
    for (uint32_t pe = 0; m->needs.peers > 0 && pe < m->cubes * m->pes; pe++) {
        const struct lp_one_sided *const own =
            lp_one_sided(m, replay_pe(replay, sip * m->cubes * m->pes + pe));
        for (uint32_t i = 0; i < m->needs.peers; i++)
            if (own->peer[i].key != 0) {
                lp_idle_state_put(&moment->state, (uint64_t)pe << 32 | i);
                lp_idle_state_put(&moment->state, own->peer[i].key);
            }
    }
}

/* False: some PE is not idle. */
static bool put_states(const struct lp_replay *replay, struct lp_idle_state *state, uint32_t sip,
                       int64_t now_ps)
{
    const struct lp_idle_machine machine = {.m = replay->m,
                                            .sim = replay->sim,
                                            .control = replay->control,
                                            .now_ps = now_ps,
                                            .in_program = true};
    lp_idle_state_begin(state, now_ps);
    for (uint32_t part = 0; part < replay_parts(replay->m); part++)
        if (!lp_idle_state_add(state, &machine, replay_lp(replay->m, sip, part)))
            return false;
    return true;
}

bool replay_is_idle(struct lp_replay *replay, const struct cell_sip *sip, int64_t now_ps)
{
    struct lp_idle_state state = {0};
    const bool idle = put_states(replay, &state, sip->sip, now_ps);
    lp_idle_state_free(&state);
    return idle;
}

/* ---- the moment ------------------------------------------------------------------------------ */

int replay_take_moment(struct lp_replay *replay, const struct cell *cell, struct cell_sip *sip,
                       bool *suits, struct cw_error *error)
{
    struct moment *const moment = &sip->begin;
    struct lp_io_die *const die =
        cw_state_to_change(replay->sim, lp_of_io_die(replay->m, sip->sip));
    uint32_t launches = 0;
    moment->now_ps = replay->now_ps;
    moment->sigma_min_ps = INT64_MAX;
    moment->kernels = *lp_sequencer_kernels(replay->m, die, sip->op);
    moment->number = *lp_sequencer_number(replay->m, die);
    *suits = put_states(replay, &moment->state, sip->sip, moment->now_ps);
    if (!*suits)
        return CW_OK;
    for (size_t i = 0; i < moment->state.age_count; i++)
        if (moment->state.age[i].ps == INT64_MAX) /* never used: idle since 0 */
            moment->state.age[i].ps = moment->now_ps;
    put_peers(replay, moment, sip->sip);
    const int code = replay_gather(replay, cell, sip, false, &moment->events, error);
    if (code != CW_OK)
        return code;
    for (size_t i = 0; i < moment->events.count && *suits; i++) {
        *suits = put_event(replay, cell->batch, sip, &moment->events.at[i]);
        launches += replay_is_control(&moment->events.at[i]);
    }
    lp_idle_state_put(&moment->state, moment->kernels);
    *suits = *suits && launches == moment->kernels &&
             moment->state.counter_max < UINT32_MAX / 2; /* an episode adds no more: compare() */
    if (!lp_idle_state_end(&moment->state) || moment->out_of_memory)
        return cw_error_memory(error, "the replay of operations");
    return CW_OK;
}
