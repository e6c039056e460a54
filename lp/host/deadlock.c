/*
 * deadlock.c: the wait-for graph of the kernels when nothing can move any more (deadlock.h). Reads
 * the LPs' states between drains.
 *
 * A node of the graph is a PE. A context that waits for another PE gives its PE an edge: from an
 * empty queue to the sender, from a full ring to the receiver, from a wait for a notification to
 * the PE that should send it. A receive from several directions has an edge for each direction that
 * still lacks a tile. Of a receive from any direction these are all, although one tile would do. A
 * join or a barrier has none: it waits for contexts of its own PE, which have edges of their own.
 */
#include "lp/host/deadlock.h"

#include <stdlib.h>
#include <string.h>

#include "core/os/text_stream.h"
#include "lp/host/wait_graph.h"
#include "lp/kernel/tl_call.h"
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

/* The directions in which a context waits, for data or for room, one bit each. */
static uint32_t awaited_dirs(const struct lp_kernel *kernel)
{
    if (kernel->launch == 0)
        return 0;
    if (kernel->wait == LP_WAIT_DATA)
        return kernel->call.dirs;
    return kernel->wait == LP_WAIT_CREDIT ? 1u << kernel->call.dir : 0;
}

/* The PEs for which a context waits, at most HW_DIRS_MAX. Returns their number. */
static uint32_t awaited_peers(const struct lp_model *m, uint32_t pe, const struct lp_kernel *kernel,
                              uint32_t *peers)
{
    enum hw_dir peer_dir;
    uint32_t count = 0;
    if (kernel->launch != 0 && kernel->wait == LP_WAIT_NOTIFY)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the caller has room for all peers */
        peers[count++] = kernel->call.peer;
    for (uint32_t dirs = awaited_dirs(kernel); dirs != 0; dirs &= dirs - 1)
        if (lp_queue_peer(m->named, pe, (enum hw_dir)__builtin_ctz(dirs), &peers[count], &peer_dir))
            count++;
    return count;
}

/* The context of a PE that waits for `peer`; if there is none, one that waits for another PE, or at
 * a barrier, in this order. */
static const struct lp_kernel *waiting_kernel(const struct lp_model *m, const struct lp_pe *state,
                                              uint32_t pe, uint32_t peer)
{
    const struct lp_kernel *speaks = NULL, *at_barrier = NULL;
    for (uint32_t i = 0; i < m->needs.contexts; i++) {
        const struct lp_kernel *kernel = &lp_context(m, state, i)->kernel;
        uint32_t peers[HW_DIRS_MAX];
        const uint32_t count = awaited_peers(m, pe, kernel, peers);
        if (count > 0 && speaks == NULL)
            speaks = kernel;
        if (kernel->launch != 0 && kernel->wait == LP_WAIT_BARRIER && at_barrier == NULL)
            at_barrier = kernel;
        for (uint32_t k = 0; k < count; k++)
            if (peers[k] == peer)
                return kernel;
    }
    return speaks != NULL       ? speaks
           : at_barrier != NULL ? at_barrier
                                : &lp_context(m, state, 0)->kernel;
}

/* The graph, its edges to be freed with `first`. False: out of memory. */
static bool build_wait_graph(const struct lp_model *m, const struct cw_sim *sim,
                             struct wait_graph *graph, uint32_t **first, uint32_t *waiting)
{
    const uint32_t count = hw_pe_count(&m->hw);
    const size_t most = (size_t)count * m->needs.contexts * HW_DIRS_MAX;
    uint32_t *edges = NULL, used = 0;
    size_t room = 0;
    *waiting = 0;
    *first = malloc(((size_t)count + 1) * sizeof **first);
    if (*first == NULL || most >= UINT32_MAX)
        return false;
    for (uint32_t pe = 0; pe < count; pe++) {
        const struct lp_pe *state = pe_state(m, sim, pe);
        (*first)[pe] = used;
        if (used + (size_t)m->needs.contexts * HW_DIRS_MAX > room) {
            room = 2 * room + 1024;
            uint32_t *more = realloc(edges, room * sizeof *more);
            if (more == NULL) {
                free(edges);
                return false;
            }
            edges = more;
        }
        *waiting += runs_kernel(m, state);
        for (uint32_t i = 0; runs_kernel(m, state) && i < m->needs.contexts; i++)
            used += awaited_peers(m, pe, &lp_context(m, state, i)->kernel, edges + used);
    }
    (*first)[count] = used;
    *graph = (struct wait_graph){count, *first, edges};
    return true;
}

static void print_pe(FILE *out, const struct lp_model *m, uint32_t pe)
{
    const struct hw_place place = hw_place_of(&m->hw, pe);
    fprintf(out, "%u.%u.%u", place.sip, place.cube, place.pe);
}

/* The directions that lack a tile: only the ones to `peer`, if there are any, else all. */
static void print_missing(FILE *out, const struct lp_model *m, uint32_t pe,
                          const struct lp_kernel *kernel, uint32_t peer)
{
    uint32_t dirs = kernel->call.dirs, to_peer = 0, at;
    enum hw_dir peer_dir;
    for (uint32_t left = dirs; left != 0; left &= left - 1)
        if (lp_queue_peer(m->named, pe, (enum hw_dir)__builtin_ctz(left), &at, &peer_dir) &&
            at == peer)
            to_peer |= left & -left;
    dirs = to_peer != 0 ? to_peer : dirs;
    for (const char *separator = ""; dirs != 0; dirs &= dirs - 1, separator = " and ")
        fprintf(out, "%s%s", separator,
                lp_dir_name(m->named, pe, (enum hw_dir)__builtin_ctz(dirs)));
}

/* The wait of a context, as it concerns `peer`; no_pe: any. */
static void print_wait(FILE *out, const struct lp_model *m, uint32_t pe,
                       const struct lp_kernel *kernel, uint32_t peer)
{
    char at[TL_SOURCE_TEXT_BYTES];
    switch (kernel->wait) {
    case LP_WAIT_DATA:
        fputs("waits for data from ", out);
        if (kernel->call.kind == CALL_RECV_ANY)
            fputs("any direction", out);
        else
            print_missing(out, m, pe, kernel, peer);
        break;
    case LP_WAIT_CREDIT:
        fprintf(out, "waits for room in %s",
                lp_dir_name(m->named, pe, (enum hw_dir)kernel->call.dir));
        break;
    case LP_WAIT_NOTIFY:
        fputs("waits for a notification from PE ", out);
        print_pe(out, m, kernel->call.peer);
        fprintf(out, ", tag %u", kernel->call.tag);
        break;
    case LP_WAIT_CHANNEL:
        fputs("waits for a place in a channel of PE_DMA", out);
        break;
    case LP_WAIT_DMA:
        fputs("waits for a transfer of its own", out);
        break;
    case LP_WAIT_NONE:
    case LP_WAIT_START:
        fputs("runs", out);
        break;
    case LP_WAIT_JOIN:
        fputs("waits for the streams that it has forked", out);
        break;
    default:
        fputs("waits at a barrier of its contexts", out);
    }
    fputs(tl_source_text(kernel->source, at, sizeof at), out);
}

static bool visit_wait(const struct lp_model *m, const struct cw_sim *sim, uint32_t pe,
                       const struct lp_kernel *kernel,
                       void (*visit)(void *arg, const struct lp_waiting *waiting), void *arg)
{
    const bool runs = kernel->wait == LP_WAIT_NONE || kernel->wait == LP_WAIT_START;
    char *text = NULL;
    size_t bytes = 0;
    FILE *const out = text_stream_open(&text, &bytes);
    if (out == NULL)
        return false;
    print_wait(out, m, pe, kernel, no_pe);
    if (fclose(out) == 0 && text != NULL) {
        const struct lp_launch *const launch = lp_launch_of(m, kernel->launch);
        visit(arg, &(struct lp_waiting){.pe = pe,
                                        .rank = launch->args.rank,
                                        .kernel = launch->kernel->name,
                                        .state = text,
                                        .since_ps = runs ? cw_sim_now(sim) : kernel->wait_ps});
    }
    free(text);
    return true;
}

void lp_waiting_visit(const struct lp_model *m, const struct cw_sim *sim,
                      void (*visit)(void *arg, const struct lp_waiting *waiting), void *arg)
{
    for (uint32_t pe = 0; pe < hw_pe_count(&m->hw); pe++)
        for (uint32_t i = 0; i < m->needs.contexts; i++) {
            const struct lp_kernel *const kernel = &lp_context(m, pe_state(m, sim, pe), i)->kernel;
            if (kernel->launch != 0 && !visit_wait(m, sim, pe, kernel, visit, arg))
                return;
        }
}

/* The PE, and its wait for `peer`. */
static void print_pe_and_wait(FILE *out, const struct lp_model *m, const struct cw_sim *sim,
                              uint32_t pe, uint32_t peer)
{
    fputs("PE ", out);
    print_pe(out, m, pe);
    fputc(' ', out);
    print_wait(out, m, pe, waiting_kernel(m, pe_state(m, sim, pe), pe, peer), peer);
}

static void print_cycle(FILE *out, const struct lp_model *m, const struct cw_sim *sim,
                        const uint32_t *cycle, uint32_t length)
{
    const uint32_t shown = length < 12 ? length : 12;
    fprintf(out, "a cycle of %u: ", length);
    for (uint32_t i = 0; i < shown; i++) {
        print_pe_and_wait(out, m, sim, cycle[i], cycle[(i + 1) % length]);
        fputs(", ", out);
    }
    fprintf(out, "%sback to PE ", shown < length ? "... " : "");
    print_pe(out, m, cycle[0]);
}

/* None of the PEs that this PE waits for runs a kernel: they have finished, or were never
 * launched. */
static bool is_orphan(const struct lp_model *m, const struct cw_sim *sim,
                      const struct wait_graph *graph, uint32_t pe)
{
    if (!runs_kernel(m, pe_state(m, sim, pe)))
        return false;
    for (uint32_t i = graph->first[pe]; i < graph->first[pe + 1]; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): `first` counts entries of `to` */
        if (runs_kernel(m, pe_state(m, sim, graph->to[i])))
            return false;
    return true;
}

static void print_orphans(FILE *out, const struct lp_model *m, const struct cw_sim *sim,
                          const struct wait_graph *graph)
{
    uint32_t shown = 0, all = 0;
    for (uint32_t pe = 0; pe < graph->count; pe++) {
        if (!is_orphan(m, sim, graph, pe) || all++ >= 4)
            continue;
        const uint32_t peers = graph->first[pe + 1] - graph->first[pe];
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): as in is_orphan() */
        const uint32_t peer = peers > 0 ? graph->to[graph->first[pe]] : no_pe;
        fputs(shown++ ? "; " : "", out);
        print_pe_and_wait(out, m, sim, pe, peers == 1 ? peer : no_pe);
        if (peers != 1)
            continue;
        fputs(": its peer, PE ", out);
        print_pe(out, m, peer);
        fputs(pe_state(m, sim, peer)->batch == pe_state(m, sim, pe)->batch ? ", has finished"
                                                                           : ", runs no kernel",
              out);
    }
    if (all > shown)
        fprintf(out, "; and %u more", all - shown);
}

static void print_summary(FILE *out, const struct lp_model *m, const struct cw_sim *sim)
{
    struct wait_graph graph = {0};
    uint32_t *first, *cycle = NULL, waiting, length = 0;
    if (!build_wait_graph(m, sim, &graph, &first, &waiting) ||
        !wait_graph_shortest_cycle(&graph, &cycle, &length)) {
        fputs("IpcqDeadlock: kernels wait and nothing is left to happen (no memory for the "
              "wait-for graph)",
              out);
        goto done;
    }
    fprintf(out, "IpcqDeadlock: %u kernel%s and nothing is left to happen: ", waiting,
            waiting == 1 ? " waits" : "s wait");
    if (length > 0)
        print_cycle(out, m, sim, cycle, length);
    else
        print_orphans(out, m, sim, &graph);
    fputs(". Each send needs a receive on the other side, in the opposite direction", out);
done:
    free(cycle);
    free((uint32_t *)(uintptr_t)graph.to);
    free(first);
}

int lp_deadlock_report(const struct lp_model *m, const struct cw_sim *sim, struct cw_error *error)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *const out = text_stream_open(&text, &bytes);
    if (out == NULL)
        return cw_error_set(error, CW_PROGRAM_FAILED,
                            "IpcqDeadlock: kernels wait and nothing is left to happen (no memory "
                            "for the report)");
    print_summary(out, m, sim);
    fputc('\n', out);
    lp_pointer_dump(m, sim, LP_POINTER_LINES_MAX, out);
    if (fclose(out) != 0 || text == NULL) {
        free(text);
        return cw_error_memory(error, "the report of a deadlock");
    }
    text[strlen(text) - 1] = '\0'; /* the end of its last line */
    (void)cw_error_set(error, CW_PROGRAM_FAILED, "%s", text);
    free(text);
    return CW_PROGRAM_FAILED;
}

/* A context waits for data or a credit of this direction. */
static bool is_waited_for(const struct lp_model *m, const struct lp_pe *pe, enum hw_dir dir)
{
    for (uint32_t i = 0; i < m->needs.contexts; i++)
        if (awaited_dirs(&lp_context(m, pe, i)->kernel) >> dir & 1)
            return true;
    return false;
}

static void print_pointers(FILE *out, const struct lp_model *m, uint32_t pe, enum hw_dir dir,
                           const struct lp_queue *q)
{
    const struct hw_place place = hw_place_of(&m->hw, pe);
    fprintf(out, "%u.%u.%u %s my_head=%u my_tail=%u peer_head_cache=%u peer_tail_cache=%u\n",
            place.sip, place.cube, place.pe, lp_dir_name(m->named, pe, dir), q->my_head, q->my_tail,
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
