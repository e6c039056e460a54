/*
 * test_lp_support.h: small machines built in the test, kernels written as lists of calls, and the
 * record of every data operation that they made.
 *
 * Every machine runs with the engine's debug mode, which proves that handlers change only the parts
 * that they asked for. Launches reach the PEs of one router at the same instant (control messages
 * are empty and their servers take no time), so that times can be worked out from the kernels'
 * common start.
 */
#ifndef TEST_LP_SUPPORT_H
#define TEST_LP_SUPPORT_H

#include "test/support/test_hw_support.h"

#include "lp/host/system.h"
#include "lp/queues/queue_ends.h"

/* ---- kernels as lists of calls --------------------------------------------------------------- */

enum call {
    END,
    DO_SEND,
    DO_GIVE,      /* `index`: it wants the tile */
    DO_SEND_FROM, /* from `src` */
    DO_FORWARD,   /* sends the tile received last */
    DO_RECV,
    DO_RECV_ANY,
    DO_RECV_ASYNC, /* as receive number `index`, below FUTURES_MAX */
    DO_WAIT,       /* for it */
    DO_RECV_INTO,  /* `dst` */
    DO_RECV_ANY_INTO,
    DO_RECV_ALL, /* `at`: the directions */
    DO_LOAD,
    DO_STORE,
    DO_STORE_TILES,      /* ... the tiles received since `first`, one per slot */
    DO_STORE_TILE_ASYNC, /* ... the tile received last */
    DO_COPY,             /* `to` <- `at` */
    DO_LOAD_ASYNC,       /* `index`: the handle */
    DO_STORE_ASYNC,
    DO_COPY_ASYNC,
    DO_WAIT_DMA,
    DO_STORE_TO,
    DO_STORE_TO_ASYNC,     /* `index`: the handle */
    DO_STORE_DIRECT_ASYNC, /* likewise */
    DO_LOAD_FROM,          /* `src`, of `peer`, to `at` in TCM */
    DO_LOAD_FROM_ASYNC,
    DO_PUT,
    DO_PUT_TILE, /* ... the tile received last */
    DO_PUT_REDUCE,
    DO_NOTIFY, /* `index`: the tag */
    DO_WAIT_NOTIFY,
    DO_FORK,
    DO_FORK_BITS, /* `at`: the streams, whatever they are */
    DO_JOIN,
    DO_BARRIER,
    DO_DOT_TILES, /* the two tiles received last */
    DO_DOT,       /* `n` x `to`, inner dimension `at`; `index`: enum tl_sums */
    DO_WORK,      /* `index`: the block, for `at` ps */
    DO_WORK_ASYNC,
    DO_WAIT_WORK, /* for the last such work */
    DO_CAST,      /* `n` elements, of type `at`, to type `to`, at `index` in TCM */
    DO_ADD,
    DO_ADD_FROM,     /* `src` and `dst` */
    DO_ADD_TILE_AND, /* the tile received last, and `src` */
    DO_STORE_FROM,
    DO_ADD_TILE, /* adds the tile received last to the values in TCM */
    DO_ADD_TILES /* adds the last tile and the one before it */
};
struct line {
    enum call call;
    enum hw_dir dir;
    uint32_t n; /* bytes; of an addition: elements */
    uint64_t at, to;
    uint32_t peer, index;
    struct lp_operand dst, src;
    const struct line *stream[TL_CONTEXTS_MAX - 1];
    enum lp_dtype dtype; /* of a tile; 0: the launch's */
    uint32_t dim[LP_DIMS_MAX];
};
#define LINE(call_, ...)                                                                           \
    {                                                                                              \
        .call = (call_), __VA_ARGS__                                                               \
    }
#define DONE                      LINE(END)
#define SEND(dir_, n_)            LINE(DO_SEND, .dir = (dir_), .n = (n_))
#define GIVE(dir_, n_, wants_)    LINE(DO_GIVE, .dir = (dir_), .n = (n_), .index = (wants_))
#define SEND_FROM(dir_, src_, n_) LINE(DO_SEND_FROM, .dir = (dir_), .src = src_, .n = (n_))
#define FORWARD(dir_, n_)         LINE(DO_FORWARD, .dir = (dir_), .n = (n_))
#define RECV(dir_, n_)            LINE(DO_RECV, .dir = (dir_), .n = (n_))
#define RECV_ANY(n_)              LINE(DO_RECV_ANY, .n = (n_))
#define RECV_ASYNC(k_, dir_, n_)  LINE(DO_RECV_ASYNC, .index = (k_), .dir = (dir_), .n = (n_))
#define WAIT(k_, n_)              LINE(DO_WAIT, .index = (k_), .n = (n_))
#define RECV_INTO(dir_, n_, dst_) LINE(DO_RECV_INTO, .dir = (dir_), .n = (n_), .dst = dst_)
#define RECV_ANY_INTO(n_, dst_)   LINE(DO_RECV_ANY_INTO, .n = (n_), .dst = dst_)
#define RECV_ALL(dirs_, n_)       LINE(DO_RECV_ALL, .at = (dirs_), .n = (n_))
#define LOAD(va_, n_)             LINE(DO_LOAD, .n = (n_), .at = (va_))
#define STORE(va_, n_)            LINE(DO_STORE, .n = (n_), .at = (va_))
#define STORE_TILES(va_, n_)      LINE(DO_STORE_TILES, .n = (n_), .at = (va_))
#define STORE_TILE_ASYNC(va_, n_, handle_)                                                         \
    LINE(DO_STORE_TILE_ASYNC, .n = (n_), .at = (va_), .index = (handle_))
#define COPY(dst_va, src_va, n_)     LINE(DO_COPY, .to = (dst_va), .at = (src_va), .n = (n_))
#define LOAD_ASYNC(va_, n_, handle_) LINE(DO_LOAD_ASYNC, .n = (n_), .at = (va_), .index = (handle_))
#define STORE_ASYNC(va_, n_, handle_)                                                              \
    LINE(DO_STORE_ASYNC, .n = (n_), .at = (va_), .index = (handle_))
#define COPY_ASYNC(dst_va, src_va, n_, handle_)                                                    \
    LINE(DO_COPY_ASYNC, .to = (dst_va), .at = (src_va), .n = (n_), .index = (handle_))
#define WAIT_DMA(handle_) LINE(DO_WAIT_DMA, .index = (handle_))
#define STORE_TO(peer_, dst_, n_)                                                                  \
    LINE(DO_STORE_TO, .peer = (peer_), .dst = dst_, .src = TCM(0), .n = (n_))
#define STORE_TO_FROM(peer_, dst_, src_, n_)                                                       \
    LINE(DO_STORE_TO, .peer = (peer_), .dst = dst_, .src = src_, .n = (n_))
#define STORE_TO_ASYNC(peer_, dst_, src_, n_, handle_)                                             \
    LINE(DO_STORE_TO_ASYNC, .peer = (peer_), .dst = dst_, .src = src_, .n = (n_),                  \
         .index = (handle_))
#define STORE_DIRECT_ASYNC(peer_, dst_, src_, n_, handle_)                                         \
    LINE(DO_STORE_DIRECT_ASYNC, .peer = (peer_), .dst = dst_, .src = src_, .n = (n_),              \
         .index = (handle_))
#define LOAD_FROM(at_, peer_, src_, n_)                                                            \
    LINE(DO_LOAD_FROM, .at = (at_), .peer = (peer_), .src = src_, .n = (n_))
#define LOAD_FROM_ASYNC(at_, peer_, src_, n_, handle_)                                             \
    LINE(DO_LOAD_FROM_ASYNC, .at = (at_), .peer = (peer_), .src = src_, .n = (n_),                 \
         .index = (handle_))
#define STORE_FROM(va_, src_, n_) LINE(DO_STORE_FROM, .at = (va_), .src = src_, .n = (n_))
#define PUT(peer_, dst_, src_, n_)                                                                 \
    LINE(DO_PUT, .peer = (peer_), .dst = dst_, .src = src_, .n = (n_))
#define PUT_TILE(peer_, dst_, n_) LINE(DO_PUT_TILE, .peer = (peer_), .dst = dst_, .n = (n_))
#define PUT_REDUCE(peer_, dst_, src_, n_)                                                          \
    LINE(DO_PUT_REDUCE, .peer = (peer_), .dst = dst_, .src = src_, .n = (n_))
#define NOTIFY(peer_, tag_)      LINE(DO_NOTIFY, .peer = (peer_), .index = (tag_))
#define WAIT_NOTIFY(peer_, tag_) LINE(DO_WAIT_NOTIFY, .peer = (peer_), .index = (tag_))
/* Streams 0, 1, ... run these scripts. */
#define FORK(...)               LINE(DO_FORK, .stream = {__VA_ARGS__})
#define FORK_BITS(bits_)        LINE(DO_FORK_BITS, .at = (bits_))
#define JOIN                    LINE(DO_JOIN)
#define BARRIER                 LINE(DO_BARRIER)
#define DOT(m_, n_, k_, sums_)  LINE(DO_DOT, .n = (m_), .to = (n_), .at = (k_), .index = (sums_))
#define WORK(block_, ps_)       LINE(DO_WORK, .index = (block_), .at = (ps_))
#define WORK_ASYNC(block_, ps_) LINE(DO_WORK_ASYNC, .index = (block_), .at = (ps_))
#define WAIT_WORK               LINE(DO_WAIT_WORK)
#define DOT_TILES(m_, n_, k_)   LINE(DO_DOT_TILES, .n = (m_), .to = (n_), .at = (k_))
#define CAST(from_, to_, n_)    LINE(DO_CAST, .n = (n_), .at = (from_), .to = (to_))
#define ADD(n_)                 LINE(DO_ADD, .n = (n_))
#define ADD_FROM(a_, b_, n_)    LINE(DO_ADD_FROM, .src = a_, .dst = b_, .n = (n_))
#define ADD_TILE_AND(src_, n_)  LINE(DO_ADD_TILE_AND, .src = src_, .n = (n_))
#define ADD_TILE(n_)            LINE(DO_ADD_TILE, .n = (n_))
#define ADD_TILES(n_)           LINE(DO_ADD_TILES, .n = (n_))
/* Takes that many ns on small_machine(): an addition of ns - 9 elements, one per cycle of 1 ns, and
 * overheads pe_cpu 2, pe_scheduler 1, pe_fetch_store 1 and 1, pe_math 4. */
#define DELAY(ns) ADD((ns)-9)
/* Operands, as initialisers. */
#define TCM(at_)                                                                                   \
    {                                                                                              \
        .space = LP_SPACE_TCM, .at = (at_)                                                         \
    }
#define HBM(at_)                                                                                   \
    {                                                                                              \
        .space = LP_SPACE_HBM, .at = (at_)                                                         \
    }
#define SRAM(at_)                                                                                  \
    {                                                                                              \
        .space = LP_SPACE_SRAM, .at = (at_)                                                        \
    }

/* ---- machines -------------------------------------------------------------------------------- */

enum { FUTURES_MAX = 18 };
enum { OPS_MAX = 16384, TENSOR_VA = 0x10000, SHARD_BYTES = 65536, TENSOR_PA = 1 << 20 };

struct machine {
    struct hw_config hw;
    struct lp_config config;
    struct lp_needs needs;
    void (*answered)(void *arg, void *of, uint32_t rank, int64_t t_ps); /* the system's */
    void *answered_arg;
    struct lp_cause_sink causes;    /* the system's */
    struct lp_listener listener;    /* beside the own one of operations */
    bool pe0_alone;                 /* the install plan's: as in struct lp_plan_request */
    const struct lp_wiring *wiring; /* likewise */
    struct lp_plan *plan;           /* made at the start, if the test has not made it */
    struct lp_plan *other_plan;     /* the second that messages may name; NULL: none */
    struct lp_system *system;
    struct cw_config engine; /* mode and workers; zero: sequential */
    const uint32_t *cube_worker;
    struct hw_topology_ops *graph;       /* freed with it; NULL: the machine has none */
    const struct hw_fold *fold;          /* the system's */
    bool with_data;                      /* the data pass runs on the workers */
    struct data_pass *data;              /* then, from the start on */
    struct tl_region region[TL_REGIONS]; /* of every launch */
    bool unmapped;                       /* PEs reach tensors when the test has mapped them */
    struct cw_error error;
    uint32_t op_count;
    struct lp_op op[OPS_MAX];
};

/* PE `pe` (global index) runs `script`. */
struct part {
    uint32_t pe;
    const struct line *script;
};

struct data_pass;

struct lp_config default_queues(void);

/* `sips` SIPs in a ring, of w x h cubes; see DELAY() for PE_MATH. Freed by machine_free(). */
struct machine *small_machine(uint32_t sips, uint32_t cube_w, uint32_t cube_h);
/* The same, in a row; its PEs may put to eight others and notify them. */
struct machine *machine_with_puts(uint32_t sips, uint32_t cube_w);
void machine_free(struct machine *m);

/* The install plan that the test's settings ask for. */
struct lp_plan *machine_plan(const struct machine *m);
/* Builds the machine with the test's settings. False: m->error says why. */
bool machine_build(struct machine *m);
/* The same, and installs its queues. */
bool machine_try_start(struct machine *m);
void machine_start(struct machine *m); /* the same; a failure fails the test */
/* One cube whose PEs may put to each other, started. */
struct machine *started_with_puts(enum hw_contention contention);

/* After a drain: the data pass has executed everything. Fails the test otherwise. */
void machine_settle_data(struct machine *m);

/* The steps of the next: a batch begins, and is launched. */
void begin_scripts(struct machine *m);
/* The same, without forgetting the operations so far; options.kernel is set here. */
void begin_scripts_with(struct machine *m, struct lp_batch_options options);
void submit_scripts(struct machine *m, const struct part *parts, size_t count);
/* Launches, and runs until nothing is left to do. Returns the exit code; m->error says why. */
int try_scripts(struct machine *m, const struct part *parts, size_t count);
/* The first line of the machine's error: of a deadlock, all but the pointers. Valid until the next
 * call. */
const char *first_line_of_error(const struct machine *m);
void run_scripts(struct machine *m, const struct part *parts, size_t count);
#define RUN(m, ...)                                                                                \
    do {                                                                                           \
        const struct part parts_[] = {__VA_ARGS__};                                                \
        run_scripts((m), parts_, COUNT_OF(parts_));                                                \
    } while (0)

/* The same with kernels that leave tiles unreceived: it ends with IpcqUnreceived. */
#define RUN_LEAVING(m, ...)                                                                        \
    do {                                                                                           \
        const struct part parts_[] = {__VA_ARGS__};                                                \
        assert_int_equal(try_scripts((m), parts_, COUNT_OF(parts_)), CW_PROGRAM_FAILED);           \
        assert_memory_equal((m)->error.text, "IpcqUnreceived: ", 16);                              \
    } while (0)

/* The n-th operation of one kind that a PE made, from 0. */
const struct lp_op *nth(const struct machine *m, uint32_t pe, enum lp_op_kind kind, uint32_t n);

/* Since the first kernel's start. */
int64_t start_of(const struct machine *m, const struct lp_op *op);
int64_t end_of(const struct machine *m, const struct lp_op *op);
int64_t took(const struct lp_op *op);

const struct lp_queue *queue_of(const struct machine *m, uint32_t pe, enum hw_dir dir);

#endif
