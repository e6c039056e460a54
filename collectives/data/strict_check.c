/*
 * strict_check.c: checks records of committed sends and receives (strict_check.h). A queue's slots
 * are kept by sequence number modulo n_slots. Of a slot it is known which send was the last for it,
 * which tile is in it, since when, and until when operations have read that tile. Protocol and
 * commit order give I-STRICT-1: a send's record comes after the arrival and the receive of the tile
 * n_slots before, so that one entry per slot is enough.
 *
 * Reuse: an operation reads its tile until its t_end. Either the tile n_slots later has arrived by
 * then, in commit order, or it arrives later at a time before that t_end (a kernel runs ahead of
 * the clock, so records of its operations may come before the arrival).
 */
#include "collectives/data/strict_check.h"

#include <stdio.h>
#include <stdlib.h>

#include <Judy.h>

#include "collectives/data/dtype.h"
#include "core/invariant.h"
#include "hw/structure.h"
#include "lp/kernel/tl_source.h"
#include "lp/queues/queue_ends.h"

/* A tile as a send or a receive names it. */
struct named {
    uint32_t bytes, dim[2];
    uint8_t dtype, dims;
};

struct slot {
    struct named named; /* by the send */
    uint32_t sent_seq, sender;
    uint16_t source; /* of the send: tl_source_number() */
    uint8_t sender_dir;
    bool sent, arrived;
    uint32_t seq;                /* of the tile in it */
    uint32_t user;               /* kind of the operation that reads it longest */
    int64_t arrived_ps, used_ps; /* since when it is there; until when it is read */
};

struct queue {
    bool warned;
    struct slot slot[]; /* [n_slots] */
};

struct strict_check {
    const struct hw_config *hw;
    uint32_t n_slots;
    void (*warn)(void *arg, const char *text);
    void *arg;
    const struct lp_plan *plan; /* names directions */
    void *queues;               /* JudyL: PE << 8 | direction -> struct queue * */
};

struct strict_check *strict_check_create(const struct hw_config *hw, uint32_t n_slots,
                                         void (*warn)(void *arg, const char *text), void *arg)
{
    struct strict_check *check = calloc(1, sizeof *check);
    if (check != NULL)
        *check = (struct strict_check){.hw = hw, .n_slots = n_slots, .warn = warn, .arg = arg};
    return check;
}

void strict_check_set_plan(struct strict_check *check, const struct lp_plan *plan)
{
    check->plan = plan;
}

void strict_check_free(struct strict_check *check)
{
    if (check == NULL)
        return;
    Word_t key = 0;
    for (void **value = JudyLFirst(check->queues, &key, PJE0); value != NULL;
         value = JudyLNext(check->queues, &key, PJE0))
        free(*value);
    JudyLFreeArray(&check->queues, PJE0);
    free(check);
}

static struct queue *queue_of(struct strict_check *check, uint32_t pe, uint8_t dir)
{
    void **value = JudyLIns(&check->queues, (Word_t)pe << 8 | dir, PJE0);
    if (value == NULL || value == PPJERR)
        return NULL;
    if (*value == NULL)
        *value = calloc(1, sizeof(struct queue) + check->n_slots * sizeof(struct slot));
    return *value;
}

static int strict_check_no_memory(struct cw_error *error)
{
    return cw_error_memory(error, "strict_validation");
}

/* ---- IpcqSlotReuse --------------------------------------------------------------------------- */

static const char *use_name(uint32_t kind)
{
    switch (kind) {
    case LP_OP_SEND:
        return "a send";
    case LP_OP_STORE:
        return "a store";
    case LP_OP_MATH:
        return "an operation of PE_MATH";
    default:
        return "an operation";
    }
}

static void warn(struct strict_check *check, struct queue *queue, uint32_t pe, uint8_t dir,
                 uint32_t seq, const struct slot *slot, int64_t used_ps, uint32_t user)
{
    if (queue->warned)
        return;
    queue->warned = true;
    const struct hw_place place = hw_place_of(check->hw, pe);
    char text[512];
    snprintf(text, sizeof text,
             "IpcqSlotReuse: PE %u.%u.%u, direction %s: tile %u was written over tile %u, in slot "
             "%u of %u, at %lld.%03lld ns, and %s reads that tile until %lld.%03lld ns; receive a "
             "tile when it is needed, or raise defaults.n_slots (this queue is named once)",
             place.sip, place.cube, place.pe, lp_dir_name(check->plan, pe, (enum hw_dir)dir),
             slot->seq, seq, seq % check->n_slots, check->n_slots,
             (long long)(slot->arrived_ps / 1000), (long long)(slot->arrived_ps % 1000),
             use_name(user), (long long)(used_ps / 1000), (long long)(used_ps % 1000));
    if (check->warn != NULL)
        check->warn(check->arg, text);
}

int strict_check_arrival(struct strict_check *check, const struct lp_arrival *arrival,
                         struct cw_error *error)
{
    struct queue *queue = queue_of(check, arrival->pe, arrival->dir);
    if (queue == NULL)
        return strict_check_no_memory(error);
    struct slot *slot = &queue->slot[arrival->seq % check->n_slots];
    const struct slot before = *slot;
    slot->seq = arrival->seq;
    slot->arrived = true;
    slot->arrived_ps = arrival->t_ps;
    slot->used_ps = INT64_MIN;
    if (before.arrived && before.used_ps > arrival->t_ps)
        warn(check, queue, arrival->pe, arrival->dir, before.seq, slot, before.used_ps,
             before.user);
    return CW_OK;
}

static int use(struct strict_check *check, const struct lp_op *op, const struct lp_operand *operand,
               struct cw_error *error)
{
    if (operand->space != LP_SPACE_TILE)
        return CW_OK;
    struct queue *queue = queue_of(check, op->pe, operand->dir);
    if (queue == NULL)
        return strict_check_no_memory(error);
    struct slot *slot = &queue->slot[operand->at % check->n_slots];
    if (slot->arrived && slot->seq != operand->at)
        warn(check, queue, op->pe, operand->dir, operand->at, slot, op->t_end_ps, op->kind);
    else if (op->t_end_ps > slot->used_ps) {
        slot->used_ps = op->t_end_ps;
        slot->user = op->kind;
    }
    return CW_OK;
}

/* ---- IpcqTypeMismatch ------------------------------------------------------------------------ */

static struct named named_by(const struct lp_op *op)
{
    return (struct named){.bytes = op->bytes,
                          .dim = {op->dim[0], op->dims > 1 ? op->dim[1] : 0},
                          .dtype = op->dtype,
                          .dims = op->dims};
}

static bool is_same(const struct named *a, const struct named *b)
{
    return a->bytes == b->bytes && a->dtype == b->dtype && a->dims == b->dims &&
           a->dim[0] == b->dim[0] && a->dim[1] == b->dim[1];
}

/* "64 bytes of f32", and " (4 x 4)" of more than one dimension. */
static const char *name_tile(const struct named *tile, char *text, size_t bytes)
{
    const size_t itemsize = dtype_is_known(tile->dtype) ? dtype_bytes((enum dtype)tile->dtype) : 1;
    int used =
        snprintf(text, bytes, "%u bytes of %s", tile->bytes, dtype_name((enum dtype)tile->dtype));
    uint32_t size[LP_DIMS_MAX];
    lp_shape_of(tile->dims, tile->dim, tile->bytes / itemsize, size);
    for (uint32_t i = 0; tile->dims > 1 && i < tile->dims; i++)
        used += snprintf(text + used, bytes - (size_t)used, "%s%u%s", i == 0 ? " (" : " x ",
                         size[i], i + 1 == tile->dims ? ")" : "");
    return text;
}

static int send(struct strict_check *check, const struct lp_op *op, struct cw_error *error)
{
    struct queue *queue = queue_of(check, op->peer, op->peer_dir);
    if (queue == NULL)
        return strict_check_no_memory(error);
    struct slot *slot = &queue->slot[op->seq % check->n_slots];
    CW_INVARIANT("I-STRICT-1",
                 !slot->sent || (slot->sent_seq == op->seq - check->n_slots && slot->arrived &&
                                 slot->seq == slot->sent_seq),
                 "tile %u is sent into the slot of tile %u, whose latest arrival is tile %u",
                 op->seq, slot->sent_seq, slot->seq);
    slot->sent = true;
    slot->sent_seq = op->seq;
    slot->named = named_by(op);
    slot->sender = op->pe;
    slot->source = op->source;
    slot->sender_dir = op->dir;
    return CW_OK;
}

static int receive(struct strict_check *check, const struct lp_op *op, struct cw_error *error)
{
    struct queue *queue = queue_of(check, op->pe, op->dir);
    if (queue == NULL)
        return strict_check_no_memory(error);
    const struct slot *slot = &queue->slot[op->seq % check->n_slots];
    const struct named received = named_by(op);
    if (!slot->sent || slot->sent_seq != op->seq || is_same(&slot->named, &received))
        return CW_OK;
    char sent_as[120], received_as[120];
    char sent_at[TL_SOURCE_TEXT_BYTES], received_at[TL_SOURCE_TEXT_BYTES];
    const struct hw_place from = hw_place_of(check->hw, slot->sender);
    const struct hw_place to = hw_place_of(check->hw, op->pe);
    const bool size = slot->named.bytes != received.bytes; /* which is not a matter of strictness */
    return cw_error_set(
        error, CW_PROGRAM_FAILED,
        "IpcqTypeMismatch: PE %u.%u.%u sent tile %u in direction %s as %s%s, and PE "
        "%u.%u.%u received it from direction %s, at %lld.%03lld ns, as %s%s; both "
        "ends must name one type and one shape%s",
        from.sip, from.cube, from.pe, op->seq,
        lp_dir_name(check->plan, slot->sender, (enum hw_dir)slot->sender_dir),
        name_tile(&slot->named, sent_as, sizeof sent_as),
        tl_source_text(tl_source_numbered(slot->source), sent_at, sizeof sent_at), to.sip, to.cube,
        to.pe, lp_dir_name(check->plan, op->pe, (enum hw_dir)op->dir),
        (long long)(op->t_end_ps / 1000), (long long)(op->t_end_ps % 1000),
        name_tile(&received, received_as, sizeof received_as),
        tl_source_text(tl_source_numbered(op->source), received_at, sizeof received_at),
        size ? "" : " (or set defaults.strict_validation=false)");
}

int strict_check_op(struct strict_check *check, const struct lp_op *op, struct cw_error *error)
{
    int code = use(check, op, &op->a, error);
    if (code == CW_OK && lp_op_reads_b(op))
        code = use(check, op, &op->b, error);
    if (code == CW_OK && op->kind == LP_OP_SEND && op->math == 0) /* a part is not its tile */
        code = send(check, op, error);
    if (code == CW_OK && op->kind == LP_OP_RECV)
        code = receive(check, op, error);
    return code;
}
