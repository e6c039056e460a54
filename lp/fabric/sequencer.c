/*
 * sequencer.c: the state machine of io_cpu that carries out a SIP's program (sequencer.h). One
 * event makes all those operations begin that it allows, in the order in which their needs were
 * met; those that end without kernels allow others within the same event.
 *
 * Messages between SIPs: a send asks its receive (ASKS), which grants it (GRANTS) when its own
 * needs are met and no other receive of its SIP is in flight. So every send whose kernels are
 * launched has its receive's kernels beside it, and no circle of messages can wait for itself.
 */
#include "lp/fabric/sequencer.h"

#include "lp/fabric/fabric.h"
#include "lp/program.h"
#include "lp/replay_watch.h"

enum signal { SIGNAL_ASKS, SIGNAL_GRANTS, SIGNAL_COMES, SIGNAL_ENDS };

#define NO_OP UINT32_MAX

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"

struct op_state {
    uint32_t needs;       /* still to come */
    uint32_t kernels;     /* that have not ended */
    uint32_t next;        /* in the list that it waits in */
    uint32_t come;        /* first member of a MEET: members that have come */
    uint8_t asked, ready; /* RECEIVE: its send has asked; its needs are met */
    uint8_t reserved[6];
    struct lp_program_times times;
};

/* Operations that wait, by their numbers. */
struct op_list {
    uint32_t first, last;
};

struct sequencer {
    int64_t begun_ps;
    uint64_t number;          /* of its next message */
    uint32_t left;            /* operations that are not over */
    uint32_t receives;        /* the RECEIVE in flight, or NO_OP */
    struct op_list receivers; /* that may begin when no other one is in flight */
    struct op_list due;       /* their needs are met; empty between events */
    struct op_state op[];     /* [needs.operations], then struct turn [needs.turns] */
};

struct turn {
    uint32_t holder, reserved; /* the operation in flight, or NO_OP */
    struct op_list waiting;    /* in the program's order */
};

#pragma GCC diagnostic pop

/* What a handler sees. */
struct view {
    struct cw_ctx *ctx;
    const struct lp_model *m;
    const struct lp_io_die *die;
    const struct lp_program *program;
    const struct lp_program_of_sip *own;
    const struct sequencer *s;
    uint32_t sip;
};

size_t lp_sequencer_bytes(const struct lp_needs *needs)
{
    return needs->operations > 0
               ? sizeof(struct sequencer) + needs->operations * sizeof(struct op_state) +
                     needs->turns * sizeof(struct turn)
               : 0;
}

static const struct sequencer *sequencer_of(const struct lp_model *m, const struct lp_io_die *die)
{
    return (const struct sequencer *)((const uint8_t *)die + m->sequencer_offset);
}

static struct op_state *change(const struct view *view, uint32_t op)
{
    return CW_MUT(view->ctx, &view->s->op[op]);
}

static const struct turn *turn_at(const struct view *view, uint32_t number)
{
    return (const struct turn *)&view->s->op[view->m->needs.operations] + number;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void append(const struct view *view, const struct op_list *list, uint32_t op)
{
    change(view, op)->next = NO_OP;
    if (list->first == NO_OP)
        CW_MUT(view->ctx, list)->first = op;
    else
        change(view, list->last)->next = op;
    CW_MUT(view->ctx, list)->last = op;
}

static uint32_t take_first(const struct view *view, const struct op_list *list)
{
    const uint32_t op = list->first;
    CW_MUT(view->ctx, list)->first = view->s->op[op].next;
    return op;
}

/* Before the first one with a greater number. */
static void insert(const struct view *view, const struct op_list *list, uint32_t op)
{
    uint32_t before = NO_OP, at = list->first;
    while (at != NO_OP && at < op) {
        before = at;
        at = view->s->op[at].next;
    }
    change(view, op)->next = at;
    if (before == NO_OP)
        CW_MUT(view->ctx, list)->first = op;
    else
        change(view, before)->next = op;
}

/* ---- messages -------------------------------------------------------------------------------- */

static struct lp_sender next_sender(const struct view *view)
{
    return (struct lp_sender){lp_entity_of_io_cpu(view->m),
                              (*CW_MUT(view->ctx, &view->s->number))++};
}

/* To be served by io_cpu first, like every message that it sends. */
static void send_served(const struct view *view, const struct lp_transfer *transfer)
{
    int64_t *const free_ps = CW_MUT(view->ctx, &view->die->io_cpu_free_ps);
    struct hw_flight flight = lp_flight(view->ctx, view->m, view->sip, transfer);
    flight.sigma_ps = flight.tau_ps;
    if (*free_ps > flight.tau_ps)
        flight.tau_ps = *free_ps;
    flight.tau_ps += view->m->hw.overhead_ps[HW_NODE_IO_CPU];
    *free_ps = flight.tau_ps;
    if (lp_traces_causes(view->m))
        lp_cause_flight_part(LP_PART_SERVER, flight.tau_ps - cw_now(view->ctx));
    lp_forward(view->ctx, lp_of_io_die(view->m, view->sip), LP_EVENT_CPU_DONE, next_sender(view),
               transfer, &flight);
}

/* To an LP of SIP `to`. */
static void send_at_once(const struct view *view, uint32_t lp, uint32_t to, enum lp_event_type type,
                         struct lp_transfer transfer)
{
    const struct hw_flight flight = lp_flight(view->ctx, view->m, view->sip, &transfer);
    const struct lp_sender sender = next_sender(view);
    lp_move_transfer(view->m, to, &transfer);
    lp_forward_out(view->ctx, lp, type, sender, lp_entity_at(view->m, sender.entity, view->sip, to),
                   &transfer, &flight);
    lp_watch_crossing(view->ctx, view->m, view->sip, to, flight.tau_ps);
}

static struct lp_transfer signal_to(const struct view *view, enum signal signal,
                                    struct lp_program_place to)
{
    const uint32_t sip_pes = view->m->cubes * view->m->pes;
    return (struct lp_transfer){.sigma_ps = cw_now(view->ctx),
                                .src = view->sip * sip_pes,
                                .dst = to.sip * sip_pes,
                                .bytes = view->m->hw.control_msg_bytes,
                                .seq = to.op,
                                .kind = LP_TRANSFER_SIGNAL,
                                .dir = (uint8_t)signal,
                                .port = lp_port_from(view->m, cw_now(view->ctx)),
                                .exit = HW_OUTLET_NONE};
}

static void send_signal(const struct view *view, enum signal signal, struct lp_program_place to)
{
    const struct lp_transfer transfer = signal_to(view, signal, to);
    if (view->program->free_control || signal >= SIGNAL_COMES)
        send_at_once(view, lp_of_io_die(view->m, to.sip), to.sip, LP_EVENT_CPU_DONE, transfer);
    else
        send_served(view, &transfer);
}

/* A message to itself, at the end of a TIME. */
static void wait_for_end(const struct view *view, uint32_t op)
{
    const struct lp_transfer transfer =
        signal_to(view, SIGNAL_ENDS, (struct lp_program_place){view->sip, op});
    struct hw_flight flight = lp_flight(view->ctx, view->m, view->sip, &transfer);
    flight.tau_ps += view->own->ops[op].time_ps;
    if (lp_traces_causes(view->m))
        lp_cause_flight_part(LP_PART_TIME, view->own->ops[op].time_ps);
    lp_forward(view->ctx, lp_of_io_die(view->m, view->sip), LP_EVENT_CPU_DONE, next_sender(view),
               &transfer, &flight);
}

static void send_launch(const struct view *view, uint32_t pe, uint32_t launch)
{
    const struct lp_transfer transfer = {.sigma_ps = cw_now(view->ctx),
                                         .src = pe,
                                         .dst = pe,
                                         .bytes = view->m->hw.control_msg_bytes,
                                         .seq = launch,
                                         .kind = LP_TRANSFER_LAUNCH,
                                         .exit = HW_OUTLET_NONE};
    if (view->program->free_control)
        send_at_once(view, 1 + lp_pe_place(view->m, pe) / view->m->pes, view->sip, LP_EVENT_PE_CPU,
                     transfer);
    else
        send_served(view, &transfer);
}

/* ---- operations ------------------------------------------------------------------------------ */

/* Some of what the operation needs has come. */
static void supply(const struct view *view, uint32_t op)
{
    cw_check(view->ctx, view->s->op[op].needs > 0);
    if (--change(view, op)->needs == 0)
        append(view, &view->s->due, op);
}

static void end_op(const struct view *view, uint32_t op)
{
    const struct lp_program_op *const o = &view->own->ops[op];
    change(view, op)->times.end_ps = cw_now(view->ctx);
    --*CW_MUT(view->ctx, &view->s->left);
    for (uint32_t i = 0; i < o->next_count; i++)
        supply(view, view->own->next[o->first_next + i]);
    if (view->s->receives == op)
        *CW_MUT(view->ctx, &view->s->receives) = NO_OP;
    if (o->turn > 0 && turn_at(view, o->turn - 1u)->holder == op)
        CW_MUT(view->ctx, turn_at(view, o->turn - 1u))->holder = NO_OP;
}

static void note_start(const struct view *view, uint32_t op)
{
    const struct lp_program_op *const o = &view->own->ops[op];
    change(view, op)->times.start_ps = cw_now(view->ctx);
    for (uint32_t i = 0; i < o->after_count; i++)
        supply(view, view->own->next[o->first_after + i]);
}

static void start_op(const struct view *view, uint32_t op)
{
    const struct lp_program_op *const o = &view->own->ops[op];
    uint32_t kernels = 0;
    note_start(view, op);
    for (uint32_t i = 0; i < o->run_count; i++) {
        const struct lp_program_run *const run = &view->own->runs[o->first_run + i];
        for (uint32_t k = 0; k < run->count; k++)
            send_launch(view, run->pe + k * run->stride, run->launch);
        kernels += run->count;
    }
    change(view, op)->kernels = kernels;
    if (kernels == 0)
        end_op(view, op);
    else if (view->m->replay != NULL)
        view->m->replay->begins(view->m->replay->arg, view->ctx, view->sip, op);
}

static void grant_receive(const struct view *view)
{
    const uint32_t op = take_first(view, &view->s->receivers);
    *CW_MUT(view->ctx, &view->s->receives) = op;
    send_signal(view, SIGNAL_GRANTS, view->own->ops[op].other);
    start_op(view, op);
}

/* A member of a MEET has come; this SIP has the first one. */
static void member_comes(const struct view *view, uint32_t op)
{
    const struct lp_program_op *const o = &view->own->ops[op];
    if (++change(view, op)->come < o->member_count)
        return;
    for (uint32_t i = 0; i < o->member_count; i++)
        send_signal(view, SIGNAL_ENDS, view->program->members[o->first_member + i]);
}

static void begin_op(const struct view *view, uint32_t op)
{
    const struct lp_program_op *const o = &view->own->ops[op];
    switch (o->kind) {
    case LP_PROGRAM_SEND:
        send_signal(view, SIGNAL_ASKS, o->other);
        break;
    case LP_PROGRAM_RECEIVE:
        change(view, op)->ready = 1;
        if (view->s->op[op].asked)
            append(view, &view->s->receivers, op);
        break;
    case LP_PROGRAM_MEET:
        note_start(view, op);
        send_signal(view, SIGNAL_COMES, o->other);
        break;
    case LP_PROGRAM_TIME:
        note_start(view, op);
        if (o->time_ps > 0)
            wait_for_end(view, op);
        else
            end_op(view, op);
        break;
    default:
        start_op(view, op);
    }
}

/* Its needs are met. */
static void op_is_due(const struct view *view, uint32_t op)
{
    const uint32_t turn = view->own->ops[op].turn;
    if (turn > 0)
        insert(view, &turn_at(view, turn - 1)->waiting, op);
    else
        begin_op(view, op);
}

/* An operation gets its turn. False: none waits for a turn that is free. */
static bool give_turn(const struct view *view)
{
    for (uint32_t i = 0; i < view->program->turns; i++) {
        const struct turn *const turn = turn_at(view, i);
        if (turn->holder != NO_OP || turn->waiting.first == NO_OP)
            continue;
        const uint32_t op = take_first(view, &turn->waiting);
        CW_MUT(view->ctx, turn)->holder = op;
        begin_op(view, op);
        return true;
    }
    return false;
}

/* Whatever can begin now begins. */
static void carry_on(const struct view *view)
{
    for (;;) {
        if (view->s->due.first != NO_OP)
            op_is_due(view, take_first(view, &view->s->due));
        else if (view->s->receivers.first != NO_OP && view->s->receives == NO_OP)
            grant_receive(view);
        else if (!give_turn(view))
            return;
    }
}

/* ---- messages that come ---------------------------------------------------------------------- */

static void begin_program(const struct view *view)
{
    *CW_MUT(view->ctx, view->s) = (struct sequencer){.begun_ps = cw_now(view->ctx),
                                                     .number = view->s->number,
                                                     .left = view->own->count,
                                                     .receives = NO_OP,
                                                     .receivers = {NO_OP, NO_OP},
                                                     .due = {NO_OP, NO_OP}};
    for (uint32_t i = 0; i < view->program->turns; i++)
        *CW_MUT(view->ctx, turn_at(view, i)) =
            (struct turn){.holder = NO_OP, .waiting = {NO_OP, NO_OP}};
    for (uint32_t op = 0; op < view->own->count; op++)
        *change(view, op) = (struct op_state){.needs = view->own->ops[op].needs, .times = {-1, -1}};
    for (uint32_t op = 0; op < view->own->count; op++)
        if (view->own->ops[op].needs == 0)
            append(view, &view->s->due, op);
}

static void kernel_ended(const struct view *view, uint32_t op)
{
    cw_check(view->ctx, op < view->own->count && view->s->op[op].kernels > 0);
    if (--change(view, op)->kernels == 0)
        end_op(view, op);
}

static void signal_came(const struct view *view, enum signal signal, uint32_t op)
{
    cw_check(view->ctx, op < view->own->count);
    switch (signal) {
    case SIGNAL_ASKS:
        change(view, op)->asked = 1;
        if (view->s->op[op].ready)
            append(view, &view->s->receivers, op);
        break;
    case SIGNAL_GRANTS:
        start_op(view, op);
        break;
    case SIGNAL_COMES:
        member_comes(view, op);
        break;
    default:
        end_op(view, op);
    }
}

void lp_sequencer_message(struct cw_ctx *ctx, const struct lp_io_die *die, uint32_t sip,
                          const struct lp_transfer *transfer)
{
    const struct lp_model *const m = cw_model_data(ctx);
    cw_check(ctx, m->program != NULL);
    const struct view view = {
        ctx, m, die, m->program, &m->program->sip[lp_sip_index(m, sip)], sequencer_of(m, die), sip};
    if (transfer->kind == LP_TRANSFER_BEGIN)
        begin_program(&view);
    else if (transfer->kind == LP_TRANSFER_SIGNAL)
        signal_came(&view, (enum signal)transfer->dir, transfer->seq);
    else
        kernel_ended(&view, lp_launch_of(m, transfer->seq)->op - 1);
    carry_on(&view);
}

/* ---- between drains -------------------------------------------------------------------------- */

uint32_t lp_sequencer_left(const struct lp_model *m, const struct lp_io_die *die)
{
    return sequencer_of(m, die)->left;
}

struct lp_program_times lp_sequencer_times(const struct lp_model *m, const struct lp_io_die *die,
                                           uint32_t op)
{
    return sequencer_of(m, die)->op[op].times;
}

int64_t lp_sequencer_begun_ps(const struct lp_model *m, const struct lp_io_die *die)
{
    return sequencer_of(m, die)->begun_ps;
}

uint64_t *lp_sequencer_number(const struct lp_model *m, struct lp_io_die *die)
{
    return &((struct sequencer *)(void *)((uint8_t *)die + m->sequencer_offset))->number;
}

uint32_t *lp_sequencer_kernels(const struct lp_model *m, struct lp_io_die *die, uint32_t op)
{
    return &((struct sequencer *)(void *)((uint8_t *)die + m->sequencer_offset))->op[op].kernels;
}
