/*
 * rs_ag_directly.c: reduce-scatters and all-gathers where every two places are joined (rs_ag.h).
 */
#include "collectives/algorithms/scheduled/rs_ag_place.h"

/* The thread of the part that exchanges messages with the place `distance` above. A thread has this
 * many peers at most; messages along rings and lines are the first thread's. */
static uint32_t thread_for(const struct rs_ag_part *part, uint32_t d, uint32_t distance)
{
    uint32_t peers = distance - 1;
    for (uint32_t k = 0; k < part->dims; k++)
        if (part->dim[k].joint != RS_AG_DIRECT)
            peers += 2;
        else if (k < d)
            peers += part->dim[k].n - 1;
    return peers / RS_AG_PEERS_MAX;
}

uint32_t rs_ag_threads_of(const struct rs_ag_part *part)
{
    uint32_t threads = 1;
    for (uint32_t d = 0; d < part->dims; d++)
        if (part->dim[d].joint == RS_AG_DIRECT)
            threads = thread_for(part, d, part->dim[d].n - 1) + 1;
    return threads;
}

bool rs_ag_fits(const struct rs_ag_part *part)
{
    return rs_ag_threads_of(part) <= RS_AG_THREADS_MAX;
}

int rs_ag_refuse(const struct ccl_call *call, struct ccl_refusal *refusal)
{
    (void)ccl_refuse(refusal, "defaults.module",
                     "%s would exchange messages with %u other ranks directly",
                     call->ccl->algorithm, call->world_size - 1);
    return ccl_legal(refusal,
                     "legal are at most %d ranks; ring_rs_ag and halving_doubling take any number",
                     RS_AG_THREADS_MAX * RS_AG_PEERS_MAX + 1);
}

/* Sends a window to every other place: of that place's group, or of the own one. */
static void send_directly(struct rs_ag_place *p, struct rs_ag_span w, bool own)
{
    const uint32_t n = rs_ag_dim_of(p, w.d)->n, at = p->at[w.d];
    for (uint32_t distance = 1; distance < n; distance++) {
        const uint32_t to = (at + distance) % n;
        rs_ag_add_step(p,
                       &(struct rs_ag_step){.op = SCHEDULE_SEND,
                                            .d = w.d,
                                            .at = own ? at : to,
                                            .first = w.first,
                                            .count = w.count,
                                            .src = !own ? rs_ag_sums_before(p, w.d)
                                                   : rs_ag_sends_input(p, w.d) ? SCHEDULE_INPUT
                                                                               : SCHEDULE_OUTPUT,
                                            .send_to = rs_ag_peer_at(p, w.d, to),
                                            .thread = thread_for(rs_ag_part_of(p), w.d, distance)});
    }
}

/* The sum of the own group is formed in the order in which the places follow this one downwards. */
void rs_ag_scatter_directly(struct rs_ag_place *p, uint32_t d)
{
    const uint32_t n = rs_ag_dim_of(p, d)->n, at = p->at[d], size = rs_ag_group_size(p, d);
    for (struct rs_ag_span w = {.d = d, .first = rs_ag_first_span(p, d)};
         w.first < rs_ag_end_of_spans(p, d); w.first += w.count) {
        uint32_t before = 0;
        w.count = size - w.first < p->window ? size - w.first : p->window;
        send_directly(p, w, false);
        for (uint32_t distance = n - 1; distance > 0; distance--) {
            const bool first = distance == n - 1;
            const uint32_t thread = thread_for(rs_ag_part_of(p), d, distance);
            rs_ag_add_step(p, &(struct rs_ag_step){
                                  .op = SCHEDULE_RECV_REDUCE_COPY,
                                  .d = d,
                                  .at = at,
                                  .first = w.first,
                                  .count = w.count,
                                  .src = first ? rs_ag_sums_before(p, d) : rs_ag_sums_after(p, d),
                                  .dst = rs_ag_sums_after(p, d),
                                  .recv_from = rs_ag_peer_at(p, d, (at + distance) % n),
                                  .thread = thread,
                                  .after = first ? NULL : &before});
            before = thread;
        }
    }
}

void rs_ag_gather_directly(struct rs_ag_place *p, uint32_t d)
{
    const uint32_t n = rs_ag_dim_of(p, d)->n, at = p->at[d], size = rs_ag_group_size(p, d);
    for (struct rs_ag_span w = {.d = d, .first = rs_ag_first_span(p, d)};
         w.first < rs_ag_end_of_spans(p, d); w.first += w.count) {
        w.count = size - w.first < p->window ? size - w.first : p->window;
        send_directly(p, w, true);
        if (rs_ag_sends_input(p, d))
            rs_ag_keep_own(p);
        for (uint32_t distance = n - 1; distance > 0; distance--)
            rs_ag_add_step(
                p, &(struct rs_ag_step){.op = SCHEDULE_RECV,
                                        .d = d,
                                        .at = (at + distance) % n,
                                        .first = w.first,
                                        .count = w.count,
                                        .dst = SCHEDULE_OUTPUT,
                                        .recv_from = rs_ag_peer_at(p, d, (at + distance) % n),
                                        .thread = thread_for(rs_ag_part_of(p), d, distance)});
    }
}
