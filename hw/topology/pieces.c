/*
 * pieces.c: joins stops that links connect (pieces.h).
 */
#include "hw/topology/pieces.h"

uint32_t hw_left_outs(const struct hw_config *hw, struct hw_left_out out[HW_LEFT_OUT_MAX])
{
    bool link[HW_LINK_KINDS] = {false}, node[HW_NODE_KINDS] = {false}, between = false;
    uint32_t count = 0;
    for (uint32_t stop = 0; stop < hw_stops(hw); stop++)
        for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++) {
            const struct hw_hop hop = hw_hop(hw, stop, outlet);
            if (hop.link == HW_LINK_KINDS)
                continue;
            link[hop.link] = true;
            node[hw_node_at(hw, hop.to)] |= hw_is_switch(hw, hop.to);
            between |= hw_is_switch(hw, stop) && hw_is_switch(hw, hop.to);
        }
    for (enum hw_link_kind kind = 0; kind < HW_LINK_KINDS; kind++)
        if (link[kind])
            out[count++] = (struct hw_left_out){.link = kind, .node = HW_NODE_KINDS};
    for (enum hw_node_kind kind = 0; kind < HW_NODE_KINDS; kind++)
        if (node[kind])
            out[count++] = (struct hw_left_out){.link = HW_LINK_KINDS, .node = kind};
    if (between)
        out[count++] = (struct hw_left_out){
            .link = HW_LINK_KINDS, .node = HW_NODE_KINDS, .between_switches = true};
    return count;
}

static bool is_left_out(const struct hw_config *hw, const struct hw_left_out *out, uint32_t stop,
                        const struct hw_hop *hop)
{
    const bool from_switch = hw_is_switch(hw, stop), to_switch = hw_is_switch(hw, hop->to);
    return hop->link == out->link || (from_switch && hw_node_at(hw, stop) == out->node) ||
           (to_switch && hw_node_at(hw, hop->to) == out->node) ||
           (out->between_switches && from_switch && to_switch);
}

static uint32_t first_of(uint32_t *piece, uint32_t stop)
{
    while (piece[stop] != stop)
        stop = piece[stop] = piece[piece[stop]];
    return stop;
}

void hw_pieces(const struct hw_config *hw, const struct hw_left_out *out, uint32_t *piece)
{
    const uint32_t stops = hw_stops(hw);
    for (uint32_t stop = 0; stop < stops; stop++)
        piece[stop] = stop;
    for (uint32_t stop = 0; stop < stops; stop++)
        for (uint32_t outlet = 0; outlet < hw_outlets_of(hw, stop); outlet++) {
            const struct hw_hop hop = hw_hop(hw, stop, outlet);
            if (hop.link == HW_LINK_KINDS || is_left_out(hw, out, stop, &hop))
                continue;
            const uint32_t a = first_of(piece, stop), b = first_of(piece, hop.to);
            piece[a > b ? a : b] = a > b ? b : a;
        }
    for (uint32_t stop = 0; stop < stops; stop++)
        piece[stop] = first_of(piece, stop);
}
