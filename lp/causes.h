/*
 * causes.h: why each event of the machine comes when it comes. When the host asks for it
 * (lp_emitted.causes), handlers emit one record for each event that they send: the event, and the
 * steps that its delay is made of. A commit record leaves the simulation only with its event, so
 * the records are the same for any number of threads. bench/explain walks through them.
 *
 * A handler notes the steps on its thread while it computes the delay, and emits them with the
 * send. Two lists are noted at a time, since a kernel's own time and the way of a transfer are
 * computed side by side:
 *   the flight   the way of one transfer: links, nodes, memories
 *   the stretch  the time that a kernel spends for itself, from this event on
 * The lists are scratch of one call of a handler: they begin empty with each event, no other thread
 * sees them, and nothing but records is made of them. So they need no undo.
 *
 * Some records stand for no event: the last part of a load or a copy that was known earlier than
 * the other part (type LP_EVENT_DMA_DONE), and a piece of a transfer that ends on its way (type 0).
 *
 * Without the question nothing here is called.
 */
#ifndef LP_CAUSES_H
#define LP_CAUSES_H

#include "lp/model.h"

/*
 * A step is one word, or two:
 *   a link  bits 0 to 15 its number in the LP's state, 16 to 20 the node behind it, 21 to 25 its
 *           kind, 26 it was waited for, 27 it costs no serialisation
 *   a part  bit 31, bits 24 to 30 enum lp_cause_part, bits 0 to 7 the high bits of its time in ps;
 *           the low 32 bits are the next word
 *   calls   bit 31, part LP_PART_CALLS, and how often each kind of overhead was paid: 6 bits each
 *           for ISSUE_CPU, ISSUE_IPCQ, ISSUE_MEMORY, ISSUE_COMPUTE, from bit 0 on
 */
enum {
    LP_STEP_NODE_SHIFT = 16,
    LP_STEP_KIND_SHIFT = 21,
    LP_STEP_WAITED = 1 << 26,
    LP_STEP_FREE = 1 << 27,
    LP_STEP_NOTHING = 31, /* as a node: none; as a kind: the reduce unit */
    LP_STEP_PART_SHIFT = 24,
    LP_STEP_CALLS_BITS = 6
};
#define LP_STEP_PART (1u << 31)

/* The parts of a delay that are not the crossing of a link. */
enum lp_cause_part {
    LP_PART_CALLS,   /* overheads of calls: counts, see above */
    LP_PART_CPU,     /* pe_cpu outside of calls */
    LP_PART_FETCH,   /* PE_FETCH_STORE */
    LP_PART_MATH,    /* PE_MATH */
    LP_PART_GEMM,    /* PE_GEMM */
    LP_PART_CREDIT,  /* a receive waits until its credit is out */
    LP_PART_SLOT,    /* a tile's write into its slot, or its read there */
    LP_PART_POLL,    /* until the next look of a kernel that polls */
    LP_PART_STATIC,  /* launch_static_ns */
    LP_PART_DMA,     /* pe_dma's overhead, on the way out */
    LP_PART_SER_HBM, /* serialisation out of the memory, where a response starts */
    LP_PART_SER_SRAM,
    LP_PART_SER_TCM,
    LP_PART_WIRE,     /* pe_ipcq.wire_ns */
    LP_PART_SERVER,   /* m_cpu or io_cpu: its service, and the wait for it */
    LP_PART_TOGETHER, /* launch_together: until the common start */
    LP_PARTS
};

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded" /* states, payloads and records have none */

enum { LP_CAUSE_STEPS = 8, LP_CAUSE_MORE_STEPS = 16 };

/* An event that was sent. */
struct lp_sent {
    int64_t at_ps; /* its time */
    uint32_t entity,
        number; /* its sender as the total order names it; the low bits of its number */
    uint32_t to_lp;
    uint32_t bytes;    /* of a flight; of LP_EVENT_MEMORY: that the engine passes for it */
    uint32_t sigma_ps; /* of a flight: paid before this handler; saturates */
    uint8_t type;      /* enum lp_event_type; 0: a piece that ends here */
    uint8_t context;   /* of LP_EVENT_KERNEL */
    uint16_t count;    /* of steps */
};

/* LP_RECORD_CAUSE: an event that was sent. Longer lists begin in LP_RECORD_CAUSE_MORE records of
 * LP_CAUSE_MORE_STEPS steps each, right before it. */
struct lp_cause {
    struct lp_sent sent; /* its count: of `step` */
    uint32_t step[LP_CAUSE_STEPS];
};
_Static_assert(sizeof(struct lp_cause) == 64, "a record is at most 64 bytes, without padding");

/* LP_RECORD_WAITED: a kernel that has waited looks again, now. A kernel that looks in vain goes on
 * waiting since the same time. */
struct lp_waited {
    int64_t since_ps;
    uint32_t pe;  /* global index */
    uint8_t wait; /* enum lp_wait */
    uint8_t context;
    uint8_t dir;  /* of data, credits: the direction; of notifications: the tag */
    uint8_t call; /* enum tl_call_kind */
};
#pragma GCC diagnostic pop

/* A step's fields. */
static inline bool lp_step_is_part(uint32_t step) { return (step & LP_STEP_PART) != 0; }
static inline uint32_t lp_step_index(uint32_t step) { return step & 0xffff; }
static inline uint32_t lp_step_node(uint32_t step) { return step >> LP_STEP_NODE_SHIFT & 31; }
static inline uint32_t lp_step_kind(uint32_t step) { return step >> LP_STEP_KIND_SHIFT & 31; }
static inline enum lp_cause_part lp_step_part(uint32_t step)
{
    return (enum lp_cause_part)(step >> LP_STEP_PART_SHIFT & 127);
}

/*
 * On one thread, where nothing is undone, causes need not go through the engine: the receiver is
 * called at once. The steps are valid during the call. Events come in the total order.
 */
struct lp_cause_direct {
    void (*sent)(void *arg, const struct cw_event *event, const struct lp_sent *sent,
                 const uint32_t *steps);
    void (*waited)(void *arg, const struct cw_event *event, const struct lp_waited *waited);
    void *arg;
};

/* ---- handlers, where the host asks ----------------------------------------------------------- */

static inline bool lp_traces_causes(const struct lp_model *m)
{
    return __builtin_expect(m->emit.causes, 0);
}

/* Waits alone are told to timelines, too (lp_emitted.waits). */
static inline bool lp_tells_waits(const struct lp_model *m)
{
    return __builtin_expect(m->emit.waits, 0);
}

/* An event's handler begins: both lists are empty. */
void lp_causes_begin(void);

/* The flight: it crosses a link of this LP to a node. Call it before the crossing; `link` is NULL
 * where nothing is reserved. */
void lp_cause_cross(const struct hw_flight *flight, const struct hw_link_class *link_class,
                    const struct hw_link *link, enum hw_link_kind kind, uint32_t index,
                    enum hw_node_kind next);
/* The same after the crossing, where the caller has found out whether the flight waited. */
void lp_cause_crossed(const struct hw_flight *flight, int64_t sigma_before_ps, bool waited,
                      enum hw_link_kind kind, uint32_t index, enum hw_node_kind next);
/* The flight goes over a link that it neither reserves nor pays serialisation for. */
void lp_cause_pass(enum hw_link_kind kind, enum hw_node_kind next);
/* The way of 0 bytes between PE_DMA and a memory of the cube, over so many links between routers;
 * `node`: the memory's own, or HW_NODE_KINDS. */
void lp_cause_memory_way(uint32_t hops, enum hw_link_kind memory, enum hw_node_kind node);
/* The engine of PE_DMA passes so many bytes for the request that is noted. */
void lp_cause_passed(uint32_t bytes);
void lp_cause_flight_part(enum lp_cause_part part, int64_t ps);
void lp_cause_stretch_part(enum lp_cause_part part, int64_t ps);
void lp_cause_call(enum tl_issue issue);

/* An event is sent whose delay is the flight, the stretch, or neither: its type tells the reason
 * then. The members of a flight are filled in. The list that was noted is empty afterwards. */
void lp_cause_flight_sent(struct cw_ctx *ctx, struct lp_sent sent);
void lp_cause_kernel_sent(struct cw_ctx *ctx, struct lp_sent sent);
void lp_cause_sent(struct cw_ctx *ctx, struct lp_sent sent);
void lp_cause_waited(struct cw_ctx *ctx, const struct lp_waited *waited);

#endif
