/*
 * deadlock.c: the wait-for graph of the kernels when nothing can move any more (deadlock.h). Reads
 * the LPs' states between drains.
 *
 * A node of the graph is a PE with the kernel that it runs, or a kernel that waits for its PE. A
 * context that waits for another PE gives its PE an edge: from an empty queue to the sender, from a
 * full ring to the receiver, from a wait for a notification to the PE that should send it. If a
 * kernel of the same batch waits for that PE, the edge goes to this kernel, whose own edge goes to
 * the PE. A receive from several directions has an edge for each direction that still lacks a tile.
 * Of a receive from any direction these are all, although one tile would do. A join or a barrier
 * has none: it waits for contexts of its own PE, which have edges of their own.
 */
#include "lp/host/deadlock.h"

#include <stdlib.h>
#include <string.h>

#include "core/os/text_stream.h"
#include "lp/host/batches.h"
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

/* ---- the graph ------------------------------------------------------------------------------- */

/* Nodes up to `pes` are PEs, further ones the kernels that wait for a PE, in order of their PEs. */
struct waits {
    const struct lp_model *m;
    const struct cw_sim *sim;
    uint32_t pes;
    uint32_t *queued; /* [pes + 1] kernels that wait for PEs before this one */
    uint32_t running; /* kernels that have begun, and not ended */
    bool of_batches;  /* there are kernels of several batches */
    struct wait_graph graph;
    uint32_t *first, *to; /* the graph's */
    size_t room;          /* of `to` */
};

static const struct lp_queued *queued_at(const struct lp_model *m, const struct lp_pe *state,
                                         uint32_t *count)
{
    *count = m->needs.launches > 0 ? lp_backlog(m, state)->count : 0;
    return *count > 0 ? lp_backlog(m, state)->at : NULL;
}

static const struct lp_launch *running_launch(const struct lp_model *m, const struct lp_pe *state)
{
    return lp_launch_of(m, lp_context(m, state, 0)->kernel.launch);
}

/* The PE of a node. */
static uint32_t pe_of(const struct waits *w, uint32_t node)
{
    uint32_t low = 0, high = w->pes - 1; /* the last PE before which no more than these wait */
    if (node < w->pes)
        return node;
    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;
        if (w->queued[middle] <= node - w->pes)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The launch of a node's kernel; the PE runs one. */
static const struct lp_launch *launch_of_node(const struct waits *w, uint32_t node)
{
    const uint32_t pe = pe_of(w, node);
    const struct lp_pe *const state = pe_state(w->m, w->sim, pe);
    if (node < w->pes)
        return running_launch(w->m, state);
    return lp_launch_of(w->m, lp_backlog(w->m, state)->at[node - w->pes - w->queued[pe]].launch);
}

/* The node for which a kernel of this batch waits that needs something from the PE. */
static uint32_t node_of_peer(const struct waits *w, uint32_t pe, uint32_t batch)
{
    const struct lp_pe *const state = pe_state(w->m, w->sim, pe);
    uint32_t count;
    const struct lp_queued *const queued = queued_at(w->m, state, &count);
    if (count > 0 && running_launch(w->m, state)->batch == batch)
        return pe;
    for (uint32_t i = 0; i < count; i++)
        if (lp_launch_of(w->m, queued[i].launch)->batch == batch)
            return w->pes + w->queued[pe] + i;
    return pe;
}

/* Room for so many edges more. */
static bool reserve_edges(struct waits *w, uint32_t used, size_t more)
{
    if (used + more <= w->room)
        return true;
    const size_t room = 2 * w->room + more + 1024;
    uint32_t *const to = realloc(w->to, room * sizeof *to);
    if (to == NULL)
        return false;
    w->to = to;
    w->room = room;
    return true;
}

/* Counts kernels, and sees whether they are of several batches. False: out of memory. */
static bool count_kernels(struct waits *w)
{
    uint32_t batch = 0;
    w->queued = calloc((size_t)w->pes + 1, sizeof *w->queued);
    for (uint32_t pe = 0; pe < w->pes && w->queued != NULL; pe++) {
        const struct lp_pe *const state = pe_state(w->m, w->sim, pe);
        uint32_t count;
        (void)queued_at(w->m, state, &count);
        w->queued[pe + 1] = w->queued[pe] + count;
        if (!runs_kernel(w->m, state))
            continue;
        w->running++;
        const uint32_t own = running_launch(w->m, state)->batch;
        w->of_batches |= count > 0 || (batch != 0 && batch != own);
        batch = own;
    }
    return w->queued != NULL;
}

/* False: out of memory. Ended with free_waits() in any case. */
static bool build_wait_graph(struct waits *w)
{
    const struct lp_model *const m = w->m;
    const size_t most = (size_t)m->needs.contexts * HW_DIRS_MAX;
    uint32_t used = 0;
    if (!count_kernels(w) || w->pes * most + w->queued[w->pes] >= UINT32_MAX)
        return false;
    const uint32_t nodes = w->pes + w->queued[w->pes];
    w->first = malloc(((size_t)nodes + 1) * sizeof *w->first);
    if (w->first == NULL)
        return false;
    for (uint32_t pe = 0; pe < w->pes; pe++) {
        const struct lp_pe *const state = pe_state(m, w->sim, pe);
        w->first[pe] = used;
        if (!runs_kernel(m, state))
            continue;
        if (!reserve_edges(w, used, most))
            return false;
        const uint32_t batch = running_launch(m, state)->batch, begin = used;
        for (uint32_t i = 0; i < m->needs.contexts; i++)
            used += awaited_peers(m, pe, &lp_context(m, state, i)->kernel, w->to + used);
        for (uint32_t i = begin; i < used; i++)
            w->to[i] = node_of_peer(w, w->to[i], batch);
    }
    if (!reserve_edges(w, used, nodes - w->pes))
        return false;
    for (uint32_t node = w->pes; node < nodes; node++) {
        w->first[node] = used;
        w->to[used++] = pe_of(w, node);
    }
    w->first[nodes] = used;
    w->graph = (struct wait_graph){nodes, w->first, w->to};
    return true;
}

static void free_waits(struct waits *w)
{
    free(w->queued);
    free(w->first);
    free(w->to);
}

/* ---- kernels and their waits ----------------------------------------------------------------- */

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

/* The text of a wait, to be freed; NULL: out of memory. */
static char *text_of_wait(const struct lp_model *m, uint32_t pe, const struct lp_kernel *kernel)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *const out = text_stream_open(&text, &bytes);
    if (out == NULL)
        return NULL;
    print_wait(out, m, pe, kernel, no_pe);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

struct visitor {
    const struct lp_model *m;
    const struct cw_sim *sim;
    void (*visit)(void *arg, const struct lp_waiting *waiting);
    void *arg;
};

/* The kernel of a context, or a stream of it. False: out of memory. */
static bool visit_kernel(const struct visitor *v, uint32_t pe, const struct lp_kernel *kernel)
{
    const struct lp_launch *const launch = lp_launch_of(v->m, kernel->launch);
    const bool runs = kernel->wait == LP_WAIT_NONE || kernel->wait == LP_WAIT_START;
    char *const text = text_of_wait(v->m, pe, kernel);
    if (text != NULL)
        v->visit(v->arg,
                 &(struct lp_waiting){.pe = pe,
                                      .rank = launch->args.rank,
                                      .kernel = launch->kernel->name,
                                      .state = text,
                                      .since_ps = runs ? cw_sim_now(v->sim) : kernel->wait_ps});
    free(text);
    return text != NULL;
}

/* The kernels that wait for the PE. */
static void visit_queued(const struct visitor *v, uint32_t pe, const struct lp_pe *state)
{
    char name[LP_LAUNCH_NAME_BYTES], text[LP_LAUNCH_NAME_BYTES + 40];
    uint32_t count;
    const struct lp_queued *const queued = queued_at(v->m, state, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct lp_launch *const launch = lp_launch_of(v->m, queued[i].launch);
        (void)snprintf(text, sizeof text, "waits for its PE, which runs %s",
                       lp_launch_name(running_launch(v->m, state), name));
        v->visit(v->arg, &(struct lp_waiting){.pe = pe,
                                              .rank = launch->args.rank,
                                              .kernel = launch->kernel->name,
                                              .state = text,
                                              .since_ps = queued[i].since_ps});
    }
}

void lp_waiting_visit(const struct lp_model *m, const struct cw_sim *sim,
                      void (*visit)(void *arg, const struct lp_waiting *waiting), void *arg)
{
    const struct visitor v = {m, sim, visit, arg};
    for (uint32_t pe = 0; pe < hw_pe_count(&m->hw); pe++) {
        const struct lp_pe *const state = pe_state(m, sim, pe);
        for (uint32_t i = 0; i < m->needs.contexts; i++) {
            const struct lp_kernel *const kernel = &lp_context(m, state, i)->kernel;
            if (kernel->launch != 0 && !visit_kernel(&v, pe, kernel))
                return;
        }
        visit_queued(&v, pe, state);
    }
}

/* ---- the report ------------------------------------------------------------------------------ */

/* "PE 0.1.2", and the kernel where there are several batches: ", kernel ring of batch 3, rank 2,".
 */
static void print_node(FILE *out, const struct waits *w, uint32_t node)
{
    char name[LP_LAUNCH_NAME_BYTES];
    fputs("PE ", out);
    print_pe(out, w->m, pe_of(w, node));
    if (w->of_batches)
        fprintf(out, ", %s,", lp_launch_name(launch_of_node(w, node), name));
}

/* The wait of the node's kernel for the PE `peer`. */
static void print_wait_of(FILE *out, const struct waits *w, uint32_t node, uint32_t peer)
{
    char name[LP_LAUNCH_NAME_BYTES];
    const uint32_t pe = pe_of(w, node);
    if (node < w->pes)
        print_wait(out, w->m, pe, waiting_kernel(w->m, pe_state(w->m, w->sim, pe), pe, peer), peer);
    else
        fprintf(out, "waits for its PE, which runs %s",
                lp_launch_name(launch_of_node(w, pe), name));
}

static void print_node_and_wait(FILE *out, const struct waits *w, uint32_t node, uint32_t peer)
{
    print_node(out, w, node);
    fputc(' ', out);
    print_wait_of(out, w, node, peer);
}

/* Begins with a PE, since a cycle's lowest node comes first. A kernel that waits for its PE is
 * followed by the one that the PE runs. */
static void print_cycle(FILE *out, const struct waits *w, const uint32_t *cycle, uint32_t length)
{
    const char *const separator = w->of_batches ? "; " : ", ";
    const uint32_t shown = length < 12 ? length : 12;
    fprintf(out, "a cycle of %u: ", length);
    for (uint32_t i = 0; i < shown; i++) {
        const uint32_t next = cycle[(i + 1) % length];
        if (i > 0 && cycle[i - 1] >= w->pes) {
            fputs(", which ", out);
            print_wait_of(out, w, cycle[i], pe_of(w, next));
        } else {
            print_node_and_wait(out, w, cycle[i], pe_of(w, next));
        }
        if (cycle[i] < w->pes || i + 1 == shown)
            fputs(separator, out);
    }
    fprintf(out, "%sback to PE ", shown < length ? "... " : "");
    print_pe(out, w->m, cycle[0]);
}

/* None of the PEs that this PE waits for runs a kernel: they have finished, or were never
 * launched. */
static bool is_orphan(const struct waits *w, uint32_t pe)
{
    if (!runs_kernel(w->m, pe_state(w->m, w->sim, pe)))
        return false;
    for (uint32_t i = w->first[pe]; i < w->first[pe + 1]; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): `first` counts entries of `to` */
        if (w->to[i] >= w->pes || runs_kernel(w->m, pe_state(w->m, w->sim, w->to[i])))
            return false;
    return true;
}

enum { ORPHANS_SHOWN = 4 };

static void print_orphans(FILE *out, const struct waits *w)
{
    uint32_t shown = 0, all = 0;
    for (uint32_t pe = 0; pe < w->pes; pe++) {
        if (!is_orphan(w, pe) || all++ >= ORPHANS_SHOWN)
            continue;
        const uint32_t peers = w->first[pe + 1] - w->first[pe];
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): as in is_orphan() */
        const uint32_t peer = peers > 0 ? w->to[w->first[pe]] : no_pe;
        fputs(shown++ ? "; " : "", out);
        print_node_and_wait(out, w, pe, peers == 1 ? peer : no_pe);
        if (peers != 1)
            continue;
        fputs(": its peer, PE ", out);
        print_pe(out, w->m, peer);
        fputs(pe_state(w->m, w->sim, peer)->batch == pe_state(w->m, w->sim, pe)->batch
                  ? ", has finished"
                  : ", runs no kernel",
              out);
    }
    if (all > shown)
        fprintf(out, "; and %u more", all - shown);
    for (uint32_t node = w->pes; node < w->graph.count; node++) {
        if (node - w->pes == ORPHANS_SHOWN) {
            fprintf(out, "; and %u more for theirs", w->graph.count - node);
            return;
        }
        fputs("; ", out);
        print_node_and_wait(out, w, node, no_pe);
    }
}

static void print_cause(FILE *out, const struct waits *w, const uint32_t *cycle, uint32_t length)
{
    bool shares_pe = false;
    for (uint32_t i = 0; i < length; i++)
        shares_pe |= cycle[i] >= w->pes;
    const uint32_t queued = w->queued[w->pes];
    fprintf(out, "IpcqDeadlock: %u kernel%s", w->running, w->running == 1 ? " waits" : "s wait");
    if (queued > 0)
        fprintf(out, ", %u more %s for a PE", queued, queued == 1 ? "waits" : "wait");
    fputs(" and nothing is left to happen: ", out);
    if (length > 0)
        print_cycle(out, w, cycle, length);
    else
        print_orphans(out, w);
    fputs(shares_pe
              ? ". Kernels that share PEs must be launched in the same order on all of them, or "
                "have PEs of their own"
              : ". Each send needs a receive on the other side, in the opposite direction",
          out);
}

static void print_summary(FILE *out, const struct lp_model *m, const struct cw_sim *sim)
{
    struct waits w = {.m = m, .sim = sim, .pes = hw_pe_count(&m->hw)};
    uint32_t *cycle = NULL, length = 0;
    if (build_wait_graph(&w) && wait_graph_shortest_cycle(&w.graph, &cycle, &length))
        print_cause(out, &w, cycle, length);
    else
        fputs("IpcqDeadlock: kernels wait and nothing is left to happen (no memory for the "
              "wait-for graph)",
              out);
    free(cycle);
    free_waits(&w);
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
