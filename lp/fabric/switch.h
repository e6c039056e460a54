/*
 * switch.h: the LP of a switch between SIPs: it forwards transfers, and some put tiles together of
 * parts (hw/HARDWARE.md, "Switches that reduce").
 */
#ifndef LP_SWITCH_H
#define LP_SWITCH_H

#include "lp/model.h"

extern const struct lp_ops lp_switch_ops;

#endif
