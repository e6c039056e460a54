/*
 * drained_check.c: checks the named invariants on a drained machine. No event is left, so nothing
 * is in flight: the two ends of a queue agree, as do two PEs that exchange puts, and each context
 * is free or waits for another part of the machine.
 */
#include "lp/host/drained_check.h"

#include "lp/places.h"
#include "lp/queues/queue_ends.h"

/* One PE of the machine, under inspection. */
struct inspected {
    const struct lp_model *m;
    const struct cw_sim *sim;
    uint32_t index; /* global */
    const struct lp_pe *pe;
    struct cw_error *error;
};

static const struct lp_pe *pe_at(const struct inspected *at, uint32_t index)
{
    const struct hw_place place = hw_place_of(&at->m->hw, index);
    return lp_pe(at->m, cw_state(at->sim, lp_of_cube(at->m, place.sip, place.cube)), place.pe);
}

/* Returns CW_BUG from the calling function if the condition does not hold. */
#define DRAINED_INVARIANT(name, at, condition, format, ...)                                        \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return cw_error_set((at)->error, CW_BUG,                                               \
                                name " does not hold at PE %u after a drain: %s; " format,         \
                                (at)->index, #condition, __VA_ARGS__);                             \
    } while (0)

static int check_queue(const struct inspected *at, enum hw_dir dir)
{
    const struct lp_queue *const queue = &at->pe->queue[dir];
    uint32_t peer_index;
    enum hw_dir peer_dir;
    struct lp_wire end = {.tree = 0};
    /* what is given to a tree of switches may wait there for other parts */
    if (lp_queue_end(lp_plan_at(at->m, at->pe), at->index, dir, &end) && end.tree > 0)
        return CW_OK;
    if (!lp_queue_peer(lp_plan_at(at->m, at->pe), at->index, dir, &peer_index, &peer_dir))
        return CW_OK;
    const struct lp_pe *const peer = pe_at(at, peer_index);
    if ((peer->installed >> peer_dir & 1) == 0)
        return CW_OK;
    const uint32_t head = peer->queue[peer_dir].my_head, tail = peer->queue[peer_dir].my_tail;
    DRAINED_INVARIANT("I-IPCQ-1", at, queue->peer_head_cache == head,
                      "direction %d: head as seen %u, the sender's %u", dir, queue->peer_head_cache,
                      head);
    DRAINED_INVARIANT("I-IPCQ-2", at, queue->peer_tail_cache == tail,
                      "direction %d: tail as seen %u, the receiver's %u", dir,
                      queue->peer_tail_cache, tail);
    DRAINED_INVARIANT("I-IPCQ-2", at,
                      queue->peer_head_cache - queue->my_tail <= at->m->config.n_slots,
                      "direction %d: head as seen %u, tail %u, %u slots", dir,
                      queue->peer_head_cache, queue->my_tail, at->m->config.n_slots);
    DRAINED_INVARIANT("I-IPCQ-3", at, queue->early == 0, "direction %d: early tiles 0x%llx", dir,
                      (unsigned long long)queue->early);
    return CW_OK;
}

/* Puts and notifications from this PE to a peer (lp_peer_key()) that have passed the engine; 0 if
 * it knows none. */
static uint32_t sent_to(const struct inspected *at, const struct lp_pe *pe, uint32_t key)
{
    const struct lp_one_sided *const own = lp_one_sided(at->m, pe);
    for (uint32_t i = 0; i < at->m->needs.peers; i++)
        if (own->peer[i].key == key + 1)
            return own->peer[i].sent;
    return 0;
}

static int check_one_sided(const struct inspected *at)
{
    const struct lp_one_sided *const own = lp_one_sided(at->m, at->pe);
    DRAINED_INVARIANT("I-PUT-1", at, own->early_count == 0, "%u kept before their turn",
                      own->early_count);
    for (uint32_t i = 0; i < at->m->needs.peers; i++) {
        const struct lp_peer *const peer = &own->peer[i];
        const uint32_t pes = hw_pe_count(&at->m->hw);
        if (peer->key == 0)
            continue;
        const uint32_t from = (peer->key - 1) % pes, queue = (peer->key - 1) / pes;
        const uint32_t self = lp_moved_pe_of(at->m, from, at->index);
        const uint32_t sent = sent_to(at, pe_at(at, from), queue * pes + self);
        DRAINED_INVARIANT("I-PUT-1", at, peer->seen == sent,
                          "from PE %u, queue %u: seen %u, sent %u", from, queue, peer->seen, sent);
    }
    return CW_OK;
}

static int check_contexts(const struct inspected *at)
{
    for (uint32_t i = 0; i < at->m->contexts; i++) {
        const struct lp_kernel *const kernel = &lp_context(at->m, at->pe, i)->kernel;
        const bool waits = kernel->wait == LP_WAIT_DATA || kernel->wait == LP_WAIT_CREDIT ||
                           kernel->wait == LP_WAIT_NOTIFY || kernel->wait == LP_WAIT_JOIN ||
                           kernel->wait == LP_WAIT_BARRIER;
        DRAINED_INVARIANT("I-TL-1", at, kernel->launch == 0 || waits,
                          "context %u runs launch %u, wait %u", i, kernel->launch, kernel->wait);
    }
    return CW_OK;
}

int lp_check_drained(const struct lp_model *m, const struct cw_sim *sim, struct cw_error *error)
{
    const uint32_t count = lp_pe_count(m);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t index = lp_pe_at(m, i);
        struct inspected at = {m, sim, index, NULL, error};
        at.pe = pe_at(&at, index);
        int code = check_contexts(&at);
        for (enum hw_dir dir = 0; dir < HW_DIRS_MAX && code == CW_OK; dir++)
            if ((at.pe->installed >> dir & 1) != 0)
                code = check_queue(&at, dir);
        if (code == CW_OK && m->needs.peers > 0)
            code = check_one_sided(&at);
        if (code != CW_OK)
            return code;
    }
    return CW_OK;
}
