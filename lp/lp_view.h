/*
 * lp_view.h: a handler's view of a cube's LP during one event, which all functions of the handler
 * pass on, and the inline helpers by which they read payloads, reserve links and send signals. No
 * state; handlers only.
 */
#ifndef LP_VIEW_H
#define LP_VIEW_H

#include "core/invariant.h"
#include "lp/causes.h"
#include "lp/entity.h"
#include "lp/jitter_draw.h"
#include "lp/model.h"
#include "lp/places.h"

struct lp_view {
    struct cw_ctx *ctx;
    const struct lp_model *m;
    const struct lp_cube *cube;
    uint32_t lp, sip, cube_in_sip;
};

/* Global index of PE `pe` of this cube. */
static inline uint32_t lp_pe_index(const struct lp_view *view, uint32_t pe)
{
    return (view->sip * view->m->cubes + view->cube_in_sip) * view->m->pes + pe;
}

/* An event's payload as a T; fails the event if its size differs. */
#define LP_PAYLOAD(ctx, event, T) ((const T *)lp_payload((ctx), (event), (uint16_t)sizeof(T)))
static inline const void *lp_payload(struct cw_ctx *ctx, const struct cw_event *event,
                                     uint16_t bytes)
{
    cw_check(ctx, event->payload_bytes == bytes);
    return event->payload;
}

/*
 * Asserts a named invariant in a handler, in the builds that assert (core/invariant.h). A failure
 * fails the event, instead of the program: a speculative event may see an impossible state, and
 * then never commits.
 */
#define LP_INVARIANT(name, ctx, condition, format, ...)                                            \
    do {                                                                                           \
        if (CW_ASSERTING && !(condition))                                                          \
            cw_fail((ctx), CW_BUG, "%s:%d: " name " does not hold: %s; " format, __FILE__,         \
                    __LINE__, #condition, __VA_ARGS__);                                            \
    } while (0)

/* A link of the LP's state, mutable, or NULL where this flight reserves nothing. */
static inline struct hw_link *lp_link(struct cw_ctx *ctx, const struct lp_model *m,
                                      const struct hw_link *link, const struct hw_flight *flight)
{
    if (m->hw.contention == HW_CONTENTION_NONE || flight->bytes == 0)
        return NULL;
    return CW_MUT(ctx, link);
}

static inline struct lp_sender lp_sender_of(const struct cw_event *event)
{
    return (struct lp_sender){event->entity, event->number};
}

/* A PE of this cube, as its SIP sees it. */
static inline uint32_t lp_entity_of_pe(const struct lp_view *view, uint32_t pe)
{
    return 1 + view->cube_in_sip * view->m->pes + pe;
}

/* The next number of a PE's own events. */
static inline struct lp_sender lp_next_sender(struct lp_view *view, uint32_t pe)
{
    uint32_t *next = CW_MUT(view->ctx, &lp_pe(view->m, view->cube, pe)->next_number);
    return (struct lp_sender){lp_entity_of_pe(view, pe), (*next)++};
}

/* Sends a signal. It is put together in registers, because a load of whole words right after stores
 * of their parts would wait until the stores have reached the cache. */
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
           transfer->kind == LP_TRANSFER_MAP || transfer->kind == LP_TRANSFER_WRITE ||
           transfer->kind >= LP_TRANSFER_BEGIN;
}

/* The flight of a transfer whose event is being handled, and whose entity is seen from `sip`. */
static inline struct hw_flight lp_flight(struct cw_ctx *ctx, const struct lp_model *m, uint32_t sip,
                                         const struct lp_transfer *transfer)
{
    const bool last = lp_is_control(transfer) || (transfer->flags & LP_TRANSFER_LAST);
    return (struct hw_flight){cw_now(ctx), transfer->sigma_ps, transfer->bytes, transfer->batch,
                              lp_piece(m, lp_sender_of(ctx->event), sip, last)};
}

/* A kernel of this batch, which runs on hardware queue `queue`, has written into the PE's HBM
 * slice.
 */
void lp_note_written(struct lp_view *view, const struct lp_pe *pe, uint32_t queue, uint32_t batch);

/* A PE as the kernels of a hardware queue exchange puts and notifications with it. */
static inline uint32_t lp_peer_key(const struct lp_model *m, uint32_t queue, uint32_t pe)
{
    return queue * hw_pe_count(&m->hw) + pe;
}

/* Fails the event for something that has come to a hardware queue of the PE from elsewhere: "PE
 * 0.1.2, kernel NAME", the text, and the line that the kernel has reached. */
_Noreturn void lp_fail_at_pe(const struct lp_view *view, uint32_t pe, uint32_t queue,
                             const char *format, ...) __attribute__((format(printf, 4, 5), cold));

#endif
