/*
 * tl_queue.c: the calls on queues: send and the forms of receive (lp/QUEUES.md, "Send",
 * "Receive"). The queues' pointers are in ipcq.c. Runs in handlers only.
 */
#include "lp/kernel/tl_queue.h"

#include <stdio.h>
#include <string.h>

#include "lp/fabric/pe_dma.h"
#include "lp/kernel/tl_coarse.h"
#include "lp/kernel/tl_cost.h"
#include "lp/queues/ipcq.h"
#include "lp/queues/queue_ends.h"
#include "lp/queues/slot_map.h"

/* The call finds no queue on this PE. It may be too early: a plan wires the PE, and its IpcqInitMsg
 * has not taken effect. */
static void check_is_installed(struct tl *tl)
{
    const struct lp_model *m = tl->view->m;
    bool wired = false;
    for (uint32_t i = 1; i <= LP_PLANS; i++)
        wired |= m->plan[i] != NULL && lp_is_wired(m->plan[i], lp_pe_index(tl->view, tl->pe));
    if (tl->p->plan == 0 && wired)
        tl_fail(tl, "IpcqNotInstalled: ",
                ": %s before the PE's IpcqInitMsg has taken effect; launch kernels when the "
                "installation is over",
                tl_call_name[tl->kernel->call.kind]);
}

static void check_direction(struct tl *tl, enum hw_dir dir)
{
    const struct lp_plan *const plan = lp_plan_at(tl->view->m, tl->p);
    const uint32_t self = lp_pe_index(tl->view, tl->pe);
    const bool there = tl_has_queue(tl, dir);
    if (there && lp_queue_goes(plan, self, dir, tl->kernel->call.kind == CALL_SEND))
        return;
    check_is_installed(tl);
    char installed[160] = "", number[64];
    (void)snprintf(number, sizeof number, "%u%s", (unsigned)dir,
                   dir == HW_DIRS_MAX ? " (tl_dir() finds no such name)" : "");
    for (enum hw_dir other = 0; other < HW_DIRS_MAX; other++)
        if (tl_dirs(tl) >> other & 1) {
            strncat(installed, *installed ? ", " : "", sizeof installed - strlen(installed) - 1);
            strncat(installed, lp_dir_name(plan, self, other),
                    sizeof installed - strlen(installed) - 1);
        }
    tl_fail(tl, "IpcqInvalidDirection: ", ": %s in direction %s, which %s; installed: %s",
            tl_call_name[tl->kernel->call.kind],
            (unsigned)dir < HW_DIRS_MAX ? lp_dir_name(plan, self, dir) : number,
            there ? "goes the other way only" : "is not installed there",
            *installed ? installed : "none");
}

/* The shape of the call's tile, in its record. */
static void note_shape(const struct tl *tl, struct lp_op *op)
{
    const struct tl_call *call = &tl->kernel->call;
    const uint8_t dtype = call->dtype != 0 ? call->dtype : tl_args(tl)->dtype;
    op->dtype = dtype;
    op->source = tl_source_number(tl->kernel->source);
    op->dims = call->dims > 0 ? call->dims : 1;
    op->dim[0] = call->dims > 0 ? call->dim[0] : call->bytes / tl_itemsize((enum lp_dtype)dtype);
    op->dim[1] = call->dims > 0 ? call->dim[1] : 0;
}

static void emit_send(struct tl *tl, uint32_t seq)
{
    const struct lp_plan *const plan = lp_plan_at(tl->view->m, tl->p);
    const struct tl_call *call = &tl->kernel->call;
    uint32_t peer = 0;
    enum hw_dir peer_dir = HW_DIRS_MAX;
    cw_check(tl->view->ctx, lp_queue_peer(plan, lp_pe_index(tl->view, tl->pe),
                                          (enum hw_dir)call->dir, &peer, &peer_dir));
    struct lp_op op = {.kind = LP_OP_SEND,
                       .dir = call->dir,
                       .bytes = call->bytes,
                       .seq = seq,
                       .peer = peer,
                       .peer_dir = (uint8_t)peer_dir,
                       .a = call->a,
                       .dst = lp_slot_of(plan, peer, peer_dir, seq)};
    if (call->tag != SENDS) {
        struct lp_wire end = {.tree = 0};
        (void)lp_queue_end(plan, lp_pe_index(tl->view, tl->pe), (enum hw_dir)call->dir, &end);
        op.math = (uint8_t)(call->math | (call->tag == GIVES ? LP_NOT_WANTED : 0));
        op.dst.dir = (uint8_t)(end.tree - 1);
    }
    note_shape(tl, &op);
    tl_emit_op(tl, &op);
}

/* A direction to switches that reduce takes parts of tiles, and no other does. */
static void check_tree(struct tl *tl, enum hw_dir dir)
{
    const struct lp_plan *const plan = lp_plan_at(tl->view->m, tl->p);
    const uint32_t self = lp_pe_index(tl->view, tl->pe);
    struct lp_wire end = {.tree = 0};
    cw_check(tl->view->ctx, lp_queue_end(plan, self, dir, &end));
    if ((end.tree > 0) != (tl->kernel->call.tag != SENDS))
        tl_fail(tl, "IpcqInvalidDirection: ",
                ": %s in direction %s, which %s; legal: tl_give() in directions to switches that "
                "reduce, tl_send() in all others",
                end.tree > 0 ? "a send" : "a part of a tile", lp_dir_name(plan, self, dir),
                end.tree > 0 ? "leads to switches that reduce" : "leads to a PE");
}

void tl_effect_send(struct tl *tl)
{
    struct tl_call *call = &tl->kernel->call;
    const struct lp_model *m = tl->view->m;
    const enum hw_vc vc = lp_vc(m, HW_VC_COMM);
    const enum hw_dir dir = (enum hw_dir)call->dir;
    check_direction(tl, dir);
    if (__builtin_expect(m->needs.trees || call->tag != SENDS, 0))
        check_tree(tl, dir);
    const struct lp_queue *queue = &tl->p->queue[dir];
    if (call->bytes > lp_move_bytes(&m->config))
        tl_fail(tl, "IpcqTileTooLarge: ",
                ": a tile of %u bytes does not fit in a slot of %u (defaults.slot_size)",
                call->bytes, lp_move_bytes(&m->config));
    if (__builtin_expect(queue->my_head == UINT32_MAX, 0)) /* a slot is the number's remainder */
        tl_fail(tl, "IpcqTooManyTiles: ",
                ": its queue has carried %u tiles, the most that one queue carries in a run",
                UINT32_MAX);
    if (queue->my_head - queue->peer_tail_cache >= m->config.n_slots) {
        tl_wait_for(tl, LP_WAIT_CREDIT);
        return;
    }
    if (!lp_dma_has_room(tl->view, tl->pe, vc)) {
        tl_wait_for_channel(tl, vc);
        return;
    }
    if (lp_is_coarse(&m->config) && call->waited != LP_WAIT_NONE)
        tl_coarse_waited(tl, INT64_MAX);
    struct hw_dma_op op = {.bytes = tl_bytes_on_way(tl, call->bytes),
                           .number = tl_next_number(tl),
                           .seq = queue->my_head,
                           .kind = LP_DMA_TILE,
                           .queue = tl->launch->queue & 7,
                           .dir = call->dir,
                           .memory = tl_memory_of(call->a),
                           .slice = (uint8_t)tl->pe};
    if (__builtin_expect(call->tag != SENDS, 0)) {
        op.bytes = call->bytes > 0 ? op.bytes : 0;
        op.memory |= (call->tag == GIVES_AND_WANTS) << 4;
    }
    lp_dma_push(tl->view, tl->pe, vc, op,
                lp_is_coarse(&m->config) ? tl_coarse_send_op(tl) : tl_exact_op(tl));
    if (m->emit.ops)
        emit_send(tl, op.seq);
    struct lp_queue *const own = CW_MUT(tl->view->ctx, queue);
    own->my_head++;
    own->sent_at = tl_source_number(tl->kernel->source);
    call->step = STEP_DONE;
}

/* The hardware queue that runs the kernel. */
static const struct lp_pe_queue *pe_queue(const struct tl *tl)
{
    return lp_pe_queue(tl->view->m, tl->p, tl->launch->queue);
}

/* The next tile of a direction that no recv_async has asked for. */
static uint32_t next_tile(const struct tl *tl, enum hw_dir dir)
{
    return tl->p->queue[dir].my_tail + tl->p->queue[dir].promised;
}

static bool is_there(const struct tl *tl, enum hw_dir dir, uint32_t seq)
{
    return (int32_t)(tl->p->queue[dir].peer_head_cache - seq) > 0;
}

static bool has_tile(const struct tl *tl, enum hw_dir dir)
{
    return is_there(tl, dir, next_tile(tl, dir));
}

/* Strict fairness: `served` lists the directions, the one served least recently first. */
static enum hw_dir least_recently_served(const struct tl *tl, uint32_t dirs)
{
    for (uint32_t i = 0; i < HW_DIRS_MAX; i++) {
        const enum hw_dir dir = (enum hw_dir)(tl->p->served >> 4 * i & 15);
        if ((dirs >> dir & 1) && has_tile(tl, dir))
            return dir;
    }
    return HW_DIRS_MAX;
}

static void note_served(struct tl *tl, enum hw_dir dir)
{
    uint64_t *served = CW_MUT(tl->view->ctx, &tl->p->served);
    uint32_t i = 0;
    while ((*served >> 4 * i & 15) != (uint64_t)dir)
        i++;
    const uint64_t before = *served & ((1ull << 4 * i) - 1);
    const uint64_t after = i == HW_DIRS_MAX - 1 ? 0 : *served >> 4 * (i + 1) << 4 * i;
    *served = before | after | (uint64_t)dir << 4 * (HW_DIRS_MAX - 1);
}

/* The receive has read this tile out of its slot (has_read_slot()). */
static bool is_read(const struct tl *tl, enum hw_dir dir, uint32_t seq)
{
    const struct tl_call *call = &tl->kernel->call;
    return call->reading == dir + 1u && call->reading_seq == (uint8_t)seq;
}

/* The direction that a receive takes its tile from now, or HW_DIRS_MAX: there is none. A tile that
 * the receive has read comes first, unless another context has taken it meanwhile. */
static enum hw_dir direction_with_data(const struct tl *tl)
{
    const struct tl_call *call = &tl->kernel->call;
    if (__builtin_expect(call->reading > 0, 0)) {
        const enum hw_dir reading = (enum hw_dir)(call->reading - 1);
        if (has_tile(tl, reading) && is_read(tl, reading, next_tile(tl, reading)))
            return reading;
    }
    if (call->kind == CALL_RECV_ANY && tl->view->m->config.fairness_strict)
        return least_recently_served(tl, call->dirs);
    const uint32_t first = call->kind == CALL_RECV_ANY ? pe_queue(tl)->last_polled + 1u : 0;
    for (uint32_t i = 0; i < HW_DIRS_MAX; i++) {
        const enum hw_dir dir = (enum hw_dir)((first + i) % HW_DIRS_MAX);
        if ((call->dirs >> dir & 1) && has_tile(tl, dir))
            return dir;
    }
    return HW_DIRS_MAX;
}

/* Begins the read of a tile out of its slot, unless it is read. */
static __attribute__((noinline, cold)) bool read_slot(struct tl *tl, enum hw_dir dir, uint32_t seq)
{
    struct tl_call *call = &tl->kernel->call;
    const struct lp_model *m = tl->view->m;
    if (is_read(tl, dir, seq))
        return true;
    call->reading = (uint8_t)(dir + 1);
    call->reading_seq = (uint8_t)seq;
    const int64_t slot_ps =
        hw_slot_ps(&m->hw, tl->pe, m->config.slots, tl_each_bytes(tl, call->bytes));
    tl_pay(tl, slot_ps);
    tl_note_part(tl, LP_PART_SLOT, slot_ps);
    return false;
}

/* Slot access (hw/HARDWARE.md): a receive reads the tile out of its slot before it takes it. True:
 * it has, or reading costs nothing. False: the read begins, and the effect comes again at its end.
 */
static inline bool has_read_slot(struct tl *tl, enum hw_dir dir, uint32_t seq)
{
    return __builtin_expect(!tl->view->m->slot_read, 1) || read_slot(tl, dir, seq);
}

/* The credit goes through PE_DMA, which has room for it. */
static __attribute__((noinline, cold)) void push_credit(struct tl *tl, enum hw_dir dir)
{
    const struct lp_model *m = tl->view->m;
    const struct hw_dma_op op = {.bytes = m->config.credit_bytes,
                                 .number = tl_next_number(tl),
                                 .seq = tl->p->queue[dir].my_tail,
                                 .kind = LP_DMA_CREDIT,
                                 .queue = tl->launch->queue & 7,
                                 .dir = (uint8_t)dir};
    lp_dma_push(tl->view, tl->pe, lp_vc(m, HW_VC_COMM), op, tl_exact_op(tl));
}

/* Takes a tile now. False: the credit goes through PE_DMA and has no place there yet. *credit_ps:
 * how long the credit's emission takes. */
static bool take_tile(struct tl *tl, enum hw_dir dir, uint32_t seq, int64_t *credit_ps)
{
    const struct lp_model *m = tl->view->m;
    const enum hw_vc vc = lp_vc(m, HW_VC_COMM);
    if (m->config.credit_fabric && !lp_dma_has_room(tl->view, tl->pe, vc)) {
        tl_wait_for_channel(tl, vc);
        return false;
    }
    if (lp_is_coarse(&m->config))
        tl_coarse_received(tl, dir);
    tl->kernel->call.reading = 0;
    tl->kernel->received_dir = (uint8_t)dir;
    tl->kernel->received_seq = seq;
    tl->kernel->calls_received = tl->kernel->calls;
    const uint32_t tail = tl->p->queue[dir].my_tail;
    *credit_ps = lp_ipcq_take(tl->view, tl->pe, dir, seq);
    if (m->config.credit_fabric && tl->p->queue[dir].my_tail != tail)
        push_credit(tl, dir);
    return true;
}

void tl_emit_recv_op(struct tl *tl)
{
    const struct tl_call *call = &tl->kernel->call;
    struct lp_op op = {.kind = LP_OP_RECV,
                       .dir = tl->kernel->received_dir,
                       .bytes = call->bytes,
                       .seq = tl->kernel->received_seq,
                       .dst = call->dst}; /* none, or copy_to_dst */
    note_shape(tl, &op);
    tl_emit_op(tl, &op);
}

/* recv_mode copy_to_dst. To HBM or SRAM it is a store of its own, from a slot outside TCM a copy.
 */
static void move_to_place(struct tl *tl)
{
    struct tl_call *call = &tl->kernel->call;
    const uint8_t to = tl_memory_of(call->dst);
    if (to == HW_MEMORY_TCM) {
        call->kind = CALL_MOVE_TILE;
        call->step = STEP_OPERANDS;
        call->operand = 0; /* the tile is its first */
        call->a = tl_received(tl);
        return;
    }
    tl_pay(tl, tl_issue_ps(tl, ISSUE_MEMORY, 1));
    call->kind = CALL_COPY_TILE;
    call->step = STEP_EFFECT;
    call->memory = (uint8_t)(tl->view->m->tile_memory | to << 4);
    call->slice = (uint8_t)tl->pe;
}

/* A receive returns when its credit is out. */
static void wait_for_credit(struct tl *tl, int64_t credit_ps)
{
    tl_pay(tl, credit_ps);
    tl_note_part(tl, LP_PART_CREDIT, credit_ps);
}

void tl_effect_recv(struct tl *tl)
{
    struct tl_call *call = &tl->kernel->call;
    const bool any = call->kind == CALL_RECV_ANY;
    int64_t credit_ps = 0;
    if (!any)
        check_direction(tl, (enum hw_dir)call->dir);
    else if (call->dirs == 0) {
        check_is_installed(tl);
        tl_fail(tl, "IpcqInvalidDirection: ", ": recv_any on a PE where no direction is installed");
    }
    const enum hw_dir dir = direction_with_data(tl);
    if (dir == HW_DIRS_MAX) {
        tl_wait_for(tl, LP_WAIT_DATA);
        return;
    }
    const uint32_t seq = next_tile(tl, dir);
    if (!has_read_slot(tl, dir, seq) || !take_tile(tl, dir, seq, &credit_ps))
        return;
    if (any) {
        *CW_MUT(tl->view->ctx, &pe_queue(tl)->last_polled) = (uint8_t)dir;
        if (tl->view->m->config.fairness_strict)
            note_served(tl, dir);
    }
    if (tl->view->m->config.credit_blocks)
        wait_for_credit(tl, credit_ps);
    if (call->dst.space != LP_SPACE_NONE) {
        move_to_place(tl);
        return;
    }
    tl_emit_recv(tl);
    call->step = STEP_DONE;
}

/* Takes the tiles that are there from the directions still wanted. The call is over when the last
 * credit is out. */
void tl_effect_recv_all(struct tl *tl)
{
    struct tl_call *call = &tl->kernel->call;
    int64_t credit_ps = 0;
    for (enum hw_dir dir = 0; dir < HW_DIRS_MAX; dir++)
        if (call->dirs >> dir & 1)
            check_direction(tl, dir);
    for (enum hw_dir dir; (dir = direction_with_data(tl)) != HW_DIRS_MAX;) {
        const uint32_t seq = next_tile(tl, dir);
        if (!has_read_slot(tl, dir, seq) || !take_tile(tl, dir, seq, &credit_ps))
            return;
        call->dirs &= (uint16_t) ~(1u << dir);
        tl_emit_recv(tl);
        if (tl->local_ps + credit_ps > call->until_ps)
            call->until_ps = tl->local_ps + credit_ps;
    }
    if (call->dirs != 0) {
        call->dir = (uint8_t)__builtin_ctz(call->dirs); /* a missing one, for reports */
        tl_wait_for(tl, LP_WAIT_DATA);
        return;
    }
    if (tl->view->m->config.credit_blocks && call->until_ps > tl->local_ps)
        wait_for_credit(tl, call->until_ps - tl->local_ps);
    call->step = STEP_DONE;
}

/* The tile is the call's from now on (tl_future). */
void tl_effect_recv_async(struct tl *tl)
{
    struct tl_call *call = &tl->kernel->call;
    const enum hw_dir dir = (enum hw_dir)call->dir;
    check_direction(tl, dir);
    call->peer = next_tile(tl, dir);
    tl->kernel->calls_received = tl->kernel->calls; /* tl_future() reveals the tile's number */
    CW_MUT(tl->view->ctx, &tl->p->queue[dir])->promised++;
    struct lp_pe_queue *const own = CW_MUT(tl->view->ctx, pe_queue(tl));
    own->asyncs++;
    own->async_at = tl_source_number(tl->kernel->source);
    call->step = STEP_DONE;
}

static void check_future(struct tl *tl)
{
    const struct tl_call *call = &tl->kernel->call;
    if (call->dir >= HW_DIRS_MAX)
        tl_fail(tl, "", ": wait for a receive that no recv_async has begun");
    const struct lp_queue *queue = &tl->p->queue[call->dir];
    const char *const name = lp_dir_name(lp_plan_at(tl->view->m, tl->p),
                                         lp_pe_index(tl->view, tl->pe), (enum hw_dir)call->dir);
    if (tl_has_received(tl, (enum hw_dir)call->dir, call->peer))
        tl_fail(tl, "",
                ": wait for tile %u of direction %s, which has been received; a receive is "
                "waited for once",
                call->peer, name);
    if (call->peer - queue->my_tail >= queue->promised)
        tl_fail(tl, "", ": wait for tile %u of direction %s, which no recv_async has asked for",
                call->peer, name);
}

void tl_effect_wait(struct tl *tl)
{
    struct tl_call *call = &tl->kernel->call;
    int64_t credit_ps = 0;
    check_future(tl);
    if (!is_there(tl, (enum hw_dir)call->dir, call->peer)) {
        tl_wait_for(tl, LP_WAIT_DATA);
        return;
    }
    const enum hw_dir dir = (enum hw_dir)call->dir;
    if (!has_read_slot(tl, dir, call->peer) || !take_tile(tl, dir, call->peer, &credit_ps))
        return;
    CW_MUT(tl->view->ctx, pe_queue(tl))->asyncs--;
    if (tl->view->m->config.credit_blocks)
        wait_for_credit(tl, credit_ps);
    tl_emit_recv(tl);
    call->step = STEP_DONE;
}

bool tl_has_received(const struct tl *tl, enum hw_dir dir, uint32_t seq)
{
    const struct lp_queue *queue = &tl->p->queue[dir];
    const uint32_t ahead = seq - queue->my_tail;
    if (seq < queue->my_tail) /* numbers of a queue do not wrap (IpcqTooManyTiles) */
        return true;
    return ahead < queue->promised && ahead < tl->view->m->config.n_slots &&
           lp_slot_bit(tl->view->m, tl->p, dir, LP_SLOT_TAKEN, seq);
}

void tl_check_all_received(struct tl *tl)
{
    for (uint32_t dirs = pe_queue(tl)->asyncs > 0 ? tl_dirs(tl) : 0; dirs != 0; dirs &= dirs - 1) {
        const enum hw_dir dir = (enum hw_dir)__builtin_ctz(dirs);
        const struct lp_queue *queue = &tl->p->queue[dir];
        char at[TL_SOURCE_TEXT_BYTES];
        if (queue->promised > 0) /* the first of them has not been received (I-IPCQ-4) */
            tl_fail(
                tl, "",
                " ends without having waited for its receive of tile %u of direction %s (wait); "
                "its latest recv_async is%s",
                queue->my_tail,
                lp_dir_name(lp_plan_at(tl->view->m, tl->p), lp_pe_index(tl->view, tl->pe), dir),
                tl_source_text(tl_source_numbered(pe_queue(tl)->async_at), at, sizeof at));
    }
}

/* recv_mode copy_to_dst: PE_FETCH_STORE takes a tile from its slot in TCM to its place there. A
 * tile in another memory has been loaded by now, straight to its place. */
void tl_effect_move_tile(struct tl *tl)
{
    struct tl_call *call = &tl->kernel->call;
    if (tl->view->m->tile_memory == HW_MEMORY_TCM) {
        const uint64_t bytes = tl_each_bytes(tl, call->bytes);
        tl_pay(tl, tl_fetch_ps(tl, bytes, bytes));
    }
    tl_emit_recv(tl);
    call->step = STEP_DONE;
}
