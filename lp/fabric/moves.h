/*
 * moves.h: the loads, stores and copies of a PE's contexts in progress: an owner (LP_OWNER) names
 * the context and its struct lp_move. Handlers only, on the PE's cube.
 */
#ifndef LP_MOVES_H
#define LP_MOVES_H

#include "lp/lp_view.h"

const struct lp_move *lp_move_of(const struct lp_view *view, uint32_t pe, uint8_t owner);
/* Part 1 of a load or a copy: the data's arrival is known. Part 2: the engine has passed its last
 * byte. The move is complete at the later of the two. Each part is noted as a cause at its own
 * time: the later one fits the event. */
void lp_move_part_done(struct lp_view *view, uint32_t pe, struct lp_sender sender, uint8_t owner,
                       uint8_t part, int64_t at_ps);
/* The data of a load_from will be in TCM at flight->tau_ps: all of it, with this last transfer. */
void lp_move_loaded(struct lp_view *view, struct lp_sender sender, const struct hw_flight *flight,
                    const struct lp_transfer *data);
/* When a move ends whose data are there at `at_ps`: then, or later with coarse tiles. */
int64_t lp_move_end_ps(const struct lp_view *view, uint32_t pe, uint8_t owner, int64_t at_ps);
/* The move will be complete at `at_ps`: sends the event. */
void lp_move_done(struct lp_view *view, struct lp_sender sender, int64_t at_ps, uint32_t pe,
                  uint8_t owner);

#endif
