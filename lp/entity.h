/*
 * entity.h: who has begun an event, as the total order names it (core/ENGINE.md): relative to SIP
 * b, so that the order looks the same from every SIP of a ring, a torus or a switch. b is the SIP
 * of the LP that receives the event; at a switch it is the SIP to which the switch sends it; at the
 * host it is SIP 0.
 *   0                            the host
 *   1 + offset * places + place  a place of a SIP: each of its PEs, and last its io_cpu
 * The offset has, in each dimension of hw_sip_dims_of(), (the SIP's coordinate - b's) modulo the
 * size, and is put together as a SIP's number is. So the outermost dimension counts most.
 *
 * A handler sees all entities from its own SIP. An event that leaves the SIP has its entity changed
 * to what the receiver sees. Jitter and explanations ask for the originator, which is absolute:
 *   0                   the host
 *   1 + PE              a PE, by its global index
 *   1 + all PEs + SIP   a SIP's io_cpu
 * Pure functions of the model.
 */
#ifndef LP_ENTITY_H
#define LP_ENTITY_H

#include "lp/jitter_draw.h"
#include "lp/model.h"

static inline uint32_t lp_entity_of_io_cpu(const struct lp_model *m)
{
    return m->by.sip_places.value; /* of its own SIP, whose last place it is */
}

/* An entity of a PE or an io_cpu that is seen from SIP `from`, seen from SIP `to`. */
uint32_t lp_entity_moved(const struct lp_model *m, uint32_t entity, uint32_t from, uint32_t to);
/* The same where it arrives in a folded machine: at the representative of `to`, and as the
 * relabelling that takes `to` there names it. Translations leave an entity as it is. */
uint32_t lp_entity_folded(const struct lp_model *m, uint32_t entity, uint32_t from, uint32_t to);

/* Any entity; as a switch or the host sees it. */
static inline uint32_t lp_entity_seen(const struct lp_model *m, uint32_t entity, uint32_t from,
                                      uint32_t to)
{
    return entity == 0 || from == to ? entity : lp_entity_moved(m, entity, from, to);
}

/* Any entity; as it arrives at a SIP, or at its representative. */
static inline uint32_t lp_entity_at(const struct lp_model *m, uint32_t entity, uint32_t from,
                                    uint32_t to)
{
    return __builtin_expect(m->fold == NULL, 1) ? lp_entity_seen(m, entity, from, to)
                                                : lp_entity_folded(m, entity, from, to);
}

static inline uint32_t lp_originator_of_pe(uint32_t pe_index) { return pe_index + 1; }

/* The originator of an event whose entity is seen from `sip`; and the entity of an originator. */
uint32_t lp_originator(const struct lp_model *m, uint32_t entity, uint32_t sip);
uint32_t lp_entity_of_originator(const struct lp_model *m, uint32_t originator, uint32_t sip);

/* The number, for jitter, of one piece of a transfer whose entity is seen from `sip`. */
uint64_t lp_piece_drawn(const struct lp_model *m, struct lp_sender sender, uint32_t sip, bool last);
static inline uint64_t lp_piece(const struct lp_model *m, struct lp_sender sender, uint32_t sip,
                                bool last)
{
    return __builtin_expect(m->hw.jittered, 0) ? lp_piece_drawn(m, sender, sip, last) : 0;
}

#endif
