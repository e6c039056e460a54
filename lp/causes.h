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
 * Some records belong to no event: the last part of a load or a copy that was known earlier than
 * the other part (type LP_EVENT_DMA_DONE), a piece of a transfer that ends on its way (type 0), and
 * the start of a kernel that has waited for its PE (type 0; it names the launch message, and its
 * step is LP_PART_PE).
 *
 * If the host does not ask, nothing here is called.
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

/* LP_RECORD_WAITED: a kernel that has waited looks again, now. A kernel that looks in vain
 * continues to wait since the same time. Or a kernel begins (LP_WAIT_PE), which may not have
 * waited, on a machine where kernels may wait for their PE. */
struct lp_waited {
    int64_t since_ps;
    uint32_t pe;  /* global index */
    uint8_t wait; /* enum lp_wait */
    uint8_t context;
    uint8_t dir;            /* of data, credits: the direction; of notifications: the tag; of a
                               kernel that begins: how many contexts are its, from `context` on */
    uint8_t call;           /* enum tl_call_kind */
    uint32_t launch, batch; /* of the kernel */
};
#pragma GCC diagnostic pop

/*
 * Causes of an event that is final already (cw_is_final()) need not go through the engine: they are
 * kept at once, by the worker that runs the handler. All other causes are records. The causes of
 * one LP come in the total order of its events either way. The functions get the causes that say
 * how a PE spends its time. Arguments go in registers (lp_cause_write()).
 */
struct lp_cause_direct {
    struct lp_cause_writer **writer; /* [workers] */
    /* An event of a kernel's context was sent, with the steps of the kernel's own time; */
    void (*kernel)(void *arg, const struct cw_event *event, uint32_t entity, uint32_t context,
                   int64_t at_ps, const uint32_t *steps, uint32_t count);
    /* another event for which lp_cause_counts() holds, with its bytes. */
    void (*other)(void *arg, const struct cw_event *event, uint32_t entity, uint32_t type,
                  uint32_t bytes);
    void (*waited)(void *arg, int64_t now_ps, const struct lp_waited *waited);
    void *arg;
};

/* These events, besides the kernels' own: the first and the last of a kernel, and bytes that pass
 * the engine of PE_DMA. */
static inline bool lp_cause_counts(uint32_t by_type, uint32_t type, uint32_t bytes)
{
    return (by_type == LP_EVENT_ENGINE && bytes > 0) || by_type == LP_EVENT_PE_CPU ||
           type == LP_EVENT_MEMORY || type == LP_EVENT_CPU_ARRIVAL;
}

/* ---- handlers, where the host asks ----------------------------------------------------------- */

static inline bool lp_traces_causes(const struct lp_model *m)
{
    return __builtin_expect(m->emit.causes, 0);
}

/* Timelines get waits alone, too. */
static inline bool lp_notes_waits(const struct lp_model *m)
{
    return __builtin_expect(m->emit.notes, 0);
}

/* Steps of one delay. A full list drops further steps: the rest of the delay has no name.
 */
struct lp_cause_list {
    uint32_t count;
    uint32_t calls_at;        /* 1 + the place of the latest count of calls; 0: none */
    uint32_t bytes, sigma_ps; /* of the first flight of some bytes that has crossed a link */
    uint32_t step[LP_CAUSE_LIST_MAX];
};

/* The scratch of the handler that runs on this thread. */
struct lp_cause_notes {
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

/* A handler begins: both lists are empty. They nearly always are already, since each send
 * empties its list. A handler that failed, or that has sent nothing, leaves steps in them. */
static inline void lp_causes_begin(void)
{
    struct lp_cause_notes *const notes = &lp_cause_notes;
    if (__builtin_expect((notes->flight.count | notes->flight.bytes | notes->stretch.count) != 0,
                         0)) {
        lp_cause_forget(&notes->flight);
        lp_cause_forget(&notes->stretch);
    }
}

static inline void lp_cause_add_step(struct lp_cause_list *list, uint32_t step)
{
    if (__builtin_expect(list->count < LP_CAUSE_LIST_MAX, 1))
        list->step[list->count++] = step;
}

/* Some bytes are about to cross a first link here, and have already paid this much
 * serialisation. */
static inline void lp_cause_carries(struct lp_cause_list *list, uint32_t bytes,
                                    int64_t sigma_before_ps)
{
    if (list->bytes != 0 || bytes == 0)
        return;
    list->bytes = bytes;
    list->sigma_ps = sigma_before_ps < 0            ? 0
                     : sigma_before_ps > UINT32_MAX ? UINT32_MAX
                                                    : (uint32_t)sigma_before_ps;
}

/* The flight has crossed a link of this LP to a node. `sigma_before_ps`: the serialisation that it
 * had paid before; `waited`: the link was not free. HW_NODE_KINDS: no node; HW_LINK_KINDS: the
 * reduce unit. */
static inline void lp_cause_crossed(const struct hw_flight *flight, int64_t sigma_before_ps,
                                    bool waited, enum hw_link_kind kind, uint32_t index,
                                    enum hw_node_kind next)
{
    struct lp_cause_list *const list = &lp_cause_notes.flight;
    lp_cause_carries(list, flight->bytes, sigma_before_ps);
    lp_cause_add_step(list, (index & 0xffff) | (uint32_t)next << LP_STEP_NODE_SHIFT |
                                (uint32_t)kind << LP_STEP_KIND_SHIFT |
                                (uint32_t)waited * LP_STEP_WAITED |
                                (uint32_t)(flight->bytes == 0) * LP_STEP_FREE);
}

/* The node after the link that was noted last is late for this flight. */
static inline void lp_cause_late_node(void)
{
    struct lp_cause_list *const list = &lp_cause_notes.flight;
    if (list->count > 0)
        list->step[list->count - 1] |= LP_STEP_LATE;
}

/* The flight goes over a link that it neither reserves nor pays serialisation for. */
static inline void lp_cause_pass(enum hw_link_kind kind, enum hw_node_kind next)
{
    lp_cause_add_step(&lp_cause_notes.flight, 0xffff | (uint32_t)next << LP_STEP_NODE_SHIFT |
                                                  (uint32_t)kind << LP_STEP_KIND_SHIFT |
                                                  LP_STEP_FREE);
}

/*
 * The flight has gone from router to router of its cube: `waits` has a bit for each link, in their
 * order, that was not free. Up to LP_WAY_HOPS_MAX links. `lp_cause_left()`: and by a port out of
 * the cube.
 */
static inline void lp_cause_way(const struct hw_flight *flight, int64_t sigma_before_ps,
                                uint32_t from, uint32_t to, uint32_t waits)
{
    struct lp_cause_list *const list = &lp_cause_notes.flight;
    lp_cause_carries(list, flight->bytes, sigma_before_ps);
    lp_cause_add_step(list, LP_STEP_WAY | waits | from << LP_WAY_FROM_SHIFT |
                                to << LP_WAY_TO_SHIFT |
                                (uint32_t)(flight->bytes == 0) * LP_WAY_FREE);
}
static inline void lp_cause_left(const struct hw_flight *flight, int64_t sigma_before_ps,
                                 uint32_t from, uint32_t waits, enum hw_port port, bool out_waited,
                                 bool ucie_waited)
{
    lp_cause_way(flight, sigma_before_ps, from, (uint32_t)port,
                 waits | LP_WAY_LEAVES | (uint32_t)out_waited * LP_WAY_OUT_WAITED |
                     (uint32_t)ucie_waited * LP_WAY_UCIE_WAITED);
}

/* The way of 0 bytes between PE_DMA and a memory of the cube, over this many links between routers;
 * `node`: the memory's own, or HW_NODE_KINDS. */
void lp_cause_memory_way(uint32_t hops, enum hw_link_kind memory, enum hw_node_kind node);
/* The engine of PE_DMA passes this many bytes for the noted request. */
void lp_cause_passed(uint32_t bytes);
void lp_cause_flight_part(enum lp_cause_part part, int64_t ps);
void lp_cause_stretch_part(enum lp_cause_part part, int64_t ps);
void lp_cause_call(enum tl_issue issue);

/* An event is sent whose delay is the flight, the stretch, or neither: then its type gives the
 * reason. The list that was noted is empty afterwards. */
void lp_cause_flight_sent(struct cw_ctx *ctx, uint32_t to_lp, enum lp_event_type type,
                          struct lp_sender sender, int64_t at_ps);
void lp_cause_kernel_sent(struct cw_ctx *ctx, uint32_t context, struct lp_sender sender,
                          int64_t at_ps);
/* To the same LP. */
void lp_cause_sent(struct cw_ctx *ctx, enum lp_event_type type, struct lp_sender sender,
                   int64_t at_ps);
/* A credit, for that PE. */
void lp_cause_credit_sent(struct cw_ctx *ctx, uint32_t to_lp, struct lp_sender sender,
                          int64_t at_ps, uint32_t pe);
void lp_cause_waited(struct cw_ctx *ctx, const struct lp_waited *waited);
/* A kernel begins that has waited for its PE since the event of this launch message. */
void lp_cause_began(struct cw_ctx *ctx, struct lp_sender message, int64_t since_ps);

#endif
