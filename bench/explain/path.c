/*
 * path.c: the walk (path.h). Runs between drains, on one thread.
 */
#include "bench/explain/path.h"

#include <stdlib.h>

#include "bench/explain/path_parts.h"

/* ---- the causes ------------------------------------------------------------------------------ */

struct spot {
    uint32_t lp;
    int64_t ps;
    uint32_t entity, number;
    uint8_t type; /* of an event */
};

static bool sends(const struct cause_entry *entry, const struct spot *event)
{
    return entry->entity == event->entity && entry->number == event->number &&
           entry->type == event->type && entry->at_ps == event->ps && entry->to_lp == event->lp;
}

/* The latest entry in an LP's log, not after the event, that sends it. */
static struct cause_cursor sender_in(const struct cause_log *log, uint32_t lp,
                                     const struct spot *event)
{
    struct cause_cursor at = cause_log_until(log, lp, event->ps);
    const struct cause_entry *entry;
    while ((entry = cause_log_at(at)) != NULL && !sends(entry, event))
        at = cause_log_before(at);
    return at;
}

enum { HOPS_MAX = 4096 };

/* Follows a transfer from an entry that has sent it on, until the entry that sends the event. */
static struct cause_cursor follow(const struct cause_log *log, struct cause_cursor from,
                                  uint32_t *lp, const struct spot *event)
{
    const struct cause_cursor nowhere = {0};
    for (uint32_t hops = 0; hops < HOPS_MAX; hops++) {
        const struct cause_entry *const entry = cause_log_at(from);
        if (entry == NULL || sends(entry, event))
            return from;
        if (entry->at_ps > event->ps)
            return nowhere;
        *lp = entry->to_lp;
        struct cause_cursor at = cause_log_until(log, *lp, entry->at_ps);
        const struct cause_entry *next, *found = NULL;
        struct cause_cursor found_at = nowhere;
        for (; (next = cause_log_at(at)) != NULL && next->now_ps == entry->at_ps;
             at = cause_log_before(at)) {
            if (next->by_entity != event->entity || next->by_number != event->number ||
                next->by_type != entry->type || next->entity != event->entity ||
                next->number != event->number || next->type == 0)
                continue;
            if (found == NULL || next->type == LP_EVENT_TRANSFER) {
                found = next;
                found_at = at;
            }
        }
        from = found_at;
    }
    return nowhere;
}

/* The LP where a transfer begins: its sender's cube, or the IO die for a message of the host. */
static uint32_t home_of(const struct lp_model *m, const struct spot *event)
{
    if (event->entity > 0)
        return 1 + (event->entity - 1) / m->pes;
    if (event->lp >= m->lps.first_io_die)
        return event->lp;
    return m->lps.first_io_die + (event->lp - 1) / m->cubes;
}

/* A launch message comes from the host, over pcie. */
static bool is_injected(const struct lp_model *m, const struct spot *event)
{
    return event->type == LP_EVENT_CPU_ARRIVAL && event->entity == 0 &&
           event->lp >= m->lps.first_io_die;
}

/* The entry that has sent an event; *lp: in whose log. */
static struct cause_cursor find_sender(const struct lp_model *m, const struct cause_log *log,
                                       const struct spot *event, uint32_t *lp)
{
    const struct cause_cursor nowhere = {0};
    const uint32_t home = home_of(m, event);
    *lp = event->type == LP_EVENT_CREDIT && !m->config.credit_fabric ? home : event->lp;
    if (is_injected(m, event))
        return nowhere;
    if (event->type != LP_EVENT_TRANSFER)
        return sender_in(log, *lp, event);
    struct cause_cursor at = cause_log_until(log, home, event->ps);
    const struct cause_entry *entry;
    for (; (entry = cause_log_at(at)) != NULL; at = cause_log_before(at)) {
        if (entry->entity != event->entity || entry->number != event->number ||
            entry->type != LP_EVENT_TRANSFER)
            continue;
        *lp = home;
        const struct cause_cursor found = follow(log, at, lp, event);
        if (found.chunk != NULL)
            return found;
    }
    return nowhere;
}

/* The last step before `end` that waited for its link. Returns `end`: none has. */
static uint32_t last_wait(const struct lp_model *m, const struct cause_entry *entry, uint32_t end)
{
    const uint32_t *const steps = cause_log_steps(entry);
    uint32_t last = end;
    for (uint32_t i = 0; i < end && !m->hw.jittered; i++) {
        if (!lp_step_is_part(steps[i])) {
            if (steps[i] & LP_STEP_WAITED)
                last = i;
        } else if (lp_step_part(steps[i]) != LP_PART_CALLS) {
            i++;
        }
    }
    return last;
}

/* The last step before `end` that reserves this link; `end`: none does. */
static uint32_t last_use(const struct cause_entry *entry, uint32_t end, uint32_t link)
{
    const uint32_t *const steps = cause_log_steps(entry);
    uint32_t last = end;
    for (uint32_t i = 0; i < end; i++) {
        if (!lp_step_is_part(steps[i])) {
            if (lp_step_index(steps[i]) == link && (steps[i] & LP_STEP_FREE) == 0)
                last = i;
        } else if (lp_step_part(steps[i]) != LP_PART_CALLS) {
            i++;
        }
    }
    return last;
}

/* The transfer that had the link before step *step of an entry. */
static struct cause_cursor find_holder(struct cause_cursor at, uint32_t link, uint32_t *step)
{
    const struct cause_entry *entry;
    uint32_t end = *step;
    for (; (entry = cause_log_at(at)) != NULL; at = cause_log_before(at)) {
        end = end == UINT32_MAX ? entry->steps : end;
        const uint32_t use = last_use(entry, end, link);
        if (use < end) {
            *step = use;
            return at;
        }
        end = UINT32_MAX;
    }
    return at;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static bool push(struct path *path, struct path_leg leg)
{
    if (path->count == path->capacity) {
        const size_t capacity = path->capacity > 0 ? 2 * path->capacity : 256;
        struct path_leg *const more = realloc(path->leg, capacity * sizeof *more);
        if (more == NULL)
            return false;
        path->leg = more;
        path->capacity = capacity;
    }
    path->leg[path->count++] = leg;
    return true;
}

/* A moment on the path: an event, or a tail that leaves a link. */
struct moment {
    int64_t ps;
    struct cause_cursor at; /* the entry that leads to it, in the log of `lp`; none: not known */
    uint32_t lp;
    uint32_t end; /* its steps up to there */
    bool to_link;
    bool injected;
};

static struct moment moment_of_event(const struct lp_model *m, const struct cause_log *log,
                                     const struct spot *event)
{
    struct moment moment = {.ps = event->ps, .injected = is_injected(m, event)};
    moment.at = find_sender(m, log, event, &moment.lp);
    const struct cause_entry *const entry = cause_log_at(moment.at);
    moment.end = entry != NULL ? entry->steps : 0;
    return moment;
}

/* The leg that ends at a moment, and the moment at which it begins. */
static struct path_leg leg_to(const struct lp_model *m, const struct cause_log *log,
                              const struct moment *moment, struct moment *before)
{
    const struct cause_entry *const entry = cause_log_at(moment->at);
    struct path_leg leg = {.entry = entry,
                           .at = moment->at,
                           .lp = moment->lp,
                           .end = (uint16_t)moment->end,
                           .to_link = moment->to_link,
                           .from_ps = entry->now_ps,
                           .to_ps = moment->ps};
    const uint32_t waited = last_wait(m, entry, moment->end);
    if (waited < moment->end) {
        uint32_t step = waited;
        const struct cause_cursor holder =
            find_holder(moment->at, lp_step_index(cause_log_steps(entry)[waited]), &step);
        if (cause_log_at(holder) != NULL) {
            leg.first = (uint16_t)waited;
            leg.after_link = true;
            leg.from_ps = leg.to_ps - path_steps_ps(m, &leg);
            *before = (struct moment){.ps = leg.from_ps,
                                      .at = holder,
                                      .lp = moment->lp,
                                      .end = step + 1,
                                      .to_link = true};
            return leg;
        }
    }
    const struct spot event = {.lp = moment->lp,
                               .ps = entry->now_ps,
                               .entity = entry->by_entity,
                               .number = entry->by_number,
                               .type = entry->by_type};
    *before = moment_of_event(m, log, &event);
    return leg;
}

/* The entry by which a kernel's end told the host. */
static struct cause_cursor end_of_kernel(const struct lp_model *m, const struct cause_log *log,
                                         uint32_t pe, int64_t end_ps)
{
    struct cause_cursor at = cause_log_until(log, 1 + pe / m->pes, end_ps);
    const struct cause_entry *entry;
    while ((entry = cause_log_at(at)) != NULL && entry->now_ps == end_ps &&
           !(entry->type == LP_EVENT_CPU_ARRIVAL && entry->entity == lp_entity(pe)))
        at = cause_log_before(at);
    return entry != NULL && entry->now_ps == end_ps ? at : (struct cause_cursor){0};
}

void path_walk(const struct lp_model *m, const struct cause_log *log, uint32_t pe, int64_t from_ps,
               int64_t to_ps, struct path *path)
{
    *path = (struct path){.from_ps = from_ps, .to_ps = to_ps};
    const struct cause_entry *const last = cause_log_at(end_of_kernel(m, log, pe, to_ps));
    if (last == NULL)
        return;
    const struct spot end = {.lp = 1 + pe / m->pes,
                             .ps = to_ps,
                             .entity = last->by_entity,
                             .number = last->by_number,
                             .type = last->by_type};
    struct moment moment = moment_of_event(m, log, &end);
    while (moment.ps > from_ps && moment.at.chunk != NULL) {
        struct moment before;
        if (!push(path, leg_to(m, log, &moment, &before)))
            return;
        moment = before;
    }
    path->host_ps = moment.injected && moment.ps > from_ps ? moment.ps - from_ps : 0;
    path->host_lp = moment.lp;
    path->whole = moment.ps - path->host_ps <= from_ps;
}

void path_free(struct path *path) { free(path->leg); }
