/*
 * tl_start.c: the calls of the kernel API (tl.h). A call is checked (tl_arguments.h) and noted in
 * the kernel's state (tl_start); tl_steps.c carries it out after the kernel has returned. Runs in
 * handlers only. Tests replace this file and tl_queries.c with a mock (test/support/mock_tl.h).
 */
#include "lp/kernel/tl.h"

#include "lp/fabric/pe_dma.h"
#include "lp/kernel/tl_arguments.h"
#include "lp/kernel/tl_call.h"
#include "lp/kernel/tl_coarse.h"
#include "lp/kernel/tl_compute.h"
#include "lp/kernel/tl_mmu.h"

/* ---- loads and stores ------------------------------------------------------------------------ */

/* The move that a handle names. */
static uint32_t move_of(struct tl *tl, enum tl_call_kind kind, uint32_t handle)
{
    if (handle > TL_STORE_HANDLE)
        tl_fail(tl, "", ": %s with handle %u; there are 0 to %u", tl_call_name[kind], handle,
                TL_STORE_HANDLE);
    if (handle == TL_STORE_HANDLE && kind != CALL_STORE && kind != CALL_WAIT_DMA)
        tl_fail(tl, "", ": %s with handle %u, which is for stores alone; legal are 0 to %u",
                tl_call_name[kind], handle, TL_HANDLES - 1);
    return handle + 1;
}

/* Both memories in one byte, as in struct hw_dma_op (pe_dma.h). */
static uint8_t memories_of(struct lp_operand from, struct lp_operand to)
{
    return (uint8_t)(tl_memory_of(from) | tl_memory_of(to) << 4);
}

/* `to`: the words between the call's name and the PE. */
static void check_peer(struct tl *tl, enum tl_call_kind kind, const char *to, uint32_t peer)
{
    const uint32_t count = hw_pe_count(&tl->view->m->hw);
    if (peer >= count)
        tl_fail(tl, "", ": %s %sPE %u, which does not exist; there are 0 to %u", tl_call_name[kind],
                to, peer, count - 1);
}

/* `move`: 0, or the move of a handle. */
static struct tl_call *start_move(struct tl *tl, enum tl_call_kind kind, uint32_t bytes,
                                  uint32_t move)
{
    struct tl_call *call = tl_start(tl, kind, bytes);
    call->move = (uint8_t)move;
    call->slice = (uint8_t)tl->pe;
    return call;
}

static void start_load(struct tl *tl, uint32_t tcm, uint64_t va, uint32_t bytes, uint32_t move)
{
    struct tl_call *call = start_move(tl, CALL_LOAD, bytes, move);
    call->a = tl_translate(tl, CALL_LOAD, va, bytes);
    tl_check_written(tl, CALL_LOAD, tcm, bytes);
    call->dst = tl_tcm(tcm);
    call->memory = tl_memory_of(call->a);
}

static void start_store(struct tl *tl, uint64_t va, struct lp_operand src, uint32_t bytes,
                        uint32_t move)
{
    struct tl_call *call = start_move(tl, CALL_STORE, bytes, move);
    call->a = src;
    call->dst = tl_translate(tl, CALL_STORE, va, bytes);
    tl_check_source(tl, CALL_STORE, src, bytes);
    call->memory = memories_of(src, call->dst);
    if (move == LP_MOVE_STORE && tl_memory_of(src) != HW_MEMORY_TCM)
        tl_fail(tl, "", ": store from HBM or SRAM with handle %u, which is for stores from TCM",
                TL_STORE_HANDLE);
}

static void start_copy(struct tl *tl, uint64_t dst_va, uint64_t src_va, uint32_t bytes,
                       uint32_t move)
{
    struct tl_call *call = start_move(tl, CALL_COPY, bytes, move);
    call->a = tl_translate(tl, CALL_COPY, src_va, bytes);
    call->dst = tl_translate(tl, CALL_COPY, dst_va, bytes);
    call->memory = memories_of(call->a, call->dst);
}

void tl_load(struct tl *tl, uint32_t tcm, uint64_t va, uint32_t bytes)
{
    start_load(tl, tcm, va, bytes, 0);
}

void tl_store(struct tl *tl, uint64_t va, struct lp_operand src, uint32_t bytes)
{
    start_store(tl, va, src, bytes, 0);
}

void tl_copy(struct tl *tl, uint64_t dst_va, uint64_t src_va, uint32_t bytes)
{
    start_copy(tl, dst_va, src_va, bytes, 0);
}

void tl_load_async(struct tl *tl, uint32_t tcm, uint64_t va, uint32_t bytes, uint32_t handle)
{
    start_load(tl, tcm, va, bytes, move_of(tl, CALL_LOAD, handle));
}

void tl_store_async(struct tl *tl, uint64_t va, struct lp_operand src, uint32_t bytes,
                    uint32_t handle)
{
    start_store(tl, va, src, bytes, move_of(tl, CALL_STORE, handle));
}

void tl_copy_async(struct tl *tl, uint64_t dst_va, uint64_t src_va, uint32_t bytes, uint32_t handle)
{
    start_copy(tl, dst_va, src_va, bytes, move_of(tl, CALL_COPY, handle));
}

void tl_wait_dma(struct tl *tl, uint32_t handle)
{
    (void)start_move(tl, CALL_WAIT_DMA, 0, move_of(tl, CALL_WAIT_DMA, handle));
}

static void start_store_to(struct tl *tl, uint32_t peer, struct lp_operand dst,
                           struct lp_operand src, uint32_t bytes, uint32_t move)
{
    struct tl_call *call = start_move(tl, CALL_STORE_TO, bytes, move);
    tl_check_range_at(tl, CALL_STORE_TO, peer, dst, bytes);
    tl_check_source(tl, CALL_STORE_TO, src, bytes);
    call->peer = peer;
    call->a = src;
    call->dst = dst;
    call->memory = memories_of(src, dst);
}

void tl_store_to(struct tl *tl, uint32_t peer, struct lp_operand dst, struct lp_operand src,
                 uint32_t bytes)
{
    start_store_to(tl, peer, dst, src, bytes, 0);
}

void tl_store_to_async(struct tl *tl, uint32_t peer, struct lp_operand dst, struct lp_operand src,
                       uint32_t bytes, uint32_t handle)
{
    start_store_to(tl, peer, dst, src, bytes, move_of(tl, CALL_STORE_TO, handle));
}

void tl_store_direct_async(struct tl *tl, uint32_t peer, struct lp_operand dst,
                           struct lp_operand src, uint32_t bytes, uint32_t handle)
{
    start_store_to(tl, peer, dst, src, bytes, move_of(tl, CALL_STORE_TO, handle));
    if (dst.space != LP_SPACE_TCM)
        tl->kernel->call.memory |= LP_DMA_DIRECT;
}

static void start_load_from(struct tl *tl, uint32_t tcm, uint32_t peer, struct lp_operand src,
                            uint32_t bytes, uint32_t move)
{
    struct tl_call *call = start_move(tl, CALL_LOAD_FROM, bytes, move);
    check_peer(tl, CALL_LOAD_FROM, "", peer);
    tl_check_range_at(tl, CALL_LOAD_FROM, peer, src, bytes);
    tl_check_written(tl, CALL_LOAD_FROM, tcm, bytes);
    call->peer = peer;
    call->slice = (uint8_t)(peer % tl->view->m->pes);
    call->a = src;
    call->dst = tl_tcm(tcm);
    call->memory = tl_memory_of(src);
}

void tl_load_from(struct tl *tl, uint32_t tcm, uint32_t peer, struct lp_operand src, uint32_t bytes)
{
    start_load_from(tl, tcm, peer, src, bytes, 0);
}

void tl_load_from_async(struct tl *tl, uint32_t tcm, uint32_t peer, struct lp_operand src,
                        uint32_t bytes, uint32_t handle)
{
    start_load_from(tl, tcm, peer, src, bytes, move_of(tl, CALL_LOAD_FROM, handle));
}

/* ---- queues ---------------------------------------------------------------------------------- */

/* Notes the tile's type and shape, if the kernel gave any. */
static __attribute__((noinline)) void note_type(struct tl *tl, enum tl_call_kind kind,
                                                struct tl_call *call, struct tl_tile tile)
{
    if (tile.dtype == 0 && tile.dim[0] == 0)
        return;
    const enum lp_dtype dtype = tile.dtype != 0    ? tile.dtype
                                : call->dtype != 0 ? (enum lp_dtype)call->dtype /* of a cast */
                                                   : (enum lp_dtype)tl_args(tl)->dtype;
    uint64_t elements = 1;
    uint32_t dims = 0;
    if (!lp_dtype_is_known(dtype))
        tl_fail(tl, "", ": %s of a tile of type %d; legal: %d (f16) to %d (int32)",
                tl_call_name[kind], (int)dtype, LP_F16, LP_INT32);
    while (dims < LP_DIMS_MAX && tile.dim[dims] != 0 && elements <= UINT32_MAX)
        elements *= tile.dim[dims++];
    if (dims == 0)
        elements = tile.bytes / tl_itemsize(dtype);
    if (elements > UINT32_MAX || elements * tl_itemsize(dtype) != tile.bytes)
        tl_fail(tl, "", ": %s of a tile of %u bytes, whose %s has %llu elements of %u bytes",
                tl_call_name[kind], tile.bytes, dims == 0 ? "type" : "shape",
                (unsigned long long)elements, tl_itemsize(dtype));
    call->dtype = (uint8_t)dtype;
    for (uint32_t i = 0; dims == LP_DIMS_MAX && i + 1 < dims; i++)
        if (tile.dim[i] >> LP_DIM_BITS != 0)
            tl_fail(tl, "",
                    ": %s of a tile of four dimensions, whose dimension %u is %u; legal: "
                    "less than %u, but for the last",
                    tl_call_name[kind], i, tile.dim[i], 1u << LP_DIM_BITS);
    call->dims = (uint8_t)dims;
    lp_shape_pack(dims, tile.dim, call->dim);
}

static inline struct tl_call *start_tile(struct tl *tl, enum tl_call_kind kind, struct tl_tile tile)
{
    struct tl_call *call = tl_start(tl, kind, tile.bytes);
    note_type(tl, kind, call, tile);
    return call;
}

void tl_send_bytes(struct tl *tl, enum hw_dir dir, struct lp_operand src, uint32_t bytes)
{
    struct tl_call *call = tl_start(tl, CALL_SEND, bytes);
    tl_check_source(tl, CALL_SEND, src, bytes);
    call->dir = (uint8_t)tl_dir_of_pe(tl, dir);
    call->a = src;
    if (__builtin_expect(tl->kernel->casts.dtype[0] != 0, 0) && src.space == LP_SPACE_TCM)
        call->dtype = (uint8_t)tl_type_in_tcm(tl, src.at, bytes);
}

void tl_send_tile(struct tl *tl, enum hw_dir dir, struct lp_operand src, struct tl_tile tile)
{
    tl_send_bytes(tl, dir, src, tile.bytes);
    note_type(tl, CALL_SEND, &tl->kernel->call, tile);
}

void tl_give(struct tl *tl, enum hw_dir dir, struct lp_operand src, uint32_t bytes, bool wants)
{
    const struct tl_args *const args = tl_args(tl);
    tl_send_bytes(tl, dir, bytes > 0 ? src : tl_tcm(0), bytes);
    struct tl_call *call = &tl->kernel->call;
    call->tag = wants ? GIVES_AND_WANTS : GIVES;
    call->math = args->math != 0 ? args->math : LP_MATH_SUM;
}

/* The effect checks the direction. */
static inline void receive_from(const struct tl *tl, struct tl_call *call, enum hw_dir own)
{
    const enum hw_dir dir = tl_dir_of_pe(tl, own);
    call->dir = (uint8_t)dir;
    call->dirs = (uint16_t)((unsigned)dir < HW_DIRS_MAX ? 1u << dir : 0);
}

static struct tl_call *start_receive(struct tl *tl, enum tl_call_kind kind, enum hw_dir dir,
                                     struct tl_tile tile)
{
    struct tl_call *call = start_tile(tl, kind, tile);
    receive_from(tl, call, dir);
    return call;
}

void tl_recv_bytes(struct tl *tl, enum hw_dir dir, uint32_t bytes)
{
    receive_from(tl, tl_start(tl, CALL_RECV, bytes), dir);
}

void tl_recv_tile(struct tl *tl, enum hw_dir dir, struct tl_tile tile)
{
    (void)start_receive(tl, CALL_RECV, dir, tile);
}

void tl_recv_any_tile(struct tl *tl, struct tl_tile tile)
{
    struct tl_call *call = start_tile(tl, CALL_RECV_ANY, tile);
    call->dir = HW_DIRS_MAX;
    call->dirs = (uint16_t)tl_dirs(tl);
}

/* A set of the kernel's directions, as the PE's. The effect checks them. */
static uint32_t dirs_of_pe(struct tl *tl, uint32_t own)
{
    uint32_t dirs = 0;
    if (tl->launch->dirs == NULL)
        return own;
    for (; own != 0; own &= own - 1) {
        const enum hw_dir dir = tl_dir_of_pe(tl, (enum hw_dir)__builtin_ctz(own));
        if (dir == HW_DIRS_MAX)
            tl_fail(tl, "IpcqInvalidDirection: ",
                    ": recv_all of a set with direction %d, which is not installed there",
                    __builtin_ctz(own));
        dirs |= 1u << dir;
    }
    return dirs;
}

void tl_recv_all_tile(struct tl *tl, uint32_t own, struct tl_tile tile)
{
    uint32_t dirs = own;
    if (dirs >> HW_DIRS_MAX != 0)
        tl_fail(tl, "IpcqInvalidDirection: ",
                ": recv_all of the set 0x%x; a set has a bit for each of the directions 0 to %d",
                dirs, HW_DIRS_MAX - 1);
    struct tl_call *call = start_tile(tl, CALL_RECV_ALL, tile);
    dirs = dirs_of_pe(tl, dirs);
    call->dir = dirs ? (uint8_t)__builtin_ctz(dirs) : HW_DIRS_MAX;
    call->dirs = (uint16_t)dirs;
}

/* recv_mode copy_to_dst: the receive that has been started copies its tile there. */
static void receive_into(struct tl *tl, enum tl_call_kind kind, struct lp_operand dst,
                         uint32_t bytes)
{
    tl->kernel->call.dst = dst;
    if (dst.space == LP_SPACE_TCM)
        tl_check_written(tl, kind, dst.at, bytes);
    else
        tl_check_range(tl, kind, dst, bytes);
}

void tl_recv_into_tile(struct tl *tl, enum hw_dir dir, struct lp_operand dst, struct tl_tile tile)
{
    (void)start_receive(tl, CALL_RECV_INTO, dir, tile);
    receive_into(tl, CALL_RECV_INTO, dst, tile.bytes);
}

void tl_recv_any_into_tile(struct tl *tl, struct lp_operand dst, struct tl_tile tile)
{
    tl_recv_any_tile(tl, tile);
    receive_into(tl, CALL_RECV_ANY, dst, tile.bytes);
}

void tl_recv_async_tile(struct tl *tl, enum hw_dir dir, struct tl_tile tile)
{
    (void)start_receive(tl, CALL_RECV_ASYNC, dir, tile);
}

struct tl_future tl_future(const struct tl *tl)
{
    const struct tl_call *call = &tl->kernel->call;
    if (call->kind != CALL_RECV_ASYNC)
        tl_fail(tl, "", ": tl_future() after another call than recv_async");
    struct tl_future future = {
        .tile = call->peer,
        .dir = call->dir + 1u,
        .named = {.bytes = call->bytes, .dtype = (enum lp_dtype)call->dtype}};
    if (call->dims > 0)
        lp_shape_of(call->dims, call->dim, call->bytes / tl_itemsize(future.named.dtype),
                    future.named.dim);
    return future;
}

void tl_wait(struct tl *tl, struct tl_future future)
{
    struct tl_call *call = start_tile(tl, CALL_WAIT, future.named);
    call->dir =
        (uint8_t)(future.dir > 0 && future.dir <= HW_DIRS_MAX ? future.dir - 1 : HW_DIRS_MAX);
    call->dirs = (uint16_t)(1u << call->dir);
    call->peer = future.tile;
}

/* ---- computing ------------------------------------------------------------------------------- */

/* PE_FETCH_STORE reads operands in TCM; others are loaded first. */
static void read_operands(struct tl_call *call, struct lp_operand a, struct lp_operand b)
{
    call->a = a;
    call->b = b;
    if (tl_memory_of(a) != HW_MEMORY_TCM || tl_memory_of(b) != HW_MEMORY_TCM)
        call->step = STEP_OPERANDS;
}

void tl_math(struct tl *tl, enum lp_math math, uint32_t dst, struct lp_operand a,
             struct lp_operand b, uint32_t elements)
{
    const uint64_t bytes = (uint64_t)elements * tl_itemsize((enum lp_dtype)tl_args(tl)->dtype);
    tl_check_math(tl, CALL_MATH, math);
    tl_check_written(tl, CALL_MATH, dst, bytes);
    tl_check_source(tl, CALL_MATH, a, bytes);
    tl_check_source(tl, CALL_MATH, b, bytes);
    struct tl_call *call =
        tl_start(tl, CALL_MATH, elements * tl_itemsize((enum lp_dtype)tl_args(tl)->dtype));
    call->math = (uint8_t)math;
    read_operands(call, a, b);
    call->dst = tl_tcm(dst);
}

void tl_cast(struct tl *tl, uint32_t dst, struct lp_operand a, enum lp_dtype from, enum lp_dtype to,
             uint32_t elements)
{
    tl_check_cast_type(tl, "from", from);
    tl_check_cast_type(tl, "to", to);
    tl_check_range(tl, CALL_CAST, tl_tcm(dst), (uint64_t)elements * tl_itemsize(to));
    tl_note_cast(tl, dst, (uint64_t)elements * tl_itemsize(to), to);
    tl_check_source(tl, CALL_CAST, a, (uint64_t)elements * tl_itemsize(from));
    struct tl_call *call = tl_start(tl, CALL_CAST, elements * tl_itemsize(from));
    call->dtype = (uint8_t)from;
    call->math = (uint8_t)to;
    read_operands(call, a, (struct lp_operand){0});
    call->dst = tl_tcm(dst);
}

void tl_dot(struct tl *tl, uint32_t dst, struct lp_operand a, struct lp_operand b, uint32_t m,
            uint32_t n, uint32_t k, uint8_t sums)
{
    const enum lp_dtype dtype = (enum lp_dtype)tl_args(tl)->dtype;
    const uint32_t itemsize = tl_itemsize(dtype);
    const bool from_f32 = sums & TL_SUMS_FROM_F32, to_f32 = sums & TL_SUMS_TO_F32;
    const uint32_t result = to_f32 ? (uint32_t)sizeof(float) : itemsize;
    const uint64_t most = from_f32 ? sizeof(float) : result; /* bytes of an element of dst */
    tl_check_dot_shape(tl, m, n, k);
    tl_check_dot_sums(tl, sums);
    tl_check_written(tl, CALL_DOT, dst, (uint64_t)m * n * most);
    if (to_f32)
        tl_note_cast(tl, dst, (uint64_t)m * n * result, LP_F32);
    tl_check_source(tl, CALL_DOT, a, (uint64_t)m * k * itemsize);
    tl_check_source(tl, CALL_DOT, b, (uint64_t)k * n * itemsize);
    struct tl_call *call = tl_start(tl, CALL_DOT, m * n * result);
    call->math = sums & (TL_SUMS_ADD | TL_SUMS_FROM_F32) ? LP_MATH_SUM : 0;
    call->dir = (uint8_t)((from_f32 ? LP_SUMS_FROM_F32 : 0) | (to_f32 ? LP_SUMS_TO_F32 : 0));
    read_operands(call, a, b);
    call->dst = tl_tcm(dst);
    call->rows = m;
    call->peer = k;
}

static void start_work(struct tl *tl, enum tl_block block, int64_t ps, bool waits)
{
    if ((unsigned)block > TL_BLOCK_MATH)
        tl_fail(tl, "", ": work of block %u; legal: %d (the PE) to %d (PE_MATH)", (unsigned)block,
                TL_BLOCK_PE, TL_BLOCK_MATH);
    if (ps < 0 || ps > CW_TIME_MAX / 4)
        tl_fail(tl, "", ": work of %lld ps; legal: 0 to %lld", (long long)ps,
                (long long)(CW_TIME_MAX / 4));
    struct tl_call *call = tl_start(tl, CALL_WORK, 0);
    call->tag = (uint8_t)block;
    call->work_ps = ps;
    call->math = waits;
}

void tl_work(struct tl *tl, enum tl_block block, int64_t ps) { start_work(tl, block, ps, true); }

void tl_work_async(struct tl *tl, enum tl_block block, int64_t ps)
{
    start_work(tl, block, ps, false);
}

struct tl_begun tl_begun(const struct tl *tl)
{
    const struct tl_call *call = &tl->kernel->call;
    if (call->kind != CALL_WORK)
        tl_fail(tl, "", ": tl_begun() after another call than work_async");
    return (struct tl_begun){call->until_ps, (enum tl_block)call->tag};
}

void tl_wait_work(struct tl *tl, struct tl_begun begun)
{
    struct tl_call *call = tl_start(tl, CALL_WAIT_WORK, 0);
    call->tag = (uint8_t)begun.block;
    call->work_ps = begun.end_ps;
}

/* ---- one-sided operations -------------------------------------------------------------------- */

static struct tl_call *start_to_peer(struct tl *tl, enum tl_call_kind kind, uint32_t peer,
                                     uint32_t bytes)
{
    struct tl_call *call = tl_start(tl, kind, bytes);
    check_peer(tl, kind, "to ", peer);
    call->peer = peer;
    return call;
}

static void start_put(struct tl *tl, uint32_t peer, uint8_t math, struct lp_operand dst,
                      struct lp_operand src, uint32_t bytes)
{
    struct tl_call *call = start_to_peer(tl, CALL_PUT, peer, bytes);
    tl_check_range_at(tl, CALL_PUT, peer, dst, bytes);
    tl_check_source(tl, CALL_PUT, src, bytes);
    call->math = math;
    call->a = src;
    call->dst = dst;
}

void tl_put(struct tl *tl, uint32_t peer, struct lp_operand dst, struct lp_operand src,
            uint32_t bytes)
{
    start_put(tl, peer, 0, dst, src, bytes);
}

void tl_put_reduce(struct tl *tl, uint32_t peer, enum lp_math math, struct lp_operand dst,
                   struct lp_operand src, uint32_t bytes)
{
    tl_check_math(tl, CALL_PUT, math);
    start_put(tl, peer, (uint8_t)math, dst, src, bytes);
}

void tl_notify(struct tl *tl, uint32_t peer, uint32_t tag)
{
    tl_check_tag(tl, CALL_NOTIFY, tag);
    start_to_peer(tl, CALL_NOTIFY, peer, LP_NOTIFY_BYTES)->tag = (uint8_t)tag;
}

void tl_wait_notify(struct tl *tl, uint32_t peer, uint32_t tag)
{
    tl_check_tag(tl, CALL_WAIT_NOTIFY, tag);
    start_to_peer(tl, CALL_WAIT_NOTIFY, peer, 0)->tag = (uint8_t)tag;
}

/* ---- contexts -------------------------------------------------------------------------------- */

void tl_fork(struct tl *tl, uint32_t streams)
{
    struct tl_call *call = tl_start(tl, CALL_FORK, 0);
    const uint32_t there = tl->launch->kernel->stream_count;
    call->tag = (uint8_t)streams;
    tl_check_in_kernel(tl, "fork");
    if (streams >> there != 0)
        tl_fail(tl, "", ": fork of streams 0x%x; the kernel has %u", streams, there);
}

void tl_join(struct tl *tl)
{
    (void)tl_start(tl, CALL_JOIN, 0);
    tl_check_in_kernel(tl, "join");
}

void tl_barrier(struct tl *tl) { (void)tl_start(tl, CALL_BARRIER, 0); }

void tl_phase(struct tl *tl, uint32_t index) { tl_emit_mark(tl, LP_MARK_PHASE, index); }

void tl_pieces(struct tl *tl, uint32_t tiles)
{
    if (lp_is_coarse(&tl->view->m->config))
        tl_coarse_pieces(tl, tiles);
}
