/*
 * schedule_lay.c: the steps of a program (schedule_lay.h). On the host, one thread.
 *
 * 1. Links: the messages between two threads go over one queue each way. The graph of steps knows
 *    the step at the other end of each message (schedule_graph.h).
 * 2. Sizes: the last chunks of a block may be short. A value is as long as the chunk of the input
 *    that it came from, wherever it is kept. Going through all steps in their order shows which.
 * 3. Notifications, early loads, fused steps, and the tiles of a step (schedule_rings.h).
 */
#include "collectives/schedule/schedule_lay.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/schedule/schedule_rings.h"
#include "collectives/schedule/schedule_values.h"

/* While a program is made. */
struct laying {
    const struct schedule *schedule;
    const struct schedule_graph *graph;
    struct schedule_program *program;
    struct cw_error *error;
};

static int laying_no_memory(struct laying *l)
{
    return cw_error_memory(l->error, "the program of a schedule");
}

/* ---- links ----------------------------------------------------------------------------------- */

/* The link to a thread of a rank, added if it is new. At most HW_DIRS_MAX, else UINT32_MAX. */
static uint32_t link_to(struct program_rank *rank, struct program_thread *thread,
                        uint32_t peer_rank, uint32_t peer_thread, bool sends)
{
    struct program_link *const link = &rank->link[thread->link_first];
    uint32_t i = 0;
    while (i < thread->link_count &&
           (link[i].peer_rank != peer_rank || link[i].peer_thread != peer_thread))
        i++;
    if (i == HW_DIRS_MAX)
        return UINT32_MAX;
    if (i == thread->link_count)
        link[thread->link_count++] =
            (struct program_link){.peer_rank = peer_rank, .peer_thread = (uint16_t)peer_thread};
    link[i].sends |= sends;
    link[i].receives |= !sends;
    return i;
}

int schedule_lay_refuse_peers(uint32_t rank, uint32_t thread, struct cw_error *error)
{
    return cw_error_set(error, CW_USAGE,
                        "rank %u, thread %u exchanges messages with more than %u threads; a PE has "
                        "that many queues; use more threads",
                        rank, thread, (unsigned)HW_DIRS_MAX);
}

/* The link by which a step sends or receives. UINT32_MAX: *l->error says why. */
static uint32_t link_of_step(struct laying *l, uint32_t r, uint32_t t, uint32_t number, bool sends)
{
    struct program_rank *const rank = &l->program->rank[r];
    const struct schedule_graph *const graph = l->graph;
    const uint32_t i = graph->first[r] + number;
    const uint32_t there = sends ? graph->receiver[i] : graph->sender[i];
    const struct schedule_step *const step = schedule_graph_step(graph, i);
    const uint32_t link = link_to(rank, &rank->thread[t], sends ? step->send_to : step->recv_from,
                                  graph->thread_of[there], sends);
    if (link != UINT32_MAX)
        rank->link[rank->thread[t].link_first + link].tree = step->channel;
    if (link == UINT32_MAX)
        (void)schedule_lay_refuse_peers(schedule_rank_at(l->schedule, r), t, l->error);
    return link;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* A chunk's number as the kernel sees it: in a lane there are only the chunks of its part. */
static uint32_t chunk_seen(const struct schedule_program *p, const struct schedule_rank *rank,
                           enum schedule_buffer buffer, uint32_t chunk)
{
    const uint32_t of_block = rank->chunks[buffer] / p->blocks[buffer];
    if (p->lanes == 0 || of_block == 0)
        return chunk;
    const uint32_t of_part = of_block / p->schedule->parts;
    return chunk / of_block * of_part + chunk % of_block % of_part;
}

static int lay_steps_of_thread(struct laying *l, uint32_t r, uint32_t t)
{
    const struct schedule_rank *const from = &l->schedule->rank[r];
    struct program_rank *const to = &l->program->rank[r];
    const struct schedule_thread *const thread = &from->thread[t];
    for (uint32_t k = 0; k < thread->step_count; k++) {
        const uint32_t number = thread->step_first + k;
        const struct schedule_step *const step = &from->step[number];
        const enum schedule_op op = (enum schedule_op)step->op;
        struct program_step *const out = &to->step[number];
        uint32_t send = 0, receive = 0;
        if ((schedule_op_sends(op) && (send = link_of_step(l, r, t, number, true)) == UINT32_MAX) ||
            (schedule_op_receives(op) &&
             (receive = link_of_step(l, r, t, number, false)) == UINT32_MAX))
            return l->error->exit_code;
        out->op = step->op;
        out->send_dir = (uint8_t)send;
        out->recv_dir = (uint8_t)receive;
        out->src_buffer = step->src.buffer;
        out->dst_buffer = step->dst.buffer;
        out->count = (uint16_t)step->count;
        if (schedule_goes_by_tree(l->schedule, schedule_rank_at(l->schedule, r), step))
            out->flags = (uint8_t)(PROGRAM_TREE | (step->src.none ? PROGRAM_NO_SOURCE : 0) |
                                   (step->dst.none ? PROGRAM_NOT_WANTED : 0));
        out->src =
            chunk_seen(l->program, from, (enum schedule_buffer)step->src.buffer, step->src.at);
        out->dst =
            chunk_seen(l->program, from, (enum schedule_buffer)step->dst.buffer, step->dst.at);
        if (op == SCHEDULE_STORE)
            out->src = schedule_graph_writes(l->graph, l->graph->first[r] + number);
        else if (schedule_op_reaches(op))
            out->dst = schedule_graph_reads(l->graph, l->graph->first[r] + number);
    }
    return CW_OK;
}

static int lay_rank(struct laying *l, uint32_t r)
{
    const struct schedule_rank *const from = &l->schedule->rank[r];
    struct program_rank *const to = &l->program->rank[r];
    uint32_t chunks = 0;
    for (uint32_t k = 0; k < from->step_count; k++) {
        if (from->step[k].count > UINT16_MAX)
            return cw_error_set(l->error, CW_USAGE, "rank %u: a step of %u chunks; at most %u",
                                schedule_rank_at(l->schedule, r), from->step[k].count,
                                (unsigned)UINT16_MAX);
        chunks += from->step[k].count;
    }
    to->thread_count = from->thread_count;
    to->thread = calloc(from->thread_count + 1, sizeof *to->thread);
    to->step = calloc(from->step_count + 1, sizeof *to->step);
    to->link = calloc((size_t)from->thread_count * HW_DIRS_MAX + 1, sizeof *to->link);
    to->size = calloc(chunks + 1, sizeof *to->size);
    to->wait = calloc(from->wait_count + 1, sizeof *to->wait);
    if (to->thread == NULL || to->step == NULL || to->link == NULL || to->size == NULL ||
        to->wait == NULL)
        return laying_no_memory(l);
    chunks = 0;
    for (uint32_t k = 0; k < from->step_count; k++) {
        to->step[k].size_first = chunks;
        chunks += from->step[k].count;
    }
    for (uint32_t t = 0; t < from->thread_count; t++) {
        to->thread[t] = (struct program_thread){.step_first = from->thread[t].step_first,
                                                .step_count = from->thread[t].step_count,
                                                .link_first = t * (uint32_t)HW_DIRS_MAX};
        const int code = lay_steps_of_thread(l, r, t);
        if (code != CW_OK)
            return code;
    }
    return CW_OK;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Where a rank's chunks are: one word for each place of its memory. */
static uint32_t *words_of(const struct schedule *s, uint32_t rank)
{
    return calloc((size_t)schedule_locations(s, rank) + 1, sizeof(uint32_t));
}

static uint32_t *words_at(const struct laying *l, uint32_t *words, uint32_t rank,
                          struct schedule_chunks chunks)
{
    return words + schedule_location(l->schedule, rank, chunks.buffer, chunks.at);
}

/* For each place, the chunk of a block of the input that its value is as long as. */
static uint32_t *input_lengths(const struct laying *l, uint32_t rank)
{
    const struct schedule_program *const p = l->program;
    const uint32_t chunks = l->schedule->rank[rank].chunks[SCHEDULE_INPUT];
    uint32_t of_block = chunks / p->blocks[SCHEDULE_INPUT];
    uint32_t *const length = words_of(l->schedule, rank);
    if (p->lanes > 0)
        of_block /= l->schedule->parts; /* a lane has the chunks of its part */
    for (uint32_t i = 0; length != NULL && i < chunks && of_block > 0; i++)
        length[schedule_location(l->schedule, rank, SCHEDULE_INPUT, i)] = i % of_block;
    return length;
}

/* Values keep their numbers, and the step reads them from a buffer of numbered chunks, or writes
 * them there: *first is the first one's number. */
static bool numbers_of(const struct laying *l, uint32_t r, const struct schedule_step *step,
                       uint32_t *first)
{
    const struct schedule *const s = l->schedule;
    const enum schedule_op op = (enum schedule_op)step->op;
    const bool writes = schedule_op_writes(op) && step->dst.buffer != SCHEDULE_SCRATCH;
    const struct schedule_chunks chunks = writes ? step->dst : step->src;
    if (!s->keeps_numbers || chunks.buffer == SCHEDULE_SCRATCH ||
        (!writes && !schedule_op_reads(op)))
        return false;
    const uint32_t of_block = l->program->chunks[chunks.buffer];
    *first = chunk_seen(l->program, &s->rank[r], (enum schedule_buffer)chunks.buffer, chunks.at) %
             of_block;
    return *first + step->count <= of_block;
}

/* Takes over the lengths of the values that a step moves. */
static void carry_lengths(const struct laying *l, uint32_t *const *length, uint32_t i)
{
    const struct schedule_graph *const graph = l->graph;
    const struct schedule_step *const step = schedule_graph_step(graph, i);
    const uint32_t r = graph->rank_of[i], sender = graph->sender[i];
    struct program_rank *const rank = &l->program->rank[r];
    uint32_t *const size = &rank->size[rank->step[i - graph->first[r]].size_first];
    uint32_t first;
    if (step->count == 0)
        return;
    if (numbers_of(l, r, step, &first)) {
        for (uint32_t k = 0; k < step->count; k++)
            size[k] = first + k;
    } else if (step->op == SCHEDULE_ADD || step->op == SCHEDULE_STORE) {
        memcpy(size, &rank->size[rank->step[i - 1 - graph->first[r]].size_first],
               step->count * sizeof *size);
    } else if (sender != GRAPH_NONE) {
        const uint32_t from = graph->rank_of[sender];
        const struct program_rank *const peer = &l->program->rank[from];
        memcpy(size, &peer->size[peer->step[sender - graph->first[from]].size_first],
               step->count * sizeof *size);
    } else {
        const uint32_t from = schedule_graph_reads(graph, i);
        memcpy(size, words_at(l, length[from], from, step->src), step->count * sizeof *size);
    }
    const uint32_t to = schedule_graph_writes(graph, i);
    if (schedule_step_writes(step))
        memcpy(words_at(l, length[to], to, step->dst), size, step->count * sizeof *size);
    uint32_t following = 1;
    while (following < step->count && size[following] == size[0] + following)
        following++;
    if (following == step->count)
        rank->step[i - graph->first[r]].flags |= PROGRAM_TOGETHER;
}

static int find_sizes(struct laying *l)
{
    const struct schedule *const s = l->schedule;
    uint32_t **const length = calloc(s->rank_count, sizeof *length);
    int code = length != NULL ? CW_OK : laying_no_memory(l);
    for (uint32_t r = 0; r < s->rank_count && code == CW_OK; r++)
        if ((length[r] = input_lengths(l, r)) == NULL)
            code = laying_no_memory(l);
    for (uint32_t i = 0; i < l->graph->ordered && code == CW_OK; i++)
        carry_lengths(l, length, l->graph->order[i]);
    for (uint32_t r = 0; length != NULL && r < s->rank_count; r++)
        free(length[r]);
    free(length);
    return code;
}

/* In a folded schedule a number that comes from a peer is the image of the value's own. Its chunk
 * is as long, or the ranks would not be alike; but whether several follow each other is known of
 * the whole alone, unless values keep their numbers. */
static int take_whole_sizes(struct laying *l, const struct ccl_config *ccl)
{
    const struct schedule *const s = l->schedule;
    struct schedule_program *const program = l->program;
    if (s->whole == NULL)
        return CW_OK;
    const struct program_request request = {.schedule = s->whole,
                                            .hw = program->hw,
                                            .ccl = ccl,
                                            .lanes = program->lanes,
                                            .lanes_apart = program->lanes_apart};
    struct schedule_program *const whole = schedule_program_create(&request, l->error);
    if (whole == NULL)
        return l->error->exit_code;
    for (uint32_t r = 0; r < s->rank_count; r++) {
        const struct program_rank *const from = &whole->rank[schedule_rank_at(s, r)];
        struct program_rank *const to = &program->rank[r];
        for (uint32_t k = 0; k < s->rank[r].step_count; k++) {
            const struct program_step *const step = &from->step[k];
            to->step[k].flags = step->flags;
            memcpy(&to->size[step->size_first], &from->size[step->size_first],
                   step->count * sizeof *to->size);
        }
    }
    schedule_program_free(whole);
    return CW_OK;
}

/* ---- notifications --------------------------------------------------------------------------- */

/* Thread `to` waits for a step of thread `from`: their PEs. */
struct notice {
    uint32_t from, to;
    uint32_t rank, step; /* of `from`: the step's number in its rank */
};

/* Waits of the threads of some ranks for threads of these ranks: of one rank, or of all ranks of a
 * schedule that reaches. */
struct notices {
    struct notice *notice; /* by_pair(), each once; then by_step() */
    uint32_t count;
    uint32_t first_rank, end_rank;
};

static int by_pair(const void *a, const void *b)
{
    const struct notice *const x = a, *const y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->step < y->step ? -1 : x->step > y->step;
}

static int by_step(const void *a, const void *b)
{
    const struct notice *const x = a, *const y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* The k-th wait of a rank's step, of its thread t. False: it is for the thread itself. */
static bool notice_of(const struct laying *l, uint32_t r, uint32_t t,
                      const struct schedule_wait *wait, struct notice *out)
{
    const struct schedule_program *const p = l->program;
    const uint32_t there = schedule_wait_rank(wait, r);
    const struct schedule_thread *const thread = &l->schedule->rank[there].thread[wait->thread];
    *out = (struct notice){.from = p->rank[there].first_pe + wait->thread,
                           .to = p->rank[r].first_pe + t,
                           .rank = there,
                           .step = thread->step_first + wait->step};
    return there != r || wait->thread != t;
}

static int collect_notices(struct laying *l, struct notices *n)
{
    size_t waits = 0;
    uint32_t count = 0;
    for (uint32_t r = n->first_rank; r < n->end_rank; r++)
        waits += l->schedule->rank[r].wait_count;
    n->notice = calloc(waits + 1, sizeof *n->notice);
    if (n->notice == NULL)
        return laying_no_memory(l);
    for (uint32_t r = n->first_rank; r < n->end_rank; r++) {
        const struct schedule_rank *const rank = &l->schedule->rank[r];
        for (uint32_t t = 0; t < rank->thread_count; t++)
            for (uint32_t k = 0; k < rank->thread[t].step_count; k++) {
                const struct schedule_step *const step =
                    &rank->step[rank->thread[t].step_first + k];
                for (uint32_t i = 0; i < step->wait_count; i++)
                    count +=
                        notice_of(l, r, t, &rank->wait[step->wait_first + i], &n->notice[count]);
            }
    }
    if (count > 0)
        qsort(n->notice, count, sizeof *n->notice, by_pair);
    for (uint32_t i = 0; i < count; i++)
        if (n->count == 0 || by_pair(&n->notice[n->count - 1], &n->notice[i]) != 0)
            n->notice[n->count++] = n->notice[i];
    return CW_OK;
}

/* Which of the steps that `to` waits for in `from` this one is, from 1. */
static uint32_t number_of_notice(const struct notices *n, const struct notice *key)
{
    const struct notice *const at = bsearch(key, n->notice, n->count, sizeof *key, by_pair);
    uint32_t number = 1;
    for (const struct notice *before = at;
         before > n->notice && before[-1].from == at->from && before[-1].to == at->to; before--)
        number++;
    return number;
}

/* Before each step of a thread: how many notifications it still has to take from each PE. A
 * thread's notifications come in the order of its steps, so the k-th says that k steps are done.
 * taken: [PEs of all ranks], which the thread leaves as it was. */
static void lay_waits(const struct laying *l, const struct notices *n, uint32_t r, uint32_t t,
                      uint32_t *taken, uint32_t *wait_count)
{
    const struct schedule_rank *const from = &l->schedule->rank[r];
    struct program_rank *const out = &l->program->rank[r];
    const struct schedule_thread *const thread = &from->thread[t];
    const uint32_t first = *wait_count;
    for (uint32_t k = 0; k < thread->step_count; k++) {
        const struct schedule_step *const step = &from->step[thread->step_first + k];
        struct program_step *const laid = &out->step[thread->step_first + k];
        laid->wait_first = *wait_count;
        for (uint32_t i = 0; i < step->wait_count; i++) {
            struct notice key;
            if (!notice_of(l, r, t, &from->wait[step->wait_first + i], &key))
                continue;
            const uint32_t number = number_of_notice(n, &key);
            if (number <= taken[key.from])
                continue;
            out->wait[(*wait_count)++] =
                (struct program_wait){.pe = key.from, .times = number - taken[key.from]};
            laid->wait_count++;
            taken[key.from] = number;
        }
    }
    for (uint32_t i = first; i < *wait_count; i++)
        taken[out->wait[i].pe] = 0;
}

/* PEs with which one exchanges notifications. peers: [PEs of all ranks], zeroed. */
static void count_peers(struct laying *l, const struct notices *n, uint32_t *peers)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (i == 0 || n->notice[i].from != n->notice[i - 1].from ||
            n->notice[i].to != n->notice[i - 1].to) {
            peers[n->notice[i].from]++;
            peers[n->notice[i].to]++;
        }
    for (uint32_t i = 0; i < n->count; i++) {
        const uint32_t pe[] = {n->notice[i].from, n->notice[i].to};
        for (uint32_t k = 0; k < 2; k++) {
            l->program->peers = peers[pe[k]] > l->program->peers ? peers[pe[k]] : l->program->peers;
            peers[pe[k]] = 0;
        }
    }
}

/* After each step that others wait for: whom it notifies. */
static int lay_notifies(struct laying *l, struct notices *n)
{
    struct program_rank *rank = NULL;
    uint32_t first = 0;
    if (n->count > 0)
        qsort(n->notice, n->count, sizeof *n->notice, by_step);
    for (uint32_t i = 0; i < n->count; i++) {
        const struct notice *const notice = &n->notice[i];
        if (rank != &l->program->rank[notice->rank]) {
            uint32_t end = i;
            while (end < n->count && n->notice[end].rank == notice->rank)
                end++;
            rank = &l->program->rank[notice->rank];
            first = i;
            rank->notify = calloc(end - i, sizeof *rank->notify);
            if (rank->notify == NULL)
                return laying_no_memory(l);
        }
        struct program_step *const step = &rank->step[notice->step];
        if (step->notify_count++ == 0)
            step->notify_first = i - first;
        rank->notify[i - first] = notice->to;
    }
    return CW_OK;
}

/* by_step() has the notices of a rank one after the other, as PEs of ranks do not mix. taken: as
 * above. */
static int lay_notifications_of(struct laying *l, uint32_t first_rank, uint32_t end_rank,
                                uint32_t *taken)
{
    struct notices n = {.first_rank = first_rank, .end_rank = end_rank};
    int code = collect_notices(l, &n);
    for (uint32_t r = first_rank; r < end_rank && code == CW_OK && n.count > 0; r++)
        for (uint32_t t = 0, waits = 0; t < l->schedule->rank[r].thread_count; t++)
            lay_waits(l, &n, r, t, taken, &waits);
    if (code == CW_OK) {
        count_peers(l, &n, taken);
        code = lay_notifies(l, &n);
    }
    free(n.notice);
    return code;
}

static int lay_notifications(struct laying *l)
{
    const struct schedule *const s = l->schedule;
    uint32_t *const taken = calloc((size_t)hw_pe_count(l->program->hw) + 1, sizeof *taken);
    int code = taken != NULL ? CW_OK : laying_no_memory(l);
    if (s->reaches && code == CW_OK)
        code = lay_notifications_of(l, 0, s->rank_count, taken);
    for (uint32_t r = 0; r < s->rank_count && code == CW_OK && !s->reaches; r++)
        if (s->rank[r].wait_count > 0)
            code = lay_notifications_of(l, r, r + 1, taken);
    free(taken);
    return code;
}

/* ---- early loads ----------------------------------------------------------------------------- */

enum { WRITTEN_BY_NONE = 0, WRITTEN_BY_MANY = UINT32_MAX };

/* Of each place of a rank's memory: the thread that writes it (+ 1), and its first step that does.
 */
struct writers {
    uint32_t *thread, *step;
};

static void note_writers(const struct laying *l, struct writers w, uint32_t r, uint32_t t,
                         uint32_t k)
{
    const struct schedule_rank *const rank = &l->schedule->rank[r];
    const struct schedule_step *const step = &rank->step[rank->thread[t].step_first + k];
    if (!schedule_step_writes(step))
        return;
    uint32_t *const thread = words_at(l, w.thread, r, step->dst);
    uint32_t *const first = words_at(l, w.step, r, step->dst);
    for (uint32_t i = 0; i < step->count; i++) {
        if (thread[i] == WRITTEN_BY_NONE)
            first[i] = k;
        thread[i] = thread[i] == WRITTEN_BY_NONE || thread[i] == t + 1 ? t + 1 : WRITTEN_BY_MANY;
    }
}

/* A step's sources may be loaded while the step before it is carried out, as far as its rank's
 * other threads are known: none of them writes the sources, no earlier step does, and the step
 * waits for nothing. */
static bool loads_early(const struct laying *l, struct writers w, uint32_t r, uint32_t t,
                        uint32_t k)
{
    const struct schedule_rank *const rank = &l->schedule->rank[r];
    const struct schedule_step *const step = &rank->step[rank->thread[t].step_first + k];
    if (!schedule_op_reads((enum schedule_op)step->op) || step->op == SCHEDULE_REDUCE ||
        step->wait_count > 0)
        return false;
    const uint32_t *const thread = words_at(l, w.thread, r, step->src);
    const uint32_t *const first = words_at(l, w.step, r, step->src);
    for (uint32_t i = 0; i < step->count; i++)
        if (thread[i] != WRITTEN_BY_NONE && (thread[i] != t + 1 || first[i] < k))
            return false;
    return true;
}

/* The same by the order of all steps: no step before it has written its sources. A schedule without
 * hazards has each later write ordered after this step. Files may have hazards, which
 * are only notes. */
static bool reads_input_as_it_came(const struct laying *l, uint32_t *written, uint32_t i)
{
    const struct schedule_step *const step = schedule_graph_step(l->graph, i);
    const enum schedule_op op = (enum schedule_op)step->op;
    const uint32_t r = l->graph->rank_of[i];
    bool early = schedule_op_reads(op) && op != SCHEDULE_REDUCE && step->wait_count == 0;
    for (uint32_t k = 0; k < step->count && early && !step->src.none; k++)
        early = words_at(l, written, r, step->src)[k] == 0;
    for (uint32_t k = 0; k < step->count && schedule_step_writes(step); k++)
        words_at(l, written, r, step->dst)[k] = 1;
    return early;
}

static int find_early_loads_in_order(struct laying *l)
{
    const struct schedule *const s = l->schedule;
    uint32_t **const written = calloc(s->rank_count, sizeof *written);
    int code = written != NULL ? CW_OK : laying_no_memory(l);
    for (uint32_t r = 0; r < s->rank_count && code == CW_OK; r++)
        if ((written[r] = words_of(s, r)) == NULL)
            code = laying_no_memory(l);
    for (uint32_t k = 0; k < l->graph->ordered && code == CW_OK; k++) {
        const uint32_t i = l->graph->order[k], r = l->graph->rank_of[i];
        if (reads_input_as_it_came(l, written[r], i))
            l->program->rank[r].step[i - l->graph->first[r]].flags |= PROGRAM_EARLY;
    }
    for (uint32_t r = 0; written != NULL && r < s->rank_count; r++)
        free(written[r]);
    free(written);
    return code;
}

static int find_early_loads(struct laying *l)
{
    const struct schedule *const s = l->schedule;
    int code = CW_OK;
    for (uint32_t r = 0; r < s->rank_count && code == CW_OK; r++) {
        const struct schedule_rank *const rank = &s->rank[r];
        const struct writers writers = {words_of(s, r), words_of(s, r)};
        if (writers.thread == NULL || writers.step == NULL)
            code = laying_no_memory(l);
        for (uint32_t t = 0; t < rank->thread_count && code == CW_OK; t++)
            for (uint32_t k = 0; k < rank->thread[t].step_count; k++)
                note_writers(l, writers, r, t, k);
        for (uint32_t t = 0; t < rank->thread_count && code == CW_OK; t++)
            for (uint32_t k = 0; k < rank->thread[t].step_count; k++)
                if (loads_early(l, writers, r, t, k))
                    l->program->rank[r].step[rank->thread[t].step_first + k].flags |= PROGRAM_EARLY;
        free(writers.thread);
        free(writers.step);
    }
    return code;
}

/* Of a schedule that reaches: a thread has not written what the step loads, so that no store of its
 * own needs to have ended. What others write is waited for. */
static bool is_settled(const struct laying *l, uint32_t *const *writer, uint32_t i, uint32_t thread)
{
    const struct schedule_step *const step = schedule_graph_step(l->graph, i);
    const uint32_t from = schedule_graph_reads(l->graph, i),
                   to = schedule_graph_writes(l->graph, i);
    bool settled = true;
    for (uint32_t k = 0; k < step->count && step->op == SCHEDULE_STORE; k++)
        words_at(l, writer[to], to, step->dst)[k] = thread;
    for (uint32_t k = 0; k < step->count && schedule_op_reads((enum schedule_op)step->op); k++)
        settled &= words_at(l, writer[from], from, step->src)[k] != thread;
    return settled;
}

/* Of each step, and of those that are joined with it. */
static void settle_thread(struct laying *l, uint32_t *const *writer, uint32_t r, uint32_t t,
                          uint32_t thread)
{
    const struct schedule_rank *const rank = &l->schedule->rank[r];
    const struct schedule_thread *const of = &rank->thread[t];
    for (uint32_t k = 0, first = 0; k < of->step_count; k++) {
        struct program_step *const laid = &l->program->rank[r].step[of->step_first];
        first = rank->step[of->step_first + k].joined == SCHEDULE_APART ? k : first;
        if (first == k)
            laid[first].flags |= PROGRAM_EARLY;
        if (!is_settled(l, writer, schedule_graph_at(l->graph, r, t, k), thread))
            laid[first].flags &= (uint8_t)~PROGRAM_EARLY;
    }
}

static int find_settled_loads(struct laying *l)
{
    const struct schedule *const s = l->schedule;
    uint32_t **const writer = calloc(s->rank_count, sizeof *writer);
    uint32_t thread = 0;
    int code = writer != NULL ? CW_OK : laying_no_memory(l);
    for (uint32_t r = 0; r < s->rank_count && code == CW_OK; r++)
        if ((writer[r] = words_of(s, r)) == NULL)
            code = laying_no_memory(l);
    for (uint32_t r = 0; r < s->rank_count && code == CW_OK; r++)
        for (uint32_t t = 0; t < s->rank[r].thread_count; t++)
            settle_thread(l, writer, r, t, ++thread);
    for (uint32_t r = 0; writer != NULL && r < s->rank_count; r++)
        free(writer[r]);
    free(writer);
    return code;
}

/* ---- fused steps ------------------------------------------------------------------------ */

static void fuse_steps(struct laying *l, uint32_t r)
{
    const struct schedule_rank *const rank = &l->schedule->rank[r];
    for (uint32_t t = 0; t < rank->thread_count; t++) {
        const struct schedule_step *const step = &rank->step[rank->thread[t].step_first];
        struct program_step *const laid = &l->program->rank[r].step[rank->thread[t].step_first];
        for (uint32_t first = 0, k = 0; k < rank->thread[t].step_count; k++) {
            if (k == 0 || laid[first].fused == UINT8_MAX || step[k].joined == SCHEDULE_APART)
                first = k;
            laid[first].fused++;
        }
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Tiles of a piece, where chunks of any size may come. 0: there is no such number. */
static uint32_t tiles_of_any(const struct laying *l, const struct ccl_config *ccl)
{
    l->program->most_bytes = UINT64_MAX;
    return schedule_rings_tiles(l->graph, ccl->queues.n_slots, NULL);
}

/* ... where chunks are no larger than a tile. 0: they may be larger; there is no such number; or
 * out of memory. */
static uint32_t tiles_of_small(const struct laying *l, const struct ccl_config *ccl)
{
    const uint64_t bytes = ccl->n_elem * tl_itemsize(LP_F16);
    struct small_chunks small = {
        .chunk_bytes = schedule_chunk_bytes(bytes, l->program->chunks[SCHEDULE_INPUT]),
        .tile_bytes = schedule_tile_bytes(ccl)};
    if (!ccl->n_elem_is_most || l->schedule->collective != CCL_ALL_REDUCE ||
        small.chunk_bytes > small.tile_bytes)
        return 0;
    bool *const together = calloc((size_t)l->graph->steps + 1, sizeof *together);
    for (uint32_t i = 0; together != NULL && i < l->graph->steps; i++) {
        const uint32_t r = l->graph->rank_of[i];
        together[i] =
            (l->program->rank[r].step[i - l->graph->first[r]].flags & PROGRAM_TOGETHER) != 0;
    }
    small.together = together;
    l->program->most_bytes = bytes;
    const uint32_t tiles =
        together != NULL ? schedule_rings_tiles(l->graph, ccl->queues.n_slots, &small) : 0;
    free(together);
    return tiles;
}

static int lay_program(struct laying *l, const struct ccl_config *ccl)
{
    const struct schedule *const s = l->schedule;
    int code = CW_OK;
    if (l->graph->ordered < l->graph->steps)
        return cw_error_set(l->error, CW_USAGE, "%s: steps wait for each other in a circle",
                            s->name);
    for (uint32_t r = 0; r < s->rank_count && code == CW_OK; r++)
        code = lay_rank(l, r);
    if (code == CW_OK)
        code = find_sizes(l);
    if (code == CW_OK)
        code = lay_notifications(l);
    if (code == CW_OK)
        code = s->reaches        ? find_settled_loads(l)
               : s->file != NULL ? find_early_loads(l)
                                 : find_early_loads_in_order(l);
    if (code == CW_OK)
        code = take_whole_sizes(l, ccl);
    if (code != CW_OK)
        return code;
    for (uint32_t r = 0; r < s->rank_count; r++)
        fuse_steps(l, r);
    if (s->reaches) { /* no rings: as many as 32 bits of bytes have */
        l->program->most_bytes = UINT64_MAX;
        l->program->piece_tiles = l->program->exact_piece_tiles =
            UINT32_MAX / l->program->tile_bytes;
        return CW_OK;
    }
    l->program->piece_tiles = tiles_of_small(l, ccl);
    if (l->program->piece_tiles == 0)
        l->program->piece_tiles = tiles_of_any(l, ccl);
    l->program->piece_tiles = program_piece_tiles(ccl, l->program->piece_tiles);
    l->program->tile_min_bytes = ccl->tile_min_bytes;
    if (l->program->piece_tiles == 0)
        return cw_error_set(l->error, CW_USAGE,
                            "%s: rings of %u slots fill up forever; legal: more slots (n_slots)",
                            s->name, ccl->queues.n_slots);
    /* with coarse tiles, a piece is a number of these */
    const uint32_t coarse = lp_coarse(&ccl->queues);
    l->program->exact_piece_tiles = l->program->piece_tiles;
    l->program->piece_tiles =
        l->program->piece_tiles > coarse ? l->program->piece_tiles / coarse : 1;
    if (coarse == 1)
        l->program->piece_tiles = l->program->exact_piece_tiles;
    return CW_OK;
}

/* The graph of its steps; NULL: *error says why. */
static struct schedule_graph *graph_of(const struct schedule *s, struct cw_error *error)
{
    struct schedule_faults faults = {0};
    struct schedule_graph *const graph = schedule_graph_create(s, &faults);
    if (graph == NULL && schedule_faults_report(&faults, error) == CW_OK)
        (void)cw_error_memory(error, "the graph of a schedule");
    schedule_faults_free(&faults);
    return graph;
}

int schedule_lay(struct schedule_program *program, const struct ccl_config *ccl,
                 struct cw_error *error)
{
    struct schedule_graph *const graph = graph_of(program->schedule, error);
    struct laying l = {
        .schedule = program->schedule, .graph = graph, .program = program, .error = error};
    const int code = graph != NULL ? lay_program(&l, ccl) : error->exit_code;
    schedule_graph_free(graph);
    return code;
}
