/*
 * config_rings.h: whether the receive rings of a PE's queues fit in the memory that holds them.
 */
#ifndef COLLECTIVES_CONFIG_RINGS_H
#define COLLECTIVES_CONFIG_RINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "collectives/config/config.h"
#include "collectives/config/input/config_errors.h"

/*
 * The most directions that one PE has a ring for (wiring, meshes and SIP topology), counted from
 * the structure alone.
 */
uint32_t config_directions_max(const struct hw_config *hw, const struct ccl_config *ccl);

/*
 * Checks that `directions` rings of n_slots slots fit beside each other: each PE's in its TCM or
 * HBM slice, or in SRAM those that the `pes` wired PEs of a cube have together. An error names the
 * memory, the request and the free bytes. True if they fit.
 */
bool config_rings_fit(const struct config *config, uint32_t directions, uint32_t pes,
                      struct config_errors *errors);

/* PEs of a cube that have rings: of a logical topology, those that are ranks. */
uint32_t config_pes_with_rings(const struct config *config);

/* The same for the configuration's own wiring, as the loader checks it. */
void config_check_rings(struct config *config, struct config_errors *errors);

#endif
