/*
 * lp_kinds.c: which kind an LP is of (lp_kinds.h), by its number. The hooks run speculatively.
 */
#include "lp/lp_kinds.h"

#include "lp/cube.h"
#include "lp/causes.h"
#include "lp/fabric/io_die.h"

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

struct cw_model lp_engine_model(const struct lp_model *m, bool traced)
{
    return (struct cw_model){.name = "hardware",
                             .data = m,
                             .lp_count = m->lps.count,
                             .state_bytes = lp_state_bytes,
                             .init = lp_state_init,
                             .handle = traced ? lp_handle_traced : lp_handle};
}
