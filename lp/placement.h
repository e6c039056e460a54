/*
 * placement.h: from cubes on workers to LPs on workers, and what that promises the engine: the
 * least delay of any event from one worker to another.
 */
#ifndef LP_PLACEMENT_H
#define LP_PLACEMENT_H

#include "lp/model.h"

/*
 * Fills lp_worker [lp_count] and least_delay_ps [workers * workers] from cube_worker (partition.h).
 * The host and the switches are on worker 0's side where nothing speaks for another. Entries
 * between workers that never send to each other are CW_TIME_MAX.
 */
void lp_place(const struct lp_model *m, uint32_t workers, const uint32_t *cube_worker,
              uint32_t *lp_worker, int64_t *least_delay_ps);

#endif
