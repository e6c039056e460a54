/*
 * auto.h: the placement that an automatic choice takes with its algorithm: auto_all_reduce and its
 * kind run on the PEs of any mapper. Host side and pure.
 */
#ifndef COLLECTIVES_AUTO_H
#define COLLECTIVES_AUTO_H

#include "collectives/choice/choice.h"

/* Whether the algorithm chooses among schedules, which run on the PEs of any mapper. */
bool auto_has_placements(const struct ccl_algorithm *algorithm);

/* The choice among calls of one collective (CHOICE_PLACEMENTS_MAX at most), which are the same work
 * on the PEs of the mappers that their configurations name. Errors as of choose_placement(). */
int auto_place(const struct ccl_call *calls, uint32_t count, struct choice_placed *placed,
               struct cw_error *error);

#endif
