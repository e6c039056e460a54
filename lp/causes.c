/*
 * causes.c: emits the causes of events, as records or straight into a worker's log (causes.h). On
 * the thread that runs the handler.
 */
#include "lp/causes.h"

#include <string.h>

__thread struct lp_cause_notes lp_cause_notes;

void lp_cause_passed(uint32_t bytes) { lp_cause_notes.flight.bytes = bytes; }

void lp_cause_memory_way(uint32_t hops, enum hw_link_kind memory, enum hw_node_kind node)
{
    lp_cause_pass(HW_LINK_PE_NOC, HW_NODE_ROUTER);
    for (uint32_t i = 0; i < hops; i++)
        lp_cause_pass(HW_LINK_NOC, HW_NODE_ROUTER);
    lp_cause_pass(memory, node);
}

static void add_part(struct lp_cause_list *list, enum lp_cause_part part, int64_t ps)
{
    const uint32_t tag = LP_STEP_PART | (uint32_t)part << LP_STEP_PART_SHIFT;
    if (ps == 0 || list->count + LP_STEP_LONG_WORDS > LP_CAUSE_LIST_MAX)
        return;
    if (__builtin_expect((uint64_t)ps < LP_STEP_LONG, 1)) {
        list->step[list->count++] = tag | (uint32_t)ps;
        return;
    }
    list->step[list->count++] = tag | LP_STEP_LONG;
    list->step[list->count++] = (uint32_t)ps;
    list->step[list->count++] = (uint32_t)((uint64_t)ps >> 32);
}

void lp_cause_flight_part(enum lp_cause_part part, int64_t ps)
{
    add_part(&lp_cause_notes.flight, part, ps);
}

void lp_cause_stretch_part(enum lp_cause_part part, int64_t ps)
{
    add_part(&lp_cause_notes.stretch, part, ps);
}

void lp_cause_call(enum tl_issue issue)
{
    struct lp_cause_list *const list = &lp_cause_notes.stretch;
    const uint32_t shift = ((uint32_t)issue - ISSUE_CPU) * LP_STEP_CALLS_BITS;
    const uint32_t full = (1u << LP_STEP_CALLS_BITS) - 1;
    if (list->calls_at == 0 || (list->step[list->calls_at - 1] >> shift & full) == full) {
        if (list->count == LP_CAUSE_LIST_MAX)
            return;
        list->step[list->count++] = LP_STEP_PART | (uint32_t)LP_PART_CALLS << LP_STEP_PART_SHIFT;
        list->calls_at = list->count;
    }
    list->step[list->calls_at - 1] += 1u << shift;
}

/* As records of the engine. */
static __attribute__((noinline)) void emit_records(struct cw_ctx *ctx, const struct lp_sent *sent,
                                                   const uint32_t *step)
{
    uint32_t count = sent->count;
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

static struct lp_cause_direct *receiver_of(const struct cw_ctx *ctx)
{
    return ((const struct lp_model *)cw_model_data(ctx))->emit.direct;
}

/* Where this worker keeps entries of the event; NULL: as records, since it is not final. */
static inline struct lp_cause_writer *writer_for(struct cw_ctx *ctx)
{
    const struct lp_cause_direct *const direct = receiver_of(ctx);
    uint32_t worker;
    return direct != NULL && cw_is_final(ctx, &worker) ? direct->writer[worker] : NULL;
}

/* Keeps the cause of an event that is not a kernel's. */
static inline __attribute__((always_inline)) void
keep_other(struct cw_ctx *ctx, struct lp_cause_writer *writer, const struct lp_sent *sent,
           const uint32_t *steps, struct lp_entry_form form)
{
    const struct cw_event *const event = ctx->event;
    lp_cause_write(writer, event, sent, steps, form);
    if (lp_cause_counts(event->type, sent->type, sent->bytes)) {
        const struct lp_cause_direct *const direct = receiver_of(ctx);
        direct->other(direct->arg, event, sent->entity, sent->type, sent->bytes);
    }
}

static inline struct lp_sent flight_of(const struct lp_cause_list *list, uint32_t to_lp,
                                       enum lp_event_type type, struct lp_sender sender,
                                       int64_t at_ps)
{
    return (struct lp_sent){.at_ps = at_ps,
                            .entity = sender.entity,
                            .number = (uint32_t)sender.number,
                            .to_lp = to_lp,
                            /* written one by one: one load of both would wait */
                            .bytes = (uint32_t)cw_keep_in_register(list->bytes),
                            .sigma_ps = (uint32_t)cw_keep_in_register(list->sigma_ps),
                            .type = (uint8_t)type,
                            .count = (uint16_t)list->count};
}

/* Apart, so that the usual case keeps no registers for it. */
static __attribute__((noinline)) void flight_as_record(struct cw_ctx *ctx, uint32_t to_lp,
                                                       enum lp_event_type type,
                                                       struct lp_sender sender, int64_t at_ps)
{
    struct lp_cause_list *const list = &lp_cause_notes.flight;
    const struct lp_sent sent = flight_of(list, to_lp, type, sender, at_ps);
    emit_records(ctx, &sent, list->step);
    lp_cause_forget(list);
}

void lp_cause_flight_sent(struct cw_ctx *ctx, uint32_t to_lp, enum lp_event_type type,
                          struct lp_sender sender, int64_t at_ps)
{
    struct lp_cause_writer *const writer = writer_for(ctx);
    if (__builtin_expect(writer == NULL, 0)) {
        flight_as_record(ctx, to_lp, type, sender, at_ps);
        return;
    }
    struct lp_cause_list *const list = &lp_cause_notes.flight;
    const struct lp_sent sent = flight_of(list, to_lp, type, sender, at_ps);
    const uint32_t *const steps = list->step;
    lp_cause_forget(list); /* its steps stay */
    keep_other(ctx, writer, &sent, steps,
               (struct lp_entry_form){.always = LP_TAG_FLIGHT | LP_TAG_ELSEWHERE,
                                      .rarely = LP_TAG_BY_NUMBER | LP_TAG_BY_ENTITY});
}

void lp_cause_kernel_sent(struct cw_ctx *ctx, uint32_t context, struct lp_sender sender,
                          int64_t at_ps)
{
    const struct cw_event *const event = ctx->event;
    struct lp_cause_writer *const writer = writer_for(ctx);
    struct lp_cause_list *const list = &lp_cause_notes.stretch;
    const struct lp_sent sent = {.at_ps = at_ps,
                                 .entity = sender.entity,
                                 .number = (uint32_t)sender.number,
                                 .to_lp = event->lp,
                                 .type = LP_EVENT_KERNEL,
                                 .context = (uint8_t)context,
                                 .count = (uint16_t)list->count};
    const uint32_t count = list->count;
    lp_cause_forget(list); /* its steps stay */
    if (__builtin_expect(writer == NULL, 0)) {
        const struct lp_sent copy = sent; /* the fields themselves stay in registers */
        emit_records(ctx, &copy, list->step);
        return;
    }
    lp_cause_write(writer, event, &sent, list->step,
                   (struct lp_entry_form){.always = LP_TAG_BY_NUMBER,
                                          .never = LP_TAG_FLIGHT | LP_TAG_ELSEWHERE});
    const struct lp_cause_direct *const direct = receiver_of(ctx);
    direct->kernel(direct->arg, event, sender.entity, context, at_ps, list->step, count);
}

/* Keeps a cause without steps. */
static inline __attribute__((always_inline)) void
keep_bare(struct cw_ctx *ctx, const struct lp_sent *sent, struct lp_entry_form form)
{
    struct lp_cause_writer *const writer = writer_for(ctx);
    if (__builtin_expect(writer == NULL, 0)) {
        const struct lp_sent copy = *sent;
        emit_records(ctx, &copy, NULL);
        return;
    }
    keep_other(ctx, writer, sent, lp_cause_notes.flight.step, form);
}

void lp_cause_sent(struct cw_ctx *ctx, enum lp_event_type type, struct lp_sender sender,
                   int64_t at_ps)
{
    const struct lp_sent sent = {.at_ps = at_ps,
                                 .entity = sender.entity,
                                 .number = (uint32_t)sender.number,
                                 .to_lp = ctx->event->lp,
                                 .type = (uint8_t)type};
    keep_bare(ctx, &sent,
              (struct lp_entry_form){.never = LP_TAG_FLIGHT | LP_TAG_ELSEWHERE,
                                     .rarely = LP_TAG_BY_ENTITY});
}

void lp_cause_began(struct cw_ctx *ctx, struct lp_sender message, int64_t since_ps)
{
    struct lp_cause_list *const list = &lp_cause_notes.flight;
    const int64_t now_ps = cw_now(ctx);
    add_part(list, LP_PART_PE, now_ps - since_ps);
    lp_cause_flight_sent(ctx, ctx->event->lp, (enum lp_event_type)0, message, now_ps);
}

void lp_cause_credit_sent(struct cw_ctx *ctx, uint32_t to_lp, struct lp_sender sender,
                          int64_t at_ps, uint32_t pe)
{
    const struct lp_sent sent = {.at_ps = at_ps,
                                 .entity = sender.entity,
                                 .number = (uint32_t)sender.number,
                                 .to_lp = to_lp,
                                 .bytes = pe,
                                 .type = LP_EVENT_CREDIT};
    keep_bare(ctx, &sent, (struct lp_entry_form){.always = LP_TAG_FLIGHT | LP_TAG_ELSEWHERE});
}

void lp_cause_waited(struct cw_ctx *ctx, const struct lp_waited *waited)
{
    const struct lp_emitted *const emit = &((const struct lp_model *)cw_model_data(ctx))->emit;
    const bool at_once = emit->causes && writer_for(ctx) != NULL;
    if (at_once)
        emit->direct->waited(emit->direct->arg, cw_now(ctx), waited);
    if (emit->waits || (emit->causes && !at_once))
        cw_emit(ctx, at_once ? LP_RECORD_WAIT_KEPT : LP_RECORD_WAITED, waited, sizeof *waited);
}
