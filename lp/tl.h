/*
 * tl.h: the kernel API (30-ipcq.md, "Kernel API"): what a program on a PE may do.
 *
 * A kernel is a resumable function in protothread style. Each call below starts one operation; the
 * kernel then returns to the runtime by TL_CALL and is entered again, at the next line, when the
 * operation is done. So its locals do not survive a call: what must, lives in the kernel's frame,
 * a struct of at most TL_FRAME_BYTES that is part of the LP's state and rolls back with it.
 *
 *     struct my_frame { uint16_t line; uint32_t i; };
 *     static enum tl_status my_kernel(struct tl *tl, void *frame)
 *     {
 *         struct my_frame *f = frame;
 *         TL_BEGIN(&f->line);
 *         TL_CALL(&f->line, tl_load(tl, 0, tl_args(tl)->tensor, 64));
 *         for (f->i = 0; f->i < 3; f->i++)
 *             TL_CALL(&f->line, tl_send(tl, HW_DIR_E, tl_tcm(0), 64));
 *         TL_END(&f->line);
 *     }
 *
 * A part of a kernel may be a function of the same shape, with a line of its own in the frame; its
 * caller runs it by TL_RUN. No switch statement may surround a TL_CALL.
 */
#ifndef LP_TL_H
#define LP_TL_H

#include "hw/structure.h"
#include "lp/record.h"

#define TL_FRAME_BYTES 96u
#define TL_SCALARS_MAX 12

enum tl_status { TL_WAITING, TL_ENDED };

#define TL_BEGIN(line)                                                                             \
    switch (*(line)) {                                                                             \
    case 0:
#define TL_CALL(line, call)                                                                        \
    do {                                                                                           \
        (call);                                                                                    \
        *(line) = __LINE__;                                                                        \
        return TL_WAITING;                                                                         \
    case __LINE__:;                                                                                \
    } while (0)
#define TL_RUN(line, part)                                                                         \
    do {                                                                                           \
        *(line) = __LINE__;                                                                        \
        __attribute__((fallthrough));                                                              \
    case __LINE__:                                                                                 \
        if ((part) == TL_WAITING)                                                                  \
            return TL_WAITING;                                                                     \
    } while (0)
#define TL_END(line)                                                                               \
    }                                                                                              \
    *(line) = 0;                                                                                   \
    return TL_ENDED

/* What a launch passes to a kernel: the tensor pointer and the scalars that follow it. */
struct tl_args {
    uint64_t tensor;    /* virtual address of the SIP's tensor: see tl_shard() */
    uint64_t tensor_pa; /* byte offset of the shard in the PE's HBM slice: what the MMU maps to */
    uint64_t shard_bytes;
    uint64_t n_elem; /* per shard */
    uint32_t rank;
    uint8_t dtype;  /* enum lp_dtype */
    uint8_t math;   /* enum lp_math */
    bool pe_shards; /* each PE has a shard of its own, not each cube */
    uint8_t reserved;
    int64_t scalar[TL_SCALARS_MAX]; /* from the algorithm's kernel_args() */
};

struct tl; /* a kernel's view of its PE, valid during one entry */

struct tl_kernel {
    const char *name;
    uint32_t frame_bytes;                              /* <= TL_FRAME_BYTES */
    enum tl_status (*run)(struct tl *tl, void *frame); /* frame: zeroed at launch. Speculative */
    const char *const *phase;                          /* names of the phases that it marks */
    uint32_t phase_count;
};

/* ---- queries: free -------------------------------------------------------------------------- */

const struct tl_args *tl_args(const struct tl *tl);
struct hw_place tl_place(const struct tl *tl);
/* Virtual address of this PE's shard: shards follow each other in the order of (cube, PE). */
uint64_t tl_shard(const struct tl *tl);
uint32_t tl_num_pes(const struct tl *tl); /* per cube */
uint32_t tl_slot_bytes(const struct tl *tl);
bool tl_installed(const struct tl *tl, enum hw_dir dir);
/* The direction of this name (of a logical topology, or built in); HW_DIRS_MAX: not installed. */
enum hw_dir tl_dir(const struct tl *tl, const char *name);
static inline uint32_t tl_itemsize(enum lp_dtype dtype) { return dtype == LP_F32 ? 4 : 2; }

/* Tiles: a tensor of n elements travels in tiles of at most one slot. */
uint32_t tl_tile_elems(const struct tl *tl); /* elements per full tile */
uint32_t tl_tiles(const struct tl *tl);
uint32_t tl_tile_bytes(const struct tl *tl, uint32_t tile); /* the last may be shorter */

/* ---- operands ------------------------------------------------------------------------------- */

static inline struct lp_operand tl_tcm(uint32_t offset)
{
    return (struct lp_operand){.space = LP_SPACE_TCM, .at = offset};
}
/* The received tile `tiles` after `first`, of the same direction. */
static inline struct lp_operand tl_tile_after(struct lp_operand first, uint32_t tiles)
{
    first.at += tiles;
    return first;
}
/* The operand, used for the last time. */
static inline struct lp_operand tl_last(struct lp_operand operand)
{
    operand.flags |= LP_LAST_USE;
    return operand;
}

/* ---- operations: each is one TL_CALL -------------------------------------------------------- */

/* dst (TCM) <- memory at virtual address `va`. Blocks until the data is there. */
void tl_load(struct tl *tl, uint32_t tcm, uint64_t va, uint32_t bytes);
/* memory at `va` <- src: TCM, or a received tile and those after it, one per slot. Blocks until
 * acknowledged. */
void tl_store(struct tl *tl, uint64_t va, struct lp_operand src, uint32_t bytes);
/* Sends src (TCM, or a received tile) in a direction. Blocks while the peer's ring is full. */
void tl_send(struct tl *tl, enum hw_dir dir, struct lp_operand src, uint32_t bytes);
/* Receives the next tile from a direction; tl_received() names it afterwards. */
void tl_recv(struct tl *tl, enum hw_dir dir, uint32_t bytes);
/* From whichever installed direction has one, starting after the one served last. */
void tl_recv_any(struct tl *tl, uint32_t bytes);
/* Issues a receive; tl_wait() completes it. Several on one direction complete in order. */
void tl_recv_async(struct tl *tl, enum hw_dir dir, uint32_t bytes);
void tl_wait(struct tl *tl, enum hw_dir dir, uint32_t bytes);
struct lp_operand tl_received(const struct tl *tl);
/* dst (TCM) <- a (math) b, element by element; dst may be a. */
void tl_math(struct tl *tl, enum lp_math math, uint32_t dst, struct lp_operand a,
             struct lp_operand b, uint32_t elements);

/* From here on the kernel is in phase `index` of its kernel's phase names. Free; not a TL_CALL. */
void tl_phase(struct tl *tl, uint32_t index);

#endif
