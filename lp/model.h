/*
 * model.h: the hardware as logical processes (LPs): the parameters, the state of each LP, and the
 * events between LPs. Every file of lp/ includes it. The host side uses lp/host/system.h, kernels
 * use lp/kernel/tl.h.
 *
 * LPs: the host (LP 0), one per cube, one per IO die, one per switch. An LP's state is one block
 * of plain data: a fixed head, then its links, then (cubes) its PEs. struct lp_model has the
 * offsets.
 *
 * Every event of a transfer carries the entity that began the transfer, as the receiver sees it
 * (entity.h), and the transfer's number.
 *
 * Invariant: handlers change nothing but their own LP's state (through CW_MUT); struct lp_model is
 * const while the engine runs.
 */
#ifndef LP_MODEL_H
#define LP_MODEL_H

#include "core/cw.h"
#include "hw/arithmetic.h"
#include "hw/dma.h"
#include "hw/faults.h"
#include "hw/route.h"
#include "hw/structure.h"
#include "hw/timing.h"
#include "hw/topology/fold.h"
#include "hw/topology/trees.h"
#include "lp/kernel/tl.h"
#include "lp/link_groups.h"
#include "lp/lp_config.h"
#include "lp/record.h"

struct lp_cause_direct; /* lp/causes.h */
struct lp_batch;        /* lp/host/batches.h */
struct lp_plan;         /* lp/queues/queue_ends.h */
struct lp_maps;         /* lp/maps.h */
struct lp_program;      /* lp/program.h */
struct lp_tie_watch;    /* lp/tie_watch.h */
struct lp_replay_watch; /* lp/replay_watch.h */

/* The sender of an event: an entity, as this handler's SIP sees it (entity.h), and that entity's
 * number for the event. */
struct lp_sender {
    uint32_t entity;
    uint64_t number;
};

/* ---- parameters ----------------------------------------------------------------------------- */

/* The directions of a PE that a process group's kernels use, where a PE has those of several
 * groups (queue_ends.h): kernels have numbers of their own for them. */
struct lp_dirs {
    uint8_t of_pe[HW_DIRS_MAX]; /* [kernel's]: the PE's; HW_DIRS_MAX: there is none */
    uint16_t mask_own, mask;    /* the kernel's, and the PE's, one bit each */
};

/* A kernel launch, as the host has prepared it. */
struct lp_launch {
    const struct tl_kernel *kernel;
    struct tl_args args;
    uint32_t batch;    /* launches of one collective; its transfers carry this number */
    uint32_t op;       /* 1 + the operation of its SIP's program that it belongs to; 0: none */
    uint8_t queue;     /* lp_batch_options.queue */
    bool cuts_streams; /* lp_batch_options.cuts_streams */
    int64_t start_ps;  /* its kernels start no earlier. Set when the messages are injected */
    const struct lp_dirs *dirs; /* NULL: the kernel's directions are the PE's */
    struct lp_batch *of;        /* the host's account of the batch (lp/host/batches.h) */
};

/* Overheads at the start of a call (hw/HARDWARE.md, "Blocks of a PE"). */
enum tl_issue {
    ISSUE_FREE,
    ISSUE_CPU,     /* pe_cpu */
    ISSUE_IPCQ,    /* pe_cpu + pe_ipcq */
    ISSUE_MEMORY,  /* pe_cpu + pe_scheduler + pe_mmu */
    ISSUE_COMPUTE, /* pe_cpu + pe_scheduler: part of the computation's time */
    ISSUES
};

/* LP numbers: the host is 0, the cubes start at 1. Owner: layout.c. */
struct lp_numbers {
    uint32_t count, first_io_die, first_switch, switch_count;
};

/* Where the parts of a cube's state are: links first, then PEs. Owner: layout.c. */
struct lp_cube_layout {
    size_t pe_offset, pe_bytes;
    size_t slot_offset, queue_offset, context_offset, one_sided_offset, backlog_offset,
        coarse_offset;    /* in a PE's part */
    size_t backlog_bytes; /* of one hardware queue */
    size_t state_bytes;
};

/* NoC routers of a cube. Owner: layout.c. */
struct lp_routers {
    uint8_t of_port[HW_PORTS]; /* of each UCIe port */
    uint8_t centre;
    uint8_t of_pe[64];
};

/* Which records handlers emit, in addition to the records of kernels. Owner: system.c. */
struct lp_emitted {
    bool ops;       /* data operations (LP_RECORD_OP) */
    bool arrivals;  /* tiles that become visible (LP_RECORD_ARRIVAL) */
    bool links;     /* links that are crossed (LP_RECORD_CROSSED) */
    bool crossings; /* each crossing is looked at: for these, or for accounts */
    bool waits;     /* kernels that have waited (LP_RECORD_WAITED), as records; */
    bool notes;     /* these, or `causes` */
    bool causes;    /* why each event comes when it comes (causes.h), in this batch */
    struct lp_cause_direct *direct; /* their receiver for final events; NULL: records */
    void (*answer)(void *arg, const struct lp_answer *answer); /* likewise */
    void *answer_arg;
};

/* The launches of the batch, numbered from 1 over all batches. Owner: system.c, which adds launches
 * between drains, and drops them when the next batch begins: their kernels have ended by then. */
struct lp_launches {
    struct lp_launch *at;   /* [last - dropped] */
    uint32_t last, dropped; /* numbers: of the latest launch, of the latest one dropped */
    uint32_t capacity;
};

enum { LP_PLANS = 2 }; /* most install plans of a machine */

/* The accounts under which links count bytes (lp_needs.accounts). Of a link: the latest batch that
 * it has carried something of, and then each account's bytes, since the machine was idle. After the
 * links' and the PEs' parts in a state. Owner: layout.c; of_batch: batches.c. */
struct lp_accounts {
    size_t offset[LP_LINK_OWNERS]; /* in a state */
    size_t row_words;              /* of a link; 0: there are no accounts */
    size_t idle_words;             /* 1: with coarse tiles, after all rows, each link's idle time */
    uint32_t *of_batch;            /* [batch - lp_model.first_batch] from 1 on; 0: none */
};

/* Of the tiles that switches put together: struct lp_joins in the state of a switch that is in a
 * tree, then its struct lp_joining. Owner: layout.c. */
struct lp_joins_layout {
    size_t offset, joining_offset, joining_bytes, bytes; /* bytes 0: there are none */
    uint32_t count;                                      /* struct lp_joining of a switch */
};

/* The bytes of memory (lp_config.slots) in which all receive rings are. */
struct lp_ring_area {
    uint64_t start, end;
};

/* The dimensions in which SIPs have coordinates, innermost first (hw_sip_dims_of()). */
struct lp_sip_radix {
    uint32_t dims;
    uint32_t stride[HW_SIP_DIMS_MAX];
    struct hw_divisor size[HW_SIP_DIMS_MAX];
};

/* Numbers of places are taken apart in each event (places.h). Owner: layout.c. */
struct lp_divisors {
    struct hw_divisor pes, cubes; /* of a cube, of a SIP */
    struct hw_divisor sip_pes;    /* PEs of a SIP */
    struct hw_divisor sip_places; /* and its io_cpu (entity.h) */
    struct hw_divisor cube_w, noc_w, dma_queue_depth, dma_chunk;
    struct lp_sip_radix sips;
};

/* Model data: const while the engine runs. */
struct lp_model {
    struct hw_config hw;
    struct lp_config config;
    struct lp_needs needs; /* queues, contexts: at least 1 */
    uint32_t contexts;     /* of a PE: of all its queues */
    struct hw_dma_params dma;
    uint32_t first_batch; /* since the machine was idle: links count from it on. Changes between
                             drains alone */
    uint32_t cubes, pes;  /* per SIP, per cube */
    /* A folded machine (lp/README.md, "Folded machines"): representatives alone have LPs. NULL: all
     * SIPs have some. */
    const struct hw_fold *fold;
    uint32_t sips;             /* that have LPs; hw.sip_count is the whole machine's */
    struct lp_tie_watch *ties; /* of a fold that is not of translations; or NULL */
    struct lp_divisors by;
    struct lp_numbers lps;
    struct lp_link_layout links; /* numbers in lp_cube.link, lp_io_die.link, lp_switch.link */
    struct lp_cube_layout cube;
    struct lp_routers router;
    const struct lp_plan *plan[1 + LP_PLANS]; /* [lp_pe.plan]; [0]: NULL */
    bool grows;                               /* lp_system_options.grows */
    const struct lp_plan *named;              /* by the latest installation; NULL: there was none */
    const struct lp_maps *maps;               /* of all SIPs */
    struct lp_ring_area rings;                /* of all plans that were named */
    uint64_t tcm_queue_bytes; /* of a TCM in front of the rings there: each queue's share */
    int64_t issue_ps[ISSUES]; /* [enum tl_issue] without jitter. Owner: tl_cost.c */
    uint8_t first_step; /* of a call without operands in memory: enum tl_step. Owner: tl_cost.c */
    bool slot_access;   /* access to slots has a cost of its own (hw_slot_ps()) */
    bool slot_send;     /* the write is the sending kernel's time. Owner: layout.c */
    bool slot_write, slot_read; /* of a tile's write into its slot; of its read. Owner: layout.c */
    enum hw_memory tile_memory; /* where received tiles are read as operands; TCM with slot_access,
                                   since the receive has read them. Owner: layout.c */
    struct lp_emitted emit;
    struct lp_launches launches;
    struct lp_accounts accounts;
    struct hw_trees trees; /* where kernels send parts of tiles (lp_needs.trees); else none */
    struct lp_joins_layout joins;
    const struct lp_program *program;     /* NULL: none */
    size_t sequencer_offset;              /* in an IO die's state */
    const struct lp_replay_watch *replay; /* NULL: nobody watches */
};

/* Of an LP that has links. */
static inline size_t lp_state_bytes_of(const struct lp_model *m, enum lp_link_owner kind)
{
    return m->accounts.offset[kind] + m->links.count[kind] *
                                          (m->accounts.row_words + m->accounts.idle_words) *
                                          sizeof(uint64_t);
}

/* Whether the launch with this number is in the table. */
static inline bool lp_has_launch(const struct lp_model *m, uint32_t number)
{
    return number > m->launches.dropped && number <= m->launches.last;
}

static inline const struct lp_launch *lp_launch_of(const struct lp_model *m, uint32_t number)
{
    return &m->launches.at[number - 1 - m->launches.dropped];
}

/* ---- state ---------------------------------------------------------------------------------- */

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded" /* states, payloads and records have none */

/* One direction's queue pair (lp/QUEUES.md). The peer and its addresses are computed. */
struct lp_queue {
    uint32_t my_head;         /* next tile to send */
    uint32_t my_tail;         /* next tile to receive */
    uint32_t peer_head_cache; /* the peer's head as last seen */
    uint32_t peer_tail_cache; /* the peer's tail as last seen */
    uint16_t early;           /* tiles that have come before their turn (slot_map.h) */
    uint16_t sent_at;         /* the line of the latest send (tl_source_number): for reports */
    uint32_t promised;        /* tiles from my_tail on that are a recv_async's, or taken */
};

/* Why a kernel does not run. */
enum lp_wait {
    LP_WAIT_NONE,    /* no kernel, or one whose next event is pending */
    LP_WAIT_DATA,    /* recv on an empty queue */
    LP_WAIT_CREDIT,  /* send on a full ring */
    LP_WAIT_CHANNEL, /* PE_DMA's channel is full */
    LP_WAIT_DMA,     /* a load, a store or a copy is in progress */
    LP_WAIT_NOTIFY,  /* wait_notify */
    LP_WAIT_JOIN,    /* for the contexts it has forked */
    LP_WAIT_BARRIER, /* for the other contexts of its kernel */
    LP_WAIT_START,   /* for its turn in this event: just forked, or released by another context */
    LP_WAIT_PE,      /* for its PE, before it begins; in records alone */
};

/* The kernel's latest call: an operation that is carried out step by step (tl_call.h). */
struct tl_call {
    uint8_t kind; /* enum tl_call_kind */
    uint8_t step; /* enum tl_step: the next one */
    uint8_t dir, math, dtype, memory, slice;
    uint8_t operand; /* next operand to load from a slot, 0 or 1 */
    uint32_t bytes;
    uint32_t tile;   /* next tile of that operand */
    uint16_t dirs;   /* of a receive: the directions that it still takes a tile from */
    uint8_t move;    /* of a load, store, copy: index in lp_context.move */
    uint8_t tag;     /* of a notification; of a fork: the streams */
    uint32_t peer;   /* global index; of dot: its inner dimension; of recv_async, wait: the tile */
    uint32_t rows;   /* of dot */
    uint8_t waited;  /* enum lp_wait: the reason of its latest wait */
    uint8_t dims;    /* of a tile: as struct lp_op has it; 0: one dimension */
    uint8_t reading; /* of a receive, with slot access: 1 + the direction of the tile that it */
    uint8_t reading_seq; /* has read, or reads; and the tile's number, modulo 256 */
    int64_t start_ps;
    union {
        struct lp_operand a;
        int64_t until_ps; /* recv_all: when its last credit so far is out; work: its end */
    };
    union {
        struct lp_operand b; /* of a call that fetches */
        uint32_t dim[2];     /* of a tile */
        int64_t work_ps;     /* of work: how long; of wait_work: its end */
    };
    struct lp_operand dst;
};

/* Places in TCM that hold results of casts: a send from there is of their type (tl_compute.c). */
enum { LP_CASTS = 2 };
struct lp_casts {
    uint8_t dtype[LP_CASTS]; /* enum lp_dtype; 0: the place is free. The first free one ends them */
    uint8_t reserved[2];
    uint32_t at[LP_CASTS], bytes[LP_CASTS];
};

/* A running kernel, or one of its streams: a context of a PE runs it. Each hardware queue has
 * lp_needs.contexts of them in a row, of which the first one runs the kernel itself. */
struct lp_kernel {
    uint32_t launch;         /* index + 1 in the launch table; 0: the context is free */
    uint8_t stream;          /* 0: the kernel itself, else it runs stream[stream - 1] */
    uint8_t wait;            /* enum lp_wait */
    uint8_t wait_vc;         /* LP_WAIT_CHANNEL: the full channel (enum hw_vc) */
    uint8_t received_dir;    /* of the tile that the last receive returned */
    uint32_t received_seq;   /* and its number */
    uint32_t calls;          /* made so far: numbers the current one */
    uint32_t calls_received; /* of them, up to the last receive (tl_watch.c) */
    struct lp_casts casts;
    uint64_t kept_digest;           /* of the frame at a call since then */
    int64_t wait_ps;                /* since when it waits (polling counts from there) */
    const struct tl_source *source; /* of its latest call, a constant: for reports alone */
    uint8_t storing;                /* enum lp_move_state of TL_STORE_HANDLE */
    uint8_t reserved[7];
    struct tl_call call;
    _Alignas(8) uint8_t frame[TL_FRAME_BYTES];
};

/* A load, store or copy in progress. The context waits for number 0; the others are asynchronous.
 */
struct lp_move {
    union {
        int64_t done_ps;  /* of a load: when the last part so far is done */
        uint64_t from_at; /* of a load_from until its request leaves: the place in the memory */
    };
    uint8_t parts;  /* of a load: 1 the response is known, 2 the engine has passed it */
    uint8_t state;  /* enum lp_move_state */
    uint16_t stamp; /* the generation of the grant that its request belongs to (pe_dma.c) */
    uint32_t to_at; /* of a load_from: the place in TCM */
};
enum lp_move_state { LP_MOVE_FREE, LP_MOVE_UNDER_WAY, LP_MOVE_DONE };
enum { LP_MOVES = 1 + TL_HANDLES };

struct lp_context {
    struct lp_kernel kernel;
    struct lp_move move[LP_MOVES];
};
/* The store of TL_STORE_HANDLE has this number, and no struct lp_move: nothing but its state is to
 * be known of it. */
enum { LP_MOVE_STORE = 1 + TL_STORE_HANDLE };
static inline const uint8_t *lp_move_state(const struct lp_context *c, uint32_t move)
{
    return move < LP_MOVES ? &c->move[move].state : &c->kernel.storing;
}

/* A PE's account of a peer with which it exchanges puts and notifications (one_sided.c). Each
 * hardware queue has accounts of its own, with the queues of its number on other PEs. */
struct lp_peer {
    uint32_t key;              /* lp_peer_key() + 1; 0: the place is free */
    uint32_t sent;             /* puts and notifications to it that have passed the engine */
    uint32_t seen;             /* puts and notifications from it that have become visible */
    uint32_t pending[TL_TAGS]; /* of its notifications, by tag: not yet consumed */
};

/* A put or a notification that has come before its turn, and the equal ones that follow it. */
struct lp_early {
    uint32_t src, order, seq; /* of the first: lp_peer_key() of its sender, number among its
                                 sender's, number as a put */
    uint32_t count;
    uint8_t kind; /* enum lp_transfer_kind */
    uint8_t tag;
    uint8_t reserved[2];
};
enum { LP_EARLY_PER_PEER = 8 };

/* The one-sided part of a PE; there only if lp_needs.peers says so. After the peers come the
 * places for early puts and notifications, LP_EARLY_PER_PEER for each peer. */
struct lp_one_sided {
    uint32_t puts_issued, puts_passed; /* by the kernel, and by the engine */
    uint32_t notifies_issued;
    uint32_t early_count;
    struct lp_peer peer[]; /* [lp_needs.peers], found by hashing */
};

/* A hardware queue of a PE, which runs one kernel at a time. */
struct lp_pe_queue {
    uint32_t batch;      /* of the latest launch */
    uint32_t written;    /* the latest batch in which a kernel on a queue of this number, here or on
                            another PE, has written into the PE's HBM slice */
    uint32_t asyncs;     /* receives that recv_async has begun and no wait has taken yet */
    uint16_t async_at;   /* the line of the latest recv_async (tl_source_number): for reports */
    uint8_t last_polled; /* recv from any direction starts after this one */
    uint8_t reserved;
};

/* Kernels that wait for a hardware queue, in order of their launch messages; there only if
 * lp_needs.launches says so. */
struct lp_backlog {
    uint32_t count;
    uint32_t first_number; /* of the PE's events, by the kernel that runs or ran last: */
    uint32_t batch_before; /* what has lower ones is of the queue's kernel before it */
    uint32_t reserved;
    struct lp_queued {
        int64_t since_ps;
        uint32_t launch; /* its number, */
        uint32_t number; /* and its message's, the low bits */
    } at[];              /* [lp_needs.launches] */
};

/* With coarse tiles alone (lp/coarse.h): what a PE's parts know of the first of the tiles that a
 * coarse one stands for. */
struct lp_coarse_move {
    int64_t least_ps;  /* it ends no earlier */
    int64_t spread_ps; /* its first tile ended so long before its last */
    int64_t free_ps;   /* the handle's move before has ended */
    int64_t tiles;
};
struct lp_coarse_context {
    int64_t lead_ps;      /* the kernel has been idle for so long, of what it does next, */
    int64_t spread_ps;    /* and did it for the first tile so long before the last */
    int64_t begin_ps;     /* its latest receive began to look */
    uint64_t piece_tiles; /* tl_pieces() */
    struct lp_coarse_move move[4];
};
struct lp_coarse_op {
    int64_t head_ps;        /* when its first tile came */
    uint32_t tiles, rounds; /* that it stands for; lp_coarse_rounds() */
};
struct lp_coarse_queue {
    int64_t visible_ps; /* the latest tile to become visible */
    int64_t sigma_ps;
    int64_t sent_ps; /* the latest send */
};
struct lp_coarse {
    struct lp_coarse_context context[16]; /* of all hardware queues */
    struct lp_coarse_queue queue[HW_DIRS_MAX];
    int64_t engine_end_ps;    /* of PE_DMA's latest run, or grant */
    int64_t engine_idle_ps;   /* the engine has been idle for so long, and nothing has used it */
    uint32_t skipped[HW_VCS]; /* bytes of a channel's first operation that passed in that time */
    struct lp_coarse_op op[]; /* [HW_VCS][queue_depth] of each operation in a channel */
};

/* Requests to a memory, of sends and puts, whose grant was taken back: as many may be in flight. */
enum { LP_VOID_REQUESTS = 4 };

struct lp_pe {
    struct lp_queue queue[HW_DIRS_MAX];
    struct hw_dma dma;
    uint32_t next_number; /* of this entity's events */
    uint16_t installed;   /* directions, one bit each */
    uint8_t plan; /* 1 + the index that its IpcqInitMsg has named; 0: none has taken effect */
    uint8_t reserved;
    uint64_t served; /* strict fairness: directions, least recently served first, 4 bits each */
    uint32_t void_request[LP_VOID_REQUESTS]; /* generations of their grants; 0: the place is free */
    uint32_t mapped; /* highest number of an MmuMapMsg that has taken effect; 0: none has */
    uint32_t reserved2;
    struct hw_dma_op op[]; /* [HW_VCS][queue_depth]; then, at offsets of lp_cube_layout, the maps of
                              slots (slot_map.h), the hardware queues, the contexts, struct
                              lp_one_sided, struct lp_backlog of each queue */
};

struct lp_cube {
    int64_t m_cpu_free_ps;
    struct hw_link link[]; /* then, at pe_offset, the PEs */
};

struct lp_io_die {
    int64_t io_cpu_free_ps;
    struct hw_link link[];
};

struct lp_switch {
    uint64_t reserved; /* a switch is its links: one down to each SIP */
    struct hw_link link[];
};

/*
 * A tile that a switch puts together (fabric/reduce.c), at the place of its PE in the SIP, its
 * direction and its slot. The rest is zero where there is none.
 */
struct lp_joining {
    int64_t head_ps;             /* the head of every part so far is there */
    int64_t start_ps;            /* it has an accumulator from then on */
    uint32_t seq;                /* its number */
    uint32_t batch;              /* of the kernels */
    uint32_t bytes;              /* of the tile on its way; 0: all parts so far are empty */
    uint32_t parts;              /* that are not empty: of so many children */
    uint32_t came;               /* children of which something has come */
    uint32_t sent;               /* pieces that have gone on */
    uint32_t next;               /* 1 + the one after it in line for an accumulator; 0: the last */
    uint16_t holds;              /* 1 + its accumulator; 0: none */
    uint8_t flags;               /* the hardware queue, as in its transfers */
    uint8_t tree : 7, waits : 1; /* waits: in line for an accumulator */
    uint32_t child[]; /* [children]: twice the pieces that have come, and 1 if it wants the tile */
};

/* What a switch that reduces has beside its links. */
struct lp_joins {
    struct hw_link unit;  /* adds up one tile after the other */
    uint32_t first, last; /* 1 + the tiles in line for accumulators; 0: none */
    int64_t free_ps[];    /* [hw_switch_reduce.trees]: an accumulator is free from then on;
                             CW_TIME_MAX: a tile holds it */
};

struct lp_host {
    uint64_t acknowledged; /* acknowledgements that have arrived */
    int64_t last_ps;       /* the latest of them */
};

static inline const struct lp_pe *lp_pe(const struct lp_model *m, const struct lp_cube *cube,
                                        uint32_t pe)
{
    return (const struct lp_pe *)((const uint8_t *)cube + m->cube.pe_offset +
                                  pe * m->cube.pe_bytes);
}
static inline const struct lp_context *lp_context(const struct lp_model *m, const struct lp_pe *pe,
                                                  uint32_t context)
{
    return (const struct lp_context *)((const uint8_t *)pe + m->cube.context_offset) + context;
}
static inline const struct lp_one_sided *lp_one_sided(const struct lp_model *m,
                                                      const struct lp_pe *pe)
{
    return (const struct lp_one_sided *)((const uint8_t *)pe + m->cube.one_sided_offset);
}
static inline const struct lp_pe_queue *lp_pe_queue(const struct lp_model *m,
                                                    const struct lp_pe *pe, uint32_t queue)
{
    return (const struct lp_pe_queue *)((const uint8_t *)pe + m->cube.queue_offset) + queue;
}
/* The kernel that a hardware queue runs; launch 0: none. */
static inline const struct lp_kernel *lp_kernel_on(const struct lp_model *m, const struct lp_pe *pe,
                                                   uint32_t queue)
{
    return &lp_context(m, pe, queue * m->needs.contexts)->kernel;
}
static inline const struct lp_backlog *lp_backlog(const struct lp_model *m, const struct lp_pe *pe,
                                                  uint32_t queue)
{
    return (const struct lp_backlog *)((const uint8_t *)pe + m->cube.backlog_offset +
                                       queue * m->cube.backlog_bytes);
}
static inline const struct lp_coarse *lp_coarse_of(const struct lp_model *m, const struct lp_pe *pe)
{
    return (const struct lp_coarse *)((const uint8_t *)pe + m->cube.coarse_offset);
}
static inline const struct lp_early *lp_early(const struct lp_model *m,
                                              const struct lp_one_sided *own)
{
    return (const struct lp_early *)&own->peer[m->needs.peers];
}

/* ---- LPs ------------------------------------------------------------------------------------ */

/* SIPs that have LPs are numbered from 0 to lp_model.sips - 1: the number of a SIP, in a folded
 * machine of its representative; and the SIP with a number. */
static inline uint32_t lp_sip_index(const struct lp_model *m, uint32_t sip)
{
    return __builtin_expect(m->fold == NULL, 1) ? sip : hw_fold_index(m->fold, sip);
}
static inline uint32_t lp_sip_at(const struct lp_model *m, uint32_t index)
{
    return __builtin_expect(m->fold == NULL, 1) ? index : hw_fold_sip(m->fold, index);
}
/* PEs that have LPs, numbered in the same way. */
static inline uint32_t lp_pe_count(const struct lp_model *m) { return m->sips * m->cubes * m->pes; }
static inline uint32_t lp_pe_place(const struct lp_model *m, uint32_t pe_index)
{
    const uint32_t sip = hw_divide(pe_index, &m->by.sip_pes);
    return pe_index - (sip - lp_sip_index(m, sip)) * m->by.sip_pes.value;
}
static inline uint32_t lp_pe_at(const struct lp_model *m, uint32_t place)
{
    const uint32_t index = hw_divide(place, &m->by.sip_pes);
    return place + (lp_sip_at(m, index) - index) * m->by.sip_pes.value;
}

/* The LPs of a SIP, or of its representative. */
static inline uint32_t lp_of_cube(const struct lp_model *m, uint32_t sip, uint32_t cube)
{
    return 1 + lp_sip_index(m, sip) * m->cubes + cube;
}
static inline uint32_t lp_of_io_die(const struct lp_model *m, uint32_t sip)
{
    return m->lps.first_io_die + lp_sip_index(m, sip);
}
/* Where link number `index` of a SIP's IO die is, for how late it is. */
static inline struct hw_jitter_place lp_die_link_place(const struct lp_model *m, uint32_t sip,
                                                       uint32_t index)
{
    const uint32_t outlet = index - m->links.first[LP_LINKS_OUTER]; /* wraps: it leaves no SIP */
    return (struct hw_jitter_place){sip, HW_JITTER_ANY, HW_JITTER_ANY, index,
                                    outlet < hw_outlets(&m->hw) ? hw_outer_link(sip, outlet) : 0};
}
/* The LP of a switch, and the switch of an LP. */
static inline uint32_t lp_of_switch(const struct lp_model *m, uint32_t number)
{
    return m->lps.first_switch +
           (__builtin_expect(m->fold == NULL, 1) ? number : hw_fold_switch_index(m->fold, number));
}
static inline uint32_t lp_switch_at(const struct lp_model *m, uint32_t lp)
{
    const uint32_t index = lp - m->lps.first_switch;
    return __builtin_expect(m->fold == NULL, 1) ? index : hw_fold_switch_at(m->fold, index);
}
/* The link of a switch's outlet, by its number in the switch's state: in a folded machine it leads
 * to `next`. And the stop at the end of such a link. */
static inline uint32_t lp_switch_link(const struct lp_model *m, uint32_t number, uint32_t outlet,
                                      uint32_t next)
{
    return __builtin_expect(m->fold == NULL, 1) ? outlet
                                                : hw_fold_switch_link_to(m->fold, number, next);
}
static inline uint32_t lp_switch_next(const struct lp_model *m, uint32_t number, uint32_t link)
{
    return __builtin_expect(m->fold == NULL, 1) ? hw_hop(&m->hw, m->hw.sip_count + number, link).to
                                                : hw_fold_switch_sip(m->fold, number, link);
}

/* A kind of LP. `handle` as in struct cw_model; runs speculatively. */
struct lp_ops {
    const char *name;
    size_t (*state_bytes)(const struct lp_model *m);
    void (*init)(const struct lp_model *m, uint32_t lp, void *state);
    void (*handle)(struct cw_ctx *ctx, const void *state, const struct cw_event *event);
};

/* ---- events --------------------------------------------------------------------------------- */

enum lp_event_type {
    LP_EVENT_TRANSFER = 1, /* struct lp_transfer: its tail enters a cube, an IO die, a switch */
    LP_EVENT_CPU_ARRIVAL,  /* struct lp_transfer: a control message reaches m_cpu or io_cpu */
    LP_EVENT_CPU_DONE,     /* struct lp_transfer: and has been served */
    LP_EVENT_PE_CPU,       /* struct lp_transfer: and takes effect at a PE */
    LP_EVENT_HOST,         /* struct lp_transfer: and is back at the host */
    LP_EVENT_VISIBLE,      /* struct lp_transfer: an IPCQ tile is there, data and head at once */
    LP_EVENT_CREDIT,       /* struct lp_signal: arg = the receiver's new tail */
    LP_EVENT_ENGINE,       /* struct lp_signal: a run of PE_DMA's engine ends; arg = generation */
    LP_EVENT_MEMORY,       /* struct lp_load: a load's request is at the memory */
    LP_EVENT_DMA_DONE,     /* struct lp_signal: a load, store or copy is complete; arg = move */
    LP_EVENT_KERNEL,       /* struct lp_signal: the kernel resumes */
    LP_EVENT_LAND,         /* struct lp_transfer: a put or a notification is complete */
    LP_EVENT_LEND,         /* struct lp_transfer: a remote load's request is at the memory; or the
                              next piece is offered, and `bytes` have been so far */
};

enum lp_transfer_kind {
    LP_TRANSFER_TILE = 1,  /* an IPCQ send */
    LP_TRANSFER_INIT,      /* control: IpcqInitMsg; seq = the plan's index */
    LP_TRANSFER_LAUNCH,    /* control: KernelLaunchMsg; seq = launch index */
    LP_TRANSFER_ACK,       /* control, to the host: an install, map or write has taken effect */
    LP_TRANSFER_DONE,      /* control, to the host: a kernel has ended; seq = launch index */
    LP_TRANSFER_PUT,       /* seq: number of the put */
    LP_TRANSFER_NOTIFY,    /* dir: its tag; seq: number of the notification */
    LP_TRANSFER_CREDIT,    /* credit_fabric; seq: the receiver's new tail */
    LP_TRANSFER_STORE,     /* a store into another PE's memory */
    LP_TRANSFER_STORE_ACK, /* and its acknowledgement; seq: of the storing PE, context and move */
    LP_TRANSFER_MAP,       /* control: MmuMapMsg; seq = its number */
    LP_TRANSFER_WRITE,     /* control: MemoryWriteMsg, its data with it */
    LP_TRANSFER_LOAD,      /* the request of a load from another PE's memory: of `order` bytes at
                              `seq` in `memory`; dir: of the loading PE, context and move */
    LP_TRANSFER_LOADED,    /* and the data, `order` bytes in all; dir: as above */
    LP_TRANSFER_PART,      /* up a tree of switches: a PE's part of a tile, which has `order` bytes;
                              memory: 1 if the PE wants the tile, and the tree << LP_TREE_SHIFT */
    LP_TRANSFER_RESULT,    /* and down: the tile. Between switches memory is the tree as above */
    LP_TRANSFER_BEGIN,     /* control, to io_cpu: begins its program */
    LP_TRANSFER_SIGNAL     /* control, from io_cpu to io_cpu; seq: an operation, dir: what is said
                              of it (fabric/sequencer.c) */
};
enum { LP_TREE_SHIFT = 1 };
enum { LP_TRANSFER_LAST = 1 };     /* flag: the last chunk, or the whole, of its transfer */
enum { LP_TRANSFER_REDUCE = 2 };   /* flag: a put_reduce */
enum { LP_TRANSFER_DIRECT = 4 };   /* flag: a store that does not pass the destination's PE_DMA */
enum { LP_TRANSFER_OUTSIDE = 8 };  /* flag: it comes to the IO die from outside the SIP */
enum { LP_TRANSFER_PASSED = 128 }; /* flag: HW_ROUTE_KEY_PASSED of its route */

/* In a transfer's port: it began when links had failed, and takes the routes of hw_config.later. */
enum { LP_PORT_LATER = 128 };

/* A transfer between two LPs; the event's time is its tail's. 40 bytes. */
struct lp_transfer {
    int64_t sigma_ps;
    uint32_t src, dst; /* PEs, global index; on the way to the host: dst is the PE it comes from */
    uint32_t bytes, seq;
    uint32_t batch; /* of the kernel that it comes from; 0: of none */
    uint8_t kind;   /* enum lp_transfer_kind */
    uint8_t flags;  /* and the hardware queue: lp_queue_of() */
    uint8_t dir;    /* the queue's direction at the destination */
    uint8_t memory; /* enum hw_memory at the destination */
    uint8_t port;   /* by which it enters the LP, HW_PORT_NONE: a switch; and LP_PORT_LATER */
    uint8_t exit;   /* outlet by which it must leave the first SIP, or HW_OUTLET_NONE */
    uint16_t piece; /* its number among those of its transfer, modulo 2^16: for the total order */
    uint32_t order; /* puts and notifications: number among all from src to dst; loads: bytes; of
                       a tile, with slot access: its bytes */
};
_Static_assert(sizeof(struct lp_transfer) == 40, "72 bytes with the event's header");

/* The hardware queue of the PE that runs its kernel, in the flags. */
enum { LP_TRANSFER_QUEUE_SHIFT = 4 };
static inline uint32_t lp_queue_of(const struct lp_transfer *transfer)
{
    return transfer->flags >> LP_TRANSFER_QUEUE_SHIFT & (LP_PE_QUEUES_MAX - 1);
}
_Static_assert(LP_PE_QUEUES_MAX - 1 < LP_TRANSFER_PASSED >> LP_TRANSFER_QUEUE_SHIFT,
               "bits of flags");

static inline enum hw_port lp_port_of(const struct lp_transfer *transfer)
{
    return (enum hw_port)(transfer->port & ~LP_PORT_LATER);
}
static inline void lp_set_port(struct lp_transfer *transfer, enum hw_port port)
{
    transfer->port = (uint8_t)((transfer->port & LP_PORT_LATER) | port);
}
/* The port of a transfer that begins at this time, before it enters an LP. */
static inline uint8_t lp_port_from(const struct lp_model *m, int64_t begin_ps)
{
    return __builtin_expect(m->hw.later != NULL, 0) && begin_ps >= m->hw.later_ps ? LP_PORT_LATER
                                                                                  : 0;
}
/* The machine whose links and routes a transfer takes. */
static inline const struct hw_config *lp_routes_of(const struct lp_model *m,
                                                   const struct lp_transfer *transfer)
{
    return __builtin_expect(m->hw.later != NULL, 0) && (transfer->port & LP_PORT_LATER)
               ? m->hw.later
               : &m->hw;
}

/* hw_route_key(): of tiles and credits `dir` is a queue's, of others it has another meaning. */
static inline uint32_t lp_route_key(const struct lp_model *m, const struct lp_transfer *transfer)
{
    if (__builtin_expect(!m->hw.sip_topology->hashes, 1))
        return 0;
    const bool of_queue =
        transfer->kind == LP_TRANSFER_TILE || transfer->kind == LP_TRANSFER_CREDIT;
    return hw_route_key_of(transfer->src, transfer->dst, of_queue ? transfer->dir : HW_DIRS_MAX) |
           (transfer->flags & LP_TRANSFER_PASSED ? HW_ROUTE_KEY_PASSED : 0);
}
/* The transfer leaves this stop. */
static inline void lp_route_left(const struct lp_model *m, uint32_t stop,
                                 struct lp_transfer *transfer)
{
    if (__builtin_expect(m->hw.sip_topology->hashes, 0) &&
        (hw_route_key_at(lp_routes_of(m, transfer), stop, lp_route_key(m, transfer)) &
         HW_ROUTE_KEY_PASSED))
        transfer->flags |= LP_TRANSFER_PASSED;
}

/* The outlet by which a transfer leaves the SIP that it comes from. */
static inline uint32_t lp_outlet_of(const struct lp_model *m, const struct lp_transfer *transfer,
                                    uint32_t sip, uint32_t to_sip)
{
    return transfer->exit != HW_OUTLET_NONE
               ? transfer->exit
               : hw_route_exit(lp_routes_of(m, transfer), sip, to_sip, lp_route_key(m, transfer));
}

/* The SIP from which a switch sees what it sends on: the one that comes next, or, before another
 * switch, the destination. */
static inline uint32_t lp_sip_ahead(const struct lp_model *m, uint32_t stop, uint32_t to_sip,
                                    const struct lp_transfer *transfer)
{
    const struct hw_config *const hw = lp_routes_of(m, transfer);
    const uint32_t next =
        hw_hop(hw, stop, hw_route_exit(hw, stop, to_sip, lp_route_key(m, transfer))).to;
    return hw_is_switch(hw, next) ? to_sip : next;
}

struct lp_signal {
    uint32_t pe; /* in its cube */
    uint32_t arg;
    uint8_t dir;
    uint8_t context;
    uint8_t reserved[6];
};
_Static_assert(sizeof(struct lp_signal) == 16, "without padding");

/* A request at a memory, or (contention chunk) the moment the next piece is offered: of a load, of
 * a copy, of a send, a put or a raw store whose source is not TCM. Of a load_from from another
 * cube, or from a TCM: the request at the router of its own PE. */
struct lp_load {
    uint32_t pe, stamp;   /* stamp: the generation of the engine's grant */
    uint32_t bytes, sent; /* of the whole, and of its earlier pieces */
    uint32_t seq; /* of a put: its number; of a load_from: the place in the memory; else the seq of
                     its struct hw_dma_op */
    uint32_t order, peer;  /* of a put; peer: of a load_from too. With coarse tiles, of all but a
                              put: order has the tiles and, in its low half, the
                              rounds of its struct lp_coarse_op */
    uint8_t memory, slice; /* the source */
    uint8_t to;            /* memory: enum hw_memory */
    uint8_t kind;          /* enum lp_dma_kind */
    uint8_t owner;         /* context and move: LP_OWNER; of a tile: its direction */
    uint8_t flags;         /* of a put */
    uint8_t queue;         /* of the PE that runs its kernel */
    uint8_t later;         /* as of its struct hw_dma_op */
    uint32_t spread_ps; /* with coarse tiles, how long before the grant its head_ps was; else 0 */
};
_Static_assert(sizeof(struct lp_load) == 40, "without padding");

/* The context that waits for a move, and the move's index, in one byte. */
#define LP_OWNER(context, move) ((uint8_t)((context) << 4 | (move)))
#define LP_CONTEXT_OF(owner)    ((owner) >> 4)

#pragma GCC diagnostic pop

#endif
