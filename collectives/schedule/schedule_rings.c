/*
 * schedule_rings.c: carries out a schedule with rings of some slots, tile by tile
 * (schedule_rings.h). Each thread runs until it waits; whoever ends its wait puts it on a list
 * of threads that may continue. So the work is one step of this loop for each tile and each wait.
 * The outcome does not depend on the order, since a thread that can continue can do so until it
 * does.
 */
#include "collectives/schedule/schedule_rings.h"

#include <stdlib.h>
#include <string.h>

/* A thread of a rank, on its way. */
struct ring_thread {
    uint32_t first, count; /* steps, numbered as in the graph */
    uint32_t step;         /* in the thread */
    uint32_t chain;        /* steps that are carried out as one, from `step` on */
    uint32_t tile;         /* of the step */
    uint32_t link;         /* of the chain: the current step for this tile */
    bool received;         /* this tile, which is still to be sent */
    bool listed;           /* on the list */
};

struct rings {
    const struct schedule_graph *graph;
    uint32_t slots, tiles_of_chunk;
    const struct small_chunks *small; /* NULL: none are known */
    struct ring_thread *thread;
    uint32_t threads;
    uint32_t *thread_first; /* [rank_count + 1]: a rank's threads */
    uint32_t *tiles;        /* [queues]: in the ring */
    uint32_t *from, *to;    /* [queues]: threads */
    uint32_t *list, listed;
};

static void rings_list(struct rings *r, uint32_t thread)
{
    if (r->thread[thread].listed)
        return;
    r->thread[thread].listed = true;
    r->list[r->listed++] = thread;
}

/* A step that this one waits for, in the graph's numbers; GRAPH_NONE: none any more. */
static uint32_t rings_awaited(const struct rings *r, uint32_t i)
{
    const struct schedule_graph *const graph = r->graph;
    const struct schedule_step *const step = schedule_graph_step(graph, i);
    for (uint32_t k = 0; k < step->wait_count; k++) {
        const uint32_t on = schedule_graph_awaited(graph, i, k);
        const struct ring_thread *const thread =
            &r->thread[r->thread_first[graph->rank_of[on]] + graph->thread_of[on]];
        if (thread->step <= schedule_graph_number(graph, on))
            return on;
    }
    return GRAPH_NONE;
}

/* Of a step, as many tiles as rings allow, at most this many; returns how many. A tile that is
 * received, but finds no place in the other ring, is kept. */
static uint32_t rings_tiles(struct rings *r, struct ring_thread *thread, uint32_t i, uint32_t most)
{
    const uint32_t in = r->graph->receive_queue[i], out = r->graph->send_queue[i];
    if (in != GRAPH_NONE) {
        const uint32_t here = r->tiles[in] + thread->received;
        most = here < most ? here : most;
    }
    if (most > 0 && out != GRAPH_NONE) {
        const uint32_t free_slots = r->slots - r->tiles[out];
        most = free_slots < most ? free_slots : most;
        if (most == 0 && in != GRAPH_NONE && !thread->received) {
            r->tiles[in]--;
            thread->received = true;
            rings_list(r, r->from[in]);
        }
    }
    if (most == 0)
        return 0;
    if (in != GRAPH_NONE) {
        r->tiles[in] -= most - thread->received;
        rings_list(r, r->from[in]);
    }
    if (out != GRAPH_NONE) {
        r->tiles[out] += most;
        rings_list(r, r->to[out]);
    }
    thread->received = false;
    return most;
}

static uint32_t tiles_of_step(const struct rings *r, uint32_t i)
{
    const uint32_t count = schedule_graph_step(r->graph, i)->count;
    if (r->small == NULL || !r->small->together[i])
        return count * r->tiles_of_chunk;
    return (uint32_t)((count * r->small->chunk_bytes + r->small->tile_bytes - 1) /
                      r->small->tile_bytes);
}

/* The same of all steps that are carried out as one, from step i on: of several, tile by tile. */
static uint32_t rings_chain(struct rings *r, struct ring_thread *thread, uint32_t i, uint32_t most)
{
    if (thread->chain == 1)
        return rings_tiles(r, thread, i, most);
    for (; thread->link < thread->chain; thread->link++)
        if (rings_tiles(r, thread, i + thread->link, 1) == 0)
            return 0;
    thread->link = 0;
    return 1;
}

static void rings_advance(struct rings *r, uint32_t number)
{
    struct ring_thread *const thread = &r->thread[number];
    for (; thread->step < thread->count; thread->step += thread->chain, thread->tile = 0) {
        const uint32_t i = thread->first + thread->step;
        const struct schedule_step *const step = schedule_graph_step(r->graph, i);
        const uint32_t tiles = tiles_of_step(r, i);
        const bool begins = thread->tile == 0 && thread->link == 0 && !thread->received;
        if (step->wait_count > 0 && begins && rings_awaited(r, i) != GRAPH_NONE)
            return;
        if (begins)
            thread->chain = schedule_chain(&r->graph->schedule->rank[r->graph->rank_of[i]],
                                           r->graph->thread_of[i], thread->step);
        for (uint32_t moved; thread->tile < tiles; thread->tile += moved)
            if ((moved = rings_chain(r, thread, i, tiles - thread->tile)) == 0)
                return;
        const bool awaited = step[thread->chain - 1].awaited, all = r->graph->schedule->reaches;
        const uint32_t rank = r->graph->rank_of[i];
        const uint32_t end = all ? r->threads : r->thread_first[rank + 1];
        for (uint32_t t = all ? 0 : r->thread_first[rank]; awaited && t < end; t++)
            if (t != number)
                rings_list(r, t);
    }
}

/* A thread that waits forever. */
static void rings_fault(const struct rings *r, const struct ring_thread *thread,
                        struct schedule_faults *faults)
{
    const struct schedule_graph *const graph = r->graph;
    const uint32_t i = thread->first + thread->step + thread->link;
    const uint32_t in = graph->receive_queue[i], out = graph->send_queue[i];
    const struct schedule_step *const step = schedule_graph_step(graph, i);
    const uint32_t awaited = thread->tile == 0 && thread->link == 0 && !thread->received
                                 ? rings_awaited(r, i)
                                 : GRAPH_NONE;
    char place[SCHEDULE_PLACE_BYTES], name[SCHEDULE_PLACE_BYTES];
    (void)schedule_graph_place(graph, i, place);
    if (awaited != GRAPH_NONE) {
        schedule_fault(faults, place, "deadlock: waits for %s",
                       schedule_graph_name(graph, awaited, name));
        return;
    }
    const bool empty = in != GRAPH_NONE && !thread->received;
    const struct ring_thread *const peer = &r->thread[empty ? r->from[in] : r->to[out]];
    (void)schedule_graph_name(graph, peer->first + peer->step, name);
    if (empty)
        schedule_fault(faults, place, "deadlock: receives from %u on channel %u, which is at %s",
                       step->recv_from, step->channel, name);
    else
        schedule_fault(faults, place,
                       "deadlock: sends to %u on channel %u, whose ring is full with %u tiles, and "
                       "which is at %s; more slots are legal (n_slots)",
                       step->send_to, step->channel, r->slots, name);
}

static bool rings_create(struct rings *r, const struct schedule_graph *graph)
{
    const struct schedule *const s = graph->schedule;
    size_t threads = 0;
    for (uint32_t rank = 0; rank < s->rank_count; rank++)
        threads += s->rank[rank].thread_count;
    r->thread = calloc(threads + 1, sizeof *r->thread);
    r->list = calloc(threads + 1, sizeof *r->list);
    r->thread_first = calloc((size_t)s->rank_count + 1, sizeof *r->thread_first);
    r->tiles = calloc((size_t)graph->queues + 1, sizeof *r->tiles);
    r->from = calloc((size_t)graph->queues + 1, sizeof *r->from);
    r->to = calloc((size_t)graph->queues + 1, sizeof *r->to);
    if (!r->thread || !r->list || !r->thread_first || !r->tiles || !r->from || !r->to)
        return false;
    uint32_t at = 0;
    for (uint32_t rank = 0; rank < s->rank_count; rank++) {
        r->thread_first[rank] = at;
        for (uint32_t t = 0; t < s->rank[rank].thread_count; t++, at++) {
            r->thread[at].first = graph->first[rank] + s->rank[rank].thread[t].step_first;
            r->thread[at].count = s->rank[rank].thread[t].step_count;
            for (uint32_t k = 0; k < r->thread[at].count; k++) {
                const uint32_t i = r->thread[at].first + k;
                if (graph->send_queue[i] != GRAPH_NONE)
                    r->from[graph->send_queue[i]] = at;
                if (graph->receive_queue[i] != GRAPH_NONE)
                    r->to[graph->receive_queue[i]] = at;
            }
        }
    }
    r->thread_first[s->rank_count] = r->threads = at;
    return true;
}

static void rings_free(struct rings *r)
{
    free(r->thread);
    free(r->list);
    free(r->thread_first);
    free(r->tiles);
    free(r->from);
    free(r->to);
}

/* Carries the schedule out from its beginning. True: all threads come to their ends. */
static bool rings_run(struct rings *r)
{
    memset(r->tiles, 0, r->graph->queues * sizeof *r->tiles);
    for (uint32_t t = 0; t < r->threads; t++) {
        r->thread[t].step = r->thread[t].tile = r->thread[t].link = 0;
        r->thread[t].received = false;
        rings_list(r, t);
    }
    while (r->listed > 0) {
        const uint32_t t = r->list[--r->listed];
        r->thread[t].listed = false;
        rings_advance(r, t);
    }
    for (uint32_t t = 0; t < r->threads; t++)
        if (r->thread[t].step < r->thread[t].count)
            return false;
    return true;
}

void schedule_rings_check(const struct schedule_graph *graph, uint32_t slots,
                          struct schedule_faults *faults)
{
    struct rings r = {.graph = graph, .slots = slots, .tiles_of_chunk = 1};
    if (!rings_create(&r, graph))
        faults->no_memory = true;
    else if (!rings_run(&r))
        for (uint32_t t = 0; t < r.threads; t++)
            if (r.thread[t].step < r.thread[t].count)
                rings_fault(&r, &r.thread[t], faults);
    rings_free(&r);
}

uint32_t schedule_rings_tiles(const struct schedule_graph *graph, uint32_t slots,
                              const struct small_chunks *small)
{
    struct rings r = {.graph = graph, .slots = slots, .small = small};
    uint32_t found = 0;
    if (rings_create(&r, graph))
        for (r.tiles_of_chunk = slots; r.tiles_of_chunk > 0 && found == 0; r.tiles_of_chunk /= 2)
            if (rings_run(&r))
                found = r.tiles_of_chunk;
    rings_free(&r);
    return found;
}
