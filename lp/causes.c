/*
 * causes.c: see causes.h. On the thread that runs the handler.
 */
#include "lp/causes.h"

#include <string.h>

enum { STEPS_MAX = 256 };

/* Steps of one delay. One that has no room for more says less: the rest of the delay has no name.
 */
struct steps {
    uint32_t count;
    uint32_t calls_at; /* 1 + the place of the latest count of calls; 0: none */
    uint32_t bytes, sigma_ps;
    bool crosses; /* bytes and sigma_ps are known */
    uint32_t step[STEPS_MAX];
};

static __thread struct steps flight_steps, stretch_steps;

static void forget(struct steps *steps)
{
    steps->count = 0;
    steps->calls_at = 0;
    steps->crosses = false;
    steps->sigma_ps = 0;
    steps->bytes = 0;
}

void lp_causes_begin(void)
{
    forget(&flight_steps);
    forget(&stretch_steps);
}

static uint32_t clamp_ps(int64_t ps)
{
    return ps < 0 ? 0 : ps > UINT32_MAX ? UINT32_MAX : (uint32_t)ps;
}

static void add_link(uint32_t kind, uint32_t index, uint32_t node, uint32_t flags)
{
    struct steps *const steps = &flight_steps;
    if (steps->count < STEPS_MAX)
        steps->step[steps->count++] =
            (index & 0xffff) | node << LP_STEP_NODE_SHIFT | kind << LP_STEP_KIND_SHIFT | flags;
}

void lp_cause_crossed(const struct hw_flight *flight, int64_t sigma_before_ps, bool waited,
                      enum hw_link_kind kind, uint32_t index, enum hw_node_kind next)
{
    if (!flight_steps.crosses && flight->bytes > 0) {
        flight_steps.crosses = true;
        flight_steps.bytes = flight->bytes;
        flight_steps.sigma_ps = clamp_ps(sigma_before_ps);
    }
    add_link(kind < HW_LINK_KINDS ? kind : LP_STEP_NOTHING, index,
             next < HW_NODE_KINDS ? next : LP_STEP_NOTHING,
             (waited ? LP_STEP_WAITED : 0) | (flight->bytes == 0 ? LP_STEP_FREE : 0));
}

void lp_cause_cross(const struct hw_flight *flight, const struct hw_link_class *link_class,
                    const struct hw_link *link, enum hw_link_kind kind, uint32_t index,
                    enum hw_node_kind next)
{
    struct hw_flight after = *flight;
    const int64_t ser_ps = hw_flight_serialise(&after, link_class);
    const bool waits = link != NULL && link->free_ps + ser_ps > after.tau_ps;
    lp_cause_crossed(flight, flight->sigma_ps, waits, kind, index, next);
}

void lp_cause_pass(enum hw_link_kind kind, enum hw_node_kind next)
{
    add_link(kind, 0xffff, next < HW_NODE_KINDS ? next : LP_STEP_NOTHING, LP_STEP_FREE);
}

void lp_cause_passed(uint32_t bytes) { flight_steps.bytes = bytes; }

void lp_cause_memory_way(uint32_t hops, enum hw_link_kind memory, enum hw_node_kind node)
{
    lp_cause_pass(HW_LINK_PE_NOC, HW_NODE_ROUTER);
    for (uint32_t i = 0; i < hops; i++)
        lp_cause_pass(HW_LINK_NOC, HW_NODE_ROUTER);
    lp_cause_pass(memory, node);
}

static void add_part(struct steps *steps, enum lp_cause_part part, int64_t ps)
{
    const uint32_t tag = LP_STEP_PART | (uint32_t)part << LP_STEP_PART_SHIFT;
    if (ps == 0 || steps->count + 2 > STEPS_MAX)
        return;
    steps->step[steps->count++] = tag | (uint32_t)((uint64_t)ps >> 32 & 255);
    steps->step[steps->count++] = (uint32_t)ps;
}

void lp_cause_flight_part(enum lp_cause_part part, int64_t ps)
{
    add_part(&flight_steps, part, ps);
}

void lp_cause_stretch_part(enum lp_cause_part part, int64_t ps)
{
    add_part(&stretch_steps, part, ps);
}

void lp_cause_call(enum tl_issue issue)
{
    struct steps *const steps = &stretch_steps;
    const uint32_t shift = ((uint32_t)issue - ISSUE_CPU) * LP_STEP_CALLS_BITS;
    const uint32_t full = (1u << LP_STEP_CALLS_BITS) - 1;
    if (steps->calls_at == 0 || (steps->step[steps->calls_at - 1] >> shift & full) == full) {
        if (steps->count == STEPS_MAX)
            return;
        steps->step[steps->count++] = LP_STEP_PART | (uint32_t)LP_PART_CALLS << LP_STEP_PART_SHIFT;
        steps->calls_at = steps->count;
    }
    steps->step[steps->calls_at - 1] += 1u << shift;
}

static const struct lp_cause_direct *receiver_of(const struct cw_ctx *ctx)
{
    return ((const struct lp_model *)cw_model_data(ctx))->emit.direct;
}

static void emit_sent(struct cw_ctx *ctx, struct lp_sent *sent, const uint32_t *step,
                      uint32_t count)
{
    const struct lp_cause_direct *const direct = receiver_of(ctx);
    if (direct != NULL) {
        sent->count = (uint16_t)count;
        direct->sent(direct->arg, ctx->event, sent, step);
        return;
    }
    while (count > LP_CAUSE_STEPS) {
        const uint32_t some = count < LP_CAUSE_MORE_STEPS ? count : LP_CAUSE_MORE_STEPS;
        cw_emit(ctx, LP_RECORD_CAUSE_MORE, step, (uint16_t)(some * sizeof *step));
        step += some;
        count -= some;
    }
    struct lp_cause record = {.sent = *sent};
    record.sent.count = (uint16_t)count;
    if (count > 0)
        memcpy(record.step, step, count * sizeof *step);
    cw_emit(ctx, LP_RECORD_CAUSE, &record,
            (uint16_t)(offsetof(struct lp_cause, step) + count * sizeof *step));
}

void lp_cause_flight_sent(struct cw_ctx *ctx, struct lp_sent sent)
{
    sent.sigma_ps = flight_steps.sigma_ps;
    sent.bytes = flight_steps.bytes;
    emit_sent(ctx, &sent, flight_steps.step, flight_steps.count);
    forget(&flight_steps);
}

void lp_cause_kernel_sent(struct cw_ctx *ctx, struct lp_sent sent)
{
    emit_sent(ctx, &sent, stretch_steps.step, stretch_steps.count);
    forget(&stretch_steps);
}

void lp_cause_sent(struct cw_ctx *ctx, struct lp_sent sent) { emit_sent(ctx, &sent, NULL, 0); }

void lp_cause_waited(struct cw_ctx *ctx, const struct lp_waited *waited)
{
    const struct lp_cause_direct *const direct = receiver_of(ctx);
    if (direct != NULL) {
        direct->waited(direct->arg, ctx->event, waited);
        return;
    }
    cw_emit(ctx, LP_RECORD_WAITED, waited, sizeof *waited);
}
