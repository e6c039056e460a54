/*
 * ways.h: the links of the ways in an entry's steps (lp/cause_entry.h). Handlers note a way through
 * a cube as one step; the walk along the path finds its links again, for the few entries that it
 * visits.
 */
#ifndef BENCH_WAYS_H
#define BENCH_WAYS_H

#include "lp/causes.h"

/* Memory for steps; all of it is freed together. */
struct way_steps;
struct ways {
    struct way_steps *latest;
};
void ways_free(struct ways *ways);

/* Puts links in the place of each way in the steps of an entry in the log of `lp`. They are valid
 * until ways_free(), or until ways_drop(). False: out of memory; *entry is as it was. */
bool ways_unfold(struct ways *ways, const struct lp_model *m, uint32_t lp,
                 struct lp_cause_entry *entry);
/* Frees the steps of the entry that was unfolded last. */
void ways_drop(struct ways *ways, const struct lp_cause_entry *entry);

#endif
