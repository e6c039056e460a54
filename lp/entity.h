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

/* A number of a SIP, or an offset, moved by (from - to) in each dimension. */
static inline uint32_t lp_sip_shifted(const struct lp_model *m, uint32_t sip, uint32_t from,
                                      uint32_t to)
{
    const struct lp_sip_radix *const radix = &m->by.sips;
    uint32_t shifted = 0;
    for (uint32_t d = 0; d + 1 < radix->dims; d++) {
        const struct hw_divisor *const size = &radix->size[d];
        const uint32_t next = hw_divide(sip, size), next_from = hw_divide(from, size),
                       next_to = hw_divide(to, size);
        uint32_t at = sip - next * size->value + (from - next_from * size->value);
        at = at >= size->value ? at - size->value : at;
        const uint32_t less = to - next_to * size->value;
        shifted += (at >= less ? at - less : at + size->value - less) * radix->stride[d];
        sip = next;
        from = next_from;
        to = next_to;
    }
    const uint32_t last = radix->dims - 1, size = radix->size[last].value;
    uint32_t at = sip + from;
    at = at >= size ? at - size : at;
    return shifted + (at >= to ? at - to : at + size - to) * radix->stride[last];
}

static inline uint32_t lp_entity_of_io_cpu(const struct lp_model *m)
{
    return m->by.sip_places.value; /* of its own SIP, whose last place it is */
}

/* An entity that is seen from SIP `from`, seen from SIP `to`. */
static inline uint32_t lp_entity_seen(const struct lp_model *m, uint32_t entity, uint32_t from,
                                      uint32_t to)
{
    if (entity == 0 || from == to)
        return entity;
    const uint32_t places = m->by.sip_places.value;
    const uint32_t offset = hw_divide(entity - 1, &m->by.sip_places);
    return entity + (lp_sip_shifted(m, offset, from, to) - offset) * places;
}

/* The same where it arrives in a folded machine: at the representative of `to`, and as the
 * relabelling that takes `to` there names it. Translations leave an entity as it is. */
static inline uint32_t lp_entity_at(const struct lp_model *m, uint32_t entity, uint32_t from,
                                    uint32_t to)
{
    entity = lp_entity_seen(m, entity, from, to);
    if (__builtin_expect(m->fold == NULL, 1) || entity == 0)
        return entity;
    const uint32_t offset = hw_divide(entity - 1, &m->by.sip_places);
    const uint32_t moved = hw_fold_moved(m->fold, to, lp_sip_shifted(m, offset, to, 0));
    const uint32_t now = lp_sip_shifted(m, moved, 0, hw_fold_representative(m->fold, to));
    return entity + (now - offset) * m->by.sip_places.value;
}

static inline uint32_t lp_originator_of_pe(uint32_t pe_index) { return pe_index + 1; }

/* The originator of an event whose entity is seen from `sip`; and the entity of an originator. */
static inline uint32_t lp_originator(const struct lp_model *m, uint32_t entity, uint32_t sip)
{
    if (entity == 0)
        return 0;
    const uint32_t offset = hw_divide(entity - 1, &m->by.sip_places);
    const uint32_t place = entity - 1 - offset * m->by.sip_places.value;
    const uint32_t of = lp_sip_shifted(m, offset, sip, 0);
    return place < m->by.sip_pes.value ? 1 + of * m->by.sip_pes.value + place
                                       : 1 + hw_pe_count(&m->hw) + of;
}
static inline uint32_t lp_entity_of_originator(const struct lp_model *m, uint32_t originator,
                                               uint32_t sip)
{
    const uint32_t pes = hw_pe_count(&m->hw);
    if (originator == 0)
        return 0;
    const bool io_cpu = originator > pes;
    const uint32_t of = io_cpu ? originator - 1 - pes : hw_divide(originator - 1, &m->by.sip_pes);
    const uint32_t place = io_cpu ? m->by.sip_pes.value : originator - 1 - of * m->by.sip_pes.value;
    return 1 + lp_sip_shifted(m, of, 0, sip) * m->by.sip_places.value + place;
}

/* The number, for jitter, of one piece of a transfer whose entity is seen from `sip`. */
static inline uint64_t lp_piece(const struct lp_model *m, struct lp_sender sender, uint32_t sip,
                                bool last)
{
    if (!last)
        return HW_JITTER_PIECE;
    if (__builtin_expect(!m->hw.jittered, 1))
        return 0;
    return lp_operation(lp_originator(m, sender.entity, sip), sender.number);
}

#endif
