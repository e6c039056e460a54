/*
 * config_ranks.h: the chosen algorithm's `mate` and `package`: which rank is on which die.
 */
#ifndef COLLECTIVES_CONFIG_RANKS_H
#define COLLECTIVES_CONFIG_RANKS_H

#include "collectives/config/config_tree.h"

void config_check_ranks(struct config_loader *loader, const struct config_tree *tree);
void config_fill_ranks(struct config_tree *tree, struct ccl_ranks *ranks);

/* The ranks of the world; 0: not known, since a value is missing. */
uint32_t config_rank_count(const struct config_tree *tree);
/* Whether each rank is a PE (the mapper rank_per_pe), not a SIP; and the PEs of a SIP. */
bool config_ranks_are_pes(const struct config_tree *tree);
uint32_t config_pes_of_sip(const struct config_tree *tree);

#endif
