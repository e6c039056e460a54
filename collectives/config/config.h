/*
 * config.h: a loaded configuration: the machine, the settings of collectives, the digest of both.
 * It is const and shares nothing with another (config_load.h makes it).
 */
#ifndef COLLECTIVES_CONFIG_H
#define COLLECTIVES_CONFIG_H

#include "collectives/config/ccl_groups.h"
#include "hw/hw_config.h"

struct config_tree;

struct config {
    struct hw_config hw;
    struct ccl_config ccl;
    struct ccl_groups groups; /* of ranks, that host programs may make */
    /* hw.sip_topology where links have failed, and hw.later with its own where they will; else
     * NULL */
    struct hw_topology_ops *broken, *broken_later;
    struct hw_config *later;
    char digest[17];          /* XXH3-64 of the resolved text, 16 hex digits */
    struct config_tree *tree; /* values and their places */
};

#endif
