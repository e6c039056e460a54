/*
 * broken.h: a machine some of whose links between SIPs have failed (hw/HARDWARE.md, "Faults"): a
 * topology over the machine's own, with the links that are left and routes by them. It is made
 * once, on the host side; then it is const.
 */
#ifndef HW_TOPOLOGY_BROKEN_H
#define HW_TOPOLOGY_BROKEN_H

#include "hw/topology/topology.h"

/* What has failed: links that leave a stop by an outlet, one way; and all links of a stop. */
struct hw_failed_link {
    uint32_t stop, outlet;
};
struct hw_failures {
    const struct hw_failed_link *links;
    uint32_t link_count;
    const uint32_t *stops;
    uint32_t stop_count;
};

/*
 * The topology of `hw` without these parts, to be freed with hw_broken_free(); `hw` is not kept. A
 * machine that has it is otherwise as `hw`. NULL: `why` says which parts are cut off from each
 * other; "" where memory is short.
 */
enum { HW_CUT_OFF_BYTES = 200 };
struct hw_topology_ops *hw_broken_create(const struct hw_config *hw,
                                         const struct hw_failures *failures,
                                         char why[HW_CUT_OFF_BYTES]);
void hw_broken_free(struct hw_topology_ops *broken);

/* The machine as it would be with nothing failed; `hw` itself if nothing has. */
const struct hw_config *hw_whole(const struct hw_config *hw);
/* Whether a SIP or a switch has failed. */
bool hw_has_failed(const struct hw_config *hw, uint32_t stop);
/* The outlet by which what would leave a SIP by `outlet` for another leaves it: that one, or
 * HW_OUTLET_NONE, as routed, where its own way has failed. */
uint32_t hw_exit_left(const struct hw_config *hw, uint32_t sip, uint32_t outlet, uint32_t to_sip);
/* SIPs that have not. */
uint32_t hw_living_sips(const struct hw_config *hw);

/* "sip 3", "switch 0"; "sip 3 E": the link of an outlet, by the SIP that it leaves; "switch 0 to
 * sip 4". */
enum { HW_PART_NAME_BYTES = 64 };
const char *hw_stop_name(const struct hw_config *hw, uint32_t stop, char name[HW_PART_NAME_BYTES]);
const char *hw_outer_link_name(const struct hw_config *hw, uint32_t stop, uint32_t outlet,
                               char name[HW_PART_NAME_BYTES]);

#endif
