/*
 * mock_tl.h: a mock runtime: the calls of lp/kernel/tl.h on queues and memories that are plain
 * arrays, so that a kernel's steps and its arithmetic can be tested without a machine, without time
 * and without threads. One test program includes it once and links the kernels' objects: its
 * functions stand in for those of lp/kernel/tl*.c.
 *
 *     struct mock *m = mock_create(3, 64, 2);                  3 PEs, slots of 64 bytes, 2 per ring
 *     mock_join(m, 0, HW_DIR_E, "E", 1, HW_DIR_W, "W");        a queue pair between PEs 0 and 1
 *     mock_launch(m, 0, &kernel, args, tensor, bytes);         ... on each PE
 *     assert_true(mock_run(m));                                false: it deadlocks
 *     mock_tensor(m, 0)                                        the bytes that the kernel left
 *
 * PEs take turns, one call each, in a fixed order (mock_run_from: starting with another), until
 * none gets on. A call that breaks a rule (an operand that is not there, a direction that does not
 * exist, memory out of bounds) fails the test. Not there: contexts (fork, join, barrier), PE_GEMM,
 * casts, memories but TCM and the PE's own HBM slice.
 */
#ifndef TEST_MOCK_TL_H
#define TEST_MOCK_TL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/data/dtype.h"
#include "lp/kernel/tl.h"
#include "test/support/tl_stand_in.h"

enum {
    MOCK_PES_MAX = 64,
    MOCK_TILES_MAX = 4096,
    MOCK_TCM_BYTES = 1 << 16,
    MOCK_HBM_BYTES = 1 << 18
};
enum { MOCK_TENSOR_VA = 0x100000, MOCK_PHASES_MAX = 64, MOCK_TAGS = 4 };

enum mock_kind {
    MOCK_NONE, /* done: the kernel goes on */
    MOCK_SEND,
    MOCK_RECV,
    MOCK_RECV_ANY,
    MOCK_RECV_ALL,
    MOCK_MOVE, /* memory to memory, or an addition: never waits */
    MOCK_WAIT_NOTIFY
};

struct mock_queue {
    const char *name; /* NULL: not installed */
    uint32_t peer, peer_dir;
    uint32_t arrived, taken;
    uint8_t *tile[MOCK_TILES_MAX];
    uint32_t bytes[MOCK_TILES_MAX];
};

struct mock_pe {
    const struct tl_kernel *kernel;
    struct tl_args args;
    bool running;
    _Alignas(8) uint8_t frame[TL_FRAME_BYTES];
    struct mock_queue queue[HW_DIRS_MAX];
    uint32_t last_polled, received_dir, received[HW_DIRS_MAX];
    uint32_t notified[MOCK_PES_MAX][MOCK_TAGS];
    uint32_t phase[MOCK_PHASES_MAX], phase_count;
    enum mock_kind kind;
    uint32_t dir, dirs, bytes, peer, tag;
    struct lp_operand src;
    uint8_t tcm[MOCK_TCM_BYTES], hbm[MOCK_HBM_BYTES];
};

struct mock {
    uint32_t pes, slot_bytes, n_slots;
    struct mock_pe *pe;
};

struct tl {
    struct mock *m;
    struct mock_pe *p;
    uint32_t index;
};

/* ---- for tests ------------------------------------------------------------------------------- */

static inline struct mock *mock_create(uint32_t pes, uint32_t slot_bytes, uint32_t n_slots)
{
    struct mock *m = calloc(1, sizeof *m);
    assert_non_null(m);
    assert_true(pes <= MOCK_PES_MAX);
    *m = (struct mock){pes, slot_bytes, n_slots, calloc(pes, sizeof *m->pe)};
    assert_non_null(m->pe);
    return m;
}

static inline void mock_free(struct mock *m)
{
    for (uint32_t pe = 0; pe < m->pes; pe++)
        for (uint32_t dir = 0; dir < HW_DIRS_MAX; dir++)
            for (uint32_t i = 0; i < m->pe[pe].queue[dir].arrived; i++)
                free(m->pe[pe].queue[dir].tile[i]);
    free(m->pe);
    free(m);
}

static inline void mock_join(struct mock *m, uint32_t a, enum hw_dir a_dir, const char *a_name,
                             uint32_t b, enum hw_dir b_dir, const char *b_name)
{
    struct mock_queue *const at = &m->pe[a].queue[a_dir], *const back = &m->pe[b].queue[b_dir];
    assert_true(at->name == NULL && back->name == NULL);
    *at = (struct mock_queue){.name = a_name, .peer = b, .peer_dir = b_dir};
    *back = (struct mock_queue){.name = b_name, .peer = a, .peer_dir = a_dir};
}

/* A kernel begins on a PE, with its shard in the HBM slice. args: as a launch would pass them,
 * without the addresses; region 0, where args.region[0].bytes says so, lies behind the shard. */
static inline void mock_launch(struct mock *m, uint32_t pe, const struct tl_kernel *kernel,
                               struct tl_args args, const void *tensor, uint32_t bytes)
{
    struct mock_pe *const p = &m->pe[pe];
    assert_true(!p->running && kernel->frame_bytes <= TL_FRAME_BYTES && bytes < MOCK_HBM_BYTES / 2);
    args.tensor = MOCK_TENSOR_VA;
    args.tensor_pa = 0;
    args.shard_bytes = bytes;
    args.region[0].va = 2 * MOCK_TENSOR_VA;
    args.region[0].pa = MOCK_HBM_BYTES / 2;
    p->kernel = kernel;
    p->args = args;
    p->running = true;
    p->phase_count = 0;
    memset(p->frame, 0, sizeof p->frame);
    memcpy(p->hbm, tensor, bytes);
}

static inline const void *mock_tensor(const struct mock *m, uint32_t pe) { return m->pe[pe].hbm; }
static inline const void *mock_region(const struct mock *m, uint32_t pe)
{
    return m->pe[pe].hbm + MOCK_HBM_BYTES / 2;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Copies an operand's bytes; a run of received tiles is read tile by tile. */
static inline void mock_read(struct mock_pe *p, struct lp_operand src, void *to, uint32_t bytes)
{
    if (src.space == LP_SPACE_TCM) {
        assert_true(src.at + bytes <= MOCK_TCM_BYTES);
        memcpy(to, p->tcm + src.at, bytes);
        return;
    }
    if (src.space == LP_SPACE_HBM) {
        assert_true(src.at + bytes <= MOCK_HBM_BYTES);
        memcpy(to, p->hbm + src.at, bytes);
        return;
    }
    assert_int_equal(src.space, LP_SPACE_TILE);
    const struct mock_queue *const queue = &p->queue[src.dir];
    for (uint32_t done = 0; done < bytes; src.at++) {
        assert_true(src.at < queue->taken); /* a handle of a tile that was received */
        const uint32_t left = bytes - done;
        const uint32_t part = queue->bytes[src.at] < left ? queue->bytes[src.at] : left;
        memcpy((uint8_t *)to + done, queue->tile[src.at], part);
        done += part;
    }
}

static inline uint8_t *mock_memory(struct mock_pe *p, uint64_t va, uint32_t bytes)
{
    const struct tl_args *const args = &p->args;
    if (va >= args->tensor && va + bytes <= args->tensor + args->shard_bytes)
        return p->hbm + args->tensor_pa + (va - args->tensor);
    const struct tl_region *const region = &args->region[0];
    if (va < region->va || va + bytes > region->va + region->bytes)
        fail_msg("page fault: %u bytes at 0x%llx", bytes, (unsigned long long)va);
    return p->hbm + region->pa + (va - region->va);
}

static inline struct mock_queue *mock_queue_of(struct mock_pe *p, uint32_t dir)
{
    if (dir >= HW_DIRS_MAX || p->queue[dir].name == NULL)
        fail_msg("direction %u is not installed", dir);
    return &p->queue[dir];
}

/* ---- running --------------------------------------------------------------------------------- */

static inline bool mock_take(struct mock_pe *p, uint32_t dir, uint32_t bytes)
{
    struct mock_queue *const queue = mock_queue_of(p, dir);
    if (queue->taken == queue->arrived)
        return false;
    assert_int_equal(queue->bytes[queue->taken], bytes); /* sender and receiver agree */
    p->received_dir = dir;
    p->received[dir] = queue->taken++;
    return true;
}

static inline bool mock_send(struct mock *m, struct mock_pe *p)
{
    const struct mock_queue *const out = mock_queue_of(p, p->dir);
    struct mock_queue *const in = &m->pe[out->peer].queue[out->peer_dir];
    assert_true(p->bytes <= m->slot_bytes);
    if (in->arrived - in->taken == m->n_slots)
        return false;
    assert_true(in->arrived < MOCK_TILES_MAX);
    uint8_t *const tile = malloc(p->bytes + 1u);
    assert_non_null(tile);
    mock_read(p, p->src, tile, p->bytes);
    in->tile[in->arrived] = tile;
    in->bytes[in->arrived++] = p->bytes;
    return true;
}

static inline bool mock_recv_any(struct mock_pe *p)
{
    for (uint32_t i = 1; i <= HW_DIRS_MAX; i++) {
        const uint32_t dir = (p->last_polled + i) % HW_DIRS_MAX;
        if (p->queue[dir].name != NULL && mock_take(p, dir, p->bytes)) {
            p->last_polled = dir;
            return true;
        }
    }
    return false;
}

/* The call under way is done, or can be done now. */
static inline bool mock_call(struct mock *m, struct mock_pe *p)
{
    switch (p->kind) {
    case MOCK_SEND:
        return mock_send(m, p);
    case MOCK_RECV:
        return mock_take(p, p->dir, p->bytes);
    case MOCK_RECV_ANY:
        return mock_recv_any(p);
    case MOCK_RECV_ALL:
        for (uint32_t dir = 0; dir < HW_DIRS_MAX; dir++)
            if ((p->dirs >> dir & 1) != 0 && mock_take(p, dir, p->bytes))
                p->dirs &= ~(1u << dir);
        return p->dirs == 0;
    case MOCK_WAIT_NOTIFY:
        if (p->notified[p->peer][p->tag] == 0)
            return false;
        p->notified[p->peer][p->tag]--;
        return true;
    default:
        return true;
    }
}

/* Runs all kernels, PE `first` before the others. False: some wait, and nothing is left to happen.
 */
static inline bool mock_run_from(struct mock *m, uint32_t first)
{
    bool moved = true, waiting = false;
    while (moved) {
        moved = waiting = false;
        for (uint32_t i = 0; i < m->pes; i++) {
            struct tl tl = {m, &m->pe[(first + i) % m->pes], (first + i) % m->pes};
            if (!tl.p->running)
                continue;
            waiting = true;
            if (!mock_call(m, tl.p))
                continue;
            moved = true;
            tl.p->kind = MOCK_NONE;
            tl.p->running = tl.p->kernel->run(&tl, tl.p->frame) == TL_WAITING;
        }
    }
    return !waiting;
}
static inline bool mock_run(struct mock *m) { return mock_run_from(m, 0); }

/* ---- lp/kernel/tl.h: queries
 * ------------------------------------------------------------------------ */

const struct tl_args *tl_args(const struct tl *tl) { return &tl->p->args; }
struct hw_place tl_place(const struct tl *tl) { return (struct hw_place){tl->index, 0, 0}; }
uint32_t tl_pe_id(const struct tl *tl) { return (void)tl, 0; }
uint32_t tl_num_pes(const struct tl *tl) { return (void)tl, 1; }
uint32_t tl_program_id(const struct tl *tl) { return (void)tl, 0; }
uint32_t tl_num_programs(const struct tl *tl) { return (void)tl, 1; }
uint32_t tl_pe_index(const struct tl *tl, struct hw_place place) { return (void)tl, place.sip; }
uint32_t tl_slot_bytes(const struct tl *tl) { return tl->m->slot_bytes; }
bool tl_installed(const struct tl *tl, enum hw_dir dir)
{
    return (unsigned)dir < HW_DIRS_MAX && tl->p->queue[dir].name != NULL;
}
enum hw_dir tl_dir(const struct tl *tl, const char *name)
{
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++)
        if (tl_installed(tl, dir) && strcmp(tl->p->queue[dir].name, name) == 0)
            return dir;
    return HW_DIRS_MAX;
}
void tl_phase(struct tl *tl, uint32_t index)
{
    assert_true(tl->p->phase_count < MOCK_PHASES_MAX);
    tl->p->phase[tl->p->phase_count++] = index;
}

/* ---- lp/kernel/tl.h: memories and arithmetic
 * -------------------------------------------------------- */

void tl_load(struct tl *tl, uint32_t tcm, uint64_t va, uint32_t bytes)
{
    assert_true(tcm + bytes <= MOCK_TCM_BYTES);
    memcpy(tl->p->tcm + tcm, mock_memory(tl->p, va, bytes), bytes);
    tl->p->kind = MOCK_MOVE;
}
void tl_store(struct tl *tl, uint64_t va, struct lp_operand src, uint32_t bytes)
{
    mock_read(tl->p, src, mock_memory(tl->p, va, bytes), bytes);
    tl->p->kind = MOCK_MOVE;
}
void tl_copy(struct tl *tl, uint64_t dst_va, uint64_t src_va, uint32_t bytes)
{
    memmove(mock_memory(tl->p, dst_va, bytes), mock_memory(tl->p, src_va, bytes), bytes);
    tl->p->kind = MOCK_MOVE;
}
void tl_load_async(struct tl *tl, uint32_t tcm, uint64_t va, uint32_t bytes, uint32_t handle)
{
    (void)handle;
    tl_load(tl, tcm, va, bytes);
}
void tl_store_async(struct tl *tl, uint64_t va, struct lp_operand src, uint32_t bytes,
                    uint32_t handle)
{
    (void)handle;
    tl_store(tl, va, src, bytes);
}
void tl_copy_async(struct tl *tl, uint64_t dst_va, uint64_t src_va, uint32_t bytes, uint32_t handle)
{
    (void)handle;
    tl_copy(tl, dst_va, src_va, bytes);
}
void tl_wait_dma(struct tl *tl, uint32_t handle)
{
    (void)handle;
    tl->p->kind = MOCK_MOVE;
}
void tl_math(struct tl *tl, enum lp_math math, uint32_t dst, struct lp_operand a,
             struct lp_operand b, uint32_t elements)
{
    static _Alignas(64) uint8_t x[MOCK_TCM_BYTES], y[MOCK_TCM_BYTES];
    const uint32_t bytes = elements * tl_itemsize((enum lp_dtype)tl->p->args.dtype);
    assert_true(dst + bytes <= MOCK_TCM_BYTES);
    mock_read(tl->p, a, x, bytes);
    mock_read(tl->p, b, y, bytes);
    dtype_reduce((enum dtype)tl->p->args.dtype, (enum redop)math, x, x, y, elements);
    memcpy(tl->p->tcm + dst, x, bytes);
    tl->p->kind = MOCK_MOVE;
}

/* ---- lp/kernel/tl.h: queues
 * ------------------------------------------------------------------------- */

static inline void mock_begin(struct tl *tl, enum mock_kind kind, uint32_t dir, uint32_t bytes)
{
    tl->p->kind = kind;
    tl->p->dir = dir;
    tl->p->bytes = bytes;
}
void tl_send_tile(struct tl *tl, enum hw_dir dir, struct lp_operand src, struct tl_tile tile)
{
    mock_begin(tl, MOCK_SEND, dir, tile.bytes);
    tl->p->src = src;
}
void tl_recv_tile(struct tl *tl, enum hw_dir dir, struct tl_tile tile)
{
    mock_begin(tl, MOCK_RECV, dir, tile.bytes);
}
void tl_recv_any_tile(struct tl *tl, struct tl_tile tile)
{
    mock_begin(tl, MOCK_RECV_ANY, 0, tile.bytes);
}
void tl_recv_all_tile(struct tl *tl, uint32_t dirs, struct tl_tile tile)
{
    mock_begin(tl, MOCK_RECV_ALL, 0, tile.bytes);
    tl->p->dirs = dirs;
}
struct lp_operand tl_received_from(const struct tl *tl, enum hw_dir dir)
{
    return (struct lp_operand){
        .space = LP_SPACE_TILE, .dir = (uint8_t)dir, .at = tl->p->received[dir]};
}
struct lp_operand tl_received(const struct tl *tl)
{
    return tl_received_from(tl, (enum hw_dir)tl->p->received_dir);
}

/* ---- lp/kernel/tl.h: one-sided
 * ---------------------------------------------------------------------- */

static inline uint8_t *mock_there(struct tl *tl, uint32_t peer, struct lp_operand dst,
                                  uint32_t bytes)
{
    struct mock_pe *const p = &tl->m->pe[peer];
    const bool tcm = dst.space == LP_SPACE_TCM;
    assert_true(peer < tl->m->pes && (tcm || dst.space == LP_SPACE_HBM));
    assert_true(dst.at + bytes <= (tcm ? (uint32_t)MOCK_TCM_BYTES : (uint32_t)MOCK_HBM_BYTES));
    return (tcm ? p->tcm : p->hbm) + dst.at;
}
void tl_put(struct tl *tl, uint32_t peer, struct lp_operand dst, struct lp_operand src,
            uint32_t bytes)
{
    mock_read(tl->p, src, mock_there(tl, peer, dst, bytes), bytes);
    tl->p->kind = MOCK_MOVE;
}
void tl_store_to(struct tl *tl, uint32_t peer, struct lp_operand dst, struct lp_operand src,
                 uint32_t bytes)
{
    tl_put(tl, peer, dst, src, bytes);
}
void tl_store_to_async(struct tl *tl, uint32_t peer, struct lp_operand dst, struct lp_operand src,
                       uint32_t bytes, uint32_t handle)
{
    (void)handle;
    tl_put(tl, peer, dst, src, bytes);
}
void tl_store_direct_async(struct tl *tl, uint32_t peer, struct lp_operand dst,
                           struct lp_operand src, uint32_t bytes, uint32_t handle)
{
    (void)handle;
    tl_put(tl, peer, dst, src, bytes);
}
void tl_load_from(struct tl *tl, uint32_t tcm, uint32_t peer, struct lp_operand src, uint32_t bytes)
{
    assert_true(tcm + bytes <= MOCK_TCM_BYTES);
    memmove(tl->p->tcm + tcm, mock_there(tl, peer, src, bytes), bytes);
    tl->p->kind = MOCK_MOVE;
}
void tl_load_from_async(struct tl *tl, uint32_t tcm, uint32_t peer, struct lp_operand src,
                        uint32_t bytes, uint32_t handle)
{
    (void)handle;
    tl_load_from(tl, tcm, peer, src, bytes);
}
void tl_put_reduce(struct tl *tl, uint32_t peer, enum lp_math math, struct lp_operand dst,
                   struct lp_operand src, uint32_t bytes)
{
    static _Alignas(64) uint8_t x[MOCK_HBM_BYTES], y[MOCK_HBM_BYTES];
    uint8_t *const there = mock_there(tl, peer, dst, bytes);
    memcpy(x, there, bytes);
    mock_read(tl->p, src, y, bytes);
    dtype_reduce((enum dtype)tl->p->args.dtype, (enum redop)math, x, x, y,
                 bytes / tl_itemsize((enum lp_dtype)tl->p->args.dtype));
    memcpy(there, x, bytes);
    tl->p->kind = MOCK_MOVE;
}
void tl_notify(struct tl *tl, uint32_t peer, uint32_t tag)
{
    assert_true(peer < tl->m->pes && tag < MOCK_TAGS);
    tl->m->pe[peer].notified[tl->index][tag]++;
    tl->p->kind = MOCK_MOVE;
}
void tl_wait_notify(struct tl *tl, uint32_t peer, uint32_t tag)
{
    assert_true(peer < tl->m->pes && tag < MOCK_TAGS);
    mock_begin(tl, MOCK_WAIT_NOTIFY, 0, 0);
    tl->p->peer = peer;
    tl->p->tag = tag;
}

/* ---- calls of lp/kernel/tl.h that are not there ---------------------------------------------- */

void tl_fork(struct tl *tl, uint32_t streams) { (void)streams, stand_in_lacks(tl, "fork"); }
void tl_join(struct tl *tl) { stand_in_lacks(tl, "join"); }
void tl_barrier(struct tl *tl) { stand_in_lacks(tl, "barrier"); }

#endif
