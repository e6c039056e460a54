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

#include "lp/cause_entry.h"
#include "lp/model.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded" /* states, payloads and records have none */

enum { LP_CAUSE_STEPS = 8, LP_CAUSE_MORE_STEPS = 16, LP_CAUSE_LIST_MAX = 256 };

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

/*
 * Causes of an event that is final already (cw_is_final()) need not go through the engine: they are
 * kept at once, by the worker that runs the handler. All other causes are records. Those of one LP
 * come in the total order of its events either way. `account` is told of those that say how a PE
 * spends its time: lp_cause_counts().
 */
struct lp_cause_direct {
    struct lp_cause_writer **writer; /* [workers] */
    void (*account)(void *arg, const struct cw_event *event, const struct lp_sent *sent,
                    const uint32_t *steps);
    void (*waited)(void *arg, int64_t now_ps, const struct lp_waited *waited);
    void *arg;
};

/* Such events: a kernel's own time, its start and end, and bytes that pass the engine of PE_DMA.
 */
static inline bool lp_cause_counts(uint32_t by_type, uint32_t type)
{
    enum {
        BY = 1 << LP_EVENT_PE_CPU | 1 << LP_EVENT_ENGINE,
        SENT = 1 << LP_EVENT_KERNEL | 1 << LP_EVENT_MEMORY | 1 << LP_EVENT_CPU_ARRIVAL
    };
    return (BY >> by_type & 1) != 0 || (SENT >> type & 1) != 0;
}

/* ---- handlers, where the host asks ----------------------------------------------------------- */

static inline bool lp_traces_causes(const struct lp_model *m)
{
    return __builtin_expect(m->emit.causes, 0);
}

/* Waits alone are told to timelines, too. */
static inline bool lp_tells_waits(const struct lp_model *m)
{
    return __builtin_expect(m->emit.notes, 0);
}

/* Steps of one delay. One that has no room for more says less: the rest of the delay has no name.
 */
struct lp_cause_list {
    uint32_t count;
    uint32_t calls_at;        /* 1 + the place of the latest count of calls; 0: none */
    uint32_t bytes, sigma_ps; /* of the first flight of some bytes that has crossed a link */
    uint32_t step[LP_CAUSE_LIST_MAX];
};

/* The scratch of the handler that runs on this thread. */
struct lp_cause_notes {
    struct lp_cause_writer *writer; /* of this worker; NULL: the event is not final */
    struct lp_cause_list flight, stretch;
};
extern __thread struct lp_cause_notes lp_cause_notes;

static inline void lp_cause_forget(struct lp_cause_list *list)
{
    list->count = 0;
    list->calls_at = 0;
    list->bytes = 0;
    list->sigma_ps = 0;
}

/* A handler of an event of this LP begins: both lists are empty. The place of the LP's latest entry
 * is needed at the end: many LPs have had their turn since it was written. */
static inline void lp_causes_begin(struct cw_ctx *ctx, const struct lp_model *m, uint32_t lp)
{
    uint32_t worker;
    lp_cause_notes.writer = NULL;
    if (m->emit.direct != NULL && cw_is_final(ctx, &worker)) {
        lp_cause_notes.writer = m->emit.direct->writer[worker];
        __builtin_prefetch(&lp_cause_notes.writer->last[lp], 1);
    }
    lp_cause_forget(&lp_cause_notes.flight);
    lp_cause_forget(&lp_cause_notes.stretch);
}

static inline void lp_cause_link(uint32_t kind, uint32_t index, uint32_t node, uint32_t flags)
{
    struct lp_cause_list *const list = &lp_cause_notes.flight;
    if (list->count < LP_CAUSE_LIST_MAX)
        list->step[list->count++] =
            (index & 0xffff) |
            (node < HW_NODE_KINDS ? node : LP_STEP_NOTHING) << LP_STEP_NODE_SHIFT |
            (kind < HW_LINK_KINDS ? kind : LP_STEP_NOTHING) << LP_STEP_KIND_SHIFT | flags;
}

/* The flight has crossed a link of this LP to a node. `sigma_before_ps`: the serialisation that it
 * had paid before; `waited`: the link was not free. */
static inline void lp_cause_crossed(const struct hw_flight *flight, int64_t sigma_before_ps,
                                    bool waited, enum hw_link_kind kind, uint32_t index,
                                    enum hw_node_kind next)
{
    struct lp_cause_list *const list = &lp_cause_notes.flight;
    if (list->bytes == 0 && flight->bytes > 0) {
        list->bytes = flight->bytes;
        list->sigma_ps = sigma_before_ps < 0            ? 0
                         : sigma_before_ps > UINT32_MAX ? UINT32_MAX
                                                        : (uint32_t)sigma_before_ps;
    }
    lp_cause_link(kind, index, next,
                  (waited ? LP_STEP_WAITED : 0) | (flight->bytes == 0 ? LP_STEP_FREE : 0));
}

/* The flight goes over a link that it neither reserves nor pays serialisation for. */
static inline void lp_cause_pass(enum hw_link_kind kind, enum hw_node_kind next)
{
    lp_cause_link(kind, 0xffff, next, LP_STEP_FREE);
}

/* The way of 0 bytes between PE_DMA and a memory of the cube, over so many links between routers;
 * `node`: the memory's own, or HW_NODE_KINDS. */
void lp_cause_memory_way(uint32_t hops, enum hw_link_kind memory, enum hw_node_kind node);
/* The engine of PE_DMA passes so many bytes for the request that is noted. */
void lp_cause_passed(uint32_t bytes);
void lp_cause_flight_part(enum lp_cause_part part, int64_t ps);
void lp_cause_stretch_part(enum lp_cause_part part, int64_t ps);
void lp_cause_call(enum tl_issue issue);

/* An event is sent whose delay is the flight, the stretch, or neither: its type tells the reason
 * then. The list that was noted is empty afterwards. */
void lp_cause_flight_sent(struct cw_ctx *ctx, uint32_t to_lp, enum lp_event_type type,
                          struct lp_sender sender, int64_t at_ps);
void lp_cause_kernel_sent(struct cw_ctx *ctx, uint32_t to_lp, uint32_t context,
                          struct lp_sender sender, int64_t at_ps);
/* `bytes`: of a credit: the PE that it is for. */
void lp_cause_sent(struct cw_ctx *ctx, uint32_t to_lp, enum lp_event_type type,
                   struct lp_sender sender, int64_t at_ps, uint32_t bytes);
void lp_cause_waited(struct cw_ctx *ctx, const struct lp_waited *waited);

#endif
