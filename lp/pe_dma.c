/*
 * pe_dma.c: a PE's DMA block: turns what hw/dma.h decides into events: runs of the engine, requests
 * to a memory, transfers that leave (20-hardware.md, "Timing of a transfer"; 30-ipcq.md,
 * "PE_DMA"). Runs in handlers only.
 */
#include "lp/model.h"

static const struct hw_dma_op *op_at(const struct lp_model *m, const struct lp_pe *pe,
                                     enum hw_vc vc, uint32_t position)
{
    return &pe->op[(uint32_t)vc * m->hw.dma_queue_depth + position % m->hw.dma_queue_depth];
}

static const struct hw_dma_op *first_op(const struct lp_model *m, const struct lp_pe *pe,
                                        enum hw_vc vc)
{
    return op_at(m, pe, vc, pe->dma.head[vc]);
}

static void signal(struct lp_run *run, enum lp_event_type type, struct lp_sender sender,
                   int64_t at_ps, uint32_t pe, uint32_t arg)
{
    const struct lp_signal s = {.pe = pe, .arg = arg};
    cw_send(run->ctx, run->lp, at_ps - cw_now(run->ctx), (uint16_t)type, sender.entity,
            sender.number, &s, sizeof s);
}

static struct lp_sender op_sender(const struct lp_run *run, uint32_t pe, const struct hw_dma_op *op)
{
    return (struct lp_sender){lp_entity(lp_pe_index(run, pe)), op->number};
}

/* The engine grants a load's first chunk at `grant_ps`: the request leaves for the memory then. */
static void request(struct lp_run *run, uint32_t pe, const struct hw_dma_op *op,
                    uint32_t generation, int64_t grant_ps)
{
    const struct lp_model *m = run->m;
    const enum hw_memory memory = (enum hw_memory)op->memory;
    const int64_t delay_ps = grant_ps - cw_now(run->ctx) + m->hw.overhead_ps[HW_NODE_PE_DMA] +
                             lp_memory_way_ps(m, pe, memory, op->slice) +
                             m->hw.overhead_ps[lp_memory_node(memory)];
    const struct lp_load load = {.pe = pe,
                                 .stamp = generation,
                                 .bytes = op->bytes,
                                 .memory = op->memory,
                                 .slice = op->slice};
    const struct lp_sender sender = op_sender(run, pe, op);
    struct lp_kernel *kernel = CW_MUT(run->ctx, &lp_pe(m, run->cube, pe)->kernel);
    kernel->load_stamp = generation;
    kernel->load_parts = 0;
    cw_send(run->ctx, run->lp, delay_ps, LP_EVENT_MEMORY, sender.entity, sender.number, &load,
            sizeof load);
}

/* Gives the idle engine to whoever is next, if anybody waits. */
static void grant(struct lp_run *run, uint32_t pe)
{
    const struct lp_model *m = run->m;
    const struct lp_pe *p = lp_pe(m, run->cube, pe);
    if (p->dma.count[HW_VC_COMPUTE] == 0 && p->dma.count[HW_VC_COMM] == 0)
        return;
    struct hw_dma *dma = CW_MUT(run->ctx, &p->dma);
    const uint32_t first_bytes[HW_VCS] = {first_op(m, p, HW_VC_COMPUTE)->bytes,
                                          first_op(m, p, HW_VC_COMM)->bytes};
    int64_t grant_ps[HW_VCS];
    const int64_t end_ps =
        hw_dma_grant(dma, &m->dma, first_bytes, cw_now(run->ctx), run->ctx->event->depth, grant_ps);
    signal(run, LP_EVENT_ENGINE, op_sender(run, pe, first_op(m, p, (enum hw_vc)dma->last)), end_ps,
           pe, dma->generation);
    const struct hw_dma_op *op = first_op(m, p, HW_VC_COMPUTE);
    if (grant_ps[HW_VC_COMPUTE] >= 0 && op->kind == LP_DMA_LOAD && dma->passed[HW_VC_COMPUTE] == 0)
        request(run, pe, op, dma->generation, grant_ps[HW_VC_COMPUTE]);
}

bool lp_dma_push(struct lp_run *run, uint32_t pe, enum hw_vc vc, struct hw_dma_op op)
{
    const struct lp_model *m = run->m;
    const struct lp_pe *p = lp_pe(m, run->cube, pe);
    if (p->dma.count[vc] >= m->hw.dma_queue_depth)
        return false;
    struct hw_dma *dma = CW_MUT(run->ctx, &p->dma);
    *CW_MUT(run->ctx, op_at(m, p, vc, dma->head[vc] + (uint32_t)dma->count[vc])) = op;
    if (dma->count[vc]++ > 0)
        return true;
    dma->passed[vc] = 0;
    if (dma->running == HW_VC_IDLE) {
        grant(run, pe);
        return true;
    }
    bool regrant;
    const enum hw_vc running = vc == HW_VC_COMPUTE ? HW_VC_COMM : HW_VC_COMPUTE;
    const int64_t end_ps =
        hw_dma_newcomer(dma, &m->dma, vc, cw_now(run->ctx), run->ctx->event->depth, &regrant);
    const struct hw_dma_op *first = first_op(m, p, running);
    if (regrant) {
        if (first->kind == LP_DMA_LOAD && dma->passed[running] == 0)
            CW_MUT(run->ctx, &p->kernel)->load_stamp = 0; /* the request has not left after all */
        grant(run, pe);
    } else if (end_ps >= 0) {
        signal(run, LP_EVENT_ENGINE, op_sender(run, pe, first), end_ps, pe, dma->generation);
    }
    return true;
}

/* Bytes of an operation have passed the engine and go their way, as one message. */
static void depart(struct lp_run *run, uint32_t pe, const struct hw_dma_op *op, uint32_t bytes,
                   bool last)
{
    const struct lp_model *m = run->m;
    const struct lp_pe *p = lp_pe(m, run->cube, pe);
    const struct lp_sender sender = op_sender(run, pe, op);
    struct hw_flight flight = {.tau_ps = cw_now(run->ctx) + m->hw.overhead_ps[HW_NODE_PE_DMA] +
                                         m->hw.link[HW_LINK_PE_NOC].prop_ps +
                                         m->hw.overhead_ps[HW_NODE_ROUTER],
                               .sigma_ps = hw_ser_ps(&m->hw.link[HW_LINK_PE_NOC], bytes),
                               .bytes = bytes,
                               .epoch = p->epoch};
    if (op->kind == LP_DMA_TILE) {
        struct lp_transfer transfer = {.src = lp_pe_index(run, pe),
                                       .bytes = bytes,
                                       .seq = op->seq,
                                       .epoch = flight.epoch,
                                       .kind = LP_TRANSFER_TILE,
                                       .flags = last ? LP_TRANSFER_LAST : 0,
                                       .memory = (uint8_t)m->config.slots};
        enum hw_dir peer_dir = HW_DIRS_MAX;
        cw_check(run->ctx,
                 lp_queue_peer(m, transfer.src, (enum hw_dir)op->dir, &transfer.dst, &peer_dir));
        transfer.dir = (uint8_t)peer_dir;
        transfer.exit = (uint8_t)lp_queue_exit(m, transfer.src, (enum hw_dir)op->dir);
        lp_route_on(run, sender, &flight, transfer, m->pe_router[pe]);
        return;
    }
    cw_check(run->ctx, op->kind == LP_DMA_STORE);
    lp_cross_to_memory(run, &flight, m->pe_router[pe], (enum hw_memory)op->memory, op->slice);
    if (last) /* the acknowledgement, back over the same path with 0 bytes */
        signal(run, LP_EVENT_DMA_DONE, sender,
               flight.tau_ps + lp_memory_way_ps(m, pe, (enum hw_memory)op->memory, op->slice) +
                   m->hw.overhead_ps[HW_NODE_PE_DMA],
               pe, 0);
}

/* The engine has passed a load's last byte, or its response is known: complete at the later. */
static void load_part(struct lp_run *run, uint32_t pe, struct lp_sender sender, uint8_t part,
                      int64_t at_ps)
{
    struct lp_kernel *kernel = CW_MUT(run->ctx, &lp_pe(run->m, run->cube, pe)->kernel);
    if (kernel->load_parts == 0 || at_ps > kernel->load_ps)
        kernel->load_ps = at_ps;
    kernel->load_parts |= part;
    if (kernel->load_parts == 3)
        signal(run, LP_EVENT_DMA_DONE, sender, kernel->load_ps, pe, 0);
}

void lp_dma_engine(struct lp_run *run, uint32_t pe, uint32_t generation)
{
    const struct lp_model *m = run->m;
    const struct lp_pe *p = lp_pe(m, run->cube, pe);
    if (p->dma.generation != generation || p->dma.running == HW_VC_IDLE)
        return; /* the run was cut short, or its grant taken back */
    struct hw_dma *dma = CW_MUT(run->ctx, &p->dma);
    uint32_t before;
    const enum hw_vc vc = hw_dma_run_end(dma, &before);
    const struct hw_dma_op op = *first_op(m, p, vc);
    const bool last = dma->passed[vc] >= op.bytes;
    if (op.kind == LP_DMA_LOAD) {
        if (last)
            load_part(run, pe, op_sender(run, pe, &op), 2, cw_now(run->ctx));
    } else if (m->hw.contention == HW_CONTENTION_CHUNK) {
        depart(run, pe, &op, dma->passed[vc] - before, last);
    } else if (last) {
        depart(run, pe, &op, op.bytes, true);
    }
    if (last) {
        dma->passed[vc] = 0;
        dma->head[vc] = (uint16_t)((dma->head[vc] + 1u) % m->hw.dma_queue_depth);
        dma->count[vc]--;
        if (p->kernel.wait == LP_WAIT_CHANNEL)
            tl_resume(run, pe); /* the call that found a channel full tries again */
    }
    if (dma->running == HW_VC_IDLE)
        grant(run, pe);
}

void lp_dma_memory(struct lp_run *run, const struct cw_event *event, struct lp_load load)
{
    const struct lp_model *m = run->m;
    cw_check(run->ctx,
             load.pe < m->pes && load.slice < m->pes && load.sent < load.bytes + (load.bytes == 0));
    const struct lp_pe *p = lp_pe(m, run->cube, load.pe);
    if (p->kernel.load_stamp != load.stamp)
        return; /* the grant was taken back at the instant it was made */
    const enum hw_memory memory = (enum hw_memory)load.memory;
    const uint32_t left = load.bytes - load.sent;
    const bool piecewise = m->hw.contention == HW_CONTENTION_CHUNK;
    const uint32_t bytes = piecewise && left > m->dma.chunk_bytes ? m->dma.chunk_bytes : left;
    const int64_t ser_ps = hw_ser_ps(&m->hw.link[lp_memory_link(memory)], bytes);
    struct hw_flight flight = {cw_now(run->ctx) + ser_ps, ser_ps, bytes, p->epoch};
    const int64_t first_left_ps =
        lp_cross_from_memory(run, &flight, m->pe_router[load.pe], memory, load.slice);
    lp_cross_pe_in(run, &flight, load.pe, HW_NODE_PE_DMA);
    lp_cross_tcm(run, &flight, load.pe);
    load.sent += bytes;
    if (load.sent == load.bytes)
        load_part(run, load.pe, lp_sender_of(event), 1, flight.tau_ps);
    else /* the next piece is offered when this one has left its first link */
        cw_send(run->ctx, run->lp, first_left_ps - cw_now(run->ctx), LP_EVENT_MEMORY, event->entity,
                event->number, &load, sizeof load);
}
