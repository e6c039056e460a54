/*
 * config_orders.h: orders of the SIPs for algorithms, where links are listed one by one or some
 * have failed (hw/sip_walk.h).
 */
#ifndef COLLECTIVES_CONFIG_ORDERS_H
#define COLLECTIVES_CONFIG_ORDERS_H

#include "collectives/config/config.h"

/* Fills config->hw.orders; `tree->arena.failed` says that there was no memory. The machine is
 * complete. */
void config_find_orders(struct config *config);

#endif
