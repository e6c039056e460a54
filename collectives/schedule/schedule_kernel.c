/*
 * schedule_kernel.c: carries out the steps of a thread, piece by piece, tile by tile
 * (schedule_kernel.h). Speculative: its only state is the frame.
 */
#include "collectives/schedule/schedule_kernel.h"

#include "collectives/schedule/schedule_messages.h"

enum {
    OPERANDS = 4, /* tiles in TCM that have been loaded, and one after them: the result of add */
    AHEAD = 2,    /* loads that may be in flight before they are needed */
    NOTICE_TAG = 0
};

/* A tile of a chunk of a step. */
struct cursor {
    uint32_t step, chunk, tile;
};

struct schedule_frame {
    uint16_t line, tile_line, move_line, finish_line;
    uint8_t ways;          /* enum schedule_ways, that this context carries out; 0: both */
    bool lists;            /* it moves messages of sizes of their own */
    uint32_t rank, thread; /* of the program */
    uint32_t chunk_elems;  /* of a whole chunk */
    uint32_t piece;
    struct cursor at;             /* that is being carried out */
    struct cursor ahead;          /* whose value is to be loaded next */
    uint32_t loads, used;         /* values whose load has begun; that have been used */
    uint32_t begun, ended;        /* loads and stores: begun, and known to have ended */
    uint32_t move_of_load[AHEAD]; /* [load % AHEAD]: its number among loads and stores */
    uint16_t notice;              /* notifications of a step: which */
    uint32_t times;               /* and how often */
    uint32_t fused;               /* of steps that are carried out as one: which */
};
_Static_assert(sizeof(struct schedule_frame) <= TL_FRAME_BYTES, "fits into a frame");

/* ---- where things are ------------------------------------------------------------------------ */

static const struct schedule_program *program_of(const struct tl *tl) { return tl_args(tl)->more; }

/* Where blocks have sizes of their own: f->lists. */
static const struct schedule_messages *messages_of(const struct tl *tl) { return tl_args(tl)->own; }

static const struct program_rank *rank_of(const struct tl *tl, const struct schedule_frame *f)
{
    return &program_of(tl)->rank[f->rank];
}

/* The rank whose steps it takes. */
static const struct program_rank *part_of(const struct tl *tl, const struct schedule_frame *f)
{
    const struct schedule_program *const p = program_of(tl);
    return !p->schedule->any_root
               ? rank_of(tl, f)
               : &p->rank[(f->rank + p->rank_count - (uint32_t)tl_args(tl)->scalar[0]) %
                          p->rank_count];
}

static const struct program_step *step_of(const struct tl *tl, const struct schedule_frame *f,
                                          uint32_t step)
{
    const struct program_rank *const rank = part_of(tl, f);
    return &rank->step[rank->thread[f->thread].step_first + step];
}

static uint32_t steps_of(const struct tl *tl, const struct schedule_frame *f)
{
    return part_of(tl, f)->thread[f->thread].step_count;
}

/* The PE that has the rank's buffers. */
static uint32_t home_of(const struct tl *tl, const struct schedule_frame *f)
{
    return program_of(tl)->lanes > 0 ? tl_pe_index(tl, tl_place(tl)) : rank_of(tl, f)->first_pe;
}

static bool is_home(const struct tl *tl, const struct schedule_frame *f)
{
    return home_of(tl, f) == tl_pe_index(tl, tl_place(tl));
}

/* Elements of a full tile, and the bytes that TCM has for one. */
static uint32_t full_tile_elems(const struct tl *tl)
{
    const struct schedule_program *const p = program_of(tl);
    return p->reaches ? p->tile_bytes / tl_itemsize((enum lp_dtype)tl_args(tl)->dtype)
                      : tl_tile_elems(tl);
}
static uint32_t full_tile_bytes(const struct tl *tl)
{
    const struct schedule_program *const p = program_of(tl);
    return p->reaches ? p->tile_bytes : tl_slot_bytes(tl);
}

static uint32_t elems_of_piece(const struct tl *tl)
{
    return program_of(tl)->piece_tiles * full_tile_elems(tl);
}

/* All chunks of the step are one: they follow each other in the block, and so in every buffer, and
 * there is one piece. Both ends of a queue find the same. */
static bool goes_together(const struct tl *tl, const struct schedule_frame *f,
                          const struct program_step *step)
{
    const struct schedule_program *const p = program_of(tl);
    const uint32_t tile = p->exact_tile_bytes / tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
    return (step->flags & PROGRAM_TOGETHER) != 0 && f->chunk_elems <= p->exact_piece_tiles * tile;
}

static uint32_t chunks_at_once(const struct tl *tl, const struct schedule_frame *f,
                               const struct program_step *step)
{
    return goes_together(tl, f, step) ? step->count : 1;
}

/* ---- messages of sizes of their own ---------------------------------------------------------- */

/* A step's chunk of a message in a buffer; NULL: the step has none in this piece. */
static const struct schedule_message *message_at(const struct tl *tl,
                                                 const struct schedule_frame *f,
                                                 const struct program_step *step,
                                                 enum schedule_buffer buffer)
{
    const struct schedule_messages *const messages = messages_of(tl);
    const uint32_t peer = schedule_message_peer(program_of(tl), step);
    return buffer == SCHEDULE_INPUT
               ? schedule_message_find(messages->send, messages->send_count, peer, f->piece)
               : schedule_message_find(messages->receive, messages->receive_count, peer, f->piece);
}

/* The message whose elements the step moves. */
static const struct schedule_message *
message_of(const struct tl *tl, const struct schedule_frame *f, const struct program_step *step)
{
    return message_at(tl, f, step, step->op == SCHEDULE_RECV ? SCHEDULE_OUTPUT : SCHEDULE_INPUT);
}

static enum lp_dtype dtype_at(const struct tl *tl, const struct schedule_frame *f,
                              const struct cursor *at)
{
    return f->lists ? message_of(tl, f, step_of(tl, f, at->step))->dtype
                    : (enum lp_dtype)tl_args(tl)->dtype;
}

/* Elements of a message before a tile of this piece, from the step's chunk of it on. */
static uint64_t elems_before(const struct tl *tl, const struct schedule_frame *f,
                             const struct schedule_message *message, uint32_t tile)
{
    const uint64_t tiles =
        (uint64_t)(f->piece - message->first_piece) * program_of(tl)->piece_tiles;
    return (tiles + tile) * (tl_slot_bytes(tl) / tl_itemsize(message->dtype));
}

static uint32_t elems_of_message(const struct tl *tl, const struct schedule_frame *f,
                                 const struct cursor *at)
{
    const struct schedule_program *const p = program_of(tl);
    const struct program_step *const step = step_of(tl, f, at->step);
    const struct schedule_message *const message = message_of(tl, f, step);
    const uint32_t way = step->op == SCHEDULE_RECV ? SCHEDULE_RECEIVES : SCHEDULE_SENDS;
    if (f->ways != 0 && f->ways != way)
        return 0;
    if (message == NULL || message->elems == 0 || at->chunk > 0 || at->tile >= p->piece_tiles)
        return 0;
    const uint32_t tile = tl_slot_bytes(tl) / tl_itemsize(message->dtype);
    const uint64_t length = schedule_message_span(p, message, step).count;
    const uint64_t before = elems_before(tl, f, message, at->tile);
    if (before >= length)
        return 0;
    return length - before < tile ? (uint32_t)(length - before) : tile;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static uint32_t tile_elems_of(const struct tl *tl, const struct schedule_frame *f,
                              const struct program_step *step)
{
    const struct schedule_program *const p = program_of(tl);
    if (p->tile_min_bytes == 0)
        return full_tile_elems(tl);
    return program_tile_elems((uint64_t)f->chunk_elems * chunks_at_once(tl, f, step),
                              p->piece_tiles, tl_tile_elems(tl),
                              p->tile_min_bytes / tl_itemsize((enum lp_dtype)tl_args(tl)->dtype));
}

/* Elements of a tile that a cursor names, in this piece; 0: the chunk has no such tile. */
static uint32_t elems_at(const struct tl *tl, const struct schedule_frame *f,
                         const struct cursor *at)
{
    if (f->lists)
        return elems_of_message(tl, f, at);
    const struct schedule_program *const p = program_of(tl);
    const struct program_step *const step = step_of(tl, f, at->step);
    const uint64_t block = program_block_elems(p, tl_args(tl)->n_elem);
    const uint32_t tile = tile_elems_of(tl, f, step);
    const bool together = goes_together(tl, f, step);
    const uint64_t begins =
        (uint64_t)part_of(tl, f)->size[step->size_first + at->chunk] * f->chunk_elems;
    const uint64_t most = (uint64_t)f->chunk_elems * (together ? step->count : 1);
    uint64_t length = begins < block ? block - begins : 0;
    length = length < most ? length : most;
    if (together ? at->chunk > 0 : at->tile >= p->piece_tiles)
        return 0;
    const uint64_t before = ((uint64_t)f->piece * p->piece_tiles + at->tile) * tile;
    if (before >= length)
        return 0;
    return length - before < tile ? (uint32_t)(length - before) : tile;
}

static uint32_t bytes_at(const struct tl *tl, const struct schedule_frame *f,
                         const struct cursor *at)
{
    return elems_at(tl, f, at) * tl_itemsize(dtype_at(tl, f, at));
}

/* Byte in a buffer at which the tile of a cursor begins; `chunk` is the step's first there. */
static uint64_t offset_at(const struct tl *tl, const struct schedule_frame *f,
                          const struct cursor *at, enum schedule_buffer buffer, uint32_t chunk)
{
    const struct schedule_program *const p = program_of(tl);
    const uint64_t block = program_block_elems(p, tl_args(tl)->n_elem);
    const uint32_t number = chunk + at->chunk;
    uint64_t elems = (uint64_t)number * f->chunk_elems;
    if (buffer != SCHEDULE_SCRATCH) {
        const uint64_t in_block = (uint64_t)(number % p->chunks[buffer]) * f->chunk_elems;
        elems = number / p->chunks[buffer] * block + (in_block < block ? in_block : block);
    }
    elems += ((uint64_t)f->piece * p->piece_tiles + at->tile) *
             tile_elems_of(tl, f, step_of(tl, f, at->step));
    return elems * tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
}

/* A buffer: its virtual address on the home, and its byte there. */
struct base {
    uint64_t va, pa;
};
static struct base moved_by(struct base base, uint64_t bytes)
{
    return (struct base){base.va + bytes, base.pa + bytes};
}
/* `rank`: of the process group, whose buffer it is. */
static struct base base_of(const struct tl *tl, const struct schedule_frame *f,
                           enum schedule_buffer buffer, uint32_t rank)
{
    const struct tl_args *const args = tl_args(tl);
    const struct schedule_program *const p = program_of(tl);
    const struct base shard = {is_home(tl, f) ? tl_shard(tl) : 0, args->tensor_pa},
                      scratch = {args->region[1].va, args->region[1].pa};
    const bool own_output = args->region[0].bytes > 0;
    const struct base output =
        own_output ? (struct base){args->region[0].va, args->region[0].pa} : shard;
    const uint32_t itemsize = tl_itemsize((enum lp_dtype)args->dtype);
    const uint64_t block = rank * program_block_elems(p, args->n_elem) * itemsize;
    if (buffer == SCHEDULE_SCRATCH)
        return scratch;
    switch (schedule_program_layout(p)) {
    case PROGRAM_APART:
        if (buffer == SCHEDULE_INPUT && !own_output)
            return moved_by(scratch, args->region[1].bytes - args->n_elem * itemsize);
        return buffer == SCHEDULE_INPUT ? shard : output;
    case PROGRAM_SAME:
        return output;
    case PROGRAM_INPUT_INSIDE:
        return moved_by(output, buffer == SCHEDULE_INPUT ? block : 0);
    case PROGRAM_OUTPUT_INSIDE:
        return moved_by(shard, buffer == SCHEDULE_OUTPUT ? block : 0);
    }
    return shard; /* LCOV: all cases return */
}

/* Where the tile of a cursor begins; `chunk` is the step's first in the buffer. */
static struct base place_of(const struct tl *tl, const struct schedule_frame *f,
                            const struct cursor *at, enum schedule_buffer buffer, uint32_t chunk)
{
    if (!f->lists)
        return moved_by(base_of(tl, f, buffer, tl_args(tl)->rank),
                        offset_at(tl, f, at, buffer, chunk));
    const struct program_step *const step = step_of(tl, f, at->step);
    const struct schedule_message *const message = message_at(tl, f, step, buffer);
    const uint64_t elems = schedule_message_span(program_of(tl), message, step).first +
                           elems_before(tl, f, message, at->tile);
    return moved_by((struct base){message->va, message->pa}, elems * tl_itemsize(message->dtype));
}

static uint32_t operand_tcm(const struct tl *tl, uint32_t number)
{
    return number % OPERANDS * full_tile_bytes(tl);
}
static uint32_t sum_tcm(const struct tl *tl) { return OPERANDS * full_tile_bytes(tl); }
static uint32_t other_tcm(const struct tl *tl) { return (OPERANDS + 1) * full_tile_bytes(tl); }

uint64_t schedule_tcm_bytes(const struct ccl_call *call)
{
    return (uint64_t)(OPERANDS + 2) * lp_tile_bytes(&call->ccl->queues);
}

uint64_t schedule_reach_tcm_bytes(const struct ccl_call *call)
{
    return (uint64_t)(OPERANDS + 2) * schedule_reach_bytes(call->hw, call->ccl);
}

/* ---- loads and stores ------------------------------------------------------------------------ */

/* The step's own value goes through TCM. The home sends from its HBM without that, unless it sends
 * the value several times. */
static bool loads(const struct tl *tl, const struct schedule_frame *f,
                  const struct program_step *step)
{
    const enum schedule_op op = (enum schedule_op)step->op;
    return schedule_op_reads(op) && (step->flags & PROGRAM_NO_SOURCE) == 0 &&
           (op != SCHEDULE_SEND || step->fused > 1 || !is_home(tl, f));
}

/* Of joined steps that load and add, the next of them; after the last one the first again, for its
 * next tile. True: this tile has one more. */
static bool go_to_next_add(const struct tl *tl, const struct schedule_frame *f, struct cursor *at)
{
    const uint32_t end = f->at.step + step_of(tl, f, f->at.step)->fused;
    const bool more = elems_at(tl, f, at) > 0 && at->step + 1 < end &&
                      step_of(tl, f, at->step + 1)->op == SCHEDULE_ADD;
    at->step = more ? at->step + 1 : f->at.step;
    return more;
}

static void go_ahead(const struct tl *tl, struct schedule_frame *f)
{
    struct cursor *const at = &f->ahead;
    if (schedule_op_reaches((enum schedule_op)step_of(tl, f, at->step)->op) &&
        go_to_next_add(tl, f, at))
        return;
    at->tile++;
    while (at->chunk < step_of(tl, f, at->step)->count && elems_at(tl, f, at) == 0) {
        at->chunk += chunks_at_once(tl, f, step_of(tl, f, at->step));
        at->tile = 0;
    }
}

/* The cursor's step has a tile there. */
static bool is_tile(const struct tl *tl, const struct schedule_frame *f, const struct cursor *at)
{
    return at->step < steps_of(tl, f) && at->chunk < step_of(tl, f, at->step)->count;
}

/* Puts the cursor of loads to the first tile of a step. */
static void look_at_step(const struct tl *tl, struct schedule_frame *f, uint32_t step)
{
    const struct program_step *const laid = step_of(tl, f, step);
    f->ahead = (struct cursor){.step = step};
    if (!loads(tl, f, laid))
        f->ahead.chunk = laid->count;
    else if (is_tile(tl, f, &f->ahead) && elems_at(tl, f, &f->ahead) == 0)
        go_ahead(tl, f);
}

/* There is a value to load before it is needed; may move the cursor on to the next step. */
static bool may_load_ahead(const struct tl *tl, struct schedule_frame *f)
{
    if (f->loads - f->used >= AHEAD)
        return false;
    if (is_tile(tl, f, &f->ahead))
        return true;
    const uint32_t next = f->at.step + step_of(tl, f, f->at.step)->fused;
    if (f->ahead.step >= next || next >= steps_of(tl, f))
        return false;
    const struct program_step *const step = step_of(tl, f, next);
    if ((step->flags & PROGRAM_EARLY) == 0 || !loads(tl, f, step))
        return false;
    look_at_step(tl, f, next);
    return is_tile(tl, f, &f->ahead);
}

/* Until the first `count` loads and stores have ended. One TL_RUN. */
static enum tl_status finish(struct tl *tl, struct schedule_frame *f, uint32_t count)
{
    TL_BEGIN(&f->finish_line);
    while (f->ended < count) {
        TL_CALL(&f->finish_line, tl_wait_dma(tl, f->ended % TL_HANDLES));
        f->ended++;
    }
    TL_END(&f->finish_line);
}

/* The PE whose HBM has a place, and where. Of the PE itself: the virtual address counts. */
struct reached {
    uint32_t pe;
    bool own;
    struct base base;
};
static struct reached reached_at(const struct tl *tl, const struct schedule_frame *f,
                                 const struct cursor *at)
{
    const struct program_step *const step = step_of(tl, f, at->step);
    const bool stores = step->op == SCHEDULE_STORE;
    const enum schedule_buffer buffer =
        (enum schedule_buffer)(stores ? step->dst_buffer : step->src_buffer);
    const uint32_t rank = stores ? step->src : step->dst, chunk = stores ? step->dst : step->src;
    return (struct reached){
        .pe = program_of(tl)->rank[rank].first_pe,
        .own = rank == f->rank && is_home(tl, f),
        .base = moved_by(base_of(tl, f, buffer, rank), offset_at(tl, f, at, buffer, chunk))};
}

static void reach_load(struct tl *tl, const struct schedule_frame *f)
{
    const struct reached source = reached_at(tl, f, &f->ahead);
    const uint32_t tcm = operand_tcm(tl, f->loads), handle = f->begun % TL_HANDLES;
    if (source.own)
        tl_load_async(tl, tcm, source.base.va, bytes_at(tl, f, &f->ahead), handle);
    else
        tl_load_from_async(tl, tcm, source.pe, tl_hbm((uint32_t)source.base.pa),
                           bytes_at(tl, f, &f->ahead), handle);
}

static void reach_store(struct tl *tl, const struct schedule_frame *f, struct lp_operand value)
{
    const struct cursor at = {f->at.step + f->fused, f->at.chunk, f->at.tile};
    const struct reached target = reached_at(tl, f, &at);
    const uint32_t handle = f->begun % TL_HANDLES;
    if (target.own)
        tl_store_async(tl, target.base.va, value, bytes_at(tl, f, &f->at), handle);
    else
        tl_store_direct_async(tl, target.pe, tl_hbm((uint32_t)target.base.pa), value,
                              bytes_at(tl, f, &f->at), handle);
}

static void issue_load(struct tl *tl, const struct schedule_frame *f)
{
    const struct program_step *const step = step_of(tl, f, f->ahead.step);
    if (schedule_op_reaches((enum schedule_op)step->op)) {
        reach_load(tl, f);
        return;
    }
    const struct base source =
        place_of(tl, f, &f->ahead, (enum schedule_buffer)step->src_buffer, step->src);
    const uint32_t tcm = operand_tcm(tl, f->loads), handle = f->begun % TL_HANDLES;
    if (is_home(tl, f))
        tl_load_async(tl, tcm, source.va, bytes_at(tl, f, &f->ahead), handle);
    else
        tl_load_from_async(tl, tcm, home_of(tl, f), tl_hbm((uint32_t)source.pa),
                           bytes_at(tl, f, &f->ahead), handle);
}

/* Begins the load of the value that `ahead` names. One TL_RUN. */
static enum tl_status begin_load(struct tl *tl, struct schedule_frame *f)
{
    TL_BEGIN(&f->move_line);
    if (f->begun - f->ended == TL_HANDLES)
        TL_RUN(&f->move_line, finish(tl, f, f->begun - TL_HANDLES + 1));
    TL_CALL(&f->move_line, issue_load(tl, f));
    f->move_of_load[f->loads % AHEAD] = f->begun;
    f->begun++;
    f->loads++;
    go_ahead(tl, f);
    TL_END(&f->move_line);
}

static void issue_store(struct tl *tl, const struct schedule_frame *f, struct lp_operand value)
{
    const struct program_step *const step = step_of(tl, f, f->at.step);
    if (schedule_op_reaches((enum schedule_op)step->op)) {
        reach_store(tl, f, value);
        return;
    }
    const struct base target =
        place_of(tl, f, &f->at, (enum schedule_buffer)step->dst_buffer, step->dst);
    const uint32_t handle = f->begun % TL_HANDLES;
    if (is_home(tl, f))
        tl_store_async(tl, target.va, value, bytes_at(tl, f, &f->at), handle);
    else
        tl_store_direct_async(tl, home_of(tl, f), tl_hbm((uint32_t)target.pa), value,
                              bytes_at(tl, f, &f->at), handle);
}

/* Begins to store the tile of `at`. One TL_RUN. */
static enum tl_status begin_store(struct tl *tl, struct schedule_frame *f, struct lp_operand value)
{
    TL_BEGIN(&f->move_line);
    if (f->begun - f->ended == TL_HANDLES)
        TL_RUN(&f->move_line, finish(tl, f, f->begun - TL_HANDLES + 1));
    TL_CALL(&f->move_line, issue_store(tl, f, value));
    f->begun++;
    TL_END(&f->move_line);
}

/* ---- a tile ---------------------------------------------------------------------------------- */

static enum schedule_op op_at(const struct tl *tl, const struct schedule_frame *f)
{
    return (enum schedule_op)step_of(tl, f, f->at.step)->op;
}

static bool adds(enum schedule_op op)
{
    return op >= SCHEDULE_RECV_REDUCE_COPY && op <= SCHEDULE_RECV_REDUCE_COPY_SEND;
}

/* The value that a step sends or stores. */
static struct lp_operand value_at(const struct tl *tl, const struct schedule_frame *f)
{
    const enum schedule_op op = op_at(tl, f);
    const struct program_step *const step = step_of(tl, f, f->at.step);
    if (adds(op))
        return tl_tcm(sum_tcm(tl));
    if (schedule_op_receives(op))
        return tl_received(tl);
    if (loads(tl, f, step))
        return tl_tcm(operand_tcm(tl, f->used));
    return tl_hbm(
        (uint32_t)place_of(tl, f, &f->at, (enum schedule_buffer)step->src_buffer, step->src).pa);
}

/* The old value at the step's destination, for a reduction without a message. */
static void load_other(struct tl *tl, const struct schedule_frame *f)
{
    const struct program_step *const step = step_of(tl, f, f->at.step);
    const struct base old =
        place_of(tl, f, &f->at, (enum schedule_buffer)step->dst_buffer, step->dst);
    if (is_home(tl, f))
        tl_load(tl, other_tcm(tl), old.va, bytes_at(tl, f, &f->at));
    else
        tl_load_from(tl, other_tcm(tl), home_of(tl, f), tl_hbm((uint32_t)old.pa),
                     bytes_at(tl, f, &f->at));
}

/* The own value, or the sum so far, and the tile that has been received. */
static void add(struct tl *tl, const struct schedule_frame *f)
{
    tl_math(tl, (enum lp_math)tl_args(tl)->math, sum_tcm(tl),
            tl_tcm(f->fused == 0 ? operand_tcm(tl, f->used) : sum_tcm(tl)),
            tl_last(tl_received(tl)), elems_at(tl, f, &f->at));
}

/* The source of a step of a fused reduction, to the sum. */
static void add_local(struct tl *tl, const struct schedule_frame *f)
{
    tl_math(tl, (enum lp_math)tl_args(tl)->math, sum_tcm(tl),
            tl_tcm(f->fused == 0 ? other_tcm(tl) : sum_tcm(tl)), tl_tcm(operand_tcm(tl, f->used)),
            elems_at(tl, f, &f->at));
}

/* Points at the tile of a step of a fused reduction. */
static void look_at_fused(struct schedule_frame *f, uint32_t fused)
{
    f->ahead = f->at;
    f->ahead.step += fused;
}

/* A tile of a fused reduction: the old value, then source after source, then one store. One
 * TL_RUN. */
static enum tl_status reduce_tile(struct tl *tl, struct schedule_frame *f)
{
    const uint32_t fused = step_of(tl, f, f->at.step)->fused;
    TL_BEGIN(&f->tile_line);
    TL_RUN(&f->tile_line, finish(tl, f, f->begun));
    look_at_fused(f, 0);
    TL_RUN(&f->tile_line, begin_load(tl, f));
    TL_CALL(&f->tile_line, load_other(tl, f));
    for (f->fused = 0; f->fused < fused; f->fused++) {
        if (f->fused + 1 < fused) {
            look_at_fused(f, f->fused + 1);
            TL_RUN(&f->tile_line, begin_load(tl, f));
        }
        TL_RUN(&f->tile_line, finish(tl, f, f->move_of_load[f->used % AHEAD] + 1));
        TL_CALL(&f->tile_line, add_local(tl, f));
        f->used++;
    }
    TL_RUN(&f->tile_line, begin_store(tl, f, tl_last(tl_tcm(sum_tcm(tl)))));
    TL_END(&f->tile_line);
}

/* The current step, of the steps that are carried out as one. */
static const struct program_step *step_under_way(const struct tl *tl,
                                                 const struct schedule_frame *f)
{
    return step_of(tl, f, f->at.step + f->fused);
}

/* The value is kept: the last step that does not only send it on says so. */
static bool keeps_value(const struct tl *tl, const struct schedule_frame *f)
{
    const struct program_step *const first = step_of(tl, f, f->at.step);
    const struct program_step *last = first + first->fused - 1;
    while (last > first && last->op == SCHEDULE_SEND)
        last--;
    return schedule_op_writes((enum schedule_op)last->op) &&
           (last->flags & PROGRAM_NOT_WANTED) == 0;
}

/* The message of a step, which may go through switches. */
static void receive_tile(struct tl *tl, const struct schedule_frame *f)
{
    const struct program_step *const step = step_under_way(tl, f);
    const bool empty = (step->flags & PROGRAM_NOT_WANTED) != 0;
    tl_recv(tl, (enum hw_dir)step->recv_dir, empty ? 0 : bytes_at(tl, f, &f->at),
            .dtype = dtype_at(tl, f, &f->at));
}

static void send_tile(struct tl *tl, const struct schedule_frame *f)
{
    const struct program_step *const step = step_under_way(tl, f);
    const bool empty = (step->flags & PROGRAM_NO_SOURCE) != 0;
    const struct lp_operand value = empty ? tl_tcm(0) : value_at(tl, f);
    if ((step->flags & PROGRAM_TREE) != 0)
        tl_give(tl, (enum hw_dir)step->send_dir, value, empty ? 0 : bytes_at(tl, f, &f->at),
                (step->flags & PROGRAM_NOT_WANTED) == 0);
    else
        tl_send(tl, (enum hw_dir)step->send_dir, value, bytes_at(tl, f, &f->at),
                .dtype = dtype_at(tl, f, &f->at));
}

/* Carries out a step, or several with one value, for one tile. One TL_RUN. */
static enum tl_status move_tile(struct tl *tl, struct schedule_frame *f)
{
    const struct program_step *const step = step_of(tl, f, f->at.step);
    TL_BEGIN(&f->tile_line);
    if (loads(tl, f, step) && f->loads == f->used)
        TL_RUN(&f->tile_line, begin_load(tl, f));
    if (may_load_ahead(tl, f))
        TL_RUN(&f->tile_line, begin_load(tl, f));
    for (f->fused = 0; f->fused < step->fused; f->fused++) {
        if (schedule_op_receives((enum schedule_op)step_under_way(tl, f)->op))
            TL_CALL(&f->tile_line, receive_tile(tl, f));
        if (f->fused == 0 && loads(tl, f, step))
            TL_RUN(&f->tile_line, finish(tl, f, f->move_of_load[f->used % AHEAD] + 1));
        if (adds((enum schedule_op)step_under_way(tl, f)->op))
            TL_CALL(&f->tile_line, add(tl, f));
        if (schedule_op_sends((enum schedule_op)step_under_way(tl, f)->op))
            TL_CALL(&f->tile_line, send_tile(tl, f));
    }
    if (keeps_value(tl, f))
        TL_RUN(&f->tile_line, begin_store(tl, f, tl_last(value_at(tl, f))));
    f->used += loads(tl, f, step);
    TL_END(&f->tile_line);
}

/* What has been loaded for a joined step is added to the value so far: to the first one, or to the
 * sum. */
static void add_loaded(struct tl *tl, const struct schedule_frame *f)
{
    tl_math(tl, (enum lp_math)tl_args(tl)->math, sum_tcm(tl),
            tl_tcm(f->fused == 1 ? operand_tcm(tl, f->used - 1) : sum_tcm(tl)),
            tl_tcm(operand_tcm(tl, f->used)), elems_at(tl, f, &f->at));
}

/* The value of joined steps: a sum, or what the first of them has loaded. */
static struct lp_operand reached_value(const struct tl *tl, const struct schedule_frame *f)
{
    return tl_tcm(step_of(tl, f, f->at.step + 1)->op == SCHEDULE_ADD
                      ? sum_tcm(tl)
                      : operand_tcm(tl, f->used - 1));
}

/* Carries out joined steps of a schedule that reaches, for one tile: loads, adds, and stores in as
 * many places as there are, while the next load is in flight. One TL_RUN. */
static enum tl_status reach_tile(struct tl *tl, struct schedule_frame *f)
{
    TL_BEGIN(&f->tile_line);
    for (f->fused = 0; f->fused < step_of(tl, f, f->at.step)->fused; f->fused++) {
        if (step_under_way(tl, f)->op == SCHEDULE_STORE) {
            TL_RUN(&f->tile_line, begin_store(tl, f, reached_value(tl, f)));
            continue;
        }
        if (f->loads == f->used)
            TL_RUN(&f->tile_line, begin_load(tl, f));
        if (f->loads - f->used < AHEAD && is_tile(tl, f, &f->ahead))
            TL_RUN(&f->tile_line, begin_load(tl, f));
        TL_RUN(&f->tile_line, finish(tl, f, f->move_of_load[f->used % AHEAD] + 1));
        if (step_under_way(tl, f)->op == SCHEDULE_ADD)
            TL_CALL(&f->tile_line, add_loaded(tl, f));
        f->used++;
    }
    TL_END(&f->tile_line);
}

/* One TL_RUN. */
static enum tl_status any_tile(struct tl *tl, struct schedule_frame *f)
{
    return op_at(tl, f) == SCHEDULE_REDUCE     ? reduce_tile(tl, f)
           : schedule_op_reaches(op_at(tl, f)) ? reach_tile(tl, f)
                                               : move_tile(tl, f);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static uint32_t pieces_of(const struct tl *tl, const struct schedule_frame *f)
{
    const uint32_t of_piece = elems_of_piece(tl);
    if (f->lists)
        return messages_of(tl)->pieces;
    return (f->chunk_elems + of_piece - 1) / of_piece;
}

static const struct program_wait *wait_at(const struct tl *tl, const struct schedule_frame *f)
{
    return &rank_of(tl, f)->wait[step_of(tl, f, f->at.step)->wait_first + f->notice];
}

/* The last of the steps that are carried out as one: the others are not waited for. */
static const struct program_step *last_of(const struct tl *tl, const struct schedule_frame *f)
{
    const struct program_step *const step = step_of(tl, f, f->at.step);
    return step + step->fused - 1;
}

static uint32_t notified_at(const struct tl *tl, const struct schedule_frame *f)
{
    return rank_of(tl, f)->notify[last_of(tl, f)->notify_first + f->notice];
}

/* Loads wait for all that the thread has stored, unless no step before has written the source. */
static bool must_settle(const struct tl *tl, const struct schedule_frame *f)
{
    const struct program_step *const step = step_of(tl, f, f->at.step);
    return schedule_op_reads((enum schedule_op)step->op) &&
           (step->flags & (PROGRAM_EARLY | PROGRAM_NO_SOURCE)) == 0;
}

/* Tiles that the step moves before another step does. */
static uint32_t tiles_of_piece(const struct tl *tl, const struct schedule_frame *f)
{
    if (program_of(tl)->reaches)
        return TL_UNCUT;
    return goes_together(tl, f, step_of(tl, f, f->at.step)) ? 0 : program_of(tl)->exact_piece_tiles;
}

/* It sends, and receives in a stream of its own meanwhile. */
static bool forks(const struct tl *tl, const struct schedule_frame *f)
{
    const struct schedule_messages *const messages = messages_of(tl);
    return f->ways == 0 && f->lists && messages->apart &&
           schedule_messages_ways(messages, program_of(tl), f->rank, f->thread) ==
               (SCHEDULE_SENDS | SCHEDULE_RECEIVES);
}

/* The kernel, and its stream. */
static enum tl_status schedule_run(struct tl *tl, void *state)
{
    struct schedule_frame *const f = state;
    TL_BEGIN(&f->line);
    f->lists = messages_of(tl) != NULL;
    f->rank = schedule_program_rank(program_of(tl), tl_args(tl)->rank, tl_program_id(tl));
    f->thread = schedule_program_thread(program_of(tl), tl_args(tl)->rank, tl_program_id(tl));
    f->chunk_elems = (uint32_t)program_chunk_elems(program_of(tl), tl_args(tl)->n_elem);
    if (forks(tl, f)) {
        f->ways = SCHEDULE_RECEIVES; /* of the stream, which begins with this frame */
        TL_CALL(&f->line, tl_fork(tl, 1));
        f->ways = SCHEDULE_SENDS;
    }
    for (f->piece = 0; f->piece < pieces_of(tl, f); f->piece++)
        for (f->at.step = 0; f->at.step < steps_of(tl, f);
             f->at.step += step_of(tl, f, f->at.step)->fused) {
            for (f->notice = 0; f->notice < step_of(tl, f, f->at.step)->wait_count; f->notice++)
                for (f->times = 0; f->times < wait_at(tl, f)->times; f->times++)
                    TL_CALL(&f->line, tl_wait_notify(tl, wait_at(tl, f)->pe, NOTICE_TAG));
            if (must_settle(tl, f))
                TL_RUN(&f->line, finish(tl, f, f->begun));
            if (f->loads == f->used)
                look_at_step(tl, f, f->at.step);
            tl_pieces(tl, tiles_of_piece(tl, f));
            for (f->at.chunk = 0; f->at.chunk < step_of(tl, f, f->at.step)->count;
                 f->at.chunk += chunks_at_once(tl, f, step_of(tl, f, f->at.step)))
                for (f->at.tile = 0; elems_at(tl, f, &f->at) > 0; f->at.tile++)
                    TL_RUN(&f->line, any_tile(tl, f));
            if (last_of(tl, f)->notify_count > 0)
                TL_RUN(&f->line, finish(tl, f, f->begun));
            for (f->notice = 0; f->notice < last_of(tl, f)->notify_count; f->notice++)
                TL_CALL(&f->line, tl_notify(tl, notified_at(tl, f), NOTICE_TAG));
        }
    TL_RUN(&f->line, finish(tl, f, f->begun));
    if (f->ways == SCHEDULE_SENDS)
        TL_CALL(&f->line, tl_join(tl));
    TL_END(&f->line);
}

const struct tl_kernel schedule_kernel = {
    .name = "schedule", .frame_bytes = sizeof(struct schedule_frame), .run = schedule_run};

static enum tl_status (*const streams[])(struct tl *tl, void *frame) = {schedule_run};
const struct tl_kernel schedule_pairs_kernel = {.name = "schedule",
                                                .frame_bytes = sizeof(struct schedule_frame),
                                                .run = schedule_run,
                                                .stream = streams,
                                                .stream_count = 1};
