/*
 * entity.c: moves entities from one SIP's view to another's, digit by digit of the SIPs' numbers
 * (entity.h). Out of line: most events stay in their SIP.
 */
#include "lp/entity.h"

/* A number of a SIP, or an offset, moved by (from - to) in each dimension. */
static uint32_t sip_shifted(const struct lp_model *m, uint32_t sip, uint32_t from, uint32_t to)
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

uint32_t lp_entity_moved(const struct lp_model *m, uint32_t entity, uint32_t from, uint32_t to)
{
    const uint32_t places = m->by.sip_places.value;
    const uint32_t offset = hw_divide(entity - 1, &m->by.sip_places);
    return entity + (sip_shifted(m, offset, from, to) - offset) * places;
}

uint32_t lp_entity_folded(const struct lp_model *m, uint32_t entity, uint32_t from, uint32_t to)
{
    entity = lp_entity_seen(m, entity, from, to);
    if (entity == 0)
        return entity;
    const uint32_t offset = hw_divide(entity - 1, &m->by.sip_places);
    const uint32_t moved = hw_fold_moved(m->fold, to, sip_shifted(m, offset, to, 0));
    const uint32_t now = sip_shifted(m, moved, 0, hw_fold_representative(m->fold, to));
    return entity + (now - offset) * m->by.sip_places.value;
}

uint32_t lp_originator(const struct lp_model *m, uint32_t entity, uint32_t sip)
{
    if (entity == 0)
        return 0;
    const uint32_t offset = hw_divide(entity - 1, &m->by.sip_places);
    const uint32_t place = entity - 1 - offset * m->by.sip_places.value;
    const uint32_t of = sip_shifted(m, offset, sip, 0);
    return place < m->by.sip_pes.value ? 1 + of * m->by.sip_pes.value + place
                                       : 1 + hw_pe_count(&m->hw) + of;
}

uint32_t lp_entity_of_originator(const struct lp_model *m, uint32_t originator, uint32_t sip)
{
    const uint32_t pes = hw_pe_count(&m->hw);
    if (originator == 0)
        return 0;
    const bool io_cpu = originator > pes;
    const uint32_t of = io_cpu ? originator - 1 - pes : hw_divide(originator - 1, &m->by.sip_pes);
    const uint32_t place = io_cpu ? m->by.sip_pes.value : originator - 1 - of * m->by.sip_pes.value;
    return 1 + sip_shifted(m, of, 0, sip) * m->by.sip_places.value + place;
}

uint64_t lp_piece_drawn(const struct lp_model *m, struct lp_sender sender, uint32_t sip, bool last)
{
    return last ? lp_operation(lp_originator(m, sender.entity, sip), sender.number)
                : HW_JITTER_PIECE;
}
