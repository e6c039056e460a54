/*
 * channels.h: whether links between SIPs can wait for each other in a circle (hw/HARDWARE.md,
 * "Routes of graphs"). Here no route can deadlock, since links have no finite buffers. Real
 * hardware whose routes have a circle needs virtual channels (Dally, Seitz 1987).
 */
#ifndef HW_CHANNELS_H
#define HW_CHANNELS_H

#include "hw/topology/topology.h"

/* A link between SIPs, one way. */
struct hw_channel {
    uint32_t stop, outlet;
};

enum hw_circle_kind {
    HW_CIRCLE_NONE,
    HW_CIRCLE_FOUND,
    HW_CIRCLE_LARGE, /* more pairs of a stop and a SIP than HW_CIRCLE_PAIRS_MAX: not looked for */
    HW_CIRCLE_MEMORY
};
enum { HW_CIRCLE_PAIRS_MAX = 1 << 24 };

/* A circle: a route crosses the second channel after the first one, and so on; one crosses the
 * first after the last. */
struct hw_circle {
    enum hw_circle_kind kind;
    struct hw_channel *channel; /* [count] */
    uint32_t count;
};

/* Looks at the routes between every two SIPs, as routed, with all keys. To be freed. */
struct hw_circle hw_circle_of(const struct hw_config *hw);
void hw_circle_free(struct hw_circle *circle);

#endif
