/*
 * hw_config.c: what a machine's kinds of links, nodes and switches are called (hw_config.h).
 */
#include "hw/hw_config.h"

#include <stdio.h>

const char *hw_link_name_of(const struct hw_config *hw, enum hw_link_kind kind)
{
    static const char *const level[HW_LEVELS_MAX] = {"level_1", "level_2", "level_3", "level_4"};
    const uint32_t class = kind - HW_LINK_CLASS_1;
    if (kind < HW_LINK_KEYED)
        return hw_link_name[kind];
    return hw->class_name != NULL ? hw->class_name[class]
                                  : level[class < HW_LEVELS_MAX ? class : HW_LEVELS_MAX - 1];
}

const char *hw_node_name_of(const struct hw_config *hw, enum hw_node_kind kind)
{
    if (hw->switches != NULL && hw_node_is_switch(kind))
        return hw->switches[kind == HW_NODE_SWITCH ? 0 : kind - HW_NODE_SWITCH_2 + 1].name;
    return hw_node_name[kind < HW_NODE_KEYED ? kind : HW_NODE_SWITCH];
}

const char *hw_switch_text(const struct hw_config *hw, uint32_t number,
                           char text[HW_SWITCH_TEXT_BYTES])
{
    uint32_t kind = 0;
    if (hw->switches == NULL) {
        snprintf(text, HW_SWITCH_TEXT_BYTES, "switch %u", number);
        return text;
    }
    while (number - hw->switches[kind].first >= hw->switches[kind].count)
        kind++;
    if (hw->switches[kind].count == 1)
        snprintf(text, HW_SWITCH_TEXT_BYTES, "switch %s", hw->switches[kind].name);
    else
        snprintf(text, HW_SWITCH_TEXT_BYTES, "switch %s.%u", hw->switches[kind].name,
                 number - hw->switches[kind].first);
    return text;
}
