/*
 * event.c: the rare end of the total order, where type, payload and LP decide (event.h).
 */
#include "core/event.h"

#include <string.h>

bool entry_before_tied(const struct entry *a, const struct entry *b)
{
    const struct cw_event *x = a->event, *y = b->event;
    if (x->type != y->type)
        return x->type < y->type;
    const size_t common = x->payload_bytes < y->payload_bytes ? x->payload_bytes : y->payload_bytes;
    const int by_payload = memcmp(x->payload, y->payload, common);
    if (by_payload != 0)
        return by_payload < 0;
    if (x->payload_bytes != y->payload_bytes)
        return x->payload_bytes < y->payload_bytes;
    return x->lp < y->lp;
}
