/*
 * deadlock.c: who waits for whom when nothing can move any more (deadlock.h). Reads the LPs' states
 * between drains.
 *
 * Each waiting kernel waits for one peer: an empty queue for its sender, a full ring for its
 * receiver. So the wait-for graph has one edge out of each node, and its cycles are found by
 * following edges once over all nodes. A receive from any direction has several edges; it
 * counts as waiting for nobody in particular.
 */
#include "lp/deadlock.h"

#include <stdarg.h>
#include <stdlib.h>

#define NOBODY UINT32_MAX

static const struct lp_pe *pe_state(const struct lp_model *m, const struct cw_sim *sim, uint32_t pe)
{
    const struct hw_place place = hw_place_of(&m->hw, pe);
    return lp_pe(m, cw_state(sim, lp_of_cube(m, place.sip, place.cube)), place.pe);
}

static bool waits(const struct lp_model *m, const struct lp_pe *pe)
{
    return lp_context(m, pe, 0)->kernel.launch != 0;
}

/* A wait for one direction, or for the notification of one PE. */
static bool waits_for_one(const struct lp_kernel *kernel)
{
    return kernel->wait == LP_WAIT_CREDIT || kernel->wait == LP_WAIT_NOTIFY ||
           (kernel->wait == LP_WAIT_DATA && kernel->call.dir < HW_DIRS_MAX);
}

/* The context that speaks for a waiting PE: one that waits for somebody in particular, if any. */
static const struct lp_kernel *kernel_of(const struct lp_model *m, const struct lp_pe *pe)
{
    const struct lp_kernel *speaks = &lp_context(m, pe, 0)->kernel;
    for (uint32_t i = 0; i < m->config.contexts; i++) {
        const struct lp_kernel *kernel = &lp_context(m, pe, i)->kernel;
        if (kernel->launch == 0)
            continue;
        if (waits_for_one(kernel))
            return kernel;
        if (kernel->wait == LP_WAIT_DATA)
            speaks = kernel;
    }
    return speaks;
}

static uint32_t waits_for(const struct lp_model *m, const struct lp_pe *state, uint32_t pe)
{
    uint32_t peer;
    enum hw_dir peer_dir;
    const struct lp_kernel *kernel = kernel_of(m, state);
    if (!waits(m, state) || !waits_for_one(kernel))
        return NOBODY;
    if (kernel->wait == LP_WAIT_NOTIFY)
        return kernel->call.peer;
    return lp_queue_peer(m, pe, (enum hw_dir)kernel->call.dir, &peer, &peer_dir) ? peer : NOBODY;
}

/* A text being appended to, never beyond its end. */
struct text {
    char *at;
    size_t left;
};

static void append(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void append(struct text *text, const char *format, ...)
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
    append(text, "%u.%u.%u", place.sip, place.cube, place.pe);
}

static void append_wait(struct text *text, const struct lp_model *m, const struct cw_sim *sim,
                        uint32_t pe)
{
    const struct lp_kernel *kernel = kernel_of(m, pe_state(m, sim, pe));
    const enum hw_dir dir = (enum hw_dir)kernel->call.dir;
    append(text, "PE ");
    append_pe(text, m, pe);
    switch (kernel->wait) {
    case LP_WAIT_DATA:
        append(text, " waits for data from %s",
               dir < HW_DIRS_MAX ? lp_dir_name(m, pe, dir) : "any direction");
        break;
    case LP_WAIT_CREDIT:
        append(text, " waits for room in %s", lp_dir_name(m, pe, dir));
        break;
    case LP_WAIT_NOTIFY:
        append(text, " waits for a notification from PE ");
        append_pe(text, m, kernel->call.peer);
        append(text, ", tag %u", kernel->call.tag);
        break;
    default:
        append(text, " waits at a barrier of its contexts");
    }
}

/* The start of the shortest cycle and its length; NOBODY: there is none. */
static uint32_t shortest_cycle(const uint32_t *next, uint32_t count, uint32_t *seen,
                               uint32_t *length)
{
    uint32_t best = NOBODY;
    *length = UINT32_MAX;
    for (uint32_t start = 0; start < count; start++)
        seen[start] = NOBODY;
    for (uint32_t start = 0; start < count; start++) {
        uint32_t at = start;
        while (at != NOBODY && seen[at] == NOBODY) {
            seen[at] = start;
            at = next[at];
        }
        if (at == NOBODY || seen[at] != start)
            continue;
        uint32_t steps = 1;
        for (uint32_t i = next[at]; i != at; i = next[i])
            steps++;
        if (steps < *length) {
            *length = steps;
            best = at;
        }
    }
    return best;
}

static void append_cycle(struct text *text, const struct lp_model *m, const struct cw_sim *sim,
                         const uint32_t *next, uint32_t first, uint32_t length)
{
    const uint32_t shown = length < 12 ? length : 12;
    uint32_t at = first;
    append(text, "a cycle of %u: ", length);
    for (uint32_t i = 0; i < shown; i++, at = next[at]) {
        append_wait(text, m, sim, at);
        append(text, ", ");
    }
    if (shown < length)
        append(text, "... ");
    append(text, "back to PE ");
    append_pe(text, m, first);
}

/* Those whose peer is not waiting itself: it has finished, or was never launched. */
static void append_orphans(struct text *text, const struct lp_model *m, const struct cw_sim *sim,
                           const uint32_t *next, uint32_t count)
{
    uint32_t shown = 0, all = 0;
    for (uint32_t pe = 0; pe < count; pe++) {
        const struct lp_pe *state = pe_state(m, sim, pe);
        if (!waits(m, state) || (next[pe] != NOBODY && waits(m, pe_state(m, sim, next[pe]))))
            continue;
        if (all++ >= 4)
            continue;
        append(text, shown++ ? "; " : "");
        append_wait(text, m, sim, pe);
        if (next[pe] == NOBODY)
            continue;
        append(text, ": its peer, PE ");
        append_pe(text, m, next[pe]);
        append(text, "%s",
               pe_state(m, sim, next[pe])->epoch == state->epoch ? ", has finished"
                                                                 : ", runs no kernel");
    }
    if (all > shown)
        append(text, "; and %u more", all - shown);
}

void lp_deadlock_summary(const struct lp_model *m, const struct cw_sim *sim, char *buffer,
                         size_t bytes)
{
    const uint32_t count = hw_pe_count(&m->hw);
    struct text text = {buffer, bytes};
    uint32_t *next = malloc(2 * (size_t)count * sizeof *next), waiting = 0, length;
    if (!next) {
        append(&text, "IpcqDeadlock: kernels wait and nothing is left to happen (no memory for "
                      "the wait-for graph)");
        return;
    }
    for (uint32_t pe = 0; pe < count; pe++) {
        const struct lp_pe *state = pe_state(m, sim, pe);
        next[pe] = waits_for(m, state, pe);
        waiting += waits(m, state);
    }
    append(&text, "IpcqDeadlock: %u kernel%s and nothing is left to happen: ", waiting,
           waiting == 1 ? " waits" : "s wait");
    const uint32_t first = shortest_cycle(next, count, next + count, &length);
    if (first != NOBODY)
        append_cycle(&text, m, sim, next, first, length);
    else
        append_orphans(&text, m, sim, next, count);
    append(&text, ". Each send needs a receive on the other side, in the opposite direction");
    free(next);
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
