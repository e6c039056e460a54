/*
 * machine_count.h: figures of the whole machine, from the states of all PEs. Between drains; the
 * workers count together.
 */
#ifndef LP_MACHINE_COUNT_H
#define LP_MACHINE_COUNT_H

#include "lp/model.h"

struct lp_counts {
    uint64_t queue_pairs; /* installed */
    uint64_t messages;    /* tiles sent, ever */
};
struct lp_counts lp_machine_count(const struct lp_model *m, struct cw_sim *sim, uint32_t workers);

#endif
