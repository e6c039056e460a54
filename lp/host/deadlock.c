/*
 * deadlock.c: the wait-for graph of the kernels when nothing can move any more (deadlock.h). Reads
 * the LPs' states between drains.
 *
 * A node of the graph is a PE. A context that waits for another PE gives its PE an edge: from an
 * empty queue to the sender, from a full ring to the receiver, from a wait for a notification to
 * the PE that should send it. A receive from any direction has edges to all its senders, although
 * one of them would do. A join or a barrier has none: it waits for contexts of its own PE, which
 * have edges of their own.
 */
#include "lp/host/deadlock.h"

#include <stdarg.h>
#include <stdlib.h>

#include "lp/host/wait_graph.h"
#include "lp/queues/queue_ends.h"

static const uint32_t no_pe = UINT32_MAX;

static const struct lp_pe *pe_state(const struct lp_model *m, const struct cw_sim *sim, uint32_t pe)
{
    const struct hw_place place = hw_place_of(&m->hw, pe);
    return lp_pe(m, cw_state(sim, lp_of_cube(m, place.sip, place.cube)), place.pe);
}

static bool runs_kernel(const struct lp_model *m, const struct lp_pe *pe)
{
    return lp_context(m, pe, 0)->kernel.launch != 0;
}

/* The PEs for which a context waits, at most HW_DIRS_MAX. Returns their number. */
static uint32_t awaited_peers(const struct lp_model *m, const struct lp_pe *state, uint32_t pe,
                              const struct lp_kernel *kernel, uint32_t *peers)
{
    enum hw_dir peer_dir;
    uint32_t count = 0;
    if (kernel->launch == 0)
        return 0;
    if (kernel->wait == LP_WAIT_NOTIFY) {
        peers[count++] = kernel->call.peer;
        return count;
    }
    if (kernel->wait != LP_WAIT_CREDIT && kernel->wait != LP_WAIT_DATA)
        return 0;
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++) {
        const bool meant = kernel->call.dir == dir ||
                           (kernel->call.dir >= HW_DIRS_MAX && (state->installed >> dir & 1));
        if (meant && lp_queue_peer(m, pe, dir, &peers[count], &peer_dir))
            count++;
    }
    return count;
}

/* The context of a PE that waits for `peer`; if there is none, one that waits for another PE. */
static const struct lp_kernel *waiting_kernel(const struct lp_model *m, const struct lp_pe *state,
                                              uint32_t pe, uint32_t peer)
{
    const struct lp_kernel *speaks = NULL;
    for (uint32_t i = 0; i < m->config.contexts; i++) {
        const struct lp_kernel *kernel = &lp_context(m, state, i)->kernel;
        uint32_t peers[HW_DIRS_MAX];
        const uint32_t count = awaited_peers(m, state, pe, kernel, peers);
        if (count > 0 && speaks == NULL)
            speaks = kernel;
        for (uint32_t k = 0; k < count; k++)
            if (peers[k] == peer)
                return kernel;
    }
    return speaks != NULL ? speaks : &lp_context(m, state, 0)->kernel;
}

/* The graph, its edges to be freed with `first`. False: out of memory. */
static bool build_wait_graph(const struct lp_model *m, const struct cw_sim *sim,
                             struct wait_graph *graph, uint32_t **first, uint32_t *waiting)
{
    const uint32_t count = hw_pe_count(&m->hw);
    const size_t most = (size_t)count * m->config.contexts * HW_DIRS_MAX;
    uint32_t *edges = NULL, used = 0;
    size_t room = 0;
    *waiting = 0;
    *first = malloc(((size_t)count + 1) * sizeof **first);
    if (*first == NULL || most >= UINT32_MAX)
        return false;
    for (uint32_t pe = 0; pe < count; pe++) {
        const struct lp_pe *state = pe_state(m, sim, pe);
        (*first)[pe] = used;
        if (used + (size_t)m->config.contexts * HW_DIRS_MAX > room) {
            room = 2 * room + 1024;
            uint32_t *more = realloc(edges, room * sizeof *more);
            if (more == NULL) {
                free(edges);
                return false;
            }
            edges = more;
        }
        *waiting += runs_kernel(m, state);
        for (uint32_t i = 0; runs_kernel(m, state) && i < m->config.contexts; i++)
            used += awaited_peers(m, state, pe, &lp_context(m, state, i)->kernel, edges + used);
    }
    (*first)[count] = used;
    *graph = (struct wait_graph){count, *first, edges};
    return true;
}

/* A text being appended to, never beyond its end. */
struct text {
    char *at;
    size_t left;
};

static void append_text(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void append_text(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text->at, text->left, format, args);
    va_end(args);
    const size_t used = n < 0 ? 0 : (size_t)n < text->left ? (size_t)n : text->left - 1;
    text->at += used;
    text->left -= used;
}

static void append_pe(struct text *text, const struct lp_model *m, uint32_t pe)
{
    const struct hw_place place = hw_place_of(&m->hw, pe);
    append_text(text, "%u.%u.%u", place.sip, place.cube, place.pe);
}

/* The PE, and its wait for `peer`; no_pe: for any peer. */
static void append_wait(struct text *text, const struct lp_model *m, const struct cw_sim *sim,
                        uint32_t pe, uint32_t peer)
{
    const struct lp_kernel *kernel = waiting_kernel(m, pe_state(m, sim, pe), pe, peer);
    const enum hw_dir dir = (enum hw_dir)kernel->call.dir;
    append_text(text, "PE ");
    append_pe(text, m, pe);
    switch (kernel->wait) {
    case LP_WAIT_DATA:
        append_text(text, " waits for data from %s",
                    dir < HW_DIRS_MAX ? lp_dir_name(m, pe, dir) : "any direction");
        break;
    case LP_WAIT_CREDIT:
        append_text(text, " waits for room in %s", lp_dir_name(m, pe, dir));
        break;
    case LP_WAIT_NOTIFY:
        append_text(text, " waits for a notification from PE ");
        append_pe(text, m, kernel->call.peer);
        append_text(text, ", tag %u", kernel->call.tag);
        break;
    default:
        append_text(text, " waits at a barrier of its contexts");
    }
}

static void append_cycle(struct text *text, const struct lp_model *m, const struct cw_sim *sim,
                         const uint32_t *cycle, uint32_t length)
{
    const uint32_t shown = length < 12 ? length : 12;
    append_text(text, "a cycle of %u: ", length);
    for (uint32_t i = 0; i < shown; i++) {
        append_wait(text, m, sim, cycle[i], cycle[(i + 1) % length]);
        append_text(text, ", ");
    }
    if (shown < length)
        append_text(text, "... ");
    append_text(text, "back to PE ");
    append_pe(text, m, cycle[0]);
}

/* None of the PEs that this PE waits for runs a kernel: they have finished, or were never
 * launched. */
static bool is_orphan(const struct lp_model *m, const struct cw_sim *sim,
                      const struct wait_graph *graph, uint32_t pe)
{
    if (!runs_kernel(m, pe_state(m, sim, pe)))
        return false;
    for (uint32_t i = graph->first[pe]; i < graph->first[pe + 1]; i++)
        if (runs_kernel(m, pe_state(m, sim, graph->to[i])))
            return false;
    return true;
}

static void append_orphans(struct text *text, const struct lp_model *m, const struct cw_sim *sim,
                           const struct wait_graph *graph)
{
    uint32_t shown = 0, all = 0;
    for (uint32_t pe = 0; pe < graph->count; pe++) {
        if (!is_orphan(m, sim, graph, pe) || all++ >= 4)
            continue;
        const uint32_t peers = graph->first[pe + 1] - graph->first[pe];
        const uint32_t peer = peers > 0 ? graph->to[graph->first[pe]] : no_pe;
        append_text(text, shown++ ? "; " : "");
        append_wait(text, m, sim, pe, peer);
        if (peers != 1)
            continue;
        append_text(text, ": its peer, PE ");
        append_pe(text, m, peer);
        append_text(text, "%s",
                    pe_state(m, sim, peer)->epoch == pe_state(m, sim, pe)->epoch
                        ? ", has finished"
                        : ", runs no kernel");
    }
    if (all > shown)
        append_text(text, "; and %u more", all - shown);
}

void lp_deadlock_summary(const struct lp_model *m, const struct cw_sim *sim, char *buffer,
                         size_t bytes)
{
    struct text text = {buffer, bytes};
    struct wait_graph graph = {0};
    uint32_t *first, *cycle = NULL, waiting, length = 0;
    if (!build_wait_graph(m, sim, &graph, &first, &waiting) ||
        !wait_graph_shortest_cycle(&graph, &cycle, &length)) {
        append_text(&text,
                    "IpcqDeadlock: kernels wait and nothing is left to happen (no memory for "
                    "the wait-for graph)");
        goto done;
    }
    append_text(&text, "IpcqDeadlock: %u kernel%s and nothing is left to happen: ", waiting,
                waiting == 1 ? " waits" : "s wait");
    if (length > 0)
        append_cycle(&text, m, sim, cycle, length);
    else
        append_orphans(&text, m, sim, &graph);
    append_text(&text, ". Each send needs a receive on the other side, in the opposite direction");
done:
    free(cycle);
    free((uint32_t *)(uintptr_t)graph.to);
    free(first);
}

/* A context waits for data or a credit of this direction. */
static bool is_waited_for(const struct lp_model *m, const struct lp_pe *pe, enum hw_dir dir)
{
    for (uint32_t i = 0; i < m->config.contexts; i++) {
        const struct lp_kernel *kernel = &lp_context(m, pe, i)->kernel;
        if (kernel->launch != 0 && kernel->call.dir == dir &&
            (kernel->wait == LP_WAIT_DATA || kernel->wait == LP_WAIT_CREDIT))
            return true;
    }
    return false;
}

static void print_pointers(FILE *out, const struct lp_model *m, uint32_t pe, enum hw_dir dir,
                           const struct lp_queue *q)
{
    const struct hw_place place = hw_place_of(&m->hw, pe);
    fprintf(out, "%u.%u.%u %s my_head=%u my_tail=%u peer_head_cache=%u peer_tail_cache=%u\n",
            place.sip, place.cube, place.pe, lp_dir_name(m, pe, dir), q->my_head, q->my_tail,
            q->peer_head_cache, q->peer_tail_cache);
}

void lp_pointer_list(const struct lp_model *m, const struct cw_sim *sim, FILE *out)
{
    const uint32_t count = hw_pe_count(&m->hw);
    for (uint32_t pe = 0; pe < count; pe++) {
        const struct lp_pe *state = pe_state(m, sim, pe);
        for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++)
            if (state->installed >> dir & 1)
                print_pointers(out, m, pe, dir, &state->queue[dir]);
    }
}

void lp_pointer_dump(const struct lp_model *m, const struct cw_sim *sim, size_t lines_max,
                     FILE *out)
{
    const uint32_t count = hw_pe_count(&m->hw);
    size_t lines = 0;
    for (uint32_t pe = 0; pe < count; pe++) {
        const struct lp_pe *state = pe_state(m, sim, pe);
        for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++) {
            const struct lp_queue *q = &state->queue[dir];
            const bool waited_for = is_waited_for(m, state, dir);
            if (q->my_head == q->peer_tail_cache && q->my_tail == q->peer_head_cache && !waited_for)
                continue;
            if (lines++ < lines_max)
                print_pointers(out, m, pe, dir, q);
        }
    }
    if (lines > lines_max)
        fprintf(out, "... and %zu more queues\n", lines - lines_max);
}
