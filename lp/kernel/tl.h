/*
 * tl.h: the kernel API (lp/QUEUES.md, "Kernel API"): the queries and the calls of a program on a
 * PE.
 *
 * A kernel is a resumable function in protothread style. Each call below starts one operation. The
 * kernel then returns to the runtime by TL_CALL, and is entered again at the next line when the
 * operation is done. So its locals do not survive a call. Variables that must survive are members
 * of the kernel's frame: a struct of at most TL_FRAME_BYTES that begins with its lines. The frame
 * is part of the LP's state and rolls back with it.
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

#include "core/cw.h"
#include "hw/structure.h"
#include "lp/kernel/tl_source.h"
#include "lp/record.h"

#define TL_FRAME_BYTES 96u
#define TL_LINES_BYTES 8u /* a frame begins with its lines: up to 4 of uint16_t */
#define TL_SCALARS_MAX 12
enum {
    TL_CONTEXTS_MAX = 4, /* of a PE: the kernel and its streams */
    TL_HANDLES = 2,      /* asynchronous loads, stores and copies of a context at one time, */
    TL_STORE_HANDLE = TL_HANDLES, /* and one more store from TCM or of a tile */
    TL_TAGS = 4,                  /* kinds of notifications between two PEs */
    TL_REGIONS = 2
};

enum tl_status { TL_WAITING, TL_ENDED };

#define TL_BEGIN(line)                                                                             \
    switch (*(line)) {                                                                             \
    case 0:                                                                                        \
        TL_HERE();
/* The points at which a kernel resumes have numbers of their own, so that one source line may have
 * several, as in a macro. */
#define TL_CALL(line, call) TL_CALL_AT(line, call, __COUNTER__)
#define TL_CALL_AT(line, call, point)                                                              \
    do {                                                                                           \
        TL_HERE();                                                                                 \
        (call);                                                                                    \
        *(line) = (point) + 1;                                                                     \
        return TL_WAITING;                                                                         \
    case (point) + 1:;                                                                             \
    } while (0)
#define TL_RUN(line, part) TL_RUN_AT(line, part, __COUNTER__)
#define TL_RUN_AT(line, part, point)                                                               \
    do {                                                                                           \
        *(line) = (point) + 1;                                                                     \
        __attribute__((fallthrough));                                                              \
    case (point) + 1:                                                                              \
        if ((part) == TL_WAITING)                                                                  \
            return TL_WAITING;                                                                     \
    } while (0)
#define TL_END(line)                                                                               \
    }                                                                                              \
    TL_HERE();                                                                                     \
    *(line) = 0;                                                                                   \
    return TL_ENDED

/* A range of virtual addresses in addition to the tensor, the same on each PE that takes part. The
 * host has mapped it there (lp/maps.h). */
struct tl_region {
    uint64_t va;
    uint64_t pa;    /* byte offset in the PE's HBM slice */
    uint64_t bytes; /* 0: none */
};

/* How the machine's SIPs are joined (system.sips.topology), where it is one of the topologies that
 * have rows and columns. */
enum tl_topology { TL_TOPOLOGY_RING, TL_TOPOLOGY_TORUS, TL_TOPOLOGY_MESH, TL_TOPOLOGY_OTHER };

/* The arguments of a launch: the tensor pointer, the scalars that the algorithm's kernel_args() has
 * filled, and the place of the rank among the SIPs, which the runtime adds to each launch. */
struct tl_args {
    uint64_t tensor;    /* virtual address of the SIP's tensor: see tl_shard() */
    uint64_t tensor_pa; /* byte offset of the shard in the PE's HBM slice */
    uint64_t shard_bytes;
    uint64_t n_elem; /* per shard */
    uint32_t rank;
    uint8_t dtype;    /* enum lp_dtype */
    uint8_t math;     /* enum lp_math */
    bool pe_shards;   /* each PE has a shard of its own, not each cube */
    uint8_t topology; /* enum tl_topology */
    uint32_t sip_w,
        sip_h; /* the grid of SIPs; a ring's length and 1; 0 in a launch of the host's */
    struct tl_region region[TL_REGIONS]; /* output, scratch: as the algorithm says */
    int64_t scalar[TL_SCALARS_MAX];      /* from the algorithm's kernel_args() */
    uint32_t piece_tiles;     /* with coarse tiles: a kernel ends so many tiles before it begins the
                                 next     ones; 0: it moves tile after tile */
    const int64_t *parameter; /* values of the algorithm's parameters; const; NULL: it has none */
    const void *more; /* other data that the kernel reads: const as long as it runs; NULL: none */
    const void *own;  /* likewise, of this launch alone */
};

struct tl; /* a kernel's view of its PE, valid during one entry */

/*
 * A tile as a send or a receive names it: its bytes, then, by name, its type and its shape,
 * row-major: tl_send(tl, HW_DIR_E, tl_tcm(0), 64, .dtype = LP_F32, .dim = {4, 4}) The default is
 * the launch's type and one dimension. The shape's elements make up the bytes.
 */
struct tl_tile {
    uint32_t bytes;
    enum lp_dtype dtype;       /* 0: the launch's */
    uint32_t dim[LP_DIMS_MAX]; /* the first 0 ends them */
};
#define TL_TILE(...) ((struct tl_tile){.bytes = __VA_ARGS__})

/* A receive that tl_recv_async() has begun; zero: none. */
struct tl_future {
    uint32_t tile;
    uint32_t dir; /* the direction's number + 1 */
    struct tl_tile named;
};
/* The receive that began `receives` later, in the same direction and of as many bytes, if no other
 * receive of that direction comes between them. */
static inline struct tl_future tl_future_after(struct tl_future future, uint32_t receives)
{
    future.tile += receives;
    return future;
}

struct tl_kernel {
    const char *name;
    uint32_t frame_bytes; /* of its lines at least, <= TL_FRAME_BYTES */
    enum tl_status (*run)(struct tl *tl, void *frame); /* frame: zeroed at launch. Speculative */
    const char *const *phase;                          /* names of the phases that it marks */
    uint32_t phase_count;
    uint32_t stream_count; /* < TL_CONTEXTS_MAX: streams that tl_fork() can start */
    enum tl_status (*const *stream)(struct tl *tl, void *frame);
};

/* ---- queries: free -------------------------------------------------------------------------- */

const struct tl_args *tl_args(const struct tl *tl);
struct hw_place tl_place(const struct tl *tl);
/* Virtual address of this PE's shard: shards follow each other in the order of (cube, PE). */
uint64_t tl_shard(const struct tl *tl);
uint32_t tl_pe_id(const struct tl *tl);        /* in its cube */
uint32_t tl_num_pes(const struct tl *tl);      /* per cube */
uint32_t tl_program_id(const struct tl *tl);   /* of this PE in its SIP: cube * num_pes + pe_id */
uint32_t tl_num_programs(const struct tl *tl); /* per SIP */
uint32_t tl_pe_index(const struct tl *tl, struct hw_place place); /* global index */
uint32_t tl_slot_bytes(const struct tl *tl);
bool tl_installed(const struct tl *tl, enum hw_dir dir);
/* The direction of this name (of a logical topology, or built in); HW_DIRS_MAX: not installed. */
enum hw_dir tl_dir(const struct tl *tl, const char *name);
/* The value of the algorithm's i-th parameter (collectives/parameter.h). */
static inline int64_t tl_parameter(const struct tl *tl, uint32_t i)
{
    return tl_args(tl)->parameter[i];
}
static inline uint32_t tl_itemsize(enum lp_dtype dtype) { return lp_dtype_bytes(dtype); }

/* Tiles: a tensor of n elements travels in tiles of at most one slot. */
uint32_t tl_tile_elems(const struct tl *tl); /* elements per full tile */
uint32_t tl_tiles(const struct tl *tl);
uint32_t tl_tile_bytes(const struct tl *tl, uint32_t tile); /* the last may be shorter */

/* With coarse tiles (QUEUES.md): from here on the kernel ends the exchange of so many tiles before
 * it begins that of the next ones; 0, as it starts: it moves tile after tile; TL_UNCUT: its calls
 * are not on tiles. Nothing that it does from here on was begun before. */
enum { TL_UNCUT = 0x7fffffff };
void tl_pieces(struct tl *tl, uint32_t tiles);

/* ---- operands ------------------------------------------------------------------------------- */

/* Each costs the time to read it: PE_DMA reads the source of a send, a put or a store, and
 * PE_MATH's and PE_GEMM's operands outside TCM are loaded first. */

static inline struct lp_operand tl_tcm(uint32_t offset)
{
    return (struct lp_operand){.space = LP_SPACE_TCM, .at = offset};
}
static inline struct lp_operand tl_hbm(uint32_t offset) /* of the PE's slice */
{
    return (struct lp_operand){.space = LP_SPACE_HBM, .at = offset};
}
static inline struct lp_operand tl_sram(uint32_t offset) /* of the cube's */
{
    return (struct lp_operand){.space = LP_SPACE_SRAM, .at = offset};
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

/* The virtual address of a byte of the cube's SRAM: mapped on every PE. */
static inline uint64_t tl_sram_va(uint32_t offset) { return 1ull << 62 | offset; }

/* dst (TCM) <- memory at virtual address `va`. Blocks until the data is there. */
void tl_load(struct tl *tl, uint32_t tcm, uint64_t va, uint32_t bytes);
/* memory at `va` <- src: a memory, or a received tile and those after it, one per slot. Blocks
 * until acknowledged; a store from HBM or SRAM is a copy. */
void tl_store(struct tl *tl, uint64_t va, struct lp_operand src, uint32_t bytes);
/* memory at `dst_va` <- memory at `src_va`, both of this cube. Blocks until the data is
 * there. */
void tl_copy(struct tl *tl, uint64_t dst_va, uint64_t src_va, uint32_t bytes);
/*
 * The same without waiting: handle 0 .. TL_HANDLES - 1 names the operation until tl_wait_dma() has
 * returned; one operation per handle at a time. The operation's values are bound when it is issued.
 * TL_STORE_HANDLE names a tl_store_async() whose source is in TCM.
 */
void tl_load_async(struct tl *tl, uint32_t tcm, uint64_t va, uint32_t bytes, uint32_t handle);
void tl_store_async(struct tl *tl, uint64_t va, struct lp_operand src, uint32_t bytes,
                    uint32_t handle);
void tl_copy_async(struct tl *tl, uint64_t dst_va, uint64_t src_va, uint32_t bytes,
                   uint32_t handle);
void tl_wait_dma(struct tl *tl, uint32_t handle);
/* Memory of PE `peer` (global index; `dst`: its TCM, its HBM slice or its cube's SRAM, physical) <-
 * src, over vc_compute. Blocks until the acknowledgement is back. */
void tl_store_to(struct tl *tl, uint32_t peer, struct lp_operand dst, struct lp_operand src,
                 uint32_t bytes);
/* dst (TCM) <- memory of PE `peer` (`src`: as `dst` above), over vc_compute. Blocks until the data
 * is there. The value is bound when the request is at the memory. */
void tl_load_from(struct tl *tl, uint32_t tcm, uint32_t peer, struct lp_operand src,
                  uint32_t bytes);
/* The same without waiting, with the handles of tl_load_async() and tl_wait_dma(). */
void tl_store_to_async(struct tl *tl, uint32_t peer, struct lp_operand dst, struct lp_operand src,
                       uint32_t bytes, uint32_t handle);
/* Into the HBM slice or the SRAM as a store of the peer's own goes: its PE_DMA has no part in it.
 */
void tl_store_direct_async(struct tl *tl, uint32_t peer, struct lp_operand dst,
                           struct lp_operand src, uint32_t bytes, uint32_t handle);
void tl_load_from_async(struct tl *tl, uint32_t tcm, uint32_t peer, struct lp_operand src,
                        uint32_t bytes, uint32_t handle);

/* The calls on queues end with the tile, as struct tl_tile says: its bytes, .dtype, .dim. */

/* Sends src in a direction. Blocks while the peer's ring is full. */
#define tl_send(tl, dir, src, ...) tl_send_named((tl), (dir), (src), TL_TILE(__VA_ARGS__))
/* This PE's part of the next tile of a direction that leads to switches that reduce: `bytes` of
 * src, or none (0). When the parts of all PEs at this place of their SIPs are there, the switches
 * combine those that have bytes (launch's type and operation), in the order of the SIPs, and the
 * PEs that want the tile receive it from that direction; the others receive a tile of 0 bytes.
 * Blocks while the PE's own ring has no slot for it. */
void tl_give(struct tl *tl, enum hw_dir dir, struct lp_operand src, uint32_t bytes, bool wants);
/* Receives the next tile from a direction; tl_received() names it afterwards. */
#define tl_recv(tl, dir, ...) tl_recv_named((tl), (dir), TL_TILE(__VA_ARGS__))
/* From any installed direction that has a tile. The search starts after the direction that was
 * served last. */
#define tl_recv_any(tl, ...) tl_recv_any_tile((tl), TL_TILE(__VA_ARGS__))
/*
 * Asks for the next tile of a direction, without waiting. The tile is this receive's: no later
 * receive takes it. tl_future() names the receive, before the kernel's next call. tl_wait() takes
 * the tile; tl_received() names it afterwards. Any number of receives may be pending, and they may
 * be waited for in any order, each once, before the kernel ends.
 */
#define tl_recv_async(tl, dir, ...) tl_recv_async_tile((tl), (dir), TL_TILE(__VA_ARGS__))
struct tl_future tl_future(const struct tl *tl);
void tl_wait(struct tl *tl, struct tl_future future);
struct lp_operand tl_received(const struct tl *tl);
/* One tile from each of a set of directions (one bit each), in any order of arrival;
 * tl_received_from() names them afterwards. */
#define tl_recv_all(tl, dirs, ...) tl_recv_all_tile((tl), (dirs), TL_TILE(__VA_ARGS__))
struct lp_operand tl_received_from(const struct tl *tl, enum hw_dir dir);
/* Receives a tile and copies it to a place in TCM, in the PE's HBM slice or in the cube's SRAM
 * (recv_mode copy_to_dst). Blocks until it is there. */
#define tl_recv_into(tl, dir, dst, ...) tl_recv_into_tile((tl), (dir), (dst), TL_TILE(__VA_ARGS__))
/* The same from any installed direction that has a tile, as tl_recv_any() chooses it. */
#define tl_recv_any_into(tl, dst, ...) tl_recv_any_into_tile((tl), (dst), TL_TILE(__VA_ARGS__))

void tl_send_tile(struct tl *tl, enum hw_dir dir, struct lp_operand src, struct tl_tile tile);
void tl_recv_tile(struct tl *tl, enum hw_dir dir, struct tl_tile tile);
void tl_recv_any_tile(struct tl *tl, struct tl_tile tile);
void tl_recv_async_tile(struct tl *tl, enum hw_dir dir, struct tl_tile tile);
void tl_recv_all_tile(struct tl *tl, uint32_t dirs, struct tl_tile tile);
void tl_recv_into_tile(struct tl *tl, enum hw_dir dir, struct lp_operand dst, struct tl_tile tile);
void tl_recv_any_into_tile(struct tl *tl, struct lp_operand dst, struct tl_tile tile);

/* The most frequent calls mostly name bytes only: where the compiler sees it, nothing else is
 * passed. */
void tl_send_bytes(struct tl *tl, enum hw_dir dir, struct lp_operand src, uint32_t bytes);
void tl_recv_bytes(struct tl *tl, enum hw_dir dir, uint32_t bytes);
#define TL_BYTES_ONLY(tile)                                                                        \
    (__builtin_constant_p((tile).dtype) && __builtin_constant_p((tile).dim[0]) &&                  \
     (tile).dtype == 0 && (tile).dim[0] == 0)
static inline void tl_send_named(struct tl *tl, enum hw_dir dir, struct lp_operand src,
                                 struct tl_tile tile)
{
    if (TL_BYTES_ONLY(tile))
        tl_send_bytes(tl, dir, src, tile.bytes);
    else
        tl_send_tile(tl, dir, src, tile);
}
static inline void tl_recv_named(struct tl *tl, enum hw_dir dir, struct tl_tile tile)
{
    if (TL_BYTES_ONLY(tile))
        tl_recv_bytes(tl, dir, tile.bytes);
    else
        tl_recv_tile(tl, dir, tile);
}

/* dst (TCM) <- a (math) b, element by element; dst may be a. */
void tl_math(struct tl *tl, enum lp_math math, uint32_t dst, struct lp_operand a,
             struct lp_operand b, uint32_t elements);

/* dst (TCM) <- a, converted, element by element. */
void tl_cast(struct tl *tl, uint32_t dst, struct lp_operand a, enum lp_dtype from, enum lp_dtype to,
             uint32_t elements);
/* How the sums of a product begin, and how they end. Those in f32 are of f16, bf16, f32 or fp8. */
enum tl_sums {
    TL_SUMS_NEW = 0,      /* from +0 */
    TL_SUMS_ADD = 1,      /* from the old value, of the launch's type */
    TL_SUMS_FROM_F32 = 2, /* from the old value, which a product has left in f32 */
    TL_SUMS_TO_F32 = 4    /* with the first or the third: left in f32; else rounded */
};
/* dst[m][n] (TCM) <- a[m][k] . b[k][n], row-major. `sums`: enum tl_sums. */
void tl_dot(struct tl *tl, uint32_t dst, struct lp_operand a, struct lp_operand b, uint32_t m,
            uint32_t n, uint32_t k, uint8_t sums);

/*
 * Work without operands: a block of the PE is busy for `ps` beyond its own overhead, of PE_GEMM or
 * PE_MATH; or the PE as a whole, for exactly `ps`. tl_work() waits for its end. The other form does
 * not: tl_begun() names the work, before the kernel's next call, and tl_wait_work() waits for it.
 */
enum tl_block { TL_BLOCK_PE, TL_BLOCK_GEMM, TL_BLOCK_MATH };
struct tl_begun {
    int64_t end_ps;
    enum tl_block block;
};
void tl_work(struct tl *tl, enum tl_block block, int64_t ps);
void tl_work_async(struct tl *tl, enum tl_block block, int64_t ps);
struct tl_begun tl_begun(const struct tl *tl);
void tl_wait_work(struct tl *tl, struct tl_begun begun);

/* ---- one-sided: into another PE's memories, over vc_comm ------------------------------------- */

/*
 * Memory of PE `peer` (global index; `dst`: its TCM, its HBM slice or its cube's SRAM, physical) <-
 * src: TCM, a received tile, or memory of this PE or its cube (tl_hbm(), tl_sram()). The value is
 * bound now; the kernel continues when the operation has its place in PE_DMA's channel. The
 * reducing form combines it with the value in that memory, in order of arrival.
 */
void tl_put(struct tl *tl, uint32_t peer, struct lp_operand dst, struct lp_operand src,
            uint32_t bytes);
void tl_put_reduce(struct tl *tl, uint32_t peer, enum lp_math math, struct lp_operand dst,
                   struct lp_operand src, uint32_t bytes);
/* Notifies a PE: becomes visible there no earlier than every earlier put from this PE to it. */
void tl_notify(struct tl *tl, uint32_t peer, uint32_t tag);
/* Waits for, and consumes, one notification with this tag from a PE. */
void tl_wait_notify(struct tl *tl, uint32_t peer, uint32_t tag);

/* ---- contexts: parallel streams on one PE ---------------------------------------------------- */

/*
 * Bit i of `streams`: stream i of the kernel begins in a context of its own, with a copy of this
 * frame in which the lines (its first TL_LINES_BYTES) are zero. The streams contend for PE_DMA
 * only. Only the kernel itself forks.
 */
void tl_fork(struct tl *tl, uint32_t streams);
/* Waits until all forked streams have ended. The kernel must call it before it ends. */
void tl_join(struct tl *tl);
/* Waits until the kernel and all its streams that have not ended are here. */
void tl_barrier(struct tl *tl);

/* From here on the kernel is in phase `index` of its kernel's phase names. Free; not a TL_CALL. */
void tl_phase(struct tl *tl, uint32_t index);

#endif
