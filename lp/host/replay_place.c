/*
 * replay_place.c: puts the end of an episode in place of the begin of an operation, and takes it
 * back. SIPs on which the operation has begun earlier than on the last are first put back to their
 * begin. What they have done since then is the episode's, too.
 */
#include <string.h>

#include "lp/fabric/sequencer.h"
#include "lp/host/replay_parts.h"

enum { OLD_BYTES = sizeof(struct hw_link) };

/* ---- states ---------------------------------------------------------------------------------- */

static uint8_t *changed_place(struct lp_replay *replay, const struct cell *cell,
                              const struct change *change)
{
    return (uint8_t *)cw_state_to_change(
               replay->sim, replay_lp(replay->m, cell->sip[change->sip].sip, change->lp)) +
           change->offset;
}

static void change_link(const struct lp_replay *replay, const struct cell *cell,
                        const struct change *of, struct hw_link *link)
{
    const struct link_change *const change = &cell->episode->links[of->link];
    link->free_ps = cell->sip[of->sip].begin.now_ps + change->free_ps;
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

static uint64_t read_bytes(const uint8_t *from, uint32_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, from, bytes);
    return value;
}

static uint64_t changed_value(const struct lp_replay *replay, const struct cell *cell,
                              const struct change *change, const uint8_t *place)
{
    const int64_t depth = replay->m->hw.dma_queue_depth;
    const uint64_t now = read_bytes(place, change->bytes);
    const uint8_t *const state = place - change->offset;
    const struct moment *const begin = &cell->sip[change->sip].begin;
    switch ((enum change_kind)change->kind) {
    case CHANGE_TIME:
        return (uint64_t)(begin->now_ps + change->value);
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
        const struct used_idle *const used = &cell->episode->idle[change->link];
        const struct lp_age *const at = &begin->state.age[used->index];
        return (uint64_t)(change->value + at->ps + at->apart - used->at.ps - used->at.apart);
    }
    default:
        return (uint64_t)change->value;
    }
}

static void change_states(struct lp_replay *replay, struct cell *cell)
{
    const struct episode *const e = cell->episode;
    for (size_t i = 0; i < e->change_count; i++) {
        const struct change *const change = &e->changes[i];
        uint8_t *const place = changed_place(replay, cell, change);
        memcpy(cell->old + i * OLD_BYTES, place, change->bytes);
        if (change->kind == CHANGE_LINK) {
            change_link(replay, cell, change, (struct hw_link *)(void *)place);
            continue;
        }
        const uint64_t value = changed_value(replay, cell, change, place);
        memcpy(place, &value, change->bytes);
    }
}

static void change_states_back(struct lp_replay *replay, struct cell *cell)
{
    const struct episode *const e = cell->episode;
    for (size_t i = e->change_count; i > 0; i--)
        memcpy(changed_place(replay, cell, &e->changes[i - 1]), cell->old + (i - 1) * OLD_BYTES,
               e->changes[i - 1].bytes);
}

/* The states that were kept and the present ones change places. False: out of memory. */
static bool exchange_states(struct lp_replay *replay, struct cell_sip *sip)
{
    const struct lp_model *const m = replay->m;
    for (uint32_t part = 0; sip->states != NULL && part < replay_parts(m); part++) {
        const size_t bytes = replay_state_bytes(m, part);
        void *const state = cw_state_to_change(replay->sim, replay_lp(m, sip->sip, part));
        uint8_t *const present = malloc(bytes);
        if (present == NULL)
            return false;
        memcpy(present, state, bytes);
        memcpy(state, sip->states[part], bytes);
        free(sip->states[part]);
        sip->states[part] = present;
    }
    return true;
}

/* What of the sequencer is the operation's. */
static void put_sequencer(struct lp_replay *replay, struct cell_sip *sip, uint32_t kernels,
                          uint64_t number)
{
    struct lp_io_die *const die =
        cw_state_to_change(replay->sim, lp_of_io_die(replay->m, sip->sip));
    *lp_sequencer_kernels(replay->m, die, sip->op) = kernels;
    *lp_sequencer_number(replay->m, die) = number;
}

static void keep_sequencer(struct lp_replay *replay, struct cell_sip *sip)
{
    struct lp_io_die *const die =
        cw_state_to_change(replay->sim, lp_of_io_die(replay->m, sip->sip));
    sip->kernels = *lp_sequencer_kernels(replay->m, die, sip->op);
    sip->number = *lp_sequencer_number(replay->m, die);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The event of the episode's end as it is now; before the states change. */
static struct cw_event later_now(const struct lp_replay *replay, const struct cell *cell,
                                 const struct later *later)
{
    const struct moment *const begin = &cell->sip[later->receiver].begin;
    struct cw_event event = later->event;
    event.time_ps += begin->now_ps;
    event.number = later->earlier >= 0 ? begin->events.at[later->earlier].number
                                       : replay_pe(replay, later->pe)->next_number + later->number;
    if (later->launch > 0)
        ((struct lp_transfer *)(void *)event.payload)->seq = begin->launches[later->launch - 1];
    if (event.type == LP_EVENT_CREDIT || event.type == LP_EVENT_ENGINE) {
        const struct lp_pe *const pe = replay_pe_of_signal(replay, &event, NULL);
        struct lp_signal *const signal = (struct lp_signal *)(void *)event.payload;
        signal->arg = later->more + (event.type == LP_EVENT_CREDIT ? pe->queue[signal->dir].my_head
                                                                   : pe->dma.generation);
    }
    return event;
}

static int put_events(const struct lp_replay *replay, const struct events *events,
                      struct cw_error *error)
{
    int code = CW_OK;
    for (size_t i = 0; i < events->count && code == CW_OK; i++)
        code = cw_put_event(replay->sim, &events->at[i], error);
    return code;
}

static bool has_put(const struct cell *cell, const struct cw_event *event)
{
    for (size_t i = 0; i < cell->put.count; i++) {
        const struct cw_event *const put = &cell->put.at[i];
        if (put->time_ps == event->time_ps && put->lp == event->lp &&
            put->entity == event->entity && put->number == event->number &&
            put->type == event->type)
            return true;
    }
    return false;
}

/* ---- the whole ------------------------------------------------------------------------------- */

int replay_put_in_place(struct lp_replay *replay, struct cell *cell, struct cw_error *error)
{
    const struct episode *const e = cell->episode;
    cell->end_ps = cell->first_ps + e->duration_ps;
    cell->old = malloc((e->change_count + 1) * OLD_BYTES);
    cell->put.at = malloc((e->later_count + 1) * sizeof *cell->put.at);
    if (cell->old == NULL || cell->put.at == NULL)
        return cw_error_memory(error, "the replay of operations");
    int code = replay_gather(replay, cell, NULL, true, &cell->replaced, error);
    for (uint32_t i = 0; i < cell->sips && code == CW_OK; i++) {
        keep_sequencer(replay, &cell->sip[i]);
        if (!exchange_states(replay, &cell->sip[i]))
            code = cw_error_memory(error, "the replay of operations");
    }
    for (size_t i = 0; i < e->later_count && code == CW_OK; i++)
        cell->put.at[cell->put.count++] = later_now(replay, cell, &e->later[i]);
    if (code == CW_OK)
        code = put_events(replay, &cell->put, error);
    if (code != CW_OK)
        return code;
    change_states(replay, cell);
    for (uint32_t i = 0; i < cell->sips; i++)
        put_sequencer(replay, &cell->sip[i], e->kernels[i],
                      cell->sip[i].begin.number + e->numbers[i]);
    return CW_OK;
}

int replay_undo(struct lp_replay *replay, struct cell *cell, struct cw_error *error)
{
    struct events now = {.at = NULL};
    change_states_back(replay, cell);
    int code = replay_gather(replay, cell, NULL, true, &now, error);
    for (uint32_t i = 0; i < cell->sips && code == CW_OK; i++) {
        put_sequencer(replay, &cell->sip[i], cell->sip[i].kernels, cell->sip[i].number);
        if (!exchange_states(replay, &cell->sip[i]))
            code = cw_error_memory(error, "the replay of operations");
    }
    for (size_t i = 0; i < now.count && code == CW_OK; i++)
        if (!has_put(cell, &now.at[i]))
            code = cw_put_event(replay->sim, &now.at[i], error);
    free(now.at);
    return code == CW_OK ? put_events(replay, &cell->replaced, error) : code;
}
