/*
 * rehearse_tl.h: a runtime on which a kernel is rehearsed: the calls of lp/kernel/tl.h are noted
 * and done at once, whatever they are on. No memories, no queues, no other PE: what a kernel does
 * next must not depend on values or on arrival. So a kernel's calls at any place of a machine of
 * any size are a list, and lists of different ranks can be compared.
 *
 *     struct rehearsal r = {.hw = &hw, .args = args, .place = {sip, cube, pe}, ...};
 *     rehearse(&r, kernel);                              r.note[0 .. r.count - 1], or r.digest
 *     rehearsal_free(&r);
 *
 * One test program includes it once and links the kernels' objects, as mock_tl.h. Not there: calls
 * that receive from any direction, futures, products, work.
 */
#ifndef TEST_REHEARSE_TL_H
#define TEST_REHEARSE_TL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hw/arithmetic.h"
#include "hw/structure.h"
#include "lp/kernel/tl.h"
#include "test/support/tl_stand_in.h"

enum rehearsed {
    REHEARSED_LOAD,
    REHEARSED_STORE,
    REHEARSED_COPY,
    REHEARSED_WAIT_DMA,
    REHEARSED_MATH,
    REHEARSED_SEND,
    REHEARSED_RECV,
    REHEARSED_PUT,
    REHEARSED_PUT_REDUCE,
    REHEARSED_NOTIFY,
    REHEARSED_WAIT_NOTIFY,
    REHEARSED_FORK,
    REHEARSED_STREAM, /* a stream's calls follow, up to its end */
    REHEARSED_END,
    REHEARSED_JOIN,
    REHEARSED_BARRIER,
    REHEARSED_PHASE
};

/* A call. Addresses are not noted. */
struct rehearsal_note {
    uint8_t kind, dir;
    uint8_t from, to; /* enum lp_space of the first two operands */
    uint32_t bytes;
    uint32_t peer;  /* the PE at the other end, by its global index; UINT32_MAX: none */
    uint32_t which; /* handle, tag, streams, phase, operation */
};

struct rehearsal {
    const struct hw_config *hw;
    struct tl_args args;
    struct hw_place place;
    uint32_t slot_bytes;
    bool slots_in_tcm; /* a tile is an operand like any other in TCM */
    /* The place that a direction leads to; false: it is not installed. */
    bool (*leads)(void *arg, struct hw_place from, enum hw_dir dir, struct hw_place *to);
    void *arg;
    /* If it is set, calls are not listed, but hashed, with PEs as it moves them. */
    uint32_t (*moved)(void *arg, uint32_t pe);
    uint64_t digest;
    struct rehearsal_note *note;
    size_t count, capacity;
    uint32_t forked; /* streams that the last call has forked */
    uint8_t received_dir;
    uint32_t received;
};

struct tl {
    struct rehearsal *r;
};

static inline void rehearsal_free(struct rehearsal *r) { free(r->note); }

static inline void rehearsal_hash(struct rehearsal *r, struct rehearsal_note note)
{
    uint64_t word[sizeof note / 8];
    _Static_assert(sizeof word == sizeof note, "a note is whole words");
    note.peer = note.peer == UINT32_MAX ? note.peer : r->moved(r->arg, note.peer);
    memcpy(word, &note, sizeof word);
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        r->digest = hw_mix((r->digest ^ word[i]) + UINT64_C(0x9e3779b97f4a7c15));
    r->count++;
}

static inline void rehearsal_add(struct rehearsal *r, struct rehearsal_note note)
{
    if (r->moved != NULL) {
        rehearsal_hash(r, note);
        return;
    }
    if (r->count == r->capacity) {
        r->capacity = 2 * r->capacity + 64;
        r->note = realloc(r->note, r->capacity * sizeof *r->note);
        assert_non_null(r->note);
    }
    r->note[r->count++] = note;
}

static inline uint8_t rehearsal_space(const struct rehearsal *r, struct lp_operand at)
{
    return at.space == LP_SPACE_TILE && r->slots_in_tcm ? LP_SPACE_TCM : at.space;
}

static inline void rehearsal_note(struct tl *tl, enum rehearsed kind, uint32_t bytes,
                                  uint32_t which)
{
    rehearsal_add(tl->r, (struct rehearsal_note){
                             .kind = kind, .bytes = bytes, .peer = UINT32_MAX, .which = which});
}

static inline void rehearsal_run(struct tl *tl, enum tl_status (*run)(struct tl *, void *),
                                 const struct tl_kernel *kernel, void *frame)
{
    while (run(tl, frame) == TL_WAITING) {
        const uint32_t forked = tl->r->forked;
        tl->r->forked = 0;
        for (uint32_t i = 0; i < kernel->stream_count; i++) {
            _Alignas(8) uint8_t own[TL_FRAME_BYTES];
            if ((forked >> i & 1) == 0)
                continue;
            memcpy(own, frame, sizeof own);
            memset(own, 0, TL_LINES_BYTES);
            rehearsal_note(tl, REHEARSED_STREAM, 0, i);
            rehearsal_run(tl, kernel->stream[i], kernel, own);
            rehearsal_note(tl, REHEARSED_END, 0, i);
        }
    }
}

/* The kernel's calls at its place. */
static inline void rehearse(struct rehearsal *r, const struct tl_kernel *kernel)
{
    struct tl tl = {r};
    _Alignas(8) uint8_t frame[TL_FRAME_BYTES] = {0};
    r->count = 0;
    r->digest = 0;
    rehearsal_run(&tl, kernel->run, kernel, frame);
}

/* ---- lp/kernel/tl.h: queries ----------------------------------------------------------------- */

const struct tl_args *tl_args(const struct tl *tl) { return &tl->r->args; }
struct hw_place tl_place(const struct tl *tl) { return tl->r->place; }
uint32_t tl_pe_id(const struct tl *tl) { return tl->r->place.pe; }
uint32_t tl_num_pes(const struct tl *tl) { return hw_pes(tl->r->hw); }
uint32_t tl_program_id(const struct tl *tl)
{
    return tl->r->place.cube * hw_pes(tl->r->hw) + tl->r->place.pe;
}
uint32_t tl_num_programs(const struct tl *tl) { return hw_cubes(tl->r->hw) * hw_pes(tl->r->hw); }
uint32_t tl_pe_index(const struct tl *tl, struct hw_place place)
{
    return hw_pe_index(tl->r->hw, place);
}
uint32_t tl_slot_bytes(const struct tl *tl) { return tl->r->slot_bytes; }
bool tl_installed(const struct tl *tl, enum hw_dir dir)
{
    struct hw_place to;
    return tl->r->leads(tl->r->arg, tl->r->place, dir, &to);
}
enum hw_dir tl_dir(const struct tl *tl, const char *name)
{
    (void)tl, (void)name;
    return HW_DIRS_MAX;
}
void tl_phase(struct tl *tl, uint32_t index) { rehearsal_note(tl, REHEARSED_PHASE, 0, index); }

/* ---- memories and arithmetic ----------------------------------------------------------------- */

void tl_load(struct tl *tl, uint32_t tcm, uint64_t va, uint32_t bytes)
{
    (void)tcm, (void)va;
    rehearsal_note(tl, REHEARSED_LOAD, bytes, UINT32_MAX);
}
void tl_load_async(struct tl *tl, uint32_t tcm, uint64_t va, uint32_t bytes, uint32_t handle)
{
    (void)tcm, (void)va;
    rehearsal_note(tl, REHEARSED_LOAD, bytes, handle);
}
void tl_store_async(struct tl *tl, uint64_t va, struct lp_operand src, uint32_t bytes,
                    uint32_t handle)
{
    (void)va;
    rehearsal_add(tl->r, (struct rehearsal_note){.kind = REHEARSED_STORE,
                                                 .from = rehearsal_space(tl->r, src),
                                                 .bytes = bytes,
                                                 .peer = UINT32_MAX,
                                                 .which = handle});
}
void tl_store(struct tl *tl, uint64_t va, struct lp_operand src, uint32_t bytes)
{
    tl_store_async(tl, va, src, bytes, UINT32_MAX);
}
void tl_copy_async(struct tl *tl, uint64_t dst_va, uint64_t src_va, uint32_t bytes, uint32_t handle)
{
    (void)dst_va, (void)src_va;
    rehearsal_note(tl, REHEARSED_COPY, bytes, handle);
}
void tl_copy(struct tl *tl, uint64_t dst_va, uint64_t src_va, uint32_t bytes)
{
    tl_copy_async(tl, dst_va, src_va, bytes, UINT32_MAX);
}
void tl_wait_dma(struct tl *tl, uint32_t handle)
{
    rehearsal_note(tl, REHEARSED_WAIT_DMA, 0, handle);
}
void tl_math(struct tl *tl, enum lp_math math, uint32_t dst, struct lp_operand a,
             struct lp_operand b, uint32_t elements)
{
    (void)dst;
    rehearsal_add(tl->r, (struct rehearsal_note){.kind = REHEARSED_MATH,
                                                 .from = rehearsal_space(tl->r, a),
                                                 .to = rehearsal_space(tl->r, b),
                                                 .bytes = elements,
                                                 .peer = UINT32_MAX,
                                                 .which = math});
}

/* ---- queues ---------------------------------------------------------------------------------- */

static inline void rehearsal_queue(struct tl *tl, enum rehearsed kind, enum hw_dir dir,
                                   uint8_t space, uint32_t bytes)
{
    struct hw_place to;
    if (!tl->r->leads(tl->r->arg, tl->r->place, dir, &to))
        fail_msg("direction %u is not installed", (unsigned)dir);
    rehearsal_add(tl->r, (struct rehearsal_note){.kind = kind,
                                                 .dir = (uint8_t)dir,
                                                 .from = space,
                                                 .bytes = bytes,
                                                 .peer = hw_pe_index(tl->r->hw, to)});
}
void tl_send_tile(struct tl *tl, enum hw_dir dir, struct lp_operand src, struct tl_tile tile)
{
    rehearsal_queue(tl, REHEARSED_SEND, dir, rehearsal_space(tl->r, src), tile.bytes);
}
void tl_recv_tile(struct tl *tl, enum hw_dir dir, struct tl_tile tile)
{
    rehearsal_queue(tl, REHEARSED_RECV, dir, 0, tile.bytes);
    tl->r->received_dir = (uint8_t)dir;
    tl->r->received++;
}
struct lp_operand tl_received_from(const struct tl *tl, enum hw_dir dir)
{
    return (struct lp_operand){.space = LP_SPACE_TILE, .dir = (uint8_t)dir, .at = tl->r->received};
}
struct lp_operand tl_received(const struct tl *tl)
{
    return tl_received_from(tl, (enum hw_dir)tl->r->received_dir);
}

/* ---- one-sided, contexts --------------------------------------------------------------------- */

static inline void rehearsal_to(struct tl *tl, enum rehearsed kind, uint32_t peer,
                                struct lp_operand dst, struct lp_operand src, uint32_t bytes)
{
    rehearsal_add(tl->r, (struct rehearsal_note){.kind = kind,
                                                 .from = rehearsal_space(tl->r, src),
                                                 .to = dst.space,
                                                 .bytes = bytes,
                                                 .peer = peer});
}
void tl_put(struct tl *tl, uint32_t peer, struct lp_operand dst, struct lp_operand src,
            uint32_t bytes)
{
    rehearsal_to(tl, REHEARSED_PUT, peer, dst, src, bytes);
}
void tl_put_reduce(struct tl *tl, uint32_t peer, enum lp_math math, struct lp_operand dst,
                   struct lp_operand src, uint32_t bytes)
{
    (void)math;
    rehearsal_to(tl, REHEARSED_PUT_REDUCE, peer, dst, src, bytes);
}
void tl_notify(struct tl *tl, uint32_t peer, uint32_t tag)
{
    rehearsal_add(tl->r,
                  (struct rehearsal_note){.kind = REHEARSED_NOTIFY, .peer = peer, .which = tag});
}
void tl_wait_notify(struct tl *tl, uint32_t peer, uint32_t tag)
{
    rehearsal_add(
        tl->r, (struct rehearsal_note){.kind = REHEARSED_WAIT_NOTIFY, .peer = peer, .which = tag});
}
void tl_fork(struct tl *tl, uint32_t streams)
{
    rehearsal_note(tl, REHEARSED_FORK, 0, streams);
    tl->r->forked = streams;
}
void tl_join(struct tl *tl) { rehearsal_note(tl, REHEARSED_JOIN, 0, 0); }
void tl_barrier(struct tl *tl) { rehearsal_note(tl, REHEARSED_BARRIER, 0, 0); }

/* ---- calls that are not there ---------------------------------------------------------------- */

void tl_store_to(struct tl *tl, uint32_t peer, struct lp_operand dst, struct lp_operand src,
                 uint32_t bytes)
{
    (void)peer, (void)dst, (void)src, (void)bytes, stand_in_lacks(tl, "store_to");
}
void tl_store_to_async(struct tl *tl, uint32_t peer, struct lp_operand dst, struct lp_operand src,
                       uint32_t bytes, uint32_t handle)
{
    (void)handle, tl_store_to(tl, peer, dst, src, bytes);
}
void tl_store_direct_async(struct tl *tl, uint32_t peer, struct lp_operand dst,
                           struct lp_operand src, uint32_t bytes, uint32_t handle)
{
    (void)handle, tl_store_to(tl, peer, dst, src, bytes);
}
void tl_load_from(struct tl *tl, uint32_t tcm, uint32_t peer, struct lp_operand src, uint32_t bytes)
{
    (void)tcm, (void)peer, (void)src, (void)bytes, stand_in_lacks(tl, "load_from");
}
void tl_load_from_async(struct tl *tl, uint32_t tcm, uint32_t peer, struct lp_operand src,
                        uint32_t bytes, uint32_t handle)
{
    (void)handle, tl_load_from(tl, tcm, peer, src, bytes);
}
void tl_recv_any_tile(struct tl *tl, struct tl_tile tile)
{
    (void)tile, stand_in_lacks(tl, "recv_any");
}
void tl_recv_all_tile(struct tl *tl, uint32_t dirs, struct tl_tile tile)
{
    (void)dirs, (void)tile, stand_in_lacks(tl, "recv_all");
}

#endif
