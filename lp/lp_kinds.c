/*
 * lp_kinds.c: which kind an LP is of (lp_kinds.h), by its number. The hooks run speculatively.
 */
#include "lp/lp_kinds.h"

#include "lp/cube.h"
#include "lp/causes.h"
#include "lp/fabric/io_die.h"
#include "lp/fabric/switch.h"
#include "lp/places.h"
#include "lp/tie_watch.h"

const struct lp_ops *lp_ops_of(const struct lp_model *m, uint32_t lp)
{
    if (lp == 0)
        return &lp_host_ops;
    if (lp < m->lps.first_io_die)
        return &lp_cube_ops;
    return lp < m->lps.first_switch ? &lp_io_die_ops : &lp_switch_ops;
}

static size_t lp_state_bytes(const void *data, uint32_t lp)
{
    return lp_ops_of(data, lp)->state_bytes(data);
}

static void lp_state_init(const void *data, uint32_t lp, void *state)
{
    lp_ops_of(data, lp)->init(data, lp, state);
}

static void lp_handle(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    lp_ops_of(cw_model_data(ctx), event->lp)->handle(ctx, state, event);
}

static void lp_handle_traced(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct lp_model *const m = cw_model_data(ctx);
    if (lp_traces_causes(m))
        lp_causes_begin();
    lp_handle(ctx, state, event);
}

/*
 * Events of one sender, number and type at one LP: by the kind; then pieces of a transfer, and runs
 * of an engine or requests that were made for one, by their number; then, at a switch, by the SIP
 * that they go to, since each SIP's senders look alike there (entity.h). Nothing else: payloads
 * hold absolute times and places.
 */
static uint64_t lp_tie(const void *data, const struct cw_event *event)
{
    const struct lp_model *const m = data;
    const void *const payload = event->payload;
    const struct lp_transfer *const transfer = payload;
    const struct lp_load *const load = payload;
    const struct lp_signal *const signal = payload;
    enum { KIND_SHIFT = 56, PIECE_SHIFT = 32 };
    switch (event->type) {
    case LP_EVENT_TRANSFER:
        return (uint64_t)transfer->kind << KIND_SHIFT | (uint64_t)transfer->piece << PIECE_SHIFT |
               (event->lp < m->lps.first_switch
                    ? 0
                    : lp_sip_ahead(m, m->hw.sip_count + lp_switch_at(m, event->lp),
                                   lp_sip_of(m, transfer->dst), transfer));
    case LP_EVENT_LEND:
        return (uint64_t)transfer->kind << KIND_SHIFT | transfer->bytes;
    case LP_EVENT_MEMORY:
        return (uint64_t)load->stamp << PIECE_SHIFT | load->sent;
    case LP_EVENT_ENGINE:
        return signal->arg;
    case LP_EVENT_CREDIT:
    case LP_EVENT_DMA_DONE:
    case LP_EVENT_KERNEL:
        return 0;
    default:
        return (uint64_t)transfer->kind << KIND_SHIFT;
    }
}

/* On one thread alone. */
static void lp_handle_watched(struct cw_ctx *ctx, const void *state, const struct cw_event *event)
{
    const struct lp_model *const m = cw_model_data(ctx);
    lp_tie_watch_event(m->ties, m, event);
    lp_handle_traced(ctx, state, event);
}

struct cw_model lp_engine_model(const struct lp_model *m, bool traced)
{
    return (struct cw_model){.name = "hardware",
                             .data = m,
                             .lp_count = m->lps.count,
                             .state_bytes = lp_state_bytes,
                             .init = lp_state_init,
                             .handle = m->ties != NULL ? lp_handle_watched
                                       : traced        ? lp_handle_traced
                                                       : lp_handle,
                             .tie = lp_tie};
}
