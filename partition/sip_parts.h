/*
 * sip_parts.h: the stops of a machine in parts of about as many SIPs each, with as little bandwidth
 * between them as METIS finds, with a fixed seed. A pure function of the machine.
 */
#ifndef PARTITION_SIP_PARTS_H
#define PARTITION_SIP_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/hw_config.h"

/* Fills part[hw_stops(hw)] with numbers below `parts`, at least 2. False: METIS is not installed,
 * there is no memory, or METIS finds no such parts. */
bool sip_parts(const struct hw_config *hw, uint32_t parts, uint32_t *part);

/* METIS is installed. */
bool sip_parts_can(void);

#endif
