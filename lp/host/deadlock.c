/*
 * deadlock.c: the wait-for graph of the kernels when nothing can move any more (deadlock.h). Reads
 * the LPs' states between drains.
 *
 * A node of the graph is a seat, which is a hardware queue of a PE with the kernel that it runs, or
 * a kernel that waits for its seat. A context that waits for another PE gives its seat an edge:
 * from an empty queue to the sender, from a full ring to the receiver, from a wait for a
 * notification to the PE that should send it. There the edge goes to the seat that runs a kernel of
 * the same batch; or to a kernel of this batch that waits for its seat, whose own edge goes to the
 * seat; or else to the seat of the same hardware queue. A receive from several directions has an
 * edge for each direction that still lacks a tile. Of a receive from any direction these are all,
 * although one tile would do. A join or a barrier has none: it waits for contexts of its own PE,
 * which have edges of their own.
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

static bool runs_kernel(const struct lp_model *m, const struct lp_pe *pe, uint32_t queue)
{
    return lp_kernel_on(m, pe, queue)->launch != 0;
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

/* The context of a PE's hardware queue that waits for `peer`; if there is none, one that waits for
 * another PE, or at a barrier, in this order. */
static const struct lp_kernel *waiting_kernel(const struct lp_model *m, const struct lp_pe *state,
                                              uint32_t pe, uint32_t queue, uint32_t peer)
{
    const struct lp_kernel *speaks = NULL, *at_barrier = NULL;
    const uint32_t first = queue * m->needs.contexts;
    for (uint32_t i = first; i < first + m->needs.contexts; i++) {
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
                                : lp_kernel_on(m, state, queue);
}

/* ---- the graph ------------------------------------------------------------------------------- */

/* Nodes up to `seats` are the hardware queues of PE 0, of PE 1, ..., further ones the kernels that
 * wait for one, in order of their seats. */
struct waits {
    const struct lp_model *m;
    const struct cw_sim *sim;
    uint32_t seats, queues; /* queues: of a PE */
    uint32_t *queued;       /* [seats + 1] kernels that wait for seats before this one */
    uint32_t running;       /* kernels that have begun, and not ended */
    bool of_batches;        /* there are kernels of several batches */
    struct wait_graph graph;
    uint32_t *first, *to; /* the graph's */
    size_t room;          /* of `to` */
};

static const struct lp_queued *queued_at(const struct lp_model *m, const struct lp_pe *state,
                                         uint32_t queue, uint32_t *count)
{
    *count = m->needs.launches > 0 ? lp_backlog(m, state, queue)->count : 0;
    return *count > 0 ? lp_backlog(m, state, queue)->at : NULL;
}

static const struct lp_launch *running_launch(const struct lp_model *m, const struct lp_pe *state,
                                              uint32_t queue)
{
    return lp_launch_of(m, lp_kernel_on(m, state, queue)->launch);
}

/* The seat of a node. */
static uint32_t seat_of(const struct waits *w, uint32_t node)
{
    uint32_t low = 0, high = w->seats - 1; /* the last one before which no more than these wait */
    if (node < w->seats)
        return node;
    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;
        if (w->queued[middle] <= node - w->seats)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static uint32_t pe_of(const struct waits *w, uint32_t node)
{
    return lp_pe_at(w->m, seat_of(w, node) / w->queues);
}

static const struct lp_pe *state_of(const struct waits *w, uint32_t node)
{
    return pe_state(w->m, w->sim, pe_of(w, node));
}

/* Whether the node's seat runs a kernel. */
static bool runs_at(const struct waits *w, uint32_t node)
{
    return runs_kernel(w->m, state_of(w, node), seat_of(w, node) % w->queues);
}

/* The launch of a node's kernel; the seat runs one. */
static const struct lp_launch *launch_of_node(const struct waits *w, uint32_t node)
{
    const uint32_t seat = seat_of(w, node), queue = seat % w->queues;
    const struct lp_pe *const state = state_of(w, node);
    if (node < w->seats)
        return running_launch(w->m, state, queue);
    const uint32_t at = node - w->seats - w->queued[seat];
    return lp_launch_of(w->m, lp_backlog(w->m, state, queue)->at[at].launch);
}

/* The node of a seat that runs a kernel of this batch, or of its kernel that waits for the seat;
 * UINT32_MAX: there is none. */
static uint32_t node_of_batch(const struct waits *w, uint32_t seat, uint32_t batch)
{
    const uint32_t queue = seat % w->queues;
    const struct lp_pe *const state = state_of(w, seat);
    uint32_t count;
    const struct lp_queued *const queued = queued_at(w->m, state, queue, &count);
    if (runs_kernel(w->m, state, queue) && running_launch(w->m, state, queue)->batch == batch)
        return seat;
    for (uint32_t i = 0; i < count; i++)
        if (lp_launch_of(w->m, queued[i].launch)->batch == batch)
            return w->seats + w->queued[seat] + i;
    return UINT32_MAX;
}

/* The node for which a kernel of this batch and hardware queue waits that needs something from the
 * PE. */
static uint32_t node_of_peer(const struct waits *w, uint32_t pe, uint32_t queue, uint32_t batch)
{
    const uint32_t first = lp_pe_place(w->m, pe) * w->queues;
    for (uint32_t seat = first; seat < first + w->queues; seat++) {
        const uint32_t node = node_of_batch(w, seat, batch);
        if (node != UINT32_MAX)
            return node;
    }
    return first + queue;
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
    w->queued = calloc((size_t)w->seats + 1, sizeof *w->queued);
    for (uint32_t seat = 0; seat < w->seats && w->queued != NULL; seat++) {
        const struct lp_pe *const state = state_of(w, seat);
        const uint32_t queue = seat % w->queues;
        uint32_t count;
        (void)queued_at(w->m, state, queue, &count);
        w->queued[seat + 1] = w->queued[seat] + count;
        if (!runs_kernel(w->m, state, queue))
            continue;
        w->running++;
        const uint32_t own = running_launch(w->m, state, queue)->batch;
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
    if (!count_kernels(w) || w->seats * most + w->queued[w->seats] >= UINT32_MAX)
        return false;
    const uint32_t nodes = w->seats + w->queued[w->seats];
    w->first = malloc(((size_t)nodes + 1) * sizeof *w->first);
    if (w->first == NULL)
        return false;
    for (uint32_t seat = 0; seat < w->seats; seat++) {
        const struct lp_pe *const state = state_of(w, seat);
        const uint32_t queue = seat % w->queues, context = queue * m->needs.contexts;
        w->first[seat] = used;
        if (!runs_kernel(m, state, queue))
            continue;
        if (!reserve_edges(w, used, most))
            return false;
        const uint32_t batch = running_launch(m, state, queue)->batch, begin = used;
        for (uint32_t i = context; i < context + m->needs.contexts; i++)
            used +=
                awaited_peers(m, pe_of(w, seat), &lp_context(m, state, i)->kernel, w->to + used);
        for (uint32_t i = begin; i < used; i++)
            w->to[i] = node_of_peer(w, w->to[i], queue, batch);
    }
    if (!reserve_edges(w, used, nodes - w->seats))
        return false;
    for (uint32_t node = w->seats; node < nodes; node++) {
        w->first[node] = used;
        w->to[used++] = seat_of(w, node);
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
                                      .queue = launch->queue,
                                      .rank = launch->args.rank,
                                      .kernel = launch->kernel->name,
                                      .state = text,
                                      .since_ps = runs ? cw_sim_now(v->sim) : kernel->wait_ps});
    free(text);
    return text != NULL;
}

/* "waits for its PE, which runs", with the kernel that the queue runs. */
static void print_wait_for_queue(char *text, size_t bytes, const struct lp_model *m,
                                 const struct lp_launch *running)
{
    char name[LP_LAUNCH_NAME_BYTES], of[32] = "";
    if (m->needs.queues > 1)
        (void)snprintf(of, sizeof of, "queue %u of ", running->queue);
    (void)snprintf(text, bytes, "waits for %sits PE, which runs %s", of,
                   lp_launch_name(running, name));
}

/* The kernels that wait for a hardware queue of the PE. */
static void visit_queued(const struct visitor *v, uint32_t pe, uint32_t queue,
                         const struct lp_pe *state)
{
    char text[LP_LAUNCH_NAME_BYTES + 64];
    uint32_t count;
    const struct lp_queued *const queued = queued_at(v->m, state, queue, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct lp_launch *const launch = lp_launch_of(v->m, queued[i].launch);
        print_wait_for_queue(text, sizeof text, v->m, running_launch(v->m, state, queue));
        v->visit(v->arg, &(struct lp_waiting){.pe = pe,
                                              .queue = queue,
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
    for (uint32_t place = 0; place < lp_pe_count(m); place++) {
        const uint32_t pe = lp_pe_at(m, place);
        const struct lp_pe *const state = pe_state(m, sim, pe);
        for (uint32_t i = 0; i < m->contexts; i++) {
            const struct lp_kernel *const kernel = &lp_context(m, state, i)->kernel;
            if (kernel->launch != 0 && !visit_kernel(&v, pe, kernel))
                return;
        }
        for (uint32_t queue = 0; queue < m->needs.queues; queue++)
            visit_queued(&v, pe, queue, state);
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
    char text[LP_LAUNCH_NAME_BYTES + 64];
    const uint32_t pe = pe_of(w, node), seat = seat_of(w, node);
    if (node < w->seats) {
        print_wait(out, w->m, pe,
                   waiting_kernel(w->m, state_of(w, node), pe, seat % w->queues, peer), peer);
        return;
    }
    print_wait_for_queue(text, sizeof text, w->m, launch_of_node(w, seat));
    fputs(text, out);
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
        if (i > 0 && cycle[i - 1] >= w->seats) {
            fputs(", which ", out);
            print_wait_of(out, w, cycle[i], pe_of(w, next));
        } else {
            print_node_and_wait(out, w, cycle[i], pe_of(w, next));
        }
        if (cycle[i] < w->seats || i + 1 == shown)
            fputs(separator, out);
    }
    fprintf(out, "%sback to PE ", shown < length ? "... " : "");
    print_pe(out, w->m, pe_of(w, cycle[0]));
}

/* None of the seats that the kernel here waits for runs a kernel: they have finished, or were never
 * launched. */
static bool is_orphan(const struct waits *w, uint32_t seat)
{
    if (!runs_at(w, seat))
        return false;
    for (uint32_t i = w->first[seat]; i < w->first[seat + 1]; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): `first` counts entries of `to` */
        if (w->to[i] >= w->seats || runs_at(w, w->to[i]))
            return false;
    return true;
}

/* The batch of the latest kernel there. */
static uint32_t batch_at(const struct waits *w, uint32_t seat)
{
    return lp_pe_queue(w->m, state_of(w, seat), seat % w->queues)->batch;
}

enum { ORPHANS_SHOWN = 4 };

static void print_orphans(FILE *out, const struct waits *w)
{
    uint32_t shown = 0, all = 0;
    for (uint32_t seat = 0; seat < w->seats; seat++) {
        if (!is_orphan(w, seat) || all++ >= ORPHANS_SHOWN)
            continue;
        const uint32_t peers = w->first[seat + 1] - w->first[seat];
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): as in is_orphan() */
        const uint32_t peer = peers == 1 ? w->to[w->first[seat]] : 0;
        fputs(shown++ ? "; " : "", out);
        print_node_and_wait(out, w, seat, peers == 1 ? pe_of(w, peer) : no_pe);
        if (peers != 1)
            continue;
        fputs(": its peer, PE ", out);
        print_pe(out, w->m, pe_of(w, peer));
        fputs(batch_at(w, peer) == batch_at(w, seat) ? ", has finished" : ", runs no kernel", out);
    }
    if (all > shown)
        fprintf(out, "; and %u more", all - shown);
    for (uint32_t node = w->seats; node < w->graph.count; node++) {
        if (node - w->seats == ORPHANS_SHOWN) {
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
        shares_pe |= cycle[i] >= w->seats;
    const uint32_t queued = w->queued[w->seats];
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
    const uint32_t queues = m->needs.queues;
    struct waits w = {.m = m, .sim = sim, .seats = lp_pe_count(m) * queues, .queues = queues};
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
    for (uint32_t i = 0; i < m->contexts; i++)
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
    const uint32_t count = lp_pe_count(m);
    for (uint32_t place = 0; place < count; place++) {
        const uint32_t pe = lp_pe_at(m, place);
        const struct lp_pe *state = pe_state(m, sim, pe);
        for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++)
            if (state->installed >> dir & 1)
                print_pointers(out, m, pe, dir, &state->queue[dir]);
    }
}

void lp_pointer_dump(const struct lp_model *m, const struct cw_sim *sim, size_t lines_max,
                     FILE *out)
{
    const uint32_t count = lp_pe_count(m);
    size_t lines = 0;
    for (uint32_t place = 0; place < count; place++) {
        const uint32_t pe = lp_pe_at(m, place);
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
