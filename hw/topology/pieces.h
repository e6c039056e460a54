/*
 * pieces.h: what stays connected of a machine's SIPs and switches when some links are left out: the
 * groups of which a graph is made. Pure functions.
 */
#ifndef HW_PIECES_H
#define HW_PIECES_H

#include "hw/topology/topology.h"

/* The links that are left out: those of one class, those at one kind of switches, those between
 * switches. */
struct hw_left_out {
    enum hw_link_kind link; /* HW_LINK_KINDS: none */
    enum hw_node_kind node; /* HW_NODE_KINDS: none */
    bool between_switches;
};

/* Every single thing that may be left out of this machine, as far as it has it. Returns their
 * number. */
enum { HW_LEFT_OUT_MAX = HW_LINK_KINDS + HW_SWITCH_KINDS + 1 };
uint32_t hw_left_outs(const struct hw_config *hw, struct hw_left_out out[HW_LEFT_OUT_MAX]);

/* Fills piece[hw_stops(hw)] with the least stop of each one's piece. */
void hw_pieces(const struct hw_config *hw, const struct hw_left_out *out, uint32_t *piece);

#endif
