/*
 * queue_ends.h: the other end of a queue, the latency of its credits, and its receive ring
 * (lp/QUEUES.md, "Queue pair"). Const while the engine runs; any thread reads.
 */
#ifndef LP_QUEUE_ENDS_H
#define LP_QUEUE_ENDS_H

#include "lp/model.h"

/* The other end of a PE's queue: the PE's global index, and its direction there. False: there is no
 * such queue. */
bool lp_queue_peer(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir, uint32_t *peer,
                   enum hw_dir *peer_dir);
/* Port by which a PE's tiles of a direction must leave its SIP, or HW_PORT_NONE: as routed. */
enum hw_port lp_queue_exit(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir);
/* A logical topology may have queues that only send or only receive. */
bool lp_queue_goes(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir, bool sending);

/* A PE's name of a direction. */
const char *lp_dir_name(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir);
/* The direction that a PE calls so; HW_DIRS_MAX: none is installed there under this name. */
enum hw_dir lp_dir_named(const struct lp_model *m, uint32_t pe_index, const char *name);

/* The other end of a queue as a sender sees it. */
struct lp_endpoint {
    struct hw_place place;
    enum hw_memory buffer_kind;
    uint64_t rx_base_pa;     /* of its receive ring, packed (hw/phys_addr.h) */
    uint32_t rx_base_offset; /* the same, in that memory */
    uint32_t n_slots, slot_size;
};
/* The receive ring of a PE's direction. */
struct lp_endpoint lp_endpoint_of(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir);
/* The slot of tile `seq` in it. */
struct lp_operand lp_slot_of(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir,
                             uint32_t seq);

/* Directions that an IpcqInitMsg installs on this PE, one bit each. */
uint16_t lp_directions(const struct lp_model *m, uint32_t pe_index);
bool lp_is_wired(const struct lp_model *m, uint32_t pe_index); /* gets an IpcqInitMsg */
/* Latency of a credit from this PE to the sender of its queue. */
int64_t lp_credit_ps(const struct lp_model *m, uint32_t pe_index, enum hw_dir dir);

/* Fills m->queues from the rest of the model. False: out of memory. */
bool lp_queues_init(struct lp_model *m);
void lp_queues_free(struct lp_model *m);

#endif
