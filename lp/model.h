/*
 * model.h: the hardware as logical processes: which LPs there are, what each one's state holds,
 * and the events between them. Shared by the files of lp/; the host side uses system.h, kernels
 * use tl.h.
 *
 * LPs: the host (LP 0), one per cube, one per IO die, one per switch. An LP's state is one block
 * of plain data: a fixed head, then its links, then (cubes) its PEs; struct lp_model says where.
 *
 * Sending entities (10-engine.md): the host is 0, PE p (global index) is p + 1. Every event of a
 * transfer carries its originator's entity and the transfer's number.
 */
#ifndef LP_MODEL_H
#define LP_MODEL_H

#include "core/cw.h"
#include "hw/dma.h"
#include "hw/route.h"
#include "hw/structure.h"
#include "hw/timing.h"
#include "lp/fabric/jitter_draw.h"
#include "lp/record.h"
#include "lp/kernel/tl.h"
#include "lp/queues/logical_wiring.h"

/* ---- parameters ----------------------------------------------------------------------------- */

/* How the queues are set up (30-ipcq.md); from ccl.yaml. */
struct lp_config {
    bool wire_all_pes;    /* else PE 0 of each cube only */
    enum hw_memory slots; /* where receive rings are: TCM, HBM or SRAM */
    bool poll;            /* back-pressure by polling, else asleep */
    bool credit_blocks;   /* a receive returns when its credit has been emitted */
    uint32_t n_slots, slot_bytes;
    uint32_t credit_bytes;
    uint32_t vc_chunk_bytes;
    uint32_t vc_weight[HW_VCS];
    uint32_t pair[2];               /* the PEs joined by direction `peer`; equal: none */
    const struct lp_wiring *wiring; /* a logical topology; NULL: as the machine is built */
    uint32_t contexts;    /* of a PE, up to TL_CONTEXTS_MAX: what the kernels need; 0 is 1 */
    uint32_t peers;       /* most PEs with which one exchanges puts and notifies; 0: none */
    bool single_vc;       /* PE_DMA has one channel, for both kinds of work */
    bool credit_fabric;   /* credits go through vc_comm instead of wires of their own */
    bool fairness_strict; /* recv_any serves the direction served least recently */
};

/* A kernel launch, as the host has prepared it: const while the engine runs. */
struct lp_launch {
    const struct tl_kernel *kernel;
    struct tl_args args;
    uint32_t batch; /* launches of one collective; links count what they carry by it */
};

/* Overheads at the start of a call (20-hardware.md, the paragraph after the table of blocks). */
enum tl_issue {
    ISSUE_FREE,
    ISSUE_CPU,     /* pe_cpu */
    ISSUE_IPCQ,    /* pe_cpu + pe_ipcq */
    ISSUE_MEMORY,  /* pe_cpu + pe_scheduler + pe_mmu */
    ISSUE_COMPUTE, /* pe_cpu + pe_scheduler: part of what it takes */
    ISSUES
};

/* Model data: const while the engine runs; the host adds launches between drains. */
struct lp_model {
    struct hw_config hw;
    struct lp_config config;
    struct hw_dma_params dma;
    uint32_t cubes, pes; /* per SIP, per cube */
    uint32_t switch_count;
    uint32_t lp_count;
    uint32_t first_io_die, first_switch; /* LP ids; cube LPs start at 1 */

    /* where things are in a cube's state: links first, then PEs */
    uint32_t link_noc, link_in, link_out, link_ucie, link_m_cpu, link_sram, link_pe;
    uint32_t cube_links;
    uint32_t link_reduce; /* one per PE, if there are puts: the reduce unit behind its memories */
    size_t pe_offset, pe_bytes, cube_bytes;
    size_t context_offset, one_sided_offset; /* in a PE's part */
    /* in an IO die's state */
    uint32_t link_hub_in, link_hub_out, link_outer, link_io_cpu, link_pcie, link_edge[HW_PORTS];
    uint32_t io_links;

    uint8_t port_router[HW_PORTS]; /* NoC router of each UCIe port */
    uint8_t centre_router;
    uint8_t pe_router[64];
    /* of queues as the machine is built; those of a logical topology are in config.wiring */
    int64_t *credit_ps;  /* [cube][pe][dir]: T(path to the sender's PE_DMA, credit), all SIPs */
    uint8_t *ring_index; /* [cube][pe][dir]: place of the receive ring among the PE's */
    uint32_t rings_max;  /* most receive rings that one PE has */
    int64_t pair_credit_ps[2];

    int64_t issue_ps[ISSUES]; /* [enum tl_issue] without jitter */
    bool emit_ops;            /* somebody wants the records of data operations */
    bool emit_arrivals;       /* ... and those of tiles that become visible */
    struct lp_launch *launches;
    uint32_t launch_count;
};

/* ---- state ---------------------------------------------------------------------------------- */

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded" /* states, payloads and records have none */

/* One direction's queue pair (30-ipcq.md). The peer and its addresses are computed. */
struct lp_queue {
    uint32_t my_head;         /* next tile to send */
    uint32_t my_tail;         /* next tile to receive */
    uint32_t peer_head_cache; /* the peer's head as last seen */
    uint32_t peer_tail_cache; /* the peer's tail as last seen */
    uint64_t early; /* tiles that have come before their turn: bit i is peer_head_cache + 1 + i */
};

/* Why a kernel does not run. */
enum lp_wait {
    LP_WAIT_NONE,    /* no kernel, or one whose next event is on its way */
    LP_WAIT_DATA,    /* recv on an empty queue */
    LP_WAIT_CREDIT,  /* send on a full ring */
    LP_WAIT_CHANNEL, /* PE_DMA's channel is full */
    LP_WAIT_DMA,     /* a load, a store or a copy is under way */
    LP_WAIT_NOTIFY,  /* wait_notify */
    LP_WAIT_JOIN,    /* for the contexts it has forked */
    LP_WAIT_BARRIER, /* for the other contexts of its PE */
    LP_WAIT_START,   /* for its turn in this event: just forked, or let go on by another context */
};

/* What the kernel asked for last: an operation that is carried out step by step (tl_call.h). */
struct lp_call {
    uint8_t kind; /* enum tl_call_kind */
    uint8_t step; /* enum tl_step: where it is */
    uint8_t dir, math, dtype, memory, slice;
    uint8_t operand; /* next operand to load from a slot, 0 or 1 */
    uint32_t bytes;
    uint32_t tile;  /* next tile of that operand */
    uint16_t dirs;  /* of a receive: the directions that it still takes a tile from */
    uint8_t move;   /* of a load, store, copy: which struct lp_move */
    uint8_t tag;    /* of a notification; of a fork: the streams */
    uint32_t peer;  /* global index; of dot: its inner dimension */
    uint32_t rows;  /* of dot */
    uint8_t waited; /* enum lp_wait: for what it has waited last */
    uint8_t reserved[3];
    int64_t start_ps;
    int64_t until_ps; /* recv_all: when the last credit so far has been emitted */
    struct lp_operand a, b, dst;
};

/* A kernel under way, or one of its streams: what a context of a PE runs. */
struct lp_kernel {
    uint32_t launch;       /* index + 1 in the launch table; 0: the context is free */
    uint8_t stream;        /* 0: the kernel itself, else it runs stream[stream - 1] */
    uint8_t wait;          /* enum lp_wait */
    uint8_t wait_vc;       /* LP_WAIT_CHANNEL: which one (enum hw_vc) */
    uint8_t received_dir;  /* of the tile that the last receive returned */
    uint32_t received_seq; /* and its number */
    uint32_t calls;        /* made so far: numbers the current one */
    int64_t wait_ps;       /* since when it waits (polling counts from there) */
    struct lp_call call;
    _Alignas(8) uint8_t frame[TL_FRAME_BYTES];
};

/* A load, store or copy under way: number 0 is the one that its context waits for, the others
 * are asynchronous. */
struct lp_move {
    int64_t done_ps; /* of a load: when the last part so far is done */
    uint8_t parts;   /* of a load: 1 the response is known, 2 the engine has passed it */
    uint8_t state;   /* enum lp_move_state */
    uint8_t reserved[6];
};
enum lp_move_state { LP_MOVE_FREE, LP_MOVE_UNDER_WAY, LP_MOVE_DONE };
enum { LP_MOVES = 1 + TL_HANDLES };

struct lp_context {
    struct lp_kernel kernel;
    struct lp_move move[LP_MOVES];
};

/* What a PE knows of one with which it exchanges puts and notifications (one_sided.c). */
struct lp_peer {
    uint32_t pe;               /* global index + 1; 0: the place is free */
    uint32_t sent;             /* puts and notifications to it that have passed the engine */
    uint32_t seen;             /* of those from it that have become visible */
    uint32_t pending[TL_TAGS]; /* of its notifications, by tag: not yet consumed */
};

/* A put or a notification that has come before its turn, and alike ones that follow it. */
struct lp_early {
    uint32_t src, order, seq; /* of the first: number among its sender's, number as a put */
    uint32_t count;
    uint8_t kind; /* enum lp_transfer_kind */
    uint8_t tag;
    uint8_t reserved[2];
};
enum { LP_EARLY_PER_PEER = 8 };

/* The one-sided part of a PE; there only if lp_config.peers says so. Behind the peers are the
 * places for what comes early, LP_EARLY_PER_PEER for each. */
struct lp_one_sided {
    uint32_t puts_issued, puts_passed; /* by the kernel, and by the engine */
    uint32_t notifies_issued;
    uint32_t early_count;
    struct lp_peer peer[]; /* [lp_config.peers], found by hashing */
};

/* A grant that was taken back at the instant it was made: its request to a memory is void. */
struct lp_void_grant {
    int64_t until_ps; /* when the void request gets there */
    uint32_t generation;
    uint32_t reserved;
};
enum { LP_VOID_GRANTS = 2 };

struct lp_pe {
    struct lp_queue queue[HW_DIRS_MAX];
    struct hw_dma dma;
    uint32_t next_number; /* of this entity's events */
    uint32_t epoch;       /* batch of the last launch: its transfers are counted under it */
    uint16_t installed;   /* directions, one bit each */
    uint8_t wired;        /* an IpcqInitMsg has taken effect */
    uint8_t last_polled;  /* recv from any direction starts after this one */
    uint8_t reserved[4];
    uint64_t served; /* strict fairness: directions, least recently served first, 4 bits each */
    struct lp_void_grant void_grant[LP_VOID_GRANTS];
    struct hw_dma_op op[]; /* [HW_VCS][queue_depth]; then the contexts; then struct lp_one_sided */
};

/* Links of a PE, in its part of the cube's link array. */
enum { LP_LINK_OUT, LP_LINK_IN, LP_LINK_TCM, LP_LINK_HBM_IN, LP_LINK_HBM_OUT, LP_PE_LINKS };

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

struct lp_host {
    uint64_t acknowledged; /* acknowledgements and completions that have arrived */
};

static inline const struct lp_pe *lp_pe(const struct lp_model *m, const struct lp_cube *cube,
                                        uint32_t pe)
{
    return (const struct lp_pe *)((const uint8_t *)cube + m->pe_offset + pe * m->pe_bytes);
}
static inline const struct lp_context *lp_context(const struct lp_model *m, const struct lp_pe *pe,
                                                  uint32_t context)
{
    return (const struct lp_context *)((const uint8_t *)pe + m->context_offset) + context;
}
static inline const struct lp_one_sided *lp_one_sided(const struct lp_model *m,
                                                      const struct lp_pe *pe)
{
    return (const struct lp_one_sided *)((const uint8_t *)pe + m->one_sided_offset);
}
static inline const struct lp_early *lp_early(const struct lp_model *m,
                                              const struct lp_one_sided *own)
{
    return (const struct lp_early *)&own->peer[m->config.peers];
}

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
    LP_EVENT_KERNEL,       /* struct lp_signal: the kernel goes on */
    LP_EVENT_LAND,         /* struct lp_transfer: a put or a notification is complete */
};

enum lp_transfer_kind {
    LP_TRANSFER_TILE = 1,  /* an IPCQ send */
    LP_TRANSFER_INIT,      /* control: IpcqInitMsg */
    LP_TRANSFER_LAUNCH,    /* control: KernelLaunchMsg; seq = launch index */
    LP_TRANSFER_ACK,       /* control, to the host: an install, map or write has taken effect */
    LP_TRANSFER_DONE,      /* control, to the host: a kernel has ended; seq = launch index */
    LP_TRANSFER_PUT,       /* seq: number of the put */
    LP_TRANSFER_NOTIFY,    /* dir: its tag; seq: number of the notification */
    LP_TRANSFER_CREDIT,    /* credit_fabric; seq: the receiver's new tail */
    LP_TRANSFER_STORE,     /* a store into another PE's memory */
    LP_TRANSFER_STORE_ACK, /* and its acknowledgement; seq: of the storing PE, context and move */
    LP_TRANSFER_MAP,       /* control: MmuMapMsg */
    LP_TRANSFER_WRITE      /* control: MemoryWriteMsg, its data with it */
};
enum { LP_TRANSFER_LAST = 1 };   /* flag: the last chunk, or the whole, of its transfer */
enum { LP_TRANSFER_REDUCE = 2 }; /* flag: a put_reduce */

/* A transfer between two LPs; the event's time is its tail's. 40 bytes. */
struct lp_transfer {
    int64_t sigma_ps;
    uint32_t src, dst; /* PEs, global index; dst of what goes to the host: the PE it comes from */
    uint32_t bytes, seq, epoch;
    uint8_t kind; /* enum lp_transfer_kind */
    uint8_t flags;
    uint8_t dir;    /* the queue's direction at the destination */
    uint8_t memory; /* enum hw_memory at the destination */
    uint8_t port;   /* by which it enters the LP */
    uint8_t exit;   /* port by which it must leave the first SIP, or HW_PORT_NONE */
    uint8_t reserved[2];
    uint32_t order; /* puts and notifications: number among those from src to dst */
};
_Static_assert(sizeof(struct lp_transfer) == 40, "72 bytes with the event's header");

struct lp_signal {
    uint32_t pe; /* in its cube */
    uint32_t arg;
    uint8_t dir;
    uint8_t context;
    uint8_t reserved[6];
};
_Static_assert(sizeof(struct lp_signal) == 16, "without padding");

/* A request at a memory, or (contention chunk) the moment the next piece is offered: of a load, of
 * a copy, of a put whose source is not TCM. */
struct lp_load {
    uint32_t pe, stamp;        /* stamp: the generation of the engine's grant */
    uint32_t bytes, sent;      /* of it all, and of it in earlier pieces */
    uint32_t seq, order, peer; /* of a put */
    uint8_t memory, slice;     /* where it comes from */
    uint8_t to;                /* memory: enum hw_memory */
    uint8_t kind;              /* enum lp_dma_kind */
    uint8_t owner;             /* context and move: LP_OWNER */
    uint8_t flags;             /* of a put */
    uint8_t reserved[6];
};
_Static_assert(sizeof(struct lp_load) == 40, "without padding");

/* Who waits for a move, in one byte. */
#define LP_OWNER(context, move) ((uint8_t)((context) << 4 | (move)))

/* What a kernel leaves outside: its start, its end, its phase marks. */
enum lp_mark { LP_MARK_START = 1, LP_MARK_END, LP_MARK_PHASE };
struct lp_kernel_record {
    int64_t t_ps;
    uint32_t pe, launch;
    uint32_t mark;  /* enum lp_mark */
    uint32_t phase; /* index in the kernel's phase names: the phase that begins */
};
struct lp_host_record {
    int64_t t_ps;
    uint32_t pe, launch; /* launch: of a completion */
    uint32_t kind;       /* LP_TRANSFER_ACK or LP_TRANSFER_DONE */
    uint32_t reserved;
};

#pragma GCC diagnostic pop

/* ---- one handler call ----------------------------------------------------------------------- */

/* What a cube's handler carries around. */
struct lp_run {
    struct cw_ctx *ctx;
    const struct lp_model *m;
    const struct lp_cube *cube;
    uint32_t lp, sip, cube_in_sip;
};

/* LP kinds: one file and one table each. `handle` as in struct cw_model; runs speculatively. */
struct lp_ops {
    const char *name;
    size_t (*state_bytes)(const struct lp_model *m);
    void (*init)(const struct lp_model *m, uint32_t lp, void *state);
    void (*handle)(struct cw_ctx *ctx, const void *state, const struct cw_event *event);
};
extern const struct lp_ops lp_host_ops, lp_cube_ops, lp_io_die_ops, lp_switch_ops;
const struct lp_ops *lp_ops_of(const struct lp_model *m, uint32_t lp);

static inline uint32_t lp_of_cube(const struct lp_model *m, uint32_t sip, uint32_t cube)
{
    return 1 + sip * m->cubes + cube;
}
static inline uint32_t lp_of_io_die(const struct lp_model *m, uint32_t sip)
{
    return m->first_io_die + sip;
}
static inline uint32_t lp_entity(uint32_t pe_index) { return pe_index + 1; }

/* An event's payload as a T; fails the event if its size is another. */
#define LP_PAYLOAD(ctx, event, T) ((const T *)lp_payload((ctx), (event), (uint16_t)sizeof(T)))
static inline const void *lp_payload(struct cw_ctx *ctx, const struct cw_event *event,
                                     uint16_t bytes)
{
    cw_check(ctx, event->payload_bytes == bytes);
    return event->payload;
}

/* A link of the LP's state, mutable, or NULL where this flight reserves nothing. */
static inline struct hw_link *lp_link(struct cw_ctx *ctx, const struct lp_model *m,
                                      const struct hw_link *link, const struct hw_flight *flight)
{
    if (m->hw.contention == HW_CONTENTION_NONE || flight->bytes == 0)
        return NULL;
    return CW_MUT(ctx, link);
}

/* Who sent an event: its entity and that entity's number for it. */
struct lp_sender {
    uint32_t entity;
    uint64_t number;
};
static inline struct lp_sender lp_sender_of(const struct cw_event *event)
{
    return (struct lp_sender){event->entity, event->number};
}

/* Sends a transfer on, to be at `to_lp` at flight->tau_ps. */
void lp_forward(struct cw_ctx *ctx, uint32_t to_lp, enum lp_event_type type,
                struct lp_sender sender, const struct lp_transfer *transfer,
                const struct hw_flight *flight);
/* Sends a signal, which is put together in registers: a load of whole words right behind stores of
 * their parts would wait until those have reached the cache. */
static inline void lp_send_signal(struct cw_ctx *ctx, uint32_t to_lp, int64_t delay_ps,
                                  enum lp_event_type type, struct lp_sender sender,
                                  const struct lp_signal *signal)
{
    const uint64_t words[2] = {(uint64_t)signal->arg << 32 | signal->pe,
                               (uint64_t)signal->context << 8 | signal->dir};
    cw_send(ctx, to_lp, delay_ps, (uint16_t)type, sender.entity, sender.number, words,
            sizeof words);
}
static inline bool lp_to_host(const struct lp_transfer *transfer)
{
    return transfer->kind == LP_TRANSFER_ACK || transfer->kind == LP_TRANSFER_DONE;
}
static inline bool lp_is_control(const struct lp_transfer *transfer)
{
    return (transfer->kind >= LP_TRANSFER_INIT && transfer->kind <= LP_TRANSFER_DONE) ||
           transfer->kind >= LP_TRANSFER_MAP;
}
static inline struct hw_flight lp_flight(struct cw_ctx *ctx, const struct lp_transfer *transfer)
{
    const bool last = lp_is_control(transfer) || (transfer->flags & LP_TRANSFER_LAST);
    return (struct hw_flight){cw_now(ctx), transfer->sigma_ps, transfer->bytes, transfer->epoch,
                              lp_piece(ctx->event->entity, ctx->event->number, last)};
}

/* ---- fabric.c: links inside a cube ----------------------------------------------------------- */

/* The next number of a PE's own events. */
struct lp_sender lp_next_sender(struct lp_run *run, uint32_t pe);
static inline uint32_t lp_pe_index(const struct lp_run *run, uint32_t pe)
{
    return (run->sip * run->m->cubes + run->cube_in_sip) * run->m->pes + pe;
}
/* What jitter adds to the flight on link number `index` of this cube. */
int64_t lp_late_ps(const struct lp_run *run, const struct hw_flight *flight, enum hw_link_kind kind,
                   uint32_t index);
/* Crosses link number `index` of this cube, to a node of kind `next`. */
void lp_cross(struct lp_run *run, struct hw_flight *flight, enum hw_link_kind kind, uint32_t index,
              enum hw_node_kind next);
void lp_cross_noc(struct lp_run *run, struct hw_flight *flight, uint32_t from, uint32_t to);
/* Data, or what concerns it, reaches its destination's router: on to the PE's queue or memory. */
void lp_data_arrived(struct lp_run *run, struct lp_sender sender, struct hw_flight *flight,
                     const struct lp_transfer *transfer, uint32_t router);
/* router -> pe_dma or pe_cpu; and the memory leg of an arriving tile: pe_dma -> memory. */
void lp_cross_pe_in(struct lp_run *run, struct hw_flight *flight, uint32_t pe,
                    enum hw_node_kind node);
void lp_cross_pe_out(struct lp_run *run, struct hw_flight *flight, uint32_t pe);
/* router -> memory; `pe` names the HBM slice. */
void lp_cross_to_memory(struct lp_run *run, struct hw_flight *flight, uint32_t router,
                        enum hw_memory memory, uint32_t pe);
/* memory -> router; returns when the tail has left the memory's own link, the first. */
int64_t lp_cross_from_memory(struct lp_run *run, struct hw_flight *flight, uint32_t router,
                             enum hw_memory memory, uint32_t pe);
void lp_cross_tcm(struct lp_run *run, struct hw_flight *flight, uint32_t pe);
void lp_cross_m_cpu(struct lp_run *run, struct hw_flight *flight, bool to_m_cpu);
/* From `router` to wherever the transfer goes: its PE in this cube, or out of the cube, by a port
 * that is noted in it. */
void lp_route_on(struct lp_run *run, struct lp_sender sender, struct hw_flight *flight,
                 struct lp_transfer *transfer, uint32_t router);
/* Time of 0 bytes between PE_DMA and a memory of its cube, without the two ends' overheads. */
int64_t lp_memory_way_ps(const struct lp_model *m, uint32_t pe, enum hw_memory memory,
                         uint32_t slice);
enum hw_link_kind lp_memory_link(enum hw_memory memory);
enum hw_node_kind lp_memory_node(enum hw_memory memory);

/* ---- pe_dma.c -------------------------------------------------------------------------------- */

/*
 * What an operation in a channel is, and what its other fields then say:
 *   TILE      dir: the queue's; seq: the tile's number
 *   LOAD      memory, slice: the source; dir: owner (LP_OWNER). To the PE's TCM
 *   STORE     memory, slice: the destination; dir: owner
 *   COPY      memory: source | destination << 4; slice: of both; dir: owner
 *   PUT       seq: the peer; memory: source | destination << 4; dir: enum lp_math, 0: plain
 *   NOTIFY    seq: the peer; dir: the tag
 *   CREDIT    dir: the queue's; seq: the new tail
 *   STORE_TO  seq: the peer; memory: the destination; dir: owner
 */
enum lp_dma_kind {
    LP_DMA_TILE = 1,
    LP_DMA_LOAD,
    LP_DMA_STORE,
    LP_DMA_COPY,
    LP_DMA_PUT,
    LP_DMA_NOTIFY,
    LP_DMA_CREDIT,
    LP_DMA_STORE_TO
};
enum { LP_NOTIFY_BYTES = 16 }; /* 30-ipcq.md, "Kernel API" */

/* The channel that a kind of work uses: the one there is, with vc: single. */
static inline enum hw_vc lp_vc(const struct lp_model *m, enum hw_vc vc)
{
    return m->config.single_vc ? HW_VC_COMPUTE : vc;
}
bool lp_dma_has_room(const struct lp_run *run, uint32_t pe, enum hw_vc vc);

/* Puts an operation into a channel that has room. */
void lp_dma_push(struct lp_run *run, uint32_t pe, enum hw_vc vc, struct hw_dma_op op);
void lp_dma_engine(struct lp_run *run, uint32_t pe, uint32_t generation);
void lp_dma_memory(struct lp_run *run, const struct cw_event *event, struct lp_load load);
/* A load, store or copy of a PE of this cube will be complete at `at_ps`. */
void lp_dma_done(struct lp_run *run, struct lp_sender sender, int64_t at_ps, uint32_t pe,
                 uint8_t owner);

/* ---- queue_ends.c
 * -------------------------------------------------------------------------------- */

/* The other end of a PE's queue: the PE's global index, and its direction there. */
bool lp_queue_peer(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir, uint32_t *peer,
                   enum hw_dir *peer_dir);
/* Port by which what a PE sends in a direction must leave its SIP, or HW_PORT_NONE: as routed. */
enum hw_port lp_queue_exit(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir);
/* A logical topology may have queues that only send or only receive. */
bool lp_queue_goes(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir, bool sending);
/* What a PE calls a direction. */
const char *lp_dir_name(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir);
/* The direction that a PE calls so; HW_DIRS_MAX: none is installed there under this name. */
enum hw_dir lp_dir_named(const struct lp_model *m, uint32_t pe_index, const char *name);
/* The other end of a queue as a sender sees it (30-ipcq.md, "Queue pair"). */
struct lp_endpoint {
    struct hw_place place;
    enum hw_memory buffer_kind;
    uint64_t rx_base_pa;     /* of its receive ring, packed (phys_addr.h) */
    uint32_t rx_base_offset; /* the same, in that memory */
    uint32_t n_slots, slot_size;
};
/* The receive ring of a PE's direction, `pe` being its global index. */
struct lp_endpoint lp_endpoint_of(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir);
/* Directions that an IpcqInitMsg installs on this PE, one bit each. */
uint16_t lp_directions(const struct lp_model *m, uint32_t pe_index);
bool lp_is_wired(const struct lp_model *m, uint32_t pe_index); /* gets an IpcqInitMsg */
/* How long a credit takes from this PE to the sender of its queue. */
int64_t lp_credit_ps(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir);
/* Computes the tables of credits and rings. False: out of memory. */
bool lp_queues_init(struct lp_model *m);
void lp_queues_free(struct lp_model *m);

/* ---- ipcq.c ---------------------------------------------------------------------------------- */

void lp_ipcq_install(struct lp_run *run, uint32_t pe);
void lp_ipcq_visible(struct lp_run *run, const struct lp_transfer *transfer);
void lp_ipcq_credit(struct lp_run *run, const struct lp_signal *signal);
/* Receives the first tile of a queue: my_tail += 1, the credit leaves. Returns how long its
 * emission takes. With credit_fabric it needs room in vc_comm. */
int64_t lp_ipcq_consume(struct lp_run *run, uint32_t pe, enum hw_dir dir);

/* ---- one_sided.c ----------------------------------------------------------------------------- */

/* The place of a peer, which this PE may not have met yet. */
const struct lp_peer *lp_peer_of(struct lp_run *run, uint32_t pe, uint32_t peer);
/* A put's or a notification's last byte is at its destination. */
void lp_one_sided_land(struct lp_run *run, const struct lp_transfer *transfer);

/* ---- tl.c ------------------------------------------------------------------------------------ */

void tl_launch(struct lp_run *run, uint32_t pe, uint32_t launch);
/* What the kernel in this context waited for has come: it goes on. */
void tl_resume(struct lp_run *run, uint32_t pe, uint32_t context);
/*
 * Something that contexts wait for has come: LP_WAIT_DATA or LP_WAIT_CREDIT of direction `which`,
 * LP_WAIT_NOTIFY from `peer` with tag `which`. Each of them looks, the one that has waited longest
 * first, now or at its next poll; who finds nothing left goes on waiting.
 */
void tl_arrived(struct lp_run *run, uint32_t pe, enum lp_wait wait, uint32_t which, uint32_t peer);
/* A move is complete. */
void tl_move_done(struct lp_run *run, uint32_t pe, uint32_t context, uint32_t move);
/* A place in a channel has become free: the call that waits longest for one takes it. If it then
 * waits for something else, the next does. */
void tl_channel_freed(struct lp_run *run, uint32_t pe, enum hw_vc vc);
/* ---- cube.c ---------------------------------------------------------------------------------- */

/* A message from a PE to the host, issued now by its pe_cpu. */
void lp_send_to_host(struct lp_run *run, uint32_t pe, enum lp_transfer_kind kind, uint32_t launch);

#endif
