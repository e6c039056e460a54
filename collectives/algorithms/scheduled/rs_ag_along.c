/*
 * rs_ag_along.c: reduce-scatters and all-gathers along a ring or a line (rs_ag.h).
 */
#include "collectives/algorithms/scheduled/rs_ag_place.h"

/* How far groups travel, seen from this rank's place. */
struct reach {
    uint32_t n, at;
    uint32_t steps;        /* of the group that travels farthest */
    uint32_t up, down;     /* places upwards and downwards that groups of this place go to */
    uint32_t above, below; /* ... that groups come from, of places above and below */
    bool ring;             /* else a line */
};

static struct reach reach_of(const struct rs_ag_dim *dim, uint32_t at)
{
    const uint32_t n = dim->n;
    if (dim->joint == RS_AG_LINE)
        return (struct reach){.n = n,
                              .at = at,
                              .steps = n - 1,
                              .up = n - 1 - at,
                              .down = at,
                              .above = n - 1 - at,
                              .below = at};
    const uint32_t up = dim->way == RS_AG_UP     ? n - 1
                        : dim->way == RS_AG_DOWN ? 0
                        : dim->way == RS_AG_MEET ? n / 2
                                                 : (n - 1) / 2;
    const uint32_t down = n - 1 - up;
    return (struct reach){.n = n,
                          .at = at,
                          .steps = up > down ? up : down,
                          .up = up,
                          .down = down,
                          .above = down,
                          .below = up,
                          .ring = true};
}

/* The place some places above, or below, on a ring. */
static uint32_t place_above(const struct reach *r, uint32_t distance)
{
    const uint32_t at = r->at + distance;
    return at >= r->n ? at - r->n : at;
}

static uint32_t place_below(const struct reach *r, uint32_t distance)
{
    return r->at >= distance ? r->at - distance : r->at + r->n - distance;
}

/* Steps along a ring that are made: the first two send to both sides, and receive from them. */
static uint32_t steps_made(const struct rs_ag_place *p, const struct reach *r)
{
    return p->peers_only && r->steps > 2 ? 2 : r->steps;
}

/* The sums of the group `distance` places above (or below) pass this place on their way there. */
static void pass_sums(struct rs_ag_place *p, const struct reach *r, struct rs_ag_span w,
                      uint32_t distance, bool up)
{
    const uint32_t next = place_above(r, 1), before = place_below(r, 1);
    const uint32_t farthest = up ? r->up : r->down;
    if (distance > farthest)
        return;
    const bool begins = r->ring ? distance == farthest : up ? r->below == 0 : r->above == 0;
    rs_ag_add_step(
        p, &(struct rs_ag_step){.op = begins ? SCHEDULE_SEND : SCHEDULE_RECV_REDUCE_SEND,
                                .d = w.d,
                                .at = up ? place_above(r, distance) : place_below(r, distance),
                                .first = w.first,
                                .count = w.count,
                                .src = rs_ag_sums_before(p, w.d),
                                .send_to = rs_ag_peer_at(p, w.d, up ? next : before),
                                .recv_from = rs_ag_peer_at(p, w.d, up ? before : next)});
}

/* The sums of this place's own group have come: from below, from above. The result is sent on at
 * once, upwards if it can be, where an all-gather follows. */
static void take_sums(struct rs_ag_place *p, const struct reach *r, struct rs_ag_span w, bool sends)
{
    const uint32_t next = rs_ag_peer_at(p, w.d, place_above(r, 1));
    const uint32_t before = rs_ag_peer_at(p, w.d, place_below(r, 1));
    struct rs_ag_step step = {.op = SCHEDULE_RECV_REDUCE_COPY,
                              .d = w.d,
                              .at = r->at,
                              .first = w.first,
                              .count = w.count,
                              .src = rs_ag_sums_before(p, w.d),
                              .dst = rs_ag_sums_after(p, w.d),
                              .send_to = r->up > 0 ? next : before};
    const enum schedule_op last = sends ? SCHEDULE_RECV_REDUCE_COPY_SEND : step.op;
    if (r->below > 0) {
        step.recv_from = before;
        step.op = r->above == 0 ? last : step.op;
        rs_ag_add_step(p, &step);
        step.src = step.dst;
    }
    if (r->above > 0) {
        step.recv_from = next;
        step.op = last;
        rs_ag_add_step(p, &step);
    }
}

/* Of the one chunk: passed on, up or down, or taken. */
static void scatter_one(struct rs_ag_place *p, const struct reach *r, uint32_t d, bool sends)
{
    const struct rs_ag_span w = {.d = d, .first = p->one->chunk[d], .count = 1};
    const uint32_t above = (p->one->at[d] + r->n - r->at) % r->n;
    if (above > 0) {
        pass_sums(p, r, w, above, true);
        pass_sums(p, r, w, r->n - above, false);
    } else
        take_sums(p, r, w, sends);
}

void rs_ag_scatter_along(struct rs_ag_place *p, uint32_t d, bool sends)
{
    const struct reach r = reach_of(rs_ag_dim_of(p, d), p->at[d]);
    const uint32_t size = rs_ag_group_size(p, d), end = rs_ag_end_of_spans(p, d);
    if (p->one != NULL) {
        scatter_one(p, &r, d, sends);
        return;
    }
    for (struct rs_ag_span w = {.d = d}; w.first < end; w.first += w.count) {
        w.count = size - w.first < p->window ? size - w.first : p->window;
        for (uint32_t distance = r.steps; distance > r.steps - steps_made(p, &r); distance--) {
            pass_sums(p, &r, w, distance, true);
            pass_sums(p, &r, w, distance, false);
        }
        take_sums(p, &r, w, sends);
    }
}

/* The group of the place `distance` below (or above) comes, and is passed on. */
static void pass_result(struct rs_ag_place *p, const struct reach *r, struct rs_ag_span w,
                        uint32_t distance, bool up)
{
    const uint32_t next = place_above(r, 1), before = place_below(r, 1);
    const uint32_t come = up ? r->below : r->above;
    if (distance > come)
        return;
    const bool ends = r->ring ? distance == come : up ? r->up == 0 : r->down == 0;
    rs_ag_add_step(
        p, &(struct rs_ag_step){.op = ends ? SCHEDULE_RECV : SCHEDULE_RECV_COPY_SEND,
                                .d = w.d,
                                .at = up ? place_below(r, distance) : place_above(r, distance),
                                .first = w.first,
                                .count = w.count,
                                .dst = SCHEDULE_OUTPUT,
                                .send_to = rs_ag_peer_at(p, w.d, up ? next : before),
                                .recv_from = rs_ag_peer_at(p, w.d, up ? before : next)});
}

/* Sends a window of the own group upwards and downwards; `sent`: in one way it is in flight. */
static void give_result(struct rs_ag_place *p, const struct reach *r, struct rs_ag_span w,
                        bool sent)
{
    struct rs_ag_step step = {.op = SCHEDULE_SEND,
                              .d = w.d,
                              .at = r->at,
                              .first = w.first,
                              .count = w.count,
                              .src = rs_ag_sends_input(p, w.d) ? SCHEDULE_INPUT : SCHEDULE_OUTPUT};
    if (r->up > 0 && !sent) {
        step.send_to = rs_ag_peer_at(p, w.d, place_above(r, 1));
        rs_ag_add_step(p, &step);
    }
    if (r->down > 0 && !(sent && r->up == 0)) {
        step.send_to = rs_ag_peer_at(p, w.d, place_below(r, 1));
        rs_ag_add_step(p, &step);
    }
    if (rs_ag_sends_input(p, w.d))
        rs_ag_keep_own(p);
}

/* Of the one chunk: sent, or passed on as it comes from below or from above. */
static void gather_one(struct rs_ag_place *p, const struct reach *r, uint32_t d, bool sent)
{
    const struct rs_ag_span w = {.d = d, .first = p->one->chunk[d], .count = 1};
    const uint32_t below = (r->at + r->n - p->one->at[d]) % r->n;
    if (below > 0) {
        pass_result(p, r, w, below, true);
        pass_result(p, r, w, r->n - below, false);
    } else
        give_result(p, r, w, sent);
}

void rs_ag_gather_along(struct rs_ag_place *p, uint32_t d, bool sent)
{
    const struct reach r = reach_of(rs_ag_dim_of(p, d), p->at[d]);
    const uint32_t size = rs_ag_group_size(p, d), end = rs_ag_end_of_spans(p, d);
    if (p->one != NULL) {
        gather_one(p, &r, d, sent);
        return;
    }
    for (struct rs_ag_span w = {.d = d}; w.first < end; w.first += w.count) {
        w.count = size - w.first < p->window ? size - w.first : p->window;
        give_result(p, &r, w, sent);
        for (uint32_t distance = 1; distance <= steps_made(p, &r); distance++) {
            pass_result(p, &r, w, distance, true);
            pass_result(p, &r, w, distance, false);
        }
    }
}

uint64_t rs_ag_scatter_steps(const struct rs_ag_dim *dim)
{
    uint64_t steps = 0;
    for (uint32_t at = 0; at < dim->n; at++) {
        const struct reach r = reach_of(dim, at);
        steps += r.up + r.down + (r.below > 0) + (r.above > 0);
    }
    return steps;
}

uint64_t rs_ag_gather_steps(const struct rs_ag_dim *dim, bool sent)
{
    uint64_t steps = 0;
    for (uint32_t at = 0; at < dim->n; at++) {
        const struct reach r = reach_of(dim, at);
        steps += r.below + r.above + (r.up > 0 && !sent) + (r.down > 0 && !(sent && r.up == 0));
    }
    return steps;
}
