/*
 * msccl_write.c: writes a schedule as an MSCCL XML file (msccl_write.h). A rank at a time: its
 * steps as pieces in the order of its threads, each given to a thread block; then numbers; then the
 * text. First the same without the text, for several ways to cut queues and blocks: the way that
 * most runtimes take is written.
 */
#include "collectives/msccl/msccl_write.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/msccl/msccl_channels.h"
#include "collectives/msccl/msccl_limits.h"

enum { NONE = UINT32_MAX };

/* A thread block: peers or NONE. */
struct block {
    uint32_t send, recv;
    uint8_t channel;
    uint32_t thread;        /* of the schedule, whose steps it has */
    uint32_t pieces, steps; /* steps: numbers given */
};

/* The peers of a piece, or NONE, and the channels. */
struct ends {
    uint32_t send, recv;
    uint8_t send_channel, recv_channel;
};

/* A step of the file. */
struct piece {
    struct schedule_step step;
    uint32_t block, number;
    uint32_t wait_first, wait_count; /* pieces that it waits for: waits[] */
    bool awaited;
};

/* A way to cut: messages of a queue's part, and pieces of a thread block that steps without a peer
 * may join. */
struct cut {
    uint32_t part, room;
};

struct writing {
    const struct schedule *schedule;
    struct cut cut;
    uint32_t thread; /* whose steps are given to blocks */
    struct msccl_channels *channels;
    struct msccl_figures figures;
    const struct schedule_rank *rank;
    struct block *block;
    struct piece *piece;
    uint32_t *last;  /* [steps of the rank]: the last piece of each */
    uint32_t *waits; /* pieces */
    uint32_t blocks, block_room, pieces, piece_room, wait_count, wait_room;
    uint32_t scratch; /* chunks of the rank's, with those for split steps */
    bool failed;      /* memory has run out */
};

static bool write_room(struct writing *w, void **list, uint32_t count, uint32_t *room, size_t bytes)
{
    if (count < *room)
        return true;
    const uint32_t more = *room * 2 + 64;
    void *const bigger = realloc(*list, more * bytes);
    w->failed |= bigger == NULL;
    if (bigger == NULL)
        return false;
    *list = bigger;
    *room = more;
    return true;
}

/* ---- thread blocks --------------------------------------------------------------------------- */

static uint32_t block_with(const struct writing *w, bool sends, uint32_t peer, uint8_t channel)
{
    for (uint32_t i = 0; i < w->blocks && peer != NONE; i++)
        if ((sends ? w->block[i].send : w->block[i].recv) == peer && w->block[i].channel == channel)
            return i;
    return NONE;
}

/* The block takes these peers too, or has them. */
static bool block_takes(struct writing *w, uint32_t at, struct ends ends)
{
    struct block *const b = &w->block[at];
    const bool free = b->send == NONE && b->recv == NONE;
    const bool alone = ends.send == NONE && ends.recv == NONE;
    const uint8_t channel = ends.send != NONE ? ends.send_channel : ends.recv_channel;
    if (alone)
        return b->pieces < w->cut.room;
    if ((!free && b->channel != channel) ||
        (ends.send != NONE && b->send != NONE && b->send != ends.send) ||
        (ends.recv != NONE && b->recv != NONE && b->recv != ends.recv))
        return false;
    b->channel = channel;
    b->send = ends.send != NONE ? ends.send : b->send;
    b->recv = ends.recv != NONE ? ends.recv : b->recv;
    return true;
}

/* A block of the thread that can take these peers: all its steps follow each other anyway. One that
 * receives from whom it would send to, or sends to whom it would receive from. NONE: there is none.
 */
static uint32_t block_of_pair(struct writing *w, struct ends ends)
{
    for (uint32_t i = 0; i < w->blocks; i++) {
        const struct block *const b = &w->block[i];
        const bool is_pair = ends.recv == NONE   ? b->recv == ends.send
                             : ends.send == NONE ? b->send == ends.recv
                                                 : false;
        if (b->thread == w->thread && is_pair && block_takes(w, i, ends))
            return i;
    }
    return NONE;
}

/*
 * The block of a step: one that has its peers, else the one of the step before it in its thread
 * (`before`, or NONE), or another one of its thread, if it can take them, else a new one. NONE: its
 * two peers are in two blocks, so that it must be split.
 */
static uint32_t block_for(struct writing *w, struct ends ends, uint32_t before)
{
    const bool alone = ends.send == NONE && ends.recv == NONE;
    const uint32_t has_send = block_with(w, true, ends.send, ends.send_channel),
                   has_recv = block_with(w, false, ends.recv, ends.recv_channel);
    const bool both = ends.send != NONE && ends.recv != NONE;
    const uint32_t at = has_send != NONE ? has_send : has_recv;
    if ((has_send != NONE && has_recv != NONE && has_send != has_recv) ||
        (both && ends.send_channel != ends.recv_channel))
        return NONE;
    if (at != NONE)
        return block_takes(w, at, ends) ? at : NONE;
    const uint32_t pair = alone ? NONE : block_of_pair(w, ends);
    if (pair != NONE)
        return pair;
    if (before != NONE && block_takes(w, before, ends))
        return before;
    if (!write_room(w, (void **)&w->block, w->blocks, &w->block_room, sizeof *w->block))
        return 0;
    w->block[w->blocks] = (struct block){.send = ends.send,
                                         .recv = ends.recv,
                                         .channel = ends.send != NONE   ? ends.send_channel
                                                    : ends.recv != NONE ? ends.recv_channel
                                                                        : 0,
                                         .thread = w->thread};
    return w->blocks++;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static void add_wait(struct writing *w, struct piece *piece, uint32_t for_piece)
{
    if (!write_room(w, (void **)&w->waits, w->wait_count, &w->wait_room, sizeof *w->waits))
        return;
    w->waits[w->wait_count++] = for_piece;
    piece->wait_count++;
}

/* A piece of a thread's step after piece `before`, or NONE; returns its number. */
static uint32_t add_piece(struct writing *w, const struct schedule_step *step, uint32_t block,
                          uint32_t before)
{
    if (!write_room(w, (void **)&w->piece, w->pieces, &w->piece_room, sizeof *w->piece))
        return 0;
    struct piece *const piece = &w->piece[w->pieces];
    *piece = (struct piece){.step = *step, .block = block, .wait_first = w->wait_count};
    if (before != NONE && w->piece[before].block != block)
        add_wait(w, piece, before);
    w->block[block].pieces++;
    return w->pieces++;
}

/* Two steps for one that receives and sends: the second sends the chunks that the first keeps. */
static uint32_t add_split(struct writing *w, const struct schedule_step *step, struct ends ends,
                          uint32_t before)
{
    struct schedule_step first = *step, second = *step;
    struct ends of_first = ends, of_second = ends;
    if (step->op == SCHEDULE_RECV_REDUCE_SEND) {
        first.dst = (struct schedule_chunks){.at = w->scratch, .buffer = SCHEDULE_SCRATCH};
        w->scratch += step->count;
    }
    first.op = step->op == SCHEDULE_RECV_COPY_SEND ? SCHEDULE_RECV : SCHEDULE_RECV_REDUCE_COPY;
    of_first.send = NONE;
    second.op = SCHEDULE_SEND;
    second.src = first.dst;
    of_second.recv = NONE;
    second.wait_count = 0;
    uint32_t block = block_for(w, of_first, before != NONE ? w->piece[before].block : NONE);
    const uint32_t kept = add_piece(w, &first, block, before);
    if (w->failed)
        return 0;
    block = block_for(w, of_second, block);
    return add_piece(w, &second, block, kept);
}

/* A step, in as many pieces as its chunks need, after piece `before`; returns the last one. */
static uint32_t add_step(struct writing *w, uint32_t rank, const struct schedule_step *step,
                         uint32_t before)
{
    const enum schedule_op op = (enum schedule_op)step->op;
    struct schedule_step part = *step;
    uint32_t left = step->count;
    do {
        const struct ends ends = {
            step->send_to, step->recv_from,
            schedule_op_sends(op) ? msccl_channels_of_send(w->channels, rank, step) : 0,
            schedule_op_receives(op) ? msccl_channels_of_recv(w->channels, rank, step) : 0};
        part.count = left < MSCCL_COUNT_MAX ? left : MSCCL_COUNT_MAX;
        const uint32_t block = block_for(w, ends, before != NONE ? w->piece[before].block : NONE);
        before =
            block != NONE ? add_piece(w, &part, block, before) : add_split(w, &part, ends, before);
        left -= part.count;
        part.src.at += part.count;
        part.dst.at += part.count;
        part.wait_count = 0;
    } while (left > 0 && !w->failed);
    return before;
}

/* A nop that nobody waits for leaves its waits to the step after it: they follow each other. */
static void make_pieces(struct writing *w, uint32_t rank)
{
    for (uint32_t t = 0; t < w->rank->thread_count; t++) {
        uint32_t before = NONE, waits = 0;
        w->thread = t;
        for (uint32_t i = 0; i < w->rank->thread[t].step_count && !w->failed; i++) {
            const uint32_t at = w->rank->thread[t].step_first + i;
            struct schedule_step step = w->rank->step[at];
            step.wait_first -= waits;
            step.wait_count += waits;
            waits = step.op == SCHEDULE_NOP && !step.awaited ? step.wait_count : 0;
            if (step.op != SCHEDULE_NOP || step.awaited)
                before = add_step(w, rank, &step, before);
            w->last[at] = before;
        }
    }
}

/* Waits of the schedule: the first piece of a step waits for the last of the other. */
static void add_waits(struct writing *w)
{
    for (uint32_t i = 0; i < w->pieces && !w->failed; i++) {
        struct piece *const piece = &w->piece[i];
        const uint32_t own_first = piece->wait_first, own_count = piece->wait_count;
        const struct schedule_step *const step = &piece->step;
        piece->wait_first = w->wait_count;
        piece->wait_count = 0;
        for (uint32_t k = 0; k < own_count; k++)
            add_wait(w, piece, w->waits[own_first + k]);
        for (uint32_t k = 0; k < step->wait_count; k++) {
            const struct schedule_wait *const wait = &w->rank->wait[step->wait_first + k];
            const uint32_t on = w->last[w->rank->thread[wait->thread].step_first + wait->step];
            if (w->piece[on].block != piece->block)
                add_wait(w, piece, on);
        }
        for (uint32_t k = 0; k < piece->wait_count; k++)
            w->piece[w->waits[piece->wait_first + k]].awaited = true;
        struct block *const block = &w->block[piece->block];
        piece->number = block->steps + (piece->wait_count > 1 ? piece->wait_count - 1 : 0);
        block->steps = piece->number + 1;
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

static int peer_number(uint32_t peer) { return peer == NONE ? -1 : (int)peer; }

static void print_step(FILE *f, uint32_t s, const struct schedule_step *step,
                       const struct piece *on, bool awaited)
{
    const enum schedule_op op = (enum schedule_op)step->op;
    const bool reads = schedule_op_reads(op), writes = schedule_op_writes(op);
    fprintf(f,
            "      <step s=\"%u\" type=\"%s\" srcbuf=\"%c\" srcoff=\"%d\" dstbuf=\"%c\" "
            "dstoff=\"%d\" cnt=\"%u\" depid=\"%d\" deps=\"%d\" hasdep=\"%d\"/>\n",
            s, schedule_op_name(op), reads ? "ios"[step->src.buffer] : 'i',
            reads ? (int)step->src.at : -1, writes ? "ios"[step->dst.buffer] : 'o',
            writes ? (int)step->dst.at : -1, step->count, on != NULL ? (int)on->block : -1,
            on != NULL ? (int)on->number : -1, awaited);
}

static void print_piece(FILE *f, const struct writing *w, const struct piece *piece)
{
    const struct schedule_step nop = {.op = SCHEDULE_NOP};
    const uint32_t first = piece->wait_first, count = piece->wait_count;
    for (uint32_t k = 0; k + 1 < count; k++)
        print_step(f, piece->number - (count - 1) + k, &nop, &w->piece[w->waits[first + k]], false);
    print_step(f, piece->number, &piece->step,
               count > 0 ? &w->piece[w->waits[first + count - 1]] : NULL, piece->awaited);
}

static int by_block(const void *a, const void *b)
{
    const struct piece *const x = *(const struct piece *const *)a, *const y = *(
                                                                       const struct piece *const *)
                                                                                  b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void print_rank(FILE *f, struct writing *w, uint32_t rank)
{
    const struct piece **const sorted = malloc(((size_t)w->pieces + 1) * sizeof *sorted);
    if (sorted == NULL) {
        w->failed = true;
        return;
    }
    for (uint32_t i = 0; i < w->pieces; i++)
        sorted[i] = &w->piece[i];
    if (w->pieces > 1)
        qsort(sorted, w->pieces, sizeof *sorted, by_block);
    fprintf(f, "  <gpu id=\"%u\" i_chunks=\"%u\" o_chunks=\"%u\" s_chunks=\"%u\">\n", rank,
            w->rank->chunks[SCHEDULE_INPUT], w->rank->chunks[SCHEDULE_OUTPUT], w->scratch);
    uint32_t at = 0;
    for (uint32_t b = 0; b < w->blocks; b++) {
        fprintf(f, "    <tb id=\"%u\" send=\"%d\" recv=\"%d\" chan=\"%u\">\n", b,
                peer_number(w->block[b].send), peer_number(w->block[b].recv), w->block[b].channel);
        for (; at < w->pieces && sorted[at]->block == b; at++)
            print_piece(f, w, sorted[at]);
        fputs("    </tb>\n", f);
    }
    fputs("  </gpu>\n", f);
    free(sorted);
}

/* The thread blocks that send on each channel, or receive, of the rank. */
static void note_channels(struct writing *w, uint32_t rank)
{
    uint32_t sends[UINT8_MAX + 1] = {0}, recvs[UINT8_MAX + 1] = {0};
    for (uint32_t i = 0; i < w->blocks; i++) {
        const struct block *const b = &w->block[i];
        sends[b->channel] += b->send != NONE;
        recvs[b->channel] += b->recv != NONE;
        if (b->channel >= w->figures.channels)
            w->figures.channels = b->channel + 1u;
        msccl_note_most(&w->figures.sends, sends[b->channel], rank, i);
        msccl_note_most(&w->figures.recvs, recvs[b->channel], rank, i);
    }
}

static void note_figures(struct writing *w, uint32_t rank)
{
    struct msccl_figures *const f = &w->figures;
    uint32_t steps = 0;
    for (uint32_t i = 0; i < w->blocks; i++) {
        steps += w->block[i].steps;
        msccl_note_most(&f->steps, w->block[i].steps, rank, i);
    }
    msccl_note_most(&f->tbs, w->blocks, rank, 0);
    msccl_note_most(&f->elements, 1 + w->schedule->rank_count + w->blocks + steps, rank, 0);
    for (uint32_t i = 0; i < w->pieces; i++) {
        const struct piece *const piece = &w->piece[i];
        if (piece->awaited)
            msccl_note_most(&f->awaited_tb, piece->block, rank, piece->block);
        if (piece->awaited && piece->step.op == SCHEDULE_NOP)
            msccl_note_most(&f->awaited_nop, 1, rank, piece->block);
    }
    note_channels(w, rank);
}

/* f NULL: for the figures alone. */
static void write_rank(FILE *f, struct writing *w, uint32_t rank)
{
    w->rank = &w->schedule->rank[rank];
    w->blocks = w->pieces = w->wait_count = 0;
    w->scratch = w->rank->chunks[SCHEDULE_SCRATCH];
    free(w->last);
    w->last = malloc(((size_t)w->rank->step_count + 1) * sizeof *w->last);
    w->failed |= w->last == NULL;
    if (!w->failed)
        make_pieces(w, rank);
    if (!w->failed)
        add_waits(w);
    if (!w->failed)
        note_figures(w, rank);
    if (!w->failed && f != NULL)
        print_rank(f, w, rank);
}

/* ---- ways to cut ----------------------------------------------------------------------------- */

/* All ranks by one way to cut. False: it needs more channels than there are, or out of memory. */
static bool write_ranks(FILE *f, struct writing *w, struct cut cut)
{
    w->cut = cut;
    w->figures = (struct msccl_figures){.channels = 1};
    msccl_channels_free(w->channels);
    w->channels = msccl_channels_create(w->schedule, cut.part);
    w->failed |= w->channels == NULL;
    if (w->failed || (cut.part != UINT32_MAX && !msccl_channels_are_spread(w->channels)))
        return false;
    for (uint32_t rank = 0; rank < w->schedule->rank_count && !w->failed; rank++)
        write_rank(f, w, rank);
    return !w->failed;
}

/* The first way to cut that most runtimes take; its figures. */
static struct cut best_cut(struct writing *w, struct msccl_figures *figures)
{
    static const uint32_t parts[] = {192, 128, 96, 60, 48, 32, 24, 16, 12, 8};
    static const uint32_t rooms[] = {UINT32_MAX, 96, 32};
    struct cut best = {UINT32_MAX, UINT32_MAX};
    struct msccl_fit fit;
    uint32_t most = 0;
    const uint32_t all = msccl_fit_count_most(w->schedule);
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms + sizeof parts / sizeof *parts; i++) {
        const bool is_whole = i < sizeof rooms / sizeof *rooms;
        const struct cut cut = {is_whole ? UINT32_MAX : parts[i - sizeof rooms / sizeof *rooms],
                                is_whole ? rooms[i] : 16};
        if (!is_whole && msccl_channels_longest(w->channels) <= cut.part)
            continue; /* nothing to cut */
        if (!write_ranks(NULL, w, cut)) {
            if (w->failed)
                break;
            continue;
        }
        msccl_fit(w->schedule, &w->figures, &fit);
        if (i > 0 && msccl_fit_count(&fit) <= most)
            continue;
        most = msccl_fit_count(&fit);
        best = cut;
        *figures = w->figures;
        if (most == all)
            break;
    }
    return best;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* The name, with the characters that XML keeps for itself as others. */
static void print_head(FILE *f, const struct schedule *s, uint32_t channels, const char *fit)
{
    static const char *const coll[CCL_COLLECTIVES] = {
        [CCL_ALL_REDUCE] = "allreduce", [CCL_REDUCE_SCATTER] = "reducescatter",
        [CCL_ALL_GATHER] = "allgather", [CCL_ALL_TO_ALL] = "alltoall",
        [CCL_BROADCAST] = "broadcast",  [CCL_REDUCE] = "reduce",
        [CCL_CUSTOM] = "custom"};
    fprintf(f, "<!-- %s -->\n<algo name=\"", fit);
    for (const char *at = s->name; *at != '\0'; at++)
        fputc(*at == '<' || *at == '>' || *at == '&' || *at == '"' || (unsigned char)*at < ' '
                  ? '_'
                  : *at,
              f);
    fprintf(f,
            "\" proto=\"Simple\" nchannels=\"%u\" nchunksperloop=\"%u\" ngpus=\"%u\" coll=\"%s\" "
            "inplace=\"%d\" outofplace=\"%d\" minBytes=\"%llu\" maxBytes=\"%llu\">\n",
            channels, s->loop_chunks, s->rank_count, coll[s->collective], s->in_place, !s->in_place,
            (unsigned long long)s->min_bytes, (unsigned long long)s->max_bytes);
}

int msccl_write(FILE *stream, const struct schedule *schedule, char fit[MSCCL_FIT_BYTES],
                struct cw_error *error)
{
    struct writing w = {.schedule = schedule};
    struct msccl_figures figures = {0};
    struct msccl_fit fits;
    char text[MSCCL_FIT_BYTES];
    if (schedule->reaches)
        return cw_error_set(
            error, CW_USAGE,
            "%s loads and stores in other ranks' memories, and MSCCL XML files have "
            "sends and receives alone",
            schedule->name);
    if (schedule->trees > 0)
        return cw_error_set(error, CW_USAGE,
                            "%s goes through switches that reduce, and MSCCL XML files have sends "
                            "and receives between ranks alone",
                            schedule->name);
    const struct cut cut = best_cut(&w, &figures);
    msccl_fit(schedule, &figures, &fits);
    print_head(stream, schedule, figures.channels, msccl_fit_text(&fits, text, sizeof text));
    if (!w.failed)
        (void)write_ranks(stream, &w, cut);
    fputs("</algo>\n", stream);
    if (fit != NULL)
        snprintf(fit, MSCCL_FIT_BYTES, "%s", text);
    msccl_channels_free(w.channels);
    free(w.block);
    free(w.piece);
    free(w.last);
    free(w.waits);
    if (w.failed)
        return cw_error_memory(error, "an MSCCL XML file");
    return ferror(stream) ? cw_error_set(error, CW_NO_RESOURCE, "the file cannot be written")
                          : CW_OK;
}
