/*
 * path_parts.c: the parts of a path's legs (path.h), on the model's machine or on a faster one.
 * Runs between drains, on one thread.
 */
#include "bench/explain/path_parts.h"

#include <stdlib.h>

#include "hw/faults.h"
#include "hw/route.h"
#include "hw/timing.h"
#include "lp/host/link_use.h"

/* ---- the parts of a leg ---------------------------------------------------------------------- */

/* The parts of a leg on a machine `hw`, which is the model's or a faster one. */
struct resolving {
    const struct lp_model *m;
    struct cause_log *log;
    const struct hw_config *hw;
    const struct path_leg *leg;
    path_part_fn visit;
    void *arg;
    int64_t sum_ps;
    bool credit; /* the parts belong to a credit's way */
    struct hw_jitter_place place;
};

/* Where a leg's own work is done. */
static struct hw_jitter_place place_of_leg(const struct lp_model *m, const struct path_leg *leg)
{
    struct hw_jitter_place place = lp_link_place(m, leg->lp, UINT32_MAX);
    const uint32_t pe = leg->entry.entity - 1;
    if (leg->entry.entity > 0 && leg->lp == 1 + pe / m->pes)
        place.pe = pe % m->pes;
    return place;
}

static struct resolving resolving_of(const struct lp_model *m, struct cause_log *log,
                                     const struct hw_config *hw, const struct path_leg *leg)
{
    return (struct resolving){
        .m = m, .log = log, .hw = hw, .leg = leg, .place = place_of_leg(m, leg)};
}

/* The time that slow parts add here to an operation of cost_ps. */
static int64_t slower_node_ps(const struct resolving *r, uint32_t node, int64_t cost_ps)
{
    return hw_slow_node_ps(r->hw, (enum hw_node_kind)node, &r->place, cost_ps, r->leg->from_ps);
}

static int64_t slower_link_ps(const struct resolving *r, uint32_t kind, uint64_t bytes)
{
    return hw_slow_link_ps(r->hw, (enum hw_link_kind)kind, &r->place, bytes, r->leg->from_ps);
}

/* path_part.slow. Wraps to 0. */
static uint16_t slow_number(const struct resolving *r, enum path_class class, uint32_t which)
{
    if (r->credit || (class != PATH_NODE && class != PATH_SERIAL && class != PATH_QUEUE))
        return 0;
    return (uint16_t)(1 + hw_slow_at(r->hw, class == PATH_NODE ? which : HW_NODE_KINDS + which,
                                     &r->place, r->leg->from_ps));
}

static void add(struct resolving *r, enum path_class class, uint32_t which, uint32_t link,
                int64_t ps)
{
    const struct lp_cause_entry *const entry = &r->leg->entry;
    r->sum_ps += ps;
    if (ps == 0 || r->visit == NULL)
        return;
    r->visit(r->arg, &(struct path_part){.class = (uint8_t) class,
                                         .which = (uint8_t)which,
                                         .link = (uint16_t)link,
                                         .lp = r->leg->lp,
                                         .pe = entry->type == LP_EVENT_KERNEL ? entry->entity - 1
                                                                              : UINT32_MAX,
                                         .credit = r->credit,
                                         .slow = slow_number(r, class, which),
                                         .ps = ps});
}

/* ---- the way of a credit --------------------------------------------------------------------- */

/* The idle time of a credit's way, and its parts if `r` is not NULL. */
struct credit_way {
    const struct hw_config *hw;
    struct resolving *r;
    uint32_t bytes, slowest; /* kind of link */
    int64_t ps, ser_ps;
};

static void take_credit_step(void *arg, const struct hw_path_step *step)
{
    struct credit_way *const way = arg;
    const int64_t ps =
        step->is_link ? way->hw->link[step->kind].prop_ps : way->hw->overhead_ps[step->kind];
    const int64_t ser_ps = step->is_link ? hw_ser_ps(&way->hw->link[step->kind], way->bytes) : 0;
    way->ps += ps;
    if (ser_ps > way->ser_ps) {
        way->ser_ps = ser_ps;
        way->slowest = step->kind;
    }
    if (way->r != NULL)
        add(way->r, step->is_link ? PATH_FLIGHT : PATH_NODE, step->kind, UINT16_MAX, ps);
}

static int64_t walk_credit(struct resolving *r, const struct hw_config *hw, uint32_t from,
                           uint32_t to, uint32_t exit, uint32_t queue, bool adding)
{
    struct credit_way way = {.hw = hw, .r = adding ? r : NULL, .bytes = r->m->config.credit_bytes};
    hw_path_walk(hw, hw_place_of(hw, from), hw_place_of(hw, to), HW_MEMORY_NONE, exit, queue,
                 take_credit_step, &way);
    if (adding)
        add(r, PATH_SERIAL, way.slowest, UINT16_MAX, way.ser_ps);
    return way.ps + way.ser_ps;
}

/* Whether a credit from a PE to another, by this outlet, takes so long; then its parts are added.
 */
static bool added_credit(struct resolving *r, uint32_t from, uint32_t to, uint32_t exit, int64_t ps)
{
    const struct hw_config *const hw = &r->m->hw;
    for (uint32_t queue = hw->sip_topology->hashes ? 0 : HW_DIRS_MAX; queue <= HW_DIRS_MAX; queue++)
        if (walk_credit(r, hw, from, to, exit, queue, false) == ps) {
            (void)walk_credit(r, r->hw, from, to, exit, queue, true);
            return true;
        }
    return false;
}

/* A credit takes the idle time of its path. That time shows by which outlet the path leaves the
 * SIP, and, where routes depend on that, of which queue it is. */
static void add_credit(struct resolving *r, uint32_t from, uint32_t to, int64_t ps)
{
    const struct hw_config *const hw = &r->m->hw;
    const uint32_t pes = hw_pe_count(hw);
    r->credit = true;
    for (uint32_t i = 0; i <= HW_PORTS && from < pes && to < pes && from != to; i++) {
        const uint32_t exit = i == 0 ? HW_OUTLET_NONE
                                     : hw_route_global_exit(hw, hw_place_of(hw, from).sip,
                                                            (enum hw_dir)(HW_DIR_GLOBAL_N + i - 1));
        if (i > 0 &&
            (exit == HW_OUTLET_NONE || hw_place_of(hw, from).sip == hw_place_of(hw, to).sip ||
             hw_hop(hw, hw_place_of(hw, from).sip, exit).link == HW_LINK_KINDS))
            continue;
        if (added_credit(r, from, to, exit, ps)) {
            r->credit = false;
            return;
        }
    }
    add(r, PATH_CREDIT, 0, UINT16_MAX, ps);
    r->credit = false;
}

/* Adds the time that a receive waits for the credit that the same event has sent. */
static void add_credit_of_receive(struct resolving *r, int64_t ps)
{
    const struct lp_cause_entry *const own = &r->leg->entry;
    for (struct lp_cause_entry other = *own; other.place != 0 && other.now_ps == own->now_ps;
         other = cause_log_before(r->log, r->leg->lp, &other))
        if (other.type == LP_EVENT_CREDIT && other.by_entity == own->by_entity &&
            other.by_number == own->by_number && other.entity == own->entity &&
            other.at_ps - other.now_ps == ps) {
            add_credit(r, own->entity - 1, other.bytes, ps);
            return;
        }
    add(r, PATH_CREDIT, 0, UINT16_MAX, ps);
}

/* A time that a rate has given, at the other machine's rate. Where a rate gives no time at all, the
 * time came from elsewhere. */
static int64_t at_rate(int64_t ps, struct hw_rate before, struct hw_rate now)
{
    if ((before.num == now.num && before.den == now.den) || before.num == 0 || before.den == 0 ||
        now.den == 0)
        return ps;
    return (int64_t)((double)ps * ((double)now.num / (double)now.den) /
                         ((double)before.num / (double)before.den) +
                     0.5);
}

/* How much slower a block is on the model's machine. */
static int64_t slower_percent(const struct resolving *r, enum hw_node_kind node)
{
    return hw_slow_node_ps(&r->m->hw, node, &r->place, 100, r->leg->from_ps);
}

/* A block's work: an overhead, and a time by its rate; all of it longer where the block is slow. */
static int64_t work_ps(const struct resolving *r, enum hw_node_kind node, int64_t ps,
                       struct hw_rate before, struct hw_rate now)
{
    const int64_t own_ps = ps * 100 / (100 + slower_percent(r, node)),
                  overhead_ps = r->m->hw.overhead_ps[node];
    if (r->hw == &r->m->hw || own_ps < overhead_ps)
        return ps;
    const int64_t now_ps = r->hw->overhead_ps[node] + at_rate(own_ps - overhead_ps, before, now);
    return now_ps + slower_node_ps(r, node, now_ps);
}

/* pe_dma's overhead on the way out, which a slow PE_DMA has longer, but not for all pieces. */
static int64_t dma_out_ps(const struct resolving *r, int64_t ps)
{
    const enum hw_node_kind node = HW_NODE_PE_DMA;
    const int64_t old_ps = r->m->hw.overhead_ps[node], now_ps = r->hw->overhead_ps[node];
    const double before = (double)old_ps * (double)slower_percent(r, node);
    const double now = (double)now_ps * (double)slower_node_ps(r, node, 100);
    const int64_t late_ps = ps - old_ps;
    return now_ps + (before > 0 ? (int64_t)((double)late_ps * now / before + 0.5) : late_ps);
}

static void add_calls(struct resolving *r, uint32_t step)
{
    static const struct {
        uint32_t nodes;
        enum hw_node_kind node[3];
    } calls[] = {{1, {HW_NODE_PE_CPU}},
                 {2, {HW_NODE_PE_CPU, HW_NODE_PE_IPCQ}},
                 {3, {HW_NODE_PE_CPU, HW_NODE_PE_SCHEDULER, HW_NODE_PE_MMU}},
                 {2, {HW_NODE_PE_CPU, HW_NODE_PE_SCHEDULER}}};
    for (uint32_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const uint32_t count = step >> i * LP_STEP_CALLS_BITS & ((1u << LP_STEP_CALLS_BITS) - 1);
        for (uint32_t k = 0; k < calls[i].nodes; k++) {
            const enum hw_node_kind node = calls[i].node[k];
            const int64_t ps = r->hw->overhead_ps[node];
            add(r, PATH_NODE, node, UINT16_MAX, count * (ps + slower_node_ps(r, node, ps)));
        }
    }
}

/* The service of m_cpu or io_cpu, after other messages, each of which takes as long. */
static void add_service(struct resolving *r, enum hw_node_kind node, int64_t ps)
{
    const int64_t old_ps = r->m->hw.overhead_ps[node], now_ps = r->hw->overhead_ps[node];
    add(r, PATH_NODE, node, UINT16_MAX,
        old_ps > 0 ? (int64_t)((double)ps * (double)now_ps / (double)old_ps + 0.5) : ps);
}

static void add_part(struct resolving *r, enum lp_cause_part part, int64_t ps)
{
    const struct hw_config *const old = &r->m->hw, *const hw = r->hw;
    switch (part) {
    case LP_PART_CPU:
        add(r, PATH_NODE, HW_NODE_PE_CPU, UINT16_MAX, hw->overhead_ps[HW_NODE_PE_CPU]);
        break;
    case LP_PART_FETCH:
        add(r, PATH_NODE, HW_NODE_PE_FETCH_STORE, UINT16_MAX,
            work_ps(r, HW_NODE_PE_FETCH_STORE, ps, old->fetch_store, hw->fetch_store));
        break;
    case LP_PART_MATH:
        add(r, PATH_NODE, HW_NODE_PE_MATH, UINT16_MAX,
            work_ps(r, HW_NODE_PE_MATH, ps, old->math_cycle, hw->math_cycle));
        break;
    case LP_PART_GEMM:
        add(r, PATH_NODE, HW_NODE_PE_GEMM, UINT16_MAX,
            work_ps(r, HW_NODE_PE_GEMM, ps, old->gemm_cycle, hw->gemm_cycle));
        break;
    case LP_PART_CREDIT:
        add_credit_of_receive(r, ps);
        break;
    case LP_PART_SLOT:
        add(r, PATH_SLOT, 0, UINT16_MAX, ps);
        break;
    case LP_PART_POLL:
        add(r, PATH_POLL, 0, UINT16_MAX, ps);
        break;
    case LP_PART_STATIC:
    case LP_PART_TOGETHER:
        add(r, PATH_LAUNCH, 0, UINT16_MAX, ps);
        break;
    case LP_PART_PE:
        add(r, PATH_KERNEL, 0, UINT16_MAX, ps);
        break;
    case LP_PART_TIME:
        add(r, PATH_TIME, 0, UINT16_MAX, ps);
        break;
    case LP_PART_DMA:
        add(r, PATH_NODE, HW_NODE_PE_DMA, UINT16_MAX, dma_out_ps(r, ps));
        break;
    case LP_PART_SER_HBM:
    case LP_PART_SER_SRAM:
    case LP_PART_SER_TCM: {
        const enum hw_link_kind kind = part == LP_PART_SER_HBM    ? HW_LINK_HBM
                                       : part == LP_PART_SER_SRAM ? HW_LINK_SRAM
                                                                  : HW_LINK_TCM;
        add(r, PATH_SERIAL, kind, UINT16_MAX,
            at_rate(ps, old->link[kind].rate, hw->link[kind].rate));
        break;
    }
    case LP_PART_WIRE:
        add(r, PATH_NODE, HW_NODE_PE_IPCQ, UINT16_MAX, ps - old->ipcq_wire_ps + hw->ipcq_wire_ps);
        break;
    case LP_PART_SERVER:
        add_service(r, r->leg->lp < r->m->lps.first_io_die ? HW_NODE_M_CPU : HW_NODE_IO_CPU, ps);
        break;
    default:
        add(r, PATH_REST, 0, UINT16_MAX, ps);
    }
}

static struct hw_rate rate_of(const struct hw_config *hw, uint32_t kind)
{
    return kind < HW_LINK_KINDS ? hw->link[kind].rate : hw->dma_reduce;
}

/* The serialisation on a kind of link, if that is at most what was paid; else 0. */
static int64_t paid_on(const struct resolving *r, enum hw_link_kind kind)
{
    const struct lp_cause_entry *const entry = &r->leg->entry;
    return hw_ser_ps(&r->m->hw.link[kind], entry->bytes) <= entry->sigma_ps
               ? hw_ser_ps(&r->hw->link[kind], entry->bytes)
               : 0;
}

static int64_t longer_ps(int64_t a, int64_t b) { return a > b ? a : b; }

/* The serialisation that was paid before this handler. The entry does not say on which link: the
 * first kind that fits is taken. A transfer from another LP has crossed the links between cubes. */
static int64_t sigma_before(const struct resolving *r)
{
    const struct lp_cause_entry *const entry = &r->leg->entry;
    int64_t sigma_ps = entry->sigma_ps;
    for (uint32_t kind = 0; kind < HW_LINK_KINDS && r->hw != &r->m->hw; kind++) {
        const struct hw_rate old = r->m->hw.link[kind].rate, now = r->hw->link[kind].rate;
        if ((old.num != now.num || old.den != now.den) && old.den > 0 &&
            hw_rate_ps(old, entry->bytes) == entry->sigma_ps) {
            sigma_ps = hw_rate_ps(now, entry->bytes);
            break;
        }
    }
    if (sigma_ps < entry->sigma_ps && entry->by_type == LP_EVENT_TRANSFER)
        sigma_ps =
            longer_ps(sigma_ps, longer_ps(paid_on(r, HW_LINK_UCIE), paid_on(r, HW_LINK_NOC_UCIE)));
    return sigma_ps;
}

/* A step over a link: from the moment when the tail is ready there, or has left it. */
static void add_link(struct resolving *r, uint32_t i, uint32_t step, int64_t *sigma_ps)
{
    const struct path_leg *const leg = r->leg;
    const uint32_t kind = lp_step_kind(step), node = lp_step_node(step);
    const bool reduce = kind >= HW_LINK_KINDS;
    const bool costs = (step & LP_STEP_FREE) == 0;
    const int64_t ser_ps = costs ? hw_rate_ps(rate_of(r->hw, kind), leg->entry.bytes) : 0;
    const int64_t more_ps = ser_ps > *sigma_ps ? ser_ps - *sigma_ps : 0;
    const bool queued = leg->after_link && i == leg->first;
    *sigma_ps += more_ps;
    if (i < leg->first || i >= leg->end)
        return;
    r->place = lp_link_place(r->m, leg->lp, lp_step_index(step));
    add(r,
        reduce   ? PATH_REDUCE
        : queued ? PATH_QUEUE
                 : PATH_SERIAL,
        reduce ? 0 : kind, lp_step_index(step), queued ? ser_ps : more_ps);
    if (!reduce) /* a slow link holds the tail, whatever was paid before, */
        add(r, queued ? PATH_QUEUE : PATH_SERIAL, kind, lp_step_index(step),
            costs ? slower_link_ps(r, kind, leg->entry.bytes) : 0);
    const int64_t late_ps =
        step & LP_STEP_LATE ? slower_node_ps(r, node, r->hw->overhead_ps[node]) : 0;
    const bool holds = node == HW_NODE_PE_DMA || node == HW_NODE_PE_TCM;
    if (holds) /* and so does a slow PE_DMA or PE_TCM */
        add(r, PATH_NODE, node, UINT16_MAX, late_ps);
    if (leg->to_link && i + 1 == leg->end)
        return;
    if (!reduce)
        add(r, PATH_FLIGHT, kind, lp_step_index(step), r->hw->link[kind].prop_ps);
    if (node < HW_NODE_KINDS)
        add(r, PATH_NODE, node, UINT16_MAX, r->hw->overhead_ps[node] + (holds ? 0 : late_ps));
}

/* The parts that the steps give. */
static void add_steps(struct resolving *r)
{
    const struct path_leg *const leg = r->leg;
    const uint32_t *const steps = leg->entry.step;
    int64_t sigma_ps = sigma_before(r);
    for (uint32_t i = 0; i < leg->entry.steps; i += lp_step_words(steps[i])) {
        if (!lp_step_is_part(steps[i])) {
            const struct hw_jitter_place place = r->place;
            add_link(r, i, steps[i], &sigma_ps);
            r->place = place;
        } else if (i >= leg->first && i < leg->end) {
            if (lp_step_part(steps[i]) == LP_PART_CALLS)
                add_calls(r, steps[i]);
            else
                add_part(r, lp_step_part(steps[i]), lp_step_ps(&steps[i]));
        }
    }
}

/* The bytes of the operation that leaves the engine with the event to which a leg leads; 0: none.
 */
static uint32_t passed_bytes(const struct resolving *r)
{
    const struct lp_cause_entry *const own = &r->leg->entry;
    struct lp_cause_entry entry = cause_log_until(r->log, r->leg->lp, own->at_ps);
    for (; entry.place != 0 && entry.now_ps == own->at_ps;
         entry = cause_log_before(r->log, r->leg->lp, &entry))
        if (entry.by_type == LP_EVENT_ENGINE && entry.by_entity == own->entity &&
            entry.by_number == own->number && entry.type != LP_EVENT_ENGINE && entry.bytes > 0)
            return entry.bytes;
    return 0;
}

/* The engine of PE_DMA passes an operation, and what is left of another one. What is left becomes
 * shorter by as much as all of that one: its size is taken to be that of this one. */
static int64_t engine_ps(const struct resolving *r, int64_t ps)
{
    const struct hw_link_class *const old = &r->m->hw.link[HW_LINK_PE_NOC],
                                      *const now = &r->hw->link[HW_LINK_PE_NOC];
    if (old->rate.num == now->rate.num && old->rate.den == now->rate.den)
        return ps;
    const uint32_t bytes = passed_bytes(r);
    const int64_t own_ps = hw_ser_ps(old, bytes), now_ps = hw_ser_ps(now, bytes);
    const int64_t others_ps = ps - own_ps;
    if (bytes == 0 || others_ps < 0)
        return at_rate(ps, old->rate, now->rate);
    return now_ps + longer_ps(0, others_ps - (own_ps - now_ps));
}

/* The rest of a leg's time has no steps: the event's type gives the reason. */
static void add_rest(struct resolving *r, int64_t rest_ps)
{
    const struct lp_cause_entry *const entry = &r->leg->entry;
    const struct hw_rate old = r->m->hw.link[HW_LINK_PE_NOC].rate;
    if (entry->type == LP_EVENT_ENGINE)
        add(r, PATH_ENGINE, HW_LINK_PE_NOC, UINT16_MAX, engine_ps(r, rest_ps));
    else if (entry->type == LP_EVENT_MEMORY || entry->type == LP_EVENT_LEND)
        add(r, PATH_ENGINE, HW_LINK_PE_NOC, UINT16_MAX,
            at_rate(rest_ps, old, r->hw->link[HW_LINK_PE_NOC].rate));
    else if (entry->type == LP_EVENT_CREDIT && entry->steps == 0)
        add_credit(r, entry->entity - 1, entry->bytes, rest_ps);
    else
        add(r, PATH_REST, 0, UINT16_MAX, rest_ps);
}

/* The time that the steps of a leg give on the model's machine. */
int64_t path_steps_ps(const struct lp_model *m, struct cause_log *log, const struct path_leg *leg)
{
    struct resolving r = resolving_of(m, log, &m->hw, leg);
    add_steps(&r);
    return r.sum_ps;
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Passes on the parts of a leg that are not before the path's start. */
struct cutting {
    int64_t left_ps;
    path_part_fn visit;
    void *arg;
};

static void visit_cut(void *arg, const struct path_part *part)
{
    struct cutting *const cutting = arg;
    struct path_part rest = *part;
    const int64_t cut_ps = cutting->left_ps < part->ps ? cutting->left_ps : part->ps;
    cutting->left_ps -= cut_ps;
    rest.ps -= cut_ps;
    if (rest.ps > 0)
        cutting->visit(cutting->arg, &rest);
}

void path_visit(const struct lp_model *m, struct path *path, path_part_fn visit, void *arg)
{
    for (size_t i = 0; i < path->count; i++) {
        struct path_leg *const leg = &path->leg[i];
        struct cutting cutting = {
            .left_ps = path->from_ps > leg->from_ps ? path->from_ps - leg->from_ps : 0,
            .visit = visit,
            .arg = arg};
        struct resolving r = resolving_of(m, path->log, &m->hw, leg);
        r.visit = cutting.left_ps > 0 ? visit_cut : visit;
        r.arg = cutting.left_ps > 0 ? &cutting : arg;
        add_steps(&r);
        leg->steps_ps = r.sum_ps;
        add_rest(&r, leg->to_ps - leg->from_ps - leg->steps_ps);
    }
    if (path->host_ps > 0)
        visit(arg, &(struct path_part){.class = PATH_QUEUE,
                                       .which = HW_LINK_PCIE,
                                       .link = UINT16_MAX,
                                       .lp = path->host_lp,
                                       .pe = UINT32_MAX,
                                       .ps = path->host_ps});
}

/* The legs on another machine. */
struct retiming {
    const struct lp_model *m;
    struct path *path;
    const struct hw_config *hw;
    int64_t *ends_ps; /* [ends] by leg */
    size_t ends;
};

static int64_t retime_leg_ps(const struct retiming *to, const struct path_leg *leg)
{
    struct resolving r = resolving_of(to->m, to->path->log, to->hw, leg);
    add_steps(&r);
    add_rest(&r, leg->to_ps - leg->from_ps - leg->steps_ps);
    return r.sum_ps;
}

/* When a leg begins that nothing is known before: a launch message comes from the host, after
 * others on pcie. */
static int64_t retime_begin_ps(const struct retiming *to, const struct path_leg *leg)
{
    const int64_t since_ps = to->path->injected_ps;
    return since_ps + at_rate(leg->from_ps - since_ps, to->m->hw.link[HW_LINK_PCIE].rate,
                              to->hw->link[HW_LINK_PCIE].rate);
}

enum { NOT_YET = -1, BEING_TIMED = -2 };

/* Room for the ends of all legs, of which more and more become known. */
static bool need_ends(struct retiming *to)
{
    if (to->path->legs <= to->ends)
        return true;
    const size_t ends = 2 * to->path->legs;
    int64_t *const more = realloc(to->ends_ps, ends * sizeof *more);
    if (more == NULL)
        return false;
    for (size_t i = to->ends; i < ends; i++)
        more[i] = NOT_YET;
    to->ends_ps = more;
    to->ends = ends;
    return true;
}

/* A leg ends when it has followed on the one before it, or when its rival does. A rival that would
 * have been there by now without any change need not be timed. Returns the leg that must be timed
 * before this one; PATH_NO_LEG: this one is timed. */
static uint32_t time_leg(struct retiming *to, uint32_t number)
{
    struct path *const path = to->path;
    const struct path_leg *leg = &path->leg[number];
    const uint32_t before = leg->before;
    if (before != PATH_NO_LEG && to->ends_ps[before] == NOT_YET)
        return before;
    const int64_t from_ps = before == PATH_NO_LEG ? retime_begin_ps(to, leg) : to->ends_ps[before];
    int64_t ps = from_ps + retime_leg_ps(to, leg);
    if (leg->rival == PATH_UNKNOWN) {
        path_find_rival(to->m, path, number);
        leg = &path->leg[number];
        if (!need_ends(to)) {
            to->ends_ps[number] = ps;
            return PATH_NO_LEG;
        }
    }
    if (leg->rival != PATH_NO_LEG && leg->rival_ps > ps) {
        if (to->ends_ps[leg->rival] == NOT_YET)
            return leg->rival;
        ps = to->ends_ps[leg->rival] > ps ? to->ends_ps[leg->rival] : ps;
    }
    to->ends_ps[number] = ps;
    return PATH_NO_LEG;
}

/* Times a leg, with all legs that it needs. False: out of memory. */
static bool time_legs(struct retiming *to, uint32_t last)
{
    uint32_t *stack = NULL;
    size_t depth = 0, room = 0;
    for (uint32_t next = last; to->ends_ps[last] < 0 || depth > 0;) {
        if (next != PATH_NO_LEG) {
            if (depth == room) {
                room = room > 0 ? 2 * room : 1024;
                uint32_t *const more = realloc(stack, room * sizeof *more);
                if (more == NULL) {
                    free(stack);
                    return false;
                }
                stack = more;
            }
            stack[depth++] = next;
            to->ends_ps[next] = BEING_TIMED;
        }
        next = time_leg(to, stack[depth - 1]);
        depth -= next == PATH_NO_LEG;
    }
    free(stack);
    return true;
}

int64_t path_retime_ps(const struct lp_model *m, struct path *path, const struct hw_config *hw)
{
    struct retiming to = {.m = m, .path = path, .hw = hw};
    int64_t ps = path->to_ps - path->from_ps;
    if (path->leg_places > 0 && need_ends(&to) && time_legs(&to, 0)) {
        ps = to.ends_ps[0] - path->from_ps;
        if (path->start != PATH_NO_LEG && time_legs(&to, path->start))
            ps = to.ends_ps[0] - to.ends_ps[path->start];
    }
    free(to.ends_ps);
    return ps;
}
