/*
 * grid.c: the ports' letters (grid.h).
 */
#include "hw/grid.h"

const char hw_port_letter[HW_PORTS] = {
    [HW_PORT_N] = 'N', [HW_PORT_S] = 'S', [HW_PORT_E] = 'E', [HW_PORT_W] = 'W'};
