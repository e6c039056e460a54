/*
 * path.c: the walk (path.h). Runs between drains, on one thread.
 */
#include "bench/explain/path.h"

#include <stdlib.h>

#include "bench/explain/path_parts.h"
#include "lp/entity.h"
#include "lp/program.h"

/* ---- the causes ------------------------------------------------------------------------------ */

struct spot {
    uint32_t lp;
    int64_t ps;
    uint32_t entity, number; /* of its originator (lp/entity.h) */
    uint8_t type;            /* of an event */
};

static bool sends(const struct lp_cause_entry *entry, const struct spot *event)
{
    return entry->entity == event->entity && entry->number == event->number &&
           entry->type == event->type && entry->at_ps == event->ps && entry->to_lp == event->lp;
}

/* The latest entry in an LP's log, not after the event, that sends it. */
static struct lp_cause_entry sender_in(struct cause_log *log, uint32_t lp, const struct spot *event)
{
    struct lp_cause_entry entry = cause_log_until(log, lp, event->ps);
    for (; entry.place != 0; entry = cause_log_before(log, lp, &entry)) {
        entry = cause_log_sent(log, lp, &entry, event->entity, event->number, event->type);
        if (entry.place == 0 || sends(&entry, event))
            break;
    }
    return entry;
}

/*
 * The way of one transfer: the entries that have sent it on, from where it began. The path goes
 * back along it from LP to LP, and asks for one entry after the other.
 */
enum { TRAIL_MAX = 64 };
struct trail {
    uint32_t entity, number; /* of the transfer */
    uint32_t count;
    struct {
        struct lp_cause_entry entry;
        uint32_t lp; /* whose log it is in */
    } hop[TRAIL_MAX];
};

struct walk {
    const struct lp_model *m;
    struct cause_log *log;
    struct path *path;
    struct trail trail;
};

enum { HOPS_MAX = 4096 };

static const struct lp_cause_entry none; /* its place is 0 */

static void add_hop(struct trail *trail, const struct lp_cause_entry *entry, uint32_t lp)
{
    if (trail->count == TRAIL_MAX)
        return;
    trail->hop[trail->count].entry = *entry;
    trail->hop[trail->count].lp = lp;
    trail->count++;
}

/* What the event that an entry in the log of `lp` has sent did with the transfer: sent it on; and,
 * where it offered a piece of a response, `other`: the event that offers the next one. */
static struct lp_cause_entry next_on_way(struct cause_log *log, uint32_t lp,
                                         const struct lp_cause_entry *entry,
                                         const struct spot *event, struct lp_cause_entry *other)
{
    struct lp_cause_entry next = cause_log_until_of(log, lp, entry->at_ps, event->entity),
                          found = none;
    *other = none;
    for (; next.place != 0 && next.now_ps == entry->at_ps;
         next = cause_log_before_of(log, lp, &next, event->entity)) {
        if (next.by_entity != event->entity || next.by_number != event->number ||
            next.by_type != entry->type || next.entity != event->entity ||
            next.number != event->number || next.type == 0)
            continue;
        if (next.type == LP_EVENT_LEND)
            *other = next;
        if (found.place == 0 || next.type == LP_EVENT_TRANSFER)
            found = next;
    }
    return found;
}

/* Follows a transfer from an entry that has sent it on, until the entry that sends the event. Of a
 * response in pieces, one piece after the other. */
static struct lp_cause_entry follow(struct walk *walk, struct lp_cause_entry entry, uint32_t *lp,
                                    const struct spot *event)
{
    struct trail *const trail = &walk->trail;
    struct lp_cause_entry later = none; /* offers the next piece */
    uint32_t later_lp = 0, later_count = 0;
    trail->entity = event->entity;
    trail->number = event->number;
    trail->count = 0;
    for (uint32_t hops = 0; hops < HOPS_MAX; hops++) {
        if (entry.place == 0 || entry.at_ps > event->ps) {
            entry = later;
            *lp = later_lp;
            trail->count = later_count;
            later = none;
        }
        if (entry.place == 0 || entry.at_ps > event->ps)
            return none;
        if (sends(&entry, event))
            return entry;
        add_hop(trail, &entry, *lp);
        *lp = entry.to_lp;
        struct lp_cause_entry other;
        entry = next_on_way(walk->log, *lp, &entry, event, &other);
        if (other.place != 0) {
            later = other;
            later_lp = *lp;
            later_count = trail->count;
        }
    }
    return none;
}

/* The entry of the latest trail that sends the event. Whoever follows the transfer again finds it:
 * from there on both ways are the same. */
static struct lp_cause_entry on_trail(const struct trail *trail, const struct spot *event,
                                      uint32_t *lp)
{
    if (trail->entity != event->entity || trail->number != event->number)
        return none;
    for (uint32_t i = trail->count; i-- > 0;)
        if (sends(&trail->hop[i].entry, event)) {
            *lp = trail->hop[i].lp;
            return trail->hop[i].entry;
        }
    return none;
}

/* The LP where a transfer begins: its sender's cube, or the IO die for a message of the host or of
 * a SIP's program. */
static uint32_t home_of(const struct lp_model *m, const struct spot *event)
{
    const uint32_t pes = hw_pe_count(&m->hw);
    if (event->entity > pes)
        return m->lps.first_io_die + (event->entity - 1 - pes);
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

/* Of an event whose sender is in its own LP's log; of programs with free messages, in its home's.
 */
static struct lp_cause_entry sender_at_home(struct walk *walk, const struct spot *event,
                                            uint32_t home, uint32_t *lp)
{
    const struct lp_model *const m = walk->m;
    const uint32_t own = *lp;
    const bool free = m->program != NULL && m->program->free_control &&
                      (event->type == LP_EVENT_CPU_DONE || event->type == LP_EVENT_PE_CPU);
    *lp = free ? home : own;
    struct lp_cause_entry entry = sender_in(walk->log, *lp, event);
    if (entry.place == 0 && m->program != NULL && home != own) {
        *lp = free ? own : home;
        entry = sender_in(walk->log, *lp, event);
    }
    return entry;
}

/* The entry that has sent a transfer's event, if the transfer began in the LP `home`; *lp: in whose
 * log. */
static struct lp_cause_entry find_from(struct walk *walk, const struct spot *event, uint32_t home,
                                       uint32_t *lp)
{
    struct cause_log *const log = walk->log;
    struct lp_cause_entry entry = cause_log_until(log, home, event->ps);
    for (; entry.place != 0; entry = cause_log_before(log, home, &entry)) {
        entry = cause_log_sent(log, home, &entry, event->entity, event->number, LP_EVENT_TRANSFER);
        *lp = home;
        const struct lp_cause_entry found = follow(walk, entry, lp, event);
        if (found.place != 0)
            return found;
    }
    return none;
}

static uint32_t stop_of_lp(const struct lp_model *m, uint32_t lp)
{
    return lp >= m->lps.first_switch   ? m->hw.sip_count + (lp - m->lps.first_switch)
           : lp >= m->lps.first_io_die ? lp - m->lps.first_io_die
                                       : hw_divide(lp - 1, &m->by.cubes);
}

/* What comes along a tree of switches began in the switch before: above, or below. */
static struct lp_cause_entry find_in_trees(struct walk *walk, const struct spot *event,
                                           uint32_t *lp)
{
    const struct lp_model *const m = walk->m;
    const uint32_t sips = m->hw.sip_count, stop = stop_of_lp(m, event->lp);
    struct lp_cause_entry found = none;
    for (uint32_t i = 0; i < m->trees.count && found.place == 0; i++) {
        const struct hw_tree_switch *const own =
            stop < sips ? NULL : hw_tree_at(&m->trees, i, stop - sips);
        const uint32_t above =
            own == NULL ? hw_hop(&m->hw, stop, m->trees.sip_up[(size_t)i * m->trees.sips + stop]).to
                        : own->parent;
        if ((own == NULL || own->child_count > 0) && above != HW_TREE_NONE)
            found = find_from(walk, event, lp_of_switch(m, above - sips), lp);
        for (uint32_t k = 0; own != NULL && k < own->child_count && found.place == 0; k++) {
            const uint32_t below = m->trees.child[own->first + k].stop;
            if (hw_is_switch(&m->hw, below))
                found = find_from(walk, event, lp_of_switch(m, below - sips), lp);
        }
    }
    return found;
}

/* The entry that has sent an event; *lp: in whose log. */
static struct lp_cause_entry find_sender(struct walk *walk, const struct spot *event, uint32_t *lp)
{
    const struct lp_model *const m = walk->m;
    const uint32_t home = home_of(m, event);
    *lp = event->type == LP_EVENT_CREDIT && !m->config.credit_fabric ? home : event->lp;
    if (is_injected(m, event))
        return none;
    if (event->type != LP_EVENT_TRANSFER)
        return sender_at_home(walk, event, home, lp);
    const struct lp_cause_entry known = on_trail(&walk->trail, event, lp);
    if (known.place != 0)
        return known;
    const struct lp_cause_entry found = find_from(walk, event, home, lp);
    return found.place != 0 ? found : find_in_trees(walk, event, lp);
}

/* What a switch sends along a tree has a name of its own, which says of its cause only at which
 * place of a SIP the tile's PEs are. The cause came at the same time, from a SIP below. */
static struct lp_cause_entry find_part(struct walk *walk, struct spot event, uint32_t *lp)
{
    const struct lp_model *const m = walk->m;
    const uint32_t place = hw_remainder(event.entity - 1, &m->by.sip_pes);
    struct lp_cause_entry found = none;
    for (uint32_t i = 0; i < m->trees.count && found.place == 0; i++) {
        const struct hw_tree_switch *const own =
            hw_tree_at(&m->trees, i, event.lp - m->lps.first_switch);
        for (uint32_t k = 0; k < own->child_count && found.place == 0; k++) {
            const uint32_t sip = m->trees.child[own->first + k].first_sip;
            event.entity = lp_originator_of_pe(sip * m->by.sip_pes.value + place);
            found = find_sender(walk, &event, lp);
        }
    }
    return found;
}

/* Some operation takes a time that is drawn, so that the steps do not give the times of waits. */
static bool has_draws(const struct hw_config *hw)
{
    for (uint32_t kind = 0; kind < HW_LINK_KINDS && hw->jittered; kind++)
        if (hw->link_jitter[kind].active && hw->link_jitter[kind].distribution != HW_JITTER_NONE)
            return true;
    for (uint32_t kind = 0; kind < HW_NODE_KINDS && hw->jittered; kind++)
        if (hw->node_jitter[kind].active && hw->node_jitter[kind].distribution != HW_JITTER_NONE)
            return true;
    return false;
}

/* The last step before `end` that waited for its link. Returns `end`: none has. */
static uint32_t last_wait(const struct lp_model *m, const struct lp_cause_entry *entry,
                          uint32_t end)
{
    const uint32_t *const steps = entry->step;
    uint32_t last = end;
    for (uint32_t i = 0; i < end && !has_draws(&m->hw); i += lp_step_words(steps[i]))
        if (!lp_step_is_part(steps[i]) && (steps[i] & LP_STEP_WAITED))
            last = i;
    return last;
}

/* The last step before `end` that reserves this link; `end`: none does. */
static uint32_t last_use(const struct lp_cause_entry *entry, uint32_t end, uint32_t link)
{
    const uint32_t *const steps = entry->step;
    uint32_t last = end;
    for (uint32_t i = 0; i < end; i += lp_step_words(steps[i]))
        if (!lp_step_is_part(steps[i]) && lp_step_index(steps[i]) == link &&
            (steps[i] & LP_STEP_FREE) == 0)
            last = i;
    return last;
}

/* The transfer that had the link before step *step of an entry, whose ways are unfolded: its entry,
 * unfolded, too, and its step. */
static struct lp_cause_entry find_holder(struct walk *walk, uint32_t lp,
                                         struct lp_cause_entry entry, uint32_t link, uint32_t *step)
{
    uint32_t end = *step;
    while (entry.place != 0) {
        const uint32_t use = last_use(&entry, end, link);
        if (use < end) {
            *step = use;
            break;
        }
        if (end == entry.steps)
            ways_drop(&walk->path->ways, &entry);
        entry = cause_log_before(walk->log, lp, &entry);
        if (!ways_unfold(&walk->path->ways, walk->m, lp, &entry))
            return none;
        end = entry.steps;
    }
    return entry;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static bool push(struct path *path, struct path_leg leg)
{
    if (path->legs == path->capacity) {
        const size_t capacity = path->capacity > 0 ? 2 * path->capacity : 256;
        struct path_leg *const more = realloc(path->leg, capacity * sizeof *more);
        if (more == NULL)
            return false;
        path->leg = more;
        path->capacity = capacity;
    }
    path->leg[path->legs++] = leg;
    return true;
}

/* A moment on the path: an event, or a tail that leaves a link. */
struct moment {
    int64_t ps;
    struct lp_cause_entry entry; /* that leads to it, in the log of `lp`; place 0: not known */
    uint32_t lp;
    uint32_t end; /* its steps up to there */
    bool to_link;
    bool injected;
};

static struct moment moment_of_event(struct walk *walk, const struct spot *event)
{
    struct moment moment = {.ps = event->ps, .injected = is_injected(walk->m, event)};
    moment.entry = find_sender(walk, event, &moment.lp);
    if (moment.entry.place == 0 && event->lp >= walk->m->lps.first_switch)
        moment.entry = find_part(walk, *event, &moment.lp);
    if (!ways_unfold(&walk->path->ways, walk->m, moment.lp, &moment.entry))
        moment.entry = none;
    moment.end = moment.entry.steps;
    return moment;
}

/* A kernel that has waited for its PE begins here. */
static bool is_start(const struct lp_cause_entry *entry)
{
    return entry->type == 0 && entry->steps > 0 && lp_step_is_part(entry->step[0]) &&
           lp_step_part(entry->step[0]) == LP_PART_PE;
}

/* The start of the kernel, if it has begun in the event whose handler sent this entry. */
static struct lp_cause_entry start_in_event(struct walk *walk, uint32_t lp,
                                            const struct lp_cause_entry *entry)
{
    struct lp_cause_entry at = *entry;
    if (walk->m->needs.launches == 0)
        return none;
    do
        at = cause_log_before(walk->log, lp, &at);
    while (at.place != 0 && at.now_ps == entry->now_ps && at.by_entity == entry->by_entity &&
           at.by_number == entry->by_number && at.by_type == entry->by_type && !is_start(&at));
    return at.place != 0 && at.now_ps == entry->now_ps && is_start(&at) ? at : none;
}

/* The moment from which on an entry's delay counts: of the event whose handler sent it; of a kernel
 * that began in that event, of its start; of this start, when the launch was there. */
static struct moment cause_of(struct walk *walk, uint32_t lp, const struct lp_cause_entry *entry)
{
    struct spot event = {.lp = lp,
                         .ps = entry->now_ps,
                         .entity = entry->by_entity,
                         .number = entry->by_number,
                         .type = entry->by_type};
    if (is_start(entry)) {
        event = (struct spot){.lp = lp,
                              .ps = entry->now_ps - lp_step_ps(entry->step),
                              .entity = entry->entity,
                              .number = entry->number,
                              .type = LP_EVENT_PE_CPU};
    } else {
        const struct lp_cause_entry start = start_in_event(walk, lp, entry);
        if (start.place != 0)
            return (struct moment){
                .ps = start.now_ps, .entry = start, .lp = lp, .end = start.steps};
    }
    return moment_of_event(walk, &event);
}

/* The leg that ends at a moment, and the moment at which it begins. */
static struct path_leg leg_to(struct walk *walk, const struct moment *moment, struct moment *before)
{
    const struct lp_cause_entry *const entry = &moment->entry;
    struct path_leg leg = {.entry = *entry,
                           .lp = moment->lp,
                           .end = (uint16_t)moment->end,
                           .to_link = moment->to_link,
                           .from_ps = entry->now_ps,
                           .to_ps = moment->ps,
                           .before = PATH_NO_LEG,
                           .rival = PATH_UNKNOWN};
    const uint32_t waited = last_wait(walk->m, entry, moment->end);
    if (waited < moment->end) {
        uint32_t step = waited;
        const struct lp_cause_entry holder =
            find_holder(walk, moment->lp, *entry, lp_step_index(entry->step[waited]), &step);
        if (holder.place != 0) {
            leg.first = (uint16_t)waited;
            leg.after_link = true;
            leg.from_ps = leg.to_ps - path_steps_ps(walk->m, walk->log, &leg);
            *before = (struct moment){.ps = leg.from_ps,
                                      .entry = holder,
                                      .lp = moment->lp,
                                      .end = step + 1,
                                      .to_link = true};
            return leg;
        }
    }
    if (is_start(entry))
        leg.from_ps = entry->now_ps - lp_step_ps(entry->step);
    *before = cause_of(walk, moment->lp, entry);
    return leg;
}

/* The entry of the event by which a kernel's end reached the host. */
static struct lp_cause_entry end_of_kernel(const struct lp_model *m, struct cause_log *log,
                                           uint32_t pe, int64_t end_ps)
{
    const uint32_t lp = 1 + pe / m->pes;
    struct lp_cause_entry entry = cause_log_until(log, lp, end_ps);
    while (entry.place != 0 && entry.now_ps == end_ps &&
           !(entry.type == LP_EVENT_CPU_ARRIVAL && entry.entity == lp_originator_of_pe(pe)))
        entry = cause_log_before(log, lp, &entry);
    return entry.now_ps == end_ps ? entry : none;
}

/* The event at whose time a kernel ended. */
static struct moment end_of(struct walk *walk, const struct path_end *end)
{
    const struct lp_cause_entry last = end_of_kernel(walk->m, walk->log, end->pe, end->ps);
    return last.place != 0 ? cause_of(walk, 1 + end->pe / walk->m->pes, &last)
                           : (struct moment){.ps = end->ps};
}

static void walk_back(struct walk *walk, struct moment moment)
{
    struct path *const path = walk->path;
    const int64_t from_ps = path->from_ps;
    if (moment.entry.place == 0)
        return;
    while (moment.ps > from_ps && moment.entry.place != 0) {
        struct moment before;
        if (!push(path, leg_to(walk, &moment, &before)))
            return;
        if (path->count++ > 0)
            path->leg[path->count - 2].before = (uint32_t)path->count - 1;
        moment = before;
    }
    path->host_ps = moment.injected && moment.ps > from_ps ? moment.ps - from_ps : 0;
    path->host_lp = moment.lp;
    path->whole = moment.ps - path->host_ps <= from_ps;
}

void path_walk(const struct lp_model *m, struct cause_log *log, struct path_end last,
               int64_t from_ps, struct path *path)
{
    *path = (struct path){.log = log, .from_ps = from_ps, .to_ps = last.ps};
    struct walk walk = {.m = m, .log = log, .path = path};
    walk_back(&walk, end_of(&walk, &last));
}

/* ---- rivals ---------------------------------------------------------------------------------- */

/* The place of a moment in the table of legs: a leg that ends there, or a free one. In a folded
 * machine an entry is there for each LP of its class. */
static uint32_t *leg_at(const struct path *path, const struct lp_cause_entry *entry, uint32_t lp,
                        uint32_t end, bool to_link)
{
    const uint64_t key = ((uint64_t)entry->place << 13 ^ end << 1 ^ to_link) + ((uint64_t)lp << 32);
    uint64_t i = (key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (path->leg_places - 1);
    for (; path->leg_at[i] != 0; i = (i + 1) & (path->leg_places - 1)) {
        const struct path_leg *const leg = &path->leg[path->leg_at[i] - 1];
        if (leg->entry.place == entry->place && leg->lp == lp &&
            leg->entry.to_sip == entry->to_sip && leg->end == end && leg->to_link == to_link)
            break;
    }
    return &path->leg_at[i];
}

static void note_leg(struct path *path, uint32_t number)
{
    const struct path_leg *const leg = &path->leg[number];
    *leg_at(path, &leg->entry, leg->lp, leg->end, leg->to_link) = number + 1;
}

static bool prepare_rivals(struct path *path)
{
    enum { LEGS_MIN = 1 << 14, TO_EACH = 4 };
    path->legs_max = TO_EACH * path->count + LEGS_MIN;
    size_t places = 4;
    while (places < 2 * path->legs_max)
        places *= 2;
    path->leg_at = calloc(places, sizeof *path->leg_at);
    if (path->leg_at == NULL)
        return false;
    path->leg_places = places;
    for (uint32_t i = 0; i < path->count; i++)
        note_leg(path, i);
    return true;
}

/* The entry of the other part of a load or a copy, which is among the latest of its LP. */
static struct lp_cause_entry other_part(struct cause_log *log, const struct path_leg *leg)
{
    enum { ENTRIES_MAX = 256 };
    const struct lp_cause_entry *const own = &leg->entry;
    struct lp_cause_entry entry = cause_log_until(log, leg->lp, own->at_ps);
    for (uint32_t i = 0; i < ENTRIES_MAX && entry.place != 0; i++) {
        if (entry.type == own->type && entry.entity == own->entity && entry.number == own->number &&
            entry.place != own->place && entry.at_ps <= own->at_ps)
            return entry;
        entry = cause_log_before(log, leg->lp, &entry);
    }
    return none;
}

/* The moment at which a leg's rival begins, and the rival itself. Of a load's other part, the
 * moment at which it ends. */
static struct moment rival_of(struct walk *walk, const struct path_leg *leg, struct path_leg *rival)
{
    const struct lp_cause_entry *const entry = &leg->entry;
    struct moment moment = {.lp = leg->lp};
    *rival = *leg;
    rival->before = rival->rival = PATH_NO_LEG;
    if (leg->after_link) { /* by itself */
        rival->first = 0;
        rival->after_link = false;
        rival->from_ps = entry->now_ps;
        rival->to_ps = entry->now_ps + path_steps_ps(walk->m, walk->log, rival);
        return cause_of(walk, leg->lp, entry);
    }
    if (entry->type == LP_EVENT_DMA_DONE)
        moment.entry = other_part(walk->log, leg);
    if (!ways_unfold(&walk->path->ways, walk->m, moment.lp, &moment.entry))
        moment.entry = none;
    moment.ps = rival->from_ps = rival->to_ps = moment.entry.at_ps;
    moment.end = moment.entry.steps;
    return moment;
}

/* The leg that ends at this moment, with all legs before it back to a launch message; PATH_NO_LEG:
 * there is none. False: there are too many. */
static bool leg_until(struct walk *walk, struct moment moment, uint32_t *last)
{
    struct path *const path = walk->path;
    uint32_t after = PATH_NO_LEG; /* the latest leg, which begins at the moment */
    *last = PATH_NO_LEG;
    while (moment.entry.place != 0) {
        const uint32_t known = *leg_at(path, &moment.entry, moment.lp, moment.end, moment.to_link);
        const uint32_t number = known > 0 ? known - 1 : (uint32_t)path->legs;
        struct moment before;
        if (known == 0) {
            struct path_leg leg = leg_to(walk, &moment, &before);
            leg.steps_ps = path_steps_ps(walk->m, walk->log, &leg);
            leg.rival = PATH_NO_LEG; /* of the path's own legs alone */
            if (path->legs >= path->legs_max || !push(path, leg))
                return false;
        }
        if (after == PATH_NO_LEG)
            *last = number;
        else
            path->leg[after].before = number;
        if (known > 0)
            return true;
        after = number;
        moment = before;
    }
    return true;
}

/* As leg_until(), and the new legs are known from now on. */
static bool know_leg_until(struct walk *walk, struct moment moment, uint32_t *last)
{
    struct path *const path = walk->path;
    const size_t legs = path->legs;
    if (!leg_until(walk, moment, last)) {
        path->legs = legs;
        return false;
    }
    for (size_t i = legs; i < path->legs; i++)
        note_leg(path, (uint32_t)i);
    return true;
}

/* The event at which the first kernel starts. */
static struct moment start_of(struct walk *walk, const struct path_end *start)
{
    const uint32_t lp = 1 + start->pe / walk->m->pes;
    struct moment moment = {.ps = start->ps, .lp = lp};
    moment.entry = cause_log_until(walk->log, lp, moment.ps);
    while (moment.entry.place != 0 &&
           !(moment.entry.type == LP_EVENT_PE_CPU && moment.entry.at_ps == moment.ps))
        moment.entry = cause_log_before(walk->log, lp, &moment.entry);
    if (!ways_unfold(&walk->path->ways, walk->m, lp, &moment.entry))
        moment.entry = none;
    moment.end = moment.entry.steps;
    return moment;
}

/* The leg at whose end the first leg of the path begins; PATH_NO_LEG: there is none. False: there
 * are too many. */
static bool find_begin(struct walk *walk, uint32_t *begin)
{
    struct path *const path = walk->path;
    const struct path_leg *const first = &path->leg[path->count - 1];
    const struct moment end = {.ps = first->to_ps,
                               .entry = first->entry,
                               .lp = first->lp,
                               .end = first->end,
                               .to_link = first->to_link};
    struct moment before;
    (void)leg_to(walk, &end, &before);
    if (!know_leg_until(walk, before, begin))
        return false;
    path->leg[path->count - 1].before = *begin;
    for (uint32_t leg = *begin; leg != PATH_NO_LEG; leg = path->leg[leg].before)
        path->injected_ps = path->leg[leg].from_ps;
    return true;
}

bool path_find_ends(const struct lp_model *m, struct path *path, struct path_end first_start,
                    struct path_end other_end)
{
    struct walk walk = {.m = m, .log = path->log, .path = path};
    uint32_t last;
    path->start = PATH_NO_LEG;
    if (path->count == 0 || !prepare_rivals(path))
        return false;
    (void)find_begin(&walk, &last);
    if (know_leg_until(&walk, start_of(&walk, &first_start), &last))
        path->start = last;
    for (; last != PATH_NO_LEG; last = path->leg[last].before)
        path->injected_ps = path->leg[last].from_ps;
    if (other_end.ps > path->from_ps && know_leg_until(&walk, end_of(&walk, &other_end), &last) &&
        last != 0) {
        path->leg[0].rival = last;
        path->leg[0].rival_ps = other_end.ps;
    }
    return true;
}

/* The last event of io_cpus at that time; the log of the least LP that has sent one. */
static struct moment end_of_programs(struct walk *walk, int64_t at_ps)
{
    const struct lp_model *const m = walk->m;
    for (uint32_t i = 1; i < m->lps.count; i++) { /* IO dies and switches, then cubes */
        const uint32_t others = m->lps.count - m->lps.first_io_die;
        const uint32_t lp = i <= others ? m->lps.first_io_die + i - 1 : i - others;
        struct lp_cause_entry entry = cause_log_until(walk->log, lp, at_ps);
        while (entry.place != 0 &&
               !(entry.type == LP_EVENT_CPU_DONE && entry.at_ps == at_ps &&
                 entry.to_lp >= m->lps.first_io_die && entry.to_lp < m->lps.first_switch))
            entry = cause_log_before(walk->log, lp, &entry);
        if (entry.place != 0 && ways_unfold(&walk->path->ways, m, lp, &entry))
            return (struct moment){.ps = at_ps, .entry = entry, .lp = lp, .end = entry.steps};
    }
    return (struct moment){.ps = at_ps};
}

bool path_walk_program(const struct lp_model *m, struct cause_log *log, int64_t from_ps,
                       int64_t to_ps, struct path *path)
{
    *path = (struct path){.log = log, .from_ps = from_ps, .to_ps = to_ps, .start = PATH_NO_LEG};
    struct walk walk = {.m = m, .log = log, .path = path};
    walk_back(&walk, end_of_programs(&walk, to_ps));
    return path->count > 0 && prepare_rivals(path) && find_begin(&walk, &path->start);
}

void path_find_rival(const struct lp_model *m, struct path *path, uint32_t number)
{
    struct walk walk = {.m = m, .log = path->log, .path = path};
    struct path_leg rival;
    path->leg[number].rival = PATH_NO_LEG;
    const bool is_part =
        path->leg[number].entry.type == LP_EVENT_DMA_DONE && !path->leg[number].after_link;
    const struct moment moment = rival_of(&walk, &path->leg[number], &rival);
    uint32_t last;
    if (moment.entry.place == 0 || !know_leg_until(&walk, moment, &last))
        return;
    if (!is_part) {
        rival.before = last;
        rival.steps_ps = path_steps_ps(m, path->log, &rival);
        if (path->legs >= path->legs_max || !push(path, rival))
            return;
        last = (uint32_t)path->legs - 1;
    }
    path->leg[number].rival = last;
    path->leg[number].rival_ps = rival.to_ps;
}

void path_free(struct path *path)
{
    ways_free(&path->ways);
    free(path->leg);
    free(path->leg_at);
}
