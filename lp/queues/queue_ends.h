/*
 * queue_ends.h: install plans (lp/QUEUES.md, "Queue pair"): which PEs get an IpcqInitMsg, and of
 * each of their queues the other end, the latency of its credits, and its receive ring. The host
 * makes a plan before the machine. An IpcqInitMsg names it, and a PE's queues then lead where it
 * says (lp_plan_at). A plan is formulas, plus the ends that lp_plan_join() has laid.
 *
 * Const while the engine runs; any thread reads.
 */
#ifndef LP_QUEUE_ENDS_H
#define LP_QUEUE_ENDS_H

#include "lp/model.h"
#include "lp/queues/logical_wiring.h"

/* The hardware and the fold are copied; the logical topology must outlive the plan. */
struct lp_plan_request {
    const struct hw_config *hw;
    const struct lp_config *queues; /* their memory, slots and credits */
    bool pe0_alone;                 /* only PE 0 of each cube is wired; else every PE */
    uint32_t pair[2];               /* the PEs joined by direction `peer`; equal: none */
    const struct lp_wiring *wiring; /* a logical topology; NULL: the machine's own queues */
    const struct hw_fold *fold;     /* the machine's: plans keep tables of representatives alone */
};
struct lp_plan *lp_plan_create(const struct lp_plan_request *request); /* NULL: out of memory */
void lp_plan_free(struct lp_plan *plan);                               /* accepts NULL */

/*
 * Before the machine is made: lays a queue between two ends of the plan. It replaces the queues
 * that the ends had, at their other ends too. Its way is the ordinary route. Invariant I3 holds
 * again. CW_USAGE: the plan has no such end; CW_NO_RESOURCE: out of memory.
 */
struct lp_end {
    uint32_t pe; /* global index */
    enum hw_dir dir;
};
int lp_plan_join(struct lp_plan *plan, struct lp_end a, struct lp_end b, struct cw_error *error);

/*
 * A plan composed of others, each on some SIPs: the queues of several process groups. Parts that
 * share no SIP have the same directions of a PE, in the order of their own; others have the next
 * ones. Each part's rings have room of their own. Parts may be added between drains, too: no
 * direction and no ring that is there moves. The parts outlive the plan.
 *   lp_plan_create_composed()  of the same machine and queues, without parts; with the machine's
 *                              fold, or NULL. NULL: out of memory
 *   lp_plan_add()              CW_USAGE: a PE has HW_DIRS_MAX directions, and a memory for the
 *                              rings; *fits of the parts have room there, from the first on;
 *                              CW_NO_RESOURCE. The plan is of no use then
 */
struct lp_plan_part {
    const struct lp_plan *plan; /* of the same machine and queues as the others' */
    const uint32_t *sip;        /* [sip_count] on which it has queues; NULL: the first ones */
    uint32_t sip_count;
    /* Of a folded machine: parts that its turns take to each other have one kind. Two parts of a
     * kind have at most one SIP in common. */
    uint32_t kind;
};
struct lp_plan *lp_plan_create_composed(const struct lp_plan *like, const struct hw_fold *fold);
int lp_plan_add(struct lp_plan *plan, const struct lp_plan_part *part, uint32_t count,
                uint32_t *fits);
/* The directions of a part's kernels, as a PE of such a plan has them. */
const struct lp_dirs *lp_plan_dirs(const struct lp_plan *plan, uint32_t part);

const struct hw_config *lp_plan_hw(const struct lp_plan *plan); /* of the machine it is for */

/* Ranks of its logical topology; 0: it has none. */
uint32_t lp_plan_ranks(const struct lp_plan *plan);

/* A PE's end of a queue. False: there is no such queue. */
bool lp_queue_end(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir,
                  struct lp_wire *end);
/* Of it the other end alone: the PE's global index, and its direction there. */
bool lp_queue_peer(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir, uint32_t *peer,
                   enum hw_dir *peer_dir);
/* A logical topology may have queues that only send or only receive. */
bool lp_queue_goes(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir, bool sending);
/* No queue of this direction leaves its SIP. */
bool lp_plan_stays_in_sip(const struct lp_plan *plan, enum hw_dir dir);
/* Whether all SIPs have the machine's own queues, and no others. */
bool lp_plan_is_alike(const struct lp_plan *plan);
/* Of such a plan: the least latency of a credit from any PE of a SIP to the SIP that the global
 * direction of this port leads to. The SIP has that direction. */
int64_t lp_plan_least_credit_ps(const struct lp_plan *plan, uint32_t sip, enum hw_port port);

/* A PE's name of a direction. Without a plan (NULL): the machine's own. */
const char *lp_dir_name(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir);
/* The one of these directions that a PE calls so; HW_DIRS_MAX: none is. */
enum hw_dir lp_dir_named(const struct lp_plan *plan, uint32_t pe_index, uint16_t installed,
                         const char *name);

/* The other end of a queue as a sender sees it. */
struct lp_endpoint {
    struct hw_place place;
    enum hw_memory buffer_kind;
    uint64_t rx_base_pa;     /* of its receive ring, packed (hw/phys_addr.h) */
    uint64_t rx_base_va;     /* the same, as kernels of its cube name it; 0: they cannot */
    uint32_t rx_base_offset; /* the same, in that memory */
    uint32_t n_slots, slot_size;
};
/* Where rings may be, in each memory that holds them. */
struct lp_ring_area lp_plan_rings(const struct lp_plan *plan);
/* The receive ring of a PE's direction. */
struct lp_endpoint lp_endpoint_of(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir);
/* The slot of tile `seq` in it. */
struct lp_operand lp_slot_of(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir,
                             uint32_t seq);

/* Directions that an IpcqInitMsg installs on this PE, one bit each. */
uint16_t lp_directions(const struct lp_plan *plan, uint32_t pe_index);
bool lp_is_wired(const struct lp_plan *plan, uint32_t pe_index); /* gets an IpcqInitMsg */
/* Latency of a credit from this PE to the sender of its queue. */
int64_t lp_credit_ps(const struct lp_plan *plan, uint32_t pe_index, enum hw_dir dir);

/* The plan that a PE's IpcqInitMsg has named; NULL: none has taken effect. */
static inline const struct lp_plan *lp_plan_at(const struct lp_model *m, const struct lp_pe *pe)
{
    return m->plan[pe->plan];
}

#endif
