/*
 * msccl_write.c: writes a schedule as an MSCCL XML file (msccl_write.h). A rank at a time: its
 * steps as pieces in the order of its threads, each given to a thread block; then numbers; then the
 * text.
 */
#include "collectives/msccl/msccl_write.h"

#include <stdlib.h>

enum { NONE = UINT32_MAX };

/* A thread block: peers or NONE. */
struct block {
    uint32_t send, recv;
    uint8_t channel;
    uint32_t steps; /* numbers given */
};

/* A step of the file. */
struct piece {
    struct schedule_step step;
    uint32_t block, number;
    uint32_t wait_first, wait_count; /* pieces that it waits for: waits[] */
    bool awaited;
};

struct writing {
    const struct schedule *schedule;
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

/* The block takes these peers too, or has them; NONE: none is asked for. */
static bool block_takes(struct writing *w, uint32_t at, uint32_t send, uint32_t recv,
                        uint8_t channel)
{
    struct block *const b = &w->block[at];
    const bool free = b->send == NONE && b->recv == NONE;
    if ((!free && b->channel != channel) || (send != NONE && b->send != NONE && b->send != send) ||
        (recv != NONE && b->recv != NONE && b->recv != recv))
        return false;
    if (send != NONE || recv != NONE)
        b->channel = channel;
    b->send = send != NONE ? send : b->send;
    b->recv = recv != NONE ? recv : b->recv;
    return true;
}

/*
 * The block of a step: one that has its peers, else the one of the step before it in its thread
 * (`before`, or NONE), if it can take them, else a new one. NONE: its two peers are in two blocks,
 * so that it must be split.
 */
static uint32_t block_for(struct writing *w, const struct schedule_step *step, uint32_t before)
{
    const uint32_t send = step->send_to, recv = step->recv_from;
    const uint32_t has_send = block_with(w, true, send, step->channel),
                   has_recv = block_with(w, false, recv, step->channel);
    uint32_t at = has_send != NONE ? has_send : has_recv;
    if (has_send != NONE && has_recv != NONE && has_send != has_recv)
        return NONE;
    if (at != NONE)
        return block_takes(w, at, send, recv, step->channel) ? at : NONE;
    if (before != NONE && block_takes(w, before, send, recv, step->channel))
        return before;
    if (!write_room(w, (void **)&w->block, w->blocks, &w->block_room, sizeof *w->block))
        return 0;
    w->block[w->blocks] = (struct block){send, recv, step->channel, 0};
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
    return w->pieces++;
}

/* Two steps for one that receives and sends: the second sends the chunks that the first keeps. */
static uint32_t add_split(struct writing *w, const struct schedule_step *step, uint32_t before)
{
    struct schedule_step first = *step, second = *step;
    if (step->op == SCHEDULE_RECV_REDUCE_SEND) {
        first.dst = (struct schedule_chunks){.at = w->scratch, .buffer = SCHEDULE_SCRATCH};
        w->scratch += step->count;
    }
    first.op = step->op == SCHEDULE_RECV_COPY_SEND ? SCHEDULE_RECV : SCHEDULE_RECV_REDUCE_COPY;
    first.send_to = NONE;
    second.op = SCHEDULE_SEND;
    second.src = first.dst;
    second.recv_from = NONE;
    second.wait_count = 0;
    uint32_t block = block_for(w, &first, before != NONE ? w->piece[before].block : NONE);
    const uint32_t kept = add_piece(w, &first, block, before);
    if (w->failed)
        return 0;
    block = block_for(w, &second, block);
    return add_piece(w, &second, block, kept);
}

static void make_pieces(struct writing *w)
{
    for (uint32_t t = 0; t < w->rank->thread_count; t++) {
        uint32_t before = NONE;
        for (uint32_t i = 0; i < w->rank->thread[t].step_count && !w->failed; i++) {
            const uint32_t at = w->rank->thread[t].step_first + i;
            const struct schedule_step *const step = &w->rank->step[at];
            const uint32_t block =
                block_for(w, step, before != NONE ? w->piece[before].block : NONE);
            before = block != NONE ? add_piece(w, step, block, before) : add_split(w, step, before);
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

static void write_rank(FILE *f, struct writing *w, uint32_t rank)
{
    w->rank = &w->schedule->rank[rank];
    w->blocks = w->pieces = w->wait_count = 0;
    w->scratch = w->rank->chunks[SCHEDULE_SCRATCH];
    free(w->last);
    w->last = malloc(((size_t)w->rank->step_count + 1) * sizeof *w->last);
    w->failed |= w->last == NULL;
    if (!w->failed)
        make_pieces(w);
    if (!w->failed)
        add_waits(w);
    if (!w->failed)
        print_rank(f, w, rank);
}

/* The name, with the characters that XML keeps for itself as others. */
static void print_head(FILE *f, const struct schedule *s)
{
    static const char *const coll[CCL_COLLECTIVES] = {
        [CCL_ALL_REDUCE] = "allreduce", [CCL_REDUCE_SCATTER] = "reducescatter",
        [CCL_ALL_GATHER] = "allgather", [CCL_ALL_TO_ALL] = "alltoall",
        [CCL_BROADCAST] = "broadcast",  [CCL_REDUCE] = "reduce",
        [CCL_CUSTOM] = "custom"};
    fputs("<algo name=\"", f);
    for (const char *at = s->name; *at != '\0'; at++)
        fputc(*at == '<' || *at == '>' || *at == '&' || *at == '"' || (unsigned char)*at < ' '
                  ? '_'
                  : *at,
              f);
    fprintf(f,
            "\" proto=\"Simple\" nchannels=\"%u\" nchunksperloop=\"%u\" ngpus=\"%u\" coll=\"%s\" "
            "inplace=\"%d\" outofplace=\"%d\" minBytes=\"%llu\" maxBytes=\"%llu\">\n",
            s->channels, s->loop_chunks, s->rank_count, coll[s->collective], s->in_place,
            !s->in_place, (unsigned long long)s->min_bytes, (unsigned long long)s->max_bytes);
}

int msccl_write(FILE *stream, const struct schedule *schedule, struct cw_error *error)
{
    struct writing w = {.schedule = schedule};
    print_head(stream, schedule);
    for (uint32_t rank = 0; rank < schedule->rank_count && !w.failed; rank++)
        write_rank(stream, &w, rank);
    fputs("</algo>\n", stream);
    free(w.block);
    free(w.piece);
    free(w.last);
    free(w.waits);
    if (w.failed)
        return cw_error_memory(error, "an MSCCL XML file");
    return ferror(stream) ? cw_error_set(error, CW_NO_RESOURCE, "the file cannot be written")
                          : CW_OK;
}
