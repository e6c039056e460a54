/*
 * config_faults.h: `faults` (hw/HARDWARE.md, "Faults"): rules across the keys of each entry, and
 * what they make of the machine.
 */
#ifndef COLLECTIVES_CONFIG_FAULTS_H
#define COLLECTIVES_CONFIG_FAULTS_H

#include "collectives/config/config.h"
#include "collectives/config/config_tree.h"

void config_check_faults(struct config_loader *loader, const struct config_tree *tree);

/* SIPs that have failed from the start: how many, and a bit for each, in the arena. NULL: out of
 * memory, which the arena knows. */
uint32_t config_failed_sips(const struct config_tree *tree);
const uint64_t *config_failed_bits(struct config_arena *arena, const struct config_tree *tree);

/* Puts slow parts and failed links into the machine, which is otherwise complete. Errors say what
 * there is not, and what is cut off. */
void config_make_faults(struct config *config, struct config_errors *errors);

#endif
