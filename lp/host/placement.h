/*
 * placement.h: from cubes on workers to LPs on workers, with the least delay of any event from one
 * worker to another, and the links that join two workers. Host side.
 */
#ifndef LP_PLACEMENT_H
#define LP_PLACEMENT_H

#include "lp/model.h"

/* Links that join two LPs: `all` of them, and those whose ends are on two workers. Both directions
 * of a link are one. */
struct lp_cut_links {
    uint32_t cut, all;
    const char *name; /* of the kind */
};

/* The figures by which a placement is judged. */
struct lp_cut {
    uint32_t lps_min, lps_max; /* of one worker */
    uint32_t idle;             /* workers without an LP */
    struct lp_cut_links link[HW_LINK_KINDS];
    int64_t lookahead_ps; /* least delay from one worker to another; CW_TIME_MAX: no event goes */
};

/*
 * Fills lp_worker [lp_count] and least_delay_ps [workers * workers] from cube_worker (partition.h).
 * The host goes to worker 0, an IO die to the worker of its SIP's first cube, the switches to the
 * workers one by one. Entries between workers that never send to each other are CW_TIME_MAX. False:
 * out of memory.
 */
bool lp_place(const struct lp_model *m, uint32_t workers, const uint32_t *cube_worker,
              uint32_t *lp_worker, int64_t *least_delay_ps, struct lp_cut *cut);

/* The least delays alone, for any workers of the LPs. A pure function, as cw_tuning.least_delays
 * wants it. */
void lp_least_delays(const struct lp_model *m, uint32_t workers, const uint32_t *lp_worker,
                     int64_t *least_delay_ps);

/*
 * Fills lp_part [lp_count]: the LPs that move between workers together. A part is a whole SIP, or
 * a cube if a SIP is split or there are fewer than two to a worker. An IO die goes with its SIP's
 * first cube; the host and each switch are parts of their own.
 */
void lp_parts(const struct lp_model *m, uint32_t workers, const uint32_t *cube_worker,
              uint32_t *lp_part);

#endif
